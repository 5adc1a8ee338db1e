"""The dialects as text of MLIR's `irdl` dialect, which stock mlir-opt loads (`--irdl-file`) to verify programs.

What MLIR 22's IRDL takes is less than xDSL's, so names and programs change a little on the way (`transforms.irdl_names`):

- Names hold lower-case letters, digits and single underscores. `.` becomes `_dot_`, a leading or doubled underscore
  `under_`, upper case lower case: `aten.add.Tensor` is `aten.add_dot_tensor`, `edge.aten._softmax` is
  `edge.aten_dot_under_softmax`. The names are turned back by table, which is checked to have one entry for each.
- Operations have no properties: those become attributes.
- Attributes and types of `exir` have a syntax of their own, IRDL's do not: theirs is one string, under a name that ends
  in `_text`: `#exir.shape_text<"[s0, 8]">`, `!exir.symint_text<"s0">`.
- All values of one variadic operand or result must have one type: where they do not, each is cast to `!exir.item`.

Constraints say what IRDL can say: how many operands and results, tensor or number, required attributes and their kind,
dtypes where they are attributes. Beyond it are the element types of tensors, optional attributes, and whatever relates
several values: dtype rules, result types. Operations with regions (`higher_order`) are not there: IRDL knows no terminators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    OpDef,
    OptOperandDef,
    OptPropertyDef,
    RangeOf,
    VarOperandDef,
    VarResultDef,
)
from xdsl.irdl.constraints import RangeLengthConstraint

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import exir, tensors
from xdsl_exir.dialects.arguments import STRINGS, is_dense_list
from xdsl_exir.dialects.operator import (
    ConstantOf,
    NumberConstraint,
    OperatorDialect,
    OperatorOp,
    TensorOf,
    define,
)
from xdsl_exir.dialects.spec import specs
from xdsl_exir.errors import SpecError

DIALECTS = ("aten", "edge", "exir", "quantized_decomposed")
"""Dialects that IRDL can describe, besides those of users' operators."""


def describable() -> tuple[str, ...]:
    """Dialects that IRDL can describe."""
    return tuple(dict.fromkeys([*DIALECTS, *(name.partition(".")[0] for name in specs())]))


TEXT = "_text"
"""Ends the names of attributes and types whose parameter is their text."""
ITEM = "exir.item"
"""The type of values of one variadic operand that have several types."""

# --- names ---------------------------------------------------------------------------------------------------


def mangle(name: str) -> str:
    """A name as IRDL takes it: `_softmax` is `under_softmax`, `add.Tensor` is `add_dot_tensor`."""
    parts = ("_".join(word or "under" for word in part.split("_")) for part in name.split("."))
    return "_dot_".join(parts).lower()


def irdl_name(operation: str) -> str:
    """The IRDL name of an operation: its dialect stays, what follows is mangled."""
    dialect, _, name = operation.partition(".")
    return f"{dialect}.{mangle(name)}"


def operation_classes() -> dict[str, type[Operation]]:
    """All operations that IRDL describes, by their IRDL name. Raises `SpecError` where two have one."""
    return _operation_classes(len(specs()))


@cache
def _operation_classes(known_operators: int) -> dict[str, type[Operation]]:
    # The parameter says whether operators were registered since.
    known: dict[str, type[Operation]] = {}
    for dialect in describable():
        for cls in load(dialect).operations:
            name = irdl_name(cls.name)
            if name in known:
                raise SpecError(f"{cls.name} and {known[name].name} would both be '{name}' in IRDL")
            known[name] = cls
    return known


def load(dialect: str) -> Dialect:
    """A dialect of this package. Raises `SpecError` for one that IRDL cannot describe."""
    from importlib import import_module

    if dialect not in describable():
        raise SpecError(f"no dialect '{dialect}' that IRDL can describe; there is {', '.join(describable())}")
    if dialect not in DIALECTS:
        return OperatorDialect(dialect).dialect()
    return import_module(f"xdsl_exir.dialects.{dialect}").dialect()


def definition(cls: type[Operation]) -> OpDef:
    """The xDSL definition of an operation."""
    assert issubclass(cls, IRDLOperation)
    return define(cls) if issubclass(cls, OperatorOp) else cls.get_irdl_definition()


# --- constraints ---------------------------------------------------------------------------------------------

NUMBERS = tuple(str(type) for type in tensors.NUMBER_TYPES)
SYMBOLIC = tuple(cls.name.partition(".")[2] for cls in (exir.SymIntType, exir.SymFloatType, exir.SymBoolType))
_TENSOR = 'base "!builtin.tensor"'
_SYMBOLIC = tuple(f"base @exir::@{name}{TEXT}" for name in SYMBOLIC)
_NUMBER = (*(f"is {type}" for type in NUMBERS), *_SYMBOLIC)
_KINDS = {
    "bool": ("is true", "is false"),
    "int": ('base "#builtin.integer"',),
    "SymInt": ('base "#builtin.integer"',),
    "float": ('base "#builtin.float"',),
    "SymFloat": ('base "#builtin.float"',),
    "SymBool": ("is true", "is false"),
    "Scalar": tuple(f'base "#builtin.{name}"' for name in ("integer", "float", "array")),
    "ScalarType": tuple(f"is {dtype.mlir_type}" for dtype in dt.DTYPES),
    **dict.fromkeys(STRINGS, ('base "#builtin.string"',)),
}
"""What a constant of a schema type may be as attribute."""

