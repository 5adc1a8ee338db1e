"""Lowerings of reductions, scans and norms.

A reduction is one loop nest that accumulates in the dtype the result computes in. Where it has two results, the second
(a position, a variance) is a reduction of its own that reads the first: every loop nest has one result. Scans run in
order, each element reading the one before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.meta import wrap_dim, wrap_dims
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.indexing import sorting_order
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, read, static_shape
from xdsl_exir.lowering.scalar import Scalar, compute_dtype

Out = list[TensorMeta]
Combine = Callable[[Scalar, Scalar], Scalar]


def dims_of(input: Tensor, dim: Sequence[int] | None) -> list[int]:
    """The dimensions of a `dim` argument, where None and the empty list are all; a 0-dim tensor has none."""
    return wrap_dims(dim or None, input.ndim) if input.ndim else []


def along(b: LinalgBuilder, input: Tensor, dim: int | None) -> tuple[Tensor, int]:
    """The tensor and the dimension that an `int? dim` means: of the tensor laid flat if None, of a vector if 0-dim."""
    if dim is None or not input.ndim:
        return b.reshape(input, (math.prod(input.shape),)), 0
    return input, wrap_dim(dim, input.ndim)


def shaped(b: LinalgBuilder, input: Tensor, out: TensorMeta) -> Tensor:
    """A reduction's result as the operator gives it: in its dtype, with or without the dimensions of size 1."""
    return b.reshape(b.convert(input, out.dtype), static_shape(out))


def size_of(input: Tensor, over: Sequence[int]) -> int:
    """Number of elements that reduce to one."""
    return math.prod(input.shape[dim] for dim in over)


def lowest(dtype: DType) -> float:
    """The least number of a dtype."""
    if dtype.category is Category.FLOAT:
        return -math.inf
    return 0 if s.is_unsigned(dtype) or dtype is dt.Bool else -(2 ** (dtype.bits - 1))


def highest(dtype: DType) -> float:
    """The greatest number of a dtype."""
    if dtype.category is Category.FLOAT:
        return math.inf
    return (
        1 if dtype is dt.Bool else -1 - int(lowest(dtype)) if not s.is_unsigned(dtype) else 2**dtype.bits - 1
    )


# --- sums and products ---------------------------------------------------------------------------------------


def accumulate(
    b: LinalgBuilder, combine: Combine, input: Tensor, over: Sequence[int], initial: float, dtype: DType
) -> Tensor:
    """A reduction in the dtype that `dtype` computes in, of elements rounded to `dtype` first, as PyTorch does."""
    compute = compute_dtype(dtype)
    return b.fold(
        lambda total, x: combine(total, s.cast(s.cast(x, dtype), compute)), [input], over, initial, compute
    )


def divided(b: LinalgBuilder, total: Tensor, count: float) -> Tensor:
    return b.elementwise(lambda x: x / count, [total], total.shape, total.dtype)


@lowering("aten.sum.dim_IntList")
def sum_dims(b: LinalgBuilder, self: Tensor, dim: list[int] | None, out: Out) -> Tensor:
    return shaped(b, accumulate(b, s.add, self, dims_of(self, dim), 0, out[0].dtype), out[0])


@lowering("aten.mean.dim")
def mean_dims(b: LinalgBuilder, self: Tensor, dim: list[int] | None, out: Out) -> Tensor:
    over = dims_of(self, dim)
    total = accumulate(b, s.add, self, over, 0, out[0].dtype)
    return shaped(b, divided(b, total, size_of(self, over)), out[0])


