"""`to-irdl-names` and `from-irdl-names`: programs in the form that mlir-opt takes with the dialects in IRDL, and back.

    xdsl-exir irdl > exir.irdl.mlir
    xdsl-exir import model.pt2 --stage edge --rename | mlir-opt-22 --irdl-file=exir.irdl.mlir
    ... | xdsl-opt --allow-unregistered-dialect -p from-irdl-names

What changes, and why, is told in `dialects.irdl_text`. The two passes undo each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    UnrealizedConversionCastOp,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import OptOperandDef, VarOperandDef, VarResultDef
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_exir.dialects.irdl_text import ITEM, TEXT, definition, irdl_name, operation_classes
from xdsl_exir.dialects.tensors import is_array_attr

# --- attributes ----------------------------------------------------------------------------------------------

Replace = Callable[[Attribute], Attribute | None]
"""What stands for an attribute; None where it stays, and its parts are looked at."""


def map_attribute(attr: Attribute, replace: Replace) -> Attribute:
    """An attribute with its parts replaced, however deep they are."""
    replaced = replace(attr)
    if replaced is not None:
        return replaced
    if is_array_attr(attr):
        return ArrayAttr([map_attribute(item, replace) for item in attr.data])
    if isinstance(attr, DictionaryAttr):
        return DictionaryAttr({key: map_attribute(item, replace) for key, item in attr.data.items()})
    if isinstance(attr, ParametrizedAttribute):
        parts = [map_attribute(part, replace) for part in attr.parameters]
        return attr if parts == list(attr.parameters) else type(attr).new(parts)
    return attr


def map_attributes(module: ModuleOp, replace: Replace) -> None:
    """Replaces attributes everywhere in a module: of operations, and types of values."""
    for op in module.walk():
        for held in (op.attributes, op.properties):
            held.update({key: map_attribute(attr, replace) for key, attr in held.items()})
        for value in (
            *op.results,
            *(arg for region in op.regions for block in region.blocks for arg in block.args),
        ):
            type = map_attribute(value.type, replace)
            if type != value.type:
                Rewriter.replace_value_with_new_type(value, type)


def unregistered(ctx: Context, name: str, is_type: bool, text: str) -> Attribute:
    """An attribute or type that xDSL does not know, of a context that knows none."""
    cls = ctx.get_type(name) if is_type else ctx.get_attr(name)
    assert issubclass(cls, UnregisteredAttr)
    return cls(name, is_type, False, text)


def to_text(ctx: Context) -> Replace:
    """Replaces attributes of `exir` by those that hold their text."""

    def replace(attr: Attribute) -> Attribute | None:
        if not attr.name.startswith("exir."):
            return None
        stream = StringIO()
        Printer(stream).print_attribute(attr)
        text = stream.getvalue().partition("<")[2][:-1]
        return unregistered(ctx, attr.name + TEXT, isinstance(attr, TypeAttribute), str(StringAttr(text)))

    return replace


def from_text(ctx: Context) -> Replace:
    """The inverse of `to_text`."""

    def replace(attr: Attribute) -> Attribute | None:
        if not isinstance(attr, UnregisteredAttr):
            return None
        name = attr.attr_name.data
        if not name.startswith("exir.") or not name.endswith(TEXT):
            return None
        text = Parser(ctx, attr.value.data).parse_str_literal()
        sigil = "!" if attr.is_type.data else "#"
        parser = Parser(ctx, f"{sigil}{name.removesuffix(TEXT)}<{text}>")
        return parser.parse_type() if attr.is_type.data else parser.parse_attribute()

    return replace


# --- variadic operands and results ---------------------------------------------------------------------------


def lists(op: Operation) -> tuple[list[slice], list[slice]]:
    """Where the operands and results of a described operation hold lists whose types differ."""
    op_def = definition(type(op))
    return (
        list(_lists(op, op_def.operands, [value.type for value in op.operands], VarOperandDef)),
        list(_lists(op, op_def.results, [value.type for value in op.results], VarResultDef)),
    )


def _lists(
    op: Operation, defined: Sequence[tuple[str, object]], types: Sequence[Attribute], variadic: type
) -> Iterator[slice]:
    start = 0
    for name, kind in defined:
        size = 1
        if isinstance(kind, OptOperandDef):
            size = int(getattr(op, name) is not None)
        elif isinstance(kind, variadic):
            size = len(getattr(op, name))
        if len(set(types[start : start + size])) > 1:
            yield slice(start, start + size)
        start += size


def cast(value: SSAValue, type: Attribute, at: InsertPoint) -> SSAValue:
    """A value in another type, by a cast that the inverse pass takes away."""
    op = UnrealizedConversionCastOp.create(operands=[value], result_types=[type])
    Rewriter.insert_op(op, at)
    return op.results[0]


# --- passes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ToIrdlNames(ModulePass):
    """Programs as mlir-opt takes them with `--irdl-file`."""

    name = "to-irdl-names"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        foreign, known = Context(allow_unregistered=True), operation_classes()
        for inner in list(op.walk()):
            name = irdl_name(inner.name)
            if known.get(name) is type(inner):
                rename(foreign, inner, name)
        map_attributes(op, to_text(foreign))


def rename(ctx: Context, op: Operation, name: str) -> None:
    """Replaces an operation by one of its IRDL name."""
    item = unregistered(ctx, ITEM, True, "")
    operands, types = list(op.operands), [result.type for result in op.results]
    several, several_results = lists(op)
    for part in several:
        operands[part] = [cast(value, item, InsertPoint.before(op)) for value in operands[part]]
    for part in several_results:
        types[part] = [item] * (part.stop - part.start)
    renamed = ctx.get_op(name).create(
        operands=operands,
        result_types=types,
        properties={},  # of its own: without, xDSL's unregistered operations share one dictionary
        attributes={**op.properties, **op.attributes},
        location=op.location,
    )
    replace(op, renamed)


def replace(op: Operation, by: Operation) -> None:
    """Replaces an operation; results whose types differ are cast."""
    Rewriter.insert_op(by, InsertPoint.before(op))
    for old, new in zip(op.results, by.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(
            new if new.type == old.type else cast(new, old.type, InsertPoint.before(op))
        )
    op.detach()
    op.erase()


@dataclass(frozen=True)
class FromIrdlNames(ModulePass):
    """The inverse of `to-irdl-names`. What it does not know stays as it is."""

    name = "from-irdl-names"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        map_attributes(op, from_text(ctx))
        known = operation_classes()
        for inner in list(op.walk()):
            cls = known.get(foreign_name(inner))
            if cls is not None:
                restore(inner, cls)
        for inner in list(op.walk()):
            if isinstance(inner, UnrealizedConversionCastOp) and not any(r.uses for r in inner.results):
                inner.detach()
                inner.erase()


def is_item(value: SSAValue) -> bool:
    """Whether a value stands for one of a list."""
    return isinstance(value.type, UnregisteredAttr) and value.type.attr_name.data == ITEM


def foreign_name(op: Operation) -> str:
    """An operation's name in the text. Where IRDL's name is also ours, it was read as ours."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def restore(op: Operation, cls: type[Operation]) -> None:
    """Replaces an operation by the one whose IRDL name it has."""
    properties = definition(cls).properties
    operands: list[SSAValue] = []
    for value in op.operands:
        source = value.owner
        casts = is_item(value) and isinstance(source, UnrealizedConversionCastOp)
        operands.append(source.operands[0] if casts and isinstance(source, Operation) else value)
    casts_of = [next((use.operation for use in r.uses), None) if is_item(r) else None for r in op.results]
    attributes = {key: attr for key, attr in (op.properties | op.attributes).items() if key != "op_name__"}
    restored = cls.create(
        operands=operands,
        result_types=[
            use.results[0].type if use else r.type for use, r in zip(casts_of, op.results, strict=True)
        ],
        properties={key: attr for key, attr in attributes.items() if key in properties},
        attributes={key: attr for key, attr in attributes.items() if key not in properties},
        location=op.location,
    )
    Rewriter.insert_op(restored, InsertPoint.before(op))
    for old, new, use in zip(op.results, restored.results, casts_of, strict=True):
        new.name_hint = old.name_hint
        (use.results[0] if use else old).replace_all_uses_with(new)
    for use in casts_of:
        if use is not None:
            use.detach()
            use.erase()
    op.detach()
    op.erase()
