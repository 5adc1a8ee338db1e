"""Row programs: chains of elementwise operators and reductions over the last dimension, row by row.

    x, most = Load(384), Reduce(1, (0,), kind="max")
    program = (x, most, Map(384, (0, 1), element=Elementwise("aten.sub.Tensor")))
    kernel = Rows((128,), (Input((128, 384)),), program, outputs=(2,))
    kernel.function("below_most")                    # func.func private @below_most(in0, out0)

A program is a list of nodes, operands first, each a row of some length or one number per row (length 1). It runs in passes over the row, as
few as the reductions in it ask for; what later passes need again stays in registers where rows are short, and else goes
to a buffer in the first-level cache. Rows are shared out to threads. What is in buffers is float32, halves and Bools too, or float64; what is in
none may be of integers. Lengths and the number of rows may be symbolic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, i64
from xdsl.ir import SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.expr import Dim, ceildiv, prod
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.vector_builder import Lanes, predicate, type_of
from xdsl_exir.targets.cpu.kernels.builder import Index, KernelBuilder, Mask
from xdsl_exir.targets.cpu.kernels.description import Input, Machine, memref, workers
from xdsl_exir.targets.cpu.kernels.elements import expand
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.row_nodes import (
    HALVES,
    LONG,
    REDUCTIONS,
    Concat,
    Gather,
    Load,
    Map,
    Node,
    Number,
    Reduce,
    Slice,
    is_narrow,
    lanes_of,
)

UNROLLED = 8
"""Vectors of a row up to which its passes have no loop, and keep values in registers."""

PART = 1024
"""Elements of a part of a row of unknown length, of which threads have some each."""

FEW = 12
"""Nodes of a pass up to which a turn of its loop is of several vectors."""

BUFFERED = {"f32": ("f32", *HALVES, "i1"), "f64": ("f64", "i1")}
"""What a buffer holds, by what its elements are."""


@dataclass(frozen=True, eq=False)
class Rows(Kernel):
    """Rows of a tensor [*leading, n], each by the same program.

    The function's arguments: inputs, scratch if `scratch` is not None, outputs. An input's shape has the rank of `leading` and one
    more (but a table that is gathered from); its sizes are those of the rows, or 1. Rows must have stride 1. Outputs are contiguous: [*leading, length].
    """

    leading: Sizes
    inputs: tuple[Input, ...]
    program: tuple[Node, ...]
    outputs: tuple[int, ...]
    """Positions of nodes."""
    machine: Machine = field(default_factory=Machine)

    @property
    def work(self) -> Dim:
        row: Dim = 0
        for node in self.program:
            row = row + node.length * node.cost
        return 4 * row * prod(self.leading)

    @property
    def lanes(self) -> int:
        return lanes_of(self.program, self.machine)

    @property
    def threads(self) -> int:
        rows, threads = prod(self.leading), workers(self.machine, self.work)
        return min(threads, rows) if isinstance(rows, int) and not self.is_flat else threads

    @property
    def is_flat(self) -> bool:
        """Whether it is one row, of one unknown length, of elements that do not depend on one another: threads share its parts."""
        apart = all(
            isinstance(node, Map | Load | Number) and not isinstance(node, Gather) for node in self.program
        )
        lengths = {node.length for node in self.program} - {1} | {
            self.program[output].length for output in self.outputs
        }
        return apart and not self.leading and len(lengths) == 1 and not isinstance(lengths.pop(), int)

    @property
    def scratch(self) -> Sizes | None:
        """Shape of the buffer the kernel needs, or None."""
        size = Schedule(self).scratch
        return (self.threads, size) if size != 0 else None

    @property
    def element(self) -> str:
        """The dtype of that buffer."""
        return Schedule(self).element

    @property
    def types(self) -> dict[str, MemRefType[Any]]:
        """The function's arguments and their types, in order."""
        types = {f"in{i}": operand.type for i, operand in enumerate(self.inputs)}
        if self.scratch:
            types["scratch"] = memref(self.scratch, self.element)
        for i, output in enumerate(self.outputs):
            node = self.program[output]
            types[f"out{i}"] = memref((*self.leading, node.length), node.stored)
        return types

    @property
    def in_place(self) -> list[str]:
        """A row's elements are read from front to end, several times if there are reductions, the last time as the result is written."""
        node = self.program[self.outputs[0]]
        shape = (*self.leading, node.length)
        if len(self.outputs) != 1 or node.length == 1:
            return []
        cut = {operand for user in self.program if isinstance(user, Slice) for operand in user.operands}
        read_elsewhere = {
            number
            for n, each in enumerate(self.program)
            if isinstance(each, Load) and (n in cut or isinstance(each, Gather))
            for number in ((each.input, each.index) if isinstance(each, Gather) else (each.input,))
        }
        same = Input(shape, node.stored)
        return [
            f"in{number}"
            for number, given in enumerate(self.inputs)
            if given == same and number not in read_elsewhere
        ]

    def build(self, b: KernelBuilder) -> None:
        if self.is_flat:
            self.in_parts(b, self.program[self.outputs[0]].length)
            return
        with b.share(prod(self.leading), self.threads, self.work) as (worker, row):
            RowBuilder(self, b, worker, b.delinearize(row, self.leading)).row()

    def in_parts(self, b: KernelBuilder, length: Dim) -> None:
        """A row in parts of known length, and what is left."""
        parts = length // PART
        with b.share(parts, self.threads, self.work) as (worker, part):
            RowBuilder(self.of_length(PART), b, worker, [], b.mul(part, PART)).row()
        RowBuilder(self.of_length(length % PART), b, 0, [], parts * PART).row()

    def of_length(self, length: Dim) -> Rows:
        """Part of a row of elements."""
        program = [node if node.length == 1 else replace(node, length=length) for node in self.program]
        return replace(self, program=tuple(program))


