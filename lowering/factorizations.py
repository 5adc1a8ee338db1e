"""Algorithms that lowerings of linear algebra share, step by step: reflections, and singular values by Jacobi's method. Matrices are the first
two dimensions, those of a group side by side (`side_by_side`). What a step changes it changes in its place, of what it has read before:
matrices are not copied.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, min_
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import PARTS
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.matrices import At
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.side_by_side import folded, greatest, units, updated, within
from xdsl_exir.lowering.tensors import Tensor, read


def triangularized(b: LinalgBuilder, a: Tensor) -> tuple[Tensor, Tensor]:
    """R, below it the vectors v of the reflections 1 - tau v v^H but for their leading ones, and the factors tau
    (Golub and Van Loan 5.1). R is the product of the matrix with the adjoint ones; its diagonal is real."""
    real = PARTS.get(a.dtype, a.dtype)
    rows, columns, *lanes = a.shape
    count, every = min_(rows, columns), tuple(lanes)

    def eliminate(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, factors = state

        def squared(i: Scalar, total: Scalar, *lane: SSAValue) -> Scalar:
            x = read(matrix, [i, k, *lane])
            return s.select(i > k, total + s.real(x * s.conjugate(x)), total)

        below = folded(b, rows, b.fill(0, every, real), squared)

        def diagonal(*lane: SSAValue) -> Scalar:
            """What the diagonal's element becomes."""
            alpha = read(matrix, [k, k, *lane])
            length = s.sqrt(s.real(alpha * s.conjugate(alpha)) + read(below, lane))
            return s.cast(-s.copysign(length, s.real(alpha)), alpha.dtype)

        betas = b.indexed(diagonal, every, a.dtype)

        def factor(*lane: SSAValue) -> Scalar:
            """0 where there is nothing to eliminate, and nowhere else."""
            alpha, beta = read(matrix, [k, k, *lane]), read(betas, lane)
            is_needed = read(below, lane).differs(0) | s.imaginary(alpha).differs(0)
            return s.select(is_needed, (beta - alpha) / beta, 0)

        tau = b.indexed(factor, every, a.dtype)

        def scaled(*at: SSAValue) -> Scalar:
            i, lane = s.from_index(at[0]), at[1:]
            divisor = read(matrix, [k, k, *lane]) - read(betas, lane)
            return s.select(i.equals(k), 1, read(matrix, [i, k, *lane]) / divisor)

        vector = b.indexed(scaled, (rows, *every), a.dtype)

        def projected(i: Scalar, total: Scalar, *at: SSAValue) -> Scalar:
            term = s.conjugate(read(vector, [i, *at[1:]])) * read(matrix, [i, *at])
            return s.select(i < k, total, total + term)

        projection = folded(b, rows, b.fill(0, (columns, *every), a.dtype), projected)

        def element(x: Scalar, *at: SSAValue) -> Scalar:
            i, j, lane = within(at)
            v = read(vector, [at[0], *lane])
            column = s.select(i.equals(k), read(betas, lane), v)
            rest = x - s.conjugate(read(tau, lane)) * v * read(projection, at[1:])
            new = s.select(j.equals(k), column, rest)
            return s.select(read(tau, lane).differs(0) & ~(i < k) & ~(j < k), new, x)

        def kept(old: Scalar, *at: SSAValue) -> Scalar:
            return s.select(s.from_index(at[0]).equals(k), read(tau, at[1:]), old)

        return [updated(b, matrix, element), updated(b, factors, kept)]

    start = [a, b.fill(0, (count, *every), a.dtype)]
    result, factors = b.steps(count, start, eliminate, in_place=True)
    return result, factors


