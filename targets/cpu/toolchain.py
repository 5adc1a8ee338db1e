"""From a module's text in upstream dialects to native code: the external tools, and nothing about tensors or operators.

    library = load(text)                                   # mlir-opt-22, mlir-translate-22, LLVM (llvmlite), in process
    bind(library, "matmul", [lhs, rhs, out])()             # `func.func @matmul ... attributes {llvm.emit_c_interface}`

Here are: where mlir-opt-22 and mlir-translate-22 are found, the table of passes and why each is there, code generation
for a processor of `processor` in this process or in another one, linking, and the OpenMP runtime.
What goes *into* the module (schedules, dispatches, the driver) is made elsewhere. llvmlite is imported when first needed.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from xdsl_exir.errors import ToolchainError, Unsupported, UnsupportedError
from xdsl_exir.lowering import external
from xdsl_exir.lowering.cache import cached
from xdsl_exir.names import own_name
from xdsl_exir.targets.cpu import emit, libcalls
from xdsl_exir.targets.cpu.architectures import ARCHITECTURES
from xdsl_exir.targets.cpu.machine import BASELINE, Processor, baseline, llvm_binding, of_triple, processor
from xdsl_exir.threads import once

INSTALL = "apt-get install mlir-22-tools"
INSTALL_OPENMP = "pip install intel-openmp   (or: apt-get install libomp-22-dev)"


@dataclass(frozen=True)
class Pass:
    """One entry of a pipeline: the pass as `--pass-pipeline` spells it, and why it is there."""

    text: str
    why: str


ROUNDEVEN = Pass("math-expand-ops{ops=roundeven}", "roundeven has a libm function only on new systems")
APART = Pass(
    "math-expand-ops{ops=roundeven,fma}",
    "and the processor no instruction for product and sum: libm's function takes long",
)

# Linalg on memrefs, scf, vector, memref, arith and math to LLVM.
TO_LLVM = (
    Pass("canonicalize", "folds constant indices"),
    Pass("convert-linalg-to-loops", "what no schedule took: plain loops"),
    Pass("convert-scf-to-openmp", "scf.parallel to a team of threads with a static schedule"),
    Pass(
        "canonicalize", "drops the memref.alloca_scope around a parallel body, which may have one block only"
    ),
    Pass("fold-memref-alias-ops", "loads and stores address the buffer under a view"),
    Pass("expand-strided-metadata", "views to arithmetic on offsets and strides"),
    Pass("lower-affine", "the affine maps that the two before leave"),
    Pass("convert-vector-to-scf", "transfers of rank above 1 to loops of rank 1"),
    Pass("convert-vector-to-llvm{reassociate-fp-reductions=1}", "vector reductions as trees"),
    Pass("convert-scf-to-cf", "loops to branches"),
    ROUNDEVEN,
    Pass(
        "convert-math-to-llvm{approximate-log1p=0}",
        "math functions that are LLVM intrinsics; log1p is not log(1 + x)",
    ),
    Pass("convert-math-to-libm", "the others are libm's"),
    Pass("convert-to-llvm", "func, arith, cf, memref, index and OpenMP's types"),
    Pass("convert-openmp-to-llvm", "types inside the parallel regions"),
    Pass("reconcile-unrealized-casts", "nothing may be left of the conversions"),
)


def passes_for(passes: Sequence[Pass], cpu: Processor) -> Sequence[Pass]:
    """The passes as they are for a processor: where loops are not shared, none makes threads of them."""
    entries = [APART if entry == ROUNDEVEN and not cpu.fuses else entry for entry in passes]
    return entries if cpu.openmp else [entry for entry in entries if "openmp" not in entry.text]


def pipeline(passes: Sequence[Pass]) -> str:
    """The passes as the argument of mlir-opt's `--pass-pipeline`."""
    return f"builtin.module({','.join(entry.text for entry in passes)})"


@functools.cache
def find_tool(name: str) -> Path:
    """The path of mlir-opt-22 or mlir-translate-22. Raises ToolchainError with the install command when missing."""
    found = shutil.which(f"{name}-22") or shutil.which(name, path="/usr/lib/llvm-22/bin")
    if found is None:
        raise ToolchainError(f"native code needs {name}-22, which is not on PATH; install it with: {INSTALL}")
    return Path(found)


