"""Algorithms that lowerings of linear algebra share, step by step: LU with exchanges of rows, Cholesky's, substitution,
reflections, and singular values by Jacobi's method. Matrices are the first two dimensions, those of a group side by side
(`side_by_side`). What a step changes it changes in its place, of what it has read before: matrices are not copied.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, min_
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import PARTS
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.matrices import At
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.side_by_side import folded, greatest, units, updated, within
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read


def exchanged(row: Scalar, k: Scalar, other: Scalar) -> Scalar:
    """Where a row stood before rows k and another were exchanged."""
    return s.select(row.equals(k), other, s.select(row.equals(other), k, row))


def magnitude(x: Scalar) -> Scalar:
    """By which LAPACK compares pivots: of complex numbers the sum of the parts' sizes."""
    return s.absolute(s.real(x)) + s.absolute(s.imaginary(x)) if s.is_complex(x) else s.absolute(x)


PANEL = 8
"""Columns that are eliminated together: as many products are taken at once from each element behind them."""

Eliminated = tuple[Tensor, Tensor, Tensor]
"""Both factors in one, the pivots (Int, from 1), and the statuses: 0, or the number of the first pivot that is 0."""


def lu_of(b: LinalgBuilder, a: Tensor) -> Eliminated:
    """Gaussian elimination with partial pivoting. Where there are many columns a few are eliminated among themselves, and
    only then taken from the others: a walk through the whole matrix takes longer than what is computed on it."""
    rows, columns, *lanes = a.shape
    count, info = min_(rows, columns), b.fill(0, tuple(lanes), dt.Int)
    if lanes or not isinstance(count, int) or not is_of_panels(count):
        return eliminated(b, a, b.size(0), count, info)
    state = [a, b.fill(0, (count,), dt.Int), info]
    factors, pivots, info = panel_by_panel(b, count, state, panel_eliminated)
    return factors, pivots, info


Panel = Callable[[LinalgBuilder, SSAValue, Dim, list[Tensor]], list[Tensor]]
"""A state with so many further columns of a factorization, from that of a number (an `index` value) on."""


def is_of_panels(count: Dim) -> bool:
    """Whether a matrix has, or may have, so many columns that it is factorized panel by panel."""
    return not isinstance(count, int) or count >= 3 * PANEL


