"""Sizes that PyTorch decides when it traces: by guards, and by the ranges of symbols, which are at least 2 there, for 0 and 1 are traced apart.

Here the ranges are wider, as most programs are right of 0 and 1 as well. So a size may be one thing or the other which PyTorch knows:
`min(s0 - 1, 1)` is 1. Where an operator takes its operands only in the sizes that PyTorch knows, they are refined to them, and have to be
so when the program runs (`least_sizes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects.builder import Builder
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.expr import Dim, Expr, Ranges, simplified
from xdsl_exir.dialects.meta import MetaError, infer_result_types
from xdsl_exir.dialects.operator import OperatorOp, metas
from xdsl_exir.dialects.tensors import is_tensor_type, is_value, tensor_meta
from xdsl_exir.narrowing import is_sequence


def numbers_of(guards: Iterable[Expr], ranges: Ranges) -> dict[Dim, int]:
    """The computed sizes that guards say to be numbers, as they are written and as they are in the symbols' ranges."""
    equal = (guard.args for guard in guards if guard.head == "eq")
    said = [(a, number) for a, b in equal if a.head != "symbol" and isinstance(number := b.value, int)]
    return {size: number for a, number in said for size in (a, simplified(a, ranges))}


def refined(
    builder: Builder,
    cls: type[OperatorOp],
    bound: Mapping[str, Any],
    settled: Callable[[Attribute], Attribute],
) -> Mapping[str, Any]:
    """The arguments, in `settled` sizes if the operator takes them in no others."""

    def of(value: Any) -> Any:
        if is_sequence(value):
            return list(map(of, value))
        if not is_value(value) or not is_computed(value):
            return value
        known = settled(value.type)
        return value if known == value.type else builder.insert(RefineOp(value, known)).results[0]

    given = [item for value in bound.values() for item in (value if is_sequence(value) else [value])]
    if not any(is_value(item) and is_computed(item) and settled(item.type) != item.type for item in given):
        return bound
    try:
        infer_result_types(cls.SPEC, {name: metas(value) for name, value in bound.items()})
    except MetaError:
        return {name: of(value) for name, value in bound.items()}
    return bound


def is_computed(value: SSAValue) -> bool:
    """Whether a tensor has sizes that are neither numbers nor symbols."""
    return is_tensor_type(value.type) and any(
        isinstance(size, Expr) and size.head != "symbol" for size in tensor_meta(value.type).shape
    )
