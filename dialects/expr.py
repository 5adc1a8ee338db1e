"""Symbolic sizes: the expressions inside `#exir.shape<[...]>` and `!exir.symint<...>`, in one canonical form.

An `Expr` is an immutable tree, equal to another when its text is. Integer arithmetic is kept as an expanded
polynomial over symbols and calls, so equal sums print equally; floor division and modulo are Python's; float
arithmetic is never reassociated, so a value never depends on how an expression was written down. The module also reads
and writes PyTorch's form of the same expressions (sympy `srepr` text) without sympy or `eval`, evaluates them, and
decides what can be proved about them. Which symbols a program has, and their ranges, is not known here.

Canonicalization assumes no range of any symbol, only that a divisor is not zero. Texts come from files, so nesting,
length and the size of numbers are limited (`MAX_DEPTH`, `MAX_LENGTH`, `MAX_TERMS`, `MAX_BITS`).
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, Literal, TypeAlias, cast

from xdsl_exir.errors import ExirError

MAX_DEPTH = 100
"""Deepest nesting of an expression. Every recursion here takes at most three Python frames a level."""
MAX_LENGTH = 20_000
"""Longest text read or printed, in characters; PyTorch's form, which repeats assumptions, may be five times as long."""
MAX_TERMS = 512
"""Most terms of an expanded sum."""
MAX_BITS = 4096
"""Largest integer that arithmetic on constants may make, in bits."""
MAX_EXPANDED_POWER = 8
"""Largest power of a sum that is multiplied out."""


class ExprError(ExirError):
    """A text that is not an expression, or an expression that has no value."""


class ExprLimitError(ExprError):
    """An expression too deep, too long or too large."""


