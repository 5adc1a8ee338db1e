"""Every error xdsl-exir raises on purpose. Anything else that escapes is a bug."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.utils.exceptions import PassFailedException


class ExirError(Exception):
    """Root of all errors of xdsl-exir. The text names what is wrong and where, and may be shown on a terminal."""

    place = ""
    """The operation that was running, and its line of Python."""

    def name_place(self, place: str) -> None:
        """Says where it happened, if it does not say so."""
        self.place = self.place or place

    def __str__(self) -> str:
        from xdsl_exir.limits import LIMITS
        from xdsl_exir.names import printable

        text = super().__str__()
        if len(text) > LIMITS.message:
            text = f"{text[: LIMITS.message]}... ({len(text) - LIMITS.message} characters more)"
        return printable(f"{text} (in {self.place})" if self.place else text)


class LoadError(ExirError):
    """A file or program that cannot be read: damaged, hostile, or of a form the importers do not know."""


class SpecError(ExirError):
    """An operator specification that does not parse or contradicts itself."""


class VerificationError(ExirError, PassFailedException):
    """A program that breaks the rules of its stage. Lists every violation with its location.

    It is one of xDSL's errors too, so that `xdsl-opt --verify-diagnostics` shows it as it does its own.
    """


class ToolchainError(ExirError):
    """A tool that native code needs is missing, or refused what it was given (its message follows)."""


class InputError(ExirError):
    """Inputs that do not fit a program's signature: their number, structure, dtype, shape or range."""


@dataclass(frozen=True)
class Unsupported:
    """One thing in the way: an operator, why it is in the way, and the source line it came from."""

    operator: str
    reason: str
    location: str = ""

    def __str__(self) -> str:
        at = f" ({self.location})" if self.location else ""
        return f"{self.operator}: {self.reason}{at}"


class UnsupportedError(ExirError, NotImplementedError):
    """Lists every operator and dtype that stands in the way, before any work is done."""

    def __init__(self, items: Sequence[Unsupported]):
        self.items = tuple(items)
        super().__init__("unsupported: " + "; ".join(dict.fromkeys(str(item) for item in items)))

    def name_place(self, place: str) -> None:
        if not all(item.location for item in self.items):
            super().name_place(place)


class UnsupportedTensorError(UnsupportedError, LoadError):
    """A program with tensors of a dtype or layout that the IR does not have. `at` says where they are."""

    def __init__(self, what: str, at: str):
        super().__init__([Unsupported(what, "the IR has no such tensors", at)])
        self.args = (": ".join(part for part in (at, f"{what} is not supported") if part),)
