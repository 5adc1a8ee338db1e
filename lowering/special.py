"""Special functions of numbers inside loop bodies, all in float64 whatever the dtype.

Where a function has a series with known coefficients or a recurrence, that is what computes it. The others are cut into
intervals on each of which a smooth part of them is a `chebyshev` series, whose coefficients are found when a program is
compiled, from the function that the interpreter calls (Numerical Recipes 5.8). The formulas that split off what is not
smooth are those of Abramowitz and Stegun and of the Digital Library of Mathematical Functions (DLMF).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

Reference: TypeAlias = "Callable[[Array], Array]"
"""A function of arrays that is to be approximated."""

LOG_2_PI = math.log(2 * math.pi)
SQRT_PI = math.sqrt(math.pi)

# --- series --------------------------------------------------------------------------------------------------


def horner(coefficients: Sequence[float], x: Scalar) -> Scalar:
    """The polynomial with these coefficients, the constant one first."""
    total = s.constant(coefficients[-1], x.dtype)
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


NODES = 64
"""How many values of a function its series is made from."""
NEGLIGIBLE = 2.0**-46
"""Coefficients of this size, relative to the greatest, are noise."""


@functools.cache
def chebyshev_coefficients(function: Reference, low: float, high: float) -> tuple[float, ...]:
    """Coefficients of the Chebyshev series that interpolates a function on an interval, up to the last that matters.

    The function is called at points inside the interval only, not at its ends.
    """
    import numpy as np
    from numpy.polynomial import chebyshev

    middle, half = (high + low) / 2, (high - low) / 2

    def sample(t: Array) -> Array:
        return function(middle + half * t)

    found: Array = cast(Any, chebyshev).chebinterpolate(sample, NODES - 1)
    sizes = np.abs(found)
    last = np.flatnonzero(sizes > NEGLIGIBLE * sizes.max())[-1]
    return tuple(float(c) for c in found[: last + 1])


def chebyshev(function: Reference, low: float, high: float, x: Scalar) -> Scalar:
    """A smooth function on an interval, by Clenshaw's recurrence; anything where x is outside."""
    first, *others = chebyshev_coefficients(function, low, high)
    t = x * (2 / (high - low)) - (high + low) / (high - low)
    current, previous = s.constant(0, x.dtype), s.constant(0, x.dtype)
    for coefficient in reversed(others):
        current, previous = t * 2 * current - previous + coefficient, current
    return t * current - previous + first


def scipy(name: str) -> Reference:
    """A function of scipy.special, imported when first called."""

    def compute(*arrays: Any) -> Any:
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        return getattr(special, name)(*arrays)

    return compute


# --- error functions -----------------------------------------------------------------------------------------

ERFCX_SCALE = 3.0


def _erfcx_over_t(t: Array) -> Array:
    return scipy("erfcx")(ERFCX_SCALE * (1 - t) / t) / t


def erfcx(x: Scalar) -> Scalar:
    """exp(x^2) erfc(x), for x > 0 a series in t = c / (c + x), which vanishes at infinity."""
    t = ERFCX_SCALE / (s.absolute(x) + ERFCX_SCALE)
    right = t * chebyshev(_erfcx_over_t, 0, 1, t)
    return s.select(x < 0, s.exp(x * x) * 2 - right, right)


def log_ndtr(x: Scalar) -> Scalar:
    """The logarithm of the normal distribution function, without underflow on the left."""
    t = x * math.sqrt(0.5)
    left = s.log(erfcx(-t) * 0.5) - t * t
    return s.select(x < -1, left, s.log1p(s.erfc(t) * -0.5))


NDTRI_CENTER = 0.375


def _ndtri_slope(q_squared: Array) -> Array:
    """ndtri(1/2 + q) / q."""
    q = q_squared**0.5
    return scipy("ndtri")(0.5 + q) / q


