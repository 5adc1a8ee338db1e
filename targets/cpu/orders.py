"""Orders along a dimension, and the first few of one, as dispatches with kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, apply
from xdsl_exir.dialects.meta import as_meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.interpreter.introselect import sorts_by_steps
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.dispatches.views import reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.lowering.tensors import storage_type
from xdsl_exir.targets.cpu.dispatches import Schedule, seen_along
from xdsl_exir.targets.cpu.kernels import KthValue, Machine, Order, Sort, TopK
from xdsl_exir.targets.cpu.kernels.orders import Ordered
from xdsl_exir.targets.cpu.kernels.selections import MOST

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner

ORDERED = (dt.Float, dt.Double, dt.Half, dt.BFloat16, dt.Int, dt.Long, dt.Short, dt.Char, dt.Byte, dt.Bool)
"""Dtypes whose orders have kernels."""


def sort(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    a, source = op.arguments(), meta_of(op.operands[0])
    if not source.shape:
        return False
    by_steps = not a.get("stable") and sorts_by_steps(source.shape, a["dim"], source.dtype, a["descending"])
    make = Sort if by_steps else Order
    return order(planner, op, a["dim"], make, descending=a["descending"], machine=machine)


def topk(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    a = op.arguments()
    kind = {"descending": a["largest"], "is_sorted": a["sorted"]}
    return order(planner, op, a["dim"], TopK, machine=machine, **kind)


def kthvalue(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    a = op.arguments(lambda value: as_meta(value.type))
    return order(planner, op, a["dim"], KthValue, 1, start=a["k"] - 1, machine=machine)


def has_places(planner: Planner, size: Dim) -> bool:
    """Whether there are so few elements along a dimension that kernels can say where they stand; of a symbolic size that is checked."""
    if isinstance(size, int):
        return size < MOST
    planner.require(apply("lt", size, MOST), f"{size} elements along a dimension are too many to order")
    return True


def order(
    planner: Planner,
    op: OperatorOp,
    dim: int,
    make: Callable[..., Ordered],
    count: Dim | None = None,
    **kind: Any,
) -> bool:
    """Elements in order along a dimension, as many as the results have if it is not said, and where they stood."""
    source = op.operands[0]
    shape, results, dtype = shape_of(source), shape_of(op.results[0]), meta_of(source).dtype
    if not shape or dtype not in ORDERED or 0 in (*shape, *results):
        return False
    outer, size, inner = seen_along(shape, dim)
    count = results[dim] if count is None else count
    if not has_places(planner, size):
        return False
    unsigned = dtype in (dt.Byte, dt.Bool)
    kernel = make(outer, size, inner, count, str(storage_type(dtype)), unsigned=unsigned, **kind)
    given = reshaped(planner.contiguous(planner.value(source)), (outer, size, inner))
    made = [reshaped(planner.make(result), (outer, count, inner)) for result in op.results]
    arguments = [given, planner.allocate(kernel.scratch, dt.Long), *made]
    known = [value for value in arguments if value is not None]
    assert len(known) == len(arguments)
    planner.call_kernel(kernel, known, lambda: Outline(planner, [op], True).body(known, op.results), [op])
    return True


ORDER_SCHEDULES: dict[str, tuple[str | None, Schedule]] = {
    "aten.sort": (Order.__name__, sort),
    "aten.sort.stable": (Order.__name__, sort),
    "aten.topk": (TopK.__name__, topk),
    "aten.kthvalue": (KthValue.__name__, kthvalue),
}
"""By operator."""
