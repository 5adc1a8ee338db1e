"""Functions of float64 on vectors, in arithmetic: exponentials, logarithms, angles, their hyperbolic kin, erf, powers; remainders, roundings.

Bodies compute the functions of float32 and of halves that these are for in float64 too (`scalar`), which leaves them exact to the last bit
or nearly so. Errors are below 4 units of float64's last place; infinities, NaN, zeros, subnormal numbers are as in libm. What takes
more than that (an angle of more than a million, say) is left to libm, in a branch for vectors that have such an element.

The polynomials interpolate the functions at Chebyshev points, in 60 digits; test_schedules.py and test_elements.py hold them against libm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import inf, nan
from typing import Any

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.upstream import RemFOp
from xdsl_exir.lowering import angles
from xdsl_exir.lowering.vector_builder import Lanes, type_of

# (exp(x) - 1 - x) / x^2 on [-log(2) / 2, log(2) / 2].
EXP = (
    0.5,
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326136,
    0.001388888888888375,
    0.00019841269874815834,
    2.480158732554432e-05,
    2.7557255406285044e-06,
    2.7557273647451087e-07,
    2.5105214474751413e-08,
    2.0914685161418067e-09,
)
# (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2, where that is between sqrt(1 / 2) and sqrt(2).
LOG = (
    0.6666666666666666,
    0.4000000000000088,
    0.28571428570801954,
    0.22222222392089008,
    0.18181795600060793,
    0.15386241881938595,
    0.13268714792348096,
    0.1308723619665962,
)
# (tanh(x) - x) / x^3 in x^2, on [0, 0.625].
TANH = (
    -0.3333333333333333,
    0.13333333333333042,
    -0.05396825396789699,
    0.021869488519008305,
    -0.008863235103240878,
    0.0035921217511549622,
    -0.0014557754120478055,
    0.0005896606577757043,
    -0.0002375906496055562,
    9.257116129556769e-05,
    -3.12011014257974e-05,
    6.485163482793113e-06,
)
# erf(x) / x in x^2, on [0, 1].
ERF = (
    1.1283791670955126,
    -0.37612638903183754,
    0.11283791670955126,
    -0.026866170645131218,
    0.005223977625441674,
    -0.0008548327023403001,
    0.00012055332978879483,
    -1.4925650236967501e-05,
    1.6462110782018636e-06,
    -1.636576864883207e-07,
    1.4806027146128752e-08,
    -1.2277734486795524e-09,
    9.323723518153027e-11,
    -6.1967364287877e-12,
    2.8067128195611264e-13,
)
# (x + 2) erfc(x) e^(x^2) in (x - 2) / (x + 2), x on [0.5, 28].
ERFCX = (
    1.021582705242023,
    -0.6871606844138106,
    0.2794720925560548,
    -0.03644223150688015,
    -0.021510661889498253,
    0.006479185067809018,
    0.003090612059803064,
    -0.0008372960643759353,
    -0.000663073518077609,
    3.437146491482e-05,
    0.00014447088609185322,
    3.414861671232789e-05,
    -2.169706122147482e-05,
    -1.611907944869029e-05,
    -1.1225863438049203e-06,
    3.6356219656026876e-06,
    1.996382044592452e-06,
    2.6119176720426172e-08,
    -5.692135105100146e-07,
    -3.694904687558545e-07,
    1.0068562557459623e-08,
    1.5963858292802334e-07,
    3.0376624516245214e-08,
    -3.573047003261421e-08,
)
# (x + 4) erfc(x) e^(x^2) in (x - 4) / (x + 4), x on [1, 6].
ERFCX_BESIDE_1 = (
    1.0959956610004913,
    -0.976548729080882,
    0.773208702265067,
    -0.5408538313135148,
    0.3308515879035534,
    -0.17401093715554983,
    0.07638151363506741,
    -0.026370060011825135,
    0.006112073552111377,
    -0.00028077340271344604,
    -0.00045479730338490363,
    0.00017551995478003022,
    -9.385442825329954e-06,
    -2.8495726993693253e-05,
    -2.6310280188391154e-06,
)
# (3 / 2 log((1 + s) / (1 - s)) - 3 s - s^3) / s^5 in s^2, as in `LOG`.
POWER = (
    0.6,
    0.4285714285714405,
    0.3333333333248383,
    0.272727275030892,
    0.23076892443777647,
    0.20002207040770967,
    0.1755935450923681,
    0.17584767935814777,
)
# (sinh(x) - x) / x^3 in x^2, on [0, 1].
SINH = (
    0.16666666666666666,
    0.008333333333333333,
    0.00019841269841269773,
    2.755731922404034e-06,
    2.505210836405804e-08,
    1.6059048396350562e-10,
    7.646625361656657e-13,
    2.8445264169895285e-15,
)

LOG2_E, LOG2_HIGH, LOG2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
"""1 / log(2); log(2) as a number of few bits, whose multiples are exact, and the rest."""
UPPER_LOG_2, LOWER_LOG_2 = 0.6931467056274414, 4.7493250390316726e-07
"""log(2) as a number of so few bits that its product with another such is exact, and the rest."""
THIRDS, UPPER_THIRDS, LOWER_THIRDS = 0.9617966939259756, 0.9617962837219238, 4.102040517767816e-07
"""2 / (3 log(2)), and the same of it."""
LOG10_E, LOG10_2_HIGH, LOG10_2_LOW = 0.4342944819032518, 0.3010299955494702, 1.1451100898021838e-10
"""The same of base 10: 1 / log(10), and log10(2)."""
FARTHEST = 1e6
"""Of angles: beyond, multiples of pi / 2 are not exact enough."""


class Wide(Lanes):
    """Builds operations on float64 vectors."""

    dtype, of_bits, width = "f64", "i64", 64
    whole, halving = 2.0**52, 2.0**27 + 1

    def upper(self, x: SSAValue) -> SSAValue:
        """A number's upper 21 bits: products of two such are exact."""
        bits = self.bits(arith.AndIOp, self.bits(arith.BitcastOp, x), self.integer(-(2**32)))
        return self.op(arith.BitcastOp, bits)

    def power(self, held: SSAValue) -> SSAValue:
        """2 to the power of an integer, of the bits that hold it."""
        exponent = self.bits(arith.AddiOp, held, self.integer(1023))
        return self.op(arith.BitcastOp, self.bits(arith.ShLIOp, exponent, self.integer(52)))


