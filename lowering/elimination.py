"""Factors of square matrices by elimination, step by step: LU with exchanges of rows and Cholesky's, and substitution. Matrices are the first two
dimensions, those of a group side by side (`side_by_side`). What a step changes it changes in its place, of what it has read before: matrices are
not copied. Large ones are taken in parts, so that most of what is computed is a product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, min_
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.matrices import At
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.side_by_side import folded, updated, within
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

FACTORIZED, SUBSTITUTED = 64, 32
"""Columns, or unknowns, beyond which a matrix is taken half by half: then most of what is computed on one is a product."""

Eliminated = tuple[Tensor, Tensor, Tensor]
"""Both factors in one, the pivots (Int, from 1), and the statuses: 0, or the number of the first pivot that is 0."""


def lu_of(b: LinalgBuilder, a: Tensor) -> Eliminated:
    """Gaussian elimination with partial pivoting. Where there are many columns a few are eliminated among themselves, and
    only then taken from the others: a walk through the whole matrix takes longer than what is computed on it."""
    rows, columns, *lanes = a.shape
    count, info = min_(rows, columns), b.fill(0, tuple(lanes), dt.Int)
    if lanes or not isinstance(count, int) or not is_of_panels(count):
        return eliminated(b, a, b.size(0), count, info)
    if isinstance(rows, int) and isinstance(columns, int) and count > FACTORIZED:
        return lu_by_halves(b, a, half_of(count), rows, columns)
    state = [a, b.fill(0, (count,), dt.Int), info]
    factors, pivots, info = panel_by_panel(b, count, state, panel_eliminated)
    return factors, pivots, info


def lu_by_halves(b: LinalgBuilder, a: Tensor, left: int, rows: int, columns: int) -> Eliminated:
    """Of so many columns first, by which the others are then changed at once (Toledo, Locality of Reference in LU Decomposition, 1997)."""
    below, behind = rows - left, columns - left
    lower, pivots, info = lu_of(b, part_of(b, a, (0, 0), (rows, left)))
    right = with_rows_exchanged(b, part_of(b, a, (0, left), (rows, behind)), pivots)
    of_top, of_below = part_of(b, lower, (0, 0), (left, left)), part_of(b, lower, (left, 0), (below, left))
    upper = substituted(b, of_top, part_of(b, right, (0, 0), (left, behind)), True, True)
    rest = without_product(b, part_of(b, right, (left, 0), (below, behind)), of_below, upper)
    factors, later, found = lu_of(b, rest)
    made = b.insert(of_top, unset(b, a.shape, a.dtype), [0, 0])
    made = b.insert(upper, made, [0, left])
    made = b.insert(with_rows_exchanged(b, of_below, later), made, [left, 0])
    made = b.insert(factors, made, [left, left])
    later = b.elementwise(lambda row: row + left, [later], later.shape, dt.Int)
    chosen = b.insert(later, b.insert(pivots, unset(b, (min(rows, columns),), dt.Int), [0]), [left])

    def status(first: Scalar, second: Scalar) -> Scalar:
        return s.select(first.equals(0) & ~second.equals(0), second + left, first)

    return made, chosen, b.elementwise(status, [info, found], (), dt.Int)


def part_of(b: LinalgBuilder, matrix: Tensor, first: Sequence[int], shape: Sequence[int]) -> Tensor:
    """A block of a matrix, from a row and a column on."""
    return b.slice(matrix, first, shape, (1, 1))


def unset(b: LinalgBuilder, shape: Sizes, dtype: dt.DType) -> Tensor:
    """A tensor whose parts are inserted, all of them."""
    return Tensor(b.empty(shape, dtype), shape, dtype)


def half_of(count: int) -> int:
    """About half, in whole panels."""
    return -(-count // (2 * PANEL)) * PANEL


def without_product(b: LinalgBuilder, matrix: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """A matrix less a product, of which it takes a few terms at a time, as `lu_of` does."""

    def panel(b: LinalgBuilder, start: SSAValue, width: Dim, state: list[Tensor]) -> list[Tensor]:
        assert isinstance(width, int)

        def element(x: Scalar, i: SSAValue, j: SSAValue) -> Scalar:
            for k in range(width):
                number = s.from_index(start) + k
                x = x - read(left, [i, number]) * read(right, [number, j])
            return x

        return [updated(b, state[0], element)]

    return panel_by_panel(b, right.shape[0], [matrix], panel, in_place=True)[0]


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
    columns, *lanes = right.shape[1:]
    if not lanes and isinstance(size, int) and isinstance(columns, int) and size > SUBSTITUTED:
        a = b.permute(a, [1, 0]) if transpose else a
        return substituted_by_halves(b, a, right, forward, unit, (size, columns))

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


def substituted_by_halves(
    b: LinalgBuilder, a: Tensor, right: Tensor, forward: bool, unit: bool, shape: tuple[int, int]
) -> Tensor:
    """X of A X = B, of this shape, for A that is lower triangular, going forward, or upper: the unknowns of one half, which the rows of the
    other are rid of at once, and then those of this one."""
    size, columns = shape
    half = half_of(size) if forward else size - half_of(size)
    halves = [(0, half), (half, size - half)]
    (at, height), (then, rest) = halves if forward else halves[::-1]

    def of_a(row: int, column: int, *shape: int) -> Tensor:
        return part_of(b, a, (row, column), shape)

    known = part_of(b, right, (at, 0), (height, columns))
    known = substituted(b, of_a(at, at, height, height), known, forward, unit)
    others = part_of(b, right, (then, 0), (rest, columns))
    others = without_product(b, others, of_a(then, at, rest, height), known)
    others = substituted(b, of_a(then, then, rest, rest), others, forward, unit)
    return b.insert(others, b.insert(known, unset(b, right.shape, right.dtype), [at, 0]), [then, 0])


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
