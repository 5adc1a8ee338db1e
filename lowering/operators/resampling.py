"""Lowerings of resampling: maps over the result that read the input at computed places and weigh what they find.

Along each dimension there are taps: a place and the weight of what is there. Those of several dimensions multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from math import inf
from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, provably_equal
from xdsl_exir.dialects.expr import prod as numel
from xdsl_exir.dialects.shapes.resampling import BICUBIC, BILINEAR, CUBIC, REFLECTION, ZEROS
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read

Out = list[TensorMeta]
Tap: TypeAlias = tuple[Scalar, Scalar | None]
"""A place along a dimension and the weight of what is there; None is 1."""


def weighted(taps: Sequence[Sequence[Tap]], element: Callable[[list[Scalar]], Scalar]) -> Scalar:
    """The sum over all choices of one tap for each dimension, the last one's first."""
    if not taps:
        return element([])

    def term(place: Scalar, weight: Scalar | None) -> Scalar:
        inner = weighted(taps[1:], lambda places: element([place, *places]))
        return inner if weight is None else inner * weight

    return reduce(s.add, (term(*tap) for tap in taps[0]))


# --- upsampling ----------------------------------------------------------------------------------------------

Taps: TypeAlias = Callable[[Scalar, Dim, Dim], list[Tap]]
"""The taps of an output element's place (Long), from the sizes before and after."""


def distance(size: Dim, count: Dim, dtype: DType, align_corners: bool = False) -> Scalar:
    """In a body: the distance between output elements, in input elements (area_pixel_compute_scale in UpSample.h)."""
    before, after = s.constant(size, dtype), s.constant(count, dtype)
    return s.select(after > 1, (before - 1) / (after - 1), 0) if align_corners else before / after


def nearest_taps(factor: float | None) -> Taps:
    """The element that the corner of an output element lies in. Places are computed in float32.

    Equal and double sizes have their own ratio, whatever the factor (nearest_idx in UpSample.h).
    """

    def taps(place: Scalar, size: Dim, count: Dim) -> list[Tap]:
        scale = distance(size, count, dt.Float)
        if factor is not None and factor > 0:
            before, after = s.constant(size, dt.Long), s.constant(count, dt.Long)
            own = after.equals(before) | after.equals(before * 2)
            scale = s.select(own, scale, 1 / factor)
        corner = s.floor(s.cast(place, dt.Float) * scale)
        return [(s.minimum(s.cast(corner, dt.Long), size - 1), None)]

    return taps


def linear_taps(factor: float | None, align_corners: bool, compute: DType) -> Taps:
    """The two elements around the center of an output element; around its corner if corners align. Of equal sizes twice the element itself,
    whatever the factor (compute_source_index_and_lambda in UpSample.h)."""

    def taps(place: Scalar, size: Dim, count: Dim) -> list[Tap]:
        if size == count:
            return [(place, s.constant(1, compute)), (place, s.constant(0, compute))]
        may_be_equal = provably_equal(size, count) is None
        equal = s.constant(size, dt.Long).equals(s.constant(count, dt.Long)) if may_be_equal else None
        x = s.cast(place, compute)
        given = None if align_corners or factor is None or factor <= 0 else s.constant(1 / factor, compute)
        scale = distance(size, count, compute, align_corners) if given is None else given
        scale = scale if equal is None or given is None else s.select(equal, 1, scale)
        x = x * scale if align_corners else s.maximum((x + 0.5) * scale - 0.5, 0)
        low = s.minimum(s.cast(s.floor(x), dt.Long), size - 1)
        weight = s.minimum(s.maximum(x - s.cast(low, compute), 0), 1)
        high = low + 1 if equal is None else s.select(equal, low, low + 1)
        return [(low, 1 - weight), (s.minimum(high, size - 1), weight)]

    return taps


def upsampled(b: LinalgBuilder, input: Tensor, taps: Sequence[Taps], out: TensorMeta) -> Tensor:
    """An image of other sizes, by the taps of each spatial dimension, which are in tables: they are the same for all rows."""
    shape = out.shape
    tables = [
        tabulated(b, partial(at_index, dim, size, count), size, (count,))
        for dim, size, count in zip(taps, input.shape[2:], shape[2:], strict=True)
    ]

    def element(*at: SSAValue) -> Scalar:
        found = [table(place) for table, place in zip(tables, at[2:], strict=True)]
        return weighted(found, lambda places: read(input, [*at[:2], *places]))

    return b.indexed(element, shape, out.dtype)


