"""Functions of matrices that stand side by side: the exponential."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.side_by_side import folded, greatest, product, units, within
from xdsl_exir.lowering.tensors import Tensor, read

SERIES = {dt.Float: (5, 2.0), dt.Double: (6, 1.0)}
"""Blocks of the exponential's series, each of three terms, and up to which norm they are exact: each squaring less rounds off less."""

MOST_HALVINGS = 128
"""Enough for every norm that float32 has."""


def exponential(b: LinalgBuilder, a: Tensor) -> Tensor:
    """The Taylor series of the matrix divided by a power of 2 that makes its norm small, squared as often (Golub and
    Van Loan 9.3)."""
    size, _, *lanes = a.shape
    every, dtype = tuple(lanes), a.dtype
    blocks, bound = SERIES[dtype]

    def added(i: Scalar, total: Scalar, *at: SSAValue) -> Scalar:
        return total + s.absolute(read(a, [i, *at]))

    sums = folded(b, size, b.fill(0, a.shape[1:], dtype), added)

    def greater(j: Scalar, norm: Scalar, *at: SSAValue) -> Scalar:
        return s.maximum(norm, read(sums, [j, *at]))

    norms = folded(b, size, b.fill(0, every, dtype), greater)

    def halvings(norm: Scalar) -> Scalar:
        """The exponent of 2 of the greatest sum of a column's sizes."""
        exponent = s.floor(s.log2(s.maximum(norm / bound, 0.5))) + 1
        return s.cast(s.select(exponent <= MOST_HALVINGS, exponent, MOST_HALVINGS), dt.Long)

    counts = b.elementwise(halvings, [norms], every, dt.Long)

    def scaled(*at: SSAValue) -> Scalar:
        return read(a, at) * s.exp2(-s.cast(read(counts, at[2:]), dtype))

    first = b.indexed(scaled, a.shape, dtype)
    second = product(b, first, first)
    third = product(b, second, first)

    def block(b: LinalgBuilder, number: Scalar, state: list[Tensor]) -> list[Tensor]:
        """1 + (A + (A^2 + A^3 P / (k + 3)) / (k + 2)) / (k + 1), where k is three times the number (Paterson and Stockmeyer)."""
        rest = product(b, third, state[0])

        def element(*at: SSAValue) -> Scalar:
            i, j, _ = within(at)
            total = read(rest, at)
            for offset, lower in (
                (3, read(second, at)),
                (2, read(first, at)),
                (1, s.cast(i.equals(j), dtype)),
            ):
                total = lower + total / s.cast(number * 3 + offset, dtype)
            return total

        return [b.indexed(element, a.shape, dtype)]

    [series] = b.steps(blocks, [units(b, size, lanes, dtype)], block, backward=True)

    def square(b: LinalgBuilder, k: Scalar, state: list[Tensor]) -> list[Tensor]:
        squared = product(b, state[0], state[0])

        def element(*at: SSAValue) -> Scalar:
            return s.select(k < read(counts, at[2:]), read(squared, at), read(state[0], at))

        return [b.indexed(element, a.shape, dtype)]

    return b.steps(greatest(b, counts), [series], square)[0]
