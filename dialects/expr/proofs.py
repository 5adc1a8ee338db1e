"""What can be proved of expressions from the ranges of their symbols, by interval arithmetic on polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeAlias, cast

from xdsl_exir.dialects.expr.functions import (
    COMPARISONS,
    boolean,
    floordiv,
    mod,
)
from xdsl_exir.dialects.expr.limits import ExprLimitError
from xdsl_exir.dialects.expr.nodes import Dim, Expr, Terms, as_operand, constant
from xdsl_exir.dialects.expr.polynomial import (
    difference_of,
    from_terms,
    integer_of,
    is_integral,
    is_whole,
    is_whole_product,
    merge,
    power_of,
    scale,
    terms_of,
    times,
)
from xdsl_exir.dialects.expr.values import Number

Ranges: TypeAlias = Mapping[str, tuple[int | None, int | None]]
"""Inclusive ranges of symbols, None for unbounded. A symbol not in it is at least 1 if backed, else unbounded."""


def provably_equal(a: Dim, b: Dim, ranges: Ranges | None = None) -> bool | None:
    """Whether two sizes are equal for all values in range (True), for none (False), or neither is proved (None)."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if a == b:
        return True
    return _prove_comparison("eq", as_operand(a), as_operand(b), _known_of(ranges or {}))


def provably(cond: Dim, ranges: Ranges | None = None) -> bool | None:
    """Whether a condition holds for all values in range (True), for none (False), or neither is proved (None).

    Raises ExprError if `cond` is not a bool.
    """
    return _prove(boolean("provably", as_operand(cond)), _known_of(ranges or {}))


Bound: TypeAlias = int | Fraction | float
"""An exact number, or plus or minus infinity."""
Interval: TypeAlias = tuple[Bound, Bound]
_UNBOUNDED: Interval = (-math.inf, math.inf)
_SHIFTED_DEGREE = 6
"""Largest degree of a polynomial that is rewritten in distances from its atoms' bounds."""
_LARGE_POWER = 64


@dataclass
class _Known:
    """Ranges, and the bounds found by them: sizes of a program are made of the same parts, which are asked for again and again."""

    ranges: Ranges
    bounds: dict[Expr, Interval] = field(default_factory=dict[Expr, Interval])


_MOST_KNOWN = 1 << 16


@lru_cache(maxsize=8)
def _known_by(ranges: tuple[tuple[str, tuple[int | None, int | None]], ...]) -> _Known:
    return _Known(dict(ranges))


def _known_of(ranges: Ranges) -> _Known:
    known = _known_by(tuple(ranges.items()))
    if len(known.bounds) > _MOST_KNOWN:
        known.bounds.clear()
    return known


def _prove(cond: Expr, known: _Known) -> bool | None:
    if cond.head == "constant":
        return bool(cond.value)
    if cond.head in COMPARISONS:
        return _prove_comparison(cond.head, cond.args[0], cond.args[1], known)
    if cond.head not in ("and", "or", "not"):
        return None
    proved = [_prove(arg, known) for arg in cond.args]
    if cond.head == "not":
        return None if proved[0] is None else not proved[0]
    absorbing = cond.head == "or"
    if absorbing in proved:
        return absorbing
    return None if None in proved else not absorbing


def _prove_comparison(head: str, a: Expr, b: Expr, known: _Known) -> bool | None:
    if not a.kind == b.kind == "int":
        return None
    try:
        difference = difference_of(a, b)
        forms = (difference, _proof_form(difference))
        low, high = _intersect(*(_polynomial_bounds(form, known) for form in forms))
    except ExprLimitError:
        return None  # too large to reason about
    if is_whole(difference):
        low = low if math.isinf(low) else math.ceil(low)
        high = high if math.isinf(high) else math.floor(high)
    if head in ("eq", "ne") and any(map(_is_never_zero, forms)):
        return head == "ne"
    return _PROOFS[head](low, high)


def _proved(holds: bool, fails: bool) -> bool | None:
    return True if holds else False if fails else None


_PROOFS: dict[str, Callable[[Bound, Bound], bool | None]] = {
    "gt": lambda low, high: _proved(low > 0, high <= 0),
    "ge": lambda low, high: _proved(low >= 0, high < 0),
    "lt": lambda low, high: _proved(high < 0, low >= 0),
    "le": lambda low, high: _proved(high <= 0, low > 0),
    "eq": lambda low, high: _proved(low == high == 0, low > 0 or high < 0),
    "ne": lambda low, high: _proved(low > 0 or high < 0, low == high == 0),
}
"""From the bounds of a - b to what is proved about a and b."""


def _is_never_zero(terms: Terms) -> bool:
    """Whether divisibility excludes zero, as in 2 * a - 2 * b + 1."""
    if not all(map(is_whole_product, terms)):
        return False
    terms = scale(terms, math.lcm(*(c.denominator for c in terms.values())))
    content = math.gcd(*(int(c) for monomial, c in terms.items() if monomial))
    return content > 0 and terms.get((), 0) % content != 0


