"""What regions and the operands around them must agree on: types, slices and stacks of them, predicates, and what a loop may carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import may_equal, numel, same_size
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    SymType,
    is_tensor_type,
    tensor_meta,
    tensor_type,
)

Types: TypeAlias = Sequence[Attribute]

# --- what regions and their operands must agree on -----------------------------------------------------------


def types_of(values: Sequence[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]


def argument_types(region: Region) -> list[Attribute]:
    """Types of a region's block arguments."""
    return types_of(region.block.args)


def may_carry(before: Attribute, after: Attribute) -> bool:
    """Whether one turn of a loop may hand a value of the first type to the next as one of the second.

    The type of a symbolic number says its value, which changes from turn to turn: only its kind stays.
    """
    if isinstance(before, SymType):
        return type(before) is type(after)
    return may_equal(before, after)


def check_types(
    what: str, given: Types, expected: Types, agree: Callable[[Attribute, Attribute], bool] = may_equal
) -> None:
    """Raises `VerifyException` unless the types agree one by one."""
    if len(given) != len(expected):
        raise VerifyException(f"{what}: {len(given)} values for {len(expected)}")
    for index, (a, b) in enumerate(zip(given, expected, strict=True)):
        if not agree(a, b):
            raise VerifyException(f"{what}: value {index} is {a}, expected {b}")


def is_predicate(type: Attribute) -> bool:
    """Whether a value of this type decides: a boolean, or a boolean tensor of one element."""
    if not is_tensor_type(type):
        return type == i1 or isinstance(type, SymBoolType)
    meta = tensor_meta(type)
    return meta.dtype is dt.Bool and same_size(numel(meta.shape), 1)


def check_predicate(what: str, type: Attribute) -> None:
    """Raises `VerifyException` unless a value of this type decides."""
    if not is_predicate(type):
        raise VerifyException(f"{what} is {type}, not a boolean or a boolean tensor of one element")


def slice_type(type: Attribute) -> Attribute:
    """The type of one element along a tensor's leading dimension. Raises `VerifyException` where it has none."""
    if not is_tensor_type(type) or not type.get_shape():
        raise VerifyException(f"{type} has no leading dimension")
    meta = tensor_meta(type)
    return tensor_type(meta.shape[1:], meta.dtype, None, meta.device)


def stack_type(type: Attribute, length: Dim) -> Attribute:
    """The type of `length` values of this type, stacked along a new leading dimension."""
    if not is_tensor_type(type):
        raise VerifyException(f"{type} is not a tensor, so it cannot be stacked")
    meta = tensor_meta(type)
    return tensor_type((length, *meta.shape), meta.dtype, None, meta.device)


def leading_dimension(types: Types) -> Dim:
    """The leading dimension that all tensors share. Raises `VerifyException` where they do not, or where it is 0."""
    lengths = [tensor_meta(type).shape[0] for type in types if is_tensor_type(type) and type.get_shape()]
    if not types or len(lengths) != len(types):
        raise VerifyException("xs: at least one tensor expected, all with a leading dimension")
    if not all(same_size(length, lengths[0]) for length in lengths):
        raise VerifyException(f"xs: leading dimensions {', '.join(map(str, lengths))} differ")
    if lengths[0] == 0:
        raise VerifyException("xs: the leading dimension is 0")
    return lengths[0]
