"""Object files linked: into this process, with what they call, OpenMP's runtime among it; or to a shared library, by the system's compiler.

library = load(text)                                   # a module in upstream dialects, compiled
bind(library, "matmul", [lhs, rhs, out])()             # `func.func @matmul ... attributes {llvm.emit_c_interface}`
"""

from __future__ import annotations

import ctypes
import functools
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering import external
from xdsl_exir.lowering.mlir import INTERFACE, TO_LLVM, Pass
from xdsl_exir.lowering.pack_arguments import ENTRY
from xdsl_exir.runtime.openmp import OPENMP, address_in, addresses, jit
from xdsl_exir.targets.cpu import libcalls
from xdsl_exir.targets.cpu.machine import llvm_binding
from xdsl_exir.targets.cpu.objects import compile_object, support_object, symbols_of
from xdsl_exir.threads import once


@once
def _support() -> Any:
    """These functions in this process."""
    builder = llvm_binding().JITLibraryBuilder().add_object_img(support_object())
    for name in libcalls.NAMES:
        builder.export_symbol(name)
    return builder.link(jit(), "support")


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
    found = (address_in(library, name) for library in _system())
    return next((address for address in found if address is not None), None)


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
    parallel = sorted(name for name in symbols.needed if name.startswith(OPENMP))
    found = addresses(parallel) if parallel else dict[str, int | None]()
    found |= {name: _address(name) for name in sorted(symbols.needed) if name not in found}
    if missing := [name for name, address in found.items() if address is None]:
        raise ToolchainError(f"the code calls what no library here has: {', '.join(missing)}")
    for name, address in found.items():
        builder.import_symbol(name, address)
    names = sorted(name for name in symbols.defined if name.startswith((ENTRY, INTERFACE)))
    for name in names:
        builder.export_symbol(name)
    tracker = builder.link(jit(), "library")
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
