"""Fourier transforms of sizes that only a call says: which rounds there are is found out then, and so are the roots.

The rounds of a size are as many of each radix as divide it. What is left, if it is not 1, makes the transform a convolution with a chirp
(`fourier`), by transforms of the next power of two that holds it. Real values are complex ones here. The table has, one behind the other, the roots
of the size of the rounds, the chirp, and the transform of what is convolved with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2, pi
from typing import TYPE_CHECKING

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder
from xdsl_exir.targets.cpu.kernels.fourier_rows import RowMemory
from xdsl_exir.targets.cpu.kernels.fourier_transform import Root, Rows

if TYPE_CHECKING:
    from xdsl_exir.targets.cpu.kernels.fourier import Fourier

PADDED = 4
"""Times a size: more than the power of two that is transformed in its place has."""
TWOS = (8, 4, 2)
"""Radices of powers of two."""
SMALL = (*TWOS, 5, 3, 7)
"""Radices of what is transformed as it is."""
DIGITS = 40
"""Of two, more than sizes have."""
TOGETHER = 16
"""Roots that are one root times each of a few."""


def starts(size: Dim) -> tuple[Dim, Dim, Dim]:
    """Where the chirp begins in the table, and the transform, and where it ends, in roots."""
    chirp = PADDED * size + TOGETHER
    return chirp, chirp + size, chirp + size + PADDED * size


def numbers_of_any(size: Dim) -> Dim:
    """Of the table."""
    return 3 * starts(size)[-1]


@dataclass
class Prepared:
    """What is found out about a size before rows are transformed."""

    left: Index
    """What of it is not a product of radices."""
    points: Index
    """Of the transforms that rounds do."""
    counts: dict[int, Index]
    """How many rounds there are of each radix."""

    def __call__(
        self, kernel: Fourier, b: KernelBuilder, worker: Index, rows: Sequence[Sequence[Index]]
    ) -> RowsOfAny:
        return RowsOfAny(kernel, b, worker, rows, self)


def prepared(kernel: Fourier, b: KernelBuilder) -> Prepared:
    """Finds it out, and fills the table."""
    size = b.index(kernel.size)
    least = b.sub(b.max(b.mul(size, 2), 1), 1)  # 0 of nothing, which is not transformed

    def doubled(_: Index, before: list[SSAValue]) -> list[SSAValue]:
        return [b.chosen(b.compare("ult", before[0], least), b.mul(before[0], 2), before[0])]

    [padded] = b.reduce(DIGITS, [b.index(1)], doubled)
    left, _ = factored(b, size)
    points = b.chosen(b.compare("eq", left, 1), size, padded)
    found = Prepared(left, points, factored(b, points)[1])
    table = Table(kernel, b)
    table.fill_roots(points)
    with b.when(left, "ugt", 1):
        table.fill_chirp()
        found(kernel, b, 0, []).transform_chirp()
    return found


def factored(b: KernelBuilder, size: SSAValue) -> tuple[SSAValue, dict[int, Index]]:
    """What of a size is not a product of radices, and how often each of them divides it."""
    left, counts = size, dict[int, Index]()
    for radix in SMALL:

        def divided(_: Index, before: list[SSAValue], radix: int = radix) -> list[SSAValue]:
            left, count = before
            fits = b.compare("eq", b.rem(left, radix), 0)
            return [b.chosen(fits, b.div(left, radix), left), b.chosen(fits, b.add(count, 1), count)]

        left, counts[radix] = b.reduce(ceil(DIGITS / log2(radix)), [left, b.index(0)], divided)
    return left, counts


def widened(b: KernelBuilder, value: SSAValue) -> SSAValue:
    """A number in float64."""
    wide = type_of("f64")
    return value if value.type == wide else b.op(vectors.ExtFOp, [value], wide)


class Table:
    """Builds what fills the table."""

    def __init__(self, kernel: Fourier, b: KernelBuilder):
        self.kernel, self.b = kernel, b

    def op(self, kind: type, *operands: SSAValue) -> SSAValue:
        return self.b.op(kind, operands, type_of("f64"))

    def store(self, at: Index, cosine: SSAValue, sine: SSAValue) -> None:
        """Gives a place a number."""
        b, dtype = self.b, self.kernel.dtype
        for part, value in enumerate((cosine, sine, self.op(arith.NegfOp, sine))):
            narrow = value if dtype == "f64" else b.op(vectors.TruncFOp, [value], type_of(dtype))
            b.store_number(narrow, b.buffers["table"], [b.add(b.mul(at, 3), part)])

    def root(self, at: Index, size: Index, forward: bool) -> tuple[SSAValue, SSAValue]:
        """exp(-2 pi i at / size), conjugated if not `forward`."""
        b = self.b
        turns = self.op(arith.DivfOp, b.to_float(at, "f64"), b.to_float(size, "f64"))
        angle = self.op(arith.MulfOp, turns, b.constant(-2 * pi if forward else 2 * pi, "f64"))
        return self.op(math.CosOp, angle), self.op(math.SinOp, angle)

    def fill_roots(self, points: Index) -> None:
        """Those of a size: of two factors, so that few are computed."""
        b = self.b
        few = [self.root(b.index(at), points, True) for at in range(TOGETHER)]
        with b.loop(0, b.div(b.add(points, TOGETHER - 1), TOGETHER)) as number:
            first = b.mul(number, TOGETHER)
            cosine, sine = self.root(first, points, True)
            for at, (x, y) in enumerate(few):
                real = self.op(arith.SubfOp, self.op(arith.MulfOp, cosine, x), self.op(arith.MulfOp, sine, y))
                other = self.op(
                    arith.AddfOp, self.op(arith.MulfOp, sine, x), self.op(arith.MulfOp, cosine, y)
                )
                self.store(b.add(first, at), real, other)

    def fill_chirp(self) -> None:
        """exp(-pi i at^2 / size), conjugated for transforms that are not forward."""
        b, size = self.b, self.kernel.size
        chirp, _, _ = starts(size)
        with b.loop(0, size) as at:
            turns = b.rem(b.mul(at, at), 2 * size)
            self.store(b.add(at, chirp), *self.root(turns, 2 * size, self.kernel.forward))


class RowsOfAny(Rows):
    """Builds what happens to as many rows of any size as there are lanes."""

    def __init__(
        self,
        kernel: Fourier,
        b: KernelBuilder,
        worker: Index,
        rows: Sequence[Sequence[Index]],
        found: Prepared,
    ):
        super().__init__(kernel, b, worker, rows)
        self.found = found
        self.chirp, self.spectrum, _ = (3 * start for start in starts(kernel.size))

    def run(self) -> None:
        b, kernel, memory = self.b, self.kernel, RowMemory(self.kernel, self.b, self.worker, self.rows)
        memory.read(0)
        if kernel.kind == "c2r":
            self.mirror()
        for name, transform in (("eq", self.transform_whole), ("ugt", self.convolve)):
            with b.when(self.found.left, name, 1):
                self.now = 0
                transform()
                memory.write(self.now)

    def mirror(self) -> None:
        with self.b.when(self.kernel.size % 2, "eq", 0):
            self.drop_imaginary(self.b.sub(self.kernel.given, 1))
        super().mirror()

    def transform_whole(self) -> None:
        self.go_round(SMALL, self.kernel.forward)

    def convolve(self) -> None:
        sizes = self.kernel.size, self.found.points
        self.convolve_by(*sizes, self.chirp, self.spectrum, lambda there: self.go_round(TWOS, there))

    def transform_chirp(self) -> None:
        """What rows are convolved with is the chirp's conjugate, around its beginning; divided by how many values are transformed there and back."""
        b, size, points = self.b, self.kernel.size, self.found.points
        self.clear(0, points)
        with b.loop(0, size) as at:
            cosine, _, opposite = self.root(self.chirp, at)
            for place in (at, b.rem(b.sub(points, at), points)):
                self.store((cosine, opposite), place, other=False)
        self.go_round(TWOS, True)
        table, by = Table(self.kernel, b), b.to_float(points, "f64")
        with b.loop(0, points) as at:
            given = (
                b.load_number(
                    b.buffers["scratch"], [self.worker, self.now, b.add(b.mul(at, 2), part), 0], self.dtype
                )
                for part in range(2)
            )
            table.store(
                b.add(at, starts(size)[1]),
                *(table.op(arith.DivfOp, widened(b, value), by) for value in given),
            )

    def go_round(self, radices: Sequence[int], forward: bool) -> None:
        """As many rounds of each radix as there are."""
        b, state = self.b, self.b.indices([self.found.points, 1, self.now])
        for radix in radices:

            def turn(_: Index, before: list[SSAValue], radix: int = radix) -> list[SSAValue]:
                rest, done, self.now = before
                left = b.div(rest, radix)

                def turns(place: Index) -> list[Root]:
                    step = b.mul(place, done)
                    return [self.turning(b.mul(step, frequency), forward) for frequency in range(1, radix)]

                self.rounded(radix, left, done, forward, turns)
                return b.indices([left, b.mul(done, radix), b.sub(1, self.now)])

            state = b.reduce(self.found.counts[radix], state, turn)
        self.now = state[-1]

    def turning(self, at: Index, forward: bool) -> Root:
        """A root of the size of the rounds."""
        cosine, sine, opposite = self.root(0, at)
        return (cosine, sine, opposite) if forward else (cosine, opposite, sine)
