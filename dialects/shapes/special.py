"""Shape rules of special functions: gammas, Bessel functions, orthogonal polynomials."""

from __future__ import annotations

from xdsl_exir.dialects.meta import (
    Shape,
    broadcasts,
    check,
    shape_rule,
)
from xdsl_exir.dialects.tensors import TensorMeta

POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)
"""Families of polynomials `special_<name>(x, n)`."""

UNARY = """
    erfinv special_expit special_exp2 special_expm1 special_erf special_erfc special_erfinv special_log1p
    special_logit special_sinc special_round special_entr special_ndtr special_log_ndtr
    special_xlogy.other_scalar special_xlog1py.other_scalar special_zeta.other_scalar lgamma digamma i0
    special_i0 special_i0e special_i1 special_i1e special_bessel_j0 special_bessel_j1 special_bessel_y0
    special_bessel_y1 special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_gammaln special_digamma special_psi special_erfcx special_ndtri
"""


@shape_rule(*(f"aten.{name}" for name in UNARY.split()))
def unary(self: TensorMeta) -> Shape:
    return self.shape


broadcasts(
    {
        "self other": """
            special_xlogy special_xlog1py special_zeta igamma igammac special_gammainc special_gammaincc
        """,
        "other": "special_xlogy.self_scalar special_xlog1py.self_scalar special_zeta.self_scalar",
        "x n": " ".join(f"special_{name}" for name in POLYNOMIALS),
        "x": " ".join(f"special_{name}.n_scalar" for name in POLYNOMIALS),
        "n": " ".join(f"special_{name}.x_scalar" for name in POLYNOMIALS),
    }
)


@shape_rule(
    "aten.special_airy_ai",
    "aten.special_spherical_bessel_j0",
    "aten.special_scaled_modified_bessel_k0",
    "aten.special_scaled_modified_bessel_k1",
)
def special_of_x(x: TensorMeta) -> Shape:
    return x.shape


@shape_rule("aten.polygamma", "aten.special_polygamma")
def polygamma(n: int, self: TensorMeta) -> Shape:
    check(n >= 0, f"polygamma of a negative order {n}")
    return self.shape


@shape_rule("aten.mvlgamma", "aten.special_multigammaln")
def mvlgamma(self: TensorMeta, p: int) -> Shape:
    check(p >= 1, f"p is {p}; it has to be at least 1")
    return self.shape
