"""Functions of float32 in float32: of angles, angles of sines and cosines, and e^x - 1, on vectors and numbers, in arithmetic.

Errors are within 4 units in the last place; infinities, NaN and zeros are as in libm. Angles too large for multiples of pi / 2 to be exact are left
to float64 (`wide_math`), in a branch for vectors that have such an element.

The polynomials interpolate the functions at Chebyshev points, in 60 digits; test_schedules.py holds them against float64.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.lowering import angles, wide_math
from xdsl_exir.lowering.vector_builder import Lanes

# (asin(x) - x) / x^3 in x^2, on [0, 1 / 2].
ASIN = (0.16666666, 0.07500094, 0.044599403, 0.031100662, 0.017149238, 0.033690847)
# (e^x - 1 - x) / x^2 on [-log(2) / 2, log(2) / 2].
EXPM1 = (0.5, 0.16666667, 0.041666467, 0.0083333105, 0.0013933642, 0.00019890981)

FARTHEST = 8192.0
"""Of angles: beyond, multiples of pi / 2 are not exact."""
REST = angles.NUMBERS["f32"].rest
ROUND_BITS = 0x4B400000
"""Of 1.5 * 2^23, of which the lowest hold what an integer is."""
LOG2_E, LOG2_HIGH, LOG2_LOW = 1.44269504, 0.693359375, -2.12194440e-4
"""1 / log(2); log(2) as a number of few bits, whose multiples are exact, and the rest."""


def of_angle(
    w: Lanes, x: SSAValue, value: SSAValue, wide: Callable[[wide_math.Wide, SSAValue], SSAValue]
) -> SSAValue:
    """A function of an angle; of one too large, in float64."""

    def slow() -> SSAValue:
        wider = wide_math.Wide(w.builder, w.lanes)
        return w.op(vectors.TruncFOp, wide(wider, wider.op(vectors.ExtFOp, x)))

    return w.unless(w.compare("ogt", w.size(x), w.constant(FARTHEST)), slow, value)


def sin(w: Lanes, x: SSAValue) -> SSAValue:
    return of_angle(w, x, angles.sine(w, x), wide_math.sin)


def cos(w: Lanes, x: SSAValue) -> SSAValue:
    return of_angle(w, x, angles.cosine(w, x), wide_math.cos)


def tan(w: Lanes, x: SSAValue) -> SSAValue:
    return of_angle(w, x, angles.tangent(w, x), wide_math.tan)


def arc(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The arc sine of |x| up to 1/2, and beyond of sqrt((1 - |x|) / 2), which is half of what is left to pi / 2; and whether it is beyond."""
    size, half = w.size(x), w.constant(0.5)
    beyond = w.compare("ogt", size, half)
    square = w.select(beyond, w.mul(w.sub(w.constant(1.0), size), half), w.mul(size, size))
    root = w.select(beyond, w.op(math.SqrtOp, square), size)
    return w.fma(w.mul(root, square), w.polynomial(square, ASIN), root), beyond


def asin(w: Lanes, x: SSAValue) -> SSAValue:
    """As it is, or pi / 2 without twice of what is left."""
    value, beyond = arc(w, x)
    left = w.sub(w.constant(pi / 2), w.sub(w.add(value, value), w.constant(REST)))
    return w.op(math.CopySignOp, w.select(beyond, left, value), x)


def acos(w: Lanes, x: SSAValue) -> SSAValue:
    """pi / 2 without the arc sine; beyond 1/2 twice of what is left, of a negative number to pi."""
    value, beyond = arc(w, x)
    negative = w.compare("olt", x, w.constant(0.0))
    left = w.add(value, value)
    beyond_it = w.select(negative, w.sub(w.constant(pi), w.sub(left, w.constant(2 * REST))), left)
    signed = w.op(math.CopySignOp, value, x)
    within = w.sub(w.constant(pi / 2), w.sub(signed, w.constant(REST)))
    return w.select(beyond, beyond_it, within)


def expm1(w: Lanes, x: SSAValue) -> SSAValue:
    """e^x - 1 = 2^n (e^r - 1) + (2^n - 1) with n the integer nearest to x / log(2)."""
    bounded = w.at_least(w.at_most(x, 89.0), -18.0)
    n, held = w.rounded(w.mul(bounded, w.constant(LOG2_E)))
    r = w.fma(n, w.constant(-LOG2_LOW), w.fma(n, w.constant(-LOG2_HIGH), bounded))
    small = w.fma(w.mul(r, r), w.polynomial(r, EXPM1), r)
    # Half of 2^n: 2^128 is none.
    biased = w.bits(arith.AddiOp, held, w.integer(126 - ROUND_BITS))
    half = w.op(arith.BitcastOp, w.bits(arith.ShLIOp, biased, w.integer(23)))
    value = w.add(w.mul(half, small), w.sub(half, w.constant(0.5)))
    return angles.near_zero(w, x, w.add(value, value), 2.0**-25)
