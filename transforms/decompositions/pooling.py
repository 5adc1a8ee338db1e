"""Decompositions of pooling operators, as `run_decompositions` takes them apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.transforms.decompositions import decomposition, other_names

other_names(
    {
        "max_pool1d": ("max_pool1d_with_indices", 0),
        "max_pool2d": ("max_pool2d_with_indices", 0),
        "max_pool3d": ("max_pool3d_with_indices", 0),
    }
)


# --- one dimension is two of which the first has size 1 ------------------------------------------------------


def as_row(aten: Namespace, self: SSAValue, pool: Callable[[SSAValue], SSAValue]) -> SSAValue:
    """Pools a signal as an image of one row."""
    return aten.squeeze.dims(pool(aten.unsqueeze(self, -2)), [-2])


@decomposition("aten.max_pool1d_with_indices")
def max_pool1d_with_indices(
    aten: Namespace,
    self: SSAValue,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> tuple[SSAValue, ...]:
    windows = ([1, *kernel_size], [1, *(stride or kernel_size)], [0, *padding], [1, *dilation])
    results = aten.max_pool2d_with_indices(aten.unsqueeze(self, -2), *windows, ceil_mode)
    return tuple(aten.squeeze.dims(result, [-2]) for result in results)


@decomposition("aten.adaptive_max_pool1d")
def adaptive_max_pool1d(aten: Namespace, self: SSAValue, output_size: list[int]) -> tuple[SSAValue, ...]:
    results = aten.adaptive_max_pool2d(aten.unsqueeze(self, -2), [1, *output_size])
    return tuple(aten.squeeze.dims(result, [-2]) for result in results)


@decomposition("aten.avg_pool1d")
def avg_pool1d(
    aten: Namespace,
    self: SSAValue,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    count_include_pad: bool,
) -> SSAValue:
    return as_row(
        aten,
        self,
        lambda row: aten.avg_pool2d(
            row,
            [1, *kernel_size],
            [1, *(stride or kernel_size)],
            [0, *padding],
            ceil_mode,
            count_include_pad,
        ),
    )


@decomposition("aten.adaptive_avg_pool1d")
def adaptive_avg_pool1d(aten: Namespace, self: SSAValue, output_size: Sequence[int | SSAValue]) -> SSAValue:
    return as_row(aten, self, lambda row: aten.adaptive_avg_pool2d(row, [1, *output_size]))


# --- pooling to one element is the mean ----------------------------------------------------------------------


@decomposition("aten.adaptive_avg_pool2d")
def adaptive_avg_pool2d(aten: Namespace, self: SSAValue, output_size: list[int | SSAValue]) -> SSAValue:
    if output_size == [1, 1]:
        return aten.mean.dim(self, [-1, -2], True)
    return aten._adaptive_avg_pool2d(self, output_size)


@decomposition("aten.adaptive_avg_pool3d")
def adaptive_avg_pool3d(aten: Namespace, self: SSAValue, output_size: list[int | SSAValue]) -> SSAValue:
    if output_size == [1, 1, 1]:
        return aten.mean.dim(self, [-1, -2, -3], True)
    return aten._adaptive_avg_pool3d(self, output_size)


# --- unpooling -----------------------------------------------------------------------------------------------


@decomposition("aten.max_unpool2d", "aten.max_unpool3d")
def max_unpool(
    aten: Namespace, self: SSAValue, indices: SSAValue, output_size: list[int | SSAValue]
) -> SSAValue:
    """Elements at their indices in planes of zeros; indices count within a plane."""
    first = meta(self).ndim - len(output_size)
    shape = [*sizes(aten, self)[:first], *output_size]
    planes, *of_planes = (
        aten.flatten.using_ints(value, first)
        for value in (aten.full(shape, 0, dtype=meta(self).dtype), indices, self)
    )
    return aten.view(aten.scatter.src(planes, -1, *of_planes), shape)
