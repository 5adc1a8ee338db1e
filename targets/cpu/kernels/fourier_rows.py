"""How rows come into a Fourier transform's scratch memory, and out of it: there the numbers of a place lie side by side, those of as many rows as a vector has lanes.

Rows that lie side by side in memory too are copied by whole vectors; rows of values one after the other are transposed in registers, a square
block at a time. What is neither, or shorter than a vector, is copied number by number. A complex value is two numbers, here and in scratch memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects import complex as complexes
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder
from xdsl_exir.targets.cpu.kernels.description import memref

if TYPE_CHECKING:
    from xdsl_exir.targets.cpu.kernels.fourier import Fourier

FEWEST = 4
"""Lanes of vectors that are worth it."""


@dataclass(frozen=True)
class Part:
    """Values of a row from one on, before another; they are those from the end of the scratch memory's on, conjugated, if `mirrored`."""

    first: Dim
    stop: Dim
    mirrored: bool = False

    @property
    def count(self) -> Dim:
        return self.stop - self.first


class RowMemory:
    """Builds the copies of one group of rows, given by their places: (outer, inner) of each lane."""

    def __init__(self, kernel: Fourier, b: KernelBuilder, worker: Index, rows: Sequence[Sequence[Index]]):
        self.kernel, self.b, self.worker, self.rows = kernel, b, worker, rows
        self.lanes, self.dtype = kernel.lanes, kernel.dtype

    def read(self, buffer: Index) -> None:
        """Copies rows into a buffer."""
        Reading(self, buffer, "x", self.kernel.kind == "r2c").run(Part(0, self.kernel.given))

    def write(self, buffer: Index) -> None:
        """Copies rows out of a buffer, times the factor; of a real transform's second half the conjugates of the first."""
        kernel = self.kernel
        direct = kernel.size // 2 + 1 if kernel.kind == "r2c" else kernel.kept
        writing = Writing(self, buffer, "out", kernel.kind == "c2r")
        writing.run(Part(0, direct))
        if kernel.kept != direct:
            writing.run(Part(direct, kernel.kept, True))


