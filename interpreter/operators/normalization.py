"""Functions of normalizations, softmax and dropout. Statistics are of the population: variances are not corrected."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.interpreter.interpreter import sum_dtype, wide
from xdsl_exir.interpreter.operators import Array, impl


def moments(array: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """The array less its mean, the mean and the variance over these axes, which stay with size 1: as wide as sums."""
    array = wide(array)
    count = array.dtype.type(math.prod(array.shape[axis] for axis in axes))
    # Quotients of sums, since NumPy's mean warns of empty slices.
    mean: Array = array.sum(axis=axes, keepdims=True) / count
    centred = array - mean
    variance: Array = (centred * centred).sum(axis=axes, keepdims=True) / count
    return centred, mean, variance


def rsqrt(variance: Array, eps: float) -> Array:
    return 1 / np.sqrt(variance + variance.dtype.type(eps))


# --- batch norm ----------------------------------------------------------------------------------------------


def per_channel(array: Array, ndim: int) -> Array:
    """One element per channel, shaped to broadcast over an input of this rank."""
    return array.reshape(-1, *[1] * (ndim - 2))


def normalize_channels(
    input: Array, mean: Array, invstd: Array, weight: Array | None, bias: Array | None
) -> Array:
    """`(x - mean) * invstd * weight + bias` as PyTorch computes it: one product and one sum per element, of what channels have."""
    scale = invstd if weight is None else invstd * weight
    shift = -mean * scale
    if bias is not None:
        shift = shift + bias
    scale, shift = (per_channel(each.astype(input.dtype), input.ndim) for each in (scale, shift))
    return input * scale + shift


@impl("aten._native_batch_norm_legit_no_training")
def batch_norm_no_training(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    eps: float,
) -> tuple[Array, Array, Array]:
    nothing = np.empty(0, input.dtype)
    invstd = rsqrt(wide(running_var), eps)
    return normalize_channels(input, running_mean, invstd, weight, bias), nothing, nothing


@impl("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    input: Array, weight: Array | None, bias: Array | None, eps: float, out: tuple[DType, ...]
) -> tuple[Array, Array, Array]:
    return batch_norm_training(input, weight, bias, eps, out)[0]


def batch_norm_training(
    input: Array, weight: Array | None, bias: Array | None, eps: float, out: tuple[DType, ...]
) -> tuple[tuple[Array, Array, Array], Array, Array]:
    """The normalized input with the mean and reciprocal deviation of each channel that are saved; mean and unbiased variance, which run."""
    _, exact, variance = moments(input, channel_axes(input))
    count = math.prod(input.shape[axis] for axis in channel_axes(input))
    saved = out[1]

    def as_saved(value: Array) -> Array:
        return value.astype(saved.numpy).astype(value.dtype) if saved.bits < 32 else value

    if saved is dt.BFloat16:
        # PyTorch has the mean and the sum of squares in the dtype that it saves, and divides in it.
        squares = as_saved(variance * count)
        variance, unbiased = (
            as_saved(squares / as_saved(np.array(number, squares.dtype))) for number in (count, count - 1)
        )
        exact = as_saved(exact)
    else:
        unbiased = variance * np.divide(count, count - 1, dtype=variance.dtype)
    # It normalizes with the statistics it saves, which tells where they are short floats.
    mean, invstd = as_saved(exact), as_saved(rsqrt(variance, eps))
    centred, mean, invstd = input - mean, mean.reshape(-1), invstd.reshape(-1)
    result = normalize_channels(centred, np.zeros_like(mean), invstd, weight, bias)
    return (result, mean, invstd), exact.reshape(-1), unbiased.reshape(-1)


def channel_axes(input: Array) -> tuple[int, ...]:
    """All axes but that of the channels."""
    return (0, *range(2, input.ndim))


@impl("aten._native_batch_norm_legit_functional")
def batch_norm_functional(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float,
    eps: float,
    out: tuple[DType, ...],
) -> tuple[Array, ...]:
    if not training:
        results = batch_norm_no_training(input, weight, bias, running_mean, running_var, eps)
        return *results, running_mean, running_var
    results, mean, variance = batch_norm_training(input, weight, bias, eps, out)
    return (
        *results,
        momentum * mean + (1 - momentum) * running_mean,
        momentum * variance + (1 - momentum) * running_var,
    )


# --- layer and group norm ------------------------------------------------------------------------------------


@impl("aten.native_layer_norm")
def native_layer_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    centred, mean, variance = moments(input, tuple(range(-len(normalized_shape), 0)))
    rstd = rsqrt(variance, eps)
    result = centred * rstd
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result, mean, rstd


@impl("aten.native_group_norm")
def native_group_norm(
    input: Array, weight: Array | None, bias: Array | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Array, Array, Array]:
    centred, mean, variance = moments(input.reshape(N, group, C // group * HxW), (2,))
    rstd = rsqrt(variance, eps)
    result: Array = (centred * rstd).reshape(N, C, HxW)
    if weight is not None:
        result = result * weight.reshape(C, 1)
    if bias is not None:
        result = result + bias.reshape(C, 1)
    return result.reshape(input.shape), mean.reshape(N, group), rstd.reshape(N, group)


# --- softmax -------------------------------------------------------------------------------------------------


def shifted(array: Array, dim: int) -> Array:
    """The array less its maximum, so that exponentials do not overflow."""
    return array - array.max(axis=dim, keepdims=True, initial=-np.inf)


def total(array: Array, dim: int) -> Array:
    """The sum along an axis, which stays with size 1."""
    return array.sum(axis=dim, keepdims=True, dtype=sum_dtype(array.dtype))


@impl("aten._softmax")
def softmax(self: Array, dim: int) -> Array:
    exponentials = np.exp(shifted(np.atleast_1d(self), dim))
    return (exponentials / total(exponentials, dim)).reshape(self.shape)


@impl("aten._log_softmax")
def log_softmax(self: Array, dim: int) -> Array:
    logits = shifted(np.atleast_1d(self), dim)
    return (logits - np.log(total(np.exp(logits), dim))).reshape(self.shape)
