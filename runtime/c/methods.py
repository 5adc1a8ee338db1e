"""Where the arrays of a C library are, and what a call does with them: its steps.

Arrays are the caller's, or lie in the weights file, in the instance's memory, which outlives calls, in the arena, which methods
share, or in memory that the instance keeps for what one step makes and a later one takes. A method that is native throughout is one step and
copies; the steps of one in pieces are made in `pieces`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, Expr, max_
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import (
    INPUT,
    MUTATIONS,
    OUTPUT,
    InputAttr,
    InputKind,
    InputSpec,
    OutputAttr,
    OutputKind,
    OutputSpec,
    written_inputs,
)
from xdsl_exir.dialects.sizes import symbols_of
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    SymFloatType,
    SymIntType,
    SymType,
    is_tensor_type,
    tensor_meta,
)
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.lowering import plan_memory
from xdsl_exir.lowering.dispatch import Array, Value, symbol_places
from xdsl_exir.lowering.sizes import Sizes, static
from xdsl_exir.names import c_name
from xdsl_exir.program import Program
from xdsl_exir.runtime.c.interface import (
    C_TYPES,
    Assertion,
    Copy,
    Delegate,
    Drive,
    Give,
    Hold,
    Number,
    Parameter,
    Place,
    Requirement,
    Step,
    Symbol,
)
from xdsl_exir.runtime.c.requirements import (
    ASSERTIONS,
    asserted,
    input_sizes,
    memory_sizes,
    obstacle,
    requirements_of,
    result_sizes,
)
from xdsl_exir.runtime.c.weights import Weights, aligned
from xdsl_exir.runtime.guards import name_of, place_text
from xdsl_exir.runtime.native import NativeCall

Like = Value | Place
"""Of a shape and a dtype."""


class Memory:
    """What a library's methods share."""

    def __init__(self, program: Program):
        self.program = program
        self.weights = Weights()
        self.state: dict[str, Place] = {}
        """Buffers that calls change, by name."""
        self.initial: list[tuple[Place, Place]] = []
        """Places of the state and of its initial values."""
        self.memory = 0
        """Bytes of the state."""
        self.delegates: list[Delegate] = []

    def constant(self, array: Array, like: Like) -> Place:
        """A constant in the weights file."""
        return Place("instance.weights", self.weights.add(array), like.shape, like.dtype)

    def state_place(self, target: str, like: Like) -> Place:
        """A buffer that calls change. Raises `ExirError` where the program has no data for it."""
        if target not in self.state:
            if target not in self.program.state:
                raise ExirError(f"the program has no data for '{target}'")
            place = Place("instance.memory", self.memory, static(like.shape), like.dtype)
            self.memory += aligned(*static([place.nbytes]))
            self.state[target] = place
            self.initial.append((place, self.constant(self.program.state[target].numpy(), like)))
        return self.state[target]

    def delegate(self, backend: str, specs: Mapping[str, str], blob: Array) -> int:
        """The number of a delegate; equal ones are one."""
        place = Place("instance.weights", self.weights.add(blob), (blob.size,), dt.Byte)
        found = Delegate(backend, tuple(sorted(specs.items())), place)
        if found not in self.delegates:
            self.delegates.append(found)
        return self.delegates.index(found)


