"""From a module's text in upstream dialects to native code: the external tools, and nothing about tensors or operators.

    library = load(text)                  # mlir-opt-22, mlir-translate-22, LLVM (llvmlite), in process
    address = library.address("matmul")   # the entry of `func.func @matmul ... attributes {llvm.emit_c_interface}`

Here are: where mlir-opt-22 and mlir-translate-22 are found, the table of passes and why each is there, LLVM's optimiser and
code generator (for a processor of `processor`) through llvmlite, and the OpenMP runtime.
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
from typing import Any

from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering import external, libcalls
from xdsl_exir.lowering.cache import cached
from xdsl_exir.lowering.processor import Processor, baseline, llvm_binding, processor
from xdsl_exir.names import own_name
from xdsl_exir.threads import once

INSTALL = "apt-get install mlir-22-tools"
INSTALL_OPENMP = "pip install intel-openmp   (or: apt-get install libomp-22-dev)"


@dataclass(frozen=True)
class Pass:
    """One entry of a pipeline: the pass as `--pass-pipeline` spells it, and why it is there."""

    text: str
    why: str


# Linalg on tensors to linalg on memrefs. Modules that are on memrefs already (schedules) skip it.
BUFFERIZE = (
    Pass("eliminate-empty-tensors", "results are computed in their destination, not copied there"),
    Pass("empty-tensor-to-alloc-tensor", "what is left becomes an allocation"),
    Pass(
        "one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1 "
        "function-boundary-type-conversion=identity-layout-map buffer-alignment=64}",
        "tensors to memrefs with contiguous arguments, so that a caller needs pointers only",
    ),
    Pass(
        "buffer-results-to-out-params{hoist-static-allocs=1 modify-public-functions=1}",
        "the caller owns results",
    ),
    Pass("canonicalize", "drops copies onto themselves"),
    Pass("buffer-deallocation-pipeline", "frees what was allocated"),
    Pass("convert-bufferization-to-memref", "clones become allocations and copies"),
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
    Pass("math-expand-ops{ops=roundeven}", "roundeven has a libm function only on new systems"),
    Pass(
        "convert-math-to-llvm{approximate-log1p=0}",
        "math functions that are LLVM intrinsics; log1p is not log(1 + x)",
    ),
    Pass("convert-math-to-libm", "the others are libm's"),
    Pass("convert-to-llvm", "func, arith, cf, memref, index and OpenMP's types"),
    Pass("convert-openmp-to-llvm", "types inside the parallel regions"),
    Pass("reconcile-unrealized-casts", "nothing may be left of the conversions"),
)


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


def run_passes(text: str, passes: Sequence[Pass]) -> str:
    """A module's text after the passes, by one mlir-opt process. Raises ToolchainError with the tool's message."""
    tool = find_tool("mlir-opt")
    printed = external.run([str(tool), f"--pass-pipeline={pipeline(passes)}"], text)
    if not _MODULE.search(printed):
        raise ToolchainError(f"{tool.name} printed no module, but {printed[:100]!r}")
    return printed


def to_llvm_ir(text: str, passes: Sequence[Pass] = TO_LLVM) -> str:
    """LLVM IR, as text, of a module in upstream dialects. Raises ToolchainError with the tool's message."""
    return external.run([str(find_tool("mlir-translate")), "--mlir-to-llvmir"], run_passes(text, passes))


@functools.cache
def _target_machine(cpu: Processor) -> Any:
    llvm = llvm_binding()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=cpu.name, features=cpu.features, opt=3, reloc="pic", codemodel="small"
    )


ENTRY = own_name("entry.")
"""What the names of functions begin with that are called from outside. Their one argument is the address of words of 64
bits: the numbers that a function takes, and the descriptors of its memrefs, one after the other."""
LONG = 20_000
"""Lines of LLVM IR of an entry from which on it is not optimised."""

_INTERFACES = re.compile(r"^define void @_mlir_ciface_([^ (]+)\(.*?^}\n", re.MULTILINE | re.DOTALL)


def with_entries(llvm_ir: str) -> str:
    """LLVM IR, as text, in which each function that MLIR gave a C interface is an entry.

    A function with an argument for each number of thousands of memrefs, and one that calls it, take LLVM time that grows
    with the square of them."""
    names = {found[1] for found in _INTERFACES.finditer(llvm_ir)}
    heads = re.compile(r"^define void @([^ (]+)\(([^)]*)\)(.*) {\n(?:([\w.]+):.*\n)?", re.MULTILINE)
    return heads.sub(
        lambda found: _entry(*found.groups()) if found[1] in names else found[0], _INTERFACES.sub("", llvm_ir)
    )


