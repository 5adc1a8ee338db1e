"""Decompositions of reductions: overloads become the general one, the rest is written out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import Bool, Byte, Category, DType, Float, Long
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.transforms.decompositions import decomposition, other_names

other_names(
    {
        "max.other": "maximum",
        "min.other": "minimum",
        "norm.Scalar": "linalg_vector_norm",
        "special_logsumexp": "logsumexp",
    }
)


@decomposition("aten.sum")
def sum_all(aten: Namespace, self: SSAValue, dtype: DType | None) -> SSAValue:
    return aten.sum.dim_IntList(self, [], dtype=dtype)


@decomposition("aten.nansum")
def nansum(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, keepdim: bool, dtype: DType | None
) -> SSAValue:
    if meta(self).dtype.category > Category.INT:
        zero = aten.scalar_tensor(0, dtype=meta(self).dtype)
        self = aten.where.self(aten.isnan(self), zero, self)
    return aten.sum.dim_IntList(self, dim, keepdim, dtype=dtype)


@decomposition("aten.nanmean")
def nanmean(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, keepdim: bool, dtype: DType | None
) -> SSAValue:
    count = aten.sum.dim_IntList(aten.logical_not(aten.isnan(self)), dim, keepdim)
    total = aten.nansum(self, dim, keepdim, dtype=dtype)
    result = meta(total).dtype
    # A short float would not hold a large count.
    wide = opmath(result)
    return cast(aten, aten.div.Tensor(cast(aten, total, wide), count), result)


@decomposition("aten.aminmax")
def aminmax(aten: Namespace, self: SSAValue, dim: int | None, keepdim: bool) -> tuple[SSAValue, SSAValue]:
    dims = [] if dim is None else [dim]
    return aten.amin(self, dims, keepdim), aten.amax(self, dims, keepdim)


# --- logic: all are, unless any is not -----------------------------------------------------------------------


@decomposition("aten.all")
def all_elements(aten: Namespace, self: SSAValue) -> SSAValue:
    return all_dims(aten, self, None, False)


@decomposition("aten.all.dims")
def all_dims(aten: Namespace, self: SSAValue, dim: Sequence[int] | None, keepdim: bool) -> SSAValue:
    return none_is(aten, aten.any.dims(aten.eq.Scalar(self, 0), dim, keepdim), self)


@decomposition("aten.all.dim")
def all_dim(aten: Namespace, self: SSAValue, dim: int, keepdim: bool) -> SSAValue:
    return none_is(aten, aten.any.dim(aten.eq.Scalar(self, 0), dim, keepdim), self)


def none_is(aten: Namespace, anything: SSAValue, self: SSAValue) -> SSAValue:
    nothing = aten.logical_not(anything)
    # The logic of bytes has bytes for results.
    return cast(aten, nothing, Byte) if meta(self).dtype is Byte else nothing


# --- quantiles -----------------------------------------------------------------------------------------------


@decomposition("aten.quantile.scalar")
def quantile_scalar(
    aten: Namespace, self: SSAValue, q: float, dim: int | None, keepdim: bool, interpolation: str
) -> SSAValue:
    number = aten.full([], q, dtype=meta(self).dtype)
    return aten.quantile(self, number, dim, keepdim, interpolation=interpolation)


@decomposition("aten.nanquantile.scalar")
def nanquantile_scalar(
    aten: Namespace, self: SSAValue, q: float, dim: int | None, keepdim: bool, interpolation: str
) -> SSAValue:
    number = aten.full([], q, dtype=meta(self).dtype)
    return aten.nanquantile(self, number, dim, keepdim, interpolation=interpolation)


@decomposition("aten.nanquantile")
def nanquantile(
    aten: Namespace, self: SSAValue, q: SSAValue, dim: int | None, keepdim: bool, interpolation: str
) -> SSAValue:
    return quantile(aten, self, q, dim, keepdim, interpolation, ignore_nan=True)


@decomposition("aten.quantile")
def quantile_with_nan(
    aten: Namespace, self: SSAValue, q: SSAValue, dim: int | None, keepdim: bool, interpolation: str
) -> SSAValue:
    return quantile(aten, self, q, dim, keepdim, interpolation, ignore_nan=False)


def quantile(
    aten: Namespace,
    self: SSAValue,
    q: SSAValue,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
    ignore_nan: bool,
) -> SSAValue:
    """Elements at rank q (n - 1) of the sorted dimension, or between two; NaN where there is one and it counts."""
    rank = meta(self).ndim
    axis = wrap_dim(dim or 0, rank)
    # [..., n]
    last = aten.view(self, [-1]) if dim is None or rank == 0 else aten.movedim.int(self, axis, -1)
    ordered = aten.sort(last, -1)[0]
    nans = aten.isnan(last)
    counted = aten.logical_not(nans) if ignore_nan else aten.ones_like(last, dtype=Bool)
    end = aten.sub.Tensor(aten.sum.dim_IntList(counted, [-1], True), 1)
    ranks = aten.clamp(aten.mul.Tensor(q, end), 0)  # [..., q]
    if not ignore_nan:
        # NaN stands last.
        ranks = aten.where.self(aten.any.dim(nans, -1, True), cast(aten, end, meta(q).dtype), ranks)
    below = ROUNDED[interpolation](aten, ranks)
    found = aten.gather(ordered, -1, aten._to_copy(below, dtype=Long))
    if interpolation in ("linear", "midpoint"):
        weight = aten.full_like(ranks, 0.5) if interpolation == "midpoint" else aten.sub.Tensor(ranks, below)
        above = aten.gather(ordered, -1, aten._to_copy(aten.ceil(ranks), dtype=Long))
        found = aten.lerp.Tensor(found, above, weight)
    if meta(q).ndim == 0:
        found = aten.squeeze.dims(found, [-1])
        front: list[int] = []
    else:
        found = aten.movedim.int(found, -1, 0)
        front = [1]
    if not keepdim or rank == 0:
        return found
    if dim is not None:
        return aten.unsqueeze(found, axis + len(front))
    return aten.view(found, [*sizes(aten, q), *[1] * rank])


ROUNDED: dict[str, Callable[[Namespace, SSAValue], SSAValue]] = {
    "linear": lambda aten, ranks: aten.floor(ranks),
    "midpoint": lambda aten, ranks: aten.floor(ranks),
    "lower": lambda aten, ranks: aten.floor(ranks),
    "higher": lambda aten, ranks: aten.ceil(ranks),
    "nearest": lambda aten, ranks: aten.round(ranks),
}
"""The rank whose element a kind of quantile takes, or begins with."""


# --- spread --------------------------------------------------------------------------------------------------


@decomposition("aten.var")
def var_all(aten: Namespace, self: SSAValue, unbiased: bool) -> SSAValue:
    return aten.var.correction(self, correction=int(unbiased))


@decomposition("aten.var.dim")
def var_dims(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, unbiased: bool, keepdim: bool
) -> SSAValue:
    return aten.var.correction(self, dim, correction=int(unbiased), keepdim=keepdim)


@decomposition("aten.std")
def std_all(aten: Namespace, self: SSAValue, unbiased: bool) -> SSAValue:
    return std(aten, self, None, float(unbiased), False)


@decomposition("aten.std.dim")
def std_dims(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, unbiased: bool, keepdim: bool
) -> SSAValue:
    return std(aten, self, dim, float(unbiased), keepdim)


@decomposition("aten.std.correction")
def std(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, correction: float | None, keepdim: bool
) -> SSAValue:
    dtype = meta(self).dtype
    correction = 1.0 if correction is None else correction
    spread = aten.var.correction(cast(aten, self, opmath(dtype)), dim, correction=correction, keepdim=keepdim)
    deviation = aten.sqrt(spread)
    return deviation if dtype.category is Category.COMPLEX else cast(aten, deviation, dtype)


@decomposition("aten.var_mean")
def var_mean_all(aten: Namespace, self: SSAValue, unbiased: bool) -> tuple[SSAValue, SSAValue]:
    return aten.var_mean.correction(self, correction=int(unbiased))


@decomposition("aten.var_mean.dim")
def var_mean_dims(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, unbiased: bool, keepdim: bool
) -> tuple[SSAValue, SSAValue]:
    return aten.var_mean.correction(self, dim, correction=int(unbiased), keepdim=keepdim)


@decomposition("aten.std_mean")
def std_mean_all(aten: Namespace, self: SSAValue, unbiased: bool) -> tuple[SSAValue, SSAValue]:
    return std_mean(aten, self, None, float(unbiased), False)


@decomposition("aten.std_mean.dim")
def std_mean_dims(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, unbiased: bool, keepdim: bool
) -> tuple[SSAValue, SSAValue]:
    return std_mean(aten, self, dim, float(unbiased), keepdim)


@decomposition("aten.std_mean.correction")
def std_mean(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, correction: float | None, keepdim: bool
) -> tuple[SSAValue, SSAValue]:
    dtype = meta(self).dtype
    x = cast(aten, self, opmath(dtype))
    spread, average = aten.var_mean.correction(x, dim, correction=correction, keepdim=keepdim)
    deviation = aten.sqrt(spread)
    is_complex = dtype.category is Category.COMPLEX
    return deviation if is_complex else cast(aten, deviation, dtype), cast(aten, average, dtype)


# --- counts and norms ----------------------------------------------------------------------------------------


@decomposition("aten.count_nonzero")
def count_nonzero(aten: Namespace, self: SSAValue, dim: int | None) -> SSAValue:
    return count_nonzero_dims(aten, self, None if dim is None else [dim])


@decomposition("aten.count_nonzero.dim_IntList")
def count_nonzero_dims(aten: Namespace, self: SSAValue, dim: Sequence[int] | None) -> SSAValue:
    return aten.sum.dim_IntList(aten.ne.Scalar(self, 0), dim)


@decomposition("aten.norm.ScalarOpt_dim")
def norm_dims(
    aten: Namespace, self: SSAValue, p: float | None, dim: Sequence[int], keepdim: bool
) -> SSAValue:
    return aten.linalg_vector_norm(self, 2 if p is None else p, dim, keepdim)


@decomposition("aten.logsumexp")
def logsumexp(aten: Namespace, self: SSAValue, dim: Sequence[int], keepdim: bool) -> SSAValue:
    """`log(sum(exp(x - m))) + m` with the maximum for m, where that is finite."""
    held = meta(self).dtype
    dtype = held if held.category > Category.INT else Float
    x = cast(aten, self, opmath(dtype))
    dims = list(dim) or list(range(meta(self).ndim))
    if 0 in meta(self).shape:
        # Nothing has no maximum.
        return cast(aten, aten.log(aten.sum.dim_IntList(aten.exp(x), dims, keepdim)), dtype)
    maxima = aten.amax(aten.real(x) if held.category is Category.COMPLEX else x, dims, True)
    infinite = aten.eq.Scalar(aten.abs(maxima), math.inf)
    zero = aten.scalar_tensor(0.0, dtype=meta(maxima).dtype)
    maxima = aten.where.self(infinite, zero, maxima)
    total = aten.sum.dim_IntList(aten.exp(aten.sub.Tensor(x, maxima)), dims, keepdim)
    offset = maxima if keepdim else aten.squeeze.dims(maxima, dims)
    return cast(aten, aten.add.Tensor(aten.log(total), offset), dtype)


@decomposition("aten.dist")
def dist(aten: Namespace, self: SSAValue, other: SSAValue, p: float) -> SSAValue:
    return aten.norm.Scalar(aten.sub.Tensor(self, other), p)


@decomposition("aten.renorm")
def renorm(aten: Namespace, self: SSAValue, p: float, dim: int, maxnorm: float) -> SSAValue:
    """Slices along a dimension scaled down where their norm is over `maxnorm`."""
    held = meta(self).dtype
    others = [axis for axis in range(meta(self).ndim) if axis != wrap_dim(dim, meta(self).ndim)]
    computed = Float if opmath(held) is not held else None
    norm = aten.linalg_vector_norm(self, p, others, True, dtype=computed)
    factor = aten.mul.Tensor(aten.reciprocal(aten.add.Tensor(norm, 1e-7)), maxnorm)
    one = aten.scalar_tensor(1.0, dtype=meta(norm).dtype)
    factor = aten.where.self(aten.gt.Scalar(norm, maxnorm), factor, one)
    return aten.mul.Tensor(self, cast(aten, factor, held))


@decomposition("aten.trace")
def trace(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.sum(aten.diagonal(self))


@decomposition("aten.sum_to_size")
def sum_to_size(aten: Namespace, self: SSAValue, size: list[int | SSAValue]) -> SSAValue:
    """What broadcasting from this size repeats is summed."""
    if not size:
        return aten.sum(self)
    shape = meta(self).shape
    extra = len(shape) - len(size)
    summed = [dim for dim in range(len(shape)) if dim < extra or (size[dim - extra] == 1 and shape[dim] != 1)]
    if not summed:
        return self
    return aten.view(aten.sum.dim_IntList(self, summed, True), size)


# --- integrals and differences -------------------------------------------------------------------------------


def neighbours(aten: Namespace, self: SSAValue, dim: int) -> tuple[SSAValue, SSAValue]:
    """All elements along a dimension but the last, and all but the first."""
    return aten.slice.Tensor(self, dim, 0, -1), aten.slice.Tensor(self, dim, 1)


def steps_of(aten: Namespace, x: SSAValue, dim: int, rank: int) -> SSAValue:
    """Distances between points, to go with samples of a rank: a vector's lie along the dimension."""
    own = sizes(aten, x)
    shape = [*[1] * dim, *own, *[1] * (rank - dim - 1)] if len(own) == 1 else [*[1] * (rank - len(own)), *own]
    before, after = neighbours(aten, aten.view(x, shape), dim)
    return aten.sub.Tensor(after, before)


