"""Decompositions of resampling, one dimension after the other: indices computed from positions, weighted sums.

Resampling along a dimension is a sum of taps: elements at computed indices times weights. Nearest neighbours are one
tap, linear interpolation has two, cubic four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from math import ceil
from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, opmath
from xdsl_exir.dialects.dtypes import Byte, Double, DType, Float, Int, Long
from xdsl_exir.dialects.expr import Dim, Expr, apply, ceildiv, condition, max_, provably_equal
from xdsl_exir.dialects.shapes.pooling import window_count
from xdsl_exir.dialects.shapes.resampling import CUBIC, ratio, size_from
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS, KEEP, decomposition
from xdsl_exir.transforms.decompositions.view import Sizes, dims_of

Tap: TypeAlias = tuple[SSAValue, SSAValue | None]
"""Indices (Long) into a dimension and the weights of what they pick, both vectors; None is 1."""

Taps: TypeAlias = Callable[[Sizes, Dim, Dim, bool, float | None, DType], Sequence[Tap]]
"""From what computes sizes, the sizes before and after, `align_corners`, the scale factor if given, and the dtype to compute in."""


def constant_sizes(values: Sequence[Any], what: str) -> list[int]:
    """Sizes that must be known. Raises `ExirError` where one is not."""
    sizes = [value for value in values if isinstance(value, int)]
    if len(sizes) != len(values):
        raise ExirError(f"{what}: sizes must be constant")
    return sizes


# --- taps ----------------------------------------------------------------------------------------------------


def positions(sizes: Sizes, count: Dim, align_corners: bool, scale: float | Dim, dtype: DType) -> SSAValue:
    """Where output elements lie among input elements, `scale` of these apart: centers of pixels on centers, or corners on corners."""
    aten, distance = sizes.aten, sizes.number(scale)
    places = aten.arange.start_step(0, sizes(count), 1, dtype=dtype)
    if align_corners:
        return aten.mul.Tensor(places, distance)
    return aten.sub.Tensor(aten.mul.Tensor(aten.add.Tensor(places, 0.5), distance), 0.5)


def nearest_taps(exact: bool) -> Taps:
    def taps(
        sizes: Sizes, size: Dim, count: Dim, align_corners: bool, factor: float | None, dtype: DType
    ) -> list[Tap]:
        """The element that a pixel's corner lies in, or (`exact`) its center. In float32 whatever the dtype."""
        aten, scale = sizes.aten, sizes.number(ratio(size, count, align_corners, factor))
        places = aten.arange.start_step(0, sizes(count), 1, dtype=Float)
        places = aten.mul.Tensor(aten.add.Tensor(places, 0.5) if exact else places, scale)
        return [(aten.clamp(cast(aten, places, Long), None, sizes(size - 1)), None)]

    return taps


def linear_taps(
    sizes: Sizes, size: Dim, count: Dim, align_corners: bool, factor: float | None, dtype: DType
) -> list[Tap]:
    """The two elements around. Of equal sizes twice the element itself, whatever the factor (compute_source_index_and_lambda in UpSample.h)."""
    aten, last = sizes.aten, sizes(size - 1)
    scale, further = ratio(size, count, align_corners, factor), 1
    if provably_equal(size, count) is not False:
        equal = condition("eq", size, count)
        scale, further = apply("where", equal, 1.0, scale), apply("where", equal, 0, 1)
    place = positions(sizes, count, align_corners, scale, dtype)
    place = place if align_corners else aten.clamp(place, 0.0)
    low = aten.clamp(cast(aten, place, Long), None, last)
    high = aten.clamp(aten.add.Tensor(low, sizes(further)), None, last)
    weight = aten.clamp(aten.sub.Tensor(place, low), 0.0, 1.0)
    return [(low, aten.rsub.Scalar(weight, 1)), (high, weight)]


def cubic_taps(
    sizes: Sizes, size: Dim, count: Dim, align_corners: bool, factor: float | None, dtype: DType
) -> list[Tap]:
    aten, last = sizes.aten, sizes(size - 1)
    place = positions(sizes, count, align_corners, ratio(size, count, align_corners, factor), dtype)
    floor = aten.floor(place)
    t = aten.clamp(aten.sub.Tensor(place, floor), 0.0, 1.0)
    low = cast(aten, floor, Long)
    weights = cubic_weights(aten, t)
    return [
        (aten.clamp(aten.add.Tensor(low, offset - 1), 0, last), weight)
        for offset, weight in enumerate(weights)
    ]


