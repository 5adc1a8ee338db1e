"""The depthwise way of a convolution: one input channel per group, vector lanes along the pixels of an output row.

A task is one image of one channel. It is copied, with zeros around it, to a buffer of its worker's that mostly stays in the L1
cache; a horizontal stride S splits each padded row into S phases (columns 0, S, 2S, ...; 1, S + 1, ...), so that every
tap reads consecutive elements. A tile is up to 8 output rows by one vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask, power_of_two
from xdsl_exir.targets.cpu.kernels.description import Choice, Epilogue, Machine
from xdsl_exir.targets.cpu.kernels.kernel import Split, finish
from xdsl_exir.targets.cpu.kernels.phases import copy_row


@dataclass(frozen=True)
class Depthwise:
    """A depthwise Conv2d: %image [N, C, H * W], %weight [O, KH, KW], %scratch, %out [N, O, HO * WO]; C divides O. N, H and W may be symbolic."""

    n: Dim
    c: int
    h: Dim
    w: Dim
    o: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    out_size: tuple[Dim, Dim]
    epilogue: Epilogue
    machine: Machine
    threads: int
    choice: Choice

    @property
    def rows(self) -> int:
        """Of a tile: others than its sums are in the registers, the inputs that its rows share."""
        return self.choice.rows or self.machine.registers // 4

    @property
    def scratch(self) -> tuple[int, Dim, int, Dim]:
        """[workers, padded height, phases, elements of a phase]; the last vector may read beyond the padded row."""
        height, width = self.h + 2 * self.padding[0], self.w + 2 * self.padding[1]
        phases = self.stride[1]
        return self.threads, height, phases, ceildiv(width, phases) + self.machine.lanes - 1

    def build(self, b: KernelBuilder) -> None:
        """Builds the kernel's body."""
        workers, height, phases, length = self.scratch
        # Only the middle of a buffer changes from channel to channel; the zeros are written once.
        with b.share(workers, workers) as (worker, _), b.loop(0, height * phases) as row:
            at = [worker, b.div(row, phases), b.rem(row, phases), 0]
            b.fill(b.buffers["scratch"], at, length, self.machine.lanes)
        multiplier = self.o // self.c
        with b.share(self.n * self.c, self.threads) as (worker, task):
            n, channel = b.delinearize(task, (self.n, self.c))
            with b.loop(0, self.h) as row:
                self._copy_row(b, worker, [n, channel], row)
            with b.loop(0, multiplier) as which:
                self._channel(b, worker, n, b.add(b.mul(channel, multiplier), which))

    def _channel(self, b: KernelBuilder, worker: Index, n: Index, output: Index) -> None:
        """One output channel: tile by tile down each column of vectors."""
        lanes, (ho, wo) = self.machine.lanes, self.out_size
        rows, full, rest = Split(ho, self.rows), wo // lanes, wo % lanes
        few = power_of_two(rest) if isinstance(rest, int) else lanes
        kinds = [(0, full, lanes, lanes), (full, ceildiv(wo, lanes), few, rest)]
        for first, last, size, present in kinds:
            if first == last:
                continue
            mask = b.mask_below(size, present)
            taps = self._taps(b, output, size)
            with b.loop(first, last) as block:
                for height, low, high in rows.kinds:
                    with b.loop(low, high) as band:
                        at = (worker, n, output, rows.start(b, band, height), b.mul(block, lanes))
                        self._tile(b, taps, at, height, size, mask)

    def _taps(self, b: KernelBuilder, output: Index, lanes: int) -> Callable[[int, int], SSAValue]:
        """The weights in all lanes: kept in registers where they are few, else loaded where they are used."""
        kh, kw = self.kernel

        def load(i: int, j: int) -> SSAValue:
            return b.broadcast_load(b.buffers["weight"], [output, i, j], lanes)

        if kh * kw > self.machine.registers // 3:
            return load
        kept = {(i, j): load(i, j) for i in range(kh) for j in range(kw)}
        return lambda i, j: kept[i, j]

    def _tile(
        self,
        b: KernelBuilder,
        taps: Callable[[int, int], SSAValue],
        at: tuple[Index, ...],
        rows: int,
        lanes: int,
        mask: Mask,
    ) -> None:
        """`rows` output rows by one vector of `lanes` pixels."""
        worker, n, output, row, column = at
        (kh, kw), (ho, wo) = self.kernel, self.out_size
        top = b.mul(row, self.stride[0])
        loaded: dict[tuple[int, int], SSAValue] = {}

        def pixels(down: int, along: int) -> SSAValue:
            """Input for tap column `along` of padded row `top + down`; the rows of the tile share it."""
            if (down, along) not in loaded:
                offset, phase = divmod(along, self.stride[1])
                place = [worker, b.add(top, down), phase, b.add(column, offset)]
                loaded[down, along] = b.load(b.buffers["scratch"], place, lanes)
            return loaded[down, along]

        values = [b.constant(0.0, "f32", lanes)] * rows
        for i, j in ((i, j) for i in range(kh) for j in range(kw)):
            tap = taps(i, j)
            for r in range(rows):
                image = pixels(r * self.stride[0] + i * self.dilation[0], j * self.dilation[1])
                values[r] = b.fma(image, tap, values[r])
        for r, value in enumerate(values):
            place = [n, output, b.add(b.mul(b.add(row, r), wo), column)]
            finish(b, self.epilogue, value, (self.n, self.o, ho * wo), place, lanes, mask)

    def _copy_row(self, b: KernelBuilder, worker: Index, image: Sequence[Index], row: Index) -> None:
        """One row of the image to the buffer, by phases."""
        source = b.buffers["image"], [*image, b.mul(row, self.w)]
        down = b.add(row, self.padding[0])
        phases = [(b.buffers["scratch"], [worker, down, phase, 0]) for phase in range(self.stride[1])]
        copy_row(b, source, phases, self.w, self.padding[1], self.machine.lanes)
