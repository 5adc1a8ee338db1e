"""Gradients of pointwise operators, casts and copies: mostly their derivatives."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta
from xdsl_exir.dialects.exir import PythonNumber
from xdsl_exir.transforms.arithmetic import Number, both, choose, product
from xdsl_exir.transforms.decompositions.pointwise import is_complex, real_part
from xdsl_exir.transforms.gradients import Gradient, Gradients, conj, constant, derivative, gradient, times
from xdsl_exir.transforms.matching import is_tensor, known

COMPARISONS = [
    f"{name}.{kind}" for name in ("eq", "ne", "lt", "le", "gt", "ge") for kind in ("Tensor", "Scalar")
]
STEPS = ["ceil", "floor", "round", "round.decimals", "trunc", "sign", "heaviside", "floor_divide"]
QUESTIONS = [
    "signbit",
    "isnan",
    "isinf",
    "isfinite",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
]
OTHERS = ["detach", "fill.Scalar"]

constant(*(f"aten.{name}" for name in (*COMPARISONS, *STEPS, *QUESTIONS, *OTHERS)))

# --- what rules share ----------------------------------------------------------------------------------------


def square(aten: Namespace, value: SSAValue) -> SSAValue:
    return aten.mul.Tensor(value, value)


def one_less(aten: Namespace, value: SSAValue) -> SSAValue:
    """One less a value."""
    return aten.rsub.Scalar(value, 1)


def _of_self(slope: Callable[[Namespace, SSAValue], Any]) -> Callable[..., Any]:
    def rule(aten: Namespace, self: SSAValue) -> Any:
        return slope(aten, self)

    rule.__module__ = __name__
    return rule


def _of_result(slope: Callable[[Namespace, SSAValue], Any]) -> Callable[..., Any]:
    def rule(aten: Namespace, result: SSAValue) -> Any:
        return slope(aten, result)

    rule.__module__ = __name__
    return rule


BY_ARGUMENT: dict[str, Callable[[Namespace, SSAValue], SSAValue]] = {
    "log": lambda aten, x: aten.reciprocal(x),
    "log2": lambda aten, x: aten.reciprocal(aten.mul.Scalar(x, math.log(2))),
    "log10": lambda aten, x: aten.reciprocal(aten.mul.Scalar(x, math.log(10))),
    "log1p": lambda aten, x: aten.reciprocal(aten.add.Scalar(x, 1)),
    "sin": lambda aten, x: aten.cos(x),
    "cos": lambda aten, x: aten.neg(aten.sin(x)),
    "asin": lambda aten, x: aten.rsqrt(one_less(aten, square(aten, x))),
    "acos": lambda aten, x: aten.neg(aten.rsqrt(one_less(aten, square(aten, x)))),
    "atan": lambda aten, x: aten.reciprocal(aten.add.Scalar(square(aten, x), 1)),
    "sinh": lambda aten, x: aten.cosh(x),
    "cosh": lambda aten, x: aten.sinh(x),
    "asinh": lambda aten, x: aten.rsqrt(aten.add.Scalar(square(aten, x), 1)),
    "acosh": lambda aten, x: aten.mul.Tensor(
        aten.rsqrt(aten.sub.Scalar(x, 1)), aten.rsqrt(aten.add.Scalar(x, 1))
    ),
    "atanh": lambda aten, x: aten.reciprocal(one_less(aten, square(aten, x))),
    "erf": lambda aten, x: aten.mul.Scalar(aten.exp(aten.neg(square(aten, x))), 2 / math.sqrt(math.pi)),
    "erfc": lambda aten, x: aten.mul.Scalar(aten.exp(aten.neg(square(aten, x))), -2 / math.sqrt(math.pi)),
}
"""Derivatives by what the argument is."""

BY_RESULT: dict[str, Callable[[Namespace, SSAValue], SSAValue]] = {
    "exp": lambda aten, y: y,
    "exp2": lambda aten, y: aten.mul.Scalar(y, math.log(2)),
    "expm1": lambda aten, y: aten.add.Scalar(y, 1),
    "sqrt": lambda aten, y: aten.reciprocal(aten.mul.Scalar(y, 2)),
    "reciprocal": lambda aten, y: aten.neg(square(aten, y)),
    "rsqrt": lambda aten, y: aten.mul.Scalar(product(aten, y, y, y), -0.5),
    "sigmoid": lambda aten, y: aten.mul.Tensor(y, one_less(aten, y)),
    "tanh": lambda aten, y: one_less(aten, square(aten, y)),
    "tan": lambda aten, y: aten.add.Scalar(square(aten, y), 1),
}
"""Derivatives by what the result is, which is saved in place of the argument."""

for _name, _slope in BY_ARGUMENT.items():
    derivative(f"aten.{_name}")(_of_self(_slope))
for _name, _slope in BY_RESULT.items():
    derivative(f"aten.{_name}")(_of_result(_slope))

# --- arithmetic ----------------------------------------------------------------------------------------------


def scaled(aten: Namespace, grad: SSAValue, factor: Number) -> SSAValue:
    """A gradient times a number, which is conjugated."""
    if isinstance(factor, SSAValue):
        return aten.mul.Scalar(grad, factor)
    return grad if factor == 1 else aten.mul.Scalar(grad, factor.conjugate())


@gradient("aten.add.Tensor", "aten.add.Scalar")
def add(aten: Namespace, grad: SSAValue, alpha: Number) -> Gradients:
    return grad, scaled(aten, grad, alpha)


@gradient("aten.sub.Tensor", "aten.sub.Scalar")
def sub(aten: Namespace, grad: SSAValue, alpha: Number) -> Gradients:
    return grad, scaled(aten, aten.neg(grad), alpha)


@gradient("aten.neg")
def neg(aten: Namespace, grad: SSAValue) -> Gradients:
    return aten.neg(grad)


@gradient("aten.mul.Tensor")
def mul(aten: Namespace, grad: SSAValue, self: SSAValue, other: SSAValue) -> Gradients:
    return times_argument(aten, grad, other), times_argument(aten, grad, self)


def times_argument(aten: Namespace, grad: SSAValue, factor: SSAValue) -> SSAValue:
    """A gradient times an argument, which may be a number."""
    number = known(factor) if not is_tensor(factor) else None
    if number is not None:
        return scaled(aten, grad, number)
    return times(aten, grad, factor) if is_tensor(factor) else aten.mul.Tensor(grad, factor)


@gradient("aten.mul.Scalar")
def mul_scalar(aten: Namespace, grad: SSAValue, other: Number) -> Gradients:
    return scaled(aten, grad, other)


def quotient(aten: Namespace, grad: SSAValue, other: SSAValue) -> SSAValue:
    number = known(other) if not is_tensor(other) else None
    if number is not None:
        return aten.div.Scalar(grad, number.conjugate())
    return aten.div.Tensor(grad, conj(aten, other) if is_tensor(other) else other)


@gradient("aten.div.Tensor")
def div(aten: Namespace, grad: SSAValue, other: SSAValue, result: SSAValue) -> Gradients:
    of_self = quotient(aten, grad, other)
    return of_self, aten.neg(times(aten, of_self, result)) if is_tensor(other) else None


@gradient("aten.div.Scalar")
def div_scalar(aten: Namespace, grad: SSAValue, other: Number) -> Gradients:
    return aten.div.Scalar(grad, other if isinstance(other, SSAValue) else other.conjugate())


@gradient("aten.div.Tensor_mode")
def div_mode(
    aten: Namespace, grad: SSAValue, other: SSAValue, rounding_mode: str | None, result: SSAValue
) -> Gradients:
    return None if rounding_mode is not None else div(aten, grad, other, result)


@gradient("aten.div.Scalar_mode")
def div_scalar_mode(aten: Namespace, grad: SSAValue, other: Number, rounding_mode: str | None) -> Gradients:
    return None if rounding_mode is not None else div_scalar(aten, grad, other)


@gradient("aten.remainder.Tensor")
def remainder(aten: Namespace, grad: SSAValue, self: SSAValue, other: SSAValue) -> Gradients:
    turns = aten.div.Tensor_mode(self, other, rounding_mode="floor")
    return grad, aten.neg(aten.mul.Tensor(grad, turns))


@gradient("aten.fmod.Tensor")
def fmod(aten: Namespace, grad: SSAValue, self: SSAValue, other: SSAValue) -> Gradients:
    turns = aten.div.Tensor_mode(self, other, rounding_mode="trunc")
    return grad, aten.neg(aten.mul.Tensor(grad, turns))


@gradient("aten.remainder.Scalar", "aten.fmod.Scalar")
def remainder_of_number(aten: Namespace, grad: SSAValue) -> Gradients:
    return grad


@gradient("aten.remainder.Scalar_Tensor")
def remainder_by_tensor(aten: Namespace, grad: SSAValue, self: Number, other: SSAValue) -> Gradients:
    turns = aten.floor(aten.mul.Scalar(aten.reciprocal(other), self))
    return aten.neg(aten.mul.Tensor(grad, turns))


# --- powers --------------------------------------------------------------------------------------------------


@gradient("aten.pow.Tensor_Scalar")
def pow_scalar(aten: Namespace, grad: SSAValue, self: SSAValue, exponent: Number) -> Gradients:
    if not isinstance(exponent, SSAValue) and exponent == 0:
        return None
    less = power_less_one(aten, self, exponent)
    return times(aten, grad, aten.mul.Scalar(less, exponent))


def power_less_one(aten: Namespace, self: SSAValue, exponent: Number) -> SSAValue:
    if isinstance(exponent, SSAValue):
        return aten.div.Tensor(aten.pow.Tensor_Scalar(self, exponent), self)
    return self if exponent == 2 else aten.pow.Tensor_Scalar(self, exponent - 1)


@derivative("aten.pow.Tensor_Tensor")
def pow_tensor(aten: Namespace, self: SSAValue, exponent: SSAValue, result: SSAValue) -> Gradients:
    less = aten.pow.Tensor_Tensor(self, aten.sub.Scalar(exponent, 1))
    of_self = choose(aten, aten.ne.Scalar(exponent, 0), aten.mul.Tensor(exponent, less))
    return of_self, times_logarithm(aten, result, self, exponent)


def times_logarithm(aten: Namespace, result: SSAValue, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """The derivative of a power by its exponent: no powers of zero change where the exponent is not negative."""
    is_zero = aten.eq.Scalar(base, 0)
    flat = is_zero if is_complex(exponent) else both(aten, is_zero, aten.ge.Scalar(exponent, 0))
    return choose(aten, aten.logical_not(flat), aten.mul.Tensor(result, aten.log(base)))


@derivative("aten.pow.Scalar")
def power_of_number(aten: Namespace, self: Number, exponent: SSAValue, result: SSAValue) -> Gradients:
    if isinstance(self, SSAValue):
        return times_logarithm(aten, result, aten.scalar_tensor(self, dtype=meta(result).dtype), exponent)
    if self == 0 and is_complex(exponent):
        return aten.zeros_like(result)
    if self == 0:
        return choose(aten, aten.lt.Scalar(exponent, 0), aten.mul.Scalar(result, -math.inf))
    return aten.mul.Scalar(result, logarithm(self))


def logarithm(number: PythonNumber) -> PythonNumber:
    if isinstance(number, complex):
        return cmath.log(number)
    return math.log(number) if number > 0 else math.nan


# --- selections ----------------------------------------------------------------------------------------------


def within(aten: Namespace, self: SSAValue, *bounds: tuple[Any, Any]) -> SSAValue | None:
    """Where all bounds hold, each an operator and what it compares with, if that is there."""
    conditions = [compare(self, bound) for compare, bound in bounds if bound is not None]
    return both(aten, *conditions) if conditions else None


@gradient("aten.clamp")
def clamp(
    aten: Namespace, grad: SSAValue, self: SSAValue, min: Number | None, max: Number | None
) -> Gradients:
    inside = within(aten, self, (aten.ge.Scalar, min), (aten.le.Scalar, max))
    return grad if inside is None else choose(aten, inside, grad)


@gradient("aten.clamp.Tensor")
def clamp_tensor(aten: Namespace, grad: SSAValue, self: SSAValue, min: Gradient, max: Gradient) -> Gradients:
    inside = within(aten, self, (aten.ge.Tensor, min), (aten.le.Tensor, max))
    of_self = grad if inside is None else choose(aten, inside, grad)
    if min is None or max is None:
        low = min and choose(aten, aten.lt.Tensor(self, min), grad)
        return of_self, low, max and choose(aten, aten.gt.Tensor(self, max), grad)
    low = both(aten, aten.lt.Tensor(self, min), aten.lt.Tensor(min, max))
    high = aten.logical_or(aten.gt.Tensor(self, max), aten.lt.Tensor(max, min))
    return of_self, choose(aten, low, grad), choose(aten, high, grad)


@gradient("aten.maximum", "aten.minimum", "aten.fmax", "aten.fmin")
def extreme(aten: Namespace, grad: SSAValue, self: SSAValue, other: SSAValue, result: SSAValue) -> Gradients:
    """To the one that the result is; of equal ones, half to each."""
    is_self, is_other = (is_it(aten, each, result) for each in (self, other))
    shared = aten.where.self(both(aten, is_self, is_other), aten.mul.Scalar(grad, 0.5), grad)
    return choose(aten, is_self, shared), choose(aten, is_other, shared)


def is_it(aten: Namespace, value: SSAValue, result: SSAValue) -> SSAValue:
    """Where a value is the result, NaN or not."""
    nan = both(aten, aten.isnan(value), aten.isnan(result))
    return aten.logical_or(aten.eq.Tensor(value, result), nan)


@gradient("aten.where.self")
def where(aten: Namespace, grad: SSAValue, condition: SSAValue) -> Gradients:
    return None, choose(aten, condition, grad), choose(aten, aten.logical_not(condition), grad)


# --- absolute values and complex numbers ---------------------------------------------------------------------


@gradient("aten.abs")
def abs(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    return aten.mul.Tensor(grad, aten.sgn(self))


@gradient("aten.sgn")
def sgn(aten: Namespace, grad: SSAValue, self: SSAValue, result: SSAValue) -> Gradients:
    """Of complex numbers: what is at right angles to the direction, over the distance."""
    if not is_complex(self):
        return None
    along = aten.mul.Tensor(real_part(aten, times(aten, grad, result)), result)
    distance = aten.abs(self)
    turned = aten.div.Tensor(aten.sub.Tensor(grad, along), distance)
    return choose(aten, aten.ne.Scalar(distance, 0), turned)


@gradient("aten.angle")
def angle(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    if not is_complex(self):
        return None
    squared = aten.add.Tensor(square(aten, real_part(aten, self)), square(aten, real_part(aten, self, 1)))
    return choose(
        aten,
        aten.ne.Scalar(squared, 0),
        aten.complex(
            aten.neg(aten.div.Tensor(aten.mul.Tensor(grad, real_part(aten, self, 1)), squared)),
            aten.div.Tensor(aten.mul.Tensor(grad, real_part(aten, self)), squared),
        ),
    )


@gradient("aten._conj", "aten._conj_physical")
def conjugate(aten: Namespace, grad: SSAValue) -> Gradients:
    return conj(aten, grad)


@gradient("aten.view_as_real")
def view_as_real(aten: Namespace, grad: SSAValue) -> Gradients:
    return aten.view_as_complex(grad)


@gradient("aten.view_as_complex")
def view_as_complex(aten: Namespace, grad: SSAValue) -> Gradients:
    return aten.view_as_real(grad)


@gradient("aten.complex")
def complex_(aten: Namespace, grad: SSAValue) -> Gradients:
    return real_part(aten, grad), real_part(aten, grad, 1)


@gradient("aten.polar")
def polar(aten: Namespace, grad: SSAValue, abs: SSAValue, angle: SSAValue) -> Gradients:
    real, imaginary = real_part(aten, grad), real_part(aten, grad, 1)
    cos, sin = aten.cos(angle), aten.sin(angle)
    of_abs = aten.add.Tensor(aten.mul.Tensor(real, cos), aten.mul.Tensor(imaginary, sin))
    of_angle = aten.sub.Tensor(aten.mul.Tensor(imaginary, cos), aten.mul.Tensor(real, sin))
    return of_abs, aten.mul.Tensor(of_angle, abs)


# --- others --------------------------------------------------------------------------------------------------


@derivative("aten.atan2")
def atan2(aten: Namespace, self: SSAValue, other: SSAValue) -> Gradients:
    squared = aten.add.Tensor(square(aten, self), square(aten, other))
    return aten.div.Tensor(other, squared), aten.neg(aten.div.Tensor(self, squared))


@derivative("aten.hypot")
def hypot(aten: Namespace, self: SSAValue, other: SSAValue, result: SSAValue) -> Gradients:
    return aten.div.Tensor(self, result), aten.div.Tensor(other, result)


@gradient("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(aten: Namespace, grad: SSAValue, self: SSAValue, result: SSAValue) -> Gradients:
    """The sign that the argument was given, if it had one; none to the other."""
    return aten.mul.Tensor(grad, choose(aten, aten.ne.Scalar(self, 0), aten.div.Tensor(result, self)))


@gradient("aten.frexp.Tensor")
def frexp(aten: Namespace, grad: tuple[SSAValue, Gradient], results: tuple[SSAValue, SSAValue]) -> Gradients:
    """The mantissa is the argument over a power of two, which is a constant."""
    return aten.mul.Tensor(grad[0], aten.exp2(aten.neg(aten._to_copy(results[1], dtype=meta(grad[0]).dtype))))


@gradient("aten.nextafter")
def nextafter(aten: Namespace, grad: SSAValue, self: SSAValue, other: SSAValue) -> Gradients:
    return choose(aten, aten.ne.Tensor(self, other), grad)


@gradient("aten._to_copy", "aten.clone", "aten.alias")
def copied(aten: Namespace, grad: SSAValue) -> Gradients:
    return grad


@gradient("aten.copy")
def copy(aten: Namespace, grad: SSAValue) -> Gradients:
    """Nothing of what is written over is left."""
    return None, grad