def _ndtri_tail(z: Array) -> Array:
    """By how much -ndtri(p) lies below s - log(s) / s, where s = sqrt(-2 log p) = 1 / z."""
    import numpy as np

    size = 1 / z
    return size - np.log(size) / size + scipy("ndtri_exp")(-size * size / 2)


def ndtri(p: Scalar) -> Scalar:
    """The inverse of the normal distribution function: near 1/2 odd, in its tails as A&S 26.2.22 has it."""
    q = p - 0.5
    tail = s.minimum(p, 1 - p)
    size = s.sqrt(s.log(tail) * -2)
    z = 1 / size
    middle, end = (chebyshev(_ndtri_tail, *ends, z) for ends in ((0.125, 0.5), (1 / 39, 0.125)))
    rest = s.select(z < 0.125, end, middle)
    outer = s.copysign(size - s.log(size) * z - rest, q)
    inner = q * chebyshev(_ndtri_slope, 0, NDTRI_CENTER**2, q * q)
    result = s.select(s.absolute(q) <= NDTRI_CENTER, inner, outer)
    return s.select(tail.equals(0), s.copysign(s.constant(math.inf, dt.Double), q), result)


# --- Bessel functions ----------------------------------------------------------------------------------------

BESSEL_SPLIT = 8.0
"""Below it functions are power series in x^2, above it waves of slowly varying amplitude."""


def _regular(order: int) -> Reference:
    """J(x) / x^order, as function of x^2."""
    return lambda square: scipy(f"j{order}")(square**0.5) / square ** (order / 2)


def _irregular(order: int) -> Reference:
    """Y(x) without its logarithm and pole (DLMF 10.8.1), divided by x^order, as function of x^2."""

    def compute(square: Array) -> Array:
        import numpy as np

        x = square**0.5
        singular = np.log(x) * scipy(f"j{order}")(x) - (1 / x if order else 0)
        return (scipy(f"y{order}")(x) - 2 / math.pi * singular) / x**order

    return compute


def _waves(order: int, quadrature: bool) -> Reference:
    """P, or Q times x / 8, of J = sqrt(2 / (pi x)) (P cos w - Q sin w) and Y = ... (P sin w + Q cos w), where
    w = x - (order / 2 + 1 / 4) pi (DLMF 10.17), as function of (8 / x)^2."""

    def compute(square: Array) -> Array:
        import numpy as np

        x = BESSEL_SPLIT / square**0.5
        w = x - (order / 2 + 0.25) * math.pi
        scale = np.sqrt(math.pi * x / 2)
        j, y = scipy(f"j{order}")(x) * scale, scipy(f"y{order}")(x) * scale
        if quadrature:
            return (y * np.cos(w) - j * np.sin(w)) * x / BESSEL_SPLIT
        return j * np.cos(w) + y * np.sin(w)

    return compute


REGULAR, IRREGULAR = ((_regular(0), _regular(1)), (_irregular(0), _irregular(1)))
WAVES = tuple((_waves(order, False), _waves(order, True)) for order in (0, 1))


def _far(order: int, x: Scalar, second: bool) -> Scalar:
    """J or (`second`) Y for x of at least 8."""
    z = BESSEL_SPLIT / x
    p, q = (chebyshev(wave, 0, 1, z * z) for wave in WAVES[order])
    q = q * z
    # sin and cos of w times sqrt(2), of x itself so that large x lose nothing.
    sine, cosine = s.sin(x), s.cos(x)
    sine, cosine = (-sine - cosine, sine - cosine) if order else (sine - cosine, sine + cosine)
    wave = p * sine + q * cosine if second else p * cosine - q * sine
    return wave / s.sqrt(x * math.pi)


def _near(order: int, x: Scalar) -> Scalar:
    """J for x up to 8."""
    series = chebyshev(REGULAR[order], 0, BESSEL_SPLIT**2, x * x)
    return series * x if order else series


