"""Shape rules of gradients. Nearly all have the shape of what they are the gradient of.

A gradient that an output mask leaves out (`None` in PyTorch) is a tensor without elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl_exir.dialects.expr import Dim, max_, min_
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    broadcasts,
    check,
    check_shape,
    numel,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
)
from xdsl_exir.dialects.shapes.attention import flash_attention_for_cpu
from xdsl_exir.dialects.shapes.convolution import convolution
from xdsl_exir.dialects.shapes.loss import NONE, check_classes
from xdsl_exir.dialects.shapes.normalization import check_channels, check_groups, check_normalized
from xdsl_exir.dialects.shapes.pooling import adaptive, pooled
from xdsl_exir.dialects.shapes.resampling import upsampled
from xdsl_exir.dialects.shapes.slicing import select
from xdsl_exir.dialects.shapes.view import Size
from xdsl_exir.dialects.tensors import TensorMeta

NOTHING: Shape = (0,)
"""Shape of a gradient that nobody asked for."""


def asked(mask: Sequence[bool], *shapes: Shape) -> list[Shape]:
    """Shapes of the gradients that a mask asks for."""
    check(len(mask) == len(shapes), f"output_mask must have {len(shapes)} elements")
    return [shape if wanted else NOTHING for wanted, shape in zip(mask, shapes, strict=True)]


# --- losses and functions ---------------------------------------------------------------------------------------------

broadcasts(
    {
        "grad_output self target": """
            mse_loss_backward smooth_l1_loss_backward huber_loss_backward soft_margin_loss_backward
        """,
    }
)


# --- losses --------------------------------------------------------------------------------------------------


@shape_rule("aten.binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    grad_output: TensorMeta, self: TensorMeta, target: TensorMeta, weight: TensorMeta | None
) -> Shape:
    check_shape("the target", target.shape, self.shape)
    others = (grad_output, weight) if weight is not None else (grad_output,)
    for other in others:
        check_shape("what is broadcast", broadcast_shapes(self.shape, other.shape), self.shape)
    return self.shape


@shape_rule("aten.nll_loss_backward", "aten.nll_loss2d_backward")
def nll_loss_backward(
    grad_output: TensorMeta,
    self: TensorMeta,
    target: TensorMeta,
    weight: TensorMeta | None,
    reduction: int,
    total_weight: TensorMeta,
) -> Shape:
    check(self.ndim in (1, 2, 4), f"scores of shape {shape_text(self.shape)}")
    losses = check_classes(self, target, weight)
    check(same_size(numel(total_weight.shape), 1), "the total weight is one number")
    if reduction == NONE and self.ndim > 1:
        check_shape("the gradient", grad_output.shape, losses)
    else:
        check(same_size(numel(grad_output.shape), 1) and grad_output.ndim <= 1, "the gradient is one number")
    return self.shape


# --- softmax and normalizations ------------------------------------------------------------------------------


@shape_rule("aten._softmax_backward_data", "aten._log_softmax_backward_data")
def softmax_backward(grad_output: TensorMeta, output: TensorMeta, dim: int) -> Shape:
    wrap_dim(dim, output.ndim)
    check_shape("the gradient", grad_output.shape, output.shape)
    return grad_output.shape


@shape_rule("aten.native_layer_norm_backward")
def native_layer_norm_backward(
    grad_out: TensorMeta,
    input: TensorMeta,
    normalized_shape: Sequence[Dim],
    mean: TensorMeta,
    rstd: TensorMeta,
    weight: TensorMeta | None,
    bias: TensorMeta | None,
    output_mask: Sequence[bool],
) -> list[Shape]:
    _, statistics = check_normalized(input, normalized_shape, weight=weight, bias=bias)
    check_shape("the gradient", grad_out.shape, input.shape)
    for name, tensor in (("mean", mean), ("rstd", rstd)):
        check_shape(f"'{name}'", tensor.shape, statistics)
    inner = tuple(normalized_shape)
    return asked(
        output_mask,
        input.shape,
        NOTHING if weight is None else inner,
        NOTHING if bias is None else inner,
    )


@shape_rule("aten.native_group_norm_backward")
def native_group_norm_backward(
    grad_out: TensorMeta,
    input: TensorMeta,
    mean: TensorMeta,
    rstd: TensorMeta,
    weight: TensorMeta | None,
    N: Dim,
    C: Dim,
    HxW: Dim,
    group: int,
    output_mask: Sequence[bool],
) -> list[Shape]:
    check_groups(C, group)
    check(
        same_size(N * C * HxW, numel(input.shape)),
        f"input of shape {shape_text(input.shape)}: N C HxW differ",
    )
    check_shape("the gradient", grad_out.shape, input.shape)
    for name, tensor in (("mean", mean), ("rstd", rstd)):
        check_shape(f"'{name}'", tensor.shape, (N, group))
    check_channels(C, weight=weight)
    return asked(output_mask, input.shape, (C,), (C,))


@shape_rule("aten.native_batch_norm_backward")
def native_batch_norm_backward(
    grad_out: TensorMeta,
    input: TensorMeta,
    weight: TensorMeta | None,
    running_mean: TensorMeta | None,
    running_var: TensorMeta | None,
    save_mean: TensorMeta | None,
    save_invstd: TensorMeta | None,
    train: bool,
    output_mask: Sequence[bool],
) -> list[Shape]:
    check(input.ndim >= 2, f"the input has shape {shape_text(input.shape)}; at least 2 dimensions expected")
    check_shape("the gradient", grad_out.shape, input.shape)
    needed = {"save_mean": save_mean, "save_invstd": save_invstd}
    if not train:
        needed = {"running_mean": running_mean, "running_var": running_var}
    for name, tensor in needed.items():
        check(tensor is not None, f"'{name}' is needed")
    channels = input.shape[1]
    check_channels(channels, weight=weight, **needed)
    return asked(output_mask, input.shape, (channels,), (channels,))


# --- products ------------------------------------------------------------------------------------------------


@shape_rule("aten._scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_backward(
    grad_out: TensorMeta,
    query: TensorMeta,
    key: TensorMeta,
    value: TensorMeta,
    out: TensorMeta,
    logsumexp: TensorMeta,
    attn_mask: TensorMeta | None,
    dropout_p: float,
) -> list[Shape]:
    result, denominators = flash_attention_for_cpu(query, key, value, attn_mask, dropout_p)
    check_shape("'out'", out.shape, result)
    check_shape("the gradient", grad_out.shape, result)
    check_shape("'logsumexp'", logsumexp.shape, denominators)
    return [query.shape, key.shape, value.shape]


@shape_rule("aten.convolution_backward")
def convolution_backward(
    grad_output: TensorMeta,
    input: TensorMeta,
    weight: TensorMeta,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    output_mask: Sequence[bool],
) -> list[Shape]:
    result = convolution(input, weight, None, stride, padding, dilation, transposed, output_padding, groups)
    check(transposed or not any(output_padding), f"output_padding {output_padding} without transposition")
    check_shape("the gradient", grad_output.shape, result)
    return asked(output_mask, input.shape, weight.shape, (grad_output.shape[1],))


@shape_rule("aten.embedding_dense_backward")
def embedding_dense_backward(grad_output: TensorMeta, indices: TensorMeta, num_weights: Dim) -> Shape:
    check(grad_output.ndim == indices.ndim + 1, "the gradient has one dimension more than the indices")
    check_shape("the gradient of each index", grad_output.shape[:-1], indices.shape)
    return (num_weights, grad_output.shape[-1])


# --- windows -------------------------------------------------------------------------------------------------


def _register_pooling(count: int) -> None:
    """The rules of gradients of pooling over `count` dimensions."""

    def avg_pool(
        grad_output: TensorMeta,
        self: TensorMeta,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        ceil_mode: bool,
        divisor_override: int | None,
    ) -> Shape:
        check(divisor_override != 0, "divisor_override must not be zero")
        result = pooled(self.shape, count, kernel_size, stride, padding, ceil_mode=ceil_mode)
        check_shape("the gradient", grad_output.shape, result)
        return self.shape

    def max_pool(
        grad_output: TensorMeta,
        self: TensorMeta,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
        indices: TensorMeta,
    ) -> Shape:
        result = pooled(self.shape, count, kernel_size, stride, padding, dilation, ceil_mode)
        check_shape("the gradient", grad_output.shape, result)
        check_shape("'indices'", indices.shape, result)
        return self.shape

    def adaptive_avg_pool(grad_output: TensorMeta, self: TensorMeta) -> Shape:
        check_shape(
            "the gradient", grad_output.shape, adaptive(self.shape, count, grad_output.shape[-count:])
        )
        return self.shape

    def adaptive_max_pool(grad_output: TensorMeta, self: TensorMeta, indices: TensorMeta) -> Shape:
        check_shape("'indices'", indices.shape, grad_output.shape)
        return adaptive_avg_pool(grad_output, self)

    def fractional_max_pool(
        grad_output: TensorMeta, self: TensorMeta, output_size: list[int], indices: TensorMeta
    ) -> Shape:
        check_shape("the gradient of windows", grad_output.shape[-count:], output_size)
        return adaptive_max_pool(grad_output, self, indices)

    shape_rule(f"aten.avg_pool{count}d_backward")(avg_pool)
    shape_rule(f"aten.max_pool{count}d_with_indices_backward")(max_pool)
    shape_rule(f"aten._adaptive_avg_pool{count}d_backward")(adaptive_avg_pool)
    shape_rule(f"aten.adaptive_max_pool{count}d_backward")(adaptive_max_pool)
    shape_rule(f"aten.fractional_max_pool{count}d_backward")(fractional_max_pool)


for _count in (2, 3):
    _register_pooling(_count)


# --- resampling and padding ----------------------------------------------------------------------------------


def _register_resampling(count: int, *names: str) -> None:
    """The rules of gradients of what resamples this many dimensions."""

    def upsample(grad_output: TensorMeta, output_size: list[Dim], input_size: list[Dim]) -> Shape:
        shape = tuple(input_size)
        check_shape("the gradient", grad_output.shape, upsampled(shape, count, output_size))
        return shape

    shape_rule(*(f"aten.{name}_backward" for name in names))(upsample)


_register_resampling(1, "upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_linear1d")

_register_resampling(
    2, "upsample_nearest2d", "_upsample_nearest_exact2d", "upsample_bilinear2d", "upsample_bicubic2d"
)

_register_resampling(3, "upsample_nearest3d", "_upsample_nearest_exact3d", "upsample_trilinear3d")


def _register_padding(count: int) -> None:
    """The rules of gradients of padding of this many dimensions."""

    def unpadded(grad_output: TensorMeta, self: TensorMeta, padding: list[Dim], reflects: bool) -> Shape:
        check(self.ndim in (count + 1, count + 2), f"the input has shape {shape_text(self.shape)}")
        check(len(padding) == 2 * count, f"padding {shape_text(padding)} must be {2 * count} numbers")
        shape = list(self.shape)
        for step in range(count):
            low, high = padding[2 * step : 2 * step + 2]
            size = shape[-1 - step]
            for pad in (low, high):
                inside = not (isinstance(pad, int) and isinstance(size, int)) or pad < size
                check(not reflects or inside, f"padding {pad} of a dimension of size {size}")
            shape[-1 - step] = size + low + high
        check_shape("the gradient", grad_output.shape, shape)
        return self.shape

    def reflection(grad_output: TensorMeta, self: TensorMeta, padding: list[Dim]) -> Shape:
        return unpadded(grad_output, self, padding, reflects=True)

    def replication(grad_output: TensorMeta, self: TensorMeta, padding: list[Dim]) -> Shape:
        return unpadded(grad_output, self, padding, reflects=False)

    shape_rule(f"aten.reflection_pad{count}d_backward")(reflection)
    shape_rule(f"aten.replication_pad{count}d_backward")(replication)


for _count in (1, 2, 3):
    _register_padding(_count)


# --- views and distances -------------------------------------------------------------------------------------


@shape_rule("aten.select_backward")
def select_backward(grad_output: TensorMeta, input_sizes: list[Dim], dim: int, index: Size) -> Shape:
    whole = replace(grad_output, shape=tuple(input_sizes))
    check_shape("the gradient", grad_output.shape, select(whole, dim, index))
    return whole.shape


@shape_rule("aten.slice_backward")
def slice_backward(
    grad_output: TensorMeta, input_sizes: list[Dim], dim: int, start: Dim, end: Dim, step: Dim
) -> Shape:
    dim = wrap_dim(dim, len(input_sizes))
    part = grad_output.shape[dim] if grad_output.ndim > dim else 0
    bounds = [number for number in (input_sizes[dim], start, end, step) if isinstance(number, int)]
    if len(bounds) == 4:
        size, first, last, stride = bounds
        part = len(range(size)[first:last:stride])
    expected = [*input_sizes[:dim], part, *input_sizes[dim + 1 :]]
    check_shape("the gradient", grad_output.shape, expected)
    return tuple(input_sizes)


@shape_rule("aten.diagonal_backward")
def diagonal_backward(
    grad_output: TensorMeta, input_sizes: list[Dim], offset: int, dim1: int, dim2: int
) -> Shape:
    rows, columns = (wrap_dim(dim, len(input_sizes)) for dim in (dim1, dim2))
    length = min_(input_sizes[rows] + min(offset, 0), input_sizes[columns] - max(offset, 0))
    rest = [size for dim, size in enumerate(input_sizes) if dim not in (rows, columns)]
    check_shape("the gradient", grad_output.shape, [*rest, max_(length, 0)])
    return tuple(input_sizes)


@shape_rule("aten.unfold_backward")
def unfold_backward(grad_in: TensorMeta, input_sizes: list[Dim], dim: int, size: int, step: int) -> Shape:
    check(step > 0, f"step {step}")
    if input_sizes:
        dim = wrap_dim(dim, len(input_sizes))
        count = (input_sizes[dim] - size) // step + 1
        expected = [*input_sizes[:dim], count, *input_sizes[dim + 1 :], size]
        check_shape("the gradient", grad_in.shape, expected)
    return tuple(input_sizes)


@shape_rule("aten._cdist_backward")
def cdist_backward(grad: TensorMeta, x1: TensorMeta, x2: TensorMeta, cdist: TensorMeta) -> Shape:
    check(x1.ndim >= 2 and x2.ndim >= 2, "points need 2 dimensions")
    check(same_size(x1.shape[-1], x2.shape[-1]), f"points of {x1.shape[-1]} and {x2.shape[-1]} numbers")
    batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    for name, tensor in (("the gradient", grad), ("'cdist'", cdist)):
        check_shape(name, tensor.shape, (*batch, x1.shape[-2], x2.shape[-2]))
    return (*batch, *x1.shape[-2:])
