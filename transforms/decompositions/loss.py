"""Decompositions of losses and distances. Short floats compute in float32, as `run_decompositions` does."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import Category, Long
from xdsl_exir.dialects.expr import apply
from xdsl_exir.dialects.meta import broadcast_shapes, same_shape, wrap_dim
from xdsl_exir.dialects.promotion import promote_types
from xdsl_exir.dialects.shapes.loss import MEAN, NONE, SUM
from xdsl_exir.transforms.arithmetic import choose
from xdsl_exir.transforms.decompositions import decomposition, other_names
from xdsl_exir.transforms.decompositions.view import Sizes

other_names(
    {
        "nll_loss": ("nll_loss_forward", 0),
        "nll_loss2d": ("nll_loss2d_forward", 0),
        "nll_loss_nd": ("nll_loss_forward", 0),
    }
)


def reduced(aten: Namespace, loss: SSAValue, reduction: int) -> SSAValue:
    """A loss per element, their mean or their sum."""
    if reduction == NONE:
        return loss
    return aten.mean(loss) if reduction == MEAN else aten.sum(loss)


def widened(
    aten: Namespace,
    reduction: int,
    loss: Callable[..., SSAValue],
    *operands: SSAValue | None,
) -> SSAValue:
    """A loss computed on operands of at least float32, reduced and rounded to the dtype they promote to."""
    dtype = functools.reduce(promote_types, (meta(each).dtype for each in operands if each is not None))
    wide = [None if each is None else cast(aten, each, opmath(dtype)) for each in operands]
    return cast(aten, reduced(aten, loss(*wide), reduction), dtype)


def at_least(aten: Namespace, value: SSAValue, bound: float) -> SSAValue:
    return aten.clamp(value, bound)


# --- differences ---------------------------------------------------------------------------------------------


@decomposition("aten.mse_loss")
def mse_loss(aten: Namespace, self: SSAValue, target: SSAValue, reduction: int) -> SSAValue:
    def loss(x: SSAValue, y: SSAValue) -> SSAValue:
        return aten.pow.Tensor_Scalar(aten.sub.Tensor(x, y), 2)

    return widened(aten, reduction, loss, self, target)


@decomposition("aten.l1_loss")
def l1_loss(aten: Namespace, self: SSAValue, target: SSAValue, reduction: int) -> SSAValue:
    return reduced(aten, aten.abs(aten.sub.Tensor(self, target)), reduction)


@decomposition("aten.smooth_l1_loss")
def smooth_l1_loss(
    aten: Namespace, self: SSAValue, target: SSAValue, reduction: int, beta: float
) -> SSAValue:
    """`d^2 / (2 beta)` where the distance d is below beta, else `d - beta / 2`."""

    def loss(x: SSAValue, y: SSAValue) -> SSAValue:
        distance = aten.abs(aten.sub.Tensor(x, y))
        if beta == 0:
            return distance
        square = aten.mul.Tensor(aten.pow.Tensor_Scalar(distance, 2), 0.5)
        near = aten.div.Tensor(square, beta)
        return aten.where.self(aten.lt.Scalar(distance, beta), near, aten.sub.Tensor(distance, 0.5 * beta))

    return widened(aten, reduction, loss, self, target)


@decomposition("aten.huber_loss")
def huber_loss(aten: Namespace, self: SSAValue, target: SSAValue, reduction: int, delta: float) -> SSAValue:
    """`d^2 / 2` where the distance d is below delta, else `delta (d - delta / 2)`."""

    def loss(x: SSAValue, y: SSAValue) -> SSAValue:
        distance = aten.abs(aten.sub.Tensor(x, y))
        near = aten.mul.Tensor(aten.mul.Tensor(distance, 0.5), distance)
        far = aten.mul.Tensor(aten.sub.Tensor(distance, 0.5 * delta), delta)
        return aten.where.self(aten.lt.Scalar(distance, delta), near, far)

    return widened(aten, reduction, loss, self, target)


# --- probabilities -------------------------------------------------------------------------------------------


@decomposition("aten.kl_div")
def kl_div(aten: Namespace, self: SSAValue, target: SSAValue, reduction: int, log_target: bool) -> SSAValue:
    """`target (log(target) - self)`, 0 where the target is."""
    if log_target:
        loss = aten.mul.Tensor(aten.exp(target), aten.sub.Tensor(target, self))
    else:
        loss = aten.sub.Tensor(aten.xlogy.Tensor(target, target), aten.mul.Tensor(target, self))
    return reduced(aten, loss, reduction)


LEAST_LOG = -100
"""Below this binary cross-entropy cuts logarithms off."""


@decomposition("aten.binary_cross_entropy")
def binary_cross_entropy(
    aten: Namespace, self: SSAValue, target: SSAValue, weight: SSAValue | None, reduction: int
) -> SSAValue:
    """`(target - 1) log(1 - self) - target log(self)`."""

    def loss(x: SSAValue, y: SSAValue, w: SSAValue | None) -> SSAValue:
        least = aten.full([], LEAST_LOG, dtype=meta(x).dtype)
        negative = aten.maximum(aten.log1p(aten.neg(x)), least)
        positive = aten.maximum(aten.log(x), least)
        result = aten.sub.Tensor(
            aten.mul.Tensor(aten.sub.Tensor(y, 1), negative), aten.mul.Tensor(y, positive)
        )
        return result if w is None else aten.mul.Tensor(result, w)

    return widened(aten, reduction, loss, self, target, weight)


@decomposition("aten.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    aten: Namespace,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None,
    pos_weight: SSAValue | None,
    reduction: int,
) -> SSAValue:
    """`(1 - target) self - (1 + (pos_weight - 1) target) log_sigmoid(self)`, each step rounded as PyTorch does, which computes it in place:
    the logarithm to the dtype of `self`, the loss to that of `target`."""
    logarithm = aten.log_sigmoid(self)
    if pos_weight is not None:
        factor = aten.add.Tensor(aten.mul.Tensor(aten.sub.Tensor(pos_weight, 1), target), 1)
        logarithm = cast(aten, aten.mul.Tensor(logarithm, factor), meta(self).dtype)
    dtype = meta(target).dtype
    loss = cast(aten, aten.mul.Tensor(aten.rsub.Scalar(target, 1), self), dtype)
    loss = cast(aten, aten.sub.Tensor(loss, logarithm), dtype)
    if weight is not None:
        loss = cast(aten, aten.mul.Tensor(loss, weight), dtype)
    return reduced(aten, loss, reduction)


@decomposition("aten.soft_margin_loss")
def soft_margin_loss(aten: Namespace, self: SSAValue, target: SSAValue, reduction: int) -> SSAValue:
    """`log(1 + exp(-self target))`, each step rounded: PyTorch computes it in place."""
    return reduced(aten, aten.log1p(aten.exp(aten.mul.Tensor(aten.neg(self), target))), reduction)


@decomposition("aten.poisson_nll_loss")
def poisson_nll_loss(
    aten: Namespace,
    input: SSAValue,
    target: SSAValue,
    log_input: bool,
    full: bool,
    eps: float,
    reduction: int,
) -> SSAValue:
    if log_input:
        loss = aten.sub.Tensor(aten.exp(input), aten.mul.Tensor(target, input))
    else:
        loss = aten.sub.Tensor(input, aten.mul.Tensor(target, aten.log(aten.add.Scalar(input, eps))))
    if full:
        loss = aten.add.Tensor(loss, stirling(aten, target))
    return reduced(aten, loss, reduction)


def stirling(aten: Namespace, n: SSAValue) -> SSAValue:
    """Stirling's approximation of `log(n!)` above 1, else 0."""
    terms = aten.sub.Tensor(aten.mul.Tensor(n, aten.log(n)), n)
    terms = aten.add.Tensor(terms, aten.mul.Scalar(aten.log(aten.mul.Scalar(n, 2 * math.pi)), 0.5))
    return aten.masked_fill.Scalar(terms, aten.le.Scalar(n, 1), 0)