def bessel_j(order: int) -> Callable[[Scalar], Scalar]:
    """The Bessel function of the first kind, of order 0 or 1."""

    def j(x: Scalar) -> Scalar:
        size = s.absolute(x)
        result = s.select(size <= BESSEL_SPLIT, _near(order, size), _far(order, size, False))
        return s.copysign(s.constant(1, dt.Double), x) * result if order else result

    return j


def bessel_y(order: int) -> Callable[[Scalar], Scalar]:
    """The Bessel function of the second kind, of order 0 or 1: NaN for negative numbers, infinite at 0."""

    def y(x: Scalar) -> Scalar:
        singular = s.log(x) * _near(order, x) - (1 / x if order else 0.0)
        rest = chebyshev(IRREGULAR[order], 0, BESSEL_SPLIT**2, x * x)
        near = singular * (2 / math.pi) + (rest * x if order else rest)
        near = s.select(x < 0, math.nan, s.select(x.equals(0), -math.inf, near))
        return s.select(x <= BESSEL_SPLIT, near, _far(order, x, True))

    return y


def _growing_near(order: int) -> Reference:
    return lambda x: scipy(f"i{order}e")(x) / x**order


def _growing_far(order: int) -> Reference:
    return lambda z: scipy(f"i{order}e")(BESSEL_SPLIT / z) / z**0.5


GROWING = tuple((_growing_near(order), _growing_far(order)) for order in (0, 1))


def modified_i(order: int, scaled: bool) -> Callable[[Scalar], Scalar]:
    """The modified Bessel function of the first kind, of order 0 or 1, times exp(-|x|) if `scaled`."""
    near, far = GROWING[order]

    def i(x: Scalar) -> Scalar:
        size = s.absolute(x)
        z = BESSEL_SPLIT / size
        inside = chebyshev(near, 0, BESSEL_SPLIT, size)
        outside = chebyshev(far, 0, 1, z) * s.sqrt(z)
        result = s.select(size <= BESSEL_SPLIT, inside * size if order else inside, outside)
        result = result if scaled else result * s.exp(size)
        return s.select(x < 0, -result, result) if order else result

    return i


DECAY_SPLIT = 2.0


def _decaying_near(order: int) -> Reference:
    """K(x) without its logarithm (DLMF 10.31.1-2), times x^order, as function of x^2."""

    def compute(square: Array) -> Array:
        import numpy as np

        x = square**0.5
        logarithm = np.log(x / 2) * scipy(f"i{order}")(x)
        return (scipy(f"k{order}")(x) + (-logarithm if order else logarithm)) * x**order

    return compute


def _decaying_far(order: int) -> Reference:
    return lambda z: scipy(f"k{order}e")(DECAY_SPLIT / z) / z**0.5


DECAYING = tuple((_decaying_near(order), _decaying_far(order)) for order in (0, 1))


def modified_k(order: int, scaled: bool) -> Callable[[Scalar], Scalar]:
    """The modified Bessel function of the second kind, of order 0 or 1, times exp(x) if `scaled`: NaN for negative
    numbers, infinite at 0."""
    near, far = DECAYING[order]

    def k(x: Scalar) -> Scalar:
        z = DECAY_SPLIT / x
        logarithm = s.log(x * 0.5) * modified_i(order, False)(x)
        rest = chebyshev(near, 0, DECAY_SPLIT**2, x * x)
        inside = logarithm + rest / x if order else rest - logarithm
        outside = chebyshev(far, 0, 1, z) * s.sqrt(z)
        growth = s.exp(x if scaled else -x)
        result = s.select(
            x <= DECAY_SPLIT, inside * growth if scaled else inside, outside if scaled else outside * growth
        )
        return s.select(x < 0, math.nan, s.select(x.equals(0), math.inf, result))

    return k


def spherical_bessel_j0(x: Scalar) -> Scalar:
    """sin(x) / x, continued at 0 and at infinity."""
    quotient = s.sin(x) / x
    return s.select(x.equals(0), 1, s.select(s.is_inf(x), 0, quotient))


