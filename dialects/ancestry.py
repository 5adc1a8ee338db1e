"""What operations and values descend from: the nodes of the graph that PyTorch exported, and the modules that called them.

Every operation says so in `exir.origin`, through every pass. What the last operation of a node gives stands for the
node's value, whatever the node became.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from xdsl.dialects.builtin import LocationAttr, NameLoc, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects.signature import INPUT, ORIGIN, InputAttr, InputKind, Origin, OriginAttr

Place: TypeAlias = tuple[str, int]
"""A value of the exported graph: the node that gives it (see `input_place` for inputs), and which of its results it is."""


def origin_of(op: Operation) -> Origin | None:
    """What an operation descends from; None where that is not known."""
    attr = op.attributes.get(ORIGIN)
    return attr.data if isinstance(attr, OriginAttr) else None


def descent_of(op: Operation) -> LocationAttr:
    """An operation's location under the name of what it descends from: `loc("linear_3 aten.linear layers.0.ff"(...))`.

    It is for upstream MLIR, which takes names in locations, but no attribute `exir.origin`.
    """
    origin = origin_of(op)
    if origin is None:
        return op.location
    return NameLoc(
        StringAttr(" ".join(filter(None, (origin.node, origin.operator, origin.module)))), op.location
    )


def input_place(kind: str, target: str) -> Place:
    """An input of the graph: a user's by its name, others by what they are: `parameter fc.weight`."""
    return target if kind == InputKind.USER_INPUT.value else f"{kind} {target}", 0


def calls_of(ops: Iterable[Operation]) -> dict[str, list[Operation]]:
    """The operations of each call of a module."""
    calls: dict[str, list[Operation]] = {}
    for op in ops:
        if (origin := origin_of(op)) is not None:
            for call in origin.calls().values():
                calls.setdefault(call, []).append(op)
    return calls


def places_of(function: FuncOp) -> dict[Place, SSAValue]:
    """The values that stand for those of the exported graph."""
    places: dict[Place, SSAValue] = {}
    block = function.body.block
    for value, attrs in zip(block.args, function.arg_attrs or (), strict=False):
        if isinstance(attr := attrs.data.get(INPUT), InputAttr):
            places[input_place(attr.data.kind.value, attr.data.target)] = value
    for op in block.ops:
        if (origin := origin_of(op)) is not None:
            places |= {(origin.node, index): value for index, value in enumerate(op.results)}
    return places
