"""Convolutions by channels: a register tile is neighbouring pixels of an output's row by output channels, transposed when it is stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask, ceil_div
from xdsl_exir.targets.cpu.kernels.kernel import Split, finish
from xdsl_exir.targets.cpu.kernels.tile import (
    BLOCK,
    FEW,
    TAPS_BLOCK,
    Ahead,
    Weights,
    nothing,
    register_tile,
)

if TYPE_CHECKING:
    from xdsl_exir.targets.cpu.kernels.convolution import Conv2d

Store = Callable[[SSAValue, Sequence[Index], int, Mask], None]
"""Takes a vector of a result, of so many lanes, to its place."""


@dataclass(frozen=True)
class ByChannels:
    """The kernel of the "channels" strategy."""

    conv: Conv2d

    def build(self, b: KernelBuilder) -> None:
        """A task is one panel of output channels and one band of output rows."""
        conv = self.conv
        ho, source, bands = conv.out_size[0], b.buffers["image"], conv.bands
        if conv.scratch:
            self.pad(b)
            source = b.buffers["scratch"]
        with b.share(conv.n * conv.groups * conv.panels * bands, conv.threads, conv.work) as (_, task):
            n, group, panel, band = b.delinearize(task, (conv.n, conv.groups, conv.panels, bands))
            low, high = b.span(band, ho, bands)
            full, rest = divmod(conv.group_outputs, conv.width)
            for outputs, predicate in ((conv.width if full else 0, "ult"), (rest, "eq")):
                if not outputs:
                    continue
                with b.when(panel, predicate, full) if full and rest else b.loop(0, 1):
                    self.band(b, source, (n, group, panel), (low, high), outputs)

    def band(
        self,
        b: KernelBuilder,
        source: SSAValue,
        at: tuple[Index, Index, Index],
        rows: tuple[Index, Index],
        outputs: int,
    ) -> None:
        """`outputs` channels of a panel in some rows: at once, or part by part, whose sums meet in the result."""
        conv = self.conv
        (ho, wo), (n, group, panel), out = conv.out_size, at, b.buffers["out"]
        first_output = b.add(b.mul(group, conv.group_outputs), b.mul(panel, conv.width))
        tiles, lanes = Split(wo, conv.rows), conv.machine.lanes

        def finished(value: SSAValue, place: Sequence[Index], size: int, mask: Mask) -> None:
            finish(b, conv.flat_epilogue, value, (conv.n, conv.o, ho * wo), place, size, mask)

        def added(value: SSAValue, place: Sequence[Index], size: int, mask: Mask) -> None:
            held = b.load(out, place, size, mask)
            b.store(b.op(arith.AddfOp, [held, value], type_of("f32", size)), out, place, mask)

        def each_tile(begin: Index, channels: int, store: Store) -> None:
            with b.loop(*rows) as row:
                for pixels, low, high in tiles.kinds:
                    with b.loop(low, high) as block:
                        place = (*at, row, tiles.start(b, block, pixels))
                        self.tile(b, source, place, pixels, outputs, (begin, channels), store)

        def each_vector(build: Callable[[Sequence[Index], Mask], None]) -> None:
            blocks = Split(wo, lanes)
            with b.loop(0, outputs) as channel, b.loop(*rows) as row:
                for size, low, high in blocks.kinds:
                    with b.loop(low, high) as block:
                        along = b.add(b.mul(row, wo), blocks.start(b, block, size))
                        build([n, b.add(first_output, channel), along], b.mask_below(lanes, size))

        if not conv.parts:
            each_tile(0, conv.depth, finished)
            return
        each_vector(lambda place, mask: b.store(b.constant(0.0, "f32", lanes), out, place, mask))
        for channels, low, high in conv.parts:
            with b.loop(low, high) as number:
                begin = Split(conv.depth, conv.parts[0][0]).start(b, number, channels)
                each_tile(begin, channels, added)
        each_vector(lambda place, mask: finished(b.load(out, place, lanes, mask), place, lanes, mask))

    def tile(
        self,
        b: KernelBuilder,
        source: SSAValue,
        at: tuple[Index, ...],
        pixels: int,
        outputs: int,
        part: tuple[Index, int],
        store: Store,
    ) -> None:
        """`pixels` neighbours of an output row by `outputs` channels of a panel, of a part of the input's channels, transposed and stored."""
        conv = self.conv
        n, group, panel, row, column = at
        begin, channels = part
        lanes, wo, kernel = conv.lanes, conv.out_size[1], conv.kernel
        weights, pair = b.buffers["weight"], conv.pair
        first_channel = b.mul(group, conv.depth)
        steps = self.steps(b, row)
        corner = b.mul(column, conv.stride[1])
        for step in steps:
            corner = b.add(corner, step.start)

        def broadcast(pixel: int, k: Sequence[Index]) -> SSAValue:
            channel, *down, j = b.add(begin, k[0]), *k[1:]
            place = b.add(b.mul(j, conv.dilation[1]), pixel * conv.stride[1])
            for i, step in zip(down, steps, strict=True):
                place = b.add(b.mul(i, step.apart), place)
            return b.broadcast_load(source, [n, b.add(first_channel, channel), b.add(corner, place)], lanes)

        def vector(v: int, k: Sequence[Index]) -> SSAValue:
            channel, *planes, i, j = k
            for plane in planes:
                i = b.add(b.mul(plane, kernel[0]), i)
            place = [group, panel, b.add(begin, channel), i, j, v * lanes * pair]
            given = b.load(weights, place, lanes * pair, None, conv.weight_dtype)
            return b.bitcast(given, "f32", lanes) if pair > 1 else b.widened(given, "f32")

        vectors = ceil_div(outputs, lanes)
        # Taps stay loops: written out, neighbouring taps share pixels, and LLVM keeps those in registers until it spills.
        taps = [step.taps for step in steps] + [kernel[1]]
        limit = TAPS_BLOCK if channels * math.prod(taps) <= FEW * TAPS_BLOCK else BLOCK
        multiply = b.add_pairs if pair > 1 else None
        tile = register_tile(
            b,
            pixels,
            vectors,
            lanes,
            [channels, *taps],
            broadcast,
            vector,
            limit,
            "f32",
            multiply,
            self.ahead(b, at, begin),
            {at: step.seen for at, step in enumerate(steps, 1) if step.padding},
        )
        first_output = b.add(b.mul(group, conv.group_outputs), b.mul(panel, conv.width))
        start = b.add(b.mul(row, wo), column)
        for v in range(vectors):
            for channel, pixel, size, value in b.columns([values[v] for values in tile], lanes):
                if channel >= outputs - v * lanes:
                    break
                place = [n, b.add(first_output, v * lanes + channel), b.add(start, pixel)]
                mask = b.mask_below(size, pixels - pixel)
                store(value, place, size, mask)

    def steps(self, b: KernelBuilder, row: Index) -> list[Step]:
        """How a row of a result, of all planes, sees planes and rows."""
        conv, planes, pitch = self.conv, self.conv.planes, self.conv.pitch
        below = (conv.kernel[0], conv.stride[0], conv.padding[0], conv.dilation[0])
        if planes is None:
            return [Step(b, row, conv.h, below, pitch)]
        plane, row = b.delinearize(row, (planes.count, conv.out_plane[0]))
        through = (planes.kernel, planes.stride, planes.padding, planes.dilation)
        return [
            Step(b, plane, planes.depth, through, conv.h * pitch),
            Step(b, row, conv.h, below, pitch),
        ]

    def ahead(self, b: KernelBuilder, at: tuple[Index, ...], begin: Index) -> Ahead:
        """What asks for the weights of the next panel in the turns of a tile, from a channel on."""
        conv = self.conv
        _, group, panel, row, column = at
        ho, wo = conv.out_size
        if not isinstance(ho, int) or not isinstance(wo, int):
            return nothing
        across = ceil_div(wo, conv.rows)
        tile = b.add(b.mul(row, across), b.div(column, conv.rows))
        weights = Weights(b, b.buffers["weight"], conv.depth, math.prod(conv.taps) * conv.width * conv.pair)
        ask = weights.ahead(b.add(b.mul(group, conv.panels), panel), tile, ho * across)
        return lambda channel: ask(b.add(begin, channel))

    def pad(self, b: KernelBuilder) -> None:
        """Copies the input's rows to the scratch buffer, with zeros beside them."""
        conv = self.conv
        left, width, lanes = conv.padding[1], conv.pitch, conv.machine.lanes
        outer, channels = b.buffers["scratch"], conv.groups * conv.depth
        with b.share(conv.n * channels, conv.threads, conv.work) as (_, task):
            image = b.delinearize(task, (conv.n, channels))
            with b.loop(0, conv.in_size[0]) as row:
                begin = b.mul(row, width)
                b.fill(outer, [*image, begin], left, lanes)
                for offset, size, mask in b.pieces(conv.w, lanes):
                    value = pixels(b, conv, image, b.add(b.mul(row, conv.w), offset), size, mask)
                    b.store(value, outer, [*image, b.add(b.add(begin, left), offset)], mask)
                b.fill(outer, [*image, b.add(begin, left + conv.w)], left, lanes)


