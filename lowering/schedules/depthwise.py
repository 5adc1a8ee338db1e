"""The depthwise way of a convolution: one input channel per group, vector lanes along the pixels of an output row.

A task is one image of one channel. It is copied, with zeros around it, to a buffer of its worker's that mostly stays in the L1
cache; a horizontal stride S splits each padded row into S phases (columns 0, S, 2S, ...; 1, S + 1, ...), so that every
tap reads consecutive elements. A tile is up to 8 output rows by one vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.lowering.schedules.text import Index, Split, Text, ceil_div, memref, power_of_two

if TYPE_CHECKING:
    from xdsl_exir.lowering.schedules.convolution import Conv2d


def scratch(conv: Conv2d) -> tuple[int, int, int, int]:
    """[workers, padded height, phases, elements of a phase], with room for the last vector to read beyond the row."""
    lanes, phases, (height, width) = conv.machine.lanes, conv.stride[1], conv.padded
    reach = ceil_div(conv.out_size[1], lanes) * lanes + (conv.kernel[1] - 1) * conv.dilation[1] // phases
    return conv.threads, height, phases, max(ceil_div(width, phases), reach)


def write(conv: Conv2d, text: Text) -> None:
    """Writes the kernel's body."""
    lanes, shape = conv.machine.lanes, scratch(conv)
    # Only the middle of a buffer changes from channel to channel; the zeros are written once.
    with text.share(shape[0], shape[0]) as (worker, _), text.loop(0, shape[1] * shape[2]) as row:
        text.fill(
            "%scratch",
            memref(shape),
            [worker, text.div(row, shape[2]), text.rem(row, shape[2]), 0],
            shape[3],
            lanes,
        )
    multiplier, (ho, wo) = conv.o // conv.c, conv.out_size
    rows = Split.at_most(ho, conv.machine.rows)
    with text.share(conv.n * conv.c, conv.threads) as (worker, task):
        n, channel = text.delinearize(task, (conv.n, conv.c))
        with text.loop(0, conv.h) as row:
            _copy_row(conv, text, worker, n, channel, row)
        with text.loop(0, multiplier) as which:
            output = text.add(text.mul(channel, multiplier), which)
            full, rest = divmod(wo, lanes)
            for first, last, size, present in (
                (0, full, lanes, lanes),
                (full, full + 1, power_of_two(rest), rest),
            ):
                if first == last or not present:
                    continue
                mask = text.mask(size, present) if present < size else None
                taps = _Taps(conv, text, output, size)
                with text.loop(first, last) as block:
                    for height, low, high in rows.kinds:
                        with text.loop(low, high) as band:
                            at = (worker, n, output, rows.start(text, band, height), text.mul(block, lanes))
                            _tile(conv, text, taps, at, height, size, mask)


class _Taps:
    """The kernel's weights in all lanes: kept in registers where they are few, else loaded where they are used."""

    def __init__(self, conv: Conv2d, text: Text, output: Index, lanes: int) -> None:
        self.text, self.output, self.lanes, self.type = text, output, lanes, conv.types["%weight"]
        kh, kw = conv.kernel
        few = kh * kw <= conv.machine.registers // 3
        self.kept = {(i, j): self._load(i, j) for i in range(kh) for j in range(kw)} if few else {}

    def _load(self, i: int, j: int) -> str:
        return self.text.broadcast_load("%weight", self.type, [self.output, i, j], self.lanes)

    def __call__(self, i: int, j: int) -> str:
        return self.kept.get((i, j)) or self._load(i, j)


def _tile(
    conv: Conv2d, text: Text, taps: _Taps, at: tuple[Index, ...], rows: int, lanes: int, mask: str | None
) -> None:
    """`rows` output rows by one vector of `lanes` pixels."""
    worker, n, output, row, column = at
    shape, (kh, kw), (ho, wo) = scratch(conv), conv.kernel, conv.out_size
    top = text.mul(row, conv.stride[0])
    loaded: dict[tuple[int, int], str] = {}

    def pixels(down: int, along: int) -> str:
        """Input for tap column `along` of padded row `top + down`; rows of the tile share it."""
        if (down, along) not in loaded:
            offset, phase = divmod(along, conv.stride[1])
            place = [worker, text.add(top, down), phase, text.add(column, offset)]
            loaded[down, along] = text.load("%scratch", memref(shape), place, lanes)
        return loaded[down, along]

    values = [text.vector("0.0", lanes)] * rows
    for i in range(kh):
        for j in range(kw):
            tap = taps(i, j)
            for r in range(rows):
                image = pixels(r * conv.stride[0] + i * conv.dilation[0], j * conv.dilation[1])
                values[r] = text.fma(image, tap, values[r], lanes)
    for r, value in enumerate(values):
        place = [n, output, text.add(text.mul(text.add(row, r), wo), column)]
        text.finish(conv.flat_epilogue, value, (conv.n, conv.o, ho * wo), place, lanes, mask)


def _copy_row(conv: Conv2d, text: Text, worker: Index, n: Index, channel: Index, row: Index) -> None:
    """One row of the image to the buffer, by phases."""
    phases, (top, left), lanes = conv.stride[1], conv.padding, conv.machine.lanes
    source, target = memref((conv.n, conv.c, conv.h * conv.w)), memref(scratch(conv))
    begin, down = text.mul(row, conv.w), text.add(row, top)
    if phases == 1:
        text.copy(
            ("%image", source, [n, channel, begin]),
            ("%scratch", target, [worker, down, 0, left]),
            conv.w,
            lanes,
        )
        return
    if phases == 2:
        _split_row(conv, text, [n, channel, begin], [worker, down])
        return
    for element in range(phases):
        phase, offset = (element + left) % phases, (element + left) // phases
        with text.loop(0, ceil_div(conv.w - element, phases)) as i:
            value = text.load(
                "%image", source, [n, channel, text.add(begin, text.add(text.mul(i, phases), element))], 1
            )
            text.store(value, "%scratch", target, [worker, down, phase, text.add(i, offset)], 1)


def _split_row(conv: Conv2d, text: Text, source: list[Index], target: list[Index]) -> None:
    """A row's even and odd elements apart, two vectors at a time."""
    (n, channel, begin), lanes, left = source, conv.machine.lanes, conv.padding[1]
    type_ = memref((conv.n, conv.c, conv.h * conv.w))
    full, rest = divmod(conv.w, 2 * lanes)
    for first, last, present in ((0, full, 2 * lanes), (full, full + 1, rest)):
        if first == last or not present:
            continue
        with text.loop(first, last) as block:
            place = text.add(begin, text.mul(block, 2 * lanes))
            halves: list[str] = []
            for half in range(2):
                size = min(max(present - half * lanes, 0), lanes)
                mask = text.mask(lanes, size) if size < lanes else None
                at = text.add(place, half * lanes)
                missing = text.vector("0.0", lanes)
                halves.append(text.load("%image", type_, [n, channel, at], lanes, mask) if size else missing)
            for parity in range(2):
                value = text.shuffle(*halves, lanes, range(parity, 2 * lanes, 2))
                size = min(lanes, ceil_div(present - parity, 2))
                offset, phase = divmod(parity + left, 2)
                at = [*target, phase, text.add(text.mul(block, lanes), offset)]
                if size:
                    mask = text.mask(lanes, size) if size < lanes else None
                    text.store(value, "%scratch", memref(scratch(conv)), at, lanes, mask)
