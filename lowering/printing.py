"""Operations as text that MLIR's tools read: the generic form, as xDSL's printer writes it but for names, which are numbers.

It is written for every compile, in keys of caches as well, so it is done in a fraction of the time of xDSL's printer, which lays
out columns and looks for name hints: attributes and types, of which a program has few, are printed by that, and each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import StringIO

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.printer import Printer

INDENT = "  "


def generic_text(op: Operation) -> str:
    """An operation in generic form."""
    writer = GenericWriter()
    writer.operation(op, "")
    return "".join(writer.parts)


class GenericWriter:
    """Writes operations in generic form to `parts`."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.names: dict[SSAValue, str] = {}
        self.labels: dict[Block, str] = {}
        self.printed: dict[int, tuple[Attribute, str]] = {}
        """The text of attributes, by their identity: finding equal ones would take longer. They live as long as this does."""

    def attribute(self, attribute: Attribute) -> str:
        found = self.printed.get(id(attribute))
        if found is None:
            stream = StringIO()
            Printer(stream, print_generic_format=True).print_attribute(attribute)
            found = self.printed[id(attribute)] = attribute, stream.getvalue()
        return found[1]

    def name(self, value: SSAValue) -> str:
        if value not in self.names:
            self.names[value] = f"%{len(self.names)}"
        return self.names[value]

    def label(self, block: Block) -> str:
        if block not in self.labels:
            self.labels[block] = f"^bb{len(self.labels)}"
        return self.labels[block]

    def types(self, values: Iterable[SSAValue]) -> str:
        return ", ".join([self.attribute(value.type) for value in values])

    def dictionary(self, attributes: Mapping[str, Attribute]) -> str:
        return ", ".join([f'"{name}" = {self.attribute(value)}' for name, value in attributes.items()])

    def operation(self, op: Operation, indent: str) -> None:
        """An operation, without a new line at its end."""
        results, operands = op.results, op.operands
        named = f"{', '.join([self.name(result) for result in results])} = " if results else ""
        given = ", ".join([self.name(operand) for operand in operands])
        self.parts.append(
            f'{indent}{named}"{op.op_name.data if isinstance(op, UnregisteredOp) else op.name}"({given})'
        )
        if op.successors:
            self.parts.append(f"[{', '.join(map(self.label, op.successors))}]")
        if op.properties:
            self.parts.append(f" <{{{self.dictionary(op.properties)}}}>")
        if op.regions:
            self.parts.append(" (")
            for number, region in enumerate(op.regions):
                self.parts.append(", " if number else "")
                self.region(region, indent)
            self.parts.append(")")
        attributes = op.attributes
        if isinstance(op, UnregisteredOp):  # says its name in an attribute
            attributes = {key: value for key, value in attributes.items() if value is not op.op_name}
        if attributes:
            self.parts.append(f" {{{self.dictionary(attributes)}}}")
        made = self.types(results)
        self.parts.append(f" : ({self.types(operands)}) -> {made if len(results) == 1 else f'({made})'}")

    def region(self, region: Region, indent: str) -> None:
        self.parts.append("{\n")
        for number, block in enumerate(region.blocks):
            if number or block.args:
                args = ", ".join([f"{self.name(arg)} : {self.attribute(arg.type)}" for arg in block.args])
                self.parts.append(f"{indent}{self.label(block)}({args}):\n")
            for op in block.ops:
                self.operation(op, indent + INDENT)
                self.parts.append("\n")
        self.parts.append(f"{indent}}}")
