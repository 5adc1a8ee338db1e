"""What happens to the rows of a Fourier transform between scratch memory and scratch memory, round by round, all on whole vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder
from xdsl_exir.targets.cpu.kernels.fourier_rows import RowMemory

if TYPE_CHECKING:
    from xdsl_exir.targets.cpu.kernels.fourier import Fourier

Array = np.ndarray[Any, np.dtype[Any]]
Pair = tuple[SSAValue, SSAValue]
"""Real and imaginary part."""
Root = tuple[SSAValue, SSAValue, SSAValue]
"""A number of the table: the cosine, the sine, and the sine with the other sign."""


def roots(numerators: Array, size: int, forward: bool) -> Array:
    """exp(-2 pi i n / size), conjugated if not `forward`."""
    angles = 2 * np.pi * (numerators % size) / size
    return np.exp(-1j * angles if forward else 1j * angles)


def in_threes(values: Array) -> Array:
    """Numbers as the table has them."""
    real, imaginary = np.real(values), np.imag(values)
    return np.stack([real, imaginary, -imaginary], -1)


@dataclass(frozen=True)
class Round:
    """Transforms of `radix` values: [radix, rest, done] to [rest, radix, done]."""

    radix: int
    rest: int
    done: int
    forward: bool
    start: int
    """Where its roots stand in the table."""

    @property
    def size(self) -> int:
        """Of its roots, in numbers."""
        return self.rest * (self.radix - 1) * 3 if self.rest > 1 else 0

    def roots(self) -> Array:
        """By which results are multiplied, [rest, radix - 1, 3]; none where nothing is left to do."""
        places, frequencies = np.arange(self.rest)[:, None], np.arange(1, self.radix)
        made = in_threes(roots(places * frequencies, self.radix * self.rest, self.forward))
        return made if self.rest > 1 else made[:0]


class Rows:
    """Builds what happens to as many rows as there are lanes."""

    def __init__(self, kernel: Fourier, b: KernelBuilder, worker: Index, rows: Sequence[Sequence[Index]]):
        self.kernel, self.b, self.worker, self.rows = kernel, b, worker, rows
        self.lanes, self.dtype = kernel.lanes, kernel.dtype
        self.vector = type_of(kernel.dtype, kernel.lanes)
        self.now: Index = 0
        """The buffer that has the values so far."""

    def run(self) -> None:
        kernel = self.kernel
        memory = RowMemory(kernel, self.b, self.worker, self.rows)
        memory.read(self.now)
        if kernel.kind == "c2r":
            self.fold() if kernel.halves else self.mirror()
        self.convolve() if kernel.chirp else self.transform(kernel.rounds)
        if kernel.kind == "r2c" and kernel.halves:
            self.unfold()
        memory.write(self.now)

    # Vectors.

    def op(self, kind: type[Operation], *operands: SSAValue) -> SSAValue:
        return self.b.op(kind, operands, self.vector)

    def constant(self, value: float) -> SSAValue:
        return self.b.constant(float(value), self.dtype, self.lanes)

    def add(self, x: Pair, y: Pair) -> Pair:
        return self.op(arith.AddfOp, x[0], y[0]), self.op(arith.AddfOp, x[1], y[1])

    def subtract(self, x: Pair, y: Pair) -> Pair:
        return self.op(arith.SubfOp, x[0], y[0]), self.op(arith.SubfOp, x[1], y[1])

    def negated(self, x: SSAValue) -> SSAValue:
        return self.op(arith.NegfOp, x)

    def conjugated(self, x: Pair) -> Pair:
        return x[0], self.negated(x[1])

    def scaled(self, x: Pair, factor: float) -> Pair:
        by = self.constant(factor)
        return self.op(arith.MulfOp, x[0], by), self.op(arith.MulfOp, x[1], by)

    def times(self, x: Pair, root: Root) -> Pair:
        """A product with a number of the table."""
        cosine, sine, opposite = root
        return (
            self.b.fma(x[0], cosine, self.op(arith.MulfOp, x[1], opposite)),
            self.b.fma(x[0], sine, self.op(arith.MulfOp, x[1], cosine)),
        )

    def root(self, start: Index, at: Index) -> Root:
        """A number of the table, in all lanes."""
        b, table = self.b, self.b.buffers["table"]
        place = b.add(b.mul(at, 3), start)
        one, two, three = (
            b.broadcast_load(table, [b.add(place, part)], self.lanes, self.dtype) for part in range(3)
        )
        return one, two, three

    # Memory.

    def load(self, at: Index, buffer: int | None = None) -> Pair:
        """The values of a place."""
        b, which = self.b, self.now if buffer is None else buffer
        first = b.mul(at, 2)
        real, imaginary = (
            b.load(
                b.buffers["scratch"],
                [self.worker, which, b.add(first, part), 0],
                self.lanes,
                None,
                self.dtype,
            )
            for part in range(2)
        )
        return real, imaginary

    def store(self, x: Pair, at: Index, other: bool = True) -> None:
        """Gives a place values, in the other buffer."""
        b, which = self.b, self.b.sub(1, self.now) if other else self.now
        for part, value in enumerate(x):
            b.store(value, b.buffers["scratch"], [self.worker, which, b.add(b.mul(at, 2), part), 0])

    # Real values.

    def unfold(self) -> None:
        """Half the spectrum of real values from the transform Z of half as many complex ones z[j] = x[2 j] + i x[2 j + 1]:
        X[k] = (Z[k] + conj Z[-k]) / 2 - i w^k (Z[k] - conj Z[-k]) / 2."""
        b, points = self.b, self.kernel.points
        real, imaginary = self.load(0)
        zero = self.constant(0)
        self.store((self.op(arith.AddfOp, real, imaginary), zero), 0)
        self.store((self.op(arith.SubfOp, real, imaginary), zero), points)
        if points != 1:
            with b.loop(1, points) as at:
                x, y = self.load(at), self.conjugated(self.load(b.sub(points, at)))
                turned = self.times(
                    self.scaled(self.subtract(x, y), 0.5), self.root(self.starts_of_halves, at)
                )
                self.store(
                    self.add(self.scaled(self.add(x, y), 0.5), (turned[1], self.negated(turned[0]))), at
                )
        self.now = self.b.sub(1, self.now)

    def fold(self) -> None:
        """The other way round, not halved: Z[k] = X[k] + conj X[n - k] + i w^-k (X[k] - conj X[n - k])."""
        b, points = self.b, self.kernel.points
        self.drop_imaginary(0, points)
        with b.loop(0, points) as at:
            x, y = self.load(at), self.conjugated(self.load(b.sub(points, at)))
            turned = self.times(self.subtract(x, y), self.root(self.starts_of_halves, at))
            self.store(self.add(self.add(x, y), (self.negated(turned[1]), turned[0])), at)
        self.now = self.b.sub(1, self.now)

    @property
    def starts_of_halves(self) -> int:
        return self.kernel.starts[len(self.kernel.rounds)]

    def mirror(self) -> None:
        """The second half of a spectrum, conjugates of the first one."""
        b, kernel = self.b, self.kernel
        self.drop_imaginary(0)
        if kernel.size != kernel.given:
            with b.loop(kernel.given, kernel.size) as at:
                self.store(self.conjugated(self.load(b.sub(kernel.size, at))), at, other=False)

    def drop_imaginary(self, *places: Index) -> None:
        """What real values have none of counts for nothing."""
        for at in places:
            self.store((self.load(at)[0], self.constant(0)), at, other=False)

    # Transforms.

    def convolve(self) -> None:
        """The transform as a convolution with a chirp."""
        rounds, half = self.kernel.rounds, len(self.kernel.rounds) // 2
        *_, around, spectrum, _ = self.kernel.starts
        sizes = self.kernel.points, self.kernel.chirp or 0
        self.convolve_by(
            *sizes, around, spectrum, lambda there: self.transform(rounds[:half] if there else rounds[half:])
        )

    def convolve_by(
        self, points: Index, size: Index, around: Index, spectrum: Index, transform: Callable[[bool], None]
    ) -> None:
        """The same by transforms of a size, there and back, where numbers of the table begin."""
        self.multiply(points, around)
        self.clear(points, size)
        transform(True)
        self.multiply(size, spectrum)
        transform(False)
        self.multiply(points, around)

    def clear(self, first: Index, stop: Index) -> None:
        """Makes values 0."""
        with self.b.loop(first, stop) as at:
            self.store((self.constant(0), self.constant(0)), at, other=False)

    def multiply(self, count: Index, start: Index) -> None:
        """The first values by numbers of the table."""
        with self.b.loop(0, count) as at:
            self.store(self.times(self.load(at), self.root(start, at)), at, other=False)

    def transform(self, rounds: Sequence[Round]) -> None:
        for each in rounds:
            self.round(each)
            self.now = self.b.sub(1, self.now)

    def round(self, which: Round) -> None:
        b, radix = self.b, which.radix

        def turns(place: Index) -> list[Root]:
            first = b.mul(place, radix - 1)
            return [self.root(which.start, b.add(first, at)) for at in range(radix - 1)]

        alone: Callable[[Index], list[Root]] = lambda _: []  # noqa: E731
        self.rounded(radix, which.rest, which.done, which.forward, turns if which.rest > 1 else alone)

    def rounded(
        self, radix: int, rest: Index, done: Index, forward: bool, turns: Callable[[Index], list[Root]]
    ) -> None:
        """Transforms of `radix` values, [radix, rest, done] to [rest, radix, done], all but the first of each place times one of its turns, if it has some."""
        b = self.b
        with b.loop(0, rest) as place:
            by = turns(place)
            with b.loop(0, done) as at:
                values = [
                    self.load(b.add(b.mul(b.add(place, b.mul(term, rest)), done), at))
                    for term in range(radix)
                ]
                for frequency, value in enumerate(self.small(values, forward)):
                    turned = self.times(value, by[frequency - 1]) if frequency and by else value
                    self.store(turned, b.add(b.mul(b.add(b.mul(place, radix), frequency), done), at))

    def small(self, values: Sequence[Pair], forward: bool) -> list[Pair]:
        """The transform of a few values: of even and odd ones, as long as there are even ones."""
        size = len(values)
        if size == 1:
            return list(values)
        if size % 2:
            return self.odd(values, forward)
        even, odd = self.small(values[::2], forward), self.small(values[1::2], forward)
        turned = [self.turned(value, at, size, forward) for at, value in enumerate(odd)]
        pairs = list(zip(even, turned, strict=True))
        return [*(self.add(x, y) for x, y in pairs), *(self.subtract(x, y) for x, y in pairs)]

    def turned(self, x: Pair, at: int, size: int, forward: bool) -> Pair:
        """A value times a root of unity of the first half circle; eighths of it exactly."""
        if at == 0:
            return x
        if 8 * at % size:
            angle = 2 * math.pi * at / size
            cosine, sine = math.cos(angle), -math.sin(angle) if forward else math.sin(angle)
            return self.times(x, (self.constant(cosine), self.constant(sine), self.constant(-sine)))
        real, imaginary = x
        quarter = (imaginary, self.negated(real)) if forward else (self.negated(imaginary), real)
        if 4 * at == size:
            return quarter
        # An eighth, and three of them.
        together = self.add(x, quarter) if 8 * at == size else self.subtract(quarter, x)
        return self.scaled(together, math.sqrt(0.5))

    def odd(self, values: Sequence[Pair], forward: bool) -> list[Pair]:
        """The transform of an odd number of values: sums and differences of those at opposite places, by cosines and sines."""
        size = len(values)
        opposite = [(values[at], values[size - at]) for at in range(1, size // 2 + 1)]
        sums = [self.add(x, y) for x, y in opposite]
        differences = [self.subtract(x, y) for x, y in opposite]
        whole = values[0]
        for each in sums:
            whole = self.add(whole, each)
        made = [whole] * size
        for k in range(1, size // 2 + 1):
            angles = [2 * math.pi * (j * k % size) / size for j in range(1, size // 2 + 1)]
            along = self.combined(values[0], sums, list(map(math.cos, angles)))
            across = self.combined(None, differences, list(map(math.sin, angles)))
            turned = (across[1], self.negated(across[0])) if forward else (self.negated(across[1]), across[0])
            made[k], made[size - k] = self.add(along, turned), self.subtract(along, turned)
        return made

    def combined(self, start: Pair | None, values: Sequence[Pair], factors: Sequence[float]) -> Pair:
        """A sum of values times real numbers."""
        total = start
        for value, factor in zip(values, factors, strict=True):
            by = self.constant(factor)
            total = (
                self.scaled(value, factor)
                if total is None
                else (self.b.fma(value[0], by, total[0]), self.b.fma(value[1], by, total[1]))
            )
        assert total is not None
        return total
