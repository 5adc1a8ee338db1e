"""Writes `.pt2` archives (`torch.export.load`, PyTorch 2.13) without PyTorch: the mirror of `importers.pt2`.

The form of the JSON is `importers.pt2_schema`'s. Tensors that share their memory share an entry of the archive, also those
of several programs. Entries are stored as they are, aligned, so that they can be mapped; the same program gives the
same bytes.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TypeAlias

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import ExirError
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.graph import Device, ExportedGraph, Layout, TensorMeta, check_program
from xdsl_exir.exchange.pt2_schema import EXPORTED_PROGRAM, PAYLOADS, Payload, Scope
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.files import replacing

ALIGNMENT = 64
"""Of the entries of an archive, in bytes, as PyTorch's."""
MODEL = "model"
"""What PyTorch calls the only program of an archive."""

OF_OPERATORS = "torch.return_types."
"""The classes of what PyTorch's operators return (`max`), of which it reads no names in files."""

Entry: TypeAlias = bytes | memoryview


def save_pt2(path: Path, programs: Mapping[str, ExportedGraph]) -> None:
    """Writes an archive to a file, which is left alone if the program cannot be written. Raises as `write_pt2` does."""
    with replacing(path) as file:
        # As it is in UTF-8, also where the locale has other characters for the name.
        write_pt2(file, programs, os.fsencode(path.stem).decode(errors="replace"))


def write_pt2(file: IO[bytes], programs: Mapping[str, ExportedGraph], root: str = "archive") -> None:
    """Writes an archive of these programs by name; `torch.export.load` reads the one called `model`. `root` is the
    folder in the archive, by custom the file's name.

    Raises `UnsupportedError` for arguments that the schema has no form for, `LoadError` for a program without the data of
    a weight, both before anything is written.
    """
    entries = _entries(programs)
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            write_entry(archive, f"{root}/{name}", data)


def _entries(programs: Mapping[str, ExportedGraph]) -> dict[str, Entry]:
    """The entries of an archive by name."""
    entries: dict[str, Entry] = {"archive_format": b"pt2", "archive_version": b"0"}
    entries |= {"byteorder": b"little", ".data/version": b"6\n"}
    weights, constants = _Files("weight"), _Files("tensor")
    for name, program in programs.items():
        if not name.isprintable() or re.search(r"[/\\]", name) or name in ("", ".", "..") or len(name) > 200:
            raise ExirError(f"a method named {name!r:.200} cannot be a file of an archive")
        program = with_tuples(program, lambda cls: not cls.startswith(OF_OPERATORS))
        check_program(program, name)
        entries[f"models/{name}.json"] = _json(EXPORTED_PROGRAM.encode(program, Scope()))
        # PyTorch asks for this entry; of a program without example inputs it is empty.
        entries[f"data/sample_inputs/{name}.pt"] = b""
        for folder, files, tensors in (
            ("weights", weights, program.state),
            ("constants", constants, program.constants),
        ):
            payloads = _payloads(program, files, tensors)
            entries[f"data/{folder}/{name}_{folder}_config.json"] = _json(PAYLOADS.encode(payloads, Scope()))
    for folder, files in (("weights", weights), ("constants", constants)):
        entries |= {f"data/{folder}/{path}": data for path, data in files.data.items()}
    return entries


def with_tuples(program: ExportedGraph, known: Callable[[str], bool]) -> ExportedGraph:
    """The program, called with tuples in place of namedtuples of classes that are not known by their serialized names."""

    def text(spec: str) -> str:
        return pytree.dumps(pytree.with_tuples(pytree.loads(spec, program.namedtuple_fields), known))

    calls = [
        replace(call, signature=replace(own, in_spec=text(own.in_spec), out_spec=text(own.out_spec)))
        if (own := call.signature) is not None
        else call
        for call in program.module_calls
    ]
    fields = {cls: names for cls, names in program.namedtuple_fields.items() if known(cls)}
    return replace(program, module_calls=tuple(calls), namedtuple_fields=fields)


def _json(value: object) -> bytes:
    return json.dumps(value, allow_nan=False).encode()


class _Files:
    """The entries with tensors' bytes, one for each storage; PyTorch reads each with one dtype."""

    def __init__(self, prefix: str):
        self.prefix = prefix
        self.paths: dict[tuple[int, DType], str] = {}
        self.data: dict[str, Entry] = {}

    def path(self, data: TensorData) -> str:
        """The entry that holds a tensor's storage."""
        key = (data.storage_key, data.dtype)
        if key not in self.paths:
            self.paths[key] = f"{self.prefix}_{len(self.paths)}"
            self.data[self.paths[key]] = data.storage.buffer
        return self.paths[key]


def _payloads(program: ExportedGraph, files: _Files, tensors: Mapping[str, TensorData]) -> dict[str, Payload]:
    """Where the data of tensors are, by name."""
    payloads: dict[str, Payload] = {}
    specs = {spec.target: spec for spec in program.inputs}
    for target, data in tensors.items():
        spec = specs.get(target)
        described = program.graph.values.get(spec.name) if spec else None
        device, grad = Device("cpu"), False
        if isinstance(described, TensorMeta):
            device, grad = described.device, described.requires_grad
        meta = TensorMeta(
            data.dtype, data.sizes, grad, device, data.strides, data.storage_offset, Layout("strided")
        )
        is_parameter = spec is not None and spec.kind == "parameter"
        payloads[target] = Payload(files.path(data), is_parameter, False, meta)
    return payloads


# The zip

_LOCAL_HEADER_BYTES = 30
_ZIP64_EXTRA_BYTES = 20
_PADDING = struct.Struct("<2sH")
"""An extra field, as PyTorch pads with: its name and length."""


def write_entry(archive: zipfile.ZipFile, name: str, data: Entry) -> None:
    """Adds an entry whose data begin at an aligned place."""
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o644 << 16
    size = data.nbytes if isinstance(data, memoryview) else len(data)
    header = archive.start_dir + _LOCAL_HEADER_BYTES + len(name.encode()) + _PADDING.size
    header += _ZIP64_EXTRA_BYTES if size > zipfile.ZIP64_LIMIT else 0
    padding = -header % ALIGNMENT
    info.extra = _PADDING.pack(b"FB", padding) + bytes(padding)
    archive.writestr(info, data)
