"""Gradients of linear algebra, by solving once more with the same matrices, and of distances.

The formulas are those of matrix differential calculus (Giles, "Collected matrix derivative results for forward and reverse
mode algorithmic differentiation", 2008; for complex numbers with adjoints in place of transposes).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Long
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.transforms.decompositions.backward import added_along, zeros
from xdsl_exir.transforms.decompositions.matmul import transpose
from xdsl_exir.transforms.decompositions.pointwise import is_complex, real_part
from xdsl_exir.transforms.decompositions.resampling import constant_sizes
from xdsl_exir.transforms.gradients import Gradient, Gradients, Several, conj, constant, gradient
from xdsl_exir.transforms.gradients.matmul import adjoint
from xdsl_exir.transforms.matching import static

constant("aten._linalg_check_errors", "aten.linalg_matrix_rank")

# --- what rules share ----------------------------------------------------------------------------------------


def product(aten: Namespace, *factors: SSAValue) -> SSAValue:
    """The product of matrices."""
    return reduce(aten.matmul, factors)


def minus(aten: Namespace, *factors: SSAValue) -> SSAValue:
    return aten.neg(product(aten, *factors))


def column(aten: Namespace, value: SSAValue) -> SSAValue:
    return aten.unsqueeze(value, -1)


def row(aten: Namespace, value: SSAValue) -> SSAValue:
    return aten.unsqueeze(value, -2)


def on_diagonal(aten: Namespace, values: SSAValue, like: SSAValue | None = None) -> SSAValue:
    """A diagonal matrix, of the dtype of another."""
    return aten.diag_embed(values if like is None else cast(aten, values, meta(like).dtype))


def triangle(aten: Namespace, value: SSAValue, upper: bool, unit: bool = False) -> SSAValue:
    """A triangle of a matrix, without its diagonal where that is known to be ones."""
    return aten.triu(value, 1 if unit else 0) if upper else aten.tril(value, -1 if unit else 0)


def with_half_diagonal(aten: Namespace, lower: SSAValue) -> SSAValue:
    """The lower triangle, of its diagonal half."""
    halves = aten.mul.Scalar(aten.diagonal(lower, 0, -2, -1), 0.5)
    return aten.add.Tensor(aten.tril(lower, -1), on_diagonal(aten, halves))


def hermitian_part(aten: Namespace, value: SSAValue) -> SSAValue:
    return aten.mul.Scalar(aten.add.Tensor(value, adjoint(aten, value)), 0.5)


def refuse(operator: str, reason: str) -> UnsupportedError:
    return UnsupportedError([Unsupported(operator, reason)])


def total(aten: Namespace, shares: Sequence[SSAValue | None]) -> SSAValue | None:
    there = [share for share in shares if share is not None]
    return reduce(aten.add.Tensor, there) if there else None


# --- solving -------------------------------------------------------------------------------------------------


@gradient("aten._linalg_solve_ex")
def solve(
    aten: Namespace, grad: Several, A: SSAValue, B: SSAValue, left: bool, results: Sequence[SSAValue]
) -> Gradients:
    if grad[0] is None:
        return None
    x = results[0]
    of_right = aten._linalg_solve_ex(adjoint(aten, A), grad[0], left=left)[0]
    if meta(B).ndim == 1 or (meta(B).ndim == meta(A).ndim - 1 and meta(B).shape == meta(A).shape[:-1]):
        return minus(aten, column(aten, of_right), row(aten, conj(aten, x))), of_right
    pair = (of_right, adjoint(aten, x)) if left else (adjoint(aten, x), of_right)
    return minus(aten, *pair), of_right


@gradient("aten.linalg_inv_ex")
def inv(aten: Namespace, grad: Several, results: Sequence[SSAValue]) -> Gradients:
    if grad[0] is None:
        return None
    inverse = adjoint(aten, results[0])
    return minus(aten, inverse, grad[0], inverse)


def of_triangle(
    aten: Namespace, matrix: SSAValue, right: SSAValue, upper: bool, left: bool, unit: bool
) -> SSAValue:
    return aten.linalg_solve_triangular(matrix, right, upper=upper, left=left, unitriangular=unit)


@gradient("aten.linalg_solve_triangular")
def solve_triangular(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    upper: bool,
    left: bool,
    unitriangular: bool,
    result: SSAValue,
) -> Gradients:
    of_right = of_triangle(aten, adjoint(aten, self), grad, not upper, left, unitriangular)
    pair = (of_right, adjoint(aten, result)) if left else (adjoint(aten, result), of_right)
    return triangle(aten, minus(aten, *pair), upper, unitriangular), of_right


@gradient("aten.triangular_solve")
def triangular_solve(
    aten: Namespace,
    grad: Several,
    A: SSAValue,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
    results: Sequence[SSAValue],
) -> Gradients:
    of_solution, of_copy = grad
    if of_solution is None:
        return None, of_copy
    x = results[0]
    of_right = aten.triangular_solve(of_solution, conj(aten, A), upper, not transpose, unitriangular)[0]
    if transpose:
        share = minus(aten, conj(aten, x), mt(aten, of_right))
    else:
        share = minus(aten, of_right, adjoint(aten, x))
    return of_right, total(aten, [triangle(aten, share, upper, unitriangular), of_copy])


def mt(aten: Namespace, value: SSAValue) -> SSAValue:
    return transpose(aten, value)


# --- Cholesky ------------------------------------------------------------------------------------------------


@gradient("aten.linalg_cholesky_ex")
def cholesky(aten: Namespace, grad: Several, upper: bool, results: Sequence[SSAValue]) -> Gradients:
    if grad[0] is None:
        return None
    factor, share = results[0], grad[0]
    if upper:
        factor, share = adjoint(aten, factor), adjoint(aten, share)
    inner = with_half_diagonal(aten, aten.tril(product(aten, adjoint(aten, factor), share)))
    inner = of_triangle(aten, adjoint(aten, factor), inner, True, True, False)
    return hermitian_part(aten, of_triangle(aten, factor, inner, False, False, False))


def of_factor(aten: Namespace, share: SSAValue, factor: SSAValue, upper: bool) -> SSAValue:
    """The gradient of a Cholesky factor, from that of the product."""
    return minus(aten, factor, share) if upper else minus(aten, share, factor)


@gradient("aten.cholesky_solve")
def cholesky_solve(
    aten: Namespace, grad: SSAValue, input2: SSAValue, upper: bool, result: SSAValue
) -> Gradients:
    of_right = aten.cholesky_solve(grad, input2, upper)
    share = product(aten, of_right, adjoint(aten, result))
    return of_right, of_factor(aten, aten.add.Tensor(share, adjoint(aten, share)), input2, upper)


@gradient("aten.cholesky_inverse")
def cholesky_inverse(
    aten: Namespace, grad: SSAValue, self: SSAValue, upper: bool, result: SSAValue
) -> Gradients:
    share = product(aten, result, aten.add.Tensor(grad, adjoint(aten, grad)), result)
    return of_factor(aten, share, self, upper)


# --- LU ------------------------------------------------------------------------------------------------------


def part(aten: Namespace, value: SSAValue | None, dim: int, start: Any, end: Any = None) -> SSAValue | None:
    return value and aten.slice.Tensor(value, dim, start, end)


def of_lu(
    aten: Namespace,
    permutation: SSAValue,
    lower: SSAValue,
    upper: SSAValue,
    of_lower: Gradient,
    of_upper: Gradient,
) -> SSAValue | None:
    """The gradient of `A = P L U`. What of a factor lies beyond the square one is solved for alone."""
    if of_lower is None and of_upper is None:
        return None
    rows, columns, size = (
        sizes(aten, lower)[-2],
        sizes(aten, upper)[-1],
        sizes(aten, upper)[-2],
    )
    assert isinstance(rows, int)
    assert isinstance(columns, int)
    assert isinstance(size, int)
    square_l, square_u = aten.slice.Tensor(lower, -2, 0, size), aten.slice.Tensor(upper, -1, 0, size)
    below: list[SSAValue | None] = []
    above: list[SSAValue | None] = []
    if of_lower is not None:
        below.append(product(aten, adjoint(aten, square_l), aten.slice.Tensor(of_lower, -2, 0, size)))
    if of_upper is not None:
        above.append(product(aten, aten.slice.Tensor(of_upper, -1, 0, size), adjoint(aten, square_u)))
    more_l = part(aten, of_lower, -2, size) if rows > size else None
    more_u = part(aten, of_upper, -1, size) if columns > size else None
    if more_l is not None:
        above.append(minus(aten, adjoint(aten, aten.slice.Tensor(lower, -2, size)), more_l))
    if more_u is not None:
        below.append(minus(aten, more_u, adjoint(aten, aten.slice.Tensor(upper, -1, size))))
    down, up = total(aten, below), total(aten, above)
    inner = total(aten, [down and aten.tril(down, -1), up and aten.triu(up)])
    assert inner is not None

    def left(value: SSAValue) -> SSAValue:
        return of_triangle(aten, adjoint(aten, square_l), value, True, True, True)

    def right(value: SSAValue) -> SSAValue:
        return of_triangle(aten, adjoint(aten, square_u), value, False, False, False)

    whole = right(left(inner))
    if rows > size:
        rest = zeros(aten, [*sizes(aten, lower)[:-2], rows - size, size], meta(whole).dtype)
        whole = aten.cat([whole, rest if more_l is None else right(more_l)], -2)
    if columns > size:
        rest = zeros(aten, [*sizes(aten, lower)[:-2], size, columns - size], meta(whole).dtype)
        whole = aten.cat([whole, rest if more_u is None else left(more_u)], -1)
    return product(aten, permutation, whole)


@gradient("aten.linalg_lu")
def lu(aten: Namespace, grad: Several, pivot: bool, results: Sequence[SSAValue]) -> Gradients:
    permutation, lower, upper = results
    if not pivot:
        permutation = aten.eye(sizes(aten, lower)[-2], dtype=meta(lower).dtype)
    return of_lu(aten, permutation, lower, upper, grad[1], grad[2])


def split(aten: Namespace, packed: SSAValue) -> tuple[SSAValue, SSAValue]:
    """What a packed factorization's two factors get."""
    rows, columns = sizes(aten, packed)[-2:]
    assert isinstance(rows, int)
    assert isinstance(columns, int)
    size = min(rows, columns)
    lower = aten.tril(aten.slice.Tensor(packed, -1, 0, size), -1)
    return lower, aten.triu(aten.slice.Tensor(packed, -2, 0, size))


