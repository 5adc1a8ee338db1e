"""Lowerings of linear algebra that textbooks have as loops over a matrix: LU, Cholesky and QR, triangular systems, singular
values by Jacobi's method.

A step of an algorithm is a map over the matrices before it; the steps are one loop, over a group of matrices side by side
(`side_by_side`). Of operands, matrices are the last two dimensions. What native code cannot do is raise: calls that ask an
operator to check are refused (the operators that only check are the caller's). `lowering.linalg` is MLIR's linalg.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Ranges, apply, max_, min_, provably
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import complex_numbers as numbers
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import PARTS, sum_dtype
from xdsl_exir.lowering.elimination import cholesky_of, lu_of, solved, substituted, with_rows_exchanged
from xdsl_exir.lowering.factorizations import orthogonalized, reflect, triangularized
from xdsl_exir.lowering.linalg import LinalgBuilder, dims
from xdsl_exir.lowering.matrices import (
    adjoint,
    broadcast_batches,
    complex_form,
    conjugated,
    given_to_lapack,
    identity,
    is_exchanged,
    is_wide,
    lengths,
    once_each,
    over,
    place,
    real_form,
    symmetrized,
    transposed,
)
from xdsl_exir.lowering.matrix_functions import exponential
from xdsl_exir.lowering.operators.creation import triangle
from xdsl_exir.lowering.operators.indexing import sort
from xdsl_exir.lowering.operators.view import part
from xdsl_exir.lowering.reductions import Combine, norm
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.side_by_side import grouped
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read

Out = list[TensorMeta]


def raises(arguments: Mapping[str, Any]) -> str | None:
    """Native code cannot raise."""
    return "a check that raises" if arguments["check_errors"] else None


# --- LU ------------------------------------------------------------------------------------------------------


def refuse_lu(arguments: Mapping[str, Any]) -> str | None:
    """PyTorch itself has LU without pivoting on other devices only."""
    return raises(arguments) if arguments["pivot"] else "LU without pivoting"


def factored(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Factors, pivots and statuses."""
    count, matrices = min_(*A.shape[-2:]), [(A.shape[-2:], A.dtype)]
    results = [*matrices, ((count,), dt.Int), ((), dt.Int)]
    factors, pivots, info = grouped(b, lambda b, given: lu_of(b, *given), [(A, 2)], results)
    return factors, pivots, info