# --- margins -------------------------------------------------------------------------------------------------


@decomposition("aten.hinge_embedding_loss")
def hinge_embedding_loss(
    aten: Namespace, self: SSAValue, target: SSAValue, margin: float, reduction: int
) -> SSAValue:
    apart = at_least(aten, aten.rsub.Scalar(self, margin), 0)
    loss = aten.add.Tensor(
        choose(aten, aten.ne.Scalar(target, 1), apart), choose(aten, aten.ne.Scalar(target, -1), self)
    )
    return reduced(aten, loss, reduction)


def above_zero(aten: Namespace, value: SSAValue) -> SSAValue:
    """What is above 0, and 0 for the rest, NaN as well."""
    return choose(aten, aten.gt.Scalar(value, 0), value)


def classes_of_last(aten: Namespace, value: SSAValue) -> Size:
    """The number of classes where they are the last dimension; a 0-dim tensor has one."""
    return sizes(aten, value)[-1] if meta(value).ndim else 1


@decomposition("aten.multi_margin_loss")
def multi_margin_loss(
    aten: Namespace,
    self: SSAValue,
    target: SSAValue,
    p: float,
    margin: float,
    weight: SSAValue | None,
    reduction: int,
) -> SSAValue:
    """How far each class comes within the margin of the right one; the mean is over classes too."""
    classes = classes_of_last(aten, self)
    rows, right = aten.view(self, [-1, classes]), aten.view(target, [-1, 1])
    loss = above_zero(aten, aten.add.Tensor(aten.rsub.Scalar(aten.gather(rows, 1, right), margin), rows))
    loss = loss if p == 1 else aten.mul.Tensor(loss, loss)
    if weight is not None:
        loss = aten.mul.Tensor(
            loss, aten.view(aten.index_select(weight, 0, aten.view(target, [-1])), [-1, 1])
        )
    loss = choose(aten, aten.ne.Tensor(aten.arange(classes), right), loss)
    if reduction == SUM:
        return aten.div.Scalar(aten.sum(loss), classes)
    return aten.mean.dim(loss, [1]) if reduction == NONE and meta(target).ndim == 1 else aten.mean(loss)


