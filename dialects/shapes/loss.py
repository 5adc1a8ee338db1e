"""Shape rules of losses and distances."""

from __future__ import annotations

from xdsl_exir.dialects.dtypes import Byte, Long
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    check,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
)
from xdsl_exir.dialects.tensors import TensorMeta

NONE, MEAN, SUM = 0, 1, 2
"""Values of a `reduction` argument (torch.nn._reduction)."""


def reduced(shape: Shape, reduction: int) -> Shape:
    """What is left of a loss of this shape."""
    check(reduction in (NONE, MEAN, SUM), f"reduction {reduction}")
    return shape if reduction == NONE else ()


# --- element by element --------------------------------------------------------------------------------------


@shape_rule(
    "aten.mse_loss",
    "aten.l1_loss",
    "aten.smooth_l1_loss",
    "aten.huber_loss",
    "aten.kl_div",
    "aten.hinge_embedding_loss",
)
def elementwise(self: TensorMeta, target: TensorMeta, reduction: int) -> Shape:
    return reduced(broadcast_shapes(self.shape, target.shape), reduction)


@shape_rule("aten.soft_margin_loss")
def soft_margin_loss(self: TensorMeta, target: TensorMeta, reduction: int) -> Shape:
    shape = broadcast_shapes(self.shape, target.shape)
    check(same_shape(shape, self.shape), f"target of shape {shape_text(target.shape)}")
    return reduced(self.shape, reduction)


@shape_rule("aten.multi_margin_loss")
def multi_margin_loss(
    self: TensorMeta, target: TensorMeta, p: float, weight: TensorMeta | None, reduction: int
) -> Shape:
    check(self.ndim <= 2, f"input {shape_text(self.shape)} must have at most two dimensions")
    check(p in (1, 2), f"p is {p}, not 1 or 2")
    check(self.shape[-1:] != (0,), "no classes")
    items = self.shape[:1] if self.ndim == 2 else (1,)
    check(same_shape(target.shape or (1,), items), f"target of shape {shape_text(target.shape)}")
    if weight is not None:
        check(
            same_shape(weight.shape, self.shape[-1:] or (1,)), f"weight of shape {shape_text(weight.shape)}"
        )
    return reduced(target.shape, reduction)


@shape_rule("aten.multilabel_margin_loss")
def multilabel_margin_loss(self: TensorMeta, target: TensorMeta, reduction: int) -> Shape:
    check(self.ndim <= 2, f"input {shape_text(self.shape)} must have at most two dimensions")
    check(same_shape(self.shape, target.shape), f"target of shape {shape_text(target.shape)}")
    return reduced(self.shape[:-1], reduction)


@shape_rule("aten.poisson_nll_loss")
def poisson_nll_loss(input: TensorMeta, target: TensorMeta, reduction: int) -> Shape:
    return reduced(broadcast_shapes(input.shape, target.shape), reduction)


@shape_rule("aten.binary_cross_entropy")
def binary_cross_entropy(
    self: TensorMeta, target: TensorMeta, weight: TensorMeta | None, reduction: int
) -> Shape:
    shapes = f"{shape_text(self.shape)} and {shape_text(target.shape)}"
    check(same_shape(self.shape, target.shape), f"input and target of shapes {shapes}")
    if weight is not None:
        broadcast = broadcast_shapes(self.shape, weight.shape)
        check(same_shape(broadcast, self.shape), f"weight of shape {shape_text(weight.shape)}")
    return reduced(self.shape, reduction)


@shape_rule("aten.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    self: TensorMeta,
    target: TensorMeta,
    weight: TensorMeta | None,
    pos_weight: TensorMeta | None,
    reduction: int,
) -> Shape:
    shapes = f"{shape_text(self.shape)} and {shape_text(target.shape)}"
    check(same_shape(self.shape, target.shape), f"input and target of shapes {shapes}")
    optional = [tensor.shape for tensor in (weight, pos_weight) if tensor is not None]
    return reduced(broadcast_shapes(self.shape, target.shape, *optional), reduction)


