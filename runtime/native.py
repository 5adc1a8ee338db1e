"""Native code in process: a program cut into dispatches, compiled by MLIR 22 and LLVM, called through ctypes.

Weights are arguments of the compiled functions: pointers to arrays that were packed when the program was compiled.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.errors import ExirError, Unsupported
from xdsl_exir.interpreter.backend import BACKENDS
from xdsl_exir.interpreter.interpreter import run_operator
from xdsl_exir.interpreter.memory import check_fits
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.interpreter.operators.symbolic import AssertionFailed
from xdsl_exir.locations import name_place
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.lowering.compile import Unit, llvm_ir_of, objects_of, plan_arenas, units_of
from xdsl_exir.lowering.dispatch import Array, Dispatches, Place, Plan, Planner, Value
from xdsl_exir.lowering.dispatches.buffers import contiguous_strides
from xdsl_exir.lowering.preconditions import assert_preconditions
from xdsl_exir.lowering.processor import Processor, processor
from xdsl_exir.lowering.sizes import solve, static
from xdsl_exir.lowering.toolchain import ENTRY, describe, entry, load_objects, words_of
from xdsl_exir.lowering.whole import plan_whole
from xdsl_exir.names import own_name
from xdsl_exir.program import REWRITING, Program, signature_of
from xdsl_exir.transforms.fold_constants import constant_arguments, constants_by_position
from xdsl_exir.transforms.forget_sizes import ForgetSizes
from xdsl_exir.transforms.layouts import ForgetLayouts
from xdsl_exir.transforms.partition import InlineDelegates
from xdsl_exir.transforms.verify import stage_of


def as_edge(program: Program) -> Program:
    """The program at edge, with what delegates hold in their place, but for those that a registered backend runs, and
    without wishes for layouts."""
    if stage_of(program.module) != "edge":
        program = program.to_edge()
    has_delegates = any(isinstance(op, DelegateOp) for op in program.module.walk())
    inlined = (InlineDelegates(keep=tuple(BACKENDS)),) if has_delegates else ()
    return program.apply(*inlined, ForgetLayouts())


def is_check(op: Operation) -> bool:
    """Whether an operation only looks at what tensors hold, and raises where that is not right."""
    if not isinstance(op, OperatorOp) or op.results or not op.operands:
        return False
    return LOWERINGS.find(op.SPEC) is None and IMPLS.find(op.SPEC) is not None


def take_checks(function: FuncOp) -> list[OperatorOp]:
    """Takes the checks out of a function, which native code cannot raise for.

    What they look at become further results of the function; who calls it runs them, in order.
    """
    end = function.get_return_op()
    assert end is not None
    checks: list[OperatorOp] = []
    for op in list(function.body.block.ops):
        if isinstance(op, OperatorOp) and is_check(op):
            end.operands = (*end.operands, *op.operands)
            block = Block(arg_types=op.operand_types)
            check = op.clone(dict(zip(op.operands, block.args, strict=True)))
            block.add_op(check)
            checks.append(check)
            op.detach()
            op.erase()
    function.update_function_type()
    return checks


def is_draw(op: Operation) -> bool:
    """Whether an operation draws random numbers."""
    return isinstance(op, OperatorOp) and "random" in op.SPEC.tags


def drop_draws(function: FuncOp) -> None:
    """Drops random numbers that nobody uses: native code has no stream of them that others continue."""
    for op in reversed(list(function.walk())):
        if is_draw(op) and not any(r.uses for r in op.results):
            op.detach()
            op.erase()


def without_checks(program: Program) -> tuple[Program, dict[str, list[OperatorOp]]]:
    """The program without the operators that only look at what tensors hold, and those by method, of which others' demands on
    their operands have become some; without random numbers that nobody uses."""
    program = replace(program, module=program.module.clone())
    for function in program.methods.values():
        drop_draws(function)
        assert_preconditions(function, constant_arguments(program.module, function, program.state))
    return program, {name: take_checks(function) for name, function in program.methods.items()}


@dataclass(frozen=True)
class Frame:
    """What the values of a program's symbols say about a call."""

    outputs: Sequence[tuple[tuple[int, ...], Any]]
    """Shapes and NumPy dtypes of the results."""
    numbers: Sequence[tuple[int, Any]]
    """Results that are numbers, by position, the first ones first."""
    arena_bytes: int


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

    def bind(
        self, symbols: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array], arena_bytes: int
    ) -> None:
        """Makes the call one on these numbers and arrays, with an arena that is large enough."""
        words = self.words
        words[: self.symbols] = symbols
        for places, arrays in ((self.inputs, inputs), (self.outputs, outputs)):
            for place, array in zip(places, arrays, strict=True):
                words[place] = words[place + 1] = array.ctypes.data
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


