"""What operators assert about numbers, and what numbers that they take have to keep: conditions on a call's symbols.

They are checked before a piece of native code is called, which cannot raise; those on sizes that it reads (`lowering.reads`), after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl_exir.dialects.expr import Dim, Expr, apply, condition_text
from xdsl_exir.dialects.meta import as_meta, assumptions, infer_result_types, wrap_dims
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.shapes.slicing import slice_size
from xdsl_exir.dialects.sizes import sizes_of, symbols_of
from xdsl_exir.dialects.tensors import SymType, TensorMeta, is_tensor_type, tensor_meta

Conditions: TypeAlias = list[tuple[Dim, str]]
"""What has to hold of symbols, and what to say where it does not."""


def stays(self: TensorMeta, dim: Sequence[int], **_: Any) -> Conditions:
    """A dimension is squeezed where its size is 1."""
    sizes = [(at, self.shape[at]) for at in wrap_dims(dim, self.ndim) if self.shape]
    return [
        (apply("ne", size, 1), f"dimension {at} is squeezed where its size {size} is 1")
        for at, size in sizes
        if isinstance(size, Expr)
    ]


def is_in_range(self: TensorMeta, dim: int, index: Dim, **_: Any) -> Conditions:
    """An index that the program computes is in its dimension."""
    size = self.shape[dim]
    text = f"index {index} is out of range for a dimension of size {size}"
    return [(apply("ge", index, -size), text), (apply("lt", index, size), text)]


def has_length(
    self: TensorMeta, dim: int, start: Dim | None, end: Dim | None, step: int, out: Sequence[TensorMeta]
) -> Conditions:
    """A slice between bounds that the program computes is as long as its type says."""
    size, count = slice_size(self.shape[dim], start, end, step), out[0].shape[dim]
    assert size is not None, "numbers have expressions"
    return [(apply("eq", size, count), f"a slice has {size} elements, not {count}")]


UNCHECKED: dict[str, Callable[..., Conditions]] = {"aten.squeeze.dims": stays}
"""What PyTorch takes for granted when it traces these, without a guard."""


def is_true(self: Dim, assert_msg: str, **_: Any) -> Conditions:
    return [(self, assert_msg)]


def is_within(size: Dim, min: int | None, max: int | None, **_: Any) -> Conditions:
    low, high = "-inf" if min is None else min, "inf" if max is None else max
    ends = (("ge", min), ("le", max))
    return [
        (apply(relation, size, end), f"{size} is not between {low} and {high}")
        for relation, end in ends
        if end is not None
    ]


def is_size_within(size: Dim, min: int | None, max: int | None, **_: Any) -> Conditions:
    """A size is not negative."""
    return is_within(size, 0 if min is None else min, max)


ASSERTIONS: dict[str, Callable[..., Conditions]] = {
    **UNCHECKED,
    "aten._assert_scalar": is_true,
    "aten.select.int": is_in_range,
    "aten.slice.Tensor": has_length,
    "aten.sym_constrain_range": is_within,
    "aten.sym_constrain_range_for_size": is_size_within,
}
"""What operators assert about numbers, or numbers that they take have to keep, from their arguments and results."""
LATE = frozenset(("aten._assert_scalar", "aten.sym_constrain_range", "aten.sym_constrain_range_for_size"))
"""What only looks at numbers: no memory is read for it."""


def asserted(op: OperatorOp) -> Conditions:
    """What an operator asserts about symbols."""
    name = op.SPEC.qualified_name
    takes_numbers = any(isinstance(operand.type, SymType) for operand in op.operands)
    if name not in ASSERTIONS or not (takes_numbers or name in UNCHECKED or not op.results):
        return []
    arguments = op.arguments(lambda value: as_meta(value.type))
    out = [tensor_meta(result.type) for result in op.results if is_tensor_type(result.type)]
    return ASSERTIONS[name](**arguments, out=out)


def assumed(op: OperatorOp) -> Conditions:
    """What the shape rule of an operator takes to hold of symbols: PyTorch traces some without a guard, and kernels would read memory
    that is not there."""
    if not symbols_of(sizes_of(op.operands)):
        return []
    with assumptions() as found:
        infer_result_types(op.SPEC, op.arguments(lambda value: as_meta(value.type)))
    return [(each, f"{op.SPEC.qualified_name}: not {condition_text(each)}") for each in found]
