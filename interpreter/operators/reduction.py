"""Functions of reductions, scans and norms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.interpreter import sum_dtype, to_dtype, wide
from xdsl_exir.interpreter.operators import Array, impl

Out = tuple[DType, ...]


def axes_of(array: Array, dim: Sequence[int] | None) -> tuple[int, ...]:
    """The axes of a `dim` argument, where None and the empty list are all; a 0-dim array has none."""
    if not dim or array.ndim == 0:
        return tuple(range(array.ndim))
    return tuple(axis % array.ndim for axis in dim)


def along(array: Array, dim: int | None, keepdim: bool, function: Callable[[Array, int], Array]) -> Array:
    """Reduces along one axis, or with `dim` None over the array laid flat."""
    if dim is None or array.ndim == 0:
        result = function(array.reshape(-1), 0)
        return result.reshape([1] * array.ndim) if keepdim else result
    result = function(array, dim)
    return np.expand_dims(result, dim) if keepdim else result


def computed_in(array: Array, out: Out) -> Array:
    """PyTorch casts to the result's dtype before it reduces; then sums are wider."""
    return to_dtype(to_dtype(array, out[0].numpy), sum_dtype(out[0].numpy))


# --- sums and products ---------------------------------------------------------------------------------------


def reduce_sum(array: Array, axes: tuple[int, ...], keepdim: bool, out: Out) -> Array:
    array = computed_in(array, out)
    return np.sum(array, axis=axes, dtype=array.dtype, keepdims=keepdim)


@impl("aten.sum.dim_IntList")
def sum_dims(self: Array, dim: Sequence[int] | None, keepdim: bool, out: Out) -> Array:
    return reduce_sum(self, axes_of(self, dim), keepdim, out)


@impl("aten.mean.dim")
def mean_dims(self: Array, dim: Sequence[int] | None, keepdim: bool, out: Out) -> Array:
    axes = axes_of(self, dim)
    total = reduce_sum(self, axes, keepdim, out)
    return total / total.dtype.type(count(self, axes))


@impl("aten.mean")
def mean(self: Array, out: Out) -> Array:
    return mean_dims(self, None, False, out)


@impl("aten.prod")
def prod(self: Array, out: Out) -> Array:
    array = computed_in(self, out)
    return np.prod(array, dtype=array.dtype)


@impl("aten.prod.dim_int")
def prod_dim(self: Array, dim: int, keepdim: bool, out: Out) -> Array:
    array = computed_in(self, out)
    return np.prod(array, axis=axes_of(array, [dim]), dtype=array.dtype, keepdims=keepdim)


def count(array: Array, axes: tuple[int, ...]) -> int:
    """Number of elements that reduce to one."""
    return math.prod(array.shape[axis] for axis in axes)


# --- logic ---------------------------------------------------------------------------------------------------


@impl("aten.any", raw=True)
def any_all(self: Array) -> np.bool_:
    return np.any(self != 0)


@impl("aten.any.dim", raw=True)
def any_dim(self: Array, dim: int, keepdim: bool) -> Array:
    return np.any(self != 0, axis=axes_of(self, [dim]), keepdims=keepdim)


@impl("aten.any.dims", raw=True)
def any_dims(self: Array, dim: Sequence[int] | None, keepdim: bool) -> Array:
    # Alone among reductions it takes an empty list at its word.
    axes = () if dim == [] else axes_of(self, dim)
    return np.any(self != 0, axis=axes, keepdims=keepdim)


# --- extremes ------------------------------------------------------------------------------------------------


def extreme(
    function: Callable[..., Array], of_none: float, self: Array, dim: Sequence[int], keepdim: bool
) -> Array:
    """Along some axes; of no floats `of_none`, which the logarithm of a sum of exponentials of none is made of."""
    axes = axes_of(self, dim)
    if self.size == 0 and self.dtype.kind not in "iub":
        return function(self, axis=axes, keepdims=keepdim, initial=of_none)
    return function(self, axis=axes, keepdims=keepdim)


@impl("aten.amax")
def amax(self: Array, dim: Sequence[int], keepdim: bool) -> Array:
    return extreme(np.max, -math.inf, self, dim, keepdim)


@impl("aten.amin")
def amin(self: Array, dim: Sequence[int], keepdim: bool) -> Array:
    return extreme(np.min, math.inf, self, dim, keepdim)


