"""Expressions: literals, attributes, and calls, whose overloads are found by the types of their arguments."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects.schema import Argument
from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.matching import Given, conversion_to, find_overload
from xdsl_exir.dialects.torchscript.schemas import overloads
from xdsl_exir.importers.torchscript.compile import FunctionCompiler, type_name
from xdsl_exir.importers.torchscript.source import Class, Definition, dotted
from xdsl_exir.narrowing import is_tuple

_CASTS = {
    "bool": "Bool", "int": "Int", "float": "Float", "complex": "Complex", "str": "str", "len": "len", "sorted": "sorted",
}  # fmt: skip
"""Functions of Python and the operators that they are."""
_INFINITE = {"inf": math.inf, "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan)}

_BINARY: Mapping[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "remainder",
    ast.Pow: "pow", ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__", ast.MatMult: "matmul",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__",
    ast.Lt: "lt", ast.Gt: "gt", ast.LtE: "le", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne", ast.Is: "__is__",
    ast.IsNot: "__isnot__", ast.USub: "neg", ast.Not: "__not__", ast.Invert: "bitwise_not",
}  # fmt: skip
"""Operators of Python, which older archives hold, and the functions that they are."""


def expression(compiler: FunctionCompiler, node: ast.expr, hint: Attribute | None) -> SSAValue:
    """The value of an expression; `hint` is its type where the code says it."""
    match node:
        case ast.Constant(value) if not isinstance(value, bytes) and value is not ...:
            return compiler.constant(value, type_of_constant(value))
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() | complex() as value)):
            return compiler.constant(-value, type_of_constant(value))
        case ast.Name(name) if name in compiler.values:
            return compiler.values[name]
        case ast.Name(name) if name in _INFINITE:
            return compiler.constant(_INFINITE[name], type_of_constant(_INFINITE[name]))
        case ast.UnaryOp(ast.USub(), ast.Name("inf")):
            return compiler.constant(-math.inf, ts.FLOAT)
        case ast.UnaryOp(operator, operand) if type(operator) in _BINARY:
            return operator_call(
                compiler, node, f"aten::{_BINARY[type(operator)]}", [compiler.expression(operand)], {}
            )
        case ast.BinOp(left, operator, right) if type(operator) in _BINARY:
            operands = [compiler.expression(left), compiler.expression(right)]
            return operator_call(compiler, node, f"aten::{_BINARY[type(operator)]}", operands, {})
        case ast.Compare(left, [operator], [right]) if type(operator) in _BINARY:
            operands = [compiler.expression(left), compiler.expression(right)]
            return operator_call(compiler, node, f"aten::{_BINARY[type(operator)]}", operands, {})
        case ast.Tuple(items):
            return _tuple(compiler, items, hint)
        case ast.List(items):
            return _list(compiler, items, hint)
        case ast.Dict(keys, items):
            return _dict(compiler, node, keys, items, hint)
        case ast.Subscript(of, index):
            return _subscript(compiler, node, compiler.expression(of), index, hint)
        case ast.Attribute():
            return _attribute(compiler, node)
        case ast.Call():
            return _call(compiler, node, hint)
        case ast.Name(name):
            raise compiler.error(node, f"nothing is called {name!r:.100}")
        case _:
            raise compiler.error(node, f"{type_name(node)} is not known in TorchScript's code")


def type_of_constant(value: Any) -> Attribute:
    """The type of a literal."""
    kinds: dict[type, Attribute] = {
        bool: ts.BOOL,
        int: ts.INT,
        float: ts.FLOAT,
        complex: ts.COMPLEX,
        str: ts.STR,
    }
    return next((type for kind, type in kinds.items() if value.__class__ is kind), ts.NONE)


# --- containers ----------------------------------------------------------------------------------------------


def _inside(hint: Attribute | None) -> Attribute | None:
    return hint.item if isinstance(hint, ts.OptionalType) else hint


def _tuple(compiler: FunctionCompiler, items: Sequence[ast.expr], hint: Attribute | None) -> SSAValue:
    hint = _inside(hint)
    hints = (
        list(hint.items.data) if isinstance(hint, ts.TupleType) and len(hint.items.data) == len(items) else []
    )
    values = [compiler.expression(item, hints[index] if hints else None) for index, item in enumerate(items)]
    return compiler.value_of("prim.TupleConstruct", values, ts.tuple_of(value.type for value in values))


def _list(compiler: FunctionCompiler, items: Sequence[ast.expr], hint: Attribute | None) -> SSAValue:
    hint = _inside(hint)
    expected = hint.item if isinstance(hint, ts.ListType) else None
    values = [compiler.expression(item, expected) for item in items]
    type = expected or common_type(compiler, [value.type for value in values], ts.TENSOR)
    return compiler.value_of("prim.ListConstruct", values, ts.list_of(type))


def _dict(
    compiler: FunctionCompiler,
    node: ast.expr,
    keys: Sequence[ast.expr | None],
    items: Sequence[ast.expr],
    hint: Attribute | None,
) -> SSAValue:
    hint = _inside(hint)
    values: list[SSAValue] = []
    for key, item in zip(keys, items, strict=True):
        if key is None:
            raise compiler.error(node, "a dict in a dict's literal")
        values += [
            compiler.expression(key),
            compiler.expression(item, hint.item if isinstance(hint, ts.DictType) else None),
        ]
    if not isinstance(hint, ts.DictType):
        types = [value.type for value in values]
        hint = ts.DictType(
            common_type(compiler, types[::2], ts.STR), common_type(compiler, types[1::2], ts.TENSOR)
        )
    return compiler.value_of("prim.DictConstruct", values, hint)


def common_type(compiler: FunctionCompiler, types: Sequence[Attribute], otherwise: Attribute) -> Attribute:
    """The type of all items of a container."""
    if not types:
        return otherwise
    common = types[0]
    for type in types[1:]:
        common = ts.unify(common, type, compiler.source.bases)
    return common


def _subscript(
    compiler: FunctionCompiler, node: ast.expr, value: SSAValue, index: ast.expr, hint: Attribute | None
) -> SSAValue:
    type = value.type
    if isinstance(type, ts.ClassType) and compiler.source.class_named(type.qualified_name).is_module:
        # A module of a list or dict of them, which is only known by its interface.
        at = compiler.expression(index)
        return operator_call(compiler, node, "prim::ModuleContainerIndex", [value, at], {}, hint)
    if isinstance(type, ts.ClassType):
        [type] = compiler.source.bases(type) or [type]
    if isinstance(type, ts.TupleType):
        items = type.items.data
        if isinstance(index, ast.Slice):
            start, stop = (
                None if part is None else literal_int(compiler, part) for part in (index.lower, index.upper)
            )
            chosen = range(*slice(start, stop).indices(len(items)))
            kept = [compiler.constant(part, ts.INT) for part in (chosen.start, chosen.stop)]
            return compiler.value_of("prim.TupleSlice", [value, *kept], ts.tuple_of(items[i] for i in chosen))
        at = literal_int(compiler, index)
        if not -len(items) <= at < len(items):
            raise compiler.error(node, f"item {at} of a tuple of {len(items)}")
        return compiler.value_of("prim.TupleIndex", [value, compiler.constant(at, ts.INT)], items[at])
    return operator_call(compiler, node, "aten::__getitem__", [value, compiler.expression(index)], {})


def literal_int(compiler: FunctionCompiler, node: ast.expr) -> int:
    """An integer that the code says."""
    match node:
        case ast.Constant(int() as value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() as value)):
            return -value
        case _:
            raise compiler.error(node, "expected an integer")


# --- names ---------------------------------------------------------------------------------------------------


def _attribute(compiler: FunctionCompiler, node: ast.Attribute) -> SSAValue:
    name = dotted(node)
    first = name.partition(".")[0]
    if first and first not in compiler.values:
        if first == "CONSTANTS":
            return _named_constant(compiler, node, node.attr)
        found = compiler.source.find(name)
        if isinstance(found, Definition):
            compiler.called.append(found)
            attributes = {"function": ts.function_of(name).symbol}
            return compiler.value_of("prim.Constant", [], ts.function_of(name), attributes)
        owner = compiler.source.find(name.rpartition(".")[0])
        if isinstance(owner, Class) and owner.category == "enum" and node.attr in owner.constants:
            return compiler.value_of("prim.Constant", [], owner.type, {"member": StringAttr(node.attr)})
        raise compiler.error(node, f"nothing is called {name!r:.200}")
    return get_attribute(compiler, node, compiler.expression(node.value), node.attr)


def _named_constant(compiler: FunctionCompiler, node: ast.expr, name: str) -> SSAValue:
    index = int(name[1:]) if name[:1] == "c" and name[1:].isdecimal() and len(name) < 12 else -1
    if not 0 <= index < len(compiler.constants):
        raise compiler.error(node, f"there is no constant {name!r:.100}")
    return compiler.value_of("prim.Constant", [], compiler.constants[index], {"constant": StringAttr(name)})


def get_attribute(compiler: FunctionCompiler, node: ast.expr, value: SSAValue, name: str) -> SSAValue:
    """An attribute of an object, an item of a named tuple, or a constant of a class."""
    type = value.type
    if not isinstance(type, ts.ClassType):
        raise compiler.error(node, f"{type} has no attribute {name!r:.100}")
    cls = compiler.source.class_named(type.qualified_name)
    if cls.category == "tuple" and name in cls.fields:
        index = compiler.constant(list(cls.fields).index(name), ts.INT)
        return compiler.value_of("prim.TupleIndex", [value, index], cls.fields[name])
    if cls.category == "enum" and name in ("name", "value"):
        members = (
            [ts.STR] if name == "name" else [compiler_type(compiler, of) for of in cls.constants.values()]
        )
        type = common_type(compiler, members, ts.ANY)
        return compiler.value_of(
            "prim.EnumName" if name == "name" else f"prim.EnumValue.{type}", [value], type
        )
    if name in cls.constants:
        hint = cls.fields.get(name)
        return compiler.as_type(
            compiler.expression(cls.constants[name], hint),
            hint or compiler_type(compiler, cls.constants[name]),
        )
    if name not in cls.fields:
        raise compiler.error(node, f"{type} has no attribute {name!r:.100}")
    return compiler.value_of("prim.GetAttr", [value], cls.fields[name], {"name": StringAttr(name)})


def compiler_type(compiler: FunctionCompiler, node: ast.expr) -> Attribute:
    """The type of a class's constant that none is said of."""
    return compiler.expression(node).type


