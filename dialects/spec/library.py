"""Reads users' operators: YAML of the form of the built-in ones.

    - func: mylib::soft_relu(Tensor self, float beta=1.0) -> Tensor
      tags: [pointwise]
      rule: int_to_float
      types: Floating

An entry is a schema and its dtype rule, which `dtype_rules.py` explains, as in `<family>.yaml`. The rule may also be an entry of its own, as it is there: `- {func: mylib::soft_relu, rule: int_to_float}`. Everything is
checked when it is read, and what is wrong is told with its line.

An operator that writes to arguments, `mylib::push(Tensor(a!) cache, Tensor x) -> ()`, is functional in the IR: its last
results are what it writes. Dtype rule, shape rule and what the interpreter does are those of that operator. (In-place variants `name_` of a
functional operator need no entry.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.named_rules import NAMED_RULES, NUMBER_RULES, RETURN_RULES, expand
from xdsl_exir.dialects.schema import FunctionSchema, Return, Type
from xdsl_exir.dialects.spec import OperatorSpec, dump
from xdsl_exir.errors import SpecError
from xdsl_exir.libraries import SCHEMA_NAMESPACES, Library, check_namespace, found
from xdsl_exir.narrowing import is_dict, is_list, is_sequence

TAGS = frozenset({"composite", "core", "effect", "pointwise", "random", "view"})
TYPES = frozenset(
    {
        *("Tensor", "int", "SymInt", "float", "SymFloat", "bool", "SymBool", "str", "Scalar", "ScalarType"),
        *("Device", "Layout", "MemoryFormat", "Generator"),
    }
)
"""Types of arguments that operations can hold."""
DEFAULTS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("int", "SymInt", "ScalarType", "Layout"), (int,)),
    **dict.fromkeys(("float", "SymFloat"), (int, float)),
    **dict.fromkeys(("bool", "SymBool"), (bool,)),
    **dict.fromkeys(("str", "Device"), (str,)),
    "Scalar": (bool, int, float),
    "MemoryFormat": (int, str),
}
"""Of which Python types defaults are, where they are not None."""
RESULT_TYPES = frozenset({"Tensor", "SymInt", "SymFloat", "SymBool", "Scalar"})


@dataclass(frozen=True)
class Item:
    """One entry of a file."""

    place: str
    """`mylib.yaml:3`"""
    entry: Mapping[str, Any]

    def error(self, message: object) -> SpecError:
        return SpecError(f"{self.place}: {message}")


def items(text: str, source: str) -> Iterator[Item]:
    """The entries of a YAML text. Raises `SpecError` where it is no list of dictionaries with a `func`."""
    try:
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        root = loader.get_single_node()
        if root is None:
            return
        nodes = root.value if isinstance(root, yaml.SequenceNode) else [root]
        for node in nodes:
            place = f"{source}:{node.start_mark.line + 1}"
            entry = loader.construct_document(node)
            if not isinstance(root, yaml.SequenceNode) or not is_dict(entry):
                raise SpecError(
                    f"{place}: expected a list of operators, each '- func: namespace::name(...) -> ...'"
                )
            if not isinstance(entry.get("func"), str):
                raise SpecError(f"{place}: an operator needs 'func', its schema")
            yield Item(place, entry)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = source if mark is None else f"{source}:{mark.line + 1}"
        raise SpecError(f"{place}: not YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SpecError(f"{source}:{line}: not YAML: {error.reason}") from None


def read(text: str, source: str, functions: str = "", namespace: str = "") -> list[OperatorSpec]:
    """The operators of a YAML text; `source` names it in errors, `functions` as in `OperatorSpec`.

    Raises `SpecError` with the line of what is no schema, breaks the rules of the IR, is there twice, or, where a
    namespace is given, is of another.
    """
    schemas: dict[str, Item] = {}
    rules: dict[str, Item] = {}
    for item in items(text, source):
        func: str = item.entry["func"]
        table = schemas if "(" in func else rules
        name = _schema(item)[0].qualified_name if "(" in func else func.replace("::", ".", 1)
        if name in table:
            raise item.error(f"{name} is specified twice, before at {table[name].place}")
        table[name] = item
    for name, item in rules.items():
        if name not in schemas:
            raise item.error(f"a dtype rule of {name}, which has no schema here")
    found: list[OperatorSpec] = []
    for name, item in schemas.items():
        schema, writes = _schema(item)
        if namespace and schema.namespace not in (namespace, *SCHEMA_NAMESPACES):
            raise item.error(f"{name} is not of namespace '{namespace}', which the library is registered as")
        tags = item.entry.get("tags", [])
        if not is_list(tags) or not TAGS.issuperset(map(str, tags)):
            raise item.error(f"tags are {tags!r}, expected some of {', '.join(sorted(TAGS))}")
        rule = _rule(schema, item, rules.get(name))
        family = schema.namespace
        viewed = (argument.name for argument in schema.arguments if argument.type.alias is not None)
        shares = next(viewed, "") if schema.is_view else ""
        found.append(
            OperatorSpec(
                name, str(schema), family, frozenset(tags), rule, functions, writes, shares, item.place
            )
        )
    return found


def _schema(item: Item) -> tuple[FunctionSchema, tuple[str, ...]]:
    """The functional schema of an entry, checked, and the arguments that PyTorch's operator writes."""
    try:
        schema, writes = functional(FunctionSchema.parse(" ".join(item.entry["func"].split())))
        check_namespace(schema.namespace)
    except SpecError as error:
        raise item.error(error) from None
    if schema.overload == "default":
        raise item.error("the default overload is written without '.default'")
    names = [argument.name for argument in schema.arguments]
    if len(set(names)) != len(names):
        raise item.error(f"{schema.qualified_name}: two arguments of one name")
    if schema.takes_any or schema.returns_any or any(kind.type.list_alias for kind in schema.arguments):
        raise item.error(f"'{schema}': operators of graphs take and give what their schemas say")
    for kinds, known in ((schema.arguments, TYPES), (schema.returns, RESULT_TYPES)):
        for kind in kinds:
            if kind.type.base not in known:
                raise item.error(f"'{kind}': no type '{kind.type.base}'; there is {', '.join(sorted(known))}")
    for argument in schema.arguments:
        if not argument.required and not _fits(argument.default, argument.type):
            raise item.error(f"'{argument}': the default is no {argument.type}")
    return schema, writes