@gradient("aten.linalg_lu_factor_ex")
def lu_factor(aten: Namespace, grad: Several, pivot: bool, results: Sequence[SSAValue]) -> Gradients:
    if grad[0] is None:
        return None
    permutation, lower, upper = aten.lu_unpack(results[0], results[1])
    return of_lu(aten, permutation, lower, upper, *split(aten, grad[0]))


@gradient("aten.lu_unpack")
def lu_unpack(aten: Namespace, grad: Several, LU_data: SSAValue) -> Gradients:
    _, of_lower, of_upper = grad
    whole = zeros(aten, sizes(aten, LU_data), meta(LU_data).dtype)
    shares: list[SSAValue | None] = []
    if of_lower is not None:
        size = sizes(aten, of_lower)[-1]
        shares.append(aten.slice_scatter(whole, aten.tril(of_lower, -1), -1, 0, size))
    if of_upper is not None:
        size = sizes(aten, of_upper)[-2]
        shares.append(aten.slice_scatter(whole, aten.triu(of_upper), -2, 0, size))
    return total(aten, shares)


@gradient("aten.linalg_lu_solve")
def lu_solve(
    aten: Namespace,
    grad: SSAValue,
    LU: SSAValue,
    pivots: SSAValue,
    left: bool,
    adjoint: bool,
    result: SSAValue,
) -> Gradients:
    """`L U` of `P L U X = B` gets `-(P^H g) X^H` as the matrix itself would, and its factors what a product's do."""
    of_right = aten.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)
    permutation, lower, upper = aten.lu_unpack(LU, pivots)
    # The matrix A or its adjoint stands left or right; what A gets is `of_matrix`.
    first, second = (of_right, _h(aten, result)) if left else (_h(aten, result), of_right)
    of_matrix = minus(aten, first, second)
    if adjoint:
        of_matrix = _h(aten, of_matrix)
    inner = product(aten, _h(aten, permutation), of_matrix)
    of_lower = aten.tril(product(aten, inner, _h(aten, upper)), -1)
    of_upper = aten.triu(product(aten, _h(aten, lower), inner))
    return aten.add.Tensor(of_lower, of_upper), None, of_right


