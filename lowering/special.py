"""Special functions of numbers inside loop bodies, all in float64 whatever the dtype.

Where a function has a series with known coefficients or a recurrence, that is what computes it. The others are cut into
intervals on each of which a smooth part of them is a `chebyshev` series, whose coefficients are found when a program is
compiled, from the function that the interpreter calls (Numerical Recipes 5.8). The formulas that split off what is not
smooth are those of Abramowitz and Stegun and of the Digital Library of Mathematical Functions (DLMF).
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.loops import repeat_while
from xdsl_exir.lowering.scalar import Scalar

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

Reference: TypeAlias = "Callable[[Array], Array]"
"""A function of arrays that is to be approximated."""

LOG_2_PI = math.log(2 * math.pi)
SQRT_PI = math.sqrt(math.pi)

# --- series --------------------------------------------------------------------------------------------------


def horner(coefficients: Sequence[float], x: Any) -> Any:
    """The polynomial with these coefficients, the constant one first, of numbers of Python's as of those of loop bodies."""
    total: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


NODES = 64
"""How many values of a function its series is made from."""
NEGLIGIBLE = 2.0**-49
"""Coefficients of this size, relative to the greatest, are noise."""
GROWTH = 4
"""How much greater than those of a series its polynomial's coefficients may be, of which as many bits are lost."""


@functools.cache
def chebyshev_coefficients(function: Reference, low: float, high: float) -> tuple[float, ...]:
    """Coefficients of the Chebyshev series that interpolates a function on an interval, up to the last that matters.

    The function is called at points inside the interval only, not at its ends.
    """
    import numpy as np

    middle, half = (high + low) / 2, (high - low) / 2
    # By the cosine transform: its angles are exact up to whole turns, where `chebinterpolate` loses seven bits.
    turns = np.outer(np.arange(NODES), 2 * np.arange(NODES) + 1) % (4 * NODES)
    waves: Array = np.cos(np.pi / (2 * NODES) * turns)
    found: Array = (function(middle + half * waves[1]) * waves).sum(1) * (2 / NODES)
    found[0] /= 2
    sizes = np.abs(found)
    last = np.flatnonzero(sizes > NEGLIGIBLE * sizes.max())[-1]
    return tuple(float(c) for c in found[: last + 1])


def clenshaw(coefficients: Sequence[float], t: Any) -> Any:
    """A Chebyshev series by Clenshaw's recurrence, of such numbers."""
    first, *others = coefficients
    current, previous = (s.constant(0, t.dtype) if isinstance(t, Scalar) else 0.0,) * 2
    for coefficient in reversed(others):
        current, previous = t * 2 * current - previous + coefficient, current
    return t * current - previous + first


Summed: TypeAlias = Callable[[Sequence[float], Any], Any]


@functools.cache
def series(
    function: Reference, low: float, high: float, exact: tuple[float, float] | None
) -> tuple[Summed, tuple[float, ...]]:
    """What adds a function's series up, and its coefficients: a polynomial, a third of the work, unless it would cancel.

    `exact` is a point and the value there that the series gives to the last bit.
    """
    import numpy as np

    coefficients = chebyshev_coefficients(function, low, high)
    by_powers = [float(c) for c in np.polynomial.chebyshev.cheb2poly(coefficients)]
    stable = sum(map(abs, by_powers)) <= GROWTH * sum(map(abs, coefficients))
    summed, (first, *others) = (horner, by_powers) if stable else (clenshaw, coefficients)
    if exact is not None:
        at, value = exact
        first = value - summed((0.0, *others), place_of(at, low, high))
    return summed, (first, *others)


def place_of(x: Any, low: float, high: float) -> Any:
    """Where a number is in an interval, of which -1 and 1 are the ends."""
    return x * (2 / (high - low)) - (high + low) / (high - low)


def chebyshev(
    function: Reference, low: float, high: float, x: Scalar, exact: tuple[float, float] | None = None
) -> Scalar:
    """A smooth function on an interval; anything where x is outside."""
    summed, coefficients = series(function, low, high, exact)
    return summed(coefficients, place_of(x, low, high))


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
    right = t * chebyshev(_erfcx_over_t, 0, 1, t, exact=(1, 1))
    return s.select(x < 0, s.exp(x * x) * 2 - right, right)


def log_ndtr(x: Scalar) -> Scalar:
    """The logarithm of the normal distribution function, without underflow on the left."""
    t = x * math.sqrt(0.5)
    left = s.log(erfcx(-t) * 0.5) - t * t
    return s.select(x < -1, left, s.log1p(s.erfc(t) * -0.5))


