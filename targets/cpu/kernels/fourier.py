"""Fourier transforms along one dimension, of as many rows at once as a vector has lanes.

Rows are copied into scratch memory where the numbers of a place lie side by side, real parts apart from imaginary ones, and back out of it: whatever lies between
is on whole vectors. A transform of p q values is q transforms of p, a multiplication by roots of unity, and p transforms
of q (Cooley and Tukey, 1965), each round with its results in the order that the next one reads (Stockham's form). One with a large prime factor is a convolution
with a chirp, which transforms of a better size compute (Bluestein, 1970). An even number of real values is half as many complex
ones. Roots are computed in float64, and all else in the dtype of the elements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv, prod
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import KernelBuilder, ceil_div
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.fourier_any import PADDED, numbers_of_any, prepared
from xdsl_exir.targets.cpu.kernels.fourier_transform import Array, Round, Rows, in_threes, roots
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.threads import cached_property

RADICES = (8, 5, 7, 3, 4, 2, 11, 13)
"""Numbers of values that one round transforms, in the order in which they are tried."""
LONGEST = 1 << 14
"""Values of the longest transform whose scratch memory stays in a cache."""


def factors(size: int) -> list[int] | None:
    """A size as a product of radices; None if it has a larger prime factor."""
    found: list[int] = []
    for radix in RADICES:
        while size % radix == 0:
            found.append(radix)
            size //= radix
    if 8 in found and 2 in found:  # 8 * 2 has more work than 4 * 4
        found.remove(8)
        found.remove(2)
        found += [4, 4]
    return sorted(found, reverse=True) if size == 1 else None


def padded_size(size: int) -> int:
    """The least size of few factors that holds a convolution of this many values."""
    least = 2 * size - 1
    return min(odd << max(0, (-(-least // odd) - 1).bit_length()) for odd in (1, 3, 5, 9, 15))


@dataclass(frozen=True, eq=False)
class Fourier(Kernel):
    """The transforms of x[outer, given, inner] along the middle dimension, out[outer, kept, inner], normalized.

    The function's arguments: x, table, scratch, out. A `kind` is c2c, r2c or c2r; of r2c, half the spectrum is kept, or all of it; of c2r,
    half of it is given. What results are divided by is 1, the root of the size, or the size, by the `normalization`. Of a symbolic size
    the function makes the table (`fourier_any`).
    """

    outer: Dim
    size: Dim
    inner: Dim
    kind: str
    forward: bool
    kept: Dim
    normalization: int
    dtype: str
    machine: Machine = field(default_factory=Machine)

    @property
    def lanes(self) -> int:
        lanes, rows = max(1, self.machine.lanes * 32 // int(self.dtype[1:])), prod((self.outer, self.inner))
        if isinstance(self.size, int) or not isinstance(rows, int):
            return lanes
        return min(lanes, 1 << (rows - 1).bit_length())

    @property
    def given(self) -> Dim:
        return self.size // 2 + 1 if self.kind == "c2r" else self.size

    def factor(self, b: KernelBuilder) -> float | SSAValue:
        """By which results are multiplied."""
        if self.normalization == 0:
            return 1.0
        if isinstance(self.size, int):
            return float(self.size) ** (-self.normalization / 2)
        size, type = b.to_float(self.size, self.dtype), type_of(self.dtype)
        size = b.op(math.SqrtOp, [size], type) if self.normalization == 1 else size
        return b.op(arith.DivfOp, [b.constant(1.0, self.dtype), size], type)

    @property
    def halves(self) -> bool:
        """Whether pairs of real values are complex ones."""
        return self.kind != "c2c" and isinstance(self.size, int) and self.size % 2 == 0

    @property
    def points(self) -> Dim:
        """Complex values that are transformed."""
        return self.size // 2 if self.halves else self.size

    @cached_property
    def chirp(self) -> int | None:
        """The size of the transforms that convolve with a chirp, if that is what is done."""
        points = self.points
        return padded_size(points) if isinstance(points, int) and factors(points) is None else None

    @property
    def work(self) -> Dim:
        return prod((self.outer, self.inner)) * (self.chirp or self.points) * 40

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @property
    def scratch(self) -> Sizes:
        """For each worker two buffers of complex values, those of all lanes side by side."""
        most = max(self.chirp or 0, self.size + 1) if isinstance(self.size, int) else PADDED * self.size
        return (self.threads, 2, 2 * most, self.lanes)

    @cached_property
    def rounds(self) -> list[Round]:
        """The rounds of all transforms, each with where its roots stand in the table."""
        found: list[Round] = []
        size, at = self.chirp or self.points, 0
        assert isinstance(size, int)
        for forward in (True, False) if self.chirp else (self.forward,):
            rest, done = size, 1
            for radix in factors(size) or []:
                rest //= radix
                found.append(Round(radix, rest, done, forward, at))
                done *= radix
                at += found[-1].size
        return found

    def chirps(self) -> tuple[Array, Array]:
        """By what values are multiplied before and after the convolution; and the transform of what they are convolved with."""
        n, size = self.points, self.chirp or 0
        assert isinstance(n, int)
        squares = np.arange(n, dtype=np.int64) ** 2
        chirp = roots(squares, 2 * n, self.forward)
        circle = np.zeros(size, np.complex128)
        circle[:n] = chirp.conj()
        circle[size - n + 1 :] = chirp[:0:-1].conj()
        return chirp, np.fft.fft(circle) / size

    @cached_property
    def tables(self) -> list[Array]:
        """What is multiplied by, in the order in which it lies in memory: the cosine, the sine, and the sine with the other sign."""
        parts = [each.roots() for each in self.rounds]
        if self.halves:
            assert isinstance(self.points, int)
            assert isinstance(self.size, int)
            parts.append(in_threes(roots(np.arange(self.points), self.size, self.kind == "r2c")))
        if self.chirp:
            parts += map(in_threes, self.chirps())
        return [*parts, np.zeros(1)]

    @cached_property
    def starts(self) -> list[int]:
        """Where each of the tables begins."""
        sizes = [table.size for table in self.tables]
        return [sum(sizes[:at]) for at in range(len(sizes))]

    def table(self) -> Array:
        """All of them."""
        whole = np.concatenate([table.reshape(-1) for table in self.tables])
        return whole.astype(np.float32 if self.dtype == "f32" else np.float64)

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        pairs = f"complex<{self.dtype}>"
        given, made = (self.dtype if self.kind == kind else pairs for kind in ("r2c", "c2r"))
        return {
            "x": memref((self.outer, self.given, self.inner), given),
            "table": memref((self.numbers,), self.dtype),
            "scratch": memref(self.scratch, self.dtype),
            "out": memref((self.outer, self.kept, self.inner), made),
        }

    @property
    def numbers(self) -> Dim:
        """Of the table."""
        return self.starts[-1] + 1 if isinstance(self.size, int) else numbers_of_any(self.size)

    def build(self, b: KernelBuilder) -> None:
        lanes, inner = self.lanes, self.inner
        rows_of = Rows if isinstance(self.size, int) else prepared(self, b)
        if isinstance(inner, int) and inner >= lanes:
            # Rows that lie side by side; the last ones may be some of those before them.
            blocks = ceil_div(inner, lanes)
            with b.share(prod((self.outer, blocks)), self.threads, self.work) as (worker, block):
                outer, part = b.delinearize(block, (self.outer, blocks))
                first = b.min(b.mul(part, lanes), inner - lanes)
                rows_of(self, b, worker, [(outer, b.add(first, lane)) for lane in range(lanes)]).run()
            return
        rows = prod((self.outer, inner))
        with b.share(ceildiv(rows, lanes), self.threads, self.work) as (worker, block):
            first, last = b.mul(block, lanes), b.sub(rows, 1)
            # Lanes behind the last row do what the last one does.
            places = [b.min(b.add(first, lane), last) for lane in range(lanes)]
            rows_of(self, b, worker, [b.delinearize(row, (self.outer, inner)) for row in places]).run()