def cubic_weights(aten: Namespace, t: SSAValue) -> list[SSAValue]:
    """Weights of the four elements around a place at distance t from the second: cubic convolution."""

    def near(x: SSAValue) -> SSAValue:
        """`((A + 2) x - (A + 3)) x^2 + 1`, up to a distance of 1."""
        inner = aten.sub.Tensor(aten.mul.Tensor(x, CUBIC + 2), CUBIC + 3)
        return aten.add.Tensor(aten.mul.Tensor(aten.mul.Tensor(inner, x), x), 1)

    def far(x: SSAValue) -> SSAValue:
        """`((A x - 5 A) x + 8 A) x - 4 A`, up to a distance of 2."""
        inner = aten.sub.Tensor(aten.mul.Tensor(x, CUBIC), 5 * CUBIC)
        inner = aten.add.Tensor(aten.mul.Tensor(inner, x), 8 * CUBIC)
        return aten.sub.Tensor(aten.mul.Tensor(inner, x), 4 * CUBIC)

    rest = aten.rsub.Scalar(t, 1)
    return [far(aten.add.Tensor(t, 1)), near(t), near(rest), far(aten.add.Tensor(rest, 1))]


# --- upsampling ----------------------------------------------------------------------------------------------


def resample(
    aten: Namespace,
    input: SSAValue,
    output_size: Sequence[Any],
    align_corners: bool,
    factors: Sequence[float | None],
    taps: Taps,
) -> SSAValue:
    """Resamples the dimensions after the first two, the last one first."""
    dtype = meta(input).dtype
    before, after = meta(input).shape[2:], dims_of(output_size, "upsampling")
    sizes = Sizes(aten, input, *output_size)
    same = [
        size == count and (align_corners or factor in (None, 1) or dtype is Byte or taps is linear_taps)
        for size, count, factor in zip(before, after, factors, strict=True)
    ]
    if taps not in (linear_taps, cubic_taps):
        kept = [None if same else factor for same, factor in zip(same, factors, strict=True)]
        return aten.clone(input) if all(same) else nearest(aten, input, sizes, after, kept, taps)
    wide = weights_dtype(dtype)
    result = input if dtype is Byte else cast(aten, input, wide)
    for dim in reversed(range(len(before))):
        if same[dim] and dtype is Byte:
            continue
        if same[dim] and taps is linear_taps:  # of an infinity the weight 0 makes NaN
            result = aten.add.Tensor(result, aten.mul.Scalar(result, 0))
            continue
        found = taps(sizes, before[dim], after[dim], align_corners, factors[dim], wide)
        if dtype is Byte:
            result = in_fixed_point(aten, result, dim + 2, *as_windows(aten, found))
        else:
            result = along(aten, result, dim + 2, found)
    return aten.clone(input) if result is input else cast(aten, result, dtype)


def nearest(
    aten: Namespace,
    input: SSAValue,
    sizes: Sizes,
    after: Sequence[Dim],
    factors: Sequence[float | None],
    taps: Taps,
) -> SSAValue:
    """The dimensions after the first two at once: one element each, at computed places."""
    before, dtype = meta(input).shape[2:], meta(input).dtype
    indices: list[SSAValue | None] = [None, None]
    for dim, (size, count) in enumerate(zip(before, after, strict=True)):
        [(index, _)] = taps(sizes, size, count, False, factors[dim], dtype)
        indices.append(aten.view(index, [-1, *[1] * (len(after) - dim - 1)]))
    return aten.index.Tensor(input, indices)


def along(aten: Namespace, input: SSAValue, dim: int, taps: Sequence[Tap]) -> SSAValue:
    """The sum of taps along a dimension."""
    after = meta(input).ndim - dim - 1

    def term(index: SSAValue, weight: SSAValue | None) -> SSAValue:
        picked = aten.index.Tensor(input, [*([None] * dim), index])
        if weight is None:
            return picked
        return aten.mul.Tensor(picked, aten.view(weight, [-1, *([1] * after)]))

    return reduce(aten.add.Tensor, (term(*tap) for tap in taps))


