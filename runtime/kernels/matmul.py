"""Kernels of matrix products: BLAS for floats, NumPy's loops for integers, which wrap around."""

from __future__ import annotations

import numpy as np

from xdsl_exir.runtime.kernels import Array, kernel

Number = int | float | complex


@kernel("aten.mm", "aten.bmm")
def matmul(self: Array, mat2: Array) -> Array:
    return np.matmul(self, mat2)


def scaled_sum(self: Array, product: Array, beta: Number, alpha: Number) -> Array:
    """`beta * self + alpha * product`, where a `beta` of 0 drops even NaN. Of integers the factors are integers."""
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    if beta == 0:
        return product
    return product + (self if beta == 1 else self * self.dtype.type(beta))


@kernel("aten.addmm")
def addmm(self: Array, mat1: Array, mat2: Array, beta: Number, alpha: Number) -> Array:
    return scaled_sum(self, np.matmul(mat1, mat2), beta, alpha)


@kernel("aten.addbmm")
def addbmm(self: Array, batch1: Array, batch2: Array, beta: Number, alpha: Number) -> Array:
    return scaled_sum(self, np.tensordot(batch1, batch2, axes=([0, 2], [0, 1])), beta, alpha)


@kernel("aten.addmv")
def addmv(self: Array, mat: Array, vec: Array, beta: Number, alpha: Number) -> Array:
    return scaled_sum(self, np.matmul(mat, vec), beta, alpha)