@shape_rule("aten.margin_ranking_loss")
def margin_ranking_loss(input1: TensorMeta, input2: TensorMeta, target: TensorMeta, reduction: int) -> Shape:
    check(input1.ndim == input2.ndim == target.ndim, "operands of different ranks")
    return reduced(broadcast_shapes(input1.shape, input2.shape, target.shape), reduction)


# --- classes -------------------------------------------------------------------------------------------------


def check_classes(self: TensorMeta, target: TensorMeta, weight: TensorMeta | None) -> Shape:
    """`[C]`, `[N, C]` or `[N, C, *]` scores with class numbers `[]`, `[N]` or `[N, *]`; gives one loss' shape."""
    check(self.ndim >= 1, "scores need at least 1 dimension")
    channel = min(self.ndim - 1, 1)
    expected = (*self.shape[:channel], *self.shape[channel + 1 :])
    fits = same_shape(target.shape, expected) or (self.ndim == 1 and same_shape(target.shape, (1,)))
    check(
        fits,
        f"scores {shape_text(self.shape)} take targets {shape_text(expected)}, not {shape_text(target.shape)}",
    )
    if weight is not None:
        fits = weight.ndim == 1 and same_size(weight.shape[0], self.shape[channel])
        check(fits, f"weight {shape_text(weight.shape)} for {self.shape[channel]} classes")
    return expected


@shape_rule("aten.nll_loss_nd")
def nll_loss_nd(self: TensorMeta, target: TensorMeta, weight: TensorMeta | None, reduction: int) -> Shape:
    return reduced(check_classes(self, target, weight), reduction)


@shape_rule("aten.nll_loss", "aten.nll_loss2d")
def nll_loss(self: TensorMeta, target: TensorMeta, weight: TensorMeta | None, reduction: int) -> Shape:
    return reduced(check_classes(self, target, weight), reduction)


@shape_rule("aten.nll_loss_forward")
def nll_loss_forward(
    self: TensorMeta, target: TensorMeta, weight: TensorMeta | None, reduction: int
) -> list[Shape]:
    check(self.ndim in (1, 2), f"expected 1 or 2 dimensions, got {shape_text(self.shape)}")
    shape = check_classes(self, target, weight)
    return [reduced(shape, reduction), ()]


@shape_rule("aten.nll_loss2d_forward")
def nll_loss2d_forward(
    self: TensorMeta, target: TensorMeta, weight: TensorMeta | None, reduction: int
) -> list[Shape]:
    check(self.ndim == 4, f"expected 4 dimensions, got {shape_text(self.shape)}")
    return [reduced(check_classes(self, target, weight), reduction), ()]


@shape_rule("aten.cross_entropy_loss")
def cross_entropy_loss(
    self: TensorMeta, target: TensorMeta, weight: TensorMeta | None, reduction: int, label_smoothing: float
) -> Shape:
    check(0 <= label_smoothing <= 1, f"label_smoothing {label_smoothing} is not between 0 and 1")
    if not same_shape(self.shape, target.shape):
        check(target.dtype in (Byte, Long), f"classes are numbered in Byte or Long, not {target.dtype}")
        return reduced(check_classes(self, target, weight), reduction)
    channel = min(self.ndim - 1, 1)
    check(self.ndim >= 1, "scores need at least 1 dimension")
    check(target.dtype is self.dtype, f"probabilities are {self.dtype}, not {target.dtype}")
    if weight is not None:
        fits = weight.ndim == 1 and same_size(weight.shape[0], self.shape[channel])
        check(fits, f"weight {shape_text(weight.shape)} for {self.shape[channel]} classes")
    return reduced((*self.shape[:channel], *self.shape[channel + 1 :]), reduction)


# --- losses of linear layers ----------------------------------------------------------------------------------


