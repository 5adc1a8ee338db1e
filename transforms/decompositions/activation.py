"""Decompositions of activation functions, and of their gradients."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.transforms.arithmetic import Number, both, choose, computing, product, promotion, scalar
from xdsl_exir.transforms.decompositions import KEEP, decomposition


@decomposition("aten.relu6")
def relu6(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.hardtanh(self, 0, 6)


@decomposition("aten.selu")
def selu(aten: Namespace, self: SSAValue) -> SSAValue:
    # Klambauer et al., Self-Normalizing Neural Networks: alpha_01 and lambda_01.
    return aten.elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@decomposition("aten.threshold")
def threshold(aten: Namespace, self: SSAValue, threshold: Number, value: Number) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(
        aten, aten.where.self(aten.le.Scalar(x, threshold), scalar(aten, value, meta(x).dtype), x), dtype
    )


@decomposition("aten.hardshrink")
def hardshrink(aten: Namespace, self: SSAValue, lambd: Number) -> SSAValue:
    inside = aten.le.Scalar(aten.abs(self), lambd)
    return aten.where.self(inside, scalar(aten, 0, meta(self).dtype), self)


@decomposition("aten.softshrink")
def softshrink(aten: Namespace, self: SSAValue, lambd: Number) -> SSAValue:
    outside = aten.gt.Scalar(aten.abs(self), lambd)
    shrunk = aten.sub.Tensor(self, aten.mul.Tensor(aten.sign(self), lambd))
    # Zero times x, not zero, keeps NaN.
    return aten.where.self(outside, shrunk, aten.mul.Tensor(self, 0))


@decomposition("aten.silu")
def silu(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.mul.Tensor(x, aten.sigmoid(x)), dtype)


def relu6_of_sum(aten: Namespace, x: SSAValue) -> SSAValue:
    """min(max(x + 3, 0), 6)"""
    return aten.clamp(aten.clamp(aten.add.Tensor(x, 3), 0), None, 6)


@decomposition("aten.hardsigmoid")
def hardsigmoid(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.div.Tensor(relu6_of_sum(aten, x), 6), dtype)


@decomposition("aten.hardswish")
def hardswish(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.div.Tensor(aten.mul.Tensor(x, relu6_of_sum(aten, x)), 6), dtype)


@decomposition("aten.celu")
def celu(aten: Namespace, self: SSAValue, alpha: Number) -> SSAValue:
    [x], dtype = computing(aten, self)
    unit = alpha == 1
    negative = aten.expm1(x if unit else aten.div.Tensor(x, alpha))
    negative = negative if unit else aten.mul.Tensor(negative, alpha)
    return cast(aten, aten.where.self(aten.gt.Scalar(x, 0), x, negative), dtype)


def softplus_of(aten: Namespace, x: SSAValue, beta: Number, threshold: Number) -> SSAValue:
    """log(1 + exp(beta x)) / beta, and x itself where that is above the threshold."""
    scaled = x if beta == 1 else aten.mul.Tensor(x, beta)
    soft = aten.log1p(aten.exp(scaled))
    soft = soft if beta == 1 else aten.div.Tensor(soft, beta)
    return aten.where.self(aten.gt.Scalar(scaled, threshold), x, soft)


@decomposition("aten.softplus")
def softplus(aten: Namespace, self: SSAValue, beta: Number, threshold: Number) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, softplus_of(aten, x, beta, threshold), dtype)


@decomposition("aten.mish")
def mish(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.mul.Tensor(x, aten.tanh(softplus_of(aten, x, 1, 20))), dtype)


@decomposition("aten.log_sigmoid")
def log_sigmoid(aten: Namespace, self: SSAValue) -> SSAValue:
    # min(x, 0) - log(1 + exp(-|x|)) does not overflow.
    [x], dtype = computing(aten, self)
    least = aten.minimum(aten.full([], 0, dtype=meta(x).dtype), x)
    return cast(aten, aten.sub.Tensor(least, aten.log1p(aten.exp(aten.neg(aten.abs(x))))), dtype)


@decomposition("aten.prelu")
def prelu(aten: Namespace, self: SSAValue, weight: SSAValue) -> SSAValue:
    rank, weight_rank = meta(self).ndim, meta(weight).ndim
    if rank != weight_rank:
        shape: list[int | SSAValue] = [1] * rank
        if rank > 1 and weight_rank:
            [shape[1]] = sizes(aten, weight)
        weight = aten.view(weight, shape)
    return aten._prelu_kernel(self, weight)


@decomposition("aten._prelu_kernel")
def prelu_kernel(aten: Namespace, self: SSAValue, weight: SSAValue) -> SSAValue:
    return aten.where.self(aten.gt.Scalar(self, 0), self, aten.mul.Tensor(weight, self))


# --- gradients -----------------------------------------------------------------------------------------------


@decomposition("aten.threshold_backward")
def threshold_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue, threshold: Number) -> SSAValue:
    dtype = promotion(grad_output, self)
    zero = scalar(aten, 0, dtype)
    return aten.where.self(aten.le.Scalar(self, threshold), zero, cast(aten, grad_output, dtype))


@decomposition("aten.gelu_backward")
def gelu_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue, approximate: str) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    square = aten.mul.Tensor(x, x)
    if approximate == "none":
        # x cdf(x) has the slope cdf(x) + x pdf(x).
        cdf = aten.mul.Tensor(aten.add.Tensor(aten.erf(aten.mul.Tensor(x, sqrt(0.5))), 1), 0.5)
        pdf = aten.mul.Tensor(aten.exp(aten.mul.Tensor(square, -0.5)), 1 / sqrt(2 * pi))
        slope = aten.add.Tensor(cdf, aten.mul.Tensor(x, pdf))
        return cast(aten, aten.mul.Tensor(grad, slope), dtype)
    beta, kappa = sqrt(2 / pi), 0.044715
    inner = aten.mul.Tensor(aten.add.Tensor(x, aten.mul.Tensor(aten.mul.Tensor(square, x), kappa)), beta)
    tanh = aten.tanh(inner)
    left = aten.mul.Tensor(aten.add.Tensor(tanh, 1), 0.5)
    inner_slope = aten.mul.Tensor(aten.add.Tensor(aten.mul.Tensor(square, 3 * kappa), 1), beta)
    right = aten.mul.Tensor(aten.rsub.Scalar(aten.mul.Tensor(tanh, tanh), 1), inner_slope)
    slope = aten.add.Tensor(left, aten.mul.Tensor(aten.mul.Tensor(x, 0.5), right))
    return cast(aten, aten.mul.Tensor(grad, slope), dtype)


@decomposition("aten.glu")
def glu(aten: Namespace, self: SSAValue, dim: int) -> SSAValue:
    """One half of the dimension times the sigmoid of the other."""
    x, gate = aten.chunk(self, 2, dim)
    return aten.mul.Tensor(x, aten.sigmoid(gate))


@decomposition("aten.rrelu")
def rrelu(aten: Namespace, self: SSAValue, lower: float, upper: float, training: bool) -> SSAValue:
    return aten.rrelu_with_noise_functional(self, aten.zeros_like(self), lower, upper, training)[0]


@decomposition("aten.rrelu_with_noise_functional", may_keep=True)
def rrelu_with_noise(
    aten: Namespace, self: SSAValue, noise: SSAValue, lower: float, upper: float, training: bool
) -> Any:
    """Outside training the noise is not touched, and the slope the interval's middle. How many numbers training draws, elements say."""
    return KEEP if training else (aten.leaky_relu(self, (lower + upper) / 2), noise)


