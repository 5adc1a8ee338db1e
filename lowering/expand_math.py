"""`expand-math`: exp, exp2, log, tanh and erf of float32, on vectors and numbers, in arithmetic; those of `wide_math` on vectors.

MLIR lowers `math.exp` and the like on a vector to one call of libm per lane, many times slower than these. Errors are within 4 units in the last
place of the result; infinities, NaN, overflow and subnormal results are as in libm. Other types are left as they are.

The polynomials interpolate the functions at Chebyshev points, in float64, of the intervals named
(numpy.polynomial.chebyshev.Chebyshev.interpolate); test_schedules.py holds them against SciPy.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, ModuleOp, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from xdsl_exir.dialects import vectors
from xdsl_exir.dialects.upstream import ErfcOp, RemFOp
from xdsl_exir.lowering import angles, narrow_math, wide_math
from xdsl_exir.lowering.vector_builder import Lanes, OperationBuilder

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
# (log(1 + f) - f + f^2 / 2) / f^3 on [sqrt(1 / 2) - 1, sqrt(2) - 1].
_LOG = (
    0.333333313,
    -0.24999997,
    0.200007156,
    -0.166678026,
    0.142490581,
    -0.124256872,
    0.116854198,
    -0.114797339,
    0.0697161183,
)
# Bits of sqrt(1 / 2), and how far those of 1 are from them.
ROOT_BITS, FROM_ROOT = 0x3F3504F3, 0x3F800000 - 0x3F3504F3

# Added and taken away again it rounds to the nearest integer, which its lowest bits then hold.
ROUND = 1.5 * 2**23
ROUND_BITS = 0x4B400000
LOG2_E = 1.44269504
# log(2) as a number of few bits, whose multiples are exact, and the rest.
LOG2_HIGH, LOG2_LOW = 0.693359375, -2.12194440e-4


def exp(w: Lanes, x: SSAValue) -> SSAValue:
    """e^x = 2^n e^r with n the integer nearest to x / log(2)."""
    # Beyond these limits the result is infinity, or 0 as a product by factors that are 0: what underflows takes processors a hundred
    # times as long, and masked scores are far below. NaN passes.
    x = w.op(arith.MaximumfOp, w.op(arith.MinimumfOp, x, w.constant(89.0)), w.constant(-176.0))
    rounded = w.fma(x, w.constant(LOG2_E), w.constant(ROUND))
    n = w.op(arith.SubfOp, rounded, w.constant(ROUND))
    r = w.fma(n, w.constant(-LOG2_HIGH), x)
    return scaled(w, w.fma(n, w.constant(-LOG2_LOW), r), rounded)


def exp2(w: Lanes, x: SSAValue) -> SSAValue:
    """2^x = 2^n e^(log(2) (x - n)) with n the integer nearest to x."""
    x = w.op(arith.MaximumfOp, w.op(arith.MinimumfOp, x, w.constant(129.0)), w.constant(-254.0))
    rounded = w.op(arith.AddfOp, x, w.constant(ROUND))
    rest = w.op(arith.SubfOp, x, w.op(arith.SubfOp, rounded, w.constant(ROUND)))
    return scaled(w, w.op(arith.MulfOp, rest, w.constant(1 / LOG2_E)), rounded)


def scaled(w: Lanes, r: SSAValue, rounded: SSAValue) -> SSAValue:
    """2^n e^r, for small r and n in the lowest bits. 2^n in two factors, as it may exceed the exponent's range."""
    value = w.polynomial(r, EXP)
    bits = w.op(arith.BitcastOp, rounded, dtype="i32")
    exponent = w.op(arith.SubiOp, bits, w.integer(ROUND_BITS), dtype="i32")
    half = w.op(arith.ShRSIOp, exponent, w.integer(1), dtype="i32")
    for part in (half, w.op(arith.SubiOp, exponent, half, dtype="i32")):
        biased = w.op(arith.AddiOp, part, w.integer(127), dtype="i32")
        power = w.op(arith.BitcastOp, w.op(arith.ShLIOp, biased, w.integer(23), dtype="i32"))
        value = w.op(arith.MulfOp, value, power)
    return value