def schema_of(text: str, place: str) -> tuple[FunctionSchema, tuple[str, ...]]:
    """The functional schema of a text, checked, and the arguments that PyTorch's operator writes. Raises `SpecError` for what is no
    schema, or breaks the rules of the IR; `place` says where it stands."""
    return _schema(Item(place, {"func": text}))


def _fits(default: Any, kind: Type) -> bool:
    """Whether a default is of a type. One value stands for all of a list of fixed size."""
    if default is None:
        return kind.optional
    if kind.is_list:
        if not is_sequence(default):
            return kind.size is not None and _fits((default,), kind)
        return all(_fits(value, replace(kind, is_list=False, size=None)) for value in default)
    return type(default) in DEFAULTS.get(kind.base, ())


def functional(schema: FunctionSchema) -> tuple[FunctionSchema, tuple[str, ...]]:
    """An operator as the IR has it, and the arguments that PyTorch's writes: their new values are its last results.

    `acc(Tensor(a!) buffer, Tensor x) -> ()` is `acc(Tensor buffer, Tensor x) -> Tensor`, as in PyTorch's
    functionalization. Raises `SpecError` for what is written in another way.
    """
    written = [argument for argument in schema.arguments if argument.is_write]
    if not written:
        return schema, ()
    name = schema.qualified_name
    for argument in written:
        if (argument.type.is_list, argument.type.optional, argument.type.is_tensor) != (False, False, True):
            raise SpecError(f"{name} writes to '{argument}'; only a Tensor can be written")
    fresh = [ret for ret in schema.returns if ret.type.alias is None]
    given_back = [ret.type.alias for ret in schema.returns if ret.type.alias is not None]
    aliases = [argument.type.alias for argument in written]
    if list(schema.returns[: len(fresh)]) != fresh or given_back != aliases[: len(given_back)]:
        raise SpecError(f"{name} gives back what it writes in another order than it takes it")
    arguments = (replace(argument, type=replace(argument.type, alias=None)) for argument in schema.arguments)
    returns = (*fresh, *(Return(Type("Tensor")) for _ in written))
    made = replace(schema, arguments=tuple(arguments), returns=returns, returns_tuple=len(returns) != 1)
    return made, tuple(argument.name for argument in written)


def _rule(schema: FunctionSchema, item: Item, own: Item | None) -> str:
    """The text of an operator's dtype rule, checked; empty where it needs none."""
    inline = {key: value for key, value in item.entry.items() if key not in ("func", "tags")}
    if inline and own is not None:
        raise own.error(f"a second dtype rule of {schema.qualified_name}, besides that at {item.place}")
    at = own or item
    rest = inline if own is None else {key: value for key, value in own.entry.items() if key != "func"}
    if not rest:
        if any(ret.type.is_tensor for ret in schema.returns):
            raise item.error(
                f"{schema.qualified_name} gives tensors and has no dtype rule (such as 'rule: same')"
            )
        return ""
    try:
        for case in _cases(rest):
            _check_form(schema, case)
        expand(schema, rest)
    except SpecError as error:
        raise at.error(error) from None
    return dump(rest)