# --- calls ---------------------------------------------------------------------------------------------------


def _call(compiler: FunctionCompiler, node: ast.Call, hint: Attribute | None) -> SSAValue:
    match node.func, node.args:
        case ast.Name("annotate"), [type, value]:
            said = compiler.source.type(type, compiler.definition.file)
            made = converted(compiler, node, compiler.expression(value, said), said)
            return compiler.as_type(made, said)
        case ast.Name("unchecked_cast"), [type, value]:
            said = compiler.source.type(type, compiler.definition.file)
            return compiler.value_of("prim.unchecked_cast", [compiler.expression(value)], said)
        case ast.Name("uninitialized"), [type]:
            return compiler.value_of(
                "prim.Uninitialized", [], compiler.source.type(type, compiler.definition.file)
            )
        case ast.Name("isinstance"), [value, types]:
            items = types.elts if isinstance(types, ast.Tuple | ast.List) else [types]
            said = ArrayAttr([compiler.source.type(item, compiler.definition.file) for item in items])
            return compiler.value_of(
                "prim.isinstance", [compiler.expression(value)], ts.BOOL, {"types": said}
            )
        case ast.Attribute(of, "__new__"), [_] if dotted(of).startswith("__torch__."):
            cls = compiler.source.class_named(dotted(of))
            return compiler.value_of("prim.CreateObject", [], cls.type)
        case ast.Attribute(of, "tolist"), [] if hint is not None:
            return compiler.value_of("prim.tolist", [compiler.expression(of)], hint)
        case ast.Name("fork"), [ast.Name(name)] if name in compiler.forked:
            return fork(compiler, compiler.forked[name])
        case ast.Name("getattr"), [of, ast.Constant(str() as name)]:
            return get_attribute(compiler, node, compiler.expression(of), name)
        case _:
            pass
    args = [compiler.expression(arg) for arg in node.args]
    named = {keyword.arg or "": compiler.expression(keyword.value) for keyword in node.keywords}
    match node.func:
        case ast.Name(name) if name in _CASTS:
            return operator_call(compiler, node, f"aten::{_CASTS[name]}", args, named)
        case ast.Name("print"):
            return operator_call(compiler, node, "prim::Print", args, named)
        case ast.Name() | ast.Attribute():
            pass
        case _:
            raise compiler.error(node, "this cannot be called")
    name = dotted(node.func)
    first, _, rest = name.partition(".")
    if name and first not in compiler.values:
        if first == "torch":
            return operator_call(compiler, node, f"aten::{rest}", args, named)
        if first == "ops":
            return operator_call(compiler, node, rest.replace(".", "::", 1), args, named, hint)
        return _named_call(compiler, node, name, args, named)
    if isinstance(node.func, ast.Name):
        function = compiler.values[name].type
        if isinstance(function, ts.FunctionType):
            return _named_call(compiler, node, function.qualified_name, args, named)
        raise compiler.error(node, f"{name!r:.100} is no function")
    value = compiler.expression(node.func.value)
    return method_call(compiler, node, value, node.func.attr, args, named)