def log(w: Lanes, x: SSAValue) -> SSAValue:
    """log(2^k m) = k log(2) + log(m), of m = 1 + f between sqrt(1 / 2) and sqrt(2)."""
    is_small = w.compare("olt", x, w.constant(2.0**-126))
    raised = w.select(is_small, w.op(arith.MulfOp, x, w.constant(2.0**24)), x)
    bits = w.op(arith.AddiOp, w.op(arith.BitcastOp, raised, dtype="i32"), w.integer(FROM_ROOT), dtype="i32")
    k = w.op(vectors.SIToFPOp, w.op(arith.ShRUIOp, bits, w.integer(23), dtype="i32"))
    k = w.op(arith.SubfOp, k, w.select(is_small, w.constant(127.0 + 24), w.constant(127.0)))
    mantissa = w.op(arith.AndIOp, bits, w.integer(0x7FFFFF), dtype="i32")
    m = w.op(arith.BitcastOp, w.op(arith.AddiOp, mantissa, w.integer(ROOT_BITS), dtype="i32"))
    f = w.op(arith.SubfOp, m, w.constant(1.0))
    z = w.op(arith.MulfOp, f, f)
    rest = w.op(arith.MulfOp, w.op(arith.MulfOp, f, z), w.polynomial(f, _LOG))
    rest = w.fma(z, w.constant(-0.5), w.fma(k, w.constant(LOG2_LOW), rest))
    value = w.fma(k, w.constant(LOG2_HIGH), w.op(arith.AddfOp, f, rest))
    return wide_math.ends(w, x, value)


def tanh(w: Lanes, x: SSAValue) -> SSAValue:
    """1 - 2 / (e^(2 |x|) + 1) with the sign of x; near 0, where that would cancel, a polynomial."""
    size, one, two = w.op(math.AbsFOp, x), w.constant(1.0), w.constant(2.0)
    power = exp(w, w.op(arith.AddfOp, size, size))
    far = w.op(arith.SubfOp, one, w.op(arith.DivfOp, two, w.op(arith.AddfOp, power, one)))
    near = w.op(arith.MulfOp, x, w.polynomial(w.op(arith.MulfOp, x, x), _TANH))
    return w.select(w.compare("olt", size, w.constant(0.625)), near, w.op(math.CopySignOp, far, x))


def erf(w: Lanes, x: SSAValue) -> SSAValue:
    """1 - e^(log(erfc(|x|))) with the sign of x, constant from 4 on; up to 1 a polynomial."""
    size, one = w.op(math.AbsFOp, x), w.constant(1.0)
    bounded = w.op(arith.MinimumfOp, size, w.constant(4.0))
    log_erfc = w.op(arith.NegfOp, w.polynomial(bounded, _LOG_ERFC))
    far = w.op(arith.SubfOp, one, exp(w, log_erfc))
    near = w.op(arith.MulfOp, x, w.polynomial(w.op(arith.MulfOp, x, x), _ERF))
    return w.select(w.compare("olt", size, one), near, w.op(math.CopySignOp, far, x))


EXPANSIONS: dict[type[Operation], Callable[[Lanes, SSAValue], SSAValue]] = {
    math.ExpM1Op: narrow_math.expm1,
    math.SinOp: narrow_math.sin,
    math.CosOp: narrow_math.cos,
    math.TanOp: narrow_math.tan,
    math.AsinOp: narrow_math.asin,
    math.AcosOp: narrow_math.acos,
    math.AtanOp: angles.arctangent,
    math.RoundEvenOp: wide_math.round_even,
    math.ExpOp: exp,
    math.Exp2Op: exp2,
    math.LogOp: log,
    math.TanhOp: tanh,
    math.ErfOp: erf,
}
"""Of float32."""

