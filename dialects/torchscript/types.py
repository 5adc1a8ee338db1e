"""Types of TorchScript's values, as attributes, and how its annotations write them (`Optional[List[int]]`).

`is_subtype` and `unify` are those of `c10::Type`: what may stand where another type is expected, and what a value is that is
one of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class Plain(ParametrizedAttribute, TypeAttribute):
    """A type without parameters."""

    def __str__(self) -> str:
        return PLAIN_TEXTS.get(self.name.removeprefix("torchscript."), self.name.removeprefix("torchscript."))


PLAIN_NAMES = (
    "Tensor", "int", "float", "complex", "bool", "str", "None", "Any", "Scalar", "Device", "Generator", "Stream",
    "Storage", "Layout", "QScheme", "Capsule", "AnyClassType", "AnyEnumType", "AnyListType", "AnyTupleType", "Quantizer",
    "ScalarType", "MemoryFormat", "Dimname",
)  # fmt: skip
PLAIN_TEXTS = {"None": "NoneType", "Scalar": "number"}
"""Types that annotations write otherwise."""

PLAIN: Mapping[str, Plain] = {
    name: cast(
        "Plain",
        irdl_attr_definition(
            type(f"{name}Type", (Plain,), {"name": f"torchscript.{name}", "__module__": __name__})
        )(),
    )
    for name in PLAIN_NAMES
}
TENSOR, INT, FLOAT, COMPLEX, BOOL, STR, NONE, ANY, SCALAR, DEVICE, GENERATOR = (
    PLAIN[name] for name in PLAIN_NAMES[:11]
)


class _Of(ParametrizedAttribute, TypeAttribute):
    """A type of other types, which prints with them in brackets."""

    def __str__(self) -> str:
        name = type(self).name.removeprefix("torchscript.")
        return f"{name}[{', '.join(map(str, items_of(self)))}]"


@irdl_attr_definition
class ListType(_Of):
    name = "torchscript.List"
    item: Attribute


@irdl_attr_definition
class OptionalType(_Of):
    name = "torchscript.Optional"
    item: Attribute


@irdl_attr_definition
class FutureType(_Of):
    name = "torchscript.Future"
    item: Attribute


@irdl_attr_definition
class DictType(_Of):
    name = "torchscript.Dict"
    key: Attribute
    item: Attribute


class _Sequence(_Of):
    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        types = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_attribute)
        return [ArrayAttr(types)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(items_of(self), printer.print_attribute)


@irdl_attr_definition
class TupleType(_Sequence):
    name = "torchscript.Tuple"
    items: ArrayAttr[Attribute]


@irdl_attr_definition
class UnionType(_Sequence):
    name = "torchscript.Union"
    items: ArrayAttr[Attribute]


@irdl_attr_definition
class ClassType(ParametrizedAttribute, TypeAttribute):
    """A class of the program, a module, named tuple, enum or interface: what it is, its `torchscript.class` says."""

    name = "torchscript.Class"
    symbol: SymbolRefAttr

    @property
    def qualified_name(self) -> str:
        return self.symbol.root_reference.data

    def __str__(self) -> str:
        return self.qualified_name


@irdl_attr_definition
class FunctionType(ParametrizedAttribute, TypeAttribute):
    """A function of the program."""

    name = "torchscript.Function"
    symbol: SymbolRefAttr

    @property
    def qualified_name(self) -> str:
        return self.symbol.root_reference.data

    def __str__(self) -> str:
        return self.qualified_name


@irdl_attr_definition
class VariableType(ParametrizedAttribute, TypeAttribute):
    """A type variable of a schema (`t`); of no value."""

    name = "torchscript.Variable"
    variable: StringAttr

    def __str__(self) -> str:
        return self.variable.data


@irdl_attr_definition
class SpelledType(ParametrizedAttribute, TypeAttribute):
    """A type of which graph text says more: `Float(2, 3, strides=[3, 1], device=cpu)` is a Tensor, a named tuple a tuple."""

    name = "torchscript.Spelled"
    text: StringAttr
    of: Attribute

    def __str__(self) -> str:
        return self.text.data


def unspelled(type: Attribute) -> Attribute:
    """A type without what only graph text says, of itself and of what it is made of."""
    if isinstance(type, SpelledType):
        return unspelled(type.of)
    items = items_of(type)
    plain = [unspelled(item) for item in items]
    return type if plain == list(items) else with_items(type, plain)


TYPES: list[type[Attribute]] = [
    *(type(plain) for plain in PLAIN.values()),
    ListType, OptionalType, FutureType, DictType, TupleType, UnionType, ClassType, FunctionType, VariableType, SpelledType,
]  # fmt: skip


def list_of(item: Attribute) -> ListType:
    return ListType(item)


def optional(item: Attribute) -> Attribute:
    """`Optional[item]`; of what may be None already, itself."""
    return item if isinstance(item, OptionalType) or item in (NONE, ANY) else OptionalType(item)


def tuple_of(items: Iterable[Attribute]) -> TupleType:
    return TupleType(ArrayAttr(items))


def class_of(name: str) -> ClassType:
    return ClassType(SymbolRefAttr(name))


def function_of(name: str) -> FunctionType:
    return FunctionType(SymbolRefAttr(name))


def items_of(type: Attribute) -> Sequence[Attribute]:
    """The types that a type is made of."""
    match type:
        case SpelledType(of=of):
            return items_of(of)
        case TupleType(items=items) | UnionType(items=items):
            return items.data
        case DictType(key=key, item=item):
            return (key, item)
        case ListType(item=item) | OptionalType(item=item) | FutureType(item=item):
            return (item,)
        case _:
            return ()


def with_items(type: Attribute, items: Sequence[Attribute]) -> Attribute:
    """A type of the same kind, of other types."""
    match type:
        case TupleType() | UnionType():
            return (TupleType if isinstance(type, TupleType) else UnionType)(ArrayAttr(items))
        case OptionalType():
            return optional(items[0])
        case DictType():
            return DictType(items[0], items[1])
        case ListType():
            return ListType(items[0])
        case FutureType():
            return FutureType(items[0])
        case _:
            return type


# --- relations -----------------------------------------------------------------------------------------------

_NUMBERS = (INT, FLOAT, COMPLEX)
Bases: TypeAlias = Callable[[ClassType], Sequence[Attribute]]
"""What a class is besides: interfaces it has, of a named tuple its tuple."""


def _no_bases(type: ClassType) -> Sequence[Attribute]:
    return ()


def is_subtype(type: Attribute, of: Attribute, bases: Bases = _no_bases) -> bool:
    """Whether values of a type are values of another one."""
    type, of = unspelled(type), unspelled(of)
    if type == of or of == ANY:
        return True
    match type, of:
        case UnionType(), _:
            return all(is_subtype(item, of, bases) for item in items_of(type))
        case OptionalType(), OptionalType():
            return is_subtype(type.item, of.item, bases)
        case OptionalType(), UnionType():
            return is_subtype(type.item, of, bases) and is_subtype(NONE, of, bases)
        case _, OptionalType():
            return type == NONE or is_subtype(type, of.item, bases)
        case _, UnionType():
            return any(is_subtype(type, item, bases) for item in items_of(of))
        case TupleType(), TupleType():
            pairs = list(zip(items_of(type), items_of(of), strict=False))
            same = len(items_of(type)) == len(items_of(of))
            return same and all(is_subtype(a, b, bases) for a, b in pairs)
        case ClassType(), _ if any(is_subtype(base, of, bases) for base in bases(type)):
            return True
        case _:
            pass
    if of == SCALAR:
        return type in _NUMBERS
    if of == PLAIN["AnyListType"]:
        return isinstance(type, ListType)
    if of == PLAIN["AnyTupleType"]:
        return isinstance(type, TupleType)
    return of in (PLAIN["AnyClassType"], PLAIN["AnyEnumType"]) and isinstance(type, ClassType)


def unify(a: Attribute, b: Attribute, bases: Bases = _no_bases) -> Attribute:
    """The type of a value that is of one type or of another."""
    if is_subtype(a, b, bases):
        return b
    if is_subtype(b, a, bases):
        return a
    if NONE in (a, b):
        return optional(a if b == NONE else b)
    if isinstance(a, OptionalType) or isinstance(b, OptionalType):
        inner = [item.item if isinstance(item, OptionalType) else item for item in (a, b)]
        return optional(unify(inner[0], inner[1], bases))
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.items) == len(b.items):
        pairs = zip(a.items, b.items, strict=True)
        return tuple_of(unify(x, y, bases) for x, y in pairs)
    parts = [item for type in (a, b) for item in (items_of(type) if isinstance(type, UnionType) else [type])]
    return UnionType(ArrayAttr(dict.fromkeys(parts)))


def is_plain(type: Attribute) -> bool:
    return isinstance(type, Plain)
