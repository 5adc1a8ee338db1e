"""The code of an archive: which classes and functions it has, what types they name, what they take and give.

It is Python's syntax, parsed by `ast` and never run. A name, `__torch__.torch.nn.functional.pad`, says in which file its
definition is; a file is parsed when a name in it is first asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Attribute

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.errors import LoadError
from xdsl_exir.limits import LIMITS
from xdsl_exir.syntax import parse_expression, parse_module

Category: TypeAlias = Literal["module", "class", "interface", "tuple", "enum"]
_CATEGORIES: Mapping[str, Category] = {
    "Module": "module", "NamedTuple": "tuple", "Enum": "enum", "ModuleInterface": "interface", "Interface": "interface",
}  # fmt: skip


@dataclass
class Definition:
    """A function, and the file that it is in."""

    name: str
    file: str
    node: ast.FunctionDef
    owner: ts.ClassType | None = None

    def location(self, node: ast.AST) -> FileLineColLoc:
        return FileLineColLoc(StringAttr(self.file), IntAttr(getattr(node, "lineno", 0)), IntAttr(0))


@dataclass
class Class:
    """A class: its attributes' types in order, constants, members of an enum, and methods."""

    name: str
    category: Category
    file: str
    fields: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    constants: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    methods: dict[str, Definition] = field(default_factory=dict[str, Definition])
    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()

    @property
    def type(self) -> ts.ClassType:
        return ts.class_of(self.name)

    @property
    def is_module(self) -> bool:
        return self.category == "module"


