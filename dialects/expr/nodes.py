"""Expressions as trees of nodes, each with its canonical text; what is built by name, `apply`.

The functions themselves stand in `functions.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

from xdsl_exir.dialects.expr.limits import MAX_BITS, MAX_DEPTH, MAX_LENGTH, ExprError, ExprLimitError, excerpt
from xdsl_exir.dialects.expr.values import Kind, Number, compute, evaluate


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
        from xdsl_exir.dialects.expr.syntax import parse

        return as_dim(parse(text))

    @staticmethod
    def symbol(name: str) -> Expr:
        """The symbol of that name: a float if it starts with `zf` or `zuf`, as in PyTorch, otherwise an integer."""
        return symbol_node(name)

    @staticmethod
    def from_srepr(text: str) -> Dim:
        """Read sympy's `srepr` as `.pt2` files hold it. Raises ExprError that names an unknown head."""
        from xdsl_exir.dialects.expr.pytorch import read_python

        return as_dim(read_python(text, symbols=False))

    @staticmethod
    def from_str_expr(text: str) -> Dim:
        """Read `str` of a sympy expression, such as `((s53 - 1)//2) + 1` (`/` is exact division). Raises ExprError."""
        from xdsl_exir.dialects.expr.pytorch import read_python

        return as_dim(read_python(text, symbols=True))

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
        value = evaluate(self, bindings)
        if not isinstance(value, Fraction):
            return value
        return value.numerator if value.denominator == 1 else compute("to_float", "float", self.text, [value])

    def substitute(self, mapping: Mapping[str, Dim]) -> Dim:
        """It, with symbols replaced. Symbols that `mapping` lacks stay."""
        from xdsl_exir.dialects.expr.functions import substitute

        return as_dim(substitute(self, mapping))

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
Monomial: TypeAlias = tuple[tuple[Expr, int], ...]
"""A product of powers: (base, exponent), sorted; () is 1."""
Terms: TypeAlias = dict[Monomial, Number]
"""A polynomial with no zero coefficient."""
_FLOAT_SYMBOL = ("zf", "zuf")
_UNBACKED = ("u", "zuf")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def apply(function: str, *args: Expr | int | float) -> Dim:
    """Apply a function of the IR syntax by name: `apply("gt", s0, 2)`, `apply("truediv", n, 2)`, `apply("and", p, q)`.

    Raises ExprError for an unknown function, a wrong number or kind of arguments, or a constant division by zero.
    """
    return as_dim(condition(function, *args))


def condition(function: str, *args: Expr | int | float) -> Expr:
    """The same as an expression, whatever it is: for what is to hold. Raises as `apply` does."""
    return apply_node(function, [as_operand(arg) for arg in args])


def max_(*dims: Dim) -> Dim:
    """The largest of one or more sizes."""
    return max(cast("tuple[int, ...]", dims)) if _static(dims) else apply("max", *dims)


def min_(*dims: Dim) -> Dim:
    """The smallest of one or more sizes."""
    return min(cast("tuple[int, ...]", dims)) if _static(dims) else apply("min", *dims)