@decomposition("aten.multilabel_margin_loss")
def multilabel_margin_loss(aten: Namespace, self: SSAValue, target: SSAValue, reduction: int) -> SSAValue:
    """How far other classes come within 1 of each of an item's own, which are those before the first -1."""
    classes = classes_of_last(aten, self)
    rows, own = aten.view(self, [-1, classes]), aten.view(target, [-1, classes])
    places = aten.arange(classes)
    ends = aten.amin(aten.where.ScalarOther(aten.lt.Scalar(own, 0), places, classes), [-1], True)
    counts = aten.lt.Tensor(places, ends)
    named = aten.unsqueeze(aten.where.ScalarOther(counts, own, -1), 2)
    is_own = aten.any.dim(aten.eq.Tensor(named, places), 1)
    right = aten.gather(rows, 1, aten.where.ScalarOther(counts, own, 0))
    # By item, own class, other class.
    gap = aten.sub.Tensor(aten.unsqueeze(rows, 1), aten.unsqueeze(right, 2))
    apart = above_zero(aten, aten.add.Scalar(gap, 1))
    apart = choose(
        aten, aten.unsqueeze(counts, 2), choose(aten, aten.unsqueeze(aten.logical_not(is_own), 1), apart)
    )
    loss = aten.div.Scalar(aten.sum.dim_IntList(apart, [1, 2]), classes)
    if reduction == NONE:
        return aten.view(loss, sizes(aten, self)[:-1])
    return reduced(aten, loss, reduction)


