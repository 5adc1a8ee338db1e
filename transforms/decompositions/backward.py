"""Decompositions of gradients, as `run_decompositions` takes them apart where it does.

Of windows and resampled images the gradient goes back along the indices that the operator itself reads at: a rule
adds it up there. Results that an output mask leaves out are tensors without elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import Category, DType, Long
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.shapes.loss import MEAN
from xdsl_exir.transforms.arithmetic import both, choose, computing, product
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS, decomposition
from xdsl_exir.transforms.decompositions.attention import default_scale, masked_scores, repeat_heads
from xdsl_exir.transforms.decompositions.loss import channel_of, per_class
from xdsl_exir.transforms.decompositions.matmul import transpose
from xdsl_exir.transforms.decompositions.resampling import (
    Taps,
    constant_sizes,
    cubic_taps,
    linear_taps,
    nearest_taps,
)
from xdsl_exir.transforms.decompositions.view import Sizes

# --- what rules share ----------------------------------------------------------------------------------------


def nothing(aten: Namespace, dtype: DType) -> SSAValue:
    """What stands for a gradient that nobody asked for."""
    return aten.full([0], 0, dtype=dtype)


def zeros(aten: Namespace, shape: Sequence[Size], dtype: DType) -> SSAValue:
    return aten.full(list(shape), 0, dtype=dtype)


def difference(aten: Namespace, *terms: SSAValue) -> SSAValue:
    """The first less the others."""
    return reduce(aten.sub.Tensor, terms)


def added_along(
    aten: Namespace, shape: Sequence[Size], dim: int, index: SSAValue, values: SSAValue
) -> SSAValue:
    """Zeros of this shape, to which slices of values are added at their indices along a dimension."""
    target = zeros(aten, shape, meta(values).dtype)
    return aten.index_put(target, [*([None] * dim), index], values, True)


# --- activations ---------------------------------------------------------------------------------------------


@decomposition("aten.logit_backward")
def logit_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue, eps: float | None) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    low, outside = (0.0, math.nan) if eps is None else (eps, 0.0)
    inside = both(aten, aten.ge.Scalar(x, low), aten.le.Scalar(x, 1 - low))
    curved = aten.div.Tensor(grad, aten.mul.Tensor(x, aten.rsub.Scalar(x, 1)))
    other = aten.scalar_tensor(outside, dtype=meta(x).dtype)
    return cast(aten, aten.where.self(inside, curved, other), dtype)


# --- losses --------------------------------------------------------------------------------------------------


def averaged(aten: Namespace, gradient: SSAValue, self: SSAValue, reduction: int) -> SSAValue:
    """The gradient of each element's loss; of their mean each counts for its share."""
    return aten.div.Tensor(gradient, aten.sym_numel(self)) if reduction == MEAN else gradient


@decomposition("aten.mse_loss_backward")
def mse_loss_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, target: SSAValue, reduction: int
) -> SSAValue:
    (grad, x, y), dtype = computing(aten, grad_output, self, target)
    gradient = product(aten, aten.sub.Tensor(x, y), 2.0, grad)
    return cast(aten, averaged(aten, gradient, self, reduction), dtype)


@decomposition("aten.smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, target: SSAValue, reduction: int, beta: float
) -> SSAValue:
    (grad, x, y), dtype = computing(aten, grad_output, self, target)
    distance = aten.sub.Tensor(x, y)
    grad = averaged(aten, grad, self, reduction)
    far = aten.mul.Tensor(grad, aten.sign(distance))
    if beta > 0:
        near = aten.div.Tensor(aten.mul.Tensor(grad, distance), beta)
        far = aten.where.self(aten.lt.Scalar(aten.abs(distance), beta), near, far)
    return cast(aten, far, dtype)


@decomposition("aten.huber_loss_backward")
def huber_loss_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, target: SSAValue, reduction: int, delta: float
) -> SSAValue:
    (grad, x, y), dtype = computing(aten, grad_output, self, target)
    slope = aten.clamp(aten.sub.Tensor(x, y), -delta, delta)
    return cast(aten, averaged(aten, aten.mul.Tensor(grad, slope), self, reduction), dtype)


