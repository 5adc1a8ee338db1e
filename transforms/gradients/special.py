"""Gradients of special functions: their derivatives. Those of Bessel functions and of orthogonal polynomials PyTorch does not have either."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.transforms.arithmetic import product
from xdsl_exir.transforms.gradients import Gradients, derivative
from xdsl_exir.transforms.gradients.pointwise import square

# --- gammas and zetas ----------------------------------------------------------------------------------------


@derivative("aten.lgamma")
def lgamma(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.digamma(self)


@derivative("aten.digamma")
def digamma(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.polygamma(1, self)


@derivative("aten.polygamma")
def polygamma(aten: Namespace, n: int, self: SSAValue) -> SSAValue:
    return aten.polygamma(n + 1, self)


@derivative("aten.special_zeta")
def zeta(aten: Namespace, self: SSAValue, other: SSAValue) -> Gradients:
    """By the second argument alone: by the first it is no function that there is a name for."""
    further = aten.special_zeta(aten.add.Scalar(self, 1), other)
    return None, aten.neg(aten.mul.Tensor(self, further))


def incomplete(aten: Namespace, a: SSAValue, x: SSAValue) -> SSAValue:
    """`x^(a - 1) exp(-x) / gamma(a)`, which the incomplete gamma function is the integral of."""
    power = aten.mul.Tensor(aten.sub.Scalar(a, 1), aten.log(x))
    return aten.exp(aten.sub.Tensor(aten.sub.Tensor(power, x), aten.lgamma(a)))


@derivative("aten.igamma")
def igamma(aten: Namespace, self: SSAValue, other: SSAValue) -> Gradients:
    return None, incomplete(aten, self, other)


@derivative("aten.igammac")
def igammac(aten: Namespace, self: SSAValue, other: SSAValue) -> Gradients:
    return None, aten.neg(incomplete(aten, self, other))


# --- error functions and normal distributions ----------------------------------------------------------------


@derivative("aten.erfinv")
def erfinv(aten: Namespace, result: SSAValue) -> SSAValue:
    return aten.mul.Scalar(aten.exp(square(aten, result)), math.sqrt(math.pi) / 2)


@derivative("aten.special_erfcx")
def erfcx(aten: Namespace, self: SSAValue, result: SSAValue) -> SSAValue:
    return aten.sub.Scalar(product(aten, self, result, 2), 2 / math.sqrt(math.pi))


@derivative("aten.special_ndtri")
def ndtri(aten: Namespace, result: SSAValue) -> SSAValue:
    return aten.mul.Scalar(aten.exp(aten.mul.Scalar(square(aten, result), 0.5)), math.sqrt(2 * math.pi))


@derivative("aten.special_log_ndtr")
def log_ndtr(aten: Namespace, self: SSAValue) -> SSAValue:
    """The density over the distribution, as the scaled error function, which does not vanish far left."""
    scaled = aten.special_erfcx(aten.mul.Scalar(self, -math.sqrt(0.5)))
    return aten.mul.Scalar(aten.reciprocal(scaled), math.sqrt(2 / math.pi))


# --- Bessel functions ----------------------------------------------------------------------------------------


@derivative("aten.i0")
def i0(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.special_i1(self)


@derivative("aten.special_i0e")
def i0e(aten: Namespace, self: SSAValue, result: SSAValue) -> SSAValue:
    return aten.sub.Tensor(aten.special_i1e(self), aten.mul.Tensor(aten.sign(self), result))


def over(aten: Namespace, value: SSAValue, x: SSAValue, at_zero: SSAValue, rest: SSAValue) -> SSAValue:
    """`rest - value / x`, and what that comes to at zero."""
    is_zero = aten.eq.Scalar(x, 0)
    safe = aten.where.self(is_zero, aten.full_like(x, 1), x)
    return aten.where.self(is_zero, at_zero, aten.sub.Tensor(rest, aten.div.Tensor(value, safe)))


@derivative("aten.special_i1")
def i1(aten: Namespace, self: SSAValue, result: SSAValue) -> SSAValue:
    return over(aten, result, self, aten.full_like(self, 0.5), aten.i0(self))


@derivative("aten.special_i1e")
def i1e(aten: Namespace, self: SSAValue, result: SSAValue) -> SSAValue:
    rest = aten.sub.Tensor(aten.special_i0e(self), aten.mul.Tensor(aten.sign(self), result))
    return over(aten, result, self, aten.full_like(self, 0.5), rest)