WIDE: dict[type[Operation], Callable[..., SSAValue]] = {
    math.ExpOp: wide_math.exp,
    math.Exp2Op: wide_math.exp2,
    math.LogOp: wide_math.log,
    math.Log2Op: wide_math.log2,
    math.Log10Op: wide_math.log10,
    math.SinOp: wide_math.sin,
    math.CosOp: wide_math.cos,
    math.TanOp: wide_math.tan,
    math.AsinOp: wide_math.asin,
    math.AcosOp: wide_math.acos,
    math.AtanOp: angles.arctangent,
    math.SinhOp: wide_math.sinh,
    math.CoshOp: wide_math.cosh,
    math.TanhOp: wide_math.tanh,
    math.AtanhOp: wide_math.atanh,
    math.ErfOp: wide_math.erf,
    ErfcOp: wide_math.erfc,
    math.RoundEvenOp: wide_math.round_even,
}
"""Of float64."""
BRANCHING = (math.SinOp, math.CosOp, math.TanOp)
"""Those of them that are for vectors alone: libm has the same branches for a number."""
OF_VECTORS: dict[type[Operation], Callable[..., SSAValue]] = {
    RemFOp: wide_math.remainder,
    math.PowFOp: wide_math.power,
}
"""Of float32, on vectors."""
OF_LONG_VECTORS: dict[type[Operation], Callable[..., SSAValue]] = {RemFOp: wide_math.long_remainder}
"""Of float64, on vectors."""


@dataclass(frozen=True)
class ExpandMath(ModulePass):
    """Puts arithmetic in the place of functions of float32 and float64."""

    name = "expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [each for each in op.walk() if isinstance(each, FuncOp)]:
            expand(function, {*EXPANSIONS, *WIDE, *OF_VECTORS, *OF_LONG_VECTORS})


def expansion_of(
    op: Operation, lanes_type: type[Lanes]
) -> tuple[Callable[..., SSAValue], type[Lanes], int] | None:
    """What expands an operation, and for how many lanes, 0 of a number; None of what is not expanded."""
    kind, type = builtins.type(op), op.results[0].type
    if isinstance(type, Float32Type):
        return (EXPANSIONS[kind], lanes_type, 0) if kind in EXPANSIONS else None
    if isinstance(type, Float64Type):
        return (WIDE[kind], wide_math.Wide, 0) if kind in WIDE and kind not in BRANCHING else None
    if not isa(type, VectorType[AnyFloat]) or type.get_num_scalable_dims() or type.get_num_dims() != 1:
        return None
    (lanes,) = type.get_shape()
    match type.element_type:
        case Float32Type() if kind in OF_VECTORS:
            return OF_VECTORS[kind], wide_math.Wide, lanes
        case Float32Type() if kind in EXPANSIONS:
            return EXPANSIONS[kind], lanes_type, lanes
        case Float64Type() if kind in WIDE or kind in OF_LONG_VECTORS:
            return (WIDE.get(kind) or OF_LONG_VECTORS[kind]), wide_math.Wide, lanes
        case _:
            return None


class Apart(Lanes):
    """Products and sums are rounded each: not every processor has both in one, and a call of libm for it takes long."""

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        return self.op(arith.AddfOp, self.op(arith.MulfOp, a, b), c)


def expand(
    function: FuncOp, kinds: Collection[type[Operation]] = EXPANSIONS.keys(), lanes_type: type[Lanes] = Lanes
) -> None:
    """Expands a function's operations of these kinds in place; constants are made at its top, each once."""
    builder = OperationBuilder(Block())
    for op in [op for op in function.walk() if type(op) in kinds]:
        found = expansion_of(op, lanes_type)
        if found is None:
            continue
        build, builds, lanes = found
        block = Block()
        with builder.inside(block):
            value = build(builds(builder, lanes), *op.operands)
        parent = op.parent
        assert parent is not None
        made = list(block.ops)
        for each in made:
            each.detach()
        parent.insert_ops_before(made, op)
        op.results[0].replace_all_uses_with(value)
        parent.erase_op(op)
    if builder.constants:
        entry = function.body.block
        assert entry.first_op is not None
        entry.insert_ops_before(builder.constants, entry.first_op)
