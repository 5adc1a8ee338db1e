"""Lowerings of reductions, scans and norms.

A reduction is one loop nest that accumulates in the dtype the result computes in. Where it has two results, the second
(a position, a variance) is a reduction of its own that reads the first: every loop nest has one result. Scans run in
order, each element reading the one before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.expr import prod as numel
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import complex_numbers as numbers
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import sum_dtype
from xdsl_exir.lowering.histograms import as_points, binned, counted, edges_of, limits_of
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.loops import repeat_while
from xdsl_exir.lowering.operators.creation import between
from xdsl_exir.lowering.operators.indexing import indexed_by
from xdsl_exir.lowering.operators.view import bitcast
from xdsl_exir.lowering.reductions import (
    Combine,
    accumulate,
    alone,
    along,
    dims_of,
    divided,
    greatest,
    highest,
    is_same,
    least,
    lowest,
    moments,
    norm,
    shaped,
    size_of,
)
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sorting import sorting_order
from xdsl_exir.lowering.tensors import Tensor, read

Out = list[TensorMeta]


# --- sums and products ---------------------------------------------------------------------------------------


@lowering("aten.sum.dim_IntList", takes_complex=True)
def sum_dims(b: LinalgBuilder, self: Tensor, dim: list[int] | None, out: Out) -> Tensor:
    return shaped(b, accumulate(b, s.add, self, dims_of(self, dim), 0, out[0].dtype), out[0])


@lowering("aten.mean.dim", takes_complex=True)
def mean_dims(b: LinalgBuilder, self: Tensor, dim: list[int] | None, out: Out) -> Tensor:
    over = dims_of(self, dim)
    total = accumulate(b, s.add, self, over, 0, out[0].dtype)
    return shaped(b, divided(b, total, size_of(self, over)), out[0])


@lowering("aten.mean", takes_complex=True)
def mean(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return mean_dims(b, self, None, out)


@lowering("aten.prod", takes_complex=True)
def prod(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return shaped(b, accumulate(b, s.mul, self, dims_of(self, None), 1, out[0].dtype), out[0])


@lowering("aten.prod.dim_int", takes_complex=True)
def prod_dim(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return shaped(b, accumulate(b, s.mul, self, dims_of(self, [dim]), 1, out[0].dtype), out[0])


# --- logic ---------------------------------------------------------------------------------------------------


def any_over(b: LinalgBuilder, self: Tensor, over: Sequence[int], out: TensorMeta) -> Tensor:
    return shaped(b, b.reduce(s.add, self, over, False, dt.Bool), out)


@lowering("aten.any", takes_complex=True)
def any_all(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return any_over(b, self, dims_of(self, None), out[0])


@lowering("aten.any.dim", takes_complex=True)
def any_dim(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return any_over(b, self, dims_of(self, [dim]), out[0])


@lowering("aten.any.dims", takes_complex=True)
def any_dims(b: LinalgBuilder, self: Tensor, dim: list[int] | None, out: Out) -> Tensor:
    # Alone among reductions it takes an empty list at its word.
    return any_over(b, self, [] if dim == [] else dims_of(self, dim), out[0])


# --- extremes ------------------------------------------------------------------------------------------------


Extreme = Callable[[LinalgBuilder, Tensor, Sequence[int]], Tensor]


def position(b: LinalgBuilder, input: Tensor, value: Tensor, dim: int) -> Tensor:
    """Where along a dimension an extreme first stands."""

    def combine(first: Scalar, x: Scalar, extreme: Scalar) -> Scalar:
        here = s.from_index(linalg.IndexOp(dim).results[0])
        return s.select(is_same(x, extreme), s.minimum(first, here), first)

    count = input.shape[dim]
    if not isinstance(count, Expr):
        return b.fold(combine, [input, value], [dim], count, dt.Long)
    # One beyond the last, as the largest number there is; an extreme is always found.
    return b.fold(combine, [input, value], [dim], int(highest(dt.Long)), dt.Long)


def register_extremes(name: str, extreme: Extreme) -> None:
    """Lowerings of `amax`, `max`, `max.dim` and `argmax`, or those of minima."""

    @lowering(f"aten.a{name}")
    def over_dims(b: LinalgBuilder, self: Tensor, dim: list[int], out: Out) -> Tensor:
        return shaped(b, extreme(b, self, dims_of(self, dim)), out[0])

    @lowering(f"aten.{name}")
    def over_all(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
        return over_dims(b, self, [], out)

    @lowering(f"aten.{name}.dim")
    def with_position(b: LinalgBuilder, self: Tensor, dim: int | None, out: Out) -> tuple[Tensor, Tensor]:
        vectors, axis = along(b, self, dim)
        values = extreme(b, vectors, [axis])
        return shaped(b, values, out[0]), shaped(b, position(b, vectors, values, axis), out[1])

    @lowering(f"aten.arg{name}")
    def position_only(b: LinalgBuilder, self: Tensor, dim: int | None, out: Out) -> Tensor:
        vectors, axis = along(b, self, dim)
        return shaped(b, position(b, vectors, extreme(b, vectors, [axis]), axis), out[0])

    del over_all, with_position, position_only


register_extremes("max", greatest)
register_extremes("min", least)


Rank = Callable[[Scalar, Scalar], Scalar]
"""The place in order of what is wanted, from the number of NaNs and of all elements. NaN comes last."""


def middle(nans: Scalar, count: Scalar) -> Scalar:
    """The lower of two middle elements; the first NaN where there is one."""
    return s.select(nans > 0, count - nans, middle_number(nans, count))


def middle_number(nans: Scalar, count: Scalar) -> Scalar:
    """The lower of two middle elements that are numbers; a NaN where none is."""
    return s.shift_right(s.maximum(count - nans - 1, 0), s.constant(1, dt.Long))


def of_none(dtype: DType) -> float:
    """PyTorch's median of no elements: of integers the cast of NaN, and what narrow ones keep of that is 0."""
    of_integers = 0 if dtype.bits < 32 else lowest(dtype)
    return math.nan if dtype.category is Category.FLOAT else of_integers


