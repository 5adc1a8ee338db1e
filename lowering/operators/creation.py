"""Lowerings of operators that make tensors from numbers.

`empty` and its kin give zeros, as in the interpreter: what uninitialised memory holds could not be reproduced.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, Expr, max_, min_
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.loops import first_where
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor

Out = list[TensorMeta]


@lowering("aten.full", "aten.full_like", takes_complex=True)
def full(b: LinalgBuilder, fill_value: float | Expr, out: Out) -> Tensor:
    return b.fill(fill_value, out[0].shape, out[0].dtype)


@lowering("aten.scalar_tensor", takes_complex=True)
def scalar_tensor(b: LinalgBuilder, s: float | Expr, out: Out) -> Tensor:
    return b.fill(s, out[0].shape, out[0].dtype)


@lowering("aten.empty.memory_format", "aten.empty_strided", "aten.empty_permuted", takes_complex=True)
def empty(b: LinalgBuilder, out: Out) -> Tensor:
    return b.fill(0, out[0].shape, out[0].dtype)


@lowering("aten.arange.start_step")
def arange(b: LinalgBuilder, start: float | Expr, step: float | Expr, out: Out) -> Tensor:
    """Integers in int64, floats in float64 as PyTorch's CPU kernel, rounded once."""
    dtype = out[0].dtype
    compute = dt.Double if dtype.category is Category.FLOAT else dt.Long

    def number(index: SSAValue) -> Scalar:
        first, increment = s.constant(start, compute), s.constant(step, compute)
        return s.cast(first + s.cast(s.from_index(index), compute) * increment, compute_dtype(dtype))

    return b.indexed(number, out[0].shape, dtype)


# --- triangles -----------------------------------------------------------------------------------------------


def below(rows: Scalar, row: Dim, col: Dim, offset: int) -> Scalar:
    """Number of elements on and below the diagonal `offset` of a matrix, in its first rows."""
    first = min_(max(-offset, 0), row)  # the first row that has any
    whole = max_(min_(col - offset, row), first)  # the first row from which on all have `col` of them
    rising = between(rows, first, whole) - first
    # The rows between have first + offset + 1 elements, one more, and so on.
    return s.shift_right(rising * (rising + (2 * (first + offset) + 1)), s.constant(1, dt.Long)) + (
        s.maximum(rows - whole, 0) * col
    )


def between(x: Scalar, low: s.Number, high: s.Number) -> Scalar:
    """The number brought between bounds, of which the lower counts."""
    return s.minimum(s.maximum(x, low), high)


def triangle(b: LinalgBuilder, row: Dim, col: Dim, offset: int, lower: bool, out: TensorMeta) -> Tensor:
    """Rows and columns of a triangle's elements, row by row. The row is found by bisection."""

    def before(rows: Scalar) -> Scalar:
        """Number of the triangle's elements in the first rows."""
        return below(rows, row, col, offset) if lower else rows * col - below(rows, row, col, offset - 1)

    def place(which: SSAValue, index: SSAValue) -> Scalar:
        position, zero = s.from_index(index), s.constant(0, dt.Long)
        found = first_where(lambda r: before(r + 1) > position, zero, s.constant(row, dt.Long))
        first = zero if lower else between(found + offset, 0, col)
        column = position - before(found) + first
        return s.cast(s.select(s.from_index(which).equals(0), found, column), out.dtype)

    return b.indexed(place, out.shape, out.dtype)


@lowering("aten.tril_indices", static=["offset"])
def tril_indices(b: LinalgBuilder, row: Dim, col: Dim, offset: int, out: Out) -> Tensor:
    return triangle(b, row, col, offset, True, out[0])


@lowering("aten.triu_indices", static=["offset"])
def triu_indices(b: LinalgBuilder, row: Dim, col: Dim, offset: int, out: Out) -> Tensor:
    return triangle(b, row, col, offset, False, out[0])
