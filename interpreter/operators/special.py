"""Functions of special functions: gammas, Bessel functions, orthogonal polynomials."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import pi
from typing import Any, TypeAlias, cast

import numpy as np

from xdsl_exir.interpreter.operators import Array, impl, special
from xdsl_exir.interpreter.operators.pointwise import binary, unary
from xdsl_exir.interpreter.operators.symbolic import require

gammaln, psi = special("gammaln"), special("psi")


hurwitz, gammainc, gammaincc = map(special, ("zeta", "gammainc", "gammaincc"))


def lgamma(self: Array) -> Array:
    """Infinite at both infinities, as in C."""
    return np.where(np.isinf(self), self.dtype.type(np.inf), gammaln(self))


ZETA_OVERFLOW = sys.float_info.max ** (1 / 23)
"""The power from which on x (x + 1) ... (x + 22), in the last term of PyTorch's sum, overflows."""


def zeta_of(self: Array, other: Array) -> Array:
    """The Hurwitz zeta function. Where all its terms are 0, factors that overflow make NaN of them in PyTorch."""
    values = hurwitz(self, other)
    overflows = (self > ZETA_OVERFLOW) | np.isposinf(other)
    return np.where(overflows & (values == 0), self.dtype.type(np.nan), values)


def spherical_bessel_j0(self: Array) -> Array:
    """sin(x) / x, continued at 0 and at infinity."""
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    values: Array = cast(Any, special).spherical_jn(0, self)
    return np.where(np.isinf(self), self.dtype.type(0), values)


def airy_ai(self: Array) -> Array:
    from scipy.special import airy  # pyright: ignore[reportMissingTypeStubs]

    return airy(self)[0]


def incomplete_gamma(lower: bool) -> Callable[[Array, Array], Array]:
    """A regularized incomplete gamma function: beside a NaN the limits count, as in PyTorch."""
    function = gammainc if lower else gammaincc

    def compute(self: Array, other: Array) -> Array:
        nothing = (np.isposinf(self) & np.isnan(other)) | (np.isnan(self) & (other == 0))
        everything = np.isnan(self) & np.isposinf(other)
        limits = [self.dtype.type(not lower), self.dtype.type(lower)]
        return np.select([nothing, everything], limits, function(self, other))

    return compute


SPECIAL: dict[str, Callable[[Array], Array]] = {
    "erfinv": lambda self: np.where(self == 0, self, special("erfinv")(self)),
    "special_log_ndtr": special("log_ndtr"),
    "lgamma": lgamma,
    "digamma": psi,
    "i0": special("i0"),
    "special_i0e": special("i0e"),
    "special_i1": special("i1"),
    "special_i1e": special("i1e"),
    "special_bessel_j0": special("j0"),
    "special_bessel_j1": special("j1"),
    "special_bessel_y0": special("y0"),
    "special_bessel_y1": special("y1"),
    "special_modified_bessel_i0": special("i0"),
    "special_modified_bessel_i1": special("i1"),
    "special_modified_bessel_k0": special("k0"),
    "special_modified_bessel_k1": special("k1"),
    "special_erfcx": special("erfcx"),
    "special_ndtri": special("ndtri"),
}

SPECIAL_OF_X: dict[str, Callable[[Array], Array]] = {
    "special_airy_ai": airy_ai,
    "special_spherical_bessel_j0": spherical_bessel_j0,
    "special_scaled_modified_bessel_k0": special("k0e"),
    "special_scaled_modified_bessel_k1": special("k1e"),
}

SPECIAL_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "special_zeta": zeta_of,
    "igamma": incomplete_gamma(True),
    "igammac": incomplete_gamma(False),
}


def of_x(function: Callable[[Array], Array]) -> Callable[..., Array]:
    """A function of one array, which its schema calls `x`."""

    def compute(x: Array) -> Array:
        return function(x)

    return compute


for _name, _function in SPECIAL.items():
    impl(f"aten.{_name}", promote=True)(unary(_function))

for _name, _function in SPECIAL_OF_X.items():
    impl(f"aten.{_name}", promote=True)(of_x(_function))

for _name, _binary in SPECIAL_BINARY.items():
    impl(f"aten.{_name}", promote=True)(binary(_binary))


@impl("aten.polygamma", promote=True)
def polygamma(n: int, self: Array) -> Array:
    """(-1)^(n+1) n! zeta(n + 1, x) for n > 0 (DLMF 5.15.1)."""
    if n == 0:
        return psi(self)
    if n == 1:
        return trigamma(self)
    order = np.array(n + 1, self.dtype)
    sign = self.dtype.type(1 if n % 2 else -1)
    return sign * np.exp(gammaln(order)) * zeta_of(order, self)


def trigamma(self: Array) -> Array:
    """zeta(2, x), reflected at 1/2: zeta has no values left of 0."""
    left = self < 0.5
    sine = np.sin(self.dtype.type(pi) * self)
    right = hurwitz(np.array(2, self.dtype), np.where(left, 1 - self, self))
    return np.where(left, self.dtype.type(pi) ** 2 / (sine * sine) - right, right)


# --- orthogonal polynomials ----------------------------------------------------------------------------------

HIGHEST_DEGREE = 10**6
"""Each takes a pass over all elements."""

Term: TypeAlias = Callable[[int, Array, Array, Array], Array]
"""The polynomial of degree k + 1, from k, x and those of degrees k and k - 1."""


def by_recurrence(x: Array, n: Array, first: Callable[[Array], Array], following: Term) -> Array:
    """Polynomials of degrees `n` (rounded towards zero, negative ones are 0) from p0 = 1, p1 = `first` (x).

    What no int64 holds is negative, as it is when C makes an int64 of it. Raises `ExirError` for degrees that take too long.
    """
    held = np.isfinite(n) & (np.abs(n) < 2.0**63)
    x, degree = np.broadcast_arrays(x, np.trunc(np.where(held, n, -1)))
    require(degree.max(initial=0) <= HIGHEST_DEGREE, f"a polynomial of degree {degree.max(initial=0):.0f}")
    previous, current = np.ones_like(x), first(x).astype(x.dtype)
    result = np.where(degree == 0, previous, np.where(degree == 1, current, x.dtype.type(0)))
    for k in range(1, int(degree.max(initial=0))):
        previous, current = current, following(k, x, current, previous).astype(x.dtype)
        result = np.where(degree == k + 1, current, result)
    return result


def chebyshev_step(k: int, x: Array, current: Array, previous: Array) -> Array:
    return 2 * x * current - previous


POLYNOMIALS: dict[str, tuple[Callable[[Array], Array], Term]] = {
    "chebyshev_polynomial_t": (lambda x: x, chebyshev_step),
    "chebyshev_polynomial_u": (lambda x: 2 * x, chebyshev_step),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, chebyshev_step),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, chebyshev_step),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, p, q: x * p - k * q),
    "laguerre_polynomial_l": (lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
    "legendre_polynomial_p": (lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
}
"""First polynomials and recurrences (DLMF 18.9)."""


def polynomial(name: str, shifted: bool) -> Callable[..., Array]:
    """What computes a family of polynomials; shifted ones are of 2 x - 1."""
    first, following = POLYNOMIALS[name]

    def compute(x: Array, n: Array) -> Array:
        return by_recurrence(2 * x - 1 if shifted else x, n, first, following)

    return compute


for _name in POLYNOMIALS:
    impl(f"aten.special_{_name}", promote=True)(polynomial(_name, False))
    if _name.startswith("chebyshev"):
        impl(f"aten.special_shifted_{_name}", promote=True)(polynomial(_name, True))
