"""Row programs of rows that lie side by side: element by element of many rows at a time, whole vectors of neighbours.

    x[outer, length, inner]        a row is x[o, :, i], and a vector holds an element of several rows, i, i + 1, ...

The program is one of `rows`. A task is some neighbouring rows. It goes through their elements in passes, as the reductions ask for; totals, and
what else is one number of a row, are in a buffer between passes, and what is dear to compute twice, too. In which order the elements of
a row are combined depends on nothing but how many there are, and whether that is known. Any size may be symbolic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, ceildiv, max_, min_, prod
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import Lanes, predicate, type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask
from xdsl_exir.targets.cpu.kernels.description import Input, Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.elements import expand
from xdsl_exir.targets.cpu.kernels.kernel import MOST, Kernel, neighbours, tasks
from xdsl_exir.targets.cpu.kernels.row_nodes import (
    LONG,
    REDUCTIONS,
    Load,
    Map,
    Node,
    Number,
    Reduce,
    is_narrow,
    lanes_of,
)
from xdsl_exir.threads import cached_property

CACHE = 1 << 16
"""Elements of a task's rows that stay in a cache from pass to pass."""
DEAR = 8
"""The cost of an element from which on it is kept for later passes."""
NUMBERS = {"f32": "numbers", "f64": "totals"}
"""Of what is one number of a row, the buffer, by dtype."""


@dataclass(frozen=True, eq=False)
class Across(Kernel):
    """Rows of a tensor, each by the same program, which has no parts of rows and no tables.

    The function's arguments: inputs [*leading, length, inner], of which each size may be 1, scratch buffers, outputs [*leading, length, inner], or
    [*leading, inner] of numbers. Side by side elements have stride 1.
    """

    leading: Sizes
    length: Dim
    inner: Dim
    inputs: tuple[Input, ...]
    program: tuple[Node, ...]
    outputs: tuple[int, ...]
    """Positions of nodes."""
    machine: Machine = field(default_factory=Machine)

    @staticmethod
    def takes(program: Sequence[Node], outputs: Sequence[int]) -> bool:
        """Whether a program reduces its rows, and has nothing but what is made here."""
        kinds = all(type(node) in (Load, Number, Map, Reduce) for node in program)
        numbers = (node for node in program if isinstance(node, Reduce | Map) and node.length == 1)
        stored = all(isinstance(program[n], Map | Reduce) for n in outputs)
        return (
            kinds
            and stored
            and all(node.dtype in NUMBERS for node in numbers)
            and any(isinstance(node, Reduce) for node in program)
        )

    @property
    def count(self) -> Dim:
        """Points of the leading dimensions."""
        return prod(self.leading)

    @property
    def work(self) -> Dim:
        row = sum((node.cost * (1 if node.length == 1 else self.length) for node in self.program), start=0)
        return 4 * row * self.count * self.inner

    @property
    def threads(self) -> int:
        return workers(self.machine, self.work)

    @property
    def lanes(self) -> int:
        return lanes_of(self.program, self.machine)

    @property
    def rows(self) -> Dim:
        """Of a task: as many tasks as there are threads, if there are enough rows side by side. Where it is not known how many there are,
        what is between passes has room for whole vectors."""
        fitting = CACHE // max_(self.length, 1) if self.levels > 1 else MOST
        rows = neighbours(self.count * self.inner, self.threads, fitting)
        return min_(self.inner, rows) if is_static((self.inner, rows)) else rows

    @cached_property
    def level(self) -> list[int]:
        """In which pass each node is computed; a number, before which."""
        found: list[int] = []
        for node in self.program:
            later = (found[n] + isinstance(self.program[n], Reduce) for n in node.operands)
            found.append(max(later, default=0))
        return found

    @property
    def levels(self) -> int:
        """Passes over the elements."""
        row = (
            level
            for node, level in zip(self.program, self.level, strict=True)
            if node.length != 1 or isinstance(node, Reduce)
        )
        return max(row, default=0) + 1

    @cached_property
    def slots(self) -> dict[int, tuple[str, int]]:
        """Of numbers of a row: their buffer, and where in it."""
        slots: dict[int, tuple[str, int]] = {}
        for n, node in enumerate(self.program):
            if isinstance(node, Reduce | Map) and node.length == 1:
                name = NUMBERS[node.dtype]
                slots[n] = name, sum(given == name for given, _ in slots.values())
        return slots

    @cached_property
    def parts(self) -> dict[int, tuple[str, int]]:
        """The same of totals of so many elements at a time, where all together are too many for their dtype."""
        long = not isinstance(self.length, int) or self.length > LONG
        narrow = [
            n
            for n, node in enumerate(self.program)
            if long and isinstance(node, Reduce) and is_narrow(node, self.program)
        ]
        names = [NUMBERS[self.program[n].dtype] for n in narrow]
        first = {name: sum(given == name for given, _ in self.slots.values()) for name in names}
        return {
            n: (name, first[name] + names[:at].count(name))
            for at, (n, name) in enumerate(zip(narrow, names, strict=True))
        }

    @cached_property
    def kept(self) -> list[int]:
        """Elements that later passes need, and that are dear."""
        users = [(n, user) for user, node in enumerate(self.program) for n in node.operands]
        return sorted(
            {
                n
                for n, user in users
                if isinstance(node := self.program[n], Map)
                and node.length != 1
                and node.dtype == "f32"
                and node.cost > DEAR
                and self.level[user] > self.level[n]
            }
        )

    @property
    def buffers(self) -> dict[str, tuple[Sizes, str]]:
        """Scratch buffers: shapes and dtypes, by name."""
        found: dict[str, tuple[Sizes, str]] = {}
        for dtype, name in NUMBERS.items():
            if count := sum(given == name for given, _ in (*self.slots.values(), *self.parts.values())):
                found[name] = (self.threads, count, self.rows), dtype
        if self.kept:
            found["kept"] = (self.threads, len(self.kept), self.length, self.rows), "f32"
        return found

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        types = {f"in{i}": operand.type for i, operand in enumerate(self.inputs)}
        types |= {name: memref(shape, dtype) for name, (shape, dtype) in self.buffers.items()}
        for i, output in enumerate(self.outputs):
            node = self.program[output]
            row = () if node.length == 1 else (self.length,)
            types[f"out{i}"] = memref((*self.leading, *row, self.inner), node.stored)
        return types

    def build(self, b: KernelBuilder) -> None:
        extents = (*self.leading, self.inner)
        for worker, (*lead, first), count in tasks(b, extents, self.rows, self.threads, self.work):
            Task(self, b, worker, lead, first, count).run()


