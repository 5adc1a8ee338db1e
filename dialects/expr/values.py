"""What functions of expressions compute, by Python's arithmetic."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from xdsl_exir.dialects.expr.limits import MAX_BITS, ExprError, excerpt

if TYPE_CHECKING:
    from xdsl_exir.dialects.expr.nodes import Expr

Kind: TypeAlias = Literal["int", "float", "bool"]
"""What an expression's value is. `int` is exact: it includes rationals such as `rational(1, 2) * s0`."""
Number: TypeAlias = int | Fraction


def whole(value: Number) -> Number:
    return value.numerator if value.denominator == 1 else value


FLIPPED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}


def _pow_value(base: Number | float, exponent: Number | float) -> Number | float:
    if isinstance(base, float) or isinstance(exponent, float):
        return math.pow(base, exponent)
    size = max(abs(base.numerator), base.denominator).bit_length()
    if abs(base) > 1 and size * abs(exponent) > 16 * MAX_BITS:
        raise OverflowError(f"more than {16 * MAX_BITS} bits")
    return whole(cast("Fraction", Fraction(base) ** exponent))


REAL_FUNCTIONS = (
    *("sqrt", "exp", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh"),
)
VALUES: dict[str, Callable[..., Any]] = {
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
    **{name: getattr(operator, name) for name in ("floordiv", "mod", "truediv", *FLIPPED)},
    **{f"bitwise_{name}": getattr(operator, f"__{name}__") for name in ("and", "or", "xor")},
    **{name: getattr(math, name) for name in REAL_FUNCTIONS},
}
"""What each function computes, except those of `_LAZY_VALUES`. A float's value is converted to float afterwards."""
_Evaluator: TypeAlias = "Callable[[Expr], Any]"


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


def compute(head: str, kind: Kind, text: str, values: Sequence[Any]) -> Any:
    try:
        value = VALUES[head](*values)
        return float(value) if kind == "float" else value
    except (ArithmeticError, ValueError) as error:
        raise ExprError(f"{excerpt(text)} has no value: {error}") from error


def evaluate(expr: Expr, bindings: Mapping[str, int | float]) -> Any:
    if expr.head == "constant":
        return expr.value
    if expr.head == "symbol":
        return _binding(expr, bindings)
    if expr.head in _LAZY_VALUES:
        value = _LAZY_VALUES[expr.head](expr.args, lambda arg: evaluate(arg, bindings))
        return float(value) if expr.kind == "float" else value
    return compute(expr.head, expr.kind, expr.text, [evaluate(arg, bindings) for arg in expr.args])


def _binding(symbol: Expr, bindings: Mapping[str, int | float]) -> int | float:
    if symbol.text not in bindings:
        raise ExprError(f"no value for the symbol {symbol.text}")
    value = bindings[symbol.text]
    if symbol.kind == "float":
        return float(value)
    if isinstance(value, float):
        raise ExprError(f"the symbol {symbol.text} is an integer, its value {value} is not")
    return operator.index(value)
