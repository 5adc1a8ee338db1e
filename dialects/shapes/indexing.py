"""Shape rules of operators that pick, place and order elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    check,
    may_be_at_most,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
)
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta

OpenShape: TypeAlias = tuple[Dim | None, ...]
"""A shape in which a size may depend on the data."""


def at_least_1d(shape: Shape) -> Shape:
    """The shape that a tensor has where it needs a dimension: a 0-dim one counts as one of size 1."""
    return shape or (1,)


def fits(sizes: Sequence[Dim], limits: Sequence[Dim]) -> bool:
    """Whether no size provably exceeds its limit."""
    return all(map(may_be_at_most, sizes, limits))


def replaced(shape: Shape, dim: int, *sizes: Dim) -> Shape:
    """The shape with these sizes in place of one dimension's."""
    return (*shape[:dim], *sizes, *shape[dim + 1 :])


@shape_rule("aten.embedding_renorm")
def embedding_renorm(self: TensorMeta) -> Shape:
    check(self.ndim == 2, f"a table of rank {self.ndim}")
    return self.shape


@shape_rule("aten.embedding")
def embedding(weight: TensorMeta, indices: TensorMeta) -> Shape:
    check(weight.ndim == 2, f"weight {shape_text(weight.shape)} must have two dimensions")
    return (*indices.shape, weight.shape[1])


BAG_SUM, BAG_MEAN, BAG_MAX = 0, 1, 2
"""Values of `mode`."""


def bag_rule(forward_only: bool, negative_counts: bool = False) -> Callable[..., list[OpenShape]]:
    """The rule of the bags, and what gradients need: the bag of each index, the bags' sizes, and where maxima are.

    As meta tensors have them: eager `forward_only` kernels count the last offset a little differently. A negative
    `padding_idx` is none, unless it `counts` from the end.
    """

    def rule(
        weight: TensorMeta,
        indices: TensorMeta,
        offsets: TensorMeta,
        mode: int,
        per_sample_weights: TensorMeta | None,
        include_last_offset: bool,
        padding_idx: int | None = None,
    ) -> list[OpenShape]:
        check(weight.ndim == 2, f"weight {shape_text(weight.shape)} must have two dimensions")
        check(indices.ndim == offsets.ndim == 1, "indices and offsets must be vectors")
        check(mode in (BAG_SUM, BAG_MEAN, BAG_MAX), f"mode {mode}")
        if per_sample_weights is not None:
            check(mode == BAG_SUM, "per_sample_weights go with mode 'sum'")
            check(
                same_shape(per_sample_weights.shape, indices.shape),
                f"per_sample_weights {shape_text(per_sample_weights.shape)} for indices {shape_text(indices.shape)}",
            )
        offset_count = offsets.shape[0]
        count = offset_count - 1 if include_last_offset else offset_count
        without_padding = padding_idx is None or (padding_idx < 0 and not negative_counts)
        # The kernel has no use for the bag of each index where it is fast; in bfloat16 the tracer does not know that.
        fast = mode == BAG_SUM and without_padding and weight.dtype in (dt.Float, dt.Half)
        size = offset_count if forward_only else count
        maxima = (count, weight.shape[1]) if mode == BAG_MAX else (count,)
        return [(count, weight.shape[1]), (0,) if fast else indices.shape, (size,), maxima]

    return rule


shape_rule("aten._embedding_bag")(bag_rule(forward_only=False))
shape_rule("aten._embedding_bag_forward_only", "aten.embedding_bag")(bag_rule(forward_only=True))
shape_rule("aten.embedding_bag.padding_idx")(bag_rule(forward_only=True, negative_counts=True))


# --- one index tensor along a dimension ----------------------------------------------------------------------


def check_index_vector(self: TensorMeta, dim: int, index: TensorMeta) -> int:
    """Checks an index of at most one dimension; gives the dimension that it picks along."""
    check(index.ndim <= 1, f"index {shape_text(index.shape)} must be a vector")
    check(
        self.ndim > 0 or same_size(numel(index.shape), 1),
        f"a 0-dim tensor takes an index of one element, got {shape_text(index.shape)}",
    )
    return wrap_dim(dim, self.ndim)


@shape_rule("aten.index_select")
def index_select(self: TensorMeta, dim: int, index: TensorMeta) -> Shape:
    dim = check_index_vector(self, dim, index)
    return replaced(self.shape, dim, numel(index.shape)) if self.shape else ()


@shape_rule("aten.index_fill.int_Tensor")
def index_fill_tensor(self: TensorMeta, dim: int, index: TensorMeta, value: TensorMeta | NumberMeta) -> Shape:
    check(value.ndim == 0, f"the value is 0-dimensional, not {shape_text(value.shape)}")
    return index_fill(self, dim, index)