def fork(compiler: FunctionCompiler, body: ast.FunctionDef) -> SSAValue:
    """What a closure gives, some time: its body is a region, which sees the values around it."""
    results: list[SSAValue] = []

    def make() -> None:
        compiler.statements(body.body[:-1])
        last = body.body[-1]
        if isinstance(last, ast.Return) and last.value is not None:
            results.append(compiler.expression(last.value))
        else:
            compiler.statement(last)
            results.append(compiler.constant(None, ts.NONE))

    block, _ = compiler.within(make)
    region = compiler.finish(block, results)
    return compiler.insert("prim.fork", [], [ts.FutureType(results[0].type)], {}, [region]).results[0]


def _named_call(
    compiler: FunctionCompiler,
    node: ast.expr,
    name: str,
    args: Sequence[SSAValue],
    named: Mapping[str, SSAValue],
) -> SSAValue:
    """A call of a function of the archive, or of one of its classes."""
    found = compiler.source.find(name)
    if isinstance(found, Class):
        if found.category != "tuple":
            raise compiler.error(node, f"an object of {name:.200} made by a call")
        fields = list(found.fields)
        values = dict(zip(fields, args, strict=False)) | dict(named)
        if len(args) > len(fields) or list(values) != fields:
            raise compiler.error(node, f"{name:.200} has {len(fields)} fields")
        items = [compiler.as_type(values[field], found.fields[field]) for field in fields]
        return compiler.value_of("prim.TupleConstruct", items, found.type)
    if not isinstance(found, Definition):
        raise compiler.error(node, f"nothing is called {name!r:.200}")
    operands, result = arguments_of(compiler, node, found, args, named)
    compiler.called.append(found)
    return compiler.value_of("prim.CallFunction", operands, result, {"name": StringAttr(name)})


