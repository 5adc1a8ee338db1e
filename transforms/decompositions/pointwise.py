"""Decompositions of pointwise operators, into those that PyTorch's own decompositions end in.

Many are stated for floating-point numbers of full precision: `computing` brings operands to the dtype that PyTorch
computes in, and `cast` rounds the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, pi
from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import Operand, result_type
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import is_tensor_type
from xdsl_exir.dialects.meta import as_meta, as_operand
from xdsl_exir.transforms.builder import Namespace, cast, meta, opmath, sizes
from xdsl_exir.transforms.decompositions import decomposition

Number: TypeAlias = bool | int | float | complex | SSAValue
"""A number argument: a constant, or one that the program computes."""

# --- what rules share ----------------------------------------------------------------------------------------


def promotion(*operands: Number) -> DType:
    """The dtype that operands promote to."""
    seen = [as_operand(as_meta(v.type) if isinstance(v, SSAValue) else v) for v in operands]
    return result_type(tuple(operand for operand in seen if isinstance(operand, Operand)))


def computing(
    aten: Namespace, *operands: SSAValue, int_to_float: bool = False
) -> tuple[Sequence[SSAValue], DType]:
    """Operands in the dtype PyTorch computes in, float32 for shorter floats; and the dtype that the result has."""
    dtype = promotion(*operands)
    if int_to_float and dtype.category <= Category.INT:
        dtype = dt.Float
    # A Python number computes in any dtype.
    tensors = [
        cast(aten, operand, opmath(dtype)) if is_tensor_type(operand.type) else operand
        for operand in operands
    ]
    return tensors, dtype


def scalar(aten: Namespace, number: Number, dtype: DType) -> SSAValue:
    """A number as 0-dim tensor."""
    return aten.scalar_tensor(number, dtype=dtype)


def is_complex(value: SSAValue) -> bool:
    return promotion(value).category is Category.COMPLEX


def real_part(aten: Namespace, self: SSAValue, part: int = 0) -> SSAValue:
    """The real part of complex numbers; the imaginary one for `part` 1."""
    return aten.select.int(aten.view_as_real(self), meta(self).ndim, part)


# --- other names of core operators ---------------------------------------------------------------------------


@decomposition("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(aten: Namespace, self: SSAValue, other: Number, alpha: Number) -> SSAValue:
    return aten.sub.Tensor(other, self, alpha=alpha)


@decomposition("aten.floor_divide", "aten.floor_divide.Scalar")
def floor_divide(aten: Namespace, self: SSAValue, other: Number) -> SSAValue:
    return aten.div.Tensor_mode(self, other, rounding_mode="floor")


@decomposition("aten.square")
def square(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.pow.Tensor_Scalar(self, 2)


@decomposition("aten.relu6")
def relu6(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.hardtanh(self, 0, 6)


@decomposition("aten.selu")
def selu(aten: Namespace, self: SSAValue) -> SSAValue:
    # Klambauer et al., Self-Normalizing Neural Networks: alpha_01 and lambda_01.
    return aten.elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@decomposition("aten.clamp_min")
def clamp_min(aten: Namespace, self: SSAValue, min: Number) -> SSAValue:
    return aten.clamp(self, min)


@decomposition("aten.clamp_max")
def clamp_max(aten: Namespace, self: SSAValue, max: Number) -> SSAValue:
    return aten.clamp(self, None, max)


@decomposition("aten.clamp_min.Tensor")
def clamp_min_tensor(aten: Namespace, self: SSAValue, min: SSAValue) -> SSAValue:
    return aten.clamp.Tensor(self, min)


@decomposition("aten.clamp_max.Tensor")
def clamp_max_tensor(aten: Namespace, self: SSAValue, max: SSAValue) -> SSAValue:
    return aten.clamp.Tensor(self, None, max)


@decomposition("aten.__and__.Tensor")
def and_(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return aten.bitwise_and.Tensor(self, other)


@decomposition("aten.__or__.Tensor")
def or_(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return aten.bitwise_or.Tensor(self, other)


@decomposition("aten.__xor__.Tensor")
def xor(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return aten.bitwise_xor.Tensor(self, other)


# --- copies and casts ----------------------------------------------------------------------------------------


@decomposition("aten.detach")
def detach(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.alias(self)


@decomposition("aten.lift_fresh", "aten.lift_fresh_copy")
def lift(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.clone(self)


@decomposition("aten.contiguous")
def contiguous(aten: Namespace, self: SSAValue, memory_format: str) -> SSAValue:
    return self if keeps_format(self, memory_format) else aten.clone(self, memory_format=memory_format)


@decomposition("aten.to.dtype", "aten.to.dtype_layout", "aten.to.device")
def to(
    aten: Namespace, self: SSAValue, dtype: DType | None, copy: bool, memory_format: str | None
) -> SSAValue:
    # The device a program names is the one it was exported on: its tensors' own.
    same = dtype is None or dtype is meta(self).dtype
    if same and not copy and keeps_format(self, memory_format):
        return self
    return aten._to_copy(self, dtype=dtype, memory_format=memory_format)


def keeps_format(self: SSAValue, memory_format: Any) -> bool:
    """Whether a tensor has this memory format already. Schema defaults give the enum's value: 0 is contiguous."""
    if memory_format in (None, "preserve_format"):
        return True
    return memory_format in (0, "contiguous_format") and meta(self).dim_order is None


