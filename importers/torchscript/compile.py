"""The body of a function, as operations: variables become values, `if` and `while` blocks that give what they assign.

The code is what TorchScript prints of its graphs: typed, without `break`, `continue` or early returns, its operators
without overloads. Calls, constants and literals are in `calls` and `literals`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.operations import (
    FuncOp,
    ReturnOp,
    ScriptOp,
    YieldOp,
    operation,
)
from xdsl_exir.errors import LoadError
from xdsl_exir.importers.torchscript.literals import constant_attribute
from xdsl_exir.importers.torchscript.source import Definition, Signature, Source
from xdsl_exir.limits import LIMITS

MAX_TRIPS = (1 << 63) - 1
"""The count of loops that only their condition ends."""


class FunctionCompiler:
    """Compiles one function. What it calls is named in `called`; types of `CONSTANTS` come from `constants`."""

    def __init__(self, source: Source, definition: Definition, constants: Sequence[Attribute]):
        self.source = source
        self.definition = definition
        self.constants = constants
        self.called: list[Definition] = []
        self.called_by_interface: list[str] = []
        """Names of methods that are called of what is only known by its interface."""
        self.block = Block()
        self.values: dict[str, SSAValue] = {}
        self.location = definition.location(definition.node)
        self.depth = 0
        self.forked: dict[str, ast.FunctionDef] = {}
        """Closures that are run beside the function."""

    def error(self, node: ast.AST, message: str) -> LoadError:
        """An error at a line of the code."""
        return self.source.error(self.definition.file, node, message)

    def error_here(self, message: str) -> LoadError:
        """An error at the line that is being compiled."""
        at = self.location
        return LoadError(f"{self.source.path}: {at.filename.data}:{at.line.data}: {message}")

    # operations

    def insert(
        self,
        kind: str | type[ScriptOp],
        operands: Sequence[SSAValue] = (),
        types: Sequence[Attribute] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> ScriptOp:
        """Adds an operation at the end of the block."""
        cls = operation(kind) if isinstance(kind, str) else kind
        op = cls(operands, types, attributes, regions, self.location)
        self.block.add_op(op)
        return op

    def value_of(
        self,
        kind: str,
        operands: Sequence[SSAValue],
        type: Attribute,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """The one result of an operation added at the end of the block."""
        return self.insert(kind, operands, [type], attributes).results[0]

    def constant(self, value: Any, type: Attribute) -> SSAValue:
        """A constant of a type that holds it: `prim.Constant`."""
        attribute = constant_attribute(value, self.error_here)
        return self.value_of("prim.Constant", [], type, {} if attribute is None else {"value": attribute})

    # functions

    def compile(self) -> FuncOp:
        """The function as an operation."""
        node, signature = self.definition.node, self.source.signature(self.definition)
        owner = self.definition.owner
        if owner is not None:
            self.argument(node.args.args[0].arg, owner)
        for parameter in signature.parameters:
            self.argument(parameter.name, parameter.type)
        results = self.body(node, signature)
        attributes: dict[str, Attribute] = {
            "sym_name": StringAttr(self.definition.name),
            "results": ArrayAttr([results]),
        }
        return FuncOp([], [], attributes, [Region(self.block)], self.location)

    def argument(self, name: str, type: Attribute) -> None:
        self.define(name, self.block.insert_arg(type, len(self.block.args)))

    def define(self, name: str, value: SSAValue) -> None:
        """A variable becomes a value."""
        if name and value.name_hint is None and name.isascii() and SSAValue.is_valid_name(name):
            value.name_hint = name
        self.values[name] = value

    def body(self, node: ast.FunctionDef, signature: Signature) -> Attribute:
        *before, last = node.body
        self.statements(before)
        if isinstance(last, ast.Return):
            self.at(last)
            value = (
                self.constant(None, ts.NONE)
                if last.value is None
                else self.expression(last.value, signature.result)
            )
        else:
            self.statement(last)
            value = self.constant(None, ts.NONE)
        self.insert(ReturnOp, [value])
        return signature.result if signature.result is not None else value.type

    def at(self, node: ast.AST) -> None:
        """What is added from here on is of this line."""
        self.location = self.definition.location(node)

    # statements

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        self.at(node)
        match node:
            case ast.Assign([target], value):
                self.assign(target, self.expression(value))
            case ast.AnnAssign(ast.Name(name), annotation, value) if value is not None:
                type = self.source.type(annotation, self.definition.file)
                self.define(name, self.as_type(self.expression(value, type), type))
            case ast.Expr(value):
                self.expression(value)
            case ast.If():
                self.if_(node)
            case ast.While(test, body, []):
                self.while_(node, test, body)
            case ast.For(ast.Name(), ast.Call(ast.Name("range"), [_], []), _, []):
                self.for_(node)
            case ast.With():
                self.with_(node)
            case ast.Pass():
                pass
            case ast.FunctionDef(args=ast.arguments(args=[])):
                self.forked[node.name] = node
            case _:
                raise self.error(node, f"{type_name(node)} is not known in TorchScript's code")

    def assign(self, target: ast.expr, value: SSAValue) -> None:
        match target:
            case ast.Name(name):
                self.define(name, value)
            case ast.Attribute(of, name):
                self.insert("prim.SetAttr", [self.expression(of), value], [], {"name": StringAttr(name)})
            case ast.Tuple(targets):
                for inner, item in zip(targets, self.unpacked(target, value, len(targets)), strict=True):
                    self.assign(inner, item)
            case ast.Subscript(of, ast.Slice()):
                raise self.error(of, "a slice is written to")
            case _:
                raise self.error(target, "it cannot be assigned to")

    def unpacked(self, node: ast.expr, value: SSAValue, count: int) -> Sequence[SSAValue]:
        """The items of a tuple, or of a list of this length."""
        type = value.type
        if isinstance(type, ts.ClassType):
            [type] = self.source.bases(type) or [type]
        if isinstance(type, ts.TupleType):
            if len(type.items.data) != count:
                raise self.error(node, f"{len(type.items.data)} values for {count} variables")
            return self.insert("prim.TupleUnpack", [value], type.items.data).results
        if isinstance(type, ts.ListType):
            return self.insert("prim.ListUnpack", [value], [type.item] * count).results
        raise self.error(node, f"{type} is no tuple")

    def within(
        self, make: Callable[[], None], arguments: Sequence[tuple[str, Attribute]] = ()
    ) -> tuple[Block, dict[str, SSAValue]]:
        """A block in which `make` adds operations, and the variables at its end; outside, nothing changes."""
        outer, values, location = self.block, self.values, self.location
        self.depth += 1
        if self.depth > LIMITS.nesting:
            raise LoadError(f"{self.source.path}: {self.definition.file}: blocks lie too deep in one another")
        self.block, self.values = Block(), dict(values)
        try:
            for name, type in arguments:
                self.argument(name, type)
            make()
            return self.block, self.values
        finally:
            self.block, self.values, self.location = outer, values, location
            self.depth -= 1

    def finish(self, block: Block, values: Sequence[SSAValue]) -> Region:
        block.add_op(YieldOp(values, [], {}, [], self.location))
        return Region(block)

    def if_(self, node: ast.If) -> None:
        condition = self.as_bool(node.test)
        first, then = self.within(lambda: self.statements(node.body))
        second, otherwise = self.within(lambda: self.statements(node.orelse))
        changed = [
            name
            for name, value in then.items()
            if name in otherwise and (value is not self.values.get(name) or otherwise[name] is not value)
        ]
        types = [ts.unify(then[name].type, otherwise[name].type, self.source.bases) for name in changed]
        regions = [
            self.finish(first, [then[name] for name in changed]),
            self.finish(second, [otherwise[name] for name in changed]),
        ]
        self.at(node)
        op = self.insert("prim.If", [condition], types, {}, regions)
        for name, value in zip(changed, op.results, strict=True):
            self.define(name, value)

    def while_(self, node: ast.While, test: ast.expr, body: Sequence[ast.stmt]) -> None:
        begins = self.as_bool(test)
        count = self.constant(MAX_TRIPS, ts.INT)
        self.loop(node, count, begins, "", body, test)

    def for_(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call)
        assert isinstance(node.target, ast.Name)
        count = self.expression(node.iter.args[0])
        if count.type != ts.INT:
            raise self.error(node, f"range() of {count.type}")
        self.loop(node, count, self.constant(True, ts.BOOL), node.target.id, node.body, None)

    def loop(
        self,
        node: ast.stmt,
        count: SSAValue,
        begins: SSAValue,
        counter: str,
        body: Sequence[ast.stmt],
        test: ast.expr | None,
    ) -> None:
        """`prim.Loop`, which carries what its body assigns of the variables that there are; their types may have to widen."""
        carried = [name for name in assigned(body) if name in self.values and name != counter]
        types = [self.values[name].type for name in carried]
        goes_on: list[SSAValue] = []

        def make() -> None:
            self.statements(body)
            goes_on.append(self.constant(True, ts.BOOL) if test is None else self.as_bool(test))

        while True:
            called = len(self.called)
            block, after = self.within(make, [(counter, ts.INT), *zip(carried, types, strict=True)])
            wider = [
                ts.unify(type, after[name].type, self.source.bases)
                for name, type in zip(carried, types, strict=True)
            ]
            if wider == types:
                break
            types = wider
            del self.called[called:]
        region = self.finish(block, [goes_on[-1], *(after[name] for name in carried)])
        self.at(node)
        operands = [count, begins, *(self.values[name] for name in carried)]
        op = self.insert("prim.Loop", operands, types, {}, [region])
        for name, value in zip(carried, op.results, strict=True):
            self.define(name, value)

    def with_(self, node: ast.With) -> None:
        entered: list[SSAValue] = []
        for item in node.items:
            manager = self.expression(item.context_expr)
            result = self.method(item.context_expr, manager, "__enter__", [], {})
            entered.append(manager)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, result)
        self.statements(node.body)
        for manager in reversed(entered):
            none = [self.constant(None, ts.NONE) for _ in range(3)]
            self.method(node, manager, "__exit__", none, {})

    # expressions: in `calls`

    def expression(self, node: ast.expr, hint: Attribute | None = None) -> SSAValue:
        """The value of an expression; `hint` is its type where the code says it."""
        from xdsl_exir.importers.torchscript.calls import expression

        self.depth += 1
        try:
            if self.depth > LIMITS.nesting * 2:
                raise self.error(node, "expressions lie too deep in one another")
            return expression(self, node, hint)
        finally:
            self.depth -= 1

    def as_bool(self, node: ast.expr) -> SSAValue:
        """A condition."""
        from xdsl_exir.importers.torchscript.calls import operator_call

        value = self.expression(node)
        return value if value.type == ts.BOOL else operator_call(self, node, "aten::Bool", [value], {})

    def as_type(self, value: SSAValue, type: Attribute) -> SSAValue:
        """A value of a wider type."""
        return value if value.type == type else self.value_of("prim.annotate", [value], type)

    def method(
        self,
        node: ast.AST,
        object_: SSAValue,
        name: str,
        args: Sequence[SSAValue],
        named: Mapping[str, SSAValue],
    ) -> SSAValue:
        """A call of a method of an object."""
        from xdsl_exir.importers.torchscript.calls import method_call

        return method_call(self, node, object_, name, args, named)


def assigned(nodes: Sequence[ast.stmt]) -> list[str]:
    """Names of the variables that statements assign, in order."""
    names: dict[str, None] = {}
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                names[inner.id] = None
    return list(names)


def type_name(node: ast.AST) -> str:
    """How errors call a statement or expression."""
    return type(node).__name__
