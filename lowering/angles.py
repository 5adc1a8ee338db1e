"""Functions of angles and angles of tangents, of float32 and float64 alike, on vectors and numbers, in arithmetic.

They hold for angles up to those whose multiples of pi / 2 are exact; what is done beyond is said where they are used (`narrow_math`, `wide_math`).
The polynomials interpolate the functions at Chebyshev points, in 60 digits; test_schedules.py holds them against libm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.lowering.vector_builder import Lanes, predicate, type_of


@dataclass(frozen=True)
class Numbers:
    """What the functions are made of in one precision."""

    sine: tuple[float, ...]
    """(sin(x) - x) / x^3 in x^2, on [0, pi / 4]."""
    cosine: tuple[float, ...]
    """(cos(x) - 1 + x^2 / 2) / x^4 in x^2, on [0, pi / 4]."""
    arctangent: tuple[float, ...]
    """(atan(x) - x) / x^3 in x^2, on [0, tan(pi / 8)]."""
    half_pi: tuple[float, ...]
    """pi / 2 in parts, the first of so few bits that their multiples are exact."""
    rest: float
    """Of pi / 2 beyond what a number holds of it."""
    near: float
    """Below, an angle is its sine and its tangent."""


NUMBERS: Mapping[str, Numbers] = {
    "f32": Numbers(
        (-0.16666667, 0.008333332, -0.00019840087, 2.7249926e-06),
        (0.041666668, -0.0013888888, 2.48006e-05, -2.730096e-07),
        (-0.3333333, 0.1999954, -0.14263956, 0.10743731, -0.06451928),
        (1.5703125, 0.0004837512969970703, 7.549790126404332e-08, -1.7151245100058819e-15),
        -4.371139e-08, 2.0**-13,
    ),
    "f64": Numbers(
        (-0.16666666666666666, 0.008333333333333331, -0.00019841269841265063, 2.7557319219337672e-06, -2.5052106231927857e-08, 1.6058531536611833e-10, -7.586692262094344e-13),
        (0.041666666666666664, -0.0013888888888888887, 2.4801587301584645e-05, -2.7557319221401993e-07, 2.087675579079147e-09, -1.1470460841811526e-11, 4.7458692024108734e-14),
        (-0.3333333333333333, 0.19999999999999993, -0.14285714285711518, 0.11111111110754596, -0.09090909067001965, 0.07692306735718386, -0.06666642013802823, 0.058819251621305094, -0.052580406718134826, 0.0471938939438005, -0.041044134902075015, 0.030635176368556078, -0.013917695219310572),
        (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
        6.123233995736766e-17, 2.0**-27,
    ),
}  # fmt: skip
"""By the type of elements."""


def quarter(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Sine and cosine of what is left of x beyond a multiple of pi / 2, and bits of which the lowest hold how many times that is."""
    of = NUMBERS[w.dtype]
    n, held = w.rounded(w.mul(x, w.constant(2 / pi)))
    r = x
    for part in of.half_pi:
        r = w.fma(n, w.constant(-part), r)
    z, one = w.mul(r, r), w.constant(1.0)
    sine = w.fma(w.mul(r, z), w.polynomial(z, of.sine), r)
    half = w.mul(z, w.constant(0.5))
    near = w.sub(one, half)
    cosine = w.add(near, w.fma(w.mul(z, z), w.polynomial(z, of.cosine), w.sub(w.sub(one, near), half)))
    return sine, cosine, held


def is_odd(w: Lanes, turns: SSAValue) -> SSAValue:
    odd = w.bits(arith.ShLIOp, turns, w.integer(w.width - 1))
    order = predicate(vectors.CmpiOp, "slt")
    return w.builder.op(vectors.CmpiOp, (odd, w.integer(0)), type_of("i1", w.lanes), order)


def turned(w: Lanes, x: SSAValue, quarters: int) -> SSAValue:
    """The sine of x and so many quarter turns."""
    sine, cosine, held = quarter(w, x)
    turns = w.bits(arith.AddiOp, held, w.integer(quarters))
    twice = w.bits(arith.ShRUIOp, turns, w.integer(1))
    negative = w.bits(arith.ShLIOp, twice, w.integer(w.width - 1))
    value = w.bits(arith.BitcastOp, w.select(is_odd(w, turns), cosine, sine))
    return w.op(arith.BitcastOp, w.bits(arith.XOrIOp, value, negative))


def near_zero(w: Lanes, x: SSAValue, value: SSAValue, near: float) -> SSAValue:
    """A function that near 0 is the argument, with the sign of zero."""
    return w.select(w.compare("olt", w.size(x), w.constant(near)), x, value)


def sine(w: Lanes, x: SSAValue) -> SSAValue:
    return near_zero(w, x, turned(w, x, 0), NUMBERS[w.dtype].near)


def cosine(w: Lanes, x: SSAValue) -> SSAValue:
    return turned(w, x, 1)


def tangent(w: Lanes, x: SSAValue) -> SSAValue:
    """The quotient of sine and cosine, turned by a quarter after each of them."""
    sine, cosine, held = quarter(w, x)
    odd = is_odd(w, held)
    value = w.div(w.select(odd, w.op(arith.NegfOp, cosine), sine), w.select(odd, sine, cosine))
    return near_zero(w, x, value, NUMBERS[w.dtype].near)


def arctangent(w: Lanes, x: SSAValue) -> SSAValue:
    """By atan(x) = pi / 4 + atan((x - 1) / (x + 1)) = pi / 2 - atan(1 / x), whichever is of less than tan(pi / 8)."""
    of, size, one, zero = NUMBERS[w.dtype], w.size(x), w.constant(1.0), w.constant(0.0)
    middle, far = (w.compare("ogt", size, w.constant(bound)) for bound in (0.41421356, 2.41421356))
    above = w.select(far, w.constant(-1.0), w.select(middle, w.sub(size, one), size))
    below = w.select(far, size, w.select(middle, w.add(size, one), one))
    t = w.div(above, below)
    base = w.select(far, w.constant(pi / 2), w.select(middle, w.constant(pi / 4), zero))
    rest = w.select(far, w.constant(of.rest), w.select(middle, w.constant(of.rest / 2), zero))
    z = w.mul(t, t)
    value = w.add(base, w.add(t, w.fma(w.mul(t, z), w.polynomial(z, of.arctangent), rest)))
    return w.op(math.CopySignOp, value, x)
