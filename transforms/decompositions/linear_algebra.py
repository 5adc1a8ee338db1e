"""Decompositions of linear algebra, into the factorizations that PyTorch's own decompositions end in.

Those that PyTorch checks for success end in a check of the factorization's status.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf, prod

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import apply, max_
from xdsl_exir.dialects.meta import wrap_dim, wrap_dims
from xdsl_exir.interpreter.operators.linear_algebra import failure_text
from xdsl_exir.transforms.decompositions import decomposition, other_names
from xdsl_exir.transforms.decompositions.view import Sizes

other_names(
    {
        "_lu_with_info": "linalg_lu_factor_ex",
        "orgqr": "linalg_householder_product",
        "linalg_det": ("_linalg_det", 0),
        "det": ("_linalg_det", 0),
        "matrix_exp": "linalg_matrix_exp",
        "linalg_diagonal": "diagonal",
        "pdist": "_pdist_forward",
    }
)


Pair = tuple[SSAValue, SSAValue]
Triple = tuple[SSAValue, SSAValue, SSAValue]

# --- what rules share ----------------------------------------------------------------------------------------


def checked(aten: Namespace, info: SSAValue, name: str) -> None:
    """A check that a factorization succeeded."""
    aten._linalg_check_errors(info, name, is_matrix=meta(info).ndim == 0)


@decomposition("aten._linalg_check_errors")
def check_errors(aten: Namespace, info: SSAValue, api_name: str) -> None:
    """What has to hold of data is one operator's matter."""
    succeeded = aten.eq.Scalar(info, 0)
    aten._assert_async.msg(aten.all(succeeded) if meta(info).ndim else succeeded, failure_text(api_name))


@decomposition("aten.cdist")
def cdist(aten: Namespace, x1: SSAValue, x2: SSAValue, p: float, compute_mode: int | None) -> SSAValue:
    """Of half precision, which the kernel does not take, PyTorch gets here from many points only: they are products there."""
    if p != 2 or meta(x1).dtype in (dt.Float, dt.Double):
        return aten._cdist_forward(x1, x2, p, compute_mode)
    square, other = (aten.sum.dim_IntList(aten.pow.Tensor_Scalar(x, 2), [-1], True) for x in (x1, x2))
    left = aten.cat([aten.mul.Scalar(x1, -2), square, aten.ones_like(square)], -1)
    right = aten.cat([x2, aten.ones_like(other), other], -1)
    return aten.sqrt(aten.clamp_min(aten.matmul(left, aten.mT(right)), 0))


def is_complex(value: SSAValue) -> bool:
    return meta(value).dtype.category is Category.COMPLEX


EPSILON = {dt.Float: 2.0**-23, dt.Double: 2.0**-52, dt.ComplexFloat: 2.0**-23, dt.ComplexDouble: 2.0**-52}


def tolerance(aten: Namespace, self: SSAValue) -> float | SSAValue:
    """The relative tolerance for singular values: epsilon times the larger side."""
    epsilon, side = EPSILON[meta(self).dtype], max_(*meta(self).shape[-2:])
    return epsilon * side if isinstance(side, int) else Sizes(aten, self).number(apply("mul", side, epsilon))


# --- factorizations ------------------------------------------------------------------------------------------


@decomposition("aten.linalg_cholesky")
def linalg_cholesky(aten: Namespace, self: SSAValue, upper: bool) -> SSAValue:
    factor, info = aten.linalg_cholesky_ex(self, upper=upper)
    checked(aten, info, "linalg.cholesky")
    return factor


@decomposition("aten.cholesky")
def cholesky(aten: Namespace, self: SSAValue, upper: bool) -> SSAValue:
    return linalg_cholesky(aten, self, upper)


@decomposition("aten.linalg_inv")
def linalg_inv(aten: Namespace, A: SSAValue) -> SSAValue:
    inverse, info = aten.linalg_inv_ex(A)
    checked(aten, info, "linalg.inv")
    return inverse


@decomposition("aten.inverse")
def inverse(aten: Namespace, self: SSAValue) -> SSAValue:
    return linalg_inv(aten, self)


@decomposition("aten.linalg_lu_factor")
def linalg_lu_factor(aten: Namespace, A: SSAValue, pivot: bool) -> Pair:
    lu, pivots, info = aten.linalg_lu_factor_ex(A, pivot=pivot)
    checked(aten, info, "torch.linalg.lu_factor")
    return lu, pivots


