"""Gradients of resampled images, by PyTorch's own operators for them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Long
from xdsl_exir.transforms.arithmetic import both, choose, product
from xdsl_exir.transforms.decompositions.backward import zeros
from xdsl_exir.transforms.decompositions.resampling import constant_sizes
from xdsl_exir.transforms.gradients import Gradients, gradient


def back(
    aten: Namespace,
    name: str,
    grad: SSAValue,
    input: SSAValue,
    scales: Sequence[float | None],
    *aligned: bool,
) -> SSAValue:
    before, after = sizes(aten, input), sizes(aten, grad)[2:]
    return aten.builder.call(f"aten.{name}_backward", (grad, after, before, *aligned, *scales), {})


def factors(scale_factors: Sequence[float] | None, count: int) -> Sequence[float | None]:
    return [None] * count if scale_factors is None else scale_factors


@gradient("aten.upsample_nearest2d")
def nearest2d(
    aten: Namespace, grad: SSAValue, self: SSAValue, scales_h: float | None, scales_w: float | None
) -> Gradients:
    return back(aten, "upsample_nearest2d", grad, self, (scales_h, scales_w))


@gradient("aten.upsample_nearest2d.vec")
def nearest2d_of_factors(
    aten: Namespace, grad: SSAValue, input: SSAValue, scale_factors: Sequence[float] | None
) -> Gradients:
    return back(aten, "upsample_nearest2d", grad, input, factors(scale_factors, 2))


@gradient("aten.upsample_bilinear2d")
def bilinear2d(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    align_corners: bool,
    scales_h: float | None,
    scales_w: float | None,
) -> Gradients:
    return back(aten, "upsample_bilinear2d", grad, self, (scales_h, scales_w), align_corners)


@gradient("aten.upsample_bilinear2d.vec")
def bilinear2d_of_factors(
    aten: Namespace,
    grad: SSAValue,
    input: SSAValue,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> Gradients:
    return back(aten, "upsample_bilinear2d", grad, input, factors(scale_factors, 2), align_corners)


# --- sampling at a grid --------------------------------------------------------------------------------------

NEAREST, CUBIC = 1, 2
BORDER, REFLECTION = 1, 2
"""Modes of `grid_sampler` that are not linear, and paddings that are not zeros."""
SHARPNESS = -0.75
"""Of the cubic convolution kernel (Keys, 1981), as PyTorch has it."""


@dataclass
class Axis:
    """One dimension of a grid: where its coordinates lie in the image, and how fast they move there."""

    aten: Namespace
    size: int
    padding: int
    aligned: bool

    def place(self, coordinate: SSAValue) -> tuple[SSAValue, float]:
        """-1 to 1 is from one end of the image to the other: centres of pixels, or their outer edges."""
        aten, width = self.aten, self.size - 1 if self.aligned else self.size
        shifted = aten.mul.Scalar(aten.add.Scalar(coordinate, 1), width / 2)
        return shifted if self.aligned else aten.sub.Scalar(shifted, 0.5), width / 2

    def padded(self, place: SSAValue) -> tuple[SSAValue, SSAValue]:
        """A place that is moved into the image, and the derivative of that."""
        aten, one = self.aten, self.aten.full_like(place, 1)
        if self.padding == REFLECTION:
            place, one = self.reflected(place)
        if self.padding in (BORDER, REFLECTION):
            inside = both(aten, aten.gt.Scalar(place, 0), aten.lt.Scalar(place, self.size - 1))
            place, one = aten.clamp(place, 0, self.size - 1), choose(aten, inside, one)
        return place, one

    def reflected(self, place: SSAValue) -> tuple[SSAValue, SSAValue]:
        aten, low = self.aten, 0.0 if self.aligned else -0.5
        span = self.size - 1 if self.aligned else self.size
        if span == 0:
            return aten.zeros_like(place), aten.zeros_like(place)
        from_low = aten.sub.Scalar(place, low)
        distance = aten.abs(from_low)
        turns = aten.floor(aten.div.Scalar(distance, span))
        rest = aten.sub.Tensor(distance, aten.mul.Scalar(turns, span))
        is_even = aten.eq.Scalar(aten.remainder.Scalar(turns, 2), 0)
        found = aten.where.self(is_even, rest, aten.rsub.Scalar(rest, span))
        sign = aten.sign(from_low)
        return aten.add.Scalar(found, low), aten.where.self(is_even, sign, aten.neg(sign))

    def taps(self, coordinate: SSAValue, mode: int) -> list[tuple[SSAValue, SSAValue, SSAValue | None]]:
        """The pixels that are read: their places, their weights, and how fast these change with the coordinate."""
        aten = self.aten
        place, speed = self.place(coordinate)
        if mode == CUBIC:
            start = aten.floor(place)
            weights = cubic(aten, aten.sub.Tensor(place, start))
            return [
                self.tap(self.padded(aten.add.Scalar(start, step))[0], weight, aten.mul.Scalar(slope, speed))
                for step, (weight, slope) in enumerate(weights, -1)
            ]
        place, moved = self.padded(place)
        if mode == NEAREST:
            return [self.tap(aten.round(place), aten.full_like(place, 1), None)]
        start = aten.floor(place)
        beyond = aten.sub.Tensor(place, start)
        slope = aten.mul.Scalar(moved, speed)
        return [
            self.tap(start, aten.rsub.Scalar(beyond, 1), aten.neg(slope)),
            self.tap(aten.add.Scalar(start, 1), beyond, slope),
        ]

    def tap(self, place: SSAValue, weight: SSAValue, slope: SSAValue | None) -> Any:
        """A pixel; one outside of the image has no weight."""
        aten = self.aten
        there = both(aten, aten.ge.Scalar(place, 0), aten.le.Scalar(place, self.size - 1))
        index = cast(aten, choose(aten, there, place), Long)
        return index, choose(aten, there, weight), slope and choose(aten, there, slope)


def cubic(aten: Namespace, t: SSAValue) -> list[tuple[SSAValue, SSAValue]]:
    """The weights of four neighbours, and their derivatives: polynomials of the way from the second to the third."""
    a = SHARPNESS
    near = (1.0, 0.0, -(a + 3), a + 2)
    far = (-4 * a, 8 * a, -5 * a, a)
    back = aten.rsub.Scalar(t, 1)

    def both_of(coefficients: Sequence[float], x: SSAValue, sign: int) -> tuple[SSAValue, SSAValue]:
        slopes = [degree * factor for degree, factor in enumerate(coefficients)][1:]
        return polynomial(aten, coefficients, x), aten.mul.Scalar(polynomial(aten, slopes, x), sign)

    return [
        both_of(far, aten.add.Scalar(t, 1), 1),
        both_of(near, t, 1),
        both_of(near, back, -1),
        both_of(far, aten.add.Scalar(back, 1), -1),
    ]


def polynomial(aten: Namespace, coefficients: Sequence[float], x: SSAValue) -> SSAValue:
    """By Horner's rule."""
    value = aten.full_like(x, coefficients[-1])
    for factor in reversed(coefficients[:-1]):
        value = aten.add.Scalar(aten.mul.Tensor(value, x), factor)
    return value


