"""Runs functions of the `torchscript` dialect.

Numbers, strings, lists, dicts and objects are Python's, so calls, loops and branches go as they do in TorchScript; what is
done to tensors is `tensors`', which computes it or only builds it. The program that was traced is then what is left: loops
unrolled, calls inlined, lists and objects dissolved. Branches that nobody can decide yet are `branches`'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, SymbolRefAttr
from xdsl.ir import Attribute, Block, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.torchscript import types as ts
from xdsl_exir.dialects.torchscript.operations import ReturnOp, ScriptOp, YieldOp
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.importers.synonyms import is_synonym
from xdsl_exir.importers.torchscript import rarer, vision
from xdsl_exir.importers.torchscript.branches import Journal, branch
from xdsl_exir.importers.torchscript.carried import as_tensor
from xdsl_exir.importers.torchscript.literals import constant_value
from xdsl_exir.importers.torchscript.loops import loop_while
from xdsl_exir.importers.torchscript.module import ScriptModule
from xdsl_exir.importers.torchscript.scalars import PYTHON, compute
from xdsl_exir.importers.torchscript.source import Class
from xdsl_exir.importers.torchscript.special import SPECIAL
from xdsl_exir.importers.torchscript.tensors import Tensors
from xdsl_exir.importers.torchscript.values import (
    UNINITIALIZED,
    Condition,
    DeviceValue,
    EnumValue,
    Function,
    Number,
    Object,
    ScriptError,
    TensorValue,
    UnknownText,
    named,
)
from xdsl_exir.limits import LIMITS
from xdsl_exir.locations import location_text
from xdsl_exir.narrowing import is_dict, is_list, is_tuple

Values = dict[SSAValue, Any]

SYMBOLIC: Mapping[str, str] = {
    **{f"aten.{name}": f"_operator.{name}" for name in ("add", "sub", "mul", "floordiv", "pow", "neg", "eq", "ne", "lt", "le", "gt", "ge")},
    "aten.remainder": "_operator.mod", "aten.div": "_operator.truediv", "prim.max": "torch.sym_max", "prim.min": "torch.sym_min",
    "aten.__not__": "torch.sym_not", "aten.__and__": "_operator.and_", "aten.__or__": "_operator.or_", "aten.Float": "torch.sym_float",
    "aten.Int": "torch.sym_int", "aten.floor": "math.floor", "aten.ceil": "math.ceil", "aten.sqrt": "torch._sym_sqrt",
}  # fmt: skip
"""Operators on numbers, and what they are where a number is a value of the graph."""

REGISTERED = (rarer, vision)
"""Modules whose functions are in `SPECIAL`."""


class Machine:
    """Runs the functions of a module, with the tensors of one run."""

    def __init__(self, script: ScriptModule, tensors: Tensors, constants: Sequence[Any]):
        self.script, self.tensors, self.constants = script, tensors, constants
        self.functions = script.functions()
        self.journal = Journal()
        """What lists, dicts and objects were before the branch that is being traced."""
        self.depth = 0
        self.stack: list[str] = []
        """The modules whose methods are running, as PyTorch writes them."""

    # functions

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """What a function gives. Raises `ScriptError` where it raises."""
        function = self.functions.get(name)
        if function is None:
            raise ExirError(f"no function {name:.200}")
        self.depth += 1
        if self.depth > LIMITS.nesting:
            raise ExirError(f"{name:.200}: calls lie more than {LIMITS.nesting} deep in one another")
        entered = self._enter(arguments)
        outer = self.tensors.function
        self.tensors.function = name.rpartition(".")[2]
        try:
            block = function.regions[0].block
            for value, arg in zip(arguments, block.args, strict=True):
                expect(value, arg.type, arg.name_hint or "")
            [result] = self.block(block, dict(zip(block.args, arguments, strict=True)))
            return result
        finally:
            self.depth -= 1
            self.tensors.function = outer
            if entered:
                self._leave()

    def _enter(self, arguments: Sequence[Any]) -> bool:
        """Notes the module whose method is called."""
        owner = arguments[0] if arguments else None
        if not isinstance(owner, Object):
            return False
        cls = ".".join(
            part for part in owner.class_name.split(".")[1:] if not part.startswith("___torch_mangle_")
        )
        self.stack.append(f"L['self'].{owner.path},{owner.path},{cls}")
        self.tensors.modules = ";".join(self.stack)
        return True

    def _leave(self) -> None:
        self.stack.pop()
        self.tensors.modules = ";".join(self.stack)

    def block(self, block: Block, values: Values) -> list[Any]:
        """Runs a block: what it ends with."""
        for op in block.ops:
            assert isinstance(op, ScriptOp)
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, YieldOp | ReturnOp):
                return operands
            if isinstance(op.location, FileLineColLoc):
                self.tensors.location = op.location
            try:
                results = self.results(op, operands, values)
            except ExirError as error:
                error.name_place(location_text(op) or op.kind)
                raise
            values.update(zip(op.results, results, strict=True))
        return []

    def results(self, op: ScriptOp, operands: list[Any], values: Values) -> Sequence[Any]:
        """The results of an operation."""
        match op.kind:
            case "prim.If":
                return self.if_(op, operands[0], values)
            case "prim.Loop":
                return self.loop(op, operands, values)
            case "prim.fork":
                [region] = op.regions
                return self.block(region.block, values | dict(zip(region.block.args, operands, strict=True)))
            case "prim.TupleUnpack" | "prim.ListUnpack":
                if len(operands[0]) != len(op.results):
                    raise ScriptError(f"{len(operands[0])} values for {len(op.results)} variables")
                return operands[0]
            case _ if "subgraph" in op.attributes:  # what the profiling executor puts aside is its body
                return self.block(
                    op.regions[0].block, dict(zip(op.regions[0].block.args, operands, strict=True))
                )
            case kind if kind in STRUCTURES:
                result = STRUCTURES[kind](self, op, operands)
                return [result] if op.results else []
            case _:
                result = self.operator(op, operands)
        if not op.results:
            return []
        return [result] if len(op.results) == 1 else result

    # control flow

    def if_(self, op: ScriptOp, condition: Any, values: Values) -> list[Any]:
        """Runs the block that a condition says."""
        if isinstance(condition, Condition | Number):
            return branch(self, op, condition, values)
        return self.block(op.regions[0 if condition else 1].block, dict(values))

    def loop(self, op: ScriptOp, operands: list[Any], values: Values) -> list[Any]:
        """Runs the block of a loop as often as it says."""
        count, goes_on, *carried = operands
        block = op.regions[0].block
        number = 0
        while True:
            if isinstance(count, Number) or isinstance(goes_on, Condition | Number):
                return loop_while(self, op, count, number, [goes_on, *carried], values)
            if number >= count or not goes_on:
                return carried
            if number > MAX_ITERATIONS:
                raise ExirError(f"a loop of more than {MAX_ITERATIONS} iterations")
            inside = dict(values) | dict(zip(block.args, [number, *carried], strict=True))
            goes_on, *carried = self.block(block, inside)
            number += 1

    # operators

    def operator(self, op: ScriptOp, operands: list[Any]) -> Any:
        """What a registered operator gives."""
        schema = op.schema()
        assert schema is not None
        kind = op.kind
        if kind in SPECIAL:
            if schema.is_mutable and operands and is_list(operands[0]):
                self.journal.note(operands[0])
            return SPECIAL[kind](self.tensors, *operands)
        kinds = [*(argument.type for argument in schema.arguments), *(ret.type for ret in schema.returns)]
        of_tensors = any(of.is_tensor for of in kinds)
        name = ".".join(kind.split(".")[:2])
        if of_tensors:
            given = {
                argument.name: value
                for argument, value in zip(schema.arguments, operands, strict=False)
                if argument.name != "generator"
            }
            arguments = {argument.name: argument for argument in schema.arguments}
            self.check_generator(op, operands)
            if kind in DIVISIONS and self.script.version < 4 and self._is_integral(operands[:2]):
                # So it was up to PyTorch 1.5 (`div_Tensor_0_3` among the upgraders).
                return self.tensors.call(f"{kind}_mode", {**given, "rounding_mode": "trunc"})
            if any(isinstance(value, Condition) for value in operands):
                given = {
                    key: value.tensor if isinstance(value, Condition) else value
                    for key, value in given.items()
                }
            if is_synonym(kind):
                return self.tensors.stands_for(kind, given, len(schema.returns))
            return self.tensors.call(kind, given, arguments)
        if any(map(is_unknown, operands)):
            of_container = name in CONTAINERS or (name == "aten.add" and is_list(operands[0]))
            if not of_container or (name in KEYED and any(map(is_unknown, operands[1:2]))):
                return self.symbolic(op, name, operands)
        if name not in PYTHON:
            raise UnsupportedError(
                [Unsupported(kind, "TorchScript's operator is not known", location_text(op))]
            )
        returns = schema.returns[0].type if len(schema.returns) == 1 else None
        if schema.is_mutable and operands:
            self.journal.note(operands[0])
        plain = returns is not None and not returns.is_list and not returns.optional
        return compute(name, returns.base if returns is not None and plain else "", operands)

    def check_generator(self, op: ScriptOp, operands: Sequence[Any]) -> None:
        """Raises `UnsupportedError` where numbers are drawn from another stream than the program's."""
        schema = op.schema()
        assert schema is not None
        for argument, value in zip(schema.arguments, operands, strict=False):
            if argument.name == "generator" and value is not None:
                reason = "numbers are drawn from one stream, not from generators of the program's own"
                raise UnsupportedError([Unsupported(op.kind, reason, location_text(op))])

    def _is_integral(self, operands: Sequence[Any]) -> bool:
        """Whether all tensors and numbers are of integers."""
        return all(
            self.tensors.meta(value).dtype.category <= Category.INT
            if isinstance(value, TensorValue)
            else isinstance(value, int)
            for value in operands
        )

    def symbolic(self, op: ScriptOp, name: str, operands: list[Any]) -> Any:
        """Arithmetic on numbers of the graph, or logic of conditions."""
        if (name in TEXTS and any(isinstance(value, str) for value in operands)) or name == "aten.str":
            return UnknownText(f"{op.kind} of a number that is not known")
        if name in ("aten.eq", "aten.ne") and all(map(is_list, operands)):
            return self.same_lists(op, name == "aten.eq", *operands)
        if (
            name in FOLDS
            and len(operands) == 1
            and all(isinstance(item, int | Number) for item in operands[0])
        ):
            return reduce(lambda a, b: self.tensors.symbolic(FOLDS[name], a, b), operands[0])
        if any(isinstance(value, Condition) for value in operands):
            if name == "aten.__not__":
                return Condition(self.tensors.call("aten.logical_not", {"self": operands[0].tensor}))
            if name == "aten.Bool":
                return operands[0]
            if name in LOGIC:
                first, second = (as_tensor(self.tensors, operand) for operand in operands)
                return Condition(self.tensors.call(LOGIC[name], {"self": first, "other": second}))
        elif name == "aten.Bool" and isinstance(operands[0], Number):
            number = operands[0]
            return number if number.kind == "bool" else self.tensors.symbolic("_operator.ne", number, 0)
        elif name in SYMBOLIC and all(isinstance(value, bool | int | float | Number) for value in operands):
            return self.tensors.symbolic(SYMBOLIC[name], *operands)
        raise UnsupportedError(
            [Unsupported(op.kind, "of a number that depends on data or symbolic sizes", location_text(op))]
        )

    def same_lists(self, op: ScriptOp, wanted: bool, a: list[Any], b: list[Any]) -> Any:
        """Whether two lists are the same, or not."""
        if len(a) != len(b):
            return not wanted
        same: Any = True
        for pair in zip(a, b, strict=True):
            if any(map(is_unknown, pair)):
                equal = self.symbolic(op, "aten.eq", list(pair))
                same = equal if same is True else self.symbolic(op, "aten.__and__", [same, equal])
            elif pair[0] != pair[1]:
                return not wanted
        return same if wanted or isinstance(same, bool) else self.symbolic(op, "aten.__not__", [same])


