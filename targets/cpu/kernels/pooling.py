"""Maximum pooling: rows of a window are combined first, along the row, then its columns.

Where a window reaches over the border its outermost pixel is read again, which changes no maximum: no padding is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.vector_builder import type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask
from xdsl_exir.targets.cpu.kernels.description import Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel


@dataclass(frozen=True, eq=False)
class MaxPool2d(Kernel):
    """out[P, HO, WO] = max_pool2d(x[P, H, W]) without dilation, float32. Every window has to see some of the image.

    The function's arguments: x, scratch, out.
    """

    planes: Dim
    size: tuple[Dim, Dim]
    out_size: tuple[Dim, Dim]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int] = (0, 0)
    machine: Machine = field(default_factory=Machine)

    @property
    def work(self) -> Dim:
        (ho, wo), (kh, kw) = self.out_size, self.kernel
        return 4 * self.planes * ho * wo * (kh + kw)

    @property
    def threads(self) -> int:
        threads = workers(self.machine, self.work)
        return min(threads, self.planes) if isinstance(self.planes, int) else threads

    @property
    def scratch(self) -> tuple[int, Dim]:
        """Shape of the float32 buffer the kernel needs: a row for each worker."""
        return self.threads, self.size[1]

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        return {
            "x": memref((self.planes, *self.size)),
            "scratch": memref(self.scratch),
            "out": memref((self.planes, *self.out_size)),
        }

    def build(self, b: KernelBuilder) -> None:
        shared = b.share(self.planes, self.threads, self.work)
        with shared as (worker, plane), b.loop(0, self.out_size[0]) as row:
            self.combine_rows(b, worker, plane, row)
            self.combine_columns(b, worker, plane, row)

    def largest(self, b: KernelBuilder, values: Sequence[SSAValue]) -> SSAValue:
        value, *rest = values
        for other in rest:
            value = b.op(arith.MaximumfOp, [value, other], value.type)
        return value

    def combine_rows(self, b: KernelBuilder, worker: Index, plane: Index, row: Index) -> None:
        """scratch[w] = max of x[h, w] over the rows of a window."""
        lanes, (height, width) = self.machine.lanes, self.size
        top = b.mul(row, self.stride[0])
        pad = self.padding[0]
        rows = [b.min(b.sub(b.max(b.add(top, step), pad), pad), height - 1) for step in range(self.kernel[0])]
        full, rest = width // lanes, width % lanes

        def piece(offset: Index, mask: Mask) -> None:
            values = [b.load(b.buffers["x"], [plane, h, offset], lanes, mask) for h in rows]
            value = self.largest(b, values)
            b.store(value, b.buffers["scratch"], [worker, offset], mask)

        if full:
            with b.loop(0, full) as i:
                piece(b.mul(i, lanes), None)
        if rest:
            piece(full * lanes, b.mask_below(lanes, rest))

    def combine_columns(self, b: KernelBuilder, worker: Index, plane: Index, row: Index) -> None:
        """out[w] = max of scratch over the columns of a window, read one by one: strides may be any."""
        lanes, width, pad, step = self.machine.lanes, self.size[1], self.padding[1], self.stride[1]
        integers, combined = type_of("i32", lanes), b.buffers["scratch"]

        def integer(value: Index) -> SSAValue:
            """An index in all lanes, as i32."""
            number = b.op(arith.IndexCastOp, [b.index(value)], type_of("i32"))
            return b.broadcast(number, lanes, "i32")

        def op(kind: type[Operation], x: SSAValue, y: SSAValue) -> SSAValue:
            return b.op(kind, [x, y], integers)

        last = b.constant(width - 1, "i32", lanes) if isinstance(width, int) else integer(width - 1)
        starts = b.constant(tuple(lane * step for lane in range(lanes)), "i32", lanes)
        full, rest = self.out_size[1] // lanes, self.out_size[1] % lanes

        def column(first: SSAValue, number: int) -> SSAValue:
            at = op(arith.AddiOp, first, b.constant(number - pad, "i32", lanes))
            at = op(arith.MaxSIOp, at, b.constant(0, "i32", lanes))
            at = op(arith.MinSIOp, at, last)
            place = [combined, *b.indices([worker, 0]), at]
            operands = [*place, b.constant(True, "i1", lanes), b.constant(0.0, "f32", lanes)]
            return b.op(vectors.GatherOp, operands, type_of("f32", lanes))

        def piece(offset: Index, mask: Mask) -> None:
            first = op(arith.AddiOp, integer(b.mul(offset, step)), starts)
            value = self.largest(b, [column(first, number) for number in range(self.kernel[1])])
            b.store(value, b.buffers["out"], [plane, row, offset], mask)

        if full:
            with b.loop(0, full) as i:
                piece(b.mul(i, lanes), None)
        if rest:
            piece(full * lanes, b.mask_below(lanes, rest))