@decomposition("aten.to.other")
def to_other(aten: Namespace, self: SSAValue, other: SSAValue, copy: bool) -> SSAValue:
    return aten.to.dtype(self, meta(other).dtype, copy=copy)


@decomposition("aten.type_as")
def type_as(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return cast(aten, self, meta(other).dtype)


@decomposition("aten.fill.Scalar")
def fill(aten: Namespace, self: SSAValue, value: Number) -> SSAValue:
    return aten.full_like(self, value)


@decomposition("aten.fill.Tensor")
def fill_tensor(aten: Namespace, self: SSAValue, value: SSAValue) -> SSAValue:
    return aten.copy(self, value)


# --- selection -----------------------------------------------------------------------------------------------


@decomposition("aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(aten: Namespace, condition: SSAValue, self: Number, other: Number) -> SSAValue:
    dtype = promotion(self, other)

    def operand(value: Number) -> SSAValue:
        if isinstance(value, SSAValue) and is_tensor_type(value.type):
            return cast(aten, value, dtype)
        return scalar(aten, value, dtype)

    return aten.where.self(condition, operand(self), operand(other))


@decomposition("aten.masked_fill.Scalar")
def masked_fill(aten: Namespace, self: SSAValue, mask: SSAValue, value: Number) -> SSAValue:
    return aten.where.self(mask, scalar(aten, value, meta(self).dtype), self)


@decomposition("aten.masked_fill.Tensor")
def masked_fill_tensor(aten: Namespace, self: SSAValue, mask: SSAValue, value: SSAValue) -> SSAValue:
    if not is_tensor_type(value.type):
        return masked_fill(aten, self, mask, value)
    return aten.where.self(mask, cast(aten, value, meta(self).dtype), self)


@decomposition("aten.threshold")
def threshold(aten: Namespace, self: SSAValue, threshold: Number, value: Number) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(
        aten, aten.where.self(aten.le.Scalar(x, threshold), scalar(aten, value, meta(x).dtype), x), dtype
    )


@decomposition("aten.hardshrink")
def hardshrink(aten: Namespace, self: SSAValue, lambd: Number) -> SSAValue:
    inside = aten.le.Scalar(aten.abs(self), lambd)
    return aten.where.self(inside, scalar(aten, 0, meta(self).dtype), self)


@decomposition("aten.softshrink")
def softshrink(aten: Namespace, self: SSAValue, lambd: Number) -> SSAValue:
    outside = aten.gt.Scalar(aten.abs(self), lambd)
    shrunk = aten.sub.Tensor(self, aten.mul.Tensor(aten.sign(self), lambd))
    # Zero times x, not zero, keeps NaN.
    return aten.where.self(outside, shrunk, aten.mul.Tensor(self, 0))


@decomposition("aten.nan_to_num")
def nan_to_num(
    aten: Namespace, self: SSAValue, nan: float | None, posinf: float | None, neginf: float | None
) -> SSAValue:
    dtype = meta(self).dtype
    if dtype.category <= Category.INT:
        return aten.clone(self)
    largest = LARGEST[dtype]
    [x], _ = computing(aten, self)
    result = self
    for condition, value, default in (
        (aten.isnan(self), nan, 0.0),
        (aten.eq.Scalar(x, -inf), neginf, -largest),
        (aten.eq.Scalar(x, inf), posinf, largest),
    ):
        result = aten.where.self(condition, scalar(aten, default if value is None else value, dtype), result)
    return result


LARGEST = {
    dt.Half: 65504.0,
    dt.BFloat16: (2 - 2**-7) * 2.0**127,
    dt.Float: (2 - 2**-23) * 2.0**127,
    dt.Double: (2 - 2**-52) * 2.0**1023,
}
"""The largest finite number of a dtype."""


@decomposition("aten.isfinite")
def isfinite(aten: Namespace, self: SSAValue) -> SSAValue:
    dtype = meta(self).dtype
    if dtype.category <= Category.INT:
        return aten.full_like(self, True, dtype=dt.Bool)
    if dtype.category is Category.COMPLEX:
        parts = [isfinite(aten, real_part(aten, self, part)) for part in (0, 1)]
        return aten.bitwise_and.Tensor(*parts)
    return aten.mul.Tensor(aten.eq.Tensor(self, self), aten.ne.Scalar(aten.abs(self), inf))


@decomposition("aten.heaviside")
def heaviside(aten: Namespace, self: SSAValue, values: SSAValue) -> SSAValue:
    [x, values], dtype = computing(aten, self, values)
    below = aten.logical_or(aten.lt.Scalar(x, 0), aten.isnan(x))
    step = aten.where.Scalar(below, 0, 1)
    return cast(aten, aten.where.self(aten.eq.Scalar(x, 0), values, step), dtype)


# --- activations ---------------------------------------------------------------------------------------------


@decomposition("aten.silu")
def silu(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.mul.Tensor(x, aten.sigmoid(x)), dtype)


def relu6_of_sum(aten: Namespace, x: SSAValue) -> SSAValue:
    """min(max(x + 3, 0), 6)"""
    return aten.clamp(aten.clamp(aten.add.Tensor(x, 3), 0), None, 6)


@decomposition("aten.hardsigmoid")
def hardsigmoid(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.div.Tensor(relu6_of_sum(aten, x), 6), dtype)


@decomposition("aten.hardswish")
def hardswish(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.div.Tensor(aten.mul.Tensor(x, relu6_of_sum(aten, x)), 6), dtype)


@decomposition("aten.celu")
def celu(aten: Namespace, self: SSAValue, alpha: Number) -> SSAValue:
    [x], dtype = computing(aten, self)
    unit = alpha == 1
    negative = aten.expm1(x if unit else aten.div.Tensor(x, alpha))
    negative = negative if unit else aten.mul.Tensor(negative, alpha)
    return cast(aten, aten.where.self(aten.gt.Scalar(x, 0), x, negative), dtype)


def softplus_of(aten: Namespace, x: SSAValue, beta: Number, threshold: Number) -> SSAValue:
    """log(1 + exp(beta x)) / beta, and x itself where that is above the threshold."""
    scaled = x if beta == 1 else aten.mul.Tensor(x, beta)
    soft = aten.log1p(aten.exp(scaled))
    soft = soft if beta == 1 else aten.div.Tensor(soft, beta)
    return aten.where.self(aten.gt.Scalar(scaled, threshold), x, soft)


@decomposition("aten.softplus")
def softplus(aten: Namespace, self: SSAValue, beta: Number, threshold: Number) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, softplus_of(aten, x, beta, threshold), dtype)


@decomposition("aten.mish")
def mish(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.mul.Tensor(x, aten.tanh(softplus_of(aten, x, 1, 20))), dtype)


@decomposition("aten.log_sigmoid")
def log_sigmoid(aten: Namespace, self: SSAValue) -> SSAValue:
    # min(x, 0) - log(1 + exp(-|x|)) does not overflow.
    [x], dtype = computing(aten, self)
    least = aten.minimum(aten.full([], 0, dtype=meta(x).dtype), x)
    return cast(aten, aten.sub.Tensor(least, aten.log1p(aten.exp(aten.neg(aten.abs(x))))), dtype)


@decomposition("aten.prelu")
def prelu(aten: Namespace, self: SSAValue, weight: SSAValue) -> SSAValue:
    rank, weight_rank = meta(self).ndim, meta(weight).ndim
    if rank != weight_rank:
        shape: list[int | SSAValue] = [1] * rank
        if rank > 1 and weight_rank:
            [shape[1]] = sizes(aten, weight)
        weight = aten.view(weight, shape)
    return aten._prelu_kernel(self, weight)


@decomposition("aten._prelu_kernel")
def prelu_kernel(aten: Namespace, self: SSAValue, weight: SSAValue) -> SSAValue:
    return aten.where.self(aten.gt.Scalar(self, 0), self, aten.mul.Tensor(weight, self))


# --- arithmetic ----------------------------------------------------------------------------------------------


@decomposition("aten.addcmul")
def addcmul(aten: Namespace, self: SSAValue, tensor1: SSAValue, tensor2: SSAValue, value: Number) -> SSAValue:
    [x, a, b], dtype = computing(aten, self, tensor1, tensor2)
    return cast(aten, aten.add.Tensor(x, aten.mul.Tensor(aten.mul.Tensor(a, value), b)), dtype)


@decomposition("aten.addcdiv")
def addcdiv(aten: Namespace, self: SSAValue, tensor1: SSAValue, tensor2: SSAValue, value: Number) -> SSAValue:
    [x, a, b], dtype = computing(aten, self, tensor1, tensor2)
    return cast(aten, aten.add.Tensor(x, aten.div.Tensor(aten.mul.Tensor(a, value), b)), dtype)


def interpolate(aten: Namespace, start: SSAValue, end: SSAValue, weight: SSAValue) -> SSAValue:
    """start + weight (end - start), counted from the nearer end."""
    near_end = aten.ge.Scalar(aten.abs(weight), 0.5)
    weight = aten.where.self(near_end, aten.sub.Tensor(weight, 1), weight)
    base = aten.where.self(near_end, end, start)
    return aten.add.Tensor(aten.mul.Tensor(weight, aten.sub.Tensor(end, start)), base)


@decomposition("aten.lerp.Scalar")
def lerp(aten: Namespace, self: SSAValue, end: SSAValue, weight: Number) -> SSAValue:
    [start, end], dtype = computing(aten, self, end)
    return cast(aten, interpolate(aten, start, end, aten.full([], weight, dtype=meta(start).dtype)), dtype)


@decomposition("aten.lerp.Tensor")
def lerp_tensor(aten: Namespace, self: SSAValue, end: SSAValue, weight: SSAValue) -> SSAValue:
    [start, end, weight], dtype = computing(aten, self, end, weight)
    return cast(aten, interpolate(aten, start, end, weight), dtype)


@decomposition("aten.frac")
def frac(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self)
    return cast(aten, aten.sub.Tensor(x, aten.trunc(x)), dtype)


@decomposition("aten.logit")
def logit(aten: Namespace, self: SSAValue, eps: float | None) -> SSAValue:
    [x], dtype = computing(aten, self, int_to_float=True)
    # Without eps PyTorch's limits are -1 and 2, beyond which the logarithm is NaN anyway.
    low = -1.0 if eps is None else eps
    below, above = aten.lt.Scalar(x, low), aten.gt.Scalar(x, 1 - low)
    x = aten.where.self(above, scalar(aten, 1 - low, meta(x).dtype), x)
    x = aten.where.self(below, scalar(aten, low, meta(x).dtype), x)
    return cast(aten, aten.log(aten.div.Tensor(x, aten.sub.Tensor(1, x))), dtype)


@decomposition("aten.deg2rad")
def deg2rad(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self, int_to_float=True)
    return cast(aten, aten.mul.Tensor(x, pi / 180), dtype)


@decomposition("aten.rad2deg")
def rad2deg(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self, int_to_float=True)
    return cast(aten, aten.mul.Tensor(x, 180 / pi), dtype)


@decomposition("aten.sinc")
def sinc(aten: Namespace, self: SSAValue) -> SSAValue:
    [x], dtype = computing(aten, self, int_to_float=True)
    angle = aten.mul.Tensor(x, pi)
    ratio = aten.div.Tensor(aten.sin(angle), angle)
    one = scalar(aten, 1, meta(x).dtype)
    return cast(aten, aten.where.self(aten.eq.Scalar(angle, 0), one, ratio), dtype)


@decomposition("aten.xlogy.Tensor")
def xlogy(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    [x, y], dtype = computing(aten, self, other, int_to_float=True)
    computation = meta(x).dtype
    product = aten.mul.Tensor(x, aten.log(y))
    product = aten.where.self(aten.eq.Scalar(x, 0), scalar(aten, 0, computation), product)
    return cast(aten, aten.where.self(aten.isnan(y), scalar(aten, nan, computation), product), dtype)


@decomposition("aten.logaddexp")
def logaddexp(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    [x, y], dtype = computing(aten, self, other)
    if dtype.category is Category.COMPLEX:
        return logaddexp_complex(aten, x, y)
    greater = aten.ge.Tensor(x, y)
    high, low = aten.where.self(greater, x, y), aten.where.self(greater, y, x)
    # Of equal infinities the difference would be NaN.
    infinite = aten.logical_and(aten.logical_not(aten.isfinite(x)), aten.eq.Tensor(x, y))
    total = aten.add.Tensor(high, aten.log1p(aten.exp(aten.sub.Tensor(low, high))))
    return cast(aten, aten.where.self(infinite, x, total), dtype)


def logaddexp_complex(aten: Namespace, x: SSAValue, y: SSAValue) -> SSAValue:
    """`logaddexp` of complex numbers, which are ordered by their real parts."""
    real_x, real_y = real_part(aten, x), real_part(aten, y)
    greater = aten.ge.Tensor(real_x, real_y)
    high, low = aten.where.self(greater, x, y), aten.where.self(greater, y, x)
    infinite = aten.logical_and(aten.logical_not(aten.isfinite(real_x)), aten.eq.Tensor(real_x, real_y))
    of_infinite = aten.where.self(
        aten.lt.Scalar(real_part(aten, low), 0),
        low,
        aten.log(aten.add.Tensor(aten.exp(low), aten.exp(high))),
    )
    total = aten.add.Tensor(high, aten.log1p(aten.exp(aten.sub.Tensor(low, high))))
    total = aten.where.self(infinite, of_infinite, total)
    return aten.where.self(aten.isnan(low), scalar(aten, complex(nan, nan), promotion(x, y)), total)


@decomposition("aten.logaddexp2")
def logaddexp2(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    [x, y], dtype = computing(aten, self, other)
    greater = aten.ge.Tensor(x, y)
    high, low = aten.where.self(greater, x, y), aten.where.self(greater, y, x)
    infinite = aten.logical_and(aten.isinf(x), aten.eq.Tensor(x, y))
    logarithm = aten.mul.Tensor(aten.log1p(aten.exp2(aten.sub.Tensor(low, high))), 1.4426950408889634)
    return cast(aten, aten.where.self(infinite, x, aten.add.Tensor(high, logarithm)), dtype)


# --- complex numbers -----------------------------------------------------------------------------------------


@decomposition("aten.sgn")
def sgn(aten: Namespace, self: SSAValue) -> SSAValue:
    if not is_complex(self):
        return aten.sign(self)
    length = aten.abs(self)
    direction = aten.div.Tensor(self, length)
    return aten.where.self(aten.eq.Scalar(length, 0), scalar(aten, 0, meta(self).dtype), direction)


@decomposition("aten.real")
def real(aten: Namespace, self: SSAValue) -> SSAValue:
    return real_part(aten, self) if is_complex(self) else self


@decomposition("aten.conj")
def conj(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten._conj(self) if is_complex(self) else self


# --- dropout -------------------------------------------------------------------------------------------------


@decomposition("aten.dropout")
def dropout(aten: Namespace, input: SSAValue, p: float, train: bool) -> SSAValue:
    if train and p > 0:
        return aten.native_dropout(input, p, True)[0]
    return aten.clone(input)


@decomposition("aten.feature_dropout")
def feature_dropout(aten: Namespace, input: SSAValue, p: float, train: bool) -> SSAValue:
    """Drops whole channels: one draw for each item of the first two dimensions."""
    if not train or p == 0:
        return input
    dtype = meta(input).dtype
    if p == 1:
        return aten.mul.Tensor(input, aten.full([], 0, dtype=dtype))
    shape = [*sizes(aten, input)[:2], *([1] * (meta(input).ndim - 2))]
    kept = aten.bernoulli.p(aten.empty.memory_format(shape, dtype=dtype), 1 - p)
    return aten.mul.Tensor(input, aten.div.Scalar(kept, 1 - p))
