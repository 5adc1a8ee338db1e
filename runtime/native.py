"""Native code in process: a program cut into dispatches, compiled by MLIR 22 and LLVM, called through ctypes.

Weights are arguments of the compiled functions: pointers to arrays that were packed when the program was compiled.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.meta import as_meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import PLAN, SIGNATURE
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.tensors import TensorMeta, is_tensor_type
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange.arrays import aligned_bytes
from xdsl_exir.interpreter.backend import registered_names
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.lowering.checks import take_checks
from xdsl_exir.lowering.dispatch import Array, Dispatches, Plan, Planner, Value
from xdsl_exir.lowering.dispatches.boundaries import take_boundaries
from xdsl_exir.lowering.dispatches.buffers import contiguous_strides
from xdsl_exir.lowering.edge_to_linalg import depends_on_data
from xdsl_exir.lowering.expand_kernels import kernels_in
from xdsl_exir.lowering.kernel import no_kernels
from xdsl_exir.lowering.method_plans import plan_of
from xdsl_exir.lowering.pack_arguments import ENTRY
from xdsl_exir.lowering.pools import ORDINARY, arenas_of
from xdsl_exir.lowering.preconditions import ASSERT
from xdsl_exir.lowering.preparation import COUNTED, PLAIN
from xdsl_exir.lowering.sizes import static
from xdsl_exir.lowering.slow_paths import slow_paths
from xdsl_exir.lowering.whole import asserted, plan_whole
from xdsl_exir.names import own_name
from xdsl_exir.program import REWRITING, Program, methods_of, signature_of
from xdsl_exir.runtime.drivers import PlannedMethod, find
from xdsl_exir.runtime.linking import describe, entry, load_objects, words_of
from xdsl_exir.runtime.quick import NOWHERE, array_if_tensor, quick
from xdsl_exir.runtime.quick_calls import QuickCall
from xdsl_exir.targets.cpu.compile import (
    Unit,
    llvm_ir_of,
    objects_of,
    plan_arenas,
    units_of,
    units_of_functions,
)
from xdsl_exir.targets.cpu.machine import Processor, processor
from xdsl_exir.targets.cpu.target import Cpu
from xdsl_exir.transforms.fold_constants import constant_arguments, constants_by_position
from xdsl_exir.transforms.forget_sizes import ForgetSizes
from xdsl_exir.transforms.lay_results import LayResults
from xdsl_exir.transforms.partition import InlineDelegates
from xdsl_exir.transforms.stages import EDGE, stage_of


def as_edge(
    program: Program, keep: Collection[str] | None = None, then: Sequence[ModulePass] = ()
) -> Program:
    """The program at edge, with what delegates hold in their place, but for those of the backends to `keep` (by default those that are
    registered), and without wishes for layouts; a new one, which other passes went over `then`."""
    if stage_of(program.module) not in EDGE:
        program = program.to_edge()
    has_delegates = any(isinstance(op, DelegateOp) for op in program.module.walk())
    kept = registered_names() if keep is None else tuple(keep)
    inlined = (InlineDelegates(keep=kept),) if has_delegates else ()
    return program.apply(*inlined, *PLAIN.passes, *then)


class Call:
    """What a call of a method has for itself while it runs: the words that its driver takes, and an arena.

    Of what changes from call to call only numbers and pointers do; of symbolic shape, nothing but the pointer is looked at.
    """

    def __init__(self, plan: Plan, kept: Sequence[int]):
        self.capacity = 0
        """Bytes of the arena."""
        self.memory = aligned_bytes(0)
        self.symbols = len(plan.symbols)
        words = [0] * self.symbols
        self.inputs = lay(words, plan.inputs)
        words += kept
        self.outputs = lay(words, plan.outputs)
        self.arena = len(words)
        """Where in the words this is described, as inputs and outputs are."""
        self.words = words_of(words + describe(self.memory))
        self.at = ctypes.addressof(self.words)

    def bind(
        self, symbols: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array], arena_bytes: int
    ) -> None:
        """Makes the call one on these numbers and arrays, with an arena that is large enough."""
        words = self.words
        words[: self.symbols] = symbols
        for places, arrays in ((self.inputs, inputs), (self.outputs, outputs)):
            for place, array in zip(places, arrays, strict=True):
                words[place] = words[place + 1] = array.ctypes.data
        self.reserve(arena_bytes)

    def reserve(self, arena_bytes: int) -> None:
        """Sees to it that the arena is large enough."""
        words = self.words
        if arena_bytes > self.capacity:
            self.memory = aligned_bytes(arena_bytes)
            self.capacity = arena_bytes
            words[self.arena] = words[self.arena + 1] = self.memory.ctypes.data


def lay(words: list[int], values: Sequence[Value]) -> list[int]:
    """Adds descriptors of arrays to come; gives their places."""
    places: list[int] = []
    for value in values:
        places.append(len(words))
        shape = static(value.shape if is_static(value.shape) else [1])
        words += [0, 0, 0, *shape, *static(contiguous_strides(shape))]
    return places


class NativeMethod(PlannedMethod):
    """One compiled method: its driver, the arguments that stay the same from call to call, and what calls that have ended
    left for the next ones."""

    def __init__(self, plan: Plan, address: int, passed: Sequence[int], checks: Sequence[OperatorOp] = ()):
        super().__init__(plan, passed, checks)
        self.kept = [word for _, array in plan.constants for word in describe(array)]
        self.idle = [Call(plan, self.kept)]
        """Taken and put back by single operations on the list, which need no lock."""
        self.function = entry(address)
        self.entry_address = address

    def drive(
        self, symbols: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array], arena_bytes: int
    ) -> None:
        call = self.take()
        call.bind(symbols, inputs, outputs, arena_bytes)
        self.function(call.words)
        self.put_back(call)

    def take(self) -> Call:
        """What a call has for itself."""
        try:
            return self.idle.pop()
        except IndexError:
            return Call(self.plan, self.kept)

    def put_back(self, call: Call) -> None:
        """Leaves it to later calls."""
        if len(self.idle) < MOST_IDLE:
            self.idle.append(call)

    def quick(
        self,
        types: Sequence[tuple[np.dtype[Any], Sequence[int]]],
        positions: Sequence[int],
        orders: Mapping[int, Sequence[int]],
    ) -> QuickCall | None:
        """A call of the method with a list of arrays (or tensors) of these dtypes and shapes, its arguments at these positions: the results, of which
        some are to lie in an order; or None, where an array is another one, or what the method asserts does not hold. None where the method
        needs more of Python than that. Raises `AssertionFailed` for shapes that break what the program asserts."""
        plan = self.plan
        if plan.numbers or plan.orders != orders:
            return None
        if not all(map(is_assertion, self.checks)):
            return None
        if not set(self.passed) <= set(positions):
            return None
        # Arrays of no memory, of which nothing but the shapes is asked.
        given = {
            at: np.broadcast_to(np.empty((), dtype), shape)
            for at, (dtype, shape) in zip(positions, types, strict=True)
        }
        if any(place.argument not in given for place in plan.symbols.values()):
            return None
        symbols = tuple(find(place, given) for place in plan.symbols.values())
        frame, call = self.frame(symbols), self.take()
        by_position = dict(zip(self.passed, call.inputs, strict=True))
        places = [*(by_position.get(position, NOWHERE) for position in positions), *call.outputs]
        results = [(shape, np.dtype(dtype)) for shape, dtype in frame.outputs]
        self.put_back(call)
        made = [(dtype, shape) for shape, dtype in results]
        run = quick([*types, *made], places, self.entry_address)
        if run is None:
            return None
        count, empty, take, put_back = len(types), np.empty, self.take, self.put_back
        known, arena_bytes, returned = len(symbols), frame.arena_bytes, self.returned
        looked_at = len(results) - len(plan.reads)
        asserts, repeats, turns = returned < looked_at, bool(plan.copies), bool(self.turned)
        cuts = bool(plan.reads)
        taken = [positions.index(position) for position in self.passed] if repeats else []

        def called(inputs: Sequence[Any]) -> list[Any] | None:
            if len(inputs) != count:
                return None
            outputs = [empty(shape, dtype) for shape, dtype in results]
            call = take()
            if known:
                call.words[:known] = symbols
            if arena_bytes > call.capacity:
                call.reserve(arena_bytes)
            done = run(inputs, outputs, call.at)
            put_back(call)
            if not done or (asserts and not all(outputs[returned:looked_at])):
                return None
            if repeats:
                self.repeat([array_if_tensor(inputs[at]) for at in taken], outputs)
            if cuts:
                self.cut(symbols, outputs)
            if asserts:
                del outputs[returned:]
            if turns:
                self.turn(outputs)
            return outputs

        return called


def is_assertion(check: OperatorOp) -> bool:
    """Whether it is an error of a program that one Bool is not set."""
    return check.SPEC.qualified_name == ASSERT and all(as_meta(type) == FLAG for type in check.operand_types)


FLAG = TensorMeta((), dt.Bool)


MOST_IDLE = os.cpu_count() or 1
"""Arenas that a method keeps for calls to come. More calls than that do not run at once for long."""


@dataclass(frozen=True)
class Planned:
    """A program cut into dispatches: a plan for each method, and what they call."""

    program: Program
    """The program that was cut, at edge."""
    dispatches: Dispatches
    plans: dict[str, Plan]
    passed: dict[str, list[int]]
    """By method, positions among its arguments of those that its driver takes; the others are constants."""
    checks: dict[str, list[OperatorOp]]
    """By method, what its caller has to check: its last results are what these look at."""
    cpu: Processor
    """The processor that all this is for."""
    functions: Sequence[FuncOp] | None = None
    """The dispatches of a program that has them as functions."""
    slow: list[Unsupported] = field(default_factory=list[Unsupported])
    """What has no kernel, where that is noticeable."""

    def calls(self, names: Callable[[str], str] = str) -> dict[str, NativeCall]:
        """How each method's code is called; `names` says what its function is called where others see it."""
        return {
            method: NativeCall(self.plans[method], self.passed[method], self.checks[method], names(driver))
            for method, driver in self.drivers.items()
        }

    @property
    def drivers(self) -> dict[str, str]:
        """What the methods' entries are called in the object files."""
        return {method: ENTRY + plan.driver.sym_name.data for method, plan in self.plans.items()}

    @property
    def units(self) -> list[Unit]:
        """What becomes its object files."""
        drivers = [plan.driver for plan in self.plans.values()]
        if self.functions is not None:
            return units_of_functions(self.functions, drivers)
        return units_of(self.dispatches, drivers)

    def objects(self) -> list[bytes]:
        """The program's object files. Raises `ToolchainError` where a tool is missing."""
        return objects_of(self.units, self.cpu)

    def llvm_ir(self) -> list[str]:
        """The program's code in LLVM IR: a module for each dispatch and each driver. Raises as `objects` does."""
        return llvm_ir_of(self.units, self.cpu)


