"""PyTorch's form of expressions: sympy's `srepr`, as `.pt2` files hold it, and `str`; read and written without sympy or `eval`."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import cast

from xdsl_exir.dialects.expr.functions import and_, neg, total
from xdsl_exir.dialects.expr.limits import MAX_DEPTH, MAX_LENGTH, ExprError, ExprLimitError, excerpt
from xdsl_exir.dialects.expr.nodes import (
    Dim,
    Expr,
    apply_node,
    as_operand,
    constant,
    constant_text,
    symbol_node,
)
from xdsl_exir.dialects.expr.polynomial import integer_of
from xdsl_exir.dialects.expr.proofs import bounds_of
from xdsl_exir.dialects.expr.values import REAL_FUNCTIONS, Number
from xdsl_exir.syntax import parse_expression


def to_srepr(dim: Dim, plain: Collection[str] = ()) -> str:
    """PyTorch's form of an expression, as `.pt2` files hold it.

    Backed integers are written `positive=True` as PyTorch does for sizes, except those named in `plain` (integer
    inputs). `inf` is sympy's `oo`.
    """
    return _to_srepr(as_operand(dim), frozenset(plain))


def to_str(expr: Expr) -> str:
    """PyTorch's `str` of a sum of products (`2*s0 + 1`), by which `.pt2` files name what they say a range of."""
    return expr.text.replace(" * ", "*")


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
    **{name: f"OpaqueUnaryFn_{name}" for name in REAL_FUNCTIONS},
}
"""IR function to the name in `srepr` text: classes of sympy and of torch.utils._sympy.functions."""
PYTHON_FUNCTIONS = {
    **{head: function for function, head in _SREPR.items()},
    **{name: name for name in REAL_FUNCTIONS},
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
def read_python(text: str, symbols: bool) -> Expr:
    if len(text) > 5 * MAX_LENGTH:
        raise ExprLimitError(f"expression longer than {5 * MAX_LENGTH} characters: {excerpt(text)!r}")
    try:
        tree = parse_expression(text.strip())
    except (SyntaxError, ValueError) as error:
        raise ExprError(f"cannot read {excerpt(text)!r}: {error}") from error
    except (MemoryError, RecursionError) as error:  # how Python's parser reports deep nesting
        raise ExprLimitError(f"expression nested too deeply: {excerpt(text)!r}") from error
    return _PythonReader(text, symbols).read(tree, 0)


class _PythonReader:
    """From Python's syntax tree to an expression. Bare names are symbols only in `str` text."""

    def __init__(self, text: str, symbols: bool):
        self.text = text
        self.symbols = symbols

    def read(self, node: ast.AST, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ExprLimitError(f"expression nested deeper than {MAX_DEPTH}: {excerpt(self.text)!r}")
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
                return constant(value)
            case _:
                raise self._fail(node, f"{type(node).__name__} is not allowed in an expression")

    def _fail(self, node: ast.AST, message: str) -> ExprError:
        column = getattr(node, "col_offset", 0) + 1
        return ExprError(f"{message} at column {column} of {excerpt(self.text)!r}")

    def _name(self, node: ast.AST, name: str) -> Expr:
        if name in _PYTHON_CONSTANTS:
            return constant(_PYTHON_CONSTANTS[name])
        if not self.symbols:
            raise self._fail(node, f"unknown name {excerpt(name)!r}")
        return symbol_node(name)

    def _operator(self, node: ast.AST, op: ast.AST, args: Sequence[Expr]) -> Expr:
        if type(op) not in _PYTHON_OPERATORS:
            raise self._fail(node, f"the operator {type(op).__name__} is not allowed in an expression")
        return apply_node(_PYTHON_OPERATORS[type(op)], args)

    def _chain(self, node: ast.BinOp, depth: int) -> Expr:
        """A long sum is a deep tree to the left: walk down that side in a loop, and make each sum at once."""
        chain: list[ast.BinOp] = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        operands = [self.read(chain[-1].left, depth + 1)]
        for step in reversed(chain):
            right = self.read(step.right, depth + 1)
            if isinstance(step.op, ast.Add | ast.Sub):
                operands.append(right if isinstance(step.op, ast.Add) else neg(right))
            else:
                operands = [self._operator(step, step.op, [total(operands), right])]
        return total(operands)

    def _comparison(self, node: ast.Compare, depth: int) -> Expr:
        items = [self.read(item, depth + 1) for item in (node.left, *node.comparators)]
        pairs = zip(node.ops, items, items[1:], strict=False)
        return and_(*(self._operator(node, op, [a, b]) for op, a, b in pairs))

    def _call(self, node: ast.Call, name: str, depth: int) -> Expr:
        if name in PYTHON_LEAVES:
            return PYTHON_LEAVES[name](self, node, depth)
        if node.keywords:
            raise self._fail(node, f"{name} takes no keyword arguments")
        if name in _PYTHON_CONSTANTS and not node.args:
            return constant(_PYTHON_CONSTANTS[name])
        if name not in PYTHON_FUNCTIONS:
            raise self._fail(node, f"unknown head {excerpt(name)!r}")
        return apply_node(PYTHON_FUNCTIONS[name], [self.read(arg, depth + 1) for arg in node.args])

    def symbol(self, node: ast.Call, depth: int) -> Expr:
        """`Symbol('s0', positive=True, integer=True)`. The name alone says whether it is a float."""
        match node.args, {keyword.arg: keyword.value for keyword in node.keywords}:
            case [ast.Constant(value=str() as name)], assumptions if all(map(_is_flag, assumptions.values())):
                symbol = symbol_node(name)
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
        if value is None or integer_of(value) is None:
            raise self._fail(node, "malformed Integer")
        return value

    def float(self, node: ast.Call, depth: int) -> Expr:
        """`Float('0.10000000000000001', precision=53)`."""
        match node.args, [keyword.arg for keyword in node.keywords]:
            case [ast.Constant(value=str() | int() | float() as value)], [] | ["precision"]:
                try:
                    return constant(float(value))
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
        return apply_node("piecewise", parts)


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


PYTHON_LEAVES: dict[str, Callable[[_PythonReader, ast.Call, int], Expr]] = {
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
        return constant_text(value)
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
    if expr.head == "pow" and integer_of(expr.args[1]) is None:
        return "PowByNatural"
    if expr.head == "truediv" and expr.args[0].kind == "float":
        return "FloatTrueDiv"
    if expr.head == "where" and expr.kind == "bool":
        return "ITE"
    if expr.head == "mod":
        ranges = dict.fromkeys(plain, (None, None))
        (dividend, _), (divisor, _) = (bounds_of(arg, ranges) for arg in expr.args)
        return "Mod" if dividend >= 0 and divisor > 0 else "PythonMod"
    return _SREPR[expr.head]