def _entry(name: str, arguments: str, attributes: str, label: str | None) -> str:
    """The beginning of a function of these arguments, whose first block has this label, as an entry."""
    types = [one.split()[0] for one in arguments.split(", ")] if arguments else []
    lines = [f"define void @{ENTRY}{name}(ptr %words){attributes} {{", "exir.words:"]
    for index, type in enumerate(types):
        lines.append(f"  %word{index} = getelementptr i64, ptr %words, i64 {index}")
        lines.append(f"  %{index} = load {type}, ptr %word{index}, align 8")
    # A block without a label has a number: from here on values and blocks are numbered as they were.
    first = label or str(len(types))
    return "\n".join([*lines, f"  br label %{first}", f"{first}:", ""])


def _parsed(llvm_ir: str, machine: Any) -> Any:
    try:
        module = llvm_binding().parse_assembly(llvm_ir)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise ToolchainError(f"LLVM refused the code: {error}") from None
    return module


def emit_object(llvm_ir: str, cpu: Processor) -> bytes:
    """An ELF object file (position independent, for the processor) of LLVM IR, optimised at O3."""
    llvm = llvm_binding()
    machine = _target_machine(cpu)
    module = _parsed(with_entries(llvm_ir), machine)
    for function in module.functions:
        # They only pass on what they are given: selecting instructions for thousands of calls together takes time that
        # grows with their square.
        if function.name.startswith(ENTRY) and str(function).count("\n") > LONG:
            function.add_function_attribute("noinline")
            function.add_function_attribute("optnone")
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    # Schedules are written out as far as they should be: unrolled further, register tiles spill (half the speed).
    options.loop_unrolling = False
    options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def cache_key(text: str, passes: Sequence[Pass], cpu: Processor) -> str:
    """Everything an object file is made from: text, passes, the tools' versions and the processor."""
    versions = tool_version(), importlib.metadata.version("llvmlite")
    parts = (ENTRY, text, pipeline(passes), *versions, cpu.name, cpu.features)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def compile_object(text: str, passes: Sequence[Pass] = TO_LLVM, cpu: Processor | None = None) -> bytes:
    """The object file of a module in upstream dialects, from the cache when it was made before.

    `cpu` is the processor that it is for, `processor()` by default."""
    cpu = cpu or processor()
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


def undefined_symbols(data: bytes) -> frozenset[str]:
    """Names of the functions that an ELF object file needs of others."""
    sections = {one.name(): one.data() for one in llvm_binding().ObjectFileRef.from_data(data).sections()}
    names = sections[b".strtab"]
    return frozenset(
        names[start : names.index(b"\0", start)].decode()
        for start, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", sections[b".symtab"])
        if start and not section
    )


@functools.cache
def support_object() -> bytes:
    """The object file of the functions in `libcalls`, for any processor of this architecture."""
    machine = _target_machine(baseline())
    return machine.emit_object(_parsed(libcalls.LLVM_IR, machine))


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

        Raises ToolchainError when the module has no such public function with `llvm.emit_c_interface`.
        """
        if name not in self.addresses:
            raise ToolchainError(f"the compiled module has no function {name!r} with llvm.emit_c_interface")
        return self.addresses[name]


def load_object(data: bytes) -> Library:
    """Links an object file of `compile_object` into this process.

    Raises `ToolchainError` that names the functions which it calls and nothing has."""
    builder = llvm_binding().JITLibraryBuilder().add_object_img(data)
    found = {name: _address(name) for name in sorted(undefined_symbols(data))}
    if missing := [name for name, address in found.items() if address is None]:
        raise ToolchainError(f"the code calls what no library here has: {', '.join(missing)}")
    for name, address in found.items():
        builder.import_symbol(name, address)
    names = {name.decode() for name in re.findall(re.escape(ENTRY.encode()) + rb"([^\0]+)\0", data)}
    for name in names:
        builder.export_symbol(ENTRY + name)
    tracker = builder.link(_jit(), "library")
    return Library(tracker, {name: tracker[ENTRY + name] for name in names})


def load(text: str, passes: Sequence[Pass] = TO_LLVM) -> Library:
    """Compiles a module in upstream dialects, or takes it from the cache, and links it into this process."""
    return load_object(compile_object(text, passes))


def link_shared(objects: Iterable[Path], out: Path, libraries: Sequence[str] = ("-lm",)) -> None:
    """Links object files into a shared library with the system's C compiler, every symbol resolved."""
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        raise ToolchainError(
            "a shared library needs a C compiler to link it; install one with: apt-get install gcc"
        )
    external.run(
        [compiler, "-shared", "-o", str(out), *map(str, objects), *linker("--no-undefined"), *libraries]
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
    """A function without arguments that calls `name` on these NumPy arrays, which it keeps alive."""
    words = words_of([word for array in arrays for word in describe(array)])
    call = functools.partial(entry(library.address(name)), words)
    call.keep = (library, arrays)  # pyright: ignore[reportAttributeAccessIssue]
    return call
