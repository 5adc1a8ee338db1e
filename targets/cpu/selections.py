"""What stands in the middle of an order, as a dispatch that does not sort: medians of rows that are not short."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.dispatches.views import reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.lowering.tensors import storage_type
from xdsl_exir.targets.cpu.dispatches import Schedule, seen_along
from xdsl_exir.targets.cpu.kernels import Machine, Select
from xdsl_exir.targets.cpu.order_forms import is_selected
from xdsl_exir.targets.cpu.orders import ORDERED, has_places

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner


def selection(planner: Planner, op: OperatorOp, machine: Machine, numbers: bool) -> bool:
    """The lower one of the middle of all elements or of those along a dimension, and where it stands."""
    a, source = op.arguments(), op.operands[0]
    shape, dtype, dim = shape_of(source), meta_of(source).dtype, a.get("dim")
    if not is_selected(source, dim) or dtype not in ORDERED:
        return False
    outer, size, inner = (1, prod(shape), 1) if dim is None else seen_along(shape, dim)
    if not has_places(planner, size):
        return False
    unsigned = dtype in (dt.Byte, dt.Bool)
    kernel = Select(outer, size, inner, str(storage_type(dtype)), numbers, unsigned, machine)
    given = reshaped(planner.contiguous(planner.value(source)), (outer, size, inner))
    made = [reshaped(planner.make(result), (outer, 1, inner)) for result in op.results]
    if len(made) == 1:
        made.append(planner.allocate((outer, 1, inner), dt.Long))
    keys = planner.allocate(kernel.scratch, dt.Long if kernel.bits == 64 else dt.Int)
    arguments = [value for value in (given, keys, *made) if value is not None]
    assert len(arguments) == len(kernel.types)
    body = partial(Outline(planner, [op], True).body, arguments, op.results)
    planner.call_kernel(kernel, arguments, body, [op])
    return True


SELECT_SCHEDULES: dict[str, tuple[str | None, Schedule]] = {
    f"aten.{median}{along}": (Select.__name__, partial(selection, numbers=median == "nanmedian"))
    for median in ("median", "nanmedian")
    for along in ("", ".dim")
}
"""By operator."""