@decomposition("aten.soft_margin_loss_backward")
def soft_margin_loss_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, target: SSAValue, reduction: int
) -> SSAValue:
    (grad, x, y), dtype = computing(aten, grad_output, self, target)
    slope = aten.sub.Tensor(aten.sigmoid(aten.mul.Tensor(y, x)), 1)
    return cast(aten, averaged(aten, product(aten, y, grad, slope), self, reduction), dtype)


LEAST_VARIANCE = 1e-12
"""`self (1 - self)` is taken to be no less, so that certain probabilities have a gradient."""


@decomposition("aten.binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    aten: Namespace,
    grad_output: SSAValue,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None,
    reduction: int,
) -> SSAValue:
    (grad, x, y), dtype = computing(aten, grad_output, self, target)
    variance = aten.clamp(aten.mul.Tensor(x, aten.rsub.Scalar(x, 1)), LEAST_VARIANCE)
    gradient = aten.div.Tensor(aten.mul.Tensor(grad, aten.sub.Tensor(x, y)), variance)
    if weight is not None:
        gradient = aten.mul.Tensor(gradient, cast(aten, weight, meta(x).dtype))
    return cast(aten, averaged(aten, gradient, self, reduction), dtype)


@decomposition("aten.nll_loss_backward", "aten.nll_loss2d_backward")
def nll_loss_backward(
    aten: Namespace,
    grad_output: SSAValue,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None,
    reduction: int,
    ignore_index: int,
    total_weight: SSAValue,
) -> SSAValue:
    """The gradient, negative, at each item's class."""
    channel, dtype = channel_of(self), meta(self).dtype
    if reduction == MEAN:
        grad_output = aten.div.Tensor(grad_output, total_weight)
    if meta(self).ndim == 1 and meta(target).ndim == 1:
        target = aten.squeeze.dim(target, 0)
    target = aten.unsqueeze(cast(aten, target, Long), channel)
    kept = aten.ne.Scalar(target, ignore_index)
    classes = choose(aten, kept, target)
    chosen = aten.scatter.value(zeros(aten, sizes(aten, self), dtype), channel, classes, -1.0)
    if 0 < meta(grad_output).ndim < meta(self).ndim:
        grad_output = aten.unsqueeze(grad_output, channel)
    if weight is not None:
        grad_output = aten.mul.Tensor(grad_output, per_class(aten, weight, self))
    return choose(aten, aten.ne.Scalar(chosen, 0), aten.neg(choose(aten, kept, grad_output)))


# --- softmax and normalizations ------------------------------------------------------------------------------


@decomposition("aten._softmax_backward_data")
def softmax_backward(
    aten: Namespace, grad_output: SSAValue, output: SSAValue, dim: int, input_dtype: DType
) -> SSAValue:
    (grad, y), _ = computing(aten, grad_output, output)
    weighted = aten.mul.Tensor(grad, y)
    total = aten.sum.dim_IntList(weighted, [dim], True)
    return cast(aten, aten.sub.Tensor(weighted, aten.mul.Tensor(y, total)), input_dtype)


@decomposition("aten._log_softmax_backward_data")
def log_softmax_backward(
    aten: Namespace, grad_output: SSAValue, output: SSAValue, dim: int, input_dtype: DType
) -> SSAValue:
    (grad, y), _ = computing(aten, grad_output, output)
    total = aten.sum.dim_IntList(grad, [dim], True)
    return cast(aten, aten.sub.Tensor(grad, aten.mul.Tensor(aten.exp(y), total)), input_dtype)


def unnormalized(
    aten: Namespace, grad: SSAValue, normal: SSAValue, rstd: SSAValue, dims: Sequence[int]
) -> SSAValue:
    """The gradient of x, from that of its normal form `(x - mean) rstd` with statistics over these dimensions."""
    mean = aten.mean.dim(grad, dims, True)
    share = aten.mean.dim(aten.mul.Tensor(grad, normal), dims, True)
    return aten.mul.Tensor(difference(aten, grad, mean, aten.mul.Tensor(normal, share)), rstd)


