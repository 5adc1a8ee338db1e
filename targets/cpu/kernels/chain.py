"""Chains: a matrix product, what is made of its rows, and the product of that with another matrix, in blocks of rows.

    first, second = Matmul(512, 512, 64, (8,), "transposed"), Matmul(512, 64, 512, (8,), "row_major")
    kernel = Chain(first, Rows((8, 512), (Input((8, 512, 512)),), softmax, (3,)), 0, second)

This is what an attention is: `softmax(q @ k.T) @ v`. A block's rows of the first product lie in a cache until the second product has taken them; there
are never more of them in memory than threads work at. Each part is the kernel that it is alone, on views of what the others have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv, min_, prod
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div
from xdsl_exir.targets.cpu.kernels.contraction import Matmul
from xdsl_exir.targets.cpu.kernels.description import Input, Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.rows import Rows

CACHED = 1 << 16
"""Elements of the rows of a block, which shall stay in a second-level cache beside what they are multiplied with."""

FEWEST = 32
"""Rows of a block at least, if there are as many: each packs the right-hand sides anew."""


@dataclass(frozen=True)
class Block:
    """Which part of a chain is computed: rows from `start` on, of a batch's."""

    batch: Sequence[Index]
    start: Index
    rows: Dim

    def of(self, b: KernelBuilder, name: str, shape: Sizes) -> SSAValue:
        """What it sees of an operand that broadcasts to rows [*batch, m, n]."""
        at, rows = [*self.batch, self.start, 0], [*[1] * len(self.batch), self.rows]
        lead = len(at) - len(shape)
        offsets = [0 if size == 1 else i for size, i in zip(shape, at[lead:], strict=True)]
        sizes = [1 if size == 1 else n for size, n in zip(shape[:-1], rows[lead:], strict=True)]
        return b.part(b.buffers[name], offsets, [*sizes, *shape[-1:]])

    def whole(self, b: KernelBuilder, name: str, shape: Sizes) -> SSAValue:
        """What it sees of a matrix that all rows of a batch are multiplied with."""
        lead = self.batch[len(self.batch) - (len(shape) - 2) :]
        offsets = [0 if size == 1 else i for size, i in zip(shape, lead, strict=False)]
        return b.part(b.buffers[name], [*offsets, 0, 0], [*[1] * len(offsets), *shape[-2:]])


