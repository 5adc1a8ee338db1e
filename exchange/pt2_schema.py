"""The JSON of `.pt2` archives as one table, read both ways (`torch/_export/serde/schema.py`, version 8).

A `Codec` decodes a JSON value, whose place it knows, to a piece of `graph.ExportedGraph`, and encodes such a piece
to JSON. The combinators in the first half make codecs of records, unions, lists and codes; the second half is the
schema, every field of it named once. Decoding trusts nothing: what is wrong is an `Invalid` that says where.
Encoding relies on `graph.check_program`; what the schema has no form for is an `UnsupportedError`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from types import NoneType
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar, get_args

from xdsl_exir.dialects.dtypes import BY_NAME, BY_SERIALIZED_CODE, DType
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange.graph import (
    MAX_NESTING,
    CustomObj,
    CustomObjMeta,
    Device,
    ExportedGraph,
    Graph,
    InputSpec,
    Layout,
    MemoryFormat,
    ModuleCall,
    ModuleCallSignature,
    Node,
    NodeInput,
    OperatorRef,
    OutputKind,
    OutputSpec,
    Ref,
    Result,
    Subgraph,
    Symbolic,
    SymMeta,
    TensorMeta,
    Value,
    ValueMeta,
    normal_target,
    serialized_target,
)
from xdsl_exir.narrowing import is_dict, is_list

SCHEMA_VERSION = (8, 20)
"""Version of the schema that is written. Of later minor versions, files that use nothing new are read."""
READ = (7, 8)
"""The major versions that are read, those of PyTorch 2.5 and later. Version 7 is that of 2.5 and says that a range has no end by an infinite
number, where later ones have null; all else that minor versions of both have added may be missing."""

MAX_STEPS = 8 * MAX_NESTING
"""Limit to the length of a place in the JSON where a graph or dict argument stands; 8 steps lead into a sub-graph."""

# Codecs

At: TypeAlias = "tuple[At, str | int] | None"
"""A place in a JSON document: the place around it and the last step."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a value stands that is encoded: what says which of several JSON forms it has."""

    values: Mapping[str, ValueMeta] = dataclasses.field(default_factory=dict[str, ValueMeta])
    """The values of the graph around it."""
    node: Node | None = None
    """The node whose argument it is."""
    argument: str = ""
    """Name of that argument."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How a piece of the program is read from JSON and written to it."""

    decode: Callable[[object, At], T]
    encode: Callable[[Any, Scope], object]


class Invalid(Exception):
    """A value that the schema does not allow, with its place."""

    def __init__(self, at: At, message: str):
        super().__init__(f"{_place(at)}: {message}" if at else message)


class UnsupportedDtype(Invalid):
    """A dtype of PyTorch's that the IR does not have."""

    def __init__(self, at: At, dtype: str):
        super().__init__(at, dtype)
        self.place, self.dtype = _place(at), dtype


def _place(at: At) -> str:
    steps: list[str] = []
    while at is not None:
        at, step = at
        plain = isinstance(step, str) and step.isidentifier()
        steps.append(f".{step}" if plain else f"[{step!r:.100}]")
    return "".join(reversed(steps)).removeprefix(".")


def _nesting(at: At) -> int:
    depth = 0
    while at is not None:
        at, depth = at[0], depth + 1
    return depth


def _describe(value: object) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case None:
            return "null"
        case _:
            return f"{value!r:.60}"


def _expected(what: str, value: object, at: At) -> NoReturn:
    raise Invalid(at, f"expected {what}, got {_describe(value)}")


def _unsupported(scope: Scope, reason: str) -> NoReturn:
    node = scope.node
    target = node.target if node else "the program"
    raise UnsupportedError(
        [Unsupported(target, f"{reason}, which .pt2 files have no form for", node.name if node else "")]
    )


def _same(value: Any, scope: Scope) -> object:
    return value


def _plain(decode: Callable[[object, At], T]) -> Codec[T]:
    """Of a value that is itself in JSON."""
    return Codec(decode, _same)


def _decode_bool(value: object, at: At) -> bool:
    return value if isinstance(value, bool) else _expected("true or false", value, at)


def _decode_str(value: object, at: At) -> str:
    return value if isinstance(value, str) else _expected("a string", value, at)


