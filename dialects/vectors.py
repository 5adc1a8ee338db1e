"""Operations of MLIR's arith, vector and memref dialects that xDSL has not, or has for numbers alone: what kernels compute with vectors.

    CmpfOp.create(operands=[x, y], result_types=[VectorType(i1, [16])], properties=...)

Names, operands and properties are MLIR's (https://mlir.llvm.org/docs/Dialects/), so the generic form is read by its tools. Those
of arith take numbers as well. This package's context reads them back (`upstream.Completed`).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    I1,
    I32,
    I64,
    AnyFloat,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

if TYPE_CHECKING:
    from xdsl.parser import Parser

Kinds = type[Attribute] | UnionType


def shape_of(type: Attribute) -> tuple[int, ...] | None:
    """The shape of a vector type; None of a number's."""
    return type.get_shape() if isa(type, VectorType[Attribute]) else None


def element_of(type: Attribute) -> Attribute:
    """The type of a vector's elements, or of a number."""
    return type.element_type if isa(type, VectorType[Attribute]) else type


def check(type: Attribute, kinds: Kinds, what: str) -> None:
    """Raises `VerifyException` unless elements are of these kinds."""
    if not isinstance(element_of(type), kinds):
        raise VerifyException(f"{what} has elements {element_of(type)}")


class Comparison(IRDLOperation, ABC):
    """Compares elements; the result has i1 of the same shape."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    predicate = prop_def(IntegerAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if element_of(self.result.type) != IntegerType(1):
            raise VerifyException(f"a comparison gives i1, not {self.result.type}")
        if shape_of(self.result.type) != shape_of(self.lhs.type):
            raise VerifyException("operands and result have one shape")


@irdl_op_definition
class CmpfOp(Comparison):
    """arith.cmpf."""

    name = "arith.cmpf"
    fastmath = prop_def(arith.FastMathFlagsAttr, default_value=arith.FastMathFlagsAttr("none"))

    def verify_(self) -> None:
        super().verify_()
        check(self.lhs.type, AnyFloat, "an operand")


@irdl_op_definition
class CmpiOp(Comparison):
    """arith.cmpi."""

    name = "arith.cmpi"

    def verify_(self) -> None:
        super().verify_()
        check(self.lhs.type, IntegerType | IndexType, "an operand")


@irdl_op_definition
class SelectOp(IRDLOperation):
    """arith.select: by an i1 for all elements, or one for each."""

    name = "arith.select"
    T: ClassVar = VarConstraint("T", AnyAttr())

    condition = operand_def()
    true_value = operand_def(T)
    false_value = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if element_of(self.condition.type) != IntegerType(1):
            raise VerifyException(f"a condition is i1, not {self.condition.type}")
        if shape_of(self.condition.type) not in (None, shape_of(self.result.type)):
            raise VerifyException("the condition has another shape")


class Cast(IRDLOperation, ABC):
    """Makes each element one of another type."""

    SOURCE: ClassVar[Kinds]
    TARGET: ClassVar[Kinds]

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        check(self.input.type, self.SOURCE, "the operand")
        check(self.result.type, self.TARGET, "the result")
        if shape_of(self.input.type) != shape_of(self.result.type):
            raise VerifyException("operand and result have one shape")


@irdl_op_definition
class ExtFOp(Cast):
    """arith.extf."""

    name = "arith.extf"
    SOURCE: ClassVar = AnyFloat
    TARGET: ClassVar = AnyFloat


@irdl_op_definition
class TruncFOp(Cast):
    """arith.truncf."""

    name = "arith.truncf"
    SOURCE: ClassVar = AnyFloat
    TARGET: ClassVar = AnyFloat


@irdl_op_definition
class ExtUIOp(Cast):
    """arith.extui."""

    name = "arith.extui"
    SOURCE: ClassVar = IntegerType
    TARGET: ClassVar = IntegerType


@irdl_op_definition
class UIToFPOp(Cast):
    """arith.uitofp."""

    name = "arith.uitofp"
    SOURCE: ClassVar = IntegerType
    TARGET: ClassVar = AnyFloat


@irdl_op_definition
class ExtSIOp(Cast):
    """arith.extsi."""

    name = "arith.extsi"
    SOURCE: ClassVar = IntegerType
    TARGET: ClassVar = IntegerType


@irdl_op_definition
class TruncIOp(Cast):
    """arith.trunci."""

    name = "arith.trunci"
    SOURCE: ClassVar = IntegerType
    TARGET: ClassVar = IntegerType


@irdl_op_definition
class SIToFPOp(Cast):
    """arith.sitofp."""

    name = "arith.sitofp"
    SOURCE: ClassVar = IntegerType
    TARGET: ClassVar = AnyFloat


@irdl_op_definition
class FPToSIOp(Cast):
    """arith.fptosi."""

    name = "arith.fptosi"
    SOURCE: ClassVar = AnyFloat
    TARGET: ClassVar = IntegerType


# --- vector --------------------------------------------------------------------------------------------------


@irdl_op_definition
class ConstantMaskOp(IRDLOperation):
    """vector.constant_mask: the first lanes of each dimension."""

    name = "vector.constant_mask"

    mask_dim_sizes = prop_def(DenseArrayBase.constr(I64))
    result = result_def(VectorType[I1])
    traits = traits_def(Pure())

    def verify_(self) -> None:
        sizes, shape = self.mask_dim_sizes.get_values(), self.result.type.get_shape()
        if len(sizes) != len(shape) or any(not 0 <= n <= m for n, m in zip(sizes, shape, strict=True)):
            raise VerifyException(f"no mask of {sizes} in {shape}")


@irdl_op_definition
class GatherOp(IRDLOperation):
    """vector.gather: elements at offsets, in elements, from a place in memory."""

    name = "vector.gather"

    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    offsets = operand_def(VectorType)
    mask = operand_def(VectorType[I1])
    pass_thru = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())

    def verify_(self) -> None:
        base = self.base.type
        if not isa(base, MemRefType[Attribute]) or base.get_num_dims() != len(self.indices):
            raise VerifyException("an index for each dimension is expected")
        vectors = (self.offsets.type, self.mask.type, self.pass_thru.type, self.result.type)
        if len({shape_of(type) for type in vectors}) != 1 or self.pass_thru.type != self.result.type:
            raise VerifyException("offsets, mask, what is passed through and the result have one shape")
        if base.element_type != element_of(self.result.type):
            raise VerifyException("memory and the result have one element type")


@irdl_op_definition
class ExtractStridedSliceOp(IRDLOperation):
    """vector.extract_strided_slice: part of a vector."""

    name = "vector.extract_strided_slice"

    source = operand_def(VectorType)
    offsets = prop_def(ArrayAttr[IntegerAttr])
    sizes = prop_def(ArrayAttr[IntegerAttr])
    strides = prop_def(ArrayAttr[IntegerAttr])
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        offsets, sizes, strides = (
            [each.value.data for each in attr.data] for attr in (self.offsets, self.sizes, self.strides)
        )
        shape = shape_of(self.source.type) or ()
        ends = [o + (n - 1) * s for o, n, s in zip(offsets, sizes, strides, strict=True)]
        if any(end >= size for end, size in zip(ends, shape, strict=False)):
            raise VerifyException("a slice beyond the vector")
        if shape_of(self.result.type) != (*sizes, *shape[len(sizes) :]):
            raise VerifyException("the result's shape is that of the slice")


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """memref.prefetch: asks caches for an element that is read soon, or written; nothing else happens."""

    name = "memref.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    isWrite = prop_def(BoolAttr)
    localityHint = prop_def(IntegerAttr[I32])
    isDataCache = prop_def(BoolAttr)
    traits = traits_def(MemoryReadEffect())


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """LLVM's type of what a register of tiles holds (AMX), of whatever size and elements."""

    name = "llvm.x86_amx"