def _h(aten: Namespace, value: SSAValue) -> SSAValue:
    return conj(aten, transpose(aten, value))


# --- determinants --------------------------------------------------------------------------------------------


def times_inverse(aten: Namespace, scale: SSAValue, A: SSAValue) -> SSAValue:
    """A number times the adjoint of a matrix's inverse; zeros on the diagonal of its factor count as very small.

    (The factorization that determinants give is that of the matrix or of its transpose, as it lies in memory.)
    """
    packed, pivots, _ = aten.linalg_lu_factor_ex(adjoint(aten, A))
    diagonal = aten.diagonal(packed, 0, -2, -1)
    tiny = aten.mul.Scalar(cast(aten, aten.eq.Scalar(diagonal, 0), meta(packed).dtype), 1e-30)
    packed = aten.add.Tensor(packed, on_diagonal(aten, tiny))
    unit = aten.eye(sizes(aten, A)[-1], dtype=meta(packed).dtype)
    return aten.linalg_lu_solve(packed, pivots, aten.mul.Tensor(unit, column(aten, column(aten, scale))))


@gradient("aten._linalg_det")
def det(aten: Namespace, grad: Several, A: SSAValue, results: Sequence[SSAValue]) -> Gradients:
    if grad[0] is None:
        return None
    return times_inverse(aten, aten.mul.Tensor(grad[0], conj(aten, results[0])), A)


