"""Gradients of what reads and writes at indices: what was read is added where it was, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Bool, Byte, Long
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.tensors import tensor_type
from xdsl_exir.transforms.arithmetic import both, choose
from xdsl_exir.transforms.decompositions.backward import added_along, zeros
from xdsl_exir.transforms.decompositions.view import Size
from xdsl_exir.transforms.gradients import Gradient, Gradients, constant, gradient
from xdsl_exir.transforms.gradients.reduction import put_at, selected
from xdsl_exir.transforms.matching import static

constant(
    "aten.nonzero", "aten.nonzero_static", "aten.one_hot", "aten.searchsorted.Tensor", "aten.bucketize.Tensor"
)
constant("aten.searchsorted.Scalar", "aten.bucketize.Scalar", "aten.isin.Tensor_Tensor")


def like(aten: Namespace, grad: SSAValue, self: SSAValue) -> SSAValue:
    """Zeros as an argument is, for a gradient to be put in."""
    return zeros(aten, sizes(aten, self), meta(grad).dtype)


@gradient("aten.embedding")
def embedding(
    aten: Namespace,
    grad: SSAValue,
    weight: SSAValue,
    indices: SSAValue,
    padding_idx: Size,
    scale_grad_by_freq: bool,
) -> Gradients:
    rows = sizes(aten, weight)[0]
    return aten.embedding_dense_backward(grad, indices, rows, padding_idx, scale_grad_by_freq)


@gradient("aten.index_select")
def index_select(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, index: SSAValue) -> Gradients:
    if meta(self).ndim == 0:
        return aten.sum(grad)
    if meta(index).ndim == 0:
        index = aten.unsqueeze(index, 0)
    return added_along(aten, sizes(aten, self), wrap_dim(dim, meta(self).ndim), index, grad)


@gradient("aten.gather")
def gather(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, index: SSAValue) -> Gradients:
    return aten.scatter_add(like(aten, grad, self), dim, index, grad)


@gradient("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(aten: Namespace, grad: SSAValue, self: SSAValue, indices: Sequence[Gradient]) -> Gradients:
    return aten.index_put(like(aten, grad, self), indices, grad, True)


@gradient("aten.index_put", "aten._unsafe_index_put")
def index_put(
    aten: Namespace, grad: SSAValue, indices: Sequence[Gradient], values: SSAValue, accumulate: bool
) -> Gradients:
    nothing = aten.full([], 0, dtype=meta(grad).dtype)
    kept = grad if accumulate else aten.index_put(grad, indices, nothing)
    masks = [place for place, index in enumerate(indices) if index is not None and is_mask(index)]
    if not masks:
        return kept, None, aten.index.Tensor(grad, indices)
    return kept, None, of_masked(aten, grad, indices, values)


def is_mask(index: SSAValue) -> bool:
    return meta(index).dtype in (Bool, Byte)


def of_masked(aten: Namespace, grad: SSAValue, indices: Sequence[Gradient], values: SSAValue) -> SSAValue:
    """What was put where a mask is true: one value to all elements, or as many values as there are."""
    [mask], [place] = (
        [i for i in indices if i is not None],
        [n for n, i in enumerate(indices) if i is not None],
    )
    rank, dims = meta(grad).ndim - meta(mask).ndim + 1, list(range(place, place + meta(mask).ndim))
    beyond = rank - meta(values).ndim
    if beyond > place or meta(values).shape[place - beyond] == 1:
        trailing = [1] * (meta(grad).ndim - dims[-1] - 1)
        chosen = choose(aten, aten.view(mask, [*sizes(aten, mask), *trailing]), grad)
        whole = aten.sum.dim_IntList(chosen, dims)
        return whole if beyond > place else aten.unsqueeze(whole, place)
    shape = [*meta(grad).shape[:place], meta(values).shape[place - beyond], *meta(grad).shape[dims[-1] + 1 :]]
    operator = aten.builder.dialect["aten.index.Tensor"]
    type = tensor_type(tuple(shape), meta(grad).dtype)
    return aten.builder.build(operator, {"self": grad, "indices": list(indices)}, [type])


# --- scattering ----------------------------------------------------------------------------------------------


def of_source(aten: Namespace, grad: SSAValue, dim: int, index: SSAValue, src: SSAValue) -> SSAValue:
    """What was taken of a source: as far as the index goes, nothing beyond it."""
    share = aten.gather(grad, dim, index)
    have, want = static(meta(share).shape), static(meta(src).shape)
    if have is None or want is None or have == want:
        return share
    pads = [pad for had, size in zip(reversed(have), reversed(want), strict=True) for pad in (0, size - had)]
    return aten.constant_pad_nd(share, pads)


@gradient("aten.scatter.src")
def scatter(aten: Namespace, grad: SSAValue, dim: int, index: SSAValue, src: SSAValue) -> Gradients:
    return aten.scatter.value(grad, dim, index, 0), None, of_source(aten, grad, dim, index, src)


@gradient("aten.scatter.value")
def scatter_value(aten: Namespace, grad: SSAValue, dim: int, index: SSAValue) -> Gradients:
    return aten.scatter.value(grad, dim, index, 0)


@gradient("aten.scatter_add")
def scatter_add(aten: Namespace, grad: SSAValue, dim: int, index: SSAValue, src: SSAValue) -> Gradients:
    return grad, None, of_source(aten, grad, dim, index, src)


@gradient("aten.scatter_reduce.two")
def scatter_reduce(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: int,
    index: SSAValue,
    src: SSAValue,
    reduce: str,
    include_self: bool,
    result: SSAValue,
) -> Gradients:
    rule = _REDUCTIONS[reduce]
    of_self, of_values = rule(aten, grad, self, dim, index, src, include_self, result)
    if not include_self:
        of_self = aten.scatter.value(of_self, dim, index, 0)
    return of_self, None, of_values


def _sum(
    aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, index: SSAValue, src: SSAValue, *_: Any
) -> tuple[SSAValue, SSAValue]:
    return grad, of_source(aten, grad, dim, index, src)


def _mean(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: int,
    index: SSAValue,
    src: SSAValue,
    include_self: bool,
    result: SSAValue,
) -> tuple[SSAValue, SSAValue]:
    ones = aten.full_like(src, 1)
    start = aten.full_like(self, 1 if include_self else 0)
    count = aten.scatter_add(start, dim, index, ones)
    share = aten.div.Tensor(grad, aten.clamp(count, 1))
    return share, of_source(aten, share, dim, index, src)


def _extreme(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: int,
    index: SSAValue,
    src: SSAValue,
    include_self: bool,
    result: SSAValue,
) -> tuple[SSAValue, SSAValue]:
    """Shared by all that are the result."""
    dtype = meta(grad).dtype
    found = cast(aten, aten.eq.Tensor(self, result), dtype)
    taken = aten.eq.Tensor(src, aten.gather(result, dim, index))
    start = found if include_self else aten.scatter.value(found, dim, index, 0)
    count = aten.scatter_add(start, dim, index, cast(aten, taken, dtype))
    share = aten.div.Tensor(grad, aten.clamp(count, 1))
    return aten.mul.Tensor(share, found), choose(aten, taken, aten.gather(share, dim, index))


def _prod(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: int,
    index: SSAValue,
    src: SSAValue,
    include_self: bool,
    result: SSAValue,
) -> tuple[SSAValue, SSAValue]:
    """What the others make: where one of them alone is zero, the product without it."""

    def product(start: SSAValue, values: SSAValue) -> SSAValue:
        return aten.scatter_reduce.two(start, dim, index, values, "prod", include_self=include_self)

    one = aten.full([], 1, dtype=meta(src).dtype)
    own = aten.where.self(aten.eq.Scalar(self, 0), one, self)
    of_self = aten.div.Tensor(aten.mul.Tensor(grad, product(own, src)), own)
    zero = aten.eq.Scalar(src, 0)
    zeros_there = aten.scatter_add(aten.full_like(self, 0), dim, index, cast(aten, zero, meta(self).dtype))
    alone = both(aten, zero, aten.eq.Scalar(aten.gather(zeros_there, dim, index), 1))
    without = product(self, aten.where.self(alone, one, src))
    lonely = aten.gather(aten.mul.Tensor(grad, without), dim, index)
    others = aten.div.Tensor(
        aten.gather(aten.mul.Tensor(grad, result), dim, index), aten.where.self(zero, one, src)
    )
    return of_self, aten.where.self(alone, lonely, others)


_REDUCTIONS = {"sum": _sum, "mean": _mean, "amax": _extreme, "amin": _extreme, "prod": _prod}

# --- masks ---------------------------------------------------------------------------------------------------


@gradient("aten.masked_select")
def masked_select(aten: Namespace, grad: SSAValue, self: SSAValue, mask: SSAValue) -> Gradients:
    whole = aten.broadcast_tensors([self, mask])[0]
    return aten.masked_scatter(like(aten, grad, whole), mask, grad)


@gradient("aten.masked_scatter")
def masked_scatter(aten: Namespace, grad: SSAValue, mask: SSAValue, source: SSAValue) -> Gradients:
    """Of the source, as many elements as the mask has, in their order."""
    mask = aten.expand(mask, sizes(aten, grad))
    kept = choose(aten, aten.logical_not(mask), grad)
    flat = aten.view(mask, [-1])
    place = aten.clamp(aten.sub.Scalar(aten.cumsum(cast(aten, flat, Long), 0), 1), 0)
    values = aten.view(choose(aten, mask, grad), [-1])
    start = aten.view(zeros(aten, sizes(aten, source), meta(grad).dtype), [-1])
    # Where the mask has nothing, nothing is added.
    put = aten.index_put(start, [choose(aten, flat, place)], values, True)
    return kept, None, aten.view(put, sizes(aten, source))


# --- order ---------------------------------------------------------------------------------------------------


@gradient("aten.sort", "aten.sort.stable", "aten.topk")
def ordered(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    self: SSAValue,
    dim: int,
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    return put_at(aten, grad[0], self, results[1], dim)


gradient("aten.kthvalue")(selected)


# --- bags of embeddings --------------------------------------------------------------------------------------


@gradient("aten._embedding_bag", "aten._embedding_bag_forward_only")
def embedding_bag(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient, Gradient, Gradient],
    weight: SSAValue,
    indices: SSAValue,
    offsets: SSAValue,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: SSAValue | None,
    padding_idx: int,
    results: tuple[SSAValue, ...],
) -> Gradients:
    """Of sums (mode 0) and means (1) each row gets the bag's, of maxima (2) the row that an element is of."""
    [rows, width], share = sizes(aten, weight), grad[0]
    if mode == 2:
        start = zeros(aten, [rows, width], meta(share).dtype)
        return aten.scatter_add(start, 0, results[3], share)
    indices = cast(aten, indices, Long)
    count = sizes(aten, indices)[0]
    place = aten.arange.start_step(0, count, 1, dtype=Long)
    bag = aten.sub.Scalar(aten.bucketize.Tensor(place, cast(aten, offsets, Long), right=True), 1)
    kept = aten.ne.Scalar(indices, padding_idx if padding_idx >= 0 else -1)
    if mode == 1:
        ones = cast(aten, kept, meta(share).dtype)
        in_bag = aten.index_put(
            aten.full([sizes(aten, share)[0]], 0, dtype=meta(share).dtype), [bag], ones, True
        )
        share = aten.div.Tensor(share, aten.unsqueeze(aten.clamp(in_bag, 1), -1))
    of_rows = choose(aten, aten.unsqueeze(kept, -1), aten.index.Tensor(share, [bag]))
    weighted = of_rows
    if per_sample_weights is not None:
        weighted = aten.mul.Tensor(of_rows, aten.unsqueeze(per_sample_weights, -1))
    of_weight = aten.embedding_dense_backward(weighted, indices, rows, -1, scale_grad_by_freq)
    if per_sample_weights is None:
        return of_weight
    read = aten.index.Tensor(weight, [indices])
    return of_weight, None, None, aten.sum.dim_IntList(aten.mul.Tensor(of_rows, read), [-1])
