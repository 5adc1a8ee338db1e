"""What rules ask about the values they are given: which operator made one, and which number one is known to be.

Rules get SSA values and Python numbers, as `Builder` takes them; nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xdsl_exir.dialects.builder import meta
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, PythonNumber
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, is_value, number_category, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.narrowing import is_list


def made_by(value: Any, *names: str) -> OperatorOp | None:
    """The operation that gives a value, if it is of one of these operators (`aten.neg`), in `aten` or `edge`."""
    if not is_value(value) or not isinstance(op := value.owner, OperatorOp):
        return None
    return op if op.SPEC.qualified_name in names else None


def says_order(op: OperatorOp) -> bool:
    """Whether an operation says how its result lies in memory, which the result's elements do not."""
    return not op.properties.keys().isdisjoint(("dim_order", "memory_format"))


def same_arguments(op: OperatorOp, arguments: Mapping[str, Any], *but: str) -> bool:
    """Whether an operation's arguments are these, those named in `but` aside."""
    given = op.arguments()
    return all(key_of(given[name]) == key_of(value) for name, value in arguments.items() if name not in but)


def key_of(value: Any) -> object:
    """What tells arguments apart, the signs of zeros and the kinds of numbers included; a NaN is like itself."""
    return [key_of(item) for item in value] if is_list(value) else value if is_value(value) else repr(value)


def symbolic_constant(type: SymType) -> PythonNumber | None:
    """The number that a symbolic type is, None where it has a symbol."""
    value = type.data
    if not isinstance(value, Expr):
        return value
    if value.free_symbols():
        return None
    try:
        number = value.evaluate({})
    except ExirError:
        return None  # a division by zero, which is an error when it is run
    return {Category.INT: int, Category.FLOAT: float, Category.BOOL: bool}[type.category](number)


def known(value: Any) -> PythonNumber | None:
    """The number that a value is, everywhere in it if it is a tensor, as its dtype holds it; None where that is not known.

    A Python number is itself.
    """
    if isinstance(value, bool | int | float | complex):
        return value
    if not is_value(value):
        return None
    match value.owner:
        case NumberOp() as op:
            return op.number
        case ConstantOp() as op if op.is_splat:
            return np.array(op.values[0]).astype(tensor_meta(op.type).dtype.numpy).item()
        case _:
            return symbolic_constant(value.type) if isinstance(value.type, SymType) else None


def category(value: Any) -> Category:
    """The category of a tensor or a number."""
    if is_value(value) and is_tensor_type(value.type):
        return meta(value).dtype.category
    if is_value(value):
        found = number_category(value.type)
        assert found is not None
        return found
    return {bool: Category.BOOL, int: Category.INT, float: Category.FLOAT, complex: Category.COMPLEX}[
        type(value)
    ]


def is_real(value: Any) -> bool:
    """Whether something is no complex number, nor a tensor of them."""
    return category(value) is not Category.COMPLEX


def is_integral(dtype: DType) -> bool:
    """Whether a dtype holds integers or booleans."""
    return dtype.category <= Category.INT


def static(sizes: Sequence[Any]) -> list[int] | None:
    """Sizes, or other numbers, that are all constants."""
    numbers = [size for size in sizes if isinstance(size, int)]
    return numbers if len(numbers) == len(sizes) else None


def is_tensor(value: Any) -> bool:
    """Whether something is an SSA value of a tensor."""
    return is_value(value) and is_tensor_type(value.type)
