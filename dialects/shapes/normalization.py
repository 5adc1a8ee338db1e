"""Shape rules of normalizations and softmax. Statistics come back beside the result, with sizes of their own."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    check,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
)
from xdsl_exir.dialects.tensors import TensorMeta

NO_STATISTICS: Shape = (0,)
"""Shape of the saved statistics of a batch norm that normalizes with the running ones."""


def check_channels(channels: Dim, **tensors: TensorMeta | None) -> None:
    """Weights and statistics hold one element per channel."""
    for name, tensor in tensors.items():
        if tensor is not None:
            fits = same_size(numel(tensor.shape), channels)
            check(fits, f"'{name}' has shape {shape_text(tensor.shape)} for {channels} channels")


# --- batch norm ----------------------------------------------------------------------------------------------


@shape_rule("aten.batch_norm")
def batch_norm(
    input: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    running_mean: TensorMeta | None,
    running_var: TensorMeta | None,
    training: bool,
) -> Shape:
    if 0 in input.shape:  # of any rank: nothing is normalized
        return input.shape
    shape, *_ = native_batch_norm(input, weight, bias, running_mean, running_var, training)
    return shape


@shape_rule("aten.native_batch_norm")
def native_batch_norm(
    input: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    running_mean: TensorMeta | None,
    running_var: TensorMeta | None,
    training: bool,
) -> list[Shape]:
    check(input.ndim >= 2, f"the input has shape {shape_text(input.shape)}; at least 2 dimensions expected")
    check((running_mean is None) == (running_var is None), "running mean and variance come together")
    check(training or running_mean is not None, "normalizing with running statistics needs them")
    check(numel(input.shape) != 0 or not training, "statistics of an empty input")
    check_channels(
        input.shape[1], weight=weight, bias=bias, running_mean=running_mean, running_var=running_var
    )
    statistics = (input.shape[1],) if training else NO_STATISTICS
    return [input.shape, statistics, statistics]


@shape_rule("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    input: TensorMeta, weight: TensorMeta | None, bias: TensorMeta | None, training: bool
) -> list[Shape]:
    return native_batch_norm(input, weight, bias, None, None, training)


@shape_rule("aten._native_batch_norm_legit_no_training")
def batch_norm_no_training(
    input: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    running_mean: TensorMeta,
    running_var: TensorMeta,
) -> list[Shape]:
    return native_batch_norm(input, weight, bias, running_mean, running_var, training=False)


@shape_rule("aten._native_batch_norm_legit_functional")
def batch_norm_functional(
    input: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    running_mean: TensorMeta,
    running_var: TensorMeta,
    training: bool,
) -> list[Shape]:
    results = native_batch_norm(input, weight, bias, running_mean, running_var, training)
    return [*results, running_mean.shape, running_var.shape]


@shape_rule("aten._batch_norm_with_update_functional")
def batch_norm_with_update(
    input: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    running_mean: TensorMeta,
    running_var: TensorMeta,
) -> list[Shape]:
    results = batch_norm_functional(input, weight, bias, running_mean, running_var, training=True)
    return [*results[:3], NO_STATISTICS, *results[3:]]


# --- layer, group, instance and RMS norm ---------------------------------------------------------------------


def check_normalized(
    input: TensorMeta, normalized_shape: Sequence[Dim], **affine: TensorMeta | None
) -> tuple[Shape, Shape]:
    """The input's shape, and that of one statistic for each normalized group."""
    count = len(normalized_shape)
    check(count >= 1, "the normalized shape is empty")
    fits = input.ndim >= count and same_shape(input.shape[-count:], normalized_shape)
    check(
        fits,
        f"normalizes shape {shape_text(normalized_shape)} of an input of shape {shape_text(input.shape)}",
    )
    for name, tensor in affine.items():
        if tensor is not None:
            fits = same_shape(tensor.shape, normalized_shape)
            check(fits, f"'{name}' has shape {shape_text(tensor.shape)}, not {shape_text(normalized_shape)}")
    return input.shape, (*input.shape[:-count], *[1] * count)


