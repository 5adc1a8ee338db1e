"""Decompositions of random operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log1p, pi, sqrt

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.transforms.decompositions import decomposition


@decomposition("aten.bernoulli")
def bernoulli(aten: Namespace, self: SSAValue) -> SSAValue:
    return bernoulli_tensor(aten, self, self)


@decomposition("aten.bernoulli.Tensor")
def bernoulli_tensor(aten: Namespace, self: SSAValue, p: SSAValue) -> SSAValue:
    """PyTorch draws in float64 for probabilities of float64, else in float32."""
    drawn = dt.Double if meta(p).dtype is dt.Double else dt.Float
    chosen = aten.lt.Tensor(aten.rand(sizes(aten, self), dtype=drawn, device=meta(self).device), p)
    return cast(aten, chosen, meta(self).dtype)


@decomposition("aten.normal_functional")
def normal_functional(aten: Namespace, self: SSAValue, mean: float, std: float) -> SSAValue:
    return aten.add.Tensor(aten.mul.Tensor(aten.randn_like(self), std), mean)


@decomposition("aten.normal.Tensor_float")
def normal_mean(aten: Namespace, mean: SSAValue, std: float) -> SSAValue:
    return aten.add.Tensor(aten.mul.Tensor(aten.randn_like(mean), std), mean)


@decomposition("aten.normal.float_Tensor")
def normal_std(aten: Namespace, mean: float, std: SSAValue) -> SSAValue:
    return aten.add.Tensor(aten.mul.Tensor(aten.randn_like(std), std), mean)


@decomposition("aten.normal.Tensor_Tensor")
def normal(aten: Namespace, mean: SSAValue, std: SSAValue) -> SSAValue:
    drawn = aten.randn_like(aten.add.Tensor(mean, std))
    return cast(aten, aten.add.Tensor(aten.mul.Tensor(drawn, std), mean), meta(mean).dtype)


@decomposition("aten.normal.float_float")
def normal_sized(
    aten: Namespace,
    mean: float,
    std: float,
    size: list[int | SSAValue],
    dtype: DType | None,
    device: str | None,
) -> SSAValue:
    drawn = aten.randn(size, dtype=dtype, device=device)
    return aten.add.Tensor(aten.mul.Tensor(drawn, std), mean)


@decomposition("aten.exponential")
def exponential(aten: Namespace, self: SSAValue, lambd: float) -> SSAValue:
    """-log(1 - u) / lambda for a uniform u, by inversion of the distribution."""
    uniform = aten.rand_like(self, dtype=dt.Double)
    drawn = aten.div.Tensor(aten.neg(aten.log1p(aten.neg(uniform))), lambd)
    return cast(aten, drawn, meta(self).dtype)


@decomposition("aten.cauchy")
def cauchy(aten: Namespace, self: SSAValue, median: float, sigma: float) -> SSAValue:
    """median + sigma tan(pi (u - 1/2)) for a uniform u."""
    angle = aten.mul.Tensor(aten.sub.Tensor(aten.rand_like(self, dtype=dt.Double), 0.5), pi)
    drawn = aten.add.Tensor(aten.mul.Tensor(aten.tan(angle), sigma), median)
    return cast(aten, drawn, meta(self).dtype)


@decomposition("aten.geometric")
def geometric(aten: Namespace, self: SSAValue, p: float) -> SSAValue:
    """The number of trials up to the first success: ceil(log(u) / log(1 - p)) for a uniform u, at least 1."""
    trials = aten.ceil(aten.div.Tensor(aten.log(aten.rand_like(self, dtype=dt.Double)), log1p(-p)))
    return cast(aten, aten.clamp(trials, 1), meta(self).dtype)


# --- dropout -------------------------------------------------------------------------------------------------


@decomposition("aten.dropout")
def dropout(aten: Namespace, input: SSAValue, p: float, train: bool) -> SSAValue:
    if train and p > 0:
        return aten.native_dropout(input, p, True)[0]
    return aten.clone(input)


@decomposition("aten.feature_dropout")
def feature_dropout(aten: Namespace, input: SSAValue, p: float, train: bool) -> SSAValue:
    """Drops whole channels: one draw for each item of the first two dimensions."""
    if not train or p == 0 or 0 in meta(input).shape:
        return input
    dtype = meta(input).dtype
    if p == 1:
        return aten.mul.Tensor(input, aten.full([], 0, dtype=dtype))
    kept = aten.bernoulli.p(_of_channels(aten, input), 1 - p)
    return aten.mul.Tensor(input, aten.div.Scalar(kept, 1 - p))


@decomposition("aten.native_dropout_backward")
def native_dropout_backward(aten: Namespace, grad_output: SSAValue, mask: SSAValue, scale: float) -> SSAValue:
    return aten.mul.Tensor(aten.mul.Tensor(grad_output, mask), scale)


@decomposition("aten.alpha_dropout")
def alpha_dropout(aten: Namespace, input: SSAValue, p: float, train: bool) -> SSAValue:
    return _alpha_dropout(aten, input, p, train, aten.empty_like)


@decomposition("aten.feature_alpha_dropout")
def feature_alpha_dropout(aten: Namespace, input: SSAValue, p: float, train: bool) -> SSAValue:
    """Of whole channels, as `feature_dropout`."""
    return _alpha_dropout(aten, input, p, train, partial(_of_channels, aten))


def _of_channels(aten: Namespace, input: SSAValue) -> SSAValue:
    shape = [*sizes(aten, input)[:2], *([1] * (meta(input).ndim - 2))]
    return aten.empty.memory_format(shape, dtype=meta(input).dtype)


def _alpha_dropout(
    aten: Namespace, input: SSAValue, p: float, train: bool, noise_of: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """What is dropped is SELU's least value, and all is scaled and shifted so that mean and variance stay: Klambauer et al.,
    Self-Normalizing Neural Networks, whose lambda * alpha this is."""
    if not train or p == 0 or 0 in meta(input).shape:
        return input
    if p == 1:
        return aten.mul.Tensor(input, aten.full([], 0, dtype=meta(input).dtype))
    alpha = 1.7580993408473766
    scale = 1 / sqrt((alpha * alpha * p + 1) * (1 - p))
    kept = aten.bernoulli.p(noise_of(input), 1 - p)
    shift = aten.add.Scalar(aten.mul.Scalar(aten.add.Scalar(kept, -1), alpha * scale), alpha * scale * p)
    return aten.add.Tensor(aten.mul.Tensor(input, aten.mul.Scalar(kept, scale)), shift)
