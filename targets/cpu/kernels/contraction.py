"""Matrix products: what they are described by, and what follows from that: tiles, panels, buffers, tasks. How a task is built is in `product`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv, min_, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.sizes import Sizes, static
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div
from xdsl_exir.targets.cpu.kernels.description import (
    Choice,
    Epilogue,
    Input,
    Machine,
    memref,
    register_tiles,
    workers,
)
from xdsl_exir.targets.cpu.kernels.kernel import Kernel, Split
from xdsl_exir.targets.cpu.kernels.packing import pack_columns, unpack_columns
from xdsl_exir.targets.cpu.kernels.product import Task
from xdsl_exir.targets.cpu.kernels.tile import FEW
from xdsl_exir.targets.cpu.kernels.tiles import KEPT_ROWS, SIDE, TERMS, RowBlocks, fits
from xdsl_exir.targets.cpu.kernels.tiles import pack as pack_for_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xdsl_exir.lowering.linalg import LinalgBuilder
    from xdsl_exir.lowering.tensors import Tensor

DEEP, BEFORE = 512, 8
"""Steps of a part of a long reduction, so that caches have those of both sides while all tiles of a panel take them; and by how much longer one of
panels that are there before is, which nobody writes."""

GROUPED = 4
"""Panels that take the rows of a part of a long reduction one after the other, as these are in a first-level cache."""

MANY = 12
"""Vectors of columns from which on there is little beside panels of three."""

NEAR, FAR = 1 << 19, 1 << 20
"""Bytes of panels that a second-level cache keeps, and of rows that it hardly does."""

SHALLOW, KEPT, WRITTEN = 64, 1 << 16, 1 << 18
"""Steps up to which a product of as many elements as are WRITTEN is bound by writing them; elements of a right-hand side that are KEPT in a cache."""


def lanes_of(machine: Machine, dtype: str) -> int:
    """Lanes of a vector register of a dtype."""
    return machine.lanes * 32 // int(dtype[1:])


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

    Halves, or integers of 8 bits, that it is of are read as they are, and become numbers of the product's dtype on the way. Where both sides are of bfloat16, and the machine
    has an instruction for it, pairs of neighbours along the reduction, of which there is a whole number, are multiplied at once (`lhs_dtype`): a step
    takes two, and they lie together.

    Weights that are packed may have a scale for each column of `scaled` steps of the reduction: an argument of its own behind them, packed as they are.

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
    rhs_dtype: Literal["f16", "bf16", "i8"] | None = None
    """Of the right-hand side, if it is not of the same."""
    lhs_dtype: Literal["bf16"] | None = None
    """Of the left-hand side, if pairs are multiplied: it lies along the reduction then."""
    out_dtype: Literal["f16", "bf16"] | None = None
    """Of the result, if the epilogue ends in numbers of another."""
    rounded: bool = False
    """Whether the result is rounded to bfloat16 later."""
    scaled: int | None = None
    choice: Choice = field(default_factory=Choice)

    @property
    def lanes(self) -> int:
        return lanes_of(self.machine, self.dtype)

    @property
    def pair(self) -> int:
        """Terms of the reduction that a step takes."""
        return 1 if self.lhs_dtype is None else 2

    @property
    def tiled(self) -> bool:
        """Whether tiles of pairs are multiplied at once."""
        return (
            self.pair == 2
            and self.machine.tiles
            and fits(self.m, self.k, self.rounded or self.out_dtype == "bf16", pairs=self.rhs == "transposed")
        )

    @property
    def steps(self) -> Dim:
        """Of the reduction; of tiles whole ones, the last filled up with zeros."""
        return SIDE * ceildiv(self.k, TERMS) if self.tiled else self.k // self.pair

    @property
    def flops(self) -> Dim:
        return 2 * prod(self.batch) * self.m * self.n * self.k

    @property
    def threads(self) -> int:
        return workers(self.machine, self.flops)

    @property
    def vectors(self) -> int:
        """Vectors of a tile's row: two, or three of many columns, as panels then come from a second-level cache less often; and more when there are
        too few rows to keep the multipliers busy."""
        if self.dots:
            return 1
        budget = 2 * self.machine.rows // self.m if isinstance(self.m, int) else 0
        usual = 3 if self.is_wide and self.machine.fits_three and not self.tiled else 2
        wanted = self.choice.vectors or next((vectors for vectors in (8, 4) if vectors <= budget), usual)
        return min(wanted, ceil_div(self.n, self.lanes)) if isinstance(self.n, int) else wanted

    @property
    def is_wide(self) -> bool:
        """Whether columns are nearly all in panels of three vectors."""
        return isinstance(self.n, int) and self.n >= MANY * self.lanes

    @property
    def rows(self) -> int:
        """Rows of a tile."""
        return self.choice.rows or self.machine.rows_of(self.vectors)

    @property
    def row_tiles(self) -> Split | RowBlocks:
        """Its rows, as tasks go through them."""
        return RowBlocks(static((self.m,))[0]) if self.tiled else Split(self.m, self.rows)

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
        """Whether the kernel packs the right-hand side itself: it pays when several tiles of rows use a panel. Of tiles pairs lie together."""
        few = isinstance(self.m, int) and self.m <= 4 * self.machine.rows
        wanted = not few if self.choice.packs is None else self.choice.packs
        must = self.rhs == "transposed" or self.tiled
        return self.rhs != "packed" and not self.dots and (must or wanted)

    @property
    def problem(self) -> Matmul:
        plain = replace(self, lhs_strides=None, rhs_strides=None, out_strides=None)
        return replace(plain, epilogue=Epilogue(), choice=Choice())

    @property
    def weights(self) -> Sequence[int]:
        return () if self.rhs != "packed" else (1, 2) if self.scaled else (1,)

    @property
    def choices(self) -> Sequence[Choice]:
        if not is_static((*self.batch, self.m, self.n, self.k)) or self.tiled:
            return ()
        packs = (False, True) if self.rhs == "row_major" else (None,)
        tiles = register_tiles(self.machine, ceil_div(static((self.n,))[0], self.lanes))
        return [Choice(None, *tile, packed) for tile in tiles for packed in packs]

    def chosen(self, choice: Choice) -> Matmul:
        return replace(self, choice=choice)

    @property
    def by_rows(self) -> bool:
        """Whether tiles follow one another along the result's rows, and not along its columns: where it takes longer to write them than to
        compute them, and a cache keeps all of the right-hand side."""
        m, n, k = self.m, self.n, self.k
        if not (isinstance(m, int) and isinstance(n, int) and isinstance(k, int)) or self.dots:
            return False
        return k <= SHALLOW and k * n <= KEPT and m * n >= WRITTEN

    @property
    def parts(self) -> list[tuple[int, Dim, Dim]]:
        """(steps, first part, one past the last part) of the parts of a long reduction, each done for all tiles of a panel before the next one;
        none of one that is not long."""
        steps = self.steps
        if not (isinstance(self.m, int) and isinstance(steps, int)) or self.dots or self.scaled or self.tiled:
            return []
        if steps <= (DEEP if self.packs else BEFORE * DEEP):
            return []
        return Split(steps, max(DEEP, ceil_div(steps, FEW))).kinds

    @property
    def group(self) -> Dim:
        """Panels of a task: a row tile is multiplied with all of them before the next one is."""
        if self.by_rows:
            return self.panels
        if not isinstance(self.panels, int):
            return 1
        return min(GROUPED if self.parts else self.near, ceil_div(self.panels, self.threads))

    @property
    def near(self) -> int:
        """Panels that a second-level cache keeps while rows that it does not keep come by, which are read so much more seldom. Processors with as many
        registers have one as large."""
        if not is_static((self.m, self.k)) or self.dots or not self.machine.fits_three:
            return 1
        m, k = static((self.m, self.k))
        size = int(self.dtype[1:]) // (8 * self.pair)
        return max(1, NEAR // (k * self.width * size)) if m * k * size >= FAR else 1

    @property
    def scratch(self) -> Sizes | None:
        """Shape of the buffer of its dtype that the kernel needs, or None: panels, and below them sums of parts, or of tiles, and the ends of rows."""
        packed, sums = self.packed, self.m if self.parts else KEPT_ROWS if self.tiled else 0
        return (self.threads * self.group, packed + sums, self.width) if packed != 0 or sums != 0 else None

    @property
    def packed(self) -> Dim:
        """Steps of a panel that the kernel packs."""
        if not self.packs:
            return 0
        if self.parts:
            return max(steps for steps, _, _ in self.parts)
        return self.whole

    @property
    def whole(self) -> Dim:
        """Steps of a panel that all are packed: of a symbolic number the last ones are packed together, with some beyond the end."""
        return self.steps if isinstance(self.steps, int) else ceildiv(self.steps, self.lanes) * self.lanes

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        lhs_batch = self.batch if self.lhs_batch is None else self.lhs_batch
        rhs_batch = self.batch if self.rhs_batch is None else self.rhs_batch
        lhs = (self.k, self.m) if self.lhs_transposed else (self.m, self.k)
        rhs = {
            "packed": (self.panels, self.steps, self.pair * self.width),
            "row_major": (*rhs_batch, self.k, self.n),
            "transposed": (*rhs_batch, self.n, self.k),
        }[self.rhs]
        types = {
            "lhs": memref((*lhs_batch, *lhs), self.lhs_dtype or self.dtype, self.lhs_strides),
            "rhs": memref(rhs, self.rhs_dtype or self.dtype, self.rhs_strides),
        }
        if self.scaled:
            types["scales"] = memref((self.panels, self.k // self.scaled, self.width), self.dtype)
        types |= {f"in{i}": operand.type for i, operand in enumerate(self.epilogue.inputs)}
        if self.scratch:
            types["scratch"] = memref(self.scratch, self.dtype)
        return types | {
            "out": memref((*self.batch, self.m, self.n), self.out_dtype or self.dtype, self.out_strides)
        }

    @property
    def in_place(self) -> list[str]:
        """Of known sizes no result is computed twice."""
        out = Input((*self.batch, self.m, self.n), self.out_dtype or self.dtype, self.out_strides)
        known = is_static((*out.shape, *(out.strides or ())))
        return [f"in{i}" for i, each in enumerate(self.epilogue.inputs) if known and each == out]

    def pack(self, matrix: NDArray[Any], transposed: bool = False) -> NDArray[Any]:
        """Weights [K, N] (or [N, K], transposed) as the kernel takes them: [panels, K, width], or with pairs of rows side by side [panels, K / 2, 2 * width]."""
        steps = static((self.steps,))[0] if self.tiled else None
        return pack_columns(matrix.T if transposed else matrix, self.width, self.pair, steps)

    def unpack(self, b: LinalgBuilder, packed: Tensor) -> Tensor:
        """Weights [K, N] as they were, in linalg."""
        assert isinstance(self.n, int)
        return unpack_columns(b, packed, self.n, self.pair, self.k if self.tiled else None)

    def build(self, b: KernelBuilder) -> None:
        self.multiply(b, b.buffers["lhs"], b.buffers["rhs"])

    def multiply(self, b: KernelBuilder, lhs: SSAValue, rhs: SSAValue) -> None:
        """Builds the kernel's body: a task is a group of panels, and a range of row tiles."""
        batches, tiles, groups = prod(self.batch), self.row_tiles, ceildiv(self.panels, self.group)
        # Rows are shared out only as far as threads need it, and never where each chunk would pack the panel again.
        packs = self.packs and not self.by_rows
        chunks = 1 if packs else balanced_chunks(batches * groups, tiles.count, self.threads)
        with b.share(batches * groups * chunks, self.threads, self.flops) as (worker, task):
            *batch, group, chunk = b.delinearize(task, (*self.batch, groups, chunks))
            first, last = b.span(chunk, tiles.count, chunks)
            low = b.mul(group, self.group)
            high = b.min(b.add(low, self.group), self.panels) if self.group != 1 else b.add(low, 1)
            Task(self, b, lhs, rhs, batch, worker, low, high, tiles, first, last).build()

    def pack_panels(self, b: KernelBuilder, rhs: SSAValue, batch: Sequence[Index]) -> None:
        """Packs all panels of a batch's right-hand side into the buffer `scratch`, [panels, K, width]."""
        task = Task(self, b, rhs, rhs, batch, 0, 0, self.panels, self.row_tiles, 0, 0)
        task.each_panel(
            lambda panel: pack_for_tiles(task, panel) if self.tiled else task.pack(panel, task.whole)
        )
