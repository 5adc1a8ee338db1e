"""Gradients of what draws random numbers: of dropout the numbers drawn count as constants, of all others there are none."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.transforms.gradients import Gradient, Gradients, constant, gradient

constant(
    *("aten.bernoulli", "aten.bernoulli.p", "aten.multinomial", "aten.uniform", "aten.log_normal"),
    *("aten.rand_like", "aten.randn_like", "aten.randint_like", "aten.randint_like.low_dtype"),
    *("aten.random", "aten.random.from", "aten.random.to", "aten.normal_functional"),
    *(f"aten.normal.{kind}" for kind in ("Tensor_float", "float_Tensor", "Tensor_Tensor")),
)


@gradient("aten.native_dropout")
def native_dropout(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    p: float,
    train: bool | None,
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    if train is False:
        return grad[0]
    return aten.native_dropout_backward(grad[0], results[1], 0.0 if p == 1 else 1 / (1 - p))