class Copying:
    """What reading and writing have in common; `move` differs."""

    def __init__(self, memory: RowMemory, buffer: Index, name: str, real: bool):
        self.kernel, self.b, self.worker, self.rows = memory.kernel, memory.b, memory.worker, memory.rows
        self.lanes, self.dtype = memory.lanes, memory.dtype
        self.buffer, self.name, self.real = buffer, name, real
        self.numbers = 1 if real else 2
        """Of a value."""
        self.apart = 2 if real and not self.kernel.halves else 1
        """How far numbers are from each other in scratch memory."""

    def run(self, part: Part) -> None:
        inner = self.kernel.inner
        if self.lanes < FEWEST or not isinstance(inner, int):
            self.one_by_one(part)
        elif inner >= self.lanes:
            self.side_by_side(part)
        elif inner != 1:
            self.one_by_one(part)
        elif isinstance(part.count, int):
            self.transposed(part) if part.count * self.numbers >= self.lanes else self.one_by_one(part)
        else:
            numbers = part.count * self.numbers
            with self.b.when(numbers, "uge", self.lanes):
                self.transposed(part)
            with self.b.when(numbers, "ult", self.lanes):
                self.one_by_one(part)

    def one_by_one(self, part: Part) -> None:
        with self.b.loop(part.first, part.stop) as at:
            for lane, (outer, inner) in enumerate(self.rows):
                self.value(part, [outer, at, inner], lane)

    def side_by_side(self, part: Part) -> None:
        b, (outer, inner) = self.b, self.rows[0]
        view, width = self.view(), self.kernel.inner * self.numbers
        first = b.add(b.mul(b.mul(outer, self.length), width), b.mul(inner, self.numbers))
        with b.loop(part.first, part.stop) as at:
            start = b.add(first, b.mul(at, width))
            places = [b.add(start, n * self.lanes) for n in range(self.numbers)]
            self.vectors(part, view, [[0, 0, place] for place in places], at)

    def transposed(self, part: Part) -> None:
        b, view, length = self.b, self.view(), self.length * self.numbers
        rows = [b.mul(outer, length) for outer, _ in self.rows]
        for start in self.blocks(part.first * self.numbers, part.stop * self.numbers):
            self.block(part, view, [[0, 0, b.add(row, start)] for row in rows], start)

    def value(self, part: Part, at: list[Index], lane: int) -> None:
        raise NotImplementedError

    def vectors(self, part: Part, view: SSAValue, places: list[list[Index]], at: Index) -> None:
        raise NotImplementedError

    def block(self, part: Part, view: SSAValue, places: list[list[Index]], start: Index) -> None:
        raise NotImplementedError

    @property
    def length(self) -> Dim:
        """Values of a row in memory."""
        return self.kernel.given if self.name == "x" else self.kernel.kept

    def view(self) -> SSAValue:
        """The rows in memory as numbers one behind the other, of as many dimensions as they have: that is what makes both the same to LLVM."""
        count = prod((self.kernel.outer, self.length, self.kernel.inner, self.numbers))
        type = memref((1, 1, count), self.dtype)
        return self.b.op(UnrealizedConversionCastOp, [self.b.buffers[self.name]], type, {})

    def blocks(self, first: Dim, stop: Dim) -> Iterator[Index]:
        """Where blocks of as many numbers as there are lanes begin; the last one may have some of that before it."""
        b, count = self.b, stop - first
        with b.loop(0, count // self.lanes) as number:
            yield b.add(b.mul(number, self.lanes), first)
        if count % self.lanes != 0:
            yield stop - self.lanes

    def place(self, part: Part, at: Index, number: int) -> Index:
        """Where a value's number lies in scratch memory."""
        at = self.b.sub(self.kernel.size, at) if part.mirrored else at
        return self.b.mul(self.b.add(self.b.mul(at, self.numbers), number), self.apart)

    def scratch(self, place: Index, lane: int = 0) -> tuple[SSAValue, list[Index]]:
        return self.b.buffers["scratch"], [self.worker, self.buffer, place, lane]

    def even_and_odd(self) -> list[range]:
        return [range(parity, 2 * self.lanes, 2) for parity in range(2)]


class Reading(Copying):
    """Into scratch memory; what real values have no number for is 0."""

    def value(self, part: Part, at: list[Index], lane: int) -> None:
        b, source = self.b, self.b.buffers[self.name]
        if self.real:
            parts = [b.load_number(source, at, self.dtype)]
        else:
            x = b.load_number(source, at, f"complex<{self.dtype}>")
            parts = [b.op(kind, [x], type_of(self.dtype)) for kind in (complexes.ReOp, complexes.ImOp)]
        for number, each in enumerate(parts):
            place = self.place(part, at[1], number)
            b.store_number(each, *self.scratch(place, lane))
            if self.apart > 1:
                b.store_number(b.constant(0.0, self.dtype), *self.scratch(b.add(place, 1), lane))

    def vectors(self, part: Part, view: SSAValue, places: list[list[Index]], at: Index) -> None:
        given = [self.b.load(view, place, self.lanes, dtype=self.dtype) for place in places]
        if not self.real:
            given = [self.b.shuffle(given[0], given[1], self.lanes, order) for order in self.even_and_odd()]
        for number, each in enumerate(given):
            self.keep(each, self.place(part, at, number))

    def block(self, part: Part, view: SSAValue, places: list[list[Index]], start: Index) -> None:
        b = self.b
        rows = [b.load(view, place, self.lanes, dtype=self.dtype) for place in places]
        for number, column in enumerate(b.transpose(rows, self.lanes)):
            self.keep(column, b.mul(b.add(start, number), self.apart))

    def keep(self, value: SSAValue, place: Index) -> None:
        b = self.b
        b.store(value, *self.scratch(place))
        if self.apart > 1:
            b.store(b.constant(0.0, self.dtype, self.lanes), *self.scratch(b.add(place, 1)))


class Writing(Copying):
    """Out of scratch memory, times the factor."""

    def __init__(self, memory: RowMemory, buffer: Index, name: str, real: bool):
        super().__init__(memory, buffer, name, real)
        self.factor = memory.kernel.factor(memory.b)

    def value(self, part: Part, at: list[Index], lane: int) -> None:
        b = self.b
        parts = [
            self.finished(
                b.load_number(*self.scratch(self.place(part, at[1], n), lane), self.dtype), part, n, 0
            )
            for n in range(self.numbers)
        ]
        made = parts[0] if self.real else b.op(complexes.CreateOp, parts, type_of(f"complex<{self.dtype}>"))
        b.store_number(made, b.buffers[self.name], at)

    def vectors(self, part: Part, view: SSAValue, places: list[list[Index]], at: Index) -> None:
        made = [self.made(part, at, number) for number in range(self.numbers)]
        if not self.real:
            low, high = range(self.lanes // 2), range(self.lanes // 2, self.lanes)
            orders = [[lane for at in half for lane in (at, at + self.lanes)] for half in (low, high)]
            made = [self.b.shuffle(made[0], made[1], self.lanes, order) for order in orders]
        for value, place in zip(made, places, strict=True):
            self.b.store(value, view, place)

    def block(self, part: Part, view: SSAValue, places: list[list[Index]], start: Index) -> None:
        b = self.b
        # The blocks of complex values begin with one: there are as many numbers in each as there are lanes, which are even.
        first = b.div(start, self.numbers)
        columns = [
            self.made(part, b.add(first, number // self.numbers), number % self.numbers)
            for number in range(self.lanes)
        ]
        for value, place in zip(b.transpose(columns, self.lanes), places, strict=True):
            b.store(value, view, place)

    def made(self, part: Part, at: Index, number: int) -> SSAValue:
        """The numbers of all lanes."""
        value = self.b.load(*self.scratch(self.place(part, at, number)), self.lanes, dtype=self.dtype)
        return self.finished(value, part, number, self.lanes)

    def finished(self, value: SSAValue, part: Part, number: int, lanes: int) -> SSAValue:
        b, type = self.b, type_of(self.dtype, lanes)
        if number and part.mirrored:
            value = b.op(arith.NegfOp, [value], type)
        if self.factor == 1:
            return value
        if isinstance(self.factor, SSAValue):
            by = b.broadcast(self.factor, lanes, self.dtype) if lanes else self.factor
        else:
            by = b.constant(self.factor, self.dtype, lanes)
        return b.op(arith.MulfOp, [value, by], type)
