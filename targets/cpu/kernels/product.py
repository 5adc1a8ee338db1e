"""How a task of a matrix product is built: tiles of registers along a panel, or along rows, and what packs panels.

Along a panel, one block of the right-hand side serves all rows, part by part of a long reduction, whose sums meet in a buffer. Along rows, a cache has all
panels, and what is written lies in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv, min_
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask, ceil_div
from xdsl_exir.targets.cpu.kernels.kernel import Split, finish
from xdsl_exir.targets.cpu.kernels.tile import BLOCK, NARROW_BLOCK, Load, register_tile

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
    """A range of row tiles, in a batch."""

    product: Matmul
    b: KernelBuilder
    lhs: SSAValue
    rhs: SSAValue
    batch: Sequence[Index]
    worker: Index
    tiles: Split
    first: Index
    last: Index

    @property
    def whole(self) -> Part:
        """All of the reduction."""
        return Part(0, self.product.k)

    # along rows, and along columns

    def along_rows(self) -> None:
        """Builds all panels of a row tile before the next one."""
        b, panels = self.b, self.product.panels
        place = b.mul(self.worker, panels)
        if self.product.packs:
            self.pack_all(place)
        for rows, row in self.row_tiles():
            with b.loop(0, panels) as index:

                def build(panel: Panel, rows: int = rows, row: Index = row) -> None:
                    self.store(self.tile(panel, b.add(place, panel.index), rows, row, self.whole), panel, row)

                self.each_width(index, build)

    def along_columns(self, index: Index) -> None:
        """Builds all row tiles of a panel."""
        self.each_width(index, self.dots if self.product.dots else self.parts if self.product.parts else self.at_once)

    def at_once(self, panel: Panel) -> None:
        """The tiles of a panel, each over the whole reduction."""
        if self.product.packs:
            self.pack(panel, self.worker, self.whole)
        for rows, row in self.row_tiles():
            self.store(self.tile(panel, self.worker, rows, row, self.whole), panel, row)

    def parts(self, panel: Panel) -> None:
        """The tiles of a panel, a part of the reduction after the other; their sums are kept in a buffer."""
        b, product = self.b, self.product
        kind = arith.AddiOp if product.dtype.startswith("i") else arith.AddfOp
        type = type_of(product.dtype, product.lanes)
        zero = b.constant(0 if product.dtype.startswith("i") else 0.0, product.dtype, product.lanes)
        for rows, row in self.row_tiles():
            for at in self.sums(rows, row, len(panel.masks)):
                b.store(zero, b.buffers["scratch"], at)
        for steps, low, high in product.parts:
            with b.loop(low, high) as number:
                part = Part(Split(product.k, product.parts[0][0]).start(b, number, steps), steps)
                if product.packs:
                    self.pack(panel, self.worker, part)
                for rows, row in self.row_tiles():
                    tile = [v for vectors in self.tile(panel, self.worker, rows, row, part) for v in vectors]
                    for value, at in zip(tile, self.sums(rows, row, len(panel.masks)), strict=True):
                        held = b.load(b.buffers["scratch"], at, product.lanes, None, product.dtype)
                        b.store(b.op(kind, [held, value], type), b.buffers["scratch"], at)
        for rows, row in self.row_tiles():
            values = [
                b.load(b.buffers["scratch"], at, product.lanes, None, product.dtype)
                for at in self.sums(rows, row, len(panel.masks))
            ]
            vectors = len(panel.masks)
            self.store([values[r * vectors : (r + 1) * vectors] for r in range(rows)], panel, row)

    def sums(self, rows: int, row: Index, vectors: int) -> Iterator[list[Index]]:
        """Where the sums of a tile are kept."""
        below, lanes = self.b.add(row, self.product.packed), self.product.lanes
        return ([self.worker, self.b.add(below, r), v * lanes] for r in range(rows) for v in range(vectors))

    def row_tiles(self) -> Iterator[tuple[int, Index]]:
        """The row tiles, in a loop for each size of them: their rows, and the first of these."""
        b = self.b
        for rows, low, high in self.tiles.kinds:
            with b.loop(b.max(self.first, low), b.min(self.last, high)) as block:
                yield rows, self.tiles.start(b, block, rows)

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

    def tile(self, panel: Panel, place: Index, rows: int, row: Index, part: Part) -> list[list[SSAValue]]:
        """The products of rows from `row` on, by vectors of a panel, which is at a place if the kernel has packed it."""
        product, vectors = self.product, len(panel.masks)
        short = product.batch and isinstance(product.k, int) and product.k <= BLOCK
        limit = NARROW_BLOCK if product.n == 1 or short else BLOCK
        left, right = self.left(row, part), self.right(panel, place, part)
        return register_tile(
            self.b, rows, vectors, product.lanes, [part.steps], left, right, limit, product.dtype
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
        """Elements of the left-hand side."""
        b, product, lead = self.b, self.product, broadcast_indices(self.batch, self.product.lhs_batch)

        def load(r: int, k: Sequence[Index]) -> SSAValue:
            at = [b.add(row, r), b.add(k[0], part.begin)]
            at = [*lead, *(reversed(at) if product.lhs_transposed else at)]
            return b.broadcast_load(self.lhs, at, product.lanes, product.dtype)

        return load

    def right(self, panel: Panel, place: Index, part: Part) -> Load:
        """Vectors of the right-hand side."""
        b, lanes, dtype = self.b, self.product.lanes, self.product.dtype
        if self.product.rhs == "packed":
            return lambda v, k: b.load(
                self.rhs, [panel.index, b.add(k[0], part.begin), v * lanes], lanes, None, dtype
            )
        if self.product.packs:
            scratch = b.buffers["scratch"]
            return lambda v, k: b.load(scratch, [place, k[0], v * lanes], lanes, None, dtype)
        lead = broadcast_indices(self.batch, self.product.rhs_batch)
        return lambda v, k: b.load(
            self.rhs,
            [*lead, b.add(k[0], part.begin), b.add(panel.start, v * lanes)],
            lanes,
            panel.masks[v],
            dtype,
        )

    def dots(self, panel: Panel) -> None:
        """The products of the one row with as many columns as there are lanes: each column's in the lanes of a register of its own, whose sums
        are those of a matrix's rows."""
        b, product = self.b, self.product
        lanes, dtype, k_size = product.lanes, product.dtype, product.k
        row, lead = (broadcast_indices(self.batch, each) for each in (product.lhs_batch, product.rhs_batch))

        def piece(buffer: SSAValue, at: Sequence[Index], step: Index) -> SSAValue:
            k = b.mul(step, lanes)
            mask = None if k_size % lanes == 0 else b.mask_below(lanes, b.sub(k_size, k))
            return b.load(buffer, [*at, k], lanes, mask, dtype)

        sums = register_tile(
            b, lanes, 1, lanes, [ceildiv(k_size, lanes)],
            lambda lane, at: piece(self.rhs, [*lead, self.column(panel.start, lane, panel.present[0])], at[0]),
            lambda _, at: piece(self.lhs, [*row, 0], at[0]),
            BLOCK, dtype,
        )  # fmt: skip
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

    def pack_all(self, first: Index) -> None:
        """Packs all panels, from a place on."""
        b = self.b
        with b.loop(0, self.product.panels) as index:
            self.each_width(index, lambda panel: self.pack(panel, b.add(first, panel.index), self.whole))

    def pack(self, panel: Panel, place: Index, part: Part) -> None:
        """Packs a panel's part to a place; what is beyond its columns is never stored."""
        b, lanes = self.b, self.product.lanes
        turn = self.turned if self.product.rhs == "transposed" else self.copied
        for v in range(len(panel.masks)):
            present = b.sub(b.min(panel.columns, (v + 1) * lanes), b.min(panel.columns, v * lanes))
            turn(b.add(panel.start, v * lanes), present, part, lambda k, v=v: [place, k, v * lanes])

    def copied(
        self, column: Index, present: Index, part: Part, to: Callable[[Index], list[Index]]
    ) -> None:
        """Packs a vector of columns of rows as they lie."""
        b, lanes, dtype = self.b, self.product.lanes, self.product.dtype
        lead, mask = broadcast_indices(self.batch, self.product.rhs_batch), b.mask_below(lanes, present)
        with b.loop(0, part.steps) as k:
            value = b.load(self.rhs, [*lead, b.add(k, part.begin), column], lanes, mask, dtype)
            b.store(value, b.buffers["scratch"], to(k))

    def turned(
        self, column: Index, present: Index, part: Part, to: Callable[[Index], list[Index]]
    ) -> None:
        """Packs a vector of columns that lie along the reduction: square blocks are transposed in registers; lanes without a column repeat the
        last one."""
        b, lanes, dtype = self.b, self.product.lanes, self.product.dtype
        lead, rest = broadcast_indices(self.batch, self.product.rhs_batch), part.steps % lanes
        for blocks, size, origin in (
            (part.steps // lanes, lanes, 0),
            (min_(rest, 1), rest, part.steps - rest),
        ):
            if blocks == 0 or size == 0:
                continue
            mask = b.mask_below(lanes, size)
            with b.loop(0, blocks) as block:
                k = b.add(b.mul(block, lanes), origin)
                at = b.add(k, part.begin)
                rows = [
                    b.load(self.rhs, [*lead, self.column(column, lane, present), at], lanes, mask, dtype)
                    for lane in range(lanes)
                ]
                there = size if isinstance(size, int) else lanes
                for step, value in enumerate(b.transpose(rows, lanes)[:there]):
                    b.store(value, b.buffers["scratch"], to(b.add(k, step)))

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
