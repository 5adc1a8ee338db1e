"""How a task of a matrix product is built: tiles of registers row by row, in each row those of some panels, and what packs these.

Where the reduction is long, it is done part by part: then caches hold the parts of panels and rows, and sums meet in a buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv, min_
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.sizes import Sizes, static
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask, ceil_div
from xdsl_exir.targets.cpu.kernels.kernel import Split, finish
from xdsl_exir.targets.cpu.kernels.tile import (
    BLOCK,
    NARROW_BLOCK,
    Ahead,
    Load,
    Weights,
    nothing,
    register_tile,
)
from xdsl_exir.targets.cpu.kernels.tiles import RowBlocks, multiply_tiles

if TYPE_CHECKING:
    from xdsl_exir.targets.cpu.kernels.contraction import Matmul


@dataclass(frozen=True)
class Panel:
    """Columns `start`, start + 1, ... of a product, so many of them."""

    index: Index
    start: Index
    columns: Dim
    masks: Sequence[Mask]
    """Which lanes of its vectors are there."""
    present: Sequence[Index]
    """Columns of each vector and of those behind it."""


@dataclass(frozen=True)
class Part:
    """Steps of the reduction from `begin` on."""

    begin: Index
    steps: Dim


@dataclass(frozen=True)
class Task:
    """Panels from `low` up to `high`, and row tiles from `first` up to `last`, of a batch."""

    product: Matmul
    b: KernelBuilder
    lhs: SSAValue
    rhs: SSAValue
    batch: Sequence[Index]
    worker: Index
    low: Index
    high: Index
    tiles: Split | RowBlocks
    first: Index
    last: Index

    @property
    def whole(self) -> Part:
        """All of the reduction."""
        return Part(0, self.product.steps)

    def build(self) -> None:
        """Builds the task."""
        product = self.product
        if isinstance(self.tiles, RowBlocks):
            multiply_tiles(self, self.tiles)
        elif product.dots:
            self.each_panel(self.dots)
        elif product.parts:
            self.part_by_part()
        else:
            if product.packs:
                self.each_panel(lambda panel: self.pack(panel, self.whole))
            self.each_tile(
                lambda panel, rows, row: self.store(self.tile(panel, rows, row, self.whole), panel, row)
            )

    def part_by_part(self) -> None:
        """Builds a part of the reduction after the other; sums of tiles are kept in a buffer."""
        b, product = self.b, self.product
        whole, dtype, lanes = product.dtype.startswith("i"), product.dtype, product.lanes
        kind, type = arith.AddiOp if whole else arith.AddfOp, type_of(dtype, lanes)
        scratch, zero = b.buffers["scratch"], b.constant(0 if whole else 0.0, dtype, lanes)

        def begin(panel: Panel, rows: int, row: Index) -> None:
            for at in self.sums(panel, rows, row):
                b.store(zero, scratch, at)

        def end(panel: Panel, rows: int, row: Index) -> None:
            sums = [b.load(scratch, at, lanes, None, dtype) for at in self.sums(panel, rows, row)]
            vectors = len(panel.masks)
            self.store([sums[r * vectors : (r + 1) * vectors] for r in range(rows)], panel, row)

        def add(panel: Panel, rows: int, row: Index, part: Part) -> None:
            values = [value for vectors in self.tile(panel, rows, row, part) for value in vectors]
            for value, at in zip(values, self.sums(panel, rows, row), strict=True):
                held = b.load(scratch, at, lanes, None, dtype)
                b.store(b.op(kind, [held, value], type), scratch, at)

        self.each_tile(begin)
        for part in self.parts():
            if product.packs:
                self.each_panel(lambda panel, part=part: self.pack(panel, part))
            self.each_tile(lambda panel, rows, row, part=part: add(panel, rows, row, part))
        self.each_tile(end)

    def parts(self) -> Iterator[Part]:
        """The parts of the reduction, in a loop for each size of them."""
        b, product = self.b, self.product
        for steps, low, high in product.parts:
            with b.loop(low, high) as number:
                yield Part(Split(product.steps, product.parts[0][0]).start(b, number, steps), steps)

    def place(self, panel: Panel) -> Index:
        """Where among those of all workers a panel is, and its sums."""
        b = self.b
        return b.add(b.mul(self.worker, self.product.group), b.sub(panel.index, self.low))

    def sums(self, panel: Panel, rows: int, row: Index) -> Iterator[list[Index]]:
        """Where the sums of a tile are kept."""
        b, lanes, place = self.b, self.product.lanes, self.place(panel)
        below, vectors = b.add(row, self.product.packed), len(panel.masks)
        return ([place, b.add(below, r), v * lanes] for r in range(rows) for v in range(vectors))

    def each_tile(self, build: Callable[[Panel, int, Index], None]) -> None:
        """Builds what happens to each row tile of each panel, given its rows and the first of these."""
        b = self.b
        assert isinstance(self.tiles, Split)
        for rows, low, high in self.tiles.kinds:
            with b.loop(b.max(self.first, low), b.min(self.last, high)) as block:
                row = self.tiles.start(b, block, rows)
                self.each_panel(lambda panel, rows=rows, row=row: build(panel, rows, row))

    def each_panel(self, build: Callable[[Panel], None]) -> None:
        """Builds what happens to each panel."""
        with self.b.loop(self.low, self.high) as index:
            self.each_width(index, build)

    def each_width(self, index: Index, build: Callable[[Panel], None]) -> None:
        """Builds what happens to a panel; the last one may have fewer columns."""
        b, n, width = self.b, self.product.n, self.product.width
        full, rest = n // width, n % width
        if full:
            with b.when(index, "ult", full) if rest else b.loop(0, 1):
                build(self.panel(index, width))
        if rest:
            with b.when(index, "eq", full) if full else b.loop(0, 1):
                build(self.panel(index, rest))

    def panel(self, index: Index, columns: Dim) -> Panel:
        """A panel of which so many columns are there."""
        b, lanes = self.b, self.product.lanes
        vectors = ceil_div(columns, lanes) if isinstance(columns, int) else self.product.vectors
        # A vector without any columns may be there if it is not known how many there are: it stores none.
        present = [b.max(columns, v * lanes) for v in range(vectors)]
        masks = [b.mask_below(lanes, b.sub(at, v * lanes)) for v, at in enumerate(present)]
        return Panel(index, b.mul(index, self.product.width), columns, masks, present)

    # tiles

    def lead(self, batch: Sizes | None) -> list[Index]:
        """Where an operand of a batch shape is read."""
        return broadcast_indices(self.batch, batch)

    def tile(self, panel: Panel, rows: int, row: Index, part: Part) -> list[list[SSAValue]]:
        """The products of rows from `row` on, by vectors of a panel."""
        product = self.product
        if product.scaled is None:
            return self.sums_of(panel, rows, row, part)
        b, vectors, size = self.b, len(panel.masks), product.scaled
        scales = b.buffers["scales"]

        def add(group: Index, carried: list[SSAValue]) -> list[SSAValue]:
            own = [
                b.load(scales, [panel.index, group, v * product.lanes], product.lanes, None, product.dtype)
                for v in range(vectors)
            ]
            made = self.sums_of(panel, rows, row, Part(b.mul(group, size), size))
            flat = [pair for each in made for pair in zip(each, own, strict=True)]
            return [b.fma(*pair, held) for pair, held in zip(flat, carried, strict=True)]

        zero = b.constant(0.0, product.dtype, product.lanes)
        totals = b.reduce(product.k // size, [zero] * (rows * vectors), add)
        return [totals[r * vectors : (r + 1) * vectors] for r in range(rows)]

    def sums_of(self, panel: Panel, rows: int, row: Index, part: Part) -> list[list[SSAValue]]:
        """Those of a part of the reduction."""
        product, vectors = self.product, len(panel.masks)
        short = product.batch and isinstance(product.k, int) and product.k <= BLOCK
        limit = NARROW_BLOCK if product.n == 1 or short else BLOCK
        left, right = self.left(row, part), self.right(panel, part)
        add = self.b.add_pairs if product.pair > 1 else None
        ask = self.ahead(panel, self.b.div(row, product.rows))
        return register_tile(
            *(self.b, rows, vectors, product.lanes, [part.steps], left, right),
            *(limit // product.pair, product.dtype, add),
            ahead=lambda step: ask(self.b.add(step, part.begin)),
        )

    def store(self, tile: Sequence[Sequence[SSAValue]], panel: Panel, row: Index) -> None:
        """Stores a tile, after what follows it."""
        b, product = self.b, self.product
        shape = (*product.batch, product.m, product.n)
        for r, values in enumerate(tile):
            for v, value in enumerate(values):
                at = [*self.batch, b.add(row, r), b.add(panel.start, v * product.lanes)]
                finish(b, product.epilogue, value, shape, at, product.lanes, panel.masks[v])

    def left(self, row: Index, part: Part) -> Load:
        """Elements of the left-hand side, or pairs of them."""
        b, product, lead = self.b, self.product, self.lead(self.product.lhs_batch)

        def load(r: int, k: Sequence[Index]) -> SSAValue:
            at = [b.add(row, r), b.mul(b.add(k[0], part.begin), product.pair)]
            if product.pair > 1:
                pair = b.load(self.lhs, [*lead, *at], product.pair, None, "bf16")
                pair = b.bitcast(pair, product.dtype, 1)
                return b.shuffle(pair, pair, product.lanes, [0] * product.lanes)
            at = [*lead, *(reversed(at) if product.lhs_transposed else at)]
            return b.broadcast_load(self.lhs, at, product.lanes, product.dtype)

        return load

    def right(self, panel: Panel, part: Part) -> Load:
        """Vectors of the right-hand side."""
        b, lanes, dtype = self.b, self.product.lanes, self.product.dtype
        if self.product.rhs == "packed":
            return lambda v, k: self.given([panel.index, b.add(k[0], part.begin), v * lanes])
        if self.product.packs:
            scratch, place = b.buffers["scratch"], self.place(panel)
            return lambda v, k: b.load(scratch, [place, k[0], v * lanes], lanes, None, dtype)
        lead = self.lead(self.product.rhs_batch)
        return lambda v, k: self.given(
            [*lead, b.add(k[0], part.begin), b.add(panel.start, v * lanes)], panel.masks[v]
        )

    def ahead(self, panel: Panel, tile: Index, turn: int = 1) -> Ahead:
        """What asks for the next panel, of weights that are known to be multiplied panel by panel, in each turn of so many steps of a tile."""
        product, count = self.product, self.tiles.count
        if (
            product.rhs != "packed"
            or product.group != 1
            or not is_static((count, product.steps, product.panels))
        ):
            return nothing
        tiles, steps = static((count, product.steps))
        weights = Weights(self.b, self.rhs, steps // turn, turn * product.pair * product.width)
        return weights.ahead(panel.index, tile, tiles)

    def given(self, at: Sequence[Index], mask: Mask = None) -> SSAValue:
        """A vector of the right-hand side as it is given, in the product's dtype; or of pairs, as many bits."""
        product = self.product
        if product.pair > 1:
            return self.b.bitcast(self.pairs(at, mask), product.dtype, product.lanes)
        value = self.b.load(self.rhs, at, product.lanes, mask, product.rhs_dtype or product.dtype)
        return self.b.widened(value, product.dtype)

    def pairs(self, at: Sequence[Index], mask: Mask) -> SSAValue:
        """Twice as many elements of the right-hand side, those that are neighbours along the reduction together; `at` counts them by pairs."""
        b, lanes, pair = self.b, self.product.lanes, self.product.pair
        *lead, row, column = at
        if self.product.rhs != "row_major":
            return b.load(self.rhs, [*lead, row, b.mul(column, pair)], pair * lanes, mask, "bf16")
        first, second = (
            b.load(self.rhs, [*lead, b.add(b.mul(row, pair), r), column], lanes, mask, "bf16")
            for r in range(pair)
        )
        return self.interleaved(first, second)

    def interleaved(self, first: SSAValue, second: SSAValue) -> SSAValue:
        """Pairs of an element of each vector."""
        lanes = self.product.lanes
        order = [lane + r * lanes for lane in range(lanes) for r in range(2)]
        return self.b.shuffle(first, second, lanes, order)

    def dots(self, panel: Panel) -> None:
        """The products of the one row with as many columns as there are lanes: each column's in the lanes of a register of its own, whose sums
        are those of a matrix's rows."""
        b, product = self.b, self.product
        lanes, dtype, k_size = product.lanes, product.dtype, product.k
        row, lead = map(self.lead, (product.lhs_batch, product.rhs_batch))

        def place(at: Sequence[Index], step: Index) -> tuple[list[Index], Mask]:
            """Where a vector lies that begins behind so many others, and which of its lanes are there."""
            k = b.mul(step, lanes)
            return [*at, k], None if k_size % lanes == 0 else b.mask_below(lanes, b.sub(k_size, k))

        def left(_: int, step: Sequence[Index]) -> SSAValue:
            at, mask = place([*row, 0], step[0])
            return b.load(self.lhs, at, lanes, mask, dtype)

        def right(lane: int, step: Sequence[Index]) -> SSAValue:
            return self.given(*place([*lead, self.column(panel.start, lane, panel.present[0])], step[0]))

        steps = [ceildiv(k_size, lanes)]
        sums = register_tile(b, lanes, 1, lanes, steps, right, left, BLOCK, dtype)
        columns = b.transpose([total for [total] in sums], lanes)
        kind = arith.AddiOp if dtype.startswith("i") else arith.AddfOp
        while len(columns) > 1:
            half = len(columns) // 2
            columns = [
                b.op(kind, pair, type_of(dtype, lanes))
                for pair in zip(columns[:half], columns[half:], strict=True)
            ]
        shape = (*product.batch, product.m, product.n)
        finish(b, product.epilogue, columns[0], shape, [*self.batch, 0, panel.start], lanes, panel.masks[0])

    # packing

    def pack(self, panel: Panel, part: Part) -> None:
        """Packs a panel's part to its place; what is beyond its columns is never stored."""
        self.turned(panel, part) if self.product.rhs == "transposed" else self.copied(panel, part)

    def copied(self, panel: Panel, part: Part) -> None:
        """Packs rows of a panel as they lie."""
        b, lanes, _dtype, place = self.b, self.product.lanes, self.product.dtype, self.place(panel)
        lead = self.lead(self.product.rhs_batch)
        with b.loop(0, part.steps) as k:
            row = b.add(k, part.begin)
            for v, mask in enumerate(panel.masks):
                value = self.given([*lead, row, b.add(panel.start, v * lanes)], mask)
                b.store(value, b.buffers["scratch"], [place, k, v * lanes])

    def turned(self, panel: Panel, part: Part) -> None:
        """Packs columns that lie along the reduction: square blocks are transposed in registers; lanes without a column repeat the last one."""
        b, lanes, _dtype, place = self.b, self.product.lanes, self.product.dtype, self.place(panel)
        lead, rest = self.lead(self.product.rhs_batch), part.steps % lanes
        blocks = ((part.steps // lanes, lanes, 0), (min_(rest, 1), rest, part.steps - rest))
        for v in range(len(panel.masks)):
            present = b.sub(b.min(panel.columns, (v + 1) * lanes), b.min(panel.columns, v * lanes))
            begin = b.add(panel.start, v * lanes)
            for count, size, origin in blocks:
                if count == 0 or size == 0:
                    continue
                mask = b.mask_below(lanes * self.product.pair, b.mul(size, self.product.pair))
                with b.loop(0, count) as block:
                    k = b.add(b.mul(block, lanes), origin)
                    at = b.add(k, part.begin)
                    rows = [
                        self.given([*lead, self.column(begin, lane, present), at], mask)
                        for lane in range(lanes)
                    ]
                    there = size if isinstance(size, int) else lanes
                    for step, value in enumerate(b.transpose(rows, lanes)[:there]):
                        b.store(value, b.buffers["scratch"], [place, b.add(k, step), v * lanes])

    def column(self, begin: Index, lane: int, present: Index) -> Index:
        """The column behind `begin` that goes to a lane: of those that are not there the last one, and of none the first."""
        if isinstance(present, int):
            return self.b.add(begin, min(lane, present - 1))
        return self.b.min(self.b.add(begin, lane), self.product.n - 1)


def broadcast_indices(batch: Sequence[Index], shape: Sizes | None) -> list[Index]:
    """Where an operand of batch shape `shape` is read for the result's batch index."""
    if shape is None:
        return list(batch)
    lead = batch[len(batch) - len(shape) :]
    return [0 if size == 1 else i for size, i in zip(shape, lead, strict=True)]
