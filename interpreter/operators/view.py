"""Functions of views and rearrangements. They move elements and never compute, so operands arrive as they are.

Most results are NumPy views of the operands, which costs nothing; nobody writes to arrays that they return.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.interpreter.operators.creation import element

Index = tuple[slice | int, ...]


def at(array: Array, dim: int, place: slice | int) -> Index:
    """The index of a place in one dimension."""
    return (slice(None),) * (dim % array.ndim) + (place,)


def check(condition: bool, message: str) -> None:
    """Raises `ExirError` unless the condition holds: for arguments that only the run knows."""
    if not condition:
        raise ExirError(message)


@contextmanager
def fitting(name: str) -> Generator[None]:
    """Shapes that only the run knows and NumPy refuses become an `ExirError`."""
    try:
        yield
    except ValueError as error:
        raise ExirError(f"{name}: sizes do not fit: {error}") from error


# --- reshaping and permuting ---------------------------------------------------------------------------------


@impl("aten.view", "aten._unsafe_view", "aten.view_copy", raw=True)
def view(self: Array, size: list[int]) -> Array:
    with fitting("view"):
        return self.reshape(size)


@impl("aten.view.dtype", raw=True)
def view_dtype(self: Array, dtype: DType) -> Array:
    return np.ascontiguousarray(self).reshape(self.shape).view(dtype.numpy)


@impl("aten.unsqueeze", raw=True)
def unsqueeze(self: Array, dim: int) -> Array:
    return np.expand_dims(self, dim)


@impl("aten.squeeze.dims", raw=True)
def squeeze(self: Array, dim: list[int]) -> Array:
    dims = {d % self.ndim for d in dim} if self.ndim else set[int]()
    return self.reshape([size for d, size in enumerate(self.shape) if d not in dims or size != 1])


@impl("aten.permute", "aten.permute_copy", raw=True)
def permute(self: Array, dims: list[int]) -> Array:
    return self.transpose(dims)


@impl("aten.flip", raw=True)
def flip(self: Array, dims: list[int]) -> Array:
    return np.flip(self, tuple(dims) if self.ndim else ())


# --- broadcasting and repeating ------------------------------------------------------------------------------


@impl("aten.expand", raw=True)
def expand(self: Array, size: list[int]) -> Array:
    old = (1,) * (len(size) - self.ndim) + self.shape
    with fitting("expand"):
        return np.broadcast_to(self, [o if s == -1 else s for o, s in zip(old, size, strict=True)])


@impl("aten.repeat", raw=True)
def repeat(self: Array, repeats: list[int]) -> Array:
    return np.tile(self, repeats)


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
    windows = np.lib.stride_tricks.sliding_window_view(self, size, dim)
    return windows[at(self, dim, slice(None, None, step))]


def strided(flat: Array, size: list[int], stride: list[int], offset: int | None, writeable: bool) -> Array:
    """Elements of a 1-D array, whatever its own stride, as `as_strided` picks them. Raises `ExirError` beyond its end."""
    offset = offset or 0
    if 0 in size:
        return np.empty(size, flat.dtype)
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    inside = min(*size, *stride, offset, 0) == 0 and last < flat.size
    check(inside, f"as_strided reaches element {last} of {flat.size}")
    strides = [step * flat.strides[0] for step in stride]
    return np.lib.stride_tricks.as_strided(flat[offset:], size, strides, writeable=writeable)


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


# --- joining and padding -------------------------------------------------------------------------------------


@impl("aten.repeat_interleave.Tensor", raw=True)
def repeated_places(repeats: Array, output_size: int | None) -> Array:
    if (repeats < 0).any():
        raise ExirError("repeat_interleave: repeats can not be negative")
    if output_size is not None and output_size != repeats.sum():
        raise ExirError(f"repeat_interleave: repeats add up to {repeats.sum()}, not to {output_size}")
    return np.repeat(np.arange(len(repeats), dtype=repeats.dtype), repeats)


@impl("aten.cat", raw=True)
def cat(tensors: list[Array], dim: int, out: tuple[DType, ...]) -> Array:
    dtype = out[0].numpy
    joined = [array for array in tensors if array.shape != (0,)] or tensors
    with fitting("cat"):
        return np.concatenate([array.astype(dtype, copy=False) for array in joined], axis=dim)


@impl("aten.constant_pad_nd", raw=True)
def constant_pad_nd(self: Array, pad: list[int], value: complex) -> Array:
    amounts = [(0, 0)] * (self.ndim - len(pad) // 2) + list(zip(pad[-2::-2], pad[::-2], strict=True))
    shape = [size + before + after for size, (before, after) in zip(self.shape, amounts, strict=True)]
    check(min(shape, default=0) >= 0, f"pad {pad} leaves nothing of {list(self.shape)}")
    result = np.full(shape, element(value, self.dtype))
    inner = tuple(
        slice(max(before, 0), size - max(after, 0))
        for size, (before, after) in zip(shape, amounts, strict=True)
    )
    kept = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(self.shape, amounts, strict=True)
    )
    result[inner] = self[kept]
    return result


@impl("aten.tensor_split.tensor_indices_or_sections", raw=True)
def tensor_split(self: Array, tensor_indices_or_sections: Array, dim: int) -> list[Array]:
    bounds = [None, *tensor_indices_or_sections.tolist(), None]
    axis = dim % self.ndim
    return [self[(*[slice(None)] * axis, slice(*ends))] for ends in pairwise(bounds)]
