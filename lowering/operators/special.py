"""Lowerings of special functions: gammas, Bessel functions, orthogonal polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.lowering import bessel, special
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.pointwise import pointwise
from xdsl_exir.lowering.scalar import Scalar


def in_double(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """A function of float64 numbers, of others."""
    return lambda *elements: function(*(s.cast(x, dt.Double) for x in elements))


SPECIAL: dict[str, Callable[[Scalar], Scalar]] = {
    "lgamma": special.lgamma,
    "digamma": special.digamma,
    "i0": bessel.modified_i(0, scaled=False),
    "special_i0e": bessel.modified_i(0, scaled=True),
    "special_i1": bessel.modified_i(1, scaled=False),
    "special_i1e": bessel.modified_i(1, scaled=True),
    "special_modified_bessel_i0": bessel.modified_i(0, scaled=False),
    "special_modified_bessel_i1": bessel.modified_i(1, scaled=False),
    "special_modified_bessel_k0": bessel.modified_k(0, scaled=False),
    "special_modified_bessel_k1": bessel.modified_k(1, scaled=False),
    "special_bessel_j0": bessel.bessel_j(0),
    "special_bessel_j1": bessel.bessel_j(1),
    "special_bessel_y0": bessel.bessel_y(0),
    "special_bessel_y1": bessel.bessel_y(1),
    "special_erfcx": special.erfcx,
    "special_log_ndtr": special.log_ndtr,
    "special_ndtri": special.ndtri,
}
"""Special functions of one element."""

SPECIAL_OF_X: dict[str, Callable[[Scalar], Scalar]] = {
    "special_airy_ai": bessel.airy_ai,
    "special_spherical_bessel_j0": bessel.spherical_bessel_j0,
    "special_scaled_modified_bessel_k0": bessel.modified_k(0, scaled=True),
    "special_scaled_modified_bessel_k1": bessel.modified_k(1, scaled=True),
}
"""Those whose schemas call it `x`."""

SPECIAL_BINARY: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "special_zeta": special.zeta,
    "igamma": special.incomplete_gamma(lower=True),
    "igammac": special.incomplete_gamma(lower=False),
}


def _of_self(function: Callable[[Scalar], Scalar]) -> Callable[[Scalar], Scalar]:
    def body(self: Scalar) -> Scalar:
        return function(self)

    return body


def _of_x(function: Callable[[Scalar], Scalar]) -> Callable[[Scalar], Scalar]:
    def body(x: Scalar) -> Scalar:
        return function(x)

    return body


def _of_two(function: Callable[[Scalar, Scalar], Scalar]) -> Callable[[Scalar, Scalar], Scalar]:
    def body(self: Scalar, other: Scalar) -> Scalar:
        return function(self, other)

    return body


def _polynomial(name: str, shifted: bool) -> Callable[[Scalar, Scalar], Scalar]:
    family = special.polynomial(name)

    def body(x: Scalar, n: Scalar) -> Scalar:
        x, n = s.cast(x, dt.Double), s.cast(n, dt.Double)
        return family(x * 2 - 1 if shifted else x, n)

    return body


for _name, _scalar_function in SPECIAL.items():
    pointwise(f"aten.{_name}")(_of_self(in_double(_scalar_function)))

for _name, _scalar_function in SPECIAL_OF_X.items():
    pointwise(f"aten.{_name}")(_of_x(in_double(_scalar_function)))

for _name, _of_pair in SPECIAL_BINARY.items():
    pointwise(f"aten.{_name}")(_of_two(in_double(_of_pair)))

for _name in special.POLYNOMIALS:
    pointwise(f"aten.special_{_name}")(_polynomial(_name, shifted=False))
    if _name.startswith("chebyshev"):
        pointwise(f"aten.special_shifted_{_name}")(_polynomial(_name, shifted=True))


@pointwise("aten.polygamma")
def polygamma(n: int, self: Scalar) -> Scalar:
    x = s.cast(self, dt.Double)
    if n == 0:
        return special.digamma(x)
    if n == 1:
        return special.trigamma(x, s.cast(s.sin(self * math.pi), dt.Double))
    return special.polygamma(n, x)


@pointwise("aten.erfinv")
def erfinv(self: Scalar) -> Scalar:
    return special.erfinv(self)