@decomposition("aten.linalg_ldl_factor")
def linalg_ldl_factor(aten: Namespace, self: SSAValue, hermitian: bool) -> Pair:
    ld, pivots, info = aten.linalg_ldl_factor_ex(self, hermitian=hermitian)
    checked(aten, info, "torch.linalg.ldl_factor")
    return ld, pivots


@decomposition("aten.qr")
def qr(aten: Namespace, self: SSAValue, some: bool) -> Pair:
    return aten.linalg_qr(self, "reduced" if some else "complete")


@decomposition("aten.linalg_svd")
def linalg_svd(aten: Namespace, A: SSAValue, full_matrices: bool) -> Triple:
    return aten._linalg_svd(A, full_matrices, True)


@decomposition("aten.svd")
def svd(aten: Namespace, self: SSAValue, some: bool) -> Triple:
    u, s, vh = aten._linalg_svd(self, not some, True)
    v = aten.transpose.int(vh, -2, -1)
    return u, s, aten._conj(v) if is_complex(v) else v


@decomposition("aten.linalg_svdvals")
def linalg_svdvals(aten: Namespace, A: SSAValue) -> SSAValue:
    return aten._linalg_svd(A, False, False)[1]


@decomposition("aten.linalg_eigh")
def linalg_eigh(aten: Namespace, self: SSAValue, UPLO: str) -> Pair:
    return aten._linalg_eigh(self, UPLO, True)


@decomposition("aten.linalg_eigvalsh")
def linalg_eigvalsh(aten: Namespace, self: SSAValue, UPLO: str) -> SSAValue:
    return aten._linalg_eigh(self, UPLO, False)[0]


# --- determinants --------------------------------------------------------------------------------------------


@decomposition("aten.linalg_slogdet")
def linalg_slogdet(aten: Namespace, A: SSAValue) -> Pair:
    sign, logabsdet, _, _ = aten._linalg_slogdet(A)
    return sign, logabsdet


@decomposition("aten.slogdet")
def slogdet(aten: Namespace, self: SSAValue) -> Pair:
    return linalg_slogdet(aten, self)


@decomposition("aten.logdet")
def logdet(aten: Namespace, self: SSAValue) -> SSAValue:
    """NaN where the determinant is negative."""
    sign, logabsdet = linalg_slogdet(aten, self)
    if is_complex(sign):
        return aten.add.Tensor(aten.log(sign), logabsdet)
    negative = aten.eq.Scalar(sign, -1.0)
    return aten.where.self(negative, aten.scalar_tensor(float("nan"), dtype=meta(sign).dtype), logabsdet)


# --- systems of equations ------------------------------------------------------------------------------------


@decomposition("aten.linalg_solve_ex")
def linalg_solve_ex(aten: Namespace, A: SSAValue, B: SSAValue, left: bool) -> Pair:
    result, _, _, info = aten._linalg_solve_ex(A, B, left=left)
    return result, info


@decomposition("aten.linalg_solve")
def linalg_solve(aten: Namespace, A: SSAValue, B: SSAValue, left: bool) -> SSAValue:
    result, info = linalg_solve_ex(aten, A, B, left)
    checked(aten, info, "torch.linalg.solve")
    return result


@decomposition("aten.lu_solve")
def lu_solve(aten: Namespace, self: SSAValue, LU_data: SSAValue, LU_pivots: SSAValue) -> SSAValue:
    return aten.linalg_lu_solve(LU_data, LU_pivots, self)


@decomposition("aten.linalg_tensorinv")
def linalg_tensorinv(aten: Namespace, self: SSAValue, ind: int) -> SSAValue:
    shape, size_of = meta(self).shape, Sizes(aten, self)
    first, last = shape[:ind], shape[ind:]
    result = linalg_inv(aten, aten.view(self, [size_of(prod(first)), size_of(prod(last))]))
    return aten.view(result, size_of.all([*last, *first]))


