"""Gradients of softmaxes and normalizations, by PyTorch's own operators for them. Statistics that are results besides
are not differentiated, as PyTorch has it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.transforms.arithmetic import product
from xdsl_exir.transforms.decompositions.view import Sizes
from xdsl_exir.transforms.gradients import Gradient, Gradients, Several, gradient


@gradient("aten._softmax")
def softmax(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, result: SSAValue) -> Gradients:
    return aten._softmax_backward_data(grad, result, dim, meta(self).dtype)


@gradient("aten._log_softmax")
def log_softmax(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, result: SSAValue) -> Gradients:
    return aten._log_softmax_backward_data(grad, result, dim, meta(self).dtype)


@gradient("aten._safe_softmax")
def safe_softmax(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, result: SSAValue) -> Gradients:
    return aten._softmax_backward_data(grad, result, dim, meta(self).dtype)


def asked(shares: Sequence[SSAValue], needed: Sequence[bool]) -> Gradients:
    return tuple(share if needs else None for share, needs in zip(shares, needed, strict=False))


@gradient("aten.native_layer_norm")
def layer_norm(
    aten: Namespace,
    grad: Several,
    input: SSAValue,
    normalized_shape: Sequence[Any],
    weight: Gradient,
    bias: Gradient,
    results: Sequence[SSAValue],
    needed: Sequence[bool],
) -> Gradients:
    if grad[0] is None:
        return None
    _, mean, rstd = results
    shares = aten.native_layer_norm_backward(
        grad[0], input, normalized_shape, mean, rstd, weight, bias, list(needed)
    )
    return asked(shares, needed)


@gradient("aten.native_group_norm")
def group_norm(
    aten: Namespace,
    grad: Several,
    input: SSAValue,
    weight: Gradient,
    N: Any,
    C: Any,
    HxW: Any,
    group: int,
    results: Sequence[SSAValue],
    needed: Sequence[bool],
) -> Gradients:
    """Means and reciprocal deviations have gradients here, and here alone."""
    of_result, of_mean, of_rstd = grad
    _, mean, rstd = results
    x = aten.view(input, [N, group, -1])
    mean, rstd = (aten.unsqueeze(each, -1) for each in (mean, rstd))
    count = Sizes(aten, x)(meta(x).shape[-1])
    shares: list[SSAValue] = []
    if of_mean is not None:
        shares.append(aten.div.Scalar(aten.unsqueeze(of_mean, -1), count))
    if of_rstd is not None:
        slope = product(aten, aten.sub.Tensor(x, mean), rstd, rstd, rstd)
        share = aten.div.Scalar(aten.neg(aten.unsqueeze(of_rstd, -1)), count)
        shares.append(aten.mul.Tensor(slope, share))
    of_statistics = [aten.view(aten.expand(share, sizes(aten, x)), sizes(aten, input)) for share in shares]
    if of_result is None:
        return reduce(aten.add.Tensor, of_statistics)
    window = (*results[1:], weight, N, C, HxW, group, list(needed))
    of_input, *others = aten.native_group_norm_backward(of_result, input, *window)
    return asked([reduce(aten.add.Tensor, [of_input, *of_statistics]), *others], needed)


@gradient("aten._native_batch_norm_legit_functional")
def batch_norm(
    aten: Namespace,
    grad: Several,
    input: SSAValue,
    weight: Gradient,
    running_mean: SSAValue,
    running_var: SSAValue,
    training: bool,
    eps: float,
    results: Sequence[SSAValue],
    needed: Sequence[bool],
) -> Gradients:
    if grad[0] is None:
        return None
    _, mean, rstd, *_ = results
    statistics = (
        (running_mean, running_var, mean, rstd) if training else (running_mean, running_var, None, None)
    )
    shares = aten.native_batch_norm_backward(
        grad[0], input, weight, *statistics, training, eps, list(needed[:3])
    )
    return asked(shares, needed)


@gradient("aten._native_batch_norm_legit.no_stats")
def batch_norm_without_state(
    aten: Namespace,
    grad: Several,
    input: SSAValue,
    weight: Gradient,
    eps: float,
    results: Sequence[SSAValue],
    needed: Sequence[bool],
) -> Gradients:
    if grad[0] is None:
        return None
    _, mean, rstd = results
    shares = aten.native_batch_norm_backward(
        grad[0], input, weight, None, None, mean, rstd, True, eps, list(needed[:3])
    )
    return asked(shares, needed)


@gradient("aten._native_batch_norm_legit_no_training")
def batch_norm_of_state(
    aten: Namespace,
    grad: Several,
    input: SSAValue,
    weight: Gradient,
    running_mean: SSAValue,
    running_var: SSAValue,
    eps: float,
    needed: Sequence[bool],
) -> Gradients:
    if grad[0] is None:
        return None
    shares = aten.native_batch_norm_backward(
        grad[0], input, weight, running_mean, running_var, None, None, False, eps, list(needed[:3])
    )
    return asked(shares, needed)
