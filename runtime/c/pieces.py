"""The steps of a method in C that is native in pieces: what stands between them reads numbers out of memory, asserts, or is a delegate's.

A program is split as for this process (`runtime.fallback`). What the interpreter would run there is a step here: types say of nearly
all of it what it computes, in terms of symbols, whose values are read. What else there is, random numbers and LAPACK, has no form in C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp
from xdsl_exir.dialects.expr import Dim, apply
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_symbol, sizes_of, symbols_of
from xdsl_exir.dialects.sym_ops import SymOp
from xdsl_exir.dialects.tensors import SymFloatType, SymType, is_tensor_type, is_value, tensor_meta
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.interpreter.backend import specs_of
from xdsl_exir.interpreter.interpreter import literal_array
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.dispatch import Array
from xdsl_exir.lowering.sizes import is_computable
from xdsl_exir.runtime.c.interface import Delegated, Let, Place, Read, Requirement, Store
from xdsl_exir.runtime.c.methods import MethodMemory, assertion
from xdsl_exir.runtime.c.requirements import (
    ASSERTIONS,
    Ranges,
    asserted,
    input_sizes,
    memory_sizes,
    not_negative,
    obstacle,
    requirements_of,
    result_sizes,
)
from xdsl_exir.runtime.c.sizes import PLACEHOLDER
from xdsl_exir.runtime.fallback import Split
from xdsl_exir.runtime.native import NativeCall
from xdsl_exir.transforms.fold_constants import constant_arguments

F = TypeVar("F", bound=Callable[..., Any])


def refuse_split(cut: Split) -> None:
    """Raises `UnsupportedError` that lists what of a split program has no form in C, whatever its sizes: all but delegates."""
    found = [one for one in cut.fallbacks if one.operator != DelegateOp.name]
    found += [Unsupported(one.operator, f"{one.reason}, in C", one.location) for one in cut.hosted]
    if found:
        raise UnsupportedError(found)


class Pieces:
    """Makes the steps of one method on one processor."""

    def __init__(self, cut: Split, function: FuncOp, memory: MethodMemory, calls: Mapping[str, NativeCall]):
        self.function, self.memory, self.calls = function, memory, calls
        self.state = cut.state
        self.constants = constant_arguments(cut.outer, function, cut.state)
        self.bound = cut.bound[function.sym_name.data]
        self.places: dict[SSAValue, Place] = {}
        self.known = set(memory.symbols)
        """Symbols whose values the steps so far say."""
        self.ranges: Ranges = {}
        self.first: list[Requirement] = []
        """What is asserted about the caller's numbers."""
        self.slots: dict[SSAValue, int] = {}
        """Of values that are held."""
        self.last = last_uses(function.body.block)

    def run(self) -> None:
        """Makes the steps. Raises `UnsupportedError` for what has no form in C."""
        memory = self.memory
        memory.requirements = requirements_of(
            memory.method,
            memory.inputs,
            memory.symbols,
            input_sizes(memory.method, memory.inputs),
            self.ranges,
        )
        for op in list(self.function.body.block.ops):
            if isinstance(op, ReturnOp):
                memory.finish([self.result(value) for value in op.operands])
                break
            rule = RULES.get(type(op)) or RULES.get(op.name) or none
            rule(self, op)
            for value in self.last.get(op, ()):
                if value in self.slots:
                    memory.release(self.slots.pop(value))
        memory.requirements += self.first

    # --- values

    def place(self, value: SSAValue) -> Place:
        """Where a tensor lies."""
        if value not in self.places:
            meta = tensor_meta(value.type)
            like = Place("", 0, meta.shape, meta.dtype)
            array = self.known_array(value)
            if array is not None:
                self.places[value] = self.memory.owner.constant(array, like)
            else:
                assert isinstance(value, BlockArgument)
                self.places[value] = self.memory.input(value.index, like)
        return self.places[value]

    def known_array(self, value: SSAValue) -> Array | None:
        """The elements of a constant; None of any other value."""
        if isinstance(value.owner, ConstantOp):
            return literal_array(value.owner)
        if not isinstance(value, BlockArgument):
            return None
        beyond = value.index - len(self.memory.inputs)
        if beyond >= 0:
            return self.bound[beyond]
        held = self.constants.get(value)
        return held.numpy() if isinstance(held, TensorData) else held

    def make(self, value: SSAValue) -> Place:
        """Memory for a tensor that a step makes: the caller's, where the caller wants it as it is."""
        meta = tensor_meta(value.type)
        end = self.function.get_return_op()
        assert end is not None
        for wanted, returned in zip(self.memory.wanted, end.operands, strict=True):
            if returned is value and isinstance(wanted, Place):
                self.places[value] = wanted
                return wanted
        self.places[value], self.slots[value] = self.memory.hold(Place("", 0, meta.shape, meta.dtype))
        return self.places[value]

    def result(self, value: SSAValue) -> Place | Dim:
        """What a method returns."""
        return value.type.data if isinstance(value.type, SymType) else self.place(value)

    # --- what holds

    def require(self, requirements: list[Requirement]) -> None:
        """Checks conditions: before all else, where the caller's numbers say them."""
        for one in requirements:
            if one.condition == 1:
                continue
            free = symbols_of([one.condition])
            if not free <= self.known or not is_computable(one.condition):
                raise UnsupportedError(
                    [
                        Unsupported(
                            self.memory.method.sym_name.data,
                            f"the condition {one.condition} is not computed in C",
                        )
                    ]
                )
            if free <= self.memory.symbols.keys():
                if one not in (*self.memory.requirements, *self.first):
                    self.first.append(one)
            else:
                self.memory.steps.append(one)

    def learn(self, size: Dim, value: Dim) -> None:
        """A size is a value: a symbol that nobody said before is known from here on."""
        if is_symbol(size) and str(size) not in self.known and symbols_of([value]) <= self.known:
            self.memory.steps.append(Let(str(size), value))
            self.known.add(str(size))


