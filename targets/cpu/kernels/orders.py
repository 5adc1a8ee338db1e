"""Orders along a dimension, by merging.

Elements are compared as integers of 64 bits, whose order is that of the elements: NaN is the greatest and equals itself, zeros
are equal whatever their sign. Of elements of up to 32 bits such a key holds the position as well, which makes it unique. Sorted runs are merged to runs of twice the
length. Equal elements stay as they stand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import predicate, type_of
from xdsl_exir.targets.cpu.kernels.builder import INDEX, Index, KernelBuilder
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel

USUAL = 10
"""Turns in which runs are merged, if it is not known how many there are."""
INTEGERS = ("i1", "i8", "i16", "i32", "i64")


def key_type(dtype: str) -> str:
    """The dtype of integers in the order of elements."""
    return "i64" if dtype.endswith("64") else "i32"


def ascending(b: KernelBuilder, x: SSAValue, dtype: str, unsigned: bool, lanes: int = 0) -> SSAValue:
    """Elements as integers in the same order."""
    made, bits = key_type(dtype), int(dtype.lstrip("bfi"))

    def op(kind: type[Operation], *operands: SSAValue, to: str = made) -> SSAValue:
        return b.op(kind, operands, type_of(to, lanes))

    def constant(value: int) -> SSAValue:
        return b.constant(value, made, lanes)

    def holds(name: str, x: SSAValue, y: SSAValue) -> SSAValue:
        return b.op(vectors.CmpfOp, [x, y], type_of("i1", lanes), predicate(vectors.CmpfOp, name))

    if dtype in INTEGERS:
        return x if dtype == made else op(vectors.ExtUIOp if unsigned else vectors.ExtSIOp, x)
    if bits < 32:
        x, dtype = op(vectors.ExtFOp, x, to="f32"), "f32"
    raw, width = op(arith.BitcastOp, x), int(made[1:])
    # The magnitude of a negative number the other way round: all its bits but the sign.
    magnitude = constant((1 << (width - 1)) - 1)
    flipped = op(arith.AndIOp, op(arith.ShRSIOp, raw, constant(width - 1)), magnitude)
    key = op(arith.XOrIOp, raw, flipped)
    key = op(vectors.SelectOp, holds("oeq", x, b.constant(0.0, dtype, lanes)), constant(0), key)
    return op(vectors.SelectOp, holds("uno", x, x), magnitude, key)


@dataclass(frozen=True, eq=False)
class Ordered(Kernel):
    """Elements of the order of x[outer, size, inner] along the middle dimension, `count` from a place on, and where they stood.

    The function's arguments: x, scratch, values[outer, count, inner], positions[outer, count, inner] of int64. Elements are of
    `dtype`, integers `unsigned` or not. `size` is less than 2^31. All sizes may be symbolic.
    """

    outer: Dim
    size: Dim
    inner: Dim
    count: Dim
    dtype: str
    descending: bool = False
    start: Dim = 0
    unsigned: bool = False
    machine: Machine = field(default_factory=Machine)

    @property
    def packed(self) -> bool:
        """Whether a key holds an element's position."""
        return self.dtype not in ("f64", "i64")

    @property
    @abstractmethod
    def work(self) -> Dim:
        """How many operations it takes, about."""

    @property
    @abstractmethod
    def buffers(self) -> tuple[int, Dim]:
        """How many buffers of entries it needs, and of how many."""

    @property
    @abstractmethod
    def row(self) -> type[Row]:
        """What builds the order of a row."""

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @property
    def scratch(self) -> Sizes:
        """Shape of the buffer of int64 that it needs: keys, and positions where these are apart."""
        count, size = self.buffers
        return (self.threads, (1 if self.packed else 2) * count, size)

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        results = (self.outer, self.count, self.inner)
        return {
            "x": memref((self.outer, self.size, self.inner), self.dtype),
            "scratch": memref(self.scratch, "i64"),
            "values": memref(results, self.dtype),
            "positions": memref(results, "i64"),
        }

    def build(self, b: KernelBuilder) -> None:
        rows = prod((self.outer, self.inner))
        with b.share(rows, self.threads, self.work) as (worker, row):
            outer, inner = b.delinearize(row, (self.outer, self.inner))
            self.row(self, b, worker, outer, inner).build()


