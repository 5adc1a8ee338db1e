"""Lowerings of normalizations and softmax: the textbook's sequence of reductions and elementwise maps.

Statistics are kept in the dtype that sums accumulate in and rounded once: in results, and where elements meet them, to
the dtype that these compute in.
Variances are those of the population.
"""

from __future__ import annotations

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype, sum_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.reductions import along, greatest, moments, shaped, size_of
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor

Out = list[TensorMeta]


def inverse_deviation(b: LinalgBuilder, variance: Tensor, eps: float) -> Tensor:
    dtype = sum_dtype(variance.dtype)
    return b.elementwise(lambda x: s.rsqrt(x + eps), [variance], variance.shape, dtype)


def distance(x: Scalar, mean: Scalar) -> Scalar:
    """`x - mean`, where the mean is as wide as sums are: numbers close to a large one differ from it by less than its last place. It is
    taken away in two parts of the dtype of `x`."""
    if x.dtype is mean.dtype:
        return x - mean
    high = s.cast(mean, x.dtype)
    return x - high - s.cast(mean - s.cast(high, mean.dtype), x.dtype)


def normalized(
    b: LinalgBuilder,
    x: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    out: TensorMeta,
) -> Tensor:
    """`(x - mean) * invstd * weight + bias`, where all broadcast to `x`."""
    invstd = b.convert(invstd, compute_dtype(x.dtype))
    affine = [tensor for tensor in (weight, bias) if tensor is not None]

    def body(x: Scalar, mean: Scalar, invstd: Scalar, *rest: Scalar) -> Scalar:
        factors = iter(s.cast(value, x.dtype) for value in rest)
        result = distance(x, mean) * invstd
        result = result if weight is None else result * next(factors)
        return result if bias is None else result + next(factors)

    return b.elementwise(body, [x, mean, invstd, *affine], x.shape, out.dtype)


def shaped_if_given(b: LinalgBuilder, input: Tensor | None, shape: Sizes) -> Tensor | None:
    return None if input is None else b.reshape(input, shape)


# --- batch norm ----------------------------------------------------------------------------------------------


def normalize_channels(
    b: LinalgBuilder,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    out: TensorMeta,
) -> Tensor:
    """`input * scale + shift`, with a scale and a shift per channel, as PyTorch computes it."""
    dtype, channels = compute_dtype(input.dtype), mean.shape

    def scaled(invstd: Scalar, *weight: Scalar) -> Scalar:
        result = s.cast(invstd, dtype)
        return result * s.cast(weight[0], dtype) if weight else result

    def shifted(mean: Scalar, scale: Scalar, *bias: Scalar) -> Scalar:
        result = -s.cast(mean, dtype) * scale
        return result + s.cast(bias[0], dtype) if bias else result

    scale = b.elementwise(scaled, [invstd, *([] if weight is None else [weight])], channels, dtype)
    shift = b.elementwise(shifted, [mean, scale, *([] if bias is None else [bias])], channels, dtype)
    per_channel = (*channels, *[1] * (input.ndim - 2))
    return b.elementwise(
        lambda x, scale, shift: x * scale + shift,
        [input, b.reshape(scale, per_channel), b.reshape(shift, per_channel)],
        input.shape,
        out.dtype,
    )


@lowering("aten._native_batch_norm_legit_no_training")
def batch_norm_no_training(
    b: LinalgBuilder,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    eps: float,
    out: Out,
) -> tuple[Tensor, Tensor, Tensor]:
    invstd = inverse_deviation(b, running_var, eps)
    result = normalize_channels(b, input, running_mean, invstd, weight, bias, out[0])
    nothing, nothing_either = (b.fill(0, meta.shape, meta.dtype) for meta in out[1:3])
    return result, nothing, nothing_either