ERFINV: dict[DType, tuple[tuple[float, ...], ...]] = {
    dt.Float: (
        ( 1.37721521, 0.499536143, -0.00787257475, -0.0135372965, 0.00345501647, 0.000243228037, -0.000312034095, 3.91312889e-05, 1.78430709e-05, -5.11303185e-06, -4.43222617e-07 ),
        ( 2.8329768, 1.00167495, 0.00944568724, -0.00763724519, 0.00568184915, -0.00359533437, 0.00150281388, -6.65084132e-05, -0.000328583675, 0.000126512143, 2.87726637e-06 ),
    ),
    dt.Double: (
        ( 1.3772152115148184, 0.49953613774150163, -0.00787257416712652, -0.013537186958168647, 0.003455004628504194, 0.0002426096120001266, -0.0003119661252152214, 4.0568689574287166e-05, 1.767991318063748e-05, -6.6027772216229995e-06, -2.624914590074739e-07, 6.019517915944074e-07, -8.695476099359286e-08, -3.548875602411963e-08, 1.3822834890147502e-08, 5.721742138320676e-10, -1.268773349927392e-09, 1.626008902320084e-10, 6.786263500667875e-11, -1.8388740265067817e-11 ),
        ( 2.8329767987282706, 1.0016752766934, 0.009445522012016764, -0.0076438055700786805, 0.005685182416644232, -0.003558794015303409, 0.001483737366630701, -0.000148898112071975, -0.00028312463843436033, 0.00020551666703932096, -4.645915613311132e-05, -2.287349063775492e-05, 2.1929790845322412e-05, -5.946135840070854e-06, -1.6408060384410817e-06, 1.9955397556774685e-06, -6.625876125185234e-07, -7.129287546830531e-08, 1.8607955185599423e-07, -7.38045298338133e-08, -1.3396228087143735e-08, 1.7402395032395277e-08, -8.902495064616024e-10, -1.3889626970554181e-09 ),
        ( 4.849906401408584, 1.0103004648645448, -0.00013871931835504131, -0.00021503011980626236, 7.599527742630265e-05, -1.9681771005068495e-05, 4.52605941669382e-06, -9.930274647565518e-07, 2.2901735768251524e-07, -6.756257305002291e-08, 2.912112461072946e-08, -1.5243098445459968e-08, 7.647510722225221e-09, -3.484103663903457e-09, 1.4880188329128739e-09, -4.30328930411846e-10, -2.2184443144005915e-11, 4.1180964662144943e-11 ),
    ),
}  # fmt: skip
"""erfinv(x) / x, where w = -log(1 - x^2): in w / 2 - 1 up to 4, then in sqrt(w) - 3 and in sqrt(w) - 5, interpolated at Chebyshev points in 60 digits."""


def erfinv(x: Scalar) -> Scalar:
    """The inverse of erf (M. Giles, Approximating the erfinv function, 2010), in the dtype that it is of."""
    w = -s.own_log((1 - x) * (1 + x))
    root = s.sqrt(w)
    center, *tails = ERFINV[x.dtype]
    slope = horner(center, w * 0.5 - 1)
    for low, tail in zip((2, 4), tails, strict=False):
        slope = s.select(root < low, slope, horner(tail, root - (low + 1)))
    return s.select(w.equals(math.inf), s.copysign(s.constant(math.inf, x.dtype), x), x * slope)


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
    size = s.absolute(x)
    tiny = size < EPSILON  # where the quotient may overflow
    pole = -s.log(s.select(tiny, size, sine * (1 / math.pi)))
    result = s.select(tiny, pole, s.select(reflected, pole - right, right))
    return s.select(s.is_inf(x) | (reflected & sine.equals(0)), math.inf, result)


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


ZETA_OVERFLOW = sys.float_info.max ** (1 / 23)
"""The power from which on x (x + 1) ... (x + 22), in the last term of PyTorch's sum, overflows."""


def zeta(x: Scalar, q: Scalar) -> Scalar:
    """The Hurwitz zeta function: terms up to a = 9 at least, then the Euler-Maclaurin formula (DLMF 25.11.28).

    Infinite for x = 1 and at the poles q = 0, -1, ...; NaN for x < 1, and for other negative q unless x is whole; also where factors that overflow
    make NaN of terms that are 0, as in PyTorch.
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
    a, _, power, total = repeat_while([start, s.constant(0, dt.Long), first, first], more, step)
    partial = total
    total = total + power * a / (x - 1) - power * 0.5
    factor = power * x / a
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total + factor * (bernoulli / math.factorial(2 * k))
        factor = factor * ((x + (2 * k - 1)) / a) * ((x + 2 * k) / a)
    total = s.select(negligible(power, partial), partial, total)
    total = s.select(partial.equals(0) & (x > ZETA_OVERFLOW), math.nan, total)
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
    return repeat_while([one, one, a, wanted], more, step)[0]


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
    return repeat_while(state, more, step)[2]


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
        [_, result, _] = repeat_while([one, first(x), one], more, step)
        return s.select(degree < 0, 0, s.select(degree.equals(0), 1, result))

    return compute