def summed(aten: Namespace, values: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The sum over these dimensions, of which there may be none."""
    return aten.sum.dim_IntList(values, list(dims)) if dims else values


def rounded(
    aten: Namespace, mask: Sequence[bool], like: Sequence[SSAValue], *gradients: Callable[[], SSAValue]
) -> tuple[SSAValue, ...]:
    """The gradients asked for, each in the dtype of what it is like."""
    return tuple(
        cast(aten, gradient(), meta(model).dtype) if asked else nothing(aten, meta(model).dtype)
        for asked, model, gradient in zip(mask, like, gradients, strict=True)
    )


@decomposition("aten.native_layer_norm_backward")
def native_layer_norm_backward(
    aten: Namespace,
    grad_out: SSAValue,
    input: SSAValue,
    normalized_shape: Sequence[Size],
    mean: SSAValue,
    rstd: SSAValue,
    weight: SSAValue | None,
    bias: SSAValue | None,
    output_mask: Sequence[bool],
) -> tuple[SSAValue, ...]:
    wide, rank = opmath(meta(input).dtype), meta(input).ndim
    inner = list(range(rank - len(normalized_shape), rank))
    outer = list(range(inner[0]))
    grad, x, mean, rstd = (cast(aten, each, wide) for each in (grad_out, input, mean, rstd))
    normal = aten.mul.Tensor(aten.sub.Tensor(x, mean), rstd)
    scaled = grad if weight is None else aten.mul.Tensor(grad, cast(aten, weight, wide))
    asked = [output_mask[0], output_mask[1] and weight is not None, output_mask[2] and bias is not None]
    return rounded(
        aten,
        asked,
        [input, input if weight is None else weight, weight or input if bias is None else bias],
        lambda: unnormalized(aten, scaled, normal, rstd, inner),
        lambda: summed(aten, aten.mul.Tensor(grad, normal), outer),
        lambda: summed(aten, grad, outer),
    )


@decomposition("aten.native_group_norm_backward")
def native_group_norm_backward(
    aten: Namespace,
    grad_out: SSAValue,
    input: SSAValue,
    mean: SSAValue,
    rstd: SSAValue,
    weight: SSAValue | None,
    N: Size,
    C: int,
    HxW: Size,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[SSAValue, ...]:
    wide = opmath(meta(input).dtype)
    shape = [N, group, C // group, HxW]
    parameter = mean if weight is None else weight
    grad, x = (aten.view(cast(aten, each, wide), shape) for each in (grad_out, input))
    mean, rstd = (aten.view(cast(aten, each, wide), [N, group, 1, 1]) for each in (mean, rstd))
    normal = aten.mul.Tensor(aten.sub.Tensor(x, mean), rstd)
    scaled = grad
    if weight is not None:
        scaled = aten.mul.Tensor(grad, aten.view(cast(aten, weight, wide), [group, C // group, 1]))
    return rounded(
        aten,
        output_mask,
        [input, parameter, parameter],
        lambda: aten.view(unnormalized(aten, scaled, normal, rstd, [2, 3]), sizes(aten, input)),
        lambda: aten.view(summed(aten, aten.mul.Tensor(grad, normal), [0, 3]), [C]),
        lambda: aten.view(summed(aten, grad, [0, 3]), [C]),
    )


@decomposition("aten.native_batch_norm_backward")
def native_batch_norm_backward(
    aten: Namespace,
    grad_out: SSAValue,
    input: SSAValue,
    weight: SSAValue | None,
    running_mean: SSAValue | None,
    running_var: SSAValue | None,
    save_mean: SSAValue | None,
    save_invstd: SSAValue | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[SSAValue, ...]:
    wide, rank = opmath(meta(input).dtype), meta(input).ndim
    rest = [0, *range(2, rank)]

    def per_channel(values: SSAValue | None) -> SSAValue:
        assert values is not None
        return aten.view(cast(aten, values, wide), [-1, *([1] * (rank - 2))])

    grad, x = cast(aten, grad_out, wide), cast(aten, input, wide)
    statistics = save_mean if train else running_mean
    assert statistics is not None
    if train:
        mean, rstd = per_channel(statistics), per_channel(save_invstd)
    else:
        mean, rstd = per_channel(statistics), aten.rsqrt(aten.add.Scalar(per_channel(running_var), eps))
    normal = aten.mul.Tensor(aten.sub.Tensor(x, mean), rstd)
    scaled = grad if weight is None else aten.mul.Tensor(grad, per_channel(weight))
    parameter = statistics if weight is None else weight
    return rounded(
        aten,
        output_mask,
        [input, parameter, parameter],
        lambda: unnormalized(aten, scaled, normal, rstd, rest) if train else aten.mul.Tensor(scaled, rstd),
        lambda: summed(aten, aten.mul.Tensor(grad, normal), rest),
        lambda: summed(aten, grad, rest),
    )


# --- attention and embedding ---------------------------------------------------------------------------------


@decomposition("aten._scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_backward(
    aten: Namespace,
    grad_out: SSAValue,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    out: SSAValue,
    logsumexp: SSAValue,
    is_causal: bool,
    attn_mask: SSAValue | None,
    scale: float | None,
) -> tuple[SSAValue, ...]:
    """The softmax again from its saved denominators; then the gradients of two matrix products."""
    dtype, models = meta(query).dtype, (query, key, value)
    factor = default_scale(aten, query) if scale is None else scale
    key, value = repeat_heads(aten, key, query), repeat_heads(aten, value, query)
    grad, out, query, key, value = (
        cast(aten, each, opmath(dtype)) for each in (grad_out, out, query, key, value)
    )
    scores = masked_scores(aten, query, key, attn_mask, is_causal, factor, dtype)
    weights = aten.exp(aten.sub.Tensor(scores, aten.unsqueeze(logsumexp, -1)))
    of_weights = aten.matmul(grad, transpose(aten, value))
    share = aten.sum.dim_IntList(aten.mul.Tensor(grad, out), [-1], True)
    of_scores = product(aten, weights, aten.sub.Tensor(of_weights, share), factor)
    gradients = (
        aten.matmul(of_scores, key),
        aten.matmul(transpose(aten, of_scores), query),
        aten.matmul(transpose(aten, weights), grad),
    )
    return tuple(
        cast(aten, over_repeats(aten, gradient, model), dtype)
        for gradient, model in zip(gradients, models, strict=True)
    )


def over_repeats(aten: Namespace, gradient: SSAValue, model: SSAValue) -> SSAValue:
    """The gradient of heads, summed over the queries that share each."""
    batch, heads, *rest = sizes(aten, model)
    if meta(gradient).shape[1] == meta(model).shape[1]:
        return gradient
    return aten.sum.dim_IntList(aten.view(gradient, [batch, heads, -1, *rest]), [2])


@decomposition("aten.embedding_dense_backward")
def embedding_dense_backward(
    aten: Namespace,
    grad_output: SSAValue,
    indices: SSAValue,
    num_weights: Size,
    padding_idx: Size,
    scale_grad_by_freq: bool,
) -> SSAValue:
    """Each row's gradients added up; those of the padding do not count."""
    indices = cast(aten, indices, Long)
    if scale_grad_by_freq:
        ones = aten.full(sizes(aten, indices), 1, dtype=Long)
        counts = aten.index.Tensor(added_along(aten, [num_weights], 0, indices, ones), [indices])
        category = meta(grad_output).dtype.category
        if category > Category.INT:
            grad_output = aten.div.Tensor(grad_output, aten.unsqueeze(counts, -1))
        elif category is Category.INT:  # a quotient of counts is an integer there: 1 or 0
            grad_output = choose(aten, aten.unsqueeze(aten.eq.Scalar(counts, 1), -1), grad_output)
    kept = aten.unsqueeze(aten.ne.Scalar(indices, padding_idx), -1)
    shape = [num_weights, sizes(aten, grad_output)[-1]]
    return added_along(aten, shape, 0, indices, choose(aten, kept, grad_output))


# --- maxima of windows ---------------------------------------------------------------------------------------


def put_back(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, indices: SSAValue, space: int
) -> SSAValue:
    """Zeros shaped like the input, with the gradient added where each window's maximum was in its plane."""
    batch = sizes(aten, self)[: meta(self).ndim - space]
    planes = aten.view(zeros(aten, sizes(aten, self), meta(grad_output).dtype), [*batch, -1])
    place, grad = (aten.view(each, [*batch, -1]) for each in (indices, grad_output))
    return aten.view(aten.scatter_add(planes, -1, place, grad), sizes(aten, self))


@decomposition("aten.adaptive_max_pool2d_backward", "aten.fractional_max_pool2d_backward")
def max_pool2d_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, indices: SSAValue
) -> SSAValue:
    return put_back(aten, grad_output, self, indices, 2)


