"""Sizes of the lowered program: ints, or expressions of the program's symbols, which become arithmetic on `index` values.

A symbol is an argument of the functions that use it. What is known of a size is what its normal form says: two sizes are taken
to be equal, or one to divide the other, only where that holds for all values of their symbols.

Numbers with a fraction that are computed from sizes, and sizes that are computed by way of such, are arithmetic on float64, as Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from types import MappingProxyType
from typing import Protocol, TypeVar

from xdsl_exir.dialects.expr import Dim, Expr, ExprError, linear
from xdsl_exir.errors import ExirError

Sizes = tuple[Dim, ...]

TYPICAL = (64, 256, 1024, 4096)
"""Values of symbols by which buffers and roads are compared, and loops thought worth threads: the first with which a size has a value, as one that
is divided by a number of windows need not have with small ones."""

V = TypeVar("V")


Range = tuple[int | None, int | None]


def typical(size: Dim, ranges: Mapping[str, Range] = MappingProxyType({})) -> float:
    """What a size is with typical values of its symbols, as far as their ranges allow; 0 if it has none."""
    if isinstance(size, int):
        return size
    for value in TYPICAL:
        with suppress(ExprError):
            return size.evaluate(
                {name: within(value, *ranges.get(name, (None, None))) for name in size.free_symbols()}
            )
    return 0


def within(value: int, low: int | None, high: int | None) -> int:
    """The number of a range, both ends included, that is closest to a value."""
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


class Arithmetic(Protocol[V]):
    """Something that writes operations of arith and math on `index` values, whole numbers, and on float64, real ones."""

    def number(self, value: int) -> V:
        """A constant."""
        ...

    def real(self, value: float) -> V:
        """A real constant."""
        ...

    def symbol(self, name: str) -> V:
        """The value of a symbol."""
        ...

    def binary(self, name: str, a: V, b: V) -> V:
        """An operation of two numbers, `muli`."""
        ...

    def as_real(self, a: V) -> V:
        """A whole number as a real one."""
        ...

    def truncated(self, a: V) -> V:
        """A real number as a whole one, rounded towards 0."""
        ...

    def root(self, a: V) -> V:
        """The square root of a real number."""
        ...

    def choose(self, predicate: str, a: V, b: V, yes: V, no: V) -> V:
        """`yes` where the comparison holds (a predicate of arith.cmpi, or of arith.cmpf), else `no`."""
        ...


# --- functions of whole numbers ------------------------------------------------------------------------------


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


def _abs(to: Arithmetic[V], a: V) -> V:
    zero = to.number(0)
    return to.choose("slt", a, zero, to.binary("subi", zero, a), a)


def _not(to: Arithmetic[V], a: V) -> V:
    return to.choose("eq", a, to.number(0), to.number(1), to.number(0))


def _power_of_two(to: Arithmetic[V], exponent: V) -> V:
    """One that does not fit is whatever."""
    count = to.binary("minsi", to.binary("maxsi", exponent, to.number(0)), to.number(62))
    return to.binary("shli", to.number(1), count)


def _named(name: str) -> Callable[[Arithmetic[V], V, V], V]:
    return lambda to, a, b: to.binary(name, a, b)


def _comparison(predicate: str) -> Callable[[Arithmetic[V], V, V], V]:
    return lambda to, a, b: to.choose(predicate, a, b, to.number(1), to.number(0))


def _where(to: Arithmetic[V], condition: V, a: V, b: V) -> V:
    return to.choose("ne", condition, to.number(0), a, b)


FUNCTIONS: dict[str, Callable[..., object]] = {
    "add": _named("addi"),
    "mul": _named("muli"),
    "max": _named("maxsi"),
    "min": _named("minsi"),
    "floordiv": _floordiv,
    "mod": _mod,
    "abs": _abs,
    "bitwise_and": _named("andi"),
    "bitwise_or": _named("ori"),
    "bitwise_xor": _named("xori"),
    "and": _named("minui"),
    "or": _named("maxui"),
    "not": _not,
    **{head: _comparison(f"s{head}") for head in ("lt", "le", "gt", "ge")},
    **{head: _comparison(head) for head in ("eq", "ne")},
    "where": _where,
}
"""Functions of expressions, by head, as arithmetic on whole numbers; conditions are 1 or 0. Those of two operands are folded over more."""


# --- functions of real numbers -------------------------------------------------------------------------------


def _real_mod(to: Arithmetic[V], a: V, b: V) -> V:
    """The remainder with the divisor's sign, as Python's."""
    zero, rest = to.real(0.0), to.binary("remf", a, b)
    negative, other = (to.choose("olt", x, zero, to.number(1), to.number(0)) for x in (rest, b))
    moved = to.choose("eq", negative, other, rest, to.binary("addf", rest, b))
    return to.choose("oeq", rest, zero, rest, moved)


def _real_floordiv(to: Arithmetic[V], a: V, b: V) -> V:
    """What is left without the remainder is a multiple but for rounding."""
    return _round(to, to.binary("divf", to.binary("subf", a, _real_mod(to, a, b)), b))


def _real_abs(to: Arithmetic[V], a: V) -> V:
    zero = to.real(0.0)
    return to.choose("olt", a, zero, to.binary("subf", zero, a), a)


def _round(to: Arithmetic[V], a: V) -> V:
    """To the next whole number, to the even one of two: as sums round that have no digits left for a fraction. Numbers as large as 2**51
    are no sizes."""
    large = to.real(1.5 * 2**52)
    return to.binary("subf", to.binary("addf", a, large), large)


def _extremum(predicate: str) -> Callable[[Arithmetic[V], V, V], V]:
    return lambda to, a, b: to.choose(predicate, b, a, b, a)


def _whole(to: Arithmetic[V], a: V) -> V:
    return to.truncated(a)


def _whole_beside(predicate: str, step: str) -> Callable[[Arithmetic[V], V], V]:
    """The whole number that a real one is rounded to down or up: one further than towards 0 where that is on its other side."""

    def rounded(to: Arithmetic[V], a: V) -> V:
        whole = _whole(to, a)
        return to.choose(predicate, a, to.as_real(whole), to.binary(step, whole, to.number(1)), whole)

    return rounded


def _whole_nearest(to: Arithmetic[V], a: V) -> V:
    return to.truncated(_round(to, a))


def _root(to: Arithmetic[V], a: V) -> V:
    return to.root(a)


def _itself(to: Arithmetic[V], a: V) -> V:
    return a


REAL_FUNCTIONS: dict[str, Callable[..., object]] = {
    "to_float": _itself,
    "add": _named("addf"),
    "mul": _named("mulf"),
    "truediv": _named("divf"),
    "pow": _named("powf"),
    "sqrt": _root,
    "max": _extremum("ogt"),
    "min": _extremum("olt"),
    "mod": _real_mod,
    "floordiv": _real_floordiv,
    "abs": _real_abs,
    **{head: _comparison(f"o{head}") for head in ("lt", "le", "gt", "ge", "eq")},
    "ne": _comparison("une"),
    "where": _where,
    "trunc_to_int": _whole,
    "floor_to_int": _whole_beside("olt", "subi"),
    "ceil_to_int": _whole_beside("ogt", "addi"),
    "round_to_int": _whole_nearest,
}
"""The same of functions that take or give numbers with fractions."""


# --- expressions ---------------------------------------------------------------------------------------------


def _is_real(size: Expr) -> bool:
    """Whether a function takes or gives numbers with fractions."""
    return size.kind == "float" or any(arg.kind == "float" for arg in size.args)


def _function(size: Expr) -> Callable[..., object] | None:
    """The arithmetic of an expression's function; None of one that has none."""
    return (REAL_FUNCTIONS if _is_real(size) else FUNCTIONS).get(size.head)


