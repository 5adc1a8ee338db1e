"""Maximum pooling: rows of a window are combined first, along the row, then its columns.

Where a window reaches over the upper or lower border the outermost row that it sees is read again, which changes no maximum; the combined
row has minus infinity on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, apply, max_, provably
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.row_nodes import HALVES

MOST = 32
"""Taps of a window along a dimension, and elements between two windows."""


@dataclass(frozen=True, eq=False)
class MaxPool2d(Kernel):
    """out[P, HO, WO] = max_pool2d(x[P, H, W]), floats. Every window has to see some of the image.

    The function's arguments: x, scratch of `wide`, out.
    """

    planes: Dim
    size: tuple[Dim, Dim]
    out_size: tuple[Dim, Dim]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)
    machine: Machine = field(default_factory=Machine)
    dtype: str = "f32"

    @property
    def unrolls(self) -> bool:
        """Whether the taps of a window along a dimension, of each of which there is code, are few, and so is what a vector of windows spans."""
        return max(self.kernel) <= MOST and self.stride[1] <= MOST

    @property
    def wide(self) -> str:
        """In which dtype elements are compared: halves in float32."""
        return "f64" if self.dtype == "f64" else "f32"

    @property
    def sees(self) -> bool:
        """Whether every window is known to see some row of the image: those of no window lie so far apart that it is between them."""
        apart = self.dilation[0]
        return apart == 1 or bool(provably(apply("ge", self.size[0], apart)))

    @property
    def row(self) -> Dim:
        """Elements of a combined row: the windows' columns, which may end before the padding does, or beyond."""
        [taps, step, apart, pad] = (
            pair[1] for pair in (self.kernel, self.stride, self.dilation, self.padding)
        )
        return max_(self.size[1] + pad, (self.out_size[1] - 1) * step + (taps - 1) * apart + 1)

    @property
    def work(self) -> Dim:
        (ho, wo), (kh, kw) = self.out_size, self.kernel
        return 4 * self.planes * ho * wo * (kh + kw)

    @property
    def threads(self) -> int:
        threads = workers(self.machine, self.work)
        return min(threads, self.planes) if isinstance(self.planes, int) else threads

    @property
    def scratch(self) -> tuple[int, Dim]:
        """Shape of the buffer of `wide` the kernel needs: a row for each worker, and what its last vectors read beyond it."""
        return self.threads, self.row + (self.machine.lanes + 1) * self.stride[1]

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        return {
            "x": memref((self.planes, *self.size), self.dtype),
            "scratch": memref(self.scratch, self.wide),
            "out": memref((self.planes, *self.out_size), self.dtype),
        }

    def build(self, b: KernelBuilder) -> None:
        lanes, pad, end = self.machine.lanes, self.padding[1], self.size[1] + self.padding[1]
        with b.share(self.planes, self.threads, self.work) as (worker, plane):
            for start, count in ((0, pad), (end, self.row - end)):
                b.fill(b.buffers["scratch"], [worker, start], count, lanes, -math.inf, self.wide)
            with b.loop(0, self.out_size[0]) as row:
                self.combine_rows(b, worker, plane, row)
                self.combine_columns(b, worker, plane, row)

    def largest(self, b: KernelBuilder, values: Sequence[SSAValue]) -> SSAValue:
        value, *rest = values
        for other in rest:
            value = b.op(arith.MaximumfOp, [value, other], value.type)
        return value

    def combine_rows(self, b: KernelBuilder, worker: Index, plane: Index, row: Index) -> None:
        """scratch[PW + w] = max of x[h, w] over the rows of a window that it sees."""
        lanes, (height, width) = self.machine.lanes, self.size
        top, pad, apart = b.mul(row, self.stride[0]), self.padding[0], self.dilation[0]
        first = b.div(b.add(b.sub(b.max(top, pad), top), apart - 1), apart)
        last = b.div(b.sub(b.add(height - 1, pad), top), apart)
        seen = [b.min(b.max(tap, first), last) for tap in range(self.kernel[0])]
        rows = [b.sub(b.add(top, b.mul(tap, apart)), pad) for tap in seen]
        for offset, size, mask in b.pieces(width, lanes):
            value = self.largest(b, [self.pixels(b, [plane, h, offset], size, mask) for h in rows])
            b.store(value, b.buffers["scratch"], [worker, b.add(offset, self.padding[1])], mask)

    def pixels(self, b: KernelBuilder, at: Sequence[Index], size: int, mask: Mask) -> SSAValue:
        """A vector of the image as it is compared."""
        return b.widened(b.load(b.buffers["x"], at, size, mask, self.dtype), self.wide)

    def combine_columns(self, b: KernelBuilder, worker: Index, plane: Index, row: Index) -> None:
        """out[w] = max of scratch over the columns of a window: vectors of neighbours, or of what lies a stride apart."""
        step, apart = self.stride[1], self.dilation[1]
        for offset, size, mask in b.pieces(self.out_size[1], self.machine.lanes):
            start = b.mul(offset, step)

            @cache
            def combined(at: int, start: Index = start, lanes: int = size * step) -> SSAValue:
                return b.load(b.buffers["scratch"], [worker, b.add(start, at)], lanes, dtype=self.wide)

            taps = [divmod(tap * apart, step) for tap in range(self.kernel[1])]
            value = self.largest(b, [b.every(combined(turn * step), step, phase) for turn, phase in taps])
            value = b.halved(value, self.dtype, size) if self.dtype in HALVES else value
            b.store(value, b.buffers["out"], [plane, row, offset], mask)
