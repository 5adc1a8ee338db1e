"""Decompositions of pointwise operators, into those that PyTorch's own decompositions end in."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, pi
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, cast, meta
from xdsl_exir.dialects.dtypes import Bool, Category, Double, DType, Int
from xdsl_exir.dialects.promotion import COMPLEX_OF
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.transforms.arithmetic import Number, computing, promotion, scalar
from xdsl_exir.transforms.decompositions import KEEP, decomposition, other_names

# --- what rules share ----------------------------------------------------------------------------------------


def is_complex(value: SSAValue) -> bool:
    return promotion(value).category is Category.COMPLEX


def real_part(aten: Namespace, self: SSAValue, part: int = 0) -> SSAValue:
    """The real part of complex numbers; the imaginary one for `part` 1."""
    return aten.select.int(aten.view_as_real(self), meta(self).ndim, part)


# --- other names of core operators ---------------------------------------------------------------------------

OTHER_NAMES = {
    "divide.Tensor": "div.Tensor",
    "divide.Scalar": "div.Scalar",
    "divide.Tensor_mode": "div.Tensor_mode",
    "divide.Scalar_mode": "div.Scalar_mode",
    "true_divide.Tensor": "div.Tensor",
    "true_divide.Scalar": "div.Scalar",
    "subtract.Tensor": "sub.Tensor",
    "subtract.Scalar": "sub.Scalar",
    "multiply.Tensor": "mul.Tensor",
    "multiply.Scalar": "mul.Scalar",
    "negative": "neg",
    "absolute": "abs",
    "clip": "clamp",
    "clip.Tensor": "clamp.Tensor",
    "greater.Tensor": "gt.Tensor",
    "greater.Scalar": "gt.Scalar",
    "greater_equal.Tensor": "ge.Tensor",
    "greater_equal.Scalar": "ge.Scalar",
    "less.Tensor": "lt.Tensor",
    "less.Scalar": "lt.Scalar",
    "less_equal.Tensor": "le.Tensor",
    "less_equal.Scalar": "le.Scalar",
    "not_equal.Tensor": "ne.Tensor",
    "not_equal.Scalar": "ne.Scalar",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "arctan2": "atan2",
    "fix": "trunc",
    "clamp_min": "clamp",
    "clamp_min.Tensor": "clamp.Tensor",
    "__and__.Tensor": "bitwise_and.Tensor",
    "__and__.Scalar": "bitwise_and.Scalar",
    "__or__.Tensor": "bitwise_or.Tensor",
    "__or__.Scalar": "bitwise_or.Scalar",
    "__xor__.Tensor": "bitwise_xor.Tensor",
    "__xor__.Scalar": "bitwise_xor.Scalar",
    "detach": "alias",
    "lift": "clone",
    "lift_fresh": "clone",
    "lift_fresh_copy": "clone",
    "contiguous": "clone",
    "fill.Tensor": "copy",
}
"""Names that PyTorch has for operators besides their own."""

other_names(OTHER_NAMES)


@decomposition("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(aten: Namespace, self: SSAValue, other: Number, alpha: Number) -> SSAValue:
    return aten.sub.Tensor(other, self, alpha=alpha)


@decomposition("aten.floor_divide", "aten.floor_divide.Scalar")
def floor_divide(aten: Namespace, self: SSAValue, other: Number) -> SSAValue:
    return aten.div.Tensor_mode(self, other, rounding_mode="floor")


POWERS: dict[Number, Callable[[Namespace, SSAValue], SSAValue]] = {
    0.5: lambda aten, x: aten.sqrt(x),
    -0.5: lambda aten, x: aten.rsqrt(x),
    3: lambda aten, x: aten.mul.Tensor(aten.mul.Tensor(x, x), x),
    -2: lambda aten, x: aten.reciprocal(aten.mul.Tensor(x, x)),
}
"""Powers that are other functions at infinities and zeros, or are rounded after each product (PowKernel.cpp)."""

KERNEL_POWERS: dict[Number, Callable[[Namespace, SSAValue], SSAValue]] = {
    2: lambda aten, x: aten.mul.Tensor(x, x),
    -1: lambda aten, x: aten.reciprocal(x),
}
"""Those that edge keeps as powers of real numbers: kernels take them as what they are."""

COMPLEX_POWERS: dict[Number, Callable[[Namespace, SSAValue], SSAValue]] = {
    **POWERS,
    **KERNEL_POWERS,
    0: lambda aten, x: aten.ones_like(x),
    1: lambda aten, x: aten.clone(x),
}
"""Powers of complex numbers that no logarithm is taken for (PowKernel.cpp)."""


@decomposition("aten.pow.Tensor_Scalar", may_keep=True)
def pow_scalar(aten: Namespace, self: SSAValue, exponent: Number) -> Any:
    if isinstance(exponent, bool) and meta(self).dtype is Bool:
        return aten.clone(self) if exponent else aten.full_like(self, True)
    dtype = meta(self).dtype
    if (
        isinstance(exponent, SSAValue)
        or dtype.category < Category.FLOAT
        or promotion(self, exponent) is not dtype
    ):
        return KEEP
    power = (COMPLEX_POWERS if is_complex(self) else POWERS).get(exponent)
    return KEEP if power is None else power(aten, self)


@decomposition("aten.pow.Scalar", may_keep=True)
def power_of_number(aten: Namespace, self: Number, exponent: SSAValue) -> Any:
    """Powers of one are one, whatever the exponent is."""
    dtype = promotion(self, exponent)
    if isinstance(self, SSAValue) or self != 1 or dtype.category is not Category.COMPLEX:
        return KEEP
    return aten.full_like(exponent, 1, dtype=dtype)


@decomposition("aten.square")
def square(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.pow.Tensor_Scalar(self, 2)


@decomposition("aten.clamp_max")
def clamp_max(aten: Namespace, self: SSAValue, max: Number) -> SSAValue:
    return aten.clamp(self, None, max)


@decomposition("aten.clamp_max.Tensor")
def clamp_max_tensor(aten: Namespace, self: SSAValue, max: SSAValue) -> SSAValue:
    return aten.clamp.Tensor(self, None, max)


# --- copies and casts ----------------------------------------------------------------------------------------


@decomposition("aten.resolve_conj", "aten.resolve_neg")
def resolve(aten: Namespace, self: SSAValue) -> SSAValue:
    # Nothing here is conjugated or negated lazily.
    return self


@decomposition("aten.to.dtype", "aten.to.dtype_layout", "aten.to.device")
def to(
    aten: Namespace, self: SSAValue, dtype: DType | None, copy: bool, memory_format: str | None
) -> SSAValue:
    # The device a program names is the one it was exported on: its tensors' own.
    same = dtype is None or dtype is meta(self).dtype
    if same and not copy and memory_format in (None, "preserve_format"):
        return self
    return aten._to_copy(self, dtype=dtype, memory_format=memory_format)


@decomposition("aten.to.other")
def to_other(aten: Namespace, self: SSAValue, other: SSAValue, copy: bool) -> SSAValue:
    return aten.to.dtype(self, meta(other).dtype, copy=copy)


@decomposition("aten.type_as")
def type_as(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return cast(aten, self, meta(other).dtype)


@decomposition("aten.fill.Scalar")
def fill(aten: Namespace, self: SSAValue, value: Number) -> SSAValue:
    return aten.full_like(self, value)


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


@decomposition("aten.nan_to_num")
def nan_to_num(
    aten: Namespace, self: SSAValue, nan: float | None, posinf: float | None, neginf: float | None
) -> SSAValue:
    dtype = meta(self).dtype
    if dtype.category <= Category.INT:
        return aten.clone(self)
    if dtype.category is Category.COMPLEX:  # each part by itself
        return aten.view_as_complex(nan_to_num(aten, aten.view_as_real(self), nan, posinf, neginf))
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


def is_infinite(aten: Namespace, self: SSAValue, infinity: float) -> SSAValue:
    """Where elements are this infinity."""
    if meta(self).dtype.category <= Category.INT:
        return aten.full_like(self, False, dtype=dt.Bool)
    return aten.eq.Scalar(self, infinity)


@decomposition("aten.isposinf")
def isposinf(aten: Namespace, self: SSAValue) -> SSAValue:
    return is_infinite(aten, self, inf)


@decomposition("aten.isneginf")
def isneginf(aten: Namespace, self: SSAValue) -> SSAValue:
    return is_infinite(aten, self, -inf)


@decomposition("aten.isreal")
def isreal(aten: Namespace, self: SSAValue) -> SSAValue:
    if not is_complex(self):
        return aten.full_like(self, True, dtype=dt.Bool)
    return aten.eq.Scalar(real_part(aten, self, part=1), 0)


@decomposition("aten.isclose")
def isclose(
    aten: Namespace, self: SSAValue, other: SSAValue, rtol: float, atol: float, equal_nan: bool
) -> SSAValue:
    """|self - other| <= atol + |rtol other|, where that is finite; equal elements are close in any case."""
    close = aten.eq.Tensor(self, other)
    if equal_nan:
        both = aten.bitwise_and.Tensor(aten.ne.Tensor(self, self), aten.ne.Tensor(other, other))
        close = aten.bitwise_or.Tensor(close, both)
    if rtol == 0 and atol == 0:
        return close
    if promotion(other).category <= Category.INT:
        other = cast(aten, other, dt.Float)
    if promotion(self) is dt.Bool:
        self = cast(aten, self, dt.Float)
    allowed = aten.add.Tensor(aten.abs(aten.mul.Tensor(other, rtol)), atol)
    error = aten.abs(aten.sub.Tensor(self, other))
    near = aten.bitwise_and.Tensor(aten.isfinite(error), aten.le.Tensor(error, allowed))
    return aten.bitwise_or.Tensor(close, near)


@decomposition("aten.heaviside")
def heaviside(aten: Namespace, self: SSAValue, values: SSAValue) -> SSAValue:
    [x, values], dtype = computing(aten, self, values)
    below = aten.logical_or(aten.lt.Scalar(x, 0), aten.isnan(x))
    step = aten.where.Scalar(below, 0, 1)
    return cast(aten, aten.where.self(aten.eq.Scalar(x, 0), values, step), dtype)


# --- arithmetic ----------------------------------------------------------------------------------------------


def plain(aten: Namespace, x: SSAValue, y: SSAValue, minus: bool = False) -> SSAValue:
    """A sum or difference part by part, as kernels have it within: `add` and `sub` multiply their second operand by a complex 1, of
    which an infinity's other part is NaN."""
    operation = aten.sub.Tensor if minus else aten.add.Tensor
    if not is_complex(x):
        return operation(x, y)
    return aten.view_as_complex(operation(aten.view_as_real(x), aten.view_as_real(y)))


