"""Floats of 8 bits, and bfloat16, inside loop bodies: how they become float32, which they are computed in, and are made of it, by arithmetic of
integers. No processor computes with the former, so they are integers in memory and in bodies; few have instructions for the latter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Operation

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar


@dataclass(frozen=True)
class Format:
    """What the 8 bits of a float are, its sign first: exponent and mantissa are the upper ones of a float32, but for the exponent's bias."""

    mantissa: int
    bias: int
    beyond: int
    """The bits that conversions give of what is too large: those of infinity, of the greatest number, or of NaN. All above is NaN."""
    nan: int
    """The bits that conversions give of NaN, without a sign. Where they are those of minus zero, neither NaN nor zero has one."""
    has_infinity: bool = False

    @property
    def shift(self) -> int:
        """How many bits of a mantissa float32 has more."""
        return 23 - self.mantissa

    @property
    def moved(self) -> int:
        """How much greater a float32's exponent is, where its bits have it."""
        return (127 - self.bias) << 23

    @property
    def is_signless(self) -> bool:
        return self.nan == 0x80


FORMATS = {
    dt.Float8_e5m2: Format(2, 15, 0x7C, 0x7F, has_infinity=True),
    dt.Float8_e4m3fn: Format(3, 7, 0x7E, 0x7F),
    dt.Float8_e5m2fnuz: Format(2, 16, 0x80, 0x80),
    dt.Float8_e4m3fnuz: Format(3, 8, 0x80, 0x80),
}


def decoded(x: Scalar) -> Scalar:
    """A float of 8 bits as float32, which holds all of them."""
    kind = FORMATS[x.dtype]
    bits = s.cast(Scalar(x.value, dt.Byte), dt.Int)
    size = bits & 0x7F
    normal = s.bitcast(s.shift_left(size, s.constant(kind.shift, dt.Int)) + kind.moved, dt.Float)
    denormal = s.cast(size, dt.Float) * 2.0 ** (1 - kind.bias - kind.mantissa)
    number = s.select(size < 1 << kind.mantissa, denormal, normal)
    if kind.has_infinity:
        number = s.select(size.equals(kind.beyond), math.inf, number)
    number = s.select(size > kind.beyond, math.nan, number)
    number = s.select(bits < 0x80, number, -number)
    if kind.is_signless:
        number = s.select(bits.equals(kind.nan), math.nan, number)
    return Scalar(number.value, dt.Float, held=x)


def encoded(x: Scalar, dtype: DType) -> Scalar:
    """A float32 as a float of 8 bits, rounded to even."""
    if x.held is not None and x.held.dtype is dtype:
        return x.held  # NaN has the bits it had
    kind = FORMATS[dtype]
    whole, shift = s.bitcast(x, dt.Int), s.constant(kind.shift, dt.Int)
    bits = whole & 0x7FFFFFFF
    # Of this number the last bit is worth as much as of a denormal one, so that a sum with it is rounded there.
    great = (127 + 24 - kind.bias - kind.mantissa) << 23
    sum = s.bitcast(bits, dt.Float) + s.bitcast(s.constant(great, dt.Int), dt.Float)
    denormal = s.bitcast(sum, dt.Int) - great
    odd = s.shift_right(bits, shift) & 1
    normal = s.shift_right(bits - kind.moved + ((1 << kind.shift - 1) - 1) + odd, shift)
    number = s.select(bits < (128 - kind.bias) << 23, denormal, s.minimum(normal, kind.beyond))
    number = s.select(s.is_nan(x), kind.nan, number)
    sign = s.shift_right(whole, s.constant(24, dt.Int)) & 0x80
    if kind.is_signless:
        sign = s.select(number.equals(0), 0, sign)
    return Scalar(s.cast(number | sign, dt.Char).value, dtype)


def to_bfloat16(x: Scalar) -> Operation:
    """A float32's upper half, rounded to even. Processors without such an instruction call a function for it, and the
    instruction of those that have one takes denormals for 0."""
    bits = s.bitcast(x, dt.Int)
    sixteen = s.constant(16, dt.Int).value

    def upper(bits: Scalar) -> Scalar:
        return Scalar(arith.ShRUIOp(bits.value, sixteen).result, dt.Int)

    number = s.select(s.is_nan(x), 0x7FC0, upper(bits + 0x7FFF + (upper(bits) & 1)))
    return arith.BitcastOp(s.cast(number, dt.Short).value, dt.BFloat16.mlir_type)