# --- bytes ---------------------------------------------------------------------------------------------------


def weights_dtype(dtype: DType) -> DType:
    """What weights are computed in."""
    return Double if dtype is Byte else opmath(dtype)


def as_windows(aten: Namespace, taps: Sequence[Tap]) -> tuple[SSAValue, SSAValue]:
    """Taps as windows, `[count, taps]`: indices and weights; the first of equal indices has the weights of all of them."""
    index = aten.stack([index for index, _ in taps], 1)
    weights = aten.stack([weight for _, weight in taps], 1)
    same = aten.eq.Tensor(aten.unsqueeze(index, 2), aten.unsqueeze(index, 1))
    zero = aten.scalar_tensor(0.0, dtype=meta(weights).dtype)
    together = aten.sum.dim_IntList(aten.where.self(same, aten.unsqueeze(weights, 1), zero), [2])
    again = aten.eq.Tensor(aten.slice.Tensor(index, 1, 1), aten.slice.Tensor(index, 1, 0, -1))
    first = aten.logical_not(aten.constant_pad_nd(again, [1, 0], 0))
    return index, aten.where.self(first, together, zero)


MOST_BITS = 22


def in_fixed_point(
    aten: Namespace, input: SSAValue, dim: int, index: SSAValue, weights: SSAValue
) -> SSAValue:
    """Bytes resampled along a dimension by windows, `[count, window]`: the weights have as many bits after the point as let
    the largest one have sixteen with its sign, the sum is rounded (UpSampleKernel.cpp, _compute_index_ranges_int16_weights).
    """
    powers = aten.bitwise_left_shift.Scalar_Tensor(1, aten.arange.start_step(1, MOST_BITS + 1, 1, dtype=Long))
    fits = aten.lt.Scalar(aten.add.Scalar(aten.mul.Tensor(powers, aten.max(weights)), 0.5), 2**15)
    bits = aten.sum(fits)
    scaled = aten.mul.Tensor(weights, aten.bitwise_left_shift.Scalar_Tensor(1, bits))
    away = aten.add.Tensor(scaled, aten.mul.Scalar(aten.sign(weights), 0.5))
    fixed = cast(aten, aten.trunc(away), Int)
    for _ in range(meta(input).ndim - dim - 1):
        fixed = aten.unsqueeze(fixed, -1)
    windows = cast(aten, aten.index.Tensor(input, [*[None] * dim, index]), Int)  # [..., count, window, ...]
    total = aten.sum.dim_IntList(aten.mul.Tensor(windows, fixed), [dim + 1], False, dtype=Long)
    half = aten.bitwise_left_shift.Scalar_Tensor(1, aten.sub.Scalar(bits, 1))
    rounded = aten.bitwise_right_shift.Tensor(aten.add.Tensor(total, half), bits)
    return cast(aten, aten.clamp(rounded, 0, 255), Byte)


def _register(count: int, name: str, taps: Taps, keeps_floats: bool = False) -> None:
    """The rules of an operator that resamples this many dimensions; a core one is left but for bytes."""
    scales = ["scales"] if count == 1 else ["scales_d", "scales_h", "scales_w"][-count:]
    aligns = () if name.startswith(("upsample_nearest", "_upsample_nearest")) else ("align_corners",)

    def plain(
        aten: Namespace, self: SSAValue, output_size: list[Any], align_corners: bool = False, **factors: Any
    ) -> SSAValue:
        return resample(aten, self, output_size, align_corners, [factors[key] for key in scales], taps)

    def vec(
        aten: Namespace,
        input: SSAValue,
        output_size: list[Any] | None,
        scale_factors: list[float] | None,
        align_corners: bool = False,
    ) -> SSAValue:
        size = output_size or Sizes(aten, input).all(size_from(meta(input).shape, count, None, scale_factors))
        return resample(aten, input, size, align_corners, scale_factors or [None] * count, taps)

    register = partial(DECOMPOSITIONS.register, may_keep=keeps_floats)
    rules: tuple[Callable[..., Any], Callable[..., Any]] = (plain, vec)
    if keeps_floats:
        rules = (of_bytes("self", plain), of_bytes("input", vec))
    register(f"aten.{name}", parameters=("self", "output_size", *aligns, *scales))(rules[0])
    register(f"aten.{name}.vec", parameters=("input", "output_size", "scale_factors", *aligns))(rules[1])