class NativeMethod:
    """One compiled method: its driver, the arguments that stay the same from call to call, and what calls that have ended
    left for the next ones. May be called from any number of threads."""

    def __init__(self, plan: Plan, address: int, passed: Sequence[int], checks: Sequence[OperatorOp] = ()):
        self.plan = plan
        self.checks = checks
        """What looks at the last results, which are there for it alone."""
        self.returned = len(plan.outputs) - sum(len(check.operands) for check in checks)
        """How many results come before those."""
        self.passed = passed
        """Positions, among the method's arguments, of those that the driver takes."""
        self.frames: dict[tuple[int, ...], Frame] = {}
        self.kept = [word for _, array in plan.constants for word in describe(array)]
        for what, values in (("input", plan.inputs), ("result", plan.outputs)):
            for index, value in enumerate(values):
                if is_static(value.shape):
                    shape = static(value.shape)
                    check_fits(f"{what} {index} {shape}", math.prod(shape) * value.dtype.itemsize)
        self.idle = [Call(plan, self.kept)]
        """Taken and put back by single operations on the list, which need no lock."""
        self.function = entry(address)

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        symbols = tuple(find(place, values) for place in self.plan.symbols.values())
        frame = self.frames.get(symbols) or self.frame(symbols)
        inputs = [np.ascontiguousarray(values[position]) for position in self.passed]
        outputs = [np.empty(shape, dtype) for shape, dtype in frame.outputs]
        try:
            call = self.idle.pop()
        except IndexError:
            call = Call(self.plan, self.kept)
        call.bind(symbols, inputs, outputs, frame.arena_bytes)
        self.function(call.words)
        if len(self.idle) < MOST_IDLE:
            self.idle.append(call)
        for index, source in self.plan.copies:
            given = (
                source
                if isinstance(source, np.ndarray)
                else inputs[source]
                if source >= 0
                else outputs[-1 - source]
            )
            outputs[index][...] = given.reshape(outputs[index].shape)
        looked_at = iter(outputs[self.returned :])
        del outputs[self.returned :]
        for check in self.checks:
            try:
                run_operator(check, tuple(islice(looked_at, len(check.operands))), RANDOM)
            except ExirError as error:
                name_place(error, check)
                raise
        results: list[Any] = outputs
        for position, number in frame.numbers:
            results.insert(position, number)
        return results

    def frame(self, values: tuple[int, ...]) -> Frame:
        """What these values of the symbols say.

        Raises `AssertionFailed` where they break what the program asserts.
        """
        symbols = dict(zip(self.plan.symbols, values, strict=True))

        def number(size: Dim) -> int:
            return int(size.evaluate(symbols)) if isinstance(size, Expr) else size

        for condition, message in self.plan.checks:
            if not number(condition):
                raise AssertionFailed(message)
        frame = Frame(
            [(tuple(map(number, value.shape)), value.dtype.numpy) for value in self.plan.outputs],
            [
                (position, size.evaluate(symbols) if isinstance(size, Expr) else size)
                for position, size in sorted(self.plan.numbers.items())
            ],
            max(number(self.plan.arena_bytes), 1),
        )
        for index, (shape, dtype) in enumerate(frame.outputs):
            check_fits(f"result {index} {shape}", math.prod(shape) * np.dtype(dtype).itemsize)
        check_fits("intermediate results", frame.arena_bytes)
        if len(self.frames) >= MOST_FRAMES:
            self.frames.clear()
        self.frames[values] = frame
        return frame