class Schedule:
    """In which pass each node of a program is computed, and which of them need a buffer.

    A pass is of a level and a row length; level n + 1 sees the reductions of level n. Nodes are known by their positions.
    """

    def __init__(self, kernel: Rows):
        self.lanes = kernel.lanes
        self.nodes = kernel.program
        self.users: list[list[int]] = [[] for _ in self.nodes]
        for n, node in enumerate(self.nodes):
            for operand in node.operands:
                self.users[operand].append(n)
        self.level: list[int] = []
        for node in self.nodes:
            self.level.append(max((self.ready(operand, node) for operand in node.operands), default=0))
        for n, node in reversed(list(enumerate(self.nodes))):
            # As late as its users allow: then it is still in registers.
            users = self.users[n]
            if isinstance(node, Map) and node.length != 1 and users and not self.is_cut(n):
                self.level[n] = min(self.level[user] for user in users)
        self.buffers: dict[int, Dim] = {}
        """Where each node's row begins in a worker's buffer."""
        self.scratch: Dim = 0
        buffered = [(n, node) for n, node in enumerate(self.nodes) if self.is_buffered(n)]
        self.element = "f64" if any(node.dtype == "f64" for _, node in buffered) else "f32"
        for n, node in buffered:
            assert node.dtype in BUFFERED[self.element]
            self.buffers[n] = self.scratch
            self.scratch = self.scratch + ceildiv(node.length, self.lanes) * self.lanes
        self.levels = max(self.level, default=0) + 1

    def is_cut(self, n: int) -> bool:
        """Whether parts of a node are used."""
        return any(isinstance(self.nodes[user], Slice) for user in self.users[n])

    def ready(self, n: int, user: Node) -> int:
        """The first level at which a user can see a node."""
        node = self.nodes[n]
        later = isinstance(node, Reduce | Concat) or (isinstance(user, Slice) and not isinstance(node, Load))
        return self.level[n] + (1 if later else 0)

    def is_unrolled(self, length: Dim) -> bool:
        return isinstance(length, int) and length < (UNROLLED + 1) * self.lanes

    def is_buffered(self, n: int) -> bool:
        node = self.nodes[n]
        if isinstance(node, Concat):
            return True
        if not isinstance(node, Map) or node.length == 1:
            return False
        later = any(self.level[user] > self.level[n] for user in self.users[n])
        return self.is_cut(n) or (later and not self.is_unrolled(node.length))


Place = tuple[SSAValue, list[Index]]
"""A buffer, and an index in it."""


