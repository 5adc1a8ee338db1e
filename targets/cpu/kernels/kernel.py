"""What all kernels are: descriptions that expand to functions; and what they have in common: blocks of work, and epilogues."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Self

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from xdsl_exir import lowering
from xdsl_exir.dialects.expr import Dim, ceildiv, max_, min_, prod
from xdsl_exir.lowering.kernel import Kernel as Description
from xdsl_exir.lowering.vector_builder import Lanes
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask, ceil_div
from xdsl_exir.targets.cpu.kernels.description import Choice, Constant, Epilogue, Input
from xdsl_exir.targets.cpu.kernels.elements import expand


@cache
def expansion() -> str:
    """A digest of the code that expands kernels: no description says how that is done."""
    room = Path(lowering.__file__).parent
    folders = (room, room / "operators", Path(__file__).parent)
    files = [file for folder in folders for file in sorted(folder.glob("*.py"))]
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


class Kernel(Description):
    """A kernel of processors."""

    @property
    def problem(self) -> Kernel:
        """What is solved, without what has nothing to do with how fast that is, and without a choice of how."""
        return self

    @property
    def weights(self) -> Sequence[int]:
        """Which of its arguments are weights, packed for it."""
        return ()

    @property
    def choices(self) -> Sequence[Choice]:
        """The ways there are to solve it, but for the one of its own rule; none where its sizes are symbolic."""
        return ()

    def chosen(self, choice: Choice) -> Self:
        """The same, solved in one of these ways."""
        raise AssertionError(f"{type(self).__name__} has no choice of {choice}")

    @abstractmethod
    def build(self, b: KernelBuilder) -> None:
        """Fills its function."""

    def function(self, name: str, public: bool = False) -> FuncOp:
        b = KernelBuilder(self.symbols, self.types)
        self.build(b)
        return b.function(name, public)


@dataclass(frozen=True)
class Split:
    """`total` cut into blocks of at most `limit`, nearly equal: `large` blocks of `size`, the rest of one less.

    A symbolic total is cut into blocks of one size, of which the last one overlaps the one before: `limit`, or less if there is not as much.
    """

    total: Dim
    limit: int

    @property
    def count(self) -> Dim:
        """Number of blocks."""
        if isinstance(self.total, int):
            return ceil_div(self.total, self.limit)
        count: Dim = 0
        for _, _, blocks in self.kinds:
            count = count + blocks
        return count

    @property
    def kinds(self) -> list[tuple[int, Dim, Dim]]:
        """(size, first block, one past its last block), for the one or two sizes there are."""
        if not isinstance(self.total, int):
            sizes = dict.fromkeys(size for size in (self.limit, self.limit // 2, 1) if size)
            larger: Dim = 0
            choices: list[tuple[int, Dim, Dim]] = []
            for size in sizes:
                fits = min_(self.total // size, 1)
                choices.append((size, 0, ceildiv(self.total, size) * (fits - larger)))
                larger = fits
            return choices
        blocks = ceil_div(self.total, self.limit)
        size = ceil_div(self.total, blocks) if blocks else 0
        large = self.total - blocks * (size - 1)
        kinds = [(size, 0, large), (size - 1, large, blocks)]
        return [kind for kind in kinds if kind[1] < kind[2]]

    def start(self, b: KernelBuilder, block: Index, size: int) -> Index:
        """First element of `block`, which is of size `size`."""
        if not isinstance(self.total, int):
            return b.min(b.mul(block, size), b.sub(self.total, size)) if size > 1 else block
        largest, _, large = self.kinds[0]
        # Blocks of one less start `large` later.
        return b.add(b.mul(block, size), large if size < largest else 0)


MOST, FEWEST = 1024, 64
"""Neighbours that a task goes through side by side: totals of them stay in the first-level cache, and what they have is whole cache lines."""


def neighbours(present: Dim, threads: int, fitting: Dim = MOST) -> Dim:
    """How many make a task: as many tasks as there are threads, if so many are present, and no more than are fitting."""
    share = ceildiv(present, threads)
    return FEWEST * max_(1, min_(MOST // FEWEST, share // FEWEST, fitting // FEWEST))


def tasks(
    b: KernelBuilder, extents: Sequence[Dim], limit: Dim, threads: int, work: Dim
) -> Iterator[tuple[Index, list[Index], Dim]]:
    """(worker, coordinates of the first element, how many) of tasks of at most `limit` elements along the last of some extents, shared out to
    threads: what is built meanwhile is built for whole tasks, and for what is left."""
    *outer, total = extents
    full, rest, blocks = total // limit, total % limit, ceildiv(total, limit)
    with b.share(prod((*outer, blocks)), threads, work) as (worker, task):
        *lead, block = b.delinearize(task, (*outer, blocks))
        for count, predicate in ((limit, "ult"), (rest, "eq")):
            if count:
                with b.when(block, predicate, full) if rest else b.loop(0, 1):
                    yield worker, [*lead, b.mul(block, limit)], count


# --- epilogues -----------------------------------------------------------------------------------------------


def input_vector(
    b: KernelBuilder,
    buffer: SSAValue,
    operand: Input,
    extents: Sequence[Dim],
    at: Sequence[Index],
    lanes: int,
    mask: Mask,
) -> SSAValue:
    """The elements of an epilogue's operand that meet the result's `lanes` elements from index `at` on."""
    padded = (*[1] * (len(extents) - len(operand.shape)), *operand.shape)
    met = [0 if size == 1 else i for size, i in zip(padded, at, strict=True)]
    indices = met[len(padded) - len(operand.shape) :]
    # With an extent of 1 there is a mask of one lane, and either way is right.
    if padded[-1] == 1:
        return b.broadcast_load(buffer, indices, lanes, operand.dtype)
    return b.load(buffer, indices, lanes, mask, operand.dtype)


def finish(
    b: KernelBuilder,
    epilogue: Epilogue,
    value: SSAValue,
    extents: Sequence[Dim],
    at: Sequence[Index],
    lanes: int,
    mask: Mask = None,
) -> None:
    """Applies the epilogue to a vector of results and stores it in the buffer `out`, of these extents, at index `at`."""
    values = [value]
    for number, operand in enumerate(epilogue.inputs):
        values.append(input_vector(b, b.buffers[f"in{number}"], operand, extents, at, lanes, mask))
    w, result = Lanes(b, lanes), value
    for step in epilogue.steps:
        operands = [
            w.constant(each.value) if isinstance(each, Constant) else values[each] for each in step.operands
        ]
        result = expand(step.element, w, operands)
        values.append(result)
    b.store(result, b.buffers["out"], at, mask)
