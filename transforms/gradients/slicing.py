"""Gradients of slices, which lie where the slices were taken; and of what is put in their places."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import Long
from xdsl_exir.transforms.decompositions.backward import zeros
from xdsl_exir.transforms.decompositions.view import Size
from xdsl_exir.transforms.gradients import Gradients, Several, gradient


@gradient("aten.slice.Tensor")
def slice(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: int,
    start: Size | None,
    end: Size | None,
    step: Size,
) -> Gradients:
    return aten.slice_scatter(zeros(aten, sizes(aten, self), meta(grad).dtype), grad, dim, start, end, step)


@gradient("aten.select.int")
def select(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, index: Size) -> Gradients:
    return aten.select_backward(grad, sizes(aten, self), dim, index)


@gradient("aten.diagonal")
def diagonal(aten: Namespace, grad: SSAValue, self: SSAValue, offset: int, dim1: int, dim2: int) -> Gradients:
    return aten.diagonal_backward(grad, sizes(aten, self), offset, dim1, dim2)


@gradient("aten.unfold")
def unfold(
    aten: Namespace, grad: SSAValue, self: SSAValue, dimension: int, size: int, step: int
) -> Gradients:
    return aten.unfold_backward(grad, sizes(aten, self), dimension, size, step)


@gradient("aten.split_with_sizes", "aten.tensor_split.tensor_indices_or_sections")
def split(aten: Namespace, grad: Several, self: SSAValue, dim: int, results: Sequence[SSAValue]) -> Gradients:
    parts = [
        zeros(aten, sizes(aten, part), meta(part).dtype) if share is None else share
        for part, share in zip(results, grad, strict=True)
    ]
    return aten.cat(parts, dim)


@gradient("aten.slice_scatter")
def slice_scatter(
    aten: Namespace,
    grad: SSAValue,
    src: SSAValue,
    dim: int,
    start: Size | None,
    end: Size | None,
    step: Size,
) -> Gradients:
    nothing = zeros(aten, sizes(aten, src), meta(grad).dtype)
    return (
        aten.slice_scatter(grad, nothing, dim, start, end, step),
        aten.slice.Tensor(grad, dim, start, end, step),
    )


@gradient("aten.select_scatter")
def select_scatter(aten: Namespace, grad: SSAValue, src: SSAValue, dim: int, index: Size) -> Gradients:
    nothing = zeros(aten, sizes(aten, src), meta(grad).dtype)
    return aten.select_scatter(grad, nothing, dim, index), aten.select.int(grad, dim, index)


@gradient("aten.diagonal_scatter")
def diagonal_scatter(
    aten: Namespace, grad: SSAValue, src: SSAValue, offset: int, dim1: int, dim2: int
) -> Gradients:
    nothing = zeros(aten, sizes(aten, src), meta(grad).dtype)
    return (
        aten.diagonal_scatter(grad, nothing, offset, dim1, dim2),
        aten.diagonal(grad, offset, dim1, dim2),
    )


# --- strided -------------------------------------------------------------------------------------------------


def places(aten: Namespace, size: Sequence[Size], stride: Sequence[Size], offset: Size | None) -> SSAValue:
    """Where the elements of a strided view lie in memory."""
    place = aten.full([], offset or 0, dtype=Long)
    for count, step in zip(size, stride, strict=True):
        along = aten.mul.Scalar(aten.arange.start_step(0, count, 1, dtype=Long), step)
        place = aten.add.Tensor(aten.unsqueeze(place, -1), along)
    return place


@gradient("aten.as_strided")
def as_strided(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    size: Sequence[Size],
    stride: Sequence[Size],
    storage_offset: Size | None,
) -> Gradients:
    """What a view reads several times is added up. Values lie row-major."""
    flat = aten.view(zeros(aten, sizes(aten, self), meta(grad).dtype), [-1])
    put = aten.index_put(flat, [places(aten, size, stride, storage_offset)], grad, True)
    return aten.view(put, sizes(aten, self))


@gradient("aten.as_strided_scatter")
def as_strided_scatter(
    aten: Namespace,
    grad: SSAValue,
    src: SSAValue,
    size: Sequence[Size],
    stride: Sequence[Size],
    storage_offset: Size | None,
) -> Gradients:
    nothing = zeros(aten, sizes(aten, src), meta(grad).dtype)
    return (
        aten.as_strided_scatter(grad, nothing, size, stride, storage_offset),
        aten.as_strided(grad, size, stride, storage_offset),
    )
