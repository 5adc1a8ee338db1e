"""Lowerings of pointwise operators: what happens to the elements, as arithmetic on `Scalar`s (`lowering.pointwise`)."""

from __future__ import annotations

from collections.abc import Callable

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import complex_numbers as numbers
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype, is_unsigned
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.loops import repeat_while
from xdsl_exir.lowering.operators.view import BITS, bitcast, of_parts, parts_of
from xdsl_exir.lowering.pointwise import pointwise
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor

# --- arithmetic ----------------------------------------------------------------------------------------------


@pointwise("aten.add.Tensor", takes_complex=True)
def add(self: Scalar, other: Scalar, alpha: float) -> Scalar:
    return self + (other if alpha == 1 and not s.is_complex(other) else other * alpha)


@pointwise("aten.sub.Tensor", takes_complex=True)
def sub(self: Scalar, other: Scalar, alpha: float) -> Scalar:
    """Of complex numbers the sum with a multiple, as PyTorch computes it: an infinity times the 0 i of a factor is NaN."""
    if s.is_complex(other):
        return self + other * -alpha
    return self - (other if alpha == 1 else other * alpha)


@pointwise("aten.mul.Tensor", takes_complex=True)
def mul(self: Scalar, other: Scalar) -> Scalar:
    return numbers.rounded_product(self, other) if s.is_complex(self) else self * other


@lowering("aten.div.Tensor", takes_complex=True)
def div(b: LinalgBuilder, self: Tensor, other: Tensor, out: list[TensorMeta]) -> Tensor:
    compute = compute_dtype(out[0].dtype)
    return b.elementwise(
        lambda x, y: s.cast(x, compute) / s.cast(y, compute),
        [self, other],
        out[0].shape,
        out[0].dtype,
    )


@pointwise("aten.div.Tensor_mode")
def div_mode(self: Scalar, other: Scalar, rounding_mode: str | None) -> Scalar:
    if rounding_mode == "floor":
        return floor_divide(self, other)
    return self / other if rounding_mode is None else s.trunc(self / other)


def floor_divide(x: Scalar, y: Scalar) -> Scalar:
    """Division rounded down, exact for floats as Python's is: through the remainder."""
    rest = s.rem(x, y)
    wrong_sign = rest.differs(0) & ((rest < 0) ^ (y < 0))
    if not s.is_float(x):
        return x / y if is_unsigned(x.dtype) else s.select(wrong_sign, x / y - 1, x / y)
    quotient = (x - rest) / y
    quotient = s.select(wrong_sign, quotient - 1, quotient)
    rounded = s.floor(quotient)
    rounded = s.select(quotient - rounded > 0.5, rounded + 1, rounded)
    rounded = s.select(quotient.equals(0), s.copysign(s.constant(0, x.dtype), x / y), rounded)
    return s.select(y.equals(0), x / y, rounded)


def remainder_of(x: Scalar, y: Scalar) -> Scalar:
    """The remainder with the divisor's sign, as Python's %."""
    rest = s.rem(x, y)
    if is_unsigned(x.dtype):
        return rest
    wrong_sign = rest.differs(0) & ((rest < 0) ^ (y < 0))
    return s.select(wrong_sign, rest + y, rest)


@pointwise("aten.remainder.Tensor")
def remainder(self: Scalar, other: Scalar) -> Scalar:
    return remainder_of(self, other)


@pointwise("aten.fmod.Tensor")
def fmod(self: Scalar, other: Scalar) -> Scalar:
    return s.rem(self, other)


@pointwise("aten.pow.Tensor_Tensor", takes_complex=True)
def pow(self: Scalar, exponent: Scalar) -> Scalar:
    if self.dtype.category is Category.BOOL:
        return self | ~exponent
    if s.is_complex(self):
        return numbers.wide(numbers.pow)(self, exponent)
    return s.pow(self, exponent) if s.is_float(self) else integer_power(self, exponent)


