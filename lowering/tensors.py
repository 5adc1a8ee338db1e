"""Tensors of the lowered program, and their elements in bodies of loops.

Tensors keep their PyTorch dtype beside the value, since the lowered types are signless: Bool and Byte are both `i8`
(`i1` buffers are bit-packed by some vector lowerings, and `arith` takes no `ui8`). Numbers are in the dtype that bodies compute in
(`scalar`); conversions happen where elements are read and written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype, register_type
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes


def storage_type(dtype: DType) -> Attribute:
    """The element type of a lowered tensor."""
    if dtype is dt.Bool:
        return IntegerType(8)
    return register_type(dtype)


def tensor_of(sizes: Sequence[Dim], dtype: DType) -> TensorType[Attribute]:
    """The lowered type of a tensor."""
    return TensorType(storage_type(dtype), list(map(static_size, sizes)))


def static_size(size: Dim) -> int:
    """A size as types have it: symbolic ones are dynamic."""
    return size if isinstance(size, int) else DYNAMIC_INDEX


def lowered_type(meta: TensorMeta) -> TensorType[Attribute]:
    """The type of a tensor below edge."""
    return tensor_of(meta.shape, meta.dtype)


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor of the lowered program."""

    value: SSAValue
    shape: Sizes
    dtype: DType

    @property
    def ndim(self) -> int:
        return len(self.shape)


def read(input: Tensor, place: Sequence[Scalar | SSAValue]) -> Scalar:
    """The element at computed indices (integers or `index` values), inside a body. They have to be in range."""
    value = tensor.ExtractOp(input.value, places(place), storage_type(input.dtype)).result
    return load(value, input.dtype)


def places(place: Sequence[Scalar | SSAValue]) -> list[SSAValue]:
    """Indices as operations take them."""
    return [s.to_index(x) if isinstance(x, Scalar) else x for x in place]


def load(value: SSAValue, dtype: DType) -> Scalar:
    """An element as bodies compute with it."""
    if dtype is dt.Bool:
        zero = arith.ConstantOp(IntegerAttr(0, IntegerType(8))).result
        return Scalar(arith.CmpiOp(value, zero, "ne").result, dt.Bool)
    return s.cast(Scalar(value, dtype), compute_dtype(dtype))


def store(value: Scalar, dtype: DType) -> SSAValue:
    """A computed number as tensors hold it."""
    if dtype is dt.Bool:
        return arith.ExtUIOp(value.value, IntegerType(8)).result
    return s.cast(value, dtype).value