def check_linear(
    input: TensorMeta, linear_weight: TensorMeta, target: TensorMeta, linear_bias: TensorMeta | None
) -> None:
    """Checks what goes into the scores of a linear layer: rows, a row of weights and a bias a class."""
    check(input.ndim == linear_weight.ndim == 2, "input and linear_weight need 2 dimensions")
    check(same_size(input.shape[1], linear_weight.shape[1]), "input and linear_weight of different widths")
    check(same_shape(target.shape, input.shape[:1]), f"targets {shape_text(target.shape)}")
    if linear_bias is not None:
        fits = same_shape(linear_bias.shape, linear_weight.shape[:1])
        check(fits, f"linear_bias {shape_text(linear_bias.shape)} for {linear_weight.shape[0]} classes")


def check_scores(linear_weight: TensorMeta, weight: TensorMeta | None) -> None:
    """Checks the weights of classes."""
    if weight is not None:
        fits = same_shape(weight.shape, linear_weight.shape[:1])
        check(fits, f"weight {shape_text(weight.shape)} for {linear_weight.shape[0]} classes")


@shape_rule("torch_nn._linear_cross_entropy_batch_chunked")
def linear_cross_entropy(
    input: TensorMeta,
    linear_weight: TensorMeta,
    target: TensorMeta,
    linear_bias: TensorMeta | None,
    weight: TensorMeta | None,
    reduction: str,
    label_smoothing: float,
    compute_input_grad: bool,
    compute_linear_weight_grad: bool,
    compute_linear_bias_grad: bool,
) -> list[Shape]:
    """The loss, and its gradients, empty where they are not asked for."""
    check_linear(input, linear_weight, target, linear_bias)
    check_scores(linear_weight, weight)
    check(reduction in ("mean", "sum"), f"no reduction '{reduction}'")
    check(label_smoothing <= 0, "linear_cross_entropy has no label smoothing")
    return [
        (),
        input.shape if compute_input_grad else (0, 0),
        linear_weight.shape if compute_linear_weight_grad else (0, 0),
        linear_weight.shape[:1] if compute_linear_bias_grad else (0,),
    ]


@shape_rule("torch_nn._linear_cross_entropy_batch_chunked_no_reduction")
def linear_cross_entropy_of_each(
    input: TensorMeta,
    linear_weight: TensorMeta,
    target: TensorMeta,
    linear_bias: TensorMeta | None,
    weight: TensorMeta | None,
) -> Shape:
    check_linear(input, linear_weight, target, linear_bias)
    check_scores(linear_weight, weight)
    return input.shape[:1]


# --- vectors -------------------------------------------------------------------------------------------------


@shape_rule("aten.cosine_similarity")
def cosine_similarity(x1: TensorMeta, x2: TensorMeta, dim: int) -> Shape:
    shape = broadcast_shapes(x1.shape, x2.shape)
    dim = wrap_dim(dim, len(shape))
    return (*shape[:dim], *shape[dim + 1 :])


@shape_rule("aten.pairwise_distance")
def pairwise_distance(x1: TensorMeta, x2: TensorMeta, keepdim: bool) -> Shape:
    shape = broadcast_shapes(x1.shape, x2.shape)
    return (*shape[:-1], 1) if keepdim and shape else shape[:-1]


@shape_rule("aten.cosine_embedding_loss")
def cosine_embedding_loss(
    input1: TensorMeta, input2: TensorMeta, target: TensorMeta, reduction: int
) -> Shape:
    check(target.ndim in (0, 1), f"target of shape {shape_text(target.shape)}")
    check(input1.ndim == input2.ndim == target.ndim + 1, "inputs have one dimension more than the target")
    shape = broadcast_shapes(input1.shape, input2.shape)
    return reduced(broadcast_shapes(shape[:-1], target.shape), reduction)


@shape_rule("aten.triplet_margin_loss")
def triplet_margin_loss(
    anchor: TensorMeta, positive: TensorMeta, negative: TensorMeta, reduction: int
) -> Shape:
    check(anchor.ndim == positive.ndim == negative.ndim, "operands of different ranks")
    check(anchor.ndim >= 1, "vectors need at least 1 dimension")
    distances = [broadcast_shapes(anchor.shape, other.shape)[:-1] for other in (positive, negative)]
    return reduced(broadcast_shapes(*distances), reduction)
