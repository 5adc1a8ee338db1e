"""Scans along rows: running sums and products, and running extremes with their positions.

What comes next in a row waits for what came before, so several rows go on at once, each with its own number: results do not depend on how
many. Sums and products of floats are in float64, as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.lowering.vector_builder import predicate, type_of
from xdsl_exir.targets.cpu.kernels.builder import INDEX, Index, KernelBuilder
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel

ROWS = 8
"""That go on at once: as many as hide how long an addition takes."""

COMBINE: Mapping[str, tuple[type[Operation], type[Operation], int]] = {
    "sum": (arith.AddfOp, arith.AddiOp, 0),
    "prod": (arith.MulfOp, arith.MuliOp, 1),
}
"""What combines floats, and integers, and what it begins with."""

FURTHER = {"max": ("oge", "sge"), "min": ("ole", "sle")}
"""When an element is the new extreme: also if it is equal to the last one."""


@dataclass(frozen=True, eq=False)
class Scan(Kernel):
    """Each row of x[rows, size] scanned.

    The function's arguments: x, of `dtype`, and out[rows, size], of `result`; for the kinds max and min also positions[rows, size] of
    int64. A NaN is the greatest and the least.
    """

    rows: Dim
    size: Dim
    kind: str
    dtype: str
    result: str
    machine: Machine = field(default_factory=Machine)

    @property
    def work(self) -> Dim:
        return 4 * prod((self.rows, self.size))

    @property
    def scratch(self) -> None:
        return None

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        shape = (self.rows, self.size)
        types = {"x": memref(shape, self.dtype), "out": memref(shape, self.result)}
        return types | ({"positions": memref(shape, "i64")} if self.kind in FURTHER else {})

    def build(self, b: KernelBuilder) -> None:
        threads = workers(self.machine, self.work)
        whole, rest = self.rows // ROWS, self.rows % ROWS
        if whole != 0:
            with b.share(whole, threads, self.work) as (_, block):
                Group(self, b, [b.add(b.mul(block, ROWS), row) for row in range(ROWS)]).run()
        if isinstance(rest, int):
            if rest:
                Group(self, b, [self.rows // ROWS * ROWS + row for row in range(rest)]).run()
            return
        with b.loop(0, rest) as row:
            Group(self, b, [b.add(whole * ROWS, row)]).run()


class Group:
    """Builds what happens to some rows at once."""

    def __init__(self, kernel: Scan, b: KernelBuilder, rows: list[Index]):
        self.kernel, self.b, self.rows = kernel, b, rows

    def run(self) -> None:
        b, kernel = self.b, self.kernel
        first = self.extreme if kernel.kind in FURTHER else self.running
        b.reduce(kernel.size, self.initial() * len(self.rows), first)

    @property
    def accumulator(self) -> str:
        """In which numbers are combined."""
        return "f64" if self.kernel.result == "f32" else self.kernel.result

    def initial(self) -> list[SSAValue]:
        """What a row begins with."""
        kernel, b = self.kernel, self.b
        if kernel.kind in COMBINE:
            number = COMBINE[kernel.kind][2]
            floats = self.accumulator.startswith("f")
            return [b.constant(float(number) if floats else number, self.accumulator)]
        sign = -1 if kernel.kind == "max" else 1
        if kernel.dtype.startswith("f"):
            worst: float = sign * float("inf")
        else:
            top = 1 << (int(kernel.dtype[1:]) - 1)
            worst = top - 1 if sign > 0 else -top
        return [b.constant(worst, kernel.dtype), b.number(0)]

    def element(self, row: Index, at: Index) -> SSAValue:
        return self.b.load_number(self.b.buffers["x"], [row, at], self.kernel.dtype)

    def running(self, at: Index, carried: list[SSAValue]) -> list[SSAValue]:
        """Running sums, or products."""
        b, kernel, wide = self.b, self.kernel, self.accumulator
        floats, integers, _ = COMBINE[kernel.kind]
        combine = floats if wide.startswith("f") else integers
        elements = [self.element(row, at) for row in self.rows]
        if kernel.dtype != wide:
            extend = vectors.ExtFOp if wide == "f64" else arith.ExtSIOp
            elements = [b.op(extend, [x], type_of(wide)) for x in elements]
        pairs = zip(carried, elements, strict=True)
        totals = [b.op(combine, pair, type_of(wide)) for pair in pairs]
        for row, total in zip(self.rows, totals, strict=True):
            if kernel.result != wide:
                total = b.op(vectors.TruncFOp, [total], type_of(kernel.result))
            b.store_number(total, b.buffers["out"], [row, at])
        return totals

    def extreme(self, at: Index, carried: list[SSAValue]) -> list[SSAValue]:
        """Running extremes, and where the last element equal to each stands."""
        b, found = self.b, list[SSAValue]()
        elements = [self.element(row, at) for row in self.rows]
        for row, x, best, place in zip(self.rows, elements, carried[::2], carried[1::2], strict=True):
            joins = self.joins(x, best)
            best = b.op(vectors.SelectOp, [joins, x, best], x.type)
            place = b.op(vectors.SelectOp, [joins, b.index(at), place], INDEX)
            b.store_number(best, b.buffers["out"], [row, at])
            number = b.op(arith.IndexCastOp, [place], type_of("i64"))
            b.store_number(number, b.buffers["positions"], [row, at])
            found += [best, place]
        return found

    def joins(self, x: SSAValue, best: SSAValue) -> SSAValue:
        b, (floats, integers) = self.b, FURTHER[self.kernel.kind]
        if not self.kernel.dtype.startswith("f"):
            return b.op(vectors.CmpiOp, [x, best], type_of("i1"), predicate(vectors.CmpiOp, integers))
        further, missing = (
            b.op(vectors.CmpfOp, [x, other], type_of("i1"), predicate(vectors.CmpfOp, name))
            for name, other in ((floats, best), ("uno", x))
        )
        return b.op(arith.OrIOp, [further, missing], type_of("i1"))