@shape_rule("aten.layer_norm")
def layer_norm(
    input: TensorMeta, normalized_shape: Sequence[Dim], weight: TensorMeta | None, bias: TensorMeta | None
) -> Shape:
    return check_normalized(input, normalized_shape, weight=weight, bias=bias)[0]


@shape_rule("aten.native_layer_norm")
def native_layer_norm(
    input: TensorMeta, normalized_shape: Sequence[Dim], weight: TensorMeta | None, bias: TensorMeta | None
) -> list[Shape]:
    shape, statistics = check_normalized(input, normalized_shape, weight=weight, bias=bias)
    return [shape, statistics, statistics]


@shape_rule("aten.rms_norm")
def rms_norm(input: TensorMeta, normalized_shape: Sequence[Dim], weight: TensorMeta | None) -> Shape:
    return check_normalized(input, normalized_shape, weight=weight)[0]


@shape_rule("aten._fused_rms_norm")
def fused_rms_norm(
    input: TensorMeta, normalized_shape: Sequence[Dim], weight: TensorMeta | None
) -> list[Shape]:
    return list(check_normalized(input, normalized_shape, weight=weight))


@shape_rule("aten.group_norm")
def group_norm(
    input: TensorMeta, num_groups: int, weight: TensorMeta | None, bias: TensorMeta | None
) -> Shape:
    check(input.ndim >= 2, f"the input has shape {shape_text(input.shape)}; at least 2 dimensions expected")
    check_groups(input.shape[1], num_groups)
    check_channels(input.shape[1], weight=weight, bias=bias)
    return input.shape


def check_groups(channels: Dim, groups: int) -> None:
    check(groups > 0, f"{groups} groups")
    check(same_size(channels % groups, 0), f"{channels} channels do not divide into {groups} groups")


@shape_rule("aten.native_group_norm")
def native_group_norm(
    input: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    N: Dim,
    C: Dim,
    HxW: Dim,
    group: int,
) -> list[Shape]:
    check_groups(C, group)
    check(
        same_size(N * C * HxW, numel(input.shape)),
        f"input of shape {shape_text(input.shape)}: N C HxW differ",
    )
    check_channels(C, weight=weight, bias=bias)
    return [input.shape, (N, group), (N, group)]


@shape_rule("aten.instance_norm")
def instance_norm(
    input: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    running_mean: TensorMeta | None,
    running_var: TensorMeta | None,
    use_input_stats: bool,
) -> Shape:
    return batch_norm(input, weight, bias, running_mean, running_var, use_input_stats)


@shape_rule("aten.norm_except_dim")
def norm_except_dim(v: TensorMeta, dim: int) -> Shape:
    """A size of 1 in all dimensions but one; -1 is no dimension: the norm of all."""
    if dim == -1:
        return ()
    check(0 <= dim < v.ndim, f"dimension {dim} of a tensor of {v.ndim}")
    return tuple(size if i == dim else 1 for i, size in enumerate(v.shape))


@shape_rule("aten._weight_norm")
def weight_norm(v: TensorMeta, g: TensorMeta, dim: int) -> Shape:
    norms = norm_except_dim(v, dim)
    # Of the first or last dimension the kernel reads one element of g per norm; else it broadcasts.
    fits = same_shape(g.shape, norms) if dim in (0, v.ndim - 1) else broadcast_shapes(g.shape, norms) == norms
    check(fits, f"g {shape_text(g.shape)} for norms {shape_text(norms)}")
    return v.shape


# --- softmax -------------------------------------------------------------------------------------------------


@shape_rule("aten.softmax.int", "aten.log_softmax.int", "aten._safe_softmax")
@shape_rule("aten.special_softmax", "aten.special_log_softmax")
def softmax(self: TensorMeta, dim: int) -> Shape:
    wrap_dim(dim, self.ndim)
    return self.shape


@shape_rule("aten._softmax", "aten._log_softmax")
def native_softmax(self: TensorMeta, dim: int, half_to_float: bool) -> Shape:
    check(not half_to_float, "half_to_float exists on GPUs only")
    return softmax(self, dim)
