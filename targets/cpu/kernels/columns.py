"""Reductions over a dimension that others follow: rows that lie behind one another become one, column by column.

A task is some columns. Several of its rows are read at a time, whole vectors of neighbours, and combined with what was before. In which order
the elements of a column are combined depends on nothing but how many there are, and whether that is known, so results are the same for any number of threads. Sums and
products of floats are in float64, those of halves a few at a time in float32 before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, min_
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel, neighbours, tasks
from xdsl_exir.targets.cpu.kernels.row_nodes import HALVES, REDUCTIONS

ROWS = 8
"""That are combined at a time."""
KINDS: Mapping[str, tuple[str, type[Operation]]] = {
    "sum": ("add", arith.AddiOp),
    "mean": ("add", arith.AddiOp),
    "prod": ("mul", arith.MuliOp),
    "max": ("max", arith.MaxSIOp),
    "min": ("min", arith.MinSIOp),
}
"""Which of the `REDUCTIONS` combines floats, and what combines integers."""


@dataclass(frozen=True, eq=False)
class Columns(Kernel):
    """out[o, i] is what x[o, :, i] becomes, of x[outer, size, inner], which may be symbolic.

    The function's arguments: x, of `dtype`, scratch if `scratch` is not None, out[outer, inner], of `result`.
    """

    outer: Dim
    size: Dim
    inner: Dim
    kind: str
    dtype: str
    result: str
    machine: Machine = field(default_factory=Machine)

    @property
    def total(self) -> str:
        """In which dtype a column's elements are combined."""
        exact = self.kind in ("max", "min") or self.dtype.startswith("i")
        return self.result if exact else "f64"

    @property
    def few(self) -> str:
        """In which dtype a few of them are: a product of halves, unlike a sum of a few, may leave float32."""
        return "f32" if self.dtype in HALVES and self.kind != "prod" else self.total

    @property
    def work(self) -> Dim:
        return 4 * self.outer * self.size * self.inner

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @property
    def columns(self) -> Dim:
        """Of a task: as many tasks as there are threads, if rows are long enough; as if for one matrix, if it is not known how many."""
        columns = neighbours((self.outer if isinstance(self.outer, int) else 1) * self.inner, self.threads)
        return min_(self.inner, columns) if isinstance(self.inner, int) else columns

    @property
    def lanes(self) -> int:
        return self.machine.lanes * (2 if self.dtype in HALVES else 1)

    @property
    def scratch(self) -> Sizes | None:
        """Shape of the buffer of `total` that the kernel needs, or None."""
        return (self.threads, self.columns) if not isinstance(self.size, int) or self.size > ROWS else None

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        types = {"x": memref((self.outer, self.size, self.inner), self.dtype)}
        if self.scratch:
            types["scratch"] = memref(self.scratch, self.total)
        return types | {"out": memref((self.outer, self.inner), self.result)}

    def build(self, b: KernelBuilder) -> None:
        extents = (self.outer, self.inner)
        for worker, (lead, first), count in tasks(b, extents, self.columns, self.threads, self.work):
            Task(self, b, worker, lead, first, count).run()


class Task:
    """Builds the reduction of some columns."""

    def __init__(
        self, kernel: Columns, b: KernelBuilder, worker: Index, lead: Index, first: Index, count: Dim
    ):
        self.kernel, self.b, self.worker = kernel, b, worker
        self.lead, self.first, self.count = lead, first, count

    def run(self) -> None:
        """Over the rows of the first group, then of the others, each of which adds to the totals; the last one's are the result."""
        size, b = self.kernel.size, self.b
        if not isinstance(size, int):
            self.run_through(size)
            return
        first = (size - 1) % ROWS + 1
        groups = (size - first) // ROWS
        self.group(0, first, begins=True, ends=not groups)
        if groups > 1:
            with b.loop(0, groups - 1) as group:
                self.group(b.add(b.mul(group, ROWS), first), ROWS)
        if groups:
            self.group(size - ROWS, ROWS, ends=True)

    def run_through(self, size: Dim) -> None:
        """Over rows of which it is not known how many there are: one by one until groups are left."""
        kernel, b, first = self.kernel, self.b, size % ROWS
        b.fill(b.buffers["scratch"], [self.worker, 0], self.count, kernel.lanes, self.neutral, kernel.total)
        with b.loop(0, first) as row:
            self.group(row, 1)
        with b.loop(0, size // ROWS) as group:
            self.group(b.add(b.mul(group, ROWS), first), ROWS)
        for at, count, mask in b.pieces(self.count, kernel.lanes):
            total = b.load(b.buffers["scratch"], [self.worker, at], count, mask, kernel.total)
            place = [self.lead, b.add(self.first, at)]
            b.store(self.finished(total, count), b.buffers["out"], place, mask)

    @property
    def neutral(self) -> float:
        """What leaves totals as they are; of integers that have no infinity, the last one."""
        _, value = REDUCTIONS[KINDS[self.kernel.kind][0]]
        dtype = self.kernel.total
        if dtype.startswith("f"):
            return value
        last = (1 << (int(dtype[1:]) - 1)) - 1
        return int(value) if isfinite(value) else last if value > 0 else -last - 1

    def group(self, row: Index, rows: int, begins: bool = False, ends: bool = False) -> None:
        kernel, b = self.kernel, self.b
        for at, size, mask in b.pieces(self.count, kernel.lanes):
            value = self.combined(row, rows, at, size, mask)
            place = [self.worker, at]
            if not begins:
                before = b.load(b.buffers["scratch"], place, size, mask, kernel.total)
                value = b.op(self.combine(kernel.total), [before, value], value.type)
            if ends:
                b.store(
                    self.finished(value, size), b.buffers["out"], [self.lead, b.add(self.first, at)], mask
                )
            else:
                b.store(value, b.buffers["scratch"], place, mask)

    def combined(self, row: Index, rows: int, at: Index, size: int, mask: Mask) -> SSAValue:
        """Some rows as one: pairs of them, then pairs of these."""
        kernel, b = self.kernel, self.b
        column = b.add(self.first, at)
        values: list[SSAValue] = []
        for number in range(rows):
            place = [self.lead, b.add(row, number), column]
            values.append(b.widened(b.load(b.buffers["x"], place, size, mask, kernel.dtype), kernel.few))
        made = b.in_pairs(self.combine(kernel.few), values)
        return b.widened(made, kernel.total)

    def combine(self, dtype: str) -> type[Operation]:
        """What makes one number of two."""
        name, integers = KINDS[self.kernel.kind]
        return REDUCTIONS[name][0] if dtype.startswith("f") else integers

    def finished(self, total: SSAValue, size: int) -> SSAValue:
        """A result of a total."""
        kernel, b, dtype = self.kernel, self.b, self.kernel.total
        if kernel.kind == "mean":
            count = b.broadcast(b.to_float(kernel.size, dtype), size, dtype)
            total = b.op(arith.DivfOp, [total, count], type_of(dtype, size))
        if kernel.result == dtype:
            return total
        return b.op(vectors.TruncFOp, [total], type_of(kernel.result, size))
