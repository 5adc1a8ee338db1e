"""Pooling: what windows of images have in common, their maximum or their mean. Rows of a window are combined first, along the row, then its columns.

Where a window reaches over a border is the neutral element: of rows beyond it, and on both sides of the combined row. Means are of the elements that
count, of which each dimension has so many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import product
from typing import Any, Literal

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects.expr import Dim, apply, max_, prod, provably
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.row_nodes import HALVES

MOST = 32
"""Taps of a window along a row, and of one across rows, and elements between two windows."""
Pooled = Literal["max", "mean"]
NEUTRAL: Mapping[Pooled, float] = {"max": -math.inf, "mean": 0.0}
COMBINED: Mapping[Pooled, type[Operation]] = {"max": arith.MaximumfOp, "mean": arith.AddfOp}


def few_taps(window: Sequence[int]) -> bool:
    """Whether there may be code for each row and each column of a window."""
    *rows, columns = window
    return max(math.prod(rows), columns) <= MOST


@dataclass(frozen=True, eq=False)
class Pool(Kernel):
    """out[P, *OUT] = the maximum or mean of windows of x[P, *SIZE], floats; of two dimensions or three.

    The function's arguments: x, scratch of `wide`, out.
    """

    kind: Pooled
    planes: Dim
    size: tuple[Dim, ...]
    out_size: tuple[Dim, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    divisor: int | None = None
    """Of a sum; None where it is divided by how many elements count."""
    counts_padding: bool = True
    """Whether the padding's do."""
    machine: Machine = field(default_factory=Machine)
    dtype: str = "f32"

    @property
    def unrolls(self) -> bool:
        """Whether the taps of a window, of each of which there is code, are few, and so is what a vector of windows spans."""
        return few_taps(self.kernel) and self.stride[-1] <= MOST

    @property
    def wide(self) -> str:
        """In which dtype elements are combined: halves in float32."""
        return "f64" if self.dtype == "f64" else "f32"

    def reach(self, dim: int) -> Dim:
        """Elements along a dimension, padding before it among them, up to the end of the last window."""
        return (self.out_size[dim] - 1) * self.stride[dim] + (self.kernel[dim] - 1) * self.dilation[dim] + 1

    def is_within(self, dim: int, margin: int) -> bool:
        """Whether all windows are known to lie in the image and so much padding along a dimension."""
        pad = self.padding[dim]
        return pad <= margin and bool(provably(apply("le", self.reach(dim), self.size[dim] + pad + margin)))

    @property
    def row(self) -> Dim:
        """Elements of a combined row: the windows' columns, which may end before the padding does, or beyond."""
        return max_(self.size[-1] + self.padding[-1], self.reach(-1))

    @property
    def work(self) -> Dim:
        *rows, columns = self.kernel
        return 4 * self.planes * prod(self.out_size) * (math.prod(rows) + columns)

    @property
    def tasks(self) -> tuple[Dim, ...]:
        return (self.planes, *self.out_size[:-2])

    @property
    def threads(self) -> int:
        threads, tasks = workers(self.machine, self.work), prod(self.tasks)
        return min(threads, tasks) if isinstance(tasks, int) else threads

    @property
    def scratch(self) -> tuple[int, Dim]:
        """Shape of the buffer of `wide` the kernel needs: a row for each worker, and what its last vectors read beyond it."""
        return self.threads, self.row + (self.machine.lanes + 1) * self.stride[-1]

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        return {
            "x": memref((self.planes, *self.size), self.dtype),
            "scratch": memref(self.scratch, self.wide),
            "out": memref((self.planes, *self.out_size), self.dtype),
        }

    def build(self, b: KernelBuilder) -> None:
        lanes, pad, neutral = self.machine.lanes, self.padding[-1], NEUTRAL[self.kind]
        end = self.size[-1] + pad
        with b.share(prod(self.tasks), self.threads, self.work) as (worker, task):
            plane, *place = b.delinearize(task, self.tasks)
            for start, count in ((0, pad), (end, self.row - end)):
                b.fill(b.buffers["scratch"], [worker, start], count, lanes, neutral, self.wide)
            with b.loop(0, self.out_size[-2]) as row:
                at = [*place, row]
                self.combine_rows(b, worker, plane, at)
                self.combine_columns(b, worker, plane, at)

    def taps(self, b: KernelBuilder, dim: int, place: Index) -> list[tuple[Index, SSAValue | None]]:
        """Where in the image a window's taps lie along a dimension, and whether they do; None of what is known to."""
        start, pad, found = (
            b.mul(place, self.stride[dim]),
            self.padding[dim],
            list[tuple[Index, SSAValue | None]](),
        )
        for tap in range(self.kernel[dim]):
            at, inside = b.add(start, tap * self.dilation[dim]), None
            if not self.is_within(dim, 0):
                at = b.sub(at, pad)  # below 0 it is larger than any size
                inside = b.compare("ult", at, self.size[dim])
                at = b.chosen(inside, at, 0)
            found.append((at, inside))
        return found

    def combine_rows(self, b: KernelBuilder, worker: Index, plane: Index, place: Sequence[Index]) -> None:
        """scratch[PW + w] = what x[..., w] have in common over the rows of a window."""
        i1, corners = type_of("i1"), list[tuple[list[Index], SSAValue | None]]()
        for corner in product(*(self.taps(b, dim, at) for dim, at in enumerate(place))):
            inside = [condition for _, condition in corner if condition is not None]
            every = reduce(lambda x, y: b.op(arith.AndIOp, [x, y], i1), inside) if inside else None
            corners.append(([at for at, _ in corner], every))
        for offset, size, mask in b.pieces(self.size[-1], self.machine.lanes):
            values = [self.pixels(b, [plane, *at, offset], size, mask, inside) for at, inside in corners]
            total = b.in_pairs(COMBINED[self.kind], values)
            b.store(total, b.buffers["scratch"], [worker, b.add(offset, self.padding[-1])], mask)

    def pixels(
        self, b: KernelBuilder, at: Sequence[Index], size: int, mask: Mask, inside: SSAValue | None
    ) -> SSAValue:
        """A vector of the image as it is combined."""
        value = b.widened(b.load(b.buffers["x"], at, size, mask, self.dtype), self.wide)
        if inside is None:
            return value
        neutral = b.constant(NEUTRAL[self.kind], self.wide, size)
        return b.op(arith.SelectOp, [inside, value, neutral], value.type)

    def combine_columns(self, b: KernelBuilder, worker: Index, plane: Index, place: Sequence[Index]) -> None:
        """out[w] = the same of scratch over the columns of a window: vectors of neighbours, or of what lies a stride apart."""
        step, apart = self.stride[-1], self.dilation[-1]
        taps = [divmod(tap * apart, step) for tap in range(self.kernel[-1])]
        for offset, size, mask in b.pieces(self.out_size[-1], self.machine.lanes):
            start = b.mul(offset, step)

            @cache
            def combined(at: int, start: Index = start, lanes: int = size * step) -> SSAValue:
                return b.load(b.buffers["scratch"], [worker, b.add(start, at)], lanes, dtype=self.wide)

            values = [b.every(combined(turn * step), step, phase) for turn, phase in taps]
            value = b.in_pairs(COMBINED[self.kind], values)
            if self.kind == "mean":
                value = b.op(arith.DivfOp, [value, self.count(b, place, start, size)], value.type)
            value = b.halved(value, self.dtype, size) if self.dtype in HALVES else value
            b.store(value, b.buffers["out"], [plane, *place, offset], mask)

    @property
    def margins(self) -> list[int]:
        """Padding that counts."""
        return [pad if self.counts_padding else 0 for pad in self.padding]

    def count(self, b: KernelBuilder, place: Sequence[Index], start: Index, lanes: int) -> SSAValue:
        """How many elements count of the windows of a vector, of which the first begins at an element of the padded row."""
        within = [self.is_within(dim, margin) for dim, margin in enumerate(self.margins)]
        if self.divisor is not None or all(within):
            return b.constant(float(self.divisor or math.prod(self.kernel)), self.wide, lanes)
        count: Index = 1
        for dim, at in enumerate(place):
            seen: Index = self.kernel[dim]
            if not within[dim]:
                begin, (first, last) = b.mul(at, self.stride[dim]), self.bounds(dim)
                seen = b.sub(b.min(b.add(begin, seen), last), b.max(begin, first))
            count = b.mul(count, seen)
        rows = b.broadcast(b.to_float(count, self.wide), lanes, self.wide)
        if within[-1]:
            return b.op(arith.MulfOp, [rows, b.constant(float(self.kernel[-1]), self.wide, lanes)], rows.type)
        return b.op(arith.MulfOp, [rows, self.columns(b, start, lanes)], rows.type)

    def bounds(self, dim: int) -> tuple[int, Dim]:
        """The first element that counts along a dimension, of the padded ones, and that behind the last one."""
        pad, margin = self.padding[dim], self.margins[dim]
        return pad - margin, self.size[dim] + pad + margin

    def columns(self, b: KernelBuilder, start: Index, lanes: int) -> SSAValue:
        """The same along the row, of each lane."""
        first, last = self.bounds(-1)
        offsets = b.constant(tuple(float(lane * self.stride[-1]) for lane in range(lanes)), self.wide, lanes)
        vector = offsets.type

        def number(value: Index) -> SSAValue:
            return b.broadcast(b.to_float(value, self.wide), lanes, self.wide)

        begin = b.op(arith.AddfOp, [number(start), offsets], vector)
        end = b.op(arith.AddfOp, [begin, number(self.kernel[-1])], vector)
        end = b.op(arith.MinimumfOp, [end, number(last)], vector)
        return b.op(arith.SubfOp, [end, b.op(arith.MaximumfOp, [begin, number(first)], vector)], vector)