@decomposition("aten.addcmul")
def addcmul(aten: Namespace, self: SSAValue, tensor1: SSAValue, tensor2: SSAValue, value: Number) -> SSAValue:
    [x, a, b], dtype = computing(aten, self, tensor1, tensor2)
    if dtype.category is Category.INT and isinstance(value, float):
        value = int(value)  # as the kernel has it
    return cast(aten, plain(aten, x, aten.mul.Tensor(aten.mul.Tensor(a, value), b)), dtype)


@decomposition("aten.addcdiv")
def addcdiv(aten: Namespace, self: SSAValue, tensor1: SSAValue, tensor2: SSAValue, value: Number) -> SSAValue:
    [x, a, b], dtype = computing(aten, self, tensor1, tensor2)
    return cast(aten, plain(aten, x, aten.div.Tensor(aten.mul.Tensor(a, value), b)), dtype)


def interpolate(aten: Namespace, start: SSAValue, end: SSAValue, weight: SSAValue) -> SSAValue:
    """start + weight (end - start), counted from the nearer end."""
    near_end = aten.ge.Scalar(aten.abs(weight), 0.5)
    weight = aten.where.self(near_end, aten.sub.Tensor(weight, 1), weight)
    base = aten.where.self(near_end, end, start)
    return plain(aten, aten.mul.Tensor(weight, plain(aten, end, start, minus=True)), base)


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


