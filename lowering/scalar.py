"""Numbers inside loop bodies: arithmetic that reads like Python and becomes `arith` and `math` operations.

    1 / (1 + exp(-x))

A `Scalar` knows its PyTorch dtype, which says what MLIR's signless integers mean (`body_types`). Complex numbers are computed
by their parts (their other functions are in `complex_numbers`). Operations are inserted where the surrounding `body` inserts; symbolic sizes are numbers like others,
whose values it has.
"""

from __future__ import annotations

import builtins
import math as python_math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, complex, math
from xdsl.dialects.builtin import AnyFloat, Float64Type, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.upstream import ErfcOp, RemFOp
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering.body_types import (
    FLOAT8,
    PARTS,
    complex_type,
    integer_of,
    is_short,
    is_unsigned,
    register_bits,
    register_type,
    unwidened,
    widened,
)

Number: TypeAlias = "Scalar | bool | int | float | builtins.complex | Expr | SSAValue"
Binary: TypeAlias = Callable[[SSAValue, SSAValue], Operation]

_SIZE: ContextVar[Callable[[Dim], SSAValue]] = ContextVar("size")
"""In a body: symbolic sizes as `index` values, numbers with fractions as float64."""


@contextmanager
def body(block: Block, size: Callable[[Dim], SSAValue]) -> Generator[None]:
    """What is computed meanwhile is inserted into a block. `size` gives the value of a symbolic size, made before."""
    token = _SIZE.set(size)
    try:
        with ImplicitBuilder(block):
            yield
    finally:
        _SIZE.reset(token)


CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""A product and a sum may become one fused operation: more exact, and what makes contractions fast."""


@dataclass(frozen=True, eq=False)
class Scalar:
    """A number of a loop body."""

    value: SSAValue
    dtype: DType
    held: Scalar | None = None
    """The float of 8 bits that a float32 is."""

    def _binary(self, other: Number, op: Callable[[Scalar, Scalar], Scalar], swap: bool = False) -> Scalar:
        right = constant(other, self.dtype) if not isinstance(other, Scalar) else other
        if right.dtype is not self.dtype:
            raise ExirError(f"arithmetic on {self.dtype} and {right.dtype}")
        return op(right, self) if swap else op(self, right)

    def __add__(self, other: Number) -> Scalar:
        return self._binary(other, add)

    def __radd__(self, other: Number) -> Scalar:
        return self._binary(other, add, swap=True)

    def __sub__(self, other: Number) -> Scalar:
        return self._binary(other, sub)

    def __rsub__(self, other: Number) -> Scalar:
        return self._binary(other, sub, swap=True)

    def __mul__(self, other: Number) -> Scalar:
        return self._binary(other, mul)

    def __rmul__(self, other: Number) -> Scalar:
        return self._binary(other, mul, swap=True)

    def __truediv__(self, other: Number) -> Scalar:
        return self._binary(other, div)

    def __rtruediv__(self, other: Number) -> Scalar:
        return self._binary(other, div, swap=True)

    def __neg__(self) -> Scalar:
        return neg(self)

    def __lt__(self, other: Number) -> Scalar:
        return self._binary(other, compare("lt"))

    def __le__(self, other: Number) -> Scalar:
        return self._binary(other, compare("le"))

    def __gt__(self, other: Number) -> Scalar:
        return self._binary(other, compare("gt"))

    def __ge__(self, other: Number) -> Scalar:
        return self._binary(other, compare("ge"))

    def equals(self, other: Number) -> Scalar:
        """Whether the numbers are equal, a Bool. (`==` stays Python's identity.)"""
        return self._binary(other, compare("eq"))

    def differs(self, other: Number) -> Scalar:
        """Whether the numbers differ, a Bool; NaN differs from itself."""
        return self._binary(other, compare("ne"))

    def __and__(self, other: Number) -> Scalar:
        return self._binary(other, _bits(arith.AndIOp))

    def __or__(self, other: Number) -> Scalar:
        return self._binary(other, _bits(arith.OrIOp))

    def __xor__(self, other: Number) -> Scalar:
        return self._binary(other, _bits(arith.XOrIOp))

    def __invert__(self) -> Scalar:
        return self ^ (True if self.dtype is dt.Bool else -1)


def _of(op: Operation, dtype: DType) -> Scalar:
    return Scalar(op.results[0], dtype)


def constant(value: builtins.complex | Expr | SSAValue, dtype: DType) -> Scalar:
    """A constant of this dtype; or a number that is computed from symbolic sizes, or an `index` value made before the loop."""
    if isinstance(value, Expr):
        value = _SIZE.get()(value)
    if isinstance(value, SSAValue):
        real = isinstance(value.type, Float64Type)
        return cast(Scalar(value, dt.Double) if real else from_index(value), dtype)
    if dtype.category is Category.COMPLEX:
        number, part = builtins.complex(value), PARTS[dtype]
        return complex_number(constant(number.real, part), constant(number.imag, part))
    assert not isinstance(value, builtins.complex)
    type = register_type(dtype)
    if isinstance(type, AnyFloat):
        return _of(arith.ConstantOp(FloatAttr(float(value), type)), dtype)
    attr = IntegerAttr(integer_of(value, dtype), IntegerType(register_bits(dtype)), truncate_bits=True)
    return _of(arith.ConstantOp(attr), dtype)


def is_float(scalar: Scalar) -> bool:
    return scalar.dtype.category is Category.FLOAT


# --- complex numbers -----------------------------------------------------------------------------------------


def is_complex(scalar: Scalar) -> bool:
    return scalar.dtype.category is Category.COMPLEX


def real(x: Scalar) -> Scalar:
    """The real part; a real number is its own."""
    return _of(complex.ReOp(x.value), PARTS[x.dtype]) if is_complex(x) else x


def imaginary(x: Scalar) -> Scalar:
    """The imaginary part; a real number's is 0."""
    return _of(complex.ImOp(x.value), PARTS[x.dtype]) if is_complex(x) else constant(0, x.dtype)


def complex_number(real: Scalar, imaginary: Scalar) -> Scalar:
    """The complex number of these parts."""
    dtype = next(whole for whole, part in PARTS.items() if part is real.dtype)
    return _of(complex.CreateOp(real.value, imaginary.value, complex_type(dtype)), dtype)


def conjugate(x: Scalar) -> Scalar:
    return complex_number(real(x), -imaginary(x)) if is_complex(x) else x


def _product(a: Scalar, b: Scalar) -> Scalar:
    return complex_number(
        real(a) * real(b) - imaginary(a) * imaginary(b), real(a) * imaginary(b) + imaginary(a) * real(b)
    )


def _quotient(a: Scalar, b: Scalar) -> Scalar:
    """By R. L. Smith's algorithm (1962), which PyTorch takes as well: no square of the divisor's parts overflows."""
    along_real = ~(
        (absolute(real(b)) < absolute(imaginary(b))) | is_nan(imaginary(b))
    )  # what is NaN counts as longer
    longer, shorter = select(along_real, real(b), imaginary(b)), select(along_real, imaginary(b), real(b))
    ratio = select(longer.equals(0), 0, shorter / longer)
    scale = 1 / select(longer.equals(0), 0, longer + shorter * ratio)
    x, y, by_zero = real(a), imaginary(a), longer.equals(0)  # of which each part is divided alone
    of_real = select(by_zero, x, select(along_real, x + y * ratio, x * ratio + y))
    of_imaginary = select(by_zero, y, select(along_real, y - x * ratio, y * ratio - x))
    return complex_number(of_real * scale, of_imaginary * scale)


# --- arithmetic ----------------------------------------------------------------------------------------------


def by_parts(op: Callable[..., Scalar], *operands: Scalar) -> Scalar:
    """An operation on real parts and on imaginary parts."""
    return complex_number(op(*map(real, operands)), op(*map(imaginary, operands)))


def add(a: Scalar, b: Scalar) -> Scalar:
    """The sum; of Bools, whether one is true."""
    if is_complex(a):
        return by_parts(add, a, b)
    if is_float(a):
        return _of(arith.AddfOp(a.value, b.value, flags=CONTRACT), a.dtype)
    return a | b if a.dtype is dt.Bool else _of(arith.AddiOp(a.value, b.value), a.dtype)


def sub(a: Scalar, b: Scalar) -> Scalar:
    """The difference."""
    if is_complex(a):
        return by_parts(sub, a, b)
    if is_float(a):
        return _of(arith.SubfOp(a.value, b.value, flags=CONTRACT), a.dtype)
    return _of(arith.SubiOp(a.value, b.value), a.dtype)


def mul(a: Scalar, b: Scalar) -> Scalar:
    """The product; of Bools, whether both are true."""
    if is_complex(a):
        return _product(a, b)
    if is_float(a):
        return _of(arith.MulfOp(a.value, b.value, flags=CONTRACT), a.dtype)
    return a & b if a.dtype is dt.Bool else _of(arith.MuliOp(a.value, b.value), a.dtype)


def div(a: Scalar, b: Scalar) -> Scalar:
    """The quotient of floats; of integers, rounded towards zero. Where PyTorch raises, for a divisor 0, it is 0."""
    if is_complex(a):
        return _quotient(a, b)
    if is_float(a):
        return _of(arith.DivfOp(a.value, b.value), a.dtype)
    if is_unsigned(a.dtype):
        return select(b.equals(0), 0, _of(arith.DivUIOp(a.value, _divisor(b).value), a.dtype))
    quotient = _of(arith.DivSIOp(a.value, _divisor(b).value), a.dtype)
    return select(b.equals(0), 0, select(b.equals(-1), -a, quotient))


def rem(a: Scalar, b: Scalar) -> Scalar:
    """The remainder with the dividend's sign, as C's fmod and % give it; of integers, 0 for a divisor 0."""
    if is_float(a):
        return Scalar(RemFOp(operands=[a.value, b.value], result_types=[a.value.type]).result, a.dtype)
    return _of(
        (arith.RemUIOp if is_unsigned(a.dtype) else arith.RemSIOp)(a.value, _divisor(b).value), a.dtype
    )


def _divisor(b: Scalar) -> Scalar:
    """1 in place of the divisors that a processor traps on: 0, and -1 (for the least integer)."""
    traps = b.equals(0) if is_unsigned(b.dtype) else b.equals(0) | b.equals(-1)
    return select(traps, 1, b)


def neg(a: Scalar) -> Scalar:
    """The number with its sign changed, zero's included."""
    if is_complex(a):
        return by_parts(neg, a)
    return _of(arith.NegfOp(a.value), a.dtype) if is_float(a) else constant(0, a.dtype) - a


def _bits(op: Binary) -> Callable[[Scalar, Scalar], Scalar]:
    return lambda a, b: _of(op(a.value, b.value), a.dtype)


_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def shift_left(a: Scalar, b: Scalar) -> Scalar:
    """The integer times 2 to the power of another; 0 for shifts by negative numbers or by all bits."""
    shifted = _of(arith.ShLIOp(a.value, _bit_count(b).value), a.dtype)
    return select(_in_width(b), shifted, 0)


def shift_right(a: Scalar, b: Scalar) -> Scalar:
    """The integer divided by 2 to the power of another, rounded down; a negative or too great shift takes all bits."""
    if is_unsigned(a.dtype):
        return select(_in_width(b), _of(arith.ShRUIOp(a.value, _bit_count(b).value), a.dtype), 0)
    count = select(_in_width(b), b, b.dtype.bits - 1)
    return _of(arith.ShRSIOp(a.value, count.value), a.dtype)


def _in_width(count: Scalar) -> Scalar:
    """Whether a shift leaves some bits: one by less than the width, 0 or more."""
    return (count >= 0) & (count < count.dtype.bits)


def _bit_count(count: Scalar) -> Scalar:
    return select(_in_width(count), count, 0)


def compare(predicate: str) -> Callable[[Scalar, Scalar], Scalar]:
    """A comparison, by name (`lt`), with a Bool for result; NaN only differs. Complex numbers have no order."""

    def comparison(a: Scalar, b: Scalar) -> Scalar:
        if is_complex(a):
            of_real, of_imaginary = comparison(real(a), real(b)), comparison(imaginary(a), imaginary(b))
            return of_real | of_imaginary if predicate == "ne" else of_real & of_imaginary
        if is_float(a):
            return _of(arith.CmpfOp(a.value, b.value, _FLOAT_PREDICATES[predicate]), dt.Bool)
        signed = (
            "" if predicate in ("eq", "ne") else "u" if is_unsigned(a.dtype) or a.dtype is dt.Bool else "s"
        )
        return _of(arith.CmpiOp(a.value, b.value, signed + predicate), dt.Bool)

    return comparison


def select(condition: Scalar, a: Number, b: Number) -> Scalar:
    """`a` where the Bool holds, else `b`; one of them may be a Python number."""
    dtype = next(x.dtype for x in (a, b) if isinstance(x, Scalar))
    if dtype.category is Category.COMPLEX:
        x, y = (x if isinstance(x, Scalar) else constant(x, dtype) for x in (a, b))
        return complex_number(
            select(condition, real(x), real(y)), select(condition, imaginary(x), imaginary(y))
        )
    values = [x.value if isinstance(x, Scalar) else constant(x, dtype).value for x in (a, b)]
    return _of(arith.SelectOp(condition.value, *values), dtype)


def _extreme(floats: Binary, signed: Binary, unsigned: Binary, bools: Binary) -> Callable[..., Scalar]:
    def combine(a: Scalar, b: Number) -> Scalar:
        integers = bools if a.dtype is dt.Bool else unsigned if is_unsigned(a.dtype) else signed
        op = _bits(floats if is_float(a) else integers)
        return op(a, b if isinstance(b, Scalar) else constant(b, a.dtype))

    return combine


maximum = _extreme(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp, arith.OrIOp)
"""The greater number; NaN if either is."""

minimum = _extreme(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp, arith.AndIOp)
"""The lesser number; NaN if either is."""


def fmax(a: Scalar, b: Scalar) -> Scalar:
    """The greater number; of NaN and a number, the number; of two zeros the first."""
    return select(is_nan(a) | (a < b), b, a) if is_float(a) else maximum(a, b)


def fmin(a: Scalar, b: Scalar) -> Scalar:
    """The lesser number; of NaN and a number, the number; of two zeros the first."""
    return select(is_nan(a) | (a > b), b, a) if is_float(a) else minimum(a, b)


def _brought(x: Scalar, beyond: Scalar, bound: Number) -> Scalar:
    """A number, or the bound that it lies beyond, or that is NaN."""
    nan = is_nan(bound) if isinstance(bound, Scalar) else bound != bound
    return select(beyond | nan, bound, x)


def clamp(x: Scalar, low: Number | None, high: Number | None) -> Scalar:
    """The number brought between bounds. NaN stays, as does a zero of any sign at a bound of zero."""
    if not is_float(x):
        x = x if low is None else maximum(x, low)
        return x if high is None else minimum(x, high)
    x = x if low is None else _brought(x, x < low, low)
    return x if high is None else _brought(x, x > high, high)


# --- indices -------------------------------------------------------------------------------------------------


def from_index(value: SSAValue) -> Scalar:
    """An `index` value as int64."""
    return _of(arith.IndexCastOp(value, IntegerType(64)), dt.Long)


def to_index(x: Scalar) -> SSAValue:
    """An integer as `index` value."""
    return arith.IndexCastOp(cast(x, dt.Long).value, IndexType()).result


# --- functions -----------------------------------------------------------------------------------------------


def _function(op: Callable[[SSAValue], Operation]) -> Callable[[Scalar], Scalar]:
    return lambda x: _of(op(x.value), x.dtype)


def _wide(op: Callable[[SSAValue], Operation]) -> Callable[[Scalar], Scalar]:
    # In float64, by libm: MLIR's float32 approximations lose these for large, subnormal or nearly overflowing arguments, or
    # are exact to some 20 bits only.
    return lambda x: cast(_of(op(cast(x, dt.Double).value), dt.Double), x.dtype)


exp = _function(math.ExpOp)
own_log, own_sin, own_cos, own_tan = map(_function, (math.LogOp, math.SinOp, math.CosOp, math.TanOp))
own_asin, own_acos, own_atan = map(_function, (math.AsinOp, math.AcosOp, math.AtanOp))
own_atanh = _function(math.AtanhOp)
"""Of float32 in float32, some units in the last place off: where no formula goes on with them."""
exp2 = _function(math.Exp2Op)
_expm1 = _function(math.ExpM1Op)
log = _wide(math.LogOp)
log2, log10 = _function(math.Log2Op), _function(math.Log10Op)
log1p = _function(math.Log1pOp)
sqrt = _function(math.SqrtOp)
sin = _wide(math.SinOp)
cos = _wide(math.CosOp)
tan = _wide(math.TanOp)
asin = _wide(math.AsinOp)
acos = _wide(math.AcosOp)
atan = _wide(math.AtanOp)
sinh = _wide(math.SinhOp)
cosh = _wide(math.CoshOp)
tanh = _function(math.TanhOp)
asinh = _function(math.AsinhOp)
acosh = _function(math.AcoshOp)
atanh = _wide(math.AtanhOp)
erf = _function(math.ErfOp)
_floor = _function(math.FloorOp)
_ceil = _function(math.CeilOp)
_trunc = _function(math.TruncOp)
_roundeven = _function(math.RoundEvenOp)


def expm1(x: Scalar) -> Scalar:
    """exp(x) - 1, exact where that is tiny: of float64, for which MLIR has only the difference, by Kahan's formula; of
    float32, where 1 is nothing to it, without."""
    if x.dtype is not dt.Double:
        return select(x > 20, exp(x), _expm1(x))
    power = exp(x)
    difference = power - 1
    exact = difference * (x / log(power))
    rounds = power.equals(1) | is_nan(x)
    return select(rounds, x, select(difference.equals(-1) | is_inf(power), difference, exact))


def rsqrt(x: Scalar) -> Scalar:
    """The reciprocal square root, by a division: hardware approximations are not exact enough."""
    return 1 / sqrt(x)


def pow(a: Scalar, b: Scalar) -> Scalar:
    """The power of floats."""
    return _of(math.PowFOp(a.value, b.value), a.dtype)


def atan2(a: Scalar, b: Scalar) -> Scalar:
    """The angle of the point (b, a), from that of one in the first octant: MLIR's approximation of atan2 is wrong for
    zeros and infinities."""
    height, width = absolute(a), absolute(b)
    longer, shorter = maximum(height, width), minimum(height, width)
    ratio = select(longer.equals(0), 0, select(shorter.equals(python_math.inf), 1, shorter / longer))
    angle = atan(ratio)
    angle = select(height > width, python_math.pi / 2 - angle, angle)
    angle = select(sign_bit(b), python_math.pi - angle, angle)
    return copysign(angle, a)


def copysign(a: Scalar, b: Scalar) -> Scalar:
    """`a` with the sign of `b`."""
    return _of(math.CopySignOp(a.value, b.value), a.dtype)


own_erfc = _function(lambda x: ErfcOp(operands=[x], result_types=[x.type]))
erfc = _wide(lambda x: ErfcOp(operands=[x], result_types=[x.type]))
"""1 - erf(x), exact where that is tiny."""


def sign_bit(x: Scalar) -> Scalar:
    """Whether the number is negative; of floats, whether its sign is, zero's and NaN's included."""
    if not is_float(x):
        return x < 0
    # By way of an integer: LLVM 22 dies of the question for the sign bit of a bfloat16 that it has in a register.
    return _of(arith.FPToSIOp(copysign(constant(1, x.dtype), x).value, IntegerType(dt.Int.bits)), dt.Int) < 0


def _on_floats(function: Callable[[Scalar], Scalar]) -> Callable[[Scalar], Scalar]:
    return lambda x: function(x) if is_float(x) else x


floor = _on_floats(_floor)
ceil = _on_floats(_ceil)
trunc = _on_floats(_trunc)
round_even = _on_floats(_roundeven)


def absolute(x: Scalar) -> Scalar:
    """The absolute value; the least integer is its own."""
    if is_complex(x):
        return hypot(real(x), imaginary(x))
    if is_float(x):
        return _of(math.AbsFOp(x.value), x.dtype)
    return x if is_unsigned(x.dtype) or x.dtype is dt.Bool else _of(math.AbsIOp(x.value), x.dtype)


def hypot(a: Scalar, b: Scalar) -> Scalar:
    """The length of a vector, of which no square overflows. Infinite if a component is, the other NaN or not."""
    x, y = absolute(a), absolute(b)
    longer, shorter = maximum(x, y), minimum(x, y)
    ratio = shorter / longer
    length = select(longer.equals(0), longer, longer * sqrt(ratio * ratio + 1))
    return select(x.equals(python_math.inf) | y.equals(python_math.inf), python_math.inf, length)


def is_nan(x: Scalar) -> Scalar:
    """Whether the number is NaN, or a part of it."""
    if is_complex(x):
        return is_nan(real(x)) | is_nan(imaginary(x))
    return x.differs(x) if is_float(x) else constant(False, dt.Bool)


def is_inf(x: Scalar) -> Scalar:
    """Whether the number is infinite, or a part of it."""
    if is_complex(x):
        return is_inf(real(x)) | is_inf(imaginary(x))
    return absolute(x).equals(python_math.inf) if is_float(x) else constant(False, dt.Bool)


# --- conversion ----------------------------------------------------------------------------------------------


def cast(x: Scalar, dtype: DType) -> Scalar:
    """The number in another dtype, as PyTorch converts: floats to integers towards zero, to Bool whether not zero."""
    from xdsl_exir.lowering import short_floats

    if x.dtype is dtype:
        return x
    if x.dtype in FLOAT8:
        return cast(short_floats.decoded(x), dtype)
    source, target = x.dtype.category, dtype.category
    if target is Category.BOOL:
        return x.differs(0)
    if target is Category.COMPLEX:
        part = PARTS[dtype]
        return complex_number(cast(real(x), part), cast(imaginary(x), part))
    if source is Category.COMPLEX:
        return cast(real(x), dtype)
    if dtype in FLOAT8:
        return short_floats.encoded(cast(x, dt.Float), dtype)
    if is_short(dtype) and (short := unwidened(x.value, dtype)) is not None:
        return Scalar(short, dtype)
    same = register_type(x.dtype) == register_type(dtype)
    return Scalar(x.value, dtype) if same else _of(_conversion(x, dtype), dtype)


def _conversion(x: Scalar, dtype: DType) -> Operation:
    from xdsl_exir.lowering.short_floats import to_bfloat16

    # As in PyTorch, short floats meet all else in float32: a float64 is rounded twice.
    if dt.Float not in (x.dtype, dtype) and (is_short(x.dtype) or is_short(dtype)):
        return _conversion(_of(_conversion(x, dt.Float), dt.Float), dtype)
    if dt.BFloat16 in (x.dtype, dtype):
        return to_bfloat16(x) if dtype is dt.BFloat16 else widened(x.value)
    type: Any = register_type(dtype)
    unsigned = is_unsigned(x.dtype) or x.dtype is dt.Bool
    if is_float(x):
        if dtype.category is Category.INT:
            return _to_integer(x, dtype)
        return (arith.ExtFOp if dtype.bits > x.dtype.bits else arith.TruncFOp)(x.value, type)
    if dtype.category is Category.FLOAT:
        return (arith.UIToFPOp if unsigned else arith.SIToFPOp)(x.value, type)
    if dtype.bits < register_bits(x.dtype):
        return arith.TruncIOp(x.value, type)
    return (arith.ExtUIOp if unsigned else arith.ExtSIOp)(x.value, type)


def _to_integer(x: Scalar, dtype: DType) -> Operation:
    """A float towards zero; what the dtype does not hold as C compilers have it on x86: by a wider signed integer, of which
    the lowest bits are taken, or (uint64) by int64 of what is beyond its half. What no signed integer holds, NaN too, is the
    least one: said here, since LLVM has no value for it, and makes of constants what lies in a register."""
    if dtype is dt.UInt64:
        half = 2.0**63
        above = cast(x - half, dt.Long) ^ -(2**63)
        return arith.SelectOp((x >= half).value, above.value, cast(x, dt.Long).value)
    wide = dt.Long if dtype is dt.UInt32 else dt.Int
    if wide.bits > dtype.bits or dtype is dt.UInt32:
        return _conversion(cast(x, wide), dtype)
    end = 2 ** (dtype.bits - 1)
    held = _of(arith.FPToSIOp(x.value, IntegerType(dtype.bits)), dtype)
    return arith.SelectOp((absolute(x) < float(end)).value, held.value, constant(-end, dtype).value)


def bitcast(x: Scalar, dtype: DType) -> Scalar:
    """The number that the same bits are in another dtype of that width."""
    return _of(arith.BitcastOp(x.value, register_type(dtype)), dtype)
