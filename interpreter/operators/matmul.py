"""Functions of matrix products: BLAS for floats, in float64 as sums are (its float32 products of odd sizes are one long sum),
NumPy's loops for integers, which wrap around."""

from __future__ import annotations

import numpy as np

from xdsl_exir.interpreter.interpreter import wide
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.interpreter.operators.pointwise import to_complex

Number = int | float | complex


@impl("aten.mm", "aten.bmm")
def matmul(self: Array, mat2: Array) -> Array:
    return matrix_product(wide(self), wide(mat2))


def matrix_product(left: Array, right: Array) -> Array:
    """Matrix products. Of complex numbers BLAS makes NaN of infinite ones, which their parts, each a sum of products, need not be."""
    if not np.iscomplexobj(left) or (np.isfinite(left).all() and np.isfinite(right).all()):
        return np.matmul(left, right)
    (a, b), (c, d) = ((np.real(each), np.imag(each)) for each in (left, right))
    return to_complex(np.matmul(a, c) - np.matmul(b, d), np.matmul(a, d) + np.matmul(b, c))


def scaled_sum(self: Array, product: Array, beta: Number, alpha: Number) -> Array:
    """`beta * self + alpha * product`, where a `beta` of 0 drops even NaN. Of integers the factors are integers."""
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    if beta == 0:
        return product
    return product + (self if beta == 1 else self * self.dtype.type(beta))


@impl("aten.addmm")
def addmm(self: Array, mat1: Array, mat2: Array, beta: Number, alpha: Number) -> Array:
    return scaled_sum(self, matmul(mat1, mat2), beta, alpha)


@impl("aten.addbmm")
def addbmm(self: Array, batch1: Array, batch2: Array, beta: Number, alpha: Number) -> Array:
    batches, rows, inner = batch1.shape
    left = batch1.transpose(1, 0, 2).reshape(rows, batches * inner)
    return scaled_sum(self, matmul(left, batch2.reshape(batches * inner, batch2.shape[2])), beta, alpha)


@impl("aten.addmv")
def addmv(self: Array, mat: Array, vec: Array, beta: Number, alpha: Number) -> Array:
    return scaled_sum(self, matmul(mat, vec), beta, alpha)