def exp(w: Wide, x: SSAValue, halvings: int = 0) -> SSAValue:
    """e^x, halved so many times: 2^n e^r with n the integer nearest to x / log(2)."""
    # Far below both factors are 0: what underflows takes processors a hundred times as long.
    x = w.at_least(w.at_most(x, 711.0), -1418.0)
    n, _ = w.rounded(w.mul(x, w.constant(LOG2_E)))
    r = w.fma(n, w.constant(-LOG2_LOW), w.fma(n, w.constant(-LOG2_HIGH), x))
    return scaled(w, r, w.sub(n, w.constant(halvings)) if halvings else n)


def exp2(w: Wide, x: SSAValue) -> SSAValue:
    """2^x = 2^n e^(log(2) (x - n)) with n the integer nearest to x."""
    x = w.at_least(w.at_most(x, 1025.0), -2046.0)
    n, _ = w.rounded(x)
    return scaled(w, w.mul(w.sub(x, n), w.constant(1 / LOG2_E)), n)


def scaled(w: Wide, r: SSAValue, n: SSAValue) -> SSAValue:
    """2^n e^r, for small r."""
    return times_power(w, w.add(w.fma(w.mul(r, r), w.polynomial(r, EXP), r), w.constant(1.0)), n)


def times_power(w: Wide, value: SSAValue, n: SSAValue) -> SSAValue:
    """2^n times a number near 1: in two factors, as it may exceed the exponent's range."""
    half, held = w.rounded(w.mul(n, w.constant(0.5)))
    _, rest = w.rounded(w.sub(n, half))
    return w.mul(w.mul(value, w.power(held)), w.power(rest))


