"""`arith`, `math` and `complex` on whole arrays: a number is an array without dimensions, the body of a loop sees all of its turns at once.

Integers are NumPy's signed ones, an i1 is a bool; operations that take them for unsigned look at the same bits.
Semantics: https://mlir.llvm.org/docs/Dialects/ArithOps/ and MathOps; what they leave undefined (a division by zero, a shift by too many bits) gives
some number here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import arith, complex, math
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xdsl_exir.dialects.upstream import ErfcOp, RemFOp
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, special
from xdsl_exir.interpreter.operators.pointwise import power_in_c

FLOATS: dict[type[Attribute], Any] = {
    BFloat16Type: ml_dtypes.bfloat16,
    Float16Type: np.float16,
    Float32Type: np.float32,
    Float64Type: np.float64,
}

COMPLEX: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.float16): np.dtype(ml_dtypes.complex32),
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}
"""The dtype of numbers with parts of a dtype."""
PARTS = {whole: part for part, whole in COMPLEX.items()}


@cache
def numpy_dtype(type: Attribute) -> np.dtype[Any]:
    """The NumPy dtype of a builtin number type. Raises `ExirError` for one that has none."""
    if isinstance(type, IndexType):
        return np.dtype(np.int64)
    if isinstance(type, IntegerType) and type.bitwidth in (1, 8, 16, 32, 64):
        return np.dtype(np.bool_ if type.bitwidth == 1 else f"i{type.bitwidth // 8}")
    for kind, found in FLOATS.items():
        if isinstance(type, kind):
            return np.dtype(found)
    if isa(type, ComplexType[AnyFloat]):
        return COMPLEX[numpy_dtype(type.element_type)]
    raise ExirError(f"the interpreter has no numbers of type {type}")


Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]


def unsigned(x: Any) -> Array:
    """The same bits as an unsigned number."""
    x = np.asarray(x)
    return x if x.dtype.kind == "b" else x.view(f"u{x.dtype.itemsize}")


def signed(x: Any) -> Array:
    """A number as signed: an i1 that is set is -1."""
    x = np.asarray(x)
    return -x.astype(np.int8) if x.dtype.kind == "b" else x


def on_unsigned(function: Binary) -> Binary:
    """A function of numbers of one type, these taken for unsigned."""

    def run(a: Any, b: Any) -> Array:
        return np.asarray(function(unsigned(a), unsigned(b))).astype(np.asarray(a).dtype, copy=False)

    return run


def modular(function: Binary, of_bits: Binary) -> Binary:
    """Arithmetic that wraps around; of an i1 it is an operation on bits."""

    def run(a: Any, b: Any) -> Any:
        return of_bits(a, b) if np.asarray(a).dtype.kind == "b" else function(a, b)

    return run


def truncated_quotient(a: Any, b: Any) -> Any:
    """The quotient rounded towards zero."""
    quotient, rest = np.floor_divide(a, b), np.remainder(a, b)
    return quotient + ((rest != 0) & ((np.asarray(a) < 0) != (np.asarray(b) < 0))).astype(np.asarray(a).dtype)


def quotient_upwards(a: Any, b: Any) -> Any:
    """The quotient rounded up."""
    return np.floor_divide(a, b) + (np.remainder(a, b) != 0)


def pick(condition: Array, yes: Array, no: Array) -> Array:
    """Of two numbers the one that a condition says."""
    return np.where(condition, yes, no)


def larger(a: Any, b: Any) -> Any:
    """The larger number: NaN if one is, and 0 of 0 and -0."""
    return pick((a == 0) & (b == 0), a + b, np.maximum(a, b))


def smaller(a: Any, b: Any) -> Any:
    """The smaller number: NaN if one is, and -0 of 0 and -0."""
    return pick((a == 0) & (b == 0), -(-a + -b), np.minimum(a, b))


def wide(function: Unary) -> Unary:
    """A function of SciPy, which has it for float32 and float64."""

    def run(x: Any) -> Any:
        dtype = np.asarray(x).dtype
        return (
            function(x) if dtype.itemsize >= 4 else function(np.asarray(x).astype(np.float32)).astype(dtype)
        )

    return run


def leading_zeros(x: Any) -> Array:
    """How many bits above the highest set one are zero."""
    x = unsigned(x)
    bits, count = x.dtype.itemsize * 8, np.zeros(x.shape, np.int64)
    for shift in range(bits):
        count += (x >> np.asarray(shift, x.dtype)) != 0
    return (bits - count).astype(signed(x.view(f"i{x.dtype.itemsize}")).dtype)


def power(x: Any, n: Any) -> Any:
    """A number to the power of an integer."""
    return np.power(x, np.asarray(n).astype(np.asarray(x).dtype))


def of_parts(re: Any, im: Any) -> Array:
    """A complex number of its parts, which may be infinite or NaN."""
    parts = np.stack(np.broadcast_arrays(re, im), -1)
    return parts.view(COMPLEX[parts.dtype])[..., 0]


def part(index: int) -> Unary:
    """The real or the imaginary part; NumPy knows none of complex32."""

    def of(x: Any) -> Array:
        numbers = np.asarray(x)[..., np.newaxis]
        return np.ascontiguousarray(numbers).view(PARTS[numbers.dtype])[..., index]

    return of


BINARY: dict[type[Operation], Binary] = {
    arith.AddiOp: modular(np.add, np.logical_xor),
    arith.SubiOp: modular(np.subtract, np.logical_xor),
    arith.MuliOp: modular(np.multiply, np.logical_and),
    arith.DivSIOp: truncated_quotient,
    arith.DivUIOp: on_unsigned(np.floor_divide),
    arith.FloorDivSIOp: np.floor_divide,
    arith.CeilDivSIOp: quotient_upwards,
    arith.CeilDivUIOp: on_unsigned(quotient_upwards),
    arith.RemSIOp: np.fmod,
    arith.RemUIOp: on_unsigned(np.remainder),
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: np.left_shift,
    arith.ShRSIOp: np.right_shift,
    arith.ShRUIOp: on_unsigned(np.right_shift),
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.MaxUIOp: on_unsigned(np.maximum),
    arith.MinUIOp: on_unsigned(np.minimum),
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.MaximumfOp: larger,
    arith.MinimumfOp: smaller,
    RemFOp: np.fmod,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
    math.Atan2Op: np.arctan2,
    math.CopySignOp: np.copysign,
    math.PowFOp: power_in_c,
    math.FPowIOp: power,
    math.IPowIOp: np.power,
    complex.CreateOp: of_parts,
}
"""Of numbers of one type; the result has it too."""


UNARY: dict[type[Operation], Unary] = {
    arith.NegfOp: np.negative,
    math.AbsFOp: np.abs,
    math.AbsIOp: np.abs,
    math.AcosOp: np.arccos,
    math.AcoshOp: np.arccosh,
    math.AsinOp: np.arcsin,
    math.AsinhOp: np.arcsinh,
    math.AtanOp: np.arctan,
    math.AtanhOp: np.arctanh,
    math.CbrtOp: np.cbrt,
    math.CeilOp: np.ceil,
    math.CosOp: np.cos,
    math.CoshOp: np.cosh,
    math.CountLeadingZerosOp: leading_zeros,
    math.ErfOp: wide(special("erf")),
    ErfcOp: wide(special("erfc")),
    math.Exp2Op: np.exp2,
    math.ExpM1Op: np.expm1,
    math.ExpOp: np.exp,
    math.FloorOp: np.floor,
    math.Log10Op: np.log10,
    math.Log1pOp: np.log1p,
    math.Log2Op: np.log2,
    math.LogOp: np.log,
    math.RoundEvenOp: np.rint,
    math.RsqrtOp: lambda x: 1 / np.sqrt(x),
    math.SinOp: np.sin,
    math.SinhOp: np.sinh,
    math.SqrtOp: np.sqrt,
    math.TanOp: np.tan,
    math.TanhOp: np.tanh,
    math.TruncOp: np.trunc,
    complex.ReOp: part(0),
    complex.ImOp: part(1),
}

CASTS: dict[type[Operation], Unary] = {
    arith.ExtSIOp: signed,
    arith.ExtUIOp: unsigned,
    arith.TruncIOp: lambda x: x,
    arith.IndexCastOp: signed,
    arith.SIToFPOp: signed,
    arith.UIToFPOp: unsigned,
    arith.FPToSIOp: lambda x: x,
    arith.FPToUIOp: lambda x: x,
    arith.ExtFOp: lambda x: x,
    arith.TruncFOp: lambda x: x,
}
"""What a number is taken for before it is one of the result's type."""


