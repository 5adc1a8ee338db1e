"""Functions of resampling that `run_decompositions` leaves: images to other sizes, images sampled along grids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from xdsl_exir.dialects.shapes.resampling import BILINEAR, CUBIC, NEAREST, REFLECTION, ZEROS, ratio
from xdsl_exir.interpreter.operators import Array, impl

# --- upsampling ----------------------------------------------------------------------------------------------


def spatial_size(
    input: Array, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
) -> list[int]:
    """The sizes asked for: as they are, or by scale factors, rounded down."""
    if output_size is not None:
        return list(output_size)
    assert scale_factors is not None
    return [int(size * factor) for size, factor in zip(input.shape[2:], scale_factors, strict=True)]


def spatial(input: Array) -> tuple[int, ...]:
    """The sizes of an image or a volume."""
    return input.shape[2:]


def nearest(input: Array, output_size: Sequence[int], factors: Sequence[float | None]) -> Array:
    """The element that the corner of each output element lies in. Positions are computed in float32.

    Equal and double sizes have their own ratio, whatever the factor (nearest_idx in UpSample.h).
    """
    result, sizes = input, spatial(input)
    for axis, (size, count, given) in enumerate(zip(sizes, output_size, factors, strict=True), 2):
        factor = None if count in (size, 2 * size) else given
        places = np.arange(count, dtype=np.float32) * np.float32(ratio(size, count, False, factor))
        result = result.take(np.minimum(np.floor(places).astype(np.int64), size - 1), axis)
    return result


@impl("aten.upsample_nearest2d", raw=True)
def upsample_nearest2d(
    self: Array, output_size: list[int], scales_h: float | None, scales_w: float | None
) -> Array:
    return nearest(self, output_size, [scales_h, scales_w])


@impl("aten.upsample_nearest2d.vec", raw=True)
def upsample_nearest2d_vec(
    input: Array, output_size: list[int] | None, scale_factors: list[float] | None
) -> Array:
    return nearest(input, spatial_size(input, output_size, scale_factors), scale_factors or [None, None])


def linear(
    input: Array, output_size: Sequence[int], align_corners: bool, factors: Sequence[float | None]
) -> Array:
    """Linear interpolation along each spatial dimension, the last one first."""
    if input.dtype == np.uint8:
        return linear_bytes(input, output_size, align_corners, factors)
    real: Any = input.dtype.type
    result = input
    options = list(zip(range(2, input.ndim), input.shape[2:], output_size, factors, strict=True))
    for axis, size, count, factor in reversed(options):
        if size == count:  # whatever the factor (compute_source_index_and_lambda in UpSample.h)
            result = result + result * 0  # as PyTorch: of an infinity that is NaN
            continue
        scale = real(ratio(size, count, align_corners, factor))
        places = np.arange(count, dtype=real)
        places = places * scale if align_corners else np.maximum((places + real(0.5)) * scale - real(0.5), 0)
        low = np.minimum(np.floor(places).astype(np.int64), size - 1)
        high = np.minimum(low + 1, size - 1)
        weight = (
            np.clip(places - low, 0, 1).astype(real).reshape(-1, *(1 for _ in range(input.ndim - axis - 1)))
        )
        result = result.take(low, axis) * (1 - weight) + result.take(high, axis) * weight
    return result


def linear_bytes(
    input: Array, output_size: Sequence[int], align_corners: bool, factors: Sequence[float | None]
) -> Array:
    """Linear interpolation of bytes: in fixed point, rounded after each dimension (UpSampleKernel.cpp)."""
    result = input.astype(np.int64)
    options = list(zip(range(2, input.ndim), spatial(input), output_size, factors, strict=True))
    for axis, size, count, factor in reversed(options):
        if size == count:
            continue
        scale = ratio(size, count, align_corners, factor)
        places = (
            np.arange(count) * scale
            if align_corners
            else np.maximum((np.arange(count) + 0.5) * scale - 0.5, 0)
        )
        low = np.minimum(np.floor(places).astype(np.int64), size - 1)
        weights = np.stack([1 - (places - low), places - low])
        bits = fraction_bits(weights.max())
        fixed = np.trunc(weights * (1 << bits) + 0.5).astype(np.int64)
        fixed = fixed.reshape(2, -1, *(1 for _ in range(input.ndim - axis - 1)))
        high = np.minimum(low + 1, size - 1)
        sums = result.take(low, axis) * fixed[0] + result.take(high, axis) * fixed[1]
        result = np.clip((sums + (1 << (bits - 1))) >> bits, 0, 255)
    return result.astype(np.uint8)


def fraction_bits(largest: float) -> int:
    """How many bits weights have after the point, so that the largest one has sixteen with its sign."""
    return next(bits for bits in range(23) if bits == 22 or int(0.5 + largest * (1 << (bits + 1))) >= 1 << 15)


@impl("aten.upsample_bilinear2d")
def upsample_bilinear2d(
    self: Array,
    output_size: list[int],
    align_corners: bool,
    scales_h: float | None,
    scales_w: float | None,
) -> Array:
    return linear(self, output_size, align_corners, [scales_h, scales_w])


@impl("aten.upsample_bilinear2d.vec")
def upsample_bilinear2d_vec(
    input: Array, output_size: list[int] | None, align_corners: bool, scale_factors: list[float] | None
) -> Array:
    size = spatial_size(input, output_size, scale_factors)
    return linear(input, size, align_corners, scale_factors or [None, None])


# --- sampling along a grid -----------------------------------------------------------------------------------


def unnormalized(place: Array, size: int, align_corners: bool) -> Array:
    """A place between -1 and 1 counted in elements: -1 and 1 are the centers of the outer ones, or their edges."""
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def reflected(place: Array, low: float, high: float) -> Array:
    """A place folded back into an interval as often as need be."""
    if low == high:
        return np.zeros_like(place)
    distance, span = np.abs(place - low), high - low
    rest, turns = np.fmod(distance, span), np.floor(distance / span)
    return np.where(turns % 2 == 0, rest + low, span - rest + low)


def padded(place: Array, size: int, padding_mode: int, align_corners: bool) -> Array:
    """A place brought into the input, but for padding with zeros."""
    if padding_mode == ZEROS:
        return place
    if padding_mode == REFLECTION:
        edges = (0, size - 1) if align_corners else (-0.5, size - 0.5)
        place = reflected(place, *edges)
    return place.clip(0, size - 1)


def elements(input: Array, index: Sequence[Array]) -> Array:
    """`[N, C, *out]`: elements at indices `[N, *out]` (whole numbers, as floats), 0 outside."""
    limits = input.shape[2:]
    inside = reduce(np.logical_and, ((at >= 0) & (at < size) for at, size in zip(index, limits, strict=True)))
    with np.errstate(invalid="ignore"):
        clipped = [np.where(inside, at, 0).astype(np.int64) for at in index]
    batch = np.arange(len(input)).reshape(-1, *(1 for _ in index[0].shape[1:]))
    picked = np.moveaxis(input[(batch, slice(None), *clipped)], -1, 1)
    return np.where(inside[:, None], picked, np.zeros((), input.dtype))


def interpolated(input: Array, places: Sequence[Array]) -> Array:
    """Linear interpolation among the elements around each place."""
    floors = [np.floor(place) for place in places]
    total = np.zeros((), input.dtype)
    for corner in product((0, 1), repeat=len(places)):
        index = [floor + side for floor, side in zip(floors, corner, strict=True)]
        weights = (
            place - floor if side else floor + 1 - place
            for place, floor, side in zip(places, floors, corner, strict=True)
        )
        total = total + elements(input, index) * reduce(np.multiply, weights)[:, None]
    return total


def cubic_weights(t: Array) -> list[Array]:
    """Weights of the four elements around a place at distance t from the second: cubic convolution."""
    a = CUBIC

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@impl("aten.grid_sampler_2d", "aten.grid_sampler_3d")
def grid_sampler(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    sizes = input.shape[2:]
    places = [  # the grid's last dimension is x, y, z
        unnormalized(grid[..., -1 - axis], size, align_corners) for axis, size in enumerate(sizes)
    ]

    def inside(lines: Sequence[Array]) -> list[Array]:
        return [
            padded(line, size, padding_mode, align_corners) for line, size in zip(lines, sizes, strict=True)
        ]

    if interpolation_mode == NEAREST:
        return elements(input, [np.rint(place) for place in inside(places)])
    if interpolation_mode == BILINEAR:
        places = inside(places)
        result = interpolated(input, places)
        if len(sizes) == 2:
            return result
        # In volumes what is outside is skipped, not multiplied by 0: places without end as well.
        finite = np.logical_and.reduce([np.isfinite(place) for place in places])
        return np.where(finite[:, None], result, input.dtype.type(0))
    floors = [np.floor(place) for place in places]
    rows, columns = (
        [(floor + n - 1, weight) for n, weight in enumerate(cubic_weights(place - floor))]
        for place, floor in zip(places, floors, strict=True)
    )
    total = np.zeros((), input.dtype)
    for (y, of_row), (x, of_column) in product(rows, columns):
        total = total + elements(input, inside([y, x])) * (of_row * of_column)[:, None]
    return total
