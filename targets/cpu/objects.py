"""From a module's text in upstream dialects to object files for a processor: LLVM's optimiser and code generator, here or in another process.

Objects are kept in the cache under all that they are made from. llvmlite is imported when first needed.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl_exir.errors import ToolchainError, Unsupported, UnsupportedError
from xdsl_exir.lowering import external
from xdsl_exir.lowering.cache import cached
from xdsl_exir.lowering.mlir import ROUNDEVEN, TO_LLVM, Pass, pipeline, to_llvm_ir, tool_version
from xdsl_exir.names import own_name
from xdsl_exir.targets.cpu import emit, libcalls
from xdsl_exir.targets.cpu.architectures import ARCHITECTURES
from xdsl_exir.targets.cpu.machine import BASELINE, Processor, baseline, llvm_binding, of_triple, processor
from xdsl_exir.threads import wait_for_in_forks

APART = Pass(
    "math-expand-ops{ops=roundeven,fma}",
    "and the processor no instruction for product and sum: libm's function takes long",
)


def passes_for(passes: Sequence[Pass], cpu: Processor) -> Sequence[Pass]:
    """The passes as they are for a processor: where loops are not shared, none makes threads of them."""
    entries = [APART if entry == ROUNDEVEN and not cpu.fuses else entry for entry in passes]
    return entries if cpu.openmp else [entry for entry in entries if "openmp" not in entry.text]


@functools.cache
def _target_machine(cpu: Processor) -> Any:
    return emit.target_machine(llvm_binding(), *described(cpu))


def described(cpu: Processor) -> tuple[str, str, str, str]:
    """A processor as `emit` is told of it."""
    return cpu.name, cpu.features, cpu.triple, ARCHITECTURES[cpu.arch].abi if cpu.triple else ""


@functools.cache
def library() -> tuple[str, str]:
    """The LLVM that MLIR's tools are linked with, if it is a shared library of llvmlite's release: its name and its version; else none."""
    major, minor, *_ = llvm_binding().llvm_version_info
    try:
        name = f"libLLVM.so.{major}.{minor}"
        return name, emit.Library(name).version()
    except OSError:
        return "", ""


EMITTING = threading.Lock()
"""Held while LLVM's shared library makes code."""
wait_for_in_forks(EMITTING)


@functools.cache
def _emitter(cpu: Processor) -> Callable[[str, str], bytes]:
    return emit.emitter(llvm_binding, library()[0], *described(cpu))


def emit_object(llvm_ir: str, cpu: Processor, passes: str = emit.LOOPS) -> bytes:
    """An ELF object file (position independent, for the processor) of LLVM IR, optimised by LLVM's passes."""
    try:
        with EMITTING:
            return _emitter(cpu)(llvm_ir, passes)
    except RuntimeError as error:
        raise ToolchainError(f"LLVM refused the code: {error}") from None


MALLOC = own_name("malloc")

SHORT_MALLOC = f"""
declare ptr @malloc(i32)
define ptr @{MALLOC}(i64 %bytes) {{
  %short = trunc i64 %bytes to i32
  %y = call ptr @malloc(i32 %short)
  ret ptr %y
}}
"""
"""MLIR's `malloc`, of 64 bits, where C's takes 32. (Who needs more has no memory for it.)"""


class OneModule(NamedTuple):
    """Modules in LLVM IR as one, optimised for a processor."""

    object: bytes
    """The object file, in the form of the system: ELF, or WebAssembly."""
    assembly: bytes
    """The same as text for an assembler."""
    llvm_ir: bytes
    """What it is made of."""


def one_module(modules: Sequence[str], cpu: Processor, public: Mapping[str, str]) -> OneModule:
    """Modules in LLVM IR as one, optimised for a processor, of which nobody else sees but the functions that are given other names. It is
    made in a process of its own, which LLVM ends where it has no code for something.

    Raises `UnsupportedError` for types that it is known to have none for, `ToolchainError` with LLVM's message."""
    lacked = ARCHITECTURES[cpu.arch].lacks if cpu.triple else ()
    used = {name for text in modules if lacked for name in emit.types_in(llvm_binding().parse_assembly(text))}
    if found := [type for type in lacked if type in used]:
        raise UnsupportedError([Unsupported(found[0], f"LLVM makes no code for {cpu.arch} of it")])
    renamed = {"malloc": MALLOC} if cpu.arch == "wasm32" else {}
    modules = [*modules, *([SHORT_MALLOC] if renamed else [])]
    support = (dict(public), support_ir(cpu.triple), sorted(libcalls.NAMES), renamed)
    return OneModule(*emitted(emit.request(modules, "", *described(cpu), together=support), 3))


