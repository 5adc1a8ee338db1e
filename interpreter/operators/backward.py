"""Functions of gradients that `run_decompositions` leaves as they are: of convolution and of pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from xdsl_exir.dialects.meta import pair
from xdsl_exir.interpreter.interpreter import sum_dtype, wide
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.interpreter.operators.convolution import convolution, taps
from xdsl_exir.interpreter.operators.pooling import Windows, adaptive, divide, divisors, grid, sliding

# --- convolution ---------------------------------------------------------------------------------------------


def of_weight(
    images: Array,
    places: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Array:
    """What each weight joined, summed: `[of places, of images / groups, *kernel]`.

    Position p of `places` `[n, c, *sizes]` meets position p stride + tap dilation of the padded `images`.
    """
    images, places = wide(images), wide(places)
    batch, channels, *sizes = places.shape
    reach = [
        (size - 1) * step + (count - 1) * spread + 1
        for size, step, count, spread in zip(sizes, stride, kernel_size, dilation, strict=True)
    ]
    margins = [
        (pad, max(extent - size - pad, 0))
        for pad, extent, size in zip(padding, reach, images.shape[2:], strict=True)
    ]
    padded = np.pad(images, [(0, 0), (0, 0), *margins])
    depth = images.shape[1] // groups
    left = np.moveaxis(places.reshape(batch, groups, channels // groups, -1), 0, 2)
    left = left.reshape(groups, channels // groups, -1)
    result = np.zeros((channels, depth, *kernel_size), np.result_type(images, places))
    for position, window in taps(kernel_size, sizes, stride, dilation):
        met = np.moveaxis(padded[(..., *window)].reshape(batch, groups, depth, -1), 0, 2)
        joined = left @ met.reshape(groups, depth, -1).swapaxes(1, 2)
        result[(..., *position)] = joined.reshape(channels, depth)
    return result


@impl("aten.convolution_backward")
def convolution_backward(
    grad_output: Array,
    input: Array,
    weight: Array,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    output_mask: list[bool],
) -> tuple[Array, Array, Array]:
    """The gradient of the input is a convolution the other way round."""
    count = weight.ndim - 2
    steps, pads, spreads = pair(stride, count), pair(padding, count), pair(dilation, count)
    kernel_size = weight.shape[2:]
    nothing = np.empty(0, input.dtype)
    gradients = [nothing, nothing, nothing]
    if output_mask[0]:
        # What a strided convolution did not reach at the end has to be made up for.
        rest = [
            (size + 2 * pad - spread * (reach - 1) - 1) % step
            for size, pad, spread, reach, step in zip(
                input.shape[2:], pads, spreads, kernel_size, steps, strict=True
            )
        ]
        extra = [0] * count if transposed else rest
        whole = convolution(grad_output, weight, None, steps, pads, spreads, not transposed, extra, groups)
        gradients[0] = whole[(..., *(slice(size) for size in input.shape[2:]))]
    if output_mask[1]:
        images, places = (grad_output, input) if transposed else (input, grad_output)
        gradients[1] = of_weight(images, places, kernel_size, steps, pads, spreads, groups)
    if output_mask[2]:
        gradients[2] = wide(grad_output).sum(axis=(0, *range(2, grad_output.ndim)))
    return gradients[0], gradients[1], gradients[2]


# --- pooling -------------------------------------------------------------------------------------------------


def spread_along(grad: Array, axis: int, window: Windows) -> Array:
    """Each window's gradient added to all that it covers along one dimension, divisors from the end."""
    moved = np.moveaxis(grad, axis, 0)
    result = np.zeros((window.size, *moved.shape[1:]), grad.dtype)
    for at, inside in zip(window.coordinates, window.inside, strict=True):
        np.add.at(result, at[inside], moved[inside])
    return np.moveaxis(result, 0, axis)


def spread(grad: Array, windows: Sequence[Windows]) -> Array:
    grad = wide(grad)
    for axis, window in zip(range(-len(windows), 0), windows, strict=True):
        grad = spread_along(grad, axis, window)
    return grad


@impl("aten.avg_pool2d_backward", "aten.avg_pool3d_backward")
def avg_pool_backward(
    grad_output: Array,
    self: Array,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Array:
    space = len(kernel_size)
    windows = sliding(self.shape[-space:], kernel_size, stride, padding, [1] * space, ceil_mode)
    counts = divisors(windows, padding, count_include_pad, divisor_override)
    return spread(divide(grad_output, counts), windows)


def adaptive_avg_pool_backward(grad_output: Array, sizes: Sequence[int]) -> Array:
    windows = adaptive(sizes, grad_output.shape[-len(sizes) :])
    counts = grid(np.multiply, [window.inside.sum(0) for window in windows])
    return spread(divide(grad_output, counts), windows)


@impl("aten._adaptive_avg_pool2d_backward")
def adaptive_avg_pool2d_backward(grad_output: Array, self: Array) -> Array:
    return adaptive_avg_pool_backward(grad_output, self.shape[-2:])


@impl("aten._adaptive_avg_pool3d_backward")
def adaptive_avg_pool3d_backward(grad_output: Array, self: Array) -> Array:
    return adaptive_avg_pool_backward(grad_output, self.shape[-3:])


@impl("aten.max_pool2d_with_indices_backward")
def max_pool2d_backward(grad_output: Array, self: Array, indices: Array) -> Array:
    """The gradient added where each window's maximum was in its plane."""
    *batch, height, width = self.shape
    result = np.zeros((int(np.prod(batch)), height * width), sum_dtype(grad_output.dtype))
    planes = np.arange(len(result))[:, None]
    np.add.at(result, (planes, indices.reshape(len(result), -1)), grad_output.reshape(len(result), -1))
    return cast(Array, result.reshape(self.shape))
