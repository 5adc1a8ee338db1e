"""Bags: rows that indices pick from a table, added up from each place where one begins to the next.

A task is one bag. A few vectors of neighbours are added up over all its rows, `ROWS` of them at a time in the dtype of a sum of a few, these in
float64: in which order depends on nothing but how many rows a bag has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Piece
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel

ROWS = 4
"""That are added up before they are added to the others."""
VECTORS = 4
"""Of neighbours that are added up side by side: their totals stay in registers."""


@dataclass(frozen=True, eq=False)
class Bags(Kernel):
    """out[n] is the sum of table[indices[i]] for i from begin[n] on to before begin[n + 1], or their mean; of none, 0.

    The function's arguments: table[rows, width], of `dtype`, indices[picked] and begin, of `index`: as many as there are bags, and one more
    if `is_closed`, without which the last bag ends with the indices; factors[picked], of `dtype`, of each row if `has_factors`; out[count, width].
    Rows that are not there are the first or the last one.
    """

    count: Dim
    picked: Dim
    rows: Dim
    width: Dim
    dtype: str
    index: str
    is_mean: bool = False
    is_closed: bool = False
    has_factors: bool = False
    machine: Machine = field(default_factory=Machine)

    @property
    def few(self) -> str:
        """In which dtype a few rows are added up."""
        return self.dtype if self.dtype == "f64" else "f32"

    @property
    def work(self) -> Dim:
        return 2 * self.picked * self.width

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        return {
            "table": memref((self.rows, self.width), self.dtype),
            "indices": memref((self.picked,), self.index),
            "begin": memref((self.count + self.is_closed,), self.index),
            **({"factors": memref((self.picked,), self.dtype)} if self.has_factors else {}),
            "out": memref((self.count, self.width), self.dtype),
        }

    def build(self, b: KernelBuilder) -> None:
        with b.share(self.count, self.threads, self.work) as (_, bag):
            Bag(self, b, bag).build()


class Bag:
    """Builds one bag."""

    def __init__(self, kernel: Bags, b: KernelBuilder, bag: Index):
        self.kernel, self.b, self.bag = kernel, b, bag
        self.first = self.begin(bag)
        after = b.add(bag, 1)
        end = self.begin(after if kernel.is_closed else b.min(after, b.sub(kernel.count, 1)))
        if not kernel.is_closed:
            end = b.chosen(b.compare("eq", after, kernel.count), kernel.picked, end)
        self.size = b.sub(b.max(end, self.first), self.first)

    def begin(self, bag: Index) -> Index:
        """Where in the indices a bag begins."""
        b = self.b
        return b.min(
            b.position(b.load_number(b.buffers["begin"], [bag], self.kernel.index)), self.kernel.picked
        )

    def build(self) -> None:
        b, width, lanes = self.b, self.kernel.width, self.kernel.machine.lanes
        if not isinstance(width, int):
            for piece in b.pieces(width, lanes):
                self.added_up([piece])
            return
        block = VECTORS * lanes
        blocks, rest = divmod(width, block)
        if blocks:
            with b.loop(0, blocks) as number:
                start = b.mul(number, block)
                self.added_up([(b.add(start, n * lanes), lanes, None) for n in range(VECTORS)])
        if rest:
            self.added_up(
                [(b.add(blocks * block, at), size, mask) for at, size, mask in b.pieces(rest, lanes)]
            )

    def added_up(self, pieces: Sequence[Piece]) -> None:
        """Some vectors of neighbours of all its rows."""
        b = self.b
        full = b.div(self.size, ROWS)
        totals = [b.constant(0.0, "f64", size) for _, size, _ in pieces]
        totals = b.reduce(full, totals, self.turn(pieces, lambda turn: b.mul(turn, ROWS), ROWS))
        done = b.mul(full, ROWS)
        totals = b.reduce(
            b.sub(self.size, done), totals, self.turn(pieces, lambda turn: b.add(turn, done), 1)
        )
        for (at, size, mask), total in zip(pieces, totals, strict=True):
            b.store(self.finished(total, size), b.buffers["out"], [self.bag, at], mask)

    def turn(
        self, pieces: Sequence[Piece], start: Callable[[Index], Index], rows: int
    ) -> Callable[[Index, list[SSAValue]], list[SSAValue]]:
        """What adds some rows, of which the first is that of a turn, to totals."""
        b = self.b

        def added(turn: Index, totals: list[SSAValue]) -> list[SSAValue]:
            places = [b.add(self.first, b.add(start(turn), n)) for n in range(rows)]
            picked = [self.row(place) for place in places]
            sums = [
                b.in_pairs(arith.AddfOp, [self.values(*row, piece) for row in picked]) for piece in pieces
            ]
            pairs = zip(totals, sums, strict=True)
            return [b.op(arith.AddfOp, [old, b.widened(new, "f64")], old.type) for old, new in pairs]

        return added

    def row(self, place: Index) -> tuple[Index, SSAValue | None]:
        """The row that the index at a place picks, and its factor."""
        kernel, b = self.kernel, self.b
        row = b.position(b.load_number(b.buffers["indices"], [place], kernel.index))
        factor = b.load_number(b.buffers["factors"], [place], kernel.dtype) if kernel.has_factors else None
        return b.min(row, b.sub(kernel.rows, 1)), factor

    def values(self, row: Index, factor: SSAValue | None, piece: Piece) -> SSAValue:
        """A vector of a row, times its factor."""
        kernel, b, (at, size, mask) = self.kernel, self.b, piece
        value = b.widened(b.load(b.buffers["table"], [row, at], size, mask, kernel.dtype), kernel.few)
        if factor is None:
            return value
        factors = b.widened(b.broadcast(factor, size, kernel.dtype), kernel.few)
        return b.op(arith.MulfOp, [value, factors], value.type)

    def finished(self, total: SSAValue, size: int) -> SSAValue:
        """A result of a total."""
        b, dtype = self.b, self.kernel.dtype
        if self.kernel.is_mean:
            count = b.broadcast(b.to_float(b.max(self.size, 1), "f64"), size, "f64")
            total = b.op(arith.DivfOp, [total, count], total.type)
        return total if dtype == "f64" else b.op(vectors.TruncFOp, [total], type_of(dtype, size))
