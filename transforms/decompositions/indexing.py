"""Decompositions of indexing operators: most are `index`, `index_put`, `gather` or `sort`."""

from __future__ import annotations

from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.exir import PythonNumber
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.transforms.builder import Namespace, meta
from xdsl_exir.transforms.decompositions import KEEP, decomposition

Size: TypeAlias = int | SSAValue
"""A size as an argument: a number, or an SSA value if symbolic."""


def size(aten: Namespace, tensor: SSAValue, dim: int) -> Size:
    """A tensor's size, to be used as an argument."""
    known = meta(tensor).shape[dim]
    return aten.sym_size.int(tensor, dim) if isinstance(known, Expr) else known


# --- picking -------------------------------------------------------------------------------------------------


@decomposition("aten.take")
def take(aten: Namespace, self: SSAValue, index: SSAValue) -> SSAValue:
    return aten.index.Tensor(aten.view(self, [-1]), [index])


@decomposition("aten.take_along_dim")
def take_along_dim(aten: Namespace, self: SSAValue, indices: SSAValue, dim: int | None) -> SSAValue:
    if dim is None:
        return aten.gather(aten.view(self, [-1]), 0, aten.view(indices, [-1]))
    dim = wrap_dim(dim, meta(self).ndim)
    return aten.gather(
        expand_but(aten, self, indices, dim),
        dim,
        # Here, unlike in gather, negative indices count from the end.
        aten.remainder.Scalar(expand_but(aten, indices, self, dim), size(aten, self, dim)),
    )


def expand_but(aten: Namespace, self: SSAValue, other: SSAValue, dim: int) -> SSAValue:
    """A tensor broadcast to another of the same rank, but for one dimension."""
    sizes = [
        size(aten, self if axis == dim or own != 1 else other, axis)
        for axis, own in enumerate(meta(self).shape)
    ]
    return aten.expand(self, sizes)


@decomposition("aten.argsort")
def argsort(aten: Namespace, self: SSAValue, dim: int, descending: bool) -> SSAValue:
    return aten.sort(self, dim, descending)[1]


# --- placing along one dimension -----------------------------------------------------------------------------


def put(
    aten: Namespace, self: SSAValue, dim: int, index: SSAValue, values: SSAValue, accumulate: bool = False
) -> SSAValue:
    """`self` with values at a vector of indices along a dimension."""
    if meta(index).ndim == 0:
        index = aten.unsqueeze(index, 0)
    if meta(self).ndim == 0:
        vector = aten.index_put(aten.unsqueeze(self, 0), [index], values, accumulate)
        return aten.squeeze.dims(vector, [0])
    dim = wrap_dim(dim, meta(self).ndim)
    return aten.index_put(self, [*[None] * dim, index], values, accumulate)


@decomposition("aten.index_copy")
def index_copy(aten: Namespace, self: SSAValue, dim: int, index: SSAValue, source: SSAValue) -> SSAValue:
    return put(aten, self, dim, index, source)


@decomposition("aten.index_add")
def index_add(
    aten: Namespace, self: SSAValue, dim: int, index: SSAValue, source: SSAValue, alpha: PythonNumber
) -> SSAValue:
    scaled = source if alpha == 1 else aten.mul.Tensor(source, alpha)
    return put(aten, self, dim, index, scaled, accumulate=True)


@decomposition("aten.index_fill.int_Scalar")
def index_fill(aten: Namespace, self: SSAValue, dim: int, index: SSAValue, value: PythonNumber) -> SSAValue:
    filler = aten.scalar_tensor(value, dtype=meta(self).dtype, device=meta(self).device)
    return put(aten, self, dim, index, filler)


# --- masks ---------------------------------------------------------------------------------------------------


def below_diagonal(aten: Namespace, self: SSAValue) -> SSAValue:
    """How far each element's column is past its row, `[rows, columns]`."""
    rows, columns = (
        aten.arange.start_step(0, size(aten, self, dim), device=meta(self).device) for dim in (-2, -1)
    )
    return aten.sub.Tensor(aten.unsqueeze(columns, -2), aten.unsqueeze(rows, -1))


def keep_where(aten: Namespace, self: SSAValue, mask: SSAValue) -> SSAValue:
    zero = aten.scalar_tensor(0, dtype=meta(self).dtype, device=meta(self).device)
    return aten.where.self(mask, self, zero)


@decomposition("aten.tril")
def tril(aten: Namespace, self: SSAValue, diagonal: Size) -> SSAValue:
    return keep_where(aten, self, aten.le.Scalar(below_diagonal(aten, self), diagonal))


@decomposition("aten.triu")
def triu(aten: Namespace, self: SSAValue, diagonal: Size) -> SSAValue:
    return keep_where(aten, self, aten.ge.Scalar(below_diagonal(aten, self), diagonal))


@decomposition("aten.one_hot")
def one_hot(aten: Namespace, self: SSAValue, num_classes: int) -> Any:
    if num_classes == -1:
        return KEEP
    for comparison, bound, message in (
        (aten.ge, 0, "one_hot: Class values must be non-negative."),
        (aten.lt, num_classes, "one_hot: Class values must be smaller than num_classes."),
    ):
        wrong = aten.logical_not(comparison.Scalar(self, bound))
        aten._assert_async.msg(aten.logical_not(aten.any.dims(wrong)), message)
    classes = aten.arange.start_step(0, num_classes, dtype=dt.Long, device=meta(self).device)
    return aten._to_copy(aten.eq.Tensor(aten.unsqueeze(self, -1), classes), dtype=dt.Long)