@decomposition("aten.margin_ranking_loss")
def margin_ranking_loss(
    aten: Namespace, input1: SSAValue, input2: SSAValue, target: SSAValue, margin: float, reduction: int
) -> SSAValue:
    wrong = aten.mul.Tensor(aten.neg(target), aten.sub.Tensor(input1, input2))
    return reduced(aten, at_least(aten, aten.add.Scalar(wrong, margin), 0), reduction)


@decomposition("aten.cosine_embedding_loss")
def cosine_embedding_loss(
    aten: Namespace, input1: SSAValue, input2: SSAValue, target: SSAValue, margin: float, reduction: int
) -> SSAValue:
    def inner(a: SSAValue, b: SSAValue) -> SSAValue:
        return aten.sum.dim_IntList(aten.mul.Tensor(a, b), [meta(target).ndim])

    squares = [aten.add.Scalar(inner(x, x), 1e-12) for x in (input1, input2)]
    cosine = aten.div.Tensor(inner(input1, input2), aten.sqrt(aten.mul.Tensor(*squares)))
    alike = choose(aten, aten.eq.Scalar(target, 1), aten.rsub.Scalar(cosine, 1))
    apart = at_least(aten, aten.sub.Scalar(cosine, margin), 0)
    loss = aten.add.Tensor(alike, choose(aten, aten.eq.Scalar(target, -1), apart))
    return reduced(aten, loss, reduction)


@decomposition("aten.triplet_margin_loss")
def triplet_margin_loss(
    aten: Namespace,
    anchor: SSAValue,
    positive: SSAValue,
    negative: SSAValue,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: int,
) -> SSAValue:
    near = aten.pairwise_distance(anchor, positive, p, eps)
    far = aten.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = aten.minimum(far, aten.pairwise_distance(positive, negative, p, eps))
    loss = aten.sub.Tensor(aten.add.Scalar(near, margin), far)
    return reduced(aten, at_least(aten, loss, 0), reduction)


# --- losses of linear layers ----------------------------------------------------------------------------------


@decomposition("torch_nn._linear_cross_entropy_batch_chunked_no_reduction")
def linear_cross_entropy_of_each(
    aten: Namespace,
    input: SSAValue,
    linear_weight: SSAValue,
    target: SSAValue,
    linear_bias: SSAValue | None,
    weight: SSAValue | None,
    ignore_index: int,
) -> SSAValue:
    """The cross entropy of a linear layer's scores. PyTorch goes through them in chunks to save memory."""

    def loss(x: SSAValue, w: SSAValue, bias: SSAValue | None, classes: SSAValue | None) -> SSAValue:
        return aten.cross_entropy_loss(aten.linear(x, w, bias), target, classes, NONE, ignore_index)

    return widened(aten, NONE, loss, input, linear_weight, linear_bias, weight)