def method_call(
    compiler: FunctionCompiler,
    node: ast.AST,
    value: SSAValue,
    name: str,
    args: Sequence[SSAValue],
    named: Mapping[str, SSAValue],
) -> SSAValue:
    """A call of a method of an object."""
    type = value.type
    if not isinstance(type, ts.ClassType):
        raise compiler.error(node, f"{type} has no method {name!r:.100}")
    cls = compiler.source.class_named(type.qualified_name)
    if name not in cls.methods:
        raise compiler.error(node, f"{type} has no method {name!r:.100}")
    operands, result = arguments_of(compiler, node, cls.methods[name], args, named)
    if cls.category == "interface":
        compiler.called_by_interface.append(name)
    else:
        compiler.called.append(cls.methods[name])
    return compiler.value_of("prim.CallMethod", [value, *operands], result, {"name": StringAttr(name)})


def arguments_of(
    compiler: FunctionCompiler,
    node: ast.AST,
    definition: Definition,
    args: Sequence[SSAValue],
    named: Mapping[str, SSAValue],
) -> tuple[list[SSAValue], Attribute]:
    """The operands of a call of a function, in the order of its parameters, and the type of what it gives."""
    signature = compiler.source.signature(definition)
    parameters = signature.parameters
    given = dict(zip((parameter.name for parameter in parameters), args, strict=False))
    if (
        len(args) > len(parameters)
        or given.keys() & named.keys()
        or named.keys() - {p.name for p in parameters}
    ):
        raise compiler.error(node, f"{definition.name:.200} does not take these arguments")
    given.update(named)
    operands: list[SSAValue] = []
    for parameter in parameters:
        value = given.get(parameter.name)
        if value is None:
            if parameter.default is None:
                raise compiler.error(node, f"{definition.name:.200} needs '{parameter.name}'")
            value = compiler.expression(parameter.default, parameter.type)
        operands.append(converted(compiler, node, value, parameter.type))
    if signature.result is None:
        raise compiler.error(node, f"{definition.name:.200} does not say what it gives")
    return operands, signature.result