@impl("aten.max")
def maximum_of_all(self: Array) -> Array:
    return np.max(self)


@impl("aten.min")
def minimum_of_all(self: Array) -> Array:
    return np.min(self)


@impl("aten.argmax")
def argmax(self: Array, dim: int | None, keepdim: bool) -> Array:
    return along(self, dim, keepdim, np.argmax)


@impl("aten.argmin")
def argmin(self: Array, dim: int | None, keepdim: bool) -> Array:
    return along(self, dim, keepdim, np.argmin)


@impl("aten.max.dim")
def max_dim(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    return along(self, dim, keepdim, np.max), along(self, dim, keepdim, np.argmax)


@impl("aten.min.dim")
def min_dim(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    return along(self, dim, keepdim, np.min), along(self, dim, keepdim, np.argmin)


@impl("aten.median")
def median(self: Array) -> Array:
    if self.size == 0:
        # PyTorch's answer for integers is the cast of NaN: what narrow ones keep of that is 0.
        narrow = self.dtype.kind in "iu" and self.itemsize < 4
        return np.array(0 if narrow else np.nan if self.dtype.kind == "f" else np.iinfo(self.dtype).min)
    return median_dim(self.reshape(-1), 0, False)[0]


@impl("aten.median.dim")
def median_dim(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The lower of two middle elements; NaN where there is one, the first of several."""
    return at_rank(
        self, dim, keepdim, lambda length, nans: np.where(nans > 0, length - nans, (length - 1) // 2)
    )


@impl("aten.nanmedian")
def nanmedian(self: Array) -> Array:
    return median(self) if self.size == 0 else nanmedian_dim(self.reshape(-1), 0, False)[0]


@impl("aten.nanmedian.dim")
def nanmedian_dim(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The lower of two middle elements that are numbers; NaN where none is."""
    return at_rank(self, dim, keepdim, lambda length, nans: np.maximum(length - nans - 1, 0) // 2)


def at_rank(self: Array, dim: int, keepdim: bool, rank: Callable[[int, Array], Array]) -> tuple[Array, Array]:
    """The elements of a rank (which a length and a count of NaNs give) along an axis, and where they stand."""

    def position(array: Array, axis: int) -> Array:
        order: Array = np.argsort(array, axis=axis, kind="stable")
        # NaN sorts last.
        nans: Array = np.sum(np.isnan(array), axis=axis, keepdims=True)
        # A max over one element drops the axis.
        return np.max(np.take_along_axis(order, rank(array.shape[axis], nans), axis=axis), axis=axis)

    def value(array: Array, axis: int) -> Array:
        where = np.expand_dims(position(array, axis), axis)
        return np.max(np.take_along_axis(array, where, axis=axis), axis=axis)

    return along(self, dim, keepdim, value), along(self, dim, keepdim, position)


# --- spread and norms ----------------------------------------------------------------------------------------


def magnitude_squared(array: Array) -> Array:
    return np.real(array) ** 2 + np.imag(array) ** 2 if array.dtype.kind == "c" else array * array


@impl("aten.var.correction")
def var(self: Array, dim: Sequence[int] | None, correction: float | None, keepdim: bool) -> Array:
    return var_mean(self, dim, correction, keepdim)[0]


@impl("aten.var_mean.correction")
def var_mean(
    self: Array, dim: Sequence[int] | None, correction: float | None, keepdim: bool
) -> tuple[Array, Array]:
    self, axes = wide(self), axes_of(self, dim)
    elements = count(self, axes)
    average = np.sum(self, axis=axes, keepdims=True) / self.dtype.type(elements)
    squares = magnitude_squared(self - average)
    freedom = max(elements - (1 if correction is None else correction), 0)
    spread = np.sum(squares, axis=axes, keepdims=keepdim) / squares.dtype.type(freedom)
    return spread, average if keepdim else average.squeeze(axes)


@impl("aten.linalg_vector_norm")
def vector_norm(
    self: Array, ord: float, dim: Sequence[int] | None, keepdim: bool, dtype: DType | None
) -> Array:
    if dtype is not None:
        self = to_dtype(self, dtype.numpy)
    self, axes = wide(self), axes_of(self, dim)
    match ord:
        case 0:
            return np.sum(self != 0, axis=axes, keepdims=keepdim)
        case 2:
            # Not by the parts' squares: an infinite part makes the whole infinite, whatever the other is.
            return np.sqrt(np.sum(np.square(np.abs(self)), axis=axes, keepdims=keepdim))
        case math.inf:
            return np.max(np.abs(self), axis=axes, keepdims=keepdim)
        case _ if ord == -math.inf:
            return np.min(np.abs(self), axis=axes, keepdims=keepdim)
        case _:
            total = np.sum(np.abs(self) ** ord, axis=axes, keepdims=keepdim)
            return total ** (1 / ord)


# --- scans ---------------------------------------------------------------------------------------------------


@impl("aten.cumsum")
def cumsum(self: Array, dim: int, out: Out) -> Array:
    total = scan(np.cumsum, self, dim, out)
    return total + total.dtype.type(0)  # PyTorch's count from 0, of which and -0 the sum is 0


@impl("aten.cumprod")
def cumprod(self: Array, dim: int, out: Out) -> Array:
    """Products that begin with 1, which of a complex number with a NaN or an infinity leaves neither part."""

    def from_one(array: Array, axis: int, dtype: np.dtype[np.generic]) -> Array:
        array = array.copy()
        first = np.moveaxis(array, axis, 0)[:1]
        first *= array.dtype.type(1)
        return np.cumprod(array, axis=axis, dtype=dtype)

    return scan(from_one if np.iscomplexobj(self) else np.cumprod, self, dim, out)


def scan(function: Callable[..., Array], array: Array, dim: int, out: Out) -> Array:
    array = computed_in(array, out)
    return function(np.atleast_1d(array), axis=dim, dtype=array.dtype).reshape(array.shape)


@impl("aten.logcumsumexp")
def logcumsumexp(self: Array, dim: int) -> Array:
    add = complex_logaddexp if np.iscomplexobj(self) else np.logaddexp
    result = np.atleast_1d(wide(self)).copy()
    along = np.moveaxis(result, dim, 0)
    before: Array = np.full(along.shape[1:], -np.inf, result.dtype)
    for i in range(len(along)):
        along[i] = before = add(along[i], before)
    return result.reshape(self.shape)


def complex_logaddexp(x: Array, y: Array) -> Array:
    """log(exp x + exp y), as ATen/native/cpu/LogAddExp.h has it (infinities, and NaN of either part)."""
    a, b = x.astype(np.complex128), y.astype(np.complex128)
    swapped = np.real(a) < np.real(b)
    low, high = np.where(swapped, a, b), np.where(swapped, b, a)
    with np.errstate(all="ignore"):
        beyond = ~np.isfinite(np.real(low)) & (np.real(low) == np.real(high))
        sum_ = np.where(np.real(low) < 0, low, np.log(np.exp(low) + np.exp(high)))
        result = np.where(beyond, sum_, high + np.log1p(np.exp(low - high)))
    return np.where(np.isnan(x) | np.isnan(y), complex(np.nan, np.nan), result).astype(x.dtype)


@impl("aten.cummax")
def cummax(self: Array, dim: int) -> tuple[Array, Array]:
    return scan_extremes(np.maximum, self, dim)


@impl("aten.cummin")
def cummin(self: Array, dim: int) -> tuple[Array, Array]:
    return scan_extremes(np.minimum, self, dim)


def scan_extremes(function: np.ufunc, array: Array, dim: int) -> tuple[Array, Array]:
    """Running extremes, and where the last element equal to each stands."""
    vector = np.atleast_1d(array)
    values = function.accumulate(vector, axis=dim)
    after = vector.ndim - 1 - dim % vector.ndim
    length: int = vector.shape[dim]
    positions = np.arange(length).reshape(length, *[1] * after)
    found = (vector == values) | np.isnan(vector)
    indices = np.maximum.accumulate(np.where(found, positions, 0), axis=dim)
    return values.reshape(array.shape), indices.reshape(array.shape)


# --- counts --------------------------------------------------------------------------------------------------


@impl("aten.mode", raw=True)
def mode(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The most frequent element, the least of several, and where it stands last."""

    def position(array: Array, axis: int) -> Array:
        order = np.moveaxis(np.argsort(array, axis=axis, kind="stable"), axis, -1)
        ordered = np.take_along_axis(np.moveaxis(array, axis, -1), order, -1)
        length: int = ordered.shape[-1]
        places = np.arange(length)
        starts = np.ones(ordered.shape, np.bool_)
        starts[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
        # How many elements equal to each stand before it.
        run = places - np.maximum.accumulate(np.where(starts, places, 0), -1)
        longest = np.argmax(run, -1)
        return np.take_along_axis(order, longest[..., None], -1)[..., 0]

    def value(array: Array, axis: int) -> Array:
        where = np.expand_dims(position(array, axis), axis)
        return np.take_along_axis(array, where, axis=axis).squeeze(axis)

    return along(self, dim, keepdim, value), along(self, dim, keepdim, position)


@impl("aten.hash_tensor", raw=True)
def hash_tensor(self: Array, dim: Sequence[int], keepdim: bool) -> Array:
    """The exclusive or of the elements' bits: as float64, or as integers of 64 bits."""
    bits = self.astype(np.int64) if self.dtype.kind in "iub" else self.astype(np.float64)
    return np.bitwise_xor.reduce(bits.view(np.uint64), axis=axes_of(self, dim), keepdims=keepdim)


@impl("aten.bincount", raw=True)
def bincount(self: Array, weights: Array | None, minlength: int) -> Array:
    if self.size and self.min() < 0:
        raise ExirError("bincount: an element is negative")
    factors = None if weights is None else np.real(weights).astype(np.float64)
    return np.bincount(self.astype(np.int64), factors, minlength)


def bin_edges(coordinate: Array, bins: int, limits: tuple[float, float] | None, margin: float = 0.5) -> Array:
    """Edges of bins of one width, from the least to the greatest coordinate unless told; never of width 0."""
    low, high = limits or ((coordinate.min(), coordinate.max()) if coordinate.size else (0, 1))
    low, high = coordinate.dtype.type(low), coordinate.dtype.type(high)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ExirError(f"histogram: range from {low} to {high} is not finite")
    if low == high:
        low, high = low - coordinate.dtype.type(margin), high + coordinate.dtype.type(margin)
    step = (high - low) / coordinate.dtype.type(bins)
    index = np.arange(bins + 1)
    edges: Array = low + step * index.astype(coordinate.dtype)
    # From both ends to the middle, so that first and last edge are exact.
    falling: Array = high - step * (bins - index).astype(coordinate.dtype)
    edges[index >= (bins + 1) / 2] = falling[index >= (bins + 1) / 2]
    return edges


def bin_of(coordinate: Array, edges: Array) -> Array:
    """The bin that each coordinate is in; the last one includes its right edge, -1 is none."""
    place = np.searchsorted(edges, coordinate, side="right") - 1
    place = np.where(coordinate == edges[-1], np.minimum(place, len(edges) - 2), place)
    inside = (coordinate >= edges[0]) & (coordinate <= edges[-1])
    return np.where(inside, place, -1)


def counts(places: Sequence[Array], shape: Sequence[int], weight: Array | None) -> Array:
    """How many points, or what weight of them, each bin has."""
    inside = np.all([place >= 0 for place in places], axis=0)
    flat = (
        np.ravel_multi_index([place[inside] for place in places], tuple(shape)) if shape else np.zeros(0, int)
    )
    factors = None if weight is None else weight.reshape(-1)[inside].astype(np.float64)
    return np.bincount(flat, factors, math.prod(shape)).reshape(shape)


def density_of(total: Array, edges: Sequence[Array]) -> Array:
    """Shares of the sum, by the bins' volume."""
    volume = np.ones(())
    for each in edges:
        volume = np.multiply.outer(volume, np.diff(each.astype(np.float64)))
    return total / total.sum() / volume


def binned(points: Array, edges: Sequence[Array], weight: Array | None, density: bool) -> Array:
    """The histogram of points, whose coordinates lie in the last dimension."""
    columns = points.reshape(-1, len(edges)).T
    places = [bin_of(column, each) for column, each in zip(columns, edges, strict=True)]
    total = counts(places, [len(each) - 1 for each in edges], weight)
    return density_of(total, edges) if density else total


def even_edges(points: Array, bins: Sequence[int], range: Sequence[float] | None) -> list[Array]:
    columns = points.reshape(-1, len(bins)).T
    limits = [None if range is None else (range[2 * i], range[2 * i + 1]) for i, _ in enumerate(bins)]
    return [bin_edges(*each) for each in zip(columns, bins, limits, strict=True)]


@impl("aten.histc", raw=True)
def histc(self: Array, bins: int, min: float, max: float) -> Array:
    """Bins are found by division, in the tensor's dtype, as PyTorch finds them here."""
    edges = bin_edges(self.reshape(-1), bins, None if min == max else (min, max), margin=1)
    low, high, count = edges[0], edges[-1], self.dtype.type(bins)
    inside = self[(self >= low) & (self <= high)]
    place = ((inside - low) * count / (high - low)).astype(np.int64)
    return counts([np.minimum(place, bins - 1)], [bins], None)


@impl("aten.histogram.bin_ct")
def histogram(
    self: Array, bins: int, range: Sequence[float] | None, weight: Array | None, density: bool
) -> tuple[Array, Array]:
    edges = even_edges(self.reshape(-1, 1), [bins], range)
    return binned(self.reshape(-1, 1), edges, weight, density), edges[0]


@impl("aten.histogram.bins_tensor")
def histogram_of_edges(self: Array, bins: Array, weight: Array | None, density: bool) -> tuple[Array, Array]:
    return binned(self.reshape(-1, 1), [bins], weight, density), bins


@impl("aten._histogramdd_bin_edges")
def histogramdd_edges(self: Array, bins: Sequence[int], range: Sequence[float] | None) -> list[Array]:
    return even_edges(self, bins, range)


@impl("aten._histogramdd_from_bin_cts")
def histogramdd(
    self: Array, bins: Sequence[int], range: Sequence[float] | None, weight: Array | None, density: bool
) -> Array:
    return binned(self, even_edges(self, bins, range), weight, density)


@impl("aten._histogramdd_from_bin_tensors")
def histogramdd_of_edges(self: Array, bins: Sequence[Array], weight: Array | None, density: bool) -> Array:
    return binned(self, bins, weight, density)


# --- segments ------------------------------------------------------------------------------------------------

SEGMENTS: dict[str, tuple[np.ufunc, float]] = {
    "sum": (np.add, 0),
    "mean": (np.add, 0),
    "prod": (np.multiply, 1),
    "max": (np.maximum, -math.inf),
    "min": (np.minimum, math.inf),
}
"""What reduces a segment, and what an empty one gives."""


@impl("aten.segment_reduce")
def segment_reduce(
    data: Array,
    reduce: str,
    lengths: Array | None,
    offsets: Array | None,
    axis: int,
    unsafe: bool,
    initial: float | None,
) -> Array:
    """Reduces consecutive segments of a dimension; `initial` takes part in each."""
    data, size = wide(data), data.shape[axis]
    if offsets is None:
        assert lengths is not None
        ends = np.cumsum(lengths, -1)
        offsets = np.concatenate([np.zeros((*ends.shape[:-1], 1), ends.dtype), ends], -1)
        if not unsafe and ((lengths < 0).any() or (ends[..., -1:] != size).any()):
            raise ExirError(f"segment_reduce: lengths do not sum up to {size}")
    if (np.diff(offsets) < 0).any() or (offsets < 0).any() or (offsets > size).any():
        raise ExirError(f"segment_reduce: segments are not in order within {size}")
    function, nothing = SEGMENTS[reduce]
    axis %= data.ndim
    outer, inner = math.prod(data.shape[:axis]), math.prod(data.shape[axis + 1 :])
    bounds = offsets.reshape(outer, -1) + size * np.arange(outer)[:, None]
    starts, ends = bounds[:, :-1].reshape(-1), bounds[:, 1:].reshape(-1)
    # A row more, where a segment may end; and what lies between segments is left out.
    rows = np.append(data.reshape(-1, inner), np.zeros((1, inner), data.dtype), 0)
    pairs = np.stack([starts, ends], -1).reshape(-1)
    start = data.dtype.type(nothing if initial is None else initial)
    reduced: Array = function(function.reduceat(rows, pairs, axis=0)[::2] if pairs.size else rows[:0], start)
    reduced[starts == ends] = start
    if reduce == "mean":
        elements = (ends - starts)[:, None]
        reduced /= elements if initial is None else np.maximum(elements, 1)
    return reduced.reshape(*data.shape[:axis], -1, *data.shape[axis + 1 :])