DIVISIONS = frozenset({"aten.div.Tensor", "aten.div.Scalar", "aten.div_.Tensor", "aten.div_.Scalar"})
"""Divisions, which in older archives are of integers where their operands are."""

LOGIC = {
    "aten.__and__": "aten.logical_and",
    "aten.__or__": "aten.logical_or",
    "aten.__xor__": "aten.logical_xor",
    "aten.eq": "aten.eq.Tensor",
    "aten.ne": "aten.ne.Tensor",
}
"""What conditions are combined by."""

MAX_ITERATIONS = 1 << 20
"""Iterations of one loop: each is built anew."""

CONTAINERS = frozenset(
    f"aten.{name}"
    for name in ("append", "__getitem__", "_set_item", "insert", "extend", "list", "pop", "copy", "__is__", "__isnot__",
                 "len", "get", "keys", "values", "items", "dict", "setdefault", "update", "clear", "reverse", "wait", "add_", "slice", "mul_", "Delete")
)  # fmt: skip
"""Operators of lists and dicts, which may hold numbers of the graph, for they do not look at them."""

KEYED = frozenset(
    f"aten.{name}"
    for name in ("__getitem__", "_set_item", "insert", "pop", "get", "setdefault", "slice", "Delete")
)
"""Those of them that take keys and places."""