@functools.cache
def tool_version() -> str:
    """Version of mlir-opt, for the cache's key."""
    return external.run([str(find_tool("mlir-opt")), "--version"])


_MODULE = re.compile(r'^(module|"builtin\.module")', re.MULTILINE)


def run_passes(text: str, passes: Sequence[Pass], *options: str) -> str:
    """A module's text after the passes, by one mlir-opt process. Raises ToolchainError with the tool's message."""
    tool = find_tool("mlir-opt")
    printed = external.run([str(tool), f"--pass-pipeline={pipeline(passes)}", *options], text)
    if not _MODULE.search(printed):
        raise ToolchainError(f"{tool.name} printed no module, but {printed[:100]!r}")
    return printed


def to_llvm_ir(text: str, passes: Sequence[Pass] = TO_LLVM) -> str:
    """LLVM IR, as text, of a module in upstream dialects. Raises ToolchainError with the tool's message."""
    (llvm_ir,) = all_to_llvm_ir([(text, passes)])
    return llvm_ir


def all_to_llvm_ir(modules: Sequence[tuple[str, Sequence[Pass]]]) -> list[str]:
    """LLVM IR, as text, of modules in upstream dialects, each by its passes: one process of a tool does all that it can. Raises
    `ToolchainError` with the tool's message."""
    between = "// -----"
    together: dict[str, list[int]] = {}
    for index, (_, passes) in enumerate(modules):
        together.setdefault(pipeline(passes), []).append(index)
    lowered: list[str] = []
    for indices in together.values():
        text = f"\n{between}\n".join(modules[index][0] for index in indices)
        lowered.append(run_passes(text, modules[indices[0]][1], "--split-input-file"))
    translate = [
        str(find_tool("mlir-translate")),
        "--mlir-to-llvmir",
        "--split-input-file",
        f"--output-split-marker=; {between}",
    ]
    found = external.run(translate, f"\n{between}\n".join(lowered)).split(f"; {between}\n")
    if len(found) != len(modules):
        raise ToolchainError(f"mlir-translate made {len(found)} modules of {len(modules)}")
    order = [index for indices in together.values() for index in indices]
    return [text for _, text in sorted(zip(order, found, strict=True))]


@functools.cache
def _target_machine(cpu: Processor) -> Any:
    return emit.target_machine(llvm_binding(), *described(cpu))


def described(cpu: Processor) -> tuple[str, str, str, str]:
    """A processor as `emit` is told of it."""
    return cpu.name, cpu.features, cpu.triple, ARCHITECTURES[cpu.arch].abi if cpu.triple else ""


ENTRY = own_name("entry.")
"""What the names of functions begin with that are called from outside with words (`lowering.pack_arguments`)."""
INTERFACE = "_mlir_ciface_"
"""What MLIR begins the names of functions with that have `llvm.emit_c_interface`, and take pointers to descriptors."""


def emit_object(llvm_ir: str, cpu: Processor) -> bytes:
    """An ELF object file (position independent, for the processor) of LLVM IR, optimised at O3."""
    try:
        return emit.emit(llvm_binding(), llvm_ir, _target_machine(cpu))
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
    if found := [type for type in lacked if any(re.search(rf"\b{type}\b", text) for text in modules)]:
        raise UnsupportedError([Unsupported(found[0], f"LLVM makes no code for {cpu.arch} of it")])
    if cpu.arch == "wasm32":
        modules = [*(text.replace("@malloc(", f"@{MALLOC}(") for text in modules), SHORT_MALLOC]
    support = (dict(public), support_ir(cpu.triple), sorted(libcalls.NAMES))
    return OneModule(*emitted(emit.request(modules, *described(cpu), together=support), 3))


def emit_elsewhere(modules: Sequence[str], cpu: Processor) -> list[bytes]:
    """The object files of modules in LLVM IR, made in a process of its own."""
    return emitted(emit.request(modules, *described(cpu)), len(modules))


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


GENERATION = "3"
"""Grows when other code is made of the same text by the same passes and tools."""


def cache_key(text: str, passes: Sequence[Pass], cpu: Processor) -> str:
    """Everything an object file is made from: text, passes, the tools' versions and the processor."""
    versions = tool_version(), importlib.metadata.version("llvmlite")
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


