"""Products of pairs of bfloat16 in registers of tiles (AMX): one of 16 rows, of 16 pairs each, times 16 columns of as many pairs is added to
16 x 16 of float32 at once.

Two tiles of rows and two of columns are in registers, and the four of their sums, over a whole reduction, however long, if it is rounded to bfloat16 in
the end, of which float32 has 16 bits more. All tiles are of one size, so that they are told once to be: where there are not so many rows left,
those before are multiplied again, and not stored; where there are not so many terms, zeros are behind them. Intel's manual, volume 2: TILELOADD, TDPBF16PS, TILESTORED; LLVM configures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects import arith, llvm, memref
from xdsl.dialects.builtin import IntAttr, MemRefType, StridedLayoutAttr, i64
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv
from xdsl_exir.dialects.vectors import TileType
from xdsl_exir.lowering.dispatches.buffers import contiguous_strides
from xdsl_exir.targets.cpu.kernels.builder import INDEX, Index, KernelBuilder, intrinsic
from xdsl_exir.targets.cpu.kernels.kernel import finish

if TYPE_CHECKING:
    from xdsl_exir.targets.cpu.kernels.product import Panel, Task

SIDE = 16
"""Rows of a tile, and pairs or sums that each has."""
BYTES = 4 * SIDE
"""Of a tile's row."""
BLOCK = 2 * SIDE
"""Rows that are in registers together."""
TERMS = 2 * SIDE
"""Of a reduction that a tile has."""
KEPT_ROWS = 2 * BLOCK
"""Of a buffer: sums of a block, and the ends of its rows where they do not fill a tile."""

LONG = 1024
"""Terms of a reduction that is not rounded, added up one after the other."""

ZERO = intrinsic("llvm.x86.tilezero.internal", 2)
LOAD = intrinsic("llvm.x86.tileloadd64.internal", 4)
STORE = intrinsic("llvm.x86.tilestored64.internal", 5)
MULTIPLY = intrinsic("llvm.x86.tdpbf16ps.internal", 6)


@dataclass(frozen=True)
class RowBlocks:
    """`total` rows, a tile of them or more: blocks of two tiles, and what is left in one or two of one tile."""

    total: int

    @property
    def whole(self) -> int:
        """Blocks of two tiles."""
        return self.total // BLOCK

    @property
    def starts(self) -> list[int]:
        """The first rows that the blocks of one tile store."""
        return list(range(self.whole * BLOCK, self.total, SIDE))

    @property
    def count(self) -> int:
        return self.whole + len(self.starts)

    def each(
        self, b: KernelBuilder, first: Index, last: Index, build: Callable[[Index, int, int], None]
    ) -> None:
        """Builds what happens to the blocks from `first` up to `last`, given the first row, how many there are, and how many of these were
        stored before."""
        with b.loop(first, b.min(last, self.whole)) as block:
            build(b.mul(block, BLOCK), BLOCK, 0)
        for number, start in enumerate(self.starts, self.whole):
            begin = min(start, self.total - SIDE)
            with b.loop(b.max(first, number), b.min(last, number + 1)):
                build(begin, SIDE, start - begin)


def fits(m: Dim, k: Dim, rounded: bool = True, pairs: bool = True) -> bool:
    """Whether a product of so many rows and terms, `pairs` of them if it must be, fills tiles, if it is `rounded`, or is not long."""
    if not isinstance(m, int) or not isinstance(k, int):
        return False
    return m >= SIDE and k >= SIDE and (k % 2 == 0 or not pairs) and (rounded or k <= LONG)


def multiply_tiles(task: Task, blocks: RowBlocks) -> None:
    """Builds a task of a product: all its panels, packed before where they are."""
    if task.product.packs:
        task.each_panel(lambda panel: pack(task, panel))
    blocks.each(
        task.b,
        task.first,
        task.last,
        lambda row, rows, done: task.each_panel(lambda panel: TileBlock(task, panel, row, rows).build(done)),
    )


