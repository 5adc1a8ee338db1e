"""Functions of linear algebra, by LAPACK: NumPy's batched functions where there is one, else SciPy's, matrix by matrix.

Pivots count from 1 and statuses (`info`) are LAPACK's, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, cast

import numpy as np

from xdsl_exir.dialects.dtypes import BFloat16, Half
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.interpreter import wide
from xdsl_exir.interpreter.operators import Array, impl, pointwise

# --- what functions share ------------------------------------------------------------------------------------


def lapack(name: str, *arrays: Array) -> Callable[..., Any]:
    """LAPACK's routine for the arrays' dtype."""
    from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

    return cast(Any, linalg).get_lapack_funcs(name, arrays)


def blas(name: str, *arrays: Array) -> Callable[..., Any]:
    """BLAS's routine for the arrays' dtype."""
    from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

    return cast(Any, linalg).get_blas_funcs(name, arrays)


def for_each_matrix(
    function: Callable[..., tuple[Any, ...]], likes: Sequence[Array], *arrays: Array
) -> list[Array]:
    """A function of matrices (of vectors, for arrays of one dimension less) over the batch of the first array.

    `likes` are empty arrays for the results, which have the batch dimensions too.
    """
    batch = arrays[0].shape[:-2]
    for at in np.ndindex(*batch):
        for target, value in zip(likes, function(*(array[at] for array in arrays)), strict=True):
            target[at] = value
    return list(likes)


def broadcast_batches(*matrices: Array) -> list[Array]:
    """Matrices with their batch dimensions broadcast."""
    batch = np.broadcast_shapes(*(matrix.shape[:-2] for matrix in matrices))
    return [np.broadcast_to(matrix, (*batch, *matrix.shape[-2:])) for matrix in matrices]


def adjoint(matrix: Array) -> Array:
    return np.conjugate(matrix.swapaxes(-1, -2))


NOTHING = (0,)
"""Shape of a result that was not asked for."""

# --- Cholesky and LU -----------------------------------------------------------------------------------------


@impl("aten.linalg_cholesky_ex")
def cholesky_ex(self: Array, upper: bool, check_errors: bool) -> tuple[Array, Array]:
    def factor(a: Array) -> tuple[Any, ...]:
        return lapack("potrf", a)(a, lower=not upper, clean=1)

    if not self.size:
        return self, np.zeros(self.shape[:-2], np.int32)
    result, info = for_each_matrix(factor, [np.empty_like(self), np.empty(self.shape[:-2], np.int32)], self)
    # LAPACKs of others find a NaN in the diagonal not positive.
    wrong: Array = np.isnan(np.diagonal(result, axis1=-2, axis2=-1))
    info = np.where((info == 0) & wrong.any(-1), wrong.argmax(-1).astype(info.dtype) + 1, info)
    return result, asserted(check_errors, info, "torch.linalg.cholesky_ex")


def lu_of(a: Array) -> tuple[Array, Array, Array]:
    """Both factors in one, the pivots and the statuses."""
    batch, small = a.shape[:-2], min(a.shape[-2:])
    likes = [np.empty_like(a), np.zeros((*batch, small), np.int32), np.zeros(batch, np.int32)]

    def factor(matrix: Array) -> tuple[Any, ...]:
        lu, pivots, info = lapack("getrf", matrix)(matrix)
        return lu, pivots + 1, info

    lu, pivots, info = for_each_matrix(factor, likes, a) if a.size else likes
    return lu, pivots, info


@impl("aten.linalg_lu_factor_ex")
def lu_factor_ex(A: Array, check_errors: bool) -> tuple[Array, Array, Array]:
    lu, pivots, info = lu_of(A)
    return lu, pivots, asserted(check_errors, info, "torch.linalg.lu_factor_ex")


def lu_as_stored(a: Array) -> tuple[Array, Array, Array]:
    """The factors that PyTorch keeps beside a determinant: of the transposed matrix, where numbers are real."""
    return lu_of(a if a.dtype.kind == "c" else a.swapaxes(-1, -2))


def permutation(pivots: Array, size: int) -> Array:
    """The order that row interchanges bring `size` rows into, one per batch."""
    order = np.broadcast_to(np.arange(size), (*pivots.shape[:-1], size)).copy()
    for row in range(pivots.shape[-1]):
        other = pivots[..., row, None].astype(np.int64) - 1
        held = order[..., row].copy()
        order[..., row] = np.take_along_axis(order, other, -1)[..., 0]
        np.put_along_axis(order, other, held[..., None], -1)
    return order


@impl("aten.lu_unpack")
def lu_unpack(
    LU_data: Array, LU_pivots: Array, unpack_data: bool, unpack_pivots: bool
) -> tuple[Array, Array, Array]:
    nothing = np.empty(NOTHING, LU_data.dtype)
    rows, columns = LU_data.shape[-2:]
    small = min(rows, columns)
    p = low = up = nothing
    if unpack_pivots:
        order = permutation(LU_pivots, rows)
        p = np.swapaxes(np.eye(rows, dtype=LU_data.dtype)[order], -1, -2)
    if unpack_data:
        low = np.tril(LU_data[..., :small], -1) + np.eye(rows, small, dtype=LU_data.dtype)
        up = np.triu(LU_data[..., :small, :])
    return p, low, up


@impl("aten.linalg_lu")
def linalg_lu(A: Array) -> tuple[Array, Array, Array]:
    lu, pivots, _ = lu_of(A)
    return lu_unpack(lu, pivots, True, True)


def with_factors(lu: Array, pivots: Array, b: Array, trans: int = 0) -> Array:
    """X of A X = B, from the factors of A; `trans` 1 is of the transposed A, 2 of the adjoint one."""
    batch = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    lu, b = broadcast_batches(lu, b)
    pivots = np.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    result = np.empty(b.shape, b.dtype)

    def solve(factors: Array, swaps: Array, right: Array) -> tuple[Any, ...]:
        return (lapack("getrs", factors)(factors, swaps - 1, right, trans=trans)[0],)

    if result.size:
        for_each_matrix(solve, [result], lu, pivots, b)
    return result


@impl("aten.linalg_inv_ex")
def inv_ex(A: Array, check_errors: bool) -> tuple[Array, Array]:
    lu, pivots, info = lu_of(A)
    inverse = with_factors(lu, pivots, np.eye(A.shape[-1], dtype=A.dtype))
    return inverse, asserted(check_errors, info, "linalg.inv_ex")


@impl("aten.linalg_lu_solve")
def linalg_lu_solve(LU: Array, pivots: Array, B: Array, left: bool, adjoint: bool) -> Array:
    if left:
        return with_factors(LU, pivots, B, 2 if adjoint else 0)
    # X A = B is A^H X^H = B^H.
    conjugated = np.conjugate(B.swapaxes(-1, -2))
    return np.conjugate(with_factors(LU, pivots, conjugated, 0 if adjoint else 2).swapaxes(-1, -2))


@impl("aten._linalg_solve_ex")
def solve_ex(A: Array, B: Array, left: bool, check_errors: bool) -> tuple[Array, Array, Array, Array]:
    lu, pivots, info = lu_factor_ex(A, check_errors)
    vectors = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    result = linalg_lu_solve(lu, pivots, B[..., None] if vectors else B, left, False)
    return result[..., 0] if vectors else result, lu, pivots, info


# --- determinants --------------------------------------------------------------------------------------------


def parity(pivots: Array) -> Array:
    """1 or -1 as the number of row interchanges is even or odd."""
    unmoved: Array = np.arange(1, int(pivots.shape[-1]) + 1)
    moved: Array = np.not_equal(pivots, unmoved)
    return 1 - 2 * (moved.sum(-1) % 2)


@impl("aten._linalg_det")
def det(A: Array) -> tuple[Array, Array, Array]:
    lu, pivots, _ = lu_as_stored(A)
    diagonal = np.diagonal(lu, axis1=-2, axis2=-1)
    return diagonal.prod(-1) * parity(pivots).astype(A.dtype), lu, pivots


@impl("aten._linalg_slogdet")
def slogdet(A: Array) -> tuple[Array, Array, Array, Array]:
    lu, pivots, _ = lu_as_stored(A)
    diagonal = np.diagonal(lu, axis1=-2, axis2=-1)
    signs = np.sign(diagonal) if np.iscomplexobj(A) else pointwise.sign(diagonal)
    sign = signs.prod(-1) * parity(pivots).astype(A.dtype)
    return sign, np.log(np.abs(diagonal)).sum(-1), lu, pivots


# --- systems of equations ------------------------------------------------------------------------------------


def triangular(a: Array, b: Array, lower: bool, trans: int, unit: bool) -> Array:
    a, b = broadcast_batches(a, b.astype(a.dtype, copy=False))
    result = np.empty(b.shape, b.dtype)

    def solve(matrix: Array, right: Array) -> tuple[Any, ...]:
        # As PyTorch solves: without a look at the diagonal, of which zeros give infinities.
        trsm = blas("trsm", matrix, right)
        return (trsm(1, matrix, right, lower=lower, trans_a=trans, diag=unit),)

    if result.size:
        for_each_matrix(solve, [result], a, b)
    return result


@impl("aten.linalg_solve_triangular")
def linalg_solve_triangular(self: Array, B: Array, upper: bool, left: bool, unitriangular: bool) -> Array:
    if left:
        return triangular(self, B, not upper, 0, unitriangular)
    return triangular(self, B.swapaxes(-1, -2), not upper, 1, unitriangular).swapaxes(-1, -2)


@impl("aten.triangular_solve")
def triangular_solve(
    self: Array, A: Array, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Array, Array]:
    solution = triangular(A, self, not upper, int(transpose), unitriangular)
    return solution, np.broadcast_to(A, (*solution.shape[:-2], *A.shape[-2:]))


@impl("aten.cholesky_solve")
def cholesky_solve(self: Array, input2: Array, upper: bool) -> Array:
    factor, right = broadcast_batches(input2, self)
    result = np.empty(right.shape, right.dtype)

    def solve(c: Array, b: Array) -> tuple[Any, ...]:
        return (lapack("potrs", c)(c, b, lower=not upper)[0],)

    if result.size:
        for_each_matrix(solve, [result], factor, right)
    return result


@impl("aten.cholesky_inverse")
def cholesky_inverse(self: Array, upper: bool) -> Array:
    return cholesky_solve(np.eye(self.shape[-1], dtype=self.dtype), self, upper)


@impl("aten._linalg_check_errors")
def check_errors(info: Array, api_name: str) -> None:
    """Raises `ExirError` where a status says that an algorithm failed."""
    if np.any(info):
        raise ExirError(failure_text(api_name))


def failure_text(api_name: str) -> str:
    """That an algorithm failed."""
    return f"{api_name}: a matrix of the batch is singular or not positive-definite"


def asserted(check: bool, info: Array, name: str) -> Array:
    """The statuses; those of failures raise `ExirError` if they are checked."""
    if check:
        check_errors(info, name)
    return info


# --- orthogonal factors --------------------------------------------------------------------------------------


@impl("aten.linalg_qr")
def linalg_qr(A: Array, mode: str) -> tuple[Array, Array]:
    factors: Any = np.linalg.qr(A, cast(Any, mode))
    return (np.empty(NOTHING, A.dtype), factors) if mode == "r" else tuple(factors)


@impl("aten.geqrf")
def geqrf(self: Array) -> tuple[Array, Array]:
    factors, tau = np.linalg.qr(self, "raw")
    return factors.swapaxes(-1, -2), tau


def reflect(vectors: Array, tau: Array, array: Array, inverse: bool) -> Array:
    """H1 H2 ... Hk times an array, each H = 1 - tau v v^H with v unit lower trapezoidal; or the adjoint of it."""
    count = tau.shape[-1]
    units = np.tril(vectors[..., :count], -1) + np.eye(vectors.shape[-2], count, dtype=vectors.dtype)
    for k in range(count) if inverse else reversed(range(count)):
        v = units[..., k, None]
        factor = np.conjugate(tau) if inverse else tau
        array = array - factor[..., k, None, None] * v @ (adjoint(v) @ array)
    return array


@impl("aten.linalg_householder_product")
def householder_product(input: Array, tau: Array) -> Array:
    rows, columns = input.shape[-2:]
    return reflect(input, tau, np.broadcast_to(np.eye(rows, columns, dtype=input.dtype), input.shape), False)


@impl("aten.ormqr")
def ormqr(self: Array, input2: Array, input3: Array, left: bool, transpose: bool) -> Array:
    if left:
        return reflect(self, input2, input3, transpose)
    # C Q is (Q^H C^H)^H.
    return adjoint(reflect(self, input2, adjoint(input3), not transpose))


@impl("aten._linalg_svd")
def svd(A: Array, full_matrices: bool, compute_uv: bool) -> tuple[Array, Array, Array]:
    if compute_uv:
        u, s, vh = np.linalg.svd(A, full_matrices)
        return u, s, vh
    nothing = np.empty(NOTHING, A.dtype)
    return nothing, np.linalg.svd(A, compute_uv=False), nothing


@impl("aten._linalg_eigh")
def eigh(A: Array, UPLO: str, compute_v: bool) -> tuple[Array, Array]:
    uplo = "L" if UPLO.upper() == "L" else "U"
    if compute_v:
        values, vectors = np.linalg.eigh(A, uplo)
        return values, vectors
    return np.linalg.eigvalsh(A, uplo), np.empty(NOTHING, A.dtype)


@impl("aten.linalg_eigvals", "aten._linalg_eigvals")
def eigvals(self: Array) -> Array:
    """Those of a matrix with infinite elements or NaNs are NaN."""
    finite: Array = np.asarray(np.isfinite(self).all((-2, -1)))
    values = np.linalg.eigvals(np.where(finite[..., None, None], self, 0)).astype(
        np.result_type(self, np.complex64)
    )
    values[~finite] = complex(np.nan, np.nan)
    return values


@impl("aten.linalg_eig")
def eig(self: Array) -> tuple[Array, Array]:
    """Vectors have length 1 and a real component of greatest size, as LAPACK's geev gives them; their signs are as they
    come out, so the routine is that of the matrices' own dtype (NumPy takes float64's).
    """
    from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

    if not np.isfinite(self).all():
        raise ExirError("torch.linalg.eig: a matrix has infinite elements or NaNs")
    dtype = np.result_type(self.dtype, np.complex64)
    likes = [np.empty(self.shape[:-1], dtype), np.empty(self.shape, dtype)]
    values, vectors = for_each_matrix(cast(Any, linalg).eig, likes, self) if self.size else likes
    return values, vectors


def ldl_routine(name: str, array: Array, hermitian: bool) -> Callable[..., Any]:
    """LAPACK's routine of this name for symmetric or Hermitian matrices."""
    return lapack(("he" if hermitian and array.dtype.kind == "c" else "sy") + name, array)


