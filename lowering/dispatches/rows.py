"""Groups of operators that work row by row: elementwise ones, and reductions over the last dimension, as one dispatch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.lowering.dispatches.buffers import NAME, Shape, Value
from xdsl_exir.lowering.dispatches.elements import ELEMENTS, Element, Lanes, element_of
from xdsl_exir.lowering.dispatches.epilogues import input_of
from xdsl_exir.lowering.dispatches.views import RENAMES, expanded, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.schedules.rows import Concat, Gather, Load, Map, Node, Number, Reduce, Rows, Slice
from xdsl_exir.lowering.schedules.text import Text
from xdsl_exir.lowering.sizes import lengthwise, static

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner

CHUNK = 2048
"""Elements of a row above which a long row of independent elements is cut, to share it out to threads."""


MOST = 64
"""Operators of a group, so that its text, in which short rows are written out, stays short."""


@dataclass(frozen=True)
class Space:
    """What an operator runs over: rows of some length, at the points of leading dimensions."""

    leading: Shape
    length: Dim


def without_ones(shape: Shape) -> Shape:
    """The shape without leading dimensions of size 1."""
    first = next((dim for dim, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


def shape_of(value: SSAValue) -> Shape:
    return meta_of(value).shape


def last(shape: Shape) -> Space:
    """Rows along the last dimension."""
    return Space(without_ones(shape[:-1]), shape[-1] if shape else 1)


# --- operators -----------------------------------------------------------------------------------------------

Build = Callable[["Builder", OperatorOp, dict[str, Any]], Sequence[Node | None]]
"""From an operator's arguments, tensors as SSA values, to its results' nodes; None for results that are not made."""


@dataclass(frozen=True)
class RowOp:
    """How an operator works row by row."""

    space: Callable[[OperatorOp, dict[str, Any]], Space | None]
    """The rows it runs over; None where it does not."""
    build: Build
    dtypes: str = "f"
    """Of its tensors, in order, the last one's for the others too: f for Float, b for Bool, i for Long or Int."""
    result: str = "f"
    """Of its first result."""

    def takes(self, op: OperatorOp) -> bool:
        """Whether an operation has these dtypes."""
        tensors = (value for value in (op.results[0], *op.operands) if is_tensor_type(value.type))
        given = [meta_of(value).dtype for value in tensors]
        wanted = self.result + self.dtypes.ljust(len(given) - 1, self.dtypes[-1])
        return all(dtype in DTYPES[code] for dtype, code in zip(given, wanted, strict=True))


DTYPES = {"f": (dt.Float,), "b": (dt.Bool,), "i": (dt.Long, dt.Int)}


def along_last(op: OperatorOp, arguments: dict[str, Any]) -> Space | None:
    """Rows of the first operand, if the operator's `dim` is the last."""
    shape = shape_of(op.operands[0])
    return last(shape) if shape and arguments["dim"] % len(shape) == len(shape) - 1 else None


def over_trailing(op: OperatorOp, arguments: dict[str, Any]) -> Space | None:
    """Rows of the dimensions that are reduced, if these are the last ones."""
    shape, given = shape_of(op.operands[0]), arguments["dim"]
    dims = [given] if isinstance(given, int) else given or range(len(shape))
    first = min((dim % len(shape) for dim in dims), default=0) if shape else 0
    if not shape or len({dim % len(shape) for dim in dims}) != len(shape) - first:
        return None
    return Space(without_ones(shape[:first]), prod(shape[first:]))


def normalized(op: OperatorOp, arguments: dict[str, Any]) -> Space | None:
    shape = shape_of(op.operands[0])
    return (
        last(shape)
        if len(arguments["normalized_shape"]) == 1 and not any(r.uses for r in op.results[1:])
        else None
    )


def number(value: float) -> Number:
    return Number(1, value=value)


def apply(name: str, *operands: Node) -> Map:
    """An operation of arith or math on nodes."""
    length = lengthwise([operand.length for operand in operands])
    return Map(length, operands, body=lambda text, names, lanes: Lanes(text, lanes).op(name, *names))


