"""Decompositions of reductions: overloads become the general one, the rest is written out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.dtypes import Byte, Category, DType, Float
from xdsl_exir.transforms.builder import Namespace, cast, meta, opmath
from xdsl_exir.transforms.decompositions import decomposition


@decomposition("aten.sum")
def sum_all(aten: Namespace, self: SSAValue, dtype: DType | None) -> SSAValue:
    return aten.sum.dim_IntList(self, [], dtype=dtype)


@decomposition("aten.max.other")
def maximum(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return aten.maximum(self, other)


@decomposition("aten.min.other")
def minimum(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return aten.minimum(self, other)


@decomposition("aten.aminmax")
def aminmax(aten: Namespace, self: SSAValue, dim: int | None, keepdim: bool) -> tuple[SSAValue, SSAValue]:
    dims = [] if dim is None else [dim]
    return aten.amin(self, dims, keepdim), aten.amax(self, dims, keepdim)


# --- logic: all are, unless any is not -----------------------------------------------------------------------


@decomposition("aten.all")
def all_elements(aten: Namespace, self: SSAValue) -> SSAValue:
    return all_dims(aten, self, None, False)


@decomposition("aten.all.dims")
def all_dims(aten: Namespace, self: SSAValue, dim: Sequence[int] | None, keepdim: bool) -> SSAValue:
    return none_is(aten, aten.any.dims(aten.logical_not(self), dim, keepdim), self)


@decomposition("aten.all.dim")
def all_dim(aten: Namespace, self: SSAValue, dim: int, keepdim: bool) -> SSAValue:
    return none_is(aten, aten.any.dim(aten.logical_not(self), dim, keepdim), self)


def none_is(aten: Namespace, anything: SSAValue, self: SSAValue) -> SSAValue:
    nothing = aten.logical_not(anything)
    # The logic of bytes has bytes for results.
    return cast(aten, nothing, Byte) if meta(self).dtype is Byte else nothing


# --- spread --------------------------------------------------------------------------------------------------


@decomposition("aten.var")
def var_all(aten: Namespace, self: SSAValue, unbiased: bool) -> SSAValue:
    return aten.var.correction(self, correction=int(unbiased))


@decomposition("aten.var.dim")
def var_dims(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, unbiased: bool, keepdim: bool
) -> SSAValue:
    return aten.var.correction(self, dim, correction=int(unbiased), keepdim=keepdim)


@decomposition("aten.std")
def std_all(aten: Namespace, self: SSAValue, unbiased: bool) -> SSAValue:
    return std(aten, self, None, float(unbiased), False)


@decomposition("aten.std.dim")
def std_dims(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, unbiased: bool, keepdim: bool
) -> SSAValue:
    return std(aten, self, dim, float(unbiased), keepdim)


@decomposition("aten.std.correction")
def std(
    aten: Namespace, self: SSAValue, dim: Sequence[int] | None, correction: float | None, keepdim: bool
) -> SSAValue:
    dtype = meta(self).dtype
    correction = 1.0 if correction is None else correction
    spread = aten.var.correction(cast(aten, self, opmath(dtype)), dim, correction=correction, keepdim=keepdim)
    deviation = aten.sqrt(spread)
    return deviation if dtype.category is Category.COMPLEX else cast(aten, deviation, dtype)


# --- counts and norms ----------------------------------------------------------------------------------------


@decomposition("aten.count_nonzero")
def count_nonzero(aten: Namespace, self: SSAValue, dim: int | None) -> SSAValue:
    return count_nonzero_dims(aten, self, None if dim is None else [dim])


@decomposition("aten.count_nonzero.dim_IntList")
def count_nonzero_dims(aten: Namespace, self: SSAValue, dim: Sequence[int] | None) -> SSAValue:
    return aten.sum.dim_IntList(aten.ne.Scalar(self, 0), dim)


@decomposition("aten.norm.Scalar")
def norm_all(aten: Namespace, self: SSAValue, p: float) -> SSAValue:
    return aten.linalg_vector_norm(self, p)


@decomposition("aten.norm.ScalarOpt_dim")
def norm_dims(
    aten: Namespace, self: SSAValue, p: float | None, dim: Sequence[int], keepdim: bool
) -> SSAValue:
    return aten.linalg_vector_norm(self, 2 if p is None else p, dim, keepdim)


@decomposition("aten.logsumexp")
def logsumexp(aten: Namespace, self: SSAValue, dim: Sequence[int], keepdim: bool) -> SSAValue:
    """`log(sum(exp(x - m))) + m` with the maximum for m, where that is finite."""
    held = meta(self).dtype
    dtype = held if held.category > Category.INT else Float
    x = cast(aten, self, opmath(dtype))
    dims = list(dim) or list(range(meta(self).ndim))
    if 0 in meta(self).shape:
        # Nothing has no maximum.
        return cast(aten, aten.log(aten.sum.dim_IntList(aten.exp(x), dims, keepdim)), dtype)
    maxima = aten.amax(x, dims, True)
    infinite = aten.eq.Scalar(aten.abs(maxima), math.inf)
    zero = aten.scalar_tensor(0.0, dtype=meta(maxima).dtype)
    maxima = aten.where.self(infinite, zero, maxima)
    total = aten.sum.dim_IntList(aten.exp(aten.sub.Tensor(x, maxima)), dims, keepdim)
    offset = maxima if keepdim else aten.squeeze.dims(maxima, dims)
    return cast(aten, aten.add.Tensor(aten.log(total), offset), dtype)
