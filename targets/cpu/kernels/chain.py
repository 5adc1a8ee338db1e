"""Chains: a matrix product, what is made of its rows, and the product of that with another matrix, in blocks of rows.

    first, second = Matmul(512, 512, 64, (8,), "transposed"), Matmul(512, 64, 512, (8,), "row_major")
    kernel = Chain(first, Rows((8, 512), (Input((8, 512, 512)),), softmax, (3,)), 0, second)

This is what an attention is: `softmax(q @ k.T) @ v`. A block's rows of the first product lie in a cache until the second product has taken them; there
are never more of them in memory than threads work at. Each part is the kernel that it is alone, on views of what the others have.

Where the second product is of pairs of bfloat16, and is rounded to it, rows, of float32, are rounded to it before, as PyTorch's kernels of attention
round them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, ceildiv, max_, min_, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.dispatches.buffers import contiguous_strides
from xdsl_exir.lowering.sizes import Sizes, static
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, ceil_div
from xdsl_exir.targets.cpu.kernels.contraction import Matmul, balanced_chunks
from xdsl_exir.targets.cpu.kernels.description import (
    Body,
    Input,
    Instruction,
    Machine,
    workers,
)
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.row_nodes import Map
from xdsl_exir.targets.cpu.kernels.rows import Rows
from xdsl_exir.threads import cached_property

CACHED = 1 << 15
"""Elements of the rows of a block, which shall stay in a second-level cache beside what they are multiplied with."""

FEWEST = 32
"""Rows of a block at least, if there are as many: each goes through the right-hand sides anew."""
KINDS, LEAST, UNIT = 4, 128, 32
"""Of blocks whose rows see not all, at most; elements that one kind sees more than another at least, and whole tiles of them."""

NARROWED = Body(1, (Instruction(arith.TruncFOp.name, (0,), "bf16"),))
"""A row of float32 as bfloat16."""


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
    tail: Rows | None = None
    """What happens to the second product's rows, in their place, with the numbers that are rows' further results: then it has no epilogue."""
    reach: int | None = None
    """How far beyond its own place a row sees elements of its first product, at most; what it does not see is as if it were not there (`unseen`)."""

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
        m, n, batches, tile = self.first.m, self.first.n, prod(self.batch), self.machine.rows
        most = max(FEWEST, CACHED // n) if isinstance(n, int) else 2 * FEWEST
        if not isinstance(m, int):
            return min_(m, most)
        # As many as give each thread something to do, two where several share a batch: the last two are one thread's.
        each = ceil_div(self.threads, batches) if isinstance(batches, int) else 1
        blocks = max(ceil_div(m, most), each if each == 1 else 2 * each)
        return min(m, ceil_div(ceil_div(m, blocks), tile) * tile)

    @property
    def blocks(self) -> Dim:
        return ceildiv(self.first.m, self.size)

    @cached_property
    def views(self) -> list[tuple[int, int, Dim]]:
        """(first block, one past the last, elements that a row sees) of all blocks, in a few kinds."""
        m, n, size, blocks = self.first.m, self.first.n, self.size, self.blocks
        if self.reach is None or not is_static((m, n, size, blocks)):
            return []
        m, n, size, blocks = static((m, n, size, blocks))
        step = ceil_div(max(n // KINDS, LEAST), UNIT) * UNIT
        ends = [min(block * size, m - size) + size - 1 + self.reach for block in range(blocks)]
        seen = [min(n, ceil_div(max(end, 1), step) * step) for end in ends]
        firsts = [block for block in range(blocks) if block == 0 or seen[block] != seen[block - 1]]
        return [(first, last, seen[first]) for first, last in itertools.pairwise([*firsts, blocks])]

    @cached_property
    def parts(self) -> tuple[Matmul, Rows, Matmul]:
        """The kernels of one block, but for the tail. Right-hand sides are packed."""
        return self.kernels(self.first.n)

    def kernels(self, seen: Dim) -> tuple[Matmul, Rows, Matmul]:
        """Those of a block whose rows see so many elements, which lie as far apart as if they saw all."""
        common = {"m": self.size, "batch": self.ones, "rhs": "packed", "machine": self.alone}
        first = replace(self.first, **common, rhs_dtype=self.first.lhs_dtype)
        second = replace(self.second, **common, k=seen, rhs_dtype=self.second.lhs_dtype)
        if seen != self.first.n:
            first = replace(first, n=seen, choice=replace(first.choice, vectors=first.vectors))
            second = replace(second, lhs_strides=contiguous_strides((*self.ones, self.size, self.first.n)))
        rows = self.of_block(self.seeing(seen))
        return first, narrowed(rows) if self.is_narrow else rows, second

    def seeing(self, seen: Dim) -> Rows:
        """Rows of so many elements."""
        n, rows = self.first.n, self.rows
        program = tuple(replace(each, length=seen) if each.length == n else each for each in rows.program)
        shapes = [(*each.shape[:-1], seen) if each.shape[-1] == n else each.shape for each in rows.inputs]
        inputs = tuple(replace(each, shape=shape) for each, shape in zip(rows.inputs, shapes, strict=True))
        return replace(rows, program=program, inputs=inputs)

    @property
    def is_narrow(self) -> bool:
        """Whether rows are of bfloat16 when they are multiplied."""
        return self.second.lhs_dtype is not None

    def of_block(self, rows: Rows) -> Rows:
        """A block's rows."""
        inputs = tuple(
            Input(
                (
                    *[1] * len(self.batch),
                    *(each if each == 1 else self.size for each in given.shape[-2:-1]),
                    given.shape[-1],
                ),
                given.dtype,
            )
            for given in rows.inputs
        )
        return replace(rows, leading=(*self.ones, self.size), inputs=inputs, machine=self.alone)

    @property
    def ones(self) -> Sizes:
        """The batch dimensions of a block."""
        return (1,) * len(self.batch)

    @property
    def alone(self) -> Machine:
        """What a block runs on."""
        return replace(self.machine, threads=1)

    @cached_property
    def scratches(self) -> dict[str, Input]:
        """The buffers that it needs, by name, a part of each for every worker: rows of blocks, what is made of them if not in their place, numbers of
        these rows, what rows need themselves, and panels."""
        first, rows, second = self.parts
        held, (result, *numbers) = (*self.ones, self.threads * self.size), rows.outputs
        made = {"held": Input((*held, self.first.n))}
        if self.is_narrow or f"in{self.at}" not in replace(rows, outputs=(result,)).in_place:
            made["made"] = Input((*held, self.first.n), "bf16" if self.is_narrow else "f32")
        made |= {f"number{i}": Input((*held, 1), rows.program[n].stored) for i, n in enumerate(numbers)}
        own = {"row": rows.scratch, "sums": first.scratch, "other_sums": second.scratch}
        made |= {name: Input((self.threads, *shape[1:])) for name, shape in own.items() if shape}
        panels = {"panels": first, "other_panels": second}
        return made | {
            name: Input((self.threads * each.panels, each.whole, each.width)) for name, each in panels.items()
        }

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        first, second = self.first.types, self.second.types
        types = {"lhs": first["lhs"], "rhs": first["rhs"]}
        types |= {f"in{i}": given.type for i, given in enumerate(self.rows.inputs) if i != self.at}
        types["other"] = second["rhs"]
        types |= {f"after{i}": given.type for i, given in enumerate(self.second.epilogue.inputs)}
        types |= {name: given.type for name, given in self.scratches.items()}
        return types | {"out": second["out"]}

    @property
    def chunks(self) -> Dim:
        """Into how many tasks a batch is cut: each packs the right-hand sides, and goes from block to block."""
        return balanced_chunks(prod(self.batch), self.blocks, self.threads)

    def build(self, b: KernelBuilder) -> None:
        with b.share(prod(self.batch) * self.chunks, self.threads, self.work) as (worker, task):
            *batch, chunk = b.delinearize(task, (*self.batch, self.chunks))
            own = {name: self.part(b, name, worker) for name in self.scratches}
            self.pack(b, batch, own)
            low, high = self.bounds(b, chunk)
            for first, last, seen in self.views or [(0, self.blocks, self.first.n)]:
                begin, end = (b.max(low, first), b.min(high, last)) if self.views else (low, high)
                with b.loop(begin, end) as block:
                    start = b.min(b.mul(block, self.size), b.sub(self.first.m, self.size))
                    for kernel, buffers in self.steps(b, Block(batch, start, self.size), own, seen):
                        with b.seeing(buffers):
                            kernel.build(b)

    def bounds(self, b: KernelBuilder, chunk: Index) -> tuple[Index, Index]:
        """The first block of a task, and the one behind its last. The last two blocks have rows in common, where a result is made in several steps: both are the
        last task's, one after the other."""
        apart = self.blocks if self.blocks * self.size == self.first.m else max_(self.blocks - 2, 0)
        after = b.add(chunk, 1)
        first, last = (b.min(end, apart) for end in b.span(chunk, self.blocks, self.chunks))
        return first, b.add(last, b.mul(b.div(after, self.chunks), self.blocks - apart))

    def pack(self, b: KernelBuilder, batch: Sequence[Index], own: Mapping[str, SSAValue]) -> None:
        """Packs a batch's right-hand sides."""
        for name, panels, each in (("rhs", "panels", self.first), ("other", "other_panels", self.second)):
            kernel = replace(each, m=self.size, batch=())
            with b.seeing({**b.buffers, "scratch": own[panels]}):
                kernel.pack_panels(b, b.buffers[name], batch)

    def steps(
        self, b: KernelBuilder, block: Block, own: Mapping[str, SSAValue], seen: Dim
    ) -> Iterator[tuple[Kernel, dict[str, SSAValue]]]:
        """The parts of one block, one after the other, and what each of them has, whose rows see so many elements."""
        first, rows, second = self.kernels(seen)
        rows_of = {name: own[name] for name in ("held", "made") if name in own}
        shape = (*self.ones, self.size, seen)
        if seen != self.first.n:
            rows_of = {name: b.part(value, [0] * len(shape), shape) for name, value in rows_of.items()}
        held, made = rows_of["held"], rows_of.get("made", rows_of["held"])
        lhs = block.of(b, "lhs", (*self.batch, self.first.m, self.first.k))
        out = block.of(b, "out", (*self.batch, self.first.m, self.second.n))
        inputs = {
            f"in{i}": held if i == self.at else block.of(b, f"in{i}", given.shape)
            for i, given in enumerate(self.seeing(seen).inputs)
        }
        after = {
            f"in{i}": block.of(b, f"after{i}", given.shape) for i, given in enumerate(second.epilogue.inputs)
        }
        numbers = [own[f"number{i}"] for i in range(len(self.rows.outputs) - 1)]
        results = {f"out{i}": value for i, value in enumerate((made, *numbers))}
        row, sums, other_sums = (
            {"scratch": own[name]} if name in own else {} for name in ("row", "sums", "other_sums")
        )
        yield first, {"lhs": lhs, "rhs": own["panels"], **sums, "out": held}
        yield rows, {**inputs, **row, **results}
        yield second, {"lhs": made, "rhs": own["other_panels"], **other_sums, **after, "out": out}
        if self.tail is not None:
            given = {f"in{i}": value for i, value in enumerate((out, *numbers))}
            yield self.of_block(self.tail), {**given, "out0": out}

    def part(self, b: KernelBuilder, name: str, worker: Index) -> SSAValue:
        """A worker's part of a buffer."""
        shape = self.scratches[name].shape
        of_rows = name in ("held", "made") or name.startswith("number")
        dim = len(self.batch) if of_rows else 0
        size = shape[dim] // self.threads
        at: list[Index] = [0] * len(shape)
        at[dim] = b.mul(worker, size)
        return b.part(b.buffers[name], at, [*shape[:dim], size, *shape[dim + 1 :]])


def narrowed(rows: Rows) -> Rows:
    """Rows whose first result is of bfloat16."""
    n, *numbers = rows.outputs
    made = Map(rows.program[n].length, (n,), "bf16", NARROWED)
    return replace(rows, program=(*rows.program, made), outputs=(len(rows.program), *numbers))