def reflect(b: LinalgBuilder, vectors: Tensor, tau: Tensor, array: Tensor, inverse: bool) -> Tensor:
    """H1 H2 ... Hk times an array, each H = 1 - tau v v^H with v unit lower trapezoidal; or the inverse of it, its adjoint."""
    rows = vectors.shape[0]

    def apply(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        [matrix] = state

        def vector(i: Scalar, lane: At) -> Scalar:
            return s.select(i < k, 0, s.select(i.equals(k), 1, read(vectors, [i, k, *lane])))

        def projected(i: Scalar, total: Scalar, *at: SSAValue) -> Scalar:
            return total + s.conjugate(vector(i, at[1:])) * read(matrix, [i, *at])

        projection = folded(b, rows, b.fill(0, matrix.shape[1:], array.dtype), projected)

        def element(x: Scalar, *at: SSAValue) -> Scalar:
            i, _, lane = within(at)
            factor = read(tau, [k, *lane])
            factor = s.conjugate(factor) if inverse else factor
            return x - factor * vector(i, lane) * read(projection, at[1:])

        return [updated(b, matrix, element)]

    return b.steps(tau.shape[0], [array], apply, backward=not inverse, in_place=True)[0]


SWEEPS = 14
"""Over all pairs of columns at most: convergence is quadratic, and takes 4 to 10 of them."""


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


def orthogonalized(b: LinalgBuilder, a: Tensor, with_rotations: bool = True) -> list[Tensor]:
    """Of a transposed matrix, A V with orthogonal columns, and the rotations V, transposed as well; best for an A of no more columns
    than rows. One-sided Jacobi rotations (Hestenes), of all pairs of a turn at once (Golub and Van Loan 8.6.3), until a sweep has
    met none that are further from orthogonal than what products of columns round off (de Rijk; LAPACK's gesvj)."""
    columns, rows, *lanes = a.shape
    every, turns = (columns, *lanes), turns_of(columns)

    def rotate(b: LinalgBuilder, number: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, met = state[0], state[-1]

        def pair(at: At) -> tuple[Scalar, Scalar]:
            column = s.from_index(at[0])
            return column, partner(column, number, columns)

        def squared(i: Scalar, total: Scalar, *at: SSAValue) -> Scalar:
            x = read(matrix, [at[0], i, *at[1:]])
            return total + x * x

        def multiplied(i: Scalar, total: Scalar, *at: SSAValue) -> Scalar:
            column, other = pair(at)
            return total + read(matrix, [column, i, *at[1:]]) * read(matrix, [other, i, *at[1:]])

        squares, products = (
            folded(b, rows, b.fill(0, every, a.dtype), added) for added in (squared, multiplied)
        )

        def tangent(*at: SSAValue) -> Scalar:
            """Of the angle that makes a pair orthogonal; 0 where it is. The two columns' have opposite signs."""
            column, other = pair(at)
            alpha, beta, gamma = read(squares, at), read(squares, [other, *at[1:]]), read(products, at)
            zeta = (beta - alpha) / (gamma * 2)
            angle = s.copysign(1 / (s.absolute(zeta) + s.sqrt(zeta * zeta + 1)), zeta)
            # Of columns as long as each other, the first turns one way, the second the other.
            angle = s.select(zeta.equals(0) & (column > other), -1, s.select(zeta.equals(0), 1, angle))
            negligible = ~(s.absolute(gamma) > s.sqrt(alpha * beta) * 2.0**-53)
            return s.select(negligible | column.equals(other), 0, angle)

        tangents = b.indexed(tangent, every, a.dtype)

        def cosine(*at: SSAValue) -> Scalar:
            angle = read(tangents, at)
            return 1 / s.sqrt(angle * angle + 1)

        cosines = b.indexed(cosine, every, a.dtype)

        def rotated(source: Tensor) -> Tensor:
            def element(*at: SSAValue) -> Scalar:
                _, other = pair(at)
                here = [at[0], *at[2:]]
                return (read(source, at) - read(tangents, here) * read(source, [other, *at[1:]])) * read(
                    cosines, here
                )

            return b.indexed(element, source.shape, a.dtype)

        def is_met(before: Scalar, *at: SSAValue) -> Scalar:
            _, other = pair(at)
            sizes = s.sqrt(read(squares, at) * read(squares, [other, *at[1:]]))
            rounded = s.cast(s.constant(rows, dt.Long), a.dtype) * 2.0**-52
            far = s.absolute(read(products, at)) > sizes * rounded
            return s.select(far & other.differs(s.from_index(at[0])), 1, before)

        return [*map(rotated, state[:-1]), updated(b, met, is_met)]

    def sweep(b: LinalgBuilder, _: Scalar, state: list[Tensor]) -> list[Tensor]:
        count = b.binary("muli", greatest(b, state[-1]), b.size(turns))
        return b.steps(count, [*state[:-1], b.fill(0, every, dt.Long)], rotate)

    start = [a, units(b, columns, lanes, a.dtype)][: 1 + with_rotations]
    return b.steps(SWEEPS, [*start, b.fill(1, every, dt.Long)], sweep)[:-1]
