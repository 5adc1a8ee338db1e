"""Executables in files: `Executable.save` and `load_executable`.

    xdsl_exir.compile(program, "native").save("model.exir")
    run = xdsl_exir.load_executable("model.exir")       # no MLIR, no compiler, no PyTorch

The file is a zip archive whose entries are stored, aligned, so that weights are mapped. Its comment says the version of the format, and the
SHA-256 of all that stands before the digest. Its entries are

    manifest.json      what made it, and what for; how the code is called; where state and constants are
    methods.mlir       the methods' declarations, and how Python calls them
    program.mlir       the program, for `load_state`, `Executable.program` and the interpreter
    host.mlir          what the interpreter runs between native pieces, if there are some
    code/N             object files
    data/N             storages

Code in it is run as it is: load only what you would run. The same executable gives the same file.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region

from xdsl_exir.dialects.backend import DelegateOp
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.exchange.archive import Archive
from xdsl_exir.exchange.json_text import read_json
from xdsl_exir.exchange.tensor_data import Storage, TensorData
from xdsl_exir.exporters.mlir import text_of
from xdsl_exir.exporters.pt2 import write_entry
from xdsl_exir.files import replacing
from xdsl_exir.importers.mlir import read_module, unpickled
from xdsl_exir.interpreter.backend import unregistered
from xdsl_exir.locations import location_text
from xdsl_exir.program import Program
from xdsl_exir.runtime.executable import Engine, Executable, Recipe, interpreting
from xdsl_exir.runtime.saved_plans import ArrayReader, ArrayWriter, data_of, read_call, write_call
from xdsl_exir.targets.cpu.machine import Processor

if TYPE_CHECKING:
    from xdsl_exir.runtime.native import NativeCode

FORMAT = 2
"""Grows when files are read otherwise than before."""
TITLE = "xdsl-exir executable"
ROOT = "executable"
DIGITS = 64
"""Of the digest, with which the file ends."""


def version() -> str:
    """Of this package."""
    return importlib.metadata.version("xdsl-exir")


# --- saving --------------------------------------------------------------------------------------------------


def save_executable(executable: Executable, path: str | os.PathLike[str]) -> None:
    """Writes an executable. Raises as `Executable.save` says."""
    recipe, target = executable.recipe, Path(path)
    if recipe is None:
        raise ExirError("this executable was not made by compile()")
    if target.is_dir():
        raise ExirError(f"{target} is a folder; an executable is saved as one file")
    entries: dict[str, bytes | memoryview] = {}
    arrays = ArrayWriter()
    with executable.lock:
        held = write_engine(executable, entries, arrays)
        state = {name: arrays.data(data) for name, data in current_state(executable).items()}
    places = {digest: f"data/{number}" for number, digest in enumerate(arrays.blobs)}
    manifest = {
        "xdsl-exir": version(),
        "target": recipe.target,
        "fallback": recipe.fallback,
        "engine": held,
        "state": state,
        "storages": [places[digest] for digest in arrays.storages],
    }
    declared = replace(executable.program, module=declarations(executable), state={})
    entries["methods.mlir"] = text_of(declared, generic=True).encode()
    entries["program.mlir"] = text_of(executable.program).encode()
    entries = {"manifest.json": json.dumps(manifest).encode(), **entries}
    entries |= {places[digest]: data for digest, data in arrays.blobs.items()}
    write_file(target, entries)


def write_engine(
    executable: Executable, entries: dict[str, bytes | memoryview], arrays: ArrayWriter
) -> dict[str, Any]:
    """What the manifest says of an engine, its code among the entries. Raises `UnsupportedError` that lists what cannot be saved."""
    from xdsl_exir.runtime.fallback import SplitEngine
    from xdsl_exir.runtime.native import NativeEngine

    assert executable.recipe is not None
    match executable.engine:
        case NativeEngine(code=code):
            return {"kind": "native", **write_code(code, entries, arrays)}
        case SplitEngine() as engine:
            refuse_compiled(engine.outer)
            entries["host.mlir"] = text_of(Program(engine.outer), generic=True).encode()
            code = engine.native and engine.native.code
            return {
                "kind": "split",
                "bound": {name: [*map(arrays.array, bound)] for name, bound in engine.bound.items()},
                **{
                    key: [[one.operator, one.reason, one.location] for one in found]
                    for key, found in (("fallbacks", engine.fallbacks), ("hosted", engine.hosted))
                },
                "code": code and write_code(code, entries, arrays),
            }
        case _ if executable.recipe.target == "interpreter":
            refuse_compiled(executable.program.module, "interpreter")
            return {"kind": "interpreter"}
        case engine:
            raise ExirError(f"an executable of target {executable.recipe.target} cannot be saved: {engine!r}")


def write_code(
    code: NativeCode, entries: dict[str, bytes | memoryview], arrays: ArrayWriter
) -> dict[str, Any]:
    """What the manifest says of native code."""
    objects = {identity: f"code/{number}" for number, identity in enumerate(code.objects)}
    entries |= {objects[identity]: data for identity, data in code.objects.items()}
    return {
        "triple": process_triple(),
        "cpu": asdict(code.cpu),
        "objects": objects,
        "methods": {name: write_call(call, arrays) for name, call in code.methods.items()},
    }


def process_triple() -> str:
    """Architecture and system that code in this process is for, as LLVM calls them."""
    from xdsl_exir.targets.cpu.machine import llvm_binding

    return str(llvm_binding().get_process_triple())


def refuse_compiled(module: ModuleOp, own: str = "") -> None:
    """Raises `UnsupportedError` that lists the delegates which their backends, other than `own`, compiled in this process."""
    found = [
        Unsupported(
            f"delegate of backend {op.backend.data}",
            "its backend compiled it in this process, and it cannot be saved; preprocess-delegates makes bytes that can",
            location_text(op),
        )
        for op in module.walk()
        if isinstance(op, DelegateOp) and op.processed is None and op.backend.data != own
    ]
    if found:
        raise UnsupportedError(found)


def current_state(executable: Executable) -> dict[str, TensorData]:
    """State as calls left it."""
    return {
        name: data_of(executable.array(name)) if name in executable.changed else data
        for name, data in executable.state.items()
    }


def declarations(executable: Executable) -> ModuleOp:
    """The methods as they are called, without bodies."""
    module = ModuleOp([])
    for method in executable.methods.values():
        function = method.signature
        declared = FuncOp(
            function.sym_name.data,
            function.function_type,
            Region(),
            function.sym_visibility,
            arg_attrs=function.arg_attrs,
            res_attrs=function.res_attrs,
        )
        declared.attributes = dict(function.attributes)
        module.body.block.add_op(declared)
    return module


def write_file(path: Path, entries: Mapping[str, bytes | memoryview]) -> None:
    """Writes the archive in place of what is there. Raises `OSError`."""
    title = f"{TITLE} {FORMAT} ".encode()
    with replacing(path) as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in entries.items():
                write_entry(archive, f"{ROOT}/{name}", data)
            archive.comment = title + b"0" * DIGITS
        file.flush()
        end, total = file.tell() - DIGITS, hashlib.sha256()
        with open(file.name, "rb") as written:
            while chunk := written.read(min(CHUNK, end - written.tell())):
                total.update(chunk)
        file.seek(end)
        file.write(total.hexdigest().encode())


CHUNK = 1 << 22
"""Bytes that are read at a time."""


# --- loading -------------------------------------------------------------------------------------------------


class SavedFile(Archive):
    """A file that `save_executable` wrote, whole. Raises `LoadError` for any other."""

    kind = TITLE

    def __init__(self, path: str):
        super().__init__(path, mapped=True)
        self.check()

    def check(self) -> None:
        """Raises `LoadError` unless it is of this format, and as it was written."""
        size = self._file.nbytes
        said = self._file.read(max(0, size - DIGITS - 40), min(size, DIGITS + 40))
        found = re.search(rf"{TITLE} (\d+) ([0-9a-f]{{{DIGITS}}})$".encode(), said)
        if found is None:
            self.fail(
                "", f"not an {TITLE}, or not whole: it does not end as one; xdsl_exir.load reads programs"
            )
        if int(found[1]) != FORMAT:
            self.fail("", f"an {TITLE} of format {int(found[1])}; this version reads format {FORMAT}")
        data = self._file.storage(0, size - DIGITS).buffer
        if hashlib.sha256(data).hexdigest() != found[2].decode():
            self.fail("", "damaged: it is not as it was written (the digest differs)")


def load_executable(path: str | os.PathLike[str]) -> Executable:
    """The executable of a file that `Executable.save` wrote, as it was then: results are the same bits. Its random numbers begin anywhere,
    until `manual_seed`. The file stays mapped: one that is cut off while it is in use ends the process.

    Code in the file is run as it is: load only what you would run. No compiler, no tool of MLIR's and no PyTorch is needed; native code is linked by
    llvmlite. Backends of delegates, and operators of one's own that are not native, have to be registered before.

    Raises `LoadError` for a file that is damaged, cut off, or no executable, of another format or of another version of this package, `ExirError` for code
    that this processor or system cannot run, `UnsupportedError` that lists delegates of backends which are not registered.
    """
    name = os.fspath(path)
    file = SavedFile(name)
    manifest: Any = read_json(file.read("manifest.json"))
    if manifest["xdsl-exir"] != version():
        file.fail(
            "",
            f"saved by xdsl-exir {manifest['xdsl-exir']}, and this is {version()}: compile and save it anew",
        )
    buffers = {entry: file.storage(entry).buffer for entry in set(manifest["storages"])}
    arrays = ArrayReader([Storage(buffers[entry]) for entry in manifest["storages"]])
    state = {key: arrays.data(said) for key, said in manifest["state"].items()}

    @cache
    def whole() -> Program:
        return unpickled(text_in(file, "program.mlir"), state, name)

    said = manifest["engine"]
    code = None
    match said["kind"]:
        case "interpreter":
            refuse_unregistered(whole().module, "interpreter")
            engine: Engine = interpreting(whole())
        case "native":
            code = read_code(said, file, arrays)
            engine = native_engine(code)
        case _:
            code = said["code"] and read_code(said["code"], file, arrays)
            engine = split_engine(said, code, file, arrays, state)
    recipe = Recipe(
        manifest["target"], manifest["fallback"], code.cpu if code else "native", code.objects if code else {}
    )
    declared = unpickled(text_in(file, "methods.mlir"), state, name)
    return Executable(declared, engine, recipe, whole)


def text_in(file: SavedFile, entry: str) -> str:
    """The text of an entry."""
    return file.read(entry).decode()


def read_code(said: Any, file: SavedFile, arrays: ArrayReader) -> NativeCode:
    """Native code. Raises `ExirError` for that of other systems."""
    from xdsl_exir.runtime.native import NativeCode

    if said["triple"] != process_triple():
        raise ExirError(f"{file.path}: its code is for {said['triple']}, and this is {process_triple()}")
    objects = {identity: file.read(entry) for identity, entry in said["objects"].items()}
    calls = {name: read_call(call, arrays) for name, call in said["methods"].items()}
    return NativeCode(calls, objects, Processor(**said["cpu"]))


def native_engine(code: NativeCode) -> Engine:
    """The engine of native code. Raises `ExirError` where this processor cannot run it."""
    from xdsl_exir.runtime.native import NativeEngine

    return NativeEngine(code)


def split_engine(
    said: Any, code: NativeCode | None, file: SavedFile, arrays: ArrayReader, state: Mapping[str, TensorData]
) -> Engine:
    """The engine of native pieces and what the interpreter runs between them."""
    from xdsl_exir.runtime.fallback import Split, SplitEngine

    outer = read_module(text_in(file, "host.mlir"), f"{file.path}: host.mlir")
    refuse_unregistered(outer)
    return SplitEngine(
        Split(
            outer,
            code or Program(ModuleOp([])),
            state,
            {name: [*map(arrays.array, bound)] for name, bound in said["bound"].items()},
            *([Unsupported(*one) for one in said[key]] for key in ("fallbacks", "hosted")),
        )
    )


def refuse_unregistered(module: ModuleOp, own: str = "") -> None:
    """Raises `UnsupportedError` that lists the delegates whose backends nobody registered."""
    if missing := unregistered(module, own):
        raise UnsupportedError(missing)