def ceildiv(a: Dim, b: Dim) -> Dim:
    """a / b rounded up."""
    if isinstance(a, int) and isinstance(b, int) and b != 0:
        return -(-a // b)
    return apply("ceildiv", a, b)


def prod(dims: Iterable[Dim]) -> Dim:
    """The product of sizes; 1 for none."""
    dims = tuple(dims)
    return math.prod(cast("tuple[int, ...]", dims)) if _static(dims) else apply("mul", *dims)


def _static(dims: Sequence[Dim]) -> bool:
    return all(isinstance(dim, int) for dim in dims)


def as_operand(value: object) -> Expr:
    """A size or number as a node. Raises ExprError for anything else."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, int | float):
        return constant(value)
    raise ExprError(f"{value!r} is neither a number nor a symbolic expression")


def as_dim(expr: Expr) -> Dim:
    """A node as a size: an integer constant is an int."""
    return expr.value if expr.kind == "int" and isinstance(expr.value, int) else expr


_SUM, _PRODUCT, PRIMARY = range(3)
_LEVEL = {"add": _SUM, "mul": _PRODUCT, "floordiv": _PRODUCT, "mod": _PRODUCT}


def make_node(head: str, args: Sequence[Expr], kind: Kind, text: str, value: Any = None) -> Expr:
    """A node of this text, as it stands. Raises ExprLimitError for one too deep or too long."""
    depth = 1 + max((arg.depth for arg in args), default=0)
    if depth > MAX_DEPTH:
        raise ExprLimitError(f"expression nested deeper than {MAX_DEPTH}: {excerpt(text)}")
    if len(text) > MAX_LENGTH:
        raise ExprLimitError(f"expression longer than {MAX_LENGTH} characters: {excerpt(text)}")
    return Expr(head, tuple(args), kind, text, value, depth)


def text_of(expr: Expr, least: int) -> str:
    """The text of an operand where at least the level `least` is needed."""
    level = _SUM if expr.text.startswith("-") else _LEVEL.get(expr.head, PRIMARY)
    return expr.text if level >= least else f"({expr.text})"


def sum_text(terms: Sequence[Expr]) -> str:
    """The text of a sum."""
    texts = (f"({term.text})" if term.head == "add" else term.text for term in terms[1:])
    signed = (f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in texts)
    return terms[0].text + "".join(signed)


def constant_text(value: Number | float) -> str:
    """The text of a constant, which reads as the same number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return f"{'-' if value < 0 else ''}rational({abs(value.numerator)}, {value.denominator})"
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def constant(value: Number | float) -> Expr:
    """The node of a number. Raises ExprLimitError for one too large."""
    if isinstance(value, bool):
        return make_node("constant", (), "bool", constant_text(value), value)
    if isinstance(value, float):
        return make_node("constant", (), "float", constant_text(value), value)
    value = value.numerator if value.denominator == 1 else value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ExprLimitError(f"a constant of more than {MAX_BITS} bits")
    return make_node("constant", (), "int", constant_text(value), value)


def symbol_node(name: str) -> Expr:
    """The node of a symbol. Raises ExprError for what cannot be its name."""
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise ExprError(f"{excerpt(name)!r} is not a symbol's name")
    return make_node("symbol", (), "float" if name.startswith(_FLOAT_SYMBOL) else "int", name, name)


def call(head: str, args: Sequence[Expr], kind: Kind) -> Expr:
    """A call as it stands, or its value if all its arguments are constants."""
    if head in ("floordiv", "mod"):
        text = f"{text_of(args[0], PRIMARY)} {head} {text_of(args[1], PRIMARY)}"
    else:
        text = f"{head}({', '.join(arg.text for arg in args)})"
    if all(arg.head == "constant" for arg in args):
        return constant(compute(head, kind, text, [arg.value for arg in args]))
    return make_node(head, args, kind, text)


def order_of(expr: Expr) -> tuple[bool, int, str]:
    """Order of interchangeable operands: short names first (s2 before s10), constants last."""
    return expr.head == "constant", len(expr.text), expr.text


FUNCTIONS: dict[str, tuple[Callable[..., Expr], int, int]] = {}
"""The functions of the IR syntax: constructor, least and most arguments. Some are only read, and print as others.
`functions.py` fills it."""


def apply_node(function: str, args: Sequence[Expr]) -> Expr:
    """A function of nodes, by name, in canonical form."""
    if function not in FUNCTIONS:
        raise ExprError(f"unknown function {excerpt(function)!r}")
    make, least, most = FUNCTIONS[function]
    if not least <= len(args) <= most:
        raise ExprError(
            f"{function} takes {least}{'' if least == most else ' or more'} arguments, got {len(args)}"
        )
    return make(*args)


INFIX = {
    "+": ("add", 1),
    "-": ("sub", 1),
    "*": ("mul", 2),
    "floordiv": ("floordiv", 2),
    "ceildiv": ("ceildiv", 2),
    "mod": ("mod", 2),
}
"""Operator to function and precedence."""
CONSTANTS = {"true": True, "false": False, "inf": math.inf, "nan": math.nan}
_RESERVED = frozenset({*CONSTANTS, *INFIX})