def in_dtype(aten: Namespace, number: Number, other: SSAValue) -> SSAValue:
    """A number as tensor of the floating-point dtype that it promotes to with another operand."""
    dtype = promotion(number, other)
    return scalar(aten, number, dt.Float if dtype.category <= Category.INT else dtype)


@decomposition("aten.xlogy.Scalar_Other")
def xlogy_other(aten: Namespace, self: SSAValue, other: Number) -> SSAValue:
    return aten.xlogy.Tensor(self, in_dtype(aten, other, self))


@decomposition("aten.xlogy.Scalar_Self")
def xlogy_self(aten: Namespace, self: Number, other: SSAValue) -> SSAValue:
    return aten.xlogy.Tensor(in_dtype(aten, self, other), other)


@decomposition("aten.float_power.Tensor_Tensor", "aten.float_power.Tensor_Scalar", "aten.float_power.Scalar")
def float_power(aten: Namespace, self: Number, exponent: Number) -> SSAValue:
    """A power in double precision."""
    is_wide = promotion(self, exponent).category is Category.COMPLEX
    dtype = dt.ComplexDouble if is_wide else dt.Double

    def wide(operand: Number) -> SSAValue | None:
        """A tensor in this dtype; None for a number."""
        if isinstance(operand, SSAValue) and is_tensor_type(operand.type):
            return cast(aten, operand, dtype)
        return None

    base, power = wide(self), wide(exponent)
    if base is None:
        return aten.pow.Scalar(self, power)
    if power is None:
        return aten.pow.Tensor_Scalar(base, exponent)
    return aten.pow.Tensor_Tensor(base, power)


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
        aten.log(plain(aten, aten.exp(low), aten.exp(high))),
    )
    total = plain(aten, high, aten.log1p(aten.exp(plain(aten, low, high, minus=True))))
    total = aten.where.self(infinite, of_infinite, total)
    unknown = aten.logical_or(aten.isnan(x), aten.isnan(y))
    return aten.where.self(unknown, scalar(aten, complex(nan, nan), promotion(x, y)), total)


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


