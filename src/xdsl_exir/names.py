"""Names that programs choose, as they are written where something else reads them: a terminal, C.

Names of methods, inputs and modules are any text. MLIR has strings for them, which its printers escape; what we compile has
names of its own instead (`own_name`). In C they stand in comments and in strings (`runtime/c/sizes.c_string`), and functions and
parameters have names made of them (`c_name`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from xdsl_exir.limits import LIMITS

_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""What moves a terminal's cursor, changes the order of what stands beside it, is not seen, or has no bytes in UTF-8. Ends of
lines and tabs are left."""


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def like(name: str, known: Iterable[str]) -> str:
    """What to say to a name that is none of those known: which of them looks most like it, if any does."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.75)
    return f"; is it {close[0]}?" if close else ""


def printable(text: str) -> str:
    """A text as it may be shown: what is not seen or changes how the rest is seen is escaped as Python does."""
    return _HIDDEN.sub(_escape, text)


def c_comment(line: str) -> str:
    """A line as it may stand in a comment in C, which it cannot end, nor join with the next line: ASCII alone, without
    `*/`, trigraphs and backslashes."""
    escaped = re.sub(r"[^ -\[\]-~]", lambda found: _escape(found).replace("\\", "$"), line)
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", escaped)


def own_name(what: str) -> str:
    """The name of a function that we make. It cannot be written in C: no function of another's is called so."""
    return f"exir.{what}"


LONGEST = 128
"""Characters of a name in C and of a file that is called after it."""


def is_c_name(name: str) -> bool:
    """Whether something in C can be called so, behind a prefix."""
    return re.fullmatch(rf"\w{{1,{LONGEST}}}", name, re.ASCII) is not None


def c_name(wanted: str, taken: set[str]) -> str:
    """What C calls something, behind a prefix: `_` stands for each character that it does not take, and a number follows
    where that is taken. Macros are in capitals: so are the names in `taken`, to which the new one is added."""
    name = base = re.sub(r"\W", "_", wanted[:LONGEST], flags=re.ASCII) or "_"
    number = 1
    while name.upper() in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name.upper())
    return name


def flaw(name: str) -> str | None:
    """Why a name cannot be one in a program; None for nearly all."""
    if len(name) > LIMITS.word:
        return f"a name of {len(name)} characters; at most {LIMITS.word} are read"
    if not name.isascii() and re.search("[\ud800-\udfff]", name):
        return f"the name {name!r} holds half a character"
    return None