def log(w: Wide, x: SSAValue) -> SSAValue:
    """log(2^k m) = k log(2) + log(m)."""
    k, f, half, rest = logarithm(w, x)
    low = w.fma(k, w.constant(LOG2_LOW), rest)
    return ends(w, x, w.fma(k, w.constant(LOG2_HIGH), w.sub(f, w.sub(half, low))))


def log2(w: Wide, x: SSAValue) -> SSAValue:
    """log2(2^k m) = k + log(m) / log(2)."""
    k, f, half, rest = logarithm(w, x)
    return ends(w, x, w.fma(w.sub(f, w.sub(half, rest)), w.constant(LOG2_E), k))


def log10(w: Wide, x: SSAValue) -> SSAValue:
    """log10(2^k m) = k log10(2) + log(m) / log(10)."""
    k, f, half, rest = logarithm(w, x)
    low = w.fma(w.sub(f, w.sub(half, rest)), w.constant(LOG10_E), w.mul(k, w.constant(LOG10_2_LOW)))
    return ends(w, x, w.fma(k, w.constant(LOG10_2_HIGH), low))


def log1p(w: Wide, x: SSAValue) -> SSAValue:
    """log(u) and, over u, what u = 1 + x is rounded by; 0 with its sign, and infinity, as they are."""
    u, lost = one_more(w, x)
    k, f, half, rest = logarithm(w, u)
    low = w.fma(k, w.constant(LOG2_LOW), w.add(rest, lost))
    value = ends(w, u, w.fma(k, w.constant(LOG2_HIGH), w.sub(f, w.sub(half, low))))
    return w.select(w.compare("oeq", x, w.constant(0.0)), x, value)


