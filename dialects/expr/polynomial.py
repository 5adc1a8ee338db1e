"""Exact arithmetic: sums of products with rational coefficients, over symbols and calls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, cast

from xdsl_exir.dialects.expr.limits import MAX_TERMS, ExprLimitError
from xdsl_exir.dialects.expr.nodes import (
    PRIMARY,
    Dim,
    Expr,
    Monomial,
    Terms,
    apply_node,
    call,
    constant,
    make_node,
    order_of,
    sum_text,
    text_of,
)
from xdsl_exir.dialects.expr.values import Number, whole


def linear(dim: Dim) -> tuple[str, int, int] | None:
    """`("s0", 2, 1)` of `2 * s0 + 1`; None of what is no multiple of one symbol plus a constant."""
    terms = terms_of(dim) if isinstance(dim, Expr) and dim.kind == "int" else {}
    start = terms.get((), 0)
    match [(monomial, step) for monomial, step in terms.items() if monomial]:
        case [(((Expr(head="symbol", text=symbol), 1),), int(step))] if isinstance(start, int):
            return symbol, step, start
        case _:
            return None


def multiple(total: Expr, part: Expr) -> tuple[int, int] | None:
    """`(2, 3)` of `2 * s0 * s1 - 2 * s0 + 3` and `s0 * s1 - s0`: factor and rest, or None where the rest is no number."""
    terms = terms_of(part)
    monomial = next((monomial for monomial in terms if monomial), ())
    factor = Fraction(terms_of(total).get(monomial, 0)) / terms.get(monomial, 1)
    rest = merge((terms_of(total), scale(terms, -factor)))
    match rest.get((), 0):
        case int(more) if factor.denominator == 1 and monomial and rest.keys() <= {()}:
            return factor.numerator, more
        case _:
            return None


def is_constant(expr: Expr, value: Number | float) -> bool:
    return expr.head == "constant" and expr.value == value and expr.kind != "bool"


def integer_of(expr: Expr) -> int | None:
    return expr.value if expr.kind == "int" and isinstance(expr.value, int) else None


def power_of(expr: Expr) -> tuple[Expr, int]:
    """An atom as base and exponent. A power of a sum is an atom itself: only negative ones are left unexpanded."""
    if expr.head == "pow" and expr.args[0].head != "add":
        exponent = integer_of(expr.args[1])
        if exponent is not None:
            return expr.args[0], exponent
    return expr, 1


def _term(expr: Expr) -> tuple[Monomial, Number]:
    factors = expr.args if expr.head == "mul" else (expr,)
    if factors[0].head == "constant":
        return tuple(map(power_of, factors[1:])), cast("Number", factors[0].value)
    return tuple(map(power_of, factors)), 1


def terms_of(expr: Expr) -> Terms:
    if is_constant(expr, 0):
        return {}
    return dict(map(_term, expr.args if expr.head == "add" else (expr,)))


def merge(polynomials: Iterable[Terms]) -> Terms:
    total: Terms = {}
    for polynomial in polynomials:
        for monomial, coefficient in polynomial.items():
            total[monomial] = total.get(monomial, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient != 0}


def _times_monomial(a: Monomial, b: Monomial, sign: int = 1) -> Monomial:
    """a * b, or a / b with sign -1."""
    powers = dict(a)
    for base, exponent in b:
        powers[base] = powers.get(base, 0) + sign * exponent
    return tuple(sorted(((base, n) for base, n in powers.items() if n), key=lambda power: order_of(power[0])))


def times(a: Terms, b: Terms) -> Terms:
    if len(a) * len(b) > MAX_TERMS:
        raise ExprLimitError(f"a product of sums of {len(a)} and {len(b)} terms is too large to expand")
    products = ({_times_monomial(m, n): c * d} for m, c in a.items() for n, d in b.items())
    return merge(products)


def difference_of(a: Expr, b: Expr) -> Terms:
    return merge((terms_of(a), scale(terms_of(b), -1)))


def scale(terms: Terms, factor: Number) -> Terms:
    return {monomial: whole(coefficient * factor) for monomial, coefficient in terms.items()}


def from_terms(terms: Terms) -> Expr:
    terms = _without_remainders(terms)
    if len(terms) > MAX_TERMS:
        raise ExprLimitError(f"a sum of {len(terms)} terms is too large")
    nodes = [
        _term_node(monomial, coefficient) for monomial, coefficient in sorted(terms.items(), key=_term_order)
    ]
    if len(nodes) < 2:
        return nodes[0] if nodes else constant(0)
    return make_node("add", nodes, "int", sum_text(nodes))


def _without_remainders(terms: Terms) -> Terms:
    """The same without remainders whose dividend is left out then: `x - x mod 7` is `7 * (x floordiv 7)`, and `x + (-x) mod 7`, what `x` is
    padded to, seven times its quotient rounded up."""
    for monomial, coefficient, dividend, divisor in remainders_in(terms):
        rest = {other: factor for other, factor in terms.items() if other != monomial}
        left = merge((rest, scale(terms_of(dividend), coefficient)))
        if len(left) < len(rest):
            multiple_of = times(terms_of(divisor), terms_of(_quotient(dividend, divisor)))
            return _without_remainders(merge((left, scale(multiple_of, -coefficient))))
    return terms


def remainders_in(terms: Terms) -> Iterator[tuple[Monomial, Number, Expr, Expr]]:
    """Terms that are a number times a remainder, with that number, what is divided, and by what."""
    for monomial, coefficient in terms.items():
        match monomial:
            case ((Expr(head="mod", kind="int", args=(dividend, divisor)), 1),):
                yield monomial, coefficient, dividend, divisor
            case _:
                pass


def _quotient(dividend: Expr, divisor: Expr) -> Expr:
    """Of integers, rounded down; of a negative sum the same of its negative, rounded up."""
    terms = terms_of(dividend)
    if leading_coefficient(terms) > 0:
        return apply_node("floordiv", (dividend, divisor))
    up = apply_node("ceildiv", (from_terms(scale(terms, -1)), divisor))
    return from_terms(scale(terms_of(up), -1))


def _term_order(term: tuple[Monomial, Number]) -> tuple[Any, ...]:
    """High degrees first, the constant last; `s1 - s0` rather than `-s0 + s1`."""
    monomial, coefficient = term
    degree = sum(exponent for _, exponent in monomial)
    return not monomial, -degree, coefficient < 0, [(order_of(base), exponent) for base, exponent in monomial]


def _term_node(monomial: Monomial, coefficient: Number) -> Expr:
    factors = [_power_node(base, exponent) for base, exponent in monomial]
    if len(factors) > MAX_TERMS:
        raise ExprLimitError(f"a product of {len(factors)} factors is too large")
    if not factors:
        return constant(coefficient)
    if coefficient == 1 and len(factors) == 1:
        return factors[0]
    product = " * ".join(text_of(factor, PRIMARY) for factor in factors)
    if coefficient == 1:
        return make_node("mul", factors, "int", product)
    scale = constant(coefficient)
    text = f"-{product}" if coefficient == -1 else f"{scale.text} * {product}"
    return make_node("mul", (scale, *factors), "int", text)


def _power_node(base: Expr, exponent: int) -> Expr:
    return base if exponent == 1 else call("pow", (base, constant(exponent)), "int")


def is_integral(expr: Expr) -> bool:
    """Whether an exact expression is certainly a whole number."""
    return is_whole(terms_of(expr))


def is_whole(terms: Terms) -> bool:
    return all(c.denominator == 1 and is_whole_product(monomial) for monomial, c in terms.items())


def is_whole_product(monomial: Monomial) -> bool:
    return all(exponent > 0 and _is_whole_atom(base) for base, exponent in monomial)


def _is_whole_atom(atom: Expr) -> bool:
    if atom.head == "symbol" or atom.head in _ALWAYS_WHOLE:
        return True
    if atom.head == "pow":
        return integer_of(atom.args[1]) is None and all(map(is_integral, atom.args))
    return all(is_integral(arg) for arg in atom.args if arg.kind != "bool")


_ALWAYS_WHOLE = frozenset(
    {"floordiv", "ceil_to_int", "floor_to_int", "trunc_to_int", "round_to_int"}
    | {"bitwise_and", "bitwise_or", "bitwise_xor"}
)


def divide(dividend: Terms, divisor: Terms) -> Terms | None:
    """The exact quotient of two polynomials over the rationals, or None. Long division in lexicographic order."""
    if len(divisor) > 1 and not all(n > 0 for m in (*dividend, *divisor) for _, n in m):
        return None
    bases = sorted({base for monomial in (*dividend, *divisor) for base, _ in monomial}, key=order_of)

    def rank(monomial: Monomial) -> list[int]:
        powers = dict(monomial)
        return [powers.get(base, 0) for base in bases]

    quotient: Terms = {}
    lead = max(divisor, key=rank)
    while dividend:
        top = max(dividend, key=rank)
        monomial = _times_monomial(top, lead, -1)
        if any(exponent < 0 for _, exponent in monomial) or len(quotient) >= MAX_TERMS:
            return None
        quotient[monomial] = whole(Fraction(dividend[top]) / divisor[lead])
        dividend = merge((dividend, scale(times({monomial: quotient[monomial]}, divisor), -1)))
    return quotient


def lowest_terms(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """The fraction with equal value whose parts share no number or monomial, have whole coefficients, and whose
    divisor's first coefficient is positive; a constant divisor if the division is exact."""
    shared = _common_monomial((*dividend, *divisor))
    dividend, divisor = (
        {_times_monomial(m, shared, -1): c for m, c in p.items()} for p in (dividend, divisor)
    )
    quotient = divide(dividend, divisor)
    if quotient is not None:
        dividend, divisor = quotient, {(): 1}
    coefficients = [*dividend.values(), *divisor.values()]
    denominator = math.lcm(*(c.denominator for c in coefficients))
    content = math.gcd(*(int(c * denominator) for c in coefficients))
    sign = 1 if leading_coefficient(divisor) > 0 else -1
    factor = Fraction(sign * denominator, content)
    return scale(dividend, factor), scale(divisor, factor)


def leading_coefficient(terms: Terms) -> Number:
    """Of the first term in an order that signs do not change."""
    return min(terms.items(), key=lambda term: _term_order((term[0], 1)))[1]


def _common_monomial(monomials: Sequence[Monomial]) -> Monomial:
    """The largest monomial dividing all, with negative exponents wherever one has them."""
    powers = [dict(monomial) for monomial in monomials]
    bases = dict.fromkeys(base for power in powers for base in power)
    least = {base: min(power.get(base, 0) for power in powers) for base in bases}
    return tuple(sorted(((b, n) for b, n in least.items() if n), key=lambda power: order_of(power[0])))


def split(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """(the whole quotient of the terms that divide exactly, the other terms), for a divisor of one term."""
    ((monomial, coefficient),) = divisor.items()
    quotient: Terms = {}
    rest: Terms = {}
    for m, c in dividend.items():
        ratio, n = Fraction(c) / coefficient, _times_monomial(m, monomial, -1)
        if ratio.denominator == 1 and is_whole_product(n):
            quotient[n] = ratio.numerator
        else:
            rest[m] = c
    return quotient, rest