def means(aten: Namespace, y: SSAValue, dim: int) -> SSAValue:
    """Twice the means of neighbours."""
    return aten.add.Tensor(*neighbours(aten, y, dim))


@decomposition("aten.trapezoid.x", "aten.trapz.x")
def trapezoid(aten: Namespace, y: SSAValue, x: SSAValue, dim: int) -> SSAValue:
    dim = wrap_dim(dim, meta(y).ndim)
    if meta(y).shape[dim] == 0:
        return aten.sum.dim_IntList(y, [dim], dtype=meta(y).dtype)
    areas = aten.mul.Tensor(means(aten, y, dim), steps_of(aten, x, dim, meta(y).ndim))
    return aten.div.Scalar(aten.sum.dim_IntList(areas, [dim]), 2.0)


@decomposition("aten.trapezoid.dx", "aten.trapz.dx")
def trapezoid_even(aten: Namespace, y: SSAValue, dx: float, dim: int) -> SSAValue:
    """The sum, of which first and last count half."""
    if meta(y).shape[dim] == 0:
        return aten.sum.dim_IntList(y, [dim], dtype=meta(y).dtype)
    ends = aten.add.Tensor(aten.select.int(y, dim, 0), aten.select.int(y, dim, -1))
    total = aten.sub.Tensor(aten.sum.dim_IntList(y, [dim]), aten.mul.Scalar(ends, 0.5))
    return aten.mul.Scalar(total, dx)


