"""Row programs: chains of elementwise operators and reductions over the last dimension, row by row.

    x = Load(0, length=384)
    mean = Map((Reduce("add", x),), scale_by(1 / 384), length=1)
    kernel = Rows((128,), inputs=(Input((128, 384)),), outputs=(Map((x, mean), subtract, length=384),))
    text = kernel.emit("center")                     # func.func private @center(in0, out0)

A program is a graph of nodes, each a row of some length or one number per row (length 1). It runs in passes over the row, as
few as the reductions in it ask for; what later passes need again stays in registers where rows are short, and else goes
to a buffer in the first-level cache. Rows are shared out to threads. float32, and i1 for what comparisons give. Lengths and the number of
rows may be symbolic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl_exir.dialects.expr import Dim, ceildiv, prod
from xdsl_exir.lowering.schedules.text import Index, Input, Machine, Text, literal, memref, workers
from xdsl_exir.lowering.sizes import Sizes

Body = Callable[[Text, Sequence[str], int], str]
"""Writes an operation on vectors of so many lanes, or on numbers (0 lanes); gives the result's name."""

UNROLLED = 8
"""Vectors of a row up to which its passes have no loop, and keep values in registers."""

# Reductions: the operation that combines, the dtype that they accumulate in, and the neutral element. Sums are wider than
# their terms, so that their error does not grow with a row's length.
REDUCTIONS = {
    "add": ("arith.addf", "f64", "0.0"),
    "mean": ("arith.addf", "f64", "0.0"),
    "max": ("arith.maximumf", "f32", "0xFF800000"),
    "min": ("arith.minimumf", "f32", "0x7F800000"),
}


@dataclass(frozen=True, eq=False)
class Node:
    """One value of a row program."""

    length: Dim
    """Elements of a row; 1 for a number per row."""
    operands: tuple[Node, ...] = ()
    dtype: Literal["f32", "i1"] = "f32"


@dataclass(frozen=True, eq=False)
class Load(Node):
    """An input's row, or its one number that meets a row."""

    input: int = 0


@dataclass(frozen=True, eq=False)
class Gather(Load):
    """A row of a table [rows, length], the one that an input of integers says: a number of a row, clamped to those there are."""

    index: int = 0
    """The input of integers."""


@dataclass(frozen=True, eq=False)
class Number(Node):
    """A constant."""

    value: float | bool = 0.0


@dataclass(frozen=True, eq=False)
class Map(Node):
    """An elementwise operation; operands are rows of its length, or numbers."""

    body: Body = lambda text, operands, lanes: operands[0]
    cost: int = 1


@dataclass(frozen=True, eq=False)
class Reduce(Node):
    """A row's sum, mean, maximum or minimum."""

    kind: str = "add"


@dataclass(frozen=True, eq=False)
class Concat(Node):
    """Rows one after the other."""


@dataclass(frozen=True, eq=False)
class Slice(Node):
    """Part of a row."""

    start: Dim = 0


@dataclass(frozen=True)
class Rows:
    """Rows of a tensor [*leading, n], each by the same program.

    The function's arguments: inputs, scratch if `scratch` is not None, outputs. An input's shape has the rank of `leading` and one
    more (but a table that is gathered from); its sizes are those of the rows, or 1. Rows must have stride 1. Outputs are contiguous: [*leading, length].
    """

    leading: Sizes
    inputs: tuple[Input, ...]
    outputs: tuple[Node, ...]
    machine: Machine = field(default_factory=Machine)

    @property
    def nodes(self) -> list[Node]:
        """All nodes, operands first."""
        found: dict[Node, None] = {}

        def visit(node: Node) -> None:
            if node not in found:
                for operand in node.operands:
                    visit(operand)
                found[node] = None

        for output in self.outputs:
            visit(output)
        return list(found)

    @property
    def work(self) -> Dim:
        row: Dim = 0
        for node in self.nodes:
            row = row + node.length * (node.cost if isinstance(node, Map) else 2)
        return 4 * row * prod(self.leading)

    @property
    def threads(self) -> int:
        rows, threads = prod(self.leading), workers(self.machine, self.work)
        return min(threads, rows) if isinstance(rows, int) else threads

    @property
    def scratch(self) -> Sizes | None:
        """Shape of the float32 buffer the kernel needs, or None."""
        size = Schedule(self).scratch
        return (self.threads, size) if size != 0 else None

    @property
    def types(self) -> dict[str, str]:
        """The function's arguments and their types, in order."""
        types = {f"%in{i}": operand.type for i, operand in enumerate(self.inputs)}
        if self.scratch:
            types["%scratch"] = memref(self.scratch)
        for i, node in enumerate(self.outputs):
            types[f"%out{i}"] = memref((*self.leading, node.length), stored(node))
        return types

    def emit(self, name: str, public: bool = False) -> str:
        """The kernel as `func.func @name`, with `llvm.emit_c_interface` when public."""
        text = Text()
        with text.share(prod(self.leading), self.threads, self.work) as (worker, row):
            Writer(self, text, worker, text.delinearize(row, self.leading)).row()
        return text.function(name, list(self.types.items()), public)