# --- the Airy function ---------------------------------------------------------------------------------------

AIRY_SPLIT = 2.5
AIRY_PHASE = 2 / 3 * AIRY_SPLIT**1.5
AIRY_END = 103.892
"""From where on PyTorch has 0."""


def _airy_center(x: Array) -> Array:
    return scipy("airy")(x)[0]


def _airy_decay(z: Array) -> Array:
    """2 sqrt(pi) x^(1/4) exp(phase) Ai(x) (DLMF 9.7.5), where phase = 2/3 x^(3/2) = 1 / z."""
    x = (1.5 / z) ** (2 / 3)
    return 2 * SQRT_PI * x**0.25 * scipy("airye")(x)[0]


def _airy_waves(quadrature: bool) -> Reference:
    """P, or Q times the phase, of Ai(-x) = (P cos w + Q sin w) / (sqrt(pi) x^(1/4)) and Bi(-x) = (Q cos w - P sin w)
    / ..., where w = phase - pi/4 (DLMF 9.7.9, 9.7.11), as function of 1 / phase^2."""

    def compute(square: Array) -> Array:
        import numpy as np

        phase = square**-0.5
        x = (1.5 * phase) ** (2 / 3)
        w, scale = phase - math.pi / 4, SQRT_PI * x**0.25
        ai, _, bi, _ = (part * scale for part in scipy("airy")(-x))
        return phase * (ai * np.sin(w) + bi * np.cos(w)) if quadrature else ai * np.cos(w) - bi * np.sin(w)

    return compute


AIRY_WAVES = _airy_waves(False), _airy_waves(True)


def airy_ai(x: Scalar) -> Scalar:
    """The Airy function Ai; of infinities NaN, as in PyTorch."""
    size = s.absolute(x)
    phase, root = size * s.sqrt(size) * (2 / 3), s.sqrt(s.sqrt(size))
    z = 1 / phase
    right = chebyshev(_airy_decay, 0, 1 / AIRY_PHASE, z) * s.exp(-phase) / (root * (2 * SQRT_PI))
    p, q = (chebyshev(wave, 0, 1 / AIRY_PHASE**2, z * z) for wave in AIRY_WAVES)
    w = phase - math.pi / 4
    left = (p * s.cos(w) + q * z * s.sin(w)) / (root * SQRT_PI)
    center = chebyshev(_airy_center, -AIRY_SPLIT, AIRY_SPLIT, x)
    result = s.select(size <= AIRY_SPLIT, center, s.select(x > 0, right, left))
    return s.select(s.is_inf(x), math.nan, s.select(x > AIRY_END, 0, result))