_BASES: dict[type[Attribute], Sequence[str]] = {TensorType: (_TENSOR,), tensors.SymType: _SYMBOLIC}


def alternatives(constraint: object) -> Sequence[str]:
    """What a constraint allows, as IRDL operations, any of which may hold. Empty is anything."""
    match constraint:
        case RangeLengthConstraint():
            inner: Any = constraint.constraint
            return alternatives(inner)
        case RangeOf():
            element: AttrConstraint[Attribute] = constraint.constr
            return alternatives(element)
        case TensorOf():
            return (_TENSOR, *_NUMBER) if constraint.numbers else (_TENSOR,)
        case NumberConstraint():
            return _NUMBER
        case ConstantOf():
            if constraint.is_list:
                return (f'base "#builtin.{"dense_array" if is_dense_list(constraint.base) else "array"}"',)
            return _KINDS.get(constraint.base, ())
        case BaseAttr():
            base: type[Attribute] = constraint.attr
            return _BASES.get(base, ())
        case _:
            return ()


class Body:
    """Lines of one definition. Every use has a constraint of its own: IRDL takes one that is used twice as equality."""

    def __init__(self, indent: str):
        self.indent = indent
        self.lines: list[str] = []
        self.count = 0

    def add(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def name(self, operation: str) -> str:
        """Adds an operation that gives a constraint."""
        name, self.count = f"%{self.count}", self.count + 1
        self.add(f"{name} = irdl.{operation}")
        return name

    def constraint(self, options: Sequence[str]) -> str:
        """A constraint that holds where any of these does."""
        names = [self.name(option) for option in options or ("any",)]
        return names[0] if len(names) == 1 else self.name(f"any_of({', '.join(names)})")


# --- text ----------------------------------------------------------------------------------------------------


def irdl_text(
    dialects: Iterable[str] | None = None, select: Callable[[str], bool] = lambda name: True
) -> str:
    """The dialects in IRDL, all of them by default; `select` says by its name which operations. Raises `SpecError` for an unknown dialect.

    `exir` is always there: types and attributes of the others' operations are its.
    """
    chosen = dict.fromkeys([*(dialects or describable()), "exir"])
    operation_classes()  # no two of one name
    return "\n".join(dialect_text(load(name), select) for name in chosen)


def dialect_text(dialect: Dialect, select: Callable[[str], bool] = lambda name: True) -> str:
    """One dialect in IRDL."""
    lines = [f"irdl.dialect @{dialect.name} {{"]
    if dialect.name == "exir":
        lines.append(f"  irdl.type @{ITEM.partition('.')[2]}")
        for cls in dialect.attributes:
            lines += attribute_lines(cls)
    for cls in dialect.operations:
        if select(cls.name):
            lines += operation_lines(cls)
    return "\n".join([*lines, "}"])


def attribute_lines(cls: type[Attribute]) -> list[str]:
    """An attribute or type that holds its text."""
    body = Body("    ")
    body.add(f"irdl.parameters(text: {body.constraint(_KINDS['str'])})")
    kind = "type" if issubclass(cls, TypeAttribute) else "attribute"
    return [f"  irdl.{kind} @{cls.name.partition('.')[2]}{TEXT} {{", *body.lines, "  }"]


def operation_lines(cls: type[Operation]) -> list[str]:
    """An operation: operands, attributes that it must have, and results."""
    op_def, body = definition(cls), Body("    ")
    operands = [value_text(body, name, operand) for name, operand in op_def.operands]
    required = [
        f'"{name}" = {body.constraint(alternatives(prop.constr))}'
        for name, prop in op_def.properties.items()
        if not isinstance(prop, OptPropertyDef) and not re.fullmatch(r"\w+SegmentSizes", name)
    ]
    results = [value_text(body, name, result) for name, result in op_def.results]
    if operands:
        body.add(f"irdl.operands({', '.join(operands)})")
    if required:
        body.add(f"irdl.attributes {{{', '.join(required)}}}")
    if results:
        body.add(f"irdl.results({', '.join(results)})")
    return [f"  irdl.operation @{mangle(cls.name.partition('.')[2])} {{", *body.lines, "  }"]


def value_text(body: Body, name: str, definition: Any) -> str:
    """An operand or result."""
    options, word = alternatives(definition.constr), ""
    if isinstance(definition, OptOperandDef):
        word = "optional "
    elif isinstance(definition, VarOperandDef | VarResultDef):
        word = "variadic "
        options = [*options, f"base @{ITEM.replace('.', '::@')}"] if options else options
    return f"{mangle(name)}: {word}{body.constraint(options)}"
