"""How operations made from a schema print and parse their arguments: in the schema's order, defaults left out."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.arguments import (
    Slot,
    Value,
    flat,
)
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.exir import parse_optional_number, print_number
from xdsl_exir.dialects.schema import MISSING
from xdsl_exir.dialects.tensors import is_value, parse_optional_string
from xdsl_exir.narrowing import is_list


def is_default(slot: Slot, value: Value) -> bool:
    """Whether an argument is the schema's default, so that it may be left out."""
    if slot.default is MISSING or isinstance(value, SSAValue):
        return False
    # 1 == True == 1.0 in Python; in the text they differ.
    return value == slot.default and _kinds(value) == _kinds(slot.default)


def _kinds(value: Value) -> list[type]:
    return [type(item) for item in flat(value)]


def print_value(printer: Printer, value: Value) -> None:
    match value:
        case _ if is_value(value):
            printer.print_operand(value)
        case _ if is_list(value):
            with printer.in_square_brackets():
                printer.print_list(value, lambda item: print_value(printer, item))
        case None:
            printer.print_string("none")
        case str():
            printer.print_string_literal(value)
        case DType():
            printer.print_attribute(value.mlir_type)
        case _:
            print_number(printer, value)


class _Pending:
    """An operand that was read and waits for its type."""


_PENDING = _Pending()


def parse_value(parser: Parser, pending: list[UnresolvedOperand]) -> Value:
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        pending.append(operand)
        return _PENDING
    items = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parse_value(parser, pending)
    )
    if items is not None:
        return items
    if parser.parse_optional_keyword("none"):
        return None
    text = parse_optional_string(parser)
    if text is not None:
        return text
    number = parse_optional_number(parser)
    if number is not None:
        return number
    position = parser.pos
    type = parser.parse_optional_type()
    if type is None:
        parser.raise_error("argument expected")
    if type not in dt.BY_MLIR_TYPE:
        parser.raise_error(f"{type} is not the type of a PyTorch dtype", position, parser.pos)
    return dt.BY_MLIR_TYPE[type]


def resolve(value: Value, resolved: Iterator[SSAValue]) -> Value:
    if value is _PENDING:
        return next(resolved)
    if is_list(value):
        return [resolve(item, resolved) for item in value]
    return value
