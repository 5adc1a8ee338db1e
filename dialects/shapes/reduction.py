"""Shape rules of reductions, scans and norms: reduced dimensions go away, or stay with size 1 under `keepdim`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl_exir.dialects.expr import Dim, Expr, provably
from xdsl_exir.dialects.expr import apply as apply_function
from xdsl_exir.dialects.meta import (
    Shape,
    broadcast_shapes,
    check,
    may_be_at_most,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
    wrap_dims,
)
from xdsl_exir.dialects.tensors import TensorMeta


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


@shape_rule("aten.max.dim", "aten.min.dim", "aten.median.dim", "aten.nanmedian.dim", "aten.mode")
def extremum_dim(self: TensorMeta, dim: int, keepdim: bool) -> list[Shape]:
    return [extremum_dims(self, [dim], keepdim)] * 2


@shape_rule("aten.var_mean", "aten.std_mean")
def var_mean_all(self: TensorMeta) -> list[Shape]:
    return [(), ()]


@shape_rule("aten.var_mean.correction", "aten.var_mean.dim", "aten.std_mean.correction", "aten.std_mean.dim")
def var_mean(self: TensorMeta, dim: Sequence[int] | None, keepdim: bool) -> list[Shape]:
    return [reduce_shape(self.shape, dim, keepdim)] * 2


@shape_rule("aten.norm.ScalarOpt_dim")
def norm(self: TensorMeta, p: float | Expr | None, dim: Sequence[int], keepdim: bool) -> Shape:
    return vector_norm(self, 2 if p is None else p, dim, keepdim)


@shape_rule("aten.linalg_vector_norm")
def vector_norm(self: TensorMeta, ord: float | Expr, dim: Sequence[int] | None, keepdim: bool) -> Shape:
    if not isinstance(ord, Expr) and (ord < 0 or ord == math.inf):
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


@shape_rule("aten.trace")
def trace(self: TensorMeta) -> Shape:
    check(self.ndim == 2, f"expected a matrix, got {shape_text(self.shape)}")
    return ()


@shape_rule("aten.dist")
def dist(self: TensorMeta, other: TensorMeta) -> Shape:
    broadcast_shapes(self.shape, other.shape)
    return ()


@shape_rule("aten.renorm")
def renorm(self: TensorMeta, p: float, dim: int, maxnorm: float) -> Shape:
    check(self.ndim > 1, f"needs two dimensions, not {self.ndim}")
    check(p > 0, f"p is {p}; it must be positive")
    check(maxnorm >= 0, f"maxnorm is {maxnorm}; it must not be negative")
    wrap_dim(dim, self.ndim)
    return self.shape


@shape_rule("aten.sum_to_size")
def sum_to_size(self: TensorMeta, size: list[Dim]) -> Shape:
    shape = tuple(size)
    check(
        len(shape) <= self.ndim and same_shape(broadcast_shapes(shape, self.shape), self.shape),
        f"{shape_text(shape)} does not broadcast to {shape_text(self.shape)}",
    )
    return shape


@shape_rule("aten.hash_tensor")
def hash_tensor(self: TensorMeta, dim: Sequence[int], keepdim: bool, mode: int) -> Shape:
    check(mode == 0, f"mode is {mode}; only 0, the exclusive or, is known")
    check(bool(dim) or numel(self.shape) != 0, "an empty tensor without dimensions to reduce")
    check_not_empty(self.shape, dim)
    return reduce_shape(self.shape, dim, keepdim)


# --- integrals and differences -------------------------------------------------------------------------------


@shape_rule("aten.trapezoid.x", "aten.trapz.x")
def trapezoid(y: TensorMeta, x: TensorMeta, dim: int) -> Shape:
    dim = sampled_dim(y, dim)
    steps = step_shape(y, x, dim)
    broadcast = broadcast_shapes(one_less(y.shape, dim), steps) if y.shape[dim] != 0 else y.shape
    return (*broadcast[:dim], *broadcast[dim + 1 :])


@shape_rule("aten.trapezoid.dx", "aten.trapz.dx")
def trapezoid_even(y: TensorMeta, dim: int) -> Shape:
    return reduce_shape(y.shape, [sampled_dim(y, dim)], keepdim=False)


@shape_rule("aten.cumulative_trapezoid.x")
def cumulative_trapezoid(y: TensorMeta, x: TensorMeta, dim: int) -> Shape:
    dim = sampled_dim(y, dim)
    return broadcast_shapes(one_less(y.shape, dim), step_shape(y, x, dim))


@shape_rule("aten.cumulative_trapezoid.dx")
def cumulative_trapezoid_even(y: TensorMeta, dim: int) -> Shape:
    return one_less(y.shape, sampled_dim(y, dim))


def sampled_dim(y: TensorMeta, dim: int) -> int:
    check(y.ndim > 0, f"dimension {dim} of a 0-dimensional tensor")
    return wrap_dim(dim, y.ndim)


def one_less(shape: Shape, dim: int) -> Shape:
    """The shape of the differences of neighbours."""
    size = shape[dim]
    return (*shape[:dim], size - 1 if size != 0 else 0, *shape[dim + 1 :])


def step_shape(y: TensorMeta, x: TensorMeta, dim: int) -> Shape:
    """The shape of the distances between points: a vector's lie along the dimension, others are aligned at the end."""
    check(x.ndim > 0, "x needs a dimension")
    if x.ndim == 1:
        check(same_size(x.shape[0], y.shape[dim]), f"{x.shape[0]} points for {y.shape[dim]} samples")
        shape = (*[1] * dim, x.shape[0], *[1] * (y.ndim - dim - 1))
    else:
        shape = (*[1] * (y.ndim - x.ndim), *x.shape)
    return one_less(shape, dim)


