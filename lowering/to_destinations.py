"""`to-destinations`: an edge program as drivers over memrefs, and the dispatches that they call.

A driver is a function of a method's inputs, constants and outputs, in destination-passing style (`lowering.driver`); what is in between it
allocates. How the method is called is in the driver's attributes (`lowering.method_plans`). Dispatches are private functions of linalg on tensors between
memrefs. Those for which there is a kernel say so: its code takes the body's place when the program is compiled.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.lowering.checks import take_checks
from xdsl_exir.lowering.dispatch import Dispatches, Planner
from xdsl_exir.lowering.dispatches.boundaries import Boundaries, take_boundaries
from xdsl_exir.lowering.dispatches.outline import Body
from xdsl_exir.lowering.driver import calls_of
from xdsl_exir.lowering.expand_kernels import KERNEL
from xdsl_exir.lowering.kernel import Kernel
from xdsl_exir.lowering.method_plans import PlannedCall, keep_plan
from xdsl_exir.lowering.preparation import COUNTED, PLAIN
from xdsl_exir.lowering.target import CodeTarget
from xdsl_exir.program import methods_of, state_of
from xdsl_exir.transforms.fold_constants import constant_arguments, input_of
from xdsl_exir.transforms.forget_sizes import ForgetSizes


@dataclass(frozen=True)
class ToDestinations(ModulePass):
    """Cuts the methods of an edge program into dispatches, for a target: those that it has, if `form-dispatches` made them.

    Raises `UnsupportedError` listing everything that cannot be lowered; then nothing is changed.
    """

    name = "to-destinations"

    @property
    @abstractmethod
    def target(self) -> CodeTarget:
        """What the code is for."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        module, originals, target = op.clone(), methods_of(op), self.target
        boundaries = prepare(ctx, module, target)
        dispatches, state = Dispatches(), state_of(ctx)
        checks = take_checks(module, state)
        methods = methods_of(module)
        constants = {name: constant_arguments(module, method, state) for name, method in methods.items()}
        calls = {
            name: PlannedCall(
                Planner(method, constants[name], target, dispatches, boundaries).run(name),
                passed(method, constants[name]),
                checks[name],
            )
            for name, method in methods.items()
        }
        drivers = [call.plan.driver for call in calls.values()]
        old, new = op.body.block, Block([*functions_of(dispatches, drivers, target), *drivers])
        for taken in {t for name, method in methods.items() for t in targets(method, constants[name])}:
            state.pop(taken, None)
        for name, call in calls.items():
            keep_plan(call, originals[name], state)
        op.body.insert_block(new, 0)
        op.body.erase_block(old)


def prepare(ctx: Context, module: ModuleOp, target: CodeTarget) -> Boundaries:
    """Makes an edge program ready for being planned; which dispatches its operators are part of already."""
    target.forms.apply(ctx, module)
    boundaries = take_boundaries(module)
    for each in (PLAIN, COUNTED, ForgetSizes()):
        each.apply(ctx, module)
    return boundaries


def passed(method: func.FuncOp, constants: Container[SSAValue]) -> list[int]:
    """Positions of the arguments of a method at edge that its driver takes as inputs."""
    args = enumerate(method.args)
    return [at for at, arg in args if arg not in constants and is_tensor_type(arg.type)]


def targets(method: func.FuncOp, constants: Container[SSAValue]) -> set[str]:
    """The names of the state that constant arguments are: drivers have constants of their own."""
    pairs = zip(method.args, method.arg_attrs or (), strict=False)
    specs = [input_of(attrs) for arg, attrs in pairs if arg in constants]
    return {spec.target for spec in specs if spec is not None}


def functions_of(
    dispatches: Dispatches, drivers: Sequence[func.FuncOp], target: CodeTarget
) -> list[func.FuncOp]:
    """The dispatches that drivers call, in order: those that have a kernel of the target say so, with its description."""
    bodies = {function.sym_name.data: function for function in dispatches.functions.values()}
    kernels = dispatches.kernels
    found: list[func.FuncOp] = []
    for name in dict.fromkeys(name for driver in drivers for name in calls_of(driver)):
        kernel = kernels.get(name)
        made = bodies[name] if kernel is None else dispatch_of(kernel, name, dispatches.bodies[kernel])
        made.properties["sym_visibility"] = StringAttr("private")
        if kernel is not None:
            made.attributes[KERNEL] = target.described(kernel)
        found.append(made)
    return found


def dispatch_of(kernel: Kernel, name: str, body: Body | None) -> func.FuncOp:
    """The dispatch of a kernel: a declaration where its operators cannot be said in terms of what the kernel takes."""
    if body is not None:
        return body.function(kernel, name)
    return func.FuncOp.external(name, [*[IndexType()] * len(kernel.symbols), *kernel.types.values()], [])
