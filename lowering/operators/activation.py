"""Lowerings of activation functions, and of their gradients."""

from __future__ import annotations

import math

from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.pointwise import pointwise
from xdsl_exir.lowering.scalar import Scalar


@pointwise("aten.relu")
def relu(self: Scalar) -> Scalar:
    return s.clamp(self, 0, None)


@pointwise("aten.hardtanh")
def hardtanh(self: Scalar, min_val: float, max_val: float) -> Scalar:
    return s.clamp(self, min_val, max_val)


@pointwise("aten.leaky_relu")
def leaky_relu(self: Scalar, negative_slope: float) -> Scalar:
    return s.select(self > 0, self, self * negative_slope)


@pointwise("aten.elu")
def elu(self: Scalar, alpha: float, scale: float, input_scale: float) -> Scalar:
    negative = s.expm1(self * input_scale) * (alpha * scale)
    return s.select(self > 0, self * scale, negative)


@pointwise("aten.gelu")
def gelu(self: Scalar, approximate: str) -> Scalar:
    if approximate == "tanh":
        inner = (self + self * self * self * 0.044715) * math.sqrt(2 / math.pi)
        return self * 0.5 * (s.tanh(inner) + 1)
    return self * 0.5 * (s.erf(self * math.sqrt(0.5)) + 1)
