"""Methods whose drivers take memory (`lowering.driver`): what a call of one is around the driver, and their interpretation.

From the arguments of a call come the values of the symbols, from these the sizes of results and arena; the driver writes the
results; what no dispatch makes is copied, what the program checks is checked.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_exir.dialects.expr import Dim, Expr, prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static, symbols_of
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.exchange.arrays import aligned_bytes
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.interpreter import generator_of, make_interpreter, run_function, run_operator
from xdsl_exir.interpreter.memory import check_fits
from xdsl_exir.interpreter.operators.symbolic import AssertionFailed
from xdsl_exir.interpreter.upstream.scalars import numpy_dtype
from xdsl_exir.locations import name_place
from xdsl_exir.lowering.dispatch import Array, Place, Plan
from xdsl_exir.lowering.method_plans import PlannedCall, plan_of
from xdsl_exir.lowering.plan_memory import is_planned
from xdsl_exir.lowering.pools import arenas_of
from xdsl_exir.lowering.preconditions import ASSERT
from xdsl_exir.lowering.reads import at_most
from xdsl_exir.lowering.sizes import solve, static
from xdsl_exir.program import Program
from xdsl_exir.transforms.stages import stage_of


@dataclass(frozen=True)
class Updated:
    """A result that is one of the driver's inputs, which it writes to."""

    at: int


@dataclass(frozen=True)
class Frame:
    """What the values of a program's symbols say about a call."""

    outputs: Sequence[tuple[tuple[int, ...], Any]]
    """Shapes and NumPy dtypes of the results; as vectors, as long as they may be at most, where their sizes are read."""
    apart: Sequence[tuple[int, Dim | Updated]]
    """Results that are no outputs, by position, the first ones first: numbers, and inputs that are written to."""
    arena_bytes: int