def of_bytes(image: str, rule: Callable[..., SSAValue]) -> Callable[..., Any]:
    """The rule, where the argument that is the image is of bytes."""

    def kept(aten: Namespace, **arguments: Any) -> Any:
        return rule(aten, **arguments) if meta(arguments[image]).dtype is Byte else KEEP

    return kept


_register(1, "upsample_nearest1d", nearest_taps(exact=False))
_register(3, "upsample_nearest3d", nearest_taps(exact=False))
for _count in (1, 2, 3):
    _register(_count, f"_upsample_nearest_exact{_count}d", nearest_taps(exact=True))
_register(1, "upsample_linear1d", linear_taps)
_register(2, "upsample_bilinear2d", linear_taps, keeps_floats=True)
_register(3, "upsample_trilinear3d", linear_taps)
_register(2, "upsample_bicubic2d", cubic_taps)


# --- upsampling with antialiasing ----------------------------------------------------------------------------


Filter: TypeAlias = Callable[[Namespace, SSAValue], SSAValue]
"""Weights by distance from the center."""


def triangle(aten: Namespace, x: SSAValue) -> SSAValue:
    return aten.clamp(aten.rsub.Scalar(aten.abs(x), 1), 0.0)


def cubic(aten: Namespace, x: SSAValue) -> SSAValue:
    """Keys' cubic with a = -0.5, as Pillow's."""
    x = aten.abs(x)
    near = aten.add.Scalar(
        aten.mul.Tensor(aten.mul.Tensor(aten.sub.Scalar(aten.mul.Scalar(x, 1.5), 2.5), x), x), 1
    )
    far = aten.sub.Scalar(
        aten.mul.Tensor(aten.add.Scalar(aten.mul.Tensor(aten.sub.Scalar(x, 5), x), 8), x), 4
    )
    far = aten.where.self(aten.lt.Scalar(x, 2), aten.mul.Scalar(far, -0.5), aten.zeros_like(x))
    return aten.where.self(aten.lt.Scalar(x, 1), near, far)


def lanczos(aten: Namespace, x: SSAValue) -> SSAValue:
    window = aten.mul.Tensor(aten.sinc(x), aten.sinc(aten.div.Scalar(x, 3)))
    return aten.where.self(aten.lt.Scalar(aten.abs(x), 3), window, aten.zeros_like(x))


FILTERS: dict[str, tuple[Filter, int]] = {
    "_upsample_bilinear2d_aa": (triangle, 1),
    "_upsample_bicubic2d_aa": (cubic, 2),
    "_upsample_lanczos2d_aa": (lanczos, 3),
}
"""Each operator's filter, and how far it reaches (UpSampleKernel.cpp, `aa_filter`)."""


