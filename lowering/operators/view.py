"""Lowerings of views and rearrangements: reshapes, slices, and copies through affine maps of the result's indices."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import PARTS, WHOLES
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.linalg import dims as loop_indices
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read, storage_type

Out = list[TensorMeta]


# --- reshaping and permuting ---------------------------------------------------------------------------------


@lowering(
    "aten.view",
    "aten.view_copy",
    "aten._unsafe_view",
    "aten.unsqueeze",
    "aten.squeeze.dims",
    takes_complex=True,
)
def view(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return b.reshape(self, out[0].shape)


@lowering("aten.permute", "aten.permute_copy", takes_complex=True)
def permute(b: LinalgBuilder, self: Tensor, dims: list[int]) -> Tensor:
    return b.permute(self, [wrap_dim(dim, self.ndim) for dim in dims])


@lowering("aten.flip", takes_complex=True)
def flip(b: LinalgBuilder, self: Tensor, dims: list[int]) -> Tensor:
    """By an affine map; sizes that are not known no map of linalg names, and each element is read at its place."""
    if not self.ndim or 0 in self.shape:
        return self
    last = {dim: self.shape[dim] - 1 for dim in (wrap_dim(dim, self.ndim) for dim in dims)}
    known = {dim: size for dim, size in last.items() if isinstance(size, int)}
    if len(known) == len(last):
        places = [
            at * -1 + known[dim] if dim in known else at for dim, at in enumerate(loop_indices(self.ndim))
        ]
        init = Tensor(b.empty(self.shape, self.dtype), self.shape, self.dtype)
        return b.copy(self, AffineMap(self.ndim, 0, tuple(places)), init)

    def element(*at: SSAValue) -> Scalar:
        place: list[Scalar | SSAValue] = list(at)
        for dim, size in last.items():
            place[dim] = s.constant(size, dt.Long) - s.from_index(at[dim])
        return read(self, place)

    return b.indexed(element, self.shape, self.dtype)


# --- other dtypes --------------------------------------------------------------------------------------------

BITS = {8: dt.Byte, 16: dt.UInt16, 32: dt.UInt32, 64: dt.UInt64}
"""Dtypes of bit patterns, by width."""


def bitcast(b: LinalgBuilder, self: Tensor, dtype: DType) -> Tensor:
    """The elements' bits as elements of another dtype of that width."""
    source, target = storage_type(self.dtype), storage_type(dtype)
    if source == target:
        return Tensor(self.value, self.shape, dtype)
    block = Block(arg_types=[source, target])
    with ImplicitBuilder(block):
        linalg.YieldOp(arith.BitcastOp(block.args[0], target))
    init = b.empty(self.shape, dtype)
    identity = AffineMapAttr(AffineMap.identity(self.ndim))
    parallel = IteratorTypeAttr(IteratorType.PARALLEL)
    op = linalg.GenericOp(
        [self.value],
        [init],
        Region(block),
        [identity, identity],
        ArrayAttr([parallel] * self.ndim),
        [init.type],
    )
    return Tensor(b.add(op), self.shape, dtype)


def parts_of(b: LinalgBuilder, self: Tensor) -> Tensor:
    """Complex numbers as pairs: real and imaginary parts are one more dimension, of which one is written after the other."""
    shape, dtype = (*self.shape, 2), PARTS[self.dtype]
    whole = Tensor(b.empty(shape, dtype), shape, dtype)
    of_pair = AffineMap(len(shape), 0, tuple(loop_indices(self.ndim)))
    for at, part in enumerate((s.real, s.imaginary)):

        def element(x: Scalar, *_: SSAValue, part: Callable[[Scalar], Scalar] = part) -> Scalar:
            return part(x)

        plane = b.indexed(element, (*self.shape, 1), dtype, [(self, of_pair)])
        whole = b.insert(plane, whole, [*[0] * self.ndim, at])
    return whole


def of_parts(b: LinalgBuilder, self: Tensor) -> Tensor:
    """Pairs as complex numbers."""
    shape, rank = self.shape[:-1], self.ndim - 1
    dtype = WHOLES[self.dtype]
    places = loop_indices(rank)
    parts = [(self, AffineMap(rank, 0, (*places, AffineExpr.constant(which)))) for which in (0, 1)]
    return b.generic(
        parts,
        Tensor(b.empty(shape, dtype), shape, dtype),
        AffineMap.identity(rank),
        ["parallel"] * rank,
        lambda real, imaginary, _: s.complex_number(real, imaginary),
    )


@lowering("aten.view.dtype", takes_complex=True)
def view_dtype(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    """The same memory. Complex numbers are pairs in it."""
    dtype, shape = out[0].dtype, out[0].shape
    if self.dtype is dtype:
        return self
    *rest, last = self.shape or (1,)
    if self.dtype.category is Category.COMPLEX:
        self = b.reshape(parts_of(b, self), (*rest, last * 2))
    else:
        self = b.reshape(self, (*rest, last))
    if dtype.category is not Category.COMPLEX:
        return b.reshape(same_bits(b, self, shape or (1,), dtype), shape)
    *rest, last = shape or (1,)
    return of_parts(b, b.reshape(same_bits(b, self, (*rest, last * 2), PARTS[dtype]), (*shape, 2)))


def same_bits(b: LinalgBuilder, self: Tensor, shape: Sizes, dtype: DType) -> Tensor:
    """The memory as real numbers. Where widths differ the last dimension is cut into parts or put together, the lowest
    bits first."""
    source, target = BITS[self.dtype.bits], BITS[dtype.bits]
    bits = bitcast(b, self, source)
    ratio = max(source.bits, target.bits) // min(source.bits, target.bits)

    def cut(*at: SSAValue) -> Scalar:
        place = s.from_index(at[-1])
        whole = s.cast(read(bits, [*at[:-1], place / ratio]), source)
        return s.cast(
            s.shift_right(whole, s.cast(s.rem(place, s.constant(ratio, dt.Long)) * target.bits, source)),
            target,
        )

    def joined(*at: SSAValue) -> Scalar:
        first = s.from_index(at[-1]) * ratio
        total = s.constant(0, target)
        for part in range(ratio):
            piece = s.cast(s.cast(read(bits, [*at[:-1], first + part]), source), target)
            total = total | s.shift_left(piece, s.constant(part * source.bits, target))
        return total

    if source.bits != target.bits:
        bits = b.indexed(cut if source.bits > target.bits else joined, shape, target)
    return bitcast(b, bits, dtype)


# --- broadcasting and repeating ------------------------------------------------------------------------------


@lowering("aten.expand", takes_complex=True)
def expand(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return b.broadcast(self, out[0].shape)


# --- taking parts --------------------------------------------------------------------------------------------


def part(b: LinalgBuilder, self: Tensor, dim: int, start: Dim, size: Dim, step: Dim = 1) -> Tensor:
    """Some of a dimension."""
    return self if size == self.shape[dim] else b.slice(self, *window(self.shape, dim, start, size, step))


def window(
    shape: Sizes, dim: int, start: Dim, size: Dim, step: Dim = 1
) -> tuple[list[Dim], list[Dim], list[Dim]]:
    """Offsets, sizes and strides of some of a dimension and all of the others."""
    offsets: list[Dim] = [0] * len(shape)
    sizes, strides = list(shape), list[Dim]([1] * len(shape))
    offsets[dim], sizes[dim], strides[dim] = start, size, step
    return offsets, sizes, strides
