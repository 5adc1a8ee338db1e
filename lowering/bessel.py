"""Bessel functions and the Airy function of numbers inside loop bodies, in float64, by series as in `special`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.scalar import Scalar

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
from xdsl_exir.lowering.special import SQRT_PI, Reference, chebyshev, horner, scipy

BESSEL_SPLIT = 8.0
"""Below it functions are power series in x^2, above it waves of slowly varying amplitude."""
AT_ZERO = ((0, 1.0), (0, 0.5))
"""J(x) / x^order at 0 (DLMF 10.7.3)."""


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


REGULAR, IRREGULAR = ((_regular(0), _regular(1)), (_irregular(0), _irregular(1)))


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
    series = chebyshev(REGULAR[order], 0, BESSEL_SPLIT**2, x * x, exact=AT_ZERO[order])
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


def _growing(order: int) -> tuple[float, ...]:
    """Coefficients of I(x) / x^order by (x / 2)^2, all positive, so that none is lost (DLMF 10.25.2)."""
    terms = (1 / (math.factorial(k) * math.factorial(k + order)) for k in range(GROWING_TERMS))
    return tuple(term / 2**order for term in terms)


def _growing_far(order: int) -> Reference:
    return lambda z: scipy(f"i{order}e")(BESSEL_SPLIT / z) / z**0.5


GROWING_TERMS = 22
"""The next one, of x = 8, is less than 2^-60 of the sum."""
GROWING = tuple((_growing(order), _growing_far(order)) for order in (0, 1))


def modified_i(order: int, scaled: bool) -> Callable[[Scalar], Scalar]:
    """The modified Bessel function of the first kind, of order 0 or 1, times exp(-|x|) if `scaled`."""
    near, far = GROWING[order]

    def i(x: Scalar) -> Scalar:
        size = s.absolute(x)
        z = BESSEL_SPLIT / size
        inside = horner(near, size * size * 0.25)
        inside = inside * size if order else inside
        outside = chebyshev(far, 0, 1, z) * s.sqrt(z)
        growth = s.exp(-size if scaled else size)
        is_near = size <= BESSEL_SPLIT
        result = (
            s.select(is_near, inside * growth, outside)
            if scaled
            else s.select(is_near, inside, outside * growth)
        )
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