RANDOM = np.random.default_rng(0)
"""Checks draw no numbers: what kernels are called with."""
MOST_FRAMES = 1024
"""Sizes that a method remembers."""
MOST_IDLE = os.cpu_count() or 1
"""Arenas that a method keeps for calls to come. More calls than that do not run at once for long."""


def aligned_bytes(count: int) -> Array:
    """Bytes that begin at a cache line."""
    memory = np.empty(count + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count]


def find(place: Place, values: Sequence[Any]) -> int:
    """A symbol's value."""
    value = values[place.argument]
    given = value if place.dim is None else np.shape(value)[place.dim]
    if place.is_symbol:
        return given
    solved = solve(place.size, given)
    assert solved is not None, "the planner takes no other places"
    return solved


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

    @property
    def drivers(self) -> dict[str, str]:
        """What the methods' entries are called in the object files."""
        return {method: ENTRY + plan.driver.sym_name.data for method, plan in self.plans.items()}

    @property
    def units(self) -> list[Unit]:
        """What becomes its object files."""
        return units_of(self.dispatches, [plan.driver for plan in self.plans.values()])

    def objects(self) -> list[bytes]:
        """The program's object files. Raises `ToolchainError` where a tool is missing."""
        return objects_of(self.units, self.cpu)

    def llvm_ir(self) -> list[str]:
        """The program's code in LLVM IR: a module for each dispatch and each driver. Raises as `objects` does."""
        return llvm_ir_of(self.units)


def plan_program(program: Program, cpu: Processor | None = None) -> Planned:
    """Cuts a program into dispatches for a processor, `processor()` by default, taking it to edge first if it is not there, and plans
    the memory of its methods.

    Raises `UnsupportedError` listing everything that cannot be lowered.
    """
    if stage_of(program.module) == "linalg":
        return plan_linalg(program, cpu or processor())
    program, checks = without_checks(as_edge(program).apply(ForgetSizes()))
    planned = Planned(program, Dispatches(), {}, {}, checks, cpu or processor())
    machine = planned.cpu.machine()
    for index, (name, function) in enumerate(program.methods.items()):
        constants = constant_arguments(program.module, function, program.state)
        with REWRITING:
            planner = Planner(function, constants, machine, planned.dispatches)
            planned.plans[name] = planner.run(driver_name(index))
        planned.passed[name] = [
            position
            for position, arg in enumerate(function.args)
            if arg not in constants and is_tensor_type(arg.type)
        ]
    plan_arenas(list(planned.plans.values()))
    return planned


def plan_linalg(program: Program, cpu: Processor) -> Planned:
    """Plans a program whose methods are linalg on tensors: each is one dispatch."""
    planned = Planned(program, Dispatches(), {}, {}, {}, cpu)
    signatures = {name: signature_of(function) for name, function in program.methods.items()}
    for index, (name, function) in enumerate(program.methods.items()):
        signature = signatures[name]
        constants = constants_by_position(signatures.values(), signature, program.state)
        planned.plans[name] = plan_whole(
            function, signature, constants, planned.dispatches, driver_name(index)
        )
        planned.passed[name] = [
            position
            for position, type in enumerate(signature.function_type.inputs)
            if position not in constants and is_tensor_type(type)
        ]
        planned.checks[name] = []
    plan_arenas(list(planned.plans.values()))
    return planned


def driver_name(index: int) -> str:
    """What the function of a method is called. Names of methods may be any text."""
    return own_name(f"forward{index}")


class NativeEngine:
    """Runs the methods of a program as native code for a processor, `processor()` by default.

    Raises `ExirError` where that is one whose code cannot run here."""

    fallbacks: Sequence[Unsupported] = ()
    hosted: Sequence[Unsupported] = ()

    def __init__(self, program: Program, cpu: Processor | None = None):
        cpu = cpu or processor()
        cpu.check_runs_here()
        planned = plan_program(program, cpu)
        self.library = load_objects(planned.objects())
        self.methods = {
            name: NativeMethod(
                planned.plans[name], self.library.address(driver), planned.passed[name], planned.checks[name]
            )
            for name, driver in planned.drivers.items()
        }

    def reads(self, method: str) -> Collection[int]:
        """Positions of the argument values that it looks at; constants are in the code's own arrays."""
        return self.methods[method].passed

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays)."""
        return self.methods[method](values)
