"""Shape rules of linear algebra: matrices are the last two dimensions, what comes before them is a batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, min_
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    check,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
    wrap_dims,
)
from xdsl_exir.dialects.shapes.view import diagonal_shape
from xdsl_exir.dialects.tensors import TensorMeta

EMPTY: Shape = (0,)
"""Shape of a result that was not asked for."""

# --- what rules share ----------------------------------------------------------------------------------------


def matrix(a: TensorMeta) -> tuple[Shape, Dim, Dim]:
    """Batch, rows and columns."""
    check(a.ndim >= 2, f"expected matrices, got shape {shape_text(a.shape)}")
    *batch, rows, columns = a.shape
    return tuple(batch), rows, columns


def square(a: TensorMeta) -> tuple[Shape, Dim]:
    """Batch and rows of square matrices."""
    batch, rows, columns = matrix(a)
    check(same_size(rows, columns), f"expected square matrices, got shape {shape_text(a.shape)}")
    return batch, rows


def is_vectors(a: TensorMeta, b: TensorMeta) -> bool:
    """Whether the right-hand sides are one vector per matrix, as `linalg_solve` tells it."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and same_shape(b.shape, a.shape[:-1]))


def right_hand(a: TensorMeta, b: TensorMeta, left: bool = True) -> Shape:
    """The shape of X in A X = B (X A = B if not `left`), batches broadcast."""
    batch, size = square(a)
    other, rows, columns = matrix(b)
    shared = rows if left else columns
    check(same_size(size, shared), f"shapes {shape_text(a.shape)} and {shape_text(b.shape)} do not match")
    return (*broadcast_shapes(batch, other), rows, columns)


# --- factorizations ------------------------------------------------------------------------------------------


@shape_rule(
    "aten.linalg_cholesky",
    "aten.cholesky",
    "aten.cholesky_inverse",
    "aten.inverse",
    "aten.linalg_matrix_exp",
    "aten.matrix_exp",
)
def square_of_self(self: TensorMeta) -> Shape:
    square(self)
    return self.shape


@shape_rule("aten.linalg_matrix_power", "aten.matrix_power")
def matrix_power(self: TensorMeta, n: int) -> Shape:
    check(self.dtype is not dt.Bool or n in (0, 1), "boolean matrices are not multiplied")
    if n < 0:
        check_decomposes(self.dtype, "inverse")
    return square_of_self(self)


@shape_rule("aten.linalg_cholesky_ex")
def cholesky_ex(self: TensorMeta) -> list[Shape]:
    return [self.shape, square(self)[0]]


@shape_rule("aten.linalg_inv")
def linalg_inv(A: TensorMeta) -> Shape:
    return square_of_self(A)


@shape_rule("aten.linalg_inv_ex")
def inv_ex(A: TensorMeta) -> list[Shape]:
    return [A.shape, square(A)[0]]


def check_pivots(lu: TensorMeta, pivots: TensorMeta) -> None:
    """Factors come with one vector of pivots per matrix."""
    expected = lu_shapes(lu)[1]
    check(
        same_shape(pivots.shape, expected),
        f"pivots have shape {shape_text(pivots.shape)}, not {shape_text(expected)}",
    )


def lu_shapes(a: TensorMeta) -> tuple[Shape, Shape]:
    """Of both factors in one, and of the pivots."""
    batch, rows, columns = matrix(a)
    return a.shape, (*batch, min_(rows, columns))


@shape_rule("aten.linalg_lu_factor_ex")
def lu_factor_ex(A: TensorMeta, pivot: bool) -> list[Shape]:
    return [*lu_factor(A, pivot), matrix(A)[0]]


@shape_rule("aten.linalg_lu_factor")
def lu_factor(A: TensorMeta, pivot: bool) -> list[Shape]:
    check(pivot, "PyTorch factors without pivots on GPUs only")
    return list(lu_shapes(A))


@shape_rule("aten.linalg_lu")
def lu(A: TensorMeta, pivot: bool) -> list[Shape]:
    check(pivot, "PyTorch factors without pivots on GPUs only")
    return unpacked(A)


def unpacked(a: TensorMeta) -> list[Shape]:
    batch, rows, columns = matrix(a)
    small = min_(rows, columns)
    return [(*batch, rows, rows), (*batch, rows, small), (*batch, small, columns)]


@shape_rule("aten.lu_unpack")
def lu_unpack(
    LU_data: TensorMeta, LU_pivots: TensorMeta, unpack_data: bool, unpack_pivots: bool
) -> list[Shape]:
    p, low, up = unpacked(LU_data)
    check_pivots(LU_data, LU_pivots)
    return [p if unpack_pivots else EMPTY, low if unpack_data else EMPTY, up if unpack_data else EMPTY]


