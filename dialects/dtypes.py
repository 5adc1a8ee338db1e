"""PyTorch's dtypes, in one table: every name a dtype goes by, in every place that names it.

A dtype is written `Float` in operator specs (ScalarType names, as in ExecuTorch's edge.yaml), `float32` in Python,
`6` in
enum defaults of schemas, `7` in `.pt2` files, `f32` in MLIR and `<f4` in NumPy. Promotion of dtypes lives in
`dtype_rules`, not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from xdsl_exir.threads import cached_property

if TYPE_CHECKING:
    import numpy as np


class Category(IntEnum):
    """The categories of PyTorch's type promotion, in promotion order."""

    BOOL = 0
    INT = 1
    FLOAT = 2
    COMPLEX = 3


@dataclass(frozen=True, eq=False)
class DType:
    """One dtype. Compared by identity: the members of `DTYPES` are the only instances."""

    name: str
    """ScalarType name, as operator specs write it: `Float`."""
    torch_name: str
    """Python name, as in `torch.float32`: `float32`."""
    code: int
    """c10::ScalarType enum value, as schema defaults write it."""
    serialized_code: int
    """torch._export.serde.schema.ScalarType value, as `.pt2` files write it."""
    mlir_type: Attribute
    """The builtin type of a tensor's elements."""
    category: Category
    bits: int
    """Size of an element in bits."""

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype; bfloat16, complex32 and the eight-bit floats come from ml_dtypes."""
        import numpy as np

        if self.torch_name in _ML_DTYPES:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, self.torch_name))
        return np.dtype(self.torch_name)

    @property
    def itemsize(self) -> int:
        """Size of an element in bytes."""
        return self.bits // 8

    def __reduce__(self) -> tuple[Any, ...]:
        """There is one of each: pickles name it."""
        return named, (self.torch_name,)

    def __repr__(self) -> str:
        return self.name


def _int(bits: int, signed: bool = True) -> IntegerType:
    return IntegerType(bits, Signedness.SIGNLESS if signed else Signedness.UNSIGNED)


_ML_DTYPES = frozenset(
    {"bfloat16", "complex32", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz"}
)

Byte = DType("Byte", "uint8", 0, 1, _int(8, signed=False), Category.INT, 8)
Char = DType("Char", "int8", 1, 2, _int(8), Category.INT, 8)
Short = DType("Short", "int16", 2, 3, _int(16), Category.INT, 16)
Int = DType("Int", "int32", 3, 4, _int(32), Category.INT, 32)
Long = DType("Long", "int64", 4, 5, _int(64), Category.INT, 64)
Half = DType("Half", "float16", 5, 6, Float16Type(), Category.FLOAT, 16)
Float = DType("Float", "float32", 6, 7, Float32Type(), Category.FLOAT, 32)
Double = DType("Double", "float64", 7, 8, Float64Type(), Category.FLOAT, 64)
ComplexHalf = DType("ComplexHalf", "complex32", 8, 9, ComplexType(Float16Type()), Category.COMPLEX, 32)
ComplexFloat = DType("ComplexFloat", "complex64", 9, 10, ComplexType(Float32Type()), Category.COMPLEX, 64)
ComplexDouble = DType(
    "ComplexDouble", "complex128", 10, 11, ComplexType(Float64Type()), Category.COMPLEX, 128
)
Bool = DType("Bool", "bool", 11, 12, _int(1), Category.BOOL, 8)
BFloat16 = DType("BFloat16", "bfloat16", 15, 13, BFloat16Type(), Category.FLOAT, 16)
Float8_e5m2 = DType("Float8_e5m2", "float8_e5m2", 23, 30, Float8E5M2Type(), Category.FLOAT, 8)
Float8_e4m3fn = DType("Float8_e4m3fn", "float8_e4m3fn", 24, 29, Float8E4M3FNType(), Category.FLOAT, 8)
Float8_e5m2fnuz = DType("Float8_e5m2fnuz", "float8_e5m2fnuz", 25, 32, Float8E5M2FNUZType(), Category.FLOAT, 8)
Float8_e4m3fnuz = DType("Float8_e4m3fnuz", "float8_e4m3fnuz", 26, 31, Float8E4M3FNUZType(), Category.FLOAT, 8)
UInt16 = DType("UInt16", "uint16", 27, 28, _int(16, signed=False), Category.INT, 16)
UInt32 = DType("UInt32", "uint32", 28, 34, _int(32, signed=False), Category.INT, 32)
UInt64 = DType("UInt64", "uint64", 29, 35, _int(64, signed=False), Category.INT, 64)

DTYPES: tuple[DType, ...] = (
    Byte,
    Char,
    Short,
    Int,
    Long,
    Half,
    Float,
    Double,
    ComplexHalf,
    ComplexFloat,
    ComplexDouble,
    Bool,
    BFloat16,
    Float8_e5m2,
    Float8_e4m3fn,
    Float8_e5m2fnuz,
    Float8_e4m3fnuz,
    UInt16,
    UInt32,
    UInt64,
)
"""Every dtype that a tensor in the IR can have. Others (quantized ones) are refused at import."""

BY_NAME = {dtype.name: dtype for dtype in DTYPES}
BY_TORCH_NAME = {dtype.torch_name: dtype for dtype in DTYPES}


def named(torch_name: str) -> DType:
    """The dtype of a name of PyTorch's."""
    return BY_TORCH_NAME[torch_name]


BY_CODE = {dtype.code: dtype for dtype in DTYPES}
BY_MLIR_TYPE = {dtype.mlir_type: dtype for dtype in DTYPES}
BY_SERIALIZED_CODE = {dtype.serialized_code: dtype for dtype in DTYPES}