def taken_as(taken: Unary, compare: Binary) -> Binary:
    return lambda a, b: compare(taken(a), taken(b))


def ordered(compare: Binary) -> Binary:
    return lambda a, b: compare(a, b) & ~(np.isnan(a) | np.isnan(b))


def unordered(compare: Binary) -> Binary:
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


def always(value: bool) -> Binary:
    return lambda a, b: np.full_like(np.equal(a, b), value)


# Predicates in the order of their numbers.
COMPARE_INTEGERS: tuple[Binary, ...] = (
    np.equal,
    np.not_equal,
    *(
        taken_as(taken, compare)
        for taken in (signed, unsigned)
        for compare in (np.less, np.less_equal, np.greater, np.greater_equal)
    ),
)


_COMPARISONS = (np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)
COMPARE_FLOATS: tuple[Binary, ...] = (
    always(False),
    *map(ordered, _COMPARISONS),
    ordered(always(True)),
    *map(unordered, _COMPARISONS),
    unordered(always(False)),
    always(True),
)


def as_dtype(x: Any, dtype: np.dtype[Any]) -> Array:
    """A number as one of another type: integers by their lowest bits."""
    x = np.asarray(x)
    if dtype.kind == "b" and x.dtype.kind in "iu":
        return (x & 1).astype(np.bool_)
    return x.astype(dtype, copy=False)