@dataclass(frozen=True, eq=False)
class Chain(Kernel):
    """second(rows(first)): the product of a matrix and what rows make of the product of two.

    The function's arguments: lhs and rhs of the first product; the inputs of rows but for that product, which is their input `at`; the second
    product's rhs, and its epilogue's inputs; `scratches`; out. The first product has no epilogue but that of numbers.
    """

    first: Matmul
    rows: Rows
    at: int
    second: Matmul

    @property
    def machine(self) -> Machine:
        return self.first.machine

    @property
    def batch(self) -> Sizes:
        return self.first.batch

    @property
    def work(self) -> Dim:
        return self.first.flops + self.rows.work + self.second.flops

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @cached_property
    def size(self) -> Dim:
        """Rows of a block; the last one overlaps the one before."""
        m, n, tile = self.first.m, self.first.n, self.machine.rows
        most = max(FEWEST, CACHED // n) if isinstance(n, int) else 2 * FEWEST
        if not isinstance(m, int):
            return min_(m, most)
        shared = ceil_div(self.threads, prod(self.batch)) if isinstance(prod(self.batch), int) else 1
        blocks = max(ceil_div(m, most), min(shared, ceil_div(m, tile)))
        return min(m, ceil_div(ceil_div(m, blocks), tile) * tile)

    @property
    def blocks(self) -> Dim:
        return ceildiv(self.first.m, self.size)

    @cached_property
    def parts(self) -> tuple[Matmul, Rows, Matmul]:
        """The kernels of one block."""
        one, ones = replace(self.machine, threads=1), (1,) * len(self.batch)
        rows, n = self.size, self.first.n
        first, second = (
            replace(each, m=rows, batch=ones, lhs_batch=None, rhs_batch=None, machine=one)
            for each in (self.first, self.second)
        )
        inputs = [replace(given, shape=self.seen(given.shape)) for given in self.rows.inputs]
        inputs[self.at] = Input((*ones, rows, n))
        return first, replace(self.rows, leading=(*ones, rows), inputs=tuple(inputs), machine=one), second

    def seen(self, shape: Sizes) -> Sizes:
        """What a block sees of rows' operand."""
        return (*[1] * (len(shape) - 2), *(size if size == 1 else self.size for size in shape[-2:-1]), shape[-1])

    @cached_property
    def scratches(self) -> dict[str, Sizes]:
        """Shapes of the float32 buffers that it needs, by name: rows of blocks, what is made of them if not in their place, and what parts need."""
        first, rows, second = self.parts
        held = (*[1] * len(self.batch), self.threads * self.size, self.first.n)
        made = {} if f"in{self.at}" in rows.in_place else {"made": held}
        scratch = {"panel": first.scratch, "row": rows.scratch, "other_panel": second.scratch}
        own = {name: (self.threads, *shape[1:]) for name, shape in scratch.items() if shape is not None}
        return {"held": held, **made, **own}

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        first, second = self.first.types, self.second.types
        types = {"lhs": first["lhs"], "rhs": first["rhs"]}
        types |= {f"in{i}": given.type for i, given in enumerate(self.rows.inputs) if i != self.at}
        types["other"] = second["rhs"]
        types |= {f"after{i}": given.type for i, given in enumerate(self.second.epilogue.inputs)}
        types |= {name: memref(shape) for name, shape in self.scratches.items()}
        return types | {"out": second["out"]}

    def build(self, b: KernelBuilder) -> None:
        with b.share(prod(self.batch) * self.blocks, self.threads, self.work) as (worker, task):
            *batch, block = b.delinearize(task, (*self.batch, self.blocks))
            start = b.min(b.mul(block, self.size), b.sub(self.first.m, self.size))
            self.block(b, Block(batch, start, self.size), worker)

    def block(self, b: KernelBuilder, block: Block, worker: Index) -> None:
        """Builds one block."""
        first, rows, second = self.parts
        ones, m, n = len(self.batch), self.first.m, self.first.n

        def own(name: str) -> SSAValue:
            """A worker's part of a buffer; of what it does not have any other one."""
            shape = self.scratches.get(name, ())
            if not shape:
                return b.buffers["out"]
            return b.part(b.buffers[name], [worker, *[0] * (len(shape) - 1)], [1, *shape[1:]])

        def held(name: str) -> SSAValue:
            at = [*[0] * ones, b.mul(worker, self.size), 0]
            return b.part(b.buffers[name], at, [*[1] * ones, self.size, n])

        scores, row = held("held"), own("row")
        made = held("made") if "made" in self.scratches else scores
        lhs = block.of(b, "lhs", (*lead(self.first.lhs_batch, self.batch), m, self.first.k))
        rhs, other = (
            block.whole(b, name, (*lead(each.rhs_batch, self.batch), *matrix(each)))
            for name, each in (("rhs", self.first), ("other", self.second))
        )
        out = block.of(b, "out", (*self.batch, m, self.second.n))
        inputs = {
            f"in{i}": scores if i == self.at else block.of(b, f"in{i}", given.shape)
            for i, given in enumerate(self.rows.inputs)
        }
        after = {
            f"in{i}": block.of(b, f"after{i}", given.shape)
            for i, given in enumerate(self.second.epilogue.inputs)
        }
        steps = (
            (first, {"lhs": lhs, "rhs": rhs, "scratch": own("panel"), "out": scores}),
            (rows, {**inputs, "scratch": row, "out0": made}),
            (second, {"lhs": made, "rhs": other, **after, "scratch": own("other_panel"), "out": out}),
        )
        for kernel, buffers in steps:
            with b.seeing(buffers):
                kernel.build(b)


def lead(own: Sizes | None, batch: Sizes) -> Sizes:
    """The batch dimensions of an operand."""
    return batch if own is None else own


def matrix(product: Matmul) -> Sizes:
    """Rows and columns of its right-hand side as it lies."""
    return (product.n, product.k) if product.rhs == "transposed" else (product.k, product.n)
