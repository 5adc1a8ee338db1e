"""Functions of float32 in float32: angles, their functions, and e^x - 1, on vectors and numbers, in arithmetic.

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
from xdsl_exir.lowering import wide_math
from xdsl_exir.lowering.vector_builder import Lanes, predicate, type_of

# (sin(x) - x) / x^3 in x^2, on [0, pi / 4].
SIN = (-0.16666667, 0.008333332, -0.00019840087, 2.7249926e-06)
# (cos(x) - 1 + x^2 / 2) / x^4 in x^2, on [0, pi / 4].
COS = (0.041666668, -0.0013888888, 2.48006e-05, -2.730096e-07)
# (atan(x) - x) / x^3 in x^2, on [0, tan(pi / 8)].
ATAN = (-0.3333333, 0.1999954, -0.14263956, 0.10743731, -0.06451928)
# (asin(x) - x) / x^3 in x^2, on [0, 1 / 2].
ASIN = (0.16666666, 0.07500094, 0.044599403, 0.031100662, 0.017149238, 0.033690847)
# (e^x - 1 - x) / x^2 on [-log(2) / 2, log(2) / 2].
EXPM1 = (0.5, 0.16666667, 0.041666467, 0.0083333105, 0.0013933642, 0.00019890981)

TWO_OVER_PI = 0.63661977
HALF_PI = (1.5703125, 0.0004837512969970703, 7.549790126404332e-08, -1.7151245100058819e-15)
"""pi / 2 in parts, the first two of so few bits that their multiples are exact up to the farthest angle."""
FARTHEST = 8192.0
REST = -4.371139e-08
"""Of pi / 2 beyond what a float32 holds of it."""
# Added and taken away again it rounds to the nearest integer, which its lowest bits then hold.
ROUND, ROUND_BITS = 1.5 * 2**23, 0x4B400000
LOG2_E, LOG2_HIGH, LOG2_LOW = 1.44269504, 0.693359375, -2.12194440e-4
"""1 / log(2); log(2) as a number of few bits, whose multiples are exact, and the rest."""


def rounded(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The nearest integer, and bits of which the lowest hold it."""
    held = w.add(x, w.constant(ROUND))
    return w.sub(held, w.constant(ROUND)), w.op(arith.BitcastOp, held, dtype="i32")


