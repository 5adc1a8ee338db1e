"""Source locations of operations, as text for error messages."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    NameLoc,
)
from xdsl.ir import Attribute, Operation

from xdsl_exir.errors import ExirError


def location_text(op: Operation) -> str:
    """`model.py:12` of the line that an operation came from; empty where nothing is known."""
    return text_of(op.location)


def text_of(location: LocationAttr | Attribute) -> str:
    """`model.py:12` of a location; empty where it is unknown."""
    match location:
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}"
        case CallSiteLoc():
            return text_of(location.callee)
        case NameLoc():
            return text_of(location.location)
        case FusedLoc(locations=ArrayAttr(data=(Attribute() as first, *_))):
            return text_of(first)
        case _:
            return ""


def name_place(error: Exception, op: Operation) -> None:
    """Says in an error which operation was running: the innermost in the text of ours, each one in notes on others."""
    place = f"{op.name} {location_text(op)}".rstrip()
    if not isinstance(error, ExirError):
        error.add_note(f"in {place}")
    elif not error.place:
        error.place = place


@contextmanager
def errors_at(place: str) -> Generator[None]:
    """Errors inside say that they happened here, where they say nothing more exact."""
    try:
        yield
    except ExirError as error:
        error.name_place(place)
        raise