def _whole_power(size: Expr) -> tuple[Expr, Expr | int] | None:
    """The base and exponent of a power of whole numbers that is computed: times that are known, or a power of 2; None of anything else."""
    if size.head != "pow" or size.kind != "int":
        return None
    base, exponent = size.args
    if type(exponent.value) is int:
        return (base, exponent.value) if exponent.value > 0 else None
    return (base, exponent) if base.value == 2 else None


def is_computable(size: Dim) -> bool:
    """Whether a number can be computed from symbols."""
    if isinstance(size, int):
        return True
    if size.head == "symbol":
        return size.kind == "int"
    if size.head == "constant":
        return isinstance(size.value, int | float)
    known = _function(size) is not None or _whole_power(size) is not None
    return known and all(map(is_computable, size.args))


def compute(size: Dim, to: Arithmetic[V]) -> V:
    """Writes the arithmetic of a number: a real one where the expression has fractions. Raises `ExirError` for a function that it has no
    arithmetic for."""
    if isinstance(size, int):
        return to.number(size)
    if not is_computable(size):
        raise ExirError(f"the size {size} is not computed natively")
    if size.head == "symbol":
        return to.symbol(str(size.value))
    if size.head == "constant":
        assert isinstance(size.value, int | float)
        return to.real(size.value) if isinstance(size.value, float) else to.number(int(size.value))
    if (power := _whole_power(size)) is not None:
        base, exponent = power
        if isinstance(exponent, Expr):
            return _power_of_two(to, compute(exponent, to))
        return reduce(lambda a, b: to.binary("muli", a, b), [compute(base, to)] * exponent)
    function, args = _function(size), [compute(arg, to) for arg in size.args]
    assert function is not None
    if _is_real(size):
        args = [
            to.as_real(arg) if given.kind == "int" else arg
            for given, arg in zip(size.args, args, strict=True)
        ]
    if len(args) > 1 and function is not _where:
        return reduce(lambda a, b: function(to, a, b), args)  # pyright: ignore[reportReturnType]
    return function(to, *args)  # pyright: ignore[reportReturnType]


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