@decomposition("aten.cumulative_trapezoid.x")
def cumulative_trapezoid(aten: Namespace, y: SSAValue, x: SSAValue, dim: int) -> SSAValue:
    dim = wrap_dim(dim, meta(y).ndim)
    areas = aten.mul.Tensor(steps_of(aten, x, dim, meta(y).ndim), means(aten, y, dim))
    return aten.div.Scalar(aten.cumsum(areas, dim), 2.0)


@decomposition("aten.cumulative_trapezoid.dx")
def cumulative_trapezoid_even(aten: Namespace, y: SSAValue, dx: float, dim: int) -> SSAValue:
    return aten.cumsum(aten.mul.Scalar(means(aten, y, dim), dx / 2.0), dim)


ENDS: Mapping[int, tuple[Mapping[int, float], Mapping[int, float]]] = {
    1: ({0: -1, 1: 1}, {-2: -1, -1: 1}),
    2: ({0: -1.5, 1: 2, 2: -0.5}, {-3: 0.5, -2: -2, -1: 1.5}),
}
"""By the order of the polynomial, the weights of points whose sum is the slope at the first point, and at the last one."""


def evenly(
    aten: Namespace, self: SSAValue, spacing: Sequence[complex], dims: Sequence[int], edge_order: int
) -> list[SSAValue]:
    """Central differences over the points' distance by dimension; one-sided at the ends."""

    def along(dim: int, distance: complex) -> SSAValue:
        def at_end(weights: Mapping[int, float]) -> SSAValue:
            terms = (
                aten.mul.Scalar(aten.slice.Tensor(self, dim, at, at + 1 or None), weight)
                for at, weight in weights.items()
            )
            return aten.div.Scalar(reduce(aten.add.Tensor, terms), distance)

        rise = aten.sub.Tensor(aten.slice.Tensor(self, dim, 2), aten.slice.Tensor(self, dim, 0, -2))
        inner = aten.div.Scalar(aten.div.Scalar(rise, distance), 2)
        first, last = (at_end(weights) for weights in ENDS[edge_order])
        return aten.cat([first, inner, last], dim)

    return [along(dim, distance) for dim, distance in zip(dims, spacing, strict=True)]


