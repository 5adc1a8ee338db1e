"""Functions of pointwise operators.

Where NumPy's function has PyTorch's semantics the table of its kind names it; the others are written out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any, TypeAlias

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, impl, special
from xdsl_exir.interpreter.operators.symbolic import require

Number: TypeAlias = bool | int | float | complex


# --- one operand ---------------------------------------------------------------------------------------------


def exp2(self: Array) -> Array:
    if self.dtype.kind != "c":
        return np.exp2(self)
    exponent = np.empty_like(self)  # part by part: of an infinity the other part stays
    for part in (np.real, np.imag):
        scaled: Array = part(self)
        part(exponent)[...] = scaled * np.log(scaled.dtype.type(2))
    return np.exp(exponent)


def log1p(self: Array) -> Array:
    result: Array = np.log1p(self)
    return (
        np.where(np.isnan(self), self.dtype.type(complex(np.nan, np.nan)), result)
        if self.dtype.kind == "c"
        else result
    )


def rsqrt(self: Array) -> Array:
    return 1 / np.sqrt(self)


def reciprocal(self: Array) -> Array:
    return 1 / self


def sigmoid(self: Array) -> Array:
    return 1 / (1 + np.exp(-self))


erf = special("erf")


def sign(self: Array) -> Array:
    """-1, 0 or 1; 0 for NaN, as PyTorch has it."""
    return (self > 0).astype(self.dtype) - (self < 0) if self.dtype.kind != "b" else self


def signbit(self: Array) -> Array:
    return np.signbit(self) if self.dtype.kind == "f" else self < 0


def whole(rounding: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A rounding that leaves integers as they are."""
    return lambda self: rounding(self) if self.dtype.kind == "f" else self


UNARY: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp2": exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": log1p,
    "sqrt": np.sqrt,
    "rsqrt": rsqrt,
    "reciprocal": reciprocal,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": erf,
    "erfc": special("erfc"),
    "sigmoid": sigmoid,
    "neg": np.negative,
    "abs": np.abs,
    "sign": sign,
    "ceil": whole(np.ceil),
    "floor": whole(np.floor),
    "trunc": whole(np.trunc),
    "round": whole(np.rint),
    "signbit": signbit,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "logical_not": np.logical_not,
    "bitwise_not": np.invert,
    "_conj": np.conjugate,
}


def unary(function: Callable[[Array], Array]) -> Callable[..., Array]:
    """A function of one array."""

    def compute(self: Array) -> Array:
        return function(self)

    return compute


for _name, _function in UNARY.items():
    impl(f"aten.{_name}", promote=True)(unary(_function))


@impl("aten._to_copy", "aten.clone", "aten.alias", raw=True)
def identity(self: Array) -> Array:
    return self


@impl("aten.view_as_real", raw=True)
def view_as_real(self: Array, out: tuple[DType, ...]) -> Array:
    return np.ascontiguousarray(self[..., np.newaxis]).view(out[0].numpy)


@impl("aten.round.decimals")
def round_decimals(self: Array, decimals: int) -> Array:
    scale = self.dtype.type(10.0 ** abs(decimals))
    return np.rint(self * scale) / scale if decimals >= 0 else np.rint(self / scale) * scale


# --- two operands --------------------------------------------------------------------------------------------


@impl("aten.add.Tensor", "aten.add.Scalar", promote=True)
def add(self: Array, other: Array, alpha: Number) -> Array:
    return self + scaled(other, alpha)


@impl("aten.sub.Tensor", "aten.sub.Scalar", promote=True)
def sub(self: Array, other: Array, alpha: Number) -> Array:
    return self + scaled(other, -alpha) if self.dtype.kind == "c" else self - scaled(other, alpha)


def scaled(array: Array, factor: Number) -> Array:
    """An array times a number of its dtype. 1 is a factor of complex numbers too: an infinity times its 0 i is NaN."""
    return array if factor == 1 and array.dtype.kind != "c" else array * np.array(factor).astype(array.dtype)


