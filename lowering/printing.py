"""Operations as text that MLIR's tools read."""

from __future__ import annotations

from io import StringIO

from xdsl.ir import Operation
from xdsl.printer import Printer


def generic_text(op: Operation) -> str:
    """An operation in generic form."""
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(op)
    return stream.getvalue()
