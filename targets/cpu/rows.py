"""Groups of operators that work row by row: elementwise ones, and reductions over the last dimension, as one dispatch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.dispatches.buffers import Shape, Value
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.dispatches.views import RENAMES, expanded, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.lowering.sizes import lengthwise, static
from xdsl_exir.targets.cpu.across import SCRATCH, dispatch_across, one_sized
from xdsl_exir.targets.cpu.elements import elementwise
from xdsl_exir.targets.cpu.epilogues import input_of
from xdsl_exir.targets.cpu.kernels import Across, Chain
from xdsl_exir.targets.cpu.kernels.row_nodes import (
    Concat,
    DType,
    Gather,
    Load,
    Map,
    Node,
    Number,
    Slice,
    needed,
)
from xdsl_exir.targets.cpu.kernels.rows import Rows
from xdsl_exir.targets.cpu.vectorize import Operand, RowProgram, without_ones
from xdsl_exir.transforms.matching import made_by

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.targets.cpu.target import Cpu

CHUNK = 2048
"""Elements of a row above which a long row of independent elements is cut, to share it out to threads."""


MOST = 64
"""Operators of a group, so that its text, in which short rows are written out, stays short."""


NODES: dict[dt.DType, DType] = {
    dt.Float: "f32",
    dt.Double: "f64",
    dt.Half: "f16",
    dt.BFloat16: "bf16",
    dt.Bool: "i1",
    dt.Int: "i32",
    dt.Long: "i64",
}
"""What nodes are made of, by dtype."""

WIDE = (dt.Double, dt.Int, dt.Long)
"""Dtypes that no buffer of a row holds."""


@dataclass(frozen=True)
class Space:
    """What an operator runs over: rows of some length, at the points of leading dimensions."""

    leading: Shape
    length: Dim


def last(shape: Shape) -> Space:
    """Rows along the last dimension."""
    return Space(without_ones(shape[:-1]), shape[-1] if shape else 1)


# --- operators -----------------------------------------------------------------------------------------------
#
# What is computed row by row is in lowerings (`row_lowering`). Here are operators that put rows together.


def _cat(b: Builder, op: OperatorOp, a: dict[str, Any]) -> int:
    sizes = [shape_of(value)[-1] for value in a["tensors"]]
    rows = [b.row(value, size) for value, size in zip(a["tensors"], sizes, strict=True)]
    # One number seen everywhere is a row like others here.
    parts = [
        row if b.nodes[row].length == size else b.add(Map(size, (row,)))
        for row, size in zip(rows, sizes, strict=True)
    ]
    length = shape_of(op.results[0])[-1]
    return b.add(Map(length, (b.add(Concat(length, tuple(parts))),)))


def _embedding(b: Builder, op: OperatorOp, a: dict[str, Any]) -> int:
    return gathered(b, a["weight"], a["indices"])


def _index_select(b: Builder, op: OperatorOp, a: dict[str, Any]) -> int:
    return gathered(b, a["self"], a["index"])


def gathered(b: Builder, rows: SSAValue, indices: SSAValue) -> int:
    """The rows of a matrix that indices say."""
    table = b.planner.contiguous(b.planner.value(rows))
    index = b.planner.contiguous(b.planner.value(indices))
    index = must(reshaped(index, (*b.group.leading, 1)))
    b.inputs += [table, index]
    return b.add(
        Gather(
            table.shape[-1], (), NODES[meta_of(rows).dtype], input=len(b.inputs) - 2, index=len(b.inputs) - 1
        )
    )


def cat_space(op: OperatorOp, arguments: dict[str, Any]) -> Space | None:
    if any(meta_of(value).dtype is not dt.Float for value in (*op.operands, *op.results)):
        return None
    shape = shape_of(op.results[0])
    if not shape or arguments["dim"] % len(shape) != len(shape) - 1:
        return None
    # What has one element is a number of its row in a row program, and joins no row.
    rows = all(len(part) == len(shape) and part[-1] != 1 for part in map(shape_of, op.operands))
    return last(shape) if rows else None


def embedding_space(op: OperatorOp, arguments: dict[str, Any]) -> Space | None:
    return gather_space(op, arguments["indices"])


def index_select_space(op: OperatorOp, arguments: dict[str, Any]) -> Space | None:
    """Rows of a matrix; of one column they would be numbers."""
    shape = shape_of(arguments["self"])
    is_rows = len(shape) == 2 and arguments["dim"] % 2 == 0 and shape[1] != 1
    return (
        gather_space(op, arguments["index"]) if is_rows and len(shape_of(arguments["index"])) == 1 else None
    )


def gather_space(op: OperatorOp, indices: SSAValue) -> Space | None:
    integers = meta_of(indices).dtype in (dt.Long, dt.Int)
    return last(shape_of(op.results[0])) if integers and meta_of(op.results[0]).dtype in NODES else None


@dataclass(frozen=True)
class Joined:
    """How an operator puts rows together."""

    space: Callable[[OperatorOp, dict[str, Any]], Space | None]
    """The rows it runs over; None where it does not."""
    build: Callable[[Builder, OperatorOp, dict[str, Any]], int]
    """From its arguments, tensors as SSA values, to its result's node."""
    from_memory: bool = False
    """Whether it takes rows of all its operands, of which a group that makes them has one at a time."""


