"""Functions of pooling.

Both kinds of windows, sliding and adaptive, are tables: for each pooled dimension the coordinates that each window
covers, one row per tap, one column per window, with what lies outside the input marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np

from xdsl_exir.dialects.shapes.pooling import window_count
from xdsl_exir.interpreter.interpreter import wide
from xdsl_exir.interpreter.operators import Array, impl


@dataclass(frozen=True)
class Windows:
    """The windows along one dimension."""

    coordinates: Array
    """int64 `[taps, windows]`; some may lie outside the input."""
    size: int
    """The input's size."""

    @property
    def inside(self) -> Array:
        """bool `[taps, windows]`"""
        return (self.coordinates >= 0) & (self.coordinates < self.size)

    @property
    def clipped(self) -> Array:
        """Coordinates, with those outside replaced by some inside."""
        return self.coordinates.clip(0, self.size - 1)

    @property
    def met(self) -> Windows:
        """The same without taps that are outside in every window, but for the first: a window may be far longer than the input."""
        first = np.arange(len(self.coordinates)) == 0
        return Windows(self.coordinates[self.inside.any(1) | first], self.size)


def sliding(
    sizes: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[Windows]:
    """Windows of the same extent at equal distances."""
    result: list[Windows] = []
    options = kernel_size, stride or kernel_size, padding, dilation
    for size, taps, step, pad, spread in zip(sizes, *options, strict=True):
        windows = cast(int, window_count(size, taps, step, pad, spread, ceil_mode))
        starts = np.array(range(-pad, windows * step - pad, step))
        result.append(Windows(np.add.outer(range(0, taps * spread, spread), starts), size))
    return result


def adaptive(sizes: Sequence[int], output_size: Sequence[int]) -> list[Windows]:
    """Windows that divide the input evenly: number i of n covers from floor(i size / n) to ceil((i + 1) size / n)."""
    result: list[Windows] = []
    for size, count in zip(sizes, output_size, strict=True):
        starts = [number * size // count for number in range(count)]
        ends = [-(-(number + 1) * size // count) for number in range(count)]
        longest = max((end - start for start, end in zip(starts, ends, strict=True)), default=1)
        coordinates = np.add.outer(range(longest), np.array(starts, np.int64))
        result.append(Windows(np.where(coordinates < ends, coordinates, size), size))
    return result


def grid(combine: np.ufunc, lines: Sequence[Array]) -> Array:
    """A plane (or volume) of which each element combines those of its coordinates in the lines."""
    return reduce(combine, np.meshgrid(*lines, indexing="ij", sparse=True))


# --- maxima --------------------------------------------------------------------------------------------------


def max_of(image: Array, windows: Sequence[Windows]) -> tuple[Array, Array]:
    """The greatest element of each window, and where it lies in its plane, flattened.

    As in PyTorch the first of equal ones, and the last NaN if there is one.
    """
    windows = [window.met for window in windows]
    sizes = tuple(window.size for window in windows)
    planes = image.reshape(*image.shape[: -len(sizes)], prod(sizes))

    def flat(lines: Sequence[Array]) -> Array:
        return np.ravel_multi_index(np.meshgrid(*lines, indexing="ij"), sizes)

    place = flat([np.take_along_axis(w.clipped, w.inside.argmax(0)[None], 0)[0] for w in windows])
    reached = grid(np.logical_and, [np.any(window.inside, 0) for window in windows])
    best = np.where(reached, planes.take(place, -1), lowest(image.dtype))
    place = np.broadcast_to(place, best.shape)
    for tap in product(*(zip(window.clipped, window.inside, strict=True) for window in windows)):
        lines, inside = zip(*tap, strict=True)
        here = flat(lines)
        value = planes.take(here, -1)
        better = grid(np.logical_and, inside) & ((value > best) | (value != value))
        best, place = np.where(better, value, best), np.where(better, here, place)
    return best, place


def lowest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


@impl("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")
def max_pool_with_indices(
    self: Array,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> tuple[Array, Array]:
    sizes = self.shape[-len(kernel_size) :]
    return max_of(self, sliding(sizes, kernel_size, stride, padding, dilation, ceil_mode))


@impl("aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d")
def adaptive_max_pool(self: Array, output_size: list[int]) -> tuple[Array, Array]:
    return max_of(self, adaptive(self.shape[-len(output_size) :], output_size))


def interval_starts(sample: Array, size: int, taps: int, count: int) -> Array:
    """Where `count` windows begin, for each sample: int64 `[samples, count]`. Computes in the samples' dtype, as PyTorch
    (generate_intervals in FractionalMaxPooling.h); the last window ends with the input."""
    last = np.full((len(sample), 1), size - taps, np.int64)
    if count <= 1:
        return last[:, :count]
    real = sample.dtype.type
    alpha = real(size - taps) / real(count - 1)
    places = np.arange(count - 1).astype(sample.dtype) + sample[:, None]
    offset = (sample * alpha).astype(np.int64)
    return np.concatenate([(places * alpha).astype(np.int64) - offset[:, None], last], 1)


@impl("aten.fractional_max_pool2d", "aten.fractional_max_pool3d", raw=True)
def fractional_max_pool(
    self: Array, kernel_size: list[int], output_size: list[int], random_samples: Array
) -> tuple[Array, Array]:
    """As in PyTorch the first of equal elements, and the last NaN if there is one."""
    count = len(kernel_size)
    sizes = self.shape[-count:]
    planes = self.reshape(-1, prod(sizes))
    samples = random_samples.reshape(-1, count)
    if count == 2:  # columns come first
        samples = samples[:, ::-1]
    place = np.zeros((len(planes), *[1] * (2 * count)), np.int64)
    for axis, (size, taps, windows) in enumerate(zip(sizes, kernel_size, output_size, strict=True)):
        starts = interval_starts(samples[:, axis], size, taps, windows)
        here = starts[:, :, None] + np.arange(taps)
        shape = [len(planes), *[1] * (2 * count)]
        shape[1 + axis], shape[1 + count + axis] = windows, taps
        place = place * size + here.reshape(shape)
    place = place.reshape(*place.shape[: 1 + count], -1)
    values = np.take_along_axis(planes, place.reshape(len(planes), -1), 1).reshape(place.shape)
    nan = values != values
    first: Array = np.where(nan, np.inf, values.astype(np.float64)).argmax(-1)
    last_nan = place.shape[-1] - 1 - nan[..., ::-1].argmax(-1)
    best: Array = np.where(nan.any(-1), last_nan, first)[..., None]
    shape = (*self.shape[:-count], *output_size)
    greatest, where = (np.take_along_axis(each, best, -1).reshape(shape) for each in (values, place))
    return greatest, where


# --- averages ------------------------------------------------------------------------------------------------


def sum_along(image: Array, axis: int, window: Windows) -> Array:
    """The sum of each window along one dimension, counted from the end."""
    terms: list[Array] = []
    for at, inside in zip(window.clipped, window.inside, strict=True):
        mask = inside.reshape(-1, *(1 for _ in range(-axis - 1)))
        terms.append(np.where(mask, image.take(at, axis), np.zeros((), image.dtype)))
    return reduce(np.add, terms)


def sum_of(image: Array, windows: Sequence[Windows]) -> Array:
    """The sum of each window: along one dimension after the other."""
    image = wide(image)
    for axis, window in zip(range(-len(windows), 0), windows, strict=True):
        image = sum_along(image, axis, window.met)
    return image


def divide(total: Array, count: Array) -> Array:
    """The quotient, of integers rounded towards zero."""
    if total.dtype.kind != "i":
        return total / count.astype(total.dtype)
    quotient, rest = np.divmod(total, count)
    return quotient + ((rest != 0) & (quotient < 0))


def divisors(
    windows: Sequence[Windows], padding: Sequence[int], count_include_pad: bool, divisor_override: int | None
) -> Array:
    """What each window's sum is divided by."""
    if divisor_override is not None:
        return np.array(divisor_override)
    counts = [
        # Padding counts, but not what ceil_mode reaches beyond it.
        (window.coordinates < window.size + pad).sum(0) if count_include_pad else window.inside.sum(0)
        for window, pad in zip(windows, padding, strict=True)
    ]
    return grid(np.multiply, counts)


@impl("aten.avg_pool2d", "aten.avg_pool3d")
def avg_pool(
    self: Array,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    windows = sliding(
        self.shape[-len(kernel_size) :], kernel_size, stride, padding, [1] * len(kernel_size), ceil_mode
    )
    return divide(sum_of(self, windows), divisors(windows, padding, count_include_pad, divisor_override))


@impl("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive_avg_pool(self: Array, output_size: list[int]) -> Array:
    windows = adaptive(self.shape[-len(output_size) :], output_size)
    return divide(sum_of(self, windows), grid(np.multiply, [window.inside.sum(0) for window in windows]))
