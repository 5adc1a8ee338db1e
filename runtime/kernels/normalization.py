"""Kernels of normalizations, softmax and dropout. Statistics are of the population: variances are not corrected."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xdsl_exir.runtime.kernels import Array, kernel


def moments(array: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """The array less its mean, the mean and the variance over these axes, which stay with size 1."""
    mean = array.mean(axis=axes, keepdims=True)
    centred = array - mean
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    return centred, mean, variance


def rsqrt(variance: Array, eps: float) -> Array:
    return 1 / np.sqrt(variance + variance.dtype.type(eps))


def affine(array: Array, weight: Array | None, bias: Array | None) -> Array:
    if weight is not None:
        array = array * weight
    return array if bias is None else array + bias


# --- batch norm ----------------------------------------------------------------------------------------------


def per_channel(array: Array, ndim: int) -> Array:
    """One element per channel, shaped to broadcast over an input of this rank."""
    return array.reshape(-1, *[1] * (ndim - 2))


@kernel("aten._native_batch_norm_legit_no_training")
def batch_norm_no_training(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    eps: float,
) -> tuple[Array, Array, Array]:
    # x * scale + shift: one multiplication and one addition per element.
    scale = rsqrt(running_var, eps)
    if weight is not None:
        scale = scale * weight
    shift = -running_mean * scale
    if bias is not None:
        shift = shift + bias
    nothing = np.empty(0, input.dtype)
    return input * per_channel(scale, input.ndim) + per_channel(shift, input.ndim), nothing, nothing


@kernel("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    input: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    centred, mean, variance = moments(input, channel_axes(input))
    invstd = rsqrt(variance, eps)
    scale = invstd if weight is None else invstd * per_channel(weight, input.ndim)
    result = affine(centred * scale, None, None if bias is None else per_channel(bias, input.ndim))
    return result, mean.reshape(-1), invstd.reshape(-1)


def channel_axes(input: Array) -> tuple[int, ...]:
    """All axes but that of the channels."""
    return (0, *range(2, input.ndim))


@kernel("aten._native_batch_norm_legit_functional")
def batch_norm_functional(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    if not training:
        results = batch_norm_no_training(input, weight, bias, running_mean, running_var, eps)
        return *results, running_mean, running_var
    results = batch_norm_no_stats(input, weight, bias, eps)
    axes = channel_axes(input)
    count = math.prod(input.shape[axis] for axis in axes)
    _, mean, variance = moments(input, axes)
    # What runs is the unbiased variance.
    unbiased = variance.reshape(-1) * np.divide(count, count - 1, dtype=input.dtype)
    return (
        *results,
        momentum * mean.reshape(-1) + (1 - momentum) * running_mean,
        momentum * unbiased + (1 - momentum) * running_var,
    )


@kernel("aten.native_batch_norm")
def native_batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    eps: float,
) -> tuple[Array, Array, Array]:
    if training or running_mean is None or running_var is None:
        return batch_norm_no_stats(input, weight, bias, eps)
    return batch_norm_no_training(input, weight, bias, running_mean, running_var, eps)


# --- layer and group norm ------------------------------------------------------------------------------------


@kernel("aten.native_layer_norm")
def native_layer_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    centred, mean, variance = moments(input, tuple(range(-len(normalized_shape), 0)))
    rstd = rsqrt(variance, eps)
    return affine(centred * rstd, weight, bias), mean, rstd


@kernel("aten.native_group_norm")
def native_group_norm(
    input: Array, weight: Array | None, bias: Array | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Array, Array, Array]:
    centred, mean, variance = moments(input.reshape(N, group, C // group * HxW), (2,))
    rstd = rsqrt(variance, eps)
    weight, bias = (None if each is None else each.reshape(C, 1) for each in (weight, bias))
    result = affine((centred * rstd).reshape(N, C, HxW), weight, bias)
    return result.reshape(input.shape), mean.reshape(N, group), rstd.reshape(N, group)


# --- softmax and dropout -------------------------------------------------------------------------------------


def shifted(array: Array, dim: int) -> Array:
    """The array less its maximum, so that exponentials do not overflow."""
    return array - array.max(axis=dim, keepdims=True, initial=-math.inf)


@kernel("aten._softmax")
def softmax(self: Array, dim: int) -> Array:
    exponentials = np.exp(shifted(np.atleast_1d(self), dim))
    return (exponentials / exponentials.sum(axis=dim, keepdims=True)).reshape(self.shape)


@kernel("aten._log_softmax")
def log_softmax(self: Array, dim: int) -> Array:
    logits = shifted(np.atleast_1d(self), dim)
    return (logits - np.log(np.exp(logits).sum(axis=dim, keepdims=True))).reshape(self.shape)


@kernel("aten.native_dropout")
def native_dropout(input: Array, p: float, train: bool | None, rng: np.random.Generator) -> tuple[Array, Array]:
    """`train` None is True."""
    if train is False:
        return input, np.ones(input.shape, np.bool_)
    mask = rng.random(input.shape, np.float32) >= p
    scale = 0 if p == 1 else 1 / (1 - p)
    return input * mask * input.dtype.type(scale), mask
