"""Functions of complex numbers inside loop bodies.

Functions are made of real ones of the parts (Abramowitz and Stegun 3.7, 4.3 and 4.5), in float64 whatever the dtype. Sums, products,
quotients and comparisons are in `scalar`. A complex tensor is a buffer of pairs, real parts first, as in PyTorch and NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects import arith

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar

# --- functions -----------------------------------------------------------------------------------------------


def rounded_product(a: Scalar, b: Scalar) -> Scalar:
    """The product of complex numbers with each product of parts rounded: fused with sums they would not overflow."""

    def times(x: Scalar, y: Scalar) -> Scalar:
        return Scalar(arith.MulfOp(x.value, y.value).result, x.dtype)

    (x, y), (u, v) = ((s.real(z), s.imaginary(z)) for z in (a, b))
    return s.complex_number(times(x, u) - times(y, v), times(x, v) + times(y, u))


def polar(length: Scalar, angle: Scalar) -> Scalar:
    """The number of a length and an angle."""
    return s.complex_number(length * s.cos(angle), length * s.sin(angle))


def angle(x: Scalar) -> Scalar:
    """The angle; of a real number pi if it is negative."""
    if s.is_complex(x):
        return s.atan2(s.imaginary(x), s.real(x))
    return s.select(s.is_nan(x), x, s.select(x < 0, s.constant(math.pi, x.dtype), 0))


def scaled(x: Scalar, factor: s.Number) -> Scalar:
    """The number times a real one: infinite parts do not make the other NaN."""
    return s.complex_number(s.real(x) * factor, s.imaginary(x) * factor)


def unless_zero(x: Scalar, product: Scalar) -> Scalar:
    """A product that is an exact zero where one factor comes of a zero, also where the other is infinite or NaN."""
    return s.select(x.equals(0) & s.is_nan(product), x, product)


def without_end(length: Scalar, product: Scalar) -> Scalar:
    """A product that is infinite where a length is, also where no angle gives it a sign (C11, G.6)."""
    return s.select(s.is_inf(length) & s.is_nan(product), math.inf, product)


def exp(x: Scalar) -> Scalar:
    """Beside an infinite part at no angle the length stays (C11, G.6.3.1): of a finite one that overflows it is NaN."""
    a, b = s.real(x), s.imaginary(x)
    length = s.exp(a)
    along, across = length * s.cos(b), length * s.sin(b)
    along = s.select(s.is_inf(a) & s.is_nan(along), length, along)
    across = s.select(a.equals(-math.inf) & s.is_nan(across), s.copysign(length, b), across)
    return s.complex_number(along, unless_zero(b, across))


def log(x: Scalar) -> Scalar:
    return s.complex_number(s.log(s.absolute(x)), angle(x))


def sqrt(x: Scalar) -> Scalar:
    """The root with a real part that is not negative."""
    a, b = s.real(x), s.imaginary(x)
    root = s.sqrt((s.absolute(x) + s.absolute(a)) / 2)
    other = s.select(root.equals(0), 0, s.absolute(b) / (root * 2))
    positive, infinite = a >= 0, s.is_inf(b)
    parts = s.select(positive, root, other), s.copysign(s.select(positive, other, root), b)
    return s.complex_number(s.select(infinite, math.inf, parts[0]), s.select(infinite, b, parts[1]))


def sinh(x: Scalar) -> Scalar:
    a, b = s.real(x), s.imaginary(x)
    along = without_end(a, s.sinh(a) * s.cos(b))
    return s.complex_number(unless_zero(a, along), unless_zero(b, s.cosh(a) * s.sin(b)))


def cosh(x: Scalar) -> Scalar:
    a, b = s.real(x), s.imaginary(x)
    zero = s.select(a.equals(0), 0, s.select(a < 0, -b, b))
    across = s.sinh(a) * s.sin(b)
    across = s.select((a.equals(0) | b.equals(0)) & s.is_nan(across), zero, across)
    return s.complex_number(without_end(a, s.cosh(a) * s.cos(b)), across)


FLAT = 350.0
"""A real part from which on the hyperbolic tangent is 1 or -1 in float64, with doubled arguments that do not overflow."""


def tanh(x: Scalar) -> Scalar:
    a, b = s.minimum(s.maximum(s.real(x), -FLAT), FLAT) * 2, s.imaginary(x) * 2
    below = s.cosh(a) + s.cos(b)
    flat = s.absolute(a).equals(2 * FLAT)
    along, across = unless_zero(a, s.sinh(a) / below), unless_zero(b, s.sin(b) / below)
    one, zero = s.copysign(s.constant(1, a.dtype), a), s.copysign(s.constant(0, b.dtype), b)
    at_end = s.complex_number(s.select(flat, one, along), s.select(flat & s.is_nan(across), zero, across))
    # Of a finite number at no angle, however large, nothing is known.
    lost = s.is_nan(s.sin(b)) & ~(s.is_inf(s.real(x)) | s.real(x).equals(0))
    return s.complex_number(*(s.select(lost, math.nan, part(at_end)) for part in (s.real, s.imaginary)))


def turned(function: Callable[[Scalar], Scalar]) -> Callable[[Scalar], Scalar]:
    """f(i x) / i: the circular function of an odd hyperbolic one."""

    def circular(x: Scalar) -> Scalar:
        result = function(s.complex_number(-s.imaginary(x), s.real(x)))
        return s.complex_number(s.imaginary(result), -s.real(result))

    return circular


def cos(x: Scalar) -> Scalar:
    return cosh(s.complex_number(-s.imaginary(x), s.real(x)))


def expm1(x: Scalar) -> Scalar:
    """exp(x) - 1, exact near 0."""
    a, b = s.real(x), s.imaginary(x)
    half = s.sin(b * 0.5)
    return s.complex_number(s.expm1(a) * s.cos(b) - half * half * 2, s.exp(a) * s.sin(b))


def log1p(x: Scalar) -> Scalar:
    """log(1 + x), exact near 0."""
    a, b = s.real(x), s.imaginary(x)
    near = s.log1p(a * 2 + (a * a + b * b)) * 0.5
    near = s.select(near.equals(0), a, near)
    length = s.select(s.absolute(x) < 0.5, near, s.log(s.absolute(x + 1)))
    length = s.select(s.is_nan(x), math.nan, length)
    return s.complex_number(length, s.atan2(b, a + 1))


def log_add_exp(x: Scalar, y: Scalar) -> Scalar:
    """log(exp x + exp y), as ATen/native/cpu/LogAddExp.h has it: of infinities, and NaN of either part."""
    swapped = s.real(x) < s.real(y)
    low, high = s.select(swapped, x, y), s.select(swapped, y, x)
    length = s.real(low)
    endless = (s.is_inf(length) | s.is_nan(length)) & length.equals(s.real(high))
    together = s.select(length < 0, low, log(exp(low) + exp(high)))
    result = s.select(endless, together, high + log1p(exp(low - high)))
    return s.select(s.is_nan(x) | s.is_nan(y), complex(math.nan, math.nan), result)


def atanh(x: Scalar) -> Scalar:
    result, a, b = scaled(log1p(x) - log1p(-x), 0.5), s.real(x), s.imaginary(x)
    zero = s.copysign(s.constant(0, a.dtype), a)
    right = s.copysign(s.constant(math.pi / 2, b.dtype), b)
    return s.complex_number(
        s.select(s.is_inf(a) | s.is_inf(b), zero, s.select(a.equals(0), a, s.real(result))),
        s.select(s.is_inf(b), right, s.imaginary(result)),
    )


# Inverses by W. Kahan's formulas ("Branch cuts for complex elementary functions", 1987), right on both sides of the cuts.
# An infinity has the angle that its point has, and what is NaN leaves an exact zero, or a quarter turn, as it is (C11, G.6).


def plus(real: float, x: Scalar) -> Scalar:
    """A real number more; an imaginary part of -0 stays one."""
    return s.complex_number(s.real(x) + real, s.imaginary(x))


def endless(x: Scalar) -> Scalar:
    """The infinity with a number's sign."""
    return s.copysign(s.constant(math.inf, x.dtype), x)


