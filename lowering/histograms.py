"""What lowerings of histograms are made of: edges of bins, the bin of an element, counts."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import prod as numel
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.operators.indexing import search
from xdsl_exir.lowering.reductions import dims_of, greatest, least
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read


def limits_of(
    b: LinalgBuilder, coordinate: Tensor, limits: Sequence[float] | None, margin: float
) -> tuple[Tensor, Tensor]:
    """A range, of the least and the greatest coordinate unless told; never of width 0."""
    dtype = coordinate.dtype
    if limits is None and not coordinate.shape[0]:
        limits = (0, 1)
    if limits is None:
        low, high = (b.reshape(extreme(b, coordinate, [0]), ()) for extreme in (least, greatest))
    else:
        low, high = (b.fill(limit, (), dtype) for limit in limits)
    return (
        b.elementwise(lambda x, y: s.select(x.equals(y), x - margin, x), [low, high], (), dtype),
        b.elementwise(lambda x, y: s.select(x.equals(y), y + margin, y), [low, high], (), dtype),
    )


def even_edges(b: LinalgBuilder, coordinate: Tensor, bins: int, limits: Sequence[float] | None) -> Tensor:
    """Edges of bins of one width: from both ends to the middle, so that the first and the last are exact."""
    low, high = limits_of(b, coordinate, limits, 0.5)
    dtype = coordinate.dtype

    def edge(index: SSAValue) -> Scalar:
        place, first, last = s.from_index(index), read(low, []), read(high, [])
        step = (last - first) / bins
        rising = first + step * s.cast(place, dtype)
        falling = last - step * s.cast(bins - place, dtype)
        return s.select(place * 2 >= bins + 1, falling, rising)

    return b.indexed(edge, (bins + 1,), dtype)


def bin_of(b: LinalgBuilder, coordinate: Tensor, edges: Tensor) -> Tensor:
    """The bin that each coordinate is in; the last one includes its right edge, -1 is none."""
    count, last = coordinate.shape[0], edges.shape[0] - 1
    after = search(b, edges, coordinate, True, None, TensorMeta((count,), dt.Long))

    def place(x: Scalar, after: Scalar) -> Scalar:
        first, end = (read(edges, [s.constant(at, dt.Long)]) for at in (0, last))
        inside = ~(x < first) & ~(x > end) & ~s.is_nan(x)
        return s.select(inside, s.minimum(after - 1, last - 1), -1)

    return b.elementwise(place, [coordinate, after], (count,), dt.Long)


def counted(b: LinalgBuilder, places: Sequence[Tensor], bins: Sizes, weight: Tensor | None) -> Tensor:
    """How many points, or what weight of them, each bin has, in float64."""
    total = b.fill(0, bins, dt.Double)
    weights = None if weight is None else b.reshape(weight, (numel(weight.shape),))
    if not places or 0 in (*bins, places[0].shape[0]):
        return total

    def step(so_far: Tensor, at: SSAValue) -> tuple[Sequence[Scalar | SSAValue], Scalar]:
        found = [read(each, [at]) for each in places]
        inside = functools.reduce(lambda x, y: x & y, (place >= 0 for place in found))
        place = [s.maximum(place, 0) for place in found]
        share = s.constant(1, dt.Double) if weights is None else s.cast(read(weights, [at]), dt.Double)
        return place, read(so_far, place) + s.select(inside, share, 0)

    return b.update(total, places[0].shape, step)


def binned(
    b: LinalgBuilder,
    points: Tensor,
    edges: Sequence[Tensor],
    weight: Tensor | None,
    density: bool,
    out: TensorMeta,
) -> Tensor:
    """The histogram of points, whose coordinates are columns; as shares of the sum by the bins' volume if `density`."""
    bins = tuple(each.shape[0] - 1 for each in edges)
    places = [bin_of(b, column(b, points, dim), each) for dim, each in enumerate(edges)]
    total = counted(b, places, bins, weight)
    if not density:
        return b.convert(total, out.dtype)
    everything = b.reshape(b.reduce(s.add, total, dims_of(total, None), 0, dt.Double), ())

    def share(x: Scalar, whole: Scalar, *at: SSAValue) -> Scalar:
        result = x / whole
        for each, place in zip(edges, at, strict=True):
            here = s.from_index(place)
            low, high = (s.cast(read(each, [end]), dt.Double) for end in (here, here + 1))
            result = result / (high - low)
        return result

    rank = total.ndim
    inputs = [(total, AffineMap.identity(rank)), (everything, AffineMap(rank, 0, ()))]
    return b.indexed(share, total.shape, out.dtype, inputs)


def column(b: LinalgBuilder, points: Tensor, dim: int) -> Tensor:
    """One coordinate of points `[..., dims]`."""
    count = numel(points.shape[:-1])
    table = b.reshape(points, (count, points.shape[-1]))
    return b.reshape(b.slice(table, [0, dim], [count, 1], [1, 1]), (count,))


def edges_of(
    b: LinalgBuilder, points: Tensor, bins: Sequence[int], limits: Sequence[float] | None
) -> list[Tensor]:
    pairs = [None] * len(bins) if limits is None else list(zip(limits[::2], limits[1::2], strict=True))
    return [
        even_edges(b, column(b, points, dim), *each) for dim, each in enumerate(zip(bins, pairs, strict=True))
    ]


def as_points(b: LinalgBuilder, self: Tensor) -> Tensor:
    """Numbers as points of one dimension."""
    return b.reshape(self, (numel(self.shape), 1))