# --- gamma functions -----------------------------------------------------------------------------------------

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B2, B4, ... B16 (DLMF 24.2.1)."""

EPSILON = 2.0**-53
"""Terms of this size, relative to their sum, do not change it."""
SHIFT = 8
"""Asymptotic series are exact from here on; recurrences lead here."""


def stirling(x: Scalar) -> Scalar:
    """By how much log gamma(x) exceeds (x - 1/2) log x - x + log(2 pi) / 2, for x of at least 8 (DLMF 5.11.1)."""
    terms = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1)]
    z = 1 / x
    return horner(terms, z * z) * z


ZEROS = 0.5, 3.0
"""An interval around the zeros of log gamma, 1 and 2."""


def _log_gamma_by_zeros(x: Array) -> Array:
    return scipy("gammaln")(x) / ((x - 1) * (x - 2))


def log_gamma_right(x: Scalar) -> Scalar:
    """log gamma(x) of a positive number; a product at its zeros, so that it is exact beside them."""
    small = x < SHIFT
    product = x
    for k in range(1, SHIFT):
        product = product * (x + k)
    y = s.select(small, x + SHIFT, x)
    above = (y - 0.5) * s.log(y) - y + LOG_2_PI / 2 + stirling(y)
    beyond = s.select(small, above - s.log(product), above)
    near = (x - 1) * (x - 2) * chebyshev(_log_gamma_by_zeros, *ZEROS, x) + 0.0  # of -0 too makes 0
    return s.select((x > ZEROS[0]) & (x < ZEROS[1]), near, beyond)


def distance_to_whole(x: Scalar) -> Scalar:
    """A number less the nearest whole one: what periodic functions are exact of."""
    return x - s.round_even(x)


def lgamma(x: Scalar) -> Scalar:
    """The logarithm of |gamma(x)|, reflected at 1/2 (DLMF 5.5.3)."""
    reflected = x < 0.5
    right = log_gamma_right(s.select(reflected, 1 - x, x))
    sine = s.absolute(s.sin(distance_to_whole(x) * math.pi))
    result = s.select(reflected, s.log(math.pi / sine) - right, right)
    return s.select(s.is_inf(x), math.inf, result)


def digamma(x: Scalar) -> Scalar:
    """The logarithmic derivative of gamma: a recurrence up to 8, then its asymptotic series (DLMF 5.5.2, 5.11.2),
    reflected at 1/2 (5.5.4). Infinite at 0, NaN at the other poles."""
    reflected = x < 0.5
    right = s.select(reflected, 1 - x, x)
    small = right < SHIFT
    y = s.select(small, right + SHIFT, right)
    z = 1 / y
    terms = [b / (2 * k) for k, b in enumerate(BERNOULLI, 1)]
    above = s.log(y) - z * 0.5 - horner(terms, z * z) * z * z
    steps = functools.reduce(s.add, (1 / (right + k) for k in range(SHIFT)))
    result = s.select(small, above - steps, above)
    turn = math.pi / s.tan(distance_to_whole(x) * math.pi)
    result = s.select(reflected, result - turn, result)
    pole = (x < 0) & s.trunc(x).equals(x)
    infinite = s.copysign(s.constant(math.inf, dt.Double), -x)
    return s.select(x.equals(0), infinite, s.select(pole, math.nan, result))


def zeta(x: Scalar, q: Scalar) -> Scalar:
    """The Hurwitz zeta function: terms up to a = 9 at least, then the Euler-Maclaurin formula (DLMF 25.11.28).

    Infinite for x = 1 and at the poles q = 0, -1, ...; NaN for x < 1, and for other negative q unless x is whole.
    """
    pole = ~(x < 1) & (q <= 0) & s.floor(q).equals(q)
    undefined = (x < 1) | ((q <= 0) & s.floor(x).differs(x))
    start = s.select(pole | undefined, 1, q)

    def negligible(term: Scalar, total: Scalar) -> Scalar:
        return s.absolute(term / total) < EPSILON

    def more(a: Scalar, count: Scalar, term: Scalar, total: Scalar) -> Scalar:
        return ((count < 9) | (a <= 9)) & ~negligible(term, total)

    def step(a: Scalar, count: Scalar, _: Scalar, total: Scalar) -> list[Scalar]:
        term = s.pow(a + 1, -x)
        return [a + 1, count + 1, term, total + term]

    first = s.pow(start, -x)
    a, _, power, total = s.repeat_while([start, s.constant(0, dt.Long), first, first], more, step)
    partial = total
    total = total + power * a / (x - 1) - power * 0.5
    factor = power * x / a
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total + factor * (bernoulli / math.factorial(2 * k))
        factor = factor * ((x + (2 * k - 1)) / a) * ((x + 2 * k) / a)
    total = s.select(negligible(power, partial), partial, total)
    total = s.select(pole, math.inf, s.select(undefined, math.nan, total))
    return s.select(x.equals(1), math.inf, total)


def trigamma(x: Scalar, sine: Scalar) -> Scalar:
    """zeta(2, x), reflected at 1/2 (DLMF 5.15.6). `sine` is sin(pi x), which PyTorch rounds: its poles are finite."""
    reflected = x < 0.5
    right = zeta(s.constant(2, dt.Double), s.select(reflected, 1 - x, x))
    right = s.select(x.equals(math.inf), 0, right)
    return s.select(reflected, (math.pi**2) / (sine * sine) - right, right)


def polygamma(n: int, x: Scalar) -> Scalar:
    """(-1)^(n+1) n! zeta(n + 1, x) (DLMF 5.15.1), for n > 1."""
    sign = 1 if n % 2 else -1
    return zeta(s.constant(n + 1, dt.Double), x) * (sign * math.exp(math.lgamma(n + 1)))


# --- incomplete gamma functions ------------------------------------------------------------------------------

LARGE = 1e4
"""From this `a` on the uniform expansion's first two terms are exact."""
CLOSE = 0.3
"""And for x up to this distance from `a`, relative to it."""