# --- special functions, complex numbers ----------------------------------------------------------------------


@decomposition("aten.imag")
def imag(aten: Namespace, self: SSAValue) -> SSAValue:
    return real_part(aten, self, 1)


@decomposition("aten.conj_physical")
def conj_physical(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten._conj_physical(self) if is_complex(self) else self


# --- gradients -----------------------------------------------------------------------------------------------


@decomposition("aten.sigmoid_backward")
def sigmoid_backward(aten: Namespace, grad_output: SSAValue, output: SSAValue) -> SSAValue:
    (grad, y), dtype = computing(aten, grad_output, output)
    complement = aten.rsub.Scalar(y, 1)
    if is_complex(y):
        slope = aten.mul.Tensor(complement, y)
        return cast(aten, aten.mul.Tensor(grad, aten.conj_physical(slope)), dtype)
    # In this order no product of large ones overflows beside a gradient of 0.
    return cast(aten, aten.mul.Tensor(aten.mul.Tensor(grad, complement), y), dtype)


@decomposition("aten.tanh_backward")
def tanh_backward(aten: Namespace, grad_output: SSAValue, output: SSAValue) -> SSAValue:
    (grad, y), dtype = computing(aten, grad_output, output)
    slope = aten.rsub.Scalar(aten.mul.Tensor(y, y), 1)
    return cast(aten, aten.mul.Tensor(grad, aten.conj_physical(slope)), dtype)


@decomposition("aten.positive")
def positive(aten: Namespace, self: SSAValue) -> SSAValue:
    return self


@decomposition("aten.ldexp.Tensor")
def ldexp(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    """By whole powers of 2 as C's `ldexp`, rounded once, whose exponents are ints; those beyond all floats count as the last that matter."""
    dtype = meta(self).dtype
    if dtype.category is Category.COMPLEX and meta(other).dtype.category is Category.FLOAT:
        other = cast(aten, other, COMPLEX_OF[meta(other).dtype])
    if dtype.category is not Category.FLOAT or meta(other).dtype.category is not Category.INT:
        return aten.mul.Tensor(self, aten.pow.Scalar(2.0, other))
    exponent = aten.clamp(cast(aten, cast(aten, other, Int), Double), -2100.0, 2100.0)
    third = aten.floor(aten.div.Scalar(exponent, 3))  # no power of it is infinite or zero
    result = cast(aten, self, Double)
    for part in (third, third, aten.sub.Tensor(exponent, aten.mul.Scalar(third, 2))):
        result = aten.mul.Tensor(result, aten.pow.Scalar(2.0, part))
    return cast(aten, result, dtype)