Kind: TypeAlias = Literal["int", "float", "bool"]
"""What an expression's value is. `int` is exact: it includes rationals such as `rational(1, 2) * s0`."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expr:
    """A symbolic integer, float or bool; never an integer constant, which is a plain `int` (see `Dim`).

    `head` names the operation (`add`, `mul`, `pow`, `floordiv`, `max`, ..., or `symbol`, `constant`) and `args` are its
    operands, integer constants among them as `constant` nodes, so that a lowering can walk the tree. Not to be built by
    hand: use `parse`, `symbol`, `apply` or arithmetic.
    """

    head: str
    args: tuple[Expr, ...]
    kind: Kind
    text: str
    value: int | Fraction | float | str | None
    """The number of a `constant`, the name of a `symbol`, otherwise None."""
    depth: int

    @staticmethod
    def parse(text: str) -> Dim:
        """Read the IR syntax, such as `(s53 - 1) floordiv 2 + 1`. Raises ExprError with the position."""
        return _dim(_parse(text))

    @staticmethod
    def symbol(name: str) -> Expr:
        """The symbol of that name: a float if it starts with `zf` or `zuf`, as in PyTorch, otherwise an integer."""
        return _symbol(name)

    @staticmethod
    def from_srepr(text: str) -> Dim:
        """Read sympy's `srepr` as `.pt2` files hold it. Raises ExprError that names an unknown head."""
        return _dim(_read_python(text, symbols=False))

    @staticmethod
    def from_str_expr(text: str) -> Dim:
        """Read `str` of a sympy expression, such as `((s53 - 1)//2) + 1` (`/` is exact division). Raises ExprError."""
        return _dim(_read_python(text, symbols=True))

    def free_symbols(self) -> frozenset[str]:
        """The names of the symbols it depends on."""
        if self.head == "symbol":
            return frozenset({cast("str", self.value)})
        return frozenset[str]().union(*(arg.free_symbols() for arg in self.args))

    @property
    def is_unbacked(self) -> bool:
        """Whether it depends on data: on a symbol `u..` or `zuf..`."""
        return any(name.startswith(_UNBACKED) for name in self.free_symbols())

    def evaluate(self, bindings: Mapping[str, int | float]) -> int | float | bool:
        """Its value, by Python's arithmetic; a rational that is not whole is a float.

        Raises ExprError for a symbol without a value, division by zero, or a value out of a function's domain.
        """
        value = _evaluate(self, bindings)
        if not isinstance(value, Fraction):
            return value
        return (
            value.numerator if value.denominator == 1 else _compute("to_float", "float", self.text, [value])
        )

    def substitute(self, mapping: Mapping[str, Dim]) -> Dim:
        """It, with symbols replaced. Symbols that `mapping` lacks stay."""
        return _dim(_substitute(self, mapping))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Expr({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __add__(self, other: Dim) -> Dim:
        return apply("add", self, other)

    def __radd__(self, other: Dim) -> Dim:
        return apply("add", other, self)

    def __sub__(self, other: Dim) -> Dim:
        return apply("sub", self, other)

    def __rsub__(self, other: Dim) -> Dim:
        return apply("sub", other, self)

    def __mul__(self, other: Dim) -> Dim:
        return apply("mul", self, other)

    def __rmul__(self, other: Dim) -> Dim:
        return apply("mul", other, self)

    def __floordiv__(self, other: Dim) -> Dim:
        return apply("floordiv", self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return apply("floordiv", other, self)

    def __mod__(self, other: Dim) -> Dim:
        return apply("mod", self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return apply("mod", other, self)

    def __truediv__(self, other: Dim) -> Dim:
        return apply("truediv", self, other)

    def __rtruediv__(self, other: Dim) -> Dim:
        return apply("truediv", other, self)

    def __pow__(self, other: Dim) -> Dim:
        return apply("pow", self, other)

    def __rpow__(self, other: Dim) -> Dim:
        return apply("pow", other, self)

    def __neg__(self) -> Dim:
        return apply("neg", self)


Dim: TypeAlias = int | Expr
"""A size. An integer constant is always an `int`, so `isinstance(dim, int)` asks whether it is static."""

Number: TypeAlias = int | Fraction
Monomial: TypeAlias = tuple[tuple[Expr, int], ...]
"""A product of powers: (base, exponent), sorted; () is 1."""
Terms: TypeAlias = dict[Monomial, Number]
"""A polynomial with no zero coefficient."""

_FLOAT_SYMBOL = ("zf", "zuf")
_UNBACKED = ("u", "zuf")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


# Public functions ------------------------------------------------------------------------------------------------


def apply(function: str, *args: Expr | int | float) -> Dim:
    """Apply a function of the IR syntax by name: `apply("gt", s0, 2)`, `apply("truediv", n, 2)`, `apply("and", p, q)`.

    Raises ExprError for an unknown function, a wrong number or kind of arguments, or a constant division by zero.
    """
    return _dim(_apply(function, [_operand(arg) for arg in args]))


def max_(*dims: Dim) -> Dim:
    """The largest of one or more sizes."""
    return max(cast("tuple[int, ...]", dims)) if _static(dims) else apply("max", *dims)


def min_(*dims: Dim) -> Dim:
    """The smallest of one or more sizes."""
    return min(cast("tuple[int, ...]", dims)) if _static(dims) else apply("min", *dims)


def ceildiv(a: Dim, b: Dim) -> Dim:
    """a / b rounded up."""
    return apply("ceildiv", a, b)


def prod(dims: Iterable[Dim]) -> Dim:
    """The product of sizes; 1 for none."""
    dims = tuple(dims)
    return math.prod(cast("tuple[int, ...]", dims)) if _static(dims) else apply("mul", *dims)


def scan(text: str, pos: int = 0) -> tuple[Dim, int]:
    """Read the longest expression at `text[pos:]` in the IR syntax: (expression, position after it).

    Raises ExprError with the position.
    """
    parser = _Parser(text, pos)
    return _dim(parser.expression(1, 0)), parser.end


def to_srepr(dim: Dim, plain: Collection[str] = ()) -> str:
    """PyTorch's form of an expression, as `.pt2` files hold it.

    Backed integers are written `positive=True` as PyTorch does for sizes, except those named in `plain` (integer
    inputs). `inf` is sympy's `oo`.
    """
    return _to_srepr(_operand(dim), frozenset(plain))


Ranges: TypeAlias = Mapping[str, tuple[int | None, int | None]]
"""Inclusive ranges of symbols, None for unbounded. A symbol not in it is at least 1 if backed, else unbounded."""


def provably_equal(a: Dim, b: Dim, ranges: Ranges | None = None) -> bool | None:
    """Whether two sizes are equal for all values in range (True), for none (False), or neither is proved (None)."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if a == b:
        return True
    return _prove_comparison("eq", _operand(a), _operand(b), ranges or {})


def provably(cond: Dim, ranges: Ranges | None = None) -> bool | None:
    """Whether a condition holds for all values in range (True), for none (False), or neither is proved (None).

    Raises ExprError if `cond` is not a bool.
    """
    return _prove(_boolean("provably", _operand(cond)), ranges or {})


def linear(dim: Dim) -> tuple[str, int, int] | None:
    """`("s0", 2, 1)` of `2 * s0 + 1`; None of what is no multiple of one symbol plus a constant."""
    terms = _terms(dim) if isinstance(dim, Expr) and dim.kind == "int" else {}
    start = terms.get((), 0)
    match [(monomial, step) for monomial, step in terms.items() if monomial]:
        case [(((Expr(head="symbol", text=symbol), 1),), int(step))] if isinstance(start, int):
            return symbol, step, start
        case _:
            return None


def _static(dims: Sequence[Dim]) -> bool:
    return all(isinstance(dim, int) for dim in dims)


def _operand(value: object) -> Expr:
    if isinstance(value, Expr):
        return value
    if isinstance(value, int | float):
        return _constant(value)
    raise ExprError(f"{value!r} is neither a number nor a symbolic expression")


def _dim(expr: Expr) -> Dim:
    return expr.value if expr.kind == "int" and isinstance(expr.value, int) else expr


# Nodes and their text --------------------------------------------------------------------------------------------

_SUM, _PRODUCT, _PRIMARY = range(3)
_LEVEL = {"add": _SUM, "mul": _PRODUCT, "floordiv": _PRODUCT, "mod": _PRODUCT}


def _node(head: str, args: Sequence[Expr], kind: Kind, text: str, value: Any = None) -> Expr:
    depth = 1 + max((arg.depth for arg in args), default=0)
    if depth > MAX_DEPTH:
        raise ExprLimitError(f"expression nested deeper than {MAX_DEPTH}: {_excerpt(text)}")
    if len(text) > MAX_LENGTH:
        raise ExprLimitError(f"expression longer than {MAX_LENGTH} characters: {_excerpt(text)}")
    return Expr(head, tuple(args), kind, text, value, depth)


def _excerpt(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _text(expr: Expr, least: int) -> str:
    """The text of an operand where at least the level `least` is needed."""
    level = _SUM if expr.text.startswith("-") else _LEVEL.get(expr.head, _PRIMARY)
    return expr.text if level >= least else f"({expr.text})"


def _sum_text(terms: Sequence[Expr]) -> str:
    texts = (f"({term.text})" if term.head == "add" else term.text for term in terms[1:])
    signed = (f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in texts)
    return terms[0].text + "".join(signed)


def _constant_text(value: Number | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return f"{'-' if value < 0 else ''}rational({abs(value.numerator)}, {value.denominator})"
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _constant(value: Number | float) -> Expr:
    if isinstance(value, bool):
        return _node("constant", (), "bool", _constant_text(value), value)
    if isinstance(value, float):
        return _node("constant", (), "float", _constant_text(value), value)
    value = value.numerator if value.denominator == 1 else value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ExprLimitError(f"a constant of more than {MAX_BITS} bits")
    return _node("constant", (), "int", _constant_text(value), value)


def _symbol(name: str) -> Expr:
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise ExprError(f"{_excerpt(name)!r} is not a symbol's name")
    return _node("symbol", (), "float" if name.startswith(_FLOAT_SYMBOL) else "int", name, name)


def _call(head: str, args: Sequence[Expr], kind: Kind) -> Expr:
    """A call as it stands, or its value if all its arguments are constants."""
    if head in ("floordiv", "mod"):
        text = f"{_text(args[0], _PRIMARY)} {head} {_text(args[1], _PRIMARY)}"
    else:
        text = f"{head}({', '.join(arg.text for arg in args)})"
    if all(arg.head == "constant" for arg in args):
        return _constant(_compute(head, kind, text, [arg.value for arg in args]))
    return _node(head, args, kind, text)


def _order(expr: Expr) -> tuple[bool, int, str]:
    """Order of interchangeable operands: short names first (s2 before s10), constants last."""
    return expr.head == "constant", len(expr.text), expr.text


# Polynomials: exact arithmetic -----------------------------------------------------------------------------------


def _is_constant(expr: Expr, value: Number | float) -> bool:
    return expr.head == "constant" and expr.value == value and expr.kind != "bool"


def _integer(expr: Expr) -> int | None:
    return expr.value if expr.kind == "int" and isinstance(expr.value, int) else None


def _power(expr: Expr) -> tuple[Expr, int]:
    """An atom as base and exponent. A power of a sum is an atom itself: only negative ones are left unexpanded."""
    if expr.head == "pow" and expr.args[0].head != "add":
        exponent = _integer(expr.args[1])
        if exponent is not None:
            return expr.args[0], exponent
    return expr, 1


def _term(expr: Expr) -> tuple[Monomial, Number]:
    factors = expr.args if expr.head == "mul" else (expr,)
    if factors[0].head == "constant":
        return tuple(map(_power, factors[1:])), cast("Number", factors[0].value)
    return tuple(map(_power, factors)), 1


def _terms(expr: Expr) -> Terms:
    if _is_constant(expr, 0):
        return {}
    return dict(map(_term, expr.args if expr.head == "add" else (expr,)))


def _merge(polynomials: Iterable[Terms]) -> Terms:
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
    return tuple(sorted(((base, n) for base, n in powers.items() if n), key=lambda power: _order(power[0])))


def _times(a: Terms, b: Terms) -> Terms:
    if len(a) * len(b) > MAX_TERMS:
        raise ExprLimitError(f"a product of sums of {len(a)} and {len(b)} terms is too large to expand")
    products = ({_times_monomial(m, n): c * d} for m, c in a.items() for n, d in b.items())
    return _merge(products)


def _difference(a: Expr, b: Expr) -> Terms:
    return _merge((_terms(a), _scale(_terms(b), -1)))


def _scale(terms: Terms, factor: Number) -> Terms:
    return {monomial: _whole(coefficient * factor) for monomial, coefficient in terms.items()}


def _whole(value: Number) -> Number:
    return value.numerator if value.denominator == 1 else value


def _from_terms(terms: Terms) -> Expr:
    if len(terms) > MAX_TERMS:
        raise ExprLimitError(f"a sum of {len(terms)} terms is too large")
    nodes = [
        _term_node(monomial, coefficient) for monomial, coefficient in sorted(terms.items(), key=_term_order)
    ]
    if len(nodes) < 2:
        return nodes[0] if nodes else _constant(0)
    return _node("add", nodes, "int", _sum_text(nodes))


def _term_order(term: tuple[Monomial, Number]) -> tuple[Any, ...]:
    """High degrees first, the constant last; `s1 - s0` rather than `-s0 + s1`."""
    monomial, coefficient = term
    degree = sum(exponent for _, exponent in monomial)
    return not monomial, -degree, coefficient < 0, [(_order(base), exponent) for base, exponent in monomial]


def _term_node(monomial: Monomial, coefficient: Number) -> Expr:
    factors = [_power_node(base, exponent) for base, exponent in monomial]
    if len(factors) > MAX_TERMS:
        raise ExprLimitError(f"a product of {len(factors)} factors is too large")
    if not factors:
        return _constant(coefficient)
    if coefficient == 1 and len(factors) == 1:
        return factors[0]
    product = " * ".join(_text(factor, _PRIMARY) for factor in factors)
    if coefficient == 1:
        return _node("mul", factors, "int", product)
    scale = _constant(coefficient)
    text = f"-{product}" if coefficient == -1 else f"{scale.text} * {product}"
    return _node("mul", (scale, *factors), "int", text)


def _power_node(base: Expr, exponent: int) -> Expr:
    return base if exponent == 1 else _call("pow", (base, _constant(exponent)), "int")


def _is_integral(expr: Expr) -> bool:
    """Whether an exact expression is certainly a whole number."""
    return _is_whole(_terms(expr))


def _is_whole(terms: Terms) -> bool:
    return all(c.denominator == 1 and _is_whole_product(monomial) for monomial, c in terms.items())


def _is_whole_product(monomial: Monomial) -> bool:
    return all(exponent > 0 and _is_whole_atom(base) for base, exponent in monomial)


def _is_whole_atom(atom: Expr) -> bool:
    if atom.head == "symbol" or atom.head in _ALWAYS_WHOLE:
        return True
    if atom.head == "pow":
        return _integer(atom.args[1]) is None and all(map(_is_integral, atom.args))
    return all(_is_integral(arg) for arg in atom.args if arg.kind != "bool")


_ALWAYS_WHOLE = frozenset(
    {"floordiv", "ceil_to_int", "floor_to_int", "trunc_to_int", "round_to_int"}
    | {"bitwise_and", "bitwise_or", "bitwise_xor"}
)


def _divide(dividend: Terms, divisor: Terms) -> Terms | None:
    """The exact quotient of two polynomials over the rationals, or None. Long division in lexicographic order."""
    if len(divisor) > 1 and not all(n > 0 for m in (*dividend, *divisor) for _, n in m):
        return None
    bases = sorted({base for monomial in (*dividend, *divisor) for base, _ in monomial}, key=_order)

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
        quotient[monomial] = _whole(Fraction(dividend[top]) / divisor[lead])
        dividend = _merge((dividend, _scale(_times({monomial: quotient[monomial]}, divisor), -1)))
    return quotient


def _lowest_terms(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """The fraction with equal value whose parts share no number or monomial, have whole coefficients, and whose
    divisor's first coefficient is positive; a constant divisor if the division is exact."""
    shared = _common_monomial((*dividend, *divisor))
    dividend, divisor = (
        {_times_monomial(m, shared, -1): c for m, c in p.items()} for p in (dividend, divisor)
    )
    quotient = _divide(dividend, divisor)
    if quotient is not None:
        dividend, divisor = quotient, {(): 1}
    coefficients = [*dividend.values(), *divisor.values()]
    denominator = math.lcm(*(c.denominator for c in coefficients))
    content = math.gcd(*(int(c * denominator) for c in coefficients))
    sign = 1 if _leading_coefficient(divisor) > 0 else -1
    factor = Fraction(sign * denominator, content)
    return _scale(dividend, factor), _scale(divisor, factor)


def _leading_coefficient(terms: Terms) -> Number:
    """Of the first term in an order that signs do not change."""
    return min(terms.items(), key=lambda term: _term_order((term[0], 1)))[1]


def _common_monomial(monomials: Sequence[Monomial]) -> Monomial:
    """The largest monomial dividing all, with negative exponents wherever one has them."""
    powers = [dict(monomial) for monomial in monomials]
    bases = dict.fromkeys(base for power in powers for base in power)
    least = {base: min(power.get(base, 0) for power in powers) for base in bases}
    return tuple(sorted(((b, n) for b, n in least.items() if n), key=lambda power: _order(power[0])))


def _split(dividend: Terms, divisor: Terms) -> tuple[Terms, Terms]:
    """(the whole quotient of the terms that divide exactly, the other terms), for a divisor of one term."""
    ((monomial, coefficient),) = divisor.items()
    quotient: Terms = {}
    rest: Terms = {}
    for m, c in dividend.items():
        ratio, n = Fraction(c) / coefficient, _times_monomial(m, monomial, -1)
        if ratio.denominator == 1 and _is_whole_product(n):
            quotient[n] = ratio.numerator
        else:
            rest[m] = c
    return quotient, rest


# Constructors: the canonical form of each function ---------------------------------------------------------------


def _number(expr: Expr) -> Expr:
    """A bool in arithmetic counts as 1 or 0, as in Python."""
    return _where(expr, _constant(1), _constant(0)) if expr.kind == "bool" else expr


def _boolean(function: str, expr: Expr) -> Expr:
    if expr.kind != "bool":
        raise ExprError(f"{function} expects a condition, not {_excerpt(expr.text)}")
    return expr


def _promote(args: Iterable[Expr]) -> tuple[list[Expr], Kind]:
    """The arguments as numbers of one kind: all exact, or all floats."""
    numbers = [_number(arg) for arg in args]
    if all(number.kind == "int" for number in numbers):
        return numbers, "int"
    return [_to_float(number) for number in numbers], "float"


def _identity(x: Expr) -> Expr:
    return x


def _to_float(x: Expr) -> Expr:
    return x if x.kind == "float" else _call("to_float", (_number(x),), "float")


def _add(*args: Expr) -> Expr:
    """Left to right; exact up to the first float."""
    numbers = [_number(arg) for arg in args]
    exact = next((i for i, number in enumerate(numbers) if number.kind == "float"), len(numbers))
    start = [_from_terms(_merge(map(_terms, numbers[:exact])))] if exact else []
    return reduce(_float_add, (*start, *numbers[exact:]))


def _float_add(a: Expr, b: Expr) -> Expr:
    a, b = sorted(
        (_to_float(a), _to_float(b)), key=lambda x: (x.head == "constant", x.head != "add", _order(x))
    )
    if a.head == "constant":
        return _call("add", (a, b), "float")
    return _node("add", (a, b), "float", _sum_text((a, b)))


def _neg(x: Expr) -> Expr:
    return _mul(_constant(-1), x)


def _sub(a: Expr, b: Expr) -> Expr:
    return _add(a, _neg(b))


def _mul(*args: Expr) -> Expr:
    """Left to right; exact up to the first float."""
    return reduce(_mul_pair, map(_number, args))


def _mul_pair(a: Expr, b: Expr) -> Expr:
    if a.kind == b.kind == "int":
        return _from_terms(_times(_terms(a), _terms(b)))
    return _float_mul(
        *sorted(
            (_to_float(a), _to_float(b)), key=lambda x: (x.head != "constant", x.head != "mul", _order(x))
        )
    )


def _float_mul(a: Expr, b: Expr) -> Expr:
    """Only signs are simplified: they never change the rounding."""
    if b.head == "constant":
        return _call("mul", (a, b), "float")
    if _is_constant(a, 1.0):
        return b
    if a.head == "constant" and b.head == "mul" and b.args[0].head == "constant":
        factors = cast("float", a.value), cast("float", b.args[0].value)
        if -1.0 in factors:
            return _float_mul(_constant(math.prod(factors)), b.args[1])
    right = _text(b, _PRIMARY)
    if _is_constant(a, -1.0):
        return _node("mul", (a, b), "float", f"-{right}")
    chained = a.head == "constant" or (a.head == "mul" and not a.text.startswith("-"))
    return _node("mul", (a, b), "float", f"{a.text if chained else _text(a, _PRIMARY)} * {right}")


def _pow(a: Expr, b: Expr) -> Expr:
    (a, b), kind = _promote((a, b))
    if kind == "float" or not _is_integral(b):
        return _call("pow", (_to_float(a), _to_float(b)), "float")
    exponent = _integer(b)
    return _call("pow", (a, b), "int") if exponent is None else _integer_power(a, exponent)


def _integer_power(base: Expr, exponent: int) -> Expr:
    terms = _terms(base)
    if exponent == 0:
        return _constant(1)
    if not terms and exponent < 0:
        raise ExprError(f"division by zero in pow(0, {exponent})")
    if len(terms) <= 1:
        return _from_terms(dict(_term_power(*term, exponent) for term in terms.items()))
    if exponent < 0:
        return _call("pow", (base, _constant(exponent)), "int")
    if exponent > MAX_EXPANDED_POWER:
        raise ExprLimitError(f"pow({_excerpt(base.text)}, {exponent}) is too large to expand")
    return _from_terms(reduce(_times, [terms] * exponent))


def _term_power(monomial: Monomial, coefficient: Number, exponent: int) -> tuple[Monomial, Number]:
    bits = max(abs(coefficient.numerator), coefficient.denominator).bit_length()
    if abs(coefficient) != 1 and bits * abs(exponent) > MAX_BITS:
        raise ExprLimitError(f"a constant power of more than {MAX_BITS} bits")
    return tuple((base, n * exponent) for base, n in monomial), _whole(Fraction(coefficient) ** exponent)


def _float_pow(a: Expr, b: Expr) -> Expr:
    return _pow(_to_float(a), _to_float(b))


def _rational(a: Expr, b: Expr) -> Expr:
    """Exact division."""
    return _mul(a, _pow(b, _constant(-1)))


def _floordiv(a: Expr, b: Expr) -> Expr:
    (a, b), kind = _promote((a, b))
    if kind == "float":
        return _call("floordiv", (a, b), "float")
    _check_divisor(a, b)
    if _is_constant(a, 0):
        return a
    dividend, divisor = _lowest_terms(_terms(a), _terms(b))
    if len(divisor) == 1:
        quotient, rest = _split(dividend, divisor)
        if quotient:
            return _add(_from_terms(quotient), _floordiv(_from_terms(rest), _from_terms(divisor)))
    a, b = _from_terms(dividend), _from_terms(divisor)
    if a.head == "floordiv" and _integer(b) is not None:
        # floor(floor(x / y) / n) = floor(x / (y * n)) for a positive integer n, which b is in lowest terms.
        return _floordiv(a.args[0], _mul(a.args[1], b))
    return _call("floordiv", (a, b), "int")


def _mod(a: Expr, b: Expr) -> Expr:
    (a, b), kind = _promote((a, b))
    if kind == "float":
        return _call("mod", (a, b), "float")
    _check_divisor(a, b)
    divisor = _terms(b)
    rest = _not_divisible(_terms(a), divisor)
    if not rest:
        return _constant(0)
    if _leading_coefficient(divisor) < 0:
        return _neg(_mod(_from_terms(_scale(rest, -1)), _neg(b)))
    return _call("mod", (_from_terms(rest), b), "int")


def _check_divisor(a: Expr, b: Expr) -> None:
    if _is_constant(b, 0):
        raise ExprError(f"division by zero: {_excerpt(a.text)} by 0")


def _not_divisible(dividend: Terms, divisor: Terms) -> Terms:
    """The dividend without what is certainly a whole multiple of the divisor."""
    if len(divisor) == 1:
        return _split(dividend, divisor)[1]
    quotient = _divide(dividend, divisor)
    return {} if quotient is not None and _is_whole(quotient) else dividend


def _ceildiv(a: Expr, b: Expr) -> Expr:
    divisor = _integer(b)
    if divisor is not None and divisor > 0:
        return _floordiv(_add(a, _constant(divisor - 1)), b)
    return _neg(_floordiv(_neg(a), b))


def _modular_indexing(a: Expr, divisor: Expr, modulus: Expr) -> Expr:
    return _mod(_floordiv(a, divisor), modulus)


def _lshift(a: Expr, b: Expr) -> Expr:
    return _mul(a, _pow(_constant(2), b))


def _rshift(a: Expr, b: Expr) -> Expr:
    return _floordiv(a, _pow(_constant(2), b))


def _truediv(a: Expr, b: Expr) -> Expr:
    return _call("truediv", _promote((a, b))[0], "float")


def _abs(x: Expr) -> Expr:
    x = _number(x)
    return _call("abs", (x,), x.kind)


def _extremum(head: str) -> Callable[..., Expr]:
    pick = _VALUES[head]

    def make(*args: Expr) -> Expr:
        numbers, kind = _promote(args)
        if len(numbers) == 1:
            return numbers[0]
        if kind == "float":
            return _call(head, numbers, "float")
        best: dict[Expr, Number] = {}  # of expressions that differ by a constant only one stays
        for number in numbers:
            for item in number.args if number.head == head else (number,):
                terms = _terms(item)
                offset = terms.pop((), 0)
                base = _from_terms(terms)
                best[base] = pick(best.get(base, offset), offset)
        items = sorted((_add(base, _constant(offset)) for base, offset in best.items()), key=_order)
        return items[0] if len(items) == 1 else _call(head, items, "int")

    return make


_FLIPPED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}
_NEGATED = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt", "eq": "ne", "ne": "eq"}


def _comparison(head: str) -> Callable[[Expr, Expr], Expr]:
    holds = _VALUES[head]

    def make(a: Expr, b: Expr) -> Expr:
        if a.kind == b.kind == "bool" and head in ("eq", "ne"):
            if a == b:
                return _constant(head == "eq")
            return _call(head, sorted((a, b), key=_order), "bool")
        a, b = _number(a), _number(b)
        if a.head == "constant" and b.head != "constant":
            return _COMPARISONS[_FLIPPED[head]](b, a)
        if a.kind == b.kind == "int":
            difference = _difference(a, b)
            if not any(difference):
                return _constant(holds(difference.get((), 0), 0))
        elif a.kind == "int" and isinstance(b.value, float) and not math.isfinite(b.value):
            return _constant(holds(0, b.value))
        args = sorted((a, b), key=_order) if head in ("eq", "ne") else (a, b)
        return _call(head, args, "bool")

    return make


def _junction(head: str, absorbing: bool) -> Callable[..., Expr]:
    def make(*args: Expr) -> Expr:
        """Order is kept: a condition may guard the ones after it."""
        flat: dict[Expr, None] = {}
        for arg in args:
            flat.update(dict.fromkeys(arg.args if arg.head == head else (_boolean(head, arg),)))
        if _constant(absorbing) in flat:
            return _constant(absorbing)
        flat.pop(_constant(not absorbing), None)
        if len(flat) < 2:
            return next(iter(flat), _constant(not absorbing))
        return _call(head, tuple(flat), "bool")

    return make


def _not(x: Expr) -> Expr:
    _boolean("not", x)
    if x.head == "not":
        return x.args[0]
    # With a NaN, only `eq` and `ne` are each other's negation.
    if x.head in _NEGATED and (x.head in ("eq", "ne") or all(arg.kind == "int" for arg in x.args)):
        return _COMPARISONS[_NEGATED[x.head]](*x.args)
    return _call("not", (x,), "bool")


def _alternatives(values: Sequence[Expr]) -> tuple[list[Expr], Kind]:
    if all(value.kind == "bool" for value in values):
        return list(values), "bool"
    return _promote(values)


def _where(condition: Expr, x: Expr, y: Expr) -> Expr:
    _boolean("where", condition)
    if condition.head == "constant":
        return x if condition.value else y
    (x, y), kind = _alternatives((x, y))
    return x if x == y else _call("where", (condition, x, y), kind)


def _piecewise(*args: Expr) -> Expr:
    """`piecewise(value, condition, value, condition, ...)`: the value of the first condition that holds."""
    if len(args) % 2:
        raise ExprError("piecewise takes pairs of a value and a condition")
    cases: list[tuple[Expr, Expr]] = []
    for value, condition in zip(args[::2], args[1::2], strict=True):
        _boolean("piecewise", condition)
        if condition.value is not False:
            cases.append((value, condition))
        if condition.value is True:
            break
    if not cases:
        raise ExprError("piecewise without a condition that can hold")
    values, kind = _alternatives([value for value, _ in cases])
    conditions = [condition for _, condition in cases]
    if conditions[-1].value is True and len(cases) <= 2:
        return values[0] if len(cases) == 1 else _where(conditions[0], *values)
    pairs = zip(values, conditions, strict=True)
    return _call("piecewise", [part for pair in pairs for part in pair], kind)


def _floor_to_int(x: Expr) -> Expr:
    x = _number(x)
    return _floordiv(x, _constant(1)) if x.kind == "int" else _call("floor_to_int", (x,), "int")


def _ceil_to_int(x: Expr) -> Expr:
    x = _number(x)
    return _ceildiv(x, _constant(1)) if x.kind == "int" else _call("ceil_to_int", (x,), "int")


def _rounding(head: str) -> Callable[[Expr], Expr]:
    def make(x: Expr) -> Expr:
        x = _number(x)
        return x if x.kind == "int" and _is_integral(x) else _call(head, (x,), "int")

    return make


def _trunc_to_float(x: Expr) -> Expr:
    return _call("trunc_to_float", (_to_float(x),), "float")


def _round_decimal(x: Expr, digits: Expr) -> Expr:
    return _call("round_decimal", (_to_float(x), _whole_number("round_decimal", digits)), "float")


def _whole_number(function: str, x: Expr) -> Expr:
    x = _number(x)
    if x.kind != "int" or not _is_integral(x):
        raise ExprError(f"{function} expects an integer, not {_excerpt(x.text)}")
    return x


def _bitwise(head: str, of_bools: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
    def make(a: Expr, b: Expr) -> Expr:
        if a.kind == b.kind == "bool":
            return of_bools(a, b)
        return _call(head, sorted((_whole_number(head, a), _whole_number(head, b)), key=_order), "int")

    return make


def _real_function(head: str) -> Callable[[Expr], Expr]:
    def make(x: Expr) -> Expr:
        return _call(head, (_to_float(x),), "float")

    return make


# Tables of functions ---------------------------------------------------------------------------------------------


def _pow_value(base: Number | float, exponent: Number | float) -> Number | float:
    if isinstance(base, float) or isinstance(exponent, float):
        return math.pow(base, exponent)
    size = max(abs(base.numerator), base.denominator).bit_length()
    if abs(base) > 1 and size * abs(exponent) > 16 * MAX_BITS:
        raise OverflowError(f"more than {16 * MAX_BITS} bits")
    return _whole(cast("Fraction", Fraction(base) ** exponent))


_REAL_FUNCTIONS = (
    *("sqrt", "exp", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh"),
)

_VALUES: dict[str, Callable[..., Any]] = {
    "add": lambda *values: reduce(operator.add, values),
    "mul": lambda *values: reduce(operator.mul, values),
    "pow": _pow_value,
    "abs": abs,
    "max": max,
    "min": min,
    "not": operator.not_,
    "to_float": float,
    "ceil_to_int": math.ceil,
    "floor_to_int": math.floor,
    "trunc_to_int": math.trunc,
    "round_to_int": round,
    "trunc_to_float": math.trunc,
    "round_decimal": round,
    **{name: getattr(operator, name) for name in ("floordiv", "mod", "truediv", *_FLIPPED)},
    **{f"bitwise_{name}": getattr(operator, f"__{name}__") for name in ("and", "or", "xor")},
    **{name: getattr(math, name) for name in _REAL_FUNCTIONS},
}
"""What each function computes, except those of `_LAZY_VALUES`. A float's value is converted to float afterwards."""

_Evaluator: TypeAlias = Callable[[Expr], Any]


def _piecewise_value(args: Sequence[Expr], value: _Evaluator) -> Any:
    for case, condition in zip(args[::2], args[1::2], strict=True):
        if value(condition):
            return value(case)
    raise ExprError("no condition of a piecewise holds")


_LAZY_VALUES: dict[str, Callable[[Sequence[Expr], _Evaluator], Any]] = {
    "and": lambda args, value: all(value(arg) for arg in args),
    "or": lambda args, value: any(value(arg) for arg in args),
    "where": lambda args, value: value(args[1]) if value(args[0]) else value(args[2]),
    "piecewise": _piecewise_value,
}
"""The functions that leave arguments unevaluated."""

_COMPARISONS = {head: _comparison(head) for head in _FLIPPED}
_and, _or = _junction("and", absorbing=False), _junction("or", absorbing=True)

_MANY = MAX_LENGTH
_FUNCTIONS: dict[str, tuple[Callable[..., Expr], int, int]] = {
    "add": (_add, 1, _MANY),
    "sub": (_sub, 2, 2),
    "neg": (_neg, 1, 1),
    "mul": (_mul, 1, _MANY),
    "pow": (_pow, 2, 2),
    "float_pow": (_float_pow, 2, 2),
    "rational": (_rational, 2, 2),
    "floordiv": (_floordiv, 2, 2),
    "ceildiv": (_ceildiv, 2, 2),
    "mod": (_mod, 2, 2),
    "modular_indexing": (_modular_indexing, 3, 3),
    "lshift": (_lshift, 2, 2),
    "rshift": (_rshift, 2, 2),
    "truediv": (_truediv, 2, 2),
    "abs": (_abs, 1, 1),
    "max": (_extremum("max"), 1, _MANY),
    "min": (_extremum("min"), 1, _MANY),
    **{head: (make, 2, 2) for head, make in _COMPARISONS.items()},
    "and": (_and, 1, _MANY),
    "or": (_or, 1, _MANY),
    "not": (_not, 1, 1),
    "where": (_where, 3, 3),
    "piecewise": (_piecewise, 2, _MANY),
    "identity": (_identity, 1, 1),
    "to_float": (_to_float, 1, 1),
    "ceil_to_int": (_ceil_to_int, 1, 1),
    "floor_to_int": (_floor_to_int, 1, 1),
    "trunc_to_int": (_rounding("trunc_to_int"), 1, 1),
    "round_to_int": (_rounding("round_to_int"), 1, 1),
    "trunc_to_float": (_trunc_to_float, 1, 1),
    "round_decimal": (_round_decimal, 2, 2),
    "bitwise_and": (_bitwise("bitwise_and", _and), 2, 2),
    "bitwise_or": (_bitwise("bitwise_or", _or), 2, 2),
    "bitwise_xor": (_bitwise("bitwise_xor", _COMPARISONS["ne"]), 2, 2),
    **{name: (_real_function(name), 1, 1) for name in _REAL_FUNCTIONS},
}
"""The functions of the IR syntax: constructor, least and most arguments. Some are only read, and print as others."""


def _apply(function: str, args: Sequence[Expr]) -> Expr:
    if function not in _FUNCTIONS:
        raise ExprError(f"unknown function {_excerpt(function)!r}")
    make, least, most = _FUNCTIONS[function]
    if not least <= len(args) <= most:
        raise ExprError(
            f"{function} takes {least}{'' if least == most else ' or more'} arguments, got {len(args)}"
        )
    return make(*args)


# Evaluation and substitution -------------------------------------------------------------------------------------


def _compute(head: str, kind: Kind, text: str, values: Sequence[Any]) -> Any:
    try:
        value = _VALUES[head](*values)
        return float(value) if kind == "float" else value
    except (ArithmeticError, ValueError) as error:
        raise ExprError(f"{_excerpt(text)} has no value: {error}") from error


def _evaluate(expr: Expr, bindings: Mapping[str, int | float]) -> Any:
    if expr.head == "constant":
        return expr.value
    if expr.head == "symbol":
        return _binding(expr, bindings)
    if expr.head in _LAZY_VALUES:
        value = _LAZY_VALUES[expr.head](expr.args, lambda arg: _evaluate(arg, bindings))
        return float(value) if expr.kind == "float" else value
    return _compute(expr.head, expr.kind, expr.text, [_evaluate(arg, bindings) for arg in expr.args])


def _binding(symbol: Expr, bindings: Mapping[str, int | float]) -> int | float:
    if symbol.text not in bindings:
        raise ExprError(f"no value for the symbol {symbol.text}")
    value = bindings[symbol.text]
    if symbol.kind == "float":
        return float(value)
    if isinstance(value, float):
        raise ExprError(f"the symbol {symbol.text} is an integer, its value {value} is not")
    return operator.index(value)


def _substitute(expr: Expr, mapping: Mapping[str, Dim]) -> Expr:
    if expr.head == "constant":
        return expr
    if expr.head != "symbol":
        return _apply(expr.head, [_substitute(arg, mapping) for arg in expr.args])
    value = _number(_operand(mapping.get(expr.text, expr)))
    if expr.kind == "float":
        return _to_float(value)
    if value.kind == "float":
        raise ExprError(
            f"the symbol {expr.text} is an integer, its replacement {_excerpt(value.text)} is not"
        )
    return value


# The IR syntax ---------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"\s*(?:(?P<float>\d+(?:\.\d*(?:[eE][-+]?\d+)?|[eE][-+]?\d+))|(?P<int>\d+)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<op>[-+*(),]))",
    re.ASCII,
)
_OPENING = re.compile(r"\s*\(")
_INFIX = {
    "+": ("add", 1),
    "-": ("sub", 1),
    "*": ("mul", 2),
    "floordiv": ("floordiv", 2),
    "ceildiv": ("ceildiv", 2),
    "mod": ("mod", 2),
}
"""Operator to function and precedence."""
_CONSTANTS = {"true": True, "false": False, "inf": math.inf, "nan": math.nan}
_RESERVED = frozenset({*_CONSTANTS, *_INFIX})
_DIGITS = len(str(1 << MAX_BITS))


class _Parser:
    """Recursive descent with precedence climbing over `text[pos:]`; stops at the first token that does not continue."""

    def __init__(self, text: str, pos: int):
        self.text = text
        self.start = self.end = pos
        self._advance()

    def _advance(self) -> None:
        """`token` becomes the next one, `end` is the end of the last one consumed."""
        match = _TOKEN.match(self.text, self.end)
        self.token = match.group().lstrip() if match else ""
        self.kind = match.lastgroup if match else None
        self.next = match.end() if match else self.end

    def _consume(self) -> str:
        token, self.end = self.token, self.next
        if self.end - self.start > MAX_LENGTH:
            raise ExprLimitError(f"expression longer than {MAX_LENGTH} characters at position {self.start}")
        self._advance()
        return token

    def fail(self, message: str) -> ExprError:
        return ExprError(f"{message} at position {self.end} of {_excerpt(self.text[self.start :])!r}")

    def _expect(self, token: str) -> None:
        if self.token != token:
            raise self.fail(f"expected {token!r}")
        self._consume()

    def expression(self, least: int, depth: int) -> Expr:
        """Operands joined by operators of at least that precedence. Sums are made at once, or they would be quadratic."""
        operands = [self._operand(depth)]
        while self.token in _INFIX and _INFIX[self.token][1] >= least:
            function, precedence = _INFIX[self._consume()]
            right = self.expression(precedence + 1, depth)
            if precedence == 1:
                operands.append(right if function == "add" else _neg(right))
            else:
                operands = [_apply(function, (_total(operands), right))]
        return _total(operands)

    def _operand(self, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ExprLimitError(f"expression nested deeper than {MAX_DEPTH} at position {self.end}")
        if self.token == "-":
            self._consume()
            return _neg(self._operand(depth + 1))
        if self.token == "(":
            self._consume()
            inner = self.expression(1, depth + 1)
            self._expect(")")
            return inner
        if self.kind == "name":
            return self._name(depth)
        if self.kind == "float":
            return _constant(float(self._consume()))
        if self.kind == "int" and len(self.token) <= _DIGITS:
            return _constant(int(self._consume()))
        raise self.fail("expected an expression" if self.kind != "int" else "integer too large")

    def _name(self, depth: int) -> Expr:
        name = self.token
        called = _OPENING.match(self.text, self.next)
        if called and name not in _FUNCTIONS:
            raise self.fail(f"unknown function {_excerpt(name)!r}")
        if not called and name in _INFIX:
            raise self.fail(f"expected an operand before {name!r}")
        self._consume()
        if not called:
            return _constant(_CONSTANTS[name]) if name in _CONSTANTS else _symbol(name)
        self._consume()
        args = [self.expression(1, depth + 1)]
        while self.token == ",":
            self._consume()
            args.append(self.expression(1, depth + 1))
        self._expect(")")
        return _apply(name, args)


def _total(operands: Sequence[Expr]) -> Expr:
    return operands[0] if len(operands) == 1 else _add(*operands)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Expr:
    parser = _Parser(text, 0)
    expr = parser.expression(1, 0)
    if text[parser.end :].strip():
        raise parser.fail("expected the end of the expression")
    return expr


# PyTorch's form --------------------------------------------------------------------------------------------------

_SREPR = {
    **{
        name: name.title() for name in ("add", "mul", "pow", "abs", "max", "min", "and", "or", "not", "where")
    },
    "floordiv": "FloorDiv",
    "mod": "PythonMod",
    "truediv": "IntTrueDiv",
    "gt": "StrictGreaterThan",
    "ge": "GreaterThan",
    "lt": "StrictLessThan",
    "le": "LessThan",
    "eq": "Equality",
    "ne": "Unequality",
    "to_float": "ToFloat",
    "ceil_to_int": "CeilToInt",
    "floor_to_int": "FloorToInt",
    "trunc_to_int": "TruncToInt",
    "round_to_int": "RoundToInt",
    "trunc_to_float": "TruncToFloat",
    "round_decimal": "RoundDecimal",
    **{f"bitwise_{name}": f"BitwiseFn_bitwise_{name}" for name in ("and", "or", "xor")},
    **{name: f"OpaqueUnaryFn_{name}" for name in _REAL_FUNCTIONS},
}
"""IR function to the name in `srepr` text: classes of sympy and of torch.utils._sympy.functions."""

_PYTHON_FUNCTIONS = {
    **{head: function for function, head in _SREPR.items()},
    **{name: name for name in _REAL_FUNCTIONS},
    "Mod": "mod",
    "CleanDiv": "floordiv",
    "CeilDiv": "ceildiv",
    "ModularIndexing": "modular_indexing",
    "FloatTrueDiv": "truediv",
    "PowByNatural": "pow",
    "FloatPow": "float_pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "Identity": "identity",
    "Rational": "rational",
    "ITE": "where",
    "Eq": "eq",
    "Ne": "ne",
    "Gt": "gt",
    "Ge": "ge",
    "Lt": "lt",
    "Le": "le",
    "floor": "floor_to_int",
    "ceiling": "ceil_to_int",
}
"""Every name that may be called in sympy's `srepr` or `str`, except the `_PYTHON_LEAVES`."""

_PYTHON_CONSTANTS = {
    "true": True,
    "false": False,
    "BooleanTrue": True,
    "BooleanFalse": False,
    "Zero": 0,
    "One": 1,
    "NegativeOne": -1,
    "Half": Fraction(1, 2),
    "oo": math.inf,
    "Infinity": math.inf,
    "NegativeInfinity": -math.inf,
    "nan": math.nan,
    "int_oo": math.inf,
    "IntInfinity": math.inf,
    "NegativeIntInfinity": -math.inf,
}

_PYTHON_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "rational",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.USub: "neg",
    ast.UAdd: "identity",
    ast.Not: "not",
    ast.Invert: "not",
    ast.And: "and",
    ast.Or: "or",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Lt: "lt",
    ast.LtE: "le",
}


@lru_cache(maxsize=4096)
def _read_python(text: str, symbols: bool) -> Expr:
    if len(text) > 5 * MAX_LENGTH:
        raise ExprLimitError(f"expression longer than {5 * MAX_LENGTH} characters: {_excerpt(text)!r}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise ExprError(f"cannot read {_excerpt(text)!r}: {error}") from error
    except (MemoryError, RecursionError) as error:  # how Python's parser reports deep nesting
        raise ExprLimitError(f"expression nested too deeply: {_excerpt(text)!r}") from error
    return _PythonReader(text, symbols).read(tree.body, 0)


class _PythonReader:
    """From Python's syntax tree to an expression. Bare names are symbols only in `str` text."""

    def __init__(self, text: str, symbols: bool):
        self.text = text
        self.symbols = symbols

    def read(self, node: ast.AST, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ExprLimitError(f"expression nested deeper than {MAX_DEPTH}: {_excerpt(self.text)!r}")
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return self._call(node, name, depth)
            case ast.BinOp():
                return self._chain(node, depth)
            case ast.UnaryOp(op=op, operand=operand):
                return self._operator(node, op, [self.read(operand, depth + 1)])
            case ast.BoolOp(op=op, values=values):
                return self._operator(node, op, [self.read(value, depth + 1) for value in values])
            case ast.Compare():
                return self._comparison(node, depth)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Constant(value=bool() | int() | float() as value):
                return _constant(value)
            case _:
                raise self._fail(node, f"{type(node).__name__} is not allowed in an expression")

    def _fail(self, node: ast.AST, message: str) -> ExprError:
        column = getattr(node, "col_offset", 0) + 1
        return ExprError(f"{message} at column {column} of {_excerpt(self.text)!r}")

    def _name(self, node: ast.AST, name: str) -> Expr:
        if name in _PYTHON_CONSTANTS:
            return _constant(_PYTHON_CONSTANTS[name])
        if not self.symbols:
            raise self._fail(node, f"unknown name {_excerpt(name)!r}")
        return _symbol(name)

    def _operator(self, node: ast.AST, op: ast.AST, args: Sequence[Expr]) -> Expr:
        if type(op) not in _PYTHON_OPERATORS:
            raise self._fail(node, f"the operator {type(op).__name__} is not allowed in an expression")
        return _apply(_PYTHON_OPERATORS[type(op)], args)

    def _chain(self, node: ast.BinOp, depth: int) -> Expr:
        """A long sum is a deep tree to the left: walk down that side in a loop, and make each sum at once."""
        chain: list[ast.BinOp] = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        operands = [self.read(chain[-1].left, depth + 1)]
        for step in reversed(chain):
            right = self.read(step.right, depth + 1)
            if isinstance(step.op, ast.Add | ast.Sub):
                operands.append(right if isinstance(step.op, ast.Add) else _neg(right))
            else:
                operands = [self._operator(step, step.op, [_total(operands), right])]
        return _total(operands)

    def _comparison(self, node: ast.Compare, depth: int) -> Expr:
        items = [self.read(item, depth + 1) for item in (node.left, *node.comparators)]
        pairs = zip(node.ops, items, items[1:], strict=False)
        return _and(*(self._operator(node, op, [a, b]) for op, a, b in pairs))

    def _call(self, node: ast.Call, name: str, depth: int) -> Expr:
        if name in _PYTHON_LEAVES:
            return _PYTHON_LEAVES[name](self, node, depth)
        if node.keywords:
            raise self._fail(node, f"{name} takes no keyword arguments")
        if name in _PYTHON_CONSTANTS and not node.args:
            return _constant(_PYTHON_CONSTANTS[name])
        if name not in _PYTHON_FUNCTIONS:
            raise self._fail(node, f"unknown head {_excerpt(name)!r}")
        return _apply(_PYTHON_FUNCTIONS[name], [self.read(arg, depth + 1) for arg in node.args])

    def symbol(self, node: ast.Call, depth: int) -> Expr:
        """`Symbol('s0', positive=True, integer=True)`. The name alone says whether it is a float."""
        match node.args, {keyword.arg: keyword.value for keyword in node.keywords}:
            case [ast.Constant(value=str() as name)], assumptions if all(map(_is_flag, assumptions.values())):
                symbol = _symbol(name)
                declared = {str(key) for key, flag in assumptions.items() if cast("ast.Constant", flag).value}
                if declared & {"real", "integer"} == {"real" if symbol.kind == "int" else "integer"}:
                    raise self._fail(
                        node, f"the name of the symbol {name} says {symbol.kind}, its assumptions do not"
                    )
                return symbol
            case _:
                raise self._fail(node, "malformed Symbol")

    def integer(self, node: ast.Call, depth: int) -> Expr:
        """`Integer(2)`."""
        value = self.read(node.args[0], depth + 1) if len(node.args) == 1 and not node.keywords else None
        if value is None or _integer(value) is None:
            raise self._fail(node, "malformed Integer")
        return value

    def float(self, node: ast.Call, depth: int) -> Expr:
        """`Float('0.10000000000000001', precision=53)`."""
        match node.args, [keyword.arg for keyword in node.keywords]:
            case [ast.Constant(value=str() | int() | float() as value)], [] | ["precision"]:
                try:
                    return _constant(float(value))
                except (ValueError, OverflowError) as error:
                    raise self._fail(node, f"malformed Float: {error}") from error
            case _:
                raise self._fail(node, "malformed Float")

    def piecewise(self, node: ast.Call, depth: int) -> Expr:
        """`Piecewise(ExprCondPair(value, condition), ...)`, in `str` text with bare tuples."""
        parts: list[Expr] = []
        for case in node.args:
            match case:
                case ast.Call(func=ast.Name(id="ExprCondPair"), args=[value, condition], keywords=[]):
                    pass
                case ast.Tuple(elts=[value, condition]):
                    pass
                case _:
                    raise self._fail(case, "malformed case of a Piecewise")
            parts += [self.read(value, depth + 2), self.read(condition, depth + 2)]
        return _apply("piecewise", parts)


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


_PYTHON_LEAVES: dict[str, Callable[[_PythonReader, ast.Call, int], Expr]] = {
    "Symbol": _PythonReader.symbol,
    "Integer": _PythonReader.integer,
    "Float": _PythonReader.float,
    "Piecewise": _PythonReader.piecewise,
}


def _to_srepr(expr: Expr, plain: frozenset[str]) -> str:
    if expr.head == "constant":
        return _constant_srepr(cast("Number | float", expr.value))
    if expr.head == "symbol":
        return _symbol_srepr(expr, plain)
    args = [_to_srepr(arg, plain) for arg in expr.args]
    if expr.head == "piecewise":
        pairs = zip(args[::2], args[1::2], strict=True)
        return f"Piecewise({', '.join(f'ExprCondPair({value}, {condition})' for value, condition in pairs)})"
    return f"{_srepr_head(expr, plain)}({', '.join(args)})"


def _constant_srepr(value: Number | float) -> str:
    if isinstance(value, float):
        names = {math.inf: "oo", -math.inf: "-oo"}
        return "nan" if math.isnan(value) else names.get(value, f"Float('{value!r}', precision=53)")
    if isinstance(value, bool):
        return _constant_text(value)
    return (
        f"Rational({value.numerator}, {value.denominator})"
        if isinstance(value, Fraction)
        else f"Integer({value})"
    )


def _symbol_srepr(symbol: Expr, plain: frozenset[str]) -> str:
    """With the assumptions that PyTorch gives a symbol of that name."""
    if symbol.kind == "float":
        return f"Symbol('{symbol.text}')" if symbol.is_unbacked else f"Symbol('{symbol.text}', real=True)"
    positive = "" if symbol.is_unbacked or symbol.text in plain else "positive=True, "
    return f"Symbol('{symbol.text}', {positive}integer=True)"


def _srepr_head(expr: Expr, plain: frozenset[str]) -> str:
    """PyTorch has several classes for some functions: by kind, and `Mod` for operands that are not negative."""
    if expr.head == "pow" and expr.kind == "float":
        return "FloatPow"
    if expr.head == "pow" and _integer(expr.args[1]) is None:
        return "PowByNatural"
    if expr.head == "truediv" and expr.args[0].kind == "float":
        return "FloatTrueDiv"
    if expr.head == "where" and expr.kind == "bool":
        return "ITE"
    if expr.head == "mod":
        ranges = dict.fromkeys(plain, (None, None))
        (dividend, _), (divisor, _) = (_bounds(arg, ranges) for arg in expr.args)
        return "Mod" if dividend >= 0 and divisor > 0 else "PythonMod"
    return _SREPR[expr.head]


# Proofs ----------------------------------------------------------------------------------------------------------

Bound: TypeAlias = int | Fraction | float
"""An exact number, or plus or minus infinity."""
Interval: TypeAlias = tuple[Bound, Bound]

_UNBOUNDED: Interval = (-math.inf, math.inf)
_SHIFTED_DEGREE = 6
"""Largest degree of a polynomial that is rewritten in distances from its atoms' bounds."""
_LARGE_POWER = 64


def _prove(cond: Expr, ranges: Ranges) -> bool | None:
    if cond.head == "constant":
        return bool(cond.value)
    if cond.head in _COMPARISONS:
        return _prove_comparison(cond.head, cond.args[0], cond.args[1], ranges)
    if cond.head not in ("and", "or", "not"):
        return None
    proved = [_prove(arg, ranges) for arg in cond.args]
    if cond.head == "not":
        return None if proved[0] is None else not proved[0]
    absorbing = cond.head == "or"
    if absorbing in proved:
        return absorbing
    return None if None in proved else not absorbing


def _prove_comparison(head: str, a: Expr, b: Expr, ranges: Ranges) -> bool | None:
    if not a.kind == b.kind == "int":
        return None
    try:
        difference = _difference(a, b)
        forms = (difference, _terms(_proof_form(difference)))
        low, high = _intersect(*(_polynomial_bounds(form, ranges) for form in forms))
    except ExprLimitError:
        return None  # too large to reason about
    if _is_whole(difference):
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
    if not all(map(_is_whole_product, terms)):
        return False
    terms = _scale(terms, math.lcm(*(c.denominator for c in terms.values())))
    content = math.gcd(*(int(c) for monomial, c in terms.items() if monomial))
    return content > 0 and terms.get((), 0) % content != 0


def _proof_form(terms: Terms) -> Expr:
    """An equal expression in which division by a constant d appears only as `a mod d`, a in its residue class's
    canonical form, so that expressions that say the same thing with division and with modulo meet."""
    products = (
        _mul(_constant(c), *(_pow(_proof_atom(base), _constant(n)) for base, n in monomial))
        for monomial, c in terms.items()
    )
    return _add(_constant(0), *products)


def _proof_atom(atom: Expr) -> Expr:
    if atom.head not in ("floordiv", "mod"):
        return atom
    a, b = atom.args
    divisor = _integer(b)
    if atom.head == "floordiv":
        return atom if divisor is None else _rational(_sub(_proof_form(_terms(a)), _residue(a, divisor)), b)
    return _sub(a, _mul(b, _floordiv(a, b))) if divisor is None else _residue(a, divisor)


def _residue(a: Expr, divisor: int) -> Expr:
    """a mod divisor, with a's coefficients reduced and common factors outside."""
    if not _is_integral(a):
        return _mod(a, _constant(divisor))
    terms = {monomial: int(c) % divisor for monomial, c in _terms(a).items() if int(c) % divisor}
    content = math.gcd(divisor, *terms.values())
    reduced = _from_terms({monomial: c // content for monomial, c in terms.items()})
    return _mul(_constant(content), _mod(reduced, _constant(divisor // content)))


def _intersect(a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), min(a[1], b[1])


def _bounds(expr: Expr, ranges: Ranges) -> Interval:
    """Bounds of an exact expression; not always the tightest."""
    if expr.kind != "int":
        return _UNBOUNDED
    if expr.head == "symbol":
        low, high = ranges.get(expr.text, (None if expr.is_unbacked else 1, None))
        return -math.inf if low is None else low, math.inf if high is None else high
    if expr.head in _BOUNDS:
        return _BOUNDS[expr.head](expr.args, lambda arg: _bounds(arg, ranges))
    if expr.head in ("constant", "add", "mul") or _power(expr)[0] is not expr:
        return _polynomial_bounds(_terms(expr), ranges)
    return _UNBOUNDED


def _polynomial_bounds(terms: Terms, ranges: Ranges) -> Interval:
    box = {base: _bounds(base, ranges) for monomial in terms for base, _ in monomial}
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
        shifts[base] = _merge(({(): cast("Number", origin)}, {((base, 1),): sign}))
        distances[base] = (0, high - low) if math.isfinite(low) or math.isfinite(high) else _UNBOUNDED
    products = (
        reduce(_times, (shifts[base] for base, n in monomial for _ in range(n)), {(): coefficient})
        for monomial, coefficient in terms.items()
    )
    return _sum_bounds(_merge(products), distances)


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
    top = _plus(most, -1) if all(map(_is_integral, args)) else most
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


def _nonnegative_bounds(args: Sequence[Expr], bounds: _Bounder) -> Interval:
    return (0, math.inf) if all(bounds(arg)[0] >= 0 for arg in args) else _UNBOUNDED


_BoundsRule: TypeAlias = Callable[[Sequence[Expr], _Bounder], Interval]
_BOUNDS: dict[str, _BoundsRule] = {
    "floordiv": _floordiv_bounds,
    "mod": _mod_bounds,
    "max": _max_bounds,
    "min": _min_bounds,
    "abs": _abs_bounds,
    "where": lambda args, bounds: _hull(map(bounds, args[1:])),
    "piecewise": lambda args, bounds: _hull(map(bounds, args[::2])),
    "bitwise_and": _nonnegative_bounds,
    "bitwise_or": _nonnegative_bounds,
    "bitwise_xor": _nonnegative_bounds,
}
"""From the arguments and a function for their bounds to the bounds of an exact call."""