def quarter_turn(a: Scalar, angle: Scalar) -> Scalar:
    """The angle, which is a right one on the imaginary axis, also where it would be NaN."""
    return s.select(a.equals(0) & s.is_nan(angle), math.pi / 2, angle)


def asin(x: Scalar) -> Scalar:
    below, above = sqrt(plus(1, -x)), sqrt(plus(1, x))
    a, b = s.real(x), s.imaginary(x)
    angle = unless_zero(a, s.atan2(a, s.real(below * above)))
    height = s.asinh(s.imaginary(s.conjugate(below) * above))
    return s.select(
        s.is_inf(x), s.complex_number(s.atan2(a, s.absolute(b)), endless(b)), s.complex_number(angle, height)
    )


def acos(x: Scalar) -> Scalar:
    below, above = sqrt(plus(1, -x)), sqrt(plus(1, x))
    a, b = s.real(x), s.imaginary(x)
    angle = quarter_turn(a, s.atan2(s.real(below), s.real(above)) * 2)
    height = s.asinh(s.imaginary(s.conjugate(above) * below))
    return s.select(
        s.is_inf(x), s.complex_number(s.atan2(s.absolute(b), a), -endless(b)), s.complex_number(angle, height)
    )


def acosh(x: Scalar) -> Scalar:
    below, above = sqrt(plus(-1, x)), sqrt(plus(1, x))
    a, b = s.real(x), s.imaginary(x)
    angle = quarter_turn(a, s.atan2(s.imaginary(below), s.real(above)) * 2)
    length = s.asinh(s.real(s.conjugate(below) * above))
    return s.select(
        s.is_inf(x), s.complex_number(endless(s.absolute(b)), s.atan2(b, a)), s.complex_number(length, angle)
    )