def windows_of(
    aten: Namespace,
    self: SSAValue,
    dim: int,
    length: Size,
    align_corners: bool,
    factor: float | None,
    filter: Filter,
    support: int,
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The windows around the centers of `length` elements, `[length, window]`: indices, their weights, and which count.
    Weights are a filter's, in input elements, or output elements where those are wider, and add up to 1
    (UpSampleKernel.cpp, _compute_weights_aa)."""
    sizes, dtype = Sizes(aten, self, length), weights_dtype(meta(self).dtype)
    size, count = map(sizes.named, (meta(self).shape[dim], *dims_of([length], "upsampling")))
    scale = ratio(size, count, align_corners, factor)
    if isinstance(scale, Expr):
        unit, ends = apply("max", scale, 1.0), int(align_corners)
        whole = max_(support, ceildiv(support * (size - ends), max_(count - ends, 1)))
    else:
        unit = max(scale, 1.0)
        whole = ceil(support * unit)
    number, reach = sizes.number, sizes.number(support * unit)
    places = aten.arange.start_step(0, length, 1, dtype=dtype)
    center = aten.unsqueeze(aten.mul.Tensor(aten.add.Tensor(places, 0.5), number(scale)), 1)
    first = aten.clamp(cast(aten, aten.add.Tensor(aten.sub.Tensor(center, reach), 0.5), Long), 0)
    end = aten.clamp(
        cast(aten, aten.add.Tensor(aten.add.Tensor(center, reach), 0.5), Long), None, sizes(size)
    )
    index = aten.add.Tensor(first, aten.arange.start_step(0, sizes(2 * whole + 1), 1, dtype=Long))
    inside = aten.lt.Tensor(index, end)
    offset = aten.add.Tensor(aten.sub.Tensor(cast(aten, index, dtype), center), 0.5)
    weights = aten.mul.Tensor(
        filter(aten, aten.mul.Tensor(offset, number(1 / unit))), cast(aten, inside, dtype)
    )
    total = aten.sum.dim_IntList(weights, [1], True)
    nothing = cast(aten, aten.eq.Scalar(total, 0), dtype)  # of places that a given factor puts past the input
    weights = aten.div.Tensor(weights, aten.add.Tensor(total, nothing))
    return aten.clamp(index, None, sizes(size - 1)), weights, inside


def resampled(aten: Namespace, self: SSAValue, dim: int, *how: Any) -> SSAValue:
    """One dimension resampled, each element the mean of a window around its center."""
    index, weights, inside = windows_of(aten, self, dim, *how)
    if meta(self).dtype is Byte:
        return in_fixed_point(aten, self, dim, index, weights)
    # Taps come before elements: sums of taps next to each other are no vectors.
    index, weights, inside = (aten.permute(table, [1, 0]) for table in (index, weights, inside))
    windows = aten.index.Tensor(self, [*[None] * dim, index])  # [..., window, count, ...]
    for _ in range(meta(self).ndim - dim - 1):
        weights, inside = aten.unsqueeze(weights, -1), aten.unsqueeze(inside, -1)
    terms = aten.mul.Tensor(windows, weights)
    # What is outside counts for nothing, infinite or not.
    terms = aten.where.self(inside, terms, aten.scalar_tensor(0.0, dtype=meta(terms).dtype))
    return aten.sum.dim_IntList(terms, [dim])


def antialiased(
    aten: Namespace,
    input: SSAValue,
    output_size: Sequence[Any],
    align_corners: bool,
    factors: Sequence[float | None],
    filter: Filter,
    support: int,
) -> SSAValue:
    """Resamples rows, then columns."""
    dtype = meta(input).dtype
    result = input if dtype is Byte else cast(aten, input, opmath(dtype))
    rows, columns = output_size
    for dim, length, factor in ((3, columns, factors[1]), (2, rows, factors[0])):
        if meta(input).shape[dim] != dims_of([length], "upsampling")[0]:
            result = resampled(aten, result, dim, length, align_corners, factor, filter, support)
    return aten.clone(input) if result is input else cast(aten, result, dtype)


def _register_antialiased(name: str, filter: Filter, support: int) -> None:
    def plain(
        aten: Namespace,
        self: SSAValue,
        output_size: list[Any],
        align_corners: bool,
        scales_h: float | None,
        scales_w: float | None,
    ) -> SSAValue:
        return antialiased(aten, self, output_size, align_corners, [scales_h, scales_w], filter, support)

    def vec(
        aten: Namespace,
        input: SSAValue,
        output_size: list[Any] | None,
        align_corners: bool,
        scale_factors: list[float] | None,
    ) -> SSAValue:
        size = output_size or Sizes(aten, input).all(size_from(meta(input).shape, 2, None, scale_factors))
        factors = scale_factors or [None, None]
        return antialiased(aten, input, size, align_corners, factors, filter, support)

    decomposition(f"aten.{name}")(plain)
    decomposition(f"aten.{name}.vec")(vec)


for _name, _filter in FILTERS.items():
    _register_antialiased(_name, *_filter)


# --- sampling along a grid -----------------------------------------------------------------------------------


@decomposition("aten.grid_sampler")
def grid_sampler(
    aten: Namespace,
    input: SSAValue,
    grid: SSAValue,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> SSAValue:
    sampler = aten.grid_sampler_2d if meta(input).ndim == 4 else aten.grid_sampler_3d
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)


# --- patches -------------------------------------------------------------------------------------------------


def coordinates(sizes: Sizes, count: Dim, taps: int, dilation: int, stride: int, rank: int) -> SSAValue:
    """Where each tap of each patch lies in the padded dimension: Long `[taps, patches]`, then 1 up to the rank."""
    aten = sizes.aten
    of_tap = aten.view(aten.arange.start_step(0, taps * dilation, dilation), [taps, 1])
    of_patch = aten.arange.start_step(0, sizes(count * stride), stride)
    return aten.view(aten.add.Tensor(of_tap, of_patch), [taps, sizes(count), *([1] * (rank - 2))])


def patches(
    image: Sequence[Dim],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> list[Dim]:
    """How many patches there are in both dimensions."""
    options = zip(image, kernel_size, stride, padding, dilation, strict=True)
    return [window_count(*of_dimension) for of_dimension in options]


def places(
    sizes: Sizes,
    counts: Sequence[Dim],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    stride: Sequence[int],
) -> list[SSAValue]:
    """Row and column indices that broadcast to `[kh, oh, kw, ow]`."""
    options = zip(counts, kernel_size, dilation, stride, (4, 2), strict=True)
    return [coordinates(sizes, *of_dimension) for of_dimension in options]


@decomposition("aten.im2col")
def im2col(
    aten: Namespace,
    self: SSAValue,
    kernel_size: list[int],
    dilation: list[int],
    padding: list[int],
    stride: list[int],
) -> SSAValue:
    sizes = Sizes(aten, self)
    *batch, channels, height, width = meta(self).shape
    (kh, kw), (top, left) = kernel_size, padding
    oh, ow = patches([height, width], kernel_size, dilation, padding, stride)
    index = places(sizes, [oh, ow], kernel_size, dilation, stride)
    padded = aten.constant_pad_nd(self, [left, left, top, top])
    first = len(batch) + 1
    picked = aten.index.Tensor(padded, [*([None] * first), *index])
    order = [*range(first), first, first + 2, first + 1, first + 3]
    columns = aten.clone(aten.permute(picked, order), memory_format="contiguous_format")
    return aten.view(columns, sizes.all([*batch, channels * kh * kw, oh * ow]))


@decomposition("aten.col2im")
def col2im(
    aten: Namespace,
    self: SSAValue,
    output_size: list[Any],
    kernel_size: list[int],
    dilation: list[int],
    padding: list[int],
    stride: list[int],
) -> SSAValue:
    sizes = Sizes(aten, self, *output_size)
    *batch, rows, _ = meta(self).shape
    height, width = dims_of(output_size, "col2im")
    (kh, kw), (top, left) = kernel_size, padding
    oh, ow = patches([height, width], kernel_size, dilation, padding, stride)
    channels, first = rows // (kh * kw), len(batch) + 1
    columns = aten.view(self, sizes.all([*batch, channels, kh, kw, oh, ow]))
    turns = [overlaps(*options) for options in zip(kernel_size, dilation, stride, strict=True)]
    if 0 < turns[0][0] * turns[1][0] <= MOST_OVERLAPS:
        image, reached = laid_over(sizes, columns, turns, stride)
        right, below = (
            sizes(size + pad - reach)
            for size, pad, reach in zip((width, height), (left, top), reversed(reached), strict=True)
        )
        return aten.constant_pad_nd(image, [-left, right, -top, below])
    order = [*range(first), first, first + 2, first + 1, first + 3]
    shape = [*batch, channels, height + 2 * top, width + 2 * left]
    image = aten.full(sizes.all(shape), 0, dtype=meta(self).dtype)
    index = places(sizes, [oh, ow], kernel_size, dilation, stride)
    image = aten.index_put(image, [*([None] * first), *index], aten.permute(columns, order), True)
    return aten.constant_pad_nd(image, [-left, -left, -top, -top])


MOST_OVERLAPS = 32
"""So many patches that lie over one another are added as a whole; of more each element by itself."""


def overlaps(taps: int, dilation: int, stride: int) -> tuple[int, int]:
    """How many patches lie over one another at most, and by how many places of the next one each begins; none where patches have gaps
    that others begin in."""
    if stride == 1:
        return taps, dilation
    return (-(-taps // stride), 1) if dilation == 1 else (0, 0)


def laid_over(
    sizes: Sizes,
    columns: SSAValue,
    turns: Sequence[tuple[int, int]],
    stride: Sequence[int],
) -> tuple[SSAValue, list[Dim]]:
    """The sum of patches `[*lead, kh, kw, oh, ow]` where they lie, and the size that they reach in both dimensions. Places are told apart by where they are in a
    step: there the taps of one turn lie side by side, and those of the next turn one step on."""
    aten, (*lead, kh, kw, oh, ow), first = sizes.aten, meta(columns).shape, meta(columns).ndim - 4
    (rows, down), (across, right) = turns
    below, beside = rows * stride[0] - kh, across * stride[1] - kw
    x = columns
    if (below, beside) != (0, 0):
        x = aten.constant_pad_nd(x, [0, 0, 0, 0, 0, sizes(beside), 0, sizes(below)])
    x = aten.view(x, sizes.all([*lead, rows, stride[0], across, stride[1], oh, ow]))
    total: SSAValue | None = None
    for i, j in product(range(rows), range(across)):
        part = aten.select.int(aten.select.int(x, first + 2, j), first, i)
        before, behind = (j * right, i * down), ((across - 1 - j) * right, (rows - 1 - i) * down)
        part = aten.constant_pad_nd(part, [before[0], behind[0], before[1], behind[1]])
        total = part if total is None else aten.add.Tensor(total, part)
    assert total is not None
    high, wide = oh + (rows - 1) * down, ow + (across - 1) * right
    total = aten.permute(total, [*range(first), first + 2, first, first + 3, first + 1])
    reached = [high * stride[0], wide * stride[1]]
    return aten.view(
        aten.clone(total, memory_format="contiguous_format"), sizes.all([*lead, *reached])
    ), reached


# --- affine grids --------------------------------------------------------------------------------------------


def grid_line(sizes: Sizes, count: Dim, align_corners: bool, dtype: DType) -> SSAValue:
    """Where pixels lie between -1 and 1: their centers, or the corners on both ends. Symmetric, so computed from both."""
    aten, last = sizes.aten, count - 1
    if count in (0, 1):
        return aten.full([sizes(count)], 0, dtype=dtype)
    # A symbolic size may be 1: that pixel is in the middle.
    step, start = (2 / max_(last, 1), max_(-last, -1)) if align_corners else (2 / count, 1 / count - 1)
    places = aten.arange.start_step(0, sizes(count), 1, dtype=dtype)
    to_end = aten.rsub.Scalar(places, sizes.number(last))
    from_start = aten.add.Tensor(aten.mul.Tensor(places, sizes.number(step)), sizes.number(start))
    from_end = aten.rsub.Scalar(aten.mul.Tensor(to_end, sizes.number(step)), sizes.number(-start))
    return aten.where.self(aten.le.Tensor(places, to_end), from_start, from_end)


@decomposition("aten.affine_grid_generator")
def affine_grid_generator(
    aten: Namespace, theta: SSAValue, size: Sequence[Any], align_corners: bool
) -> SSAValue:
    """Every pixel's coordinates, x first and 1 behind them, times the matrices."""
    spatial, sizes = list(size[2:]), Sizes(aten, *size)
    count, dtype = len(spatial), meta(theta).dtype
    axes = [grid_line(sizes, n, align_corners, dtype) for n in dims_of(spatial, "affine_grid_generator")]
    lines = [aten.view(axis, [-1 if i == j else 1 for j in range(count)]) for i, axis in enumerate(axes)]
    columns = [aten.expand(x, spatial) for x in (*reversed(lines), aten.full([1] * count, 1, dtype=dtype))]
    points = aten.view(aten.stack(columns, -1), [1, *spatial, count + 1, 1])
    matrices = aten.view(aten.permute(theta, [0, 2, 1]), [-1, *[1] * count, count + 1, count])
    return aten.sum.dim_IntList(aten.mul.Tensor(points, matrices), [-2])
