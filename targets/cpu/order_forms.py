"""What stands at a place of an order, in the form that kernels take: of short rows a sort, and what is taken from it (`selections` has the others).

    median(x, -1)                  becomes    sort(x, -1) at (n - 1) / 2, but at the first NaN where there is one
    mode(x, -1)                    becomes    sort(x, -1) where the longest run of equal elements ends

NaN comes last in an order, so its last element says whether there is one. Sorts are stable: of equal elements the one that stands first counts.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, cast, meta
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import prod
from xdsl_exir.targets.cpu.kernels.selections import LEAST, MOST
from xdsl_exir.targets.cpu.row_forms import Arguments, Form
from xdsl_exir.targets.cpu.scan_forms import MOST_PLACES
from xdsl_exir.transforms.matching import static
from xdsl_exir.transforms.patterns import KEEP

SORTED = frozenset({dt.Float, dt.Double, dt.Half, dt.BFloat16, dt.Int, dt.Long, dt.Short, dt.Char, dt.Byte})


def is_sortable(x: SSAValue) -> bool:
    """Whether there is something to sort, and it is known how much."""
    shape = static(meta(x).shape)
    return bool(shape) and 0 not in shape


def is_selected(x: SSAValue, dim: int | None) -> bool:
    """Whether a kernel finds one element of an order, of all or along a dimension, in less time than it takes to sort."""
    shape = meta(x).shape
    if not shape or 0 in shape:
        return False
    size = prod(shape) if dim is None else shape[dim]
    return not isinstance(size, int) or LEAST <= size < MOST


def ordered(aten: Namespace, x: SSAValue, dim: int) -> tuple[SSAValue, SSAValue]:
    values, places = aten.sort.stable(x, stable=True, dim=dim, descending=False)
    return values, places


def median(aten: Namespace, a: Arguments, numbers_only: bool) -> Results:
    """The lower of two middle elements; of all, or along a dimension."""
    x, dim, keepdim = a["self"], a.get("dim"), a.get("keepdim", False)
    if not is_sortable(x) or is_selected(x, dim):
        return KEEP
    if dim is None:
        x, dim = aten.view(x, [-1]), 0
    values, places = ordered(aten, x, dim)
    size = meta(x).shape[dim]
    assert isinstance(size, int)
    if meta(x).dtype.category is Category.FLOAT:
        missing = aten.sum.dim_IntList(aten.isnan(values), [dim], True, dtype=dt.Long)
        left = aten.sub.Tensor(size, missing)
        lower = aten.bitwise_right_shift.Tensor(aten.clamp(aten.sub.Tensor(left, 1), 0), 1)
        if not numbers_only:
            lower = aten.where.self(aten.gt.Tensor(missing, 0), left, lower)
        found = [aten.gather(result, dim, lower) for result in (values, places)]
    else:
        middle = (size - 1) // 2
        found = [aten.slice.Tensor(result, dim, middle, middle + 1) for result in (values, places)]
    if not keepdim:
        found = [aten.squeeze.dims(result, [dim]) for result in found]
    return tuple(found) if "dim" in a else found[0]


def mode(aten: Namespace, a: Arguments) -> Results:
    """The most frequent element, the least of several, and where it stands last. Places in a row are float32 numbers here, which kernels of rows take."""
    x, shape = a["self"], static(meta(a["self"]).shape)
    if shape is None or not is_sortable(x):
        return KEEP
    dim: int = a["dim"] % len(shape)
    size = shape[dim]
    if not 1 < size <= MOST_PLACES:
        return KEEP
    # Along the last dimension, which scans and searches go along.
    order = [*(at for at in range(len(shape)) if at != dim), dim]
    rows = x if dim == len(shape) - 1 else aten.clone(aten.permute(x, order))
    values, places = ordered(aten, rows, -1)
    positions = aten.arange.start_step(0, size, dtype=dt.Float)
    before, after = (aten.slice.Tensor(values, -1, at, at + size - 1) for at in range(2))
    begins = aten.mul.Tensor(
        cast(aten, aten.ne.Tensor(after, before), dt.Float), aten.slice.Tensor(positions, 0, 1, size)
    )
    begun, _ = aten.cummax(aten.constant_pad_nd(begins, [1, 0]), -1)
    longest = aten.argmax(aten.sub.Tensor(positions, begun), -1, True)
    found = [aten.gather(result, -1, longest) for result in (values, places)]
    if a["keepdim"]:
        return tuple(aten.permute(result, [order.index(at) for at in range(len(shape))]) for result in found)
    return tuple(aten.squeeze.dims(result, [-1]) for result in found)


ORDER_FORMS: dict[str, Form] = {
    **{
        f"aten.{name}{overload}": Form(
            lambda aten, a, numbers_only=numbers_only: median(aten, a, numbers_only), SORTED, whole=True
        )
        for name, numbers_only in (("median", False), ("nanmedian", True))
        for overload in ("", ".dim")
    },
    "aten.mode": Form(mode, SORTED, whole=True),
}
"""By operator."""
