"""Gradients of reductions and scans.

A gradient goes back along the dimensions that were reduced, which are put in place again with size 1; that it is repeated
along them is seen to elsewhere (`reverse.fitted`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.meta import wrap_dim, wrap_dims
from xdsl_exir.transforms.arithmetic import Number, both, choose
from xdsl_exir.transforms.decompositions.backward import zeros
from xdsl_exir.transforms.decompositions.pointwise import is_complex
from xdsl_exir.transforms.decompositions.view import Size, Sizes
from xdsl_exir.transforms.gradients import Gradient, Gradients, conj, constant, gradient, times
from xdsl_exir.transforms.gradients.pointwise import is_it
from xdsl_exir.transforms.regions import Values, scan

constant(
    "aten.histc", "aten.histogram.bin_ct", "aten.histogram.bins_tensor", "aten.bincount", "aten.hash_tensor"
)
constant("aten.any", "aten.any.dim", "aten.any.dims", "aten.argmax", "aten.argmin")
constant(
    "aten._histogramdd_bin_edges", "aten._histogramdd_from_bin_cts", "aten._histogramdd_from_bin_tensors"
)

# --- what rules share ----------------------------------------------------------------------------------------


def reduced(self: SSAValue, dim: Sequence[int] | None) -> list[int]:
    """The dimensions that are reduced: all, if none is named."""
    rank = meta(self).ndim
    return sorted(wrap_dims(dim, rank)) if dim and rank else list(range(rank))


def restored(
    aten: Namespace, value: SSAValue, self: SSAValue, dim: Sequence[int] | None, keepdim: bool
) -> SSAValue:
    """What was reduced, with the dimensions again that were, of size 1."""
    if not keepdim and meta(value).ndim:  # one number fits as it is
        for axis in reduced(self, dim):
            value = aten.unsqueeze(value, axis)
    return value


def count_along(aten: Namespace, self: SSAValue, dims: Sequence[int]) -> Size:
    """How many elements become one."""
    size_of = Sizes(aten, self)
    return size_of.flat(meta(self).shape[dim] for dim in dims)


def one_dim(dim: int | None) -> list[int] | None:
    return None if dim is None else [dim]


# --- sums ----------------------------------------------------------------------------------------------------


@gradient("aten.sum.dim_IntList")
def sum(
    aten: Namespace, grad: SSAValue, self: SSAValue, dim: Sequence[int] | None, keepdim: bool
) -> Gradients:
    return restored(aten, grad, self, dim, keepdim)


@gradient("aten.mean.dim")
def mean_dim(
    aten: Namespace, grad: SSAValue, self: SSAValue, dim: Sequence[int] | None, keepdim: bool
) -> Gradients:
    share = aten.div.Scalar(grad, count_along(aten, self, reduced(self, dim)))
    return restored(aten, share, self, dim, keepdim)


@gradient("aten.mean")
def mean(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    return mean_dim(aten, grad, self, None, False)


def of_variance(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
) -> SSAValue:
    """`2 (x - mean) / (n - correction)`; of a variance of nothing it is infinite or no number, as PyTorch has it."""
    grad, dims = restored(aten, grad, self, dim, keepdim), reduced(self, dim)
    deviation = aten.sub.Tensor(self, aten.mean.dim(self, dims, True)) if dims else aten.zeros_like(self)
    count = aten.scalar_tensor(count_along(aten, self, dims), dtype=meta(grad).dtype)
    freedom = aten.sub.Scalar(count, 1 if correction is None else correction)
    scale = aten.div.Tensor(aten.mul.Scalar(grad, 2), aten.clamp(freedom, 0))
    return aten.mul.Tensor(scale, deviation)


@gradient("aten.var.correction")
def var(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
) -> Gradients:
    return of_variance(aten, grad, self, dim, correction, keepdim)


@gradient("aten.std.correction")
def std(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
    result: SSAValue,
) -> Gradients:
    """Of elements that are all the same there is none."""
    half = aten.div.Tensor(grad, aten.mul.Scalar(result, 2))
    half = choose(aten, aten.ne.Scalar(result, 0), half)
    return of_variance(aten, half, self, dim, correction, keepdim)


@gradient("aten.var_mean.correction")
def var_mean(
    aten: Namespace,
    grad: tuple[Gradient, Gradient],
    self: SSAValue,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
) -> Gradients:
    of_var, of_mean = grad
    shares = [
        of_var and of_variance(aten, of_var, self, dim, correction, keepdim),
        of_mean and mean_dim(aten, of_mean, self, dim, keepdim),
    ]
    return total(aten, self, shares)


def total(aten: Namespace, self: SSAValue, shares: Sequence[Any]) -> Gradient:
    """The sum of what is there, as large as an argument."""
    there = [share for share in shares if share is not None]
    if len(there) == 2:
        return aten.add.Tensor(*there)
    return there[0] if there else None


@gradient("aten.logsumexp")
def logsumexp(
    aten: Namespace, grad: SSAValue, self: SSAValue, dim: Sequence[int], keepdim: bool, result: SSAValue
) -> Gradients:
    grad, result = (restored(aten, each, self, dim, keepdim) for each in (grad, result))
    finite = choose(aten, aten.ne.Scalar(aten.abs(result), math.inf), result)
    return times(aten, grad, aten.exp(aten.sub.Tensor(self, finite)))


@gradient("aten.linalg_vector_norm")
def vector_norm(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    ord: Number,
    dim: Sequence[int] | None,
    keepdim: bool,
    result: SSAValue,
) -> Gradients:
    """Of a norm that is zero there is none."""
    assert not isinstance(ord, SSAValue)
    if ord == 0:
        return None
    grad, norm = (restored(aten, each, self, dim, keepdim) for each in (grad, result))
    if ord == 1:
        return aten.mul.Tensor(aten.sgn(self), grad)
    if math.isinf(float(ord.real)):
        largest = is_it(aten, aten.abs(self), norm)
        return aten.mul.Tensor(aten.sgn(self), evenly(aten, grad, self, largest, dim))
    is_there = aten.ne.Scalar(norm, 0)
    if ord == 2:
        return choose(aten, is_there, aten.mul.Tensor(aten.div.Tensor(self, norm), grad))
    size = aten.abs(self)
    ratio = aten.pow.Tensor_Scalar(aten.div.Tensor(size, norm), ord - 1)
    slope = aten.mul.Tensor(aten.sgn(self), aten.mul.Tensor(ratio, grad))
    return choose(aten, both(aten, is_there, aten.ne.Scalar(size, 0)), slope)


# --- products ------------------------------------------------------------------------------------------------


def before(aten: Namespace, self: SSAValue, dim: int) -> SSAValue:
    """The product of all elements before each, along a dimension."""
    ones = aten.full_like(aten.slice.Tensor(self, dim, 0, 1), 1)
    return aten.cumprod(aten.cat([ones, aten.slice.Tensor(self, dim, 0, -1)], dim), dim)


@gradient("aten.prod.dim_int")
def prod_dim(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, keepdim: bool) -> Gradients:
    """What the elements before each one make, times what those after it do: zeros among them are no harm."""
    if meta(self).ndim == 0:
        return grad
    grad, dim = restored(aten, grad, self, [dim], keepdim), wrap_dim(dim, meta(self).ndim)
    wide = cast(aten, self, meta(grad).dtype)
    after = aten.flip(before(aten, aten.flip(wide, [dim]), dim), [dim])
    return times(aten, grad, aten.mul.Tensor(before(aten, wide, dim), after))


@gradient("aten.prod")
def prod(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    flat = prod_dim(aten, grad, aten.view(self, [-1]), 0, False) if meta(self).ndim else grad
    return aten.view(flat, sizes(aten, self))


# --- the largest, the smallest, the middle -------------------------------------------------------------------


def evenly(
    aten: Namespace, grad: SSAValue, self: SSAValue, chosen: SSAValue, dim: Sequence[int] | None
) -> SSAValue:
    """A gradient shared by the elements that were chosen."""
    dims = reduced(self, dim)
    count = aten.sum.dim_IntList(chosen, dims, True) if dims else chosen
    return choose(aten, chosen, aten.div.Tensor(grad, cast(aten, count, meta(grad).dtype)))


@gradient("aten.amax", "aten.amin")
def extreme(
    aten: Namespace, grad: SSAValue, self: SSAValue, dim: Sequence[int], keepdim: bool, result: SSAValue
) -> Gradients:
    grad, result = (restored(aten, each, self, dim, keepdim) for each in (grad, result))
    return evenly(aten, grad, self, is_it(aten, self, result), dim)


@gradient("aten.max", "aten.min", "aten.median", "aten.nanmedian")
def of_all(aten: Namespace, grad: SSAValue, self: SSAValue, result: SSAValue) -> Gradients:
    return extreme(aten, grad, self, [], False, result)


def put_at(
    aten: Namespace, grad: SSAValue, self: SSAValue, index: SSAValue, dim: int, keepdim: bool = True
) -> SSAValue:
    """A gradient added where its elements were found along a dimension."""
    if meta(self).ndim == 0:
        return grad
    grad, index = (restored(aten, each, self, [dim], keepdim) for each in (grad, index))
    return aten.scatter_add(zeros(aten, sizes(aten, self), meta(grad).dtype), dim, index, grad)


@gradient("aten.max.dim", "aten.min.dim", "aten.median.dim", "aten.nanmedian.dim", "aten.mode")
def selected(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    self: SSAValue,
    dim: int,
    keepdim: bool,
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    return put_at(aten, grad[0], self, results[1], dim, keepdim)


@gradient("aten.cummax", "aten.cummin")
def running_extreme(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    self: SSAValue,
    dim: int,
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    return put_at(aten, grad[0], self, results[1], dim)


# --- scans ---------------------------------------------------------------------------------------------------


def sum_from_the_end(aten: Namespace, values: SSAValue, dim: int) -> SSAValue:
    if meta(values).ndim == 0:
        return values
    return aten.flip(aten.cumsum(aten.flip(values, [dim]), dim), [dim])


@gradient("aten.cumsum")
def cumsum(aten: Namespace, grad: SSAValue, dim: int) -> Gradients:
    return sum_from_the_end(aten, grad, dim)


@gradient("aten.cumprod")
def cumprod(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int) -> Gradients:
    """Of element k what comes before it times `s[k] = grad[k] + x[k + 1] s[k + 1]`: zeros are no harm."""
    if meta(self).ndim == 0:
        return grad
    dim = wrap_dim(dim, meta(self).ndim)
    if meta(self).shape[dim] == 0:
        return grad
    wide = cast(aten, self, meta(grad).dtype)
    ones = aten.full_like(aten.slice.Tensor(wide, dim, 0, 1), 1)
    following = conj(aten, aten.cat([aten.slice.Tensor(wide, dim, 1), ones], dim))
    backwards = [aten.flip(aten.movedim.int(each, dim, 0), [0]) for each in (grad, following)]

    def step(carried: Values, elements: Values, _: Values) -> tuple[Values, Values]:
        added = aten.add.Tensor(elements[0], aten.mul.Tensor(carried[0], elements[1]))
        return [added], [added]

    start = aten.zeros_like(aten.select.int(backwards[0], 0, 0))
    _, [stacked] = scan(aten, step, [start], backwards)
    return times(aten, aten.movedim.int(aten.flip(stacked, [0]), 0, dim), before(aten, wide, dim))


@gradient("aten.logcumsumexp")
def logcumsumexp(aten: Namespace, grad: SSAValue, self: SSAValue, dim: int, result: SSAValue) -> Gradients:
    """`exp(x) sum(grad exp(-result))` from each element to the end; what is positive and what is negative apart, as logarithms."""
    if meta(self).ndim == 0:
        return grad
    if is_complex(self):
        weighted = aten.mul.Tensor(grad, conj(aten, aten.exp(aten.neg(result))))
        return times(aten, sum_from_the_end(aten, weighted, dim), aten.exp(self))

    def share(part: SSAValue) -> SSAValue:
        logarithms = aten.sub.Tensor(aten.log(aten.relu(part)), result)
        sums = aten.flip(aten.logcumsumexp(aten.flip(logarithms, [dim]), dim), [dim])
        return aten.exp(aten.add.Tensor(sums, self))

    return aten.sub.Tensor(share(grad), share(aten.neg(grad)))
