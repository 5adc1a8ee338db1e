"""The order of elements along a dimension, by merging."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import max_
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, read
from xdsl_exir.lowering.loops import first_where
from xdsl_exir.lowering.places import in_range, replaced
from xdsl_exir.lowering.scalar import Scalar


def precedes(descending: bool) -> Callable[[Scalar, Scalar], Scalar]:
    """Whether a number has to stand before another. NaN counts as the greatest."""

    def ascending(x: Scalar, y: Scalar) -> Scalar:
        return (x < y) | (s.is_nan(y) & ~s.is_nan(x))

    return (lambda x, y: ascending(y, x)) if descending else ascending


def sorting_order(b: LinalgBuilder, self: Tensor, dim: int, descending: bool) -> Tensor:
    """The stable order along a dimension: sorted runs merged to runs of twice the length, until there is one."""
    order = b.indexed(lambda *at: s.from_index(at[dim]), self.shape, dt.Long)

    def step(b: LinalgBuilder, turn: Scalar, state: list[Tensor]) -> list[Tensor]:
        return [merged(b, self, dim, state[0], turn, precedes(descending))]

    return b.steps(b.bit_length(max_(self.shape[dim] - 1, 0)), [order], step)[0]


def merged(
    b: LinalgBuilder,
    self: Tensor,
    dim: int,
    order: Tensor,
    turn: Scalar,
    before: Callable[[Scalar, Scalar], Scalar],
) -> Tensor:
    """The order of runs of twice a width, 2 to the power of the turn. What comes k-th of two runs is found by itself: bisection tells how many of
    the first k stem from the left run."""
    size = self.shape[dim]

    def element(*at: SSAValue) -> Scalar:
        position, width = s.from_index(at[dim]), s.shift_left(s.constant(1, dt.Long), turn)
        k = s.rem(position, width * 2)
        start = position - k
        middle, end = s.minimum(start + width, size), s.minimum(start + width * 2, size)

        def entry(place: Scalar) -> Scalar:
            return read(order, replaced(at, dim, in_range(place, size)))

        def number(place: Scalar) -> Scalar:
            return read(self, replaced(at, dim, entry(place)))

        fewest = s.maximum(k - (end - middle), 0)
        most = s.minimum(k, middle - start)
        left = first_where(
            lambda count: before(number(middle + (k - 1 - count)), number(start + count)), fewest, most
        )
        right = k - left
        from_left = (start + left < middle) & (
            (middle + right >= end) | ~before(number(middle + right), number(start + left))
        )
        return s.select(from_left, entry(start + left), entry(middle + right))

    return b.indexed(element, self.shape, dt.Long)