def gradients(self: TensorMeta, dims: Sequence[int], edge_order: int) -> list[Shape]:
    check(edge_order in (1, 2), f"edge_order is {edge_order}; 1 and 2 are known")
    check(self.ndim > 0, "gradient of a 0-dimensional tensor")
    for dim in wrap_dims(dims, self.ndim):
        check(
            may_be_at_most(edge_order + 1, self.shape[dim]),
            f"dimension {dim} of size {self.shape[dim]} with edge_order {edge_order}",
        )
    return [self.shape] * len(dims)


def check_spacing(self: TensorMeta, spacing: Sequence[float | TensorMeta], dims: Sequence[int]) -> None:
    """Each dimension has a distance, or the vector of its points."""
    check(len(spacing) == len(dims), f"{len(spacing)} spacings for {len(dims)} dimensions")
    for points, dim in zip(spacing, wrap_dims(dims, self.ndim), strict=True):
        if isinstance(points, TensorMeta):
            check(
                same_shape(points.shape, self.shape[dim : dim + 1]),
                f"points {shape_text(points.shape)} along dimension {dim} of {shape_text(self.shape)}",
            )


@shape_rule("aten.gradient.scalarint")
def gradient(self: TensorMeta, dim: int | None, edge_order: int) -> list[Shape]:
    return gradients(self, list(range(self.ndim)) if dim is None else [dim], edge_order)


@shape_rule(
    "aten.gradient.scalararray",
    "aten.gradient.array",
)
def gradient_dims(self: TensorMeta, dim: Sequence[int], edge_order: int) -> list[Shape]:
    return gradients(self, dim, edge_order)


@shape_rule("aten.gradient.scalarrayint", "aten.gradient.tensorarrayint")
def gradient_spaced(
    self: TensorMeta, spacing: Sequence[float | TensorMeta], dim: int | None, edge_order: int
) -> list[Shape]:
    check_spacing(self, spacing, range(self.ndim) if dim is None else [dim])
    return gradient(self, dim, edge_order)


@shape_rule("aten.gradient.scalarrayarray", "aten.gradient.tensorarray")
def gradient_spaced_dims(
    self: TensorMeta, spacing: Sequence[float | TensorMeta], dim: Sequence[int], edge_order: int
) -> list[Shape]:
    check_spacing(self, spacing, dim)
    return gradients(self, dim, edge_order)


# --- counts --------------------------------------------------------------------------------------------------


