"""Algorithms that lowerings of linear algebra share, step by step over whole batches: LU with exchanges of rows, substitution,
reflections, and singular values by Jacobi's method. Matrices are the last two dimensions.
"""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, apply, min_, provably
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import PARTS
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, read
from xdsl_exir.lowering.matrices import (
    At,
    broadcast_batches,
    identity,
    over,
    place,
    transposed,
)
from xdsl_exir.lowering.scalar import Scalar


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


def is_exchanged(pivots: Tensor, at: At, k: Scalar) -> Scalar:
    """Whether a row was exchanged with another one."""
    return s.cast(read(pivots, [*at, k]), dt.Long).differs(k + 1)


def given_to_lapack(b: LinalgBuilder, a: Tensor) -> Tensor:
    """As PyTorch keeps them, the factors beside a determinant are of the transposed matrix, but for complex numbers."""
    return a if a.dtype in PARTS else transposed(b, a)


def triangularized(b: LinalgBuilder, a: Tensor) -> tuple[Tensor, Tensor]:
    """R, below it the vectors v of the reflections 1 - tau v v^H but for their leading ones, and the factors tau
    (Golub and Van Loan 5.1). R is the product of the matrix with the adjoint ones; its diagonal is real."""
    real = PARTS.get(a.dtype, a.dtype)
    *batch, rows, columns = a.shape
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

        tau = b.indexed(factor, every, a.dtype)

        def vector(where: At, i: Scalar) -> Scalar:
            *_, divisor = parts(where)
            return s.select(i.equals(k), 1, read(matrix, [*where, i, k]) / divisor)

        def projected(*at: SSAValue) -> Scalar:
            *where, j = at

            def added(i: Scalar, total: Scalar) -> Scalar:
                term = s.conjugate(vector(where, i)) * read(matrix, [*where, i, j])
                return s.select(i < k, total, total + term)

            return over(rows, s.constant(0, a.dtype), added)

        projection = b.indexed(projected, (*every, columns), a.dtype)

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
            b.indexed(element, matrix.shape, a.dtype),
            b.indexed(kept, factors.shape, a.dtype, [(factors, AffineMap.identity(factors.ndim))]),
        ]

    result, factors = b.steps(count, [a, b.fill(0, (*every, count), a.dtype)], eliminate)
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
    if dtype not in PARTS:
        return values
    *batch, count = values.shape
    places, steps = [0] * values.ndim, [1] * len(batch) + [2]
    return b.slice(values, places, [*batch, apply("floordiv", count, 2)], steps)


def multiplied(left: Tensor, right: Tensor, at: At, terms: Dim | Scalar) -> Scalar:
    """In a body: an element of a product of matrices, of so many terms."""
    *where, i, j = at
    return over(
        terms,
        s.constant(0, left.dtype),
        lambda k, total: total + read(left, [*where, i, k]) * read(right, [*where, k, j]),
    )