def _cases(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entry and those of its cases, none of which has cases of its own."""
    cases = entry.get("when", [])
    if not is_list(cases) or not all(is_dict(case) for case in cases):
        raise SpecError(f"'when' is {cases!r}, expected a list of cases")
    return [{key: value for key, value in entry.items() if key != "when"}, *cases]


def _check_form(schema: FunctionSchema, entry: Mapping[str, Any]) -> None:
    """Raises `SpecError` for a dtype rule whose keys are not of the schema, or whose values are not a rule's."""
    arguments = {argument.name: argument.type for argument in schema.arguments}
    results = {f"__ret_{index}" for index in range(len(schema.returns))}
    if "type_constraint" in entry:
        check_rows(entry)
        _check_names_of_rows(entry, {*arguments, *results})
        return
    for key, value in entry.items():
        if key in results:
            if not isinstance(value, str) or (value not in RETURN_RULES and value not in dt.BY_NAME):
                raise SpecError(f"{key} is {value!r}, expected a dtype or {', '.join(RETURN_RULES)}")
        elif key == "rule":
            if not isinstance(value, str) or value not in NAMED_RULES:
                raise SpecError(f"'{value}' is not a dtype rule; there is {', '.join(NAMED_RULES)}")
        elif key in ("types", "operands") or (
            key in arguments and arguments[key].base not in ("bool", "str")
        ):
            if not (isinstance(value, str) and value in NUMBER_RULES):
                _check_names(key, value)
        elif key not in arguments:
            raise SpecError(f"{schema.qualified_name} has no argument '{key}', nor has a dtype rule")


def _check_names(key: str, value: Any) -> None:
    """Raises `SpecError` for what is neither a name nor a list of names."""
    if not isinstance(value, str) and not (is_list(value) and all(isinstance(item, str) for item in value)):
        raise SpecError(f"'{key}' is {value!r}, expected names of dtypes")


def check_rows(entry: Mapping[str, Any]) -> None:
    """Raises `SpecError` for rows, or an alias, that are not of the long form."""
    aliases, rows = entry.get("type_alias", {}), entry["type_constraint"]
    if not is_dict(aliases):
        raise SpecError(f"'type_alias' is {aliases!r}, expected names with lists of dtypes")
    for name, dtypes in [*aliases.items(), ("operands", entry.get("operands", []))]:
        _check_names(name, dtypes)
    if not is_list(rows) or not rows or not all(is_dict(row) for row in rows):
        raise SpecError(f"'type_constraint' is {rows!r}, expected a list of rows")
    promotes = entry.get("promotes", [])
    if not is_list(promotes):
        raise SpecError(f"'promotes' is {promotes!r}, expected a list of arguments")


def _check_names_of_rows(entry: Mapping[str, Any], known: set[str]) -> None:
    """Raises `SpecError` for rows that speak of what the operator does not have, or not of all that it gives."""
    rows: list[dict[str, Any]] = entry["type_constraint"]
    results = {name for name in known if name.startswith("__ret_")}
    for name in [name for row in rows for name in row] + entry.get("promotes", []):
        if name not in known:
            raise SpecError(f"a row speaks of '{name}', which is no argument or result")
    for row in rows:
        if missing := sorted(results - row.keys()):
            raise SpecError(f"a row lacks {missing[0]}")


# --- users' libraries ----------------------------------------------------------------------------------------


def read_library(library: Library) -> list[OperatorSpec]:
    """A library's operators. Raises `SpecError` that names file and line of what is wrong."""
    return read(library.text(), str(library.path), library.functions, library.namespace)


_by_itself: dict[Path, tuple[str, ...]] = {}
"""Names of the operators of each library that was found, until it is registered by a call as well."""


def read_found() -> list[OperatorSpec]:
    """The operators of the libraries found."""
    specs: list[OperatorSpec] = []
    for library in found():
        read = read_library(library)
        _by_itself[library.path] = tuple(spec.qualified_name for spec in read)
        specs += read
    return specs


def registered_by_itself(path: Path) -> tuple[str, ...] | None:
    """Names of the operators of a library that was found; None where it was not, or was asked for before."""
    return _by_itself.pop(path, None)
