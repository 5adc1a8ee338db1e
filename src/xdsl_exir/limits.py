"""How much of anything a file may hold: one table. Files come from anywhere, and what reads them recurses, or takes time and
memory that grow with what they say, not with their length.

A limit is far above what models have. Where one has more nevertheless, `XDSL_EXIR_LIMITS="nesting=200,rank=100"` raises
it for a process; what then runs out of stack or memory is an error all the same. Limits of expressions, which all that
computes with them is built for, are fixed: `dialects/expr/limits.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

from xdsl_exir.errors import ExirError

VARIABLE = "XDSL_EXIR_LIMITS"
"""The variable of the environment that sets limits."""


@dataclass(frozen=True)
class Limits:
    """The limits by name, each with its value and the reason for it."""

    text_bytes: int = 1 << 29
    """Bytes of a text: MLIR, FX text, an archive's JSON. Reading takes up to 20 times the memory."""
    values: int = 1 << 24
    """Objects, lists and their elements in a JSON text, counted by brackets and commas: each is an object of Python of
    about 60 bytes. A model of 100,000 nodes has 5 million."""
    nesting: int = 100
    """Brackets, regions, attributes and affine expressions in one another: their readers, printers and comparisons
    recurse, a few Python frames a level, and Python has 1,000."""
    word: int = 1024
    """Characters of a name (a value's, an operation's, a symbol's, a node's) and digits of a number. What reads numbers
    is quadratic in their digits."""
    rank: int = 64
    """Dimensions of a tensor. NumPy has no more, and most of PyTorch's kernels do not either."""
    aliases: int = 1 << 26
    """Characters that a text's attribute aliases stand for, where they are used: each may hold two of the one before."""
    splat: int = 1 << 22
    """Elements of a `dense` literal that says one for all: reading makes a list of them."""
    entries: int = 1 << 17
    """Files in an archive. Its directory is read whole."""
    inflated_bytes: int = 1 << 30
    """Bytes that an archive's compressed entries expand to, together. PyTorch compresses none."""
    message: int = 1 << 16
    """Characters of an error's text that are shown."""
    tool_seconds: int = 600
    """Seconds that another program (mlir-opt, the C compiler) may take over a module. Those of the largest models take 20."""
    cache_bytes: int = 1 << 32
    """Bytes of compiled code that are kept for processes to come (`lowering/cache.py`); 0 keeps nothing. A model takes about one million, and what
    `program_bytes` allows."""
    program_bytes: int = 1 << 29
    """Bytes that the code of one program may take in the cache, with the weights that were laid out for it (`runtime/kept_code.py`), and that its
    state may have; with 0, programs are planned anew and only their kernels kept."""


def read_limits(text: str) -> Limits:
    """Limits from `name=value,...`; those not named keep their values. Raises `ExirError` for any other text."""
    known = {field.name for field in fields(Limits)}
    given: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name.strip() not in known or not value.strip().isdecimal() or len(value) > 18:
            raise ExirError(
                f"{VARIABLE}: expected name=number, a name of {', '.join(sorted(known))}; got '{part:.100}'"
            )
        given[name.strip()] = int(value)
    return Limits(**given)


def limits(environment: Mapping[str, str] = os.environ) -> Limits:
    """The limits of this process."""
    return read_limits(environment.get(VARIABLE, ""))


LIMITS = limits()
