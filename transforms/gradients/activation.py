"""Gradients of activation functions, by PyTorch's own operators for them."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.transforms.arithmetic import Number
from xdsl_exir.transforms.gradients import Gradient, Gradients, gradient


@gradient("aten.relu")
def relu(aten: Namespace, grad: SSAValue, result: SSAValue) -> Gradients:
    return aten.threshold_backward(grad, result, 0)


@gradient("aten.hardtanh")
def hardtanh(aten: Namespace, grad: SSAValue, self: SSAValue, min_val: Number, max_val: Number) -> Gradients:
    return aten.hardtanh_backward(grad, self, min_val, max_val)


@gradient("aten.leaky_relu")
def leaky_relu(aten: Namespace, grad: SSAValue, self: SSAValue, negative_slope: Number) -> Gradients:
    return aten.leaky_relu_backward(grad, self, negative_slope, False)


@gradient("aten.elu")
def elu(
    aten: Namespace, grad: SSAValue, self: SSAValue, alpha: Number, scale: Number, input_scale: Number
) -> Gradients:
    return aten.elu_backward(grad, alpha, scale, input_scale, False, self)


@gradient("aten.gelu")
def gelu(aten: Namespace, grad: SSAValue, self: SSAValue, approximate: str) -> Gradients:
    return aten.gelu_backward(grad, self, approximate=approximate)


@gradient("aten.silu")
def silu(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    return aten.silu_backward(grad, self)


@gradient("aten.mish")
def mish(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    return aten.mish_backward(grad, self)


@gradient("aten.hardswish")
def hardswish(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    return aten.hardswish_backward(grad, self)


@gradient("aten.hardsigmoid")
def hardsigmoid(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    return aten.hardsigmoid_backward(grad, self)


@gradient("aten.hardshrink")
def hardshrink(aten: Namespace, grad: SSAValue, self: SSAValue, lambd: Number) -> Gradients:
    return aten.hardshrink_backward(grad, self, lambd)


@gradient("aten.softshrink")
def softshrink(aten: Namespace, grad: SSAValue, self: SSAValue, lambd: Number) -> Gradients:
    return aten.softshrink_backward(grad, self, lambd)


@gradient("aten.softplus")
def softplus(aten: Namespace, grad: SSAValue, self: SSAValue, beta: Number, threshold: Number) -> Gradients:
    return aten.softplus_backward(grad, self, beta, threshold)


@gradient("aten.glu")
def glu(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int) -> Gradients:
    return aten.glu_backward(grad, self, dim)


@gradient("aten._prelu_kernel")
def prelu_kernel(aten: Namespace, grad: SSAValue, self: SSAValue, weight: SSAValue) -> Gradients:
    return aten._prelu_kernel_backward(grad, self, weight)


@gradient("aten.rrelu_with_noise_functional")
def rrelu(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    self: SSAValue,
    lower: Number,
    upper: Number,
    training: bool,
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    return aten.rrelu_with_noise_backward(grad[0], self, results[1], lower, upper, training, False)
