"""Matrix products: one register tile, and the loops and threads around it.

A tile is `rows` x `vectors` accumulators that stay in registers over the whole reduction; a step loads `vectors` vectors of
the right-hand side and multiplies each by one broadcast element of the left-hand side per row. 8 rows x 2 vectors of 16 lanes
reach 90 % of peak with AVX-512 when the right-hand side is packed to panels. Convolutions use the same tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, Expr, ceildiv, min_, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.vectors import ExtFOp, TruncFOp
from xdsl_exir.lowering.sizes import Sizes, static
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask, ceil_div
from xdsl_exir.targets.cpu.kernels.description import (
    Choice,
    Epilogue,
    Input,
    Machine,
    memref,
    register_tiles,
    workers,
)
from xdsl_exir.targets.cpu.kernels.kernel import Kernel, Split, finish
from xdsl_exir.targets.cpu.kernels.packing import pack_columns, unpack_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor

BLOCK = 128
"""Products that are added up one after the other: so the error of a long sum is that of a short one. A block costs as much as
a few steps of the reduction: its sums join others, for which there are no registers left."""

NARROW_BLOCK = 32
"""The same for products with a vector, which other libraries add up in all lanes of several registers, and for batches of short
ones, such as those of an attention, whose softmax gives many equal terms."""

FEW = 64
"""Blocks whose sums may be added up in float32."""

Load = Callable[[int, Sequence[Index]], SSAValue]
"""Builds a load: from a row's or vector's number and the reduction's indices to a vector."""


def lanes_of(machine: Machine, dtype: str) -> int:
    """Lanes of a vector register of a dtype."""
    return machine.lanes * 32 // int(dtype[1:])


def register_tile(
    b: KernelBuilder,
    rows: int,
    vectors: int,
    lanes: int,
    reduction: Sequence[Dim],
    broadcast: Load,
    vector: Load,
    limit: int = BLOCK,
    dtype: str = "f32",
) -> list[list[SSAValue]]:
    """acc[row][v] = sum over the reduction of broadcast(row, k) * vector(v, k), which wraps around in integers.

    `reduction` lists the extents of its loops from the outside in. At most `limit` terms are added up one after the other, then
    such blocks, of float32 in float64 where they are many. Integers lose nothing, and are added up in any order.
    """
    exact = dtype.startswith("i")
    count, size = rows * vectors, reduction[0] if exact else block_size(reduction, limit)
    blocks = 1 if exact else ceildiv(reduction[0], size)
    few = dtype != "f32" or (isinstance(blocks, int) and blocks <= FEW)
    wide = dtype if few else "f64"
    zero = 0 if exact else 0.0

    def nest(at: list[Index], extents: Sequence[Index], carried: list[SSAValue]) -> list[SSAValue]:
        """The innermost loops, of which the first runs over so many from where `at` ends."""
        if not extents:
            right = [vector(v, at) for v in range(vectors)]
            left = [broadcast(row, at) for row in range(rows)]
            pairs = ((x, y) for x in left for y in right)
            return [b.multiply_add(x, y, z) for (x, y), z in zip(pairs, carried, strict=True)]
        return b.reduce(extents[0], carried, lambda i, values: nest([*at, i], extents[1:], values))

    def block(start: Index, extents: Sequence[Index]) -> list[SSAValue]:
        """The sums of a block of the outermost loop, from `start` on."""
        return b.reduce(
            extents[0],
            [b.constant(zero, dtype, lanes)] * count,
            lambda i, values: nest([b.add(start, i)], extents[1:], values),
        )

    def add_block(number: Index, totals: list[SSAValue]) -> list[SSAValue]:
        start = b.mul(number, size)
        turns = size if reduction[0] % size == 0 else b.min(size, b.sub(reduction[0], start))
        sums = block(start, [turns, *reduction[1:]])
        if not few:
            sums = [b.op(ExtFOp, [each], type_of(wide, lanes)) for each in sums]
        return [b.op(arith.AddfOp, pair, type_of(wide, lanes)) for pair in zip(totals, sums, strict=True)]

    if blocks == 1:
        flat = block(0, reduction)
    else:
        zeros = [b.constant(zero, wide, lanes)] * count
        flat = b.reduce(blocks, zeros, add_block)
        if not few:
            flat = [b.op(TruncFOp, [total], type_of("f32", lanes)) for total in flat]
    return [flat[row * vectors : (row + 1) * vectors] for row in range(rows)]