JOINED: dict[str, Joined] = {
    "aten.cat": Joined(cat_space, _cat),
    "aten.embedding": Joined(embedding_space, _embedding, from_memory=True),
    "aten.index_select": Joined(index_select_space, _index_select, from_memory=True),
}


def space_of(cpu: Cpu, planner: Planner, op: OperatorOp) -> Space | None:
    """The rows that an operator runs over; None if it does not work row by row."""
    if not any(planner.boundaries.takes(op, kind.__name__) for kind in (Rows, Across, Chain)):
        return None
    if elementwise(op, planner.arguments_of(op)) is not None:
        shape = shape_of(op.results[0])
        # A size that a guard fixes may be an expression in one place and a number in another: those are no rows of one length.
        sizes = {size for operand in op.operands for size in shape_of(operand)[-1:]}
        space = last(shape) if sizes <= {1, *shape[-1:]} else None
    elif (joined := JOINED.get(op.SPEC.qualified_name)) is not None:
        space = joined.space(op, op.arguments())
    else:
        program = cpu.row_program(op)
        space = program and Space(program.leading, program.length)
    return space if space is not None and 0 not in (*space.leading, space.length) else None


def is_map(planner: Planner, op: OperatorOp) -> bool:
    """Whether an operator computes element by element."""
    return elementwise(op, planner.arguments_of(op)) is not None


def is_wide(op: OperatorOp) -> bool:
    """Whether an operator has elements that a buffer of float32 does not hold."""
    return any(meta_of(value).dtype in WIDE for value in op.results) or any(
        meta_of(value).dtype in WIDE for value in op.operands if op.SPEC.qualified_name not in JOINED
    )


# --- groups --------------------------------------------------------------------------------------------------


