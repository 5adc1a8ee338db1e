"""Symbolic sizes: the expressions inside `#exir.shape<[...]>` and `!exir.symint<...>`, in one canonical form.

An `Expr` is an immutable tree, equal to another when its text is. Integer arithmetic is kept as an expanded
polynomial over symbols and calls, so equal sums print equally; floor division and modulo are Python's; float
arithmetic is never reassociated, so a value never depends on how an expression was written down. PyTorch's form of the
same expressions (sympy `srepr` text) is read and written without sympy or `eval`; expressions are evaluated, and it is
decided what can be proved about them. Which symbols a program has, and their ranges, is not known here.

Canonicalization assumes no range of any symbol, only that a divisor is not zero. Texts come from files, so nesting,
length and the size of numbers are limited (`limits.py`).
"""

from xdsl_exir.dialects.expr.limits import (
    MAX_BITS,
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_TERMS,
    ExprError,
    ExprLimitError,
)
from xdsl_exir.dialects.expr.nodes import Dim, Expr, apply, as_dim, ceildiv, condition, max_, min_, prod
from xdsl_exir.dialects.expr.polynomial import linear, multiple
from xdsl_exir.dialects.expr.proofs import Ranges, provably, provably_equal
from xdsl_exir.dialects.expr.pytorch import to_srepr, to_str
from xdsl_exir.dialects.expr.simplification import simplified
from xdsl_exir.dialects.expr.syntax import condition_text, scan
from xdsl_exir.dialects.expr.values import Kind

__all__ = [
    "MAX_BITS",
    "MAX_DEPTH",
    "MAX_LENGTH",
    "MAX_TERMS",
    "Dim",
    "Expr",
    "ExprError",
    "ExprLimitError",
    "Kind",
    "Ranges",
    "apply",
    "as_dim",
    "ceildiv",
    "condition",
    "condition_text",
    "linear",
    "max_",
    "min_",
    "multiple",
    "prod",
    "provably",
    "provably_equal",
    "scan",
    "simplified",
    "to_srepr",
    "to_str",
]
