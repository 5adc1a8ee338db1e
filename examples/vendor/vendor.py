"""A backend of one's own: what it is given, and the few lines that let the rest of the program run around it.

    python examples/vendor/vendor.py model.pt2

The "accelerator" is a list of NumPy calls. A real one would translate the program to its own format here
(`program.text()`, or on with `program.transform("edge-to-linalg")`), and hand arrays to its driver where this calls NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import xdsl_exir
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.interpreter.interpreter import literal_array

INSTRUCTIONS: dict[str, Callable[..., Any]] = {
    "aten.relu": lambda self: np.maximum(self, 0),
    "aten.addmm": lambda self, mat1, mat2, beta, alpha: beta * self + alpha * (mat1 @ mat2),
}


def compile(program: xdsl_exir.Program) -> Callable[..., Sequence[Any]]:
    """One delegate, an edge program of one method `forward`, as a function on arrays."""
    block = program.method().body.block
    literals = {op.result: literal_array(op) for op in block.ops if isinstance(op, ConstantOp)}
    steps = [(op, INSTRUCTIONS[op.SPEC.qualified_name]) for op in block.ops if isinstance(op, OperatorOp)]
    outputs = program.method().get_return_op().operands

    def run(*inputs: Any) -> Sequence[Any]:
        values = literals | dict(zip(block.args, inputs, strict=True))
        for op, instruction in steps:
            values[op.result] = instruction(**op.arguments(values.__getitem__))
        return [values[output] for output in outputs]

    return run


xdsl_exir.register_backend("vendor", compile)
PARTITION = "partition{backend=vendor ops=" + ",".join(f'"{name}"' for name in INSTRUCTIONS) + "}"


def main(path: str) -> None:
    program = xdsl_exir.load(path).to_edge().transform(PARTITION)
    print(program)
    # Delegates run on the backend, all else natively or in the interpreter.
    run = xdsl_exir.compile(program, "native", fallback="interpreter")
    print(*run.fallbacks, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