def quarter(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Sine and cosine of what is left of x beyond a multiple of pi / 2, and bits of which the lowest hold how many times that is."""
    n, held = rounded(w, w.mul(x, w.constant(TWO_OVER_PI)))
    r = x
    for part in HALF_PI:
        r = w.fma(n, w.constant(-part), r)
    z, one = w.mul(r, r), w.constant(1.0)
    sine = w.fma(w.mul(r, z), w.polynomial(z, SIN), r)
    half = w.mul(z, w.constant(0.5))
    near = w.sub(one, half)
    cosine = w.add(near, w.fma(w.mul(z, z), w.polynomial(z, COS), w.sub(w.sub(one, near), half)))
    return sine, cosine, held


def is_odd(w: Lanes, turns: SSAValue) -> SSAValue:
    odd = w.op(arith.ShLIOp, turns, w.integer(31), dtype="i32")
    return w.builder.op(
        vectors.CmpiOp, (odd, w.integer(0)), type_of("i1", w.lanes), predicate(vectors.CmpiOp, "slt")
    )


def of_angle(
    w: Lanes, x: SSAValue, value: SSAValue, wide: Callable[[wide_math.Wide, SSAValue], SSAValue]
) -> SSAValue:
    """A function of an angle; of one too large, in float64."""

    def slow() -> SSAValue:
        wider = wide_math.Wide(w.builder, w.lanes)
        return w.op(vectors.TruncFOp, wide(wider, wider.op(vectors.ExtFOp, x)))

    return w.unless(w.compare("ogt", w.size(x), w.constant(FARTHEST)), slow, value)


def turned(w: Lanes, x: SSAValue, quarters: int) -> SSAValue:
    """The sine of x and so many quarter turns."""
    sine, cosine, held = quarter(w, x)
    turns = w.op(arith.AddiOp, held, w.integer(quarters), dtype="i32")
    two = w.op(arith.ShRUIOp, turns, w.integer(1), dtype="i32")
    negative = w.op(arith.ShLIOp, two, w.integer(31), dtype="i32")
    value = w.op(arith.BitcastOp, w.select(is_odd(w, turns), cosine, sine), dtype="i32")
    return w.op(arith.BitcastOp, w.op(arith.XOrIOp, value, negative, dtype="i32"))


def near_zero(w: Lanes, x: SSAValue, value: SSAValue, near: float = 2.0**-13) -> SSAValue:
    """A function that near 0 is the argument, with the sign of zero."""
    return w.select(w.compare("olt", w.size(x), w.constant(near)), x, value)


def sin(w: Lanes, x: SSAValue) -> SSAValue:
    return of_angle(w, x, near_zero(w, x, turned(w, x, 0)), wide_math.sin)


def cos(w: Lanes, x: SSAValue) -> SSAValue:
    return of_angle(w, x, turned(w, x, 1), wide_math.cos)


def tan(w: Lanes, x: SSAValue) -> SSAValue:
    """The quotient of sine and cosine, turned by a quarter after each of them."""
    sine, cosine, held = quarter(w, x)
    odd = is_odd(w, held)
    value = w.div(w.select(odd, w.op(arith.NegfOp, cosine), sine), w.select(odd, sine, cosine))
    return of_angle(w, x, near_zero(w, x, value), wide_math.tan)


def atan(w: Lanes, x: SSAValue) -> SSAValue:
    """By atan(x) = pi / 4 + atan((x - 1) / (x + 1)) = pi / 2 - atan(1 / x), whichever is of less than tan(pi / 8)."""
    size, one, zero = w.size(x), w.constant(1.0), w.constant(0.0)
    middle, far = (w.compare("ogt", size, w.constant(bound)) for bound in (0.41421356, 2.4142135))
    above = w.select(far, w.constant(-1.0), w.select(middle, w.sub(size, one), size))
    below = w.select(far, size, w.select(middle, w.add(size, one), one))
    t = w.div(above, below)
    base = w.select(far, w.constant(pi / 2), w.select(middle, w.constant(pi / 4), zero))
    rest = w.select(far, w.constant(REST), w.select(middle, w.constant(REST / 2), zero))
    z = w.mul(t, t)
    value = w.add(base, w.add(t, w.fma(w.mul(t, z), w.polynomial(z, ATAN), rest)))
    return w.op(math.CopySignOp, value, x)


def arc(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The arc sine of |x| up to 1/2, and beyond of sqrt((1 - |x|) / 2), which is half of what is left to pi / 2; with whether it is beyond, and |x|."""
    size, half = w.size(x), w.constant(0.5)
    beyond = w.compare("ogt", size, half)
    square = w.select(beyond, w.mul(w.sub(w.constant(1.0), size), half), w.mul(size, size))
    root = w.select(beyond, w.op(math.SqrtOp, square), size)
    return w.fma(w.mul(root, square), w.polynomial(square, ASIN), root), beyond, size


def asin(w: Lanes, x: SSAValue) -> SSAValue:
    """As it is, or pi / 2 without twice of what is left."""
    value, beyond, _ = arc(w, x)
    left = w.sub(w.constant(pi / 2), w.sub(w.add(value, value), w.constant(REST)))
    return w.op(math.CopySignOp, w.select(beyond, left, value), x)


def acos(w: Lanes, x: SSAValue) -> SSAValue:
    """pi / 2 without the arc sine; beyond 1/2 twice of what is left, of a negative number to pi."""
    value, beyond, _ = arc(w, x)
    negative = w.compare("olt", x, w.constant(0.0))
    left = w.add(value, value)
    beyond_it = w.select(negative, w.sub(w.constant(pi), w.sub(left, w.constant(2 * REST))), left)
    signed = w.op(math.CopySignOp, value, x)
    within = w.sub(w.constant(pi / 2), w.sub(signed, w.constant(REST)))
    return w.select(beyond, beyond_it, within)


def expm1(w: Lanes, x: SSAValue) -> SSAValue:
    """e^x - 1 = 2^n (e^r - 1) + (2^n - 1) with n the integer nearest to x / log(2)."""
    bounded = w.op(arith.MaximumfOp, w.op(arith.MinimumfOp, x, w.constant(89.0)), w.constant(-18.0))
    n, held = rounded(w, w.mul(bounded, w.constant(LOG2_E)))
    r = w.fma(n, w.constant(-LOG2_LOW), w.fma(n, w.constant(-LOG2_HIGH), bounded))
    small = w.fma(w.mul(r, r), w.polynomial(r, EXPM1), r)
    # Half of 2^n: 2^128 is none.
    biased = w.op(arith.AddiOp, held, w.integer(126 - ROUND_BITS), dtype="i32")
    half = w.op(arith.BitcastOp, w.op(arith.ShLIOp, biased, w.integer(23), dtype="i32"))
    value = w.add(w.mul(half, small), w.sub(half, w.constant(0.5)))
    return near_zero(w, x, w.add(value, value), 2.0**-25)