def integer_power(base: Scalar, exponent: Scalar) -> Scalar:
    """Integer power by squaring, wrapping around; of a negative exponent 0, but for bases 1 and -1."""

    def step(result: Scalar, power: Scalar, rest: Scalar) -> list[Scalar]:
        return [
            s.select(is_odd(rest), result * power, result),
            power * power,
            s.shift_right(rest, s.constant(1, rest.dtype)),
        ]

    def more(_: Scalar, __: Scalar, rest: Scalar) -> Scalar:
        return rest > 0

    one = s.constant(1, base.dtype)
    [result, *_] = repeat_while([one, base, exponent], more, step)
    if is_unsigned(base.dtype):
        return result
    of_minus_one = s.select(is_odd(exponent), -one, one)
    of_negative = s.select(base.equals(1), 1, s.select(base.equals(-1), of_minus_one, 0))
    return s.select(exponent < 0, of_negative, result)


def is_odd(x: Scalar) -> Scalar:
    return (x & 1).differs(0)


@pointwise("aten.gcd")
def gcd(self: Scalar, other: Scalar) -> Scalar:
    """Euclid's algorithm."""

    def rest_left(_: Scalar, y: Scalar) -> Scalar:
        return y.differs(0)

    def step(x: Scalar, y: Scalar) -> list[Scalar]:
        return [y, s.rem(x, y)]

    return repeat_while([s.absolute(self), s.absolute(other)], rest_left, step)[0]


@pointwise("aten.lcm")
def lcm(self: Scalar, other: Scalar) -> Scalar:
    # As in C, short integers are multiplied as int.
    wide = dt.Int if self.dtype.bits < 32 else self.dtype
    quotient, factor = s.cast(self / gcd(self, other), wide), s.cast(other, wide)
    return s.cast(s.absolute(quotient * factor), self.dtype)


@pointwise("aten.hypot")
def hypot(self: Scalar, other: Scalar) -> Scalar:
    return s.hypot(self, other)


@pointwise("aten.copysign.Tensor")
def copysign(self: Scalar, other: Scalar) -> Scalar:
    return s.copysign(self, other)


@pointwise("aten.bitwise_left_shift.Tensor")
def left_shift(self: Scalar, other: Scalar) -> Scalar:
    return s.shift_left(self, other)


@pointwise("aten.bitwise_right_shift.Tensor")
def right_shift(self: Scalar, other: Scalar) -> Scalar:
    return s.shift_right(self, other)


@lowering("aten.nextafter")
def nextafter(b: LinalgBuilder, self: Tensor, other: Tensor, out: list[TensorMeta]) -> Tensor:
    """As integers, the bits of numbers of one sign are in their order."""
    dtype, pattern = out[0].dtype, BITS[out[0].dtype.bits]
    least_negative = (1 << dtype.bits - 1) + 1

    def step(x: Scalar, y: Scalar, bits: Scalar, target: Scalar) -> Scalar:
        away = (x < y) ^ (x < 0)
        moved = s.select(away, bits + 1, bits - 1)
        least = s.select(y < 0, s.constant(least_negative, pattern), 1)
        moved = s.select(x.equals(0), least, moved)
        return s.select(s.is_nan(x), bits, s.select(s.is_nan(y) | x.equals(y), target, moved))

    inputs = [self, other, bitcast(b, self, pattern), bitcast(b, other, pattern)]
    return bitcast(b, b.elementwise(step, inputs, out[0].shape, pattern), dtype)