CASTS = (ExtFOp, TruncFOp, ExtUIOp, ExtSIOp, TruncIOp, UIToFPOp, SIToFPOp, FPToSIOp)
OF_VECTORS: dict[str, type[Operation]] = {op.name: op for op in (CmpfOp, CmpiOp, SelectOp, *CASTS)}
"""Operations that xDSL has as well, by name."""
OPERATIONS: tuple[type[Operation], ...] = (ConstantMaskOp, GatherOp, ExtractStridedSliceOp, PrefetchOp)
"""Operations that xDSL has not."""
ATTRIBUTES: tuple[type[Attribute], ...] = (TileType,)


@cache
def on_numbers_or_vectors(of_numbers: type[Operation]) -> type[Operation]:
    """An operation of xDSL's as text has it: it is ours where operands are vectors, which nothing but kernels compute with."""
    ours = OF_VECTORS[of_numbers.name]

    class Read(of_numbers):
        @classmethod
        def create(cls, operands: Sequence[SSAValue] = (), **said: Any) -> Operation:
            is_of_vectors = any(isinstance(operand.type, VectorType) for operand in operands)
            return (ours if is_of_vectors else of_numbers).create(operands=operands, **said)

        @classmethod
        def parse(cls, parser: Parser) -> Operation:
            return of_numbers.parse(parser)

    return Read