class Row(ABC):
    """Builds what happens to one row."""

    def __init__(self, kernel: Ordered, b: KernelBuilder, worker: Index, outer: Index, inner: Index):
        self.kernel, self.b = kernel, b
        self.worker, self.outer, self.inner = worker, outer, inner
        self.parts = 1 if kernel.packed else 2
        """Of an entry: its key, and its position."""

    @abstractmethod
    def build(self) -> None:
        """Entries in order, as results."""

    # Numbers.

    def op(self, kind: type[Operation], *operands: SSAValue, dtype: str = "i64") -> SSAValue:
        return self.b.op(kind, operands, type_of(dtype))

    def constant(self, value: int, dtype: str = "i64") -> SSAValue:
        return self.b.constant(value, dtype)

    def less(self, x: SSAValue, y: SSAValue) -> SSAValue:
        return self.b.op(vectors.CmpiOp, [x, y], type_of("i1"), predicate(vectors.CmpiOp, "slt"))

    def choose(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.b.op(vectors.SelectOp, [condition, yes, no], yes.type)

    def entry(self, place: Index) -> list[SSAValue]:
        """The entry of an element: its key, which holds its position, or both."""
        kernel, b = self.kernel, self.b
        element = b.load_number(b.buffers["x"], [self.outer, place, self.inner], kernel.dtype)
        key = ascending(b, element, kernel.dtype, kernel.unsigned)
        if kernel.packed:
            key = self.op(arith.ExtSIOp, key)
        if kernel.descending:
            key = self.op(arith.XOrIOp, key, self.constant(-1))
        position = b.op(arith.IndexCastOp, [b.index(place)], type_of("i64"))
        if not kernel.packed:
            return [key, position]
        return [self.op(arith.OrIOp, self.op(arith.ShLIOp, key, self.constant(32)), position)]

    # Entries in memory.

    def place(self, part: int, run: Index, at: Index) -> list[Index]:
        """Where an entry's part is: `run` is which of the buffers that runs are merged between."""
        return [self.worker, self.b.add(self.b.mul(run, self.parts), part), at]

    def read(self, run: Index, at: Index) -> list[SSAValue]:
        scratch = self.b.buffers["scratch"]
        return [self.b.load_number(scratch, self.place(part, run, at), "i64") for part in range(self.parts)]

    def write(self, entry: Sequence[SSAValue], run: Index, at: Index) -> None:
        for part, value in enumerate(entry):
            self.b.store_number(value, self.b.buffers["scratch"], self.place(part, run, at))

    def finish(self, run: Index) -> None:
        """Gives entries of a run as results."""
        b, buffers = self.b, self.b.buffers
        with b.loop(0, self.kernel.count) as at:
            position = self.read(run, b.add(at, self.kernel.start))[-1]
            if self.kernel.packed:
                position = self.op(arith.AndIOp, position, self.constant(0xFFFFFFFF))
            where = b.op(arith.IndexCastOp, [position], INDEX)
            value = b.load_number(buffers["x"], [self.outer, where, self.inner], self.kernel.dtype)
            result = [self.outer, at, self.inner]
            b.store_number(value, buffers["values"], result)
            b.store_number(position, buffers["positions"], result)


@dataclass(frozen=True, eq=False)
class Order(Ordered):
    """The whole order: `count` is `size`."""

    @property
    def work(self) -> Dim:
        turns = (self.size - 1).bit_length() if isinstance(self.size, int) else USUAL
        return prod((self.outer, self.inner, self.size)) * 16 * turns

    @property
    def buffers(self) -> tuple[int, Dim]:
        return 2, self.size

    @property
    def row(self) -> type[Row]:
        return Merge


class Merge(Row):
    """Builds the order of a row: merges runs of one element, of two, and so on, from one buffer to the other one."""

    def build(self) -> None:
        b, size = self.b, self.kernel.size
        with b.loop(0, size) as place:
            self.write(self.entry(place), 0, place)
        if isinstance(size, int):
            passes = (size - 1).bit_length()
            for turn in range(passes):
                self.merge_runs(1 << turn, turn % 2)
            self.finish(passes % 2)
            return
        turns = self.bit_length(b.sub(b.max(size, 1), 1))
        with b.loop(0, turns) as turn:
            width = b.op(arith.ShLIOp, b.indices([1, turn]), INDEX)
            self.merge_runs(width, b.rem(turn, 2))
        self.finish(b.rem(turns, 2))

    def bit_length(self, number: Index) -> Index:
        """Of a number that is not negative."""
        b = self.b
        wide = b.op(arith.IndexCastOp, [b.index(number)], type_of("i64"))
        zeros = b.op(math.CountLeadingZerosOp, [wide], type_of("i64"))
        return b.sub(64, b.op(arith.IndexCastOp, [zeros], INDEX))

    def merge_runs(self, width: Index, run: Index) -> None:
        """Runs of a width from one buffer to runs of twice that in the other one."""
        b, size, both = self.b, self.kernel.size, self.b.mul(width, 2)
        pairs, rest = b.div(size, both), b.rem(size, both)
        if pairs != 0:
            with b.loop(0, pairs) as number:
                self.merge_pair(b.mul(number, both), width, run)
        if rest != 0:
            with b.loop(0, 1) if isinstance(rest, int) else b.when(rest, "ne", 0):
                self.merge_rest(b.mul(pairs, both), width, run)

    def later(self, taken: SSAValue, place: SSAValue, by: int) -> SSAValue:
        """A place, moved on if it is taken; said as a sum, since LLVM makes a jump of a choice, which is slow where it is random."""
        step = self.b.op(arith.IndexCastOp, [self.op(arith.ExtUIOp, taken)], INDEX)
        return self.b.op(arith.AddiOp if by > 0 else arith.SubiOp, [place, step], INDEX)

    def merge_pair(self, start: Index, width: Index, run: Index) -> None:
        """Two whole runs at once from their beginnings and from their ends, as many each as there are in a run: neither meets the end
        of a run (the bidirectional merge of Peters' and Bergdoll's glidesort)."""
        b = self.b
        one, other, last = self.b.constant(True, "i1"), b.sub(1, run), b.sub(b.mul(width, 2), 1)
        places = [b.add(start, at) for at in (0, width, b.sub(width, 1), last)]

        def step(turn: Index, carried: list[SSAValue]) -> list[SSAValue]:
            left, right, left_end, right_end = carried
            first, second = self.read(run, left), self.read(run, right)
            taken = self.less(second[0], first[0])
            self.write(self.either(taken, second, first), other, b.add(start, turn))
            first, second = self.read(run, left_end), self.read(run, right_end)
            from_left = self.less(second[0], first[0])
            target = b.sub(b.add(start, last), turn)
            self.write(self.either(from_left, first, second), other, target)
            return [
                self.later(self.op(arith.XOrIOp, taken, one, dtype="i1"), left, 1),
                self.later(taken, right, 1),
                self.later(from_left, left_end, -1),
                self.later(self.op(arith.XOrIOp, from_left, one, dtype="i1"), right_end, -1),
            ]

        b.reduce(width, b.indices(places), step)

    def either(self, condition: SSAValue, yes: Sequence[SSAValue], no: Sequence[SSAValue]) -> list[SSAValue]:
        return [self.choose(condition, x, y) for x, y in zip(yes, no, strict=True)]

    def merge_rest(self, start: Index, width: Index, run: Index) -> None:
        """A last run, and what there is of another one behind it."""
        b, size, other = self.b, self.kernel.size, self.b.sub(1, run)
        middle, one, end = b.min(b.add(start, width), size), b.constant(True, "i1"), b.sub(size, 1)

        def step(turn: Index, carried: list[SSAValue]) -> list[SSAValue]:
            left, right = carried
            first, second = self.read(run, b.min(left, end)), self.read(run, b.min(right, end))
            # The left one of equal ones, and what there is if one of the runs has ended.
            over = b.compare("uge", left, middle)
            earlier = self.op(arith.OrIOp, over, self.less(second[0], first[0]), dtype="i1")
            taken = self.op(arith.AndIOp, b.compare("ult", right, size), earlier, dtype="i1")
            self.write(self.either(taken, second, first), other, b.add(start, turn))
            untaken = self.op(arith.XOrIOp, taken, one, dtype="i1")
            return [self.later(untaken, left, 1), self.later(taken, right, 1)]

        b.reduce(b.sub(size, start), b.indices([start, middle]), step)