@decomposition("aten.linalg_tensorsolve")
def linalg_tensorsolve(
    aten: Namespace, self: SSAValue, other: SSAValue, dims: Sequence[int] | None
) -> SSAValue:
    rank = meta(self).ndim
    moved = wrap_dims(dims or [], rank)
    order = [d for d in range(rank) if d not in moved] + moved
    if moved:
        self = aten.permute(self, order)
    shape, size_of = meta(self).shape[meta(other).ndim :], Sizes(aten, self, other)
    count, rows = size_of(prod(shape)), size_of(prod(meta(other).shape))
    solution = linalg_solve(aten, aten.reshape(self, [rows, count]), aten.reshape(other, [rows]), True)
    return aten.view(solution, size_of.all(shape))


# --- pseudo-inverse, rank, norms -----------------------------------------------------------------------------


@decomposition("aten.linalg_pinv.atol_rtol_float")
def linalg_pinv_float(
    aten: Namespace, self: SSAValue, atol: float | None, rtol: float | None, hermitian: bool
) -> SSAValue:
    absolute, relative = limits(aten, self, atol, rtol)
    return aten.linalg_pinv.atol_rtol_tensor(self, atol=absolute, rtol=relative, hermitian=hermitian)


def limits(aten: Namespace, self: SSAValue, atol: float | None, rtol: float | None) -> Pair:
    """Tolerances as tensors; beside a given absolute one there is no relative one."""
    absolute = 0.0 if atol is None else atol
    relative = rtol if rtol is not None else 0.0 if absolute > 0 else tolerance(aten, self)
    return aten.full([], absolute, dtype=dt.Double), aten.full([], relative, dtype=dt.Double)


@decomposition("aten.linalg_pinv")
def linalg_pinv(aten: Namespace, self: SSAValue, rcond: float, hermitian: bool) -> SSAValue:
    return linalg_pinv_float(aten, self, 0.0, rcond, hermitian)


@decomposition("aten.linalg_pinv.rcond_tensor")
def linalg_pinv_above(aten: Namespace, self: SSAValue, rcond: SSAValue, hermitian: bool) -> SSAValue:
    absolute = aten.full([], 0.0, dtype=dt.Double)
    return aten.linalg_pinv.atol_rtol_tensor(self, atol=absolute, rtol=rcond, hermitian=hermitian)


@decomposition("aten.pinverse")
def pinverse(aten: Namespace, self: SSAValue, rcond: float) -> SSAValue:
    return linalg_pinv_float(aten, self, 0.0, rcond, False)


@decomposition("aten.linalg_matrix_rank.atol_rtol_tensor")
def linalg_matrix_rank(
    aten: Namespace, input: SSAValue, atol: SSAValue | None, rtol: SSAValue | None, hermitian: bool
) -> SSAValue:
    """The number of singular values above max(atol, rtol times the largest)."""
    values = aten.abs(linalg_eigvalsh(aten, input, "L")) if hermitian else linalg_svdvals(aten, input)
    if rtol is None:
        rtol = aten.full([], tolerance(aten, input), dtype=dt.Double)
        if atol is not None:
            given = aten.gt.Scalar(atol, 0)
            rtol = aten.where.self(given, aten.full([], 0.0, dtype=dt.Double), rtol)
    if atol is None:
        atol = aten.full([], 0.0, dtype=dt.Double)
    relative = aten.mul.Tensor(aten.unsqueeze(rtol, -1), largest(aten, values, -1, True))
    limit = aten.maximum(aten.unsqueeze(atol, -1), relative)
    return aten.sum.dim_IntList(aten.gt.Tensor(values, limit), [-1])


@decomposition("aten.linalg_matrix_rank.tol_tensor")
def linalg_matrix_rank_above(aten: Namespace, input: SSAValue, tol: SSAValue, hermitian: bool) -> SSAValue:
    return linalg_matrix_rank(aten, input, tol, aten.full([], 0.0, dtype=dt.Double), hermitian)


@decomposition("aten.linalg_matrix_rank.atol_rtol_float")
def linalg_matrix_rank_float(
    aten: Namespace, self: SSAValue, atol: float | None, rtol: float | None, hermitian: bool
) -> SSAValue:
    return linalg_matrix_rank(aten, self, *limits(aten, self, atol, rtol), hermitian)


@decomposition("aten.linalg_matrix_rank")
def linalg_matrix_rank_tol(aten: Namespace, self: SSAValue, tol: float, hermitian: bool) -> SSAValue:
    return linalg_matrix_rank_float(aten, self, tol, 0.0, hermitian)


