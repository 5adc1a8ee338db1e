"""Names that programs choose, as they are written where something else reads them: a terminal, C.

Names of methods, inputs and modules are any text. MLIR has strings for them, which its printers escape; what we compile has
names of its own instead (`forward0`). In C they stand in comments and in strings (`c_sizes.c_string`).
"""

from __future__ import annotations

import re

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


def printable(text: str) -> str:
    """A text as it may be shown: what is not seen or changes how the rest is seen is escaped as Python does."""
    return _HIDDEN.sub(_escape, text)


def c_comment(line: str) -> str:
    """A line as it may stand in a comment in C, which it cannot end, nor join with the next line: ASCII alone, without
    `*/`, trigraphs and backslashes."""
    escaped = re.sub(r"[^ -\[\]-~]", lambda found: _escape(found).replace("\\", "$"), line)
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", escaped)


def flaw(name: str) -> str | None:
    """Why a name cannot be one in a program; None for nearly all."""
    if len(name) > LIMITS.word:
        return f"a name of {len(name)} characters; at most {LIMITS.word} are read"
    if not name.isascii() and re.search("[\ud800-\udfff]", name):
        return f"the name {name!r} holds half a character"
    return None
