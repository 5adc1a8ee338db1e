"""Orders, the first few of one, and what stands at one place of it, by the steps that PyTorch takes (`introselect`).

Of a few first ones, those so far are kept as they come, and what comes after the last of them costs one comparison: where no two of
them are equal, the steps would give the same. Elements are compared as those of whole orders are (`orders`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, memref
from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, Expr, min_, prod
from xdsl_exir.interpreter.introselect import introselect, introsort, quickselect
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sorting import CodeSteps
from xdsl_exir.targets.cpu.kernels.builder import Index
from xdsl_exir.targets.cpu.kernels.orders import Order, Ordered, Row

FEW = 16
"""That are kept as they come."""

POSITION = 0xFFFFFFFF
"""The part of a packed entry that holds its position."""


@dataclass(frozen=True, eq=False)
class TopK(Ordered):
    """The first ones of an order, `is_sorted` or only selected. `count` is not 0."""

    is_sorted: bool = True

    @property
    def keeps(self) -> int:
        """How many are kept as they come, one more than asked for if there are: a few that are not the first of a heap."""
        kept = min_(self.count + 1, self.size) if isinstance(self.size, int) else self.count + 1
        if not isinstance(kept, int) or kept > FEW:
            return 0
        return kept if self.is_sorted and self.are_many is not False else 0

    @property
    def are_many(self) -> bool | None:
        """Whether they are too many for a heap of them; None if it is not known."""
        if isinstance(self.count, int) and isinstance(self.size, int):
            return self.count * 64 > self.size
        return None

    @property
    def work(self) -> Dim:
        return prod((self.outer, self.inner, self.size)) * 16

    @property
    def buffers(self) -> tuple[int, Dim]:
        return 1, 2 * self.size

    @property
    def row(self) -> type[Row]:
        return Selection


@dataclass(frozen=True, eq=False)
class Sort(Order):
    """The whole order, in which equal elements stand as PyTorch's steps leave them."""

    @property
    def buffers(self) -> tuple[int, Dim]:
        return 1, 2 * self.size

    @property
    def row(self) -> type[Row]:
        return Introsort


@dataclass(frozen=True, eq=False)
class KthValue(Ordered):
    """What belongs at the place `start` of an order: `count` is 1."""

    @property
    def work(self) -> Dim:
        return prod((self.outer, self.inner, self.size)) * 8

    @property
    def buffers(self) -> tuple[int, Dim]:
        return 1, self.size

    @property
    def row(self) -> type[Row]:
        return Quickselect


class MemorySteps(CodeSteps):
    """The row is memory. An entry is its key, which holds its position, or its position, of which there is a key elsewhere."""

    def __init__(self, row: Row):
        super().__init__()
        self.scratch = row.b.buffers["scratch"]
        self.packed = row.kernel.packed
        self.worker, self.keys, self.entries = row.b.indices([row.worker, 0, row.parts - 1])
        given = (row.kernel.size, row.kernel.count, row.kernel.start)
        self.sizes = {
            size: row.op(arith.IndexCastOp, row.b.index(size)) for size in given if isinstance(size, Expr)
        }

    def number(self, x: Scalar | Dim) -> Scalar:
        return Scalar(self.sizes[x], dt.Long) if isinstance(x, Expr) else super().number(x)

    def place(self, part: SSAValue, at: Scalar | Dim) -> list[SSAValue]:
        return [self.worker, part, s.to_index(self.number(at))]

    def get(self, place: Scalar | Dim) -> Scalar:
        return Scalar(memref.LoadOp.get(self.scratch, self.place(self.entries, place)).res, dt.Long)

    def put(self, place: Scalar | Dim, value: Scalar | Dim) -> None:
        memref.StoreOp.get(self.number(value).value, self.scratch, self.place(self.entries, place))

    def precedes(self, x: Scalar, y: Scalar) -> Scalar:
        if self.packed:
            return x < (y & ~POSITION)
        first, second = (
            Scalar(memref.LoadOp.get(self.scratch, self.place(self.keys, at)).res, dt.Long) for at in (x, y)
        )
        return first < second


