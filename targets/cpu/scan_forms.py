"""Scans and searches in the forms that kernels take: in a dtype that has some, along rows.

cumsum(x: i8, 0) -> i64        becomes    cumsum(_to_copy(x) -> i32, 0) -> i64
logcumsumexp(x, -1)            becomes    permute(logcumsumexp(permute(x), 0))
argmax(x, -1)                  becomes    amin(where(x == amax(x, -1, True), arange(n), n), -1)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, cast, flat_results, meta
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.targets.cpu.row_forms import SHORT, Arguments, Form
from xdsl_exir.transforms.matching import static
from xdsl_exir.transforms.patterns import KEEP

MOST_PLACES = 2**24
"""Places that float32 tells apart."""
SHORT_INTEGERS = dict.fromkeys((dt.Short, dt.Char, dt.Byte, dt.Bool), dt.Int)
"""And what has kernels in their place."""
SEARCHED = {
    **dict.fromkeys((dt.Float, dt.Half, dt.BFloat16), dt.Float),
    **SHORT_INTEGERS,
    dt.Int: dt.Int,
    dt.Double: dt.Double,
    dt.Long: dt.Long,
}
"""In which dtype extremes are searched for."""
COUNTED = {dt.Int: dt.Float, dt.Long: dt.Double}
"""In which places are counted, where that is another one, as wide: rows of integers have no reductions."""


def place_of(name: str, with_value: bool) -> Callable[[Namespace, Arguments], Results]:
    """Along the last dimension, or of all elements: where the extreme is first, or the first NaN, as the least of the places that hold it."""

    def form(aten: Namespace, a: Arguments) -> Results:
        x, dim, keepdim = a["self"], a["dim"], a["keepdim"]
        shape = static(meta(x).shape)
        if not shape or 0 in shape or (dim is not None and dim % len(shape) != len(shape) - 1):
            return KEEP
        dtype = SEARCHED.get(meta(x).dtype)
        if dtype is None:
            return KEEP
        rows = cast(aten, aten.view(x, [-1]) if dim is None else x, dtype)
        [*_, length] = static(meta(rows).shape) or [0]
        if not SHORT <= length < MOST_PLACES:
            return KEEP
        extreme = getattr(aten, name)(rows, [-1], True)
        here = aten.eq.Tensor(rows, extreme)
        if dtype.category is Category.FLOAT:
            here = aten.logical_or(here, aten.ne.Tensor(rows, rows))
        steps = aten.arange.start_step(0, length, 1, dtype=COUNTED.get(dtype, dtype))
        place = aten.amin(aten.where.self(here, steps, length), [-1], True)
        value = (cast(aten, extreme, meta(x).dtype),) if with_value else ()
        results = (*value, cast(aten, place, dt.Long))
        if dim is None:
            results = tuple(aten.view(result, [1] * len(shape) if keepdim else []) for result in results)
        elif not keepdim:
            results = tuple(aten.squeeze.dims(result, [-1]) for result in results)
        return results if with_value else results[0]

    return form


def scan(name: str) -> Callable[[Namespace, Arguments], Results]:
    """Running sums and the like in a dtype that they have kernels for: of short integers in that of 32 bits, where sums wrap as they do."""

    def form(aten: Namespace, a: Arguments) -> Results:
        x, dtype = a["self"], a["out"].dtype
        given = meta(x).dtype
        if dtype is not dt.Long or given not in SHORT_INTEGERS:
            x, given = cast(aten, x, dtype), dtype  # PyTorch rounds to the result's dtype first
        x = cast(aten, x, SHORT_INTEGERS.get(given, given))
        options = {"dtype": SHORT_INTEGERS.get(dtype, dtype)} if "dtype" in a else {}
        values, *places = flat_results(getattr(aten, name)(x, a["dim"], **options))
        values = cast(aten, values, dtype)
        return (values, *places) if places else values

    return form


def is_of_others(a: Arguments) -> bool:
    """Whether a scan is of a dtype, or from one to another, that it has no kernel for."""
    given, dtype = meta(a["self"]).dtype, a["out"].dtype
    return given in SHORT_INTEGERS or (given is not dtype and (given, dtype) != (dt.Int, dt.Long))


def across_rows(aten: Namespace, a: Arguments) -> Results:
    """A running sum of exponentials along the first dimension: each step is a function of the last one, and those of many rows are vectors."""
    x = a["self"]
    ndim = meta(x).ndim
    if not is_along_many_rows(a):
        return KEEP
    made = aten.logcumsumexp(aten.clone(aten.permute(x, [ndim - 1, *range(ndim - 1)])), 0)
    return aten.permute(made, [*range(1, ndim), 0])


def is_along_many_rows(a: Arguments) -> bool:
    shape = static(meta(a["self"]).shape)
    last = shape is not None and len(shape) > 1 and a["dim"] % len(shape) == len(shape) - 1
    return last and shape is not None and shape[-1] > 1 and prod(shape[:-1]) >= SHORT


SCANNED = frozenset({dt.Float, dt.Double, dt.Int, dt.Long, dt.Half, dt.BFloat16, *SHORT_INTEGERS})
SCAN_FORMS: dict[str, Form] = {
    **{
        f"aten.{name}": Form(scan(name), SCANNED, is_of_others, whole=True, mixed=True)
        for name in ("cumsum", "cumprod", "cummax", "cummin")
    },
    "aten.logcumsumexp": Form(across_rows, frozenset({dt.Float, dt.Double}), is_along_many_rows),
    **{
        f"aten.{name}": Form(place_of(f"a{name[:3]}", True), frozenset(SEARCHED), whole=True)
        for name in ("max.dim", "min.dim")
    },
    **{
        f"aten.arg{name}": Form(place_of(f"a{name}", False), frozenset({dt.Long}), mixed=True)
        for name in ("max", "min")
    },
}
"""By operator."""