@lowering("aten.linalg_lu_factor_ex", refuses=refuse_lu, takes_complex=True)
def lu_factor_ex(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return factored(b, A)


@lowering("aten.lu_unpack", takes_complex=True)
def lu_unpack(
    b: LinalgBuilder, LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool, out: Out
) -> list[Tensor]:
    """The permutation and both factors; nothing of what is not asked for."""
    results = [b.fill(0, meta.shape, meta.dtype) for meta in out]
    if unpack_pivots:
        rows = identity(b, results[0].shape, LU_data.dtype)
        [moved] = grouped(
            b,
            lambda b, given: [with_rows_exchanged(b, given[0], given[1])],
            [(rows, 2), (LU_pivots, 1)],
            [(rows.shape[-2:], rows.dtype)],
        )
        results[0] = transposed(b, moved)
    if unpack_data:

        def low(*at: SSAValue) -> Scalar:
            _, i, j = place(at)
            value = read(LU_data, at)
            return s.select(i > j, value, s.cast(i.equals(j), value.dtype))

        def up(*at: SSAValue) -> Scalar:
            _, i, j = place(at)
            return s.select(i > j, 0, read(LU_data, at))

        results[1:] = [
            b.indexed(part, result.shape, result.dtype)
            for part, result in zip((low, up), results[1:], strict=True)
        ]
    return results


@lowering(
    "aten.linalg_lu",
    refuses=lambda arguments: None if arguments["pivot"] else "LU without pivoting",
    takes_complex=True,
)
def linalg_lu(b: LinalgBuilder, A: Tensor, out: Out) -> list[Tensor]:
    factors, pivots, _ = factored(b, A)
    return lu_unpack(b, factors, pivots, True, True, out)


@lowering("aten.linalg_lu_solve", takes_complex=True)
def linalg_lu_solve(
    b: LinalgBuilder, LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool
) -> Tensor:
    # The adjoint A is the transposed one for conjugates of what is on both sides.
    right = conjugated(b, B) if adjoint else B
    if left:
        result = with_factors(b, LU, pivots, right, adjoint)
    else:  # X A = B is the transposed A times the transposed X
        result = transposed(b, with_factors(b, LU, pivots, transposed(b, right), not adjoint))
    return conjugated(b, result) if adjoint else result


def with_factors(
    b: LinalgBuilder, factors: Tensor, pivots: Tensor, right: Tensor, transpose: bool = False
) -> Tensor:
    """X of A X = B, or of the transposed A, from the factors of A; batches broadcast."""
    factors, right = broadcast_batches(b, factors, right)
    pivots = b.broadcast(pivots, factors.shape[:-1])

    def algorithm(b: LinalgBuilder, given: list[Tensor]) -> list[Tensor]:
        return [solved(b, *given, transpose=transpose)]

    inputs = [(factors, 2), (pivots, 1), (right, 2)]
    return grouped(b, algorithm, inputs, [(right.shape[-2:], right.dtype)])[0]


@lowering("aten.linalg_inv_ex", refuses=raises, takes_complex=True)
def inv_ex(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor]:
    factors, pivots, info = factored(b, A)
    return with_factors(b, factors, pivots, identity(b, A.shape, A.dtype)), info


@lowering("aten._linalg_solve_ex", refuses=raises, takes_complex=True)
def solve_ex(b: LinalgBuilder, A: Tensor, B: Tensor, left: bool, out: Out) -> tuple[Tensor, ...]:
    factors, pivots, info = factored(b, A)
    vectors = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    right = b.reshape(B, (*B.shape, 1)) if vectors else B
    result = linalg_lu_solve(b, factors, pivots, right, left, False)
    return b.reshape(result, out[0].shape), factors, pivots, info


# --- determinants --------------------------------------------------------------------------------------------


@lowering("aten._linalg_det", takes_complex=True)
def det(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    factors, pivots, _ = factored(b, given_to_lapack(b, A))

    def element(*at: SSAValue) -> Scalar:
        def multiplied(k: Scalar, total: Scalar) -> Scalar:
            total = total * read(factors, [*at, k, k])
            return s.select(is_exchanged(pivots, at, k), -total, total)

        return over(A.shape[-1], s.constant(1, A.dtype), multiplied)

    return b.indexed(element, A.shape[:-2], A.dtype), factors, pivots


@lowering("aten._linalg_slogdet", takes_complex=True)
def slogdet(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    factors, pivots, _ = factored(b, given_to_lapack(b, A))

    def sign(*at: SSAValue) -> Scalar:
        def multiplied(k: Scalar, total: Scalar) -> Scalar:
            x, exchanged = read(factors, [*at, k, k]), is_exchanged(pivots, at, k)
            if s.is_complex(x):
                total = total * numbers.sgn(x)
                return s.select(exchanged, -total, total)
            signed = s.select((x < 0) ^ exchanged, -total, total)
            return s.select((x < 0) | (x > 0), signed, 0)

        return over(A.shape[-1], s.constant(1, A.dtype), multiplied)

    def logarithm(*at: SSAValue) -> Scalar:
        def added(k: Scalar, total: Scalar) -> Scalar:
            return total + s.log(s.absolute(read(factors, [*at, k, k])))

        return over(A.shape[-1], s.constant(0, real), added)

    real, shape = PARTS.get(A.dtype, A.dtype), A.shape[:-2]
    return b.indexed(sign, shape, A.dtype), b.indexed(logarithm, shape, real), factors, pivots


# --- triangular systems --------------------------------------------------------------------------------------


@lowering("aten.linalg_solve_triangular", takes_complex=True)
def solve_triangular(
    b: LinalgBuilder, self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool
) -> Tensor:
    given = b.convert(B, self.dtype)
    a, right = broadcast_batches(b, self, given if left else transposed(b, given))
    result = by_substitution(b, a, right, not upper, unitriangular, not left)
    return result if left else transposed(b, result)


def by_substitution(
    b: LinalgBuilder, a: Tensor, right: Tensor, lower: bool, unit: bool, transpose: bool
) -> Tensor:
    """X of A X = B, or of the transposed A, for triangular A. Batches are equal."""

    def algorithm(b: LinalgBuilder, given: list[Tensor]) -> list[Tensor]:
        return [substituted(b, *given, lower=lower, unit=unit, transpose=transpose)]

    return grouped(b, algorithm, [(a, 2), (right, 2)], [(right.shape[-2:], right.dtype)])[0]


@lowering("aten.triangular_solve", takes_complex=True)
def triangular_solve(
    b: LinalgBuilder, self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Tensor, Tensor]:
    a, right = broadcast_batches(b, A, self)
    return by_substitution(b, a, right, not upper, unitriangular, transpose), a


# --- Cholesky ------------------------------------------------------------------------------------------------


@lowering("aten.linalg_cholesky_ex", refuses=raises, takes_complex=True)
def cholesky_ex(b: LinalgBuilder, self: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    given = adjoint(b, self) if upper else self
    results = [(self.shape[-2:], self.dtype), ((), dt.Int)]
    factor, info = grouped(b, lambda b, given: cholesky_of(b, *given), [(given, 2)], results)
    return adjoint(b, factor) if upper else factor, info


@lowering("aten.cholesky_solve", takes_complex=True)
def cholesky_solve(b: LinalgBuilder, self: Tensor, input2: Tensor, upper: bool) -> Tensor:
    """A system of the factor's and one of its adjoint's, which is the transposed one for conjugates."""
    factor, right = broadcast_batches(b, input2, self)
    for is_adjoint in (upper, not upper):
        right = conjugated(b, right) if is_adjoint else right
        right = by_substitution(b, factor, right, not upper, False, transpose=is_adjoint)
        right = conjugated(b, right) if is_adjoint else right
    return right


@lowering("aten.cholesky_inverse", takes_complex=True)
def cholesky_inverse(b: LinalgBuilder, self: Tensor, upper: bool) -> Tensor:
    return cholesky_solve(b, identity(b, self.shape, self.dtype), self, upper)


# --- orthogonal factors --------------------------------------------------------------------------------------


@lowering("aten.geqrf", takes_complex=True)
def geqrf(b: LinalgBuilder, self: Tensor) -> tuple[Tensor, Tensor]:
    results = [(self.shape[-2:], self.dtype), ((min_(*self.shape[-2:]),), self.dtype)]
    factors, tau = grouped(b, lambda b, given: triangularized(b, *given), [(self, 2)], results)
    return factors, tau


def reflected(b: LinalgBuilder, vectors: Tensor, tau: Tensor, array: Tensor, inverse: bool) -> Tensor:
    """Reflections, or their inverse, times arrays."""
    inputs = [(vectors, 2), (tau, 1), (array, 2)]
    results = [(array.shape[-2:], array.dtype)]
    return grouped(b, lambda b, given: [reflect(b, *given, inverse=inverse)], inputs, results)[0]


@lowering("aten.linalg_householder_product", takes_complex=True)
def householder_product(b: LinalgBuilder, input: Tensor, tau: Tensor) -> Tensor:
    return reflected(b, input, tau, identity(b, input.shape, input.dtype), False)


@lowering("aten.ormqr", takes_complex=True)
def ormqr(
    b: LinalgBuilder, self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool
) -> Tensor:
    if left:
        return reflected(b, self, input2, input3, transpose)
    # C Q is the adjoint of the adjoint Q times the adjoint C.
    return adjoint(b, reflected(b, self, input2, adjoint(b, input3), not transpose))


@lowering("aten.linalg_qr", takes_complex=True)
def linalg_qr(b: LinalgBuilder, A: Tensor, mode: str, out: Out) -> list[Tensor]:
    factors, tau = geqrf(b, A)
    q, r = (meta.shape for meta in out)

    def up(*at: SSAValue) -> Scalar:
        _, i, j = place(at)
        return s.select(i > j, 0, read(factors, at))

    upper = b.indexed(up, r, A.dtype)
    if mode == "r":
        return [b.fill(0, q, A.dtype), upper]
    return [reflected(b, factors, tau, identity(b, q, A.dtype), False), upper]


# --- singular values -----------------------------------------------------------------------------------------


def by_rotations(b: LinalgBuilder, a: Tensor, *, with_rotations: bool) -> list[Tensor]:
    """Of matrices that are not wide, or the transposed ones of those that are, in float64: A V with orthogonal columns, and V if
    asked for; each transposed."""
    given = b.convert(a if is_wide(a) else transposed(b, a), dt.Double)
    *_, columns, rows = given.shape
    results = [((columns, size), dt.Double) for size in (rows, columns)[: 1 + with_rotations]]

    def algorithm(b: LinalgBuilder, given: list[Tensor]) -> list[Tensor]:
        return orthogonalized(b, *given, with_rotations=with_rotations)

    return grouped(b, algorithm, [(given, 2)], results)


def refuse_singular_vectors(arguments: Mapping[str, Any]) -> str | None:
    left, _, right = arguments["used"]
    wanted = arguments["compute_uv"] and (left or right)
    return "singular vectors, whose signs LAPACK chooses" if wanted else None


@lowering("aten._linalg_svd", refuses=refuse_singular_vectors, takes_complex=True)
def svd(b: LinalgBuilder, A: Tensor, out: Out) -> list[Tensor]:
    """The values; zeros for vectors, which nobody uses."""
    nothing = [b.fill(0, meta.shape, meta.dtype) for meta in out]
    if 0 in A.shape:
        return nothing
    a = real_form(b, A) if A.dtype in PARTS else A
    values = lengths(b, by_rotations(b, a, with_rotations=False)[0])
    descending = once_each(b, sort(b, values, -1, True)[0], A.dtype)
    # Of a matrix with more columns than rows the others are 0.
    first = part(b, descending, values.ndim - 1, 0, out[1].shape[-1])
    return [nothing[0], b.convert(first, out[1].dtype), nothing[2]]


def refuse_eigenvectors(arguments: Mapping[str, Any]) -> str | None:
    wanted = arguments["compute_v"] and arguments["used"][1]
    return "eigenvectors, whose signs LAPACK chooses" if wanted else None


@lowering("aten._linalg_eigh", refuses=refuse_eigenvectors, takes_complex=True)
def eigh(b: LinalgBuilder, A: Tensor, UPLO: str, out: Out) -> list[Tensor]:
    """Shifted by a bound of the eigenvalues' sizes they are the singular values, and shifted back."""
    batch, size = A.shape[:-2], A.shape[-1]
    nothing = [b.fill(0, meta.shape, meta.dtype) for meta in out]
    if 0 in A.shape:
        return nothing
    if size == 1:  # of which an infinite element is the value, too
        first = b.elementwise(s.real, [A], A.shape, out[0].dtype)
        return [b.reshape(first, (*batch, 1)), nothing[1]]
    a = symmetrized(b, A, UPLO.upper() == "L")
    a = b.convert(real_form(b, a) if A.dtype in PARTS else a, dt.Double)
    sums = b.reduce(lambda total, x: total + s.absolute(x), a, [a.ndim - 1], 0, dt.Double)
    bound = b.reshape(b.reduce(s.maximum, sums, [a.ndim - 2], 0, dt.Double), batch)

    def shifted(*at: SSAValue) -> Scalar:
        where, i, j = place(at)
        return read(a, at) + s.select(i.equals(j), read(bound, where), 0)

    values = lengths(b, by_rotations(b, b.indexed(shifted, a.shape, dt.Double), with_rotations=False)[0])
    ascending = once_each(b, sort(b, values, -1, False)[0], A.dtype)
    bounds = b.reshape(bound, (*batch, 1))
    result = b.elementwise(lambda x, bound: x - bound, [ascending, bounds], (*batch, size), out[0].dtype)
    return [result, nothing[1]]


EPSILON = {dt.Float: 2.0**-23, dt.ComplexFloat: 2.0**-23, dt.Double: 2.0**-52, dt.ComplexDouble: 2.0**-52}


@lowering("aten.linalg_pinv.atol_rtol_tensor", takes_complex=True)
def pinv(
    b: LinalgBuilder, self: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool, out: Out
) -> Tensor:
    """Singular values of at most max(atol, rtol times the largest) count as 0. Beside a given absolute tolerance there
    is no relative one unless it is given."""
    shape = out[0].shape
    if 0 in self.shape:
        return b.fill(0, shape, self.dtype)
    batch = shape[:-2]
    self = b.broadcast(self, (*batch, *self.shape[-2:]))  # tolerances may be of more batches
    a = symmetrized(b, self) if hermitian else self
    is_complex = self.dtype in PARTS
    a = real_form(b, a) if is_complex else a
    matrix, rotations = by_rotations(b, a, with_rotations=True)
    sizes = lengths(b, matrix)
    largest = b.reshape(b.reduce(s.maximum, sizes, [sizes.ndim - 1], 0, dt.Double), batch)
    longest = max_(*self.shape[-2:])
    given = [b.broadcast(b.convert(x, dt.Double), batch) for x in (atol, rtol) if x is not None]

    def limit(largest: Scalar, *given: Scalar) -> Scalar:
        tolerances = iter(given)
        absolute = next(tolerances) if atol is not None else s.constant(0, dt.Double)
        relative = (
            next(tolerances)
            if rtol is not None
            else s.select(absolute > 0, 0.0, s.constant(longest, dt.Double) * EPSILON[self.dtype])
        )
        return s.maximum(absolute, relative * largest)

    limits = b.elementwise(limit, [largest, *given], batch, dt.Double)

    def element(*at: SSAValue) -> Scalar:
        where, i, j = place(at)
        row, column = (j, i) if is_wide(a) else (i, j)

        def added(k: Scalar, total: Scalar) -> Scalar:
            size = read(sizes, [*where, k])
            share = read(rotations, [*where, k, row]) * (read(matrix, [*where, k, column]) / (size * size))
            return s.select(size > read(limits, where), total + share, total)

        return over(sizes.shape[-1], s.constant(0, dt.Double), added)

    inverse = b.indexed(element, (*batch, a.shape[-1], a.shape[-2]), a.dtype)
    return complex_form(b, inverse, shape, self.dtype) if is_complex else inverse


# --- functions of matrices -----------------------------------------------------------------------------------


def refuse_halves(arguments: Mapping[str, Any]) -> str | None:
    """PyTorch reads its coefficients from memory written in another dtype."""
    return (
        "half types, in which PyTorch's own results are undefined"
        if arguments["self"].dtype.bits < 32
        else None
    )


@lowering("aten.linalg_matrix_exp", refuses=refuse_halves, takes_complex=True)
def matrix_exp(b: LinalgBuilder, self: Tensor) -> Tensor:
    """The exponential of each matrix by itself."""
    if self.dtype in PARTS:
        return complex_form(b, matrix_exp(b, real_form(b, self)), self.shape, self.dtype)
    if self.shape[-1] == 1:
        return b.elementwise(s.exp, [self], self.shape, self.dtype)
    return grouped(
        b, lambda b, given: [exponential(b, *given)], [(self, 2)], [(self.shape[-2:], self.dtype)]
    )[0]


# --- distances -----------------------------------------------------------------------------------------------


def distance(p: float) -> tuple[Callable[[Scalar], Scalar], Combine, Callable[[Scalar], Scalar]]:
    """The p-norm of a difference: a term, how terms combine from 0 on, and what is made of the total. Of p 0, NaN stays."""
    term, combine, _, finish = norm(p)
    if p == 0:
        return lambda x: s.select(s.is_nan(x), x, term(x)), combine, finish
    return term, combine, finish


MANY = 25
"""Rows from which on PyTorch takes Euclidean distances by a matrix product."""


def is_by_product(
    x1: Sizes, x2: Sizes, p: float, compute_mode: int | None, ranges: Ranges | None = None
) -> bool:
    """Whether distances of rows of these shapes are taken by a matrix product."""
    many = provably(apply("gt", max_(x1[-2], x2[-2]), MANY), ranges)
    return p == 2 and bool(compute_mode == 1 or (not compute_mode and many))


@lowering("aten._cdist_forward")
def cdist(b: LinalgBuilder, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None, out: Out) -> Tensor:
    shape = out[0].shape
    product = is_by_product(x1.shape, x2.shape, p, compute_mode)
    term, combine, finish = distance(p)
    if p == math.inf:  # of each pair of rows it passes over NaN (DistanceOpsKernel.cpp)
        combine = s.fmax
    x1, x2 = broadcast_batches(b, x1, x2)
    rank, dtype = len(shape), sum_dtype(x1.dtype)
    loops = dims(rank + 1)
    batch, (i, j, k) = loops[:-3], loops[-3:]
    maps = [AffineMap(rank + 1, 0, (*batch, row, k)) for row in (i, j)]
    kinds = ["parallel"] * rank + ["reduction"]

    def total(body: Callable[[Scalar, Scalar, Scalar], Scalar]) -> Tensor:
        inputs = list(zip((x1, x2), maps, strict=True))
        output = AffineMap(rank + 1, 0, tuple(loops[:-1]))
        return b.generic(
            inputs,
            b.fill(0, shape, dtype),
            output,
            kinds,
            lambda x, y, total: body(s.cast(x, dtype), s.cast(y, dtype), total),
        )

    if not product:
        sums = total(lambda x, y, total: combine(total, term(x - y)))
        return b.elementwise(finish, [sums], shape, out[0].dtype)
    left, right, products = (
        total(lambda x, _, total: total + x * x),
        total(lambda _, y, total: total + y * y),
        total(lambda x, y, total: total + x * y),
    )
    return b.elementwise(
        lambda x, y, xy: s.sqrt(s.maximum(x + y - xy * 2, 0)), [left, right, products], shape, out[0].dtype
    )


@lowering("aten._pdist_forward")
def pdist(b: LinalgBuilder, self: Tensor, p: float, out: Out) -> Tensor:
    rows, width = self.shape
    [count], dtype = out[0].shape, sum_dtype(self.dtype)
    term, combine, finish = distance(p)
    pairs = triangle(b, rows, rows, 1, False, TensorMeta((2, count), dt.Long))
    pair, column = dims(2)

    def body(x: Scalar, total: Scalar) -> Scalar:
        at, here = (linalg.IndexOp(dim).results[0] for dim in (0, 1))
        ends = [read(pairs, [s.constant(end, dt.Long), at]) for end in (0, 1)]
        first, second = (s.cast(read(self, [end, here]), dtype) for end in ends)
        return combine(total, term(first - second))

    # Only the shape of this one matters: it says how many columns there are.
    columns = Tensor(b.empty((width,), dt.Byte), (width,), dt.Byte)
    sums = b.generic(
        [(columns, AffineMap(2, 0, (column,)))],
        b.fill(0, (count,), dtype),
        AffineMap(2, 0, (pair,)),
        ["parallel", "reduction"],
        body,
    )
    return b.elementwise(finish, [sums], (count,), out[0].dtype)
