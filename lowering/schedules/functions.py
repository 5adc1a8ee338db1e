"""exp, tanh, erf and the activations made of them, in arithmetic on float32 vectors (or scalars).

MLIR lowers `math.exp` and the like on a vector to one call of libm per lane, many times slower than these. Each takes the text
to write to, a value and its type ("f32" or "vector<16xf32>") and returns the value's name. Errors are within 4 units in the last
place of the result; infinities, NaN, overflow and subnormal results are as in libm.

The polynomials interpolate the functions at Chebyshev points, in float64, of the intervals named
(numpy.polynomial.chebyshev.Chebyshev.interpolate); test_schedules.py holds them against SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.lowering.schedules.text import Text

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


class _Writer:
    """Operations on values of one type."""

    def __init__(self, text: Text, type_: str) -> None:
        self.text, self.type = text, type_
        self.shape = type_.removesuffix("f32>") if type_.startswith("vector") else ""

    def like(self, element: str) -> str:
        """The type with other elements."""
        return f"{self.shape}{element}>" if self.shape else element

    def constant(self, value: float) -> str:
        literal = f"{value:.9e}"
        return self.text.constant(f"dense<{literal}>" if self.shape else literal, self.type)

    def integer(self, value: int) -> str:
        return self.text.constant(f"dense<{value}>" if self.shape else str(value), self.like("i32"))

    def op(self, name: str, *operands: str) -> str:
        return self.text.op(f"{name} {', '.join(operands)} : {self.type}")

    def int_op(self, name: str, *operands: str) -> str:
        return self.text.op(f"{name} {', '.join(operands)} : {self.like('i32')}")

    def bitcast(self, value: str, source: str, target: str) -> str:
        return self.text.op(f"arith.bitcast {value} : {self.like(source)} to {self.like(target)}")

    def less(self, a: str, b: str) -> str:
        return self.text.op(f"arith.cmpf olt, {a}, {b} : {self.type}")

    def select(self, condition: str, yes: str, no: str) -> str:
        return self.text.op(f"arith.select {condition}, {yes}, {no} : {self.like('i1')}, {self.type}")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """By Horner's rule, lowest power first in `coefficients`."""
        value = self.constant(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = self.op("math.fma", value, x, self.constant(coefficient))
        return value


def exp(text: Text, x: str, type_: str) -> str:
    """e^x = 2^n e^r with n the integer nearest to x / log(2). 2^n in two factors, as it may exceed the exponent's range."""
    w = _Writer(text, type_)
    # Beyond these limits the result is 0 or infinity; NaN passes.
    x = w.op("arith.maximumf", w.op("arith.minimumf", x, w.constant(89.0)), w.constant(-105.0))
    rounded = w.op("math.fma", x, w.constant(LOG2_E), w.constant(ROUND))
    n = w.op("arith.subf", rounded, w.constant(ROUND))
    r = w.op("math.fma", n, w.constant(-LOG2_HIGH), x)
    r = w.op("math.fma", n, w.constant(-LOG2_LOW), r)
    value = w.polynomial(r, EXP)
    exponent = w.int_op("arith.subi", w.bitcast(rounded, "f32", "i32"), w.integer(ROUND_BITS))
    half = w.int_op("arith.shrsi", exponent, w.integer(1))
    for part in (half, w.int_op("arith.subi", exponent, half)):
        biased = w.int_op("arith.addi", part, w.integer(127))
        power = w.bitcast(w.int_op("arith.shli", biased, w.integer(23)), "i32", "f32")
        value = w.op("arith.mulf", value, power)
    return value


def tanh(text: Text, x: str, type_: str) -> str:
    """1 - 2 / (e^(2 |x|) + 1) with the sign of x; near 0, where that would cancel, a polynomial."""
    w = _Writer(text, type_)
    size, one, two = w.op("math.absf", x), w.constant(1.0), w.constant(2.0)
    power = exp(text, w.op("arith.addf", size, size), type_)
    far = w.op("arith.subf", one, w.op("arith.divf", two, w.op("arith.addf", power, one)))
    near = w.op("arith.mulf", x, w.polynomial(w.op("arith.mulf", x, x), _TANH))
    return w.select(w.less(size, w.constant(0.625)), near, w.op("math.copysign", far, x))


def erf(text: Text, x: str, type_: str) -> str:
    """1 - e^(log(erfc(|x|))) with the sign of x, constant from 4 on; up to 1 a polynomial."""
    w = _Writer(text, type_)
    size, one = w.op("math.absf", x), w.constant(1.0)
    log_erfc = w.op("arith.negf", w.polynomial(w.op("arith.minimumf", size, w.constant(4.0)), _LOG_ERFC))
    far = w.op("arith.subf", one, exp(text, log_erfc, type_))
    near = w.op("arith.mulf", x, w.polynomial(w.op("arith.mulf", x, x), _ERF))
    return w.select(w.less(size, one), near, w.op("math.copysign", far, x))


def sigmoid(text: Text, x: str, type_: str) -> str:
    """1 / (1 + e^-x)."""
    w = _Writer(text, type_)
    one = w.constant(1.0)
    return w.op("arith.divf", one, w.op("arith.addf", one, exp(text, w.op("arith.negf", x), type_)))


def silu(text: Text, x: str, type_: str) -> str:
    """x sigmoid(x)."""
    return _Writer(text, type_).op("arith.mulf", x, sigmoid(text, x, type_))


def gelu(text: Text, x: str, type_: str) -> str:
    """x (1 + erf(x / sqrt(2))) / 2, the approximate="none" form of torch.nn.functional.gelu."""
    w = _Writer(text, type_)
    inner = erf(text, w.op("arith.mulf", x, w.constant(0.5**0.5)), type_)
    half = w.op("arith.mulf", x, w.constant(0.5))
    # Far on the left the sum is a zero without a sign.
    return w.op("math.copysign", w.op("math.fma", half, inner, half), x)