@shape_rule("aten.linalg_ldl_factor_ex")
def ldl_factor_ex(self: TensorMeta) -> list[Shape]:
    batch, size = square(self)
    return [self.shape, (*batch, size), batch]


@shape_rule("aten.linalg_ldl_factor")
def ldl_factor(self: TensorMeta) -> list[Shape]:
    return ldl_factor_ex(self)[:2]


@shape_rule("aten._lu_with_info")
def lu_with_info(self: TensorMeta, pivot: bool) -> list[Shape]:
    return lu_factor_ex(self, pivot)


@shape_rule("aten.linalg_qr")
def linalg_qr(A: TensorMeta, mode: str) -> list[Shape]:
    check(mode in ("reduced", "complete", "r"), f"mode is '{mode}', not 'reduced', 'complete' or 'r'")
    batch, rows, columns = matrix(A)
    inner = rows if mode == "complete" else min_(rows, columns)
    return [EMPTY if mode == "r" else (*batch, rows, inner), (*batch, inner, columns)]


@shape_rule("aten.qr")
def qr(self: TensorMeta, some: bool) -> list[Shape]:
    return linalg_qr(self, "reduced" if some else "complete")


@shape_rule("aten.geqrf")
def geqrf(self: TensorMeta) -> list[Shape]:
    return list(lu_shapes(self))


@shape_rule("aten.linalg_householder_product")
def householder_product(input: TensorMeta, tau: TensorMeta) -> Shape:
    batch, rows, columns = matrix(input)
    check(
        not (isinstance(rows, int) and isinstance(columns, int) and rows < columns), "more columns than rows"
    )
    check(tau.ndim == input.ndim - 1 and same_shape(tau.shape[:-1], batch), "tau is one vector per matrix")
    count = tau.shape[-1]
    many = isinstance(count, int) and isinstance(columns, int) and count > columns
    check(not many, f"{count} reflections of {columns} columns")
    return input.shape


@shape_rule("aten.orgqr")
def orgqr(self: TensorMeta, input2: TensorMeta) -> Shape:
    return householder_product(self, input2)


@shape_rule("aten.ormqr")
def ormqr(self: TensorMeta, input2: TensorMeta, input3: TensorMeta, left: bool) -> Shape:
    batch, rows, columns = matrix(self)
    fits = input2.ndim == self.ndim - 1 and same_size(input2.shape[-1], columns)
    check(fits, f"tau of shape {shape_text(input2.shape)} for {columns} columns")
    other, above, beside = matrix(input3)
    check(same_size(rows, above if left else beside), f"{rows} rows, but {above} and {beside}")
    check(same_shape(batch, other) and same_shape(batch, input2.shape[:-1]), "batches differ")
    return input3.shape


@shape_rule("aten._linalg_svd")
def svd_of(A: TensorMeta, full_matrices: bool, compute_uv: bool) -> list[Shape]:
    batch, rows, columns = matrix(A)
    small = min_(rows, columns)
    left, right = (rows, columns) if full_matrices else (small, small)
    values: Shape = (*batch, small)
    return [(*batch, rows, left), values, (*batch, right, columns)] if compute_uv else [EMPTY, values, EMPTY]


@shape_rule("aten.linalg_svd")
def linalg_svd(A: TensorMeta, full_matrices: bool) -> list[Shape]:
    return svd_of(A, full_matrices, True)


@shape_rule("aten.svd")
def svd(self: TensorMeta, some: bool, compute_uv: bool) -> list[Shape]:
    check(compute_uv, "without U and V it gives zeros in their place; use linalg_svdvals")
    u, s, vh = svd_of(self, not some, True)
    return [u, s, (*vh[:-2], vh[-1], vh[-2])]


@shape_rule("aten.linalg_svdvals")
def svdvals(A: TensorMeta) -> Shape:
    return lu_shapes(A)[1]


@shape_rule("aten._linalg_eigh")
def eigh_of(A: TensorMeta, UPLO: str, compute_v: bool) -> list[Shape]:
    check(UPLO in ("L", "U", "l", "u"), f"UPLO is '{UPLO}', not 'L' or 'U'")
    square(A)
    return [A.shape[:-1], A.shape if compute_v else EMPTY]


@shape_rule("aten.linalg_eigh")
def linalg_eigh(self: TensorMeta, UPLO: str) -> list[Shape]:
    return eigh_of(self, UPLO, True)


@shape_rule("aten.linalg_eigvalsh")
def eigvalsh(self: TensorMeta, UPLO: str) -> Shape:
    return eigh_of(self, UPLO, False)[0]


