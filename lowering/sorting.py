"""The order of elements along a dimension, by merging, and parts of one by PyTorch's steps (`introselect`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import scf, tensor
from xdsl.ir import Block, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, max_
from xdsl_exir.interpreter.introselect import Steps
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.loops import first_where, while_loop
from xdsl_exir.lowering.places import Place, in_range, replaced
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor, places, read


def precedes(descending: bool) -> Callable[[Scalar, Scalar], Scalar]:
    """Whether a number has to stand before another. NaN counts as the greatest."""

    def ascending(x: Scalar, y: Scalar) -> Scalar:
        return (x < y) | (s.is_nan(y) & ~s.is_nan(x))

    return (lambda x, y: ascending(y, x)) if descending else ascending


def sorting_order(b: LinalgBuilder, self: Tensor, dim: int, descending: bool) -> Tensor:
    """The stable order along a dimension: sorted runs merged to runs of twice the length, until there is one."""
    order = b.indexed(lambda *at: s.from_index(at[dim]), self.shape, dt.Long)

    def step(b: LinalgBuilder, turn: Scalar, state: list[Tensor]) -> list[Tensor]:
        return [merged(b, self, dim, state[0], turn, precedes(descending))]

    return b.steps(b.bit_length(max_(self.shape[dim] - 1, 0)), [order], step)[0]


def merged(
    b: LinalgBuilder,
    self: Tensor,
    dim: int,
    order: Tensor,
    turn: Scalar,
    before: Callable[[Scalar, Scalar], Scalar],
) -> Tensor:
    """The order of runs of twice a width, 2 to the power of the turn. What comes k-th of two runs is found by itself: bisection tells how many of
    the first k stem from the left run."""
    size = self.shape[dim]

    def element(*at: SSAValue) -> Scalar:
        position, width = s.from_index(at[dim]), s.shift_left(s.constant(1, dt.Long), turn)
        k = s.rem(position, width * 2)
        start = position - k
        middle, end = s.minimum(start + width, size), s.minimum(start + width * 2, size)

        def entry(place: Scalar) -> Scalar:
            return read(order, replaced(at, dim, in_range(place, size)))

        def number(place: Scalar) -> Scalar:
            return read(self, replaced(at, dim, entry(place)))

        fewest = s.maximum(k - (end - middle), 0)
        most = s.minimum(k, middle - start)
        left = first_where(
            lambda count: before(number(middle + (k - 1 - count)), number(start + count)), fewest, most
        )
        right = k - left
        from_left = (start + left < middle) & (
            (middle + right >= end) | ~before(number(middle + right), number(start + left))
        )
        return s.select(from_left, entry(start + left), entry(middle + right))

    return b.indexed(element, self.shape, dt.Long)


def found_by_steps(
    b: LinalgBuilder,
    self: Tensor,
    dim: int,
    descending: bool,
    start: Dim,
    count: Dim,
    find: Callable[[Steps, Scalar], None],
) -> Tensor:
    """Where elements of an order along a dimension stand, `count` of them from a place on, to which steps bring them that are told how many there are."""
    before, size = precedes(descending), self.shape[dim]

    def sized(new: Dim) -> tuple[Dim, ...]:
        return (*self.shape[:dim], new, *self.shape[dim + 1 :])

    # Behind the positions is the room that the steps ask for.
    given = b.indexed(lambda *at: s.from_index(at[dim]), sized(size * 2), dt.Long)

    def row(held: SSAValue, *at: SSAValue) -> SSAValue:
        def place(index: Scalar) -> Place:
            return replaced(at, dim, index)

        def comes_first(x: Scalar, y: Scalar) -> Scalar:
            return before(read(self, place(x)), read(self, place(y)))

        steps = TensorSteps(Tensor(held, given.shape, dt.Long), place, comes_first)
        find(steps, steps.number(size))
        return steps.memory[0]

    found = b.in_order(given, sized(1), row)
    offsets = [start if axis == dim else 0 for axis in range(self.ndim)]
    return b.slice(found, offsets, sized(count), [1] * self.ndim)


class CodeSteps:
    """The steps of `introselect` as code. What memory is made of, loops and branches hand on: `memory` is what it is now."""

    def __init__(self, *memory: SSAValue):
        self.memory: Sequence[SSAValue] = memory

    def number(self, x: Scalar | Dim) -> Scalar:
        return x if isinstance(x, Scalar) else s.constant(x, dt.Long)

    def half(self, x: Scalar) -> Scalar:
        return s.shift_right(x, s.constant(1, dt.Long))

    def repeat(
        self,
        state: Sequence[Scalar | Dim],
        condition: Callable[..., Scalar],
        step: Callable[..., Sequence[Scalar | Dim]],
    ) -> list[Scalar]:
        count = len(self.memory)

        def inside(values: Sequence[SSAValue]) -> list[Scalar]:
            self.memory = values[:count]
            return [Scalar(value, dt.Long) for value in values[count:]]

        def carried(numbers: Sequence[Scalar | Dim]) -> list[SSAValue]:
            return [*self.memory, *[self.number(x).value for x in numbers]]

        def turn(values: Sequence[SSAValue]) -> list[SSAValue]:
            return carried(step(*inside(values)))

        return inside(while_loop(carried(state), lambda values: condition(*inside(values)), turn))

    def choose(
        self,
        condition: Scalar,
        then: Callable[[], Sequence[Scalar]],
        otherwise: Callable[[], Sequence[Scalar]],
    ) -> list[Scalar]:
        before, blocks, made = self.memory, [Block(), Block()], list[Scalar]()
        for way, block in zip((then, otherwise), blocks, strict=True):
            self.memory = before
            with ImplicitBuilder(block):
                made = list(way())
                scf.YieldOp(*self.memory, *[x.value for x in made])
        types = [value.type for value in (*before, *[x.value for x in made])]
        results = scf.IfOp(condition.value, types, [blocks[0]], [blocks[1]]).results
        self.memory = results[: len(before)]
        return [Scalar(value, x.dtype) for value, x in zip(results[len(before) :], made, strict=True)]


class TensorSteps(CodeSteps):
    """The row is part of a tensor of positions."""

    def __init__(
        self, row: Tensor, place: Callable[[Scalar], Place], precedes: Callable[[Scalar, Scalar], Scalar]
    ):
        super().__init__(row.value)
        self.row, self.place, self.precedes = row, place, precedes

    def get(self, place: Scalar | Dim) -> Scalar:
        [row] = self.memory
        return read(Tensor(row, self.row.shape, dt.Long), self.place(self.number(place)))

    def put(self, place: Scalar | Dim, value: Scalar | Dim) -> None:
        at = places(self.place(self.number(place)))
        self.memory = [tensor.InsertOp(self.number(value).value, self.memory[0], at).result]
