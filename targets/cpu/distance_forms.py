"""Distances of the rows of two matrices in the forms that kernels take: sums over the elements of each pair of rows, or a product.

cdist(x, y, 1)                 becomes    sum(abs(unsqueeze(x, -2) - unsqueeze(y, -3)), [-1])
cdist(x, y) of long rows       becomes    sqrt(relu(sum(x * x) + sum(y * y).t() - 2 * x @ y.t())), in float64
pdist(x, 1)                    becomes    cdist(x, x, 1) above its diagonal
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, cast, meta
from xdsl_exir.dialects.signature import ranges_around
from xdsl_exir.lowering.operators.linear_algebra import is_by_product
from xdsl_exir.targets.cpu.row_forms import FLOATS, SHORT, Arguments, Form
from xdsl_exir.transforms.patterns import KEEP

BY_DIFFERENCES = 2
"""The mode of cdist that takes no product (`donot_use_mm_for_euclid_dist`)."""


def distances(aten: Namespace, a: Arguments) -> Results:
    """Sums of what pairs of rows are apart; where PyTorch takes a product for that and rows are long, of their squares and the product,
    in float64 as these cancel."""
    x1, x2 = a["x1"], a["x2"]
    rank, combine = meta(x1).ndim, partial(over_pairs, aten, x1, x2)
    multiply = {2: aten.mm, 3: aten.bmm}.get(rank) if meta(x1).shape[:-2] == meta(x2).shape[:-2] else None
    ranges = ranges_around(x1)
    by_product = is_by_product(meta(x1).shape, meta(x2).shape, a["p"], a["compute_mode"], ranges)
    if by_product and multiply is not None and has_long_rows(x1, x2):
        x1, x2 = (cast(aten, x, dt.Double) for x in (x1, x2))
        left, right = (aten.sum.dim_IntList(squared(aten, x), [-1], True) for x in (x1, x2))
        squares = aten.add.Tensor(left, transposed(aten, right))
        product = aten.mul.Tensor(multiply(x1, transposed(aten, x2)), -2.0)
        return cast(aten, aten.sqrt(aten.relu(aten.add.Tensor(product, squares))), a["out"].dtype)
    if a["p"] == 1:
        return combine(lambda x, y: aten.abs(aten.sub.Tensor(x, y)))
    if a["p"] != 2:
        return KEEP
    total = combine(lambda x, y: squared(aten, aten.sub.Tensor(x, y)))
    if by_product:  # x^2 + y^2 - 2xy, which of two infinities of one sign is NaN
        product = multiply(x1, transposed(aten, x2)) if multiply else combine(aten.mul.Tensor)
        total = aten.where.self(aten.eq.Tensor(total, inf), aten.sub.Tensor(inf, product), total)
    return aten.sqrt(total)


def distances_of_pairs(aten: Namespace, a: Arguments) -> Results:
    """Each pair of rows once. Computing both orders of all, side by side, is several times as fast as picking rows, element by element."""
    x, rows = a["self"], meta(a["self"]).shape[0]
    if not isinstance(rows, int):
        return KEEP
    every = distances(aten, {"x1": x, "x2": x, "p": a["p"], "compute_mode": BY_DIFFERENCES, "out": a["out"]})
    if not isinstance(every, SSAValue):
        return KEEP
    above = aten.triu_indices(rows, rows, 1, dtype=dt.Long, layout=None, device=None, pin_memory=None)
    return aten.index.Tensor(every, [aten.select.int(above, 0, end) for end in (0, 1)])


def transposed(aten: Namespace, x: SSAValue) -> SSAValue:
    rank = meta(x).ndim
    return aten.permute(x, [*range(rank - 2), rank - 1, rank - 2])


def squared(aten: Namespace, x: SSAValue) -> SSAValue:
    return aten.mul.Tensor(x, x)


def over_pairs(
    aten: Namespace, x1: SSAValue, x2: SSAValue, term: Callable[[SSAValue, SSAValue], SSAValue]
) -> SSAValue:
    """The sums of a term of the elements of each pair of rows."""
    width = meta(x1).shape[-1]
    if isinstance(width, int) and 0 < width <= SHORT:
        return in_columns(aten, x1, x2, width, term)
    return aten.sum.dim_IntList(term(aten.unsqueeze(x1, -2), aten.unsqueeze(x2, -3)), [-1])


def in_columns(
    aten: Namespace,
    x1: SSAValue,
    x2: SSAValue,
    width: int,
    term: Callable[[SSAValue, SSAValue], SSAValue],
) -> SSAValue:
    """What pairs of short rows are apart, column by column: each is one row of the result by another, along memory. Added up in pairs."""
    turned = aten.clone(transposed(aten, x2))
    terms = [
        term(aten.slice.Tensor(x1, -1, at, at + 1), aten.slice.Tensor(turned, -2, at, at + 1))
        for at in range(width)
    ]
    while len(terms) > 1:
        pairs = [aten.add.Tensor(*terms[at : at + 2]) for at in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[2 * len(pairs) :]]
    return terms[0]


def has_long_rows(x1: SSAValue, x2: SSAValue) -> bool:
    """Whether batches of rows are as many, and rows longer than a few elements."""
    first, second = meta(x1).shape, meta(x2).shape
    if 0 in (*first, *second) or first[:-2] != second[:-2]:
        return False
    return not isinstance(first[-1], int) or first[-1] > SHORT


DISTANCE_FORMS: dict[str, Form] = {
    "aten._cdist_forward": Form(distances, FLOATS),
    "aten._pdist_forward": Form(distances_of_pairs, FLOATS),
}
"""By operator."""
