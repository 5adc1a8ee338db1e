"""Copies between layouts: rows of both, or blocks that are transposed in registers, each of which is whole cache lines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import MemRefType

from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.sizes import Sizes, static
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div
from xdsl_exir.targets.cpu.kernels.description import Input, Machine, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel

PIECE = 4
"""Vectors of a row that are copied at a time."""

PARTS = 4
"""Tasks that each thread has of long rows."""


@dataclass(frozen=True, eq=False)
class Copy(Kernel):
    """target[..., i] = source[..., i], or if `transposed` target[..., j, i] = source[..., i, j].

    Any size may be symbolic; the last dimension of both has stride 1. The function's arguments: source, target.
    """

    source: Input
    target: Input
    transposed: bool = False
    machine: Machine = field(default_factory=Machine)

    @property
    def shape(self) -> Sizes:
        return self.source.shape

    @property
    def lanes(self) -> int:
        """Of a vector: all of a register, and of short elements half of one."""
        bits = int(self.source.dtype.lstrip("bfi"))
        return self.machine.lanes * 32 // max(bits, 32)

    @property
    def threads(self) -> int:
        return workers(self.machine, 4 * prod(self.shape))

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        return {"source": self.source.type, "target": self.target.type}

    def build(self, b: KernelBuilder) -> None:
        if not self.transposed:
            self.rows(b)
        elif is_static(self.shape):
            self.blocks(b)
        else:
            self.whole_blocks(b)

    def rows(self, b: KernelBuilder) -> None:
        """Tasks are rows, or parts of them where these are few."""
        *outer, length = self.shape
        step, parts = PIECE * self.lanes, self.parts
        full = length // step
        with b.share(prod(outer) * parts, self.threads, 4 * prod(self.shape)) as (_, task):
            *lead, part = b.delinearize(task, (*outer, parts))
            if full:
                with b.loop(*b.span(part, full, parts)) as number:
                    start = b.mul(number, step)
                    self.piece(b, lead, [b.add(start, at) for at in range(0, step, self.lanes)])
            with b.when(part, "eq", parts - 1) if parts > 1 else nullcontext():
                self.end(b, lead, full * step)

    @property
    def parts(self) -> int:
        """In how many parts a row is copied: threads have about as much to do each."""
        rows, tasks = prod(self.shape[:-1]), PARTS * self.machine.threads
        return ceil_div(tasks, rows) if isinstance(rows, int) and self.machine.threads > 1 else 1

    def end(self, b: KernelBuilder, lead: Sequence[Index], start: Dim) -> None:
        """The vectors of a row that are no whole piece."""
        length = self.shape[-1]
        vectors, last = length % (PIECE * self.lanes) // self.lanes, length % self.lanes
        if isinstance(vectors, int):
            self.piece(b, lead, [start + at * self.lanes for at in range(vectors)])
        else:
            with b.loop(0, vectors) as number:
                self.piece(b, lead, [b.add(start, b.mul(number, self.lanes))])
        if last:
            self.piece(b, lead, [length - last], last)

    def piece(self, b: KernelBuilder, lead: Sequence[Index], places: Sequence[Index], size: Dim = 0) -> None:
        """Vectors of a row, loaded before any is stored."""
        dtype, lanes = self.source.dtype, self.lanes
        mask = b.mask_below(lanes, size or lanes)
        values = [b.load(b.buffers["source"], [*lead, at], lanes, mask, dtype) for at in places]
        for value, at in zip(values, places, strict=True):
            b.store(value, b.buffers["target"], [*lead, at], mask)

    def blocks(self, b: KernelBuilder) -> None:
        """Tasks are as many rows as a vector has lanes."""
        *outer, rows, columns = static(self.shape)
        lanes = self.lanes
        count = -(-rows // lanes)
        with b.share(prod(outer) * count, self.threads, 4 * prod(self.shape)) as (_, task):
            *lead, number = b.delinearize(task, (*outer, count))
            first = b.mul(number, lanes)
            full, rest = divmod(rows, lanes)
            for size, predicate in ((lanes if full else 0, "ult"), (rest, "eq")):
                if not size:
                    continue
                with b.when(number, predicate, full) if full and rest else b.loop(0, 1):
                    whole, last = divmod(columns, lanes)
                    if whole:
                        with b.loop(0, whole) as block:
                            self.block(b, lead, first, b.mul(block, lanes), size, lanes)
                    if last:
                        self.block(b, lead, first, columns - last, size, last)

    def whole_blocks(self, b: KernelBuilder) -> None:
        """The same of sizes that are not known: what makes no whole block is copied by elements."""
        *outer, rows, columns = self.shape
        lanes = self.lanes
        full = rows // lanes
        with b.share(prod((*outer, full + 1)), self.threads, 4 * prod(self.shape)) as (_, task):
            *lead, number = b.delinearize(task, (*outer, full + 1))
            first = b.mul(number, lanes)
            with b.when(number, "ult", full):
                with b.loop(0, columns // lanes) as block:
                    self.block(b, lead, first, b.mul(block, lanes), lanes, lanes)
                self.elements(b, lead, (first, b.add(first, lanes)), columns // lanes * lanes)
            with b.when(number, "eq", full):
                self.elements(b, lead, (first, rows), 0)

    def elements(
        self, b: KernelBuilder, lead: Sequence[Index], rows: tuple[Index, Index], column: Dim
    ) -> None:
        """Elements of some rows from a column on, one by one."""
        with b.loop(column, self.shape[-1]) as j, b.loop(*rows) as i:
            value = b.load_number(b.buffers["source"], [*lead, i, j], self.source.dtype)
            b.store_number(value, b.buffers["target"], [*lead, j, i])

    def block(
        self, b: KernelBuilder, lead: Sequence[Index], row: Index, column: Index, rows: int, columns: int
    ) -> None:
        """One block: of the rows that are not there the last one is read, and nothing stored."""
        dtype, lanes = self.source.dtype, self.lanes
        mask = b.mask_below(lanes, columns)
        given = [
            b.load(b.buffers["source"], [*lead, b.add(row, at), column], lanes, mask, dtype)
            for at in range(rows)
        ]
        made = b.transpose([*given, *[given[-1]] * (lanes - rows)], lanes)
        mask = b.mask_below(lanes, rows)
        for at, value in enumerate(made[:columns]):
            b.store(value, b.buffers["target"], [*lead, b.add(column, at), row], mask)