@dataclass
class RowGroup:
    """Operators over the same leading dimensions."""

    cpu: Cpu
    planner: Planner
    leading: Shape
    ops: list[OperatorOp] = field(default_factory=list[OperatorOp])
    inside: set[Operation] = field(default_factory=set[Operation])

    def add(self, op: OperatorOp) -> None:
        self.ops.append(op)
        self.inside.add(op)

    def copy(self) -> RowGroup:
        return replace(self, ops=[*self.ops], inside={*self.inside})

    def takes(self, op: OperatorOp) -> bool:
        """Whether an operator can join: same rows, and what it takes from the group it can take in registers."""
        space = space_of(self.cpu, self.planner, op)
        if space is None or space.leading != self.leading or len(self.ops) >= MOST:
            return False
        together = [*self.ops, op]
        wide = any(map(is_wide, together))
        if wide and not self.needs_no_buffer(together):
            return False
        joined = JOINED.get(op.SPEC.qualified_name)
        program = None if joined or is_map(self.planner, op) else self.cpu.row_program(op)
        apart = True
        for at, operand in enumerate(op.operands):
            root = self.planner.root(operand)
            if root.owner in self.inside:
                apart = False
                if joined is not None and joined.from_memory:
                    return False
                if program is not None and not program.takes_rows(at, shape_of(operand)):
                    return False
                # Rows are rows to both, cut at most along the row.
                if last(shape_of(operand)).leading != self.leading:
                    return False
                if last(shape_of(root)).leading != self.leading or self.cut(operand) is None:
                    return False
                # What a part is cut out of lies in a buffer.
                if wide and shape_of(operand)[-1:] != shape_of(root)[-1:]:
                    return False
        # Rows along different dimensions, as many and as long, are no rows of one kernel.
        return not apart or len({*self.permuted(self.ops), *self.permuted([op])}) < 2

    def permuted(self, ops: Sequence[OperatorOp]) -> Iterator[bool]:
        """Of the rows that operators are given: whether they are along another dimension than the last one in memory."""
        for operand in (operand for op in ops for operand in op.operands):
            if (
                shape_of(operand)[-1:] not in ((), (1,))
                and self.planner.root(operand).owner not in self.inside
            ):
                order = made_by(operand, "aten.permute")
                yield order is not None and order.arguments()["dims"][-1] != len(shape_of(operand)) - 1

    def needs_no_buffer(self, ops: Sequence[OperatorOp]) -> bool:
        """Whether all that operators make of elements they make in one pass: they are maps, and reductions whose results the others do not use."""
        last = [op for op in ops if not is_map(self.planner, op)]
        programs = [self.cpu.row_program(op) for op in last]
        used = {self.planner.root(operand).owner for op in ops for operand in op.operands}
        return used.isdisjoint(last) and all(program and program.is_one_pass for program in programs)

    def cut(self, value: SSAValue) -> Dim | None:
        """Where in its root's row a value begins, which views of it make; None if they do anything else."""
        start: Dim = 0
        while value.owner not in self.inside:
            op = value.owner
            assert isinstance(op, OperatorOp)
            source, name = op.operands[0], op.SPEC.qualified_name
            shape, given = shape_of(value), shape_of(source)
            if value in self.planner.identities:
                source = self.planner.identities[value]
            elif name in RENAMES:
                if shape[-1:] != given[-1:] or last(shape).leading != last(given).leading:
                    return None
            elif name == "aten.split_with_sizes":
                a = op.arguments()
                if a["dim"] % len(given) != len(given) - 1:
                    return None
                before = list(op.results)[: list(op.results).index(value)]  # pyright: ignore[reportArgumentType]
                for part in before:
                    start = start + shape_of(part)[-1]
            elif not (name == "aten.expand" and shape == given):
                return None
            value = source
        return start

    def dispatch(self, outputs: Sequence[SSAValue]) -> None:
        """Makes a dispatch of the group; outputs are what is used outside."""
        if dispatch_across(self, outputs):
            return
        builder = self.builder()
        program, results = needed(builder.nodes, [builder.made[value] for value in outputs])
        leading, length = self.leading, lengthwise([program[n].length for n in results])
        inputs = builder.inputs
        kernel = Rows(leading, tuple(map(input_of, inputs)), program, results, self.cpu.machine)
        if self.is_elementwise(length):
            kernel, inputs = collapsed(kernel, inputs, length)
        scratch = [self.planner.allocate(kernel.scratch, SCRATCH[kernel.element])] if kernel.scratch else []
        made = [self.planner.make(value) for value in outputs]
        views = [
            must(reshaped(value, (*kernel.leading, kernel.program[n].length)))
            for value, n in zip(made, kernel.outputs, strict=True)
        ]
        arguments = [*inputs, *scratch, *views]
        self.planner.call_kernel(
            kernel,
            arguments,
            lambda: Outline(self.planner, self.ops, True).body(arguments, outputs),
            self.ops,
        )

    def builder(self, as_they_lie: bool = False) -> Builder:
        return Builder(self.planner, self, as_they_lie)

    def is_elementwise(self, length: Dim) -> bool:
        """Whether all elements are computed alike."""
        return all(
            is_map(self.planner, op) and last(shape_of(op.results[0])).length == length for op in self.ops
        )


