"""Lowerings of linear algebra that textbooks have as loops over a matrix: LU, Cholesky and QR, triangular systems, singular
values by Jacobi's method.

A step of an algorithm is a map over the whole batch, from the matrices before it; the steps are one loop. Matrices are the
last two dimensions. What native code cannot do is raise: calls that ask an operator to check are refused (the operators
that only check are the caller's). `lowering.linalg` is MLIR's linalg.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, apply, max_, min_, provably
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import complex_numbers as numbers
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, dims, read
from xdsl_exir.lowering.matrices import (
    At,
    adjoint,
    broadcast_batches,
    complex_form,
    conjugated,
    identity,
    over,
    place,
    real_form,
    transposed,
)
from xdsl_exir.lowering.operators.creation import triangle
from xdsl_exir.lowering.operators.indexing import ordered
from xdsl_exir.lowering.operators.view import part
from xdsl_exir.lowering.scalar import Scalar, sum_dtype

Out = list[TensorMeta]


def raises(arguments: Mapping[str, Any]) -> str | None:
    """Native code cannot raise."""
    return "a check that raises" if arguments["check_errors"] else None


# --- LU ------------------------------------------------------------------------------------------------------


def exchanged(row: Scalar, k: Scalar, other: Scalar) -> Scalar:
    """Where a row stood before rows k and another were exchanged."""
    return s.select(row.equals(k), other, s.select(row.equals(other), k, row))


def magnitude(x: Scalar) -> Scalar:
    """By which LAPACK compares pivots: of complex numbers the sum of the parts' sizes."""
    return s.absolute(s.real(x)) + s.absolute(s.imaginary(x)) if s.is_complex(x) else s.absolute(x)