@decomposition(
    "aten.max_pool3d_with_indices_backward",
    "aten.adaptive_max_pool3d_backward",
    "aten.fractional_max_pool3d_backward",
)
def max_pool3d_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, indices: SSAValue
) -> SSAValue:
    return put_back(aten, grad_output, self, indices, 3)


# --- resampling and padding ----------------------------------------------------------------------------------


def resampled_back(
    aten: Namespace,
    grad: SSAValue,
    input_size: Sequence[Any],
    align_corners: bool,
    factors: Sequence[float | None],
    taps: Taps,
) -> SSAValue:
    """Each dimension's taps the other way: what an element was read with, its gradient is added with."""
    dtype = meta(grad).dtype
    wide = opmath(dtype)
    result = cast(aten, grad, wide)
    before = constant_sizes(input_size, "upsampling")
    for dim, factor in enumerate(factors, 2):
        shape = constant_sizes(meta(result).shape, "upsampling")
        after, shape[dim] = shape[dim], before[dim]
        terms = (
            added_along(aten, shape, dim, index, weighted(aten, result, dim, weight))
            for index, weight in taps(Sizes(aten), before[dim], after, align_corners, factor, wide)
        )
        result = reduce(aten.add.Tensor, list(terms))
    return cast(aten, result, dtype)