def emit_elsewhere(modules: Sequence[tuple[str, str]], cpu: Processor) -> list[bytes]:
    """The object files of modules in LLVM IR, each optimised by its passes, made in a process of its own."""
    return emitted(emit.request(modules, library()[0], *described(cpu)), len(modules))


def emitted(asked: bytes, count: int) -> list[bytes]:
    """What the code generator, in a process of its own, answers to a request: so many files."""
    command = [sys.executable, "-IS", emit.__file__]
    try:
        answer = emit.answered(external.run_on_bytes(command, asked, name="the code generator"))
    except ValueError as error:
        raise ToolchainError(f"the code generator gave no objects: {error}") from None
    if len(answer) != count:
        raise ToolchainError(f"the code generator made {len(answer)} objects of {count} modules")
    return answer


GENERATION = "11"
"""Grows when other code is made of the same text by the same passes and tools."""


@functools.cache
def llvm_version() -> str:
    """Version of llvmlite, for the cache's key: looking it up takes as long as planning a kernel."""
    return importlib.metadata.version("llvmlite")


def cache_key(text: str, passes: Sequence[Pass], cpu: Processor) -> str:
    """Everything an object file is made from: text, passes, the tools' versions and the processor."""
    versions = tool_version(), llvm_version(), library()[1]
    parts = (
        GENERATION,
        text,
        pipeline(passes),
        *versions,
        cpu.name,
        cpu.features,
        *filter(None, [cpu.triple]),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def compile_object(text: str, passes: Sequence[Pass] = TO_LLVM, cpu: Processor | None = None) -> bytes:
    """The object file of a module in upstream dialects, from the cache when it was made before.

    `cpu` is the processor that it is for, `processor()` by default."""
    cpu = cpu or processor()
    passes = passes_for(passes, cpu)
    return cached(cache_key(text, passes, cpu), lambda: emit_object(to_llvm_ir(text, passes), cpu))


class Symbols(NamedTuple):
    """Names of functions and data."""

    defined: frozenset[str]
    needed: frozenset[str]
    """Those of others."""


def defines(data: bytes, name: str) -> bool:
    """Whether an object file has a function; of files other than ELF, whether it is named there."""
    return name in symbols_of([data]).defined if data.startswith(b"\x7fELF") else name.encode() in data


def symbols_of(objects: Iterable[bytes]) -> Symbols:
    """The global names in ELF object files that are used together (ELF-64, section "Symbol Table")."""
    defined, needed = set[str](), set[str]()
    for data in objects:
        sections = {one.name(): one.data() for one in llvm_binding().ObjectFileRef.from_data(data).sections()}
        names = sections[b".strtab"]
        for start, info, _, section, _, _ in struct.iter_unpack("<IBBHQQ", sections[b".symtab"]):
            if start and info >> 4:  # not of its file alone
                name = names[start : names.index(b"\0", start)].decode()
                (defined if section else needed).add(name)
    return Symbols(frozenset(defined), frozenset(needed - defined))


def support_ir(triple: str) -> str:
    """These functions, of this process's architecture all. LLVM has not the arithmetic of such integers for all others, for which there is a C
    compiler, and its library."""
    lacked = ARCHITECTURES[triple.partition("-")[0]].lacks if triple else ()
    return libcalls.llvm_ir(("i128", *lacked) if triple else ())


@functools.cache
def support_object(triple: str = "") -> bytes:
    """The object file of the functions in `libcalls`, for any processor of this architecture, or of a triple's."""
    machine = _target_machine(of_triple(BASELINE, triple) if triple else baseline())
    return machine.emit_object(emit.parsed(llvm_binding(), support_ir(triple), machine))
