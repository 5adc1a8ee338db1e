"""`specialize{symbols="s0=4"}`: a program for one size where it was for many.

Types say what sizes and symbolic numbers are, so pinning a symbol is putting a number in its place in all of them; ranges and guards
that the number keeps go. `canonicalize` then makes constants of what was computed. Sizes that depend on data cannot be pinned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.signature import GUARDS, RANGES, RangeAttr, checked_ranges_of, guards_of
from xdsl_exir.dialects.tensors import SymBoolType, SymType, is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.errors import ExirError
from xdsl_exir.program import methods_of


def pinned(size: Dim, symbols: Mapping[str, int]) -> Dim:
    """A size with numbers in place of symbols."""
    return size.substitute(symbols) if isinstance(size, Expr) else size


def pinned_type(type: Attribute, symbols: Mapping[str, int]) -> Attribute:
    """A type with numbers in place of symbols."""
    if is_tensor_type(type):
        meta = tensor_meta(type)
        shape = tuple(pinned(size, symbols) for size in meta.shape)
        return type if shape == meta.shape else tensor_type(shape, meta.dtype, meta.dim_order, meta.device)
    if isinstance(type, SymType) and (value := pinned(type.data, symbols)) != type.data:
        return type.__class__(value)
    return type


def values_of(function: FuncOp) -> Iterator[SSAValue]:
    """Everything of a function that has a type."""
    for op in function.walk():
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


@dataclass(frozen=True)
class Specialize(ModulePass):
    """Pins symbols of all methods: `symbols="s0=4","s1=7"`. Raises `ExirError` for a number that a symbol's range or a guard
    excludes, for a symbol that no method has, and for what is no `symbol=number`."""

    name = "specialize"

    symbols: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = dict(map(self.read, self.symbols))
        functions = list(methods_of(op).values())
        known = {name for function in functions for name in checked_ranges_of(function)}
        if unknown := [name for name in symbols if name not in known]:
            raise ExirError(
                f"specialize: no symbol '{unknown[0]}'; there are {', '.join(sorted(known)) or 'none'}"
            )
        for function in functions:
            pin(function, symbols)

    @staticmethod
    def read(text: str) -> tuple[str, int]:
        """`s0=4` as name and number."""
        name, _, number = text.partition("=")
        if not (number.isascii() and number.isdigit()):
            raise ExirError(f"specialize: '{text}' is not SYMBOL=NUMBER")
        if name.startswith("u"):
            raise ExirError(f"specialize: '{name}' depends on data")
        return name, int(number)


def pin(function: FuncOp, symbols: Mapping[str, int]) -> None:
    """Pins symbols of one method."""
    for name, (low, high) in checked_ranges_of(function).items():
        number = symbols.get(name)
        if number is not None and not (low is None or low <= number) & (high is None or number <= high):
            raise ExirError(f"specialize: {name} is {low} to {high}, not {number}")
    guards = [pinned(guard, symbols) for guard in guards_of(function)]
    if any(is_false(guard) for guard in guards):
        raise ExirError(f"specialize: {', '.join(f'{n}={v}' for n, v in symbols.items())} breaks a guard")
    for value in list(values_of(function)):
        after = pinned_type(value.type, symbols)
        if after != value.type:
            Rewriter.replace_value_with_new_type(value, after)
    function.update_function_type()
    rest = [SymBoolType(guard) for guard in guards if isinstance(guard, Expr) and guard.free_symbols()]
    replace_attribute(function, GUARDS, ArrayAttr(rest) if rest else None)
    held = function.attributes.get(RANGES)
    ranges = {
        str(size): attr
        for name, attr in (held.data.items() if isinstance(held, DictionaryAttr) else ())
        if isinstance(attr, RangeAttr)
        if isinstance(size := pinned(Expr.parse(name), symbols), Expr)
    }
    replace_attribute(function, RANGES, DictionaryAttr(ranges) if ranges else None)


def is_false(guard: Dim) -> bool:
    return isinstance(guard, Expr) and not guard.free_symbols() and not guard.evaluate({})


def replace_attribute(function: FuncOp, name: str, attr: Attribute | None) -> None:
    function.attributes.pop(name, None)
    if attr is not None:
        function.attributes[name] = attr
