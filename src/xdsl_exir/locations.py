"""Source locations of operations, as text for error messages."""

from __future__ import annotations

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, LocationAttr, NameLoc
from xdsl.ir import Attribute, Operation


def location_text(op: Operation) -> str:
    """`model.py:12` of the line that an operation came from; empty where nothing is known."""
    return _text(op.location)


def _text(location: LocationAttr | Attribute) -> str:
    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}"
        case CallSiteLoc():
            return _text(location.callee)
        case NameLoc():
            return _text(location.location)
        case FusedLoc():
            return _text(location.locations.data[0]) if location.locations.data else ""  # pyright: ignore
        case _:
            return ""
