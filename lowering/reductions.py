"""What lowerings of reductions share, and those of normalizations, pooling and gradients with them: dimensions, bounds of dtypes, sums,
extremes, moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, Expr, max_
from xdsl_exir.dialects.expr import prod as numel
from xdsl_exir.dialects.meta import wrap_dim, wrap_dims
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import is_unsigned, sum_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder, itself
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor

Combine = Callable[[Scalar, Scalar], Scalar]


def dims_of(input: Tensor, dim: Sequence[int] | None) -> list[int]:
    """The dimensions of a `dim` argument, where None and the empty list are all; a 0-dim tensor has none."""
    return wrap_dims(dim or None, input.ndim) if input.ndim else []


def along(b: LinalgBuilder, input: Tensor, dim: int | None) -> tuple[Tensor, int]:
    """The tensor and the dimension that an `int? dim` means: of the tensor laid flat if None, of a vector if 0-dim."""
    if dim is None or not input.ndim:
        return b.reshape(input, (numel(input.shape),)), 0
    return input, wrap_dim(dim, input.ndim)


def alone(b: LinalgBuilder, self: Tensor) -> tuple[Tensor, Tensor]:
    """What is selected along a dimension of a 0-dim tensor: its element, of any dtype, at place 0."""
    return self, b.fill(0, (), dt.Long)


def shaped(b: LinalgBuilder, input: Tensor, out: TensorMeta) -> Tensor:
    """A reduction's result as the operator gives it: in its dtype, with or without the dimensions of size 1."""
    return b.reshape(b.convert(input, out.dtype), out.shape)


def size_of(input: Tensor, over: Sequence[int]) -> Dim:
    """Number of elements that reduce to one."""
    return numel([input.shape[dim] for dim in over])


def lowest(dtype: DType) -> float:
    """The least number of a dtype."""
    if dtype.category is Category.FLOAT:
        return -math.inf
    return 0 if is_unsigned(dtype) or dtype is dt.Bool else -(2 ** (dtype.bits - 1))


def highest(dtype: DType) -> float:
    """The greatest number of a dtype."""
    if dtype.category is Category.FLOAT:
        return math.inf
    return 1 if dtype is dt.Bool else -1 - int(lowest(dtype)) if not is_unsigned(dtype) else 2**dtype.bits - 1


def accumulate(
    b: LinalgBuilder,
    combine: Combine,
    input: Tensor,
    over: Sequence[int],
    initial: float,
    dtype: DType,
    term: Callable[[Scalar], Scalar] = itself,
) -> Tensor:
    """A reduction in the dtype that sums of `dtype` accumulate in, of a term of each element, which is rounded to `dtype`
    first, as PyTorch does."""
    wide = sum_dtype(dtype)

    def add(total: Scalar, x: Scalar) -> Scalar:
        return combine(total, term(s.cast(s.cast(x, dtype), wide)))

    return b.fold(add, [input], over, initial, wide, combine)


def divided(b: LinalgBuilder, total: Tensor, count: float | Expr) -> Tensor:
    return b.elementwise(lambda x: x / count, [total], total.shape, total.dtype)


def greatest(b: LinalgBuilder, input: Tensor, over: Sequence[int]) -> Tensor:
    return b.reduce(s.maximum, input, over, lowest(input.dtype), input.dtype)


def least(b: LinalgBuilder, input: Tensor, over: Sequence[int]) -> Tensor:
    return b.reduce(s.minimum, input, over, highest(input.dtype), input.dtype)


def is_same(x: Scalar, y: Scalar) -> Scalar:
    """Whether an element is the extreme: equal to it, or NaN (as then the extreme is)."""
    return x.equals(y) | s.is_nan(x)


def moments(b: LinalgBuilder, x: Tensor, over: Sequence[int], correction: float = 0) -> tuple[Tensor, Tensor]:
    """Mean and variance over dimensions, which stay with size 1, in the dtype that sums accumulate in. Complex numbers have
    the sum of their parts' variances, as a complex number."""
    count = size_of(x, over)
    mean = divided(b, b.sum(x, over), count)

    def square(x: Scalar, mean: Scalar) -> Scalar:
        distance = s.cast(x, mean.dtype) - mean
        return distance * s.conjugate(distance)

    squares = b.sum(x, over, square, mean)
    if isinstance(count, Expr):
        return mean, divided(b, squares, max_(count - int(correction), 0))
    return mean, divided(b, squares, max(count - correction, 0))


def is_nonzero(x: Scalar) -> Scalar:
    return s.cast(x.differs(0), x.dtype)


Norm = tuple[Callable[[Scalar], Scalar], Combine, float, Callable[[Scalar], Scalar]]
"""A term, how terms combine from which number on, and what is made of the total."""

NORMS: dict[float, Norm] = {
    0: (is_nonzero, s.add, 0, itself),
    1: (s.absolute, s.add, 0, itself),
    2: (lambda x: x * x, s.add, 0, s.sqrt),
    math.inf: (s.absolute, s.maximum, 0, itself),
    -math.inf: (s.absolute, s.minimum, math.inf, itself),
}
"""By order; of the others they are sums of powers."""


def power_of(exponent: float) -> Callable[[Scalar], Scalar]:
    """A magnitude to this power."""
    return lambda x: s.pow(s.absolute(x), s.constant(exponent, x.dtype))


def norm(ord: float) -> Norm:
    """The norm of an order."""
    return NORMS.get(ord) or (power_of(ord), s.add, 0, power_of(1 / ord if ord else 0))
