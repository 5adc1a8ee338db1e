"""`lay-results`: what is computed element by element of turned operands, for a result that lies as they do, is computed of these as they lie.

    relu(permute(x)), to lie as x does    becomes    permute(relu(x))

A result says in which order its dimensions lie in memory, as PyTorch's do: those of what is computed by elements lie as its operands do. So
nothing is moved. Operands that repeat along dimensions are small, and turned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xdsl_exir.dialects import edge
from xdsl_exir.dialects.builder import Builder, Namespace, meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import OUTPUT, OutputAttr
from xdsl_exir.dialects.spec import BY_ELEMENTS
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_type
from xdsl_exir.transforms.canonicalizations.view import PERMUTES
from xdsl_exir.transforms.matching import is_tensor
from xdsl_exir.transforms.stages import EDGE, stage_of

Order = Sequence[int]


def inverse(order: Order) -> list[int]:
    return [order.index(dim) for dim in range(len(order))]


def order_of(value: SSAValue) -> list[int] | None:
    """The order of its dimensions in which what a value is computed of was before it was turned; None if it was not."""
    op = value.owner
    if isinstance(op, OperatorOp) and op.SPEC.qualified_name in PERMUTES:
        return inverse([dim % meta(value).ndim for dim in op.arguments()["dims"]])
    made = by_elements(value)
    found = [] if made is None else [order_of(operand) for operand in made.operands]
    return next((order for order in found if order is not None and len(order) == meta(value).ndim), None)


def agree(one: Order, other: Order, value: SSAValue) -> bool:
    """Whether two orders of a value's dimensions are one in memory, where those of one element are anywhere."""
    shape = meta(value).shape
    longer, others = ([dim for dim in order if shape[dim] != 1] for order in (one, other))
    return longer == others


def turned(value: SSAValue, order: Order) -> SSAValue | None:
    """What a value is whose dimensions are put in this order, if it was turned from that."""
    op = value.owner
    if not isinstance(op, OperatorOp) or op.SPEC.qualified_name not in PERMUTES:
        return None
    rank = len(order)
    dims: list[int] = op.arguments()["dims"]
    return op.operands[0] if [dims[dim] % rank for dim in order] == list(range(rank)) else None


def by_elements(value: SSAValue) -> OperatorOp | None:
    """What computes a value element by element, of tensors, for one user alone."""
    op = value.owner
    if not isinstance(op, OperatorOp) or op.SPEC.family not in BY_ELEMENTS or len(op.results) != 1:
        return None
    tensors = all(is_tensor(operand) for operand in op.operands)
    return op if tensors and op.operands and value.has_one_use() else None


def lies(value: SSAValue, order: Order) -> bool:
    """Whether a value is computed of what lies in this order of its dimensions."""
    if turned(value, order) is not None:
        return True
    op, shape = by_elements(value), meta(value).shape
    return (
        op is not None
        and all(meta(operand).shape != shape or lies(operand, order) for operand in op.operands)
        and any(meta(operand).shape == shape for operand in op.operands)
    )


def laid(value: SSAValue, order: Order) -> SSAValue:
    """The value with its dimensions in this order; it is computed of what lies so."""
    if (source := turned(value, order)) is not None:
        return source
    op, shape = by_elements(value), meta(value).shape
    assert op is not None
    aten = Namespace(Builder(edge.OPERATORS, op))

    def small(operand: SSAValue) -> SSAValue:
        missing = len(shape) - meta(operand).ndim
        for _ in range(missing if meta(operand).ndim else 0):
            operand = aten.unsqueeze(operand, 0)
        return aten.permute(operand, list(order)) if meta(operand).ndim else operand

    operands = [
        laid(operand, order) if meta(operand).shape == shape else small(operand) for operand in op.operands
    ]
    type = tensor_type(tuple(shape[dim] for dim in order), meta(value).dtype, device=meta(value).device)
    made = op.create(
        operands=operands,
        result_types=[type],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    made.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(made, op)
    return made.results[0]


@dataclass(frozen=True)
class LayResults(ModulePass):
    """Computes results as they are to lie in memory, where their operands lie so."""

    name = "lay-results"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if stage_of(op) not in EDGE:
            return
        for function in op.ops:
            if isinstance(function, FuncOp) and not function.is_declaration:
                lay_results(function)


def lay_results(function: FuncOp) -> None:
    returned = function.get_return_op()
    assert returned is not None
    for position, attrs in enumerate(function.res_attrs or ()):
        spec, value = attrs.data.get(OUTPUT), returned.operands[position]
        said = spec.data.dim_order if isinstance(spec, OutputAttr) else None
        if said is None or not is_tensor_type(value.type) or by_elements(value) is None:
            continue
        order = order_of(value)
        if order is not None and agree(order, said, value) and lies(value, order):
            aten = Namespace(Builder(edge.OPERATORS, returned))
            made = aten.permute(laid(value, order), inverse(order))
            op = value.owner
            returned.operands[position] = made
            erase_unused(op)


def erase_unused(op: object) -> None:
    """Erases an operation that nothing uses, and what it alone used."""
    if isinstance(op, OperatorOp) and not any(result.uses for result in op.results):
        owners = [operand.owner for operand in op.operands]
        op.detach()
        op.erase()
        for owner in dict.fromkeys(owners):
            erase_unused(owner)