def unevenly(
    aten: Namespace, self: SSAValue, points: Sequence[SSAValue], dims: Sequence[int], edge_order: int
) -> list[SSAValue]:
    """Slopes of the parabolas through three points: in the middle, and for `edge_order` 2 at the ends; else of lines there."""

    def along(dim: int, x: SSAValue) -> SSAValue:
        before, after = neighbours(aten, x, 0)
        steps = aten.sub.Tensor(after, before)

        def weighted(parts: Sequence[SSAValue], weights: Sequence[SSAValue]) -> SSAValue:
            terms = [aten.mul.Tensor(weight, part) for weight, part in zip(weights, parts, strict=True)]
            return reduce(aten.add.Tensor, terms)

        def end(places: Sequence[int], near: SSAValue, far: SSAValue) -> SSAValue:
            parts = [aten.slice.Tensor(self, dim, at, at + 1 or None) for at in places]
            if edge_order == 1:
                rise = aten.sub.Tensor(*(parts[1::-1] if places[0] == 0 else parts[:2]))
                return aten.div.Tensor(rise, near)
            both = aten.add.Tensor(near, far)
            weights = [
                aten.div.Tensor(
                    aten.add.Tensor(aten.mul.Scalar(near, 2.0), far), aten.mul.Tensor(near, both)
                ),
                aten.neg(aten.div.Tensor(both, aten.mul.Tensor(near, far))),
                aten.div.Tensor(near, aten.mul.Tensor(far, both)),
            ]
            return weighted(parts, [aten.neg(w) for w in weights] if places[0] == 0 else weights)

        left, right = neighbours(aten, steps, 0)
        both = aten.add.Tensor(left, right)
        weights = [
            aten.div.Tensor(aten.neg(right), aten.mul.Tensor(left, both)),
            aten.div.Tensor(aten.sub.Tensor(right, left), aten.mul.Tensor(left, right)),
            aten.div.Tensor(left, aten.mul.Tensor(right, both)),
        ]
        column = [-1 if d == dim else 1 for d in range(meta(self).ndim)]
        three = [aten.slice.Tensor(self, dim, start, stop) for start, stop in ((0, -2), (1, -1), (2, None))]
        inner = weighted(three, [aten.view(weight, column) for weight in weights])
        order = range(edge_order + 1)
        ends = [aten.select.int(steps, 0, at) for at in (0, -1)]
        others = [aten.select.int(steps, 0, at) for at in (1, -2)] if edge_order == 2 else ends
        first = end([*order], ends[0], others[0])
        last = end([-1 - at for at in order], ends[1], others[1])
        return aten.cat([first, inner, last], dim)

    return [along(dim, x) for dim, x in zip(dims, points, strict=True)]