@impl("aten.div.Tensor_mode", "aten.div.Scalar_mode", promote=True)
def div_mode(self: Array, other: Array, rounding_mode: str | None) -> Array:
    match rounding_mode:
        case "trunc" if is_integer(self):
            check_divisor(self, other)
            # The quotient rounded down is one too low where signs differ and something remains.
            quotient = np.floor_divide(self, other)
            return quotient + ((quotient < 0) & (quotient * other != self))
        case "trunc":
            return np.trunc(self / other)
        case "floor":
            if is_integer(self):
                check_divisor(self, other)
            return np.floor_divide(self, other)
        case _:
            return np.true_divide(self, other)


@impl("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor", promote=True)
def remainder(self: Array, other: Array) -> Array:
    """The rest of division rounded down: it has the divisor's sign; a float zero has the dividend's."""
    if is_integer(self):
        check_divisor(self, other)
        return np.remainder(self, other)
    rest = np.fmod(self, other)
    return np.where((rest != 0) & ((other < 0) != (rest < 0)), rest + other, rest)


@impl("aten.fmod.Tensor", "aten.fmod.Scalar", promote=True)
def fmod(self: Array, other: Array) -> Array:
    if is_integer(self):
        check_divisor(self, other)
    return np.fmod(self, other)


def is_integer(array: Array) -> bool:
    return array.dtype.kind in "iub"


def check_divisor(dividend: Array, divisor: Array) -> None:
    """Raises `AssertionFailed` where an integer division has no result."""
    empty = 0 in np.broadcast_shapes(dividend.shape, divisor.shape)
    require(empty or np.all(divisor), "integer division by zero")


def power_in_c(base: Array, exponent: Array) -> Array:
    """Powers of floats as C has them: for one exponent of all, if it is 1/2, NumPy takes roots, which are others of -infinity and of -0."""
    roots_differ = (exponent == 0.5) & ((base == -np.inf) | (base == 0))
    return np.where(roots_differ, np.abs(base), np.power(base, exponent))


@impl("aten.pow.Scalar", promote=True)
def pow_of_number(self: Array, exponent: Array) -> Array:
    # Powers of one are one, whatever the exponent is; so are those of floats anyway.
    return np.ones_like(exponent) if self.dtype.kind == "c" and self == 1 else pow(self, exponent)


@impl("aten.pow.Tensor_Tensor", promote=True)
def pow(self: Array, exponent: Array) -> Array:
    if self.dtype.kind == "c":
        # NumPy multiplies for whole exponents, and has 0 ** 0 = 1; C takes logarithms of infinities and zeros as well.
        plain = np.isfinite(self) & np.isfinite(exponent) & (self != 0) & (exponent != 0)
        return np.where(plain, np.power(self, exponent), np.exp(product_in_c(exponent, np.log(self))))
    if self.dtype.kind not in "iub":
        return power_in_c(self, exponent)
    if self.dtype.kind == "b":
        return self | ~exponent
    # Integers to negative powers: 1 and -1 have inverses, the rest PyTorch rounds to 0.
    power = np.power(self, np.maximum(exponent, 0))
    inverse = np.where(self == 1, 1, np.where(self == -1, 1 - 2 * (exponent % 2), 0))
    return np.where(exponent < 0, inverse, power)


POWERS: dict[Number, Callable[[Array], Array]] = {
    0.5: np.sqrt,
    -0.5: rsqrt,
    3: lambda x: product(product(x, x), x),
    -2: lambda x: reciprocal(product(x, x)),
}
"""sqrt(-inf) is NaN and sqrt(-0.0) is -0.0, which general powers are not; the others are rounded after each product (PowKernel.cpp)."""

