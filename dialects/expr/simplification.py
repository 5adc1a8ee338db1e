"""What an expression comes to where its symbols are in their ranges: `max(s0, 4)` is `s0` of sizes from 4 on."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.expr.functions import COMPARISONS
from xdsl_exir.dialects.expr.nodes import Dim, Expr, apply_node, as_dim, constant
from xdsl_exir.dialects.expr.proofs import Ranges, bounds_of, provably

_LARGER = {"max": "ge", "min": "le"}
"""How what is picked compares with what is not."""


def simplified(dim: Dim, ranges: Ranges) -> Dim:
    """An expression that has the same value for all values in range (as `provably` reads them), with what is decided there left out."""
    return dim if isinstance(dim, int) else as_dim(_simplified(dim, ranges))


def _simplified(expr: Expr, ranges: Ranges) -> Expr:
    if expr.args:
        args = [_simplified(arg, ranges) for arg in expr.args]
        expr = apply_node(expr.head, _picked(expr.head, args, ranges) if expr.head in _LARGER else args)
    if expr.kind == "bool":
        known = provably(as_dim(expr), ranges)
        return expr if known is None else constant(known)
    low, high = bounds_of(expr, ranges)
    return constant(low) if low == high and isinstance(low, int) else expr


def _picked(head: str, args: Sequence[Expr], ranges: Ranges) -> Sequence[Expr]:
    """The operands of which it is not known that another is picked."""

    def passes(a: Expr, b: Expr) -> bool:
        return provably(as_dim(COMPARISONS[_LARGER[head]](a, b)), ranges) is True

    kept: list[Expr] = []
    for arg in args:
        if not any(passes(other, arg) for other in kept):
            kept = [*(other for other in kept if not passes(arg, other)), arg]
    return kept
