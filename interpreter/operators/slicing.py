"""Functions of operators that take parts of tensors, or put such parts back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from xdsl_exir.interpreter.operators import Array, impl, with_strides
from xdsl_exir.interpreter.operators.view import check

Index = tuple[slice | int, ...]


def at(array: Array, dim: int, place: slice | int) -> Index:
    """The index of a place in one dimension."""
    return (slice(None),) * (dim % array.ndim) + (place,)


# --- taking parts --------------------------------------------------------------------------------------------


@impl("aten.slice.Tensor", raw=True)
def slice_tensor(self: Array, dim: int, start: int | None, end: int | None, step: int) -> Array:
    return self[at(self, dim, slice(start, end, step))]


@impl("aten.select.int", raw=True)
def select(self: Array, dim: int, index: int) -> Array:
    size = self.shape[dim]
    check(-size <= index < size, f"index {index} of a dimension of size {size}")
    return self[at(self, dim, index)]


@impl("aten.split_with_sizes", raw=True)
def split_with_sizes(self: Array, split_sizes: list[int], dim: int) -> list[Array]:
    ends = np.cumsum(split_sizes, dtype=int).tolist()
    check(not ends or ends[-1] == self.shape[dim], f"sizes {split_sizes} of a dimension of {self.shape[dim]}")
    return [self[at(self, dim, slice(end - size, end))] for size, end in zip(split_sizes, ends, strict=True)]


@impl("aten.diagonal", raw=True)
def diagonal(self: Array, offset: int, dim1: int, dim2: int) -> Array:
    return np.diagonal(self, offset, dim1, dim2)


@impl("aten.unfold", raw=True)
def unfold(self: Array, dimension: int, size: int, step: int) -> Array:
    if self.ndim == 0:
        return self.reshape(1)[:size]
    dim = dimension % self.ndim
    windows = [length - size + 1 if axis == dim else length for axis, length in enumerate(self.shape)]
    found = with_strides(self, (*windows, size), (*self.strides, self.strides[dim]), writeable=False)
    return found[at(self, dim, slice(None, None, step))]


def strided(flat: Array, size: list[int], stride: list[int], offset: int | None, writeable: bool) -> Array:
    """Elements of a 1-D array, whatever its own stride, as `as_strided` picks them. Raises `ExirError` beyond its end."""
    offset = offset or 0
    if 0 in size:
        return np.empty(size, flat.dtype)
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    inside = min(*size, *stride, offset, 0) == 0 and last < flat.size
    check(inside, f"as_strided reaches element {last} of {flat.size}")
    strides = [step * flat.strides[0] for step in stride]
    return with_strides(flat[offset:], size, strides, writeable)


@impl("aten.as_strided", raw=True)
def as_strided(self: Array, size: list[int], stride: list[int], storage_offset: int | None) -> Array:
    return strided(self.reshape(-1), size, stride, storage_offset, writeable=False)


# --- writing parts -------------------------------------------------------------------------------------------


@impl("aten.slice_scatter", raw=True)
def slice_scatter(self: Array, src: Array, dim: int, start: int | None, end: int | None, step: int) -> Array:
    result = self.copy()
    result[at(self, dim, slice(start, end, step))] = src
    return result


@impl("aten.diagonal_scatter", raw=True)
def diagonal_scatter(self: Array, src: Array, offset: int, dim1: int, dim2: int) -> Array:
    result = np.array(self, order="C")
    # NumPy's diagonal is read-only: of the positions it gives the places to write to.
    places = np.diagonal(np.arange(result.size).reshape(result.shape), offset, dim1, dim2)
    result.reshape(-1)[places] = src
    return result


@impl("aten.as_strided_scatter", raw=True)
def as_strided_scatter(
    self: Array, src: Array, size: list[int], stride: list[int], storage_offset: int | None
) -> Array:
    result = np.array(self, order="C")
    strided(result.reshape(-1), size, stride, storage_offset, writeable=True)[...] = src
    return result


@impl("aten.tensor_split.tensor_indices_or_sections", raw=True)
def tensor_split(self: Array, tensor_indices_or_sections: Array, dim: int) -> list[Array]:
    bounds = [None, *tensor_indices_or_sections.tolist(), None]
    axis = dim % self.ndim
    return [self[(*[slice(None)] * axis, slice(*ends))] for ends in pairwise(bounds)]