def at_index(taps: Taps, size: Dim, count: Dim, at: SSAValue) -> list[Tap]:
    return taps(s.from_index(at), size, count)


MOST_INT = (1 << 31) - 1


def places_of(size: Dim) -> DType:
    """The dtype of places in a dimension."""
    return dt.Int if isinstance(size, int) and size <= MOST_INT else dt.Long


def tabulated(
    b: LinalgBuilder, taps: Callable[..., list[Tap]], size: Dim, shape: Sizes
) -> Callable[..., list[Tap]]:
    """Taps of a dimension of a size, computed once for each point of a shape: from indices to what tables hold."""
    found: list[Tap] = []

    def table(number: int, part: int, dtype: DType) -> Tensor:
        def element(*at: SSAValue) -> Scalar:
            found[:] = taps(*at)
            value = found[number][part]
            assert value is not None
            return value

        return b.indexed(element, shape, dtype)

    places = places_of(size)
    first = table(0, 0, places)
    tables = [
        (
            first if number == 0 else table(number, 0, places),
            None if weight is None else table(number, 1, weight.dtype),
        )
        for number, (_, weight) in enumerate([*found])
    ]

    def read_at(*at: SSAValue) -> list[Tap]:
        return [
            (s.cast(read(place, at), dt.Long), None if weight is None else read(weight, at))
            for place, weight in tables
        ]

    return read_at


@lowering("aten.upsample_nearest2d")
def upsample_nearest2d(
    b: LinalgBuilder, self: Tensor, scales_h: float | None, scales_w: float | None, out: Out
) -> Tensor:
    return upsampled(b, self, [nearest_taps(scales_h), nearest_taps(scales_w)], out[0])


@lowering("aten.upsample_nearest2d.vec")
def upsample_nearest2d_vec(
    b: LinalgBuilder, input: Tensor, scale_factors: list[float] | None, out: Out
) -> Tensor:
    height, width = scale_factors or (None, None)
    return upsample_nearest2d(b, input, height, width, out)


def refuse_bytes(given: Mapping[str, Any]) -> str | None:
    """Bytes are resampled in fixed point, which a decomposition says."""
    image = given.get("self") or given["input"]
    return "bytes, which have to be decomposed before" if image.dtype is dt.Byte else None


@lowering("aten.upsample_bilinear2d", refuses=refuse_bytes)
def upsample_bilinear2d(
    b: LinalgBuilder,
    self: Tensor,
    align_corners: bool,
    scales_h: float | None,
    scales_w: float | None,
    out: Out,
) -> Tensor:
    compute = compute_dtype(self.dtype)
    taps = [linear_taps(factor, align_corners, compute) for factor in (scales_h, scales_w)]
    return upsampled(b, self, taps, out[0])


@lowering("aten.upsample_bilinear2d.vec", refuses=refuse_bytes)
def upsample_bilinear2d_vec(
    b: LinalgBuilder, input: Tensor, align_corners: bool, scale_factors: list[float] | None, out: Out
) -> Tensor:
    height, width = scale_factors or (None, None)
    return upsample_bilinear2d(b, input, align_corners, height, width, out)


# --- sampling along a grid -----------------------------------------------------------------------------------


def unnormalized(place: Scalar, size: Dim, align_corners: bool) -> Scalar:
    """A place between -1 and 1 counted in elements: -1 and 1 are the centers of the outer ones, or their edges."""
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def reflected(place: Scalar, low: float, span: Dim) -> Scalar:
    """A place folded back into an interval of a length as often as need be (as GridSamplerKernel.cpp does, without remainders)."""
    if span == 0:
        return s.constant(0, place.dtype)
    away, there_and_back = s.absolute(place - low), s.constant(span, place.dtype) * 2
    rest = away - s.floor(away / there_and_back) * there_and_back
    folded = s.minimum(rest, there_and_back - rest) + low
    return folded if isinstance(span, int) else s.select(there_and_back.equals(0), 0, folded)


