"""Decompositions of special functions: gammas, Bessel functions, orthogonal polynomials."""

from __future__ import annotations

from math import inf, log, nan, pi, sqrt

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, opmath
from xdsl_exir.transforms.arithmetic import Number, computing, scalar
from xdsl_exir.transforms.decompositions import decomposition, other_names
from xdsl_exir.transforms.decompositions.pointwise import in_dtype

# --- other names ---------------------------------------------------------------------------------------------

OTHER_NAMES = {
    "special_expit": "sigmoid",
    "special_exp2": "exp2",
    "special_expm1": "expm1",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_erfinv": "erfinv",
    "special_log1p": "log1p",
    "special_logit": "logit",
    "special_sinc": "sinc",
    "special_round": "round.decimals",
    "special_xlogy": "xlogy.Tensor",
    "special_xlogy.other_scalar": "xlogy.Scalar_Other",
    "special_xlogy.self_scalar": "xlogy.Scalar_Self",
    "special_i0": "i0",
    "special_gammaln": "lgamma",
    "special_digamma": "digamma",
    "special_psi": "digamma",
    "special_polygamma": "polygamma",
    "special_gammainc": "igamma",
    "special_gammaincc": "igammac",
}
"""Names that PyTorch has for operators besides their own."""

other_names(OTHER_NAMES)


@decomposition("aten.special_xlog1py")
def xlog1py(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    [x, y], dtype = computing(aten, self, other, int_to_float=True)
    computation = meta(x).dtype
    product = aten.mul.Tensor(x, aten.log1p(y))
    product = aten.where.self(aten.eq.Scalar(x, 0), scalar(aten, 0, computation), product)
    return cast(aten, aten.where.self(aten.isnan(y), scalar(aten, nan, computation), product), dtype)


@decomposition("aten.special_xlog1py.other_scalar")
def xlog1py_other(aten: Namespace, self: SSAValue, other: Number) -> SSAValue:
    return aten.special_xlog1py(self, in_dtype(aten, other, self))


@decomposition("aten.special_xlog1py.self_scalar")
def xlog1py_self(aten: Namespace, self: Number, other: SSAValue) -> SSAValue:
    return aten.special_xlog1py(in_dtype(aten, self, other), other)


@decomposition("aten.special_zeta.other_scalar")
def zeta_other(aten: Namespace, self: SSAValue, other: Number) -> SSAValue:
    return aten.special_zeta(self, in_dtype(aten, other, self))


@decomposition("aten.special_zeta.self_scalar")
def zeta_self(aten: Namespace, self: Number, other: SSAValue) -> SSAValue:
    return aten.special_zeta(in_dtype(aten, self, other), other)


def _of_numbers(name: str) -> None:
    """The overloads of a polynomial that take its degree or its argument as a number."""
    polynomial = f"special_{name}"

    def n_scalar(aten: Namespace, x: SSAValue, n: Number) -> SSAValue:
        return getattr(aten, polynomial)(x, in_dtype(aten, n, x))

    def x_scalar(aten: Namespace, x: Number, n: SSAValue) -> SSAValue:
        return getattr(aten, polynomial)(in_dtype(aten, x, n), n)

    decomposition(f"aten.{polynomial}.n_scalar")(n_scalar)
    decomposition(f"aten.{polynomial}.x_scalar")(x_scalar)


POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)
"""Families of polynomials `special_<name>(x, n)`."""

for _name in POLYNOMIALS:
    _of_numbers(_name)


@decomposition("aten.special_entr")
def entr(aten: Namespace, self: SSAValue) -> SSAValue:
    """-x log(x), 0 at 0; -inf below, where it is not defined."""
    [x], dtype = computing(aten, self, int_to_float=True)
    computation = meta(x).dtype
    elsewhere = aten.where.self(
        aten.eq.Scalar(x, 0), scalar(aten, 0, computation), scalar(aten, -inf, computation)
    )
    positive = aten.mul.Tensor(aten.neg(x), aten.log(x))
    result = aten.where.self(aten.gt.Scalar(x, 0), positive, elsewhere)
    return cast(aten, aten.where.self(aten.isnan(x), x, result), dtype)


@decomposition("aten.special_ndtr")
def ndtr(aten: Namespace, self: SSAValue) -> SSAValue:
    """Area under the standard normal density up to x: (1 + erf(x / sqrt(2))) / 2, as PyTorch has it: 0 far below."""
    area = aten.add.Scalar(aten.erf(aten.mul.Scalar(self, sqrt(0.5))), 1)
    return aten.mul.Scalar(area, 0.5)


@decomposition("aten.mvlgamma", "aten.special_multigammaln")
def mvlgamma(aten: Namespace, self: SSAValue, p: int) -> SSAValue:
    """sum over j < p of lgamma(x - j / 2), plus p (p - 1) / 4 log(pi) (DLMF 35.3.4)."""
    [x], dtype = computing(aten, self, int_to_float=True)
    x = cast(aten, x, opmath(dtype))
    halves = aten.mul.Tensor(aten.arange.start_step(1 - p, 1, dtype=opmath(dtype)), 0.5)
    terms = aten.lgamma(aten.add.Tensor(aten.unsqueeze(x, -1), halves))
    total = aten.add.Tensor(aten.sum.dim_IntList(terms, [-1]), p * (p - 1) / 4 * log(pi))
    return cast(aten, total, dtype)
