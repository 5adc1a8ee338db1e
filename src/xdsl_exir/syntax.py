"""Python's syntax, as files hold it: parsed, never run."""

from __future__ import annotations

import ast
import warnings


def parse_module(text: str) -> ast.Module:
    """Statements. Raises `SyntaxError`, `ValueError`, `RecursionError` and `MemoryError`, as `ast.parse` does."""
    with _quiet():
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """An expression. Raises as `parse_module` does."""
    with _quiet():
        return ast.parse(text, mode="eval").body


def _quiet() -> warnings.catch_warnings[None]:
    """Python warns of what somebody else wrote: of escapes that it does not know, of `1is x`."""
    return warnings.catch_warnings(action="ignore")
