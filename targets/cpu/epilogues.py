"""What follows a matrix product or convolution and happens before its result is stored: elementwise operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.lowering.dispatches.buffers import Shape, Value
from xdsl_exir.lowering.dispatches.views import RENAMES, expanded, is_view, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.tensors import storage_type
from xdsl_exir.targets.cpu.elements import elementwise
from xdsl_exir.targets.cpu.kernels import Constant, Elementwise, Epilogue, Input, Step

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner


TAKEN = (dt.Float, dt.Bool)
"""What steps compute with."""
HALVES = {dt.Half: "f16", dt.BFloat16: "bf16"}
"""What some kernels store in the place of float32, by dtype."""


class Fits(Protocol):
    """Whether a kernel takes an input of a shape in its epilogue, and of these strides."""

    def __call__(self, value: Value) -> bool: ...


@dataclass(frozen=True)
class Absorbed:
    """An operator that becomes a step."""

    op: OperatorOp
    element: Elementwise
    operands: Sequence[SSAValue]


@dataclass
class Absorber:
    """Collects what a kernel's epilogue can do to its result `start`."""

    planner: Planner
    start: SSAValue
    fits: Fits
    frame_shape: Shape | None = None
    """The shape in which the kernel has its result, if not the result's own."""
    narrows: bool = False
    """Whether the kernel may store halves: then they are made last."""
    inputs: list[Value] = field(default_factory=list[Value])
    steps: list[Absorbed] = field(default_factory=list[Absorbed])
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The result, what absorbed operators make, and views of these, to their frame: values of one frame and shape have
    their elements in the same order, those of the frame `start` in the result's."""
    places: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Other operands: their position among inputs."""

    @property
    def maker(self) -> Operation:
        """What makes the kernel's result."""
        assert isinstance(self.start.owner, Operation)
        return self.start.owner

    def run(self) -> None:
        """Absorbs as many operators as leave one value to store."""
        self.made[self.start] = self.start
        kept, inputs = 0, 0
        while (op := self.next_user()) is not None:
            if is_view(op):
                self.made |= {result: self.frame(op, result) for result in op.results}
                continue
            step = self.step(op)
            if step is None:
                break
            self.steps.append(step)
            self.made[op.results[0]] = next(self.made[o] for o in op.operands if o in self.made)
            if self.leaves_one():
                kept, inputs = len(self.steps), len(self.inputs)
        del self.steps[kept:]
        del self.inputs[inputs:]
        self.places = {value: place for value, place in self.places.items() if place < inputs}

    def frame(self, view: Operation, result: SSAValue) -> SSAValue:
        """The frame of a view of something made."""
        assert isinstance(view, OperatorOp)
        keeps = self.made[view.operands[0]] is self.start and view.SPEC.qualified_name in RENAMES
        return self.start if keeps else result

    def next_user(self) -> Operation | None:
        """The first operation in the program that uses what there is, and is not there itself."""
        seen = {step.op for step in self.steps}
        users = {
            use.operation
            for value in self.made
            for use in value.uses
            if use.operation not in seen and not any(result in self.made for result in use.operation.results)
        }
        return min(users, key=self.planner.position, default=None)

    def step(self, op: Operation) -> Absorbed | None:
        """An operator as a step, its other operands as inputs; None if it cannot be one."""
        if not isinstance(op, OperatorOp) or op in self.planner.absorbed or len(op.results) != 1:
            return None
        if not self.planner.boundaries.are_together(op, self.maker):
            return None
        if not all(is_tensor_type(value.type) for value in op.operands):
            return None  # a size is a number that steps do not know
        found = elementwise(op, self.planner.arguments_of(op))
        narrowing = self.narrows and meta_of(op.results[0]).dtype in HALVES
        if any(
            meta_of(value).dtype not in TAKEN for value in (*op.operands, *(() if narrowing else op.results))
        ):
            return None
        result = meta_of(op.results[0])
        mine = [operand for operand in op.operands if operand in self.made]
        # Its result stands for its operand from then on: same shape, and float32 as the kernel stores it.
        if found is None or any(meta_of(operand).shape != result.shape for operand in mine):
            return None
        frames = {self.made[operand] for operand in mine}
        if len(frames) != 1:
            return None
        for operand in op.operands:
            if operand in self.made or self.planner.splat(operand) is not None:
                continue
            if self.start not in frames or not self.add_input(operand, result.shape, op):
                return None
        return Absorbed(op, *found)

    def add_input(self, operand: SSAValue, shape: Shape, op: Operation) -> bool:
        """Makes an operand, which meets a value of a shape, an input; whether it can be."""
        if operand in self.places:
            return True
        if meta_of(operand).dtype is not dt.Float or not self.planner.is_available(operand, self.start):
            return False
        value = epilogue_input(
            self.planner.value(operand), shape, self.frame_shape or meta_of(self.start).shape
        )
        if value is None or not self.fits(value) or (self.is_mask(value) and self.is_for_rows(op)):
            return False
        self.places[operand] = len(self.inputs)
        self.inputs.append(value)
        return True

    def is_mask(self, value: Value) -> bool:
        """Whether an input has an element for each of a matrix, the same for several of them."""
        shape = self.frame_shape or meta_of(self.start).shape
        return value.shape[-2:] == shape[-2:] and prod(value.shape) != prod(shape)

    def is_for_rows(self, op: Operation) -> bool:
        """Whether what an operator makes is reduced row by row: that reads rows of a mask as they lie, where a product goes from panel to panel."""
        target, users = self.planner.target, [use.operation for use in op.results[0].uses]
        return any(
            isinstance(user, OperatorOp)
            and elementwise(user, self.planner.arguments_of(user)) is None
            and target.group(self.planner, user) is not None
            for user in users
        )

    def leaves_one(self) -> bool:
        """Whether nothing but the last step's result is used further on."""
        last = self.steps[-1].op
        inside = {step.op for step in self.steps}
        later = [last.results[0]]
        for value in later:
            later.extend(
                result for use in value.uses if is_view(use.operation) for result in use.operation.results
            )
        if meta_of(later[0]).dtype not in (dt.Float, *HALVES):
            return False
        return all(
            use.operation in inside or (is_view(use.operation) and use.operation.results[0] in self.made)
            for value in self.made
            if value not in later
            for use in value.uses
        )

    @property
    def ops(self) -> list[OperatorOp]:
        """What is absorbed, in order."""
        return [step.op for step in self.steps]

    @property
    def result(self) -> SSAValue:
        """What the kernel stores."""
        return self.steps[-1].op.results[0] if self.steps else self.start

    def commit(self) -> None:
        """Tells the planner: results of absorbed operators are views of the kernel's result."""
        for step in self.steps:
            self.planner.absorbed.add(step.op)
            self.planner.identities[step.op.results[0]] = next(
                operand for operand in step.op.operands if operand in self.made
            )

    def epilogue(self, first: Sequence[Value] = (), factor: float = 1.0) -> Epilogue:
        """The result times a factor, plus the first inputs, then the steps."""
        inputs = tuple(input_of(value) for value in (*first, *self.inputs))
        steps: list[Step] = []
        positions = {self.start: 0}

        def step(element: Elementwise, *operands: int | Constant) -> int:
            """Adds a step; the position of its result."""
            steps.append(Step(element, operands))
            return len(inputs) + len(steps)

        def operand(value: SSAValue) -> int | Constant:
            number = self.planner.splat(value)
            if number is not None:
                return Constant(number)
            while value not in positions:  # through views
                assert isinstance(value.owner, Operation)
                value = value.owner.operands[0]
            return positions[value]

        if factor != 1.0:
            positions[self.start] = step(Elementwise("aten.mul.Tensor"), 0, Constant(factor))
        for number in range(len(first)):
            positions[self.start] = step(Elementwise("aten.add.Tensor"), positions[self.start], number + 1)
        positions |= {value: 1 + len(first) + place for value, place in self.places.items()}
        for each in self.steps:
            positions[each.op.results[0]] = step(each.element, *map(operand, each.operands))
        return Epilogue(inputs, tuple(steps))


def epilogue_input(value: Value, shape: Shape, result: Shape) -> Value | None:
    """A value that broadcasts to `shape` as one that broadcasts to a kernel's result, whose elements are those of `shape`.

    Repeated dimensions have size 1. None where no strides say so, or rows are not contiguous.
    """
    whole = reshaped(expanded(value, shape), result)
    if whole is None:
        return None
    sizes = tuple(n if s else 1 for n, s in zip(whole.shape, whole.strides, strict=True))
    if whole.strides and whole.strides[-1] not in (0, 1):
        return None
    return Value(whole.buffer, sizes, whole.dtype, whole.strides, whole.offset)


def input_of(value: Value) -> Input:
    """An epilogue's or row program's operand for a value."""
    return Input(value.shape, str(storage_type(value.dtype)), *value.strided)