def block_size(reduction: Sequence[Dim], terms: int) -> int:
    """How many turns of a reduction's outermost loop make a block: all blocks are about equal, if it is known how many."""
    inner, outer = prod(reduction[1:]), reduction[0]
    limit = max(1, terms // inner) if isinstance(inner, int) else 1
    return ceil_div(outer, ceil_div(outer, limit)) if isinstance(outer, int) else limit


def balanced_chunks(tasks: Dim, tiles: Dim, threads: int) -> Dim:
    """Into how many chunks to cut each of `tasks` tasks, which is of some tiles, so that no thread has over 5 % more than its share."""
    limit = min_(tiles, 16)
    if not isinstance(tasks, int) or not isinstance(limit, int):
        return min_(tiles, threads)

    def waste(chunks: int) -> float:
        total = tasks * chunks
        return ceil_div(total, threads) * threads / total

    candidates = range(1, limit + 1)
    return next((chunks for chunks in candidates if waste(chunks) <= 1.05), min(candidates, key=waste))


@dataclass(frozen=True, eq=False)
class Matmul(Kernel):
    """out[..., M, N] = epilogue(lhs[..., M, K] @ rhs[..., K, N]), float32; or float64, int32, int64 without an epilogue.

    Sizes may be symbolic: then it is made for large ones. The function's arguments: lhs, rhs, the epilogue's inputs, scratch if `scratch` is not None, out. The right-hand side is

        "packed"      weights, packed by `pack` when the program is compiled or loaded (no batch)
        "row_major"   [..., K, N] at run time
        "transposed"  [..., N, K] at run time

    Batch dimensions of size 1 in `lhs_batch` or `rhs_batch` are broadcast (both default to `batch`). Strides, in elements over all of
    an operand's dimensions, say that it is a view; the last dimension of out and of the right-hand side must have stride 1.
    """

    m: Dim
    n: Dim
    k: Dim
    batch: Sizes = ()
    rhs: Literal["packed", "row_major", "transposed"] = "packed"
    lhs_transposed: bool = False
    lhs_batch: Sizes | None = None
    rhs_batch: Sizes | None = None
    lhs_strides: Sizes | None = None
    rhs_strides: Sizes | None = None
    out_strides: Sizes | None = None
    epilogue: Epilogue = field(default_factory=Epilogue)
    machine: Machine = field(default_factory=Machine)
    dtype: Literal["f32", "f64", "i32", "i64"] = "f32"
    choice: Choice = field(default_factory=Choice)

    @property
    def lanes(self) -> int:
        return lanes_of(self.machine, self.dtype)

    @property
    def flops(self) -> Dim:
        return 2 * prod(self.batch) * self.m * self.n * self.k

    @property
    def threads(self) -> int:
        return workers(self.machine, self.flops)

    @property
    def vectors(self) -> int:
        """Vectors of a tile's row: two, and more when there are too few rows to keep the multipliers busy."""
        if self.dots:
            return 1
        budget = 2 * self.machine.rows // self.m if isinstance(self.m, int) else 0
        wanted = self.choice.vectors or next((vectors for vectors in (8, 4) if vectors <= budget), 2)
        return min(wanted, ceil_div(self.n, self.lanes)) if isinstance(self.n, int) else wanted

    @property
    def rows(self) -> int:
        """Rows of a tile."""
        return self.choice.rows or self.machine.rows_of(self.vectors)

    @property
    def width(self) -> int:
        """Columns of a panel."""
        return self.vectors * self.lanes

    @property
    def panels(self) -> Dim:
        return ceildiv(self.n, self.width)

    @property
    def dots(self) -> bool:
        """Whether a column's products are added up in the lanes of a register: of one row, by a matrix, both lying along the reduction."""
        along = not self.lhs_transposed and (self.lhs_strides is None or self.lhs_strides[-1] == 1)
        return self.rhs == "transposed" and self.m == 1 and along

    @property
    def packs(self) -> bool:
        """Whether the kernel packs the right-hand side itself: it pays when several tiles of rows use a panel."""
        few = isinstance(self.m, int) and self.m <= 4 * self.machine.rows
        wanted = not few if self.choice.packs is None else self.choice.packs
        return not self.dots and (self.rhs == "transposed" or (self.rhs == "row_major" and wanted))

    @property
    def problem(self) -> Matmul:
        plain = replace(self, lhs_strides=None, rhs_strides=None, out_strides=None)
        return replace(plain, epilogue=Epilogue(), choice=Choice())

    @property
    def weights(self) -> Sequence[int]:
        return (1,) if self.rhs == "packed" else ()

    @property
    def choices(self) -> Sequence[Choice]:
        if not is_static((*self.batch, self.m, self.n, self.k)):
            return ()
        packs = (False, True) if self.rhs == "row_major" else (None,)
        tiles = register_tiles(self.machine, ceil_div(static((self.n,))[0], self.lanes))
        return [Choice(None, *tile, packed) for tile in tiles for packed in packs]

    def chosen(self, choice: Choice) -> Matmul:
        return replace(self, choice=choice)

    @property
    def scratch(self) -> Sizes | None:
        """Shape of the buffer of its dtype that the kernel needs, or None."""
        lanes = self.lanes
        # Of a symbolic number of rows the last ones are packed together.
        rows = self.k if isinstance(self.k, int) else ceildiv(self.k, lanes) * lanes
        return (self.threads, rows, self.width) if self.packs else None

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        lhs_batch = self.batch if self.lhs_batch is None else self.lhs_batch
        rhs_batch = self.batch if self.rhs_batch is None else self.rhs_batch
        lhs = (self.k, self.m) if self.lhs_transposed else (self.m, self.k)
        rhs = {
            "packed": (self.panels, self.k, self.width),
            "row_major": (*rhs_batch, self.k, self.n),
            "transposed": (*rhs_batch, self.n, self.k),
        }[self.rhs]
        types = {
            "lhs": memref((*lhs_batch, *lhs), self.dtype, self.lhs_strides),
            "rhs": memref(rhs, self.dtype, self.rhs_strides),
        }
        types |= {f"in{i}": operand.type for i, operand in enumerate(self.epilogue.inputs)}
        if self.scratch:
            types["scratch"] = memref(self.scratch, self.dtype)
        return types | {"out": memref((*self.batch, self.m, self.n), self.dtype, self.out_strides)}

    @property
    def in_place(self) -> list[str]:
        """Of known sizes no result is computed twice."""
        out = Input((*self.batch, self.m, self.n), self.dtype, self.out_strides)
        known = is_static((*out.shape, *(out.strides or ())))
        return [f"in{i}" for i, each in enumerate(self.epilogue.inputs) if known and each == out]

    def pack(self, matrix: NDArray[Any], transposed: bool = False) -> NDArray[Any]:
        """Weights [K, N] (or [N, K], transposed) as the kernel takes them: [panels, K, width]."""
        return pack_columns(matrix.T if transposed else matrix, self.width)

    def unpack(self, b: LinalgBuilder, packed: Tensor) -> Tensor:
        """Weights [K, N] as they were, in linalg."""
        assert isinstance(self.n, int)
        return unpack_columns(b, packed, self.n)

    def build(self, b: KernelBuilder) -> None:
        self.multiply(b, b.buffers["lhs"], b.buffers["rhs"])

    def multiply(self, b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> None:
        """Builds the kernel's body: a task is one panel and a range of row tiles."""
        operands = (lhs, rhs)
        batches = prod(self.batch)
        row_tiles = Split(self.m, self.rows)
        # Rows are shared out only as far as threads need it, and never where each chunk would pack the panel again.
        chunks = 1 if self.packs else balanced_chunks(batches * self.panels, row_tiles.count, self.threads)
        with b.share(batches * self.panels * chunks, self.threads, self.flops) as (worker, task):
            *batch, panel, chunk = b.delinearize(task, (*self.batch, self.panels, chunks))
            first = b.div(b.mul(chunk, row_tiles.count), chunks)
            last = b.div(b.mul(b.add(chunk, 1), row_tiles.count), chunks)
            full, rest = self.n // self.width, self.n % self.width
            if full:
                with b.when(panel, "ult", full) if rest else b.loop(0, 1):
                    self._panel(b, operands, batch, worker, panel, self.width, row_tiles, first, last)
            if rest:
                with b.when(panel, "eq", full) if full else b.loop(0, 1):
                    self._panel(b, operands, batch, worker, panel, rest, row_tiles, first, last)

    def _panel(
        self,
        b: KernelBuilder,
        operands: tuple[SSAValue, SSAValue],
        batch: Sequence[Index],
        worker: Index,
        panel: Index,
        columns: Dim,
        row_tiles: Split,
        first: Index,
        last: Index,
    ) -> None:
        """The tiles of one panel, of which `columns` columns are there."""
        lanes = self.lanes
        vectors = self._vectors_of(columns)
        # A vector without any columns may be there if it is not known how many there are: it stores none.
        present = [b.max(columns, v * lanes) for v in range(vectors)]
        masks = [b.mask_below(lanes, b.sub(at, v * lanes)) for v, at in enumerate(present)]
        start, shape = b.mul(panel, self.width), (*self.batch, self.m, self.n)
        if self.packs:
            self._pack_panel(b, operands[1], batch, worker, start, columns)
        if self.dots:
            value = self._dots(b, operands, batch, start, present[0])
            finish(b, self.epilogue, value, shape, [*batch, 0, start], lanes, masks[0])
            return
        right = self._rhs(b, operands[1], batch, worker, panel, start, masks)
        short = self.batch and isinstance(self.k, int) and self.k <= BLOCK
        limit = NARROW_BLOCK if self.n == 1 or short else BLOCK
        for rows, low, high in row_tiles.kinds:
            with b.loop(b.max(first, low), b.min(last, high)) as block:
                row = row_tiles.start(b, block, rows)
                left = self._lhs(b, operands[0], batch, row)
                tile = register_tile(b, rows, vectors, lanes, [self.k], left, right, limit, self.dtype)
                for r, values in enumerate(tile):
                    for v, value in enumerate(values):
                        at = [*batch, b.add(row, r), b.add(start, v * lanes)]
                        finish(b, self.epilogue, value, shape, at, lanes, masks[v])

    def _dots(
        self,
        b: KernelBuilder,
        operands: tuple[SSAValue, SSAValue],
        batch: Sequence[Index],
        start: Index,
        present: Index,
    ) -> SSAValue:
        """The products of the one row with as many columns as there are lanes, of which so many are `present`: each column's in the
        lanes of a register of its own, whose sums are those of a matrix's rows."""
        (lhs, rhs), lanes, dtype = operands, self.lanes, self.dtype
        row, lead = broadcast_indices(batch, self.lhs_batch), broadcast_indices(batch, self.rhs_batch)

        def piece(buffer: SSAValue, at: Sequence[Index], step: Index) -> SSAValue:
            k = b.mul(step, lanes)
            mask = None if self.k % lanes == 0 else b.mask_below(lanes, b.sub(self.k, k))
            return b.load(buffer, [*at, k], lanes, mask, dtype)

        sums = register_tile(
            b, lanes, 1, lanes, [ceildiv(self.k, lanes)],
            lambda lane, at: piece(rhs, [*lead, self._column(b, start, lane, present)], at[0]),
            lambda _, at: piece(lhs, [*row, 0], at[0]),
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
        return columns[0]

    def _vectors_of(self, columns: Dim) -> int:
        """Vectors that hold so many of a panel's columns."""
        return ceil_div(columns, self.lanes) if isinstance(columns, int) else self.vectors

    def _lhs(self, b: KernelBuilder, lhs: SSAValue, batch: Sequence[Index], row: Index) -> Load:
        lead = broadcast_indices(batch, self.lhs_batch)

        def load(r: int, k: Sequence[Index]) -> SSAValue:
            at = [b.add(row, r), k[0]]
            at = [*lead, *(reversed(at) if self.lhs_transposed else at)]
            return b.broadcast_load(lhs, at, self.lanes, self.dtype)

        return load

    def _rhs(
        self,
        b: KernelBuilder,
        rhs: SSAValue,
        batch: Sequence[Index],
        worker: Index,
        panel: Index,
        start: Index,
        masks: Sequence[Mask],
    ) -> Load:
        lanes, dtype = self.lanes, self.dtype
        if self.rhs == "packed":
            return lambda v, k: b.load(rhs, [panel, k[0], v * lanes], lanes, None, dtype)
        if self.packs:
            scratch = b.buffers["scratch"]
            return lambda v, k: b.load(scratch, [worker, k[0], v * lanes], lanes, None, dtype)
        lead = broadcast_indices(batch, self.rhs_batch)
        return lambda v, k: b.load(rhs, [*lead, k[0], b.add(start, v * lanes)], lanes, masks[v], dtype)

    def pack_panels(self, b: KernelBuilder, rhs: SSAValue, batch: Sequence[Index]) -> None:
        """Packs all panels of a batch's right-hand side into the buffer `scratch`, [panels, K, width]."""
        full, rest = self.n // self.width, self.n % self.width
        if full:
            with b.loop(0, full) as panel:
                self._pack_panel(b, rhs, batch, panel, b.mul(panel, self.width), self.width)
        if rest:
            with b.when(0, "ult", rest) if isinstance(rest, Expr) else b.loop(0, 1):
                self._pack_panel(b, rhs, batch, full, full * self.width, rest)

    def _pack_panel(
        self,
        b: KernelBuilder,
        rhs: SSAValue,
        batch: Sequence[Index],
        worker: Index,
        start: Index,
        columns: Dim,
    ) -> None:
        """Columns start, start + 1, ... of the right-hand side to the worker's panel; what is beyond them is never stored."""
        lanes, scratch = self.lanes, b.buffers["scratch"]
        lead = broadcast_indices(batch, self.rhs_batch)
        for v in range(self._vectors_of(columns)):
            present = b.sub(b.min(columns, (v + 1) * lanes), b.min(columns, v * lanes))
            begin = b.add(start, v * lanes)
            if self.rhs == "row_major":
                mask = b.mask_below(lanes, present)
                with b.loop(0, self.k) as k:
                    value = b.load(rhs, [*lead, k, begin], lanes, mask, self.dtype)
                    b.store(value, scratch, [worker, k, v * lanes])
                continue
            # Square blocks are transposed in registers; lanes without a column repeat the last one.
            rest = self.k % lanes
            parts = ((self.k // lanes, lanes, 0), (min_(rest, 1), rest, self.k - rest))
            for blocks, size, origin in parts:
                if blocks == 0 or size == 0:
                    continue
                mask = b.mask_below(lanes, size)
                with b.loop(0, blocks) as block:
                    k = b.add(b.mul(block, lanes), origin)
                    rows = [
                        b.load(
                            rhs, [*lead, self._column(b, begin, lane, present), k], lanes, mask, self.dtype
                        )
                        for lane in range(lanes)
                    ]
                    steps = size if isinstance(size, int) else lanes
                    for step, value in enumerate(b.transpose(rows, lanes)[:steps]):
                        b.store(value, scratch, [worker, b.add(k, step), v * lanes])

    def _column(self, b: KernelBuilder, begin: Index, lane: int, present: Index) -> Index:
        """The column behind `begin` that goes to a lane: of those that are not there the last one, and of none the first."""
        if isinstance(present, int):
            return b.add(begin, min(lane, present - 1))
        return b.min(b.add(begin, lane), self.n - 1)


def broadcast_indices(batch: Sequence[Index], shape: Sizes | None) -> list[Index]:
    """Where an operand of batch shape `shape` is read for the result's batch index."""
    if shape is None:
        return list(batch)
    lead = batch[len(batch) - len(shape) :]
    return [0 if size == 1 else i for size, i in zip(shape, lead, strict=True)]
