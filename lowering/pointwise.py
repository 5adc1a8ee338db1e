"""Lowerings of pointwise operators: what happens to the elements, as arithmetic on `Scalar`s.

    @pointwise("aten.sigmoid")
    def sigmoid(self: Scalar) -> Scalar:
        return 1 / (1 + s.exp(-self))

A body gets the operator's arguments by name: tensors as their elements, everything else as in the schema. Integers
arrive as floats where the result is floating-point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.registry import parameters_of
from xdsl_exir.lowering import LOWERINGS, lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, static_shape
from xdsl_exir.lowering.scalar import Scalar, compute_dtype

F = TypeVar("F", bound=Callable[..., Scalar])


def pointwise(*names: str) -> Callable[[F], F]:
    """Registers the lowering of pointwise operators by what they do to elements."""

    def decorate(body: F) -> F:
        def lower(b: LinalgBuilder, out: list[TensorMeta], **arguments: Any) -> Tensor:
            return elementwise(b, body, arguments, out[0])

        LOWERINGS.register(*names, parameters=(*parameters_of(body), "out"))(lower)
        return body

    return decorate


def elementwise(
    b: LinalgBuilder, body: Callable[..., Scalar], arguments: dict[str, Any], out: TensorMeta
) -> Tensor:
    """Maps `body` over the elements of the arguments that are tensors."""
    tensors = {name: value for name, value in arguments.items() if isinstance(value, Tensor)}

    def element(*elements: Scalar) -> Scalar:
        given = dict(zip(tensors, (to_computation(x, out.dtype) for x in elements), strict=True))
        return body(**{**arguments, **given})

    return b.elementwise(element, list(tensors.values()), static_shape(out), out.dtype)


def to_computation(x: Scalar, result: DType) -> Scalar:
    """An element in the dtype the operator computes in: floating-point where the result is."""
    floating = result.category is Category.FLOAT and x.dtype.category is Category.INT
    return s.cast(x, compute_dtype(result)) if floating else x


# --- arithmetic ----------------------------------------------------------------------------------------------


@pointwise("aten.add.Tensor")
def add(self: Scalar, other: Scalar, alpha: float) -> Scalar:
    return self + (other if alpha == 1 else other * alpha)


@pointwise("aten.sub.Tensor")
def sub(self: Scalar, other: Scalar, alpha: float) -> Scalar:
    return self - (other if alpha == 1 else other * alpha)


@pointwise("aten.mul.Tensor")
def mul(self: Scalar, other: Scalar) -> Scalar:
    return self * other


@lowering("aten.div.Tensor")
def div(b: LinalgBuilder, self: Tensor, other: Tensor, out: list[TensorMeta]) -> Tensor:
    compute = compute_dtype(out[0].dtype)
    return b.elementwise(
        lambda x, y: s.cast(x, compute) / s.cast(y, compute),
        [self, other],
        static_shape(out[0]),
        out[0].dtype,
    )


@pointwise("aten.div.Tensor_mode")
def div_mode(self: Scalar, other: Scalar, rounding_mode: str | None) -> Scalar:
    if rounding_mode == "floor":
        return floor_divide(self, other)
    return s.trunc(self / other)


def floor_divide(x: Scalar, y: Scalar) -> Scalar:
    """Division rounded down, exact for floats as Python's is: through the remainder."""
    if not s.is_float(x):
        quotient, rest = x / y, s.rem(x, y)
        if s.is_unsigned(x.dtype):
            return quotient
        down = rest.differs(0) & (x < 0) ^ (rest.differs(0) & (y < 0))
        return s.select(down, quotient - 1, quotient)
    quotient = (x - remainder_of(x, y)) / y
    rounded = s.floor(quotient)
    rounded = s.select(quotient - rounded > 0.5, rounded + 1, rounded)
    return s.select(y.equals(0), x / y, rounded)


