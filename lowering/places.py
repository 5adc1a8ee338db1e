"""Places in a tensor that data says: indices, of which nobody knows whether they are within it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar

Place = list[Scalar | SSAValue]


def from_start(index: Scalar, size: Dim, wraps: bool) -> Scalar:
    """An index as int64; negative ones count from the end if it `wraps`."""
    index = s.cast(index, dt.Long)
    return s.select(index < 0, index + size, index) if wraps else index


def in_range(index: Scalar, size: Dim, wraps: bool = False) -> Scalar:
    """The index within a dimension that is closest to one."""
    return s.maximum(s.minimum(from_start(index, size, wraps), size - 1), 0)


def is_within(index: Scalar, size: Dim, wraps: bool = False) -> Scalar:
    """Whether an index is within a dimension."""
    index = from_start(index, size, wraps)
    return (index >= 0) & (index < size)


def replaced(place: Sequence[SSAValue], dim: int, by: Scalar) -> Place:
    """Indices with another one in one dimension."""
    return [*place[:dim], by, *place[dim + 1 :]]