class Step:
    """How a position of a result along a dimension sees the image with the kernel's taps along it: those that do not see padding."""

    def __init__(self, b: KernelBuilder, at: Index, size: Dim, moves: tuple[int, int, int, int], pitch: Dim):
        """`moves`: how many taps there are, the stride, the padding, the dilation."""
        self.b, self.size = b, size
        self.taps, stride, self.padding, self.dilation = moves
        self.first = b.mul(at, stride)
        """Where in the padded image its first tap is."""
        self.start = b.mul(b.sub(self.first, self.padding), pitch)
        """How far from the image's begin."""
        self.apart = self.dilation * pitch
        """How far from one tap to the next."""

    @property
    def seen(self) -> tuple[Index, Index]:
        """The first tap that sees the image, and the one after the last."""
        return self.before(self.padding), self.before(self.size + self.padding)

    def before(self, edge: Dim) -> Index:
        """How many taps are before a place of the padded image."""
        b, apart = self.b, self.dilation
        reached = b.sub(b.max(b.add(edge, apart - 1), self.first), self.first)
        return b.min(b.div(reached, apart), self.taps)


def pixels(b: KernelBuilder, conv: Conv2d, of: Sequence[Index], at: Index, size: int, mask: Mask) -> SSAValue:
    """Neighbouring pixels of a channel, or of a pair of them, as the scratch buffer has them."""
    n, channel = of
    if conv.pair > 1:
        group, pair = b.delinearize(channel, (conv.groups, conv.depth))
        return pairs(b, conv, (n, group, pair), at, size, mask)
    return b.widened(b.load(b.buffers["image"], [n, channel, at], size, mask, conv.x_dtype), "f32")


def pairs(
    b: KernelBuilder, conv: Conv2d, of: Sequence[Index], at: Index, size: int, mask: Mask, apart: int = 1
) -> SSAValue:
    """Every so many-th pixel of a pair of a group's channels of bfloat16, side by side; zeros are behind the last channel where it is alone."""
    n, group, pair = of
    per_group = conv.c // conv.groups
    first, masks = b.add(b.mul(group, per_group), b.mul(pair, 2)), [mask, mask]
    if per_group % 2:
        there = b.min(1, b.sub(per_group - 1, b.mul(pair, 2)))
        alone = b.mask_below(size, b.mul(there, size))
        assert alone is not None
        masks[1] = alone if mask is None else b.op(arith.AndIOp, [mask, alone], alone.type)
    values = [b.load(b.buffers["image"], [n, b.add(first, r), at], size, masks[r], "bf16") for r in range(2)]
    order = [lane + r * size for lane in range(0, size, apart) for r in range(2)]
    return b.bitcast(b.shuffle(values[0], values[1], size, order), "f32", size // apart)