@gradient("aten._linalg_slogdet")
def slogdet(aten: Namespace, grad: Several, A: SSAValue, results: Sequence[SSAValue]) -> Gradients:
    of_sign, of_logarithm = grad[:2]
    sign, logarithm = results[:2]
    nothing = zeros(aten, sizes(aten, logarithm), meta(logarithm).dtype)
    scale = nothing if of_logarithm is None else of_logarithm
    if is_complex(sign):
        turned = of_sign and real_part(aten, aten.mul.Tensor(of_sign, conj(aten, sign)), 1)
        scale = aten.complex(scale, turned or nothing)
    return times_inverse(aten, scale, A)


# --- eigenvalues and singular values -------------------------------------------------------------------------


def differences(aten: Namespace, values: SSAValue) -> SSAValue:
    """Those of all pairs, column less row; on the diagonal 1."""
    size = sizes(aten, values)[-1]
    one = aten.eye(size, dtype=meta(values).dtype)
    return aten.add.Tensor(aten.sub.Tensor(row(aten, values), column(aten, values)), one)


def off_diagonal(aten: Namespace, value: SSAValue) -> SSAValue:
    return aten.sub.Tensor(value, on_diagonal(aten, aten.diagonal(value, 0, -2, -1)))


@gradient("aten._linalg_eigh")
def eigh(
    aten: Namespace, grad: Several, A: SSAValue, UPLO: str, compute_v: bool, results: Sequence[SSAValue]
) -> Gradients:
    of_values, of_vectors = grad
    values, vectors = results if compute_v else aten._linalg_eigh(A, UPLO, True)
    back = adjoint(aten, vectors)
    inner: list[SSAValue | None] = [of_values and on_diagonal(aten, of_values, vectors)]
    if of_vectors is not None and compute_v:
        turned = aten.div.Tensor(product(aten, back, of_vectors), differences(aten, values))
        inner.append(off_diagonal(aten, turned))
    share = total(aten, inner)
    return share and product(aten, vectors, share, back)