def plan_program(
    program: Program,
    cpu: Processor | None = None,
    suffix: str = "",
    draws: str | None = None,
    laid: bool = False,
) -> Planned:
    """Cuts a program into dispatches for a processor, `processor()` by default, taking it to edge first if it is not there, and plans
    the memory of its methods. With a `suffix`, which their names have, code for several processors may be linked together. With `draws`,
    functions whose names begin so draw random numbers (`lowering.draws`). Results are in row-major order, but if they are to be `laid` as the
    program says (`Plan.orders`).

    Raises `UnsupportedError` listing everything that cannot be lowered.
    """
    match stage_of(program.module):
        case "linalg":
            return plan_linalg(program, cpu or processor(), suffix)
        case "buffers" | "planned" | "kernels":
            return plan_drivers(program, cpu or processor())
        case _:
            pass
    cpu = cpu or processor()
    target = Cpu(cpu, draws)
    counted = COUNTED.passes if depends_on_data(program.module) else ()
    laying = [LayResults()] if laid else []
    program = as_edge(program, then=(*counted, *laying, target.forms, ForgetSizes()))
    checks = take_checks(program.module, program.state, draws is not None)
    boundaries = take_boundaries(program.module)
    planned = Planned(program, Dispatches(suffix), {}, {}, checks, cpu)
    for index, (name, function) in enumerate(program.methods.items()):
        constants = constant_arguments(program.module, function, program.state)
        with REWRITING:
            planner = Planner(function, constants, target, planned.dispatches, boundaries, laid)
            planned.plans[name] = planner.run(driver_name(index, suffix))
            planned.slow.extend(slow_paths(planner.formed))
        planned.passed[name] = [
            position
            for position, arg in enumerate(function.args)
            if arg not in constants and is_tensor_type(arg.type)
        ]
    plan_arenas(list(planned.plans.values()), planned.dispatches.kernels.get)
    return planned


