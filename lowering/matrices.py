"""What lowerings of linear algebra are made of: places inside matrices, transposes, and the real form of complex matrices.

Matrices are the last two dimensions of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, apply, provably
from xdsl_exir.dialects.meta import broadcast_shapes
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import PARTS
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.loops import repeat_while
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read

At = Sequence[SSAValue]


def over(count: Dim | Scalar, initial: Scalar, combine: Callable[[Scalar, Scalar], Scalar]) -> Scalar:
    """In a body: a number that `combine` makes from the last one and each number from 0 to `count`."""

    def more(k: Scalar, _: Scalar) -> Scalar:
        return k < count

    def step(k: Scalar, total: Scalar) -> list[Scalar]:
        return [k + 1, combine(k, total)]

    return repeat_while([s.constant(0, dt.Long), initial], more, step)[1]


def place(at: At) -> tuple[At, Scalar, Scalar]:
    """Batch indices, row and column."""
    return at[:-2], s.from_index(at[-2]), s.from_index(at[-1])


def transposed(b: LinalgBuilder, a: Tensor) -> Tensor:
    rank = a.ndim
    return b.permute(a, [*range(rank - 2), rank - 1, rank - 2])


def conjugated(b: LinalgBuilder, a: Tensor) -> Tensor:
    """Complex conjugates; real tensors are their own."""
    return b.elementwise(s.conjugate, [a], a.shape, a.dtype) if a.dtype in PARTS else a


def adjoint(b: LinalgBuilder, a: Tensor) -> Tensor:
    return transposed(b, conjugated(b, a))


def identity(b: LinalgBuilder, shape: Sizes, dtype: DType) -> Tensor:
    """Unit matrices."""

    def element(*at: SSAValue) -> Scalar:
        _, row, column = place(at)
        return s.cast(row.equals(column), dtype)

    return b.indexed(element, shape, dtype)


def broadcast_batches(b: LinalgBuilder, *matrices: Tensor) -> list[Tensor]:
    """Matrices with their batch dimensions broadcast."""
    batch = broadcast_shapes(*(matrix.shape[:-2] for matrix in matrices))
    return [b.broadcast(matrix, (*batch, *matrix.shape[-2:])) for matrix in matrices]


def real_form(b: LinalgBuilder, a: Tensor) -> Tensor:
    """Complex matrices x + i y as the real ones [[x, -y], [y, x]], which add, multiply and transpose as they do. Singular
    values, and eigenvalues of Hermitian matrices, are there twice each."""
    *batch, rows, columns = a.shape

    def element(*at: SSAValue) -> Scalar:
        where, i, j = place(at)
        below, right = i >= rows, j >= columns
        x = read(a, [*where, s.select(below, i - rows, i), s.select(right, j - columns, j)])
        part = s.select(below ^ right, s.imaginary(x), s.real(x))
        return s.select(right & ~below, -part, part)

    return b.indexed(element, (*batch, rows * 2, columns * 2), PARTS[a.dtype])


def complex_form(b: LinalgBuilder, a: Tensor, shape: Sizes, dtype: DType) -> Tensor:
    """The complex matrices whose real form is given."""

    def element(*at: SSAValue) -> Scalar:
        where, i, j = place(at)
        return s.complex_number(read(a, [*where, i, j]), read(a, [*where, i + shape[-2], j]))

    return b.indexed(element, shape, dtype)


def is_exchanged(pivots: Tensor, at: At, k: Scalar) -> Scalar:
    """Whether a row was exchanged with another one."""
    return s.cast(read(pivots, [*at, k]), dt.Long).differs(k + 1)


def given_to_lapack(b: LinalgBuilder, a: Tensor) -> Tensor:
    """As PyTorch keeps them, the factors beside a determinant are of the transposed matrix, but for complex numbers."""
    return a if a.dtype in PARTS else transposed(b, a)


def lengths(b: LinalgBuilder, matrix: Tensor) -> Tensor:
    """The lengths of rows."""
    squares = b.reduce(lambda total, x: total + x * x, matrix, [matrix.ndim - 1], 0, matrix.dtype)
    return b.elementwise(s.sqrt, [b.reshape(squares, matrix.shape[:-1])], matrix.shape[:-1], matrix.dtype)


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
