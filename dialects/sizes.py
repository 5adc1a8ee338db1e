"""Sizes as types say them: numbers, and expressions of symbols."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta


def sizes_of(values: Iterable[SSAValue]) -> list[Dim]:
    """The sizes of tensors among values, and what numbers among them are."""
    sizes: list[Dim] = []
    for value in values:
        if is_tensor_type(value.type):
            sizes += tensor_meta(value.type).shape
        elif isinstance(value.type, SymType):
            sizes.append(value.type.data)
    return sizes


def symbols_of(sizes: Iterable[Dim]) -> set[str]:
    """The symbols that sizes depend on."""
    return {name for size in sizes if isinstance(size, Expr) for name in size.free_symbols()}


def is_symbol(size: Dim) -> bool:
    """Whether a size is a symbol."""
    return isinstance(size, Expr) and size.head == "symbol"


def is_static(sizes: Iterable[Dim]) -> bool:
    """Whether all sizes are numbers."""
    return all(isinstance(size, int) for size in sizes)