def remainder_of(x: Scalar, y: Scalar) -> Scalar:
    """The remainder with the divisor's sign, as Python's %."""
    rest = s.rem(x, y)
    if s.is_unsigned(x.dtype):
        return rest
    wrong_sign = rest.differs(0) & ((rest < 0) ^ (y < 0))
    return s.select(wrong_sign, rest + y, rest)


@pointwise("aten.remainder.Tensor")
def remainder(self: Scalar, other: Scalar) -> Scalar:
    return remainder_of(self, other)


@pointwise("aten.fmod.Tensor")
def fmod(self: Scalar, other: Scalar) -> Scalar:
    return s.rem(self, other)


@pointwise("aten.pow.Tensor_Tensor")
def pow(self: Scalar, exponent: Scalar) -> Scalar:
    return s.pow(self, exponent) if s.is_float(self) else integer_power(self, exponent)


def integer_power(base: Scalar, exponent: Scalar) -> Scalar:
    """Integer power by squaring, wrapping around; of a negative exponent 0, but for bases 1 and -1."""
    result = s.constant(1, base.dtype)
    power, rest = base, exponent
    for _ in range(6):  # 64-bit results overflow past the 63rd power of 2
        odd = (rest & 1).differs(0)
        result = s.select(odd, result * power, result)
        power, rest = power * power, rest / 2
    odd = (exponent & 1).differs(0)
    of_negative = s.select(
        base.equals(1),
        1,
        s.select(base.equals(-1), s.select(odd, s.constant(-1, base.dtype), 1), s.constant(0, base.dtype)),
    )
    return s.select(exponent < 0, of_negative, result)


@pointwise("aten.neg")
def neg(self: Scalar) -> Scalar:
    return -self


@pointwise("aten.abs")
def absolute(self: Scalar) -> Scalar:
    return s.absolute(self)


@pointwise("aten.sign", "aten.sgn")
def sign(self: Scalar) -> Scalar:
    if self.dtype.category is Category.BOOL:
        return self
    positive, negative = s.cast(self > 0, self.dtype), s.cast(self < 0, self.dtype)
    return positive - negative


@pointwise("aten.minimum")
def minimum(self: Scalar, other: Scalar) -> Scalar:
    return s.minimum(self, other)


@pointwise("aten.maximum")
def maximum(self: Scalar, other: Scalar) -> Scalar:
    return s.maximum(self, other)


@pointwise("aten.reciprocal")
def reciprocal(self: Scalar) -> Scalar:
    return 1 / self


# --- functions -----------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[Scalar], Scalar]] = {
    "aten.exp": s.exp,
    "aten.exp2": s.exp2,
    "aten.expm1": s.expm1,
    "aten.log": s.log,
    "aten.log2": s.log2,
    "aten.log10": s.log10,
    "aten.log1p": s.log1p,
    "aten.sqrt": s.sqrt,
    "aten.rsqrt": s.rsqrt,
    "aten.sin": s.sin,
    "aten.cos": s.cos,
    "aten.tan": s.tan,
    "aten.asin": s.asin,
    "aten.acos": s.acos,
    "aten.atan": s.atan,
    "aten.sinh": s.sinh,
    "aten.cosh": s.cosh,
    "aten.tanh": s.tanh,
    "aten.asinh": s.asinh,
    "aten.acosh": s.acosh,
    "aten.atanh": s.atanh,
    "aten.erf": s.erf,
    "aten.ceil": s.ceil,
    "aten.floor": s.floor,
    "aten.trunc": s.trunc,
    "aten.round": s.round_even,
    "aten.isnan": s.is_nan,
    "aten.isinf": s.is_inf,
}
"""Functions of one element."""


def _function(function: Callable[[Scalar], Scalar]) -> Callable[[Scalar], Scalar]:
    def body(self: Scalar) -> Scalar:
        return function(self)

    return body


for _name, _scalar_function in FUNCTIONS.items():
    pointwise(_name)(_function(_scalar_function))


@pointwise("aten.erfc")
def erfc(self: Scalar) -> Scalar:
    return 1 - s.erf(self)


