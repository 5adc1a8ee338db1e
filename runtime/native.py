"""Native code in process: a program cut into dispatches, compiled by MLIR 22 and LLVM, called through ctypes.

Weights are arguments of the compiled functions: pointers to arrays that were packed when the program was compiled.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.exir import INPUT, MUTATIONS, OUTPUT, InputAttr, InputKind, OutputAttr
from xdsl_exir.errors import Unsupported
from xdsl_exir.lowering.compile import module_object
from xdsl_exir.lowering.dispatch import Array, Dispatches, Plan, Planner, Value
from xdsl_exir.lowering.toolchain import describe, host_machine, load_object
from xdsl_exir.program import Program
from xdsl_exir.runtime.backend import BACKENDS
from xdsl_exir.transforms.partition import InlineDelegates
from xdsl_exir.transforms.verify import stage_of


def as_edge(program: Program) -> Program:
    """The program at edge, with what delegates hold in their place, but for those that a registered backend runs."""
    if stage_of(program.module) != "edge":
        program = program.to_edge()
    has_delegates = any(isinstance(op, DelegateOp) for op in program.module.walk())
    return program.apply(InlineDelegates(keep=tuple(BACKENDS))) if has_delegates else program


def constant_arguments(program: Program, function: FuncOp) -> dict[SSAValue, Array]:
    """Arrays of the arguments that hold state which no call of any method changes."""
    written = {
        attr.data.target
        for method in program.methods.values()
        for attrs in method.res_attrs or ()
        if isinstance(attr := attrs.data.get(OUTPUT), OutputAttr) and attr.data.kind in MUTATIONS
    }
    constants: dict[SSAValue, Array] = {}
    for arg, attrs in zip(function.args, function.arg_attrs or (), strict=False):
        attr = attrs.data.get(INPUT)
        if isinstance(attr, InputAttr) and attr.data.kind is not InputKind.USER_INPUT:
            data = program.state.get(attr.data.target)
            if data is not None and attr.data.target not in written:
                constants[arg] = data.numpy()
    return constants


class NativeMethod:
    """One compiled method: its driver, and the arguments that stay the same from call to call."""

    def __init__(self, plan: Plan, address: int, passed: Sequence[int]):
        self.plan = plan
        self.passed = passed
        """Positions, among the method's arguments, of those that the driver takes."""
        self.arena = np.empty(max(plan.arena_bytes, 1) + 64, np.uint8)
        start = -self.arena.ctypes.data % 64
        self.arena = self.arena[start : start + max(plan.arena_bytes, 1)]
        # Of what changes from call to call only the pointers do.
        self.inputs = [describe(empty(value)) for value in plan.inputs]
        self.outputs = [describe(empty(value)) for value in plan.outputs]
        constants = [array for _, array in plan.constants]
        self.kept = [describe(array) for array in (*constants, self.arena)]
        described = (*self.inputs, *self.kept[:-1], *self.outputs, self.kept[-1])
        self.arguments = [ctypes.c_void_p(ctypes.addressof(one)) for one in described]
        self.function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(described))(address)

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        inputs = [np.ascontiguousarray(values[position]) for position in self.passed]
        outputs = [empty(value) for value in self.plan.outputs]
        for descriptors, arrays in ((self.inputs, inputs), (self.outputs, outputs)):
            for descriptor, array in zip(descriptors, arrays, strict=True):
                descriptor.allocated = descriptor.aligned = array.ctypes.data  # pyright: ignore[reportAttributeAccessIssue]
        self.function(*self.arguments)
        for index, source in self.plan.copies:
            given = (
                source
                if isinstance(source, np.ndarray)
                else inputs[source]
                if source >= 0
                else outputs[-1 - source]
            )
            outputs[index][...] = given.reshape(outputs[index].shape)
        return outputs


def empty(value: Value) -> Array:
    """A fresh array for a result."""
    return np.empty(value.shape, value.dtype.numpy)


@dataclass(frozen=True)
class Planned:
    """A program cut into dispatches: a plan for each method, and what they call."""

    program: Program
    """The program that was cut, at edge."""
    dispatches: Dispatches
    plans: dict[str, Plan]
    passed: dict[str, list[int]]
    """By method, positions among its arguments of those that its driver takes; the others are constants."""


def plan_program(program: Program) -> Planned:
    """Cuts a program into dispatches for this computer, taking it to edge first if it is not there.

    Raises `UnsupportedError` listing everything that cannot be lowered.
    """
    program = as_edge(program)
    machine = host_machine()
    planned = Planned(program, Dispatches(), {}, {})
    for name, function in program.methods.items():
        constants = constant_arguments(program, function)
        planned.plans[name] = Planner(function, constants, machine, planned.dispatches).run()
        planned.passed[name] = [
            position for position, arg in enumerate(function.args) if arg not in constants
        ]
    return planned


class NativeEngine:
    """Runs the methods of a program as native code."""

    fallbacks: Sequence[Unsupported] = ()

    def __init__(self, program: Program):
        planned = plan_program(program)
        self.library = load_object(module_object(planned.dispatches, planned.plans))
        self.methods = {
            name: NativeMethod(plan, self.library.address(name), planned.passed[name])
            for name, plan in planned.plans.items()
        }

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays)."""
        return self.methods[method](values)