@gradient("aten.grid_sampler_2d", "aten.grid_sampler_3d")
def grid_sampler(
    aten: Namespace,
    grad: SSAValue,
    input: SSAValue,
    grid: SSAValue,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Gradients:
    """Pixels get what they were read with; coordinates what the pixels read change with them."""
    batch, channels, *shape = constant_sizes(meta(input).shape, "grid_sampler")
    rank = len(shape)
    points = aten.view(grid, [batch, -1, rank])
    # The last coordinate comes first in a grid.
    axes = [
        Axis(aten, size, padding_mode, align_corners).taps(
            aten.select.int(points, -1, rank - 1 - dim), interpolation_mode
        )
        for dim, size in enumerate(shape)
    ]
    given, pixels = (aten.view(each, [batch, channels, -1]) for each in (grad, input))
    of_pixels = zeros(aten, [batch, channels, math.prod(shape)], meta(grad).dtype)
    of_axes = [zeros(aten, sizes(aten, points)[:-1], meta(grad).dtype) for _ in shape]
    for taps in itertools.product(*axes):
        place = taps[0][0]
        for (index, _, _), size in zip(taps[1:], shape[1:], strict=True):
            place = aten.add.Tensor(aten.mul.Scalar(place, size), index)
        place = aten.expand(aten.unsqueeze(place, 1), sizes(aten, given))
        weight = product(aten, *(weight for _, weight, _ in taps))
        share = aten.mul.Tensor(given, aten.unsqueeze(weight, 1))
        of_pixels = aten.scatter_add(of_pixels, 2, place, share)
        read = aten.sum.dim_IntList(aten.mul.Tensor(given, aten.gather(pixels, 2, place)), [1])
        for dim, (_, _, slope) in enumerate(taps):
            if slope is not None:
                others = (weight for other, (_, weight, _) in enumerate(taps) if other != dim)
                of_axes[dim] = aten.add.Tensor(of_axes[dim], product(aten, read, slope, *others))
    of_grid = aten.view(aten.stack(of_axes[::-1], -1), sizes(aten, grid))
    return aten.view(of_pixels, sizes(aten, input)), of_grid
