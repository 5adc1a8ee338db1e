"""Reads `.pt2` archives (`torch.export.save`, PyTorch 2.5 and later) without PyTorch.

A `.pt2` file is a zip with one folder in it: `models/NAME.json` holds a program, `data/weights` and `data/constants`
raw little-endian tensors with a JSON table of names each. Tensors that are stored uncompressed are read when they are used.
PyTorch 2.8 wrote the tensors as one file of `torch.save` in place of each table, and 2.5 to 2.7 a zip without a folder, with a program and two such files.
The file may come from anywhere: every name, number and reference in it is checked, all that is wrong becomes one
LoadError which says where; nothing is executed (pickles are decoded as data) and nothing written.

The JSON's form is `pt2_schema`'s, semantic checks are `graph.check_program`'s.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace
from typing import NoReturn

from xdsl_exir.errors import LoadError, UnsupportedTensorError
from xdsl_exir.exchange.archive import Archive
from xdsl_exir.exchange.graph import ExportedGraph, Symbolic, check_program
from xdsl_exir.exchange.json_text import read_json
from xdsl_exir.exchange.pt2_schema import (
    EXPORTED_PROGRAM,
    PAYLOADS,
    READ,
    SCHEMA_VERSION,
    VERSION,
    At,
    Invalid,
    Payload,
    UnsupportedDtype,
    object_of,
)
from xdsl_exir.exchange.tensor_data import Storage, TensorData
from xdsl_exir.limits import LIMITS

MAX_JSON_BYTES = LIMITS.text_bytes


def read_pt2(path: str | os.PathLike[str], mapped: bool = False) -> ExportedGraph | dict[str, ExportedGraph]:
    """The program in a `.pt2` file, or programs by name when it holds several. Raises LoadError."""
    programs = read_models(path, mapped)
    return programs if len(programs) > 1 else next(iter(programs.values()))


def read_models(path: str | os.PathLike[str], mapped: bool = False) -> dict[str, ExportedGraph]:
    """All programs in a `.pt2` file by name, at least one; `torch.export.save` calls its only one `model`.

    Tensors are read when they are used, or `mapped`, as `SourceFile` says. Raises LoadError.
    """
    archive = _Archive(os.fspath(path), mapped)
    if OLD_MODEL in archive.names:
        return {"model": _read_old(archive)}
    archive.check_format()
    models = [
        match[1]
        for name in archive.names
        if (match := re.fullmatch(r"models/([^/]+)\.json", name)) is not None
    ]
    if not models:
        archive.fail("models/", "there is no exported program in this archive")
    return {model: _read_model(archive, model) for model in models}


# The archive

OLD_MODEL, OLD_STATE, OLD_CONSTANTS = (
    "serialized_exported_program.json",
    "serialized_state_dict.pt",
    "serialized_constants.pt",
)
"""Entries of an archive of PyTorch 2.5 to 2.7."""


class _Archive(Archive):
    """The entries of a `.pt2` file."""

    kind = ".pt2"

    def invalid(self, entry: str, error: Invalid) -> NoReturn:
        if isinstance(error, UnsupportedDtype):
            at = ": ".join((self.path, entry, error.place))
            raise UnsupportedTensorError(f"dtype {error.dtype}", at) from None
        self.fail(entry, str(error))

    def check_format(self) -> None:
        for entry, expected in (("archive_format", "pt2"), ("byteorder", "little"), ("archive_version", "0")):
            text = self.read(entry)[:40].decode("utf-8", "replace").strip()
            if text != expected:
                self.fail(entry, f"expected {expected!r}, got {text!r}")

    def is_flat(self, names: list[str]) -> bool:
        return OLD_MODEL in names

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
    program = replace(
        _read_program(archive, entry),
        state=_read_tensors(archive, model, "weights"),
        constants=_read_tensors(archive, model, "constants"),
    )
    check_program(program, f"{archive.path}: {entry}")
    return program


def _read_old(archive: _Archive) -> ExportedGraph:
    """The program of an archive of PyTorch 2.5 to 2.7."""
    program = replace(
        _read_program(archive, OLD_MODEL),
        state=_read_pickled(archive, OLD_STATE),
        constants=_read_pickled(archive, OLD_CONSTANTS),
    )
    check_program(program, f"{archive.path}: {OLD_MODEL}")
    return program


def _read_program(archive: _Archive, entry: str) -> ExportedGraph:
    """A program without its tensors."""
    value = archive.json(entry)
    newest = ".".join(map(str, SCHEMA_VERSION))
    try:
        # The version first: in a file of another one, all else may well differ.
        major, minor = VERSION.decode(object_of(value, None).get("schema_version"), (None, "schema_version"))
        if major not in READ:
            raise Invalid(
                (None, "schema_version"),
                f"schema {major}.{minor} is not supported; {' and '.join(f'{known}.x' for known in READ)} are, which "
                f"PyTorch 2.5 and later write (up to {newest})",
            )
        if (major, minor) > SCHEMA_VERSION:
            warnings.warn(
                f"{archive.path}: schema {major}.{minor} is later than {newest}, the last that is known; what is new in it is refused",
                stacklevel=2,
            )
        return EXPORTED_PROGRAM.decode(value, None)
    except Invalid as error:
        archive.invalid(entry, error)


def _read_pickled(archive: _Archive, entry: str) -> dict[str, TensorData]:
    """Tensors that `torch.save` wrote."""
    from xdsl_exir.importers.checkpoints import read_tensors

    return read_tensors(archive.read(entry), f"{archive.path}: {entry}")


def _read_tensors(archive: _Archive, model: str, kind: str) -> dict[str, TensorData]:
    folder = f"data/{kind}"
    if f"{folder}/{model}.pt" in archive.names:
        return _read_pickled(archive, f"{folder}/{model}.pt")
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


_PICKLED = (
    "the data are a pickle; pickles are refused, for they run code (torch.export.save pickles tensor subclasses: "
    "save `program.run_decompositions({})`, where they are plain tensors)"
)


def _tensor_data(
    archive: _Archive, folder: str, payload: Payload, storages: dict[str, Storage], at: At
) -> TensorData:
    if payload.use_pickle:
        raise Invalid((at, "use_pickle"), _PICKLED)
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