OPENMP = "__kmpc_"
"""What the names of OpenMP's functions begin with."""

# All are LLVM's runtime (Intel's is built from it), first the one of the tools' own version.
_OPENMP_FOLDERS = (
    "/usr/lib/llvm-22/lib",
    f"{sys.prefix}/lib",
    f"/usr/lib/{platform.machine()}-linux-gnu",
    "/usr/lib",
)
_OPENMP_FILES = ("libomp.so.5", "libomp.so", "libiomp5.so")
_OPENMP_NAME = re.compile(r"/lib(iomp5|omp5?)[-.][^/]*$")
"""What the runtime's file is called, also as packages that bring their own rename it."""


def find_openmp(folders: Sequence[str] = _OPENMP_FOLDERS) -> Path:
    """LLVM's OpenMP runtime. Raises ToolchainError with the install command when there is none."""
    places = (Path(folder, file) for folder in folders for file in _OPENMP_FILES)
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise ToolchainError(f"threads need LLVM's OpenMP runtime; install it with: {INSTALL_OPENMP}")
    return found


def loaded_openmp() -> list[Path]:
    """The OpenMP runtimes of this kind that are in this process."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text("utf-8", "surrogateescape").splitlines() if maps.exists() else []
    mapped = dict.fromkeys(fields[5] for line in lines if len(fields := line.split(maxsplit=5)) > 5)
    return [Path(path) for path in mapped if _OPENMP_NAME.search(path) and Path(path).is_file()]


@functools.cache
def _openmp() -> ctypes.CDLL:
    """The OpenMP runtime, of which a process should have one: what others brought (MKL), else what they would bring.

    Two of them end the process, unless they are told that it is all right: to our code it is, which calls one of them only."""
    everyones = ctypes.CDLL(None)
    if hasattr(everyones, f"{OPENMP}fork_call"):
        return everyones
    loaded = loaded_openmp()
    if len(loaded) != 1:
        os.environ.setdefault("KMP_DUPLICATE_LIB_OK", "TRUE")
    # Not RTLD_GLOBAL: it also defines GNU's entry points, which a PyTorch imported later would take from it.
    return ctypes.CDLL(str(loaded[0] if loaded else find_openmp((f"{sys.prefix}/lib", *_OPENMP_FOLDERS))))


def _jit() -> Any:
    """One of LLVM's JITs, with the linker that puts all of an object file in one place; it lives as long as what it links.

    The older one takes memory section by section: in a large process they may lie further apart than relocations reach. Each
    library has one of its own: a JIT keeps some 9 kB of a library that is gone.
    """
    return llvm_binding().create_lljit_compiler(use_jit_link=True)


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
    return libcalls.without(("i128", *lacked)) if triple else libcalls.LLVM_IR


@functools.cache
def support_object(triple: str = "") -> bytes:
    """The object file of the functions in `libcalls`, for any processor of this architecture, or of a triple's."""
    machine = _target_machine(of_triple(BASELINE, triple) if triple else baseline())
    return machine.emit_object(emit.parsed(llvm_binding(), support_ir(triple), machine))


@once
def _support() -> Any:
    """These functions in this process."""
    builder = llvm_binding().JITLibraryBuilder().add_object_img(support_object())
    for name in libcalls.NAMES:
        builder.export_symbol(name)
    return builder.link(_jit(), "support")


@functools.cache
def _system() -> Sequence[ctypes.CDLL]:
    """This process, and libm, which it need not have."""
    return ctypes.CDLL(None), ctypes.CDLL("libm.so.6" if sys.platform == "linux" else None)


def is_system_function(name: str) -> bool:
    """Whether C's library has a function of this name."""
    libraries = (ctypes.CDLL("libc.so.6" if sys.platform == "linux" else None), _system()[1])
    return any(getattr(library, name, None) is not None for library in libraries)


def _address(name: str) -> int | None:
    """Address of a function that code calls; None where nothing has it."""
    if name in libcalls.NAMES:
        return _support()[name]
    for library in (_openmp(),) if name.startswith(OPENMP) else _system():
        if (function := getattr(library, name, None)) is not None:
            return ctypes.cast(function, ctypes.c_void_p).value
    return None


