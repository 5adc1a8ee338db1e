"""What kernels are described by (`lowering.kernel`): the parts that they have in common.

These are the machine they are made for, operands, what computes an element, and what happens to a result before it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)

from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import ELEMENT_TYPES

WORTHWHILE = 500_000
"""Operations from which on they repay a parallel region, which costs a few microseconds."""


@dataclass(frozen=True)
class Machine:
    """What a schedule has to know: float32 lanes of a vector register, how many registers, how many threads; whether there is an instruction
    for products of pairs of bfloat16, added to float32 (AVX512-BF16), and one for tiles of such pairs (AMX)."""

    lanes: int = 16
    registers: int = 32
    threads: int = 1
    pairs: bool = False
    tiles: bool = False

    @property
    def rows(self) -> int:
        """Rows of a register tile that is two vectors wide: what accumulates leaves registers for a step's operands, two vectors
        and an element or two. More than eight hide no more of the multipliers' latency."""
        return min(8, (self.registers - 4) // 2)

    @property
    def prefers_pairs(self) -> bool:
        """Whether products of pairs take less time than twice as many of float32: where there are tiles of them as well, they take twice as long."""
        return self.pairs and not self.tiles

    @property
    def fits_three(self) -> bool:
        """Whether a register tile of as many rows may be three vectors wide."""
        return 3 * self.rows + 4 <= self.registers

    def rows_of(self, vectors: int) -> int:
        """Rows of a register tile that is so many vectors wide."""
        return self.rows if vectors == 3 and self.fits_three else max(1, 2 * self.rows // vectors)


Strategy = Literal["pixels", "channels", "depthwise", "winograd", "tiles"]
"""Ways of a convolution."""


@dataclass(frozen=True)
class Choice:
    """What a schedule may do one way or another, with results that differ in rounding at most. What is None the kernel's own rule says, a model of
    the machine; `tuning` measures which is best."""

    strategy: Strategy | None = None
    """A convolution's."""
    rows: int | None = None
    """Of a register tile."""
    vectors: int | None = None
    """Of each of its rows."""
    packs: bool | None = None
    """Whether a product packs its right-hand side for itself."""
    tiles: int | None = None
    """Of a task, where 3x3 convolutions make tiles."""


def register_tiles(machine: Machine, most: int) -> list[tuple[int, int]]:
    """Rows and vectors, of which there are `most` at most, of register tiles that leave registers for a row of vectors and an element: with as many
    rows as fit, and with about two thirds of that."""
    found: list[tuple[int, int]] = []
    for vectors in range(1, min(most, 4) + 1):
        rows = (machine.registers - 1 - vectors) // vectors
        found += [(rows, vectors) for rows in dict.fromkeys((rows, max(1, rows * 2 // 3)))]
    return found


def workers(machine: Machine, work: Dim) -> int:
    """Threads worth starting for so many operations; all, if it is not known how many."""
    return machine.threads if isinstance(work, Expr) or work >= WORTHWHILE else 1


@dataclass(frozen=True)
class Input:
    """A further operand of an epilogue: broadcast against the kernel's result by NumPy's rule.

    With strides (in elements) it is a view, `shifted` from its buffer's beginning by what is told when it is passed; its last dimension must
    be contiguous all the same.
    """

    shape: Sizes
    dtype: str = "f32"
    strides: Sizes | None = None
    shifted: bool = False

    @property
    def type(self) -> MemRefType[Any]:
        return memref(self.shape, self.dtype, self.strides, self.shifted)


@dataclass(frozen=True)
class Elementwise:
    """An operator that computes each element from those of its tensors: its name, and its other arguments."""

    operator: str
    arguments: tuple[tuple[str, float | bool | str | None], ...] = ()
    """By name, in the order of names; among them tensors that are one number."""
    operands: str = ""
    """The dtypes of its tensors in order, by their codes (`elements.DTYPES`): f for Float, b for Bool; where none are said all are Float."""


@dataclass(frozen=True)
class Instruction:
    """An operation on elements."""

    name: str
    """MLIR's; `size` is a size as a number of type index."""
    operands: tuple[int, ...] = ()
    """Positions: the arguments of the body come first, then its instructions."""
    dtype: str = "f32"
    """Of the result."""
    value: float | bool | Dim | None = None
    """Of a constant, or a size."""
    predicate: int | None = None
    """Of a comparison, MLIR's number."""
    contract: bool = False
    """Whether a product may become one operation with the sum that takes it."""


@dataclass(frozen=True)
class Body:
    """What computes an element: operations in order, the last one's result is it; without any it is the one argument."""

    arguments: int
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class Constant:
    """A number as operand."""

    value: float | bool


@dataclass(frozen=True)
class Step:
    """An operator of an epilogue. Operands are constants, or positions: 0 is the kernel's result, then come its inputs, then the
    steps before this one."""

    element: Elementwise
    operands: tuple[int | Constant, ...]


@dataclass(frozen=True)
class Epilogue:
    """What happens to a result before it is stored: float32 in, and float32 out of the last step."""

    inputs: tuple[Input, ...] = ()
    steps: tuple[Step, ...] = ()


@lru_cache(maxsize=4096)
def memref(
    shape: Sizes, dtype: str = "f32", strides: Sizes | None = None, shifted: bool = False
) -> MemRefType[Any]:
    """A memref type; contiguous without strides (in elements), at any offset if it is shifted."""
    layout = NoneAttr()
    if strides is not None:
        known = [size if isinstance(size, int) else None for size in strides]
        layout = StridedLayoutAttr(known, None if shifted else 0)
    return MemRefType(
        ELEMENT_TYPES[dtype], [size if isinstance(size, int) else DYNAMIC_INDEX for size in shape], layout
    )
