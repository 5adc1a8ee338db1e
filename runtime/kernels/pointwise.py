"""Kernels of pointwise operators."""

from __future__ import annotations

import numpy as np

from xdsl_exir.runtime.kernels import Array, kernel


@kernel("aten.add.Tensor", promote=True)
def add(self: Array, other: Array, alpha: float) -> Array:
    if self.dtype == np.bool_:
        return self | (other & bool(alpha))
    return self + other * self.dtype.type(alpha)


@kernel("aten.mul.Tensor", promote=True)
def mul(self: Array, other: Array) -> Array:
    return self * other


@kernel("aten.sigmoid", promote=True)
def sigmoid(self: Array) -> Array:
    return 1 / (1 + np.exp(-self))


@kernel("aten._to_copy", raw=True)
def copy(self: Array) -> Array:
    return self