@dataclass(frozen=True)
class Library:
    """Native code in this process. Its functions live as long as it does."""

    tracker: Any = field(repr=False)
    addresses: Mapping[str, int]

    def address(self, name: str) -> int:
        """Address of the entry of function `name`: of the words that it takes.

        Raises ToolchainError when the module has no such function.
        """
        if name not in self.addresses:
            raise ToolchainError(f"the compiled module has no function {name!r}")
        return self.addresses[name]


def load_objects(objects: Sequence[bytes]) -> Library:
    """Links object files into this process.

    Raises `ToolchainError` that names the functions which they call and nothing has."""
    symbols, builder = symbols_of(objects), llvm_binding().JITLibraryBuilder()
    for data in objects:
        builder.add_object_img(data)
    found = {name: _address(name) for name in sorted(symbols.needed)}
    if missing := [name for name, address in found.items() if address is None]:
        raise ToolchainError(f"the code calls what no library here has: {', '.join(missing)}")
    for name, address in found.items():
        builder.import_symbol(name, address)
    names = sorted(name for name in symbols.defined if name.startswith((ENTRY, INTERFACE)))
    for name in names:
        builder.export_symbol(name)
    tracker = builder.link(_jit(), "library")
    return Library(tracker, {name: tracker[name] for name in names})


def load(text: str, passes: Sequence[Pass] = TO_LLVM) -> Library:
    """Compiles a module in upstream dialects, or takes it from the cache, and links it into this process."""
    return load_objects([compile_object(text, passes)])


def find_c_tool(names: Sequence[str], triple: str = "") -> str:
    """The path of the system's C compiler or archiver, the first that is there of these, or that of a triple's, which is called
    after it. Raises `ToolchainError` with the install command."""
    if triple:
        arch, _, environment = triple.partition("-unknown")
        prefix = f"{arch}{environment}-"
        names = [*(f"{prefix}{name}" for name in names), *(names if arch == platform.machine() else ())]
        package = f"gcc-{prefix}".removesuffix("-").replace("_", "-")
    else:
        package = "gcc"
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise ToolchainError(
            f"a library needs {names[0]}{f' for {triple}' if triple else ''}; install it with: apt-get install {package} (without, "
            "there are objects, assembly and LLVM IR: --emit obj, asm, llvm)"
        )
    return found


def c_compiler(triple: str = "") -> str:
    """The path of a C compiler. Raises `ToolchainError`."""
    return find_c_tool(("gcc", "cc") if triple else ("cc", "clang", "gcc"), triple)


def link_shared(
    objects: Iterable[Path], out: Path, libraries: Sequence[str] = ("-lm",), triple: str = ""
) -> None:
    """Links object files into a shared library with the system's C compiler, or a triple's, every symbol resolved."""
    external.run(
        [
            *(c_compiler(triple), "-shared", "-o", str(out)),
            *map(str, objects),
            *linker("--no-undefined"),
            *libraries,
        ]
    )


def linker(*arguments: str) -> list[str]:
    """Arguments of the linker as the C compiler takes them, paths with commas in them too."""
    return [word for argument in arguments for word in ("-Xlinker", argument)]


def describe(array: Any) -> list[int]:
    """The words of a memref's descriptor: allocated and aligned pointer, offset, sizes and strides (elements). Of a NumPy
    array, which must outlive it, strides as it has them."""
    pointer = array.ctypes.data
    return [pointer, pointer, 0, *array.shape, *(step // array.itemsize for step in array.strides)]


def words_of(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    """What an entry takes the address of."""
    return (ctypes.c_int64 * len(values))(*values)


def entry(address: int) -> Callable[[ctypes.Array[ctypes.c_int64]], None]:
    """The function of words at the address of an entry."""
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)


def bind(library: Library, name: str, arrays: Sequence[Any]) -> Any:
    """A function without arguments that calls `name`, a function with `llvm.emit_c_interface`, on these NumPy arrays, which it keeps alive."""
    descriptors = [words_of(describe(array)) for array in arrays]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))(library.address(INTERFACE + name))
    call = functools.partial(function, *map(ctypes.addressof, descriptors))
    call.keep = (library, arrays, descriptors)  # pyright: ignore[reportAttributeAccessIssue]
    return call