RULES: dict[Any, Callable[[Pieces, Any], None]] = {}
"""What is done for an operation, by class or name."""


def rule(*of: type[Operation] | str) -> Callable[[F], F]:
    def register(function: F) -> F:
        RULES.update(dict.fromkeys(of, function))
        return function

    return register


def none(pieces: Pieces, op: Operation) -> None:
    """What only computes numbers is said by the types of its results. All else has no form in C."""
    is_number = isinstance(op, SymOp) or (
        isinstance(op, OperatorOp)
        and bool(op.results)
        and all(isinstance(r.type, SymType) for r in op.results)
    )
    if isinstance(op, OperatorOp) and not op.results and op.SPEC.qualified_name in CHECKS:
        return
    if not is_number or not symbols_of(sizes_of(op.results)) <= pieces.known:
        raise UnsupportedError([Unsupported(op.name, "it has no form in C", location_text(op))])


CHECKS = frozenset(("aten._assert_tensor_metadata",))
"""What holds by the types of its operands."""


@rule(ConstantOp, NumberOp, UnrealizedConversionCastOp)
def says_itself(pieces: Pieces, op: Operation) -> None:
    pass


@rule(CallOp)
def call(pieces: Pieces, op: CallOp) -> None:
    """Native code."""
    native = pieces.calls[op.callee.string_value()]
    plan, memory = native.plan, pieces.memory
    pieces.require(asserted(plan))
    sizes = [*result_sizes(value.shape for value in plan.outputs[: len(op.results)]), *memory_sizes(plan)]
    pieces.require(not_negative(sizes, pieces.ranges))
    memory.begin(native)
    inputs = [pieces.place(op.operands[position]) for position in native.passed]
    memory.drive(native, inputs, [pieces.make(result) for result in op.results])


@rule(DelegateOp)
def delegate(pieces: Pieces, op: DelegateOp) -> None:
    """A backend's."""
    assert op.processed is not None
    owner, shapes = pieces.memory.owner, [tensor_meta(result.type).shape for result in op.results]
    blob = pieces.state[op.processed.data].numpy()
    if missing := symbols_of(size for shape in shapes for size in shape) - pieces.known:
        raise UnsupportedError(
            [
                Unsupported(
                    f"delegate of backend {op.backend.data}",
                    f"it says {', '.join(sorted(missing))}",
                    location_text(op),
                )
            ]
        )
    pieces.require(not_negative(result_sizes(shapes), pieces.ranges))
    inputs = [pieces.place(value) for value in op.inputs]
    outputs = [pieces.make(result) for result in op.results]
    index = owner.delegate(op.backend.data, specs_of(op), blob)
    pieces.memory.steps.append(Delegated(index, inputs, outputs))