def panel_by_panel(
    b: LinalgBuilder, count: Dim, state: list[Tensor], panel: Panel, in_place: bool = False
) -> list[Tensor]:
    """The state after so many columns."""

    def turn(b: LinalgBuilder, number: Scalar, state: list[Tensor]) -> list[Tensor]:
        start = b.add(arith.IndexCastOp(number.value, IndexType()))
        return panel(b, b.binary("muli", start, b.size(PANEL)), PANEL, state)

    rest = count % PANEL
    made = b.steps(count // PANEL, state, turn, in_place=in_place)
    return made if rest == 0 else panel(b, b.size(count - rest), rest, made)


def columns_from(b: LinalgBuilder, matrix: Tensor, start: SSAValue, width: Dim) -> Tensor:
    """So many columns of a matrix, from that of a number on: its columns first."""

    def taken(j: SSAValue, i: SSAValue) -> Scalar:
        return read(matrix, [i, s.from_index(start) + s.from_index(j)])

    return b.indexed(taken, (width, matrix.shape[0]), matrix.dtype)


def panel_eliminated(b: LinalgBuilder, start: SSAValue, width: Dim, state: list[Tensor]) -> list[Tensor]:
    """A `Panel` of a matrix, its pivots and status."""
    assert isinstance(width, int)
    matrix, pivots, info = state
    rows, columns = matrix.shape
    dtype = matrix.dtype

    def behind(at: SSAValue) -> Scalar:
        return s.from_index(at) >= s.from_index(start) + width

    def down(at: SSAValue) -> Scalar:
        return s.from_index(start) + s.from_index(at)

    panel = columns_from(b, matrix, start, width)
    lower, chosen, info = eliminated(b, panel, start, width, info, in_columns=True)
    order = order_of(b, (rows,), chosen, start)

    def in_order(i: SSAValue, j: SSAValue) -> Scalar:
        return read(matrix, [read(order, [down(i)]), j])

    def on_diagonal(i: SSAValue, j: SSAValue) -> Scalar:
        return read(lower, [j, down(i)])

    top = b.indexed(in_order, (width, columns), dtype)
    solved = substituted(b, b.indexed(on_diagonal, (width, width), dtype), top, True, True)

    def of_top(i: SSAValue, j: SSAValue) -> Scalar:
        return s.select(behind(j), read(solved, [i, j]), read(top, [i, j]))

    upper = b.indexed(of_top, top.shape, dtype)

    def element(i: SSAValue, j: SSAValue) -> Scalar:
        old = new = read(matrix, [read(order, [i]), j])
        for k in range(width):
            number = s.constant(k, dt.Long)
            new = new - read(lower, [number, i]) * read(upper, [number, j])
        return s.select(behind(i) & behind(j), new, old)

    after = b.insert(upper, b.indexed(element, matrix.shape, dtype), [start, 0])
    after = b.insert(b.permute(lower, [1, 0]), after, [0, start])
    return [after, b.insert(chosen, pivots, [start]), info]


def eliminated(
    b: LinalgBuilder, a: Tensor, start: SSAValue, count: Dim, info: Tensor, in_columns: bool = False
) -> Eliminated:
    """So many steps of an elimination, of a matrix whose first column meets the diagonal in a row, an `index` value. The matrix has
    its columns first if it lies `in_columns`: few, so that loops along these are vectors."""
    rows, columns = a.shape[:2][:: -1 if in_columns else 1]
    every = a.shape[2:]

    def element_at(matrix: Tensor, row: Scalar | SSAValue, column: Scalar | SSAValue, lane: At) -> Scalar:
        return read(matrix, [column, row, *lane] if in_columns else [row, column, *lane])

    def eliminate(b: LinalgBuilder, column: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, pivots, info = state

        def diagonal() -> Scalar:
            return s.from_index(start) + column

        def better(i: Scalar, best: Scalar, *lane: SSAValue) -> Scalar:
            new, old = (magnitude(element_at(matrix, row, column, lane)) for row in (i, best))
            return s.select((i > diagonal()) & (new > old), i, best)

        chosen = folded(b, rows, b.indexed(lambda *_: diagonal(), every, dt.Long), better)

        def of_pivot(*at: SSAValue) -> Scalar:
            return element_at(matrix, read(chosen, at[1:]), at[0], at[1:])

        pivot = b.indexed(of_pivot, (columns, *every), a.dtype)
        moved_down = b.indexed(
            lambda *at: element_at(matrix, diagonal(), at[0], at[1:]), (columns, *every), a.dtype
        )

        def factor(*at: SSAValue) -> Scalar:
            """What the pivot's row is taken away times, from each row below."""
            i, lane = s.from_index(at[0]), at[1:]
            before = s.select(i.equals(read(chosen, lane)), diagonal(), i)
            first, divisor = element_at(matrix, before, column, lane), read(pivot, [column, *lane])
            return s.select(divisor.equals(0), first, first / divisor)

        factors = b.indexed(factor, (rows, *every), a.dtype)

        def element(old: Scalar, *at: SSAValue) -> Scalar:
            row, along, *lane = (at[1], at[0], *at[2:]) if in_columns else at
            i, j, k = s.from_index(row), s.from_index(along), diagonal()
            top, times = read(pivot, [along, *lane]), read(factors, [row, *lane])
            x = s.select(i.equals(read(chosen, lane)), read(moved_down, [along, *lane]), old)
            below = s.select(j < column, x, s.select(j.equals(column), times, x - times * top))
            return s.select(i > k, below, s.select(i.equals(k), top, old))

        def status(found: Scalar, *at: SSAValue) -> Scalar:
            fails = found.equals(0) & read(pivot, [column, *at]).equals(0)
            return s.select(fails, s.cast(diagonal() + 1, dt.Int), found)

        def moved(old: Scalar, *at: SSAValue) -> Scalar:
            row = s.cast(read(chosen, at[1:]) + 1, dt.Int)
            return s.select(s.from_index(at[0]).equals(column), row, old)

        return [updated(b, matrix, element), updated(b, pivots, moved), updated(b, info, status)]

    given = [a, b.fill(0, (count, *every), dt.Int), info]
    factors, pivots, info = b.steps(count, given, eliminate, in_place=True)
    return factors, pivots, info


def cholesky_of(b: LinalgBuilder, a: Tensor) -> tuple[Tensor, Tensor]:
    """The lower factor, and the number of the first leading minor that is not positive, where the algorithm stops; or 0. A few
    columns at a time where there are many, as in `lu_of`."""
    size, _, *lanes = a.shape
    info = b.fill(0, tuple(lanes), dt.Int)

    if lanes or not is_of_panels(size):
        matrix, info = rooted(b, a, b.size(0), size, info)
    else:
        matrix, info = panel_by_panel(b, size, [a, info], panel_rooted, in_place=True)

    def low(*at: SSAValue) -> Scalar:
        i, j, _ = within(at)
        return s.select(i < j, 0, read(matrix, at))

    return b.indexed(low, a.shape, a.dtype), info


def panel_rooted(b: LinalgBuilder, start: SSAValue, width: Dim, state: list[Tensor]) -> list[Tensor]:
    """A `Panel` of a matrix and its status; one of unknown width is the last."""
    matrix, info = state
    panel = columns_from(b, matrix, start, width)
    lower, info = rooted(b, panel, start, width, info, in_columns=True)
    turned = b.permute(lower, [1, 0])
    if not isinstance(width, int):
        return [b.insert(turned, matrix, [0, start]), info]

    def element(old: Scalar, *at: SSAValue) -> Scalar:
        i, j, _ = within(at)
        new = old
        for k in range(width):
            row, column = (read(lower, [s.constant(k, dt.Long), place]) for place in at)
            new = new - row * s.conjugate(column)
        is_behind = (i >= j) & (j >= s.from_index(start) + width)
        return s.select(read(info, []).equals(0) & is_behind, new, old)

    return [b.insert(turned, updated(b, matrix, element), [0, start]), info]


def rooted(
    b: LinalgBuilder, a: Tensor, start: SSAValue, count: Dim, info: Tensor, in_columns: bool = False
) -> tuple[Tensor, Tensor]:
    """So many columns of a lower factor, and the status, of a matrix as `eliminated` takes it."""
    size, every = a.shape[1 if in_columns else 0], a.shape[2:]

    def eliminate(b: LinalgBuilder, column: Scalar, state: list[Tensor]) -> list[Tensor]:
        matrix, info = state

        def diagonal() -> Scalar:
            return s.from_index(start) + column

        def of_column(row: Scalar | SSAValue, lane: At) -> Scalar:
            return read(matrix, [column, row, *lane] if in_columns else [row, column, *lane])

        def scaled(*at: SSAValue) -> Scalar:
            x, lane = of_column(at[0], at[1:]), at[1:]
            root = s.cast(s.sqrt(s.real(of_column(diagonal(), lane))), x.dtype)
            return s.select(s.from_index(at[0]).equals(diagonal()), root, x / root)

        factors = b.indexed(scaled, (size, *every), a.dtype)

        def status(found: Scalar, *at: SSAValue) -> Scalar:
            fails = found.equals(0) & ~(s.real(of_column(diagonal(), at)) > 0)
            return s.select(fails, s.cast(diagonal() + 1, dt.Int), found)

        failed = updated(b, info, status)

        def element(x: Scalar, *at: SSAValue) -> Scalar:
            row, along, *lane = (at[1], at[0], *at[2:]) if in_columns else at
            i, j, k = s.from_index(row), s.from_index(start) + s.from_index(along), diagonal()
            first = read(factors, [row, *lane])
            rest = x - first * s.conjugate(read(factors, [j, *lane]))
            new = s.select(j.equals(k), first, rest)
            return s.select(read(failed, lane).equals(0) & ~(j < k) & ~(i < j), new, x)

        return [updated(b, matrix, element), failed]

    matrix, info = b.steps(count, [a, info], eliminate, in_place=True)
    return matrix, info


def order_of(
    b: LinalgBuilder, shape: Sizes, pivots: Tensor, start: SSAValue, inverse: bool = False
) -> Tensor:
    """Where rows, as many as a shape says, stood before they were exchanged as pivots say, in order, the first one with the row `start`."""

    def exchange(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        [order] = state

        def place(*at: SSAValue) -> Scalar:
            other = s.cast(read(pivots, [k, *at[1:]]), dt.Long) - 1
            row = exchanged(s.from_index(at[0]), s.from_index(start) + k, other)
            return read(order, [row, *at[1:]])

        return [b.indexed(place, order.shape, dt.Long)]

    rows = b.indexed(lambda *at: s.from_index(at[0]), shape, dt.Long)
    [order] = b.steps(pivots.shape[0], [rows], exchange, backward=inverse)
    return order


def with_rows_exchanged(b: LinalgBuilder, right: Tensor, pivots: Tensor, inverse: bool = False) -> Tensor:
    """Rows of matrices exchanged as pivots say, in order; `inverse` is back."""

    order = order_of(b, (right.shape[0], *right.shape[2:]), pivots, b.size(0), inverse)

    def element(*at: SSAValue) -> Scalar:
        return read(right, [read(order, [at[0], *at[2:]]), *at[1:]])

    return b.indexed(element, right.shape, right.dtype)


def substituted(
    b: LinalgBuilder, a: Tensor, right: Tensor, lower: bool, unit: bool, transpose: bool = False
) -> Tensor:
    """X of A X = B, or of the transposed A, for triangular A: by substitution, forward or backward. `unit` takes ones for
    its diagonal."""
    size, forward = a.shape[0], lower is not transpose

    def eliminate(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        [matrix] = state

        def coefficient(row: Scalar, lane: At) -> Scalar:
            return read(a, [k, row, *lane] if transpose else [row, k, *lane])

        def quotient(*at: SSAValue) -> Scalar:
            x = read(matrix, [k, *at])
            return x if unit else x / coefficient(k, at[1:])

        found = b.indexed(quotient, right.shape[1:], right.dtype)

        def element(x: Scalar, *at: SSAValue) -> Scalar:
            i, _, lane = within(at)
            known = read(found, at[1:])
            rest = x - coefficient(i, lane) * known
            return s.select(i.equals(k), known, s.select(i > k if forward else i < k, rest, x))

        return [updated(b, matrix, element)]

    return b.steps(size, [right], eliminate, backward=not forward, in_place=True)[0]


def solved(
    b: LinalgBuilder, factors: Tensor, pivots: Tensor, right: Tensor, transpose: bool = False
) -> Tensor:
    """X of A X = B, or of the transposed A, from the factors of A."""
    if transpose:
        right = substituted(b, factors, right, False, False, True)
        right = substituted(b, factors, right, True, True, True)
        return with_rows_exchanged(b, right, pivots, inverse=True)
    right = with_rows_exchanged(b, right, pivots)
    right = substituted(b, factors, right, True, True)
    return substituted(b, factors, right, False, False)


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
