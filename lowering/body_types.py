"""What dtypes are inside loop bodies: the dtype that is computed in, the one that sums are kept in, and their MLIR types.

Short floats are computed in float32, as PyTorch's CPU kernels do; integers are signless, a Bool is one bit.
"""

from __future__ import annotations

from math import isinf
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import ComplexType, FloatAttr, IntegerAttr, IntegerType, bf16, f32, i32
from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.interpreter.interpreter import to_dtype

FLOAT8 = frozenset(dtype for dtype in dt.DTYPES if dtype.category is Category.FLOAT and dtype.bits == 8)
"""Floats that are integers in memory and in bodies (`short_floats`)."""


def is_short(dtype: DType) -> bool:
    """Whether it is a float of less than 32 bits."""
    return dtype.category is Category.FLOAT and dtype.bits < 32


def compute_dtype(dtype: DType) -> DType:
    """The dtype that bodies compute a tensor's elements in."""
    return dt.ComplexFloat if dtype is dt.ComplexHalf else dt.Float if is_short(dtype) else dtype


TWICE = {dt.Float: dt.Double, dt.ComplexFloat: dt.ComplexDouble}
"""The dtype of twice the precision, where there is one."""


def sum_dtype(dtype: DType) -> DType:
    """The dtype that sums and products of many elements accumulate in: twice the precision that elements compute in, so
    that their error does not grow with the number of terms. Of float64 there is none."""
    compute = compute_dtype(dtype)
    return TWICE.get(compute, compute)


def register_type(dtype: DType) -> Attribute:
    """The MLIR type of a number of this dtype inside a body: signless, booleans one bit, floats of 8 bits integers."""
    if dtype.category is Category.INT or dtype in FLOAT8:
        return IntegerType(dtype.bits)
    return dtype.mlir_type


def is_unsigned(dtype: DType) -> bool:
    return dtype in (dt.Byte, dt.UInt16, dt.UInt32, dt.UInt64)


def register_bits(dtype: DType) -> int:
    """Bits of a number inside a body: a Bool has one."""
    return 1 if dtype is dt.Bool else dtype.bits


def integer_of(value: float, dtype: DType) -> int:
    """The integer that is a number of a dtype whose numbers are integers in bodies."""
    if dtype in FLOAT8:
        return int(to_dtype(np.array(value), dtype.numpy).view(np.int8))
    return int(bool(value)) if dtype is dt.Bool else int(value)


def widened(value: SSAValue) -> arith.BitcastOp:
    """A bfloat16 as float32, whose upper half it is. Said in integers: of a conversion LLVM may make arithmetic of bfloat16, for which
    few processors have instructions."""
    bits = arith.ExtUIOp(arith.BitcastOp(value, IntegerType(16)).result, i32)
    sixteen = arith.ConstantOp(IntegerAttr(16, i32))
    return arith.BitcastOp(arith.ShLIOp(bits, sixteen).result, f32)


def unwidened(value: SSAValue, dtype: DType) -> SSAValue | None:
    """The short float that a float32 of a body was made of, for what moves elements and computes none of them; also where one of two is
    chosen, or it is a number that the dtype holds. None of anything else."""
    type: Any = register_type(dtype)
    match value.owner:
        case arith.ExtFOp() as made if made.input.type == type:
            return made.input
        case arith.BitcastOp(input=SSAValue(owner=arith.ShLIOp() as bits)) if (
            type == bf16 and value.type == f32
        ):
            whole = bits.lhs.owner
            short = whole.input.owner if isinstance(whole, arith.ExtUIOp) else None
            return short.input if isinstance(short, arith.BitcastOp) else None
        case arith.ConstantOp(value=FloatAttr(value=number)) if dtype.bits == 16 and is_held(number.data):
            return arith.ConstantOp(FloatAttr(number.data, type)).result
        case arith.SelectOp() as made:
            chosen = [unwidened(x, dtype) for x in (made.lhs, made.rhs)]
            first, second = chosen
            return (
                None if first is None or second is None else arith.SelectOp(made.cond, first, second).result
            )
        case _:
            return None


def is_held(number: float) -> bool:
    """Whether all floats of 16 bits hold a number: infinities, and integers of eight bits."""
    return isinf(number) or (number.is_integer() and abs(number) <= 256)


PARTS = {dt.ComplexHalf: dt.Half, dt.ComplexFloat: dt.Float, dt.ComplexDouble: dt.Double}
"""Dtypes of the real and the imaginary part."""
WHOLES = {part: whole for whole, part in PARTS.items()}
"""Dtypes of complex numbers, by those of their parts."""


def complex_type(dtype: DType) -> ComplexType[Any]:
    """The MLIR type of numbers of a complex dtype."""
    type: Any = dtype.mlir_type
    return type