def lu_of(b: LinalgBuilder, a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gaussian elimination with partial pivoting: both factors in one, the pivots (Int, from 1), and the statuses: 0, or
    the number of the first pivot that is 0."""
    *batch, rows, columns = a.shape
    count, every = min_(rows, columns), tuple(batch)

    def eliminate(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, pivots, info = state

        def greatest(*at: SSAValue) -> Scalar:
            def better(i: Scalar, best: Scalar) -> Scalar:
                new, old = (magnitude(read(matrix, [*at, row, k])) for row in (i, best))
                return s.select((i > k) & (new > old), i, best)

            return over(rows, k, better)

        chosen = b.indexed(greatest, every, dt.Long)

        def element(*at: SSAValue) -> Scalar:
            where, i, j = place(at)
            other = read(chosen, where)
            source, pivot = exchanged(i, k, other), read(matrix, [*where, other, k])
            x, first = read(matrix, [*where, source, j]), read(matrix, [*where, source, k])
            factor = s.select(pivot.equals(0), first, first / pivot)
            rest = x - factor * read(matrix, [*where, other, j])
            below = (i > k) & ~(j < k)
            return s.select(below, s.select(j.equals(k), factor, rest), x)

        def status(found: Scalar, *at: SSAValue) -> Scalar:
            pivot = read(matrix, [*at, read(chosen, at), k])
            return s.select(found.equals(0) & pivot.equals(0), s.cast(k + 1, dt.Int), found)

        def moved(old: Scalar, *at: SSAValue) -> Scalar:
            row = s.cast(read(chosen, at[:-1]) + 1, dt.Int)
            return s.select(s.from_index(at[-1]).equals(k), row, old)

        return [
            b.indexed(element, matrix.shape, matrix.dtype),
            b.indexed(moved, pivots.shape, dt.Int, [(pivots, AffineMap.identity(pivots.ndim))]),
            b.indexed(status, info.shape, dt.Int, [(info, AffineMap.identity(info.ndim))]),
        ]

    start = [a, b.fill(0, (*every, count), dt.Int), b.fill(0, every, dt.Int)]
    factors, pivots, info = b.steps(count, start, eliminate)
    return factors, pivots, info


def with_rows_exchanged(b: LinalgBuilder, right: Tensor, pivots: Tensor, inverse: bool = False) -> Tensor:
    """Rows of matrices exchanged as pivots say, in order; `inverse` is back."""
    count = pivots.shape[-1]

    def exchange(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        [matrix] = state

        def element(*at: SSAValue) -> Scalar:
            where, i, j = place(at)
            other = s.cast(read(pivots, [*where, k]), dt.Long) - 1
            return read(matrix, [*where, exchanged(i, k, other), j])

        return [b.indexed(element, matrix.shape, matrix.dtype)]

    return b.steps(count, [right], exchange, backward=inverse)[0]


def substituted(
    b: LinalgBuilder, a: Tensor, right: Tensor, lower: bool, unit: bool, transpose: bool = False
) -> Tensor:
    """X of A X = B, or of the transposed A, for triangular A: by substitution, forward or backward. `unit` takes ones for
    its diagonal. Batches are equal."""
    size, forward = a.shape[-1], lower is not transpose

    def eliminate(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        [matrix] = state

        def element(*at: SSAValue) -> Scalar:
            where, i, j = place(at)

            def coefficient(row: Scalar) -> Scalar:
                return read(a, [*where, k, row] if transpose else [*where, row, k])

            found = read(matrix, [*where, k, j])
            found = found if unit else found / coefficient(k)
            x = read(matrix, [*where, i, j])
            rest = x - coefficient(i) * found
            return s.select(i.equals(k), found, s.select(i > k if forward else i < k, rest, x))

        return [b.indexed(element, matrix.shape, matrix.dtype)]

    return b.steps(size, [right], eliminate, backward=not forward)[0]


def solved(
    b: LinalgBuilder, factors: Tensor, pivots: Tensor, right: Tensor, transpose: bool = False
) -> Tensor:
    """X of A X = B, or of the transposed A, from the factors of A."""
    size = factors.shape[-1]
    factors, right = broadcast_batches(b, factors, right)
    pivots = b.broadcast(pivots, (*factors.shape[:-2], size))
    if transpose:
        right = substituted(b, factors, right, False, False, True)
        right = substituted(b, factors, right, True, True, True)
        return with_rows_exchanged(b, right, pivots, inverse=True)
    right = with_rows_exchanged(b, right, pivots)
    right = substituted(b, factors, right, True, True)
    return substituted(b, factors, right, False, False)


def refuse_lu(arguments: Mapping[str, Any]) -> str | None:
    """PyTorch itself has LU without pivoting on other devices only."""
    return raises(arguments) if arguments["pivot"] else "LU without pivoting"


@lowering("aten.linalg_lu_factor_ex", refuses=refuse_lu)
def lu_factor_ex(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return lu_of(b, A)


@lowering("aten.lu_unpack")
def lu_unpack(
    b: LinalgBuilder, LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool, out: Out
) -> list[Tensor]:
    """The permutation and both factors; nothing of what is not asked for."""
    results = [b.fill(0, meta.shape, meta.dtype) for meta in out]
    if unpack_pivots:
        rows = identity(b, results[0].shape, LU_data.dtype)
        results[0] = transposed(b, with_rows_exchanged(b, rows, LU_pivots))
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


@lowering("aten.linalg_lu", refuses=lambda arguments: None if arguments["pivot"] else "LU without pivoting")
def linalg_lu(b: LinalgBuilder, A: Tensor, out: Out) -> list[Tensor]:
    factors, pivots, _ = lu_of(b, A)
    return lu_unpack(b, factors, pivots, True, True, out)


@lowering("aten.linalg_lu_solve")
def linalg_lu_solve(
    b: LinalgBuilder, LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool
) -> Tensor:
    # The adjoint A is the transposed one for conjugates of what is on both sides.
    right = conjugated(b, B) if adjoint else B
    if left:
        result = solved(b, LU, pivots, right, adjoint)
    else:  # X A = B is the transposed A times the transposed X
        result = transposed(b, solved(b, LU, pivots, transposed(b, right), not adjoint))
    return conjugated(b, result) if adjoint else result


@lowering("aten.linalg_inv_ex", refuses=raises)
def inv_ex(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor]:
    factors, pivots, info = lu_of(b, A)
    return solved(b, factors, pivots, identity(b, A.shape, A.dtype)), info


@lowering("aten._linalg_solve_ex", refuses=raises)
def solve_ex(b: LinalgBuilder, A: Tensor, B: Tensor, left: bool, out: Out) -> tuple[Tensor, ...]:
    factors, pivots, info = lu_of(b, A)
    vectors = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    right = b.reshape(B, (*B.shape, 1)) if vectors else B
    result = linalg_lu_solve(b, factors, pivots, right, left, False)
    return b.reshape(result, out[0].shape), factors, pivots, info


# --- determinants --------------------------------------------------------------------------------------------


def is_exchanged(pivots: Tensor, at: At, k: Scalar) -> Scalar:
    """Whether a row was exchanged with another one."""
    return s.cast(read(pivots, [*at, k]), dt.Long).differs(k + 1)


def given_to_lapack(b: LinalgBuilder, a: Tensor) -> Tensor:
    """As PyTorch keeps them, the factors beside a determinant are of the transposed matrix, but for complex numbers."""
    return a if a.dtype in s.PARTS else transposed(b, a)


@lowering("aten._linalg_det")
def det(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    factors, pivots, _ = lu_of(b, given_to_lapack(b, A))

    def element(*at: SSAValue) -> Scalar:
        def multiplied(k: Scalar, total: Scalar) -> Scalar:
            total = total * read(factors, [*at, k, k])
            return s.select(is_exchanged(pivots, at, k), -total, total)

        return over(A.shape[-1], s.constant(1, A.dtype), multiplied)

    return b.indexed(element, A.shape[:-2], A.dtype), factors, pivots


@lowering("aten._linalg_slogdet")
def slogdet(b: LinalgBuilder, A: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    factors, pivots, _ = lu_of(b, given_to_lapack(b, A))

    def sign(*at: SSAValue) -> Scalar:
        def multiplied(k: Scalar, total: Scalar) -> Scalar:
            x, exchanged = read(factors, [*at, k, k]), is_exchanged(pivots, at, k)
            if s.is_complex(x):
                total = total * numbers.sgn(x)
                return s.select(exchanged, -total, total)
            return s.select(x.equals(0), 0, s.select((x < 0) ^ exchanged, -total, total))

        return over(A.shape[-1], s.constant(1, A.dtype), multiplied)

    def logarithm(*at: SSAValue) -> Scalar:
        def added(k: Scalar, total: Scalar) -> Scalar:
            return total + s.log(s.absolute(read(factors, [*at, k, k])))

        return over(A.shape[-1], s.constant(0, real), added)

    real, shape = s.PARTS.get(A.dtype, A.dtype), A.shape[:-2]
    return b.indexed(sign, shape, A.dtype), b.indexed(logarithm, shape, real), factors, pivots


# --- triangular systems --------------------------------------------------------------------------------------


@lowering("aten.linalg_solve_triangular")
def solve_triangular(
    b: LinalgBuilder, self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool
) -> Tensor:
    given = b.convert(B, self.dtype)
    a, right = broadcast_batches(b, self, given if left else transposed(b, given))
    result = substituted(b, a, right, not upper, unitriangular, not left)
    return result if left else transposed(b, result)


@lowering("aten.triangular_solve")
def triangular_solve(
    b: LinalgBuilder, self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Tensor, Tensor]:
    a, right = broadcast_batches(b, A, self)
    return substituted(b, a, right, not upper, unitriangular, transpose), a


# --- Cholesky ------------------------------------------------------------------------------------------------


@lowering("aten.linalg_cholesky_ex", refuses=raises)
def cholesky_ex(b: LinalgBuilder, self: Tensor, upper: bool) -> tuple[Tensor, Tensor]:
    """The factor, and the number of the first leading minor that is not positive, where the algorithm stops; or 0."""
    batch, size = self.shape[:-2], self.shape[-1]

    def eliminate(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, info = state

        def element(*at: SSAValue) -> Scalar:
            where, i, j = place(at)
            x, diagonal = read(matrix, at), s.real(read(matrix, [*where, k, k]))
            root = s.cast(s.sqrt(diagonal), x.dtype)
            across = s.conjugate(read(matrix, [*where, j, k]) / root)
            rest = x - read(matrix, [*where, i, k]) / root * across
            column = s.select(i.equals(k), root, x / root)
            new = s.select(j.equals(k), column, rest)
            goes_on = read(info, where).equals(0) & (diagonal > 0)
            return s.select(goes_on & ~(j < k) & ~(i < j), new, x)

        def status(found: Scalar, *at: SSAValue) -> Scalar:
            fails = found.equals(0) & ~(s.real(read(matrix, [*at, k, k])) > 0)
            return s.select(fails, s.cast(k + 1, dt.Int), found)

        return [
            b.indexed(element, matrix.shape, matrix.dtype),
            b.indexed(status, info.shape, dt.Int, [(info, AffineMap.identity(info.ndim))]),
        ]

    start = [adjoint(b, self) if upper else self, b.fill(0, batch, dt.Int)]
    matrix, info = b.steps(size, start, eliminate)

    def low(*at: SSAValue) -> Scalar:
        _, i, j = place(at)
        return s.select(i < j, 0, read(matrix, at))

    factor = b.indexed(low, self.shape, self.dtype)
    return adjoint(b, factor) if upper else factor, info


@lowering("aten.cholesky_solve")
def cholesky_solve(b: LinalgBuilder, self: Tensor, input2: Tensor, upper: bool) -> Tensor:
    """A system of the factor's and one of its adjoint's, which is the transposed one for conjugates."""
    factor, right = broadcast_batches(b, input2, self)
    for is_adjoint in (upper, not upper):
        right = conjugated(b, right) if is_adjoint else right
        right = substituted(b, factor, right, not upper, False, transpose=is_adjoint)
        right = conjugated(b, right) if is_adjoint else right
    return right


@lowering("aten.cholesky_inverse")
def cholesky_inverse(b: LinalgBuilder, self: Tensor, upper: bool) -> Tensor:
    return cholesky_solve(b, identity(b, self.shape, self.dtype), self, upper)


# --- orthogonal factors --------------------------------------------------------------------------------------


@lowering("aten.geqrf")
def geqrf(b: LinalgBuilder, self: Tensor) -> tuple[Tensor, Tensor]:
    """R, below it the vectors v of the reflections 1 - tau v v^H but for their leading ones, and the factors tau
    (Golub and Van Loan 5.1). R is the product of the matrix with the adjoint ones; its diagonal is real."""
    real = s.PARTS.get(self.dtype, self.dtype)
    *batch, rows, columns = self.shape
    count, every = min_(rows, columns), tuple(batch)

    def eliminate(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, factors = state

        def squared(*at: SSAValue) -> Scalar:
            def added(i: Scalar, total: Scalar) -> Scalar:
                x = read(matrix, [*at, i, k])
                return s.select(i > k, total + s.real(x * s.conjugate(x)), total)

            return over(rows, s.constant(0, real), added)

        below = b.indexed(squared, every, real)

        def parts(where: At) -> tuple[Scalar, Scalar, Scalar, Scalar]:
            """Whether there is something to eliminate; the diagonal's element, after that, and its vector's divisor."""
            rest, alpha = read(below, where), read(matrix, [*where, k, k])
            length = s.sqrt(s.real(alpha * s.conjugate(alpha)) + rest)
            beta = s.cast(-s.copysign(length, s.real(alpha)), alpha.dtype)
            return rest.differs(0) | s.imaginary(alpha).differs(0), alpha, beta, alpha - beta

        def factor(*at: SSAValue) -> Scalar:
            something, alpha, beta, _ = parts(at)
            return s.select(something, (beta - alpha) / beta, 0)

        tau = b.indexed(factor, every, self.dtype)

        def vector(where: At, i: Scalar) -> Scalar:
            *_, divisor = parts(where)
            return s.select(i.equals(k), 1, read(matrix, [*where, i, k]) / divisor)

        def projected(*at: SSAValue) -> Scalar:
            *where, j = at

            def added(i: Scalar, total: Scalar) -> Scalar:
                term = s.conjugate(vector(where, i)) * read(matrix, [*where, i, j])
                return s.select(i < k, total, total + term)

            return over(rows, s.constant(0, self.dtype), added)

        projection = b.indexed(projected, (*every, columns), self.dtype)

        def element(*at: SSAValue) -> Scalar:
            where, i, j = place(at)
            something, _, beta, _ = parts(where)
            x = read(matrix, at)
            column = s.select(i.equals(k), beta, vector(where, i))
            rest = x - s.conjugate(read(tau, where)) * vector(where, i) * read(projection, [*where, j])
            new = s.select(j.equals(k), column, rest)
            return s.select(something & ~(i < k) & ~(j < k), new, x)

        def kept(old: Scalar, *at: SSAValue) -> Scalar:
            return s.select(s.from_index(at[-1]).equals(k), read(tau, at[:-1]), old)

        return [
            b.indexed(element, matrix.shape, self.dtype),
            b.indexed(kept, factors.shape, self.dtype, [(factors, AffineMap.identity(factors.ndim))]),
        ]

    result, factors = b.steps(count, [self, b.fill(0, (*every, count), self.dtype)], eliminate)
    return result, factors


def reflect(b: LinalgBuilder, vectors: Tensor, tau: Tensor, array: Tensor, inverse: bool) -> Tensor:
    """H1 H2 ... Hk times an array, each H = 1 - tau v v^H with v unit lower trapezoidal; or the inverse of it, its adjoint."""
    rows, dtype = vectors.shape[-2], array.dtype

    def apply(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        [matrix] = state

        def vector(where: At, i: Scalar) -> Scalar:
            return s.select(i < k, 0, s.select(i.equals(k), 1, read(vectors, [*where, i, k])))

        def projected(*at: SSAValue) -> Scalar:
            *where, j = at
            return over(
                rows,
                s.constant(0, dtype),
                lambda i, total: total + s.conjugate(vector(where, i)) * read(matrix, [*where, i, j]),
            )

        projection = b.indexed(projected, (*matrix.shape[:-2], matrix.shape[-1]), dtype)

        def element(*at: SSAValue) -> Scalar:
            where, i, _ = place(at)
            factor = s.conjugate(read(tau, [*where, k])) if inverse else read(tau, [*where, k])
            return read(matrix, at) - factor * vector(where, i) * read(projection, [*where, at[-1]])

        return [b.indexed(element, matrix.shape, dtype)]

    return b.steps(tau.shape[-1], [array], apply, backward=not inverse)[0]


@lowering("aten.linalg_householder_product")
def householder_product(b: LinalgBuilder, input: Tensor, tau: Tensor) -> Tensor:
    return reflect(b, input, tau, identity(b, input.shape, input.dtype), False)


@lowering("aten.ormqr")
def ormqr(
    b: LinalgBuilder, self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool
) -> Tensor:
    if left:
        return reflect(b, self, input2, input3, transpose)
    # C Q is the adjoint of the adjoint Q times the adjoint C.
    return adjoint(b, reflect(b, self, input2, adjoint(b, input3), not transpose))


@lowering("aten.linalg_qr")
def linalg_qr(b: LinalgBuilder, A: Tensor, mode: str, out: Out) -> list[Tensor]:
    factors, tau = geqrf(b, A)
    q, r = (meta.shape for meta in out)

    def up(*at: SSAValue) -> Scalar:
        _, i, j = place(at)
        return s.select(i > j, 0, read(factors, at))

    upper = b.indexed(up, r, A.dtype)
    if mode == "r":
        return [b.fill(0, q, A.dtype), upper]
    return [reflect(b, factors, tau, identity(b, q, A.dtype), False), upper]


# --- singular values -----------------------------------------------------------------------------------------

SWEEPS = 14
"""Over all pairs of columns: convergence is quadratic, and takes 6 to 10 of them."""


def turns_of(columns: Dim) -> Dim:
    """In how many turns of a tournament each of so many meets each other once."""
    return columns - 1 + columns % 2


def partner(column: Scalar, turn: Scalar, columns: Dim) -> Scalar:
    """The column that one is paired with in a turn of a tournament; itself where it pauses."""
    turns = turns_of(columns)
    number = s.constant(turns, dt.Long)
    other = s.rem(s.rem(turn * 2 - column, number) + turns, number)
    other = s.select(other.equals(column), turns, other)
    other = s.select(column.equals(turns), turn, other)
    return s.select(other < columns, other, column)


def orthogonalized(b: LinalgBuilder, a: Tensor) -> tuple[Tensor, Tensor]:
    """A V with orthogonal columns, and the rotations V, best for matrices of no more columns than rows, in float64: one-sided
    Jacobi rotations (Hestenes), of all pairs of a turn at once (Golub and Van Loan 8.6.3)."""
    *batch, rows, columns = a.shape
    every, dtype = (*batch, columns), dt.Double
    turns = turns_of(columns)

    def rotate(b: LinalgBuilder, number: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, rotations = state

        def pair(at: At) -> tuple[Scalar, Scalar]:
            column = s.from_index(at[-1])
            return column, partner(column, s.rem(number, s.constant(turns, dt.Long)), columns)

        def product(where: At, first: Scalar, second: Scalar) -> Scalar:
            zero = s.constant(0, dtype)
            return over(
                rows,
                zero,
                lambda i, total: total + read(matrix, [*where, i, first]) * read(matrix, [*where, i, second]),
            )

        def squared(*at: SSAValue) -> Scalar:
            column, _ = pair(at)
            return product(at[:-1], column, column)

        squares = b.indexed(squared, every, dtype)

        def tangent(*at: SSAValue) -> Scalar:
            """Of the angle that makes a pair orthogonal; 0 where it is. The two columns' have opposite signs."""
            column, other = pair(at)
            where = at[:-1]
            alpha, beta = read(squares, at), read(squares, [*where, other])
            gamma = product(where, column, other)
            zeta = (beta - alpha) / (gamma * 2)
            angle = s.copysign(1 / (s.absolute(zeta) + s.sqrt(zeta * zeta + 1)), zeta)
            # Of columns as long as each other, the first turns one way, the second the other.
            angle = s.select(zeta.equals(0) & (column > other), -1, s.select(zeta.equals(0), 1, angle))
            negligible = ~(s.absolute(gamma) > s.sqrt(alpha * beta) * 2.0**-53)
            return s.select(negligible | column.equals(other), 0, angle)

        tangents = b.indexed(tangent, every, dtype)

        def rotated(source: Tensor) -> Tensor:
            def element(*at: SSAValue) -> Scalar:
                _, other = pair(at)
                angle = read(tangents, [*at[:-2], at[-1]])
                x, y = read(source, at), read(source, [*at[:-1], other])
                return (x - angle * y) / s.sqrt(angle * angle + 1)

            return b.indexed(element, source.shape, dtype)

        return [rotated(matrix), rotated(rotations)]

    start = [b.convert(a, dtype), identity(b, (*batch, columns, columns), dtype)]
    matrix, rotations = b.steps(0 if columns == 1 else turns * SWEEPS, start, rotate)
    return matrix, rotations


def lengths(b: LinalgBuilder, matrix: Tensor) -> Tensor:
    """The lengths of columns."""
    squares = b.reduce(lambda total, x: total + x * x, matrix, [matrix.ndim - 2], 0, matrix.dtype)
    shape = (*matrix.shape[:-2], matrix.shape[-1])
    return b.elementwise(s.sqrt, [b.reshape(squares, shape)], shape, matrix.dtype)


def is_wide(a: Tensor) -> bool:
    """Whether matrices are known to have more columns than rows."""
    return bool(provably(apply("lt", a.shape[-2], a.shape[-1])))


def symmetrized(b: LinalgBuilder, a: Tensor, lower: bool = True) -> Tensor:
    """The symmetric or Hermitian matrices that triangles stand for."""

    def element(*at: SSAValue) -> Scalar:
        where, i, j = place(at)
        most, least = s.maximum(i, j), s.minimum(i, j)
        x = read(a, [*where, most, least] if lower else [*where, least, most])
        if not s.is_complex(x):
            return x
        mirrored = s.select(i < j if lower else i > j, s.conjugate(x), x)
        return s.select(i.equals(j), s.cast(s.real(x), x.dtype), mirrored)

    return b.indexed(element, a.shape, a.dtype)


def once_each(b: LinalgBuilder, values: Tensor, dtype: DType) -> Tensor:
    """Ordered values of the real form of matrices of a dtype, which has each of a complex one's twice."""
    if dtype not in s.PARTS:
        return values
    *batch, count = values.shape
    places, steps = [0] * values.ndim, [1] * len(batch) + [2]
    return b.slice(values, places, [*batch, apply("floordiv", count, 2)], steps)


def refuse_singular_vectors(arguments: Mapping[str, Any]) -> str | None:
    left, _, right = arguments["used"]
    wanted = arguments["compute_uv"] and (left or right)
    return "singular vectors, whose signs LAPACK chooses" if wanted else None


@lowering("aten._linalg_svd", refuses=refuse_singular_vectors)
def svd(b: LinalgBuilder, A: Tensor, out: Out) -> list[Tensor]:
    """The values; zeros for vectors, which nobody uses."""
    nothing = [b.fill(0, meta.shape, meta.dtype) for meta in out]
    if 0 in A.shape:
        return nothing
    a = real_form(b, A) if A.dtype in s.PARTS else A
    values = lengths(b, orthogonalized(b, transposed(b, a) if is_wide(a) else a)[0])
    descending = once_each(b, ordered(b, values, -1, True)[0], A.dtype)
    # Of a matrix with more columns than rows the others are 0.
    first = part(b, descending, values.ndim - 1, 0, out[1].shape[-1])
    return [nothing[0], b.convert(first, out[1].dtype), nothing[2]]


def refuse_eigenvectors(arguments: Mapping[str, Any]) -> str | None:
    wanted = arguments["compute_v"] and arguments["used"][1]
    return "eigenvectors, whose signs LAPACK chooses" if wanted else None


@lowering("aten._linalg_eigh", refuses=refuse_eigenvectors)
def eigh(b: LinalgBuilder, A: Tensor, UPLO: str, out: Out) -> list[Tensor]:
    """Shifted by a bound of the eigenvalues' sizes they are the singular values, and shifted back."""
    batch, size = A.shape[:-2], A.shape[-1]
    nothing = [b.fill(0, meta.shape, meta.dtype) for meta in out]
    if 0 in A.shape:
        return nothing
    a = symmetrized(b, A, UPLO.upper() == "L")
    a = b.convert(real_form(b, a) if A.dtype in s.PARTS else a, dt.Double)
    sums = b.reduce(lambda total, x: total + s.absolute(x), a, [a.ndim - 1], 0, dt.Double)
    bound = b.reshape(b.reduce(s.maximum, sums, [a.ndim - 2], 0, dt.Double), batch)

    def shifted(*at: SSAValue) -> Scalar:
        where, i, j = place(at)
        return read(a, at) + s.select(i.equals(j), read(bound, where), 0)

    values = lengths(b, orthogonalized(b, b.indexed(shifted, a.shape, dt.Double))[0])
    ascending = once_each(b, ordered(b, values, -1, False)[0], A.dtype)
    bounds = b.reshape(bound, (*batch, 1))
    result = b.elementwise(lambda x, bound: x - bound, [ascending, bounds], (*batch, size), out[0].dtype)
    return [result, nothing[1]]


EPSILON = {dt.Float: 2.0**-23, dt.ComplexFloat: 2.0**-23, dt.Double: 2.0**-52, dt.ComplexDouble: 2.0**-52}


@lowering("aten.linalg_pinv.atol_rtol_tensor")
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
    is_complex = self.dtype in s.PARTS
    a = real_form(b, a) if is_complex else a
    matrix, rotations = orthogonalized(b, transposed(b, a) if is_wide(a) else a)
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
            share = read(rotations, [*where, row, k]) * (read(matrix, [*where, column, k]) / (size * size))
            return s.select(size > read(limits, where), total + share, total)

        return over(sizes.shape[-1], s.constant(0, dt.Double), added)

    inverse = b.indexed(element, (*batch, a.shape[-1], a.shape[-2]), a.dtype)
    return complex_form(b, inverse, shape, self.dtype) if is_complex else inverse


# --- functions of matrices -----------------------------------------------------------------------------------

TERMS = 18
"""Of the exponential's series: exact in float64 for matrices of norm 1."""


MOST_HALVINGS = 128
"""Enough for every norm that float32 has."""


def refuse_halves(arguments: Mapping[str, Any]) -> str | None:
    """PyTorch reads its coefficients from memory written in another dtype."""
    return (
        "half types, in which PyTorch's own results are undefined"
        if arguments["self"].dtype.bits < 32
        else None
    )


def multiplied(left: Tensor, right: Tensor, at: At, terms: Dim | Scalar) -> Scalar:
    """In a body: an element of a product of matrices, of so many terms."""
    *where, i, j = at
    return over(
        terms,
        s.constant(0, left.dtype),
        lambda k, total: total + read(left, [*where, i, k]) * read(right, [*where, k, j]),
    )


@lowering("aten.linalg_matrix_exp", refuses=refuse_halves)
def matrix_exp(b: LinalgBuilder, self: Tensor) -> Tensor:
    """The Taylor series of the matrix divided by a power of 2 that makes its norm less than 1, squared as often (Golub and
    Van Loan 9.3)."""
    if self.dtype in s.PARTS:
        return complex_form(b, matrix_exp(b, real_form(b, self)), self.shape, self.dtype)
    batch, size, dtype = self.shape[:-2], self.shape[-1], self.dtype

    def halvings(*at: SSAValue) -> Scalar:
        """The exponent of 2 of the greatest sum of a column's sizes."""

        def of_column(j: Scalar, norm: Scalar) -> Scalar:
            zero = s.constant(0, dtype)
            return s.maximum(
                norm, over(size, zero, lambda i, total: total + s.absolute(read(self, [*at, i, j])))
            )

        norm = over(size, s.constant(0, dtype), of_column)
        exponent = s.floor(s.log2(s.maximum(norm, 0.5))) + 1
        return s.cast(s.select(exponent <= MOST_HALVINGS, exponent, MOST_HALVINGS), dt.Long)

    counts = b.indexed(halvings, batch, dt.Long)

    def scaled(*at: SSAValue) -> Scalar:
        power = s.exp2(-s.cast(read(counts, at[:-2]), dtype))
        return read(self, at) * power

    small = b.indexed(scaled, self.shape, dtype)

    def term(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        """1 + A P / (k + 1), by Horner's rule."""

        def element(*at: SSAValue) -> Scalar:
            _, i, j = place(at)
            return s.cast(i.equals(j), dtype) + multiplied(small, state[0], at, size) / s.cast(k + 1, dtype)

        return [b.indexed(element, self.shape, dtype)]

    def square(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        def element(*at: SSAValue) -> Scalar:
            wanted = k < read(counts, at[:-2])
            product = multiplied(state[0], state[0], at, s.select(wanted, s.constant(size, dt.Long), 0))
            return s.select(wanted, product, read(state[0], at))

        return [b.indexed(element, self.shape, dtype)]

    [series] = b.steps(TERMS, [identity(b, self.shape, dtype)], term, backward=True)
    return b.steps(MOST_HALVINGS, [series], square)[0]


# --- distances -----------------------------------------------------------------------------------------------

Norm = tuple[Callable[[Scalar], Scalar], Callable[[Scalar, Scalar], Scalar], Callable[[Scalar], Scalar]]


def norm(p: float) -> Norm:
    """The p-norm: a term, how terms combine from 0 on, and what is made of the total."""

    def same(x: Scalar) -> Scalar:
        return x

    if p == 0:
        return lambda x: s.select(s.is_nan(x), x, s.cast(x.differs(0), x.dtype)), s.add, same
    if p == math.inf:
        return s.absolute, s.maximum, same
    if p == 1:
        return s.absolute, s.add, same
    if p == 2:
        return lambda x: x * x, s.add, s.sqrt

    def power(exponent: float) -> Callable[[Scalar], Scalar]:
        return lambda x: s.pow(s.absolute(x), s.constant(exponent, x.dtype))

    return power(p), s.add, power(1 / p)


MANY = 25
"""Rows from which on PyTorch takes Euclidean distances by a matrix product."""


@lowering("aten._cdist_forward")
def cdist(b: LinalgBuilder, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None, out: Out) -> Tensor:
    shape = out[0].shape
    many = provably(apply("gt", max_(x1.shape[-2], x2.shape[-2]), MANY))
    product = p == 2 and (compute_mode == 1 or (not compute_mode and many))
    term, combine, finish = norm(p)
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
    term, combine, finish = norm(p)
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