class Task:
    """Builds the program of some neighbouring rows."""

    def __init__(
        self, kernel: Across, b: KernelBuilder, worker: Index, lead: list[Index], first: Index, count: Dim
    ):
        self.kernel, self.b, self.worker, self.lead = kernel, b, worker, lead
        self.first, self.count, self.nodes = first, count, kernel.program
        self.level = 0
        """The pass that is being built."""
        self.partly = False
        """Whether that is a part of its elements, which has totals of its own."""
        self.at: Index = 0
        """The first of the rows of a vector, among the task's."""
        self.size = 1
        """How many they are."""
        self.mask: Mask = None
        """Which of them there are; what is between passes has room for all."""
        self.held: dict[tuple[int, int], SSAValue] = {}
        """Vectors in registers, by node and element, counted from where a turn begins."""

    def run(self) -> None:
        for level in range(max(self.kernel.level) + 2):
            self.level = level
            self.numbers_before()
            self.elements()

    def pieces(self) -> Iterator[None]:
        """The vectors of the task's rows."""
        lanes = self.kernel.lanes
        full, rest = self.count // lanes, self.count % lanes
        for begin, turns, size in ((0, full, lanes), (full * lanes, 1, rest)):
            if turns and size:
                with self.b.loop(0, turns) as turn:
                    self.at, self.held = self.b.add(self.b.mul(turn, lanes), begin), {}
                    self.size = size if isinstance(size, int) else lanes
                    self.mask = self.b.mask_below(self.size, size)
                    yield

    # passes

    def numbers_before(self) -> None:
        """What is one number of a row and needs the passes that were."""
        kernel, level = self.kernel, self.kernel.level
        maps = [n for n in kernel.slots if isinstance(self.nodes[n], Map) and level[n] == self.level]
        totals = [n for n in kernel.slots if isinstance(self.nodes[n], Reduce) and level[n] + 1 == self.level]
        stored = [n for n in (*maps, *totals) if n in kernel.outputs]
        if not maps and not stored:
            return
        for _ in self.pieces():
            for n in maps:
                self.held[n, -1] = self.computed(n, 0, -1)
                self.b.store(self.held[n, -1], *self.slot(n))
            for n in stored:
                self.store(n, self.number(n), [])

    def elements(self) -> None:
        """A pass: several elements of each row in a turn, of which pairs are combined, then pairs of these."""
        kernel, level = self.kernel, self.kernel.level
        here = [n for n in range(len(self.nodes)) if level[n] == self.level]
        reductions = [n for n in here if isinstance(self.nodes[n], Reduce)]
        stored = [n for n in here if self.nodes[n].length != 1 and (n in kernel.outputs or n in kernel.kept)]
        if not reductions and not stored:
            return
        cost = sum(self.nodes[n].cost for n in here if self.nodes[n].length != 1)
        turn, length = 8 if cost <= 8 else 4 if cost <= 24 else 2, kernel.length
        if isinstance(length, int):
            turn = min(length, turn)
            first: Dim = (length - 1) % turn + 1
            self.turn(0, (length - 1) % turn + 1, stored, reductions, begins=True)
        else:
            first = length % turn
            self.begin(reductions)
            with self.b.loop(0, first) as element:
                self.turn(element, 1, stored, reductions, begins=False)
        if not (turns := (length - first) // turn):
            return
        narrow = [n for n in reductions if n in kernel.parts]
        for begin, end in self.parts_of(turns, LONG // turn, narrow) if narrow else [(0, turns)]:
            with self.b.loop(begin, end) as number:
                start = self.b.add(self.b.mul(number, turn), first)
                self.turn(start, turn, stored, reductions, begins=False)

    def parts_of(self, turns: Dim, most: int, narrow: Sequence[int]) -> Iterator[tuple[Index, Index]]:
        """So many turns at a time, of which reductions have totals that are combined with those of all."""
        b = self.b
        with b.loop(0, ceildiv(turns, most)) as part:
            self.partly = True
            self.begin(narrow)
            begin = b.mul(part, most)
            yield begin, b.min(b.add(begin, most), turns)
            for _ in self.pieces():
                self.partly = True
                made = [self.load_slot(n) for n in narrow]
                self.partly = False
                for n, value in zip(narrow, made, strict=True):
                    node = self.nodes[n]
                    assert isinstance(node, Reduce)
                    b.store(b.in_pairs(REDUCTIONS[node.kind][0], [self.load_slot(n), value]), *self.slot(n))

    def begin(self, reductions: Sequence[int]) -> None:
        """Of no elements, what is combined with others."""
        for _ in self.pieces():
            for n in reductions:
                node = self.nodes[n]
                assert isinstance(node, Reduce)
                self.b.store(self.b.constant(REDUCTIONS[node.kind][1], node.dtype, self.size), *self.slot(n))

    def turn(
        self, start: Index, count: int, stored: Sequence[int], reductions: Sequence[int], begins: bool
    ) -> None:
        b = self.b
        for _ in self.pieces():
            for step in range(count):
                element = b.add(start, step)
                for n in stored:
                    self.store(n, self.element(n, element, step), [element])
            for n in reductions:
                node = self.nodes[n]
                (operand,) = node.operands
                assert isinstance(node, Reduce)
                terms = [self.element(operand, b.add(start, step), step) for step in range(count)]
                terms = [b.widened(term, node.dtype) for term in terms]
                combine, _ = REDUCTIONS[node.kind]
                total = b.in_pairs(combine, terms)
                b.store(total if begins else b.in_pairs(combine, [self.load_slot(n), total]), *self.slot(n))

    # values

    def slot(self, n: int) -> tuple[SSAValue, list[Index]]:
        own = self.partly and self.kernel.level[n] == self.level
        name, place = (self.kernel.parts.get(n) if own else None) or self.kernel.slots[n]
        return self.b.buffers[name], [self.worker, place, self.at]

    def load_slot(self, n: int) -> SSAValue:
        return self.b.load(*self.slot(n), self.size, None, self.nodes[n].dtype)

    def kept(self, n: int, element: Index) -> tuple[SSAValue, list[Index]]:
        return self.b.buffers["kept"], [self.worker, self.kernel.kept.index(n), element, self.at]

    def number(self, n: int) -> SSAValue:
        """What is one number of each row."""
        node, key = self.nodes[n], (n, -1)
        if isinstance(node, Number):
            return self.b.constant(node.value, node.dtype, self.size)
        if key not in self.held:
            self.held[key] = self.load(node, 0) if isinstance(node, Load) else self.load_slot(n)
        return self.held[key]

    def element(self, n: int, element: Index, step: int) -> SSAValue:
        """An element of each row, or what is one number of it."""
        node, key = self.nodes[n], (n, step)
        if node.length == 1:
            return self.number(n)
        if key not in self.held:
            if isinstance(node, Load):
                made = self.load(node, element)
            elif n in self.kernel.kept and self.kernel.level[n] < self.level:
                made = self.b.load(*self.kept(n, element), self.size)
            else:
                made = self.computed(n, element, step)
            self.held[key] = made
        return self.held[key]

    def computed(self, n: int, element: Index, step: int) -> SSAValue:
        node = self.nodes[n]
        assert isinstance(node, Map)
        operands = [self.element(operand, element, step) for operand in node.operands]
        return expand(node.element, Lanes(self.b, self.size), operands) if node.element else operands[0]

    def load(self, node: Load, element: Index) -> SSAValue:
        """An input's elements."""
        b, buffer = self.b, self.b.buffers[f"in{node.input}"]
        shape = self.kernel.inputs[node.input].shape
        place = [*self.lead, element, b.add(self.first, self.at)]
        at = [0 if size == 1 else index for size, index in zip(shape, place, strict=True)]
        if shape[-1] == 1:
            value = b.broadcast_load(buffer, at, self.size, node.stored)
        else:
            value = b.load(buffer, at, self.size, self.mask, node.stored)
        if node.dtype != "i1":
            return value
        operands = [value, b.constant(0, "i8", self.size)]
        return b.op(vectors.CmpiOp, operands, type_of("i1", self.size), predicate(vectors.CmpiOp, "ne"))

    def store(self, n: int, value: SSAValue, element: list[Index]) -> None:
        """Stores elements, or numbers, where later passes, and the caller, find them."""
        b = self.b
        if element and n in self.kernel.kept:
            b.store(value, *self.kept(n, element[0]))
        if self.nodes[n].dtype == "i1":
            value = b.op(vectors.ExtUIOp, [value], type_of("i8", self.size))
        for position, output in enumerate(self.kernel.outputs):
            if output == n:
                place = [*self.lead, *element, b.add(self.first, self.at)]
                b.store(value, b.buffers[f"out{position}"], place, self.mask)
