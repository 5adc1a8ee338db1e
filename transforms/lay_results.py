"""`lay-results`: what is computed element by element of turned operands, for a result that lies as they do, is computed of these as they lie.

    relu(permute(x)), to lie as x does    becomes    permute(relu(x))

A result says in which order its dimensions lie in memory, as PyTorch's do: those of what is computed by elements lie as its operands do. So
nothing is moved. Operands that repeat along dimensions are small, and turned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    waiting, rank = [value], meta(value).ndim
    while waiting:
        one = waiting.pop()
        op = one.owner
        if isinstance(op, OperatorOp) and op.SPEC.qualified_name in PERMUTES:
            if len(dims := op.arguments()["dims"]) == rank:
                return inverse([dim % rank for dim in dims])
        elif (made := by_elements(one)) is not None:
            waiting += reversed(made.operands)
    return None


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


def lying(value: SSAValue, order: Order) -> list[OperatorOp] | None:
    """What computes a value of what lies in this order of its dimensions, users before what they use; None if it is computed of anything else."""
    made: list[OperatorOp] = []
    waiting, shape = [value], meta(value).shape
    while waiting:
        one = waiting.pop()
        if turned(one, order) is not None:
            continue
        op = by_elements(one)
        whole = [] if op is None else [operand for operand in op.operands if meta(operand).shape == shape]
        if op is None or not whole:
            return None
        made.append(op)
        waiting += whole
    return made


def laid(made: Sequence[OperatorOp], order: Order) -> SSAValue:
    """The value that the first of these computes, with its dimensions in this order."""
    found: dict[SSAValue, SSAValue] = {}
    for op in reversed(made):
        found[op.results[0]] = laid_by(op, order, found)
    return found[made[0].results[0]]


def laid_by(op: OperatorOp, order: Order, found: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """What an operation computes, with its dimensions in this order; `found` are its operands that are so."""
    value = op.results[0]
    aten, shape = Namespace(Builder(edge.OPERATORS, op)), meta(value).shape

    def operand_of(operand: SSAValue) -> SSAValue:
        if meta(operand).shape == shape:
            source = turned(operand, order)
            return found[operand] if source is None else source
        if not meta(operand).ndim:
            return operand
        for _ in range(len(shape) - meta(operand).ndim):
            operand = aten.unsqueeze(operand, 0)
        return aten.permute(operand, list(order))

    type = tensor_type(tuple(shape[dim] for dim in order), meta(value).dtype, device=meta(value).device)
    made = op.create(
        operands=list(map(operand_of, op.operands)),
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
        if order is None or not agree(order, said, value):
            continue
        if made := lying(value, order):
            aten = Namespace(Builder(edge.OPERATORS, returned))
            returned.operands[position] = aten.permute(laid(made, order), inverse(order))
            for op in made:
                erase_with_views(op)


def erase_with_views(op: OperatorOp) -> None:
    """Erases an operation that nothing uses, and what it alone turned."""
    operands = list(op.operands)
    op.detach()
    op.erase()
    for turns in dict.fromkeys(operand.owner for operand in operands if not operand.uses):
        if isinstance(turns, OperatorOp) and turns.SPEC.qualified_name in PERMUTES:
            turns.detach()
            turns.erase()