def plan_linalg(program: Program, cpu: Processor, suffix: str) -> Planned:
    """Plans a program whose methods are linalg on tensors: each is one dispatch."""
    planned = Planned(program, Dispatches(suffix), {}, {}, {}, cpu)
    signatures = {name: signature_of(function) for name, function in program.methods.items()}
    for index, (name, function) in enumerate(program.methods.items()):
        constants = constants_by_position(signatures.values(), signatures[name], program.state)
        function, signature, planned.checks[name] = asserted(function, signatures[name])
        planned.plans[name] = plan_whole(
            function, signature, constants, planned.dispatches, driver_name(index, suffix)
        )
        planned.passed[name] = [
            position
            for position, type in enumerate(signature.function_type.inputs)
            if position not in constants and is_tensor_type(type)
        ]
    plan_arenas(list(planned.plans.values()), no_kernels)
    return planned


def plan_drivers(program: Program, cpu: Processor) -> Planned:
    """The plans of a program whose methods are drivers already; memory that is not planned yet is, and what is planned has to be right."""
    module = program.module.clone()
    methods = methods_of(module)
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op not in methods.values()]
    planned = Planned(program, Dispatches(), {}, {}, {}, cpu, functions)
    for index, (name, driver) in enumerate(methods.items()):
        method = plan_of(driver, program.state)
        for attribute in (SIGNATURE, PLAN):
            del driver.attributes[attribute]
        driver.detach()
        driver.properties["sym_name"] = StringAttr(driver_name(index))
        planned.plans[name], planned.passed[name], planned.checks[name] = (
            method.plan,
            method.passed,
            method.checks,
        )
    plan_arenas(list(planned.plans.values()), kernels_in(module, Cpu(cpu)))
    spaces = {arena.pool.space for plan in planned.plans.values() for arena in arenas_of(plan.driver)} - {
        ORDINARY
    }
    if spaces:
        raise UnsupportedError(
            [
                Unsupported(f"memory space {space}", "a processor has space 0 alone")
                for space in sorted(spaces)
            ]
        )
    return planned


