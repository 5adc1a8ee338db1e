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

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Literal, TypeAlias, cast

from xdsl_exir.errors import ExirError

MAX_DEPTH = 100
"""Deepest nesting of an expression. Every recursion here takes at most three Python frames a level."""
MAX_LENGTH = 20_000
"""Longest text read or printed, in characters."""
MAX_TERMS = 1024
"""Most terms of an expanded sum."""
MAX_BITS = 4096
"""Largest integer that arithmetic on constants may make, in bits."""
MAX_EXPANDED_POWER = 16
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
    operands, so that a lowering can walk the tree. Not to be built by hand: use `parse`, `symbol`, `apply` or arithmetic.
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
        if isinstance(value, Fraction):
            return value.numerator if value.denominator == 1 else _compute("to_float", self, [value])
        return value

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


def _within(text: str, level: int) -> str:
    """The text, in parentheses if the place it stands in binds tighter. `text` must be of a canonical expression."""
    return f"({text})" if level == _SUM else text


def _text(expr: Expr, least: int) -> str:
    """The text of an operand where at least the level `least` is needed."""
    level = _SUM if expr.text.startswith("-") else _LEVEL.get(expr.head, _PRIMARY)
    return expr.text if level >= least else f"({expr.text})"


def _sum_text(terms: Sequence[Expr]) -> str:
    texts = [_text(term, _PRODUCT) if term.head == "add" else term.text for term in terms]
    signed = (f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in texts[1:])
    return texts[0] + "".join(signed)


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
    if all(arg.head == "constant" for arg in args):
        call = Expr(head, tuple(args), kind, f"{head}({', '.join(a.text for a in args)})", None, 1)
        return _constant(_compute(head, call, [arg.value for arg in args]))
    if head in ("floordiv", "mod"):
        text = f"{_text(args[0], _PRIMARY)} {head} {_text(args[1], _PRIMARY)}"
    else:
        text = f"{head}({', '.join(arg.text for arg in args)})"
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
    return all(c.denominator == 1 and _is_whole_product(monomial) for monomial, c in _terms(expr).items())


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
    sign = 1 if min(divisor.items(), key=_unsigned_order)[1] > 0 else -1
    factor = Fraction(sign * denominator, content)
    return _scale(dividend, factor), _scale(divisor, factor)


def _unsigned_order(term: tuple[Monomial, Number]) -> tuple[Any, ...]:
    return _term_order((term[0], 1))


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


# Constructors: canonical form of each function -------------------------------------------------------------------


def _number(expr: Expr) -> Expr:
    """A bool in arithmetic counts as 1 or 0, as in Python."""
    return _where(expr, _constant(1), _constant(0)) if expr.kind == "bool" else expr


def _boolean(function: str, expr: Expr) -> Expr:
    if expr.kind != "bool":
        raise ExprError(f"{function} expects a condition, not {_excerpt(expr.text)}")
    return expr


def _all_exact(args: Iterable[Expr]) -> bool:
    return all(arg.kind == "int" for arg in args)


def _to_float(x: Expr) -> Expr:
    return x if x.kind == "float" else _call("to_float", (_number(x),), "float")


def _add(*args: Expr) -> Expr:
    """Left to right; exact up to the first float."""
    numbers = [_number(arg) for arg in args]
    exact = next((i for i, number in enumerate(numbers) if number.kind == "float"), len(numbers))
    start = [_from_terms(_merge(map(_terms, numbers[:exact])))] if exact else []
    return reduce(_float_add, (*start, *numbers[exact:]))


def _float_add(a: Expr, b: Expr) -> Expr:
    a, b = sorted((_to_float(a), _to_float(b)), key=_order)
    if a.head == "constant":
        return _call("add", (a, b), "float")
    return _node("add", (a, b), "float", _sum_text((a, b)))


def _neg(x: Expr) -> Expr:
    return _mul(_constant(-1), x)


def _sub(a: Expr, b: Expr) -> Expr:
    return _add(a, _neg(b))


def _mul(*args: Expr) -> Expr:
    """Left to right; exact up to the first float."""
    return reduce(_mul2, map(_number, args))


def _mul2(a: Expr, b: Expr) -> Expr:
    if _all_exact((a, b)):
        return _from_terms(_times(_terms(a), _terms(b)))
    b, a = sorted((_to_float(a), _to_float(b)), key=_order)
    if b.head == "constant" and a.head != "constant":
        a, b = b, a
    else:
        a, b = b, a
    return _float_mul(a, b)


def _float_mul(a: Expr, b: Expr) -> Expr:
    raise NotImplementedError
