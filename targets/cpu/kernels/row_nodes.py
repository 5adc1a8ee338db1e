"""What row programs are made of: nodes, each a row of some length or one number per row (length 1), and the operations that reduce rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.dialects import arith
from xdsl.ir import Operation

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.targets.cpu.kernels.description import Body, Elementwise, Machine
from xdsl_exir.targets.cpu.kernels.elements import cost, element_of

LONG = 2048
"""Elements that are added up in the lanes of a few vectors of the dtype that they have; where there are more, in blocks of so many."""

REDUCTIONS: dict[str, tuple[type[Operation], float | bool]] = {
    "add": (arith.AddfOp, 0.0),
    "mul": (arith.MulfOp, 1.0),
    "max": (arith.MaximumfOp, float("-inf")),
    "min": (arith.MinimumfOp, float("inf")),
    "or": (arith.OrIOp, False),
    "and": (arith.AndIOp, True),
}
"""The operation that combines, and the neutral element."""

DType = Literal["f32", "f64", "f16", "bf16", "i1", "i32", "i64"]


HALVES = ("f16", "bf16")
"""Of 16 bits."""


@dataclass(frozen=True)
class Node:
    """One value of a row program."""

    length: Dim
    """Elements of a row; 1 for a number per row."""
    operands: tuple[int, ...] = ()
    """Their positions in the program, before it."""
    dtype: DType = "f32"

    @property
    def cost(self) -> int:
        """Of an element, in additions."""
        return 2

    @property
    def stored(self) -> str:
        """The element type in memory: Bool takes a byte."""
        return "i8" if self.dtype == "i1" else self.dtype


@dataclass(frozen=True)
class Load(Node):
    """An input's row, or its one number that meets a row."""

    input: int = 0


@dataclass(frozen=True)
class Gather(Load):
    """A row of a table [rows, length], the one that an input of integers says: a number of a row, clamped to those there are."""

    index: int = 0
    """The input of integers."""


@dataclass(frozen=True)
class Number(Node):
    """A constant."""

    value: float | bool = 0.0


@dataclass(frozen=True)
class Map(Node):
    """An elementwise operation; operands are rows of its length, or numbers."""

    element: Elementwise | Body | None = None
    """None of what is its operand."""

    @property
    def cost(self) -> int:
        found = element_of(self.element) if self.element else None
        return cost(found) if found else 1


@dataclass(frozen=True)
class Reduce(Node):
    """What combines a row, in its dtype. Sums are wider than their terms, so that their error does not grow with a row's length."""

    kind: str = "add"


@dataclass(frozen=True)
class Concat(Node):
    """Rows one after the other."""


@dataclass(frozen=True)
class Slice(Node):
    """Part of a row."""

    start: Dim = 0


def is_narrow(node: Reduce, program: Sequence[Node]) -> bool:
    """Whether a sum or product is rounded to the dtype that its terms have."""
    (operand,) = node.operands
    return node.kind in ("add", "mul") and program[operand].dtype == node.dtype


def lanes_of(program: Sequence[Node], machine: Machine) -> int:
    """Of a vector: as many as fill a register where there is nothing but bytes; where there are halves as many of them, which are two of float32."""
    stored = {node.stored for node in program}
    return machine.lanes * (4 if stored <= {"i8"} else 2 if stored & set(HALVES) else 1)


def needed(nodes: Sequence[Node], outputs: Sequence[int]) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """The program of what outputs need, each reduction once, in the order in which they ask for it, and their positions in it."""
    places: dict[int, int] = {}
    program: list[Node] = []
    reductions: dict[Node, int] = {}

    def visit(old: int) -> int:
        if old not in places:
            made = replace(nodes[old], operands=tuple(map(visit, nodes[old].operands)))
            known = reductions.setdefault(made, len(program)) if isinstance(made, Reduce) else len(program)
            places[old] = known
            if known == len(program):
                program.append(made)
        return places[old]

    found = tuple(map(visit, outputs))
    return tuple(program), found
