"""`expand-kernels`: dispatches that have a kernel become functions of scf, vector and omp operations.

What a dispatch declares is compared with what its kernel takes; only what is not in a cache of objects is expanded when a program is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.errors import VerificationError
from xdsl_exir.lowering.schedules.attributes import kernel_of

KERNEL = "exir.kernel"
"""The attribute of declared functions that describes the kernel which stands for them."""


@dataclass(frozen=True)
class ExpandKernels(ModulePass):
    """Gives declared functions with `exir.kernel` their bodies.

    Raises `VerificationError` for a description of no kernel, and where the kernel takes other types than are declared."""

    name = "expand-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in list(op.body.block.ops):
            if isinstance(function, FuncOp) and KERNEL in function.attributes:
                Rewriter.replace_op(function, expanded(function))


def expanded(function: FuncOp) -> FuncOp:
    """A declared function with its body."""
    name = function.sym_name.data
    kernel = kernel_of(function.attributes[KERNEL])
    made = kernel.function(name)
    if made.function_type != function.function_type:
        raise VerificationError(
            f"'{name}' is declared to be {function.function_type}, its kernel is {made.function_type}"
        )
    return made