def largest(aten: Namespace, values: SSAValue, dim: int, keepdim: bool, least: bool = False) -> SSAValue:
    """The largest norm, 0 of none; or the least."""
    if least:
        return aten.amin(values, [dim], keepdim)
    if meta(values).shape[dim] == 0:
        return aten.sum.dim_IntList(values, [dim], keepdim)
    return aten.amax(values, [dim], keepdim)


@decomposition("aten.linalg_matrix_norm", "aten.linalg_matrix_norm.str_ord")
def linalg_matrix_norm(
    aten: Namespace,
    self: SSAValue,
    ord: float | str,
    dim: Sequence[int],
    keepdim: bool,
    dtype: DType | None,
) -> SSAValue:
    rank = meta(self).ndim
    dims = wrap_dims(dim, rank)
    if ord == "fro":
        return aten.linalg_vector_norm(self, 2, dims, keepdim, dtype=dtype)
    if dtype is not None:
        self = cast(aten, self, dtype)
    if isinstance(ord, str) or abs(ord) == 2:
        order = [d for d in range(rank) if d not in dims] + dims
        values = linalg_svdvals(aten, aten.permute(self, order))
        if isinstance(ord, str):
            result = aten.sum.dim_IntList(values, [-1])
        else:
            result = largest(aten, values, -1, False, ord < 0)
        for d in sorted(dims) if keepdim else ():
            result = aten.unsqueeze(result, d)
        return result
    # Of sums along columns for order 1, along rows for infinity.
    summed, compared = dims if abs(ord) == 1 else reversed(dims)
    sums = aten.linalg_vector_norm(self, 1.0, [summed], True)
    result = largest(aten, sums, compared, True, ord < 0)
    return result if keepdim else aten.squeeze.dims(result, dims)


@decomposition("aten.nuclear_norm")
def nuclear_norm(aten: Namespace, self: SSAValue, keepdim: bool) -> SSAValue:
    return nuclear_norm_dim(aten, self, [0, 1], keepdim)


@decomposition("aten.nuclear_norm.dim")
def nuclear_norm_dim(aten: Namespace, self: SSAValue, dim: Sequence[int], keepdim: bool) -> SSAValue:
    return linalg_matrix_norm(aten, self, "nuc", dim, keepdim, None)


@decomposition("aten.frobenius_norm.dim")
def frobenius_norm(aten: Namespace, self: SSAValue, dim: Sequence[int], keepdim: bool) -> SSAValue:
    return aten.linalg_vector_norm(self, 2, dim or None, keepdim)


@decomposition("aten.linalg_norm", "aten.linalg_norm.ord_str")
def linalg_norm(
    aten: Namespace,
    self: SSAValue,
    ord: float | str | None,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: DType | None,
) -> SSAValue:
    dims = wrap_dims(dim, meta(self).ndim)
    if ord is not None and len(dims) == 2:
        return linalg_matrix_norm(aten, self, ord, dims, keepdim, dtype)
    return aten.linalg_vector_norm(self, 2 if ord is None else ord, dims, keepdim, dtype=dtype)


@decomposition("aten.linalg_cond", "aten.linalg_cond.p_str")
def linalg_cond(aten: Namespace, self: SSAValue, p: float | str | None) -> SSAValue:
    """The product of the norms of a matrix and its inverse; of order 2 a quotient of singular values."""
    if 0 in meta(self).shape[-2:]:
        norm = aten.linalg_vector_norm(self, 2, [-2, -1])
        return aten.full_like(norm, 0)
    if p is None or p in (2, -2):
        values = linalg_svdvals(aten, self)
        first, last = (aten.select.int(values, -1, place) for place in (0, -1))
        return aten.div.Tensor(last, first) if p == -2 else aten.div.Tensor(first, last)
    inverse, info = aten.linalg_inv_ex(self)
    singular = aten.ne.Scalar(info, 0)
    norms = [linalg_matrix_norm(aten, matrix, p, [-2, -1], False, None) for matrix in (self, inverse)]
    product = aten.mul.Tensor(*norms)
    return aten.where.self(singular, aten.scalar_tensor(inf, dtype=meta(product).dtype), product)


# --- products ------------------------------------------------------------------------------------------------