@shape_rule("aten.histc")
def histc(bins: int, min: float, max: float) -> Shape:
    check(bins > 0, f"bins is {bins}; it must be positive")
    check(provably(apply_function("le", min, max)) is not False, f"no bins lie from {min} to {max}")
    return (bins,)


@shape_rule("aten.bincount")
def bincount(self: TensorMeta, weights: TensorMeta | None, minlength: Dim) -> tuple[Dim | None, ...]:
    check(self.ndim == 1, f"expected a vector, got {shape_text(self.shape)}")
    check(weights is None or same_shape(weights.shape, self.shape), "weights must have self's shape")
    return (minlength if self.shape == (0,) else None,)


@shape_rule("aten.histogram.bin_ct")
def histogram(self: TensorMeta, bins: int, weight: TensorMeta | None) -> list[Shape]:
    check(bins > 0, f"bins is {bins}; it must be positive")
    check_weight(weight, self.shape)
    return [(bins,), (bins + 1,)]


@shape_rule("aten.histogram.bins_tensor")
def histogram_of_edges(self: TensorMeta, bins: TensorMeta, weight: TensorMeta | None) -> list[Shape]:
    check_weight(weight, self.shape)
    return [bin_counts([bins]), bins.shape]


@shape_rule("aten._histogramdd_bin_edges")
def histogramdd_edges(self: TensorMeta, bins: Sequence[int]) -> list[Shape]:
    check_points(self, len(bins))
    return [(count + 1,) for count in bins]


@shape_rule("aten._histogramdd_from_bin_cts")
def histogramdd(self: TensorMeta, bins: Sequence[int], weight: TensorMeta | None) -> Shape:
    check_points(self, len(bins))
    check_weight(weight, self.shape[:-1])
    return tuple(bins)


@shape_rule("aten._histogramdd_from_bin_tensors")
def histogramdd_of_edges(self: TensorMeta, bins: list[TensorMeta], weight: TensorMeta | None) -> Shape:
    check_points(self, len(bins))
    check_weight(weight, self.shape[:-1])
    return bin_counts(bins)


def check_points(self: TensorMeta, count: int) -> None:
    """The last dimension holds coordinates."""
    check(self.ndim >= 2, f"needs two dimensions, not {self.ndim}")
    check(same_size(self.shape[-1], count), f"bins for {count} dimensions; points have {self.shape[-1]}")


def check_weight(weight: TensorMeta | None, shape: Shape) -> None:
    check(weight is None or same_shape(weight.shape, shape), f"weight must be of shape {shape_text(shape)}")


def bin_counts(edges: Sequence[TensorMeta]) -> Shape:
    """The number of bins between these edges, by dimension."""
    for each in edges:
        check(each.ndim == 1, f"bins {shape_text(each.shape)} must be a vector of edges")
        check(each.shape[0] not in (0, 1), "a bin has two edges")
    return tuple(each.shape[0] - 1 for each in edges)


SEGMENT_REDUCTIONS = ("sum", "mean", "max", "min", "prod")


@shape_rule("aten.segment_reduce")
def segment_reduce(
    data: TensorMeta,
    reduce: str,
    lengths: TensorMeta | None,
    indices: TensorMeta | None,
    offsets: TensorMeta | None,
    axis: int,
) -> Shape:
    check(reduce in SEGMENT_REDUCTIONS, f"reduce '{reduce}' is not one of {SEGMENT_REDUCTIONS}")
    check(indices is None, "indices are not taken yet, in PyTorch either")
    bounds = lengths if offsets is None else offsets
    check(bounds is not None, "needs lengths or offsets")
    assert bounds is not None
    axis = wrap_dim(axis, data.ndim)
    check(
        bounds.ndim == axis + 1 and same_shape(bounds.shape[:-1], data.shape[:axis]),
        f"{shape_text(bounds.shape)} for segments of dimension {axis} of {shape_text(data.shape)}",
    )
    count = bounds.shape[-1] if offsets is None else bounds.shape[-1] - 1
    return (*data.shape[:axis], count, *data.shape[axis + 1 :])