@decomposition("torch_nn._linear_cross_entropy_batch_chunked")
def linear_cross_entropy(
    aten: Namespace,
    input: SSAValue,
    linear_weight: SSAValue,
    target: SSAValue,
    linear_bias: SSAValue | None,
    weight: SSAValue | None,
    reduction: str,
    ignore_index: int,
    compute_input_grad: bool,
    compute_linear_weight_grad: bool,
    compute_linear_bias_grad: bool,
) -> list[SSAValue]:
    """The loss, and its gradients where they are asked for: by row's score, `factor (softmax - one_hot)`."""
    dtype = meta(input).dtype
    wide = [
        None if x is None else cast(aten, x, opmath(dtype))
        for x in (input, linear_weight, linear_bias, weight)
    ]
    x, w, bias, classes = wide
    assert x is not None
    scores = aten.linear(x, w, bias)
    mode = MEAN if reduction == "mean" else SUM
    loss = aten.cross_entropy_loss(scores, target, classes, mode, ignore_index)
    counts = aten.ne.Scalar(target, ignore_index)
    right = aten.where.ScalarOther(counts, target, 0)
    factors = aten._to_copy(counts, dtype=meta(x).dtype)
    if classes is not None:
        factors = aten.mul.Tensor(factors, aten.index_select(classes, 0, right))
    if mode == MEAN:
        factors = aten.div.Tensor(factors, aten.sum(factors))
    one_hot = aten.eq.Tensor(aten.arange(sizes(aten, linear_weight)[0]), aten.unsqueeze(right, 1))
    gaps = aten.sub.Tensor(aten.softmax.int(scores, 1), aten._to_copy(one_hot, dtype=meta(x).dtype))
    gaps = aten.mul.Tensor(gaps, aten.unsqueeze(factors, 1))
    # What is not asked for leaves nothing behind: unused operators are dropped.
    empty = aten.full([0, 0], 0, dtype=meta(x).dtype)
    gradients = [
        aten.mm(gaps, w) if compute_input_grad else empty,
        aten.mm(aten.t(gaps), x) if compute_linear_weight_grad else empty,
        aten.sum.dim_IntList(gaps, [0]) if compute_linear_bias_grad else aten.view(empty, [0]),
    ]
    return [cast(aten, each, dtype) for each in (loss, *gradients)]


# --- vectors -------------------------------------------------------------------------------------------------


@decomposition("aten.pairwise_distance")
def pairwise_distance(
    aten: Namespace, x1: SSAValue, x2: SSAValue, p: float, eps: float, keepdim: bool
) -> SSAValue:
    difference = aten.add.Scalar(aten.sub.Tensor(x1, x2), eps)
    return aten.linalg_vector_norm(difference, p, [-1], keepdim)


@decomposition("aten.cosine_similarity")
def cosine_similarity(aten: Namespace, x1: SSAValue, x2: SSAValue, dim: int, eps: float) -> SSAValue:
    """`sum(x1 / |x1| * x2 / |x2|)`, with no length below `eps`. Where one is broadcast so is its length."""
    dtype = promote_types(meta(x1).dtype, meta(x2).dtype)
    shape = broadcast_shapes(meta(x1).shape, meta(x2).shape)
    dim = wrap_dim(dim, len(shape))

    def unit(x: SSAValue, other: SSAValue) -> SSAValue:
        if meta(x).shape != shape:
            x = aten.broadcast_tensors([x, other])[0]
        x = x if meta(x).dtype.category > Category.INT else cast(aten, x, dtype)
        return aten.div.Tensor(x, at_least(aten, aten.linalg_vector_norm(x, 2, [dim], True), eps))

    return aten.sum.dim_IntList(aten.mul.Tensor(unit(x1, x2), unit(x2, x1)), [dim])


# --- classes -------------------------------------------------------------------------------------------------


def channel_of(scores: SSAValue) -> int:
    """The dimension of classes: 1, or 0 of a vector."""
    return min(meta(scores).ndim - 1, 1)


def per_class(aten: Namespace, weight: SSAValue, scores: SSAValue) -> SSAValue:
    """A vector of class weights as it broadcasts with scores."""
    count = meta(scores).ndim - channel_of(scores) - 1
    for _ in range(count):
        weight = aten.unsqueeze(weight, -1)
    return weight


def picked(aten: Namespace, scores: SSAValue, classes: SSAValue, kept: SSAValue) -> SSAValue:
    """The score of each item's class, 0 where the class is not to be kept."""
    channel = channel_of(scores)
    chosen = aten.squeeze.dim(aten.gather(scores, channel, aten.unsqueeze(classes, channel)), channel)
    return choose(aten, kept, chosen)