@lowering("aten.frexp.Tensor")
def frexp(b: LinalgBuilder, self: Tensor, out: list[TensorMeta]) -> tuple[Tensor, Tensor]:
    """A mantissa of at least 1/2 and below 1, and the exponent of 2: from the bits in float64."""
    shape, position, mask = self.shape, 52, 0x7FF

    def parts(x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """The number itself, its bits but for its exponent, and its exponent; subnormal ones are scaled."""
        x = s.cast(x, dt.Double)
        small = s.absolute(x) < 2.0**-1022
        bits = s.bitcast(s.select(small, x * 2.0**54, x), dt.Long)
        exponent = (s.shift_right(bits, s.constant(position, dt.Long)) & mask) - 1022
        return x, bits & ~(mask << position), exponent - s.select(small, s.constant(54, dt.Long), 0)

    def is_itself(x: Scalar) -> Scalar:
        return x.equals(0) | s.is_inf(x) | s.is_nan(x)

    def mantissa(x: Scalar) -> Scalar:
        x, rest, _ = parts(x)
        return s.select(is_itself(x), x, s.bitcast(rest | (1022 << position), dt.Double))

    def exponent(x: Scalar) -> Scalar:
        x, _, exponent = parts(x)
        return s.select(is_itself(x), 0, s.cast(exponent, dt.Int))

    return (
        b.elementwise(mantissa, [self], shape, out[0].dtype),
        b.elementwise(exponent, [self], shape, out[1].dtype),
    )


@pointwise("aten.neg", takes_complex=True)
def neg(self: Scalar) -> Scalar:
    return -self


@pointwise("aten.abs", takes_complex=True)
def absolute(self: Scalar) -> Scalar:
    return s.absolute(numbers.widened(self))


@pointwise("aten.sign", "aten.sgn", takes_complex=True)
def sign(self: Scalar) -> Scalar:
    if self.dtype.category is Category.BOOL:
        return self
    if s.is_complex(self):
        return numbers.wide(numbers.sgn)(self)
    positive, negative = s.cast(self > 0, self.dtype), s.cast(self < 0, self.dtype)
    return positive - negative


@pointwise("aten.minimum")
def minimum(self: Scalar, other: Scalar) -> Scalar:
    return s.minimum(self, other)


@pointwise("aten.maximum")
def maximum(self: Scalar, other: Scalar) -> Scalar:
    return s.maximum(self, other)


@pointwise("aten.fmin")
def fmin(self: Scalar, other: Scalar) -> Scalar:
    return s.fmin(self, other)


@pointwise("aten.fmax")
def fmax(self: Scalar, other: Scalar) -> Scalar:
    return s.fmax(self, other)


@pointwise("aten.reciprocal", takes_complex=True)
def reciprocal(self: Scalar) -> Scalar:
    return 1 / self


# --- functions -----------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[Scalar], Scalar]] = {
    "aten.exp": s.exp,
    "aten.exp2": s.exp2,
    "aten.expm1": s.expm1,
    "aten.log": s.own_log,
    "aten.log2": s.log2,
    "aten.log10": s.log10,
    "aten.log1p": s.log1p,
    "aten.sqrt": s.sqrt,
    "aten.rsqrt": s.rsqrt,
    "aten.sin": s.own_sin,
    "aten.cos": s.own_cos,
    "aten.tan": s.own_tan,
    "aten.asin": s.own_asin,
    "aten.acos": s.own_acos,
    "aten.atan": s.own_atan,
    "aten.sinh": s.sinh,
    "aten.cosh": s.cosh,
    "aten.tanh": s.tanh,
    "aten.asinh": s.asinh,
    "aten.acosh": s.acosh,
    "aten.atanh": s.own_atanh,
    "aten.erf": s.erf,
    "aten.erfc": s.own_erfc,
    "aten.ceil": s.ceil,
    "aten.floor": s.floor,
    "aten.trunc": s.trunc,
    "aten.round": s.round_even,
    "aten.isnan": s.is_nan,
    "aten.isinf": s.is_inf,
    "aten.signbit": s.sign_bit,
}
"""Functions of one element."""

OF_ANY_NUMBER = ("aten.isnan", "aten.isinf")
"""Those of them that ask the same of complex numbers."""


def _function(
    function: Callable[[Scalar], Scalar], of_complex: Callable[[Scalar], Scalar] | None = None
) -> Callable[[Scalar], Scalar]:
    def body(self: Scalar) -> Scalar:
        if of_complex is not None and s.is_complex(self):
            return numbers.wide(of_complex)(self)
        return function(self)

    return body


for _name, _scalar_function in FUNCTIONS.items():
    _of_complex = numbers.FUNCTIONS.get(_name)
    _both = _of_complex is not None or _name in OF_ANY_NUMBER
    pointwise(_name, takes_complex=_both)(_function(_scalar_function, _of_complex))


