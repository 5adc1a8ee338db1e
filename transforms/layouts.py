"""Memory formats, `aten`'s word for how a tensor lies in memory, and the orders of dimensions that edge has in their place.

`dialects/dim_order_ops.py` says what they mean. `aten-to-edge` makes the one the other; here are the ways back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_exir.dialects.arguments import MEMORY_FORMATS
from xdsl_exir.dialects.builder import Builder, Results, meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.shapes.layout import ATEN_OPERATORS, dim_order, memory_format
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern, apply_once

COPY = "dim_order_ops._clone_dim_order"
IN_ORDER = {"aten.contiguous": COPY, **{name: ours for ours, name in ATEN_OPERATORS.items()}}
"""Operators of ATen whose memory format is an order of dimensions in edge."""


def in_order_of(op: OperatorOp) -> str | None:
    """The operator that takes an order where this one takes a memory format. ExecuTorch has none for computed sizes."""
    static = all(is_tensor_type(operand.type) for operand in op.operands)
    return IN_ORDER.get(op.SPEC.qualified_name) if static else None


def order_of(op: OperatorOp, arguments: Mapping[str, Any]) -> list[int] | None:
    """The order of dimensions that an operator's memory format wishes for; None if there is no wish.

    Raises `ExirError` for channels last of a tensor that has no channels.
    """
    wish: str | int | None = arguments.get("memory_format")
    if wish is None:
        return None
    # Schemas give the default by its number.
    return dim_order(wish if isinstance(wish, str) else MEMORY_FORMATS[wish], meta(op.results[0]).ndim)


class InATen(OperatorPattern):
    """Puts the operator of ATen in place of one that takes an order.

    With `formats` that says the order as a memory format; without, what changes nothing else goes.
    """

    def __init__(self, formats: bool):
        self.formats = formats

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        name = ATEN_OPERATORS.get(op.SPEC.qualified_name)
        if name is None:
            return KEEP
        if not self.formats and list(op.operand_types) == list(op.result_types):
            return [*op.operands]
        target, given = builder.dialect[name], op.arguments()
        order: list[int] | None = given["dim_order"]
        arguments = {slot.name: given.get(slot.name) for slot in target.SLOTS.slots}
        if self.formats and order is not None:
            try:
                arguments["memory_format"] = memory_format(order)
            except ExirError as error:
                raise UnsupportedError([Unsupported(op.name, str(error), location_text(op))]) from None
        return builder.build(target, target.SLOTS.bind((), arguments), op.result_types)


@dataclass(frozen=True)
class ForgetLayouts(ModulePass):
    """Takes away what only says how tensors lie in memory: who chooses layouts himself has no use for it."""

    name = "forget-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_once(op, InATen(formats=False))


@dataclass(frozen=True)
class ToMemoryFormats(ModulePass):
    """Says in ATen's words how tensors lie in memory, for programs that go back to PyTorch.

    Raises `UnsupportedError` for an order that is no memory format.
    """

    name = "to-memory-formats"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_once(op, InATen(formats=True))