class PlannedMethod(ABC):
    """A method whose driver something runs. May be called from any number of threads."""

    def __init__(self, plan: Plan, passed: Sequence[int], checks: Sequence[OperatorOp] = ()):
        self.plan = plan
        self.checks = checks
        """What looks at the last results, which are there for it alone."""
        self.returned = len(plan.outputs) - sum(len(check.operands) for check in checks) - len(plan.reads)
        """How many results come before those."""
        self.cuts = [
            (at, value)
            for at, value in enumerate(plan.outputs)
            if symbols_of(value.shape) & plan.reads.keys()
        ]
        """Results whose sizes are read, by position."""
        self.late = [check for check in plan.checks if symbols_of(check[:1]) & plan.reads.keys()]
        """What is asserted about what is read."""
        self.passed = passed
        """Positions, among the method's arguments, of those that the driver takes."""
        self.updated = [passed[at] for at in plan.updates.values()]
        """Of those, which it writes to."""
        self.turned = [(at, tuple(np.argsort(order))) for at, order in plan.orders.items()]
        """Results whose dimensions the driver has in another order, by position, and how they are turned back."""
        self.frames: dict[tuple[int, ...], Frame] = {}
        for what, values in (("input", plan.inputs), ("result", plan.outputs)):
            for index, value in enumerate(values):
                if is_static(value.shape):
                    shape = static(value.shape)
                    check_fits(f"{what} {index} {shape}", math.prod(shape) * value.dtype.itemsize)

    @abstractmethod
    def drive(
        self, symbols: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array], arena_bytes: int
    ) -> None:
        """Runs the driver, which writes the outputs."""

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        symbols = tuple(find(place, values) for place in self.plan.symbols.values())
        frame = self.frames.get(symbols) or self.frame(symbols)
        inputs = [np.ascontiguousarray(values[position]) for position in self.passed]
        outputs = [np.empty(shape, dtype) for shape, dtype in frame.outputs]
        self.drive(symbols, inputs, outputs, frame.arena_bytes)
        self.repeat(inputs, outputs)
        known = self.cut(symbols, outputs)
        self.turn(outputs)
        looked_at = iter(outputs[self.returned :])
        del outputs[self.returned :]
        for check in self.checks:
            given = tuple(islice(looked_at, len(check.operands)))
            if check.SPEC.qualified_name == ASSERT and given[0].shape == () and given[0]:
                continue  # as nearly always, at no cost
            try:
                run_operator(check, given, RANDOM)
            except ExirError as error:
                name_place(error, check)
                raise
        results: list[Any] = outputs
        for position, given in frame.apart:
            given = inputs[given.at] if isinstance(given, Updated) else evaluated(given, known)
            results.insert(position, given)
        return results

    def cut(self, symbols: Sequence[int], outputs: list[Array]) -> Mapping[str, int]:
        """Takes what was read off the outputs, and makes those whose sizes it says as long as it says. What symbols are then.

        Raises `AssertionFailed` where what is read breaks what the program asserts."""
        first = len(outputs) - len(self.plan.reads)
        names, values = (*self.plan.symbols, *self.plan.reads), (*symbols, *map(int, outputs[first:]))
        known = dict(zip(names, values, strict=True))
        del outputs[first:]
        for condition, message in self.late:
            if not evaluated(condition, known):
                raise AssertionFailed(message)
        for at, value in self.cuts:
            outputs[at] = beginning(outputs[at], [int(evaluated(size, known)) for size in value.shape])
        return known

    def repeat(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Writes the outputs that no dispatch makes."""
        for index, source in self.plan.copies:
            if isinstance(source, np.ndarray):
                given = source
            else:
                given = inputs[source] if source >= 0 else outputs[-1 - source]
            outputs[index][...] = given.reshape(outputs[index].shape)

    def turn(self, outputs: list[Array]) -> None:
        """Sees results with their dimensions as the method has them."""
        for at, order in self.turned:
            outputs[at] = outputs[at].transpose(order)

    def frame(self, values: tuple[int, ...]) -> Frame:
        """What these values of the symbols say.

        Raises `AssertionFailed` where they break what the program asserts.
        """
        symbols = dict(zip(self.plan.symbols, values, strict=True))

        def number(size: Dim) -> int:
            return int(evaluated(size, symbols))

        reads, late = self.plan.reads, dict(self.late)
        for condition, message in self.plan.checks:
            if condition not in late and not number(condition):
                raise AssertionFailed(message)
        shapes = [value.shape for value in self.plan.outputs]
        for at, value in self.cuts:
            shapes[at] = (at_most(prod(value.shape), reads),)
        frame = Frame(
            [
                (tuple(map(number, shape)), value.dtype.numpy)
                for shape, value in zip(shapes, self.plan.outputs, strict=True)
            ],
            sorted(
                [*self.plan.numbers.items()]
                + [(position, Updated(at)) for position, at in self.plan.updates.items()],
                key=lambda each: each[0],
            ),
            max(number(self.plan.arena_bytes), 1),
        )
        for index, (shape, dtype) in enumerate(frame.outputs):
            check_fits(f"result {index} {shape}", math.prod(shape) * np.dtype(dtype).itemsize)
        check_fits("intermediate results", frame.arena_bytes)
        if len(self.frames) >= MOST_FRAMES:
            self.frames.clear()
        self.frames[values] = frame
        return frame


def beginning(room: Array, shape: Sequence[int]) -> Array:
    """The first elements of a vector, in a shape. They are copied if most of the vector is not among them: nobody else needs that."""
    count = math.prod(shape)
    held = room[:count]
    return (held.copy() if 2 * count < room.size else held).reshape(shape)


def evaluated(size: Dim, symbols: Mapping[str, int]) -> Any:
    """A size, or another number, for values of the symbols."""
    return size.evaluate(symbols) if isinstance(size, Expr) else size


def find(place: Place, values: Sequence[Any] | Mapping[int, Any]) -> int:
    """A symbol's value, of arguments by position."""
    value = values[place.argument]
    given = value if place.dim is None else np.shape(value)[place.dim]
    if place.is_symbol:
        return given
    solved = solve(place.size, given)
    assert solved is not None, "the planner takes no other places"
    return solved


RANDOM = Generator(0)
"""Checks draw no numbers: what kernels are called with."""
MOST_FRAMES = 1024
"""Sizes that a method remembers."""


class InterpretedMethod(PlannedMethod):
    """A method whose driver, and what it calls, is run by the interpreter."""

    def __init__(self, method: PlannedCall, interpreter: Interpreter):
        super().__init__(method.plan, method.passed, method.checks)
        plan = method.plan
        self.interpreter = interpreter
        self.constants = [array for _, array in plan.constants]
        self.types = plan.driver.function_type.inputs.data[len(plan.symbols) :]
        """Of the memory that the driver takes."""
        self.arenas = arenas_of(plan.driver) if is_planned(plan.driver) else []

    def drive(
        self, symbols: Sequence[int], inputs: Sequence[Array], outputs: Sequence[Array], arena_bytes: int
    ) -> None:
        known = dict(zip(self.plan.symbols, symbols, strict=True))
        arenas = [aligned_bytes(max(int(evaluated(arena.nbytes, known)), 1)) for arena in self.arenas]
        memory = map(as_memory, (*inputs, *self.constants, *outputs, *arenas), self.types)
        run_function(self.interpreter, self.plan.driver.sym_name.data, (*map(np.int64, symbols), *memory))


def as_memory(array: Array, type: Attribute) -> Array:
    """An array as memory of a type: flat where that does not say its shape."""
    assert isa(type, MemRefType[Attribute])
    held = array.view(numpy_dtype(type.element_type))
    return held.reshape(type.get_shape() if type.has_static_shape() else -1)


class DriverEngine:
    """Runs the methods of a program whose methods are drivers in the interpreter."""

    fallbacks: Sequence[Unsupported] = ()
    hosted: Sequence[Unsupported] = ()

    def __init__(self, program: Program):
        """Raises `UnsupportedError` for a program with the code of kernels."""
        if stage_of(program.module) == "kernels":
            reason = "the interpreter does not run kernels' code: take it as it was planned"
            raise UnsupportedError([Unsupported("a program lowered to kernels", reason)])
        self.interpreter = make_interpreter(program.module)
        self.methods = {
            name: InterpretedMethod(plan_of(driver, program.state), self.interpreter)
            for name, driver in program.methods.items()
        }

    @property
    def generator(self) -> Generator:
        """Where random numbers come from."""
        return generator_of(self.interpreter)

    def reads(self, method: str) -> Collection[int]:
        """Positions of the argument values that it looks at; constants are the driver's own."""
        return self.methods[method].passed

    def updates(self, method: str) -> Collection[int]:
        """Positions of the argument values that it may write to."""
        return self.methods[method].updated

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays)."""
        return self.methods[method](values)