def converted(compiler: FunctionCompiler, node: ast.AST, value: SSAValue, type: Attribute) -> SSAValue:
    """An argument as the function takes it. What fits was checked when the archive was made."""
    conversion = conversion_to(type, value.type, True, compiler.source.bases)
    return _convert(compiler, node, value, conversion, type) if conversion else value


def _convert(
    compiler: FunctionCompiler, node: ast.AST, value: SSAValue, conversion: str, type: Attribute
) -> SSAValue:
    if conversion == "unpack":
        of = _inside(type)
        assert isinstance(value.type, ts.TupleType)
        items = compiler.insert("prim.TupleUnpack", [value], value.type.items.data).results
        return compiler.value_of("prim.ListConstruct", items, of or type)
    return operator_call(compiler, node, conversion, [value], {})


def operator_call(
    compiler: FunctionCompiler,
    node: ast.AST,
    name: str,
    args: Sequence[SSAValue],
    named: Mapping[str, SSAValue],
    hint: Attribute | None = None,
) -> SSAValue:
    """A call of a registered operator: the overload that its arguments fit. Several results come as a tuple."""
    types = [value.type for value in args]
    found = find_overload(
        name, types, {key: value.type for key, value in named.items()}, compiler.source.bases
    )
    if found is None:
        what = ", ".join([*map(str, types), *(f"{key}={value.type}" for key, value in named.items())])
        known = (
            "no overload takes" if overloads(name) else "it is no operator that is known; its arguments are"
        )
        raise compiler.error(node, f"{name}: {known} ({what})")
    operands = [_operand(compiler, node, item, args, named) for item in found.arguments]
    is_any = found.schema.returns_any or list(found.results) == [ts.ANY]
    results = [hint or ts.ANY] if is_any else list(found.results)
    op = compiler.insert(found.schema.qualified_name, operands, results)
    if len(op.results) == 1:
        return op.results[0]
    if not op.results:
        return compiler.constant(None, ts.NONE)
    return compiler.value_of("prim.TupleConstruct", op.results, ts.tuple_of(results))


def _operand(
    compiler: FunctionCompiler,
    node: ast.AST,
    item: Given,
    args: Sequence[SSAValue],
    named: Mapping[str, SSAValue],
) -> SSAValue:
    match item.source:
        case None:
            return default(compiler, item.argument, item.type)
        case int() as index:
            value = args[index]
        case str() as name:
            value = named[name]
    if item.conversion == "repeat":
        of = _inside(item.type)
        return compiler.value_of("prim.ListConstruct", [value] * item.length, of or item.type)
    return _convert(compiler, node, value, item.conversion, item.type) if item.conversion else value


_ENUMS = {
    **dict.fromkeys(("contiguous_format",), 0), "preserve_format": 1, "channels_last": 2, "Mean": 1, "Sum": 2,
    "long": 4, "float": 6, "strided": 0,
}  # fmt: skip
"""Words that defaults are, and the numbers that they stand for."""


def default(compiler: FunctionCompiler, argument: Argument, type: Attribute) -> SSAValue:
    """The default of an operator's argument."""
    value: Any = argument.default
    inside = _inside(type)
    if isinstance(value, str) and inside == ts.INT:
        value = _ENUMS[value]
    if value is None:
        return compiler.constant(None, ts.NONE)
    if isinstance(inside, ts.ListType):
        items = value if is_tuple(value) else (value,) * (argument.type.size or 1)
        values = [compiler.constant(_as(item, inside.item), inside.item) for item in items]
        return compiler.value_of("prim.ListConstruct", values, inside)
    if inside == ts.DEVICE:
        return compiler.value_of("prim.Constant", [], ts.DEVICE, {"value": StringAttr(str(value))})
    return compiler.constant(_as(value, inside or type), type_of_constant(_as(value, inside or type)))


def _as(value: Any, type: Attribute) -> Any:
    return float(value) if type == ts.FLOAT and not isinstance(value, bool) else value