def collapsed(kernel: Rows, inputs: list[Value], length: Dim) -> tuple[Rows, list[Value]]:
    """An elementwise kernel over as few dimensions as its inputs' strides allow, in rows that threads can share."""
    full = (*kernel.leading, length)
    shape = tuple(size for size in full if size != 1) or (1,)
    whole = [must(reshaped(expanded(value, full), shape)) for value in inputs]
    merged = [[0]]
    for outer, inner in pairwise(range(len(shape))):
        if all(v.strides[outer] == v.strides[inner] * shape[inner] for v in whole):
            merged[-1].append(inner)
        else:
            merged.append([inner])
    sizes = [prod(shape[dim] for dim in group) for group in merged]
    if any(value.strides[-1] not in (0, 1) for value in whole):
        sizes.append(1)  # rows have stride 1: along another stride, each element is a row
    *lead, rest = sizes
    few = is_static(lead) and math.prod(static(lead)) < 4 * kernel.machine.threads
    if few and isinstance(rest, int) and rest > CHUNK:
        cuts = (256, 128, 64, 32, 16, 8, 4, 2)
        cut = next((cut for cut in cuts if rest % cut == 0 and rest // cut >= CHUNK // 2), 1)
        lead, rest = [*lead, cut], rest // cut
    found = [one_sized(must(reshaped(value, (*lead, rest)))) for value in whole]

    def resized(node: Node) -> Node:
        match node:
            case Map():
                return replace(node, length=rest)
            case Load():
                return replace(node, length=found[node.input].shape[-1])
            case _:
                return replace(node, length=1)

    program = tuple(map(resized, kernel.program))
    return Rows(tuple(lead), tuple(map(input_of, found)), program, kernel.outputs, kernel.machine), found


def must(value: Value | None) -> Value:
    """A view that is known to exist."""
    assert value is not None
    return value


class Builder:
    """Makes a group's nodes."""

    def __init__(self, planner: Planner, group: RowGroup, as_they_lie: bool = False):
        self.planner, self.group, self.as_they_lie = planner, group, as_they_lie
        """Whether inputs may have strides along their rows, which are otherwise put in order."""
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.loads: dict[tuple[SSAValue, Shape, bool], int] = {}
        self.made: dict[SSAValue, int] = {}
        """Nodes of values, by their positions."""
        for op in group.ops:
            self.operator(op)

    def add(self, node: Node) -> int:
        """Adds a node; its position."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def number(self, value: float | bool, dtype: dt.DType) -> int:
        of = NODES[dtype]
        return self.add(Number(1, value=value if of.startswith("i") else float(value), dtype=of))

    def operator(self, op: OperatorOp) -> None:
        if (joined := JOINED.get(op.SPEC.qualified_name)) is not None:
            self.made[op.results[0]] = joined.build(self, op, op.arguments())
        elif (program := self.group.cpu.row_program(op)) is not None:
            self.made |= zip(op.results, self.rows(op, program), strict=True)
        else:
            self.made[op.results[0]] = self.elementwise(op)

    def rows(self, op: OperatorOp, program: RowProgram) -> list[int]:
        """The nodes of an operator's results, which a program makes."""
        places: list[int] = []
        for node in program.nodes:
            if not isinstance(node, Operand):
                places.append(self.add(replace(node, operands=tuple(places[n] for n in node.operands))))
            elif node.whole:
                places.append(self.row(op.operands[node.at], program.length))
            else:
                places.append(self.operand(op.operands[node.at], node.shape, program.length))
        return [places[n] for n in program.results]

    def elementwise(self, op: OperatorOp) -> int:
        shape = shape_of(op.results[0])
        found = elementwise(op, self.planner.arguments_of(op))
        assert found is not None
        element, tensors = found
        length = last(shape).length
        operands = tuple(self.operand(tensor, shape, length) for tensor in tensors)
        return self.add(Map(length, operands, NODES[meta_of(op.results[0]).dtype], element))

    def operand(self, value: SSAValue, shape: Shape, length: Dim) -> int:
        """An operand that broadcasts to `shape`, whose rows of a length are the group's."""
        splat = self.planner.splat(value)
        if splat is not None:
            return self.number(splat, meta_of(value).dtype)
        root = self.planner.root(value)
        if root.owner in self.group.inside:
            return self.inner(value, root)
        return self.load(value, (*self.group.leading, length), shape)

    def row(self, value: SSAValue, length: Dim) -> int:
        """An operand whose elements are the group's rows, of a length, in order."""
        root = self.planner.root(value)
        if root.owner in self.group.inside:
            return self.inner(value, root)
        return self.load(value, (*self.group.leading, length), shape_of(value), whole=True)

    def inner(self, value: SSAValue, root: SSAValue) -> int:
        """A value that the group makes, or part of its row."""
        place, start = self.made[root], self.group.cut(value)
        assert start is not None
        node, length = self.nodes[place], last(shape_of(value)).length
        return place if node.length == length else self.add(Slice(length, (place,), node.dtype, start))

    def load(self, value: SSAValue, rows: Shape, shape: Shape, whole: bool = False) -> int:
        """An input: a value that broadcasts to `shape`, whose elements are those of `rows`, in order.

        One that is the same all along its row is loaded as one element, but for who needs the `whole` of it.
        """
        if (value, rows, whole) not in self.loads:
            given = self.planner.value(value)
            seen = reshaped(expanded(given, shape), rows)
            if seen is None or (rows[-1] != 1 and seen.strides[-1] not in (0, 1) and not self.as_they_lie):
                given = self.planner.contiguous(given)
                seen = reshaped(expanded(given, shape), rows)
            if seen is None or (whole and rows[-1] != 1 and seen.strides[-1] == 0):
                seen = reshaped(self.planner.contiguous(expanded(given, shape)), rows)
            assert seen is not None
            load_length = seen.shape[-1] if seen.strides[-1] else 1
            seen = seen if self.as_they_lie else one_sized(seen)
            if seen not in self.inputs:
                self.inputs.append(seen)
            load = Load(load_length, (), NODES[seen.dtype], self.inputs.index(seen))
            self.loads[value, rows, whole] = self.nodes.index(load) if load in self.nodes else self.add(load)
        return self.loads[value, rows, whole]
