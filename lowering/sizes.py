"""Sizes of the lowered program: ints, or expressions of the program's symbols, which become arithmetic on `index` values.

A symbol is an argument of the functions that use it. What is known of a size is what its normal form says: two sizes are taken
to be equal, or one to divide the other, only where that holds for all values of their symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Protocol, TypeVar

from xdsl_exir.dialects.expr import Dim, Expr, apply, linear, provably
from xdsl_exir.errors import ExirError

Sizes = tuple[Dim, ...]

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """Something that writes operations of arith on `index` values."""

    def number(self, value: int) -> V:
        """A constant."""
        ...

    def symbol(self, name: str) -> V:
        """The value of a symbol."""
        ...

    def binary(self, name: str, a: V, b: V) -> V:
        """An operation of two indices, `muli`."""
        ...

    def scaled(self, a: V, factor: float) -> V:
        """The whole part of an index times a number, in float64."""
        ...

    def choose(self, predicate: str, a: V, b: V, yes: V, no: V) -> V:
        """`yes` where the comparison holds (a predicate of arith.cmpi), else `no`."""
        ...


def _floordiv(to: Arithmetic[V], a: V, b: V) -> V:
    """Division that rounds down, as Python's; by 0, which no valid size is divided by, whatever."""
    zero, one = to.number(0), to.number(1)
    b = to.choose("eq", b, zero, one, b)
    quotient = to.binary("divsi", a, b)
    rest = to.binary("subi", a, to.binary("muli", quotient, b))
    signs_differ = to.binary("xori", a, b)
    lower = to.choose("slt", signs_differ, zero, to.binary("subi", quotient, one), quotient)
    return to.choose("eq", rest, zero, quotient, lower)


def _mod(to: Arithmetic[V], a: V, b: V) -> V:
    return to.binary("subi", a, to.binary("muli", _floordiv(to, a, b), b))


def _named(name: str) -> Callable[[Arithmetic[V], V, V], V]:
    return lambda to, a, b: to.binary(name, a, b)


def _comparison(predicate: str, sign: str = "s") -> Callable[[Arithmetic[V], V, V], V]:
    return lambda to, a, b: to.choose(f"{sign}{predicate}", a, b, to.number(1), to.number(0))


def _where(to: Arithmetic[V], condition: V, a: V, b: V) -> V:
    return to.choose("ne", condition, to.number(0), a, b)


FUNCTIONS: dict[str, Callable[..., object]] = {
    "add": _named("addi"),
    "mul": _named("muli"),
    "max": _named("maxsi"),
    "min": _named("minsi"),
    "floordiv": _floordiv,
    "mod": _mod,
    "and": _named("minui"),
    "or": _named("maxui"),
    **{head: _comparison(head) for head in ("lt", "le", "gt", "ge")},
    **{head: _comparison(head, "") for head in ("eq", "ne")},
    "where": _where,
}
"""Functions of expressions, by head, as arithmetic on indices, of two operands unless they take three; conditions are 1 or 0."""


def is_computable(size: Dim) -> bool:
    """Whether a size can be computed from symbols."""
    if isinstance(size, int):
        return True
    if size.head in ("symbol", "constant"):
        return size.kind == "int" and (size.head == "symbol" or type(size.value) is int)
    if size.head == "pow":
        base, exponent = size.args
        return (
            is_computable(base)
            and exponent.head == "constant"
            and type(exponent.value) is int
            and exponent.value > 0
        )
    if (quotient := truncated(size)) is not None:
        return is_computable(quotient)
    parts = scaled(size)
    return is_computable(parts[0]) if parts else size.head in FUNCTIONS and all(map(is_computable, size.args))


def scaled(size: Expr) -> tuple[Expr, float] | None:
    """`(s0, 1.5)` of `trunc_to_int(1.5 * to_float(s0))`, as sizes are scaled; None of anything else."""
    match size:
        case Expr(head="trunc_to_int" | "floor_to_int", args=(Expr(head="mul", args=(a, b)),)):
            factor, of = (a, b) if a.head == "constant" else (b, a)
            if factor.head == "constant" and isinstance(factor.value, float) and of.head == "to_float":
                known = factor.value > 0 and provably(apply("ge", of.args[0], 0))
                return (of.args[0], factor.value) if known else None
        case _:
            pass
    return None


def truncated(size: Expr) -> Expr | None:
    """`s0 floordiv 2` of `trunc_to_int(truediv(s0, 2))`, neither part of which is negative; None of anything else."""
    match size:
        case Expr(head="trunc_to_int", args=(Expr(head="truediv", args=(a, b)),)) if (
            a.kind == b.kind == "int"
        ):
            positive = provably(apply("ge", a, 0)) and provably(apply("gt", b, 0))
            quotient = a // b if positive else None
            return quotient if isinstance(quotient, Expr) else None
        case _:
            return None


def compute(size: Dim, to: Arithmetic[V]) -> V:
    """Writes the arithmetic of a size. Raises `ExirError` for a function that it has no arithmetic for."""
    if isinstance(size, int):
        return to.number(size)
    if not is_computable(size):
        raise ExirError(f"the size {size} is not computed natively")
    if size.head == "symbol":
        return to.symbol(str(size.value))
    if size.head == "constant":
        assert isinstance(size.value, int)
        return to.number(size.value)
    if size.head == "pow":
        base, times = compute(size.args[0], to), size.args[1].value
        assert isinstance(times, int)
        return reduce(lambda a, b: to.binary("muli", a, b), [base] * times)
    if (quotient := truncated(size)) is not None:
        return compute(quotient, to)
    parts = scaled(size)
    if parts:
        return to.scaled(compute(parts[0], to), parts[1])
    function = FUNCTIONS[size.head]
    if function is _where:
        return _where(to, *[compute(arg, to) for arg in size.args])
    return reduce(lambda a, b: function(to, a, b), [compute(arg, to) for arg in size.args])  # pyright: ignore[reportReturnType]


def static(sizes: Sequence[Dim]) -> tuple[int, ...]:
    """Sizes that are numbers. Raises `ExirError` for symbolic ones."""
    numbers = tuple(size for size in sizes if isinstance(size, int))
    if len(numbers) != len(sizes):
        raise ExirError(f"symbolic sizes [{', '.join(map(str, sizes))}] are not lowered")
    return numbers


def quotient(a: Dim, b: Dim) -> Dim | None:
    """`a / b` where `b` divides `a` whatever the symbols are; else None."""
    if b == 0:
        return None
    result = a // b
    return result if result * b == a else None


def lengthwise(sizes: Sequence[Dim]) -> Dim:
    """The size of a dimension to which all broadcast: the one that is not 1."""
    return next((size for size in sizes if size != 1), 1)


def solve(size: Dim, value: int) -> int | None:
    """The value of the one symbol that a size depends on, where the size has a value; None unless it is a multiple of it plus a constant.

    A value that the size cannot have gives a symbol that does not give it back.
    """
    if isinstance(size, int):
        return value
    known = linear(size)
    if known is None:
        return None
    _, step, start = known
    return (value - start) // step
