"""`batch-matmuls`: products become one product, of which each takes its part: those of one matrix with several weights, and those of one shape.

    x @ a, x @ b        become        x @ cat([a, b], 1), sliced
    x @ a, y @ b        become        bmm(stack([x, y]), stack([a, b])), an index each

What puts weights together is written as operators of state, for `fold-constants` to compute. A library may add up in another order for
another size: last bits may change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from xdsl_exir.dialects import aten, edge
from xdsl_exir.dialects.builder import Builder, Namespace, meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.program import methods_of
from xdsl_exir.transforms.fold_constants import is_of_state
from xdsl_exir.transforms.matching import known, static
from xdsl_exir.transforms.patterns import replace

Parts = list[SSAValue]
"""Each product's part of what they have become."""


def products(block: Block, *names: str) -> Iterator[OperatorOp]:
    """The products of these operators in a block, those whose parts are multiplied by a number aside."""
    for op in block.ops:
        if isinstance(op, OperatorOp) and op.SPEC.qualified_name in names:
            given = op.arguments()
            if known(given.get("beta", 1)) == known(given.get("alpha", 1)) == 1:
                yield op


def operands(op: OperatorOp) -> tuple[Any, Any, Any]:
    """The two matrices, and what is added."""
    given = op.arguments()
    if op.SPEC.qualified_name == "aten.addmm":
        return given["mat1"], given["mat2"], given["self"]
    return given["self"], given["mat2"], None


# --- one matrix with several weights -----------------------------------------------------------------------------


def of_one_matrix(block: Block) -> list[list[OperatorOp]]:
    """Products with weights of static size, by operator and first matrix."""
    found: dict[object, list[OperatorOp]] = {}
    for op in products(block, "aten.mm", "aten.addmm"):
        x, weight, bias = operands(op)
        whole = is_of_state(weight) and static(meta(weight).shape) is not None
        of_columns = bias is None or (is_of_state(bias) and meta(bias).shape == meta(weight).shape[1:])
        if whole and of_columns:
            found.setdefault((op.SPEC.qualified_name, x), []).append(op)
    return list(found.values())


def put_before(first: Operation, values: Sequence[SSAValue]) -> None:
    """Moves what values of state are made of before an operation, as far as it is not there."""
    made, todo = set[Operation](), [value.owner for value in values]
    while todo:
        op = todo.pop()
        if isinstance(op, Operation) and op not in made:
            made.add(op)
            todo += [operand.owner for operand in op.operands]
    block = first.parent
    assert block is not None
    after = dropwhile(lambda op: op is not first, list(block.ops))
    for op in filter(made.__contains__, after):
        op.detach()
        block.insert_op_before(op, first)


def side_by_side(at: Namespace, ops: Sequence[OperatorOp]) -> Parts:
    """One product with all the weights' columns."""
    x, weights, biases = zip(*map(operands, ops), strict=True)
    put_before(ops[0], [*weights, *(bias for bias in biases if bias is not None)])
    weight = at.cat(list(weights), 1)
    product = at.mm(x[0], weight) if biases[0] is None else at.addmm(at.cat(list(biases), 0), x[0], weight)
    start, parts = 0, Parts()
    for each in weights:
        [columns] = static(meta(each).shape[1:]) or [0]
        parts.append(at.slice.Tensor(product, 1, start, start + columns))
        start += columns
    return parts


# --- products of one shape ---------------------------------------------------------------------------------------


def adds_apart(op: OperatorOp) -> bool:
    """Whether a product may be rounded before something is added: a number for each column, and no half precision."""
    _, weight, bias = operands(op)
    return bias is None or (meta(bias).shape == meta(weight).shape[1:] and meta(bias).dtype.bits >= 32)


def of_one_shape(block: Block) -> list[list[OperatorOp]]:
    """Products of operands of the same types, which are there before the first of them is computed."""
    place: dict[Operation, int] = {op: index for index, op in enumerate(block.ops)}
    found: dict[object, list[list[OperatorOp]]] = {}
    for op in products(block, "aten.mm", "aten.addmm"):
        if not adds_apart(op):
            continue
        known_from = max((place.get(value.owner, -1) for value in op.operands if isinstance(value.owner, Operation)), default=-1)  # fmt: skip
        types = tuple(value.type for value in op.operands)
        groups = found.setdefault((op.SPEC.qualified_name, types), [])
        group = next((group for group in groups if known_from < place[group[0]]), None)
        if group is None:
            groups.append([op])
        else:
            group.append(op)
    return [group for groups in found.values() for group in groups]


def stacked(at: Namespace, ops: Sequence[OperatorOp]) -> Parts:
    """One product of the matrices, one above the other."""
    first, second, biases = zip(*map(operands, ops), strict=True)
    product = at.bmm(at.stack(list(first)), at.stack(list(second)))
    if biases[0] is not None:
        product = at.add.Tensor(product, at.unsqueeze(at.stack(list(biases)), 1))
    return [at.select.int(product, 0, index) for index in range(len(ops))]


# -----------------------------------------------------------------------------------------------------------------

WAYS: tuple[tuple[Callable[[Block], list[list[OperatorOp]]], Callable[[Namespace, Sequence[OperatorOp]], Parts]], ...] = (
    (of_one_matrix, side_by_side),
    (of_one_shape, stacked),
)  # fmt: skip
"""Which products go together, and what they become, in the order in which they are looked for."""


def merge(ops: Sequence[OperatorOp], merged: Callable[[Namespace, Sequence[OperatorOp]], Parts]) -> None:
    """Puts one product in the place of the first of several, and its parts in theirs."""
    first = ops[0]
    builder = Builder((aten if first.NUMBERS else edge).OPERATORS, first, rewriter=PatternRewriter(first))
    parts = merged(Namespace(builder), ops)
    for op, part in zip(ops, parts, strict=True):
        own = Builder(builder.dialect, op, rewriter=PatternRewriter(op))
        replace(own, op, [part])


@dataclass(frozen=True)
class BatchMatmuls(ModulePass):
    """Merges products of one matrix with weights, and then those of one shape, in every method."""

    name = "batch-matmuls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in [function.body.block for function in methods_of(op).values()]:
            for groups, merged in WAYS:
                for ops in groups(block):
                    if len(ops) > 1:
                        merge(ops, merged)