class MethodMemory:
    """Places of a method's arrays, its interface, and the steps of a call, on one processor."""

    def __init__(self, owner: Memory, method: FuncOp):
        """Raises `ExirError` for what C has no type or name for, `UnsupportedError` for what it has no form of."""
        self.owner = owner
        self.method = method
        types = method.function_type.inputs.data
        self.inputs: list[InputSpec] = signature(
            method.arg_attrs, INPUT, InputSpec(InputKind.USER_INPUT), len(types)
        )
        count = len(method.function_type.outputs)
        self.results: list[OutputSpec] = signature(
            method.res_attrs, OUTPUT, OutputSpec(OutputKind.USER_OUTPUT), count
        )
        self.symbols = symbol_places(types)
        self.parameters: dict[str, Parameter] = {}
        self.taken = set[str]()
        """Their names, in capitals."""
        self.steps: list[Step] = []
        self.requirements: list[Requirement] = []
        self.scratched: Dim = 0
        """Bytes taken so far of the arena."""
        self.holds, self.idle, self.slots = itertools.count(), list[int](), 0
        """Names for what is held; slots that nobody needs any more; how many there are."""
        self.refuse_numbers()
        self.writes = written_inputs(self.inputs, self.results)
        """By result, the position of the argument that it is the new value of."""
        self.given = self.declare_inputs()
        self.wanted = self.declare_results()

    # --- the interface

    def refuse_numbers(self) -> None:
        """Raises `UnsupportedError` for numbers that are passed in no form."""
        name = self.method.sym_name.data
        found = [
            Unsupported(name, f"{name_of(spec.target)} is a number of type {type}")
            for type, spec in zip(self.method.function_type.inputs, self.inputs, strict=True)
            if not is_tensor_type(type) and not isinstance(type, SymIntType)
        ]
        results = self.method.function_type.outputs
        found += [
            Unsupported(name, f"the result {type}") for type in results if isinstance(type, SymFloatType)
        ]
        if found:
            raise UnsupportedError(found)

    def declare_inputs(self) -> dict[int, Place]:
        """Places of the arrays that a call is given, by position among the method's arguments."""
        places: dict[int, Place] = {}
        for position, (type, spec) in enumerate(
            zip(self.method.function_type.inputs, self.inputs, strict=True)
        ):
            if spec.kind is InputKind.USER_INPUT and is_tensor_type(type):
                name, what = f"in_{spec.target or position}", name_of(spec.target or f"argument {position}")
                places[position] = self.parameter(name, type, what, position in self.writes)
        return places

    def declare_results(self) -> list[Place | Parameter | None]:
        """For each result where the caller wants it: an array, a parameter that is set, or not at all."""
        names = (f"out{index}" for index in itertools.count())
        wanted: list[Place | Parameter | None] = []
        for type, spec in zip(self.method.function_type.outputs, self.results, strict=True):
            comment = spec.kind.value.replace("_", " ")
            if isinstance(type, SymType):
                dtype = dt.Bool if isinstance(type, SymBoolType) else dt.Long
                wanted.append(self.declare(next(names), (), dtype, f"{comment}, {type.data}"))
            elif spec.kind in MUTATIONS:
                wanted.append(None)
            elif is_tensor_type(type) and symbols_of(tensor_meta(type).shape) <= self.symbols.keys():
                wanted.append(self.parameter(next(names), type, comment, True))
            else:
                meta = tensor_meta(type)
                comment = f"{comment}, which stays in memory of the library's until the next call"
                wanted.append(self.declare(next(names), meta.shape, meta.dtype, comment, given=True))
        return wanted

    def parameter(self, wanted: str, type: Attribute, comment: str, written: bool) -> Place:
        """An array of the caller's, under a name of its own."""
        meta = tensor_meta(type)
        name = self.declare(wanted, meta.shape, meta.dtype, comment, written).name
        return Place(name, 0, meta.shape, meta.dtype)

    def declare(
        self,
        wanted: str,
        shape: Sizes,
        dtype: DType,
        comment: str,
        written: bool = True,
        given: bool = False,
    ) -> Parameter:
        """A new parameter of the C function."""
        if dtype not in C_TYPES:
            raise ExirError(f"{comment}: C has no type for {dtype.torch_name}")
        name = c_name(wanted, self.taken)
        self.parameters[name] = Parameter(name, shape, dtype, written, comment, given)
        return self.parameters[name]

    def c_symbols(self) -> list[Symbol]:
        """What the caller passes for the symbols."""
        return [
            Symbol(
                symbol,
                symbol if re.fullmatch(r"s\d+", symbol) else f"size_{symbol}",
                place_text(self.inputs[place.argument].target, place.dim)
                + ("" if place.is_symbol else f" is {place.size}"),
            )
            for symbol, place in self.symbols.items()
        ]

    # --- places

    def input(self, position: int, like: Like) -> Place:
        """Where what the method is given, or has, lies: no constant."""
        if position in self.given:
            return self.given[position]
        return self.owner.state_place(self.inputs[position].target, like)

    def scratch(self, like: Like) -> Place:
        """Memory for what lives during a step alone."""
        place = Place("instance.arena", self.scratched, like.shape, like.dtype)
        self.scratched = self.scratched + plan_memory.aligned(place.nbytes)
        return place

    def hold(self, like: Like) -> tuple[Place, int]:
        """Memory for what later steps take; and its slot, to give back when nobody needs it (`release`)."""
        slot = self.idle.pop() if self.idle else self.slots
        self.slots = max(self.slots, slot + 1)
        place = Place(f"held{next(self.holds)}", 0, like.shape, like.dtype)
        self.steps.append(Hold(place.base, slot, place.nbytes))
        return place, slot

    def release(self, slot: int) -> None:
        """What was held is not needed any more."""
        self.idle.append(slot)

    # --- steps

    def drive(self, call: NativeCall, inputs: Sequence[Place], outputs: Sequence[Place]) -> None:
        """Calls native code, whose arena and what else is scratched lie in the arena, and does what its caller has to. Raises `UnsupportedError`
        for a check that has no form in C, and for sizes that native code reads itself: of a program at edge it is C that reads them."""
        plan, made = call.plan, list(outputs)
        found = [reason for check in call.checks if (reason := obstacle(check)) is not None]
        found += [
            Unsupported(symbol, "is read in native code: C takes the program as it was at edge")
            for symbol in plan.reads
        ]
        if found:
            raise UnsupportedError(found)
        looked_at = [self.scratch(value) for value in plan.outputs[len(made) :]]
        made += looked_at
        constants = [self.owner.constant(array, value) for value, array in plan.constants]
        arena = Place("instance.arena", 0, (max_(plan.arena_bytes, 1),), dt.Char)
        self.steps.append(
            Drive(
                call.entry,
                [Expr.symbol(symbol) for symbol in plan.symbols],
                [*inputs, *constants, *made, arena],
                self.scratched,
            )
        )
        for index, source in plan.copies:
            if not isinstance(source, int):
                place = self.owner.constant(source, plan.outputs[index])
            else:
                place = inputs[source] if source >= 0 else made[-1 - source]
            self.steps.append(Copy(made[index], place))
        self.steps += [assertion(check, place) for check, place in zip(call.checks, looked_at, strict=True)]

    def begin(self, call: NativeCall) -> None:
        """What is scratched from here on lies behind the arena of this native code."""
        self.scratched = plan_memory.aligned(call.plan.arena_bytes)

    def whole(self, call: NativeCall) -> None:
        """The steps of a method that is native throughout."""
        plan = call.plan
        self.begin(call)
        results, made = list[Place | Dim](), list[Place]()
        inputs = [self.input(p, value) for p, value in zip(call.passed, plan.inputs, strict=True)]
        values = iter(plan.outputs)
        for position, wanted in enumerate(self.wanted):
            if position in plan.numbers:
                results.append(plan.numbers[position])
            elif position in plan.updates:
                results.append(inputs[plan.updates[position]])
            else:
                value = next(values)
                made.append(wanted if isinstance(wanted, Place) else self.scratch(value))
                results.append(made[-1])
        self.drive(call, inputs, made)
        self.finish(results)
        shapes = (value.shape for value in plan.outputs)
        sizes = [*input_sizes(self.method, self.inputs), *result_sizes(shapes), *memory_sizes(plan)]
        self.requirements = requirements_of(self.method, self.inputs, self.symbols, sizes, {}) + asserted(
            plan
        )

    def finish(self, results: Sequence[Place | Dim]) -> None:
        """Puts results where they are wanted. State and inputs are written last: until then they are what they were."""
        last: list[Step] = []
        for wanted, at, result in zip(self.wanted, self.writes, results, strict=True):
            if isinstance(wanted, Parameter):
                if isinstance(result, Place):
                    self.steps.append(Give(wanted, self.settled(result)))
                else:
                    self.steps.append(Number(wanted.name, result))
            elif isinstance(wanted, Place):
                assert isinstance(result, Place)
                if result != wanted:
                    self.steps.append(Copy(wanted, result))
            else:
                assert isinstance(result, Place)
                assert at is not None
                target = self.input(at, result)
                if target != result:  # which code that writes where it lies has made
                    last.append(Copy(target, self.settled(result)))
        self.steps += last

    def settled(self, place: Place) -> Place:
        """What lies where a call may write in the end, put elsewhere."""
        if place.base not in ("instance.memory", *(one.base for one in self.given.values())):
            return place
        copy, _ = self.hold(place)
        self.steps.append(Copy(copy, place))
        return copy


def assertion(check: OperatorOp, place: Place) -> Assertion:
    """What a check asserts about an array."""
    relation, text = ASSERTIONS[check.SPEC.qualified_name]
    return Assertion(place, relation, text(check.arguments()))


def signature(attrs: Any, name: str, default: Any, count: int) -> list[Any]:
    """The signature's entry for each argument or result; `default` where there is none."""
    found = [item.data.get(name) for item in attrs or ()] or [None] * count
    return [attr.data if isinstance(attr, InputAttr | OutputAttr) else default for attr in found]