TEXTS = frozenset(["aten.format", "aten.percentFormat", "aten.str", "aten.add"])
"""Operators that make text of what they are given."""

FOLDS = {"prim.max": "torch.sym_max", "prim.min": "torch.sym_min", "aten.sum": "_operator.add"}
"""Operators that make one number of a list of them."""


def is_unknown(value: Any) -> bool:
    """Whether nobody knows a value before the program runs, or an item of a list."""
    return isinstance(value, Number | Condition | UnknownText) or (
        (is_list(value) or is_tuple(value)) and any(map(is_unknown, value))
    )


# --- what graphs are made of ---------------------------------------------------------------------------------

Structure = Callable[[Machine, ScriptOp, list[Any]], Any]


def _constant(machine: Machine, op: ScriptOp, operands: list[Any]) -> Any:
    attributes = op.attributes
    if (name := op.text("constant")) != "":
        return machine.constants[int(name[1:])]
    if (member := op.text("member")) != "":
        type = op.result_types[0]
        assert isinstance(type, ts.ClassType)
        return enum_member(machine.script, type.qualified_name, member)
    function = attributes.get("function")
    if isinstance(function, SymbolRefAttr):
        return Function(function.root_reference.data)
    if "text" in attributes:
        return _of_text(machine, op)
    value = constant_value(attributes.get("value"))
    return DeviceValue(value) if op.result_types[0] == ts.DEVICE and value is not None else value