def reduction(kind: str) -> Build:
    return lambda b, op, a: [Reduce(1, (b.row(a["self"]),), kind=kind)]


def _any(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[Node | None]:
    x = b.row(a["self"])

    def as_number(text: Text, names: Sequence[str], lanes: int) -> str:
        w = Lanes(text, lanes)
        return w.select(names[0], w.constant(1.0), w.constant(0.0))

    def is_set(text: Text, names: Sequence[str], lanes: int) -> str:
        w = Lanes(text, lanes)
        return w.compare("ogt", names[0], w.constant(0.0))

    most = Reduce(1, (Map(x.length, (x,), body=as_number),), kind="max")
    return [Map(1, (most,), "i1", body=is_set)]


def _softmax(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[Node | None]:
    x = b.row(a["self"])
    powers = element(ELEMENTS["aten.exp"], apply("arith.subf", x, Reduce(1, (x,), kind="max")))
    total = Reduce(1, (powers,))
    return [apply("arith.divf", powers, total)]


def _layer_norm(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[Node | None]:
    x = b.row(a["input"])
    centered = apply("arith.subf", x, Reduce(1, (x,), kind="mean"))
    variance = Reduce(1, (apply("arith.mulf", centered, centered),), kind="mean")
    shifted = apply("arith.addf", variance, number(a["eps"]))
    result = apply("arith.mulf", centered, element(ELEMENTS["aten.rsqrt"], shifted))
    for name, with_ in (("weight", "arith.mulf"), ("bias", "arith.addf")):
        if a[name] is not None:
            result = apply(with_, result, b.operand(a[name], shape_of(op.results[0])))
    return [result, None, None]


def element(entry: Element, *operands: Node, given: dict[str, Any] | None = None) -> Map:
    """A node of a table entry. `given` are its arguments, operands as their `Nth`; without it there is `self` alone."""
    arguments = given if given is not None else {"self": Nth(0)}

    def body(text: Text, names: Sequence[str], lanes: int) -> str:
        named = {key: names[a.position] if isinstance(a, Nth) else a for key, a in arguments.items()}
        return entry.body(Lanes(text, lanes), named)

    return Map(lengthwise([operand.length for operand in operands]), operands, body=body, cost=entry.cost)


@dataclass(frozen=True)
class Nth:
    """A tensor among an operator's arguments: its position among the node's operands."""

    position: int


def _cat(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[Node | None]:
    sizes = [shape_of(value)[-1] for value in a["tensors"]]
    rows = zip(map(b.row, a["tensors"]), sizes, strict=True)
    # One number seen everywhere is a row like others here.
    parts = tuple(row if row.length == size else Map(size, (row,)) for row, size in rows)
    joined = Concat(shape_of(op.results[0])[-1], parts)
    return [Map(joined.length, (joined,))]


def _embedding(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[Node | None]:
    table = b.planner.contiguous(b.planner.value(a["weight"]))
    index = b.planner.contiguous(b.planner.value(a["indices"]))
    index = must(reshaped(index, (*b.group.leading, 1)))
    b.inputs += [table, index]
    return [Gather(table.shape[-1], input=len(b.inputs) - 2, index=len(b.inputs) - 1)]


def cat_space(op: OperatorOp, arguments: dict[str, Any]) -> Space | None:
    shape = shape_of(op.results[0])
    if not shape or arguments["dim"] % len(shape) != len(shape) - 1:
        return None
    # What has one element is a number of its row in a row program, and joins no row.
    rows = all(len(part) == len(shape) and part[-1] != 1 for part in map(shape_of, op.operands))
    return last(shape) if rows else None


ROW_OPS: dict[str, RowOp] = {
    "aten.sum.dim_IntList": RowOp(over_trailing, reduction("add")),
    "aten.mean.dim": RowOp(over_trailing, reduction("mean")),
    "aten.amax": RowOp(over_trailing, reduction("max")),
    "aten.amin": RowOp(over_trailing, reduction("min")),
    "aten.any.dim": RowOp(over_trailing, _any, "b", "b"),
    "aten._softmax": RowOp(along_last, _softmax),
    "aten.native_layer_norm": RowOp(normalized, _layer_norm),
    "aten.cat": RowOp(cat_space, _cat),
    "aten.embedding": RowOp(lambda op, arguments: last(shape_of(op.results[0])), _embedding, "fi"),
}


def space_of(planner: Planner, op: OperatorOp) -> Space | None:
    """The rows that an operator runs over; None if it does not work row by row."""
    arguments = planner.arguments_of(op)
    if element_of(op, arguments) is not None:
        space = last(shape_of(op.results[0]))
    else:
        entry = ROW_OPS.get(op.SPEC.qualified_name)
        if entry is None or not entry.takes(op):
            return None
        space = entry.space(op, op.arguments())
    return space if space is not None and 0 not in (*space.leading, space.length) else None


# --- groups --------------------------------------------------------------------------------------------------


@dataclass
class RowGroup:
    """Operators over the same leading dimensions."""

    planner: Planner
    leading: Shape
    ops: list[OperatorOp] = field(default_factory=list[OperatorOp])
    inside: set[Operation] = field(default_factory=set[Operation])

    def add(self, op: OperatorOp) -> None:
        self.ops.append(op)
        self.inside.add(op)

    def takes(self, op: OperatorOp) -> bool:
        """Whether an operator can join: same rows, and what it takes from the group it can take in registers."""
        space = space_of(self.planner, op)
        if space is None or space.leading != self.leading or len(self.ops) >= MOST:
            return False
        for operand in op.operands:
            root = self.planner.root(operand)
            if root.owner in self.inside:
                # Rows are rows to both, cut at most along the row.
                if last(shape_of(operand)).leading != self.leading:
                    return False
                if last(shape_of(root)).leading != self.leading or self.cut(operand) is None:
                    return False
        return True

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
        builder = Builder(self.planner, self)
        results = [builder.node(value) for value in outputs]
        leading, length = self.leading, lengthwise([node.length for node in results])
        kernel = Rows(
            leading, tuple(input_of(v) for v in builder.inputs), tuple(results), self.planner.machine
        )
        inputs = builder.inputs
        if is_static((*leading, length)) and self.is_elementwise(length):
            kernel, inputs = collapsed(kernel, inputs, length)
        scratch = [self.planner.scratch(kernel.scratch)] if kernel.scratch else []
        made = [self.planner.make(value) for value in outputs]
        views = [
            must(reshaped(value, (*kernel.leading, node.length)))
            for value, node in zip(made, kernel.outputs, strict=True)
        ]
        self.planner.call(self.planner.dispatches.scheduled, kernel.emit(NAME), [*inputs, *scratch, *views])

    def is_elementwise(self, length: Dim) -> bool:
        """Whether all elements are computed alike."""
        return all(
            op.SPEC.qualified_name in ELEMENTS and last(shape_of(op.results[0])).length == length
            for op in self.ops
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
    sizes = list(static([prod(shape[dim] for dim in group) for group in merged]))
    if any(value.strides[-1] not in (0, 1) for value in whole):
        sizes.append(1)  # rows have stride 1: along another stride, each element is a row
    *lead, rest = sizes
    if math.prod(lead) < 4 * kernel.machine.threads and rest > CHUNK:
        cuts = (256, 128, 64, 32, 16, 8, 4, 2)
        cut = next((cut for cut in cuts if rest % cut == 0 and rest // cut >= CHUNK // 2), 1)
        lead, rest = [*lead, cut], rest // cut
    found = [one_sized(must(reshaped(value, (*lead, rest)))) for value in whole]
    made: dict[Node, Node] = {}

    def relabel(node: Node) -> Node:
        if node not in made:
            own = (
                rest
                if isinstance(node, Map)
                else found[node.input].shape[-1]
                if isinstance(node, Load)
                else 1
            )
            made[node] = replace(node, length=own, operands=tuple(map(relabel, node.operands)))
        return made[node]

    outputs = tuple(relabel(node) for node in kernel.outputs)
    return Rows(tuple(lead), tuple(map(input_of, found)), outputs, kernel.machine), found


def must(value: Value | None) -> Value:
    """A view that is known to exist."""
    assert value is not None
    return value


def one_sized(value: Value) -> Value:
    """A value with size 1 where it repeats."""
    sizes = tuple(n if s else 1 for n, s in zip(value.shape, value.strides, strict=True))
    return replace(value, shape=sizes)


class Builder:
    """Makes a group's nodes."""

    def __init__(self, planner: Planner, group: RowGroup):
        self.planner, self.group = planner, group
        self.inputs: list[Value] = []
        self.loads: dict[tuple[SSAValue, Shape, bool], Node] = {}
        self.made: dict[SSAValue, Node] = {}
        for op in group.ops:
            self.operator(op)

    def operator(self, op: OperatorOp) -> None:
        entry = ROW_OPS.get(op.SPEC.qualified_name)
        nodes = entry.build(self, op, op.arguments()) if entry is not None else [self.elementwise(op)]
        for result, node in zip(op.results, nodes, strict=True):
            if node is not None:
                self.made[result] = node

    def elementwise(self, op: OperatorOp) -> Node:
        shape = shape_of(op.results[0])
        arguments = self.planner.arguments_of(op)
        entry = element_of(op, arguments)
        assert entry is not None
        operands = [self.operand(operand, shape) for operand in op.operands]
        places = {operand: Nth(position) for position, operand in enumerate(op.operands)}
        given = op.arguments(lambda value: places[value])
        if isinstance(arguments.get("exponent"), float):
            given["exponent"] = arguments["exponent"]
        node = element(entry, *operands, given=given)
        dtype = "i1" if meta_of(op.results[0]).dtype is dt.Bool else "f32"
        return replace(node, length=last(shape).length, dtype=dtype)

    def node(self, value: SSAValue) -> Node:
        return self.made[value]

    def operand(self, value: SSAValue, shape: Shape) -> Node:
        """An operand that broadcasts to `shape`, whose rows are the group's."""
        splat = self.planner.splat(value)
        if splat is not None:
            return Number(1, value=splat, dtype="i1" if isinstance(splat, bool) else "f32")
        root = self.planner.root(value)
        if root.owner in self.group.inside:
            return self.inner(value, root)
        return self.load(value, (*self.group.leading, last(shape).length), shape)

    def row(self, value: SSAValue) -> Node:
        """An operand whose elements are the group's rows, in order."""
        root = self.planner.root(value)
        if root.owner in self.group.inside:
            return self.inner(value, root)
        shape = shape_of(value)
        rows = (*self.group.leading, prod(shape) // prod(self.group.leading))
        return self.load(value, rows, shape, whole=True)

    def inner(self, value: SSAValue, root: SSAValue) -> Node:
        """A value that the group makes, or part of its row."""
        node, start = self.made[root], self.group.cut(value)
        assert start is not None
        length = last(shape_of(value)).length
        return node if node.length == length else Slice(length, (node,), node.dtype, start)

    def load(self, value: SSAValue, rows: Shape, shape: Shape, whole: bool = False) -> Node:
        """An input: a value that broadcasts to `shape`, whose elements are those of `rows`, in order.

        One that is the same all along its row is loaded as one element, but for who needs the `whole` of it.
        """
        if (value, rows, whole) not in self.loads:
            given = self.planner.value(value)
            seen = reshaped(expanded(given, shape), rows)
            if seen is None or (rows[-1] != 1 and seen.strides[-1] not in (0, 1)):
                given = self.planner.contiguous(given)
                seen = reshaped(expanded(given, shape), rows)
            if seen is None or (whole and rows[-1] != 1 and seen.strides[-1] == 0):
                seen = reshaped(self.planner.contiguous(expanded(given, shape)), rows)
            assert seen is not None
            seen = one_sized(seen)
            dtype = "i1" if seen.dtype is dt.Bool else "f32"
            self.loads[value, rows, whole] = Load(seen.shape[-1], (), dtype, len(self.inputs))
            self.inputs.append(seen)
        return self.loads[value, rows, whole]
