"""Kernels of pointwise operators.

Where NumPy's function has PyTorch's semantics the table of its kind names it; the others are written out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any, TypeAlias

import numpy as np

from xdsl_exir.errors import ExirError
from xdsl_exir.runtime.kernels import Array, kernel

Number: TypeAlias = bool | int | float | complex

# --- one operand ---------------------------------------------------------------------------------------------


def exp2(self: Array) -> Array:
    return np.power(self.dtype.type(2), self) if self.dtype.kind == "c" else np.exp2(self)


def rsqrt(self: Array) -> Array:
    return 1 / np.sqrt(self)


def reciprocal(self: Array) -> Array:
    return 1 / self


def sigmoid(self: Array) -> Array:
    return 1 / (1 + np.exp(-self))


def special(name: str) -> Callable[[Array], Array]:
    """A function of scipy.special, imported when first called."""

    def compute(self: Array) -> Array:
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        return getattr(special, name)(self)

    return compute


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
    "log1p": np.log1p,
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
    "erfinv": special("erfinv"),
    "sigmoid": sigmoid,
    "neg": np.negative,
    "abs": np.abs,
    "sign": sign,
    "relu": lambda self: np.maximum(self, self.dtype.type(0)),
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
    """The kernel of a function of one array."""

    def compute(self: Array) -> Array:
        return function(self)

    return compute


for _name, _function in UNARY.items():
    kernel(f"aten.{_name}", promote=True)(unary(_function))


@kernel("aten._to_copy", "aten.clone", "aten.alias", raw=True)
def identity(self: Array) -> Array:
    return self


@kernel("aten.view_as_real", raw=True)
def view_as_real(self: Array) -> Array:
    return np.stack([np.real(self), np.imag(self)], -1)


@kernel("aten.round.decimals")
def round_decimals(self: Array, decimals: int) -> Array:
    scale = self.dtype.type(10.0 ** abs(decimals))
    return np.rint(self * scale) / scale if decimals >= 0 else np.rint(self / scale) * scale


@kernel("aten.hardtanh")
def hardtanh(self: Array, min_val: float, max_val: float) -> Array:
    as_element = int if self.dtype.kind in "iu" else float
    return between(self, *(np.array(as_element(limit)).astype(self.dtype) for limit in (min_val, max_val)))


@kernel("aten.leaky_relu")
def leaky_relu(self: Array, negative_slope: float) -> Array:
    slope = np.array(negative_slope, self.dtype)
    return np.where(self > 0, self, self * slope)


@kernel("aten.elu")
def elu(self: Array, alpha: float, scale: float, input_scale: float) -> Array:
    positive, negative, exponent = (self.dtype.type(c) for c in (scale, alpha * scale, input_scale))
    below: Array = np.expm1(self * exponent) * negative
    return np.where(self < 0, below, self * positive)


@kernel("aten.gelu")
def gelu(self: Array, approximate: str) -> Array:
    scalar = self.dtype.type
    half, one = scalar(0.5), scalar(1)
    if approximate == "tanh":
        inner = scalar(sqrt(2 / pi)) * (self + scalar(0.044715) * self**3)
        return half * self * (one + np.tanh(inner))
    return half * self * (one + erf(self * scalar(sqrt(0.5))))


# --- two operands --------------------------------------------------------------------------------------------


@kernel("aten.add.Tensor", "aten.add.Scalar", promote=True)
def add(self: Array, other: Array, alpha: Number) -> Array:
    return self + scaled(other, alpha)


@kernel("aten.sub.Tensor", "aten.sub.Scalar", promote=True)
def sub(self: Array, other: Array, alpha: Number) -> Array:
    return self - scaled(other, alpha)


def scaled(array: Array, factor: Number) -> Array:
    """An array times a number of its dtype."""
    return array if factor == 1 else array * np.array(factor).astype(array.dtype)


@kernel("aten.div.Tensor_mode", "aten.div.Scalar_mode", promote=True)
def div_mode(self: Array, other: Array, rounding_mode: str | None) -> Array:
    match rounding_mode:
        case "trunc" if is_integer(self):
            check_divisor(other)
            # The quotient rounded down is one too low where signs differ and something remains.
            quotient = np.floor_divide(self, other)
            return quotient + ((quotient < 0) & (quotient * other != self))
        case "trunc":
            return np.trunc(self / other)
        case "floor":
            if is_integer(self):
                check_divisor(other)
            return np.floor_divide(self, other)
        case _:
            return np.true_divide(self, other)


@kernel("aten.remainder.Tensor", "aten.remainder.Scalar", promote=True)
def remainder(self: Array, other: Array) -> Array:
    """The rest of division rounded down: it has the divisor's sign; a float zero has the dividend's."""
    if is_integer(self):
        check_divisor(other)
        return np.remainder(self, other)
    rest = np.fmod(self, other)
    return np.where((rest != 0) & ((other < 0) != (rest < 0)), rest + other, rest)


@kernel("aten.fmod.Tensor", "aten.fmod.Scalar", promote=True)
def fmod(self: Array, other: Array) -> Array:
    if is_integer(self):
        check_divisor(other)
    return np.fmod(self, other)


def is_integer(array: Array) -> bool:
    return array.dtype.kind in "iub"


def check_divisor(divisor: Array) -> None:
    """Raises `ExirError` where an integer division has no result."""
    if not np.all(divisor):
        raise ExirError("integer division by zero")


@kernel("aten.pow.Tensor_Tensor", "aten.pow.Scalar", promote=True)
def pow(self: Array, exponent: Array) -> Array:
    if self.dtype.kind not in "iub":
        return np.power(self, exponent)
    if self.dtype.kind == "b":
        return self | ~exponent
    # Integers to negative powers: 1 and -1 have inverses, the rest PyTorch rounds to 0.
    power = np.power(self, np.maximum(exponent, 0))
    inverse = np.where(self == 1, 1, np.where(self == -1, 1 - 2 * (exponent % 2), 0))
    return np.where(exponent < 0, inverse, power)


@kernel("aten.pow.Tensor_Scalar", promote=True)
def pow_scalar(self: Array, exponent: Array) -> Array:
    if is_integer(self) and exponent < 0:
        raise ExirError("integers to negative integer powers are not allowed")
    # sqrt(-inf) is NaN and sqrt(-0.0) is -0.0, which general powers are not.
    special_cases = {0.5: np.sqrt, -0.5: rsqrt}
    power = special_cases.get(exponent.item())
    return pow(self, exponent) if power is None else power(self)


def shift(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """A shift by any number of bits: by too many, or by negative numbers, as by all."""

    def compute(self: Array, other: Array) -> Array:
        bits = self.dtype.itemsize * 8
        outside = (other < 0) | (other >= bits)
        emptied = np.minimum(self, 0) >> (bits - 1) if function is np.right_shift else self.dtype.type(0)
        return np.where(outside, emptied, function(self, np.where(outside, 0, other).astype(self.dtype)))

    return compute


FACTORS: dict[str, Callable[[Array, Array], Array]] = {
    "mul.Tensor": np.multiply,
    "mul.Scalar": np.multiply,
    "div.Tensor": np.true_divide,
    "div.Scalar": np.true_divide,
}
"""Functions that take a number in full precision: float16 times 0.1 is not float16 times float16(0.1)."""

BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign.Tensor": np.copysign,
    "gcd": np.gcd,
    "bitwise_and.Tensor": np.bitwise_and,
    "bitwise_and.Scalar": np.bitwise_and,
    "bitwise_or.Tensor": np.bitwise_or,
    "bitwise_or.Scalar": np.bitwise_or,
    "bitwise_xor.Tensor": np.bitwise_xor,
    "bitwise_xor.Scalar": np.bitwise_xor,
    "bitwise_left_shift.Tensor": shift(np.left_shift),
    "bitwise_right_shift.Tensor": shift(np.right_shift),
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
    "fmin": np.fmin,
    "fmax": np.fmax,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
"""Functions that compare or choose."""


def binary(function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    """The kernel of a function of two arrays."""

    def compute(self: Array, other: Array) -> Array:
        return function(self, other)

    return compute


for _name, _binary in FACTORS.items():
    kernel(f"aten.{_name}", promote=True, exact="other")(binary(_binary))
for _name, _binary in BINARY.items():
    kernel(f"aten.{_name}", promote=True)(binary(_binary))
for _name, _binary in SELECTION.items():
    kernel(f"aten.{_name}", promote=True, raw=True)(binary(_binary))


# --- selection -----------------------------------------------------------------------------------------------


@kernel("aten.clamp", "aten.clamp.Tensor", promote=True, raw=True)
def between(self: Array, min: Array | None, max: Array | None) -> Array:
    """Where the limits cross the upper one counts; a NaN anywhere gives NaN."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)


@kernel("aten.where.self", promote=True, raw=True)
def where(condition: Array, self: Array, other: Array) -> Array:
    return np.where(condition.astype(np.bool_), self, other)


@kernel("aten.copy", raw=True)
def copy(self: Array, src: Array | Number) -> Any:
    return np.broadcast_to(src, self.shape)