def padded(place: Scalar, size: Dim, padding_mode: int, align_corners: bool) -> Scalar:
    """A place brought into the input, but for padding with zeros."""
    if padding_mode == ZEROS:
        return place
    if padding_mode == REFLECTION:
        place = reflected(place, 0, size - 1) if align_corners else reflected(place, -0.5, size)
    return s.minimum(s.maximum(place, 0), size - 1)


def within(place: Scalar, size: Dim) -> Scalar:
    """A place, a whole number as float, as integer; of what is outside that of the zero behind the others."""
    inside = (place >= 0) & (place < size)
    return s.select(inside, s.cast(s.select(inside, place, 0), places_of(size)), size)


def with_zeros(b: LinalgBuilder, input: Tensor) -> Tensor:
    """The input with a zero behind each of its spatial dimensions, to be read where a place is outside: without a branch in the loop."""
    after = [0, 0, *[1] * (input.ndim - 2)]
    return b.pad(input, [0] * input.ndim, after, 0)


def linear_pair(place: Scalar) -> list[Tap]:
    """The elements on both sides of a place."""
    low = s.floor(place)
    return [(low, low + 1 - place), (low + 1, place - low)]


def cubic_taps(place: Scalar) -> list[Tap]:
    """The four elements around a place: cubic convolution."""
    a, low = CUBIC, s.floor(place)
    t = place - low

    def near(x: Scalar) -> Scalar:
        return ((x * (a + 2)) - (a + 3)) * x * x + 1

    def far(x: Scalar) -> Scalar:
        return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a

    return [(low - 1, far(t + 1)), (low, near(t)), (low + 1, near(1 - t)), (low + 2, far(2 - t))]


def combined(taps: Sequence[Sequence[Tap]], sizes: Sizes) -> list[Tap]:
    """The taps of several dimensions as ones of all their elements in order."""

    def joined(first: Tap, second: Tap, size: Dim) -> Tap:
        place = s.cast(first[0], dt.Long) * size + s.cast(second[0], dt.Long)
        weights = [weight for _, weight in (first, second) if weight is not None]
        return place, reduce(s.mul, weights) if weights else None

    found = list(taps[0])
    for more, size in zip(taps[1:], sizes[1:], strict=True):
        found = [joined(first, second, size) for first in found for second in more]
    return found


@lowering("aten.grid_sampler_2d", "aten.grid_sampler_3d")
def grid_sampler(
    b: LinalgBuilder,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    out: Out,
) -> Tensor:
    sizes, points = input.shape[2:], (grid.shape[0], numel(grid.shape[1:-1]))
    places = b.reshape(grid, (*points, len(sizes)))

    def place(dim: int, at: Sequence[SSAValue]) -> Scalar:
        # The grid's last dimension is x, y, z.
        coordinate = s.constant(len(sizes) - 1 - dim, dt.Long)
        return unnormalized(read(places, [*at, coordinate]), sizes[dim], align_corners)

    def taps(dim: int, *at: SSAValue) -> list[Tap]:
        x, size = place(dim, at), sizes[dim]
        if interpolation_mode == BICUBIC:
            found = [
                (padded(tap, size, padding_mode, align_corners), weight) for tap, weight in cubic_taps(x)
            ]
        else:
            x = padded(x, size, padding_mode, align_corners)
            found = linear_pair(x) if interpolation_mode == BILINEAR else [(s.round_even(x), None)]
        if len(sizes) == 3:
            # In volumes what is outside is skipped, not multiplied by 0: places without end as well.
            finite = s.absolute(x) < inf
            found = [(tap, weight and s.select(finite, weight, 0)) for tap, weight in found]
        return [(within(tap, size), weight) for tap, weight in found]

    # They are the same for all channels; few are made ones of all dimensions.
    tables = [tabulated(b, partial(taps, dim), size, points) for dim, size in enumerate(sizes)]
    source = with_zeros(b, input)
    if interpolation_mode != BICUBIC:
        room, of_dims = source.shape[2:], tables
        tables = [
            tabulated(b, lambda *at: combined([table(*at) for table in of_dims], room), numel(room), points)
        ]
        source = b.reshape(source, (*source.shape[:2], numel(room)))

    def element(*at: SSAValue) -> Scalar:
        found = [table(at[0], at[2]) for table in tables]
        return weighted(found, lambda places: read(source, [*at[:2], *places]))

    made = b.indexed(element, (*input.shape[:2], points[1]), out[0].dtype)
    return b.reshape(made, out[0].shape)
