"""Kernels of pooling.

Both kinds of windows, sliding and adaptive, are tables: for each pooled dimension the coordinates that each window
covers, one row per tap, one column per window, with what lies outside the input marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from xdsl_exir.dialects.meta import pair
from xdsl_exir.dialects.pooling import window_count
from xdsl_exir.runtime.kernels import Array, kernel


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
    count = len(sizes)
    options = [pair(option, count) for option in (kernel_size, stride or kernel_size, padding, dilation)]
    for size, taps, step, pad, spread in zip(sizes, *options, strict=True):
        starts = np.arange(window_count(size, taps, step, pad, spread, ceil_mode)) * step - pad
        result.append(Windows(starts + np.arange(taps)[:, None] * spread, size))
    return result


def adaptive(sizes: Sequence[int], output_size: Sequence[int]) -> list[Windows]:
    """Windows that divide the input evenly: number i of n covers from floor(i size / n) to ceil((i + 1) size / n)."""
    result: list[Windows] = []
    for size, count in zip(sizes, pair(output_size, len(sizes)), strict=True):
        number = np.arange(count)
        starts, ends = number * size // count, -(-(number + 1) * size // count)
        coordinates = starts + np.arange(max(ends - starts, default=0))[:, None]
        result.append(Windows(np.where(coordinates < ends, coordinates, size), size))
    return result


def max_of(image: Array, windows: Sequence[Windows]) -> tuple[Array, Array]:
    """The greatest element of each window, and where it lies in its plane, flattened.

    As in PyTorch the first of equal ones, and the last NaN if there is one.
    """
    count = len(windows)
    axes = range(-count, 0)
    sizes = [window.coordinates.shape[1] for window in windows]
    # Along each dimension a window's coordinates count in steps of what comes after it.
    steps = [prod(window.size for window in windows[axis + 1 :]) for axis in range(count)]
    grids = [
        [line.reshape(-1, *(1 for _ in range(-axis - 1))) for line in window.clipped]
        for axis, window in zip(axes, windows, strict=True)
    ]
    insides = [
        [line.reshape(-1, *(1 for _ in range(-axis - 1))) for line in window.inside]
        for axis, window in zip(axes, windows, strict=True)
    ]
    del steps, grids, insides, sizes
    raise NotImplementedError