@shape_rule("aten.index_fill.int_Scalar")
def index_fill(self: TensorMeta, dim: int, index: TensorMeta) -> Shape:
    wrap_dim(dim, self.ndim)
    check(index.ndim <= 1, f"index {shape_text(index.shape)} must be a vector")
    return self.shape


@shape_rule("aten.index_reduce")
def index_reduce(self: TensorMeta, dim: int, index: TensorMeta, source: TensorMeta, reduce: str) -> Shape:
    check(reduce in ("prod", "mean", "amax", "amin"), f"reduce '{reduce}' is not prod, mean, amax or amin")
    return index_add(self, dim, index, source)


@shape_rule("aten.index_add", "aten.index_copy")
def index_add(self: TensorMeta, dim: int, index: TensorMeta, source: TensorMeta) -> Shape:
    dim = wrap_dim(dim, self.ndim)
    check(index.ndim <= 1, f"index {shape_text(index.shape)} must be a vector")
    expected = replaced(at_least_1d(self.shape), dim, numel(index.shape))
    check(
        same_shape(at_least_1d(source.shape), expected),
        f"source {shape_text(source.shape)} must be of shape {shape_text(expected)}",
    )
    return self.shape


# --- index tensors of the result's rank ----------------------------------------------------------------------


def check_gather(self: Shape, dim: int, index: Shape, what: str = "self") -> None:
    """Checks that an index has the rank of a tensor and, but for `dim`, no greater sizes."""
    if index and numel(index) == 0:
        return
    limits, sizes = at_least_1d(self), at_least_1d(index)
    check(
        len(limits) == len(sizes),
        f"index {shape_text(index)} and {what} {shape_text(self)} must be of one rank",
    )
    dim = wrap_dim(dim, len(limits))
    check(
        fits(replaced(sizes, dim), replaced(limits, dim)),
        f"index {shape_text(index)} exceeds {what} {shape_text(self)} apart from dimension {dim}",
    )


@shape_rule("aten.gather")
def gather(self: TensorMeta, dim: int, index: TensorMeta) -> Shape:
    wrap_dim(dim, self.ndim)
    check_gather(self.shape, dim, index.shape)
    return index.shape


@shape_rule("aten.scatter.value", "aten.scatter.value_reduce")
def scatter_value(self: TensorMeta, dim: int, index: TensorMeta) -> Shape:
    wrap_dim(dim, self.ndim)
    check_gather(self.shape, dim, index.shape)
    return self.shape


@shape_rule("aten.scatter.src", "aten.scatter.reduce", "aten.scatter_add", "aten.scatter_reduce.two")
def scatter_src(self: TensorMeta, dim: int, index: TensorMeta, src: TensorMeta) -> Shape:
    wrap_dim(dim, self.ndim)
    check_gather(self.shape, dim, index.shape)
    if not (index.shape and numel(index.shape) == 0):
        sizes, limits = at_least_1d(index.shape), at_least_1d(src.shape)
        check(
            len(sizes) == len(limits) and fits(sizes, limits),
            f"index {shape_text(index.shape)} exceeds src {shape_text(src.shape)}",
        )
    return self.shape


@shape_rule("aten.take_along_dim")
def take_along_dim(self: TensorMeta, indices: TensorMeta, dim: int | None) -> Shape:
    if dim is None:
        return (numel(indices.shape),)
    check(
        self.ndim == indices.ndim > 0,
        f"self {shape_text(self.shape)} and indices {shape_text(indices.shape)} must be of one rank, at least 1",
    )
    dim = wrap_dim(dim, self.ndim)
    common = broadcast_shapes(replaced(self.shape, dim, 1), replaced(indices.shape, dim, 1))
    return replaced(common, dim, indices.shape[dim])


@shape_rule("aten.take")
def take(index: TensorMeta) -> Shape:
    return index.shape


@shape_rule("aten.put")
def put(self: TensorMeta, index: TensorMeta, source: TensorMeta) -> Shape:
    check(self.dtype is source.dtype, f"self is {self.dtype}, source {source.dtype}")
    counts = numel(index.shape), numel(source.shape)
    check(same_size(*counts), f"{counts[0]} indices for {counts[1]} elements")
    return self.shape


# --- advanced indexing ---------------------------------------------------------------------------------------


