"""Shape rules of activation functions, and of their gradients."""

from __future__ import annotations

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.meta import (
    Number,
    Shape,
    broadcast_shapes,
    broadcasts,
    check,
    check_shape,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
)
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta


@shape_rule("aten.hardswish", "aten.log_sigmoid")
def unary(self: TensorMeta) -> Shape:
    return self.shape


broadcasts(
    {
        "self weight": "_prelu_kernel",
        "grad_output self": """
            leaky_relu_backward hardtanh_backward hardswish_backward hardsigmoid_backward
            softplus_backward softshrink_backward mish_backward
        """,
        "grad_out self": "hardshrink_backward",
        "grad_output self buffer": "log_sigmoid_backward",
    }
)


@shape_rule("aten.gelu")
def gelu(self: TensorMeta, approximate: str) -> Shape:
    check(approximate in ("none", "tanh"), f"approximate is '{approximate}', not 'none' or 'tanh'")
    return self.shape


@shape_rule("aten.hardtanh")
def hardtanh(self: TensorMeta, min_val: Number, max_val: Number) -> Shape:
    negative = any(not isinstance(v, complex | Expr | NumberMeta) and v <= -1 for v in (min_val, max_val))
    check(not (self.dtype is dt.Byte and negative), "a negative limit of an unsigned tensor")
    return self.shape


@shape_rule("aten.rrelu_with_noise_functional")
def rrelu_with_noise(self: TensorMeta, noise: TensorMeta) -> list[Shape]:
    check(same_shape(self.shape, noise.shape), "the noise has another shape")
    return [self.shape, noise.shape]


@shape_rule("aten.rrelu")
def rrelu(self: TensorMeta, lower: float, upper: float) -> Shape:
    check(lower <= upper, f"slopes from {lower} to {upper}")
    return self.shape


@shape_rule("aten.glu")
def glu(self: TensorMeta, dim: int) -> Shape:
    check(self.ndim > 0, "glu of a 0-dim tensor")
    dim = wrap_dim(dim, self.ndim)
    size = self.shape[dim]
    check(same_size(size % 2, 0), f"size {size} of dimension {dim} is not even")
    return (*self.shape[:dim], size // 2, *self.shape[dim + 1 :])


@shape_rule("aten.prelu")
def prelu(self: TensorMeta, weight: TensorMeta) -> Shape:
    check(weight.ndim <= 1, f"the weight has at most one dimension, not {weight.ndim}")
    count = numel(weight.shape)
    if count != 1:
        check(self.ndim > 0, "a 0-dimensional input takes one weight only")
        channels = self.shape[1] if self.ndim > 1 else 1
        check(same_size(count, channels), f"{count} weights for {channels} channels")
    return self.shape


# --- gradients -----------------------------------------------------------------------------------------------


@shape_rule("aten.gelu_backward")
def gelu_backward(grad_output: TensorMeta, self: TensorMeta, approximate: str) -> Shape:
    check(approximate in ("none", "tanh"), f"approximate is '{approximate}', not 'none' or 'tanh'")
    # oneDNN's kernel, which runs in these cases, does not broadcast.
    if approximate == "none" and self.ndim and self.dtype in (dt.Float, dt.BFloat16):
        shapes = f"{shape_text(grad_output.shape)} and {shape_text(self.shape)}"
        check(same_shape(grad_output.shape, self.shape), f"gradient and input differ in shape: {shapes}")
    return broadcast_shapes(grad_output.shape, self.shape)


@shape_rule("aten.elu_backward")
def elu_backward(grad_output: TensorMeta, alpha: float, is_result: bool, self_or_result: TensorMeta) -> Shape:
    check(not is_result or alpha >= 0, "the result of a negative slope does not say the input's sign")
    return broadcast_shapes(grad_output.shape, self_or_result.shape)


@shape_rule("aten.rrelu_with_noise_backward")
def rrelu_backward(grad_output: TensorMeta, self: TensorMeta, noise: TensorMeta, training: bool) -> Shape:
    return broadcast_shapes(grad_output.shape, noise.shape if training else self.shape)


@shape_rule("aten.glu_backward")
def glu_backward(grad_output: TensorMeta, self: TensorMeta, dim: int) -> Shape:
    check(self.ndim > 0, "a 0-dimensional tensor has no halves")
    dim = wrap_dim(dim, self.ndim)
    half = (*self.shape[:dim], self.shape[dim] // 2, *self.shape[dim + 1 :])
    check(same_size(self.shape[dim] % 2, 0), f"size {self.shape[dim]} of dimension {dim} is odd")
    check_shape("the gradient", grad_output.shape, half)
    return self.shape


@shape_rule("aten._prelu_kernel_backward")
def prelu_kernel_backward(grad_output: TensorMeta, self: TensorMeta, weight: TensorMeta) -> list[Shape]:
    return [broadcast_shapes(grad_output.shape, self.shape, weight.shape)] * 2
