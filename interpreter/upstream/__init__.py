"""Running upstream dialects in the interpreter: what a program is made of below edge. A family of dialects a file."""

from __future__ import annotations

from xdsl.interpreter import Interpreter

from xdsl_exir.interpreter.upstream.linalg import LinalgFunctions, NamedFunctions
from xdsl_exir.interpreter.upstream.memory import MemoryFunctions
from xdsl_exir.interpreter.upstream.scalars import ScalarFunctions
from xdsl_exir.interpreter.upstream.structured import StructuredFunctions
from xdsl_exir.interpreter.upstream.tensors import TensorFunctions


def register_upstream(interpreter: Interpreter) -> None:
    """Registers what runs upstream operations."""
    for functions in (
        ScalarFunctions(),
        StructuredFunctions(),
        TensorFunctions(),
        LinalgFunctions(),
        NamedFunctions(),
        MemoryFunctions(),
    ):
        interpreter.register_implementations(functions)