@shape_rule("aten.linalg_eig")
def eig(self: TensorMeta) -> list[Shape]:
    return [eigvals(self), self.shape]


@shape_rule("aten.linalg_eigvals", "aten._linalg_eigvals")
def eigvals(self: TensorMeta) -> Shape:
    square(self)
    return self.shape[:-1]


# --- determinants --------------------------------------------------------------------------------------------


@shape_rule("aten._linalg_det")
def det_of(A: TensorMeta) -> list[Shape]:
    batch, _ = square(A)
    return [batch, *lu_shapes(A)]


@shape_rule("aten._linalg_slogdet")
def slogdet_of(A: TensorMeta) -> list[Shape]:
    batch, _ = square(A)
    return [batch, batch, *lu_shapes(A)]


@shape_rule("aten.linalg_det")
def linalg_det(A: TensorMeta) -> Shape:
    return square(A)[0]


@shape_rule("aten.det", "aten.logdet")
def det(self: TensorMeta) -> Shape:
    return square(self)[0]


@shape_rule("aten.linalg_slogdet")
def linalg_slogdet(A: TensorMeta) -> list[Shape]:
    return [square(A)[0]] * 2


@shape_rule("aten.slogdet")
def slogdet(self: TensorMeta) -> list[Shape]:
    return [square(self)[0]] * 2


# --- systems of equations ------------------------------------------------------------------------------------


@shape_rule("aten._linalg_solve_ex")
def solve_of(A: TensorMeta, B: TensorMeta, left: bool) -> list[Shape]:
    batch, _ = square(A)
    return [solved(A, B, left), *lu_shapes(A), batch]


def solved(a: TensorMeta, b: TensorMeta, left: bool) -> Shape:
    if is_vectors(a, b):
        check(left, "vectors stand on the right of matrices only")
        batch, size = square(a)
        check(same_size(size, b.shape[-1]), f"vectors of {b.shape[-1]} for {size} rows")
        return (*broadcast_shapes(batch, b.shape[:-1]), size)
    return right_hand(a, b, left)


@shape_rule("aten.linalg_solve_ex")
def solve_ex(A: TensorMeta, B: TensorMeta, left: bool) -> list[Shape]:
    return [solved(A, B, left), square(A)[0]]


@shape_rule("aten.linalg_solve")
def linalg_solve(A: TensorMeta, B: TensorMeta, left: bool) -> Shape:
    return solved(A, B, left)


@shape_rule("aten.linalg_lu_solve")
def linalg_lu_solve(LU: TensorMeta, pivots: TensorMeta, B: TensorMeta, left: bool) -> Shape:
    check_pivots(LU, pivots)
    return right_hand(LU, B, left)


@shape_rule("aten.linalg_ldl_solve")
def ldl_solve(LD: TensorMeta, pivots: TensorMeta, B: TensorMeta) -> Shape:
    check_pivots(LD, pivots)
    return right_hand(LD, B)


@shape_rule("aten.lu_solve")
def lu_solve(self: TensorMeta, LU_data: TensorMeta, LU_pivots: TensorMeta) -> Shape:
    check_pivots(LU_data, LU_pivots)
    return right_hand(LU_data, self)


@shape_rule("aten.linalg_solve_triangular")
def linalg_solve_triangular(self: TensorMeta, B: TensorMeta, left: bool) -> Shape:
    return right_hand(self, B, left)


@shape_rule("aten.triangular_solve")
def triangular_solve(self: TensorMeta, A: TensorMeta) -> list[Shape]:
    shape = right_hand(A, self)
    return [shape, (*shape[:-2], *A.shape[-2:])]


@shape_rule("aten.cholesky_solve")
def cholesky_solve(self: TensorMeta, input2: TensorMeta) -> Shape:
    return right_hand(input2, self)


@shape_rule("aten._linalg_check_errors")
def check_errors(info: TensorMeta) -> None:
    check(info.dtype is dt.Int, f"a status is of dtype int32, not {info.dtype}")


@shape_rule("aten.linalg_tensorinv")
def tensorinv(self: TensorMeta, ind: int) -> Shape:
    check(0 < ind < self.ndim, f"ind is {ind} for {self.ndim} dimensions")
    first, last = self.shape[:ind], self.shape[ind:]
    check(same_size(numel(first), numel(last)), f"{shape_text(first)} and {shape_text(last)} differ in size")
    return (*last, *first)