COMPLEX_POWERS: dict[Number, Callable[[Array], Array]] = {
    **POWERS,
    0: np.ones_like,
    1: np.copy,
    2: lambda x: product(x, x),
    -1: reciprocal,
}
"""Powers of complex numbers that no logarithm is taken for (PowKernel.cpp)."""


@impl("aten.pow.Tensor_Scalar", promote=True)
def pow_scalar(self: Array, exponent: Array) -> Array:
    if is_integer(self) and exponent < 0:
        raise ExirError("integers to negative integer powers are not allowed")
    power = (COMPLEX_POWERS if self.dtype.kind == "c" else POWERS).get(exponent.item())
    return pow(self, exponent) if power is None else power(self)


def shift(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """A shift by any number of bits: by too many, or by negative numbers, as by all."""

    def compute(self: Array, other: Array) -> Array:
        bits = self.dtype.itemsize * 8
        outside = (other < 0) | (other >= bits)
        emptied = np.minimum(self, 0) >> (bits - 1) if function is np.right_shift else self.dtype.type(0)
        return np.where(outside, emptied, function(self, np.where(outside, 0, other).astype(self.dtype)))

    return compute


def product(self: Array, other: Array) -> Array:
    """The product; of complex numbers with each product of parts rounded, as in PyTorch: NumPy fuses them with sums."""
    if np.result_type(self, other).kind != "c":
        return np.multiply(self, other)
    (a, c), (b, d) = (tuple(map(part, (self, other))) for part in (np.real, np.imag))
    return to_complex(a * c - b * d, a * d + b * c)


def product_in_c(a: Array, b: Array) -> Array:
    """The product of complex numbers as C has it: of an infinity it is infinite where its parts would be NaN (C11, G.5.1)."""

    def direction(x: Array) -> Array:
        def of_part(part: Array) -> Array:
            finite = np.where(np.isinf(x) | np.isnan(part), 0, part)
            return np.copysign(np.where(np.isinf(part), 1, finite), part)

        return to_complex(of_part(np.real(x)), of_part(np.imag(x)))

    plain, along = product(a, b), product(direction(a), direction(b))
    lost = np.isnan(np.real(plain)) & np.isnan(np.imag(plain)) & (np.isinf(a) | np.isinf(b))
    return np.where(lost, to_complex(np.real(along) * np.inf, np.imag(along) * np.inf), plain)


def gcd(a: Array, b: Array) -> Array:
    """Euclid's algorithm, as in PyTorch: the smallest integer's absolute value is itself, and its divisors may be negative."""
    dtype = np.result_type(a, b)
    x, y = np.broadcast_arrays(np.abs(a.astype(dtype)), np.abs(b.astype(dtype)))
    while (left := y != 0).any():
        x, y = np.where(left, y, x), np.where(left, np.fmod(x, np.where(left, y, 1)), 0)
    return x


def lcm(a: Array, b: Array) -> Array:
    """A product in `int` at least, as in C."""
    common = gcd(a, b)
    wide = np.promote_types(common.dtype, np.int32)
    quotient = a.astype(wide) // np.where(common == 0, 1, common)
    return np.abs(quotient * b.astype(wide)).astype(common.dtype)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "mul.Tensor": product,
    "mul.Scalar": product,
    "div.Tensor": np.true_divide,
    "div.Scalar": np.true_divide,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign.Tensor": np.copysign,
    "copysign.Scalar": np.copysign,
    "gcd": gcd,
    "lcm": lcm,
    "bitwise_and.Tensor": np.bitwise_and,
    "bitwise_and.Scalar": np.bitwise_and,
    "bitwise_and.Scalar_Tensor": np.bitwise_and,
    "bitwise_or.Tensor": np.bitwise_or,
    "bitwise_or.Scalar": np.bitwise_or,
    "bitwise_or.Scalar_Tensor": np.bitwise_or,
    "bitwise_xor.Tensor": np.bitwise_xor,
    "bitwise_xor.Scalar": np.bitwise_xor,
    "bitwise_xor.Scalar_Tensor": np.bitwise_xor,
    "bitwise_left_shift.Tensor": shift(np.left_shift),
    "bitwise_right_shift.Tensor": shift(np.right_shift),
    **{
        name: shift(function)
        for function, method in ((np.left_shift, "__lshift__"), (np.right_shift, "__rshift__"))
        for name in (
            f"{method}.Tensor",
            f"{method}.Scalar",
            f"bitwise_{function.__name__}.Tensor_Scalar",
            f"bitwise_{function.__name__}.Scalar_Tensor",
        )
    },
}
"""Functions that compute."""