def pack(task: Task, panel: Panel) -> None:
    """Packs a panel of a right-hand side, with zeros behind it up to a whole tile."""
    b, product = task.b, task.product
    present, lanes = product.k // 2, product.lanes
    task.pack(panel, replace(task.whole, steps=present))

    def put(value: SSAValue, step: Index, v: int) -> None:
        b.store(value, b.buffers["scratch"], [task.place(panel), step, v * lanes])

    if product.k % 2:  # of rows as they lie
        lead, nothing = task.lead(product.rhs_batch), b.constant(0.0, "bf16", lanes)
        for v, mask in enumerate(panel.masks):
            at = [*lead, product.k - 1, b.add(panel.start, v * lanes)]
            pairs = task.interleaved(b.load(task.rhs, at, lanes, mask, "bf16"), nothing)
            put(b.bitcast(pairs, "f32", lanes), present, v)
    with b.loop(ceildiv(product.k, 2), product.steps) as step:
        for v in range(len(panel.masks)):
            put(b.constant(0.0, "f32", lanes), step, v)


@dataclass(frozen=True)
class TileBlock:
    """Some rows of a panel, from `row` on."""

    task: Task
    panel: Panel
    row: Index
    rows: int

    @property
    def columns(self) -> range:
        """Tiles of columns."""
        return range(len(self.panel.masks))

    def build(self, done: int) -> None:
        """Multiplies, and stores what follows, but for the rows that are done."""
        task, b, lanes = self.task, self.task.b, self.task.product.lanes
        shape = (*task.product.batch, task.product.m, task.product.n)
        self.keep_sums()
        with b.loop(done, self.rows) as r:
            for v in self.columns:
                value = b.load(b.buffers["scratch"], self.place(r, v), lanes, None, "f32")
                at = [*task.batch, b.add(self.row, r), b.add(self.panel.start, v * lanes)]
                finish(b, task.product.epilogue, value, shape, at, lanes, self.panel.masks[v])

    def place(self, r: Index, v: int) -> list[Index]:
        """Where sums of a row are kept, and behind those of a block the ends of rows."""
        task = self.task
        return [task.place(self.panel), task.b.add(r, task.product.packed), v * SIDE]

    @property
    def rest(self) -> int:
        """Terms that do not fill a tile."""
        return cast("int", self.task.product.k) % TERMS

    def keep_ends(self) -> None:
        """Copies the last terms of each row, where they do not fill a tile, and zeros behind them."""
        b, lanes = self.task.b, self.task.product.lanes
        if not self.rest:
            return
        with b.loop(0, self.rows) as r:
            at = [*self.lead, b.add(self.row, r), cast("int", self.task.product.k) - self.rest]
            end = b.load(self.task.lhs, at, TERMS, b.mask_below(TERMS, self.rest), "bf16")
            b.store(b.bitcast(end, "f32", lanes), b.buffers["scratch"], self.place(b.add(r, BLOCK), 0))

    def keep_sums(self) -> None:
        """Builds the products, and keeps their sums in the buffer."""
        task, b = self.task, self.task.b
        rows = range(0, self.rows, SIDE)
        zero = zeros(b, len(rows) * len(self.columns))

        ask = task.ahead(self.panel, b.div(self.row, BLOCK), SIDE)

        def add(step: Index, sums: list[SSAValue], is_end: bool = False) -> list[SSAValue]:
            ask(step)
            left = [self.end(row) if is_end else self.left(row, step) for row in rows]
            right = [self.right(v, step) for v in self.columns]
            return multiply_add(b, left, right, sums)

        self.keep_ends()
        whole = cast("int", task.product.k) // TERMS
        sums = b.reduce(whole, zero, add) if whole else zero
        sums = iter(add(whole, sums, True) if self.rest else sums)
        for row in rows:
            for v in self.columns:
                store(b, next(sums), b.buffers["scratch"], self.place(row, v), self.kept)

    @property
    def lead(self) -> list[Index]:
        """Where in its batch the left-hand side is."""
        return self.task.lead(self.task.product.lhs_batch)

    def left(self, row: int, step: Index) -> SSAValue:
        """A tile of the left-hand side."""
        b, product = self.task.b, self.task.product
        batch = product.batch if product.lhs_batch is None else product.lhs_batch
        strides = product.lhs_strides or contiguous_strides((*batch, product.m, product.k))
        at = [*self.lead, b.add(self.row, row), b.mul(step, TERMS)]
        return load(b, self.task.lhs, at, strides, 2)

    def end(self, row: int) -> SSAValue:
        """The tile of the ends of rows."""
        b = self.task.b
        return load(b, b.buffers["scratch"], self.place(BLOCK + row, 0), self.kept, 4)

    def right(self, v: int, step: Index) -> SSAValue:
        """A tile of the right-hand side, of which a row is a pair of each column."""
        task, b, first = self.task, self.task.b, self.task.b.mul(step, SIDE)
        if task.product.packs:
            return load(b, b.buffers["scratch"], [task.place(self.panel), first, v * SIDE], self.kept, 4)
        given = cast("MemRefType[Any]", task.rhs.type)
        size, strides = given.element_type.size, given.get_strides()
        assert strides is not None
        at = [self.panel.index, first, v * BYTES // size]
        return load(b, task.rhs, at, cast("Sequence[int]", strides), size)

    @property
    def kept(self) -> Sequence[Dim]:
        """Strides of the buffer of panels that were packed, and of sums."""
        assert self.task.product.scratch is not None
        return contiguous_strides(self.task.product.scratch)


def zeros(b: KernelBuilder, count: int) -> list[SSAValue]:
    """So many tiles of sums to begin with."""
    shape = [b.constant(SIDE, "i16"), b.constant(BYTES, "i16")]
    return [b.op(llvm.CallIntrinsicOp, shape, TileType(), ZERO) for _ in range(count)]


def multiply_add(
    b: KernelBuilder, left: Sequence[SSAValue], right: Sequence[SSAValue], sums: Sequence[SSAValue]
) -> list[SSAValue]:
    """Adds the product of each tile of the left-hand side with each of the right-hand side to its sum."""
    side, size = b.constant(SIDE, "i16"), b.constant(BYTES, "i16")
    both = ((x, y) for x in left for y in right)
    return [
        b.op(llvm.CallIntrinsicOp, [side, size, size, held, x, y], TileType(), MULTIPLY)
        for held, (x, y) in zip(sums, both, strict=True)
    ]


def store(
    b: KernelBuilder, sums: SSAValue, buffer: SSAValue, at: Sequence[Index], strides: Sequence[Dim]
) -> None:
    """Stores a tile of sums to rows of a buffer of float32."""
    place, apart = address(b, buffer, at, strides, 4)
    shape = [b.constant(SIDE, "i16"), b.constant(BYTES, "i16")]
    b.insert(llvm.CallIntrinsicOp, [*shape, place, apart, sums], (), **STORE)


def load(
    b: KernelBuilder, buffer: SSAValue, at: Sequence[Index], strides: Sequence[Dim], size: int
) -> SSAValue:
    """A tile, whose rows are those of a buffer."""
    place, apart = address(b, buffer, at, strides, size)
    operands = [b.constant(SIDE, "i16"), b.constant(BYTES, "i16"), place, apart]
    return b.op(llvm.CallIntrinsicOp, operands, TileType(), LOAD)


def address(
    b: KernelBuilder, buffer: SSAValue, at: Sequence[Index], strides: Sequence[Dim], size: int
) -> tuple[SSAValue, SSAValue]:
    """Where an element of so many bytes is, and how many its neighbour in the next row is apart."""
    place: Index = b.op(memref.ExtractAlignedPointerAsIndexOp, [buffer], INDEX)
    given = cast("MemRefType[Any]", buffer.type)
    if isinstance(given.layout, StridedLayoutAttr) and given.layout.offset != IntAttr(0):
        seen = memref.ExtractStridedMetaDataOp(buffer)
        b.block.add_op(seen)
        place = b.add(place, b.mul(seen.offset, given.element_type.size))
    for index, stride in zip(at, strides, strict=True):
        place = b.add(place, b.mul(index, stride * size))
    number, apart = (b.op(arith.IndexCastOp, [b.index(value)], i64) for value in (place, strides[-2] * size))
    return b.op(llvm.IntToPtrOp, [number], llvm.LLVMPointerType()), apart
