"""Arithmetic that decompositions of several families are written in: the dtype that PyTorch computes in, numbers as tensors, choices.

Many rules are stated for floating-point numbers of full precision: `computing` brings operands to the dtype that PyTorch
computes in, and `cast` rounds the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, cast, meta, opmath
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.meta import as_meta, as_operand
from xdsl_exir.dialects.promotion import Operand, result_type
from xdsl_exir.dialects.tensors import is_tensor_type

Number: TypeAlias = bool | int | float | complex | SSAValue
"""A number argument: a constant, or one that the program computes."""


def promotion(*operands: Number) -> DType:
    """The dtype that operands promote to."""
    seen = [as_operand(as_meta(v.type) if isinstance(v, SSAValue) else v) for v in operands]
    return result_type(tuple(operand for operand in seen if isinstance(operand, Operand)))


def computing(
    aten: Namespace, *operands: SSAValue, int_to_float: bool = False
) -> tuple[Sequence[SSAValue], DType]:
    """Operands in the dtype PyTorch computes in, float32 for shorter floats; and the dtype that the result has."""
    dtype = promotion(*operands)
    if int_to_float and dtype.category <= Category.INT:
        dtype = dt.Float
    # A Python number computes in any dtype.
    tensors = [
        cast(aten, operand, opmath(dtype)) if is_tensor_type(operand.type) else operand
        for operand in operands
    ]
    return tensors, dtype


def scalar(aten: Namespace, number: Number, dtype: DType) -> SSAValue:
    """A number as 0-dim tensor."""
    return aten.scalar_tensor(number, dtype=dtype)


def product(aten: Namespace, *factors: SSAValue | float) -> SSAValue:
    """The product of all factors."""
    return reduce(aten.mul.Tensor, factors)


def both(aten: Namespace, *conditions: SSAValue) -> SSAValue:
    """Where all conditions hold."""
    return reduce(aten.logical_and, conditions)


def choose(aten: Namespace, condition: SSAValue, value: SSAValue) -> SSAValue:
    """The value where the condition holds, else 0."""
    return aten.where.self(condition, value, aten.full([], 0, dtype=meta(value).dtype))