SELECTION: dict[str, Callable[[Array, Array], Array]] = {
    "eq.Tensor": np.equal,
    "eq.Scalar": np.equal,
    "ne.Tensor": np.not_equal,
    "ne.Scalar": np.not_equal,
    "lt.Tensor": np.less,
    "lt.Scalar": np.less,
    "le.Tensor": np.less_equal,
    "le.Scalar": np.less_equal,
    "gt.Tensor": np.greater,
    "gt.Scalar": np.greater,
    "ge.Tensor": np.greater_equal,
    "ge.Scalar": np.greater_equal,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "fmin": lambda self, other: np.where((other < self) | (self != self), other, self),
    "fmax": lambda self, other: np.where((other > self) | (self != self), other, self),
    "nextafter": np.nextafter,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
"""Functions that compare or choose."""


def binary(function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """A function of two arrays."""

    def compute(self: Array, other: Array) -> Array:
        return function(self, other)

    return compute


for _name, _binary in BINARY.items():
    impl(f"aten.{_name}", promote=True)(binary(_binary))

for _name, _binary in SELECTION.items():
    impl(f"aten.{_name}", promote=True, raw=True)(binary(_binary))


# --- selection -----------------------------------------------------------------------------------------------


@impl("aten.clamp", "aten.clamp.Tensor", promote=True, raw=True)
def between(self: Array, min: Array | None, max: Array | None) -> Array:
    """Where the limits cross the upper one counts; a NaN anywhere gives NaN."""
    for limit, beyond in ((min, np.less), (max, np.greater)):
        if limit is not None:  # of two zeros the number's own stays
            self = np.where(beyond(self, limit) | (limit != limit), limit, self)
    return self


@impl("aten.where.self", promote=True, raw=True)
def where(condition: Array, self: Array, other: Array) -> Array:
    return np.where(condition.astype(np.bool_), self, other)


@impl("aten.copy", raw=True)
def copy(self: Array, src: Array | Number) -> Any:
    return np.broadcast_to(src, self.shape)


# --- complex numbers -----------------------------------------------------------------------------------------


@impl("aten.view_as_complex", raw=True)
def view_as_complex(self: Array, out: tuple[DType, ...]) -> Array:
    return np.ascontiguousarray(self).view(out[0].numpy)[..., 0]


@impl("aten.complex")
def to_complex(real: Array, imag: Array) -> Array:
    """Part by part: 1j * infinity would have a NaN as real part."""
    real, imag = np.broadcast_arrays(real, imag)
    result = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    result.real, result.imag = real, imag
    return result


@impl("aten.polar")
def polar(abs: Array, angle: Array) -> Array:
    return to_complex(abs * np.cos(angle), abs * np.sin(angle))


@impl("aten.angle")
def angle(self: Array, out: tuple[DType, ...]) -> Array:
    """Of real numbers 0 or pi; NaN stays."""
    if self.dtype.kind == "c":
        return np.angle(self)
    return np.where(np.isnan(self), np.nan, np.where(self < 0, pi, 0)).astype(out[0].numpy)


@impl("aten._conj_physical", raw=True)
def conj_physical(self: Array) -> Array:
    return np.conjugate(self)


@impl("aten.frexp.Tensor")
def frexp(self: Array) -> tuple[Array, Array]:
    return np.frexp(self)