@dataclass(frozen=True)
class Parameter:
    """What a function takes."""

    name: str
    type: Attribute
    default: ast.expr | None


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives; `result` is None where its code does not say."""

    parameters: tuple[Parameter, ...]
    result: Attribute | None


class Source:
    """The classes and functions of an archive, by qualified name. Raises `LoadError` for code that is no such code."""

    def __init__(self, path: str, read: Callable[[str], str | None]):
        self.path = path
        self._read = read
        self._files: dict[str, dict[str, Class | Definition] | None] = {}
        self._signatures: dict[str, Signature] = {}

    # definitions

    def find(self, name: str) -> Class | Definition | None:
        """What a qualified name is defined as; None where nothing is."""
        qualifier, _, last = name.rpartition(".")
        if qualifier not in self._files:
            self._files[qualifier] = self._parse(qualifier)
        definitions = self._files[qualifier]
        return None if definitions is None else definitions.get(last)

    def class_named(self, name: str) -> Class:
        """A class. Raises `LoadError` for one that the archive does not have."""
        found = self.find(name)
        if isinstance(found, Class):
            return found
        if name.startswith("__torch__.torch.classes."):
            raise LoadError(
                f"{self.path}: objects of {name.removeprefix('__torch__.')}, a class in C++, are refused"
            )
        raise LoadError(f"{self.path}: the code has no class {name:.200}")

    def bases(self, type: ts.ClassType) -> Sequence[Attribute]:
        """What a class is besides: of a named tuple its tuple, of other classes every interface whose methods it has."""
        found = self.find(type.qualified_name)
        if not isinstance(found, Class):
            return ()
        if found.category == "tuple":
            return (ts.tuple_of(found.fields.values()),)
        return ()

    def _parse(self, qualifier: str) -> dict[str, Class | Definition] | None:
        text = self._read(qualifier)
        if text is None:
            return None
        file = f"code/{qualifier.replace('.', '/')}.py"
        try:
            tree = parse_module(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise LoadError(f"{self.path}: {file}: {error}") from None
        found: dict[str, Class | Definition] = {}
        for node in tree.body:
            match node:
                case ast.FunctionDef():
                    found[node.name] = Definition(f"{qualifier}.{node.name}", file, node)
                case ast.ClassDef():
                    found[node.name] = self._class(f"{qualifier}.{node.name}", file, node)
                case ast.Assign(targets=[ast.Name("op_version_set")]):
                    pass  # of archives of version 1 and 2
                case _:
                    raise self.error(file, node, "expected a class or a function")
        return found

    def _class(self, name: str, file: str, node: ast.ClassDef) -> Class:
        base = node.bases[0].id if node.bases and isinstance(node.bases[0], ast.Name) else ""
        made = Class(name, _CATEGORIES.get(base, "class"), file)
        for item in node.body:
            match item:
                case ast.AnnAssign(ast.Name(field), annotation, value):
                    made.fields[field] = self.type(annotation, file)
                    if value is not None:
                        made.constants[field] = value
                case ast.Assign(
                    [ast.Subscript(ast.Name("__annotations__"), ast.Constant(str() as field))], value
                ):
                    made.fields[field] = self.type(value, file)
                case ast.Assign([ast.Name("__parameters__" | "__buffers__" as kind)], ast.List(elements)):
                    names = tuple(str(of.value) for of in elements if isinstance(of, ast.Constant))
                    setattr(made, kind.strip("_"), names)
                case ast.Assign([ast.Name(field)], value):
                    made.constants[field] = value
                case ast.FunctionDef():
                    made.methods[item.name] = Definition(f"{name}.{item.name}", file, item, made.type)
                case ast.Pass():
                    pass
                case _:
                    raise self.error(file, item, "expected an attribute or a method")
        return made

    # types

    def type(self, node: ast.expr, file: str, depth: int = 0) -> Attribute:
        """The type that an annotation writes."""
        if depth > LIMITS.nesting:
            raise self.error(file, node, "types lie too deep in one another")

        def of(item: ast.expr) -> Attribute:
            return self.type(item, file, depth + 1)

        match node:
            case ast.Constant(None):
                return ts.NONE
            case ast.Constant(str() as text):
                try:
                    return of(parse_expression(text))
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    raise self.error(file, node, f"{text!r:.100} is no type") from None
            case ast.Name(name) if name in _NAMES:
                return _NAMES[name]
            case ast.Attribute():
                if not (name := dotted(node)):
                    raise self.error(file, node, "expected a type")
                return ts.class_of(name)
            case ast.Subscript(ast.Name("Final"), item):
                return of(item)
            case ast.Subscript(ast.Name("List"), item):
                return ts.list_of(of(item))
            case ast.Subscript(ast.Name("Optional"), item):
                return ts.optional(of(item))
            case ast.Subscript(ast.Name("Future" | "RRef" | "Await"), item):
                return ts.FutureType(of(item))
            case ast.Subscript(ast.Name("Dict"), ast.Tuple([key, item])):
                return ts.DictType(of(key), of(item))
            case ast.Subscript(ast.Name("Tuple"), item):
                return ts.tuple_of(map(of, item.elts if isinstance(item, ast.Tuple) else [item]))
            case ast.Subscript(ast.Name("Union"), ast.Tuple(items)):
                return ts.UnionType(ArrayAttr(map(of, items)))
            case _:
                raise self.error(file, node, f"{ast.unparse(node):.100} is no type that is known")

    def signature(self, definition: Definition) -> Signature:
        """What a function takes and gives; of methods without `self`."""
        if definition.name in self._signatures:
            return self._signatures[definition.name]
        node, file = definition.node, definition.file
        args = node.args
        if args.vararg or args.kwarg or args.posonlyargs:
            raise self.error(file, node, "a function with any number of arguments")
        arguments = [*args.args, *args.kwonlyargs]
        defaults: list[ast.expr | None] = [None] * (len(args.args) - len(args.defaults))
        defaults += [*args.defaults, *args.kw_defaults]
        parameters = [
            Parameter(
                arg.arg, ts.TENSOR if arg.annotation is None else self.type(arg.annotation, file), default
            )
            for arg, default in zip(arguments, defaults, strict=True)
        ]
        if definition.owner is not None:
            if not parameters:
                raise self.error(file, node, "a method without self")
            parameters = parameters[1:]
        result = None if node.returns is None else self.type(node.returns, file)
        made = self._signatures[definition.name] = Signature(tuple(parameters), result)
        return made

    def error(self, file: str, node: ast.AST, message: str) -> LoadError:
        return LoadError(f"{self.path}: {file}:{getattr(node, 'lineno', 0)}: {message}")


_NAMES: Mapping[str, Attribute] = {
    **ts.PLAIN, "NoneType": ts.NONE, "number": ts.SCALAR, "Dict": ts.DictType(ts.ANY, ts.ANY), "List": ts.list_of(ts.ANY),
    "AnyList": ts.PLAIN["AnyListType"], "AnyTuple": ts.PLAIN["AnyTupleType"], "list": ts.PLAIN["AnyListType"],
    "tuple": ts.PLAIN["AnyTupleType"],
}  # fmt: skip


def dotted(node: ast.expr) -> str:
    """`torch.nn.functional` of nested attributes of a name; empty of anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
