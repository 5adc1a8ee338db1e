"""Reads `.pt2` archives (`torch.export.save`, PyTorch 2.8 and later) without PyTorch.

A `.pt2` file is a zip with one folder in it: `models/NAME.json` holds a program, `data/weights` and `data/constants`
raw little-endian tensors with a JSON table of names each. Tensors that are stored uncompressed are read when they are used.
The file may come from anywhere: every name, number and reference in it is checked, all that is wrong becomes one
LoadError which says where; nothing is executed (pickles are refused) and nothing written.

The JSON's form is `pt2_schema`'s, semantic checks are `graph.check_program`'s.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import replace
from typing import NoReturn

from xdsl_exir.errors import LoadError, UnsupportedTensorError
from xdsl_exir.exchange.graph import ExportedGraph, Symbolic, check_program
from xdsl_exir.exchange.json_text import read_json
from xdsl_exir.exchange.pt2_schema import (
    EXPORTED_PROGRAM,
    PAYLOADS,
    SCHEMA_VERSION,
    VERSION,
    At,
    Invalid,
    Payload,
    UnsupportedDtype,
    object_of,
)
from xdsl_exir.exchange.tensor_data import SourceFile, Storage, TensorData
from xdsl_exir.limits import LIMITS

MAX_JSON_BYTES = LIMITS.text_bytes
MAX_INFLATED_BYTES = LIMITS.inflated_bytes


def read_pt2(path: str | os.PathLike[str], mapped: bool = False) -> ExportedGraph | dict[str, ExportedGraph]:
    """The program in a `.pt2` file, or programs by name when it holds several. Raises LoadError."""
    programs = read_models(path, mapped)
    return programs if len(programs) > 1 else next(iter(programs.values()))


def read_models(path: str | os.PathLike[str], mapped: bool = False) -> dict[str, ExportedGraph]:
    """All programs in a `.pt2` file by name, at least one; `torch.export.save` calls its only one `model`.

    Tensors are read when they are used, or `mapped`, as `SourceFile` says. Raises LoadError.
    """
    archive = _Archive(os.fspath(path), mapped)
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

    def __init__(self, path: str, mapped: bool):
        self.path = path
        if not os.path.isfile(path):
            self.fail("", "not a file")
        try:
            self._file = SourceFile(path, mapped)
            with self._file.open() as file, zipfile.ZipFile(file) as directory:
                infos = directory.infolist()
                self._directory_start = directory.start_dir
            if len(infos) > LIMITS.entries:
                raise ValueError(f"{len(infos)} entries; at most {LIMITS.entries} are read")
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
        self._inflated = 0
        """Bytes that entries expanded to so far."""
        offsets = sorted({info.header_offset for info in infos})
        self._next = dict(itertools.pairwise([*offsets, self._directory_start]))
        """Where the entry behind that at an offset begins."""
        self._entries = self._by_name(infos)

    @property
    def names(self) -> list[str]:
        return list(self._entries)

    def fail(self, entry: str, message: str) -> NoReturn:
        raise LoadError(": ".join(part for part in (self.path, entry, message) if part)) from None

    def invalid(self, entry: str, error: Invalid) -> NoReturn:
        if isinstance(error, UnsupportedDtype):
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
            text = self.read(entry)[:40].decode("utf-8", "replace").strip()
            if text != expected:
                self.fail(entry, f"expected {expected!r}, got {text!r}")

    def read(self, entry: str) -> bytes:
        """The bytes of an entry, checked against their CRC."""
        info, start = self._find(entry)
        data = self._file.read(start, info.compress_size)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            data = self._inflate(entry, data, info.file_size)
        if zlib.crc32(data) != info.CRC:
            self.fail(entry, "damaged: the checksum does not match")
        return data

    def storage(self, entry: str) -> Storage:
        """The bytes of an entry: read when they are needed if it is stored, at once if it is compressed."""
        info, start = self._find(entry)
        if info.compress_type == zipfile.ZIP_DEFLATED:
            return Storage(memoryview(self.read(entry)))
        return self._file.storage(start, info.file_size, entry, info.CRC)

    def _find(self, entry: str) -> tuple[zipfile.ZipInfo, int]:
        """What the directory says of an entry, and where its data start."""
        if entry not in self._entries:
            self.fail(entry, "the archive has no such entry")
        info = self._entries[entry]
        start = self._data_start(entry, info)
        if info.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            self.fail(entry, f"compression method {info.compress_type} is not supported")
        if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
            self.fail(entry, f"stored in {info.compress_size} bytes, but {info.file_size} bytes long")
        return info, start

    def _data_start(self, entry: str, info: zipfile.ZipInfo) -> int:
        """Where the data of an entry start, after the header that stands in front of them."""
        start = info.header_offset + _LOCAL_HEADER.size
        if info.header_offset < 0 or start > self._directory_start:
            self.fail(entry, "damaged: the entry lies outside the archive")
        signature, _, flags, method, _, _, _, _, _, name_size, extra_size = _LOCAL_HEADER.unpack(
            self._file.read(info.header_offset, _LOCAL_HEADER.size)
        )
        name = self._file.read(start, name_size).decode("utf-8" if flags & _UTF8 else "cp437", "replace")
        if signature != b"PK\x03\x04" or method != info.compress_type or name != info.orig_filename:
            self.fail(entry, "damaged: the entry's header and the archive's directory differ")
        if (flags | info.flag_bits) & _ENCRYPTED:
            self.fail(entry, "encrypted entries are not supported")
        start += name_size + extra_size
        if start + info.compress_size > self._directory_start:
            self.fail(entry, "truncated: the entry ends outside the archive")
        if start + info.compress_size > self._next[info.header_offset]:
            # This is how a small archive becomes a large one.
            self.fail(entry, "damaged: the entry overlaps another one")
        return start

    def _inflate(self, entry: str, data: bytes, size: int) -> bytes:
        self._inflated += size
        if size > MAX_INFLATED_BYTES:
            self.fail(entry, f"compressed entry of {size} bytes; at most {MAX_INFLATED_BYTES} are expanded")
        if self._inflated > MAX_INFLATED_BYTES:
            self.fail(entry, f"compressed entries expand to more than {MAX_INFLATED_BYTES} bytes")
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            inflated = inflater.decompress(data, size + 1)
        except zlib.error as error:
            self.fail(entry, f"damaged: {error}")
        if len(inflated) != size or not inflater.eof:
            self.fail(entry, f"damaged: the entry does not expand to the {size} bytes it declares")
        return inflated

    def json(self, entry: str) -> object:
        """The JSON in an entry, as `json_text` reads it."""
        if entry in self._entries and (size := self._entries[entry].file_size) > MAX_JSON_BYTES:
            self.fail(entry, f"JSON of {size} bytes; at most {MAX_JSON_BYTES} are read")
        try:
            return read_json(self.read(entry))
        except LoadError as error:
            self.fail(entry, str(error))


# Models


def _read_model(archive: _Archive, model: str) -> ExportedGraph:
    entry = f"models/{model}.json"
    value = archive.json(entry)
    try:
        # The version first: in a file of another one, all else may well differ.
        major, minor = VERSION.decode(object_of(value, None).get("schema_version"), (None, "schema_version"))
        if major != SCHEMA_VERSION[0]:
            raise Invalid(
                (None, "schema_version"), f"schema {major}.{minor} is not supported, {SCHEMA_VERSION[0]}.x is"
            )
        program = EXPORTED_PROGRAM.decode(value, None)
    except Invalid as error:
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
        payloads = PAYLOADS.decode(archive.json(entry), None)
        storages: dict[str, Storage] = {}
        return {
            name: _tensor_data(archive, folder, payload, storages, ((None, "config"), name))
            for name, payload in payloads.items()
        }
    except Invalid as error:
        archive.invalid(entry, error)


def _tensor_data(
    archive: _Archive, folder: str, payload: Payload, storages: dict[str, Storage], at: At
) -> TensorData:
    if payload.use_pickle:
        raise Invalid((at, "use_pickle"), "the data are a pickle; pickles are refused, for they run code")
    if "/" in payload.path_name:
        raise Invalid((at, "path_name"), f"unsafe path {payload.path_name!r:.100}")
    meta = payload.tensor_meta
    if meta is None:
        raise Invalid((at, "tensor_meta"), "expected an object, got null")
    if meta.layout.name != "strided":
        raise Invalid((at, "tensor_meta"), f"layout {meta.layout.name} is not supported")
    if payload.path_name not in storages:
        storages[payload.path_name] = archive.storage(f"{folder}/{payload.path_name}")
    storage = storages[payload.path_name]
    if storage.nbytes % meta.dtype.itemsize:
        raise Invalid(at, f"{storage.nbytes} bytes of data are no whole number of {meta.dtype} elements")
    try:
        return TensorData(
            meta.dtype,
            _numbers(meta.sizes, (at, "tensor_meta")),
            _numbers(meta.strides, (at, "tensor_meta")),
            _numbers((meta.storage_offset,), (at, "tensor_meta"))[0],
            storage,
        )
    except LoadError as error:
        raise Invalid(at, str(error)) from None


def _numbers(numbers: tuple[int | Symbolic, ...], at: At) -> tuple[int, ...]:
    concrete = tuple(n for n in numbers if isinstance(n, int))
    if len(concrete) != len(numbers):
        raise Invalid(at, "the data of a weight cannot have symbolic sizes")
    return concrete