def _of_text(machine: Machine, op: ScriptOp) -> Any:
    """A constant of which there is only graph text: of one integer, all of it. Raises `ExirError` for others."""
    type, text = op.result_types[0], op.text("text")
    said = type.text.data if isinstance(type, ts.SpelledType) else ""
    known = re.fullmatch(r"\{(-?\d{1,18})\}", text)
    dtype = next((dtype for dtype in _SPELLED if said.startswith(f"{dtype}(")), "")
    if known is None or not dtype:
        raise ExirError(f"the text does not hold the constant {text!r:.60}; an archive does")
    rank = len(re.findall(r"\b1\b(?=[,)])", re.split(r"strides|requires_grad|device", said)[0]))
    return machine.tensors.literal(np.full([1] * rank, int(known[1]), _SPELLED[dtype].numpy), _SPELLED[dtype])


_SPELLED = {
    "Long": dt.Long,
    "Int": dt.Int,
    "Short": dt.Short,
    "Char": dt.Char,
    "Byte": dt.Byte,
    "Bool": dt.Bool,
}
"""Tensors of integers, as graph text spells their types."""


def enum_member(script: ScriptModule, class_name: str, member: str) -> EnumValue:
    """A member of an enum of the program."""
    import ast

    cls = script.source.class_named(class_name)
    node = cls.constants.get(member)
    if node is None:
        raise ExirError(f"{class_name:.200} has no member {member!r:.100}")
    try:
        return EnumValue(class_name, member, ast.literal_eval(node))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ExirError(f"{class_name:.200}.{member:.100} is no constant") from None


def _get_attribute(machine: Machine, op: ScriptOp, operands: list[Any]) -> Any:
    [owner] = operands
    name = op.text("name")
    if not isinstance(owner, Object) or name not in owner.attributes:
        raise ScriptError(f"the object has no attribute {name!r:.100}")
    return expect(owner.attributes[name], op.result_types[0])


def _set_attribute(machine: Machine, op: ScriptOp, operands: list[Any]) -> None:
    owner, value = operands
    if not isinstance(owner, Object):
        raise ScriptError("an attribute of what is no object")
    machine.journal.note(owner)
    owner.attributes[op.text("name")] = value


def _method(machine: Machine, op: ScriptOp, operands: list[Any]) -> Any:
    owner = operands[0]
    if not isinstance(owner, Object):
        raise ScriptError("a method of what is no object")
    return machine.call(f"{owner.class_name}.{op.text('name')}", operands)


def _dict(machine: Machine, op: ScriptOp, operands: list[Any]) -> Any:
    return dict(zip(operands[::2], operands[1::2], strict=True))


def _raise(machine: Machine, op: ScriptOp, operands: list[Any]) -> Any:
    message, *rest = operands
    kind = str(rest[0]).rpartition(".")[2] if rest and rest[0] else ""
    raise ScriptError(f"{kind}: {message}" if kind else str(message))


def _is_instance(machine: Machine, op: ScriptOp, operands: list[Any]) -> bool:
    types = cast("ArrayAttr[Attribute]", op.attributes["types"])
    return any(holds(machine.script, operands[0], type) for type in types.data)


def expect(value: Any, type: Attribute, name: str = "") -> Any:
    """The value, if it is what the program says it is. Raises `ScriptError` where it is not: nothing else checks what an archive says."""
    if not _seems(value, type):
        raise ScriptError(f"{f'{name}: ' if name else ''}expected {type}, got {named(value)}")
    return value