@pointwise("aten.atan2")
def atan2(self: Scalar, other: Scalar) -> Scalar:
    return s.atan2(self, other)


@pointwise("aten.sigmoid")
def sigmoid(self: Scalar) -> Scalar:
    return 1 / (1 + s.exp(-self))


@pointwise("aten.relu")
def relu(self: Scalar) -> Scalar:
    return s.maximum(self, 0)


def clamp_between(x: Scalar, low: float | None, high: float | None) -> Scalar:
    """The number brought between bounds; NaN stays."""
    x = x if low is None else s.maximum(x, low)
    return x if high is None else s.minimum(x, high)


@pointwise("aten.hardtanh")
def hardtanh(self: Scalar, min_val: float, max_val: float) -> Scalar:
    return clamp_between(self, min_val, max_val)


@pointwise("aten.clamp")
def clamp(self: Scalar, min: float | None, max: float | None) -> Scalar:
    return clamp_between(self, min, max)


@pointwise("aten.leaky_relu")
def leaky_relu(self: Scalar, negative_slope: float) -> Scalar:
    return s.select(self > 0, self, self * negative_slope)


@pointwise("aten.elu")
def elu(self: Scalar, alpha: float, scale: float, input_scale: float) -> Scalar:
    negative = s.expm1(self * input_scale) * (alpha * scale)
    return s.select(self > 0, self * scale, negative)


@pointwise("aten.gelu")
def gelu(self: Scalar, approximate: str) -> Scalar:
    if approximate == "tanh":
        inner = (self + self * self * self * 0.044715) * math.sqrt(2 / math.pi)
        return self * 0.5 * (s.tanh(inner) + 1)
    return self * 0.5 * (s.erf(self * math.sqrt(0.5)) + 1)


# --- comparisons and logic -----------------------------------------------------------------------------------


def _comparison(predicate: str) -> Callable[[Scalar, Scalar], Scalar]:
    compare = s.compare(predicate)

    def body(self: Scalar, other: Scalar) -> Scalar:
        return compare(self, other)

    return body


for _predicate in ("eq", "ne", "lt", "le", "gt", "ge"):
    pointwise(f"aten.{_predicate}.Tensor")(_comparison(_predicate))


def truth(x: Scalar) -> Scalar:
    """Whether a number is not zero."""
    return x.differs(0)


@pointwise("aten.logical_not")
def logical_not(self: Scalar) -> Scalar:
    return ~truth(self)


@pointwise("aten.logical_and")
def logical_and(self: Scalar, other: Scalar) -> Scalar:
    return truth(self) & truth(other)


@pointwise("aten.logical_or")
def logical_or(self: Scalar, other: Scalar) -> Scalar:
    return truth(self) | truth(other)


@pointwise("aten.logical_xor")
def logical_xor(self: Scalar, other: Scalar) -> Scalar:
    return truth(self) ^ truth(other)


@pointwise("aten.bitwise_not")
def bitwise_not(self: Scalar) -> Scalar:
    return ~self


@pointwise("aten.bitwise_and.Tensor")
def bitwise_and(self: Scalar, other: Scalar) -> Scalar:
    return self & other


@pointwise("aten.bitwise_or.Tensor")
def bitwise_or(self: Scalar, other: Scalar) -> Scalar:
    return self | other


@pointwise("aten.bitwise_xor.Tensor")
def bitwise_xor(self: Scalar, other: Scalar) -> Scalar:
    return self ^ other


@pointwise("aten.where.self")
def where(condition: Scalar, self: Scalar, other: Scalar) -> Scalar:
    return s.select(truth(condition), self, other)


# --- copies --------------------------------------------------------------------------------------------------


@lowering("aten._to_copy")
def to_copy(b: LinalgBuilder, self: Tensor, out: list[TensorMeta]) -> Tensor:
    return b.convert(self, out[0].dtype)


@lowering("aten.clone", "aten.alias")
def clone(b: LinalgBuilder, self: Tensor) -> Tensor:
    return self
