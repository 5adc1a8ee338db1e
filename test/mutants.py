"""Mutants of an operation: each differs from it in one thing, which the verifier should find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block
from xdsl.irdl import AttrSizedOperandSegments, OptPropertyDef

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp, define
from xdsl_exir.dialects.tensors import SymFloatType, SymIntType, SymType, TensorMeta, tensor_meta, tensor_type

DTYPES = (dt.Bool, dt.Byte, dt.Long, dt.Half, dt.BFloat16, dt.Float, dt.Double, dt.ComplexFloat)
"""One dtype or two of each category, reduced floats included."""

SEGMENTS = AttrSizedOperandSegments.attribute_name


@dataclass(frozen=True)
class Mutant:
    """An operation that was changed, how, and in what."""

    kind: str
    what: str
    op: OperatorOp


def rebuilt(
    op: OperatorOp,
    operands: Sequence[Attribute] | None = None,
    results: Sequence[Attribute] | None = None,
    properties: Mapping[str, Attribute] | None = None,
) -> OperatorOp:
    """The operation over fresh operands, with other types or properties."""
    block = Block(arg_types=op.operand_types if operands is None else operands)
    made = type(op).create(
        regions=(),  # as it is: nothing is made up
        operands=block.args,
        result_types=op.result_types if results is None else results,
        properties=op.properties if properties is None else properties,
    )
    block.add_op(made)
    return made


def swapped(types: Sequence[Attribute], index: int, type: Attribute) -> list[Attribute]:
    return [*types[:index], type, *types[index + 1 :]]


# --- types ---------------------------------------------------------------------------------------------------


def of_meta(meta: TensorMeta) -> Attribute:
    return tensor_type(meta.shape, meta.dtype, meta.dim_order, meta.device)


def other_dtypes(type: Attribute) -> Iterator[Attribute]:
    if isinstance(type, TensorType):
        meta = tensor_meta(type)
        yield from (of_meta(replace(meta, dtype=dtype)) for dtype in DTYPES if dtype is not meta.dtype)


def other_sizes(type: Attribute) -> Iterator[Attribute]:
    if isinstance(type, TensorType):
        meta = tensor_meta(type)
        for dim, size in enumerate(meta.shape):
            yield of_meta(replace(meta, shape=(*meta.shape[:dim], size + 1, *meta.shape[dim + 1 :])))
    elif isinstance(type, SymType):
        yield SymFloatType(Expr.parse("0.5"))


def other_ranks(type: Attribute) -> Iterator[Attribute]:
    if isinstance(type, TensorType):
        meta = tensor_meta(type)
        yield of_meta(replace(meta, shape=(*meta.shape, 2)))
        if meta.shape:
            yield of_meta(replace(meta, shape=meta.shape[1:]))


def other_kinds(type: Attribute) -> Iterator[Attribute]:
    """Types of another kind: no tensor, a number, a tensor of a dtype that PyTorch has not."""
    yield IndexType()
    yield TensorType(i32, [DYNAMIC_INDEX])
    if isinstance(type, TensorType):
        yield f64
        yield SymIntType(Expr.parse("s0"))
        yield TensorType(IndexType(), type.get_shape())
    else:
        yield tensor_type((2,), dt.Float)


TYPE_CHANGES: dict[str, Callable[[Attribute], Iterator[Attribute]]] = {
    "dtype": other_dtypes,
    "size": other_sizes,
    "rank": other_ranks,
    "kind": other_kinds,
}


def type_mutants(op: OperatorOp) -> Iterator[Mutant]:
    for change, others in TYPE_CHANGES.items():
        for index, type in enumerate(op.operand_types):
            for other in others(type):
                mutant = rebuilt(op, operands=swapped(op.operand_types, index, other))
                yield Mutant(f"operand {change}", f"operand {index} {other}", mutant)
        for index, type in enumerate(op.result_types):
            for other in others(type):
                mutant = rebuilt(op, results=swapped(op.result_types, index, other))
                yield Mutant(f"result {change}", f"result {index} {other}", mutant)


def count_mutants(op: OperatorOp) -> Iterator[Mutant]:
    """An operand or result too many or too few."""
    extra = tensor_type((2, 3), dt.Float)
    yield Mutant("operand added", "", rebuilt(op, operands=[*op.operand_types, extra]))
    if op.operands:
        yield Mutant("operand dropped", "", rebuilt(op, operands=op.operand_types[:-1]))
    yield Mutant("result added", "", rebuilt(op, results=[*op.result_types, extra]))
    if op.results:
        yield Mutant("result dropped", "", rebuilt(op, results=op.result_types[:-1]))
    segments = op.properties.get(SEGMENTS)
    if isinstance(segments, DenseArrayBase):
        sizes = list(segments.get_values())
        for kind, index, change in (("grown", 0, 1), ("grown", -1, 1), ("shrunk", 0, -1)):
            changed = [*sizes]
            changed[index] += change
            attr = DenseArrayBase.from_list(i32, changed)
            yield Mutant(
                f"segment {kind}", str(changed), rebuilt(op, properties=op.properties | {SEGMENTS: attr})
            )


# --- properties ----------------------------------------------------------------------------------------------

WRONG = (
    UnitAttr(),
    StringAttr("?"),
    IntegerAttr(1, i32),
    IntegerAttr(1, i64),
    DenseArrayBase.from_list(i32, [1]),
    ArrayAttr([UnitAttr()]),
)
"""Attributes of kinds that few properties have; those that a property does have are told apart by PyTorch."""


def property_mutants(op: OperatorOp) -> Iterator[Mutant]:
    held = dict(op.properties)
    yield Mutant("property unknown", "", rebuilt(op, properties=held | {"nonesuch": UnitAttr()}))
    definitions = define(type(op)).properties
    for name, attr in held.items():
        if not isinstance(definitions[name], OptPropertyDef):
            rest = {key: value for key, value in held.items() if key != name}
            yield Mutant("property dropped", name, rebuilt(op, properties=rest))
        for wrong in WRONG:
            if type(wrong) is not type(attr) or getattr(wrong, "type", None) != getattr(attr, "type", None):
                yield Mutant(
                    "property kind", f"{name} = {wrong}", rebuilt(op, properties=held | {name: wrong})
                )
        if name != SEGMENTS:
            for kind, value in other_values(name, attr):
                yield Mutant(kind, f"{name} = {value}", rebuilt(op, properties=held | {name: value}))


def other_values(name: str, attr: Attribute) -> Iterator[tuple[str, Attribute]]:
    """Other values of a property: dimensions out of range, longer and shorter lists, other numbers."""
    is_dim = name.startswith(("dim", "axis")) or name.endswith("_dim")
    if isinstance(attr, IntegerAttr) and attr.type == i64:
        yield "value", IntegerAttr(attr.value.data + 1, i64)
        for value in (99, -99) if is_dim else ():
            yield "dim out of range", IntegerAttr(value, i64)
    elif isinstance(attr, DenseArrayBase) and attr.elt_type == i64:
        values = list(attr.get_values())
        yield "list length", DenseArrayBase.from_list(i64, [*values, 1])
        if values:
            yield "list length", DenseArrayBase.from_list(i64, values[:-1])
            yield "value", DenseArrayBase.from_list(i64, [*values[:-1], values[-1] + 1])
            if is_dim:
                yield "dim out of range", DenseArrayBase.from_list(i64, [*values[:-1], 99])
                yield "dim twice", DenseArrayBase.from_list(i64, [*values, values[0]])
    elif attr in dt.BY_MLIR_TYPE:
        for dtype in DTYPES:
            if dtype.mlir_type != attr:
                yield "dtype argument", dtype.mlir_type


def mutants(op: OperatorOp) -> Iterator[Mutant]:
    """Every mutant of an operation."""
    yield from type_mutants(op)
    yield from count_mutants(op)
    yield from property_mutants(op)