@decomposition("aten.linalg_matrix_power", "aten.matrix_power")
def linalg_matrix_power(aten: Namespace, self: SSAValue, n: int) -> SSAValue:
    """By squaring."""
    if n == 0:
        shape = sizes(aten, self)
        return aten.expand(aten.eye(shape[-1], dtype=meta(self).dtype), shape)
    if n < 0:
        return linalg_matrix_power(aten, linalg_inv(aten, self), -n)
    if n == 1:
        return aten.clone(self)
    if n == 3:
        return aten.matmul(aten.matmul(self, self), self)
    result, power = None, self
    while n:
        if n % 2:
            result = power if result is None else aten.matmul(result, power)
        n //= 2
        power = aten.matmul(power, power) if n else power
    assert result is not None
    return result


@decomposition("aten.linalg_multi_dot")
def linalg_multi_dot(aten: Namespace, tensors: list[SSAValue]) -> SSAValue:
    """In the order that takes the fewest multiplications (Cormen et al., Introduction to Algorithms, 15.2)."""
    first, last = meta(tensors[0]).ndim == 1, meta(tensors[-1]).ndim == 1
    if len(tensors) == 2 or any(not isinstance(size, int) for t in tensors for size in meta(t).shape):
        return reduce(aten.matmul, tensors)
    matrices = list(tensors)
    if first:
        matrices[0] = aten.unsqueeze(matrices[0], 0)
    if last:
        matrices[-1] = aten.unsqueeze(matrices[-1], -1)
    result = aten.chain_matmul(matrices)
    if last:
        result = aten.squeeze.dim(result, 1)
    return aten.squeeze.dim(result, 0) if first else result


@decomposition("aten.linalg_vecdot")
def linalg_vecdot(aten: Namespace, x: SSAValue, y: SSAValue, dim: int) -> SSAValue:
    product = aten.mul.Tensor(aten._conj(x) if is_complex(x) else x, y)
    return aten.sum.dim_IntList(product, [wrap_dim(dim, meta(product).ndim)])


@decomposition("aten.linalg_cross")
def linalg_cross(aten: Namespace, self: SSAValue, other: SSAValue, dim: int) -> SSAValue:
    """Element i is a[i + 1] b[i + 2] - a[i + 2] b[i + 1], counted modulo 3."""
    dim = wrap_dim(dim, meta(self).ndim)
    places = aten.arange.start_step(0, 3)

    def shifted(vector: SSAValue, step: int) -> SSAValue:
        index = aten.remainder.Scalar(aten.add.Tensor(places, step), 3)
        return aten.index_select(vector, dim, index)

    forwards = aten.mul.Tensor(shifted(self, 1), shifted(other, 2))
    return aten.sub.Tensor(forwards, aten.mul.Tensor(shifted(self, 2), shifted(other, 1)))


@decomposition("aten.vander")
def vander(aten: Namespace, x: SSAValue, N: int | None, increasing: bool) -> SSAValue:
    dtype = meta(x).dtype
    x = cast(aten, x, dt.Long) if dtype.category <= Category.INT else x
    rows = sizes(aten, x)[0]
    count = rows if N is None else N
    ones = aten.ones([rows, 1], dtype=meta(x).dtype)
    # One column more than there are, of which the last is cut off.
    factors = aten.cat([ones, aten.expand(aten.unsqueeze(x, 1), [rows, count])], 1)
    powers = aten.slice.Tensor(aten.cumprod(factors, 1), 1, 0, count)
    return powers if increasing else aten.flip(powers, [1])


@decomposition("aten.linalg_vander")
def linalg_vander(aten: Namespace, x: SSAValue, N: int | None) -> SSAValue:
    """Powers 0 to N - 1 along a new last dimension."""
    x = x if meta(x).ndim else aten.unsqueeze(x, -1)
    shape, size_of = meta(x).shape, Sizes(aten, x)
    count = shape[-1] if N is None else N
    repeated = aten.expand(aten.unsqueeze(x, -1), size_of.all([*shape, count - 1]))
    powers = aten.cumprod(repeated, -1)
    ones = aten.full(size_of.all([*shape, 1]), 1, dtype=meta(powers).dtype)
    return aten.cat([ones, powers], -1)


# --- distances -----------------------------------------------------------------------------------------------