def indexed(self: Shape, indices: Sequence[TensorMeta | None]) -> OpenShape:
    """The shape of `self[indices]`: as in NumPy, None keeps a dimension and a mask stands for several.

    The broadcast shape of the indices stands in place of the indexed dimensions, or first if those are not
    adjacent. A mask picks as many elements as it holds True.
    """
    check(any(index is not None for index in indices), "at least one index must be given")
    kept: list[Dim] = []
    picked: list[int] = []
    shapes: list[Shape] = []
    position, counted = 0, False
    for index in indices:
        if index is None:
            kept += self[position : position + 1]
            position += 1
            continue
        mask = index.dtype in (dt.Bool, dt.Byte)
        check(not mask or index.ndim > 0, "a mask must have a dimension")
        count = index.ndim if mask else 1
        covered = self[position : position + count]
        if mask:
            check(
                same_shape(index.shape, covered),
                f"mask {shape_text(index.shape)} does not match dimension {position} of {shape_text(self)}",
            )
            counted = True
        else:
            shapes.append(index.shape)
        # Where the indexed dimensions stand among those that are kept.
        picked.append(len(kept))
        position += count
    check(position <= len(self), f"too many indices for a tensor of shape {shape_text(self)}")
    kept += self[position:]
    common: OpenShape = broadcast_shapes(*shapes)
    if counted:
        common = _broadcast_count(common)
    start = picked[0] if picked[0] == picked[-1] else 0
    return (*kept[:start], *common, *kept[start:])


def _broadcast_count(shape: OpenShape) -> OpenShape:
    """What a shape and a vector of unknown size broadcast to."""
    *front, last = shape or (1,)
    return (*front, last if isinstance(last, int) and last > 1 else None)