def stored(node: Node) -> str:
    """The element type of a node in memory: Bool takes a byte."""
    return "i8" if node.dtype == "i1" else node.dtype


class Schedule:
    """In which pass each node of a program is computed, and which of them need a buffer.

    A pass is of a level and a row length; level n + 1 sees the reductions of level n.
    """

    def __init__(self, kernel: Rows):
        self.lanes = kernel.machine.lanes
        self.nodes = kernel.nodes
        self.users: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for operand in node.operands:
                self.users[operand].append(node)
        self.level: dict[Node, int] = {}
        for node in self.nodes:
            self.level[node] = max((self.ready(operand, node) for operand in node.operands), default=0)
        for node in reversed(self.nodes):
            # As late as its users allow: then it is still in registers.
            users = self.users[node]
            cut = any(isinstance(user, Slice) for user in users)
            if isinstance(node, Map) and node.length != 1 and users and not cut:
                self.level[node] = min(self.level[user] for user in users)
        self.buffers: dict[Node, Dim] = {}
        """Where each node's row begins in a worker's buffer."""
        self.scratch: Dim = 0
        for node in self.nodes:
            if self.is_buffered(node):
                self.buffers[node] = self.scratch
                self.scratch = self.scratch + ceildiv(node.length, self.lanes) * self.lanes
        self.levels = max(self.level.values(), default=0) + 1

    def ready(self, node: Node, user: Node) -> int:
        """The first level at which a user can see a node."""
        later = isinstance(node, Reduce | Concat) or (isinstance(user, Slice) and not isinstance(node, Load))
        return self.level[node] + (1 if later else 0)

    def is_unrolled(self, length: Dim) -> bool:
        return isinstance(length, int) and length < (UNROLLED + 1) * self.lanes

    def is_buffered(self, node: Node) -> bool:
        if isinstance(node, Concat):
            return True
        if not isinstance(node, Map) or node.length == 1:
            return False
        users = self.users[node]
        if any(isinstance(user, Slice) for user in users):
            return True
        later = any(self.level[user] > self.level[node] for user in users)
        return later and not self.is_unrolled(node.length)


