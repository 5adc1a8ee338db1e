"""Operators that move nothing: their result is another view of their operand's buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.shapes.slicing import from_start
from xdsl_exir.dialects.shapes.view import larger
from xdsl_exir.dialects.tensors import SymType
from xdsl_exir.lowering.body_types import PARTS, WHOLES
from xdsl_exir.lowering.dispatches.buffers import Shape, Value
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.sizes import quotient

View = Callable[[Value, Sequence[Shape], dict[str, Any]], list[Value | None]]
"""From the operand, the results' shapes and the operator's arguments to the results; None where elements must move."""

VIEWS: dict[str, View] = {}


def view(*names: str) -> Callable[[View], View]:
    """Registers how operators see their operand."""

    def register(function: View) -> View:
        VIEWS.update(dict.fromkeys(names, function))
        return function

    return register


def is_view(op: object) -> bool:
    """Whether an operation is one of these."""
    return isinstance(op, OperatorOp) and op.SPEC.qualified_name in VIEWS


def shapes_of(op: Operation) -> list[Shape]:
    """The shapes of an operation's results."""
    return [meta_of(result).shape for result in op.results]


def views_of(value: Value, op: OperatorOp) -> list[Value | None]:
    """The results of a view operator on a value. Their sizes are the results' own, which a guard may say otherwise than arguments."""
    shapes = shapes_of(op)
    views = VIEWS[op.SPEC.qualified_name](value, shapes, op.arguments(number_of))
    return [
        view if view is None or view.shape == shape else replace(view, shape=shape)
        for view, shape in zip(views, shapes, strict=True)
    ]


def number_of(value: SSAValue) -> Any:
    """What a view operator gets for an operand: a symbolic number's expression."""
    return value.type.data if isinstance(value.type, SymType) else value


RENAMES = (
    "aten.view",
    "aten.view_copy",
    "aten._unsafe_view",
    "aten.unsqueeze",
    "aten.squeeze.dims",
    "aten.squeeze.dim",
    "aten.squeeze",
    "aten.clone",
    "aten.alias",
)
"""Operators whose result has its operand's elements in the same order."""


@view(*(name for name in RENAMES if name not in ("aten.clone", "aten.alias")))
def _rename(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    return [reshaped(value, shapes[0])]


def reshaped(value: Value, shape: Shape) -> Value | None:
    """The same elements in another shape, or None if no strides say so.

    A run of the operand's dimensions that lie without gaps is cut into those of the result, from the last one on.
    """
    if value.shape == shape:
        return value
    if 0 in shape:
        return Value(value.buffer, shape, value.dtype)
    if value.is_contiguous:
        return value.seen_as(shape)
    strides: list[Dim] = []
    wanted = list(reversed(shape))
    sources = [(n, s) for n, s in zip(value.shape, value.strides, strict=True) if n != 1]
    while sources:
        extent, step = sources.pop()
        size, stride = extent, step
        while sources and sources[-1][1] == size * stride:
            size *= sources.pop()[0]
        while wanted and (size != 1 or wanted[0] == 1):
            rest = quotient(size, wanted[0])
            if rest is None:
                return None
            strides.append(stride)
            stride *= wanted.pop(0)
            size = rest
        if size != 1:
            return None
    strides += [1] * len(wanted)
    return replace(value, shape=shape, strides=tuple(reversed(strides)))


@view("aten.clone", "aten.alias")
def _same(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    """The same elements, whose sizes may have other names."""
    if value.is_contiguous:
        return [value.seen_as(shapes[0])]
    return [replace(value, shape=shapes[0])]


@view("aten.permute", "aten.permute_copy")
def _permute(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    return [permuted(value, arguments["dims"])]


def permuted(value: Value, dims: Sequence[int]) -> Value:
    """Dimensions in another order, as torch.permute has it."""
    return replace(
        value, shape=tuple(value.shape[d] for d in dims), strides=tuple(value.strides[d] for d in dims)
    )


@view("aten.expand")
def _expand(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    return [expanded(value, shapes[0])]


def expanded(value: Value, shape: Shape) -> Value:
    """The value broadcast to a shape: repeated dimensions have stride 0."""
    lead = len(shape) - len(value.shape)
    strides: list[Dim] = [0] * lead + [
        0 if n == 1 and wanted != 1 else s
        for n, s, wanted in zip(value.shape, value.strides, shape[lead:], strict=True)
    ]
    return replace(value, shape=shape, strides=tuple(strides))


def part(value: Value, dim: int, start: Dim, size: Dim, step: Dim = 1) -> Value:
    """Some of a dimension and all of the others."""
    dim %= len(value.shape)
    shape, strides = list(value.shape), list(value.strides)
    offset = value.offset + (start * strides[dim] if size else 0)
    shape[dim], strides[dim] = size, strides[dim] * step
    return replace(value, shape=tuple(shape), strides=tuple(strides), offset=offset)


@view("aten.slice.Tensor")
def _slice(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    dim: int = arguments["dim"]
    start = larger(from_start(arguments["start"] or 0, value.shape[dim]), 0)
    return [part(value, dim, start, shapes[0][dim], arguments["step"])]


@view("aten.select.int")
def _select(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    dim: int = arguments["dim"] % len(value.shape)
    one = part(value, dim, from_start(arguments["index"], value.shape[dim]), 1)
    keep = [d for d in range(len(value.shape)) if d != dim]
    return [
        replace(one, shape=tuple(one.shape[d] for d in keep), strides=tuple(one.strides[d] for d in keep))
    ]


@view("aten.unfold")
def _unfold(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    """Windows, which may overlap. A number has one at most."""
    dim: int = arguments["dimension"]
    strides: list[Dim] = list(value.strides) or [1]
    between = strides[dim]
    strides[dim] = between * arguments["step"]
    return [replace(value, shape=shapes[0], strides=(*strides, between)[-len(shapes[0]) :])]


@view("aten.view_as_real")
def _view_as_real(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    strides = (*(2 * stride for stride in value.strides), 1)
    return [Value(value.buffer, shapes[0], PARTS[value.dtype], strides, 2 * value.offset)]


@view("aten.view_as_complex")
def _view_as_complex(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    """Pairs as complex numbers: they lie side by side, and whole pairs from each other."""
    *strides, between = value.strides
    halves = [quotient(step, 2) for step in (*strides, value.offset)]
    known = [half for half in halves if half is not None]
    if between != 1 or len(known) < len(halves):
        return [None]
    return [Value(value.buffer, shapes[0], WHOLES[value.dtype], tuple(known[:-1]), known[-1])]


@view("aten.split_with_sizes")
def _split(value: Value, shapes: Sequence[Shape], arguments: dict[str, Any]) -> list[Value | None]:
    start: Dim = 0
    parts: list[Value | None] = []
    for size in arguments["split_sizes"]:
        parts.append(part(value, arguments["dim"], start, size))
        start = start + size
    return parts