@decomposition("aten.elu_backward")
def elu_backward(
    aten: Namespace,
    grad_output: SSAValue,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    self_or_result: SSAValue,
) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self_or_result)
    depth = alpha * scale
    if is_result:
        slope = aten.mul.Tensor(aten.add.Tensor(x, depth), input_scale)
    else:
        slope = aten.mul.Tensor(aten.exp(aten.mul.Tensor(x, input_scale)), input_scale * depth)
    below, above = aten.mul.Tensor(grad, slope), aten.mul.Tensor(grad, scale)
    return cast(aten, aten.where.self(aten.le.Scalar(x, 0), below, above), dtype)


@decomposition("aten.leaky_relu_backward")
def leaky_relu_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, negative_slope: float
) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    below = aten.mul.Tensor(grad, negative_slope)
    return cast(aten, aten.where.self(aten.gt.Scalar(x, 0), grad, below), dtype)


@decomposition("aten.rrelu_with_noise_backward")
def rrelu_with_noise_backward(
    aten: Namespace,
    grad_output: SSAValue,
    self: SSAValue,
    noise: SSAValue,
    lower: float,
    upper: float,
    training: bool,
    self_is_result: bool,
) -> SSAValue:
    """The noise is the slope that each element had."""
    if training:
        (grad, slope), dtype = computing(aten, grad_output, noise)
        return cast(aten, aten.mul.Tensor(grad, slope), dtype)
    return aten.leaky_relu_backward(grad_output, self, (lower + upper) / 2, self_is_result)


