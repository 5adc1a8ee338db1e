"""The depthwise way of a convolution: one input channel per group, vector lanes along the pixels of an output row.

A task is one image of one channel. It is copied, with zeros around it, to a buffer of its worker's that mostly stays in the L1
cache; a horizontal stride S splits each padded row into S phases (columns 0, S, 2S, ...; 1, S + 1, ...), so that every
tap reads consecutive elements. A tile is up to 8 output rows by one vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl_exir.lowering.schedules.text import (
    Epilogue,
    Index,
    Machine,
    Split,
    Text,
    ceil_div,
    memref,
    power_of_two,
)


@dataclass(frozen=True)
class Depthwise:
    """A depthwise Conv2d: %image [N, C, H * W], %weight [O, KH, KW], %scratch, %out [N, O, HO * WO]; C divides O."""

    n: int
    c: int
    h: int
    w: int
    o: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    out_size: tuple[int, int]
    epilogue: Epilogue
    machine: Machine
    threads: int

    @property
    def scratch(self) -> tuple[int, int, int, int]:
        """[workers, padded height, phases, elements of a phase]; the last vector may read beyond the padded row."""
        lanes, phases = self.machine.lanes, self.stride[1]
        height, width = self.h + 2 * self.padding[0], self.w + 2 * self.padding[1]
        reach = ceil_div(self.out_size[1], lanes) * lanes + (self.kernel[1] - 1) * self.dilation[1] // phases
        return self.threads, height, phases, max(ceil_div(width, phases), reach)

    @property
    def image_type(self) -> str:
        return memref((self.n, self.c, self.h * self.w))

    @property
    def scratch_type(self) -> str:
        return memref(self.scratch)

    def write(self, text: Text) -> None:
        """Writes the kernel's body."""
        workers, height, phases, length = self.scratch
        # Only the middle of a buffer changes from channel to channel; the zeros are written once.
        with text.share(workers, workers) as (worker, _), text.loop(0, height * phases) as row:
            at = [worker, text.div(row, phases), text.rem(row, phases), 0]
            text.fill("%scratch", self.scratch_type, at, length, self.machine.lanes)
        multiplier = self.o // self.c
        with text.share(self.n * self.c, self.threads) as (worker, task):
            n, channel = text.delinearize(task, (self.n, self.c))
            with text.loop(0, self.h) as row:
                self._copy_row(text, worker, [n, channel], row)
            with text.loop(0, multiplier) as which:
                self._channel(text, worker, n, text.add(text.mul(channel, multiplier), which))

    def _channel(self, text: Text, worker: Index, n: Index, output: Index) -> None:
        """One output channel: tile by tile down each column of vectors."""
        lanes, (ho, wo) = self.machine.lanes, self.out_size
        rows, (full, rest) = Split(ho, self.machine.rows), divmod(wo, lanes)
        kinds = [(0, full, lanes, lanes)] if full else []
        kinds += [(full, full + 1, power_of_two(rest), rest)] if rest else []
        for first, last, size, present in kinds:
            mask = text.mask_below(size, present)
            taps = self._taps(text, output, size)
            with text.loop(first, last) as block:
                for height, low, high in rows.kinds:
                    with text.loop(low, high) as band:
                        at = (worker, n, output, rows.start(text, band, height), text.mul(block, lanes))
                        self._tile(text, taps, at, height, size, mask)

    def _taps(self, text: Text, output: Index, lanes: int) -> Callable[[int, int], str]:
        """The weights in all lanes: kept in registers where they are few, else loaded where they are used."""
        kh, kw = self.kernel

        def load(i: int, j: int) -> str:
            return text.broadcast_load("%weight", memref((self.o, kh, kw)), [output, i, j], lanes)

        if kh * kw > self.machine.registers // 3:
            return load
        kept = {(i, j): load(i, j) for i in range(kh) for j in range(kw)}
        return lambda i, j: kept[i, j]

    def _tile(
        self,
        text: Text,
        taps: Callable[[int, int], str],
        at: tuple[Index, ...],
        rows: int,
        lanes: int,
        mask: str | None,
    ) -> None:
        """`rows` output rows by one vector of `lanes` pixels."""
        worker, n, output, row, column = at
        (kh, kw), (ho, wo) = self.kernel, self.out_size
        top = text.mul(row, self.stride[0])
        loaded: dict[tuple[int, int], str] = {}

        def pixels(down: int, along: int) -> str:
            """Input for tap column `along` of padded row `top + down`; the rows of the tile share it."""
            if (down, along) not in loaded:
                offset, phase = divmod(along, self.stride[1])
                place = [worker, text.add(top, down), phase, text.add(column, offset)]
                loaded[down, along] = text.load("%scratch", self.scratch_type, place, lanes)
            return loaded[down, along]

        values = [text.vector("0.0", lanes)] * rows
        for i, j in ((i, j) for i in range(kh) for j in range(kw)):
            tap = taps(i, j)
            for r in range(rows):
                image = pixels(r * self.stride[0] + i * self.dilation[0], j * self.dilation[1])
                values[r] = text.fma(image, tap, values[r], lanes)
        for r, value in enumerate(values):
            place = [n, output, text.add(text.mul(text.add(row, r), wo), column)]
            text.finish(self.epilogue, value, (self.n, self.o, ho * wo), place, lanes, mask)

    def _copy_row(self, text: Text, worker: Index, image: Sequence[Index], row: Index) -> None:
        """One row of the image to the buffer, by phases."""
        phases, (top, left), lanes = self.stride[1], self.padding, self.machine.lanes
        begin, down = text.mul(row, self.w), text.add(row, top)
        if phases == 1:
            source, target = [*image, begin], [worker, down, 0, left]
            text.copy(
                ("%image", self.image_type, source), ("%scratch", self.scratch_type, target), self.w, lanes
            )
        elif phases == 2:
            self._split_row(text, [*image, begin], [worker, down])
        else:
            for element in range(phases):
                offset, phase = divmod(element + left, phases)
                with text.loop(0, ceil_div(self.w - element, phases)) as i:
                    place = [*image, text.add(begin, text.add(text.mul(i, phases), element))]
                    value = text.load("%image", self.image_type, place, 1)
                    at = [worker, down, phase, text.add(i, offset)]
                    text.store(value, "%scratch", self.scratch_type, at, 1)

    def _split_row(self, text: Text, source: list[Index], target: list[Index]) -> None:
        """A row's even and odd elements apart, two vectors at a time."""
        (n, channel, begin), lanes, left = source, self.machine.lanes, self.padding[1]
        for offset, count, _ in text.pieces(self.w, 2 * lanes):
            halves: list[str] = []
            for half in range(2):
                size = min(max(count - half * lanes, 0), lanes)
                at = [n, channel, text.add(text.add(begin, offset), half * lanes)]
                mask = text.mask_below(lanes, size)
                zeros = text.vector("0.0", lanes)
                halves.append(text.load("%image", self.image_type, at, lanes, mask) if size else zeros)
            for parity in range(2):
                size = min(lanes, ceil_div(count - parity, 2))
                value = text.shuffle(halves[0], halves[1], lanes, range(parity, 2 * lanes, 2))
                shift, phase = divmod(parity + left, 2)
                at = [*target, phase, text.add(text.div(offset, 2), shift)]
                if size:
                    text.store(value, "%scratch", self.scratch_type, at, lanes, text.mask_below(lanes, size))
