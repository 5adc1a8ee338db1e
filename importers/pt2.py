"""Reads `.pt2` archives (`torch.export.save`, PyTorch 2.8 and later) without PyTorch.

A `.pt2` file is a zip with one folder in it: `models/NAME.json` holds a program, `data/weights` and `data/constants`
raw little-endian tensors with a JSON table of names each. Tensors that are stored uncompressed are mapped, not read.
The file may come from anywhere: every name, number and reference in it is checked, all that is wrong becomes one
LoadError which says where; nothing is executed (pickles are refused) and nothing written.

The middle part is the JSON schema (`torch/_export/serde/schema.py`, version 8) as a table of decoders. A decoder takes
a JSON value and its place, and gives a piece of `graph.ExportedGraph`. Semantic checks are `graph.check_program`'s.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, TypeAlias, TypeVar

from xdsl_exir.dialects.dtypes import BY_NAME, BY_SERIALIZED_CODE, DType
from xdsl_exir.errors import LoadError, UnsupportedTensorError
from xdsl_exir.importers.graph import (
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
    OutputSpec,
    Ref,
    Result,
    Subgraph,
    Symbolic,
    SymMeta,
    TensorMeta,
    Value,
    ValueMeta,
    check_program,
    normal_target,
)
from xdsl_exir.importers.tensor_data import Storage, TensorData
from xdsl_exir.narrowing import is_dict, is_list

SCHEMA_MAJOR = 8
"""Major version of the schema that is read; of later minor versions, files that use nothing new are."""

MAX_JSON_BYTES = 1 << 29
MAX_INFLATED_BYTES = 1 << 31
"""Limit to what one compressed entry may expand to."""
MAX_NESTING = 256
"""Limit to the length of a place in the JSON where a graph or dict argument stands; 8 steps lead into a sub-graph."""


def read_pt2(path: str | os.PathLike[str]) -> ExportedGraph | dict[str, ExportedGraph]:
    """The program in a `.pt2` file, or programs by name when it holds several. Raises LoadError."""
    programs = read_models(path)
    return programs if len(programs) > 1 else next(iter(programs.values()))


def read_models(path: str | os.PathLike[str]) -> dict[str, ExportedGraph]:
    """All programs in a `.pt2` file by name, at least one; `torch.export.save` calls its only one `model`.

    Tensors stay mapped from the file, which must not be changed while they are in use. Raises LoadError.
    """
    archive = _Archive(os.fspath(path))
    archive.check_format()
    models = [
        match[1]
        for name in archive.names
        if (match := re.fullmatch(r"models/([^/]+)\.json", name)) is not None
    ]
    if not models:
        archive.fail("models/", "there is no exported program in this archive")
    return {model: _read_model(archive, model) for model in models}


# The zip

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED, _UTF8 = 1 << 0, 1 << 11
_OLD_FORMAT = "serialized_exported_program.json"


class _Archive:
    """The entries of a `.pt2` file under their names within its root folder."""

    def __init__(self, path: str):
        self.path = path
        if not os.path.isfile(path):
            self.fail("", "not a file")
        try:
            with open(path, "rb") as file:
                with zipfile.ZipFile(file) as directory:
                    infos = directory.infolist()
                    self._directory_start = directory.start_dir
                self._map = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            struct.error,
            ValueError,
            OSError,
            EOFError,
        ) as error:
            # What zipfile raises on damaged directories; UnicodeDecodeError is a ValueError.
            self.fail("", f"not a zip archive that can be read (truncated?): {error}")
        self._entries = self._by_name(infos)

    @property
    def names(self) -> list[str]:
        return list(self._entries)

    def fail(self, entry: str, message: str) -> NoReturn:
        raise LoadError(": ".join(part for part in (self.path, entry, message) if part)) from None

    def invalid(self, entry: str, error: _Invalid) -> NoReturn:
        if isinstance(error, _UnsupportedDtype):
            at = ": ".join((self.path, entry, error.place))
            raise UnsupportedTensorError(f"dtype {error.dtype}", at) from None
        self.fail(entry, str(error))

    def _by_name(self, infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        for info in infos:
            self._check_name(info)
        files = [info for info in infos if not info.filename.endswith("/")]
        if any(info.filename.rpartition("/")[2] == _OLD_FORMAT for info in files):
            self.fail(
                _OLD_FORMAT,
                "the .pt2 format of PyTorch before 2.8 is not supported; save again with a later one",
            )
        roots = {info.filename.partition("/")[0] for info in files}
        if len(roots) != 1 or not all("/" in info.filename for info in files):
            self.fail("", "not a .pt2 archive: its entries do not share one folder")
        entries: dict[str, zipfile.ZipInfo] = {}
        for info in files:
            name = info.filename.partition("/")[2]
            if name in entries:
                self.fail(name, "the archive has two entries of this name")
            entries[name] = info
        return entries

    def _check_name(self, info: zipfile.ZipInfo) -> None:
        name = info.orig_filename
        parts = name.removesuffix("/").split("/")
        if name != info.filename or "\\" in name or "\0" in name or any(p in ("", ".", "..") for p in parts):
            self.fail(repr(name), "unsafe path in the archive")
        if not name.isprintable():
            self.fail(repr(name), "unprintable name in the archive")
        if stat.S_ISLNK(info.external_attr >> 16):
            self.fail(name, "symbolic link in the archive")

    def check_format(self) -> None:
        for entry, expected in (("archive_format", "pt2"), ("byteorder", "little"), ("archive_version", "0")):
            text = bytes(self.read(entry)[:40]).decode("utf-8", "replace").strip()
            if text != expected:
                self.fail(entry, f"expected {expected!r}, got {text!r}")

    def read(self, entry: str) -> memoryview:
        """The bytes of an entry, checked against their CRC."""
        storage = self.storage(entry)
        if zlib.crc32(storage.buffer) != self._entries[entry].CRC:
            self.fail(entry, "damaged: the checksum does not match")
        return storage.buffer

    def storage(self, entry: str) -> Storage:
        """The bytes of an entry: mapped when it is stored, in memory when it is compressed."""
        if entry not in self._entries:
            self.fail(entry, "the archive has no such entry")
        info = self._entries[entry]
        start = self._data_start(entry, info)
        data = self._map[start : start + info.compress_size]
        if info.compress_type == zipfile.ZIP_DEFLATED:
            return Storage(self._inflate(entry, data, info.file_size))
        if info.compress_type != zipfile.ZIP_STORED:
            self.fail(entry, f"compression method {info.compress_type} is not supported")
        if info.compress_size != info.file_size:
            self.fail(entry, f"stored in {info.compress_size} bytes, but {info.file_size} bytes long")
        return Storage(data, self.path, start)

    def _data_start(self, entry: str, info: zipfile.ZipInfo) -> int:
        """Where the data of an entry start, after the header that stands in front of them."""
        start = info.header_offset + _LOCAL_HEADER.size
        if info.header_offset < 0 or start > self._directory_start:
            self.fail(entry, "damaged: the entry lies outside the archive")
        signature, _, flags, method, _, _, _, _, _, name_size, extra_size = _LOCAL_HEADER.unpack_from(
            self._map, info.header_offset
        )
        name = bytes(self._map[start : start + name_size]).decode(
            "utf-8" if flags & _UTF8 else "cp437", "replace"
        )
        if signature != b"PK\x03\x04" or method != info.compress_type or name != info.orig_filename:
            self.fail(entry, "damaged: the entry's header and the archive's directory differ")
        if (flags | info.flag_bits) & _ENCRYPTED:
            self.fail(entry, "encrypted entries are not supported")
        start += name_size + extra_size
        if start + info.compress_size > self._directory_start:
            self.fail(entry, "truncated: the entry ends outside the archive")
        return start

    def _inflate(self, entry: str, data: memoryview, size: int) -> memoryview:
        if size > MAX_INFLATED_BYTES:
            self.fail(entry, f"compressed entry of {size} bytes; at most {MAX_INFLATED_BYTES} are expanded")
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            inflated = inflater.decompress(data, size + 1)
        except zlib.error as error:
            self.fail(entry, f"damaged: {error}")
        if len(inflated) != size or not inflater.eof:
            self.fail(entry, f"damaged: the entry does not expand to the {size} bytes it declares")
        return memoryview(inflated)

    def json(self, entry: str) -> object:
        """The JSON in an entry. Keys that occur twice, NaN and Infinity as bare words and half surrogate pairs, none
        of which PyTorch writes, are refused."""
        data = self.read(entry)
        if data.nbytes > MAX_JSON_BYTES:
            self.fail(entry, f"JSON of {data.nbytes} bytes; at most {MAX_JSON_BYTES} are read")
        try:
            text = bytes(data).decode()
            value: object = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
            if re.search(r"\\u[dD][89a-fA-F]", text):
                json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:  # JSONDecodeError and UnicodeError are ValueErrors
            self.fail(entry, f"not JSON that can be read: {error}")
        return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError(f"an object has a key twice: {[key for key, _ in pairs][:10]}")
    return result


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


# Decoders

At: TypeAlias = "tuple[At, str | int] | None"
"""A place in a JSON document: the place around it and the last step."""

T = TypeVar("T")
Decoder: TypeAlias = Callable[[object, At], T]


class _Invalid(Exception):
    """A value that the schema does not allow, with its place."""

    def __init__(self, at: At, message: str):
        super().__init__(f"{_place(at)}: {message}" if at else message)


class _UnsupportedDtype(_Invalid):
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
    raise _Invalid(at, f"expected {what}, got {_describe(value)}")


def _bool(value: object, at: At) -> bool:
    return value if isinstance(value, bool) else _expected("true or false", value, at)


def _str(value: object, at: At) -> str:
    return value if isinstance(value, str) else _expected("a string", value, at)


def _int(value: object, at: At) -> int:
    # int64, and what only a uint64 tensor can hold.
    if type(value) is int and -(1 << 63) <= value < 1 << 64:
        return value
    _expected("a 64-bit integer", value, at)


def _count(value: object, at: At) -> int:
    if type(value) is int and 0 <= value < 1 << 63:
        return value
    _expected("a 64-bit integer, not negative", value, at)


_NON_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def _float(value: object, at: At) -> float:
    """A number, or what PyTorch writes for those that JSON lacks."""
    if isinstance(value, str) and value in _NON_FINITE:
        return _NON_FINITE[value]
    if isinstance(value, float) and math.isfinite(value):
        return value
    if type(value) is int and abs(value) < 1 << 64:
        return float(value)
    _expected("a finite number, 'Infinity', '-Infinity' or 'NaN'", value, at)


def _none(value: object, at: At) -> None:
    if value not in (True, [], None):
        _expected("true", value, at)


def _name(value: object, at: At) -> str:
    """The name of a graph value; FX makes them all Python identifiers."""
    return (
        value if isinstance(value, str) and value.isidentifier() else _expected("a value's name", value, at)
    )


_TARGET = re.compile(r"#?[A-Za-z_][\w.:<>]*")


def _target(value: object, at: At) -> str:
    if isinstance(value, str) and _TARGET.fullmatch(value):
        return normal_target(value)
    _expected("an operator's name", value, at)


def _list(item: Decoder[T]) -> Decoder[tuple[T, ...]]:
    def decode(value: object, at: At) -> tuple[T, ...]:
        if not is_list(value):
            _expected("a list", value, at)
        return tuple([item(element, (at, i)) for i, element in enumerate(value)])

    return decode


def _dict(item: Decoder[T]) -> Decoder[dict[str, T]]:
    def decode(value: object, at: At) -> dict[str, T]:
        fields = _object(value, at)
        return {key: item(element, (at, key)) for key, element in fields.items()}

    return decode


def _optional(decode: Decoder[T]) -> Decoder[T | None]:
    return lambda value, at: None if value is None else decode(value, at)


def _enum(what: str, members: Mapping[int, T]) -> Decoder[T]:
    def decode(value: object, at: At) -> T:
        if type(value) is not int or value not in members:
            _expected(f"the code of a {what}", value, at)
        return members[value]

    return decode


def _object(value: object, at: At) -> dict[str, object]:
    return value if is_dict(value) else _expected("an object", value, at)


def _record(
    build: Callable[..., T],
    required: Mapping[str, Decoder[Any]],
    defaults: Mapping[str, tuple[Decoder[Any], Any]] = {},
) -> Decoder[T]:
    """An object with these fields, given to `build` in this order; some, younger than the schema's major version, may
    be missing. Fields that are not known may stand there if empty, for then they mean nothing.
    """
    names = required.keys()
    known = names | defaults.keys()
    items = tuple(required.items())

    def decode(value: object, at: At) -> T:
        fields = _object(value, at)
        if not names <= fields.keys():
            raise _Invalid(at, f"{min(names - fields.keys())!r} is missing")
        arguments = [item(fields[name], (at, name)) for name, item in items]
        for name, (item, default) in defaults.items():
            arguments.append(item(fields[name], (at, name)) if name in fields else default)
        if len(fields) > len(items):
            for name in fields.keys() - known:
                if fields[name]:
                    raise _Invalid(at, f"unknown field {name!r:.100}")
        return build(*arguments)

    return decode


def _union(what: str, members: Mapping[str, Decoder[T]]) -> Decoder[T]:
    """An object with one key, which says what its value is."""

    def decode(value: object, at: At) -> T:
        fields = _object(value, at)
        if len(fields) != 1:
            raise _Invalid(at, f"expected exactly one key, got {len(fields)}")
        ((tag, member),) = fields.items()
        if tag not in members:
            raise _Invalid(at, f"unknown kind of {what}: {tag!r:.100}")
        return members[tag](member, (at, tag))

    return decode


def _only(field: Any) -> Any:
    """Builds a record of one field."""
    return field


def _fields(*fields: Any) -> tuple[Any, ...]:
    """Builds a record that is taken apart at once."""
    return fields


def _make(build: Callable[[T], Any], decode: Decoder[T]) -> Decoder[Any]:
    return lambda value, at: build(decode(value, at))


# The schema: dtypes, tensors, symbolic numbers

_UNSUPPORTED = {9: "ComplexHalf", 33: "Float8_e8m0fnu"}
_SCALAR_TYPES = {code: dtype.name for code, dtype in BY_SERIALIZED_CODE.items()} | _UNSUPPORTED

_LAYOUTS = {
    1: Layout("sparse_coo"),
    2: Layout("sparse_csr"),
    3: Layout("sparse_csc"),
    4: Layout("sparse_bsr"),
    5: Layout("sparse_bsc"),
    6: Layout("_mkldnn"),
    7: Layout("strided"),
}
_MEMORY_FORMATS = {
    1: MemoryFormat("contiguous_format"),
    2: MemoryFormat("channels_last"),
    3: MemoryFormat("channels_last_3d"),
    4: MemoryFormat("preserve_format"),
}

_scalar_type_name = _enum("dtype", _SCALAR_TYPES)


def _dtype(value: object, at: At) -> DType:
    name = _scalar_type_name(value, at)
    if name not in BY_NAME:
        raise _UnsupportedDtype(at, name)
    return BY_NAME[name]


def _device_of(kind: str, index: int | None) -> Device:
    return Device(kind if index is None else f"{kind}:{index}")


_layout = _enum("layout", _LAYOUTS)
_device = _record(_device_of, {"type": _name}, {"index": (_optional(_count), None)})
_hint: Decoder[bool | int | float] = _union("hint", {"as_int": _int, "as_bool": _bool, "as_float": _float})
_symbolic = _record(Symbolic, {"expr_str": _str}, {"hint": (_optional(_hint), None)})
_size: Decoder[int | Symbolic] = _union("size", {"as_int": _count, "as_expr": _symbolic})
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


def _tensor_meta(value: object, at: At) -> TensorMeta:
    meta = _tensor_meta_fields(value, at)
    if len(meta.sizes) != len(meta.strides):
        raise _Invalid(at, f"{len(meta.sizes)} sizes, but {len(meta.strides)} strides")
    return meta


_sym_int = _make(partial(SymMeta, "int"), _union("SymInt", {"as_int": _int, "as_expr": _symbolic}))
_sym_float = _make(partial(SymMeta, "float"), _union("SymFloat", {"as_float": _float, "as_expr": _symbolic}))
_sym_bool = _make(partial(SymMeta, "bool"), _union("SymBool", {"as_bool": _bool, "as_expr": _symbolic}))

# The schema: arguments

_tensor = _record(Ref, {"name": _name})
_sym_name = _make(Ref, _name)
_sym_int_argument: Decoder[Ref | int] = _union("SymInt", {"as_name": _sym_name, "as_int": _int})
_sym_float_argument: Decoder[Ref | float] = _union("SymFloat", {"as_name": _sym_name, "as_float": _float})
_sym_bool_argument: Decoder[Ref | bool] = _union("SymBool", {"as_name": _sym_name, "as_bool": _bool})
_optional_tensor: Decoder[Ref | None] = _union("optional tensor", {"as_tensor": _tensor, "as_none": _none})
_custom_obj = _record(CustomObj, {"name": _name, "class_fqn": _str})
_sym_result = _union("symbolic result", {"as_name": _sym_name})


def _graph(value: object, at: At) -> Graph:
    if _nesting(at) > MAX_NESTING:
        raise _Invalid(at, "graphs nested too deeply")
    return _graph_fields(value, at)


def _nested_arguments(value: object, at: At) -> dict[str, Value]:
    if _nesting(at) > MAX_NESTING:
        raise _Invalid(at, "arguments nested too deeply")
    return _dict(_argument)(value, at)


_CONSTANTS: dict[str, Decoder[Any]] = {
    "as_none": _none,
    "as_int": _int,
    "as_float": _float,
    "as_string": _str,
    "as_bool": _bool,
}
_GRAPH_INPUTS: dict[str, Decoder[Any]] = {
    **_CONSTANTS,
    "as_tensor": _tensor,
    "as_sym_int": _union("symbolic input", {"as_name": _sym_name}),
    "as_sym_float": _union("symbolic input", {"as_name": _sym_name}),
    "as_sym_bool": _union("symbolic input", {"as_name": _sym_name}),
    "as_custom_obj": _custom_obj,
}
_ARGUMENTS: dict[str, Decoder[Any]] = {
    **_CONSTANTS,
    "as_tensor": _tensor,
    "as_tensors": _list(_tensor),
    "as_ints": _list(_int),
    "as_floats": _list(_float),
    "as_strings": _list(_str),
    "as_sym_int": _sym_int_argument,
    "as_sym_ints": _list(_sym_int_argument),
    "as_scalar_type": _dtype,
    "as_memory_format": _enum("memory format", _MEMORY_FORMATS),
    "as_layout": _layout,
    "as_device": _device,
    "as_bools": _list(_bool),
    "as_sym_bool": _sym_bool_argument,
    "as_sym_bools": _list(_sym_bool_argument),
    "as_graph": _record(Subgraph, {"name": _name, "graph": _graph}),
    "as_optional_tensor": _optional_tensor,
    "as_optional_tensors": _list(_optional_tensor),
    "as_custom_obj": _custom_obj,
    "as_operator": _make(OperatorRef, _target),
    "as_sym_float": _sym_float_argument,
    "as_sym_floats": _list(_sym_float_argument),
    "as_complex": _record(complex, {"real": _float, "imag": _float}),
    "as_nested_tensors": _list(_list(_tensor)),
    "as_int_lists": _list(_list(_int)),
    "as_float_lists": _list(_list(_float)),
    "as_string_to_argument": _nested_arguments,
}
_argument: Decoder[Value] = _union("argument", _ARGUMENTS)
_result: Decoder[Result] = _union(
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
)

# The schema: nodes and graphs


def _node_input(name: str, value: Value, keyword: bool | None) -> NodeInput:
    # Files of early minor versions do not say; there a name is enough to bind an argument by.
    return NodeInput(name, value, name != "" if keyword is None else keyword)


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
        *(metadata.get(key, "") for key in ("stack_trace", "nn_module_stack", "torch_fn")),
    )


_node = _record(
    _node_of,
    {
        "target": _target,
        "inputs": _list(
            _record(
                _node_input,
                {"name": _str, "arg": _argument},
                {"kind": (_optional(_enum("argument kind", {1: False, 2: True})), None)},
            )
        ),
        "outputs": _list(_result),
        "metadata": _dict(_str),
    },
    {"is_hop_single_tensor_return": (_optional(_bool), None), "name": (_optional(_str), None)},
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


_graph_record = _record(
    _GraphFields,
    {
        "inputs": _list(_union("graph input", _GRAPH_INPUTS)),
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
)


def _graph_fields(value: object, at: At) -> Graph:
    fields = _graph_record(value, at)
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
            raise _Invalid(at, f"value {min(twice)!r} is described twice")
        values.update(table)
    return Graph(fields.inputs, fields.nodes, fields.outputs, values, fields.returns_single_tensor)


# The schema: the program around the graph


def _constant_input(name: str, value: bool | int | float | str | None) -> InputSpec:
    return InputSpec("constant_input", name, value=value)


def _user_input(value: object, at: At) -> InputSpec:
    arg = _union("user input", _GRAPH_INPUTS)(value, at)
    if isinstance(arg, Ref | CustomObj):
        return InputSpec("user_input", arg.name)
    raise _Invalid(at, "a constant is no user_input, but a constant_input")


def _input(kind: Any) -> Callable[..., InputSpec]:
    def build(arg: Ref | CustomObj, target: str | None = None, persistent: bool | None = None) -> InputSpec:
        return InputSpec(kind, arg.name, target, persistent)

    return build


def _output(kind: Any) -> Callable[..., OutputSpec]:
    return partial(OutputSpec, kind)


_input_spec: Decoder[InputSpec] = _union(
    "input spec",
    {
        "user_input": _record(_only, {"arg": _user_input}),
        "parameter": _record(_input("parameter"), {"arg": _tensor, "parameter_name": _str}),
        "buffer": _record(_input("buffer"), {"arg": _tensor, "buffer_name": _str, "persistent": _bool}),
        "tensor_constant": _record(_input("constant_tensor"), {"arg": _tensor, "tensor_constant_name": _str}),
        "custom_obj": _record(_input("custom_obj"), {"arg": _custom_obj, "custom_obj_name": _str}),
        "token": _record(_input("token"), {"arg": _tensor}),
        "constant_input": _record(_constant_input, {"name": _name, "value": _union("constant", _CONSTANTS)}),
    },
)
_output_spec: Decoder[OutputSpec] = _union(
    "output spec",
    {
        "user_output": _record(_output("user_output"), {"arg": _argument}),
        "loss_output": _record(_output("loss_output"), {"arg": _tensor}),
        "buffer_mutation": _record(_output("buffer_mutation"), {"arg": _tensor, "buffer_name": _str}),
        "parameter_mutation": _record(
            _output("parameter_mutation"), {"arg": _tensor, "parameter_name": _str}
        ),
        "gradient_to_parameter": _record(
            _output("gradient_to_parameter"), {"arg": _tensor, "parameter_name": _str}
        ),
        "gradient_to_user_input": _record(
            _output("gradient_to_user_input"), {"arg": _tensor, "user_input_name": _str}
        ),
        "user_input_mutation": _record(
            _output("user_input_mutation"), {"arg": _tensor, "user_input_name": _str}
        ),
        "token": _record(_output("token"), {"arg": _tensor}),
    },
)
_signature = _record(
    _fields,
    {"input_specs": _list(_input_spec), "output_specs": _list(_output_spec)},
)
_module_call_signature = _record(
    ModuleCallSignature,
    {"inputs": _list(_argument), "outputs": _list(_argument), "in_spec": _str, "out_spec": _str},
    {"forward_arg_names": (_optional(_list(_str)), None)},
)
_module_call = _record(ModuleCall, {"fqn": _str}, {"signature": (_optional(_module_call_signature), None)})
_graph_module = _record(
    _fields,
    {"graph": _graph, "signature": _signature, "module_call_graph": _list(_module_call)},
    {
        "metadata": (_dict(_str), {}),
        "treespec_namedtuple_fields": (_dict(_record(_only, {"field_names": _list(_str)})), {}),
    },
)
_range = _record(_fields, {"min_val": _optional(_int), "max_val": _optional(_int)})


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


_version = _record(_fields, {"major": _count, "minor": _count})
_exported_program = _record(
    _program,
    {
        "graph_module": _graph_module,
        "opset_version": _dict(_count),
        "range_constraints": _dict(_range),
        "schema_version": _version,
    },
    {
        "verifiers": (_list(_str), ()),
        "torch_version": (_str, "<=2.4"),
        "guards_code": (_list(_str), ()),
    },
)

# The schema: weights


@dataclass(frozen=True)
class _Payload:
    """Where the data of one weight or constant are."""

    path_name: str
    is_param: bool
    use_pickle: bool
    tensor_meta: TensorMeta | None


_payload = _record(
    _Payload,
    {"path_name": _str, "is_param": _bool, "use_pickle": _bool, "tensor_meta": _optional(_tensor_meta)},
)
_payload_config = _record(_only, {"config": _dict(_payload)})

# Models


def _read_model(archive: _Archive, model: str) -> ExportedGraph:
    entry = f"models/{model}.json"
    value = archive.json(entry)
    try:
        # The version first: in a file of another one, all else may well differ.
        major, minor = _version(_object(value, None).get("schema_version"), (None, "schema_version"))
        if major != SCHEMA_MAJOR:
            raise _Invalid(
                (None, "schema_version"), f"schema {major}.{minor} is not supported, {SCHEMA_MAJOR}.x is"
            )
        program = _exported_program(value, None)
    except _Invalid as error:
        archive.invalid(entry, error)
    program = replace(
        program,
        state=_read_tensors(archive, model, "weights"),
        constants=_read_tensors(archive, model, "constants"),
    )
    check_program(program, f"{archive.path}: {entry}")
    return program


def _read_tensors(archive: _Archive, model: str, kind: str) -> dict[str, TensorData]:
    folder = f"data/{kind}"
    if f"{folder}/{model}.pt" in archive.names:
        archive.fail(
            f"{folder}/{model}.pt", "pickled tensors are refused; save again with PyTorch 2.9 or later"
        )
    entry = f"{folder}/{model}_{kind}_config.json"
    try:
        payloads = _payload_config(archive.json(entry), None)
        storages: dict[str, Storage] = {}
        return {
            name: _tensor_data(archive, folder, payload, storages, ((None, "config"), name))
            for name, payload in payloads.items()
        }
    except _Invalid as error:
        archive.invalid(entry, error)


def _tensor_data(
    archive: _Archive, folder: str, payload: _Payload, storages: dict[str, Storage], at: At
) -> TensorData:
    if payload.use_pickle:
        raise _Invalid((at, "use_pickle"), "the data are a pickle; pickles are refused, for they run code")
    if "/" in payload.path_name:
        raise _Invalid((at, "path_name"), f"unsafe path {payload.path_name!r:.100}")
    meta = payload.tensor_meta
    if meta is None:
        raise _Invalid((at, "tensor_meta"), "expected an object, got null")
    if meta.layout.name != "strided":
        raise _Invalid((at, "tensor_meta"), f"layout {meta.layout.name} is not supported")
    if payload.path_name not in storages:
        storages[payload.path_name] = archive.storage(f"{folder}/{payload.path_name}")
    storage = storages[payload.path_name]
    if storage.nbytes % meta.dtype.itemsize:
        raise _Invalid(at, f"{storage.nbytes} bytes of data are no whole number of {meta.dtype} elements")
    try:
        return TensorData(
            meta.dtype,
            _numbers(meta.sizes, (at, "tensor_meta")),
            _numbers(meta.strides, (at, "tensor_meta")),
            _numbers((meta.storage_offset,), (at, "tensor_meta"))[0],
            storage,
        )
    except LoadError as error:
        raise _Invalid(at, str(error)) from None


def _numbers(numbers: tuple[int | Symbolic, ...], at: At) -> tuple[int, ...]:
    concrete = tuple(n for n in numbers if isinstance(n, int))
    if len(concrete) != len(numbers):
        raise _Invalid(at, "the data of a weight cannot have symbolic sizes")
    return concrete