@decomposition("aten.nll_loss_forward", "aten.nll_loss2d_forward")
def nll_loss_forward(
    aten: Namespace,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None,
    reduction: int,
    ignore_index: int,
) -> tuple[SSAValue, SSAValue]:
    """The negative score of each item's class, and the classes' total weight, by which the mean divides."""
    dtype = meta(self).dtype
    if meta(self).ndim == 1 and meta(target).ndim == 1:
        target = aten.squeeze.dim(target, 0)
    target = cast(aten, target, Long)
    kept = aten.ne.Scalar(target, ignore_index)
    classes = choose(aten, kept, target)
    weights = None if weight is None else per_class(aten, weight, self)
    scores = self if weights is None else aten.mul.Tensor(self, weights)
    loss = aten.neg(picked(aten, scores, classes, kept))
    if reduction == NONE and meta(self).ndim > 1:
        return loss, aten.full([], 0.0, dtype=dtype)
    if weights is None:
        total = cast(aten, aten.sum(kept), dtype)
    else:
        total = aten.sum(picked(aten, aten.expand(weights, sizes(aten, self)), classes, kept))
    if reduction == NONE:
        return loss, total
    loss = aten.sum(loss)
    return aten.div.Tensor(loss, total) if reduction == MEAN else loss, total


@decomposition("aten.cross_entropy_loss")
def cross_entropy_loss(
    aten: Namespace,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> SSAValue:
    """The negative logarithm of the softmax for given classes, or for probabilities of classes."""
    logits = aten.log_softmax.int(self, channel_of(self))
    if same_shape(meta(self).shape, meta(target).shape):
        return soft_cross_entropy(aten, logits, target, weight, reduction, label_smoothing)
    loss, _ = nll_loss_forward(aten, logits, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return loss
    target = cast(aten, target, Long)
    smooth = smoothing(aten, logits, target, weight, reduction, ignore_index)
    share = share_of_class(aten, logits, label_smoothing)
    return aten.add.Tensor(aten.mul.Scalar(loss, 1 - label_smoothing), aten.mul.Scalar(smooth, share))


def share_of_class(aten: Namespace, scores: SSAValue, smoothing: float) -> float | SSAValue:
    """What smoothing gives each class of what it takes from the right one."""
    classes = meta(scores).shape[channel_of(scores)]
    if isinstance(classes, int):
        return smoothing / classes
    return Sizes(aten, scores).number(apply("truediv", smoothing, classes))


def smoothing(
    aten: Namespace,
    logits: SSAValue,
    target: SSAValue,
    weight: SSAValue | None,
    reduction: int,
    ignore_index: int,
) -> SSAValue:
    """The loss of all classes alike; items of the ignored class have none."""
    weighted = logits if weight is None else aten.mul.Tensor(logits, per_class(aten, weight, logits))
    kept = aten.ne.Scalar(target, ignore_index)
    loss = choose(aten, kept, aten.neg(aten.sum.dim_IntList(weighted, [channel_of(logits)])))
    if reduction != MEAN:
        return reduced(aten, loss, reduction)
    if weight is None:
        total = aten.sum(kept)
    else:
        total = aten.sum(choose(aten, kept, aten.index.Tensor(weight, [choose(aten, kept, target)])))
    return aten.div.Tensor(aten.sum(loss), total)


def soft_cross_entropy(
    aten: Namespace,
    logits: SSAValue,
    target: SSAValue,
    weight: SSAValue | None,
    reduction: int,
    label_smoothing: float,
) -> SSAValue:
    """Cross-entropy of probabilities; the mean is over items."""
    if label_smoothing > 0:
        share = share_of_class(aten, logits, label_smoothing)
        target = aten.add.Scalar(aten.mul.Scalar(target, 1 - label_smoothing), share)
    product = aten.mul.Tensor(logits, target)
    if weight is not None:
        product = aten.mul.Tensor(product, per_class(aten, weight, logits))
    if reduction == MEAN and 0 in meta(logits).shape:  # of no classes as well
        return aten.mean(product)
    return reduced(aten, aten.neg(aten.sum.dim_IntList(product, [channel_of(logits)])), reduction)