@shape_rule("aten.linalg_tensorsolve")
def tensorsolve(self: TensorMeta, other: TensorMeta, dims: list[int] | None) -> Shape:
    kept = set(range(self.ndim)) - set(wrap_dims(dims or [], self.ndim))
    order = [*sorted(kept), *wrap_dims(dims or [], self.ndim)]
    result = tuple(self.shape[d] for d in order[other.ndim :])
    count = numel(result)
    square_system = same_size(numel(self.shape), count * count)
    check(
        square_system and same_size(count, numel(other.shape)),
        f"{shape_text(other.shape)} does not fit the equations of {shape_text(self.shape)}",
    )
    return result


# --- pseudo-inverse, rank, norms -----------------------------------------------------------------------------


@shape_rule("aten.linalg_pinv", "aten.linalg_pinv.atol_rtol_float")
def pinv(self: TensorMeta, hermitian: bool) -> Shape:
    batch, rows, columns = matrix(self)
    check(not hermitian or same_size(rows, columns), "a Hermitian matrix is square")
    return (*batch, columns, rows)


@shape_rule("aten.linalg_pinv.atol_rtol_tensor")
def pinv_within(self: TensorMeta, atol: TensorMeta | None, rtol: TensorMeta | None, hermitian: bool) -> Shape:
    shape, batch = pinv(self, hermitian), matrix_rank(self, atol, rtol)
    # Tolerances broadcast with the batch, but of no elements PyTorch returns before it reads them.
    return shape if numel(self.shape) == 0 else (*batch, *shape[-2:])


@shape_rule("aten.linalg_pinv.rcond_tensor")
def pinv_above(self: TensorMeta, rcond: TensorMeta, hermitian: bool) -> Shape:
    return pinv_within(self, None, rcond, hermitian)


@shape_rule("aten.pinverse")
def pinverse(self: TensorMeta) -> Shape:
    return pinv(self, False)


@shape_rule("aten.linalg_matrix_rank.atol_rtol_tensor")
def matrix_rank(input: TensorMeta, atol: TensorMeta | None, rtol: TensorMeta | None) -> Shape:
    given = [tensor.shape for tensor in (atol, rtol) if tensor is not None]
    return broadcast_shapes(matrix(input)[0], *given)


@shape_rule("aten.linalg_matrix_rank.tol_tensor")
def matrix_rank_within(input: TensorMeta, tol: TensorMeta) -> Shape:
    return matrix_rank(input, tol, None)


@shape_rule("aten.linalg_matrix_rank.atol_rtol_float", "aten.linalg_matrix_rank")
def matrix_rank_float(self: TensorMeta) -> Shape:
    return matrix(self)[0]


MATRIX_NORMS = ("fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf"))


def check_decomposes(dtype: DType, what: str) -> None:
    """Raises `MetaError` for dtypes that LAPACK has no routines of."""
    check(
        dtype.category > Category.INT and dtype not in (dt.Half, dt.BFloat16),
        f"{dtype} matrices have no {what}",
    )


def check_matrix_norm(self: TensorMeta, ord: float | str) -> None:
    """Raises `MetaError` for an order that matrices have no norm of; three orders are of singular values."""
    check(ord in MATRIX_NORMS, f"matrices have no norm of order {ord}")
    if ord in ("nuc", 2, -2):
        check_decomposes(self.dtype, "singular values")


def normed(shape: Sequence[Dim], dims: Sequence[int], keepdim: bool) -> Shape:
    """A shape without these dimensions, or with size 1 in them."""
    return tuple(1 if d in dims else size for d, size in enumerate(shape) if keepdim or d not in dims)


@shape_rule("aten.linalg_matrix_norm", "aten.linalg_matrix_norm.str_ord")
def matrix_norm(self: TensorMeta, ord: float | str, dim: list[int], keepdim: bool) -> Shape:
    matrix(self)
    check_matrix_norm(self, ord)
    check(len(dim) == 2, f"a matrix has two dimensions, not {dim}")
    return normed(self.shape, wrap_dims(dim, self.ndim), keepdim)


@shape_rule("aten.linalg_norm", "aten.linalg_norm.ord_str")
def linalg_norm(self: TensorMeta, ord: float | str | None, dim: list[int] | None, keepdim: bool) -> Shape:
    dims = wrap_dims(dim, self.ndim)
    if ord is not None:
        check(len(dims) in (1, 2), f"norms of order {ord} are of 1 or 2 dimensions, not {len(dims)}")
        if len(dims) == 2:
            check_matrix_norm(self, ord)
        check(len(dims) == 2 or not isinstance(ord, str), f"vectors have no norm of order {ord}")
    return normed(self.shape, dims, keepdim)