@impl("aten.linalg_ldl_solve")
def ldl_solve(LD: Array, pivots: Array, B: Array, hermitian: bool) -> Array:
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    factors, right = broadcast_batches(LD, B)
    pivots = np.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    result = np.empty(right.shape, right.dtype)

    def solve(ld: Array, swaps: Array, b: Array) -> tuple[Any, ...]:
        return (ldl_routine("trs", ld, hermitian)(ld, swaps, b, lower=1)[0],)

    if result.size:
        for_each_matrix(solve, [result], factors, pivots, right)
    return result


@impl("aten.linalg_ldl_factor_ex")
def ldl_factor_ex(self: Array, hermitian: bool, check_errors: bool) -> tuple[Array, Array, Array]:
    batch, size = self.shape[:-2], self.shape[-1]
    likes = [np.empty_like(self), np.zeros((*batch, size), np.int32), np.zeros(batch, np.int32)]

    def factor(a: Array) -> tuple[Any, ...]:
        ld, pivots, info = ldl_routine("trf", a, hermitian)(a, lower=1)
        return np.tril(ld), pivots, info

    ld, pivots, info = for_each_matrix(factor, likes, self) if self.size else likes
    return ld, pivots, asserted(check_errors, info, "torch.linalg.ldl_factor_ex")


