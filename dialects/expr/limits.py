"""How deep, long and large expressions may be: their texts come from files. Errors of expressions."""

from __future__ import annotations

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


def excerpt(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