def driver_name(index: int, suffix: str = "") -> str:
    """What the function of a method is called. Names of methods may be any text."""
    return own_name(f"forward{index}{suffix}")


@dataclass(frozen=True)
class NativeCall:
    """How a method's code is called."""

    plan: Plan
    passed: Sequence[int]
    """Positions among its arguments of those that its driver takes."""
    checks: Sequence[OperatorOp]
    """What its caller has to check."""
    entry: str
    """The name of its function."""


@dataclass(frozen=True)
class NativeCode:
    """The native code of a program: all that it takes to run it."""

    methods: Mapping[str, NativeCall]
    objects: Mapping[str, bytes]
    """Object files, by the identity of their units."""
    cpu: Processor
    """What they are for, its threads counted."""
    slow: Sequence[Unsupported] = ()
    """What has no kernel, where that is noticeable; of code that was saved nobody says it."""


NOTHING: Mapping[str, bytes] = MappingProxyType({})


def compile_native(program: Program, cpu: Processor, known: Mapping[str, bytes] = NOTHING) -> NativeCode:
    """A program's native code for a processor. Object files that are `known`, by the identity of their units, are not made.

    Raises `UnsupportedError` that lists all that cannot be lowered, `ToolchainError` where a tool is missing."""
    planned = plan_program(program, cpu, laid=True)
    units = {unit.identity: unit for unit in planned.units}
    new = [identity for identity in units if identity not in known]
    made = objects_of([units[identity] for identity in new], cpu) if new else []
    objects = {**known, **dict(zip(new, made, strict=True))}
    return NativeCode(
        planned.calls(),
        {identity: objects[identity] for identity in units},
        cpu.with_threads(cpu.machine().threads),
        planned.slow,
    )


class NativeEngine:
    """Runs the methods of a program as native code for a processor, `processor()` by default.

    Raises `ExirError` where that is one whose code cannot run here."""

    fallbacks: Sequence[Unsupported] = ()
    hosted: Sequence[Unsupported] = ()
    generator: Generator | None = None
    """Of random numbers; it draws none."""

    def __init__(
        self,
        program: Program | NativeCode,
        cpu: Processor | None = None,
        known: Mapping[str, bytes] = NOTHING,
    ):
        if isinstance(program, NativeCode):
            program.cpu.check_runs_here()
            self.code = program
        else:
            cpu = cpu or processor()
            cpu.check_runs_here()
            self.code = compile_native(program, cpu, known)
        self.library = load_objects(list(self.code.objects.values()))
        self.methods = {
            name: NativeMethod(call.plan, self.library.address(call.entry), call.passed, call.checks)
            for name, call in self.code.methods.items()
        }

    @property
    def slow_paths(self) -> Sequence[Unsupported]:
        """The dispatches that have no kernel, where that is noticeable."""
        return self.code.slow

    def reads(self, method: str) -> Collection[int]:
        """Positions of the argument values that it looks at; constants are in the code's own arrays."""
        return self.methods[method].passed

    def updates(self, method: str) -> Collection[int]:
        """Positions of the argument values that it may write to."""
        return self.methods[method].updated

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays)."""
        return self.methods[method](values)

    def quick(
        self,
        method: str,
        types: Sequence[tuple[np.dtype[Any], Sequence[int]]],
        positions: Sequence[int],
        orders: Mapping[int, Sequence[int]],
    ) -> QuickCall | None:
        """`NativeMethod.quick` of a method."""
        return self.methods[method].quick(types, positions, orders)