@pointwise("aten.round.decimals")
def round_decimals(self: Scalar, decimals: int) -> Scalar:
    scale = 10.0 ** abs(decimals)
    return s.round_even(self * scale) / scale if decimals >= 0 else s.round_even(self / scale) * scale


@pointwise("aten.atan2")
def atan2(self: Scalar, other: Scalar) -> Scalar:
    return s.atan2(self, other)


@pointwise("aten.sigmoid", takes_complex=True)
def sigmoid(self: Scalar) -> Scalar:
    if s.is_complex(self):
        return numbers.wide(numbers.sigmoid)(self)
    return 1 / (1 + s.exp(-self))


@pointwise("aten.clamp", "aten.clamp.Tensor")
def clamp(self: Scalar, min: Scalar | float | None, max: Scalar | float | None) -> Scalar:
    return s.clamp(self, min, max)


# --- complex numbers -----------------------------------------------------------------------------------------


@pointwise("aten.complex", takes_complex=True)
def complex_number(real: Scalar, imag: Scalar) -> Scalar:
    return s.complex_number(real, imag)


@pointwise("aten.polar", takes_complex=True)
def polar(abs: Scalar, angle: Scalar) -> Scalar:
    return numbers.polar(abs, angle)


@pointwise("aten.angle", takes_complex=True)
def angle(self: Scalar) -> Scalar:
    return numbers.angle(numbers.widened(self))


@pointwise("aten._conj", "aten._conj_physical", takes_complex=True)
def conjugate(self: Scalar) -> Scalar:
    return s.conjugate(self)


@lowering("aten.view_as_real", takes_complex=True)
def view_as_real(b: LinalgBuilder, self: Tensor) -> Tensor:
    return parts_of(b, self)


@lowering("aten.view_as_complex", takes_complex=True)
def view_as_complex(b: LinalgBuilder, self: Tensor) -> Tensor:
    return of_parts(b, self)


# --- comparisons and logic -----------------------------------------------------------------------------------


def _comparison(predicate: str) -> Callable[[Scalar, Scalar], Scalar]:
    compare = s.compare(predicate)

    def body(self: Scalar, other: Scalar) -> Scalar:
        return compare(self, other)

    return body


for _predicate in ("eq", "ne", "lt", "le", "gt", "ge"):
    pointwise(f"aten.{_predicate}.Tensor", takes_complex=_predicate in ("eq", "ne"))(_comparison(_predicate))


def truth(x: Scalar) -> Scalar:
    """Whether a number is not zero."""
    return x.differs(0)


@pointwise("aten.logical_not", takes_complex=True)
def logical_not(self: Scalar) -> Scalar:
    return ~truth(self)


@pointwise("aten.logical_and", takes_complex=True)
def logical_and(self: Scalar, other: Scalar) -> Scalar:
    return truth(self) & truth(other)


@pointwise("aten.logical_or", takes_complex=True)
def logical_or(self: Scalar, other: Scalar) -> Scalar:
    return truth(self) | truth(other)


@pointwise("aten.logical_xor", takes_complex=True)
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


@lowering("aten.where.self", takes_complex=True)
def where(b: LinalgBuilder, condition: Tensor, self: Tensor, other: Tensor, out: list[TensorMeta]) -> Tensor:
    return b.elementwise(
        lambda c, x, y: s.select(truth(c), x, y), [condition, self, other], out[0].shape, out[0].dtype
    )


# --- copies --------------------------------------------------------------------------------------------------


@lowering("aten._to_copy", takes_complex=True)
def to_copy(b: LinalgBuilder, self: Tensor, out: list[TensorMeta]) -> Tensor:
    return b.convert(self, out[0].dtype)


@lowering("aten.clone", "aten.alias", takes_complex=True)
def clone(b: LinalgBuilder, self: Tensor) -> Tensor:
    return self


@lowering("aten.copy", takes_complex=True)
def copy(b: LinalgBuilder, self: Tensor, src: Tensor) -> Tensor:
    return b.broadcast(b.convert(src, self.dtype), self.shape)