def _decode_int(value: object, at: At) -> int:
    # int64, and what only a uint64 tensor can hold.
    if type(value) is int and -(1 << 63) <= value < 1 << 64:
        return value
    _expected("a 64-bit integer", value, at)


def _decode_count(value: object, at: At) -> int:
    if type(value) is int and 0 <= value < 1 << 63:
        return value
    _expected("a 64-bit integer, not negative", value, at)


_NON_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def _decode_float(value: object, at: At) -> float:
    """A number, or what PyTorch writes for those that JSON lacks."""
    if isinstance(value, str) and value in _NON_FINITE:
        return _NON_FINITE[value]
    if isinstance(value, float) and math.isfinite(value):
        return value
    if type(value) is int and abs(value) < 1 << 64:
        return float(value)
    _expected("a finite number, 'Infinity', '-Infinity' or 'NaN'", value, at)


def _encode_float(value: float, scope: Scope) -> object:
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _decode_none(value: object, at: At) -> None:
    if value not in (True, [], None):
        _expected("true", value, at)


def _decode_name(value: object, at: At) -> str:
    """The name of a graph value; FX makes them all Python identifiers."""
    return (
        value if isinstance(value, str) and value.isidentifier() else _expected("a value's name", value, at)
    )


_TARGET = re.compile(r"#?[A-Za-z_][\w.:<>]*")


def _decode_target(value: object, at: At) -> str:
    if isinstance(value, str) and _TARGET.fullmatch(value):
        return normal_target(value)
    _expected("an operator's name", value, at)


_bool, _int, _count = _plain(_decode_bool), _plain(_decode_int), _plain(_decode_count)
_str, _name = _plain(_decode_str), _plain(_decode_name)
_float = Codec(_decode_float, _encode_float)
_none = Codec(_decode_none, lambda value, scope: True)
_target: Codec[str] = Codec(_decode_target, lambda value, scope: serialized_target(value))


def _list(item: Codec[T]) -> Codec[tuple[T, ...]]:
    decode_item, encode_item = item.decode, item.encode

    def decode(value: object, at: At) -> tuple[T, ...]:
        if not is_list(value):
            _expected("a list", value, at)
        return tuple([decode_item(element, (at, i)) for i, element in enumerate(value)])

    return Codec(decode, lambda value, scope: [encode_item(element, scope) for element in value])


def _dict(item: Codec[T]) -> Codec[dict[str, T]]:
    decode_item, encode_item = item.decode, item.encode

    def decode(value: object, at: At) -> dict[str, T]:
        fields = object_of(value, at)
        return {key: decode_item(element, (at, key)) for key, element in fields.items()}

    return Codec(
        decode,
        lambda value, scope: {key: encode_item(element, scope) for key, element in value.items()},
    )


def _optional(codec: Codec[T]) -> Codec[T | None]:
    return Codec(
        lambda value, at: None if value is None else codec.decode(value, at),
        lambda value, scope: None if value is None else codec.encode(value, scope),
    )


def _enum(what: str, members: Mapping[int, T]) -> Codec[T]:
    codes = {member: code for code, member in members.items()}

    def decode(value: object, at: At) -> T:
        if type(value) is not int or value not in members:
            _expected(f"the code of a {what}", value, at)
        return members[value]

    def encode(value: T, scope: Scope) -> object:
        return codes[value] if value in codes else _unsupported(scope, f"the {what} {value}")

    return Codec(decode, encode)


def object_of(value: object, at: At) -> dict[str, object]:
    """The fields of a JSON object. Raises `Invalid` where it is none."""
    return value if is_dict(value) else _expected("an object", value, at)


