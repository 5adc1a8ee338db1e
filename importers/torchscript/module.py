"""An archive as a module of the `torchscript` dialect: its classes, and the functions that methods of the root call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.operations import ClassOp, FuncOp, ScriptOp
from xdsl_exir.dialects.torchscript.verifier import violations_of_module
from xdsl_exir.errors import ExirError, InputError, LoadError, VerificationError
from xdsl_exir.importers.torchscript.archive import LAST_VERSION, ScriptArchive
from xdsl_exir.importers.torchscript.compile import FunctionCompiler
from xdsl_exir.importers.torchscript.literals import type_of_data
from xdsl_exir.importers.torchscript.pickles import Instance
from xdsl_exir.importers.torchscript.source import Class, Definition, Parameter, Signature, Source
from xdsl_exir.locations import errors_at
from xdsl_exir.narrowing import is_dict, is_sequence


@dataclass(frozen=True)
class ScriptModule:
    """What an archive holds: the program, and the data that it starts with."""

    module: ModuleOp
    """A `torchscript.func` a function or method, a `torchscript.class` a class."""
    root: Instance
    constants: tuple[Any, ...]
    source: Source
    version: int

    def functions(self) -> dict[str, FuncOp]:
        """The functions and methods by qualified name."""
        return {op.text("sym_name"): op for op in self.module.ops if isinstance(op, FuncOp)}

    @property
    def is_text(self) -> bool:
        """Whether it is a graph's text: functions without a module, and without data."""
        return not self.root.class_name

    @property
    def methods(self) -> list[str]:
        """Names of the methods of the root."""
        if self.is_text:
            return list(self.functions())
        return list(self.source.class_named(self.root.class_name).methods)

    def entry(self, method: str) -> str:
        """The function that a method of the root is."""
        return method if self.is_text else f"{self.root.class_name}.{method}"

    def signature(self, method: str) -> Signature:
        """What a method takes and gives. Raises `InputError` for an unknown one."""
        if method not in self.methods:
            raise InputError(
                f"no method '{method:.100}'; the program has {', '.join(self.methods) or 'none'}"
            )
        if not self.is_text:
            cls = self.source.class_named(self.root.class_name)
            return self.source.signature(cls.methods[method])
        block = self.functions()[method].regions[0].block
        types = [ts.unspelled(arg.type) for arg in block.args]
        if types and isinstance(types[0], ts.ClassType):
            raise ExirError("graph text has no data to run with: its module's attributes; an archive has")
        names = [arg.name_hint or f"arg_{index}" for index, arg in enumerate(block.args)]
        return Signature(
            tuple(Parameter(name, type, None) for name, type in zip(names, types, strict=True)), None
        )


def of_text(module: ModuleOp, path: str) -> ScriptModule:
    """Functions that a graph's text says, which have no data."""
    return ScriptModule(module, Instance(""), (), Source(path, lambda name: None), LAST_VERSION)


def read_module(path: str | os.PathLike[str], mapped: bool = False) -> ScriptModule:
    """The program in a TorchScript archive. Raises `LoadError` for one that cannot be read."""
    archive = ScriptArchive(path, mapped)
    source = Source(archive.path, archive.code)
    root, constants = archive.root(), archive.constants()
    with errors_at(f"{archive.path}: constants.pkl"):
        types = [type_of_data(value) for value in constants]
    try:
        classes = [source.class_named(name) for name in class_names(root)]
        functions = compile_all(source, source.class_named(root.class_name), types, classes)
    except RecursionError:
        raise LoadError(f"{archive.path}: expressions lie too deep in one another") from None
    module = ModuleOp([*_classes(source, functions), *functions])
    if found := violations_of_module(module):
        raise VerificationError(f"{archive.path}: " + "\n".join(found))
    return ScriptModule(module, root, constants, source, archive.version)


def class_names(root: Instance) -> list[str]:
    """The classes of the objects in a module, wherever they are."""
    found: dict[str, None] = {}
    waiting: list[Any] = [root]
    seen: set[int] = set()
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Instance):
            found[item.class_name] = None
            waiting += item.attributes.values()
        elif is_dict(item):
            waiting += item.values()
        elif is_sequence(item):
            waiting += item
    return list(found)


def compile_all(
    source: Source, root: Class, constants: Sequence[Attribute], classes: Sequence[Class]
) -> list[FuncOp]:
    """The methods of a class, and whatever they call, each once; what an interface may stand for is one of `classes`."""
    waiting: list[Definition] = list(root.methods.values())
    known = {definition.name for definition in waiting}
    made: list[FuncOp] = []
    while waiting:
        compiler = FunctionCompiler(source, waiting.pop(0), constants)
        made.append(compiler.compile())
        names = set(compiler.called_by_interface)
        implementing = [cls.methods[name] for cls in classes for name in cls.methods if name in names]
        for definition in [*compiler.called, *implementing]:
            if definition.name not in known:
                known.add(definition.name)
                waiting.append(definition)
    return made


def _classes(source: Source, functions: Sequence[FuncOp]) -> list[ScriptOp]:
    """The classes of the values in functions."""
    found: dict[str, ScriptOp] = {}
    waiting = [value.type for function in functions for op in function.walk() for value in op.results]
    waiting += [
        arg.type for function in functions for block in function.regions[0].blocks for arg in block.args
    ]
    seen: set[Attribute] = set()
    while waiting:
        type = waiting.pop()
        if type in seen:
            continue
        seen.add(type)
        waiting += ts.items_of(type)
        if not isinstance(type, ts.ClassType) or not isinstance(source.find(type.qualified_name), Class):
            continue
        cls = source.class_named(type.qualified_name)
        waiting += cls.fields.values()
        found[cls.name] = ClassOp(
            [],
            [],
            {
                "sym_name": StringAttr(cls.name),
                "category": StringAttr(cls.category),
                "fields": ArrayAttr(ArrayAttr([StringAttr(name), of]) for name, of in cls.fields.items()),
            },
        )
    return [found[name] for name in sorted(found)]