def one_more(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """u = 1 + x and, over u, what it is rounded by: log(1 + x) = log(u) + log(1 + the latter)."""
    one = w.constant(1.0)
    u = w.add(one, x)
    added = w.sub(u, x)
    return u, w.div(w.add(w.sub(x, w.sub(u, added)), w.sub(one, added)), u)


def exponent_of(w: Wide, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Of x = 2^k m with m = 1 + f between sqrt(1 / 2) and sqrt(2): k and f."""
    small = w.compare("olt", x, w.constant(2.0**-1022))
    scaled = w.select(small, w.mul(x, w.constant(2.0**54)), x)
    bits = w.bits(arith.BitcastOp, scaled)
    # Bits from which on numbers are above sqrt(1 / 2), so that the exponent is that of m.
    above = w.bits(arith.AddiOp, bits, w.integer(0x3FF0000000000000 - 0x3FE6A09E667F3BCD))
    exponent = w.bits(arith.ShRUIOp, above, w.integer(52))
    k = w.op(arith.BitcastOp, w.bits(arith.OrIOp, exponent, w.integer(0x4330000000000000)))
    k = w.sub(k, w.constant(2.0**52 + 1023))
    k = w.sub(k, w.select(small, w.constant(54.0), w.constant(0.0)))
    mantissa = w.bits(arith.AndIOp, above, w.integer(0x000FFFFFFFFFFFFF))
    f = w.op(arith.BitcastOp, w.bits(arith.AddiOp, mantissa, w.integer(0x3FE6A09E667F3BCD)))
    return k, w.sub(f, w.constant(1.0))


def logarithm(w: Wide, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
    """`exponent_of` x, f^2 / 2, and the rest of log(m) = f - (f^2 / 2 - the rest)."""
    k, f = exponent_of(w, x)
    s = w.div(f, w.add(f, w.constant(2.0)))
    z, half = w.mul(s, s), w.mul(w.mul(f, f), w.constant(0.5))
    return k, f, half, w.mul(s, w.add(half, w.mul(z, w.polynomial(z, LOG))))


def ends(w: Lanes, x: SSAValue, value: SSAValue) -> SSAValue:
    """A logarithm, where it is one of a positive finite number."""
    value = w.select(w.compare("oeq", x, w.constant(inf)), x, value)
    value = w.select(w.compare("oeq", x, w.constant(0.0)), w.constant(-inf), value)
    return w.select(w.compare("ult", x, w.constant(0.0)), w.constant(nan), value)


def of_angle(w: Wide, x: SSAValue, value: SSAValue, kind: type[Operation]) -> SSAValue:
    """A function of an angle; of one too large, by libm."""
    return w.unless(w.compare("ogt", w.size(x), w.constant(FARTHEST)), w.libm(kind, x), value)


def sin(w: Wide, x: SSAValue) -> SSAValue:
    return of_angle(w, x, angles.sine(w, x), math.SinOp)


def cos(w: Wide, x: SSAValue) -> SSAValue:
    return of_angle(w, x, angles.cosine(w, x), math.CosOp)


def tan(w: Wide, x: SSAValue) -> SSAValue:
    return of_angle(w, x, angles.tangent(w, x), math.TanOp)


def asin(w: Wide, x: SSAValue) -> SSAValue:
    """The angle whose tangent is x / sqrt(1 - x^2)."""
    one = w.constant(1.0)
    return angles.arctangent(w, w.div(x, w.op(math.SqrtOp, w.mul(w.sub(one, x), w.add(one, x)))))


def acos(w: Wide, x: SSAValue) -> SSAValue:
    """Twice the angle whose tangent is sqrt((1 - x) / (1 + x))."""
    one = w.constant(1.0)
    half = angles.arctangent(w, w.op(math.SqrtOp, w.div(w.sub(one, x), w.add(one, x))))
    return w.add(half, half)


def sinh(w: Wide, x: SSAValue) -> SSAValue:
    """(e^|x| - e^-|x|) / 2 with the sign of x; near 0, where that would cancel, a polynomial."""
    size, z = w.size(x), w.mul(x, x)
    power = exp(w, size, halvings=1)
    far = w.sub(power, w.div(w.constant(0.25), power))
    near = w.fma(w.mul(x, z), w.polynomial(z, SINH), x)
    return w.select(w.compare("olt", size, w.constant(1.0)), near, w.op(math.CopySignOp, far, x))


def cosh(w: Wide, x: SSAValue) -> SSAValue:
    """(e^|x| + e^-|x|) / 2."""
    power = exp(w, w.size(x), halvings=1)
    return w.add(power, w.div(w.constant(0.25), power))


def atanh(w: Wide, x: SSAValue) -> SSAValue:
    """log((1 + x) / (1 - x)) / 2; near 0, where that would cancel, the polynomial of log."""
    one, z, half = w.constant(1.0), w.mul(x, x), w.constant(0.5)
    far = w.mul(log(w, w.div(w.add(one, x), w.sub(one, x))), half)
    near = w.fma(w.mul(w.mul(x, z), half), w.polynomial(z, LOG), x)
    return w.select(w.compare("olt", w.size(x), w.constant(0.17)), near, far)


def tanh(w: Wide, x: SSAValue) -> SSAValue:
    """1 - 2 / (e^(2 |x|) + 1) with the sign of x; near 0, where that would cancel, a polynomial."""
    size, one, z = w.size(x), w.constant(1.0), w.mul(x, x)
    power = exp(w, w.add(size, size))
    far = w.sub(one, w.div(w.constant(2.0), w.add(power, one)))
    near = w.fma(w.mul(x, z), w.polynomial(z, TANH), x)
    return w.op(math.CopySignOp, w.select(w.compare("olt", size, w.constant(0.625)), near, far), x)


def about(
    w: Lanes, size: SSAValue, middle: float, most: float
) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
    """x, bounded, x + m and its inverse, and (x - m) / (x + m), in which polynomials of large numbers are."""
    bounded, m = w.at_most(size, most), w.constant(middle)
    divisor = w.add(bounded, m)
    inverse = w.div(w.constant(1.0), divisor)
    return bounded, divisor, inverse, w.mul(w.sub(bounded, m), inverse)


def erfc_parts(
    w: Lanes,
    size: SSAValue,
    exp: Callable[[Any, SSAValue], SSAValue] = exp,
    erfcx: Sequence[float] = ERFCX,
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """erfc of numbers from 0.5 on as a quotient, e^(-x^2) times what is left of it without that: its parts, and the divisor's inverse. The square is
    rounded, and its rest made up for."""
    bounded, divisor, inverse, place = about(w, size, 2.0, 28.0)
    square = w.mul(bounded, bounded)
    power = exp(w, w.op(arith.NegfOp, square))
    power = w.fma(w.op(arith.NegfOp, power), lost(w, bounded, bounded, square), power)
    return w.mul(power, w.polynomial(place, erfcx)), divisor, inverse


def erfc_beyond(w: Wide, size: SSAValue) -> SSAValue:
    """erfc of numbers from 0.5 on."""
    above, _, inverse = erfc_parts(w, size)
    return w.mul(above, inverse)


def erf(w: Wide, x: SSAValue) -> SSAValue:
    """1 - erfc(|x|) with the sign of x, of which neither what the square is rounded by is seen nor what is beyond 6; up to 1 a polynomial."""
    size, one = w.size(x), w.constant(1.0)
    bounded, _, inverse, place = about(w, size, 4.0, 6.0)
    power = exp(w, w.mul(w.op(arith.NegfOp, bounded), bounded))
    far = w.sub(one, w.mul(power, w.mul(w.polynomial(place, ERFCX_BESIDE_1), inverse)))
    near = w.mul(x, w.polynomial(w.mul(x, x), ERF))
    return w.select(w.compare("olt", size, one), near, w.op(math.CopySignOp, far, x))


def erfc(w: Wide, x: SSAValue) -> SSAValue:
    return complement(w, x, erfc_beyond(w, w.size(x)), ERF, 0.5)


def complement(w: Lanes, x: SSAValue, beyond: SSAValue, erf: Sequence[float], bound: float) -> SSAValue:
    """1 - erf(x), from a bound on by what that cancels to."""
    size = w.size(x)
    far = w.select(w.compare("olt", x, w.constant(0.0)), w.sub(w.constant(2.0), beyond), beyond)
    near = w.sub(w.constant(1.0), w.mul(x, w.polynomial(w.mul(x, x), erf)))
    return w.select(w.compare("olt", size, w.constant(bound)), near, far)


def remainder(w: Wide, x: SSAValue, y: SSAValue) -> SSAValue:
    """x - trunc(x / y) y of float32, exact in float64, which holds each; the quotient is the right one, or one too far."""
    narrow = type_of("f32", w.lanes)
    a, b = (w.op(vectors.ExtFOp, each) for each in (x, y))
    quotient = w.op(math.TruncOp, w.div(a, b))
    left = w.fma(w.op(arith.NegfOp, quotient), b, a)
    against = w.compare("olt", w.mul(left, w.op(math.CopySignOp, w.constant(1.0), a)), w.constant(0.0))
    back = w.add(left, w.op(math.CopySignOp, w.size(b), a))
    value = w.op(math.CopySignOp, w.select(against, back, left), a)
    value = w.builder.op(vectors.TruncFOp, [value], narrow)
    held = w.op(arith.MaximumfOp, w.size(quotient), w.op(arith.SubfOp, w.size(b), w.constant(2.0**200)))
    return w.unless(w.compare("uge", held, w.constant(2.0**28)), w.libm(RemFOp, x, y), value)


def long_remainder(w: Wide, x: SSAValue, y: SSAValue) -> SSAValue:
    """x - trunc(x / y) y of float64. The quotient is the right one, or one too far; its product with y is taken with what that is rounded by."""
    a, b = w.size(x), w.size(y)
    quotient = w.op(math.TruncOp, w.div(a, b))
    product = w.mul(quotient, b)
    left = w.sub(w.sub(a, product), lost(w, quotient, b, product))
    left = w.select(w.compare("olt", left, w.constant(0.0)), w.add(left, b), left)
    known = [
        w.compare(*each)
        for each in (
            ("olt", quotient, w.constant(2.0**52)),
            ("olt", b, w.constant(2.0**960)),
            ("ogt", b, w.constant(2.0**-900)),
        )
    ]
    all_known = reduce(lambda c, d: w.op(arith.AndIOp, c, d, dtype="i1"), known)
    unknown = w.op(arith.XOrIOp, all_known, w.constant(True), dtype="i1")
    return w.unless(unknown, w.libm(RemFOp, x, y), w.op(math.CopySignOp, left, x))


def lost(w: Lanes, a: SSAValue, b: SSAValue, product: SSAValue) -> SSAValue:
    """What a product lost when it was rounded, exactly (Dekker): not all processors take a sum with a product as it is."""
    (a_high, a_low), (b_high, b_low) = halves(w, a), halves(w, b)
    rest = w.add(w.sub(w.mul(a_high, b_high), product), w.mul(a_high, b_low))
    return w.add(w.add(rest, w.mul(a_low, b_high)), w.mul(a_low, b_low))


def halves(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """A number as the sum of two of half as many bits each (Veltkamp), whose products are exact."""
    far = w.mul(x, w.constant(w.halving))
    high = w.sub(far, w.sub(far, x))
    return high, w.sub(x, high)


def power(w: Wide, x: SSAValue, y: SSAValue) -> SSAValue:
    """x^y = 2^(y log2(x)) of float32, in float64, and what IEEE 754 says of negative numbers, zeros, infinities and NaN."""
    a, b = (w.op(vectors.ExtFOp, each) for each in (x, y))
    size, zero, one = w.size(a), w.constant(0.0), w.constant(1.0)
    exponent = w.mul(b, log2(w, size))
    exponent = w.select(w.compare("oeq", size, one), zero, exponent)
    value = exp2(w, w.select(w.compare("oeq", b, zero), zero, exponent))
    return w.builder.op(vectors.TruncFOp, [of_sign(w, a, b, value)], type_of("f32", w.lanes))


def of_sign(w: Wide, a: SSAValue, b: SSAValue, value: SSAValue) -> SSAValue:
    """a^b of |a|^b: a root of a negative number is NaN."""
    zero, half = w.constant(0.0), w.mul(b, w.constant(0.5))
    is_odd = w.compare("one", w.op(math.TruncOp, half), half)
    is_whole = w.compare("oeq", w.op(math.TruncOp, b), b)
    negated = w.select(is_odd, w.op(math.CopySignOp, value, a), value)
    value = w.select(is_whole, negated, value)
    is_root = w.op(arith.AndIOp, w.compare("olt", a, zero), w.compare("ogt", a, w.constant(-inf)), dtype="i1")
    of_root = w.select(is_whole, value, w.constant(nan))
    return w.select(is_root, of_root, value)


def long_power(w: Wide, x: SSAValue, y: SSAValue) -> SSAValue:
    """x^y of float64, from its logarithm in two parts: to less than a unit of the last place, and powers of integers that it holds exactly.

    Beside numbers of few bits, whose products are exact, stands what is left of each (as in Ng's `pow` of fdlibm).
    """
    size, zero, one = w.size(x), w.constant(0.0), w.constant(1.0)
    high, low = binary_logarithm(w, size)
    bounded = w.at_least(w.at_most(y, 2.0**70), -(2.0**70))
    upper = w.upper(bounded)
    low = w.fma(w.sub(bounded, upper), high, w.mul(bounded, low))
    value = binary_power(w, w.mul(upper, high), low)
    between = (w.compare("ogt", size, zero), w.compare("olt", size, w.constant(inf)))
    is_number = w.op(arith.AndIOp, *between, dtype="i1")
    end = w.mul(y, w.select(w.compare("oeq", size, zero), w.constant(-inf), size))
    value = w.select(is_number, value, w.select(w.compare("olt", end, zero), zero, end))
    constant = (w.compare("oeq", y, zero), w.compare("oeq", size, one))
    return of_sign(w, x, y, w.select(w.op(arith.OrIOp, *constant, dtype="i1"), one, value))


def binary_logarithm(w: Wide, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """log2(x) of a positive number, of few bits, and the rest: of k and 2 / (3 log(2)) s (3 + s^2 + ...) with s = f / (2 + f)."""
    k, f = exponent_of(w, x)
    two, three = w.constant(2.0), w.constant(3.0)
    divisor = w.add(f, two)
    inverse = w.div(w.constant(1.0), divisor)
    s, divisor = w.mul(f, inverse), w.upper(divisor)
    upper = w.upper(s)
    left = w.sub(w.sub(f, w.mul(upper, divisor)), w.mul(upper, w.sub(f, w.sub(divisor, two))))
    lower, square, z = w.mul(left, inverse), w.mul(upper, upper), w.mul(s, s)
    more = w.fma(w.mul(z, z), w.polynomial(z, POWER), w.mul(lower, w.add(upper, s)))
    factor = w.upper(w.add(w.add(three, square), more))
    more = w.sub(more, w.sub(w.sub(factor, three), square))
    product, rest = w.mul(upper, factor), w.fma(lower, factor, w.mul(more, s))
    upper = w.upper(w.add(product, rest))
    rest = w.sub(rest, w.sub(upper, product))
    high = w.mul(upper, w.constant(UPPER_THIRDS))
    low = w.fma(upper, w.constant(LOWER_THIRDS), w.mul(rest, w.constant(THIRDS)))
    total = w.upper(w.add(w.add(high, low), k))
    return total, w.sub(low, w.sub(w.sub(total, k), high))


def binary_power(w: Wide, high: SSAValue, low: SSAValue) -> SSAValue:
    """2^(high + low), low much less than high: e^r with r in two parts, too."""
    n, _ = w.rounded(w.at_least(w.at_most(w.add(high, low), 1025.0), -2046.0))
    high, low = (w.at_least(w.at_most(each, 1.0), -1.0) for each in (w.sub(high, n), low))
    upper = w.upper(w.add(high, low))
    product = w.mul(upper, w.constant(UPPER_LOG_2))
    rest = w.mul(w.sub(low, w.sub(upper, high)), w.constant(1 / LOG2_E))
    rest = w.fma(upper, w.constant(LOWER_LOG_2), rest)
    r, one = w.add(product, rest), w.constant(1.0)
    rest = w.sub(rest, w.sub(r, product))
    rest = w.fma(w.mul(r, r), w.polynomial(r, EXP), w.fma(r, rest, rest))
    value = w.add(one, r)
    rest = w.add(w.sub(r, w.sub(value, one)), rest)
    return times_power(w, w.add(value, rest), n)


def round_even(w: Lanes, x: SSAValue) -> SSAValue:
    """The nearest integer, the even one of two. From some size on there is nothing between integers."""
    size, whole = w.size(x), w.constant(w.whole)
    nearest = w.sub(w.add(size, whole), whole)
    return w.select(w.compare("olt", size, whole), w.op(math.CopySignOp, nearest, x), x)