@rule("edge.aten._local_scalar_dense")
def read(pieces: Pieces, op: OperatorOp) -> None:
    """A number, out of memory."""
    type = op.results[0].type
    if isinstance(type, SymFloatType):
        raise UnsupportedError(
            [Unsupported(op.name, "a float that is a number has no form in C", location_text(op))]
        )
    assert isinstance(type, SymType)
    if is_symbol(type.data) and str(type.data) not in pieces.known:
        pieces.memory.steps.append(Read(str(type.data), pieces.place(op.operands[0])))
        pieces.known.add(str(type.data))


@rule(RefineOp)
def refine(pieces: Pieces, op: RefineOp) -> None:
    """The same, its sizes under other names."""
    for size, value in zip(sizes_of([op.result]), sizes_of([op.input]), strict=True):
        pieces.learn(size, value)
    if is_tensor_type(op.result.type):
        given, meta = pieces.place(op.input), tensor_meta(op.result.type)
        pieces.places[op.result] = Place(given.base, given.offset, meta.shape, meta.dtype)


def number_of(given: object) -> Dim | None:
    """A number among an operation's arguments; None of one with a fraction that is known."""
    if is_value(given):
        return given.type.data if isinstance(given.type, SymType) else None
    return int(given) if isinstance(given, int) else None


def refuse_number(op: Operation) -> NoReturn:
    raise UnsupportedError([Unsupported(op.name, "such a number has no form in C", location_text(op))])


@rule("edge.aten.scalar_tensor")
def store(pieces: Pieces, op: OperatorOp) -> None:
    """A number, into memory."""
    size = number_of(op.arguments()["s"])
    if size is None or not is_computable(size) or tensor_meta(op.results[0].type).dtype not in INTEGERS:
        refuse_number(op)
    pieces.memory.steps.append(Store(pieces.make(op.results[0]), size))


INTEGERS = (dt.Bool, dt.Byte, dt.Char, dt.Short, dt.Int, dt.Long)


@rule("edge.aten._assert_scalar")
def assert_scalar(pieces: Pieces, op: OperatorOp) -> None:
    """The program asserts something about numbers."""
    given = op.arguments()
    condition = number_of(given["self"])
    if condition is None:
        refuse_number(op)
    pieces.require([Requirement(condition, "ASSERTION", given["assert_msg"])])


@rule("edge.aten.sym_constrain_range", "edge.aten.sym_constrain_range_for_size")
def constrain(pieces: Pieces, op: OperatorOp) -> None:
    """A number is in a range."""
    given = op.arguments()
    number = number_of(given["size"])
    if number is None:
        refuse_number(op)
    low: int | None = 0 if given["min"] is None and op.name.endswith("size") else given["min"]
    high: int | None = given["max"]
    text = (
        f"{PLACEHOLDER} is not between {'-inf' if low is None else low} and {'inf' if high is None else high}"
    )
    for relation, bound in (("ge", low), ("le", high)):
        if bound is not None:
            pieces.require([Requirement(apply(relation, number, bound), "ASSERTION", text, (number,))])


@rule(*(f"edge.{name}" for name in ASSERTIONS))
def assert_elements(pieces: Pieces, op: OperatorOp) -> None:
    """The program asserts something about elements."""
    if (reason := obstacle(op)) is not None:
        raise UnsupportedError([reason])
    pieces.memory.steps.append(assertion(op, pieces.place(op.operands[0])))


def last_uses(block: Block) -> dict[Operation, list[SSAValue]]:
    """What nobody needs after an operation any more: of values that are others under other names, these."""
    order = {op: index for index, op in enumerate(block.ops)}
    last: dict[Operation, list[SSAValue]] = {}

    def end_of(value: SSAValue) -> Operation:
        users = [use.operation for use in value.uses]
        ends = [end_of(op.result) if isinstance(op, RefineOp) and op.result.uses else op for op in users]
        return max(ends, key=order.__getitem__)

    for op in block.ops:
        for value in op.results:
            if value.uses and not isinstance(op, RefineOp):
                last.setdefault(end_of(value), []).append(value)
    return last