class RowBuilder:
    """Builds one row of a program."""

    def __init__(self, kernel: Rows, b: KernelBuilder, worker: Index, row: Sequence[Index], start: Index = 0):
        self.kernel, self.b, self.worker, self.row_index = kernel, b, worker, list(row)
        self.start = start
        """Of a part of a row, where it begins."""
        self.nodes, self.schedule = kernel.program, Schedule(kernel)
        self.lanes = kernel.lanes
        self.numbers: dict[int, SSAValue] = {}
        """Numbers of this row, by node."""
        self.held: dict[tuple[int, Index], SSAValue] = {}
        """Vectors in registers, by node and place in the row."""
        self.broadcasts: dict[int, SSAValue] = {}
        """Numbers in all lanes."""
        self.gathered: dict[int, Index] = {}
        self.level = 0
        """The level that is being built."""

    def row(self) -> None:
        schedule = self.schedule
        nodes = list(enumerate(self.nodes))
        self.gathered = {n: self.gather(node) for n, node in nodes if isinstance(node, Gather)}
        for n, node in nodes:
            if isinstance(node, Load) and node.length == 1:
                self.numbers[n] = self.load_number(node, self.place(n, 0), node.stored)
        for level in range(schedule.levels):
            self.level = level
            here = [n for n, _ in nodes if schedule.level[n] == level]
            for n in here:
                node = self.nodes[n]
                if isinstance(node, Slice) and node.length == 1:
                    self.numbers[n] = self.slice_number(node)
                elif isinstance(node, Map) and node.length == 1:
                    self.numbers[n] = self.compute(node, [self.number(x) for x in node.operands], 0)
            for n in here:
                if isinstance(self.nodes[n], Map | Load) and self.nodes[n].length == 1:
                    self.store_number(n)
            lengths = dict.fromkeys(length for n in here for length in self.lengths(n))
            for length in lengths:
                self.one_pass(length)
        for n, node in nodes:
            if isinstance(node, Reduce):
                self.store_number(n)

    def lengths(self, n: int) -> list[Dim]:
        """The lengths of the passes that a node takes part in."""
        node = self.nodes[n]
        if isinstance(node, Concat | Reduce):
            return [self.nodes[operand].length for operand in node.operands]
        wanted = isinstance(node, Map) or n in self.kernel.outputs
        return [node.length] if wanted and node.length != 1 else []

    def compute(self, node: Map, operands: Sequence[SSAValue], lanes: int) -> SSAValue:
        """What a node makes of vectors of so many lanes, or of numbers with 0 lanes."""
        return expand(node.element, Lanes(self.b, lanes), operands) if node.element else operands[0]

    # numbers

    def number(self, n: int) -> SSAValue:
        node = self.nodes[n]
        return self.constant(node, 0) if isinstance(node, Number) else self.numbers[n]

    def constant(self, node: Number, lanes: int) -> SSAValue:
        return self.b.constant(node.value, node.dtype, lanes)

    def load_number(self, node: Node, place: Place, element: str) -> SSAValue:
        return self.loaded(node, self.b.load_number(*place, element), element, 0)

    def loaded(self, node: Node, value: SSAValue, element: str, lanes: int) -> SSAValue:
        """A node's elements, of what stands for them in memory."""
        if node.dtype == element:
            return value
        return (
            self.is_set(value, element, lanes)
            if node.dtype == "i1"
            else self.b.halved(value, node.dtype, lanes)
        )

    def is_set(self, value: SSAValue, element: str, lanes: int) -> SSAValue:
        """Bools of what stands for them in memory."""
        kind, name, zero = (vectors.CmpiOp, "ne", 0) if element == "i8" else (vectors.CmpfOp, "une", 0.0)
        operands = [value, self.b.constant(zero, element, lanes)]
        return self.b.op(kind, operands, type_of("i1", lanes), predicate(kind, name))

    def slice_number(self, node: Slice) -> SSAValue:
        """The one element that is cut out of a row."""
        (n,) = node.operands
        source = self.nodes[n]
        if isinstance(source, Load):
            return self.load_number(node, self.place(n, node.start), node.stored)
        at = self.b.add(self.schedule.buffers[n], node.start)
        return self.load_number(node, self.in_scratch(at), self.schedule.element)

    def store_number(self, n: int) -> None:
        for position, output in enumerate(self.kernel.outputs):
            if output == n:
                value = self.numbers[n]
                if self.nodes[n].dtype == "i1":
                    value = self.b.op(vectors.ExtUIOp, [value], type_of("i8"))
                self.b.store_number(value, self.b.buffers[f"out{position}"], [*self.row_index, 0])

    # rows

    def in_scratch(self, at: Index) -> Place:
        return self.b.buffers["scratch"], [self.worker, at]

    def place(self, n: int, offset: Index) -> Place:
        """Where an input's elements are that meet this row from `offset` on."""
        node = self.nodes[n]
        assert isinstance(node, Load)
        lead = [self.gathered[n]] if isinstance(node, Gather) else self.lead(node.input)
        at = offset if node.length == 1 else self.b.add(self.start, offset)
        return self.b.buffers[f"in{node.input}"], [*lead, at]

    def lead(self, number: int) -> list[Index]:
        """The leading indices at which an input meets this row."""
        shape = self.kernel.inputs[number].shape
        return [0 if n == 1 else i for n, i in zip(shape, self.row_index, strict=False)]

    def gather(self, node: Gather) -> Index:
        """The row of its table that a node is in this row."""
        b, dtype = self.b, self.kernel.inputs[node.index].dtype
        value = b.load_number(b.buffers[f"in{node.index}"], [*self.lead(node.index), 0], dtype)
        rows = self.kernel.inputs[node.input].shape[0]
        return b.min(b.position(value), rows - 1)

    def one_pass(self, length: Dim) -> None:
        """All that happens to rows of one length on this level."""
        schedule, b, lanes = self.schedule, self.b, self.lanes
        here = [
            n for n in range(len(self.nodes)) if schedule.level[n] == self.level and length in self.lengths(n)
        ]
        reductions = [(n, node) for n in here if isinstance(node := self.nodes[n], Reduce)]
        full, rest = length // lanes, length % lanes
        unrolled = schedule.is_unrolled(length)
        several = 4 if reductions or (len(here) <= FEW and isinstance(full, int)) else 1
        chains = min(several, max(full, 1)) if isinstance(full, int) else several
        kinds = [node for _, node in reductions]
        slots = [1 if self.is_widening(node) else chains for node in kinds]
        each = [node for node, count in zip(kinds, slots, strict=True) for _ in range(count)]
        totals = [b.constant(REDUCTIONS[node.kind][1], node.dtype, lanes) for node in each]
        self.broadcasts = {}
        done: Dim = 0
        if not unrolled:
            turns = full // chains

            def turn(i: Index, carried: list[SSAValue]) -> list[SSAValue]:
                pieces: list[list[SSAValue]] = []
                for chain in range(chains):
                    self.held.clear()
                    offset = b.add(b.mul(i, chains * lanes), chain * lanes)
                    pieces.append(self.piece(here, kinds, length, offset, None))
                return self.combined(kinds, carried, pieces, 0, chains)

            for n in here:  # what all turns share stands before the loop
                for operand in self.nodes[n].operands:
                    if self.nodes[operand].length == 1:
                        self.vector(operand, 0, None)
            if totals:
                narrow = any(is_narrow(node, self.nodes) for node in kinds)
                combine = [REDUCTIONS[node.kind][0] for node in each]
                totals = b.reduce(turns, totals, turn, LONG // (chains * lanes) if narrow else 0, combine)
            else:
                with b.loop(0, turns) as i:
                    turn(i, [])
            self.held.clear()
            done = turns * chains
            if totals and not isinstance(full, int):

                def one_more(i: Index, carried: list[SSAValue]) -> list[SSAValue]:
                    self.held.clear()
                    values = self.piece(here, kinds, length, b.mul(b.add(i, done), lanes), None)
                    return self.combined(kinds, carried, [values], 0, chains)

                totals = b.reduce(full - done, totals, one_more)
                self.held.clear()
        left = range(done, full) if isinstance(done, int) and isinstance(full, int) else ()
        for index in left:
            values = self.piece(here, kinds, length, index * lanes, None)
            totals = self.combined(kinds, totals, [values], index % chains, chains)
        if rest:
            mask = b.mask_below(lanes, rest)
            last = full % chains if isinstance(full, int) else 0
            values = self.piece(here, kinds, length, full * lanes, mask)
            totals = self.combined(kinds, totals, [values], last, chains)
        if not unrolled:
            self.held.clear()
        for (n, node), count in zip(reductions, slots, strict=True):
            self.numbers[n] = self.total(node, totals[:count])
            totals = totals[count:]

    def is_widening(self, node: Reduce) -> bool:
        """Whether a sum is wider than its terms. Those of one turn are added up before, in pairs: for the few of them it is narrow enough."""
        return node.kind == "add" and self.nodes[node.operands[0]].dtype != node.dtype

    def combined(
        self,
        reductions: Sequence[Reduce],
        totals: Sequence[SSAValue],
        pieces: Sequence[Sequence[SSAValue]],
        first: int,
        chains: int,
    ) -> list[SSAValue]:
        """Totals with what reductions take of some vectors of a row, each on its chain, from the first one on."""
        made, at = list(totals), 0
        for node, values in zip(reductions, zip(*pieces, strict=True), strict=True):
            combine, _ = REDUCTIONS[node.kind]
            widening = self.is_widening(node)
            terms = [self.b.in_pairs(combine, values)] if widening else values
            for slot, term in enumerate(terms, at if widening else at + first):
                made[slot] = self.b.op(
                    combine, [made[slot], self.b.widened(term, node.dtype)], made[slot].type
                )
            at += 1 if widening else chains
        return made

    def total(self, node: Reduce, parts: list[SSAValue]) -> SSAValue:
        """One number of a reduction's partial results: halves of them, then of the last one's lanes, are combined."""
        combine, _ = REDUCTIONS[node.kind]
        b, lanes, dtype = self.b, self.lanes, node.dtype
        whole = b.in_pairs(combine, parts)
        while lanes > 1:
            lanes //= 2
            halves = [b.slice(whole, start, lanes, dtype) for start in (0, lanes)]
            whole = b.op(combine, halves, type_of(dtype, lanes))
        first = {"static_position": DenseArrayBase.from_list(i64, [0])}
        return b.op(vector.ExtractOp, [whole], type_of(dtype), first)

    def piece(
        self, here: Sequence[int], reductions: Sequence[Reduce], length: Dim, offset: Index, mask: Mask
    ) -> list[SSAValue]:
        """One vector of a pass; gives what reductions take of it."""
        b, taken = self.b, list[SSAValue]()
        for n in here:
            for source, element, place in self.targets(n, length, offset):
                self.store(source, self.vector(source, offset, mask), place, element, mask)
        for node in reductions:
            _, neutral = REDUCTIONS[node.kind]
            (operand,) = node.operands
            value, given = self.vector(operand, offset, mask), self.nodes[operand].dtype
            if mask is not None:
                other = b.constant(neutral, given, self.lanes)
                value = b.op(vectors.SelectOp, [mask, value, other], value.type)
            taken.append(value)
        return taken

    def targets(self, n: int, length: Dim, offset: Index) -> Iterator[tuple[int, str, Place]]:
        """(node, element type in memory, place) of what a node has to store in a pass over rows of a length."""
        node = self.nodes[n]
        if isinstance(node, Concat):
            start = self.schedule.buffers[n]
            for operand in node.operands:
                size = self.nodes[operand].length
                if size == length:
                    yield operand, self.schedule.element, self.in_scratch(self.b.add(offset, start))
                start = start + size
        elif isinstance(node, Map | Load | Slice) and node.length == length:
            if n in self.schedule.buffers:
                yield n, self.schedule.element, self.in_scratch(self.b.add(offset, self.schedule.buffers[n]))
            for position, output in enumerate(self.kernel.outputs):
                if output == n:
                    place = [*self.row_index, self.b.add(self.start, offset)]
                    yield n, node.stored, (self.b.buffers[f"out{position}"], place)

    def store(self, n: int, value: SSAValue, place: Place, element: str, mask: Mask) -> None:
        dtype = self.nodes[n].dtype
        if dtype != element:
            kind = (
                vectors.ExtFOp if dtype != "i1" else vectors.ExtUIOp if element == "i8" else vectors.UIToFPOp
            )
            value = self.b.op(kind, [value], type_of(element, self.lanes))
        self.b.store(value, *place, mask)

    def vector(self, n: int, offset: Index, mask: Mask) -> SSAValue:
        """A node's elements from `offset` on; a number in all lanes."""
        node = self.nodes[n]
        if isinstance(node, Number):
            return self.constant(node, self.lanes)
        if node.length == 1:
            if n not in self.broadcasts:
                self.broadcasts[n] = self.b.broadcast(self.number(n), self.lanes, node.dtype)
            return self.broadcasts[n]
        key = (n, offset)
        if key not in self.held:
            self.held[key] = self.make_vector(n, offset, mask)
        return self.held[key]

    def make_vector(self, n: int, offset: Index, mask: Mask) -> SSAValue:
        node = self.nodes[n]
        match node:
            case Load():
                return self.load(node, self.place(n, offset), mask, node.stored)
            case Slice():
                (source,) = node.operands
                at = self.b.add(offset, node.start)
                if isinstance(self.nodes[source], Load):
                    return self.load(node, self.place(source, at), mask, node.stored)
                return self.from_buffer(source, at, mask)
            case Map() if n not in self.schedule.buffers or self.level == self.schedule.level[n]:
                operands = [self.vector(operand, offset, mask) for operand in node.operands]
                return self.compute(node, operands, self.lanes)
            case _:
                return self.from_buffer(n, offset, mask)

    def from_buffer(self, n: int, offset: Index, mask: Mask) -> SSAValue:
        at = self.b.add(offset, self.schedule.buffers[n])
        return self.load(self.nodes[n], self.in_scratch(at), mask, self.schedule.element)

    def load(self, node: Node, place: Place, mask: Mask, element: str) -> SSAValue:
        return self.loaded(node, self.b.load(*place, self.lanes, mask, element), element, self.lanes)