def _temme(mu: Array) -> Array:
    """1 / mu - 1 / eta (DLMF 8.12.8), where eta^2 / 2 = mu - log(1 + mu)."""
    import numpy as np

    return 1 / mu - 1 / np.copysign(np.sqrt(2 * (mu - np.log1p(mu))), mu)


def incomplete_gamma(lower: bool) -> Callable[[Scalar, Scalar], Scalar]:
    """A regularized incomplete gamma function, P if `lower`, or Q."""

    def compute(a: Scalar, x: Scalar) -> Scalar:
        defined = (a > 0) & (x > 0) & ~s.is_inf(a) & ~s.is_inf(x)
        a_inside, x_inside = s.select(defined, a, 1), s.select(defined, x, 1)
        inside = _both_defined(a_inside, x_inside, lower)
        # Limits: where one is 0 or infinite, and the other beside it whatever it is, NaN even.
        none, whole = s.constant(not lower, dt.Double), s.constant(lower, dt.Double)
        limit = s.select(a.equals(0) | x.equals(math.inf), whole, none)
        at_limit = a.equals(0) | x.equals(0) | s.is_inf(a) | s.is_inf(x)
        both = (a.equals(0) & ~(x > 0)) | (s.is_inf(a) & s.is_inf(x))
        wrong = (a < 0) | (x < 0) | (both & at_limit) | ~(defined | at_limit)
        return s.select(wrong, math.nan, s.select(at_limit, limit, inside))

    return compute


def _both_defined(a: Scalar, x: Scalar, lower: bool) -> Scalar:
    """Of positive finite numbers: the power series of P, the continued fraction of Q (DLMF 8.11.4, 8.9.2; Numerical
    Recipes 6.2), or for large a near x both by erfc (DLMF 8.12.3)."""
    mu = (x - a) / a
    small = a < SHIFT
    correction = s.select(
        small,
        log_gamma_right(a) - (a - 0.5) * s.log(a) + a - LOG_2_PI / 2,
        stirling(a),
    )
    deviation = mu - s.select(s.absolute(mu) < 0.5, s.log1p(mu), s.log(x / a))
    # x^a exp(-x) / gamma(a + 1), without cancellation where a is large.
    front = s.exp(-(a * deviation) - correction) / s.sqrt(a * (2 * math.pi))
    uniform = (a > LARGE) & (s.absolute(mu) < CLOSE)
    by_fraction = ~uniform & (x > 1.1) & (x > a)
    p = front * _lower_series(a, x, ~uniform & ~by_fraction)
    q = front * a * _upper_fraction(a, x, by_fraction)
    direct = s.select(by_fraction, 1 - q if lower else q, p if lower else 1 - p)
    eta = s.copysign(s.sqrt(deviation * a), mu)
    rest = front * s.exp(correction) * chebyshev(_temme, -CLOSE, CLOSE, mu)
    near = s.erfc(-eta) * 0.5 - rest if lower else s.erfc(eta) * 0.5 + rest
    return s.select(uniform, near, direct)