def batch_norm_training(
    b: LinalgBuilder,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    out: Out,
) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor, Tensor]:
    """The normalized input with the mean and reciprocal deviation of each channel that are saved; mean and unbiased variance, which run."""
    over = [dim for dim in range(input.ndim) if dim != 1]
    exact, variance = moments(b, input, over)
    count, saved = size_of(input, over), out[1].dtype

    def unbiased(variance: Scalar) -> Scalar:
        """Of one value it is infinite, or NaN."""
        number = s.constant(count, dt.Double)
        return variance * s.cast(number / (number - 1), variance.dtype)

    def total(variance: Scalar) -> Scalar:
        return variance * s.cast(s.constant(count, dt.Double), variance.dtype)

    def share(squares: Tensor, number: Dim) -> Tensor:
        divisor = b.fill(number, (), saved)
        return b.elementwise(lambda x, count: x / count, [squares, divisor], squares.shape, saved)

    if saved is dt.BFloat16:
        # PyTorch has the mean and the sum of squares in the dtype that it saves, and divides in it.
        exact = b.convert(exact, saved)
        squares = b.elementwise(total, [variance], variance.shape, saved)
        variance, running = share(squares, count), share(squares, count - 1)
    else:
        running = b.elementwise(unbiased, [variance], variance.shape, variance.dtype)
    # It normalizes with the statistics it saves, which tells where they are short floats.
    mean, invstd = (
        b.convert(value, saved) if saved.bits < 32 else value
        for value in (exact, inverse_deviation(b, variance, eps))
    )
    per_channel = (input.shape[1], *[1] * (input.ndim - 2))
    weight, bias = (shaped_if_given(b, each, per_channel) for each in (weight, bias))
    result = normalized(b, input, mean, invstd, weight, bias, out[0])
    results = result, shaped(b, mean, out[1]), shaped(b, invstd, out[2])
    return results, b.reshape(exact, out[1].shape), b.reshape(running, out[1].shape)


@lowering("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    b: LinalgBuilder, input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, out: Out
) -> tuple[Tensor, Tensor, Tensor]:
    return batch_norm_training(b, input, weight, bias, eps, out)[0]


@lowering("aten._native_batch_norm_legit_functional")
def batch_norm_functional(
    b: LinalgBuilder,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
    out: Out,
) -> tuple[Tensor, ...]:
    if not training:
        results = batch_norm_no_training(b, input, weight, bias, running_mean, running_var, eps, out)
        return *results, running_mean, running_var
    results, mean, variance = batch_norm_training(b, input, weight, bias, eps, out)

    def updated(running: Tensor, current: Tensor) -> Tensor:
        return b.elementwise(
            lambda old, new: s.cast(new, old.dtype) * momentum + old * (1 - momentum),
            [running, current],
            running.shape,
            running.dtype,
        )

    return *results, updated(running_mean, mean), updated(running_var, variance)


# --- layer and group norm ------------------------------------------------------------------------------------


@lowering("aten.native_layer_norm")
def native_layer_norm(
    b: LinalgBuilder,
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    out: Out,
) -> tuple[Tensor, Tensor, Tensor]:
    mean, variance = moments(b, input, range(input.ndim - len(normalized_shape), input.ndim))
    invstd = inverse_deviation(b, variance, eps)
    result = normalized(b, input, mean, invstd, weight, bias, out[0])
    return result, shaped(b, mean, out[1]), shaped(b, invstd, out[2])


@lowering("aten.native_group_norm")
def native_group_norm(
    b: LinalgBuilder,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
    out: Out,
) -> tuple[Tensor, Tensor, Tensor]:
    grouped = b.reshape(input, (N, group, C // group, HxW))
    mean, variance = moments(b, grouped, [2, 3])
    invstd = inverse_deviation(b, variance, eps)
    weight, bias = (shaped_if_given(b, each, (group, C // group, 1)) for each in (weight, bias))
    result = normalized(b, grouped, mean, invstd, weight, bias, out[0])
    return b.reshape(result, input.shape), shaped(b, mean, out[1]), shaped(b, invstd, out[2])


# --- softmax -------------------------------------------------------------------------------------------------


@lowering("aten._softmax")
def softmax(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    x, axis = along(b, self, dim)
    dtype = compute_dtype(self.dtype)
    exponentials = b.elementwise(lambda x, peak: s.exp(x - peak), [x, greatest(b, x, [axis])], x.shape, dtype)
    total = b.convert(b.sum(exponentials, [axis]), dtype)
    return b.reshape(
        b.elementwise(s.div, [exponentials, total], x.shape, out[0].dtype),
        self.shape,
    )


@lowering("aten._log_softmax")
def log_softmax(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    x, axis = along(b, self, dim)
    dtype = compute_dtype(self.dtype)
    logits = b.elementwise(s.sub, [x, greatest(b, x, [axis])], x.shape, dtype)
    total = b.convert(b.sum(logits, [axis], s.exp), dtype)
    return b.reshape(
        b.elementwise(lambda logit, total: logit - s.own_log(total), [logits, total], x.shape, out[0].dtype),
        self.shape,
    )
