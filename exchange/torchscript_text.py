"""Prints functions of the `torchscript` dialect as TorchScript prints graphs (`print(scripted.graph)`); `importers.torchscript.graph_text`
reads them.

    graph(%x : Tensor):
      %1 : int = prim::Constant[value=1]() # model.py:3:8
      %y : Tensor = aten::add(%x, %x, %1)
      return (%y)

Names are those that values have, with a number where two have one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.operations import STRUCTURAL, FuncOp, ScriptOp


def type_text(type: Attribute) -> str:
    """A type as graphs write it: `(Tensor, int)[]?`."""
    match type:
        case ts.SpelledType():
            return type.text.data
        case ts.ListType():
            return f"{type_text(type.item)}[]"
        case ts.OptionalType():
            return f"{type_text(type.item)}?"
        case ts.TupleType():
            return f"({', '.join(map(type_text, ts.items_of(type)))})"
        case ts.UnionType():
            return f"Union[{', '.join(map(type_text, ts.items_of(type)))}]"
        case ts.DictType():
            return f"Dict({type_text(type.key)}, {type_text(type.item)})"
        case ts.FutureType():
            return f"Future[{type_text(type.item)}]"
        case ts.FunctionType():
            return "Function"
        case _:
            return "Scalar" if type == ts.SCALAR else str(type)


def constant_text(value: Attribute, type: Attribute) -> str:
    """A constant as graphs write it."""
    match value:
        case IntegerAttr():
            return str(abs(value.value.data) if value.type == i1 else value.value.data)
        case FloatAttr():
            return _float(value.value.data)
        case StringAttr():
            return '"' + "".join(map(_character, value.data)) + '"'
        case ArrayAttr():
            items = ts.items_of(type)
            return f"[{', '.join(constant_text(item, items[0] if items else type) for item in value)}]"
        case _:
            return str(value)


def _float(value: float) -> str:
    if math.isnan(value) or math.isinf(value):
        return str(value)
    text = f"{value:.17g}"
    return text if re.search(r"[.e]", text) else f"{text}."


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "'": "\\'"}


def _character(char: str) -> str:
    return _ESCAPES.get(char, char)


class _Printer:
    def __init__(self) -> None:
        self.names: dict[SSAValue, str] = {}
        self.taken: set[str] = set()
        self.subgraphs: dict[str, Region] = {}

    def name(self, value: SSAValue) -> str:
        if value not in self.names:
            hint = value.name_hint or str(len(self.taken))
            name, count = hint, 0
            while name in self.taken:
                count += 1
                name = f"{hint}.{count}" if value.name_hint else str(len(self.taken) + count)
            self.names[value] = name
            self.taken.add(name)
        return f"%{self.names[value]}"

    def defined(self, values: Sequence[SSAValue]) -> str:
        return ", ".join(f"{self.name(value)} : {type_text(value.type)}" for value in values)

    def used(self, values: Sequence[SSAValue]) -> str:
        return ", ".join(map(self.name, values))

    def graph(self, block: Block) -> list[str]:
        self.taken = set()  # a sub-graph sees no names of others
        arguments = ",\n      ".join(self.defined([arg]) for arg in block.args)
        *ops, last = block.ops
        lines = [f"graph({arguments}):"]
        for op in ops:
            lines += self.operation(op, "  ")
        return [*lines, f"  return ({self.used(last.operands)})"]

    def operation(self, op: object, indent: str) -> list[str]:
        assert isinstance(op, ScriptOp)
        kind = op.kind if op.kind in STRUCTURAL else ".".join(op.kind.split(".")[:2])
        subgraph = op.text("subgraph")
        name = subgraph or kind.replace(".", "::", 1)
        scope = f", scope: {op.text('scope')}" if "scope" in op.attributes else ""
        line = f"{indent}{self.defined(op.results)} = {name}{self.attributes(op)}({self.used(op.operands)}){scope}"
        if isinstance(op.location, FileLineColLoc):
            at = op.location
            line += f" # {at.filename.data}:{at.line.data}:{at.column.data}"
        lines = [line]
        if subgraph:
            self.subgraphs.setdefault(subgraph, op.regions[0])
            return lines
        for index, region in enumerate(op.regions):
            *inner, last = region.block.ops
            lines.append(f"{indent}  block{index}({self.defined(region.block.args)}):")
            for item in inner:
                lines += self.operation(item, f"{indent}    ")
            lines.append(f"{indent}    -> ({self.used(last.operands)})")
        return lines

    def attributes(self, op: ScriptOp) -> str:
        parts: list[str] = []
        for name, value in op.attributes.items():
            text = value.data if isinstance(value, StringAttr) else ""
            if name == "value":
                parts.append(f"value={constant_text(value, op.result_types[0])}")
            elif name == "text":
                parts.append(f"value={text}")
            elif name == "name":
                parts.append(f'name="{text}"')
            elif name.startswith("text_"):
                parts.append(f"{name.removeprefix('text_')}={text}")
            elif name == "constant":
                parts.append("value=<Tensor>")
            elif name == "function" and isinstance(value, SymbolRefAttr):
                parts.append(f'name="{value.root_reference.data}"')
        return f"[{', '.join(parts)}]" if parts else ""


def torchscript_text(function: FuncOp) -> str:
    """A function as a graph, its sub-graphs after it."""
    printer = _Printer()
    lines = printer.graph(function.regions[0].block)
    done: set[str] = set()
    while left := [name for name in printer.subgraphs if name not in done]:
        done.add(left[0])
        region = printer.subgraphs[left[0]]
        first, *rest = printer.graph(region.block)
        lines += [f"with {left[0]} = {first}", *rest]
    return "\n".join(lines) + "\n"