# --- functions of matrices -----------------------------------------------------------------------------------


# In half types PyTorch reads its Taylor coefficients from memory written in another dtype.
@impl("aten.linalg_matrix_exp", undefined=(Half, BFloat16))
def matrix_exp(self: Array) -> Array:
    from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

    return cast(Any, linalg).expm(self) if self.size else self


@impl("aten.linalg_pinv.atol_rtol_tensor")
def pinv(self: Array, atol: Array | None, rtol: Array | None, hermitian: bool) -> Array:
    """Singular values of at most max(atol, rtol times the largest) count as 0."""
    if not self.size:
        return np.zeros((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.dtype)
    absolute = np.zeros(()) if atol is None else atol
    if rtol is None:
        # Beside a given absolute tolerance there is no relative one.
        default = np.finfo(self.dtype).eps * max(self.shape[-2:])
        rtol = np.where(absolute > 0, 0, default)
    if hermitian:
        values, u = np.linalg.eigh(self)
        vh = adjoint(u)
    else:
        u, values, vh = np.linalg.svd(self, full_matrices=False)
    sizes = np.abs(values)
    limit = np.maximum(absolute[..., None], rtol[..., None] * sizes.max(-1, keepdims=True))
    kept = sizes > limit
    inverse = np.divide(1, values, where=kept, out=np.zeros(kept.shape, values.dtype))
    return (adjoint(vh) * inverse[..., None, :]) @ adjoint(u)


# --- distances -----------------------------------------------------------------------------------------------


def norm_of(differences: Array, p: float) -> Array:
    """The p-norm along the last dimension; of order 0 the number of nonzero elements."""
    sizes = np.abs(wide(differences))
    if p == 0:
        return np.minimum(np.ceil(sizes), 1).sum(-1)
    if p == np.inf:
        return sizes.max(-1, initial=0)
    if p == 1:
        return sizes.sum(-1)
    if p == 2:
        return np.sqrt((sizes * sizes).sum(-1))
    return (sizes**p).sum(-1) ** sizes.dtype.type(1 / p)


MANY = 25
"""Rows from which on PyTorch takes Euclidean distances by a matrix product."""


@impl("aten._cdist_forward")
def cdist(x1: Array, x2: Array, p: float, compute_mode: int | None) -> Array:
    x1, x2, many = wide(x1), wide(x2), max(x1.shape[-2], x2.shape[-2]) > MANY
    if p == 2 and (compute_mode == 1 or (not compute_mode and many)):
        squares = (x1 * x1).sum(-1)[..., :, None] + (x2 * x2).sum(-1)[..., None, :]
        return np.sqrt(np.maximum(squares - 2 * (x1 @ x2.swapaxes(-1, -2)), 0))
    differences = wide(x1[..., :, None, :] - x2[..., None, :, :])
    if p == np.inf:  # it passes over NaN (DistanceOpsKernel.cpp)
        return np.fmax.reduce(np.abs(differences), -1, initial=0)
    return norm_of(differences, p)


@impl("aten._pdist_forward")
def pdist(self: Array, p: float) -> Array:
    pairs = np.array(list(combinations(range(len(self)), 2)), np.int64).reshape(-1, 2)
    return norm_of(self[pairs[:, 0]] - self[pairs[:, 1]], p)
