"""Convolutions of bfloat16 in registers of tiles (AMX, see `tiles`): a tile's rows are output channels, its columns pixels.

The image is copied, with zeros around it, so that pairs of channels lie side by side: what a tap sees of 16 outputs in a row is a tile then, wherever
it begins. With a stride, rows and columns are kept apart by what they leave when they are divided by it, as outputs that are neighbours see those that
leave the same. Rows of outputs follow one another as those of the copy do: what is between their ends is multiplied too, and not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import prod
from xdsl_exir.lowering.sizes import static
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div
from xdsl_exir.targets.cpu.kernels.convolution_channels import pairs
from xdsl_exir.targets.cpu.kernels.kernel import finish
from xdsl_exir.targets.cpu.kernels.tile import Weights
from xdsl_exir.targets.cpu.kernels.tiles import BLOCK, SIDE, load, multiply_add, store, zeros

if TYPE_CHECKING:
    from xdsl_exir.targets.cpu.kernels.convolution import Conv2d

BAND = 1024
"""Pixels of a task, whose sums a cache keeps."""


@dataclass(frozen=True)
class Run:
    """Outputs of a task: columns from `first` on, so many, of rows from `low` up to `high`; and where they begin in an image's copy."""

    low: Index
    high: Index
    first: Index
    columns: Index
    begin: Index


