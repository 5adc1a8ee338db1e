"""The IR syntax of expressions, `(s53 - 1) floordiv 2 + 1`: reading it. Nodes print themselves."""

from __future__ import annotations

import re
from functools import lru_cache

from xdsl_exir.dialects.expr.functions import neg, total
from xdsl_exir.dialects.expr.limits import MAX_BITS, MAX_DEPTH, MAX_LENGTH, ExprError, ExprLimitError, excerpt
from xdsl_exir.dialects.expr.nodes import (
    CONSTANTS,
    FUNCTIONS,
    INFIX,
    Dim,
    Expr,
    apply_node,
    as_dim,
    constant,
    symbol_node,
)


def scan(text: str, pos: int = 0) -> tuple[Dim, int]:
    """Read the longest expression at `text[pos:]` in the IR syntax: (expression, position after it).

    Raises ExprError with the position.
    """
    parser = _Parser(text, pos)
    return as_dim(parser.expression(1, 0)), parser.end


_TOKEN = re.compile(
    r"\s*(?:(?P<float>\d+(?:\.\d*(?:[eE][-+]?\d+)?|[eE][-+]?\d+))|(?P<int>\d+)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<op>[-+*(),]))",
    re.ASCII,
)
_OPENING = re.compile(r"\s*\(")
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
        return ExprError(f"{message} at position {self.end} of {excerpt(self.text[self.start :])!r}")

    def _expect(self, token: str) -> None:
        if self.token != token:
            raise self.fail(f"expected {token!r}")
        self._consume()

    def expression(self, least: int, depth: int) -> Expr:
        """Operands joined by operators of at least that precedence. Sums are made at once, or they would be quadratic."""
        operands = [self._operand(depth)]
        while self.token in INFIX and INFIX[self.token][1] >= least:
            function, precedence = INFIX[self._consume()]
            right = self.expression(precedence + 1, depth)
            if precedence == 1:
                operands.append(right if function == "add" else neg(right))
            else:
                operands = [apply_node(function, (total(operands), right))]
        return total(operands)

    def _operand(self, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise ExprLimitError(f"expression nested deeper than {MAX_DEPTH} at position {self.end}")
        if self.token == "-":
            self._consume()
            return neg(self._operand(depth + 1))
        if self.token == "(":
            self._consume()
            inner = self.expression(1, depth + 1)
            self._expect(")")
            return inner
        if self.kind == "name":
            return self._name(depth)
        if self.kind == "float":
            return constant(float(self._consume()))
        if self.kind == "int" and len(self.token) <= _DIGITS:
            return constant(int(self._consume()))
        raise self.fail("expected an expression" if self.kind != "int" else "integer too large")

    def _name(self, depth: int) -> Expr:
        name = self.token
        called = _OPENING.match(self.text, self.next)
        if called and name not in FUNCTIONS:
            raise self.fail(f"unknown function {excerpt(name)!r}")
        if not called and name in INFIX:
            raise self.fail(f"expected an operand before {name!r}")
        self._consume()
        if not called:
            return constant(CONSTANTS[name]) if name in CONSTANTS else symbol_node(name)
        self._consume()
        args = [self.expression(1, depth + 1)]
        while self.token == ",":
            self._consume()
            args.append(self.expression(1, depth + 1))
        self._expect(")")
        return apply_node(name, args)


@lru_cache(maxsize=4096)
def parse(text: str) -> Expr:
    parser = _Parser(text, 0)
    expr = parser.expression(1, 0)
    if text[parser.end :].strip():
        raise parser.fail("expected the end of the expression")
    return expr


RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def condition_text(condition: Expr) -> str:
    """A condition as Python would write it."""
    if condition.head not in RELATIONS:
        return str(condition)
    left, right = condition.args
    return f"{left} {RELATIONS[condition.head]} {right}"