def weighted(aten: Namespace, values: SSAValue, dim: int, weight: SSAValue | None) -> SSAValue:
    """Values times a vector of weights along a dimension."""
    if weight is None:
        return values
    return aten.mul.Tensor(values, aten.view(weight, [-1, *([1] * (meta(values).ndim - dim - 1))]))


def _register_resampling(count: int, name: str, taps: Taps) -> None:
    """The rule of the gradient of an operator that resamples this many dimensions."""
    scales = ["scales"] if count == 1 else ["scales_d", "scales_h", "scales_w"][-count:]
    aligns = () if "nearest" in name else ("align_corners",)

    def rule(
        aten: Namespace,
        grad_output: SSAValue,
        input_size: list[Any],
        align_corners: bool = False,
        **factors: Any,
    ) -> SSAValue:
        return resampled_back(
            aten, grad_output, input_size, align_corners, [factors[key] for key in scales], taps
        )

    parameters = ("grad_output", "input_size", *aligns, *scales)
    DECOMPOSITIONS.register(f"aten.{name}_backward", parameters=parameters)(rule)


for _count in (1, 2, 3):
    _register_resampling(_count, f"upsample_nearest{_count}d", nearest_taps(exact=False))
    _register_resampling(_count, f"_upsample_nearest_exact{_count}d", nearest_taps(exact=True))

_register_resampling(1, "upsample_linear1d", linear_taps)

_register_resampling(2, "upsample_bilinear2d", linear_taps)

_register_resampling(3, "upsample_trilinear3d", linear_taps)

_register_resampling(2, "upsample_bicubic2d", cubic_taps)