@gradient("aten.linalg_eig")
def eig(aten: Namespace, grad: Several, results: Sequence[SSAValue]) -> Gradients:
    return of_eigenvalues(aten, grad[0], grad[1], results[0], results[1])


@gradient("aten._linalg_eigvals", "aten.linalg_eigvals")
def eigvals(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    values, vectors = aten.linalg_eig(self)
    return of_eigenvalues(aten, grad, None, values, vectors)


def of_eigenvalues(
    aten: Namespace, of_values: Gradient, of_vectors: Gradient, values: SSAValue, vectors: SSAValue
) -> SSAValue | None:
    """Vectors are of length one, so that what makes them longer does not count."""
    back = adjoint(aten, vectors)
    inner: list[SSAValue | None] = [of_values and on_diagonal(aten, of_values, vectors)]
    if of_vectors is not None:
        turned = product(aten, back, of_vectors)
        longer = real_part(aten, aten.diagonal(turned, 0, -2, -1))
        turned = aten.sub.Tensor(turned, aten.mul.Tensor(product(aten, back, vectors), row(aten, longer)))
        turned = aten.div.Tensor(turned, conj(aten, differences(aten, values)))
        inner.append(off_diagonal(aten, turned))
    share = total(aten, inner)
    return share and aten._linalg_solve_ex(back, product(aten, share, back))[0]


@gradient("aten._linalg_svd")
def svd(
    aten: Namespace,
    grad: Several,
    A: SSAValue,
    full_matrices: bool,
    compute_uv: bool,
    results: Sequence[SSAValue],
) -> Gradients:
    of_u, of_s, of_vh = grad
    u, s, vh = results if compute_uv else aten._linalg_svd(A, False, True)
    rows, columns = static(meta(A).shape[-2:]) or (0, 0)
    size = min(rows, columns)
    if full_matrices and rows != columns:
        if (of_u is not None and rows > size) or (of_vh is not None and columns > size):
            raise refuse("aten._linalg_svd", "singular vectors beyond the values have no gradient")
        u, vh = aten.slice.Tensor(u, -1, 0, size), aten.slice.Tensor(vh, -2, 0, size)
    back, v = adjoint(aten, u), adjoint(aten, vh)
    squares = differences(aten, aten.mul.Tensor(s, s))
    inner: list[SSAValue | None] = [of_s and on_diagonal(aten, of_s, u)]
    shares: list[SSAValue | None] = []
    if of_u is not None and compute_uv:
        turned = product(aten, back, of_u)
        skew = aten.div.Tensor(aten.sub.Tensor(turned, adjoint(aten, turned)), squares)
        inner.append(aten.mul.Tensor(off_diagonal(aten, skew), row(aten, s)))
        if is_complex(u):
            phase = aten.diagonal(aten.sub.Tensor(turned, adjoint(aten, turned)), 0, -2, -1)
            inner.append(on_diagonal(aten, aten.div.Tensor(phase, aten.mul.Scalar(s, 2))))
        if rows > size:
            beyond = aten.sub.Tensor(of_u, product(aten, u, turned))
            shares.append(product(aten, aten.div.Tensor(beyond, row(aten, s)), vh))
    if of_vh is not None and compute_uv:
        turned = product(aten, vh, adjoint(aten, of_vh))
        skew = aten.div.Tensor(aten.sub.Tensor(turned, adjoint(aten, turned)), squares)
        inner.append(aten.mul.Tensor(off_diagonal(aten, skew), column(aten, s)))
        if columns > size:
            beyond = aten.sub.Tensor(of_vh, product(aten, product(aten, of_vh, v), vh))
            shares.append(product(aten, u, aten.div.Tensor(beyond, column(aten, s))))
    middle = total(aten, inner)
    shares.append(middle and product(aten, u, middle, vh))
    return total(aten, shares)


# --- others --------------------------------------------------------------------------------------------------


@gradient("aten.linalg_qr")
def qr(aten: Namespace, grad: Several, A: SSAValue, mode: str, results: Sequence[SSAValue]) -> Gradients:
    of_q, of_r = grad
    rows, columns = static(meta(A).shape[-2:]) or (0, 0)
    if mode == "r" or (mode == "complete" and rows > columns):
        raise refuse(
            "aten.linalg_qr",
            f"mode '{mode}' has no gradient for matrices of {rows} rows and {columns} columns",
        )
    q, r = results
    size = min(rows, columns)
    r_square = aten.slice.Tensor(r, -1, 0, size)
    rest: SSAValue | None = None
    if columns > size and of_r is not None:
        more = aten.slice.Tensor(of_r, -1, size)
        rest = product(aten, q, more)
        of_q = total(aten, [of_q, product(aten, aten.slice.Tensor(A, -1, size), adjoint(aten, more))])
        of_r = aten.slice.Tensor(of_r, -1, 0, size)
    inner: list[SSAValue | None] = [
        of_r and product(aten, r_square, adjoint(aten, of_r)),
        of_q and minus(aten, adjoint(aten, of_q), q),
    ]
    middle = total(aten, inner)
    assert middle is not None
    lower = aten.tril(middle, -1)
    diagonal = aten.diagonal(middle, 0, -2, -1)
    if is_complex(middle):
        diagonal = cast(aten, real_part(aten, diagonal), meta(middle).dtype)
    symmetric = reduce(aten.add.Tensor, [lower, adjoint(aten, lower), on_diagonal(aten, diagonal)])
    share = total(aten, [of_q, product(aten, q, symmetric)])
    assert share is not None
    of_a = of_triangle(aten, adjoint(aten, r_square), share, False, False, False)
    if columns == size:
        return of_a
    nothing = zeros(aten, [*sizes(aten, A)[:-1], columns - size], meta(of_a).dtype)
    return aten.cat([of_a, nothing if rest is None else rest], -1)


@gradient("aten.linalg_matrix_exp")
def matrix_exp(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    """Of `[[A, g], [0, A]]`, with the adjoint of A, the exponential has what is looked for in its corner."""
    matrix, size = adjoint(aten, self), sizes(aten, self)[-1]
    nothing = zeros(aten, sizes(aten, self), meta(self).dtype)
    above, below = aten.cat([matrix, grad], -1), aten.cat([nothing, matrix], -1)
    whole = aten.linalg_matrix_exp(aten.cat([above, below], -2))
    return aten.slice.Tensor(aten.slice.Tensor(whole, -2, 0, size), -1, size)


@gradient("aten.linalg_pinv.atol_rtol_tensor")
def pinv(aten: Namespace, grad: SSAValue, self: SSAValue, result: SSAValue) -> Gradients:
    """The differential of Golub and Pereyra (1973): the inverse's own, and those of both projections."""
    inverse, back, g = result, adjoint(aten, result), adjoint(aten, grad)
    share = minus(aten, back, grad, back)
    left = aten.sub.Tensor(g, product(aten, self, inverse, g))
    right = aten.sub.Tensor(g, product(aten, g, inverse, self))
    further = [product(aten, left, inverse, back), product(aten, back, inverse, right)]
    return reduce(aten.add.Tensor, [share, *further])


@gradient("aten.linalg_householder_product")
def householder_product(
    aten: Namespace, grad: SSAValue, input: SSAValue, tau: SSAValue, result: SSAValue
) -> Gradients:
    """Of `Q = H[0] H[1] ... I`, reflection by reflection: before each one stands what those before it make."""
    return reflections(aten, grad, input, tau, result, False)[:2]


@gradient("aten.ormqr")
def ormqr(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    input2: SSAValue,
    left: bool,
    transpose: bool,
    result: SSAValue,
) -> Gradients:
    """From the right reflections are applied as their adjoints are from the left."""
    if left:
        return reflections(aten, grad, self, input2, result, transpose)
    turned = adjoint(aten, grad), self, input2, adjoint(aten, result), not transpose
    of_input, of_tau, of_rest = reflections(aten, *turned)
    return of_input, of_tau, adjoint(aten, of_rest)


def reflections(
    aten: Namespace, grad: SSAValue, input: SSAValue, tau: SSAValue, result: SSAValue, adjoints: bool
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """`H = 1 - t v v^H`: taking one away from the left of the result leaves what it was applied to. Of their adjoints, in
    the other order, t is conjugated."""
    [columns], [count] = (
        constant_sizes(meta(input).shape[-1:], "reflections"),
        constant_sizes(meta(tau).shape[-1:], "reflections"),
    )
    factors = conj(aten, tau) if adjoints else tau
    of_input: dict[int, SSAValue] = {}
    of_tau: dict[int, SSAValue] = {}
    for place in reversed(range(count)) if adjoints else range(count):
        ones = aten.full_like(aten.slice.Tensor(aten.select.int(input, -1, place), -1, 0, 1), 1)
        nothing = zeros(aten, [*sizes(aten, input)[:-2], place], meta(input).dtype)
        below = aten.slice.Tensor(aten.select.int(input, -1, place), -1, place + 1)
        v = column(aten, aten.cat([nothing, ones, below], -1))
        t = column(aten, column(aten, aten.select.int(factors, -1, place)))
        back = adjoint(aten, v)
        # H is not unitary for every t; its inverse is 1 - s v v^H with s = t / (t |v|^2 - 1).
        length = product(aten, back, v)
        inverse = aten.div.Tensor(t, aten.sub.Scalar(aten.mul.Tensor(t, length), 1))
        before = aten.sub.Tensor(result, aten.mul.Tensor(inverse, product(aten, v, back, result)))
        along, given = product(aten, back, before), product(aten, back, grad)
        # result = before - t v (v^H before)
        of_tau[place] = aten.neg(aten.sum.dim_IntList(aten.mul.Tensor(given, conj(aten, along)), [-1]))
        first = aten.mul.Tensor(conj(aten, t), product(aten, grad, adjoint(aten, along)))
        second = aten.mul.Tensor(t, product(aten, before, adjoint(aten, given)))
        share = aten.neg(aten.add.Tensor(first, second))
        of_input[place] = aten.tril(share, -1 - place)
        grad = aten.sub.Tensor(grad, aten.mul.Tensor(conj(aten, t), product(aten, v, given)))
        result = before
    rest = zeros(aten, [*sizes(aten, input)[:-1], columns - count], meta(input).dtype)
    of_columns = aten.cat([*(of_input[place] for place in range(count)), rest], -1)
    of_factors = aten.cat([of_tau[place] for place in range(count)], -1) if count else aten.zeros_like(tau)
    return of_columns, conj(aten, of_factors) if adjoints else of_factors, grad


# --- distances -----------------------------------------------------------------------------------------------


@gradient("aten._cdist_forward")
def cdist(
    aten: Namespace, grad: SSAValue, x1: SSAValue, x2: SSAValue, p: float, result: SSAValue
) -> Gradients:
    swapped = (mt(aten, grad), x2, x1, p, mt(aten, result))
    return aten._cdist_backward(grad, x1, x2, p, result), aten._cdist_backward(*swapped)


@gradient("aten._pdist_forward")
def pdist(aten: Namespace, grad: SSAValue, self: SSAValue, p: float, result: SSAValue) -> Gradients:
    """Each distance is one of a point to one other: both get it, the other way round."""
    count = sizes(aten, self)[0]
    assert isinstance(count, int)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    if not pairs:
        return None
    first, second = (
        aten.builder.constant([pair[side] for pair in pairs], Long, (len(pairs),)) for side in (0, 1)
    )
    points = [aten.unsqueeze(aten.index_select(self, 0, index), 1) for index in (first, second)]
    by_pair = (aten.view(each, [-1, 1, 1]) for each in (grad, result))
    given, distance = by_pair
    share = aten.squeeze.dims(aten._cdist_backward(given, *points, p, distance), [1])
    forth = added_along(aten, sizes(aten, self), 0, first, share)
    return aten.sub.Tensor(forth, added_along(aten, sizes(aten, self), 0, second, share))