@lowering("aten.mean")
def mean(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return mean_dims(b, self, None, out)


@lowering("aten.prod")
def prod(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return shaped(b, accumulate(b, s.mul, self, dims_of(self, None), 1, out[0].dtype), out[0])


@lowering("aten.prod.dim_int")
def prod_dim(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return shaped(b, accumulate(b, s.mul, self, dims_of(self, [dim]), 1, out[0].dtype), out[0])


# --- logic ---------------------------------------------------------------------------------------------------


def any_over(b: LinalgBuilder, self: Tensor, over: Sequence[int], out: TensorMeta) -> Tensor:
    return shaped(b, b.reduce(s.add, self, over, False, dt.Bool), out)


@lowering("aten.any")
def any_all(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return any_over(b, self, dims_of(self, None), out[0])


@lowering("aten.any.dim")
def any_dim(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return any_over(b, self, dims_of(self, [dim]), out[0])


@lowering("aten.any.dims")
def any_dims(b: LinalgBuilder, self: Tensor, dim: list[int] | None, out: Out) -> Tensor:
    # Alone among reductions it takes an empty list at its word.
    return any_over(b, self, [] if dim == [] else dims_of(self, dim), out[0])


# --- extremes ------------------------------------------------------------------------------------------------


def greatest(b: LinalgBuilder, input: Tensor, over: Sequence[int]) -> Tensor:
    return b.reduce(s.maximum, input, over, lowest(input.dtype), input.dtype)


def least(b: LinalgBuilder, input: Tensor, over: Sequence[int]) -> Tensor:
    return b.reduce(s.minimum, input, over, highest(input.dtype), input.dtype)


Extreme = Callable[[LinalgBuilder, Tensor, Sequence[int]], Tensor]


def is_same(x: Scalar, y: Scalar) -> Scalar:
    """Whether an element is the extreme: equal to it, or NaN (as then the extreme is)."""
    return x.equals(y) | s.is_nan(x)


def position(b: LinalgBuilder, input: Tensor, value: Tensor, dim: int) -> Tensor:
    """Where along a dimension an extreme first stands."""

    def combine(first: Scalar, x: Scalar, extreme: Scalar) -> Scalar:
        here = s.from_index(linalg.IndexOp(dim).results[0])
        return s.select(is_same(x, extreme), s.minimum(first, here), first)

    return b.fold(combine, [input, value], [dim], input.shape[dim], dt.Long)


def register_extremes(name: str, extreme: Extreme) -> None:
    """Lowerings of `amax`, `max`, `max.dim` and `argmax`, or those of minima."""

    @lowering(f"aten.a{name}")
    def over_dims(b: LinalgBuilder, self: Tensor, dim: list[int], out: Out) -> Tensor:
        return shaped(b, extreme(b, self, dims_of(self, dim)), out[0])

    @lowering(f"aten.{name}")
    def over_all(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
        return over_dims(b, self, [], out)

    @lowering(f"aten.{name}.dim")
    def with_position(b: LinalgBuilder, self: Tensor, dim: int | None, out: Out) -> tuple[Tensor, Tensor]:
        vectors, axis = along(b, self, dim)
        values = extreme(b, vectors, [axis])
        return shaped(b, values, out[0]), shaped(b, position(b, vectors, values, axis), out[1])

    @lowering(f"aten.arg{name}")
    def position_only(b: LinalgBuilder, self: Tensor, dim: int | None, out: Out) -> Tensor:
        vectors, axis = along(b, self, dim)
        return shaped(b, position(b, vectors, extreme(b, vectors, [axis]), axis), out[0])

    del over_all, with_position, position_only


register_extremes("max", greatest)
register_extremes("min", least)


@lowering("aten.median.dim")
def median_dim(b: LinalgBuilder, self: Tensor, dim: int | None, out: Out) -> tuple[Tensor, Tensor]:
    """The lower of two middle elements; NaN where there is one, the first of several."""
    vectors, axis = along(b, self, dim)
    count = vectors.shape[axis]
    order = sorting_order(b, vectors, axis, False)
    nans = b.fold(lambda nans, x: nans + s.cast(s.is_nan(x), dt.Long), [vectors], [axis], 0, dt.Long)

    def picked(source: Tensor, along: Tensor) -> Tensor:
        """The elements whose places along the axis a tensor holds."""

        def element(place: Scalar, *at: SSAValue) -> Scalar:
            return read(source, [*at[:axis], place, *at[axis + 1 :]])

        return b.indexed(element, along.shape, source.dtype, [(along, AffineMap.identity(along.ndim))])

    # NaN sorts last.
    middle = b.elementwise(
        lambda nans: s.select(nans > 0, count - nans, (count - 1) // 2), [nans], nans.shape, dt.Long
    )
    places = picked(order, middle)
    return shaped(b, picked(vectors, places), out[0]), shaped(b, places, out[1])


@lowering("aten.median")
def median(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    dtype = out[0].dtype
    if 0 in self.shape:
        # PyTorch's answer for integers is the cast of NaN.
        return b.fill(math.nan if dtype.category is Category.FLOAT else lowest(dtype), (), dtype)
    return median_dim(b, self, None, [*out, TensorMeta((), dt.Long)])[0]


# --- spread and norms ----------------------------------------------------------------------------------------


def moments(b: LinalgBuilder, x: Tensor, over: Sequence[int], correction: float = 0) -> tuple[Tensor, Tensor]:
    """Mean and variance over dimensions, which stay with size 1, in the dtype that `x` computes in."""
    dtype, count = compute_dtype(x.dtype), size_of(x, over)
    mean = divided(b, b.reduce(s.add, x, over, 0, dtype), count)
    squares = b.fold(lambda total, x, mean: total + (x - mean) * (x - mean), [x, mean], over, 0, dtype)
    return mean, divided(b, squares, max(count - correction, 0))


@lowering("aten.var_mean.correction")
def var_mean(
    b: LinalgBuilder, self: Tensor, dim: list[int] | None, correction: float | None, out: Out
) -> tuple[Tensor, Tensor]:
    mean, variance = moments(b, self, dims_of(self, dim), 1 if correction is None else correction)
    return shaped(b, variance, out[0]), shaped(b, mean, out[1])


@lowering("aten.var.correction")
def var(b: LinalgBuilder, self: Tensor, dim: list[int] | None, correction: float | None, out: Out) -> Tensor:
    return var_mean(b, self, dim, correction, [*out, *out])[0]


def same(x: Scalar) -> Scalar:
    return x


def is_nonzero(x: Scalar) -> Scalar:
    return s.cast(x.differs(0), x.dtype)


NORMS: dict[float, tuple[Callable[[Scalar], Scalar], Combine, float, Callable[[Scalar], Scalar]]] = {
    0: (is_nonzero, s.add, 0, same),
    1: (s.absolute, s.add, 0, same),
    2: (lambda x: x * x, s.add, 0, s.sqrt),
    math.inf: (s.absolute, s.maximum, 0, same),
    -math.inf: (s.absolute, s.minimum, math.inf, same),
}
"""By order: a term, how terms combine from which number on, and what is made of the total."""


def power_of(exponent: float) -> Callable[[Scalar], Scalar]:
    """A magnitude to this power."""
    return lambda x: s.pow(s.absolute(x), s.constant(exponent, x.dtype))


@lowering("aten.linalg_vector_norm")
def vector_norm(b: LinalgBuilder, self: Tensor, ord: float, dim: list[int] | None, out: Out) -> Tensor:
    general = power_of(ord), s.add, 0, power_of(1 / ord if ord else 0)
    term, combine, initial, finish = NORMS.get(ord, general)
    total = accumulate(
        b, lambda total, x: combine(total, term(x)), self, dims_of(self, dim), initial, out[0].dtype
    )
    return shaped(b, b.elementwise(finish, [total], total.shape, total.dtype), out[0])


# --- scans ---------------------------------------------------------------------------------------------------


def scan(
    b: LinalgBuilder,
    combine: Callable[..., Scalar],
    inputs: Sequence[Tensor],
    dim: int,
    initial: float,
    dtype: DType,
) -> Tensor:
    """Each element from the one before along a dimension: `combine` gets that (at first `initial`), the position, and
    the inputs' elements."""
    shape = inputs[0].shape

    def step(so_far: Tensor, *at: SSAValue) -> tuple[Sequence[Scalar | SSAValue], Scalar]:
        here = s.from_index(at[dim])
        before: list[Scalar | SSAValue] = list(at)
        before[dim] = s.maximum(here - 1, 0)
        previous = s.select(here.equals(0), initial, read(so_far, before))
        return at, combine(previous, here, *(read(input, at) for input in inputs))

    return b.update(Tensor(b.empty(shape, dtype), shape, dtype), shape, step)


SCAN_DTYPE = {dt.Float: dt.Double}
"""What running sums and products of a dtype are computed in, if not in the dtype that all else is: as PyTorch's CPU
kernels, twice the precision."""


def running(
    b: LinalgBuilder, combine: Combine, self: Tensor, dim: int, initial: float, out: TensorMeta
) -> Tensor:
    vectors, axis = along(b, self, wrap_dim(dim, self.ndim))
    accumulator = SCAN_DTYPE.get(out.dtype, compute_dtype(out.dtype))

    def add(before: Scalar, _: Scalar, x: Scalar) -> Scalar:
        return combine(before, s.cast(s.cast(x, out.dtype), accumulator))

    return shaped(b, scan(b, add, [vectors], axis, initial, accumulator), out)


@lowering("aten.cumsum")
def cumsum(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return running(b, s.add, self, dim, 0, out[0])


@lowering("aten.cumprod")
def cumprod(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> Tensor:
    return running(b, s.mul, self, dim, 1, out[0])


def running_extreme(
    b: LinalgBuilder, combine: Combine, self: Tensor, dim: int, initial: float, out: Out
) -> tuple[Tensor, Tensor]:
    """Running extremes, and where the last element equal to each stands."""
    vectors, axis = along(b, self, dim)

    def further(before: Scalar, _: Scalar, x: Scalar) -> Scalar:
        return combine(before, x)

    def last(before: Scalar, here: Scalar, x: Scalar, value: Scalar) -> Scalar:
        return s.select(is_same(x, value), here, before)

    values = scan(b, further, [vectors], axis, initial, self.dtype)
    places = scan(b, last, [vectors, values], axis, 0, dt.Long)
    return shaped(b, values, out[0]), shaped(b, places, out[1])


@lowering("aten.cummax")
def cummax(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> tuple[Tensor, Tensor]:
    return running_extreme(b, s.maximum, self, dim, lowest(self.dtype), out)


@lowering("aten.cummin")
def cummin(b: LinalgBuilder, self: Tensor, dim: int, out: Out) -> tuple[Tensor, Tensor]:
    return running_extreme(b, s.minimum, self, dim, highest(self.dtype), out)
