"""Functions of operators that pick, place and order elements.

Indices are checked as PyTorch checks them: where it takes no negative ones, NumPy's wrapping would give wrong numbers
silently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from xdsl_exir.dialects.dtypes import DType, Float, Half
from xdsl_exir.dialects.shapes.indexing import BAG_MAX, BAG_MEAN
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.interpreter import sum_dtype, wide
from xdsl_exir.interpreter.introselect import first_places, place_of, sorted_places, sorts_by_steps
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.interpreter.operators.symbolic import require
from xdsl_exir.interpreter.operators.view import fitting


def check_index(index: Array, size: int, wraps: bool = False) -> Array:
    """The index, if all of it is in range. Raises `ExirError` otherwise; negative ones are if it `wraps`."""
    outside = (index < (-size if wraps else 0)) | (index >= size)
    if outside.any():
        raise ExirError(f"index {index[outside].flat[0]} is out of range for a dimension of size {size}")
    return index


@impl("aten.embedding", raw=True)
def embedding(weight: Array, indices: Array) -> Array:
    return weight[check_index(indices, weight.shape[0])]


@impl("aten.index_select", raw=True)
def index_select(self: Array, dim: int, index: Array) -> Array:
    source = np.atleast_1d(self)
    picked = source.take(check_index(index.reshape(-1), source.shape[dim]), dim)
    return picked if self.ndim else picked.reshape(())


# --- index tensors of the result's rank ----------------------------------------------------------------------


def along(index: Array, dim: int) -> tuple[Array, ...]:
    """The index tuple that picks by `index` along one dimension and by position along the others."""
    positions = np.meshgrid(*map(np.arange, index.shape), indexing="ij", sparse=True)
    return tuple(index if axis == dim % index.ndim else at for axis, at in enumerate(positions))


@impl("aten.gather", raw=True)
def gather(self: Array, dim: int, index: Array) -> Array:
    if index.size == 0:
        return np.zeros(index.shape, self.dtype)
    source, places = np.atleast_1d(self), np.atleast_1d(index)
    check_index(places, source.shape[dim])
    return source[along(places, dim)].reshape(index.shape)


def scattered(self: Array, dim: int, index: Array, src: Array, combine: np.ufunc | None = None) -> Array:
    """A copy of `self` in which elements of `src` stand at their indices, or are combined with what stands there."""
    result = np.atleast_1d(self if combine is None else wide(self)).copy()
    if index.size:
        places, values = np.atleast_1d(index), np.atleast_1d(src)
        at = along(check_index(places, result.shape[dim]), dim)
        values = values[tuple(map(slice, places.shape))]
        if combine is None:
            result[at] = values
        else:
            combine.at(result, at, values)
    return result.reshape(self.shape)


@impl("aten.scatter.src", raw=True)
def scatter_src(self: Array, dim: int, index: Array, src: Array) -> Array:
    return scattered(self, dim, index, src)


@impl("aten.scatter.value", raw=True)
def scatter_value(self: Array, dim: int, index: Array, value: Any) -> Array:
    return scattered(self, dim, index, np.full(index.shape, value).astype(self.dtype))


@impl("aten.scatter_add", raw=True)
def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    return scattered(self, dim, index, src, np.add)


COMBINE = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "amax": np.maximum,
    "amin": np.minimum,
}
"""How `scatter_reduce` combines elements, by the name of the reduction."""


@impl("aten.scatter_reduce.two", raw=True)
def scatter_reduce(self: Array, dim: int, index: Array, src: Array, reduce: str, include_self: bool) -> Array:
    combine = COMBINE[reduce]
    if not include_self:
        # Where something is scattered to, start from what changes nothing.
        self = scattered(self, dim, index, np.full(index.shape, neutral(reduce, self.dtype), self.dtype))
    result = scattered(self, dim, index, src, combine)
    if reduce != "mean":
        return result
    ones = np.ones(index.shape, np.int64)
    base = np.full(self.shape, int(include_self))
    count = np.maximum(scattered(base, dim, index, ones, np.add), 1)
    if result.dtype.kind in "iu":
        return result // count
    return result / count.astype(result.dtype)


def neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    """The element that a reduction of other elements does not depend on."""
    if reduce == "prod":
        return 1
    if reduce in ("sum", "mean"):
        return 0
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        return bounds.min if reduce == "amax" else bounds.max
    return -np.inf if reduce == "amax" else np.inf


# --- advanced indexing ---------------------------------------------------------------------------------------


def index_tuple(self: Array, indices: Sequence[Array | None]) -> tuple[Any, ...]:
    """PyTorch's list of indices as NumPy's: None keeps a dimension, a mask is the positions that it holds.

    As PyTorch does, it looks at no index of a call that reads nothing, except into a dimension of size 0.
    """
    places: list[Array | None] = []
    for index in indices:
        if index is not None and index.dtype.name in ("bool", "uint8"):
            places += index.nonzero()
        else:
            places.append(index)
    by_dim = [*zip_longest(places, self.shape)]
    is_empty = any((size if index is None else index.size) == 0 for index, size in by_dim)
    result: list[Any] = []
    for index, size in by_dim:
        if index is None:
            result.append(slice(None))
        elif is_empty and size:
            result.append(np.zeros_like(index))
        else:
            result.append(check_index(index, size, wraps=True))
    return tuple(result)


@impl("aten.index.Tensor", raw=True)
def index(self: Array, indices: list[Array | None]) -> Array:
    return self[index_tuple(self, indices)]


@impl("aten.index_put", raw=True)
def index_put(self: Array, indices: list[Array | None], values: Array, accumulate: bool) -> Array:
    result = wide(self).copy() if accumulate else self.copy()
    places = index_tuple(self, indices)
    with fitting("index_put"):
        if accumulate:
            np.add.at(result, places, values)
        else:
            result[places] = values
    return result


@impl("aten.masked_select", raw=True)
def masked_select(self: Array, mask: Array) -> Array:
    self, mask = np.broadcast_arrays(self, mask)
    return self[mask]


@impl("aten.masked_scatter", raw=True)
def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    shape = np.broadcast_shapes(self.shape, mask.shape)
    result, mask = np.broadcast_to(self, shape).copy(), np.broadcast_to(mask, shape)
    count = np.count_nonzero(mask)
    if source.size < count:
        raise ExirError(f"masked_scatter: {source.size} elements in source for {count} places")
    result[mask] = source.reshape(-1)[:count]
    return result


@impl("aten.nonzero", raw=True)
def nonzero(self: Array) -> Array:
    if self.ndim == 0:
        return np.zeros((int(self.astype(np.bool_)), 0), np.int64)
    return np.stack(self.nonzero(), -1)


@impl("aten.nonzero_static", raw=True)
def nonzero_static(self: Array, size: int, fill_value: int) -> Array:
    found = nonzero(self)[:size]
    result = np.full((size, self.ndim), fill_value, np.int64)
    result[: len(found)] = found
    return result


@impl("aten.one_hot")
def one_hot(self: Array, num_classes: int) -> Array:
    """Decomposed but where the number of classes is to be found in the data."""
    if num_classes == -1:
        num_classes = int(self.max()) + 1
    require((self >= 0).all(), "one_hot: Class values must be non-negative.")
    require((self < num_classes).all(), "one_hot: Class values must be smaller than num_classes.")
    return self[..., None] == np.arange(num_classes)


# --- order ---------------------------------------------------------------------------------------------------


def argsort(array: Array, axis: int, descending: bool) -> Array:
    """The stable order along an axis. NaN counts as the greatest."""
    if not descending:
        return array.argsort(axis, kind="stable")
    # Ascending from the back, read from the back: greatest first, equal ones in their order.
    last = array.shape[axis] - 1
    return np.flip(last - np.flip(array, axis).argsort(axis, kind="stable"), axis)


def stable_sort(self: Array, dim: int, descending: bool) -> tuple[Array, Array]:
    if self.ndim == 0:
        return self, np.zeros((), np.int64)
    order = argsort(self, dim, descending)
    return np.take_along_axis(self, order, dim), order


@impl("aten.sort")
def sort(self: Array, dim: int, descending: bool, out: tuple[DType, ...]) -> tuple[Array, Array]:
    values, order = stable_sort(self, dim, descending)
    if self.ndim and sorts_by_steps(self.shape, dim, out[0], descending):
        equal, rows = equals(np.moveaxis(values, dim, -1)), np.moveaxis(order, dim, -1)
        for row in map(tuple, np.argwhere(equal.any(-1))):
            rows[row] = sorted_places(ranks(rows[row], equal[row]))
        values = np.take_along_axis(self, order, dim)  # zeros have signs
    return values, order


@impl("aten.sort.stable")
def sort_stable(
    self: Array, stable: bool | None, dim: int, descending: bool, out: tuple[DType, ...]
) -> tuple[Array, Array]:
    return stable_sort(self, dim, descending) if stable else sort(self, dim, descending, out)


@impl("aten.topk")
def topk(self: Array, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Array, Array]:
    values, order = stable_sort(self, dim, largest)
    if not self.ndim:
        return values, order
    if k:
        take_steps(np.moveaxis(values, dim, -1), np.moveaxis(order, dim, -1), k, sorted)
    order = order.take(range(k), dim)
    return np.take_along_axis(self, order, dim), order


def take_steps(values: Array, order: Array, count: int, is_sorted: bool) -> None:
    """In the order of rows, in place, the first ones as PyTorch's steps find them, where these matter: of equal elements, and of those
    in no order."""
    equal = equals(values)
    for row in map(tuple, np.argwhere(equal[..., :count].any(-1) | (not is_sorted))):
        order[row][:count] = first_places(ranks(order[row], equal[row]), count, is_sorted)


def equals(values: Array) -> Array:
    """Whether elements of rows in order equal those after them."""
    before, after = values[..., :-1], values[..., 1:]
    return (before == after) | ((before != before) & (after != after))


def ranks(order: Array, equal: Array) -> list[int]:
    """How many different elements come before each of a row, whose order is given and which of it equal those after them."""
    made = np.zeros(len(order), np.int64)
    made[order[1:]] = (~equal).cumsum()
    return made.tolist()


def search(boundaries: Array, values: Array, right: bool) -> Array:
    """Where values belong among boundaries that ascend along the last axis: after those less, or `right` after equals.

    PyTorch's binary search, step for step, so that it goes the same way where NaNs or disorder mislead it.
    """
    start = np.zeros(values.shape, np.int64)
    end = np.full(values.shape, boundaries.shape[-1])
    while (searching := start < end).any():
        middle = (start + end) // 2
        at = np.minimum(middle, boundaries.shape[-1] - 1)
        boundary = boundaries[at] if boundaries.ndim == 1 else np.take_along_axis(boundaries, at, -1)
        before = ~(boundary > values if right else boundary >= values)
        start = np.where(searching & before, middle + 1, start)
        end = np.where(searching & ~before, middle, end)
    return start


@impl("aten.searchsorted.Tensor")
def searchsorted(
    sorted_sequence: Array, self: Array, right: bool, side: str | None, sorter: Array | None
) -> Array:
    if side == "left" and right:
        raise ExirError("searchsorted: side='left' contradicts right=True")
    if sorter is not None:
        check_index(sorter, sorted_sequence.shape[-1])
        sorted_sequence = np.take_along_axis(sorted_sequence, sorter, -1)
    return search(sorted_sequence, np.asarray(self), right or side == "right")


@impl("aten.bucketize.Tensor")
def bucketize(self: Array, boundaries: Array, right: bool) -> Array:
    return search(boundaries, np.asarray(self), right)


# --- counting ------------------------------------------------------------------------------------------------


def nth(self: Array, dim: int, keepdim: bool, order: Array, place: Array) -> tuple[Array, Array]:
    """Elements at a place (`[..., 1, ...]`) of an order along a dimension, and where they stand."""
    index = np.take_along_axis(order, place, dim)
    value = np.take_along_axis(np.atleast_1d(self), index, dim)
    if self.ndim == 0:
        return value.reshape(()), index.reshape(())
    return (value, index) if keepdim else (value.squeeze(dim), index.squeeze(dim))


@impl("aten.kthvalue")
def kthvalue(self: Array, k: int, dim: int, keepdim: bool) -> tuple[Array, Array]:
    array = np.atleast_1d(self)
    if not 0 < k <= array.shape[dim]:
        raise ExirError(f"kthvalue: k = {k} is out of range for a dimension of size {array.shape[dim]}")
    values, order = stable_sort(array, dim, False)
    equal = np.pad(equals(np.moveaxis(values, dim, -1)), [(0, 0)] * (array.ndim - 1) + [(1, 1)])
    rows = np.moveaxis(order, dim, -1)
    for row in map(tuple, np.argwhere(equal[..., k - 1] | equal[..., k])):
        rows[row][k - 1] = place_of(ranks(rows[row], equal[row][1:-1]), k - 1)
    shape = [1 if axis == dim % array.ndim else size for axis, size in enumerate(array.shape)]
    return nth(self, dim, keepdim, order, np.full(shape, k - 1))


@impl("aten._unique2", raw=True)
def unique(self: Array, return_inverse: bool, return_counts: bool) -> tuple[Array, Array, Array]:
    # NaNs differ from each other.
    values, inverse, counts = np.unique(
        self.reshape(-1), return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, *wanted(inverse.reshape(self.shape), return_inverse, counts, return_counts)


@impl("aten.unique_consecutive", raw=True)
def unique_consecutive(
    self: Array, return_inverse: bool, return_counts: bool, dim: int | None
) -> tuple[Array, Array, Array]:
    rows = self.reshape(-1, 1)
    if dim is not None:
        lines = np.moveaxis(np.atleast_1d(self), dim, 0)
        rows = lines.reshape(len(lines), -1)
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = (rows[1:] != rows[:-1]).any(1)
    counts = np.diff(np.append(np.flatnonzero(starts), len(rows)))
    inverse = np.cumsum(starts) - 1
    if dim is None:
        return rows[starts, 0], *wanted(inverse.reshape(self.shape), return_inverse, counts, return_counts)
    # Along a dimension there is all, asked for or not.
    values = np.compress(starts, np.atleast_1d(self), dim)
    return values if self.ndim else values.reshape(()), inverse, counts


@impl("aten.unique_dim")
def unique_dim(self: Array, dim: int) -> tuple[Array, Array, Array]:
    values, inverse, counts = np.unique(self, return_inverse=True, return_counts=True, axis=dim)
    return values, inverse.reshape(-1), counts


def wanted(inverse: Array, return_inverse: bool, counts: Array, return_counts: bool) -> tuple[Array, Array]:
    """What `unique` gives besides the values; nothing of what is not asked for."""
    nothing = np.zeros(0, np.int64)
    return inverse if return_inverse else nothing, counts if return_counts else nothing


# --- bags ----------------------------------------------------------------------------------------------------


def bags(
    weight: Array,
    indices: Array,
    offsets: Array,
    mode: int,
    per_sample_weights: Array | None,
    include_last_offset: bool,
    padding_idx: int,
    fast: bool,
) -> tuple[Array, Array, Array, Array]:
    """Sums, means or maxima of rows, a bag from each offset to the next; empty ones are 0.

    Where PyTorch's kernel is `fast` it does not say which bag each index is in.
    """
    indices, offsets = indices.astype(np.int64), offsets.astype(np.int64)  # they may be Bool
    check_index(indices, weight.shape[0])
    require(offsets.size == 0 or offsets[0] == 0, "embedding_bag: the first offset must be 0")
    count = max(offsets.size - include_last_offset, 0)
    ends = offsets[1:] if include_last_offset else np.append(offsets[1:], indices.size)
    require(bool((offsets[:count] <= ends).all()), "embedding_bag: offsets must ascend")
    require(
        count == 0 or int(ends[-1]) <= indices.size, "embedding_bag: the last offset is beyond the indices"
    )
    bag = np.repeat(np.arange(count), np.diff(np.append(offsets[:count], ends[-1:])))
    kept = np.flatnonzero(indices[: bag.size] != padding_idx)
    sizes = np.bincount(bag[kept], minlength=count)
    picked = weight[indices[kept]]
    if per_sample_weights is not None:
        picked = picked * per_sample_weights[kept, None]
    result = np.zeros((count, weight.shape[1]), sum_dtype(weight.dtype))
    nothing = np.zeros(offsets.size, np.int64)
    if mode == BAG_MAX:
        greatest, places = maxima(picked, indices[kept], bag[kept], count)
        return greatest, bag, sizes, places
    np.add.at(result, bag[kept], picked)
    if mode == BAG_MEAN:
        return result / np.maximum(sizes, 1)[:, None], bag, sizes, sizes
    return result, bag[:0] if fast and padding_idx < 0 else bag, nothing, nothing[:count]


def maxima(picked: Array, indices: Array, bag: Array, count: int) -> tuple[Array, Array]:
    """The greatest element of each column of each bag, the first of equal ones, and the index of its row."""
    result = np.zeros((count, picked.shape[1]), picked.dtype)
    places = np.zeros(result.shape, np.int64)
    for number in np.unique(bag):
        rows = bag == number
        best = picked[rows].argmax(0)
        result[number] = np.take_along_axis(picked[rows], best[None], 0)[0]
        places[number] = indices[rows][best]
    return result, places


def fit(values: Array, size: int) -> Array:
    """A vector with zeros after it, or cut off."""
    result = np.zeros(size, values.dtype)
    result[: values.size] = values[:size]
    return result


def is_fast(out: tuple[DType, ...]) -> bool:
    return out[0] in (Float, Half)


def bag_kernel(forward_only: bool) -> Callable[..., tuple[Array, Array, Array, Array]]:
    """What computes the bags, which differ in how many sizes they give."""

    def function(
        weight: Array,
        indices: Array,
        offsets: Array,
        mode: int,
        per_sample_weights: Array | None,
        include_last_offset: bool,
        padding_idx: int,
        out: tuple[DType, ...],
    ) -> tuple[Array, Array, Array, Array]:
        result, bag, sizes, places = bags(
            weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, is_fast(out)
        )
        return result, bag, fit(sizes, offsets.size) if forward_only else sizes[: len(result)], places

    return function


impl("aten._embedding_bag")(bag_kernel(forward_only=False))
impl("aten._embedding_bag_forward_only")(bag_kernel(forward_only=True))