class Writer:
    """Writes one row of a program."""

    def __init__(self, kernel: Rows, text: Text, worker: Index, row: Sequence[Index]):
        self.kernel, self.text, self.worker, self.row_index = kernel, text, worker, list(row)
        self.schedule = Schedule(kernel)
        self.lanes = kernel.machine.lanes
        self.numbers: dict[Node, str] = {}
        """Numbers of this row, by node."""
        self.held: dict[tuple[Node, Index], str] = {}
        """Vectors in registers, by node and place in the row."""
        self.broadcasts: dict[Node, str] = {}
        """Numbers in all lanes."""
        self.gathered: dict[Gather, Index] = {}
        self.level = 0
        """The level that is being written."""
        self.types = kernel.types

    def row(self) -> None:
        schedule = self.schedule
        self.gathered = {node: self.gather(node) for node in schedule.nodes if isinstance(node, Gather)}
        for node in schedule.nodes:
            if isinstance(node, Load) and node.length == 1:
                self.numbers[node] = self.load_number(node, *self.place(node, 0), stored(node))
        for level in range(schedule.levels):
            self.level = level
            here = [node for node in schedule.nodes if schedule.level[node] == level]
            for node in here:
                if isinstance(node, Slice) and node.length == 1:
                    self.numbers[node] = self.slice_number(node)
                elif isinstance(node, Map) and node.length == 1:
                    self.numbers[node] = node.body(self.text, [self.number(x) for x in node.operands], 0)
            for node in here:
                if isinstance(node, Map | Load) and node.length == 1:
                    self.store_number(node)
            lengths = dict.fromkeys(length for node in here for length in self.lengths(node))
            for length in lengths:
                self.one_pass(length)
        for node in schedule.nodes:
            if isinstance(node, Reduce):
                self.store_number(node)

    def lengths(self, node: Node) -> list[Dim]:
        """The lengths of the passes that a node takes part in."""
        if isinstance(node, Concat | Reduce):
            return [operand.length for operand in node.operands]
        wanted = isinstance(node, Map) or node in self.kernel.outputs
        return [node.length] if wanted and node.length != 1 else []

    # numbers

    def number(self, node: Node) -> str:
        if isinstance(node, Number):
            return self.constant(node, 0)
        return self.numbers[node]

    def constant(self, node: Number, lanes: int) -> str:
        number = literal(node.value)
        type_ = f"vector<{lanes}x{node.dtype}>" if lanes else node.dtype
        return self.text.constant(f"dense<{number}>" if lanes else number, type_)

    def load_number(self, node: Node, name: str, type_: str, at: Sequence[Index], element: str) -> str:
        value = self.text.op(f"memref.load {name}[{', '.join(map(self.text.index, at))}] : {type_}")
        if node.dtype == "f32":
            return value
        if element == "i8":
            return self.text.op(f"arith.cmpi ne, {value}, {self.text.constant('0', 'i8')} : i8")
        return self.text.op(f"arith.cmpf une, {value}, {self.text.constant('0.0', 'f32')} : f32")

    def slice_number(self, node: Slice) -> str:
        """The one element that is cut out of a row."""
        (source,) = node.operands
        if isinstance(source, Load):
            return self.load_number(node, *self.place(source, node.start), stored(node))
        at = self.text.add(self.schedule.buffers[source], node.start)
        return self.load_number(node, "%scratch", self.types["%scratch"], [self.worker, at], "f32")

    def store_number(self, node: Node) -> None:
        for position, output in enumerate(self.kernel.outputs):
            if output is node:
                value = self.numbers[node]
                if node.dtype == "i1":
                    value = self.text.op(f"arith.extui {value} : i1 to i8")
                at = ", ".join(map(self.text.index, [*self.row_index, 0]))
                self.text.line(
                    f"memref.store {value}, %out{position}[{at}] : {self.types[f'%out{position}']}"
                )

    # rows

    def place(self, node: Load, offset: Index) -> tuple[str, str, list[Index]]:
        """Where an input's elements are that meet this row from `offset` on."""
        name = f"%in{node.input}"
        if isinstance(node, Gather):
            return name, self.types[name], [self.gathered[node], offset]
        return name, self.types[name], [*self.lead(node.input), offset]

    def lead(self, number: int) -> list[Index]:
        """The leading indices at which an input meets this row."""
        shape = self.kernel.inputs[number].shape
        return [0 if n == 1 else i for n, i in zip(shape, self.row_index, strict=False)]

    def gather(self, node: Gather) -> Index:
        """The row of its table that a node is in this row."""
        text, name = self.text, f"%in{node.index}"
        type_ = self.kernel.inputs[node.index].dtype
        at = ", ".join(map(text.index, [*self.lead(node.index), 0]))
        value = text.op(f"memref.load {name}[{at}] : {self.types[name]}")
        rows = self.kernel.inputs[node.input].shape[0]
        value = text.op(f"arith.maxsi {value}, {text.constant('0', type_)} : {type_}")
        value = text.op(f"arith.index_cast {value} : {type_} to index")
        return text.min(value, rows - 1)

    def one_pass(self, length: Dim) -> None:
        """All that happens to rows of one length on this level."""
        schedule, text = self.schedule, self.text
        here = [n for n in schedule.nodes if schedule.level[n] == self.level and length in self.lengths(n)]
        reductions = [node for node in here if isinstance(node, Reduce)]
        full, rest = length // self.lanes, length % self.lanes
        unrolled = schedule.is_unrolled(length)
        chains = min(4, max(full, 1)) if reductions and isinstance(full, int) else 1
        accumulators = [REDUCTIONS[node.kind][1:] for node in reductions for _ in range(chains)]
        totals = [text.vector(neutral, self.lanes, dtype) for dtype, neutral in accumulators]
        types = [f"vector<{self.lanes}x{dtype}>" for dtype, _ in accumulators]
        self.broadcasts = {}
        done: Dim = 0
        if not unrolled:
            turns = full // chains

            def turn(i: Index, carried: list[str]) -> list[str]:
                for chain in range(chains):
                    self.held.clear()
                    offset = text.add(text.mul(i, chains * self.lanes), chain * self.lanes)
                    carried = self.piece(here, reductions, length, offset, None, carried, chain, chains)
                return carried

            for node in here:  # what all turns share stands before the loop
                for operand in node.operands:
                    if operand.length == 1:
                        self.vector(operand, 0, None)
            if totals:
                totals = text.reduce(turns, totals, types, turn)
            else:
                with text.loop(0, turns) as i:
                    turn(i, [])
            self.held.clear()
            done = turns * chains
        left = range(done, full) if isinstance(done, int) and isinstance(full, int) else ()
        for index in left:
            totals = self.piece(
                here, reductions, length, index * self.lanes, None, totals, index % chains, chains
            )
        if rest:
            mask = text.mask_below(self.lanes, rest)
            last = full % chains if isinstance(full, int) else 0
            totals = self.piece(here, reductions, length, full * self.lanes, mask, totals, last, chains)
        if not unrolled:
            self.held.clear()
        for number, node in enumerate(reductions):
            self.numbers[node] = self.total(node, totals[number * chains : (number + 1) * chains])

    def total(self, node: Reduce, parts: list[str]) -> str:
        """One number of a reduction's partial results: halves of them, then of the last one's lanes, are combined."""
        combine, dtype, _ = REDUCTIONS[node.kind]
        text, lanes = self.text, self.lanes
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            odd = parts[-1:] if len(parts) % 2 else []
            parts = [text.op(f"{combine} {a}, {b} : vector<{lanes}x{dtype}>") for a, b in pairs] + odd
        [whole] = parts
        while lanes > 1:
            lanes //= 2
            low, high = (text.slice(whole, 2 * lanes, start, lanes, dtype) for start in (0, lanes))
            whole = text.op(f"{combine} {low}, {high} : vector<{lanes}x{dtype}>")
        total = text.op(f"vector.extract {whole}[0] : {dtype} from vector<1x{dtype}>")
        if node.kind == "mean":
            total = text.op(f"arith.divf {total}, {self.count(node.operands[0].length)} : f64")
        return total if dtype == "f32" else text.op(f"arith.truncf {total} : {dtype} to f32")

    def count(self, length: Dim) -> str:
        """A row's length as float64."""
        if isinstance(length, int):
            return self.text.constant(f"{length}.0", "f64")
        number = self.text.op(f"arith.index_cast {self.text.index(length)} : index to i64")
        return self.text.op(f"arith.sitofp {number} : i64 to f64")

    def piece(
        self,
        here: Sequence[Node],
        reductions: Sequence[Reduce],
        length: Dim,
        offset: Index,
        mask: str | None,
        totals: list[str],
        chain: int,
        chains: int,
    ) -> list[str]:
        """One vector of a pass; gives the reductions' totals with it."""
        totals = list(totals)
        for node in here:
            for value, name, type_, at in self.targets(node, length, offset):
                self.store(value, self.vector(value, offset, mask), name, type_, at, mask)
        for number, node in enumerate(reductions):
            combine, dtype, neutral = REDUCTIONS[node.kind]
            narrow, type_ = (f"vector<{self.lanes}x{each}>" for each in ("f32", dtype))
            value = self.vector(node.operands[0], offset, mask)
            if mask is not None:
                other = self.text.vector(neutral, self.lanes)
                value = self.text.op(
                    f"arith.select {mask}, {value}, {other} : vector<{self.lanes}xi1>, {narrow}"
                )
            if type_ != narrow:
                value = self.text.op(f"arith.extf {value} : {narrow} to {type_}")
            slot = number * chains + chain
            totals[slot] = self.text.op(f"{combine} {totals[slot]}, {value} : {type_}")
        return totals

    def targets(self, node: Node, length: Dim, offset: Index) -> Iterator[tuple[Node, str, str, list[Index]]]:
        """(node, buffer, its type, index) of what a node has to store in a pass over rows of a length."""
        if isinstance(node, Concat):
            start = self.schedule.buffers[node]
            for operand in node.operands:
                if operand.length == length:
                    at = self.text.add(offset, start)
                    yield operand, "%scratch", self.types["%scratch"], [self.worker, at]
                start = start + operand.length
        elif isinstance(node, Map | Load | Slice) and node.length == length:
            if node in self.schedule.buffers:
                at = self.text.add(offset, self.schedule.buffers[node])
                yield node, "%scratch", self.types["%scratch"], [self.worker, at]
            for position, output in enumerate(self.kernel.outputs):
                if output is node:
                    name = f"%out{position}"
                    yield node, name, self.types[name], [*self.row_index, offset]

    def store(
        self, node: Node, value: str, name: str, type_: str, at: Sequence[Index], mask: str | None
    ) -> None:
        element = "f32"
        if node.dtype == "i1":
            element = "f32" if name == "%scratch" else "i8"
            op = "arith.uitofp" if element == "f32" else "arith.extui"
            value = self.text.op(f"{op} {value} : vector<{self.lanes}xi1> to vector<{self.lanes}x{element}>")
        self.text.store(value, name, type_, at, self.lanes, mask, element)

    def vector(self, node: Node, offset: Index, mask: str | None) -> str:
        """A node's elements from `offset` on; a number in all lanes."""
        if isinstance(node, Number):
            return self.constant(node, self.lanes)
        if node.length == 1:
            if node not in self.broadcasts:
                self.broadcasts[node] = self.text.op(
                    f"vector.broadcast {self.number(node)} : {node.dtype} to vector<{self.lanes}x{node.dtype}>"
                )
            return self.broadcasts[node]
        key = (node, offset)
        if key not in self.held:
            self.held[key] = self.make_vector(node, offset, mask)
        return self.held[key]

    def make_vector(self, node: Node, offset: Index, mask: str | None) -> str:
        match node:
            case Load():
                return self.load(node, *self.place(node, offset), mask, stored(node))
            case Slice():
                (source,) = node.operands
                at = self.text.add(offset, node.start)
                if isinstance(source, Load):
                    return self.load(node, *self.place(source, at), mask, stored(node))
                return self.from_buffer(source, at, mask)
            case Map() if node not in self.schedule.buffers or self.level == self.schedule.level[node]:
                operands = [self.vector(operand, offset, mask) for operand in node.operands]
                return node.body(self.text, operands, self.lanes)
            case _:
                return self.from_buffer(node, offset, mask)

    def from_buffer(self, node: Node, offset: Index, mask: str | None) -> str:
        at = self.text.add(offset, self.schedule.buffers[node])
        return self.load(node, "%scratch", self.types["%scratch"], [self.worker, at], mask, "f32")

    def load(
        self, node: Node, name: str, type_: str, at: Sequence[Index], mask: str | None, element: str
    ) -> str:
        value = self.text.load(name, type_, at, self.lanes, mask, element)
        if node.dtype == "f32":
            return value
        zero = self.text.vector("0" if element == "i8" else "0.0", self.lanes, element)
        compare = "arith.cmpi ne" if element == "i8" else "arith.cmpf une"
        return self.text.op(f"{compare}, {value}, {zero} : vector<{self.lanes}x{element}>")
