"""Shape rules of special functions: gammas, Bessel functions, orthogonal polynomials."""

from __future__ import annotations

from xdsl_exir.dialects.meta import (
    Shape,
    broadcasts,
    check,
    shape_rule,
)
from xdsl_exir.dialects.tensors import TensorMeta

UNARY = """
    special_expit special_exp2 special_expm1 special_erf special_erfc special_erfinv special_log1p
    special_logit special_sinc special_round special_ndtr special_xlogy.other_scalar special_i0
    special_gammaln special_digamma special_psi
"""


@shape_rule(*(f"aten.{name}" for name in UNARY.split()))
def unary(self: TensorMeta) -> Shape:
    return self.shape


broadcasts(
    {
        "self other": """
            special_xlogy special_gammainc special_gammaincc
        """,
        "other": "special_xlogy.self_scalar",
    }
)


@shape_rule("aten.polygamma", "aten.special_polygamma")
def polygamma(n: int, self: TensorMeta) -> Shape:
    check(n >= 0, f"polygamma of a negative order {n}")
    return self.shape


@shape_rule("aten.mvlgamma", "aten.special_multigammaln")
def mvlgamma(self: TensorMeta, p: int) -> Shape:
    check(p >= 1, f"p is {p}; it has to be at least 1")
    return self.shape
