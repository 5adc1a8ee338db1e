"""What has to hold of operations of the `torchscript` dialect: of each, all that is wrong.

`violations_of_module` lists those of a whole program, one a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, Region

from xdsl_exir.dialects.schema import FunctionSchema
from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.matching import bind, resolved
from xdsl_exir.dialects.torchscript.operations import PREFIX, FuncOp, ReturnOp, ScriptOp, YieldOp
from xdsl_exir.dialects.torchscript.schemas import type_of
from xdsl_exir.locations import location_text


def violations_of_module(module: ModuleOp, places: Mapping[Operation, str] | None = None) -> list[str]:
    """Everything that is wrong in a module, with its line of source; where it says none, with its place among `places`."""
    found: list[str] = []
    for op in module.walk():
        at = location_text(op) or (places or {}).get(op, "")
        for message in violations_of(op) if isinstance(op, ScriptOp) else ():
            found.append(f"{at}: {op.name}: {message}" if at else f"{op.name}: {message}")
    return found


def violations_of(op: ScriptOp) -> list[str]:
    """What is wrong with one operation; nothing where it is as it should be."""
    rule = RULES.get(op.kind)
    if rule is not None:
        return list(rule(op))
    schema = op.schema()
    return [] if schema is None else list(_registered(op, schema))


def _registered(op: ScriptOp, schema: FunctionSchema) -> Iterator[str]:
    types = [operand.type for operand in op.operands]
    arguments = schema.arguments
    if len(types) < len(arguments) or (len(types) > len(arguments) and not schema.takes_any):
        yield f"{len(types)} operands for {len(arguments)} arguments"
        return
    variables: dict[str, Attribute] = {}
    for argument, type in zip(arguments, types, strict=False):
        formal = type_of(argument.type)
        fits = bind(formal, type, variables, _no_bases)
        if not fits or not _may_be(type, resolved(formal, variables)):
            yield f"argument '{argument.name}' is {type}, expected {formal}"
    if not schema.returns_any and len(op.results) != len(schema.returns):
        yield f"{len(op.results)} results for {len(schema.returns)}"
        return
    for ret, result in zip(schema.returns, op.results, strict=False):
        expected = resolved(type_of(ret.type), variables)
        if not _may_be(result.type, expected) and not _may_be(expected, result.type):
            yield f"a result is {result.type}, expected {expected}"


def _no_bases(type: ts.ClassType) -> Sequence[Attribute]:
    return ()


def _may_be(type: Attribute, of: Attribute) -> bool:
    """Whether a type may stand where another is expected; what classes are besides is left to who runs the program."""
    if isinstance(type, ts.ClassType) or (
        isinstance(type, ts.OptionalType) and isinstance(type.item, ts.ClassType)
    ):
        return (
            not ts.is_plain(of) or of == ts.ANY or of in (ts.PLAIN["AnyClassType"], ts.PLAIN["AnyEnumType"])
        )
    return ts.is_subtype(type, of)


# --- operations of graphs ------------------------------------------------------------------------------------


def _yields(op: ScriptOp, region: Region, expected: Sequence[Attribute], what: str) -> Iterator[str]:
    last = region.block.last_op if len(region.blocks) == 1 else None
    if not isinstance(last, YieldOp):
        yield f"{what} does not end with {YieldOp.name}"
        return
    types = [operand.type for operand in last.operands]
    if len(types) != len(expected):
        yield f"{what} gives {len(types)} values for {len(expected)}"
        return
    for index, (type, wanted) in enumerate(zip(types, expected, strict=True)):
        if not _may_be(type, wanted):
            yield f"{what} gives {type} as value {index}, expected {wanted}"


def _if(op: ScriptOp) -> Iterator[str]:
    if [ts.unspelled(operand.type) for operand in op.operands] != [ts.BOOL]:
        yield "takes one bool"
    if len(op.regions) != 2:
        yield f"{len(op.regions)} blocks, expected 2"
        return
    for region, what in zip(op.regions, ("the first block", "the second block"), strict=True):
        yield from _yields(op, region, op.result_types, what)


def _loop(op: ScriptOp) -> Iterator[str]:
    types = [operand.type for operand in op.operands]
    if types[:2] != [ts.INT, ts.BOOL]:
        yield "takes a count and whether it begins"
    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
        yield "has one block"
        return
    carried = op.result_types
    block = op.regions[0].block
    if [arg.type for arg in block.args] != [ts.INT, *carried]:
        yield "its block takes the number of the iteration and what is carried"
    if len(types) != len(carried) + 2:
        yield f"begins with {len(types) - 2} values for {len(carried)}"
    for type, wanted in zip(types[2:], carried, strict=False):
        if not _may_be(type, wanted):
            yield f"begins with {type}, carries {wanted}"
    yield from _yields(op, op.regions[0], [ts.BOOL, *carried], "the block")


def _function(op: ScriptOp) -> Iterator[str]:
    said = op.attributes.get("results")
    if not op.text("sym_name"):
        yield "has no name"
    if not isinstance(said, ArrayAttr):
        yield "does not say what it gives"
        return
    results: Sequence[Attribute] = cast("ArrayAttr[Attribute]", said).data
    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
        yield "has one block"
        return
    last = op.regions[0].block.last_op
    if not isinstance(last, ReturnOp):
        yield f"does not end with {ReturnOp.name}"
        return
    types = [operand.type for operand in last.operands]
    if len(types) != len(results) or not all(map(_may_be, types, results)):
        yield f"gives {', '.join(map(str, types))}, expected {', '.join(map(str, results))}"


def _one_result(op: ScriptOp) -> Iterator[str]:
    if len(op.results) != 1:
        yield f"{len(op.results)} results, expected 1"


def _list(op: ScriptOp) -> Iterator[str]:
    type = ts.unspelled(op.result_types[0]) if len(op.results) == 1 else None
    if not isinstance(type, ts.ListType):
        yield "gives a list"
        return
    for operand in op.operands:
        if not _may_be(operand.type, type.item):
            yield f"an item is {operand.type}, expected {type.item}"


def _tuple(op: ScriptOp) -> Iterator[str]:
    type = ts.unspelled(op.result_types[0]) if len(op.results) == 1 else None
    if isinstance(type, ts.ClassType):
        return
    if not isinstance(type, ts.TupleType) or len(type.items) != len(op.operands):
        yield "gives a tuple of its operands"
        return
    for operand, item in zip(op.operands, type.items, strict=True):
        if not _may_be(operand.type, item):
            yield f"an item is {operand.type}, expected {item}"


def _dict(op: ScriptOp) -> Iterator[str]:
    type = op.result_types[0] if len(op.results) == 1 else None
    if not isinstance(type, ts.DictType) or len(op.operands) % 2:
        yield "gives a dict of pairs of operands"
        return
    for index, operand in enumerate(op.operands):
        wanted = ts.items_of(type)[index % 2]
        if not _may_be(operand.type, wanted):
            yield f"an item is {operand.type}, expected {wanted}"


def _named(count: int, results: int) -> Callable[[ScriptOp], Iterator[str]]:
    def rule(op: ScriptOp) -> Iterator[str]:
        if not isinstance(op.attributes.get("name"), StringAttr):
            yield "does not say which (name)"
        if len(op.operands) != count or len(op.results) != results:
            yield f"{len(op.operands)} operands and {len(op.results)} results, expected {count} and {results}"

    return rule


def _anywhere(op: ScriptOp) -> Iterator[str]:
    return iter(())


RULES: Mapping[str, Callable[[ScriptOp], Iterator[str]]] = {
    "prim.If": _if,
    "prim.Loop": _loop,
    "prim.ListConstruct": _list,
    "prim.TupleConstruct": _tuple,
    "prim.DictConstruct": _dict,
    "prim.Constant": _one_result,
    "prim.GetAttr": _named(1, 1),
    "prim.SetAttr": _named(2, 0),
    "prim.CreateObject": _one_result,
    "prim.isinstance": _one_result,
    "prim.unchecked_cast": _one_result,
    "prim.TupleIndex": _one_result,
    "prim.tolist": _one_result,
    "prim.TupleUnpack": _anywhere,
    FuncOp.name.removeprefix(PREFIX): _function,
}
"""By kind of operation; all others are checked by their schemas."""
