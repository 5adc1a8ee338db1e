"""exp, tanh, erf and the activations made of them, in arithmetic on float32 vectors (or scalars).

MLIR lowers `math.exp` and the like on a vector to one call of libm per lane, many times slower than these. Each takes what
builds operations on as many lanes, and a value. Errors are within 4 units in the last
place of the result; infinities, NaN, overflow and subnormal results are as in libm.

The polynomials interpolate the functions at Chebyshev points, in float64, of the intervals named
(numpy.polynomial.chebyshev.Chebyshev.interpolate); test_schedules.py holds them against SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue

from xdsl_exir.lowering.schedules.builder import Lanes

# exp(x) on [-log(2) / 2, log(2) / 2].
EXP = (1.0, 1.00000004, 0.500000005, 0.166664155, 0.0416663529, 0.0083751264, 0.00139411085)
# erf(x) / x in x^2, on [0, 1].
_ERF = (1.12837917, -0.376126267, 0.112835947, -0.026854212, 0.00518908743, -0.00080168643, 7.87587511e-05)
# -log(erfc(x)) on [1, 4].
_LOG_ERFC = (
    -0.000320138067,
    1.13023343,
    0.631826051,
    0.110080083,
    -0.0264211361,
    0.00475959632,
    -0.000596805631,
    4.60580433e-05,
    -1.63715145e-06,
)
# tanh(x) / x in x^2, on [0, 0.625].
_TANH = (0.999999996, -0.333332599, 0.133311141, -0.0537201077, 0.0205881915, -0.00565713518)

# Added and taken away again it rounds to the nearest integer, which its lowest bits then hold.
ROUND = 1.5 * 2**23
ROUND_BITS = 0x4B400000
LOG2_E = 1.44269504
# log(2) as a number of few bits, whose multiples are exact, and the rest.
LOG2_HIGH, LOG2_LOW = 0.693359375, -2.12194440e-4


def polynomial(w: Lanes, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
    """By Horner's rule, lowest power first in `coefficients`."""
    value = w.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = w.fma(value, x, w.constant(coefficient))
    return value


def exp(w: Lanes, x: SSAValue) -> SSAValue:
    """e^x = 2^n e^r with n the integer nearest to x / log(2). 2^n in two factors, as it may exceed the exponent's range."""
    # Beyond these limits the result is 0 or infinity; NaN passes.
    x = w.op(arith.MaximumfOp, w.op(arith.MinimumfOp, x, w.constant(89.0)), w.constant(-105.0))
    rounded = w.fma(x, w.constant(LOG2_E), w.constant(ROUND))
    n = w.op(arith.SubfOp, rounded, w.constant(ROUND))
    r = w.fma(n, w.constant(-LOG2_HIGH), x)
    r = w.fma(n, w.constant(-LOG2_LOW), r)
    value = polynomial(w, r, EXP)
    bits = w.op(arith.BitcastOp, rounded, dtype="i32")
    exponent = w.op(arith.SubiOp, bits, w.integer(ROUND_BITS), dtype="i32")
    half = w.op(arith.ShRSIOp, exponent, w.integer(1), dtype="i32")
    for part in (half, w.op(arith.SubiOp, exponent, half, dtype="i32")):
        biased = w.op(arith.AddiOp, part, w.integer(127), dtype="i32")
        power = w.op(arith.BitcastOp, w.op(arith.ShLIOp, biased, w.integer(23), dtype="i32"))
        value = w.op(arith.MulfOp, value, power)
    return value


def tanh(w: Lanes, x: SSAValue) -> SSAValue:
    """1 - 2 / (e^(2 |x|) + 1) with the sign of x; near 0, where that would cancel, a polynomial."""
    size, one, two = w.op(math.AbsFOp, x), w.constant(1.0), w.constant(2.0)
    power = exp(w, w.op(arith.AddfOp, size, size))
    far = w.op(arith.SubfOp, one, w.op(arith.DivfOp, two, w.op(arith.AddfOp, power, one)))
    near = w.op(arith.MulfOp, x, polynomial(w, w.op(arith.MulfOp, x, x), _TANH))
    return w.select(w.compare("olt", size, w.constant(0.625)), near, w.op(math.CopySignOp, far, x))


def erf(w: Lanes, x: SSAValue) -> SSAValue:
    """1 - e^(log(erfc(|x|))) with the sign of x, constant from 4 on; up to 1 a polynomial."""
    size, one = w.op(math.AbsFOp, x), w.constant(1.0)
    bounded = w.op(arith.MinimumfOp, size, w.constant(4.0))
    log_erfc = w.op(arith.NegfOp, polynomial(w, bounded, _LOG_ERFC))
    far = w.op(arith.SubfOp, one, exp(w, log_erfc))
    near = w.op(arith.MulfOp, x, polynomial(w, w.op(arith.MulfOp, x, x), _ERF))
    return w.select(w.compare("olt", size, one), near, w.op(math.CopySignOp, far, x))


def sigmoid(w: Lanes, x: SSAValue) -> SSAValue:
    """1 / (1 + e^-x)."""
    one = w.constant(1.0)
    return w.op(arith.DivfOp, one, w.op(arith.AddfOp, one, exp(w, w.op(arith.NegfOp, x))))


def silu(w: Lanes, x: SSAValue) -> SSAValue:
    """x sigmoid(x)."""
    return w.op(arith.MulfOp, x, sigmoid(w, x))


def gelu(w: Lanes, x: SSAValue) -> SSAValue:
    """x (1 + erf(x / sqrt(2))) / 2, the approximate="none" form of torch.nn.functional.gelu."""
    inner = erf(w, w.op(arith.MulfOp, x, w.constant(0.5**0.5)))
    half = w.op(arith.MulfOp, x, w.constant(0.5))
    # Far on the left the sum is a zero without a sign.
    return w.op(math.CopySignOp, w.fma(half, inner, half), x)