def _seems(value: Any, type: Attribute) -> bool:
    """Whether a value is of a type, as far as can be seen without looking into it."""
    match type:
        case ts.OptionalType():
            return value is None or _seems(value, type.item)
        case ts.UnionType():
            return any(_seems(value, item) for item in type.items)
        case ts.ListType():
            return is_list(value)
        case ts.DictType():
            return is_dict(value)
        case ts.TupleType():
            items = type.items.data
            return is_tuple(value) and len(value) == len(items) and all(map(_seems, value, items))
        case ts.ClassType():
            return isinstance(value, Object | EnumValue) or is_tuple(value)
        case ts.Plain() if type in _CHECKED:
            return value is UNINITIALIZED or type in _KINDS.get(_kind(value), ())
        case _:
            return True


def holds(script: ScriptModule, value: Any, type: Attribute) -> bool:
    """Whether a value is of a type. An empty list is of every list's."""
    match type:
        case ts.OptionalType():
            return value is None or holds(script, value, type.item)
        case ts.UnionType():
            return any(holds(script, value, item) for item in type.items)
        case ts.ListType():
            return is_list(value) and all(holds(script, item, type.item) for item in value)
        case ts.DictType():
            return is_dict(value) and all(
                holds(script, key, type.key) and holds(script, item, type.item) for key, item in value.items()
            )
        case ts.TupleType():
            items = type.items.data
            return (
                is_tuple(value)
                and len(value) == len(items)
                and all(holds(script, item, of) for item, of in zip(value, items, strict=True))
            )
        case ts.ClassType():
            name = type.qualified_name
            found = script.source.find(name)
            if isinstance(found, Class) and found.category == "tuple":
                return is_tuple(value) and len(value) == len(found.fields)
            return isinstance(value, Object | EnumValue) and value.class_name == name
        case _:
            return type == ts.ANY or type in _KINDS.get(_kind(value), ())


def _kind(value: Any) -> str:
    return value.kind if isinstance(value, Number) else type(value).__name__


_KINDS: Mapping[str, tuple[Attribute, ...]] = {
    "NoneType": (ts.NONE,), "bool": (ts.BOOL,), "int": (ts.INT, ts.SCALAR), "float": (ts.FLOAT, ts.SCALAR),
    "complex": (ts.COMPLEX, ts.SCALAR), "str": (ts.STR,), "TensorValue": (ts.TENSOR,), "DeviceValue": (ts.DEVICE,),
    "Condition": (ts.BOOL,), "list": (ts.PLAIN["AnyListType"],), "tuple": (ts.PLAIN["AnyTupleType"],),
}  # fmt: skip


_CHECKED = frozenset(
    [ts.NONE, ts.BOOL, ts.INT, ts.FLOAT, ts.COMPLEX, ts.STR, ts.TENSOR, ts.DEVICE, ts.SCALAR]
)


def _create(machine: Machine, op: ScriptOp, operands: list[Any]) -> Object:
    type = op.result_types[0]
    assert isinstance(type, ts.ClassType)
    return Object(type.qualified_name)


def _submodule(machine: Machine, op: ScriptOp, operands: list[Any]) -> Any:
    owner, key = operands
    if not isinstance(owner, Object) or str(key) not in owner.attributes:
        raise ScriptError(f"the module has no {named(key)}")
    return owner.attributes[str(key)]


def _class_attribute(machine: Machine, op: ScriptOp, operands: list[Any]) -> Any:
    return machine.call(op.text("name"), operands)


STRUCTURES: Mapping[str, Structure] = {
    "prim.Constant": _constant,
    "prim.ListConstruct": lambda machine, op, operands: operands,
    "prim.TupleConstruct": lambda machine, op, operands: tuple(operands),
    "prim.TupleIndex": lambda machine, op, operands: operands[0][operands[1]],
    "prim.TupleSlice": lambda machine, op, operands: operands[0][operands[1] : operands[2]],
    "prim.DictConstruct": _dict,
    "prim.GetAttr": _get_attribute,
    "prim.SetAttr": _set_attribute,
    "prim.CallMethod": _method,
    "prim.CallFunction": _class_attribute,
    "prim.CreateObject": _create,
    "prim.isinstance": _is_instance,
    "prim.annotate": lambda machine, op, operands: expect(operands[0], op.result_types[0]),
    "prim.unchecked_cast": lambda machine, op, operands: expect(operands[0], op.result_types[0]),
    "prim.Uninitialized": lambda machine, op, operands: UNINITIALIZED,
    "prim.RaiseException": _raise,
    "prim.ModuleContainerIndex.list": _submodule,
    "prim.ModuleContainerIndex.dict": _submodule,
}
