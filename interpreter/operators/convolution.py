"""Functions of convolution, over any number of dimensions.

A convolution gathers each output position's patch into a column and multiplies once, by BLAS ("im2col"; Chellapilla
et al. 2006); a transposed one multiplies first and adds the columns up where they overlap. With one channel a group
there is nothing to multiply by: a depthwise convolution adds up its taps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from xdsl_exir.dialects.meta import pair
from xdsl_exir.interpreter.interpreter import wide
from xdsl_exir.interpreter.operators import Array, impl


def taps(
    kernel: Sequence[int], sizes: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each position in a kernel, with the slices of a padded image that it meets at `sizes` output positions."""
    for position in product(*map(range, kernel)):
        yield (
            position,
            tuple(
                slice(at * spread, at * spread + (size - 1) * step + 1, step)
                for at, size, step, spread in zip(position, sizes, stride, dilation, strict=True)
            ),
        )


def forward(
    images: Array, weight: Array, stride: Sequence[int], dilation: Sequence[int], groups: int
) -> Array:
    """A convolution of padded images, as wide as sums."""
    images, weight = wide(images), wide(weight)
    batch, channels, *extents = images.shape
    out, depth, *kernel = weight.shape
    reach = [spread * (size - 1) + 1 for size, spread in zip(kernel, dilation, strict=True)]
    sizes = [(n - r) // step + 1 for n, r, step in zip(extents, reach, stride, strict=True)]
    result = np.zeros((batch, out, *sizes), np.result_type(images, weight))
    if depth == 1 and out == channels == groups:
        term = np.empty_like(result)
        for position, window in taps(kernel, sizes, stride, dilation):
            factor = weight[(slice(None), 0, *position)].reshape(-1, *(1 for _ in sizes))
            result += np.multiply(images[(..., *window)], factor, out=term)
        return result
    axes = tuple(range(1, 1 + len(kernel)))
    every = tuple(slice(None, None, step) for step in stride)
    within = tuple(slice(None, None, spread) for spread in dilation)
    matrix = weight.reshape(groups, out // groups, depth * prod(kernel))
    for image, target in zip(images, result, strict=True):
        # [channels, *sizes, *kernel], of which each group's channels and kernel positions make a column.
        patches = sliding_window_view(image, reach, axes)[(slice(None), *every, *within)]
        columns = np.moveaxis(patches, axes, tuple(range(-len(kernel), 0)))
        columns = columns.reshape(groups, depth * prod(kernel), prod(sizes))
        target[...] = (matrix @ columns).reshape(target.shape)
    return result


def backward(
    images: Array,
    weight: Array,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
) -> Array:
    """A transposed convolution, as wide as sums: the gradient of a convolution with respect to its input."""
    images, weight = wide(images), wide(weight)
    batch, channels, *sizes = images.shape
    _, depth, *kernel = weight.shape
    extents = [
        (size - 1) * step + spread * (reach - 1) + 1 + extra
        for size, step, spread, reach, extra in zip(
            sizes, stride, dilation, kernel, output_padding, strict=True
        )
    ]
    matrix = weight.reshape(groups, channels // groups, -1).swapaxes(1, 2)
    columns = matrix @ images.reshape(batch, groups, channels // groups, prod(sizes))
    columns = columns.reshape(batch, groups * depth, *kernel, *sizes)
    result = np.zeros((batch, groups * depth, *extents), columns.dtype)
    for position, window in taps(kernel, sizes, stride, dilation):
        result[(..., *window)] += columns[(slice(None), slice(None), *position)]
    inner = tuple(slice(pad, extent - pad) for pad, extent in zip(padding, extents, strict=True))
    return result[(..., *inner)]


@impl("aten.convolution")
def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Array:
    count = weight.ndim - 2
    strides, paddings, dilations = pair(stride, count), pair(padding, count), pair(dilation, count)
    if transposed:
        extra = pair(output_padding, count)
        result = backward(input, weight, strides, paddings, dilations, extra, groups)
    else:
        margins = [(0, 0), (0, 0), *((pad, pad) for pad in paddings)]
        padded = np.pad(input, margins) if any(paddings) else input
        result = forward(padded, weight, strides, dilations, groups)
    if bias is not None:
        result = result + bias.reshape(-1, *(1 for _ in range(count)))
    return result if input.shape[1] else result[:, :0]
