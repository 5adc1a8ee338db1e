"""Which overload a call means: the first whose arguments the call's fit, first without implicit conversions, then with.

TorchScript's source names operators without overloads; this follows `torch/csrc/jit/frontend/schema_matching.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from xdsl.ir import Attribute

from xdsl_exir.dialects.schema import MISSING, Argument, FunctionSchema
from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.schemas import overloads, type_of

Variables: TypeAlias = dict[str, Attribute]

Conversion: TypeAlias = Literal["repeat", "unpack"] | str
"""How an argument becomes what is expected: one for all of a list (`repeat`), a tuple's items as a list, or by the
operator that converts it (`aten::FloatImplicit`)."""


@dataclass(frozen=True)
class Given:
    """An argument of a call: which it is (a position, or a name), or the default; and how it is converted."""

    source: int | str | None
    type: Attribute
    """What is expected."""
    argument: Argument
    conversion: Conversion = ""
    length: int = 0
    """Of `repeat`: how long the list is."""


@dataclass(frozen=True)
class Match:
    """An overload, what becomes of each of its arguments, and the types of its results."""

    schema: FunctionSchema
    arguments: tuple[Given, ...]
    results: tuple[Attribute, ...]


def bind(formal: Attribute, actual: Attribute, variables: Variables, bases: ts.Bases) -> bool:
    """Finds what type variables stand for where a value is passed for an argument; False where it cannot be."""
    actual = ts.unspelled(actual)
    match formal, actual:
        case ts.VariableType(), _:
            name = formal.variable.data
            known = variables.get(name, actual)
            variables[name] = ts.unify(known, actual, bases)
            return variables[name] in (known, actual) or not isinstance(variables[name], ts.UnionType)
        case ts.OptionalType(), ts.OptionalType():
            return bind(formal.item, actual.item, variables, bases)
        case ts.OptionalType(), _:
            return actual == ts.NONE or bind(formal.item, actual, variables, bases)
        case ((ts.ListType() | ts.DictType() | ts.TupleType() | ts.FutureType()), _):
            inside = ts.items_of(formal)
            if not any(has_variables(item) for item in inside):
                return True
            of = ts.items_of(actual)
            return (
                type(formal) is type(actual)
                and len(inside) == len(of)
                and all(bind(a, b, variables, bases) for a, b in zip(inside, of, strict=True))
            )
        case _:
            return True


def has_variables(type: Attribute) -> bool:
    return isinstance(type, ts.VariableType) or any(map(has_variables, ts.items_of(type)))


def resolved(type: Attribute, variables: Mapping[str, Attribute]) -> Attribute:
    """A type with what its variables stand for."""
    if isinstance(type, ts.VariableType):
        return variables.get(type.variable.data, ts.ANY)
    items = ts.items_of(type)
    return ts.with_items(type, [resolved(item, variables) for item in items]) if items else type


_IMPLICIT: Mapping[Attribute, str] = {ts.FLOAT: "aten::FloatImplicit", ts.COMPLEX: "aten::ComplexImplicit", ts.INT: "aten::IntImplicit",
             ts.SCALAR: "aten::ScalarImplicit"}  # fmt: skip
_OF_NUMBERS: Mapping[Attribute, str] = {
    ts.FLOAT: "aten::Float",
    ts.COMPLEX: "aten::Complex",
    ts.INT: "aten::Int",
}


def conversion_to(
    expected: Attribute, actual: Attribute, converts: bool, bases: ts.Bases
) -> Conversion | None:
    """How a value becomes one of the type that is expected; None where it does not."""
    if ts.is_subtype(actual, expected, bases):
        return ""
    if isinstance(expected, ts.OptionalType) and not isinstance(actual, ts.OptionalType):
        return conversion_to(expected.item, actual, converts, bases)
    if isinstance(expected, ts.ListType) and isinstance(actual, ts.TupleType):
        fits = all(ts.is_subtype(item, expected.item, bases) for item in actual.items)
        return "unpack" if fits else None
    if not converts:
        return None
    if actual == ts.TENSOR:
        return "aten::Bool" if expected == ts.BOOL else _IMPLICIT.get(expected)
    if actual == ts.SCALAR:
        return _OF_NUMBERS.get(expected)
    return "aten::device" if actual == ts.STR and expected == ts.DEVICE else None


def _repeats(argument: Argument, actual: Attribute) -> int:
    """How often one number stands in a list of fixed size; 0 where it does not."""
    kind = argument.type
    if not kind.is_list or kind.size is None or actual not in (ts.INT, ts.FLOAT):
        return 0
    expected = type_of(kind)
    item = expected.item if isinstance(expected, ts.OptionalType) else expected
    return kind.size if isinstance(item, ts.ListType) and item.item == actual else 0


def match_schema(
    schema: FunctionSchema,
    positional: Sequence[Attribute],
    named: Mapping[str, Attribute],
    converts: bool,
    bases: ts.Bases,
) -> Match | None:
    """What a call of an overload gives; None where the arguments do not fit."""
    variables: Variables = {}
    given: list[Given] = []
    used = 0
    for argument in schema.arguments:
        source: int | str | None = None
        if not argument.keyword_only and used < len(positional):
            source, actual = used, positional[used]
            used += 1
        elif argument.name in named:
            source, actual = argument.name, named[argument.name]
        elif argument.default is not MISSING:
            given.append(Given(None, type_of(argument.type), argument))
            continue
        else:
            return None
        formal = type_of(argument.type)
        if length := _repeats(argument, actual):
            given.append(Given(source, formal, argument, "repeat", length))
            continue
        if not bind(formal, actual, variables, bases):
            return None
        expected = resolved(formal, variables)
        conversion = conversion_to(expected, actual, converts, bases)
        if conversion is None:
            return None
        given.append(Given(source, expected, argument, conversion))
    if schema.takes_any:
        rest = range(used, len(positional))
        any_ = Argument("", schema.arguments[0].type) if schema.arguments else None
        given += [Given(i, positional[i], any_ or _ANY) for i in rest]
        used = len(positional)
    sources = {item.source for item in given}
    if used < len(positional) or not sources.issuperset(named):
        return None
    results = tuple(resolved(type_of(ret.type), variables) for ret in schema.returns)
    return Match(schema, tuple(given), results)


_ANY = Argument("", FunctionSchema.parse("prim::any(Any x) -> ()").arguments[0].type)


def overload_of(
    name: str, types: Sequence[Attribute], results: Sequence[Attribute] = ()
) -> FunctionSchema | None:
    """The overload of `aten::add` whose arguments, all of them, are of these types; None where there is none. Of those that only differ in
    what they give, the one that gives `results`."""
    found: list[tuple[FunctionSchema, Variables]] = []
    for schema in overloads(name):
        count = len(schema.arguments)
        if len(types) != count and not (schema.takes_any and len(types) > count):
            continue
        variables: Variables = {}
        formals = [type_of(argument.type) for argument in schema.arguments]
        if all(
            bind(formal, type, variables, _no_bases) and ts.is_subtype(type, resolved(formal, variables))
            for formal, type in zip(formals, types, strict=False)
        ):
            found.append((schema, variables))
    return next((schema for schema, variables in found if _gives(schema, variables, results)), None) or (
        found[0][0] if found else None
    )


def _gives(schema: FunctionSchema, variables: Variables, results: Sequence[Attribute]) -> bool:
    """Whether the results of an overload are of these types, where it says."""
    types = [resolved(type_of(ret.type), variables) for ret in schema.returns]
    return len(types) != len(results) or all(map(ts.is_subtype, map(ts.unspelled, results), types))


def _no_bases(type: ts.ClassType) -> Sequence[Attribute]:
    return ()


def find_overload(
    name: str, positional: Sequence[Attribute], named: Mapping[str, Attribute], bases: ts.Bases
) -> Match | None:
    """The overload of `aten::add` that a call means; None where none fits."""
    for converts in (False, True):
        for schema in overloads(name):
            found = match_schema(schema, positional, named, converts, bases)
            if found is not None:
                return found
    return None
