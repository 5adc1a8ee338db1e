"""`expand-math`: exp, exp2, logarithms, tanh and erf of float32, on vectors and numbers, in arithmetic; those of `wide_math` on vectors.

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
# 2^x on [-1 / 2, 1 / 2], for what is not left as it is.
POWER = (1.00000012, 0.693146944, 0.240221202, 0.0555071346, 0.00967554096, 0.00132764678)
# erf(x) / x in x^2, on [0, NEAR_ERF].
_ERF = (1.12837911, -0.376125246, 0.112821408, -0.0267789084, 0.0050119618, -0.000609035604)
# log2(erfc(x)) on [NEAR_ERF, 4].
_LOG2_ERFC = (
    -0.000256071886,
    -1.62699866,
    -0.91908294,
    -0.150094181,
    0.0321390405,
    -0.00440830877,
    0.000284472975,
)
NEAR_ERF = 0.9
# The same on [0, 0.75], more exactly; (x + 2) erfc(x) e^(x^2) in (x - 2) / (x + 2), x on [0.5, 10.1].
NEAR = (1.12837917, -0.376126195, 0.112833865, -0.0268351146, 0.00511533211, -0.000675647957)
ERFCX = (
    1.02158271,
    -0.687160663,
    0.279471813,
    -0.0364431276,
    -0.0215049941,
    0.00648903529,
    0.00304952126,
    -0.000878518313,
    -0.00053770131,
    0.000101266272,
)
# (atanh(x) - x) / x^3 in x^2, on [0, 1 / 2].
ATANH = (
    0.333333334,
    0.199999593,
    0.14288286,
    0.110508304,
    0.0975194086,
    0.0409162307,
    0.156291654,
)
# tanh(x) / x in x^2, on [0, 0.625].
_TANH = (0.999999996, -0.333332599, 0.133311141, -0.0537201077, 0.0205881915, -0.00565713518)
# (log(1 + f) - f) / f^2 on [-1 / 3, 1 / 3].
_LOG = (
    -0.499999374,
    0.333331972,
    -0.250078201,
    0.200111687,
    -0.164159611,
    0.139958084,
    -0.153885409,
    0.140263513,
)
TWO_THIRDS = 0x3F2AAAAB
"""Its bits."""
EXPONENT = 2**32 - 2**23
"""The bits of a number that are not of its mantissa."""

# Added and taken away again it rounds to the nearest integer, which its lowest bits then hold.
ROUND = 1.5 * 2**23
ONE = 0x3F800000
"""The bits of 1."""
LOG2_E = 1.44269504
# log(2) as a number of few bits, whose multiples are exact, and the rest.
LOG2_HIGH, LOG2_LOW = 0.693359375, -2.12194440e-4
# The same of log10(2), and of 1 / log(2) and 1 / log(10) what float32 holds and the rest.
LOG10_2_HIGH, LOG10_2_LOW = 0.301025390625, 4.60503898e-6
LOG2_E_LOW = 1.92596299e-8
LOG10_E, LOG10_E_LOW = 0.434294492, -1.01030501e-8


def exp(w: Lanes, x: SSAValue) -> SSAValue:
    """e^x = 2^n e^r with n the integer nearest to x / log(2)."""
    # Beyond these limits the result is infinity, or 0 as a product by factors that are 0: what underflows takes processors a hundred
    # times as long, and masked scores are far below. NaN passes.
    x = w.at_least(w.at_most(x, 89.0), -176.0)
    rounded = w.fma(x, w.constant(LOG2_E), w.constant(ROUND))
    n = w.op(arith.SubfOp, rounded, w.constant(ROUND))
    r = w.fma(n, w.constant(-LOG2_HIGH), x)
    return scaled(w, w.fma(n, w.constant(-LOG2_LOW), r), rounded)


def exp2(w: Lanes, x: SSAValue) -> SSAValue:
    """2^x = 2^n e^(log(2) (x - n)) with n the integer nearest to x."""
    x = w.at_least(w.at_most(x, 129.0), -254.0)
    rounded = w.op(arith.AddfOp, x, w.constant(ROUND))
    rest = w.op(arith.SubfOp, x, w.op(arith.SubfOp, rounded, w.constant(ROUND)))
    return scaled(w, w.op(arith.MulfOp, rest, w.constant(1 / LOG2_E)), rounded)


def exponent(w: Lanes, held: SSAValue) -> SSAValue:
    """An integer of 9 bits, the lowest of these, where exponents are: what is above them leaves to the left."""
    return w.bits(arith.ShLIOp, held, w.integer(23))


def scaled(w: Lanes, r: SSAValue, rounded: SSAValue) -> SSAValue:
    """2^n e^r, for small r and n in the lowest bits. 2^n in two factors, as it may exceed the exponent's range."""
    value, bits = w.polynomial(r, EXP), w.bits(arith.BitcastOp, rounded)
    half = exponent(w, w.bits(arith.ShRUIOp, bits, w.integer(1)))
    for part in (half, w.bits(arith.SubiOp, exponent(w, bits), half)):
        value = w.mul(value, w.op(arith.BitcastOp, w.bits(arith.AddiOp, part, w.integer(ONE))))
    return value


def power(w: Lanes, x: SSAValue) -> SSAValue:
    """2^x of x between -100 and 100, to 2e-7 of it: the integer nearest to x is added to the exponent (which of NaN may make a number)."""
    n, held = w.rounded(x)
    value = w.bits(arith.BitcastOp, w.polynomial(w.sub(x, n), POWER))
    return w.op(arith.BitcastOp, w.bits(arith.AddiOp, value, exponent(w, held)))