@shape_rule("aten.nuclear_norm")
def nuclear_norm(self: TensorMeta, keepdim: bool) -> Shape:
    check(self.ndim == 2, f"expected one matrix, got shape {shape_text(self.shape)}")
    return nuclear_norm_dim(self, [0, 1], keepdim)


@shape_rule("aten.nuclear_norm.dim")
def nuclear_norm_dim(self: TensorMeta, dim: list[int], keepdim: bool) -> Shape:
    return matrix_norm(self, "nuc", dim, keepdim)


@shape_rule("aten.frobenius_norm.dim")
def frobenius_norm(self: TensorMeta, dim: list[int], keepdim: bool) -> Shape:
    check(len(dim) <= 2, f"a matrix has two dimensions, not {dim}")
    return normed(self.shape, wrap_dims(dim or None, self.ndim), keepdim)


@shape_rule("aten.linalg_cond.p_str")
def cond_str(self: TensorMeta, p: str) -> Shape:
    check(p in ("fro", "nuc"), f"matrices have no norm of order {p}")
    return square(self)[0]


@shape_rule("aten.linalg_cond")
def cond(self: TensorMeta, p: float | None) -> Shape:
    if p is not None and abs(p) != 2:
        check(p in MATRIX_NORMS, f"matrices have no norm of order {p}")
        square(self)
    return matrix(self)[0]


# --- products ------------------------------------------------------------------------------------------------


@shape_rule("aten.linalg_multi_dot")
def multi_dot(tensors: list[TensorMeta]) -> Shape:
    check(len(tensors) >= 2, "a product of at least two matrices")
    first, last = tensors[0], tensors[-1]
    check(all(t.ndim == 2 for t in tensors[1:-1]), "all but the first and last are matrices")
    check(first.ndim in (1, 2) and last.ndim in (1, 2), "the first and last are matrices or vectors")
    for a, b in pairwise(tensors):
        check(same_size(a.shape[-1], b.shape[0]), f"{shape_text(a.shape)} times {shape_text(b.shape)}")
    return (*first.shape[:-1], *last.shape[1:])


@shape_rule("aten.linalg_vecdot")
def vecdot(x: TensorMeta, y: TensorMeta, dim: int) -> Shape:
    shape = broadcast_shapes(x.shape, y.shape)
    dim = wrap_dim(dim, len(shape))
    return (*shape[:dim], *shape[dim + 1 :])


@shape_rule("aten.linalg_cross")
def cross(self: TensorMeta, other: TensorMeta, dim: int) -> Shape:
    check(self.ndim == other.ndim > 0, f"{self.ndim} and {other.ndim} dimensions")
    at = wrap_dim(dim, self.ndim)
    fits = same_size(self.shape[at], 3) and same_size(other.shape[at], 3)
    check(fits, f"dimension {dim} has to have size 3")
    return broadcast_shapes(self.shape, other.shape)


@shape_rule("aten.linalg_diagonal")
def diagonal(A: TensorMeta, offset: int, dim1: int, dim2: int) -> Shape:
    return diagonal_shape(A.shape, offset, dim1, dim2)


@shape_rule("aten.vander")
def vander_of_vector(x: TensorMeta, N: int | None) -> Shape:
    check(x.ndim == 1, f"x is of rank {x.ndim}, not a vector")
    check(N is None or N >= 0, f"{N} columns")
    return (x.shape[0], x.shape[0] if N is None else N)


@shape_rule("aten.linalg_vander")
def vander(x: TensorMeta, N: Dim | None) -> Shape:
    shape = x.shape or (1,)
    size = shape[-1] if N is None else N
    check(not (isinstance(size, int) and size < 2), f"N is {size}; it has to be greater than 1")
    return (*shape, size)


# --- distances -----------------------------------------------------------------------------------------------


@shape_rule("aten._cdist_forward", "aten.cdist")
def cdist(x1: TensorMeta, x2: TensorMeta, p: float, compute_mode: int | None) -> Shape:
    batch, rows, columns = matrix(x1)
    other, others, size = matrix(x2)
    check(same_size(columns, size), f"vectors of {columns} and of {size}")
    check(p >= 0, f"no norm of order {p}")
    check(compute_mode in (None, 0, 1, 2), f"compute_mode is {compute_mode}")
    return (*broadcast_shapes(batch, other), rows, others)


@shape_rule("aten._pdist_forward", "aten.pdist")
def pdist(self: TensorMeta, p: float) -> Shape:
    check(self.ndim == 2, f"expected one matrix, got shape {shape_text(self.shape)}")
    check(p >= 0, f"no norm of order {p}")
    return (self.shape[0] * (self.shape[0] - 1) // 2,)
