"""Type promotion, as `torch.result_type` has it: the dtype that operands of several dtypes compute in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.errors import ExirError


class DtypeError(ExirError):
    """Operand dtypes that an operator does not take."""


DEFAULT_DTYPE = dt.Float
"""torch.get_default_dtype() as it is when a program is exported."""

NUMBER_DTYPE = {
    Category.BOOL: dt.Bool,
    Category.INT: dt.Long,
    Category.FLOAT: DEFAULT_DTYPE,
    Category.COMPLEX: dt.ComplexFloat,
}
"""The dtype a Python number promotes as."""

UNROUNDED = {
    f"aten.{name}": "other"
    for name in ("mul.Tensor", "mul.Scalar", "div.Tensor", "div.Scalar", "div.Tensor_mode", "div.Scalar_mode")
}
"""Operators that take an operand of one element in full precision beside reduced floats: float16 times 0.1 is not float16 times
float16(0.1) (`binary_kernel_reduced_floating_point_vec_opmath_support` in ATen's `BinaryOpsKernel.cpp`)."""


@dataclass(frozen=True)
class Operand:
    """What type promotion sees of an operand."""

    dtype: DType
    tier: int
    """2 for a tensor with dimensions, 1 for a 0-dim tensor, 0 for a Python number."""


_WIDE_UNSIGNED = (dt.UInt16, dt.UInt32, dt.UInt64)


@cache
def promote_types(a: DType, b: DType) -> DType:
    """The smallest dtype both convert to: the lattice of `torch.promote_types`.

    Raises `DtypeError` where PyTorch has none (eight-bit floats with anything else; unsigned integers wider than
    eight bits with anything but floats).
    """
    if a is b:
        return a
    low, high = sorted((a, b), key=lambda dtype: (dtype.category, dtype.bits))
    if not _convertible(low, high):
        raise DtypeError(f"no common dtype of {a} and {b}")
    if {low, high} == {dt.Byte, dt.Char}:
        return dt.Short
    if {low, high} == {dt.Half, dt.BFloat16}:
        return dt.Float
    if high.category is Category.COMPLEX and low.category is Category.FLOAT:
        return promote_types(COMPLEX_OF[low], high)
    return high


def _convertible(low: DType, high: DType) -> bool:
    if any(dtype.category is Category.FLOAT and dtype.bits == 8 for dtype in (low, high)):
        return False
    return not (low in _WIDE_UNSIGNED or high in _WIDE_UNSIGNED) or high.category is Category.FLOAT


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    """A higher tier decides, unless the lower one is of a higher category (ATen/native/TypeProperties.cpp)."""
    if higher is None or lower is None:
        return higher or lower
    if lower.category is Category.COMPLEX and higher.category is Category.FLOAT:
        if higher not in COMPLEX_OF:
            raise DtypeError(f"no complex dtype of the precision of {higher}")
        return COMPLEX_OF[higher]
    if lower.category is Category.COMPLEX and higher.category <= Category.INT:
        return lower
    return promote_types(higher, lower) if lower.category > higher.category else higher


COMPLEX_OF = {
    dt.Half: dt.ComplexHalf,
    dt.BFloat16: dt.ComplexFloat,
    dt.Float: dt.ComplexFloat,
    dt.Double: dt.ComplexDouble,
}
"""The complex dtype of a float's range, as `c10::toComplexType` has it."""


@cache
def result_type(operands: tuple[Operand, ...]) -> DType:
    """The computation dtype of operands that promote, as `torch.result_type` has it. Raises `DtypeError` if there are none."""
    tiers: list[DType | None] = [None, None, None]
    for operand in operands:
        held = tiers[operand.tier]
        tiers[operand.tier] = operand.dtype if held is None else promote_types(held, operand.dtype)
    number, zero_dim, dimensioned = tiers
    result = _combine(dimensioned, _combine(zero_dim, number))
    if result is None:
        raise DtypeError("a number where a tensor belongs: nothing says in which dtype to compute")
    return result