def _proof_form(terms: Terms) -> Terms:
    """Equal terms in which division by a constant d appears only as `a mod d`, a in its residue class's
    canonical form, so that expressions that say the same thing with division and with modulo meet."""
    products = (
        reduce(times, [_proof_factor(base, n) for base, n in monomial], {(): coefficient})
        for monomial, coefficient in terms.items()
    )
    return merge(products)


def _proof_factor(atom: Expr, exponent: int) -> Terms:
    if atom.head not in ("floordiv", "mod") or exponent < 0:
        return {((atom, exponent),): 1}
    return reduce(times, [_proof_atom(atom)] * exponent)


def _proof_atom(atom: Expr) -> Terms:
    """A quotient, or a remainder."""
    a, b = atom.args
    divisor = integer_of(b)
    if atom.head == "floordiv":
        if divisor is None:
            return terms_of(atom)
        rest = scale(_residue(a, divisor), -1)
        return scale(merge((_proof_form(terms_of(a)), rest)), Fraction(1, divisor))
    if divisor is not None:
        return _residue(a, divisor)
    whole = times(terms_of(b), terms_of(floordiv(a, b)))
    return merge((terms_of(a), scale(whole, -1)))


def _residue(a: Expr, divisor: int) -> Terms:
    """a mod divisor, with a's coefficients reduced and common factors outside."""
    if not is_integral(a):
        return terms_of(mod(a, constant(divisor)))
    terms = {monomial: int(c) % divisor for monomial, c in terms_of(a).items() if int(c) % divisor}
    content = math.gcd(divisor, *terms.values())
    reduced = from_terms({monomial: c // content for monomial, c in terms.items()})
    return scale(terms_of(mod(reduced, constant(divisor // content))), content)


def _intersect(a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), min(a[1], b[1])


def bounds_of(expr: Expr, ranges: Ranges) -> Interval:
    """Bounds of a number; not always the tightest."""
    return _bounds(expr, _known_of(ranges))


def _bounds(expr: Expr, known: _Known) -> Interval:
    if (found := known.bounds.get(expr)) is None:
        found = known.bounds[expr] = _found_bounds(expr, known)
    return found


def _found_bounds(expr: Expr, known: _Known) -> Interval:
    if expr.kind == "float":
        return _real_bounds(expr, known)
    if expr.kind == "bool":
        return _UNBOUNDED
    if expr.head == "symbol":
        low, high = known.ranges.get(expr.text, (None if expr.is_unbacked else 1, None))
        return -math.inf if low is None else low, math.inf if high is None else high
    if expr.head in _BOUNDS:
        return _BOUNDS[expr.head](expr.args, lambda arg: _bounds(arg, known))
    if expr.head in ("constant", "add", "mul") or power_of(expr)[0] is not expr:
        return _polynomial_bounds(terms_of(expr), known)
    return _UNBOUNDED


def _polynomial_bounds(terms: Terms, known: _Known) -> Interval:
    box = {base: _bounds(base, known) for monomial in terms for base, _ in monomial}
    direct = _sum_bounds(terms, box)
    exponents = [[n for _, n in monomial] for monomial in terms]
    if any(sum(ns) > _SHIFTED_DEGREE or min(ns, default=1) < 0 for ns in exponents):
        return direct
    return _intersect(direct, _shifted_bounds(terms, box))


def _shifted_bounds(terms: Terms, box: Mapping[Expr, Interval]) -> Interval:
    """Bounds after writing each atom as its bound plus or minus a distance: `a * b - a` is `d * e + e` for a = 1 + d,
    b = 1 + e, so never negative."""
    shifts: dict[Expr, Terms] = {}
    distances: dict[Expr, Interval] = {}
    for base, (low, high) in box.items():
        origin, sign = (low, 1) if math.isfinite(low) else (high, -1) if math.isfinite(high) else (0, 1)
        shifts[base] = merge(({(): cast("Number", origin)}, {((base, 1),): sign}))
        distances[base] = (0, high - low) if math.isfinite(low) or math.isfinite(high) else _UNBOUNDED
    products = (
        reduce(times, (shifts[base] for base, n in monomial for _ in range(n)), {(): coefficient})
        for monomial, coefficient in terms.items()
    )
    return _sum_bounds(merge(products), distances)


def _sum_bounds(terms: Terms, box: Mapping[Expr, Interval]) -> Interval:
    low: Bound = 0
    high: Bound = 0
    for monomial, coefficient in terms.items():
        powers = (_power_bounds(box[base], n) for base, n in monomial)
        interval = reduce(_times_interval, powers, (coefficient, coefficient))
        low, high = _plus(low, interval[0]), _plus(high, interval[1])
    return low, high


def _plus(a: Bound, b: Bound) -> Bound:
    """Never of opposite infinities. Exact numbers may be too large for a float."""
    return a if math.isinf(a) else b if math.isinf(b) else a + b


def _times_bound(a: Bound, b: Bound) -> Bound:
    """Zero times infinity is zero: an infinite bound is never attained."""
    if a == 0 or b == 0:
        return 0
    if math.isinf(a) or math.isinf(b):
        return math.inf if (a > 0) == (b > 0) else -math.inf
    return a * b


def _times_interval(a: Interval, b: Interval) -> Interval:
    corners = [_times_bound(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _power_bounds(interval: Interval, exponent: int) -> Interval:
    low, high = interval
    if exponent < 0:
        low, high = _power_bounds(interval, -exponent)
        return (0 if math.isinf(high) else 1 / Fraction(high), 1 / Fraction(low)) if low > 0 else _UNBOUNDED
    even = exponent % 2 == 0
    if exponent > _LARGE_POWER:
        return (0, math.inf) if even or low >= 0 else _UNBOUNDED
    corners = (_power_bound(low, exponent), _power_bound(high, exponent))
    return (0 if even and low < 0 < high else min(corners), max(corners))


def _power_bound(bound: Bound, exponent: int) -> Bound:
    return reduce(_times_bound, [bound] * exponent)


_Bounder: TypeAlias = Callable[[Expr], Interval]
_BoundsRule: TypeAlias = Callable[[Sequence[Expr], _Bounder], Interval]


def _floordiv_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    (low, high), (least, most) = map(bounds, args)
    if least <= 0:
        return _UNBOUNDED
    return _floor_ratio(low, most if low >= 0 else least), _floor_ratio(high, least if high >= 0 else most)


def _floor_ratio(bound: Bound, divisor: Bound) -> Bound:
    if math.isinf(bound):
        return bound
    return (
        (0 if bound >= 0 else -1) if math.isinf(divisor) else math.floor(Fraction(bound) / Fraction(divisor))
    )


def _mod_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    (low, high), (least, most) = map(bounds, args)
    if least <= 0:
        return _UNBOUNDED
    if low >= 0 and high < least:
        return low, high
    top = _plus(most, -1) if all(map(is_integral, args)) else most
    return 0, min(top, high) if low >= 0 else top


def _hull(intervals: Iterable[Interval]) -> Interval:
    lows, highs = zip(*intervals, strict=True)
    return min(lows), max(highs)


def _max_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    lows, highs = zip(*map(bounds, args), strict=True)
    return max(lows), max(highs)


def _min_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    lows, highs = zip(*map(bounds, args), strict=True)
    return min(lows), min(highs)


def _abs_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    low, high = bounds(args[0])
    return max(low, -high, 0), max(-low, high)


def _bitwise_and_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    """Of what is not negative no further bits are set."""
    highs = [high for low, high in map(bounds, args) if low >= 0]
    return (0, min(highs)) if highs else _UNBOUNDED


def _nonnegative_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    return (0, math.inf) if all(bounds(arg)[0] >= 0 for arg in args) else _UNBOUNDED


def _rounded_bounds(rounded: Callable[[float], int]) -> _BoundsRule:
    """Rounding keeps order."""

    def bound(number: Bound) -> Bound:
        return number if math.isinf(number) else rounded(float(number))

    def rule(args: Sequence[Expr], bounds: _Bounder) -> Interval:
        low, high = bounds(args[0])
        return bound(low), bound(high)

    return rule


def _real_bounds(expr: Expr, known: _Known) -> Interval:
    """Bounds of a float: of ends computed as it is, since rounding keeps their order."""
    if isinstance(expr.value, float):
        return _UNBOUNDED if math.isnan(expr.value) else (expr.value, expr.value)
    bounds = [_bounds(arg, known) for arg in expr.args]
    ends = [(_as_float(low), _as_float(high)) for low, high in bounds]
    match expr.head, ends:
        case "to_float", [(low, high)]:
            return low, high
        case "add", [(a, b), (c, d)]:
            return _plus(a, c), _plus(b, d)
        case "mul", [a, b]:
            return _times_interval(a, b)
        case "truediv", [(a, b), (c, d)] if c > 0:
            return a / (d if a >= 0 else c), b / (c if b >= 0 else d)
        case _:
            return _UNBOUNDED


def _as_float(bound: Bound) -> float:
    """Too large a number as an infinite one."""
    try:
        return float(bound)
    except OverflowError:
        return math.inf if bound > 0 else -math.inf


_BOUNDS: dict[str, _BoundsRule] = {
    "floordiv": _floordiv_bounds,
    "mod": _mod_bounds,
    "max": _max_bounds,
    "min": _min_bounds,
    "abs": _abs_bounds,
    "where": lambda args, bounds: _hull(map(bounds, args[1:])),
    "piecewise": lambda args, bounds: _hull(map(bounds, args[::2])),
    "bitwise_and": _bitwise_and_bounds,
    "bitwise_or": _nonnegative_bounds,
    "bitwise_xor": _nonnegative_bounds,
    "trunc_to_int": _rounded_bounds(math.trunc),
    "floor_to_int": _rounded_bounds(math.floor),
    "ceil_to_int": _rounded_bounds(math.ceil),
    "round_to_int": _rounded_bounds(round),
}
"""From the arguments and a function for their bounds to the bounds of an exact call."""
