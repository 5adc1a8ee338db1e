"""`batch-matmuls`: products of one matrix with several weights become one product, of which each takes its columns.

    x @ a, x @ b        become        x @ cat([a, b], 1), sliced

The weights put together are written as `cat` of state, for `fold-constants` to compute. A library may add up in another order for
another size: last bits may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter

from xdsl_exir.dialects import aten, edge
from xdsl_exir.dialects.builder import Builder, Namespace, meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.program import methods_of
from xdsl_exir.transforms.fold_constants import is_state
from xdsl_exir.transforms.matching import known, static
from xdsl_exir.transforms.patterns import replace


def products(block: Block) -> dict[object, list[OperatorOp]]:
    """The products of a block with weights of static size, by operator and first matrix."""
    found: dict[object, list[OperatorOp]] = {}
    for op in block.ops:
        if isinstance(op, OperatorOp) and op.SPEC.qualified_name in ("aten.mm", "aten.addmm"):
            given = op.arguments()
            x, weight, bias = operands(op)
            plain = known(given.get("beta", 1)) == known(given.get("alpha", 1)) == 1
            whole = is_state(weight) and static(meta(weight).shape) is not None
            of_columns = bias is None or (is_state(bias) and meta(bias).shape == meta(weight).shape[1:])
            if plain and whole and of_columns:
                found.setdefault((op.SPEC.qualified_name, x), []).append(op)
    return found


def operands(op: OperatorOp) -> tuple[Any, Any, Any]:
    """The two matrices, and what is added."""
    given = op.arguments()
    if op.SPEC.qualified_name == "aten.mm":
        return given["self"], given["mat2"], None
    return given["mat1"], given["mat2"], given["self"]


def merge(ops: Sequence[OperatorOp]) -> None:
    """Makes one product of several."""
    first = ops[0]
    builder = Builder((aten if first.NUMBERS else edge).OPERATORS, first, rewriter=PatternRewriter(first))
    at = Namespace(builder)
    x, weights, biases = zip(*map(operands, ops), strict=True)
    weight = at.cat(list(weights), 1)
    product = at.mm(x[0], weight) if biases[0] is None else at.addmm(at.cat(list(biases), 0), x[0], weight)
    start, parts = 0, list[Any]()
    for each in weights:
        [columns] = static(meta(each).shape[1:]) or [0]
        parts.append(at.slice.Tensor(product, 1, start, start + columns))
        start += columns
    for op, part in zip(ops, parts, strict=True):
        own = Builder(builder.dialect, op, rewriter=PatternRewriter(op))
        replace(own, op, [part])


@dataclass(frozen=True)
class BatchMatmuls(ModulePass):
    """Merges products of one matrix with weights, in every method."""

    name = "batch-matmuls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        blocks = [function.body.block for function in methods_of(op).values()]
        for ops in [ops for block in blocks for ops in products(block).values()]:
            if len(ops) > 1:
                merge(ops)