def at_rank(b: LinalgBuilder, self: Tensor, dim: int | None, rank: Rank, out: Out) -> tuple[Tensor, Tensor]:
    """The elements of a rank along a dimension, and where they stand; the first of equal ones."""
    vectors, axis = along(b, self, dim)
    count = vectors.shape[axis]
    order = sorting_order(b, vectors, axis, False)
    nans = b.fold(lambda nans, x: nans + s.cast(s.is_nan(x), dt.Long), [vectors], [axis], 0, dt.Long)
    ranks = b.elementwise(lambda nans: rank(nans, s.constant(count, dt.Long)), [nans], nans.shape, dt.Long)
    if isinstance(count, Expr):  # where there are none, the first place is read of them
        after = [int(at == axis) for at in range(vectors.ndim)]
        order = b.pad(order, [0] * vectors.ndim, after, 0)
        vectors = b.pad(vectors, [0] * vectors.ndim, after, of_none(self.dtype))
    every = range(vectors.ndim)
    places = indexed_by(b, order, axis, ranks, every, ranks.shape)
    values = indexed_by(b, vectors, axis, places, every, ranks.shape)
    return shaped(b, values, out[0]), shaped(b, places, out[1])


def register_median(name: str, rank: Rank) -> None:
    """Lowerings of `median` and `median.dim`, or of those that leave NaN out."""

    @lowering(f"aten.{name}.dim")
    def over_dim(b: LinalgBuilder, self: Tensor, dim: int | None, out: Out) -> tuple[Tensor, Tensor]:
        return at_rank(b, self, dim, rank, out)

    @lowering(f"aten.{name}")
    def over_all(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
        if 0 in self.shape:
            return b.fill(of_none(self.dtype), (), self.dtype)
        return over_dim(b, self, None, [*out, TensorMeta((), dt.Long)])[0]

    del over_all


register_median("median", middle)
register_median("nanmedian", middle_number)


def following(b: LinalgBuilder, ordered: Tensor, axis: int) -> Tensor:
    """How many elements equal to each one stand right before it."""

    def starts(*at: SSAValue) -> Scalar:
        here = s.from_index(at[axis])
        before = [*at[:axis], s.maximum(here - 1, 0), *at[axis + 1 :]]
        return here.equals(0) | read(ordered, at).differs(read(ordered, before))

    run_starts = b.indexed(starts, ordered.shape, dt.Bool)

    def longer(before: Scalar, _: Scalar, start: Scalar) -> Scalar:
        return s.select(start, 0, before + 1)

    return scan(b, longer, [run_starts], axis, 0, dt.Long)


@lowering("aten.mode", takes_complex=True)
def mode(b: LinalgBuilder, self: Tensor, dim: int | None, out: Out) -> tuple[Tensor, Tensor]:
    """The most frequent element, the least of several, and where it stands last."""
    if not self.shape:
        return alone(b, self)
    vectors, axis = along(b, self, dim)
    every = range(vectors.ndim)
    order = sorting_order(b, vectors, axis, False)
    run = following(b, indexed_by(b, vectors, axis, order, every, vectors.shape), axis)
    longest = position(b, run, greatest(b, run, [axis]), axis)
    places = indexed_by(b, order, axis, longest, every, longest.shape)
    values = indexed_by(b, vectors, axis, places, every, places.shape)
    return shaped(b, values, out[0]), shaped(b, places, out[1])


@lowering("aten.hash_tensor")
def hash_tensor(b: LinalgBuilder, self: Tensor, dim: list[int], out: Out) -> Tensor:
    """The exclusive or of the elements' bits: as float64, or as integers of 64 bits."""
    floating = self.dtype.category is Category.FLOAT
    bits = bitcast(b, b.convert(self, dt.Double if floating else dt.Long), dt.UInt64)
    return shaped(b, b.fold(lambda x, y: x ^ y, [bits], dims_of(self, dim), 0, dt.UInt64), out[0])


# --- segments ------------------------------------------------------------------------------------------------

SEGMENTS: dict[str, tuple[Combine, float]] = {
    "sum": (s.add, 0),
    "mean": (s.add, 0),
    "prod": (s.mul, 1),
    "max": (s.maximum, -math.inf),
    "min": (s.minimum, math.inf),
}
"""What reduces a segment, and what an empty one gives."""


@lowering("aten.segment_reduce")
def segment_reduce(
    b: LinalgBuilder,
    data: Tensor,
    reduce: str,
    lengths: Tensor | None,
    offsets: Tensor | None,
    axis: int,
    initial: float | None,
    out: Out,
) -> Tensor:
    """Reduces consecutive segments of a dimension; `initial` takes part in each."""
    combine, neutral = SEGMENTS[reduce]
    axis, compute = wrap_dim(axis, data.ndim), sum_dtype(data.dtype)
    bounds = b.convert(offsets, dt.Long) if offsets is not None else segment_bounds(b, lengths)

    def element(*at: SSAValue) -> Scalar:
        segment, row = s.from_index(at[axis]), list(at[:axis])
        start, end = (
            between(read(bounds, [*row, place]), 0, data.shape[axis]) for place in (segment, segment + 1)
        )

        def more(here: Scalar, _: Scalar) -> Scalar:
            return here < end

        def step(here: Scalar, total: Scalar) -> list[Scalar]:
            return [
                here + 1,
                combine(total, s.cast(read(data, [*at[:axis], here, *at[axis + 1 :]]), compute)),
            ]

        first = s.constant(neutral if initial is None else initial, compute)
        total = repeat_while([start, first], more, step)[1]
        if reduce != "mean":
            return total
        count = end - start if initial is None else s.maximum(end - start, 1)
        mean = total / s.cast(count, compute)
        return mean if initial is None else s.select(end > start, mean, first)

    return b.indexed(element, out[0].shape, out[0].dtype)


def segment_bounds(b: LinalgBuilder, lengths: Tensor | None) -> Tensor:
    """Where segments of these lengths begin and end, one after another."""
    assert lengths is not None
    padded = b.pad(b.convert(lengths, dt.Long), [0] * (lengths.ndim - 1) + [1], [0] * lengths.ndim, 0)

    def add(before: Scalar, _: Scalar, x: Scalar) -> Scalar:
        return before + x

    return scan(b, add, [padded], lengths.ndim - 1, 0, dt.Long)


# --- histograms ----------------------------------------------------------------------------------------------


@lowering("aten.histc")
def histc(b: LinalgBuilder, self: Tensor, bins: int, min: float, max: float, out: Out) -> Tensor:
    """Bins are found by division, in the tensor's dtype, as PyTorch finds them here."""
    numbers = b.reshape(self, (numel(self.shape),))
    low, high = limits_of(b, numbers, None if min == max else (min, max), 1)

    def rounded(x: Scalar) -> Scalar:
        return s.cast(s.cast(x, self.dtype), x.dtype)

    def place(x: Scalar, first: Scalar, last: Scalar) -> Scalar:
        inside = (x >= first) & (x <= last)
        scaled = rounded(rounded(x - first) * float(bins)) / rounded(last - first)
        found = s.cast(rounded(s.select(inside, scaled, 0)), dt.Long)
        return s.select(inside, s.minimum(found, bins - 1), -1)

    places = b.elementwise(place, [numbers, low, high], numbers.shape, dt.Long)
    return b.convert(counted(b, [places], (bins,), None), out[0].dtype)


@lowering("aten.histogram.bin_ct")
def histogram(
    b: LinalgBuilder,
    self: Tensor,
    bins: int,
    range: list[float] | None,
    weight: Tensor | None,
    density: bool,
    out: Out,
) -> tuple[Tensor, Tensor]:
    points = as_points(b, self)
    edges = edges_of(b, points, [bins], range)
    return binned(b, points, edges, weight, density, out[0]), edges[0]


@lowering("aten.histogram.bins_tensor")
def histogram_of_edges(
    b: LinalgBuilder, self: Tensor, bins: Tensor, weight: Tensor | None, density: bool, out: Out
) -> tuple[Tensor, Tensor]:
    return binned(b, as_points(b, self), [bins], weight, density, out[0]), bins


@lowering("aten._histogramdd_bin_edges")
def histogramdd_edges(
    b: LinalgBuilder, self: Tensor, bins: list[int], range: list[float] | None
) -> list[Tensor]:
    return edges_of(b, self, bins, range)


@lowering("aten._histogramdd_from_bin_cts")
def histogramdd(
    b: LinalgBuilder,
    self: Tensor,
    bins: list[int],
    range: list[float] | None,
    weight: Tensor | None,
    density: bool,
    out: Out,
) -> Tensor:
    return binned(b, self, edges_of(b, self, bins, range), weight, density, out[0])


@lowering("aten._histogramdd_from_bin_tensors")
def histogramdd_of_edges(
    b: LinalgBuilder, self: Tensor, bins: list[Tensor], weight: Tensor | None, density: bool, out: Out
) -> Tensor:
    return binned(b, self, bins, weight, density, out[0])


# --- spread and norms ----------------------------------------------------------------------------------------


def refuse_part_correction(arguments: Mapping[str, Any]) -> str | None:
    """A symbolic count less a part of one is no size."""
    correction, sizes = arguments["correction"], arguments["self"].shape
    whole = correction is None or correction == int(correction)
    return None if whole or is_static(sizes) else "symbolic sizes and a correction that is not whole"


@lowering("aten.var_mean.correction", refuses=refuse_part_correction, takes_complex=True)
def var_mean(
    b: LinalgBuilder, self: Tensor, dim: list[int] | None, correction: float | None, out: Out
) -> tuple[Tensor, Tensor]:
    mean, variance = moments(b, self, dims_of(self, dim), 1 if correction is None else correction)
    return shaped(b, variance, out[0]), shaped(b, mean, out[1])


@lowering("aten.var.correction", refuses=refuse_part_correction, takes_complex=True)
def var(b: LinalgBuilder, self: Tensor, dim: list[int] | None, correction: float | None, out: Out) -> Tensor:
    return var_mean(b, self, dim, correction, [*out, *out])[0]


def lengths_of_numbers(b: LinalgBuilder, self: Tensor) -> Tensor:
    """The absolute values of complex numbers, in float64."""
    return b.elementwise(lambda x: s.absolute(s.cast(x, dt.ComplexDouble)), [self], self.shape, dt.Double)


@lowering("aten.linalg_vector_norm", takes_complex=True)
def vector_norm(b: LinalgBuilder, self: Tensor, ord: float, dim: list[int] | None, out: Out) -> Tensor:
    if self.dtype.category is Category.COMPLEX:
        self = lengths_of_numbers(b, self)
    term, combine, initial, finish = norm(ord)
    total = accumulate(b, combine, self, dims_of(self, dim), initial, out[0].dtype, term)
    return shaped(b, b.elementwise(finish, [total], total.shape, total.dtype), out[0])


# --- scans ---------------------------------------------------------------------------------------------------


def scan(
    b: LinalgBuilder,
    combine: Callable[..., Scalar],
    inputs: Sequence[Tensor],
    dim: int,
    initial: float,
    dtype: DType,
) -> Tensor:
    """Each element from the one before along a dimension: `combine` gets that (at first `initial`), the position, and
    the inputs' elements."""
    shape = inputs[0].shape

    def step(so_far: Tensor, *at: SSAValue) -> tuple[Sequence[Scalar | SSAValue], Scalar]:
        here = s.from_index(at[dim])
        before: list[Scalar | SSAValue] = list(at)
        before[dim] = s.maximum(here - 1, 0)
        previous = s.select(here.equals(0), initial, read(so_far, before))
        return at, combine(previous, here, *(read(input, at) for input in inputs))

    return b.update(Tensor(b.empty(shape, dtype), shape, dtype), shape, step)


def running(
    b: LinalgBuilder, combine: Combine, self: Tensor, dim: int, initial: float, out: TensorMeta
) -> Tensor:
    vectors, axis = along(b, self, wrap_dim(dim, self.ndim))
    accumulator = sum_dtype(out.dtype)

    def add(before: Scalar, _: Scalar, x: Scalar) -> Scalar:
        return combine(before, s.cast(s.cast(x, out.dtype), accumulator))

    return shaped(b, scan(b, add, [vectors], axis, initial, accumulator), out)


@lowering("aten.cumsum", takes_complex=True)
def cumsum(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return running(b, s.add, self, dim, 0, out[0])


@lowering("aten.cumprod", takes_complex=True)
def cumprod(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return running(b, s.mul, self, dim, 1, out[0])


def log_add_exp(x: Scalar, y: Scalar) -> Scalar:
    """log(exp(x) + exp(y)) without overflow."""
    if s.is_complex(x):
        return numbers.log_add_exp(x, y)
    greater, less = s.maximum(x, y), s.minimum(x, y)
    # The difference of equal infinities would be NaN.
    same = greater.equals(less) & s.is_inf(greater)
    return s.select(same, greater, greater + s.log1p(s.exp(less - greater)))


@lowering("aten.logcumsumexp", takes_complex=True)
def logcumsumexp(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    # Of complex numbers with equal real parts it is the new one that the other is added to, as in PyTorch.
    return running(b, lambda before, x: log_add_exp(x, before), self, dim, -math.inf, out[0])


def running_extreme(
    b: LinalgBuilder, combine: Combine, self: Tensor, dim: int, limit: Callable[[DType], float], out: Out
) -> tuple[Tensor, Tensor]:
    """Running extremes, and where the last element equal to each stands."""
    if not self.shape:
        return alone(b, self)
    vectors, axis = along(b, self, dim)

    def further(before: Scalar, _: Scalar, x: Scalar) -> Scalar:
        return combine(before, x)

    def last(before: Scalar, here: Scalar, x: Scalar, value: Scalar) -> Scalar:
        return s.select(is_same(x, value), here, before)

    values = scan(b, further, [vectors], axis, limit(self.dtype), self.dtype)
    places = scan(b, last, [vectors, values], axis, 0, dt.Long)
    return shaped(b, values, out[0]), shaped(b, places, out[1])


@lowering("aten.cummax", takes_complex=True)
def cummax(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> tuple[Tensor, Tensor]:
    return running_extreme(b, s.maximum, self, dim, lowest, out)


@lowering("aten.cummin", takes_complex=True)
def cummin(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> tuple[Tensor, Tensor]:
    return running_extreme(b, s.minimum, self, dim, highest, out)
