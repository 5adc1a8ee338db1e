"""`expand-kernels`: dispatches that have a kernel become functions of scf, vector and omp operations.

What a dispatch takes is compared with what its kernel takes; only what is not in a cache of objects is expanded when a program is compiled.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects.signature import EXPANDED
from xdsl_exir.errors import VerificationError
from xdsl_exir.lowering.kernel import Kernel, Kernels
from xdsl_exir.lowering.target import CodeTarget

KERNEL = "exir.kernel"
"""The attribute of functions that describes the kernel which stands for them."""


@dataclass(frozen=True)
class ExpandKernels(ModulePass):
    """Gives functions with `exir.kernel` the code of their kernels, in place of what they have for a body.

    Raises `VerificationError` for a description of no kernel, and where the kernel takes other types than the function."""

    name = "expand-kernels"

    @property
    @abstractmethod
    def target(self) -> CodeTarget:
        """Whose kernels they are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = self.target
        for function in list(op.body.block.ops):
            if isinstance(function, FuncOp) and KERNEL in function.attributes:
                Rewriter.replace_op(function, expanded(function, target))


def expanded(function: FuncOp, target: CodeTarget) -> FuncOp:
    """A dispatch as the code of its kernel."""
    kernel = target.kernel(function.attributes[KERNEL])
    check_takes(function, kernel)
    made = kernel.function(function.sym_name.data)
    made.attributes[EXPANDED] = function.attributes[KERNEL]
    return made


def check_takes(function: FuncOp, kernel: Kernel) -> None:
    """Raises `VerificationError` unless a dispatch takes what its kernel does."""
    types = [*[IndexType()] * len(kernel.symbols), *kernel.types.values()]
    if function.function_type != FunctionType.from_lists(types, []):
        raise VerificationError(
            f"'{function.sym_name.data}' is {function.function_type}, its kernel takes ({', '.join(map(str, types))})"
        )


def kernels_in(module: ModuleOp, target: CodeTarget) -> Kernels:
    """The kernels that the functions of a module describe, those that are expanded already too."""
    described = {
        function.sym_name.data: said
        for function in module.ops
        if isinstance(function, FuncOp)
        and (said := function.attributes.get(KERNEL, function.attributes.get(EXPANDED))) is not None
    }
    return lambda name: target.kernel(described[name]) if name in described else None
