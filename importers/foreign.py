"""Files that hold no program, told by their first bytes and by the names of an archive's entries: what they are, and what to do.

One table; nothing of the files is run or unpacked. A file that nothing here knows is left to who reads it.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from xdsl_exir.errors import LoadError
from xdsl_exir.exchange.archive import no_file

SAVE = 'torch.export.save(torch.export.export(model, inputs), "model.pt2") writes programs'
WEIGHTS = (
    f"these are weights alone, without the program; {SAVE}, and an executable's load_state() takes weights"
)
HEAD = 4096
"""Bytes of a file that are looked at."""


@dataclass(frozen=True)
class Kind:
    """A kind of files."""

    what: str
    advice: str
    of_bytes: Callable[[bytes], object] | None = None
    """Whether a file may be of this kind, by its first bytes."""
    of_entries: str = ""
    """A regular expression, for archives: of the name of an entry that one of this kind has."""
    but: str = ""
    """One of an entry that it has not."""


def _begins(*starts: bytes) -> Callable[[bytes], object]:
    return lambda head: head.startswith(starts)


def _at_4(mark: bytes) -> Callable[[bytes], object]:
    """Whether it is a FlatBuffer with this identifier."""
    return lambda head: re.match(mark, head[4:8])


def _is_onnx(head: bytes) -> bool:
    """A `ModelProto` begins with its version, then who made it, its graph or its operator sets."""
    return re.match(rb"\x08[\x01-\x20][\x12\x1a\x22\x2a\x32\x3a\x42]", head) is not None


def _is_safetensors(head: bytes) -> bool:
    return len(head) > 8 and head[8:9] == b"{" and struct.unpack("<Q", head[:8])[0] < 1 << 32


def is_mlir(head: bytes) -> bool:
    """Whether it may be MLIR text."""
    return (
        re.search(rb"^\s*(?:[#!]\w|module\b|\"?func\.func|\"builtin\.module)", head, re.MULTILINE) is not None
    )


KINDS = (
    Kind("empty", "it was not written, or not copied", lambda head: not head),
    Kind(
        "an AOTInductor package",
        f"it holds machine code, not the program; {SAVE}",
        of_entries=r"(?:.*/)?data/aotinductor/.*",
        but=r"[^/]+/models/[^/]+\.json",
    ),
    Kind(
        "a checkpoint of torch.save",
        WEIGHTS + " (or a module's Python objects, as a pickle that is not run)",
        of_entries=r"[^/]+/data\.pkl",
        but=r"[^/]+/code/.*",
    ),
    Kind("an archive of NumPy's (.npz)", WEIGHTS, of_entries=r"[^/]+\.npy"),
    Kind(
        "an executable", "xdsl_exir.load_executable reads it", of_entries=r"executable/manifest\.json",
    ),
    Kind("a Keras model", SAVE, of_entries=r"model\.weights\.h5"),
    Kind("a pickle, maybe a checkpoint of torch.save", f"{WEIGHTS}; no pickle is run", _begins(b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")),
    Kind("an ONNX model", f"{SAVE}; ONNX is another format", _is_onnx),
    Kind("an ExecuTorch program (.pte)", f"it is lowered already; load what it was made of: {SAVE}", _at_4(rb"ET\d\d")),
    Kind("a TensorFlow Lite model", SAVE, _at_4(b"TFL3")),
    Kind("a safetensors file", WEIGHTS, _is_safetensors),
    Kind("a GGUF file", WEIGHTS, _begins(b"GGUF")),
    Kind("an HDF5 file", WEIGHTS, _begins(b"\x89HDF")),
    Kind("an array of NumPy's (.npy)", "it is an input, not a program", _begins(b"\x93NUMPY")),
    Kind("machine code (ELF)", "load the program that it was compiled from", _begins(b"\x7fELF")),
    Kind("MLIR bytecode", "mlir-opt writes it as text: mlir-opt --mlir-print-op-generic FILE -o program.mlir", _begins(b"ML\xefR")),
    Kind("compressed", "decompress it first", _begins(b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")),
    Kind("a pointer of Git LFS", "git lfs pull fetches the file itself", _begins(b"version https://git-lfs")),
    Kind("a web page", "the download has failed", lambda head: re.match(rb"\s*<(?:!doctype|html)", head, re.IGNORECASE)),
    Kind("a graph as PyTorch prints it", "xdsl_exir.from_fx_text reads it", _begins(b"graph():")),
    Kind("a TorchScript graph as text", "xdsl_exir.from_torchscript_text reads it", _begins(b"graph(")),
    Kind("MLIR text", "programs in text are files named .mlir", is_mlir),
)  # fmt: skip


def check_kind(path: Path) -> None:
    """Raises `LoadError` where there is no file, or one of a kind that holds no program. Text is its parser's to judge."""
    problem = no_file(path)
    if problem is None and path.suffix != ".mlir":
        with open(path, "rb") as file:
            problem = recognised(file)
    if problem is not None:
        raise LoadError(f"{path}: {problem}")


def recognised(file: BinaryIO) -> str | None:
    """What a file is, and what to do, where it is of a kind that holds no program."""
    file.seek(0)
    head = file.read(HEAD)
    if head.startswith(b"PK"):
        try:
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
        except (
            zipfile.BadZipFile,
            OSError,
            ValueError,
            EOFError,
            NotImplementedError,
            struct.error,
        ) as error:
            return f"an archive that is cut off or damaged ({error}); its directory is at its end: copy it again, or save it again"
        return next((told(kind) for kind in KINDS if kind.of_entries and _has(names, kind)), None)
    return next((told(kind) for kind in KINDS if kind.of_bytes and kind.of_bytes(head)), None)


def _has(names: list[str], kind: Kind) -> bool:
    def any_of(pattern: str) -> bool:
        return any(re.fullmatch(pattern, name) for name in names)

    return any_of(kind.of_entries) and not (kind.but and any_of(kind.but))


def told(kind: Kind) -> str:
    return f"this is {kind.what}: {kind.advice}"