def constant(value: Attribute) -> Array:
    """The number, or the tensor of numbers, of an attribute. Raises `ExirError` for others."""
    match value:
        case IntegerAttr(value=number, type=type) | FloatAttr(value=number, type=type):
            return as_dtype(np.asarray(number.data), numpy_dtype(type))
        case DenseIntOrFPElementsAttr():
            type = value.type
            assert isa(type, TensorType[Attribute])
            numbers = np.asarray(value.get_values())
            dtype = numpy_dtype(type.element_type)
            return (
                np.broadcast_to(as_dtype(numbers, dtype), type.get_shape())
                if value.is_splat()
                else as_dtype(numbers, dtype).reshape(type.get_shape())
            )
        case ArrayAttr():
            parts = [constant(part) for part in value.data]
            return of_parts(*parts)
        case _:
            raise ExirError(f"the interpreter has no constant {value}")


def run_constant(op: arith.ConstantOp | complex.ConstantOp, args: PythonValues) -> Any:
    return constant(op.value)


def run_cast(op: Operation, args: PythonValues) -> Any:
    return as_dtype(CASTS[type(op)](args[0]), numpy_dtype(op.results[0].type))


def run_bitcast(op: Operation, args: PythonValues) -> Any:
    return np.ascontiguousarray(args[0]).reshape(np.shape(args[0])).view(numpy_dtype(op.results[0].type))


def run_select(op: Operation, args: PythonValues) -> Any:
    return pick(*args)


def run_cmpi(op: arith.CmpiOp, args: PythonValues) -> Any:
    return COMPARE_INTEGERS[op.predicate.value.data](*args)


def run_cmpf(op: arith.CmpfOp, args: PythonValues) -> Any:
    return COMPARE_FLOATS[op.predicate.value.data](*args)


def run_binary(op: Operation, args: PythonValues) -> Any:
    return BINARY[type(op)](*args)


def run_unary(op: Operation, args: PythonValues) -> Any:
    return UNARY[type(op)](*args)


def run_fma(op: Operation, args: PythonValues) -> Any:
    a, b, c = args
    return a * b + c


OTHERS: dict[type[Operation], Callable[[Any, PythonValues], Any]] = {
    arith.ConstantOp: run_constant,
    complex.ConstantOp: run_constant,
    arith.BitcastOp: run_bitcast,
    arith.SelectOp: run_select,
    arith.CmpiOp: run_cmpi,
    arith.CmpfOp: run_cmpf,
    math.FmaOp: run_fma,
}

FUNCTIONS: dict[type[Operation], Callable[[Any, PythonValues], Any]] = {
    **dict.fromkeys(BINARY, run_binary),
    **dict.fromkeys(UNARY, run_unary),
    **dict.fromkeys(CASTS, run_cast),
    **OTHERS,
}
"""Each operation of one result, by its type."""


class ScalarFunctions(InterpreterFunctions):
    """Implementations of operations on numbers."""

    def _impls(self) -> Iterable[tuple[type[Operation], Any]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ((type, ScalarFunctions.run) for type in FUNCTIONS)

    def _none(self) -> Iterable[Any]:
        return ()

    _cast_impls = _attr_impls = _ext_impls = _callable_impls = _none  # pyright: ignore[reportAssignmentType]

    def run(self, interpreter: Interpreter, op: Operation, args: PythonValues) -> OpImplResult:
        return OpImplResult((FUNCTIONS[type(op)](op, args),), None)