def sgn(x: Scalar) -> Scalar:
    """The number divided by its length; 0 of 0."""
    length = s.absolute(x)
    return s.select(length.equals(0), 0, s.complex_number(s.real(x) / length, s.imaginary(x) / length))


def sigmoid(x: Scalar) -> Scalar:
    return 1 / (1 + exp(-x))


def product_in_c(a: Scalar, b: Scalar) -> Scalar:
    """The product as C has it: of an infinity it is infinite where its parts would be NaN (C11, G.5.1)."""

    def infinite(x: Scalar) -> Scalar:
        return s.is_inf(s.real(x)) | s.is_inf(s.imaginary(x))

    def direction(x: Scalar) -> Scalar:
        def of_part(part: Scalar) -> Scalar:
            finite = s.select(infinite(x) | s.is_nan(part), 0, part)
            return s.copysign(s.select(s.is_inf(part), 1, finite), part)

        return s.by_parts(of_part, x)

    plain = a * b
    lost = s.is_nan(s.real(plain)) & s.is_nan(s.imaginary(plain)) & (infinite(a) | infinite(b))
    return s.select(lost, scaled(direction(a) * direction(b), math.inf), plain)


def pow(a: Scalar, b: Scalar) -> Scalar:
    """exp(b log a), as C has it: 0 to the power 0 is NaN, and what is infinite at no angle keeps its length."""
    exponent = product_in_c(b, log(a))
    power, length = exp(exponent), s.real(exponent)
    endless = length.equals(math.inf) & s.is_nan(s.imaginary(exponent))
    return s.complex_number(s.select(endless, length, s.real(power)), s.imaginary(power))


def widened(x: Scalar) -> Scalar:
    """A complex number as complex128."""
    return s.cast(x, dt.ComplexDouble) if s.is_complex(x) else x


def wide(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """The function in complex128, its result in the dtype of the first argument."""
    return lambda *x: s.cast(function(*map(widened, x)), x[0].dtype)


FUNCTIONS: dict[str, Callable[[Scalar], Scalar]] = {
    "aten.exp": exp,
    "aten.exp2": lambda x: exp(scaled(x, math.log(2))),
    "aten.log": log,
    "aten.log2": lambda x: scaled(log(x), 1 / math.log(2)),
    "aten.log10": lambda x: scaled(log(x), 1 / math.log(10)),
    "aten.sqrt": sqrt,
    "aten.rsqrt": lambda x: 1 / sqrt(x),
    "aten.sinh": sinh,
    "aten.cosh": cosh,
    "aten.tanh": tanh,
    "aten.sin": turned(sinh),
    "aten.cos": cos,
    "aten.tan": turned(tanh),
    "aten.sgn": sgn,
    "aten.expm1": expm1,
    "aten.log1p": log1p,
    "aten.asinh": turned(asin),
    "aten.atanh": atanh,
    "aten.asin": asin,
    "aten.atan": turned(atanh),
    "aten.acos": acos,
    "aten.acosh": acosh,
}
"""Functions of one number that are others than of real numbers."""