def logarithm(w: Lanes, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Of x = 2^k m with m = 1 + f from 2/3 to 4/3: 2^23 k, f, and log(m) - f."""
    is_small = w.compare("olt", x, w.constant(2.0**-126))
    raised = w.bits(arith.BitcastOp, w.mul(x, w.constant(2.0**24)))
    lowered = w.bits(arith.SubiOp, raised, w.integer(24 << 23))
    return logarithm_of(
        w, w.op(vectors.SelectOp, is_small, lowered, w.bits(arith.BitcastOp, x), dtype=w.of_bits)
    )


def logarithm_of(w: Lanes, bits: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The same of the bits of x, which has an exponent."""
    above = w.bits(arith.SubiOp, bits, w.integer(TWO_THIRDS))
    exponent = w.bits(arith.AndIOp, above, w.integer(EXPONENT))
    m = w.op(arith.BitcastOp, w.bits(arith.SubiOp, bits, exponent))
    f = w.sub(m, w.constant(1.0))
    return w.op(vectors.SIToFPOp, exponent), f, w.mul(w.mul(f, f), w.polynomial(f, _LOG))


def log(w: Lanes, x: SSAValue) -> SSAValue:
    """log(2^k m) = k log(2) + log(m)."""
    k, f, rest = logarithm(w, x)
    low = w.fma(k, w.constant(LOG2_LOW / 2**23), rest)
    return wide_math.ends(w, x, w.fma(k, w.constant(LOG2_HIGH / 2**23), w.add(f, low)))


def log1p(w: Lanes, x: SSAValue) -> SSAValue:
    """log(1 + x), as `wide_math` has it; the sign is that of x, of zeros too."""
    u, lost = wide_math.one_more(w, x)
    k, f, rest = logarithm_of(w, w.bits(arith.BitcastOp, u))
    low = w.fma(k, w.constant(LOG2_LOW / 2**23), w.add(rest, lost))
    value = wide_math.ends(w, u, w.fma(k, w.constant(LOG2_HIGH / 2**23), w.add(f, low)))
    return w.op(math.CopySignOp, value, x)


def log2(w: Lanes, x: SSAValue) -> SSAValue:
    """log2(2^k m) = k + log(m) / log(2)."""
    k, f, rest = logarithm(w, x)
    low = w.fma(rest, w.constant(LOG2_E), w.mul(f, w.constant(LOG2_E_LOW)))
    of_m = w.fma(f, w.constant(LOG2_E), low)
    return wide_math.ends(w, x, w.fma(k, w.constant(2.0**-23), of_m))


def log10(w: Lanes, x: SSAValue) -> SSAValue:
    """log10(2^k m) = k log10(2) + log(m) / log(10)."""
    k, f, rest = logarithm(w, x)
    low = w.fma(rest, w.constant(LOG10_E), w.mul(f, w.constant(LOG10_E_LOW)))
    low = w.fma(k, w.constant(LOG10_2_LOW / 2**23), low)
    of_m = w.fma(f, w.constant(LOG10_E), low)
    return wide_math.ends(w, x, w.fma(k, w.constant(LOG10_2_HIGH / 2**23), of_m))


def tanh(w: Lanes, x: SSAValue) -> SSAValue:
    """1 - 2 / (e^(2 |x|) + 1) with the sign of x, constant from 10 on; near 0, where that would cancel, a polynomial."""
    size, one = w.size(x), w.constant(1.0)
    raised = power(w, w.mul(w.at_most(size, 10.0), w.constant(2 * LOG2_E)))
    far = w.sub(one, w.div(w.constant(2.0), w.add(raised, one)))
    near = w.mul(x, w.polynomial(w.mul(x, x), _TANH))
    return w.select(w.compare("oge", size, w.constant(0.625)), w.op(math.CopySignOp, far, x), near)


def erf(w: Lanes, x: SSAValue) -> SSAValue:
    """1 - 2^log2(erfc(|x|)) with the sign of x, constant from 4 on; near 0 a polynomial."""
    size = w.size(x)
    far = w.sub(w.constant(1.0), power(w, w.polynomial(w.at_most(size, 4.0), _LOG2_ERFC)))
    near = w.mul(x, w.polynomial(w.mul(x, x), _ERF))
    return w.select(w.compare("oge", size, w.constant(NEAR_ERF)), w.op(math.CopySignOp, far, x), near)


def erfc(w: Lanes, x: SSAValue) -> SSAValue:
    """1 - erf(x), as `wide_math` has it; divided, which is exacter by half a unit than the inverse's product."""
    above, divisor, _ = wide_math.erfc_parts(w, w.size(x), exp, ERFCX)
    return wide_math.complement(w, x, w.div(above, divisor), NEAR, 0.75)


def atanh(w: Lanes, x: SSAValue) -> SSAValue:
    """log((1 + x) / (1 - x)) / 2; up to 1/2, where that would cancel, a polynomial."""
    one, z = w.constant(1.0), w.mul(x, x)
    far = w.mul(log(w, w.div(w.add(one, x), w.sub(one, x))), w.constant(0.5))
    near = w.fma(w.mul(x, z), w.polynomial(z, ATANH), x)
    return w.select(w.compare("olt", w.size(x), w.constant(0.5)), near, far)


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
    math.Log1pOp: log1p,
    math.Log2Op: log2,
    math.Log10Op: log10,
    math.TanhOp: tanh,
    math.ErfOp: erf,
    ErfcOp: erfc,
    math.AtanhOp: atanh,
}
"""Of float32."""

WIDE: dict[type[Operation], Callable[..., SSAValue]] = {
    math.ExpOp: wide_math.exp,
    math.Exp2Op: wide_math.exp2,
    math.LogOp: wide_math.log,
    math.Log2Op: wide_math.log2,
    math.Log10Op: wide_math.log10,
    math.Log1pOp: wide_math.log1p,
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
    math.PowFOp: wide_math.long_power,
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
