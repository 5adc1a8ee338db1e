"""Sums that keep what they round off."""

from __future__ import annotations

from collections.abc import Callable

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar


def compensated(combine: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """A sum that keeps what it rounds off as its imaginary part (Knuth's TwoSum: The Art of Computer Programming, 4.2.2)."""

    def add(pair: Scalar, *elements: Scalar) -> Scalar:
        before = s.real(pair)
        term = combine(s.constant(0, dt.Double), *elements)
        after = before + term
        added = after - before
        lost = (before - (after - added)) + (term - added)
        return s.complex_number(after, s.imaginary(pair) + lost)

    return add


def total_of(pair: Scalar) -> Scalar:
    """A compensated sum as a number; of an infinite one nothing was rounded off."""
    high, low = s.real(pair), s.imaginary(pair)
    return s.select(s.is_nan(low), high, high + low)