@decomposition("aten.hardtanh_backward")
def hardtanh_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, min_val: float, max_val: float
) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    outside = aten.logical_or(aten.le.Scalar(x, min_val), aten.ge.Scalar(x, max_val))
    return cast(aten, choose(aten, aten.logical_not(outside), grad), dtype)


@decomposition("aten.hardsigmoid_backward")
def hardsigmoid_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    inside = both(aten, aten.gt.Scalar(x, -3), aten.lt.Scalar(x, 3))
    return cast(aten, choose(aten, inside, aten.mul.Tensor(grad, 1 / 6)), dtype)


@decomposition("aten.hardswish_backward")
def hardswish_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    slope = aten.add.Tensor(aten.div.Tensor(x, 3.0), 0.5)
    above = aten.where.self(aten.lt.Scalar(x, 3), aten.mul.Tensor(grad, slope), grad)
    return cast(aten, choose(aten, aten.logical_not(aten.le.Scalar(x, -3)), above), dtype)


@decomposition("aten.softplus_backward")
def softplus_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, beta: float, threshold: float
) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    scaled = aten.mul.Tensor(x, beta)
    z = aten.exp(scaled)
    curved = aten.div.Tensor(aten.mul.Tensor(grad, z), aten.add.Tensor(z, 1.0))
    return cast(aten, aten.where.self(aten.gt.Scalar(scaled, threshold), grad, curved), dtype)


@decomposition("aten.log_sigmoid_backward")
def log_sigmoid_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, buffer: SSAValue
) -> SSAValue:
    """The buffer holds exp(-|x|), by which the slope is `1 - z / (1 + z)` below 0 and `z / (1 + z)` above."""
    (grad, x), dtype = computing(aten, grad_output, self)
    if meta(buffer).shape != meta(self).shape:  # GPUs keep none
        z = aten.exp(aten.neg(aten.abs(x)))
    else:
        z = cast(aten, buffer, meta(x).dtype)
    far = aten.div.Tensor(z, aten.add.Tensor(z, 1.0))
    slope = aten.where.self(aten.lt.Scalar(x, 0), aten.rsub.Scalar(far, 1), far)
    return cast(aten, aten.mul.Tensor(grad, slope), dtype)


@decomposition("aten.silu_backward")
def silu_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    gate = aten.sigmoid(x)
    inner = aten.add.Tensor(aten.mul.Tensor(x, aten.rsub.Scalar(gate, 1)), 1)
    return cast(aten, product(aten, grad, gate, inner), dtype)


@decomposition("aten.mish_backward")
def mish_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue) -> SSAValue:
    (grad, x), dtype = computing(aten, grad_output, self)
    tanh = aten.tanh(aten.softplus(x))
    rest = product(aten, x, aten.sigmoid(x), aten.rsub.Scalar(aten.mul.Tensor(tanh, tanh), 1))
    return cast(aten, aten.mul.Tensor(grad, aten.add.Tensor(tanh, rest)), dtype)


@decomposition("aten.glu_backward")
def glu_backward(aten: Namespace, grad_output: SSAValue, self: SSAValue, dim: int) -> SSAValue:
    (grad, both_halves), dtype = computing(aten, grad_output, self)
    x, gate = aten.chunk(both_halves, 2, dim)
    open_ = aten.sigmoid(gate)
    of_gate = product(aten, aten.rsub.Scalar(open_, 1), open_, x, grad)
    return cast(aten, aten.cat([aten.mul.Tensor(open_, grad), of_gate], dim), dtype)


@decomposition("aten.hardshrink_backward")
def hardshrink_backward(aten: Namespace, grad_out: SSAValue, self: SSAValue, lambd: float) -> SSAValue:
    return shrunk(aten, grad_out, self, lambd)


@decomposition("aten.softshrink_backward")
def shrunk(aten: Namespace, grad_output: SSAValue, self: SSAValue, lambd: float) -> SSAValue:
    """0 where the input lies in the dead zone, from -lambd to lambd."""
    (grad, x), dtype = computing(aten, grad_output, self)
    dead = both(aten, aten.ge.Scalar(x, -lambd), aten.le.Scalar(x, lambd))
    return cast(aten, choose(aten, aten.logical_not(dead), grad), dtype)


@decomposition("aten._prelu_kernel_backward")
def prelu_kernel_backward(
    aten: Namespace, grad_output: SSAValue, self: SSAValue, weight: SSAValue
) -> tuple[SSAValue, SSAValue]:
    above = aten.gt.Scalar(self, 0)
    of_weight = choose(aten, aten.logical_not(above), aten.mul.Tensor(self, grad_output))
    return aten.where.self(above, grad_output, aten.mul.Tensor(weight, grad_output)), of_weight