def _fields_of(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Takes the fields of a dataclass apart."""
    names = [field.name for field in dataclasses.fields(cls)]
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda value: (get(value),)


def _record(
    build: Callable[..., T],
    required: Mapping[str, Codec[Any]],
    defaults: Mapping[str, tuple[Codec[Any], Any]] = {},
    take: Callable[[Any], tuple[Any, ...]] | None = None,
) -> Codec[T]:
    """An object with these fields, given to `build` in this order; some, younger than the schema's major version, may
    be missing. Fields that are not known may stand there if empty, for then they mean nothing.

    `take` gives the fields back; those of a dataclass stand in the schema's order.
    """
    names = required.keys()
    known = names | defaults.keys()
    items = tuple((name, codec.decode) for name, codec in required.items())
    young = tuple((name, codec.decode, default) for name, (codec, default) in defaults.items())
    codecs = {**required, **{name: codec for name, (codec, _) in defaults.items()}}
    written = tuple((name, codec.encode) for name, codec in codecs.items())
    taken = take or _fields_of(build)

    def decode(value: object, at: At) -> T:
        fields = object_of(value, at)
        if not names <= fields.keys():
            raise Invalid(at, f"{min(names - fields.keys())!r} is missing")
        arguments = [item(fields[name], (at, name)) for name, item in items]
        for name, item, default in young:
            arguments.append(item(fields[name], (at, name)) if name in fields else default)
        if len(fields) > len(items):
            for name in fields.keys() - known:
                if fields[name]:
                    raise Invalid(at, f"unknown field {name!r:.100}")
        return build(*arguments)

    def encode(value: T, scope: Scope) -> object:
        return {
            name: encode_item(item, scope)
            for (name, encode_item), item in zip(written, taken(value), strict=True)
        }

    return Codec(decode, encode)


def _union(
    what: str, members: Mapping[str, Codec[Any]], tag_of: Callable[[Any, Scope], str | None]
) -> Codec[Any]:
    """An object with one key, which says what its value is; `tag_of` a value gives its key, None if it has none."""
    decoders = {tag: codec.decode for tag, codec in members.items()}
    encoders = {tag: codec.encode for tag, codec in members.items()}

    def decode(value: object, at: At) -> Any:
        fields = object_of(value, at)
        if len(fields) != 1:
            raise Invalid(at, f"expected exactly one key, got {len(fields)}")
        ((tag, member),) = fields.items()
        if tag not in decoders:
            raise Invalid(at, f"unknown kind of {what}: {tag!r:.100}")
        return decoders[tag](member, (at, tag))

    def encode(value: Any, scope: Scope) -> object:
        tag = tag_of(value, scope)
        if tag not in encoders:
            _unsupported(scope, f"{what} {value!r:.100}")
        return {tag: encoders[tag](value, scope)}

    return Codec(decode, encode)


def _only(field: Any) -> Any:
    """Builds a record of one field; takes apart what `_fields` built."""
    return field


def _one(value: Any) -> tuple[Any]:
    """Takes a record of one field apart."""
    return (value,)


def _fields(*fields: Any) -> tuple[Any, ...]:
    """Builds a record that is taken apart at once."""
    return fields


def _make(build: Callable[[T], Any], codec: Codec[T]) -> Codec[Any]:
    """A dataclass of one field that JSON has bare."""
    take = _fields_of(build)
    return Codec(
        lambda value, at: build(codec.decode(value, at)),
        lambda value, scope: codec.encode(take(value)[0], scope),
    )


# Dtypes, tensors, symbolic numbers

_UNSUPPORTED = {33: "Float8_e8m0fnu"}
SCALAR_TYPES = {code: dtype.name for code, dtype in BY_SERIALIZED_CODE.items()} | _UNSUPPORTED

LAYOUTS = {
    1: Layout("sparse_coo"),
    2: Layout("sparse_csr"),
    3: Layout("sparse_csc"),
    4: Layout("sparse_bsr"),
    5: Layout("sparse_bsc"),
    6: Layout("_mkldnn"),
    7: Layout("strided"),
}
MEMORY_FORMATS = {
    1: MemoryFormat("contiguous_format"),
    2: MemoryFormat("channels_last"),
    3: MemoryFormat("channels_last_3d"),
    4: MemoryFormat("preserve_format"),
}

_scalar_type_name = _enum("dtype", SCALAR_TYPES)


def _decode_dtype(value: object, at: At) -> DType:
    name = _scalar_type_name.decode(value, at)
    if name not in BY_NAME:
        raise UnsupportedDtype(at, name)
    return BY_NAME[name]


def _device_of(kind: str, index: int | None) -> Device:
    return Device(kind if index is None else f"{kind}:{index}")


def _device_fields(device: Device) -> tuple[str, int | None]:
    kind, _, index = device.name.partition(":")
    return kind, int(index) if index else None


def _number_tag(value: object, scope: Scope) -> str | None:
    return _CONSTANT_TAGS.get(type(value))


def _symbolic_or(tag: str) -> Callable[[object, Scope], str]:
    """The tag of something that is an expression, or else a number."""
    return lambda value, scope: "as_expr" if isinstance(value, Symbolic) else tag


_CONSTANT_TAGS: dict[type, str] = {
    NoneType: "as_none",
    int: "as_int",
    float: "as_float",
    str: "as_string",
    bool: "as_bool",
}

_dtype = Codec(_decode_dtype, lambda value, scope: value.serialized_code)
_layout = _enum("layout", LAYOUTS)
_device = _record(_device_of, {"type": _name}, {"index": (_optional(_count), None)}, _device_fields)
_hint: Codec[bool | int | float] = _union(
    "hint", {"as_int": _int, "as_bool": _bool, "as_float": _float}, _number_tag
)
_symbolic = _record(Symbolic, {"expr_str": _str}, {"hint": (_optional(_hint), None)})
_size: Codec[int | Symbolic] = _union(
    "size", {"as_int": _count, "as_expr": _symbolic}, _symbolic_or("as_int")
)
_tensor_meta_fields = _record(
    TensorMeta,
    {
        "dtype": _dtype,
        "sizes": _list(_size),
        "requires_grad": _bool,
        "device": _device,
        "strides": _list(_size),
        "storage_offset": _size,
        "layout": _layout,
    },
)


def _decode_tensor_meta(value: object, at: At) -> TensorMeta:
    meta = _tensor_meta_fields.decode(value, at)
    if len(meta.sizes) != len(meta.strides):
        raise Invalid(at, f"{len(meta.sizes)} sizes, but {len(meta.strides)} strides")
    return meta


_tensor_meta = Codec(_decode_tensor_meta, _tensor_meta_fields.encode)


def _sym(kind: str, number: Codec[Any]) -> Codec[SymMeta]:
    """A symbolic number among a graph's values."""
    tag = f"as_{kind}"
    expr = _union(f"Sym{kind.title()}", {tag: number, "as_expr": _symbolic}, _symbolic_or(tag))
    return Codec(
        lambda value, at: SymMeta(kind, expr.decode(value, at)),  # pyright: ignore[reportArgumentType]
        lambda value, scope: expr.encode(value.expr, scope),
    )


_sym_int, _sym_float, _sym_bool = _sym("int", _int), _sym("float", _float), _sym("bool", _bool)

# Arguments


def _value_tag(value: Ref, scope: Scope) -> str:
    """The tag of a use or definition of a value: what the value is."""
    meta = scope.values.get(value.name)
    return f"as_sym_{meta.kind}" if isinstance(meta, SymMeta) else "as_tensor"


def _single_tag(value: object, scope: Scope) -> str | None:
    """The tag of an argument that is no list; None of a type that has none."""
    return _value_tag(value, scope) if isinstance(value, Ref) else _TAGS.get(type(value))


def _list_tag(values: tuple[Any, ...], scope: Scope) -> str | None:
    """The tag of a list, which is one for all its elements."""
    if not values:
        return _empty_list_tag(scope)
    if all(isinstance(value, tuple) for value in values):
        inner = {_list_tag(value, scope) for value in values if value}
        return _NESTED_TAGS.get(inner.pop()) if len(inner) == 1 else None
    tags = {_single_tag(value, scope) for value in values}
    if len(tags) == 1:
        return _LIST_TAGS.get(tags.pop())
    if tags == {"as_tensor", "as_none"}:
        return "as_optional_tensors"
    for kind in ("int", "float", "bool"):
        if tags == {f"as_{kind}", f"as_sym_{kind}"}:
            return f"as_sym_{kind}s"
    # Operands of higher-order operators mix tensors and computed numbers; PyTorch's serializer takes any node here.
    return "as_tensors" if all(isinstance(value, Ref) for value in values) else None


_LIST_TAGS: Mapping[str | None, str] = {
    "as_none": "as_optional_tensors",
    **{
        f"as_{kind}": f"as_{kind}s"
        for kind in ("tensor", "int", "float", "string", "bool", "sym_int", "sym_float", "sym_bool")
    },
}
_NESTED_TAGS: Mapping[str | None, str] = {
    "as_tensors": "as_nested_tensors",
    "as_ints": "as_int_lists",
    "as_floats": "as_float_lists",
}
_EMPTY_LIST_TAGS = {"bool": "as_bools", "int": "as_ints", "SymInt": "as_ints", "float": "as_floats", "str": "as_strings"}  # fmt: skip


def _empty_list_tag(scope: Scope) -> str:
    """The tag of an empty list, which only the operator's schema knows; a list of tensors where there is none."""
    from xdsl_exir.dialects.spec import specs

    spec = specs().get(scope.node.target) if scope.node else None
    types = {item.name: item.type.base for item in spec.schema.arguments} if spec else {}
    return _EMPTY_LIST_TAGS.get(types.get(scope.argument, ""), "as_tensors")


def _argument_tag(value: Value, scope: Scope) -> str | None:
    return _list_tag(value, scope) if isinstance(value, tuple) else _single_tag(value, scope)


def _name_or(tag: str) -> Callable[[object, Scope], str]:
    """The tag of something that is a value of the graph, or else a number."""
    return lambda value, scope: "as_name" if isinstance(value, Ref) else tag


def _tensor_or_none(value: object, scope: Scope) -> str:
    return "as_none" if value is None else "as_tensor"


_TAGS: dict[type, str] = {
    **_CONSTANT_TAGS,
    complex: "as_complex",
    DType: "as_scalar_type",
    MemoryFormat: "as_memory_format",
    Layout: "as_layout",
    Device: "as_device",
    OperatorRef: "as_operator",
    CustomObj: "as_custom_obj",
    Subgraph: "as_graph",
    dict: "as_string_to_argument",
}

_tensor = _record(Ref, {"name": _name})
_sym_name = _make(Ref, _name)
_sym_argument = {
    kind: _union(f"Sym{kind.title()}", {"as_name": _sym_name, f"as_{kind}": number}, _name_or(f"as_{kind}"))
    for kind, number in (("int", _int), ("float", _float), ("bool", _bool))
}
_optional_tensor: Codec[Ref | None] = _union(
    "optional tensor", {"as_tensor": _tensor, "as_none": _none}, _tensor_or_none
)
_custom_obj = _record(CustomObj, {"name": _name, "class_fqn": _str})
_sym_result = _union("symbolic result", {"as_name": _sym_name}, _name_or("as_name"))
_sym_input = _union("symbolic input", {"as_name": _sym_name}, _name_or("as_name"))


def _decode_graph(value: object, at: At) -> Graph:
    if _nesting(at) > MAX_STEPS:
        raise Invalid(at, "graphs nested too deeply")
    return _graph_fields(value, at)


def _encode_graph(graph: Graph, scope: Scope) -> object:
    return _graph_record.encode(graph, Scope(graph.values))


_graph = Codec(_decode_graph, _encode_graph)


def _decode_nested(value: object, at: At) -> dict[str, Value]:
    if _nesting(at) > MAX_STEPS:
        raise Invalid(at, "arguments nested too deeply")
    return _dict(_argument).decode(value, at)


_nested_arguments: Codec[dict[str, Value]] = Codec(
    _decode_nested, lambda value, scope: _dict(_argument).encode(value, scope)
)


def _complex_fields(value: complex) -> tuple[float, float]:
    return value.real, value.imag


_CONSTANTS: dict[str, Codec[Any]] = {
    "as_none": _none,
    "as_int": _int,
    "as_float": _float,
    "as_string": _str,
    "as_bool": _bool,
}
_GRAPH_INPUTS: dict[str, Codec[Any]] = {
    **_CONSTANTS,
    "as_tensor": _tensor,
    "as_sym_int": _sym_input,
    "as_sym_float": _sym_input,
    "as_sym_bool": _sym_input,
    "as_custom_obj": _custom_obj,
}
ARGUMENTS: dict[str, Codec[Any]] = {
    **_CONSTANTS,
    "as_tensor": _tensor,
    "as_tensors": _list(_tensor),
    "as_ints": _list(_int),
    "as_floats": _list(_float),
    "as_strings": _list(_str),
    "as_sym_int": _sym_argument["int"],
    "as_sym_ints": _list(_sym_argument["int"]),
    "as_scalar_type": _dtype,
    "as_memory_format": _enum("memory format", MEMORY_FORMATS),
    "as_layout": _layout,
    "as_device": _device,
    "as_bools": _list(_bool),
    "as_sym_bool": _sym_argument["bool"],
    "as_sym_bools": _list(_sym_argument["bool"]),
    "as_graph": _record(Subgraph, {"name": _name, "graph": _graph}),
    "as_optional_tensor": _optional_tensor,
    "as_optional_tensors": _list(_optional_tensor),
    "as_custom_obj": _custom_obj,
    "as_operator": _make(OperatorRef, _target),
    "as_sym_float": _sym_argument["float"],
    "as_sym_floats": _list(_sym_argument["float"]),
    "as_complex": _record(complex, {"real": _float, "imag": _float}, take=_complex_fields),
    "as_nested_tensors": _list(_list(_tensor)),
    "as_int_lists": _list(_list(_int)),
    "as_float_lists": _list(_list(_float)),
    "as_string_to_argument": _nested_arguments,
}
"""How each kind of argument is read and written."""
_argument: Codec[Value] = _union("argument", ARGUMENTS, _argument_tag)
_result: Codec[Result] = _union(
    "result",
    {
        "as_none": _none,
        "as_tensor": _tensor,
        "as_tensors": _list(_tensor),
        "as_optional_tensor": _optional_tensor,
        "as_optional_tensors": _list(_optional_tensor),
        "as_sym_int": _sym_result,
        "as_sym_float": _sym_result,
        "as_sym_bool": _sym_result,
    },
    _argument_tag,
)

# Nodes and graphs


def _node_input(name: str, value: Value, keyword: bool | None) -> NodeInput:
    # Files of early minor versions do not say; there a name is enough to bind an argument by.
    return NodeInput(name, value, name != "" if keyword is None else keyword)


_METADATA = ("stack_trace", "nn_module_stack", "torch_fn")


def _node_of(
    target: str,
    inputs: tuple[NodeInput, ...],
    outputs: tuple[Result, ...],
    metadata: dict[str, str],
    returns_single_tensor: bool | None,
    name: str | None,
) -> Node:
    return Node(
        name or "",
        target,
        inputs,
        outputs,
        returns_single_tensor,
        *(metadata.get(key, "") for key in _METADATA),
    )


def _node_fields(node: Node) -> tuple[Any, ...]:
    metadata = {key: text for key in _METADATA if (text := getattr(node, key))}
    return node.target, node.inputs, node.outputs, metadata, node.returns_single_tensor, node.name


_input_fields = _record(
    _node_input,
    {"name": _str, "arg": _argument},
    {"kind": (_optional(_enum("argument kind", {1: False, 2: True})), None)},
    _fields_of(NodeInput),
)
_named_argument = Codec(
    _input_fields.decode,
    lambda value, scope: _input_fields.encode(value, replace(scope, argument=value.name)),
)
_node_record = _record(
    _node_of,
    {
        "target": _target,
        "inputs": _list(_named_argument),
        "outputs": _list(_result),
        "metadata": _dict(_str),
    },
    {"is_hop_single_tensor_return": (_optional(_bool), None), "name": (_optional(_str), None)},
    _node_fields,
)
_node = Codec(
    _node_record.decode, lambda value, scope: _node_record.encode(value, replace(scope, node=value))
)


@dataclass(frozen=True)
class _GraphFields:
    """A graph as the schema has it: its values in one table for each sort."""

    inputs: tuple[Ref | CustomObj | bool | int | float | str | None, ...]
    outputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    tensor_values: dict[str, ValueMeta]
    sym_int_values: dict[str, ValueMeta]
    sym_bool_values: dict[str, ValueMeta]
    returns_single_tensor: bool
    custom_obj_values: dict[str, CustomObj]
    sym_float_values: dict[str, ValueMeta]


def _take_graph(graph: Graph) -> tuple[Any, ...]:
    tables: dict[str, dict[str, ValueMeta | CustomObj]] = {
        kind: {} for kind in ("tensor", "int", "bool", "object", "float")
    }
    for name, meta in graph.values.items():
        match meta:
            case TensorMeta():
                tables["tensor"][name] = meta
            case SymMeta():
                tables[meta.kind][name] = meta
            case CustomObjMeta():
                tables["object"][name] = CustomObj(name, meta.class_fqn)
    tensors, ints, bools, objects, floats = tables.values()
    fields = graph.inputs, graph.outputs, graph.nodes, tensors, ints, bools
    return *fields, graph.returns_single_tensor, objects, floats


_graph_record = _record(
    _GraphFields,
    {
        "inputs": _list(_union("graph input", _GRAPH_INPUTS, _single_tag)),
        "outputs": _list(_argument),
        "nodes": _list(_node),
        "tensor_values": _dict(_tensor_meta),
        "sym_int_values": _dict(_sym_int),
        "sym_bool_values": _dict(_sym_bool),
    },
    {
        "is_single_tensor_return": (_bool, False),
        "custom_obj_values": (_dict(_custom_obj), {}),
        "sym_float_values": (_dict(_sym_float), {}),
    },
    _take_graph,
)


def _graph_fields(value: object, at: At) -> Graph:
    fields = _graph_record.decode(value, at)
    custom_objs = {name: CustomObjMeta(obj.class_fqn) for name, obj in fields.custom_obj_values.items()}
    tables = (
        fields.tensor_values,
        fields.sym_int_values,
        fields.sym_bool_values,
        fields.sym_float_values,
        custom_objs,
    )
    values: dict[str, ValueMeta] = {}
    for table in tables:
        if twice := values.keys() & table.keys():
            raise Invalid(at, f"value {min(twice)!r} is described twice")
        values.update(table)
    return Graph(fields.inputs, fields.nodes, fields.outputs, values, fields.returns_single_tensor)


# The program around the graph


def _constant_input(name: str, value: bool | int | float | str | None) -> InputSpec:
    return InputSpec("constant_input", name, value=value)


_user_argument = _union("user input", _GRAPH_INPUTS, _single_tag)


def _decode_user_input(value: object, at: At) -> InputSpec:
    arg = _user_argument.decode(value, at)
    if isinstance(arg, Ref | CustomObj):
        return InputSpec("user_input", arg.name)
    raise Invalid(at, "a constant is no user_input, but a constant_input")


_user_input = Codec(
    _decode_user_input, lambda value, scope: _user_argument.encode(_input_value(value, scope), scope)
)


def _input_value(spec: InputSpec, scope: Scope) -> Ref | CustomObj:
    meta = scope.values.get(spec.name)
    return CustomObj(spec.name, meta.class_fqn) if isinstance(meta, CustomObjMeta) else Ref(spec.name)


def _input(kind: Any, arg: Codec[Any] = _tensor, **fields: Codec[Any]) -> Codec[InputSpec]:
    """An input of a kind: its value, and the name and whatever else belongs to it."""

    def build(arg: Ref | CustomObj, target: str | None = None, persistent: bool | None = None) -> InputSpec:
        return InputSpec(kind, arg.name, target, persistent)

    def take(spec: InputSpec) -> tuple[Any, ...]:
        return (Ref(spec.name), spec.target, spec.persistent)[: len(fields) + 1]

    return _record(build, {"arg": arg, **fields}, take=take)


def _output(kind: OutputKind, arg: Codec[Any] = _tensor, **fields: Codec[Any]) -> Codec[OutputSpec]:
    """An output of a kind: its value, and the name of what it belongs to."""
    return _record(
        partial(OutputSpec, kind),
        {"arg": arg, **fields},
        take=lambda spec: (spec.value, spec.target)[: len(fields) + 1],
    )


_INPUT_TAGS = {"constant_tensor": "tensor_constant"}
"""Kinds of input that the schema calls otherwise."""

_input_spec: Codec[InputSpec] = _union(
    "input spec",
    {
        "user_input": _record(_only, {"arg": _user_input}, take=_one),
        "parameter": _input("parameter", parameter_name=_str),
        "buffer": _input("buffer", buffer_name=_str, persistent=_bool),
        "tensor_constant": _input("constant_tensor", tensor_constant_name=_str),
        "custom_obj": _input("custom_obj", _custom_obj, custom_obj_name=_str),
        "token": _input("token"),
        "constant_input": _record(
            _constant_input,
            {"name": _name, "value": _union("constant", _CONSTANTS, _number_tag)},
            take=attrgetter("name", "value"),
        ),
    },
    lambda spec, scope: _INPUT_TAGS.get(spec.kind, spec.kind),
)
_OUTPUT_FIELDS: dict[OutputKind, dict[str, Codec[Any]]] = {
    "user_output": {"arg": _argument},
    "buffer_mutation": {"buffer_name": _str},
    "parameter_mutation": {"parameter_name": _str},
    "gradient_to_parameter": {"parameter_name": _str},
    "gradient_to_user_input": {"user_input_name": _str},
    "user_input_mutation": {"user_input_name": _str},
}
_output_spec: Codec[OutputSpec] = _union(
    "output spec",
    {kind: _output(kind, **_OUTPUT_FIELDS.get(kind, {})) for kind in get_args(OutputKind)},
    lambda spec, scope: spec.kind,
)
_signature = _record(
    _fields, {"input_specs": _list(_input_spec), "output_specs": _list(_output_spec)}, take=_only
)
_module_call_signature = _record(
    ModuleCallSignature,
    {"inputs": _list(_argument), "outputs": _list(_argument), "in_spec": _str, "out_spec": _str},
    {"forward_arg_names": (_optional(_list(_str)), None)},
)
_module_call = _record(ModuleCall, {"fqn": _str}, {"signature": (_optional(_module_call_signature), None)})
_namedtuple = _record(_only, {"field_names": _list(_str)}, take=_one)
_module_record = _record(
    _fields,
    {"graph": _graph, "signature": _signature, "module_call_graph": _list(_module_call)},
    {"metadata": (_dict(_str), {}), "treespec_namedtuple_fields": (_dict(_namedtuple), {})},
    take=_only,
)
# Names in the signature are those of the graph's values.
_graph_module = Codec(
    _module_record.decode, lambda value, scope: _module_record.encode(value, Scope(value[0].values))
)


def _decode_bound(value: object, at: At) -> int | None:
    return None if value in ("Infinity", "-Infinity") else _optional(_int).decode(value, at)


_bound = Codec(_decode_bound, _optional(_int).encode)
_range = _record(_fields, {"min_val": _bound, "max_val": _bound}, take=_only)


def _program(
    graph_module: tuple[Any, ...],
    opset: dict[str, int],
    range_constraints: dict[str, tuple[int | None, int | None]],
    _schema_version: object,
    verifiers: tuple[str, ...],
    torch_version: str,
    guards_code: tuple[str, ...],
) -> ExportedGraph:
    graph, (inputs, outputs), module_calls, metadata, namedtuple_fields = graph_module
    return ExportedGraph(
        graph=graph,
        inputs=inputs,
        outputs=outputs,
        range_constraints=range_constraints,
        guards_code=guards_code,
        module_calls=module_calls,
        namedtuple_fields=namedtuple_fields,
        state={},
        constants={},
        dialect=verifiers[0] if verifiers else "",
        torch_version=torch_version,
        opset=opset,
        metadata=metadata,
    )


def _program_fields(program: ExportedGraph) -> tuple[Any, ...]:
    signature = program.inputs, program.outputs
    return (
        (program.graph, signature, program.module_calls, program.metadata, program.namedtuple_fields),
        program.opset,
        program.range_constraints,
        SCHEMA_VERSION,
        (program.dialect,),
        program.torch_version,
        program.guards_code,
    )


VERSION = _record(_fields, {"major": _count, "minor": _count}, take=_only)
EXPORTED_PROGRAM = _record(
    _program,
    {
        "graph_module": _graph_module,
        "opset_version": _dict(_count),
        "range_constraints": _dict(_range),
        "schema_version": VERSION,
    },
    {
        "verifiers": (_list(_str), ()),
        "torch_version": (_str, "<=2.4"),
        "guards_code": (_list(_str), ()),
    },
    _program_fields,
)
"""A program without its tensors."""

# Tensors


@dataclass(frozen=True)
class Payload:
    """Where the data of one weight or constant are."""

    path_name: str
    is_param: bool
    use_pickle: bool
    tensor_meta: TensorMeta | None


_payload = _record(
    Payload,
    {"path_name": _str, "is_param": _bool, "use_pickle": _bool, "tensor_meta": _optional(_tensor_meta)},
)
PAYLOADS: Codec[dict[str, Payload]] = _record(_only, {"config": _dict(_payload)}, take=_one)
"""The weights or the constants of a program by name."""