@dataclass(frozen=True)
class TiledConvolution:
    """The kernel of the "tiles" strategy, of known sizes."""

    conv: Conv2d

    @property
    def out_size(self) -> tuple[int, int]:
        height, width = static(self.conv.out_size)
        return height, width

    @property
    def images(self) -> int:
        return static((self.conv.n,))[0]

    @property
    def pairs(self) -> int:
        """Pairs of a group's channels in the copy, which are whole tiles."""
        return self.conv.depth * SIDE

    @property
    def rows(self) -> int:
        """Rows of a copied image that leave the same."""
        return ceil_div(static((self.conv.h,))[0] + 2 * self.conv.padding[0], self.conv.stride[0])

    @property
    def pitch(self) -> int:
        """Columns that leave the same."""
        return ceil_div(static((self.conv.pitch,))[0], self.conv.stride[1])

    @property
    def phases(self) -> int:
        """What rows and columns leave together."""
        return self.conv.stride[0] * self.conv.stride[1]

    @property
    def plane(self) -> int:
        """Elements of a pair of channels that leave the same, and what the last tile reads behind them."""
        ends = zip(self.conv.kernel, self.conv.dilation, self.conv.stride, strict=True)
        down, along = ((taps - 1) * apart // step for taps, apart, step in ends)
        return max(self.rows * self.pitch, (self.out_size[0] + down) * self.pitch + along + BLOCK)

    @property
    def across(self) -> int:
        """Columns of a task."""
        return min(self.out_size[1], BAND)

    @property
    def chunks(self) -> int:
        """Into how many tasks a row is cut."""
        return ceil_div(self.out_size[1], self.across)

    @property
    def bands(self) -> int:
        """Into how many tasks an image's rows are cut."""
        height, others = self.out_size[0], self.images * self.conv.groups * self.conv.panels
        high = 1 if self.chunks > 1 else max(1, BAND // self.pitch)
        return min(height, max(ceil_div(height, high), ceil_div(self.conv.threads, others)))

    @property
    def length(self) -> int:
        """Pixels of a task at most, in whole blocks."""
        rows = ceil_div(self.out_size[0], self.bands)
        return ceil_div((rows - 1) * self.pitch + self.across, BLOCK) * BLOCK

    @property
    def tiles(self) -> int:
        """Blocks of pixels of an image, which all multiply each panel."""
        return self.bands * self.chunks * (self.length // BLOCK)

    @property
    def copied(self) -> int:
        """Elements of all copies."""
        return self.images * self.conv.groups * self.pairs * self.phases * self.plane

    @property
    def scratch(self) -> tuple[int]:
        """The copies, and each worker's sums."""
        return (self.copied + self.conv.threads * self.conv.width * self.length,)

    def build(self, b: KernelBuilder) -> None:
        self.copy(b)
        self.multiply(b)

    # the copy

    def copy(self, b: KernelBuilder) -> None:
        """Copies images by pairs of channels."""
        conv, scratch = self.conv, b.buffers["scratch"]
        present = ceil_div(conv.c // conv.groups, 2)
        with b.share(self.images * conv.groups * self.pairs, conv.threads, conv.work) as (_, task):
            begin = b.mul(task, self.phases * self.plane)
            n, group, pair = b.delinearize(task, (self.images, conv.groups, self.pairs))
            with b.when(pair, "ult", present):
                for phase in range(conv.stride[0]):
                    with b.loop(0, self.rows) as row:
                        self.copy_row(b, (n, group, pair), phase, row, begin)
            with b.when(pair, "uge", present):
                b.fill(scratch, [begin], self.phases * self.plane, conv.machine.lanes)

    def copy_row(
        self, b: KernelBuilder, at: tuple[Index, Index, Index], phase: int, row: Index, begin: Index
    ) -> None:
        """A row of a pair of channels, or one beyond the image."""
        (down, along), lanes = self.conv.stride, self.conv.machine.lanes
        y = b.sub(b.add(b.mul(row, down), phase), self.conv.padding[0])
        starts = [
            b.add(begin, b.add((phase * along + column) * self.plane, b.mul(row, self.pitch)))
            for column in range(along)
        ]
        with b.when(y, "ult", self.conv.h):
            for column, start in enumerate(starts):
                self.copy_columns(b, at, y, column, start)
        with b.when(y, "uge", self.conv.h):
            for start in starts:
                b.fill(b.buffers["scratch"], [start], self.pitch, lanes)

    def copy_columns(
        self, b: KernelBuilder, at: tuple[Index, Index, Index], y: Index, phase: int, start: Index
    ) -> None:
        """Columns of a row that leave the same, with zeros around them."""
        conv, scratch, [width] = self.conv, b.buffers["scratch"], static((self.conv.w,))
        along, lanes = conv.stride[1], conv.machine.lanes
        before = max(0, ceil_div(conv.padding[1] - phase, along))
        origin = before * along + phase - conv.padding[1]
        count = max(0, ceil_div(width - origin, along))
        b.fill(scratch, [start], before, lanes)
        for offset, size, _ in b.pieces(count, lanes):
            x = b.add(b.mul(offset, along), origin)
            mask = None if size == lanes and along == 1 else b.mask_below(lanes * along, b.sub(width, x))
            place = b.add(b.mul(y, width), x)
            value = pairs(b, conv, at, place, lanes * along, mask, along)
            b.store(value, scratch, [b.add(b.add(start, before), offset)], b.mask_below(lanes, size))
        b.fill(scratch, [b.add(start, before + count)], self.pitch - before - count, lanes)

    # the products

    def multiply(self, b: KernelBuilder) -> None:
        """A task is one panel of output channels, and some rows of an image, or part of one."""
        conv, (height, width) = self.conv, self.out_size
        shape = (self.images, conv.groups, conv.panels, self.bands, self.chunks)
        with b.share(prod(shape), conv.threads, conv.work) as (worker, task):
            n, group, panel, band, chunk = b.delinearize(task, shape)
            low, high = b.span(band, height, self.bands)
            first = b.mul(chunk, self.across)
            columns = self.across if self.chunks == 1 else b.min(self.across, b.sub(width, first))
            run = Run(low, high, first, columns, b.add(b.mul(low, self.pitch), first))
            sums = b.add(b.mul(worker, conv.width * self.length), self.copied)
            pixels = b.add(b.mul(b.sub(b.sub(high, low), 1), self.pitch), columns)
            with b.loop(0, b.div(b.add(pixels, BLOCK - 1), BLOCK)) as block:
                before, moved = b.add(b.mul(band, self.chunks), chunk), b.mul(block, BLOCK)
                tile = b.add(b.mul(before, self.length // BLOCK), block)
                self.block(b, (n, group, panel), b.add(run.begin, moved), tile, b.add(sums, moved))
            self.finish(b, (n, group, panel), run, sums)

    def block(
        self, b: KernelBuilder, at: tuple[Index, Index, Index], pixel: Index, tile: Index, sums: Index
    ) -> None:
        """The products of a panel's channels and some pixels, to where their sums are kept."""
        conv, (n, group, panel), scratch = self.conv, at, b.buffers["scratch"]
        taps, channels = conv.kernel[0] * conv.kernel[1], range(0, conv.width, SIDE)
        columns, apart = range(0, BLOCK, SIDE), (self.phases * self.plane, 1)
        image = b.mul(b.add(b.mul(n, conv.groups), group), self.pairs * self.phases * self.plane)
        filters, turns = b.add(b.mul(group, conv.panels), panel), conv.depth * taps
        ask = Weights(b, b.buffers["weight"], turns, conv.width * conv.pair).ahead(filters, tile, self.tiles)
        weights = b.flat(b.buffers["weight"])

        def add(turn: Index, sums: list[SSAValue]) -> list[SSAValue]:
            ask(turn)
            step, tap = b.div(turn, taps), b.rem(turn, taps)
            place = b.mul(b.add(b.mul(filters, turns), turn), conv.width)
            left = [load(b, weights, [b.add(place, channel), 0], (conv.pair, 1), 2) for channel in channels]
            seen = b.add(b.add(image, pixel), self.seen(b, tap))
            right = [load(b, scratch, [b.mul(step, SIDE), b.add(seen, at)], apart, 4) for at in columns]
            return multiply_add(b, left, right, sums)

        made = iter(b.reduce(turns, zeros(b, len(channels) * len(columns)), add))
        for channel in channels:
            for column in columns:
                store(b, next(made), scratch, [channel, b.add(sums, column)], (self.length, 1))

    def seen(self, b: KernelBuilder, tap: Index) -> Index:
        """How far from the first pixel's place in the copy a tap sees it."""
        conv = self.conv
        place = b.div(tap, conv.kernel[1]), b.rem(tap, conv.kernel[1])
        down, along = (b.mul(at, apart) for at, apart in zip(place, conv.dilation, strict=True))
        phase = b.add(b.mul(b.rem(down, conv.stride[0]), conv.stride[1]), b.rem(along, conv.stride[1]))
        moved = b.add(b.mul(b.div(down, conv.stride[0]), self.pitch), b.div(along, conv.stride[1]))
        return b.add(b.mul(phase, self.plane), moved)

    def finish(self, b: KernelBuilder, at: tuple[Index, Index, Index], run: Run, sums: Index) -> None:
        """Stores a task's outputs, after what follows."""
        conv, (n, group, panel), lanes = self.conv, at, self.conv.machine.lanes
        (height, width), outputs = self.out_size, conv.group_outputs
        shape: Sequence[int] = (self.images, conv.o, height * width)
        channel = b.mul(panel, conv.width)
        first = b.add(b.mul(group, outputs), channel)
        with (
            b.loop(0, b.min(b.sub(outputs, channel), conv.width)) as r,
            b.loop(0, b.sub(run.high, run.low)) as row,
            b.loop(0, b.div(b.add(run.columns, lanes - 1), lanes)) as v,
        ):
            column = b.mul(v, lanes)
            whole = run.columns == width and width % lanes == 0
            mask = None if whole else b.mask_below(lanes, b.sub(run.columns, column))
            kept = b.add(b.add(sums, b.mul(r, self.length)), b.add(b.mul(row, self.pitch), column))
            value = b.load(b.buffers["scratch"], [kept], lanes, None, "f32")
            place = b.add(b.mul(b.add(run.low, row), width), b.add(run.first, column))
            finish(b, conv.flat_epilogue, value, shape, [n, b.add(first, r), place], lanes, mask)
