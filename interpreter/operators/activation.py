"""Functions of activation functions, and of their gradients."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.interpreter.operators.pointwise import between, erf


@impl("aten.relu", promote=True)
def relu(self: Array) -> Array:
    return np.where(self < 0, self.dtype.type(0), self)


@impl("aten.hardtanh")
def hardtanh(self: Array, min_val: float, max_val: float) -> Array:
    as_element = int if self.dtype.kind in "iu" else float
    return between(self, *(np.array(as_element(limit)).astype(self.dtype) for limit in (min_val, max_val)))


@impl("aten.leaky_relu")
def leaky_relu(self: Array, negative_slope: float) -> Array:
    slope = np.array(negative_slope, self.dtype)
    return np.where(self > 0, self, self * slope)


@impl("aten.elu")
def elu(self: Array, alpha: float, scale: float, input_scale: float) -> Array:
    positive, negative, exponent = (self.dtype.type(c) for c in (scale, alpha * scale, input_scale))
    below: Array = np.expm1(self * exponent) * negative
    return np.where(self < 0, below, self * positive)


@impl("aten.gelu")
def gelu(self: Array, approximate: str) -> Array:
    scalar = self.dtype.type
    half, one = scalar(0.5), scalar(1)
    if approximate == "tanh":
        inner = scalar(sqrt(2 / pi)) * (self + scalar(0.044715) * self**3)
        return half * self * (one + np.tanh(inner))
    return half * self * (one + erf(self * scalar(sqrt(0.5))))


@impl("aten.rrelu_with_noise_functional")
def rrelu_with_noise(
    self: Array, noise: Array, lower: float, upper: float, training: bool, rng: Generator
) -> tuple[Array, Array]:
    """The noise is the slope of each element; one is drawn for each that is not positive, in the order of elements."""
    if not training:
        return np.where(self <= 0, self * self.dtype.type((lower + upper) / 2), self), noise
    below = self <= 0
    slope = np.ones_like(self)
    slope[below] = rng.between((int(below.sum()),), dt.Double, lower, upper)
    return self * slope, slope
