"""What dtypes are inside loop bodies: the dtype that is computed in, the one that sums are kept in, and their MLIR types.

Short floats are computed in float32, as PyTorch's CPU kernels do; integers are signless, a Bool is one bit.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ComplexType, IntegerType
from xdsl.ir import Attribute

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType


def is_short(dtype: DType) -> bool:
    """Whether it is a float of less than 32 bits."""
    return dtype.category is Category.FLOAT and dtype.bits < 32


def compute_dtype(dtype: DType) -> DType:
    """The dtype that bodies compute a tensor's elements in."""
    return dt.Float if is_short(dtype) else dtype


TWICE = {dt.Float: dt.Double, dt.ComplexFloat: dt.ComplexDouble}
"""The dtype of twice the precision, where there is one."""


def sum_dtype(dtype: DType) -> DType:
    """The dtype that sums and products of many elements accumulate in: twice the precision that elements compute in, so
    that their error does not grow with the number of terms. Of float64 there is none."""
    compute = compute_dtype(dtype)
    return TWICE.get(compute, compute)


def register_type(dtype: DType) -> Attribute:
    """The MLIR type of a number of this dtype inside a body: signless, booleans one bit."""
    if dtype.category is Category.INT:
        return IntegerType(dtype.bits)
    return dtype.mlir_type


def is_unsigned(dtype: DType) -> bool:
    return dtype in (dt.Byte, dt.UInt16, dt.UInt32, dt.UInt64)


def register_bits(dtype: DType) -> int:
    """Bits of a number inside a body: a Bool has one."""
    return 1 if dtype is dt.Bool else dtype.bits


PARTS = {dt.ComplexFloat: dt.Float, dt.ComplexDouble: dt.Double}
"""Dtypes of the real and the imaginary part."""


def complex_type(dtype: DType) -> ComplexType[Any]:
    """The MLIR type of numbers of a complex dtype."""
    type: Any = dtype.mlir_type
    return type