def differentiated(self: SSAValue, dim: int | Sequence[int] | None) -> list[int]:
    rank = meta(self).ndim
    dims = list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else dim
    return [wrap_dim(each, rank) for each in dims]


@decomposition("aten.gradient.scalarint", "aten.gradient.scalararray")
def gradient(
    aten: Namespace, self: SSAValue, spacing: complex | None, dim: int | Sequence[int] | None, edge_order: int
) -> list[SSAValue]:
    dims = differentiated(self, dim)
    return evenly(aten, self, [1.0 if spacing is None else spacing] * len(dims), dims, edge_order)


@decomposition("aten.gradient.array")
def gradient_unit(aten: Namespace, self: SSAValue, dim: Sequence[int], edge_order: int) -> list[SSAValue]:
    return gradient(aten, self, None, dim, edge_order)


@decomposition("aten.gradient.scalarrayint", "aten.gradient.scalarrayarray")
def gradient_spaced(
    aten: Namespace,
    self: SSAValue,
    spacing: Sequence[complex],
    dim: int | Sequence[int] | None,
    edge_order: int,
) -> list[SSAValue]:
    return evenly(aten, self, spacing, differentiated(self, dim), edge_order)


@decomposition("aten.gradient.tensorarrayint", "aten.gradient.tensorarray")
def gradient_at(
    aten: Namespace,
    self: SSAValue,
    spacing: Sequence[SSAValue],
    dim: int | Sequence[int] | None,
    edge_order: int,
) -> list[SSAValue]:
    return unevenly(aten, self, spacing, differentiated(self, dim), edge_order)