@shape_rule("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(self: TensorMeta, indices: list[TensorMeta | None]) -> OpenShape:
    return indexed(self.shape, indices)


@shape_rule("aten.index_put", "aten._unsafe_index_put")
def index_put(self: TensorMeta, indices: list[TensorMeta | None], values: TensorMeta | NumberMeta) -> Shape:
    target = indexed(self.shape, indices)
    message = f"values {shape_text(values.shape)} do not broadcast to the indexed [{', '.join('?' if size is None else str(size) for size in target)}]"
    check(len(values.shape) <= len(target), message)
    for size, limit in zip(reversed(values.shape), reversed(target), strict=False):
        check(size == 1 or limit is None or same_size(size, limit), message)
    return self.shape


@shape_rule("aten._unsafe_masked_index")
def unsafe_masked_index(self: TensorMeta, mask: TensorMeta, indices: list[TensorMeta | None]) -> OpenShape:
    picked = indexed(self.shape, indices)
    check_mask(mask, tuple(size for size in picked if size is not None))
    return picked


def check_mask(mask: TensorMeta, shape: Shape) -> None:
    """A mask broadcasts to what it masks."""
    check(
        same_shape(broadcast_shapes(mask.shape, shape), shape),
        f"mask {shape_text(mask.shape)} does not broadcast to {shape_text(shape)}",
    )


@shape_rule("aten._unsafe_masked_index_put_accumulate")
def unsafe_masked_index_put(
    self: TensorMeta, mask: TensorMeta, indices: list[TensorMeta | None], values: TensorMeta
) -> Shape:
    check_mask(mask, values.shape)
    return index_put(self, indices, values)


@shape_rule("aten.masked_select")
def masked_select(self: TensorMeta, mask: TensorMeta) -> OpenShape:
    broadcast_shapes(self.shape, mask.shape)
    return (None,)


@shape_rule("aten.masked_scatter")
def masked_scatter(self: TensorMeta, mask: TensorMeta) -> Shape:
    return broadcast_shapes(self.shape, mask.shape)


@shape_rule("aten.nonzero")
def nonzero(self: TensorMeta) -> OpenShape:
    return (None, self.ndim)


@shape_rule("aten.nonzero_static")
def nonzero_static(self: TensorMeta, size: Dim) -> Shape:
    check(may_be_at_most(0, size), f"size {size} is negative")
    return (size, self.ndim)


@shape_rule("aten._unique2")
def unique(self: TensorMeta, return_inverse: bool, return_counts: bool) -> list[OpenShape]:
    return [(None,), self.shape if return_inverse else (0,), (None,) if return_counts else (0,)]


@shape_rule("aten.unique_consecutive")
def unique_consecutive(
    self: TensorMeta, return_inverse: bool, return_counts: bool, dim: int | None
) -> list[OpenShape]:
    if dim is None:
        return [(None,), self.shape if return_inverse else (0,), (None,) if return_counts else (0,)]
    dim = wrap_dim(dim, self.ndim)
    values = (*self.shape[:dim], None, *self.shape[dim + 1 :]) if self.shape else ()
    # Along a dimension there is all, asked for or not.
    return [values, at_least_1d(self.shape)[dim : dim + 1], (None,)]


@shape_rule("aten.one_hot")
def one_hot(self: TensorMeta, num_classes: int) -> OpenShape:
    check(num_classes == -1 or num_classes > 0, f"num_classes must be positive, got {num_classes}")
    check(
        num_classes != -1 or numel(self.shape) != 0,
        "the number of classes cannot be inferred from an empty tensor",
    )
    return (*self.shape, None if num_classes == -1 else num_classes)


# --- order ---------------------------------------------------------------------------------------------------


@shape_rule("aten.topk")
def topk(self: TensorMeta, k: Dim, dim: int) -> list[Shape]:
    dim = wrap_dim(dim, self.ndim)
    size = at_least_1d(self.shape)[dim]
    check(
        may_be_at_most(0, k) and may_be_at_most(k, size),
        f"k = {k} is out of range for a dimension of size {size}",
    )
    return [replaced(self.shape, dim, k) if self.shape else ()] * 2


@shape_rule("aten.sort", "aten.sort.stable")
def sort(self: TensorMeta, dim: int) -> list[Shape]:
    wrap_dim(dim, self.ndim)
    return [self.shape, self.shape]


@shape_rule("aten.argsort", "aten.argsort.stable")
def argsort(self: TensorMeta, dim: int) -> Shape:
    wrap_dim(dim, self.ndim)
    return self.shape


@shape_rule("aten.msort")
def msort(self: TensorMeta) -> Shape:
    return self.shape


@shape_rule("aten.kthvalue")
def kthvalue(self: TensorMeta, k: Dim, dim: int, keepdim: bool) -> list[Shape]:
    topk(self, k, dim)
    check(k != 0, "k counts from 1")
    if not self.shape:
        return [(), ()]
    dim = wrap_dim(dim, self.ndim)
    return [replaced(self.shape, dim, 1) if keepdim else replaced(self.shape, dim)] * 2


@shape_rule("aten.tril", "aten.triu")
def tril(self: TensorMeta) -> Shape:
    check(self.ndim >= 2, f"expected at least two dimensions, got {shape_text(self.shape)}")
    return self.shape


@shape_rule("aten.searchsorted.Tensor")
def searchsorted(
    sorted_sequence: TensorMeta, self: TensorMeta | NumberMeta, side: str | None, sorter: TensorMeta | None
) -> Shape:
    boundaries = sorted_sequence.shape
    check(side in (None, "left", "right"), f"side '{side}' is neither 'left' nor 'right'")
    check(len(boundaries) > 0, "sorted_sequence must have a dimension")
    check(
        len(boundaries) == 1 or same_shape(boundaries[:-1], self.shape[:-1]),
        f"sorted_sequence {shape_text(boundaries)} and self {shape_text(self.shape)} must agree but for the last dimension",
    )
    check(
        sorter is None or same_shape(sorter.shape, boundaries),
        f"sorter must be of sorted_sequence's shape {shape_text(boundaries)}",
    )
    return self.shape


@shape_rule("aten.bucketize.Tensor")
def bucketize(self: TensorMeta | NumberMeta, boundaries: TensorMeta) -> Shape:
    check(boundaries.ndim == 1, f"boundaries {shape_text(boundaries.shape)} must be a vector")
    return self.shape


@shape_rule("aten.searchsorted.Scalar")
def searchsorted_scalar(sorted_sequence: TensorMeta, side: str | None, sorter: TensorMeta | None) -> Shape:
    return searchsorted(sorted_sequence, TensorMeta((), sorted_sequence.dtype), side, sorter)


@shape_rule("aten.bucketize.Scalar")
def bucketize_scalar(boundaries: TensorMeta) -> Shape:
    check(boundaries.ndim == 1, f"boundaries {shape_text(boundaries.shape)} must be a vector")
    return ()


@shape_rule("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar")
def isin(elements: TensorMeta) -> Shape:
    return elements.shape


@shape_rule("aten.isin.Scalar_Tensor")
def isin_scalar() -> Shape:
    return ()


@shape_rule("aten.argwhere")
def argwhere(self: TensorMeta) -> OpenShape:
    return (None, self.ndim)


@shape_rule("aten.nonzero_numpy")
def nonzero_numpy(self: TensorMeta) -> list[OpenShape]:
    return [(None,)] * max(self.ndim, 1)


@shape_rule("aten.where")
def where_indices(condition: TensorMeta) -> list[OpenShape]:
    return nonzero_numpy(condition)


@shape_rule("aten.unique_dim")
def unique_dim(self: TensorMeta, dim: int) -> list[OpenShape]:
    check(self.ndim > 0, f"dimension {dim} of a 0-dimensional tensor")
    dim = wrap_dim(dim, self.ndim)
    # The flags for inverse and counts do not count.
    return [(*self.shape[:dim], None, *self.shape[dim + 1 :]), (self.shape[dim],), (None,)]
