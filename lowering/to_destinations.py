"""`to-destinations`: an edge program as drivers over memrefs, and the dispatches that they call.

A driver is a function of a method's inputs, constants and outputs, in destination-passing style (`lowering.driver`); what is in between it
allocates. Dispatches are private functions. Those that MLIR lowers are there with their bodies, linalg on tensors between memrefs;
those that have a kernel of ours are declared: their code is made when the program is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block
from xdsl.passes import ModulePass

from xdsl_exir.lowering.dispatch import Dispatches, Planner
from xdsl_exir.lowering.driver import calls_of
from xdsl_exir.lowering.expand_kernels import KERNEL
from xdsl_exir.lowering.processor import processor
from xdsl_exir.lowering.schedules.attributes import as_attribute
from xdsl_exir.program import methods_of, state_of
from xdsl_exir.transforms.fold_constants import constant_arguments
from xdsl_exir.transforms.forget_sizes import ForgetSizes
from xdsl_exir.transforms.layouts import ForgetLayouts


@dataclass(frozen=True)
class ToDestinations(ModulePass):
    """Cuts the methods of an edge program into dispatches, for this processor.

    Raises `UnsupportedError` listing everything that cannot be lowered; then nothing is changed.
    """

    name = "to-destinations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        module = op.clone()
        for each in (ForgetLayouts(), ForgetSizes()):
            each.apply(ctx, module)
        dispatches, state = Dispatches(), state_of(ctx)
        drivers: list[func.FuncOp] = []
        for name, function in methods_of(module).items():
            constants = constant_arguments(module, function, state)
            drivers.append(Planner(function, constants, processor().machine(), dispatches).run(name).driver)
        old, new = op.body.block, Block([*functions_of(dispatches, drivers), *drivers])
        op.body.insert_block(new, 0)
        op.body.erase_block(old)


def functions_of(dispatches: Dispatches, drivers: Sequence[func.FuncOp]) -> list[func.FuncOp]:
    """The dispatches that drivers call, in order: those that have a kernel of ours are declared, with its description."""
    bodies = {function.sym_name.data: function for function in dispatches.functions.values()}
    kernels, types = {name: kernel for kernel, name in dispatches.scheduled.items()}, dispatches.types
    found: list[func.FuncOp] = []
    for name in dict.fromkeys(name for driver in drivers for name in calls_of(driver)):
        made = bodies.get(name) or func.FuncOp.external(name, types[name], [])
        made.properties["sym_visibility"] = StringAttr("private")
        if name in kernels:
            made.attributes[KERNEL] = as_attribute(kernels[name])
        found.append(made)
    return found
