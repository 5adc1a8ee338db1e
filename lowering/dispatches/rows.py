"""Groups of operators that work row by row: elementwise ones, and reductions over the last dimension, as one dispatch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.lowering.dispatches.buffers import Shape, Value
from xdsl_exir.lowering.dispatches.elements import elementwise
from xdsl_exir.lowering.dispatches.epilogues import input_of
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.dispatches.views import RENAMES, expanded, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.schedules.description import Elementwise
from xdsl_exir.lowering.schedules.rows import (
    Concat,
    Gather,
    Load,
    Map,
    Node,
    Number,
    Reduce,
    Rows,
    Slice,
    needed,
)
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

Build = Callable[["Builder", OperatorOp, dict[str, Any]], Sequence[int | None]]
"""From an operator's arguments, tensors as SSA values, to its results' nodes, by position; None for results that are not made."""


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


def reduction(kind: str) -> Build:
    return lambda b, op, a: [b.reduce(kind, b.row(a["self"]))]


def _any(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[int | None]:
    numbers = b.apply("aten.where.self", b.row(a["self"]), b.number(1.0), b.number(0.0))
    most = b.reduce("max", numbers)
    return [b.apply("aten.gt.Tensor", most, b.number(0.0), dtype="i1")]


def _softmax(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[int | None]:
    x = b.row(a["self"])
    powers = b.apply("aten.exp", b.apply("aten.sub.Tensor", x, b.reduce("max", x)))
    return [b.apply("aten.div.Tensor", powers, b.reduce("add", powers))]


def _layer_norm(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[int | None]:
    x = b.row(a["input"])
    centered = b.apply("aten.sub.Tensor", x, b.reduce("mean", x))
    variance = b.reduce("mean", b.apply("aten.mul.Tensor", centered, centered))
    shifted = b.apply("aten.add.Tensor", variance, b.number(a["eps"]))
    result = b.apply("aten.mul.Tensor", centered, b.apply("aten.rsqrt", shifted))
    for name, with_ in (("weight", "aten.mul.Tensor"), ("bias", "aten.add.Tensor")):
        if a[name] is not None:
            result = b.apply(with_, result, b.operand(a[name], shape_of(op.results[0])))
    return [result, None, None]


def _cat(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[int | None]:
    sizes = [shape_of(value)[-1] for value in a["tensors"]]
    rows = zip(map(b.row, a["tensors"]), sizes, strict=True)
    # One number seen everywhere is a row like others here.
    parts = [row if b.nodes[row].length == size else b.add(Map(size, (row,))) for row, size in rows]
    length = shape_of(op.results[0])[-1]
    return [b.add(Map(length, (b.add(Concat(length, tuple(parts))),)))]


def _embedding(b: Builder, op: OperatorOp, a: dict[str, Any]) -> Sequence[int | None]:
    table = b.planner.contiguous(b.planner.value(a["weight"]))
    index = b.planner.contiguous(b.planner.value(a["indices"]))
    index = must(reshaped(index, (*b.group.leading, 1)))
    b.inputs += [table, index]
    return [b.add(Gather(table.shape[-1], input=len(b.inputs) - 2, index=len(b.inputs) - 1))]


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
    if not planner.boundaries.takes(op, Rows.__name__):
        return None
    if elementwise(op, arguments) is not None:
        shape = shape_of(op.results[0])
        # A size that a guard fixes may be an expression in one place and a number in another: those are no rows of one length.
        sizes = {size for operand in op.operands for size in shape_of(operand)[-1:]}
        space = last(shape) if sizes <= {1, *shape[-1:]} else None
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
        program, results = needed(builder.nodes, [builder.made[value] for value in outputs])
        leading, length = self.leading, lengthwise([program[n].length for n in results])
        inputs = builder.inputs
        kernel = Rows(leading, tuple(map(input_of, inputs)), program, results, self.planner.machine)
        if is_static((*leading, length)) and self.is_elementwise(length):
            kernel, inputs = collapsed(kernel, inputs, length)
        scratch = [self.planner.scratch(kernel.scratch)] if kernel.scratch else []
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

    def is_elementwise(self, length: Dim) -> bool:
        """Whether all elements are computed alike."""
        return all(
            op.SPEC.qualified_name not in ROW_OPS and last(shape_of(op.results[0])).length == length
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


def one_sized(value: Value) -> Value:
    """A value with size 1 where it repeats."""
    sizes = tuple(n if s else 1 for n, s in zip(value.shape, value.strides, strict=True))
    return replace(value, shape=sizes)


class Builder:
    """Makes a group's nodes."""

    def __init__(self, planner: Planner, group: RowGroup):
        self.planner, self.group = planner, group
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

    def number(self, value: float | bool) -> int:
        return self.add(Number(1, value=value, dtype="i1" if isinstance(value, bool) else "f32"))

    def reduce(self, kind: str, row: int) -> int:
        return self.add(Reduce(1, (row,), kind=kind))

    def apply(self, operator: str, *operands: int, dtype: Literal["f32", "i1"] = "f32") -> int:
        """An elementwise operator on nodes."""
        length = lengthwise([self.nodes[operand].length for operand in operands])
        codes = "".join("b" if self.nodes[operand].dtype == "i1" else "f" for operand in operands)
        element = Elementwise(operator, operands=codes if "b" in codes else "")
        return self.add(Map(length, operands, dtype, element))

    def operator(self, op: OperatorOp) -> None:
        entry = ROW_OPS.get(op.SPEC.qualified_name)
        nodes = entry.build(self, op, op.arguments()) if entry is not None else [self.elementwise(op)]
        for result, node in zip(op.results, nodes, strict=True):
            if node is not None:
                self.made[result] = node

    def elementwise(self, op: OperatorOp) -> int:
        shape = shape_of(op.results[0])
        found = elementwise(op, self.planner.arguments_of(op))
        assert found is not None
        element, tensors = found
        operands = tuple(self.operand(tensor, shape) for tensor in tensors)
        dtype = "i1" if meta_of(op.results[0]).dtype is dt.Bool else "f32"
        return self.add(Map(last(shape).length, operands, dtype, element))

    def operand(self, value: SSAValue, shape: Shape) -> int:
        """An operand that broadcasts to `shape`, whose rows are the group's."""
        splat = self.planner.splat(value)
        if splat is not None:
            return self.number(splat)
        root = self.planner.root(value)
        if root.owner in self.group.inside:
            return self.inner(value, root)
        return self.load(value, (*self.group.leading, last(shape).length), shape)

    def row(self, value: SSAValue) -> int:
        """An operand whose elements are the group's rows, in order."""
        root = self.planner.root(value)
        if root.owner in self.group.inside:
            return self.inner(value, root)
        shape = shape_of(value)
        rows = (*self.group.leading, prod(shape) // prod(self.group.leading))
        return self.load(value, rows, shape, whole=True)

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
            if seen is None or (rows[-1] != 1 and seen.strides[-1] not in (0, 1)):
                given = self.planner.contiguous(given)
                seen = reshaped(expanded(given, shape), rows)
            if seen is None or (whole and rows[-1] != 1 and seen.strides[-1] == 0):
                seen = reshaped(self.planner.contiguous(expanded(given, shape)), rows)
            assert seen is not None
            seen = one_sized(seen)
            dtype = "i1" if seen.dtype is dt.Bool else "f32"
            self.loads[value, rows, whole] = self.add(Load(seen.shape[-1], (), dtype, len(self.inputs)))
            self.inputs.append(seen)
        return self.loads[value, rows, whole]
