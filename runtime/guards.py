"""What a call's inputs have to be, checked before every call, whatever runs it: dtypes, sizes, ranges of symbols, guards.

Sizes that are symbols say their values; of sizes of another form one that is not known yet is solved, and all have to agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xdsl_exir.dialects.exir import SymType, guards_of, is_tensor_type, ranges_of, tensor_meta
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.errors import InputError
from xdsl_exir.lowering.sizes import solve


def name_of(name: str) -> str:
    return f"input '{name}'" if name else "input"


@dataclass(frozen=True)
class Seen:
    """A size of an input, or a number among the inputs."""

    place: str
    """`input 'x', dimension 0`."""
    size: Dim
    """What the program says it is."""
    value: int


UNSAID = (2, None)
"""The range that PyTorch writes of a size of which nobody said one (`Dim.AUTO`, `Dim.DYNAMIC`). It runs such programs
at 0 and 1 too: that the size is neither was assumed only to trace them."""


@dataclass
class Guards:
    """The conditions on a method's symbols."""

    ranges: dict[str, tuple[int | None, int | None]] = field(
        default_factory=dict[str, tuple[int | None, int | None]]
    )
    conditions: Sequence[Dim] = ()

    @staticmethod
    def of(function: FuncOp) -> Guards:
        return Guards(ranges_of(function), guards_of(function))

    def check(self, seen: Sequence[Seen]) -> None:
        """Raises `InputError` that names the input and dimension at fault."""
        symbols: dict[str, int] = {}
        sources: dict[str, Seen] = {}
        for one in sorted(seen, key=lambda one: not is_symbol(one.size)):
            unknown = free_symbols(one.size) - symbols.keys()
            if not unknown:
                self.check_equal(one, symbols, sources)
                continue
            if len(unknown) > 1:
                continue
            (symbol,) = unknown
            assert isinstance(one.size, Expr)
            value = solve(one.size.substitute(symbols), one.value)
            if value is None:
                continue
            symbols[symbol] = value
            sources[symbol] = one
            self.check_range(symbol, symbols[symbol], one)
            self.check_equal(one, symbols, sources)
        for condition in self.conditions:
            free = sorted(free_symbols(condition))
            if not isinstance(condition, Expr) or not symbols.keys() >= set(free):
                continue
            if not condition.evaluate(symbols):
                given = ", ".join(f"{sources[s].place}: {s} = {symbols[s]}" for s in free)
                raise InputError(f"{given}; not {condition_text(condition)}")

    def check_equal(self, one: Seen, symbols: dict[str, int], sources: dict[str, Seen]) -> None:
        if not isinstance(one.size, Expr):
            return
        expected = one.size.evaluate(symbols)
        if expected == one.value:
            return
        others = [sources[s] for s in sorted(free_symbols(one.size)) if sources[s] is not one]
        reason = ", ".join(f"{other.place} is {other.value}" for other in others)
        raise InputError(
            f"{one.place}: {one.value} is not {one.size}"
            + (f" = {expected}, since {reason}" if reason else "")
        )

    def check_range(self, symbol: str, value: int, one: Seen) -> None:
        low, high = self.ranges.get(symbol, UNSAID)
        if (low, high) == UNSAID:
            return
        if low is not None and value < low:
            broken = f"less than {low} ({symbol} >= {low})"
        elif high is not None and value > high:
            broken = f"more than {high} ({symbol} <= {high})"
        else:
            return
        through = "" if is_symbol(one.size) else f"{one.value} makes {symbol} "
        raise InputError(f"{one.place}: {through}{value} is {broken}")


COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def condition_text(condition: Expr) -> str:
    """A condition as Python would write it."""
    if condition.head not in COMPARISONS:
        return str(condition)
    left, right = condition.args
    return f"{left} {COMPARISONS[condition.head]} {right}"


def is_symbol(size: Dim) -> bool:
    return isinstance(size, Expr) and size.head == "symbol"


def free_symbols(size: Dim) -> frozenset[str]:
    return size.free_symbols() if isinstance(size, Expr) else frozenset()


def check_input(name: str, value: Any, type: Attribute, seen: list[Seen]) -> Any:
    """A user input as the method takes it; notes its symbolic sizes.

    Raises `InputError` for another dtype, rank or size than the method was exported with.
    """
    what = name_of(name)
    if not is_tensor_type(type):
        if not isinstance(value, bool | int | float):
            raise InputError(f"{what} is {value!r}, expected a number")
        if isinstance(type, SymType) and isinstance(value, int):
            seen.append(Seen(what, type.data, int(value)))
        return value
    meta = tensor_meta(type)
    array = np.asarray(value)
    if array.dtype != meta.dtype.numpy:
        raise InputError(f"{what} is {array.dtype}, expected {meta.dtype.torch_name}")
    if array.ndim != meta.ndim:
        raise InputError(f"{what} has {array.ndim} dimensions, expected {meta.ndim}")
    for dim, (size, given) in enumerate(zip(meta.shape, array.shape, strict=True)):
        if isinstance(size, Expr):
            seen.append(Seen(f"{what}, dimension {dim}", size, given))
        elif size != given:
            raise InputError(f"{what}, dimension {dim}: {given} is not {size}")
    return array
