"""What of a program takes the slow road: dispatches that no kernel is written for, which MLIR makes plain loops of, and their estimated share of a call.

The estimate is coarse, to say what matters: kernels move memory, or multiply and add, at rates of vectors; loops take a number at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.errors import Unsupported
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.dispatches.boundaries import Formed
from xdsl_exir.lowering.sizes import typical

BYTES, PRODUCTS, NUMBERS = 1e10, 5e10, 1e9
"""A second: bytes that kernels move, operations of their products, numbers that loops look at."""
NOTICEABLE = 0.01
"""The share from which on something is told."""


@dataclass(frozen=True)
class Cost:
    """What a dispatch is estimated to take, in seconds."""

    formed: Formed
    seconds: float


def slow_paths(dispatches: Iterable[Formed]) -> list[Unsupported]:
    """The dispatches of a method that no kernel is written for, largest share first, each with its operators and where the last comes from."""
    costs = [Cost(formed, estimate(formed)) for formed in dispatches]
    total = sum(cost.seconds for cost in costs)
    slow = [cost for cost in costs if cost.formed.kernel is None and cost.seconds >= NOTICEABLE * total > 0]
    return [
        Unsupported(
            names(cost.formed.ops),
            f"no kernel is written for it: about {cost.seconds / total:.0%} of a call",
            location_text(cost.formed.ops[-1]),
        )
        for cost in sorted(slow, key=lambda cost: -cost.seconds)
    ]


def names(ops: Sequence[Operation]) -> str:
    """The operators of a dispatch, each once."""
    found = [op.SPEC.qualified_name if isinstance(op, OperatorOp) else op.name for op in ops]
    return ", ".join(dict.fromkeys(found))


def estimate(formed: Formed) -> float:
    """Seconds of a dispatch."""
    work = [products(op) for op in formed.ops]
    if formed.kernel is not None:
        outside = [value for op in formed.ops for value in (*op.operands, *op.results)]
        return max(sum(nbytes(value) for value in outside) / BYTES, sum(work) / PRODUCTS)
    looked_at = sum(max(map(count, (*op.operands, *op.results)), default=0.0) for op in formed.ops)
    return (looked_at + sum(work)) / NUMBERS


def products(op: Operation) -> float:
    """Operations of a product of matrices or a convolution."""
    if not isinstance(op, OperatorOp):
        return 0.0
    arguments, result = op.arguments(), op.results[0] if op.results else None
    match op.SPEC.qualified_name:
        case "aten.mm" | "aten.bmm":
            return 2 * count(op.results[0]) * typical(tensor_meta(op.operands[0].type).shape[-1])
        case "aten.addmm" | "aten.baddbmm":
            first = arguments["mat1" if "mat1" in arguments else "batch1"]
            return 2 * count(op.results[0]) * typical(tensor_meta(first.type).shape[-1])
        case "aten.convolution" if result is not None:
            weight = tensor_meta(arguments["weight"].type).shape
            seen = op.operands[0] if arguments["transposed"] else result
            return 2 * count(seen) * typical(prod(weight[1:]))
        case _:
            return 0.0


def count(value: SSAValue) -> float:
    """Elements of a tensor."""
    return typical(prod(tensor_meta(value.type).shape)) if is_tensor_type(value.type) else 0.0


def nbytes(value: SSAValue) -> float:
    return count(value) * tensor_meta(value.type).dtype.itemsize if is_tensor_type(value.type) else 0.0