class Stepped(Row):
    """Takes the entries of a row as they stand, and steps among them."""

    def take_steps(self, find: Callable[[MemorySteps, Scalar], None]) -> None:
        b, size = self.b, self.kernel.size
        with b.loop(0, size) as place:
            self.write(self.entry(place), 0, place)
        steps = MemorySteps(self)
        with ImplicitBuilder(b.block):
            find(steps, steps.number(size))


class Introsort(Stepped):
    """Builds the order of a row."""

    def build(self) -> None:
        self.take_steps(introsort)
        self.finish(0)


class Quickselect(Stepped):
    """Builds what is at one place of the order of a row."""

    def build(self) -> None:
        self.take_steps(lambda steps, size: quickselect(steps, steps.number(self.kernel.start), size))
        self.finish(0)


class Selection(Stepped):
    """Builds the first few of a row."""

    kernel: TopK

    def build(self) -> None:
        if not self.kernel.keeps:
            self.take_steps(self.select)
        else:
            many = self.are_many()
            with self.b.when_true(many):
                self.keep()
            again = self.op(arith.XOrIOp, many, self.constant(1, "i1"), dtype="i1")
            if self.kernel.keeps > 1:
                again = self.op(arith.OrIOp, again, self.are_equal(), dtype="i1")
            with self.b.when_true(again):
                self.take_steps(self.select)
        self.finish(0)

    def are_many(self) -> SSAValue:
        b, known = self.b, self.kernel.are_many
        if known is not None:
            return b.constant(known, "i1")
        return b.compare("ugt", b.mul(self.kernel.count, 64), self.kernel.size)

    def select(self, steps: MemorySteps, size: Scalar) -> None:
        introselect(steps, steps.number(self.kernel.count), size, self.kernel.is_sorted)

    def keep(self) -> None:
        """Each element that comes before the last of those kept takes its place among them, which goes."""
        b, kept = self.b, self.kernel.keeps
        last = (1 << 63) - 1
        with b.loop(0, kept) as at:
            self.write([self.constant(last)] * self.parts, 0, at)
        with b.loop(0, self.kernel.size) as place:
            entry = self.entry(place)
            worst = self.read(0, kept - 1)
            # The first ones take places that nobody has, even if they are as great as can be.
            early = b.compare("ult", place, kept)
            joins = self.op(arith.OrIOp, early, self.less(entry[0], worst[0]), dtype="i1")
            with b.when_true(joins):
                self.insert(entry, place)

    def insert(self, entry: list[SSAValue], place: Index) -> None:
        """Puts an entry among those kept, of which there are as many as elements before it: what comes after it moves on."""
        b = self.b
        there = b.min(place, self.kernel.keeps - 1)
        end = b.index(there)

        def move(turn: Index, carried: list[SSAValue]) -> list[SSAValue]:
            """From the end on; carried is the free place."""
            at = b.sub(b.sub(there, turn), 1)
            before = self.read(0, at)
            later = self.less(entry[0], before[0])
            free = b.index(b.add(at, 1))
            with b.when_true(later):
                self.write(before, 0, free)
            return [self.choose(later, b.index(at), carried[0])]

        [free] = b.reduce(there, [end], move)
        self.write(entry, 0, free)

    def are_equal(self) -> SSAValue:
        """Whether two of the elements kept are equal."""

        def compare(turn: Index, carried: list[SSAValue]) -> list[SSAValue]:
            first, second = self.read(0, turn)[0], self.read(0, self.b.add(turn, 1))[0]
            if self.kernel.packed:
                second = self.op(arith.AndIOp, second, self.constant(~POSITION))
            # Those that are kept are in order.
            differ = self.less(first, second)
            return [self.op(arith.AndIOp, carried[0], differ, dtype="i1")]

        [differ] = self.b.reduce(self.kernel.keeps - 1, [self.b.constant(True, "i1")], compare)
        return self.op(arith.XOrIOp, differ, self.b.constant(True, "i1"), dtype="i1")
