"""Maximum pooling: rows of a window are combined first, along the row, then its columns.

Where a window reaches over the border its outermost pixel is read again, which changes no maximum: no padding is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.schedules.text import Index, Machine, Text, memref, workers


@dataclass(frozen=True)
class MaxPool2d:
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
    def types(self) -> dict[str, str]:
        """The function's arguments and their types, in order."""
        return {
            "%x": memref((self.planes, *self.size)),
            "%scratch": memref(self.scratch),
            "%out": memref((self.planes, *self.out_size)),
        }

    def emit(self, name: str, public: bool = False) -> str:
        """The kernel as `func.func @name`, with `llvm.emit_c_interface` when public."""
        text = Text()
        shared = text.share(self.planes, self.threads, self.work)
        with shared as (worker, plane), text.loop(0, self.out_size[0]) as row:
            self.combine_rows(text, worker, plane, row)
            self.combine_columns(text, worker, plane, row)
        return text.function(name, list(self.types.items()), public)

    def largest(self, text: Text, values: Sequence[str]) -> str:
        value, *rest = values
        for other in rest:
            value = text.op(f"arith.maximumf {value}, {other} : vector<{self.machine.lanes}xf32>")
        return value

    def combine_rows(self, text: Text, worker: Index, plane: Index, row: Index) -> None:
        """scratch[w] = max of x[h, w] over the rows of a window."""
        lanes, (height, width) = self.machine.lanes, self.size
        top = text.mul(row, self.stride[0])
        pad = self.padding[0]
        rows = [
            text.min(text.sub(text.max(text.add(top, step), pad), pad), height - 1)
            for step in range(self.kernel[0])
        ]
        full, rest = width // lanes, width % lanes

        def piece(offset: Index, mask: str | None) -> None:
            values = [text.load("%x", self.types["%x"], [plane, h, offset], lanes, mask) for h in rows]
            value = self.largest(text, values)
            text.store(value, "%scratch", self.types["%scratch"], [worker, offset], lanes, mask)

        if full:
            with text.loop(0, full) as i:
                piece(text.mul(i, lanes), None)
        if rest:
            piece(full * lanes, text.mask_below(lanes, rest))

    def combine_columns(self, text: Text, worker: Index, plane: Index, row: Index) -> None:
        """out[w] = max of scratch over the columns of a window, read one by one: strides may be any."""
        lanes, width, pad, step = self.machine.lanes, self.size[1], self.padding[1], self.stride[1]
        integers = f"vector<{lanes}xi32>"
        if isinstance(width, int):
            last = text.vector(str(width - 1), lanes, "i32")
        else:
            size = text.op(f"arith.index_cast {text.index(width - 1)} : index to i32")
            last = text.op(f"vector.broadcast {size} : i32 to {integers}")
        starts = text.vector(str([lane * step for lane in range(lanes)]), lanes, "i32")
        full, rest = self.out_size[1] // lanes, self.out_size[1] % lanes

        def column(first: str, number: int) -> str:
            value = text.op(
                f"arith.addi {first}, {text.vector(str(number - pad), lanes, 'i32')} : {integers}"
            )
            value = text.op(f"arith.maxsi {value}, {text.vector('0', lanes, 'i32')} : {integers}")
            value = text.op(f"arith.minsi {value}, {last} : {integers}")
            vector = f"vector<{lanes}xf32>"
            at = f"%scratch[{text.index(worker)}, {text.index(0)}]"
            operands = f"{text.vector('1', lanes, 'i1')}, {text.vector('0.0', lanes)}"
            types = f"{self.types['%scratch']}, {integers}, vector<{lanes}xi1>, {vector} into {vector}"
            return text.op(f"vector.gather {at} [{value}], {operands} : {types}")

        def piece(offset: Index, mask: str | None) -> None:
            start = text.op(f"arith.index_cast {text.index(text.mul(offset, step))} : index to i32")
            first = text.op(f"vector.broadcast {start} : i32 to {integers}")
            first = text.op(f"arith.addi {first}, {starts} : {integers}")
            value = self.largest(text, [column(first, number) for number in range(self.kernel[1])])
            text.store(value, "%out", self.types["%out"], [plane, row, offset], lanes, mask)

        if full:
            with text.loop(0, full) as i:
                piece(text.mul(i, lanes), None)
        if rest:
            piece(full * lanes, text.mask_below(lanes, rest))