def _register_padding(count: int, name: str, source: Callable[[int, int], int]) -> None:
    """The rule of the gradient of padding that repeats elements; `source` says which: place and size to place."""

    def rule(aten: Namespace, grad_output: SSAValue, self: SSAValue, padding: list[Any]) -> SSAValue:
        pads = constant_sizes(padding, "padding")
        result, rank = grad_output, meta(self).ndim
        for step in range(count):
            shape = constant_sizes(meta(result).shape, "padding")
            dim, (low, high) = rank - 1 - step, pads[2 * step : 2 * step + 2]
            [size] = constant_sizes(meta(self).shape[dim : dim + 1], "padding")
            places = [source(place, size) for place in range(-low, size + high)]
            index = aten.builder.constant(places, Long, (len(places),))
            result = added_along(aten, [*shape[:dim], size, *shape[dim + 1 :]], dim, index, result)
        return result

    DECOMPOSITIONS.register(f"aten.{name}{count}d_backward", parameters=("grad_output", "self", "padding"))(
        rule
    )


for _count in (1, 2, 3):
    _register_padding(_count, "replication_pad", lambda place, size: min(max(place, 0), size - 1))
    _register_padding(_count, "reflection_pad", lambda place, size: size - 1 - abs(size - 1 - abs(place)))


# --- views ---------------------------------------------------------------------------------------------------


@decomposition("aten.select_backward")
def select_backward(
    aten: Namespace, grad_output: SSAValue, input_sizes: list[Size], dim: int, index: Size
) -> SSAValue:
    return aten.select_scatter(zeros(aten, input_sizes, meta(grad_output).dtype), grad_output, dim, index)


@decomposition("aten.slice_backward")
def slice_backward(
    aten: Namespace,
    grad_output: SSAValue,
    input_sizes: list[Size],
    dim: int,
    start: Size,
    end: Size,
    step: Size,
) -> SSAValue:
    return aten.slice_scatter(
        zeros(aten, input_sizes, meta(grad_output).dtype), grad_output, dim, start, end, step
    )


@decomposition("aten.diagonal_backward")
def diagonal_backward(
    aten: Namespace, grad_output: SSAValue, input_sizes: list[Size], offset: int, dim1: int, dim2: int
) -> SSAValue:
    return aten.diagonal_scatter(
        zeros(aten, input_sizes, meta(grad_output).dtype), grad_output, offset, dim1, dim2
    )


@decomposition("aten.unfold_backward")
def unfold_backward(
    aten: Namespace, grad_in: SSAValue, input_sizes: list[Any], dim: int, size: int, step: int
) -> SSAValue:
    """Windows may overlap: what they say of an element is added up."""
    if not input_sizes:
        return aten.squeeze.dims(grad_in, [0])
    dim = wrap_dim(dim, len(input_sizes))
    starts = aten.mul.Scalar(aten.arange(sizes(aten, grad_in)[dim]), step)
    index = aten.add.Tensor(aten.unsqueeze(starts, -1), aten.arange(size))
    return added_along(aten, input_sizes, dim, index, aten.movedim.int(grad_in, -1, dim + 1))


# --- distances -----------------------------------------------------------------------------------------------


@decomposition("aten._cdist_backward")
def cdist_backward(
    aten: Namespace, grad: SSAValue, x1: SSAValue, x2: SSAValue, p: float, cdist: SSAValue
) -> SSAValue:
    """`sign(d) |d|^(p - 1) / distance^(p - 1)` summed over the points of x2; 0 where the distance is."""
    d = aten.sub.Tensor(aten.unsqueeze(x1, -2), aten.unsqueeze(x2, -3))
    grad, distance = aten.unsqueeze(grad, -1), aten.unsqueeze(cdist, -1)
    sign = aten.sign(d)
    if p == 0:
        slope = aten.mul.Tensor(d, 0.0)
    elif p == 1:
        slope = sign
    elif math.isinf(p):
        slope = choose(aten, aten.eq.Tensor(aten.abs(d), distance), sign)
    else:
        ratio = aten.pow.Tensor_Scalar(aten.div.Tensor(aten.abs(d), distance), p - 1)
        apart = both(aten, aten.ne.Scalar(distance, 0), aten.ne.Scalar(d, 0))
        slope = choose(aten, apart, aten.mul.Tensor(sign, ratio))
    return aten.sum.dim_IntList(aten.mul.Tensor(grad, slope), [-2])
