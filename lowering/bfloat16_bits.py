"""bfloat16 as the integers of 16 bits that they are in memory, in a function that is about to become code.

LLVM takes vectors of bfloat16 apart where a processor has no instructions for them, even if they are only moved, chosen from, or the upper
halves of float32; integers stay together. Bodies compute in float32, and convert by integer arithmetic (`body_types.widened`,
`scalar.cast`), so that nothing is left but types. How a function is called does not change: pointers have no element types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    TensorType,
    VectorType,
    f32,
    i16,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects import vectors
from xdsl_exir.lowering.vector_builder import dense

COMPUTING = ("arith", "math", "complex")
"""Dialects whose operations compute."""
MOVING = ("arith.constant", "arith.select", "arith.bitcast", "arith.extf")
"""Those of them that may have bfloat16 all the same."""
INTRINSIC = "llvm.call_intrinsic"
"""It takes bfloat16 as such, as instructions of a processor do."""


def places_in(op: Operation) -> list[int]:
    """Which operands have bfloat16."""
    return [at for at, value in enumerate(op.operands) if has_bfloat16(value.type)]


def bfloat16_as_bits(function: FuncOp) -> None:
    """Puts integers in the place of a function's bfloat16, unless it computes with some."""
    kinds = {id(value.type): value.type for op in function.walk() for value in made_by(op)}
    if not any(map(has_bfloat16, kinds.values())):
        return
    having = [op for op in function.walk() if any(has_bfloat16(value.type) for value in values_of(op))]
    names = {op.name for op in having if op.name.partition(".")[0] in COMPUTING}
    if not names <= {*MOVING}:
        return
    for op in having:
        if op.name == "arith.extf":
            widen(op)
    given = [(op, at, op.operands[at].type) for op in having if op.name == INTRINSIC for at in places_in(op)]
    left = list(function.walk())
    for value in dict.fromkeys(value for op in left for value in values_of(op) if has_bfloat16(value.type)):
        Rewriter.replace_value_with_new_type(value, as_bits(value.type))
    for op in left:
        if isinstance(op, arith.ConstantOp) and op in having:
            op.properties["value"] = bits_of(op.value)
        elif isinstance(op, arith.BitcastOp) and op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.detach()
            op.erase()
    for op, at, type in given:
        assert op.parent is not None
        op.parent.insert_op_before(cast := arith.BitcastOp(op.operands[at], type), op)
        op.operands[at] = cast.result
    inputs, outputs = (
        map(as_bits, types) for types in (function.function_type.inputs, function.function_type.outputs)
    )
    function.properties["function_type"] = FunctionType.from_lists(list(inputs), list(outputs))


def values_of(op: Operation) -> Iterator[SSAValue]:
    """What an operation makes, in its regions too, and takes."""
    yield from op.operands
    yield from made_by(op)


def made_by(op: Operation) -> Iterator[SSAValue]:
    """What an operation makes, in its regions too."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def element_of(type: Attribute) -> Attribute:
    """The type of elements, or of a number. (It is asked of each value of each kernel: `isa` with types' arguments takes most of a compile.)"""
    match type:
        case MemRefType() | TensorType() | VectorType():
            return type.element_type
        case _:
            return type


def has_bfloat16(type: Attribute) -> bool:
    return isinstance(element_of(type), BFloat16Type)


def with_elements(type: Attribute, element: Attribute) -> Attribute:
    """A type with other elements."""
    match type:
        case VectorType():
            return VectorType(element, type.shape, type.scalable_dims)
        case TensorType():
            return TensorType(element, type.get_shape(), type.encoding)
        case MemRefType():
            return MemRefType(element, type.shape, type.layout, type.memory_space)
        case _:
            return element


def as_bits(type: Attribute) -> Attribute:
    return with_elements(type, i16) if has_bfloat16(type) else type


def bits_of(constant: Attribute) -> Attribute:
    """The bits of a constant."""
    match constant:
        case FloatAttr(value=number):
            return IntegerAttr(bits(number.data), i16)
        case DenseIntOrFPElementsAttr():
            made: list[Any] = [bits(number) for number in constant.iter_values()]
            return dense(as_bits(constant.type), made)
        case _:
            raise AssertionError(f"no constant of bfloat16: {constant}")


def bits(number: Any) -> int:
    """Of a bfloat16, as a signed integer."""
    import ml_dtypes
    import numpy as np

    return int(np.array(number, np.float32).astype(ml_dtypes.bfloat16).view(np.int16))


def widen(op: Operation) -> None:
    """A conversion in integers."""
    block, given, type = op.parent, op.operands[0], op.results[0].type
    assert block is not None

    def add(
        kind: type[Operation], operand: list[SSAValue], element: Attribute, **said: Attribute
    ) -> SSAValue:
        made = kind.create(operands=operand, result_types=[with_elements(type, element)], properties=said)
        block.insert_op_before(made, op)
        return made.results[0]

    number = IntegerAttr(16, i32)
    whole: Attribute = with_elements(type, i32)
    sixteen = add(arith.ConstantOp, [], i32, value=number if whole == i32 else dense(whole, [16]))
    short = add(arith.BitcastOp, [given], i16)
    shifted = add(arith.ShLIOp, [add(vectors.ExtUIOp, [short], i32), sixteen], i32)
    made = add(arith.BitcastOp, [shifted], f32)
    if type != made.type:
        made = add(vectors.ExtFOp, [made], element_of(type))
    op.results[0].replace_all_uses_with(made)
    op.detach()
    op.erase()