def _lower_series(a: Scalar, x: Scalar, wanted: Scalar) -> Scalar:
    """1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..."""

    def more(total: Scalar, term: Scalar, _: Scalar, on: Scalar) -> Scalar:
        return on & (term > total * EPSILON)

    def step(total: Scalar, term: Scalar, divisor: Scalar, on: Scalar) -> list[Scalar]:
        divisor = divisor + 1
        term = term * (x / divisor)
        return [total + term, term, divisor, on]

    one = s.constant(1, dt.Double)
    return s.repeat_while([one, one, a, wanted], more, step)[0]


def _upper_fraction(a: Scalar, x: Scalar, wanted: Scalar) -> Scalar:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), by Lentz's method."""

    def more(_: Scalar, __: Scalar, ___: Scalar, change: Scalar, ____: Scalar, on: Scalar) -> Scalar:
        return on & (s.absolute(change - 1) > EPSILON * 2)

    def step(c: Scalar, d: Scalar, result: Scalar, change: Scalar, k: Scalar, on: Scalar) -> list[Scalar]:
        k = k + 1
        numerator, term = k * (a - k), x + 1 - a + k * 2
        d = 1 / (numerator * d + term)
        c = numerator / c + term
        change = c * d
        return [c, d, result * change, change, k, on]

    zero = s.constant(0, dt.Double)
    first = 1 / (x + 1 - a)
    state = [s.constant(math.inf, dt.Double), first, first, zero, zero, wanted]
    return s.repeat_while(state, more, step)[2]


# --- orthogonal polynomials ----------------------------------------------------------------------------------

Term: TypeAlias = Callable[[Scalar, Scalar, Scalar, Scalar], Scalar]
"""The polynomial of degree k + 1, from k, x and those of degrees k and k - 1."""


def _chebyshev_term(k: Scalar, x: Scalar, p: Scalar, q: Scalar) -> Scalar:
    return x * 2 * p - q


POLYNOMIALS: dict[str, tuple[Callable[[Scalar], Scalar], Term]] = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev_term),
    "chebyshev_polynomial_u": (lambda x: x * 2, _chebyshev_term),
    "chebyshev_polynomial_v": (lambda x: x * 2 - 1, _chebyshev_term),
    "chebyshev_polynomial_w": (lambda x: x * 2 + 1, _chebyshev_term),
    "hermite_polynomial_h": (lambda x: x * 2, lambda k, x, p, q: x * 2 * p - k * 2 * q),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, p, q: x * p - k * q),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda k, x, p, q: ((k * 2 + 1 - x) * p - k * q) / (k + 1),
    ),
    "legendre_polynomial_p": (lambda x: x, lambda k, x, p, q: ((k * 2 + 1) * x * p - k * q) / (k + 1)),
}
"""First polynomials and recurrences (DLMF 18.9)."""


def polynomial(name: str) -> Callable[[Scalar, Scalar], Scalar]:
    """A family of orthogonal polynomials: of x, of a degree that is rounded towards zero; 0 of negative degrees."""
    first, following = POLYNOMIALS[name]

    def compute(x: Scalar, n: Scalar) -> Scalar:
        # What is no 64-bit integer, NaN too, is the least one.
        degree = s.select(s.absolute(n) < 2.0**63, s.trunc(n), -1)

        def more(k: Scalar, current: Scalar, _: Scalar) -> Scalar:
            return (k < degree) & ~s.is_nan(current)

        def step(k: Scalar, current: Scalar, previous: Scalar) -> list[Scalar]:
            return [k + 1, following(k, x, current, previous), current]

        one = s.constant(1, dt.Double)
        [_, result, _] = s.repeat_while([one, first(x), one], more, step)
        return s.select(degree < 0, 0, s.select(degree.equals(0), 1, result))

    return compute
