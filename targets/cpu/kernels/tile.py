"""One register tile: the products that stay in registers over a whole reduction.

A tile is `rows` x `vectors` accumulators; a step loads `vectors` vectors of the right-hand side and multiplies each by one broadcast element of the
left-hand side per row. 8 rows x 2 vectors of 16 lanes reach 90 % of peak with AVX-512 when the right-hand side is packed to panels. Matrix products and
convolutions use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv, prod
from xdsl_exir.dialects.vectors import ExtFOp, TruncFOp
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div

BLOCK = 128
"""Products that are added up one after the other: so the error of a long sum is that of a short one. A block costs as much as
a few steps of the reduction: its sums join others, for which there are no registers left."""

NARROW_BLOCK = 32
"""The same for products with a vector, which other libraries add up in all lanes of several registers, and for batches of short
ones, such as those of an attention, whose softmax gives many equal terms."""

TAPS_BLOCK = 64
"""The same for convolutions, while such blocks are `FEW`: PyTorch adds up each tap of a transposed one on its own (and longer
blocks are not faster, measured)."""

FEW = 64
"""Blocks whose sums may be added up in float32."""

LINE = 64
"""Bytes of a cache's line."""

Load = Callable[[int, Sequence[Index]], SSAValue]
"""Builds a load: from a row's or vector's number and the reduction's indices to a vector."""
Multiply = Callable[[SSAValue, SSAValue, SSAValue], SSAValue]
"""Builds what adds the product of the first two to the third."""
Ahead = Callable[[Index], None]
"""Builds what else happens in a turn of the outermost loop of a reduction."""


def nothing(turn: Index) -> None:
    """What happens where nothing else does."""


NO_BOUNDS: Mapping[int, tuple[Index, Index]] = MappingProxyType({})


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
    multiply: Multiply | None = None,
    ahead: Ahead = nothing,
    within: Mapping[int, tuple[Index, Index]] = NO_BOUNDS,
) -> list[list[SSAValue]]:
    """acc[row][v] = sum over the reduction of broadcast(row, k) * vector(v, k), which wraps around in integers.

    `reduction` lists the extents of its loops from the outside in. At most `limit` terms are added up one after the other, then
    such blocks, of float32 in float64 where they are many. Integers lose nothing, and are added up in any order. `multiply` adds a
    product to a sum, if elements are no numbers of the dtype. `within` has the bounds of inner loops that do not run over all their extent.
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
            return [(multiply or b.multiply_add)(x, y, z) for (x, y), z in zip(pairs, carried, strict=True)]
        first, end = within.get(len(at), (0, extents[0]))
        return b.reduce(
            b.sub(end, first), carried, lambda i, values: nest([*at, b.add(first, i)], extents[1:], values)
        )

    def block(start: Index, extents: Sequence[Index]) -> list[SSAValue]:
        """The sums of a block of the outermost loop, from `start` on."""

        def turn(i: Index, values: list[SSAValue]) -> list[SSAValue]:
            ahead(b.add(start, i))
            return nest([b.add(start, i)], extents[1:], values)

        return b.reduce(extents[0], [b.constant(zero, dtype, lanes)] * count, turn)

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


@dataclass(frozen=True)
class Weights:
    """Panels of weights that lie one after the other, each of `turns` turns of a reduction's outermost loop, of `size` elements. While tiles multiply
    a panel they ask for the next, each for its share, or the first of its tiles would wait for memory."""

    b: KernelBuilder
    buffer: SSAValue
    turns: int
    size: int

    def ahead(self, panel: Index, tile: Index, tiles: int) -> Ahead:
        """What one of a panel's tiles does in each turn; nothing where there is one, which reads all from memory anyway."""
        b, type = self.b, cast("MemRefType[Any]", self.buffer.type)
        whole, line = self.turns * self.size, LINE // type.element_type.size
        last, share = math.prod(type.get_shape()) // whole - 1, ceil_div(self.size, tiles)
        if tiles == 1 or last <= 0:
            return nothing
        flat = b.flat(self.buffer)
        begin = b.mul(b.min(b.mul(tile, share), self.size - share), self.turns)
        begin = b.add(begin, b.mul(b.min(b.add(panel, 1), last), whole))

        def ask(turn: Index) -> None:
            place = b.add(begin, b.mul(turn, share))
            for at in range(0, share, line):
                b.prefetch(flat, [b.add(place, at)])

        return ask


def block_size(reduction: Sequence[Dim], terms: int) -> int:
    """How many turns of a reduction's outermost loop make a block: all blocks are about equal, if it is known how many."""
    inner, outer = prod(reduction[1:]), reduction[0]
    limit = max(1, terms // inner) if isinstance(inner, int) else 1
    return ceil_div(outer, ceil_div(outer, limit)) if isinstance(outer, int) else limit
