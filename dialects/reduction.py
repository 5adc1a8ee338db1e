"""Shape rules of reductions, scans and norms: reduced dimensions go away, or stay with size 1 under `keepdim`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    check,
    shape_rule,
    shape_text,
    wrap_dim,
    wrap_dims,
)


def reduce_shape(shape: Shape, dims: Sequence[int] | None, keepdim: bool) -> Shape:
    """What a reduction over these dimensions leaves; None or none given is all of them."""
    reduced = wrap_dims(dims or None, len(shape))
    if keepdim:
        return tuple(1 if dim in reduced else size for dim, size in enumerate(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in reduced)


def check_not_empty(shape: Shape, dims: Sequence[int] | None) -> None:
    """What has no value over nothing (max, median) takes no dimension of size 0; over all, no empty tensor."""
    for dim in wrap_dims(dims or None, len(shape)):
        check(
            not shape or shape[dim] != 0, f"reduces dimension {dim} of {shape_text(shape)}, which has size 0"
        )


def one_or_all(dim: int | None) -> list[int] | None:
    """The `int? dim` of some schemas as a list of dimensions."""
    return None if dim is None else [dim]


@shape_rule("aten.sum", "aten.mean", "aten.prod", "aten.any", "aten.all", "aten.median", "aten.norm.Scalar")
@shape_rule("aten.nanmedian")
@shape_rule("aten.var", "aten.std")
def reduce_all(self: TensorMeta) -> Shape:
    return ()


@shape_rule("aten.max", "aten.min")
def extremum(self: TensorMeta) -> Shape:
    check_not_empty(self.shape, None)
    return ()


@shape_rule("aten.sum.dim_IntList", "aten.mean.dim", "aten.logsumexp", "aten.special_logsumexp")
@shape_rule("aten.nansum", "aten.nanmean")
@shape_rule("aten.var.correction", "aten.var.dim", "aten.std.correction", "aten.std.dim")
def reduce_dims(self: TensorMeta, dim: Sequence[int] | None, keepdim: bool) -> Shape:
    return reduce_shape(self.shape, dim, keepdim)


@shape_rule("aten.prod.dim_int", "aten.any.dim", "aten.all.dim")
def reduce_dim(self: TensorMeta, dim: int, keepdim: bool) -> Shape:
    return reduce_shape(self.shape, [dim], keepdim)


@shape_rule("aten.any.dims", "aten.all.dims")
def reduce_dims_or_none(self: TensorMeta, dim: Sequence[int] | None, keepdim: bool) -> Shape:
    # The only reductions that take an empty list at its word.
    return self.shape if dim == [] else reduce_shape(self.shape, dim, keepdim)


@shape_rule("aten.amax", "aten.amin")
def extremum_dims(self: TensorMeta, dim: Sequence[int], keepdim: bool) -> Shape:
    check_not_empty(self.shape, dim)
    return reduce_shape(self.shape, dim, keepdim)


@shape_rule("aten.argmax", "aten.argmin")
def arg_extremum(self: TensorMeta, dim: int | None, keepdim: bool) -> Shape:
    return extremum_dims(self, one_or_all(dim) or [], keepdim)


@shape_rule("aten.aminmax")
def aminmax(self: TensorMeta, dim: int | None, keepdim: bool) -> list[Shape]:
    return [arg_extremum(self, dim, keepdim)] * 2


@shape_rule("aten.max.dim", "aten.min.dim", "aten.median.dim", "aten.nanmedian.dim")
def extremum_dim(self: TensorMeta, dim: int, keepdim: bool) -> list[Shape]:
    return [extremum_dims(self, [dim], keepdim)] * 2


@shape_rule("aten.max.other", "aten.min.other")
def elementwise_extremum(self: TensorMeta, other: TensorMeta) -> Shape:
    return broadcast_shapes(self.shape, other.shape)


@shape_rule("aten.var_mean", "aten.std_mean")
def var_mean_all(self: TensorMeta) -> list[Shape]:
    return [(), ()]


@shape_rule("aten.var_mean.correction", "aten.var_mean.dim", "aten.std_mean.correction", "aten.std_mean.dim")
def var_mean(self: TensorMeta, dim: Sequence[int] | None, keepdim: bool) -> list[Shape]:
    return [reduce_shape(self.shape, dim, keepdim)] * 2


@shape_rule("aten.norm.ScalarOpt_dim")
def norm(self: TensorMeta, p: float | None, dim: Sequence[int], keepdim: bool) -> Shape:
    return vector_norm(self, 2 if p is None else p, dim, keepdim)


@shape_rule("aten.linalg_vector_norm")
def vector_norm(self: TensorMeta, ord: float, dim: Sequence[int] | None, keepdim: bool) -> Shape:
    if ord < 0 or ord == math.inf:
        check_not_empty(self.shape, dim)
    return reduce_shape(self.shape, dim, keepdim)


@shape_rule("aten.count_nonzero.dim_IntList")
def count_nonzero_dims(self: TensorMeta, dim: Sequence[int]) -> Shape:
    return reduce_shape(self.shape, dim, keepdim=False)


@shape_rule("aten.count_nonzero")
def count_nonzero(self: TensorMeta, dim: int | None) -> Shape:
    return reduce_shape(self.shape, one_or_all(dim), keepdim=False)


@shape_rule("aten.cumsum", "aten.cumprod")
def scan(self: TensorMeta, dim: int) -> Shape:
    wrap_dim(dim, self.ndim)
    return self.shape


@shape_rule("aten.logcumsumexp")
def logcumsumexp(self: TensorMeta, dim: int) -> Shape:
    check(self.dtype.category is not Category.COMPLEX, "complex numbers are not supported")
    return scan(self, dim)


INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
"""Ways to find a quantile between two elements."""


@shape_rule("aten.quantile", "aten.nanquantile")
def quantile(self: TensorMeta, q: TensorMeta, dim: int | None, keepdim: bool, interpolation: str) -> Shape:
    check(q.ndim <= 1, f"q is a number or a vector, not {shape_text(q.shape)}")
    check(q.dtype is self.dtype, f"q is {q.dtype}, self {self.dtype}")
    return q.shape + quantile_scalar(self, dim, keepdim, interpolation)


@shape_rule("aten.quantile.scalar", "aten.nanquantile.scalar")
def quantile_scalar(self: TensorMeta, dim: int | None, keepdim: bool, interpolation: str) -> Shape:
    check(interpolation in INTERPOLATIONS, f"interpolation '{interpolation}' is not one of {INTERPOLATIONS}")
    check_not_empty(self.shape, one_or_all(dim))
    return reduce_shape(self.shape, one_or_all(dim), keepdim)


@shape_rule("aten.cummax", "aten.cummin")
def scan_with_indices(self: TensorMeta, dim: int) -> list[Shape]:
    return [scan(self, dim)] * 2
