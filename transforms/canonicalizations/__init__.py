"""Canonicalizations: what can be said more simply, a small function for each operator, in the family's file.

    @canonicalization("aten.permute")
    def permute(aten: Namespace, self: SSAValue, dims: list[int]) -> Results:
        return self if dims == sorted(dims) else KEEP

Functions are as decompositions are (`transforms/decompositions/`): they get the namespace to build with and the
arguments that they name (`out` are the types of the results, `op` is the operation), serve `aten` and `edge` alike, and return what the operator's call returns, or `KEEP`. A value
of another type than the operator's result counts as `KEEP`, so a rule that gives an operand back need not compare dtypes and sizes: types, with
their orders of dimensions and their devices, never change. The stock pass `canonicalize` applies them.

**A rule changes no bit of a result**, whatever the dtype, the size and the numbers are, NaN, infinities, zeros of either sign and
overflow included, but for which NaN it is: that nobody promises. What does, stands in `transforms/fastmath.py`, under the flags of MLIR.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xdsl_exir.dialects.registry import Registry
from xdsl_exir.transforms.patterns import EXTRAS, KEEP

F = TypeVar("F", bound=Callable[..., Any])

CANONICALIZATIONS: Registry[Callable[..., Any]] = Registry(
    "canonicalization", __name__, leading=1, extras=EXTRAS
)


def canonicalization(*names: str) -> Callable[[F], F]:
    """Registers the canonicalization of the operators named."""
    return CANONICALIZATIONS.register(*names)


__all__ = ["CANONICALIZATIONS", "KEEP", "canonicalization"]
