"""The files of a compiled program: libraries, or what they are made of.

A shared library is linked of the object files that the cache keeps. All else is made of one module a processor, in which only the drivers are visible, under
names of the library's: several of them may be linked into one program.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering import external
from xdsl_exir.runtime.c.interface import CLibrary
from xdsl_exir.runtime.c.wrapper import wrapper_text
from xdsl_exir.runtime.linking import c_compiler, find_c_tool, link_shared, linker
from xdsl_exir.runtime.native import Planned
from xdsl_exir.runtime.openmp import OPENMP, WRAPPED, find_openmp, library_object
from xdsl_exir.targets.cpu import libcalls
from xdsl_exir.targets.cpu.objects import OneModule, one_module, support_object, symbols_of
from xdsl_exir.threads import cached_property

EMITTED = {
    "so": "lib{}.so",
    "a": "lib{}.a",
    "obj": "{}.o",
    "asm": "{}.s",
    "llvm": "{}.ll",
    "mlir": "{}.mlir",
}
"""What can be made, and the name of its file."""
LINKED = ("so", "a")
"""That which has the functions of the header in it; of all else they are C source."""
FLAGS = ("-std=c11", "-O2", "-fPIC")
"""How that is compiled."""


@dataclass(frozen=True)
class Artifact:
    """The files of a compiled program."""

    library: Path
    """What was emitted."""
    header: Path
    weights: Path
    """The library, where they are in it."""
    source: Path | None = None
    """Of the functions that the header declares, where they are not in the library."""


@dataclass(frozen=True)
class Code:
    """The code of a program, from which files are made: for one processor, or several, none of whose names are another's."""

    plans: Sequence[Planned]
    drivers: Mapping[str, str]
    """What methods' drivers are called where others see them."""

    @cached_property
    def modules(self) -> list[OneModule]:
        """The code as one module a processor."""
        return [
            one_module(planned.llvm_ir(), planned.cpu, self.drivers_of(planned)) for planned in self.plans
        ]

    def drivers_of(self, planned: Planned) -> dict[str, str]:
        return {driver: self.drivers[driver] for driver in planned.drivers.values()}

    def write(self, emit: str, library: CLibrary, artifact: Artifact, weights: Path) -> None:
        """Writes what is to be emitted; `weights` is the folder with the weights file. Raises `ToolchainError` where a tool is missing."""
        if artifact.source is not None:
            artifact.source.write_text(wrapper_text(library), encoding="utf-8")
        match emit:
            case "so":
                objects = [data for planned in self.plans for data in planned.objects()]
                link(library, objects, artifact, weights)
            case "a":
                archive(library, [module.object for module in self.modules], artifact, weights)
            case "obj":
                artifact.library.write_bytes(self.modules[0].object)
            case "asm":
                artifact.library.write_bytes(self.modules[0].assembly)
            case "llvm":
                artifact.library.write_bytes(self.modules[0].llvm_ir)
            case _:
                texts = [unit.write() for unit in self.plans[0].units]
                artifact.library.write_text("\n// -----\n".join(texts), encoding="utf-8")


def flags_for(artifact: Artifact, weights: Path) -> list[str]:
    """How the C source is compiled: beside its header, and the weights file, which the assembler may include."""
    return [*FLAGS, f"-I{artifact.header.parent}", *("-Xassembler", "-I", "-Xassembler", str(weights))]


def archive(library: CLibrary, code: Sequence[bytes], artifact: Artifact, weights: Path) -> None:
    """Makes a static library of object files and their wrapper."""
    triple = library.cpus[0].triple
    with tempfile.TemporaryDirectory() as scratch:
        source, wrapper = Path(scratch) / f"{library.name}.c", Path(scratch) / f"{library.name}_api.o"
        source.write_text(wrapper_text(library), encoding="utf-8")
        made = [Path(scratch) / f"{library.name}{index or ''}.o" for index in range(len(code))]
        for path, data in zip(made, code, strict=True):
            path.write_bytes(data)
        flags = flags_for(artifact, weights)
        external.run([c_compiler(triple), *flags, "-c", "-o", str(wrapper), str(source)])
        external.run(
            [find_c_tool(("ar",), triple), "rcs", str(artifact.library), *map(str, (wrapper, *made))]
        )


def link(library: CLibrary, code: Sequence[bytes], artifact: Artifact, weights: Path) -> None:
    """Links object files with their wrapper. Only the functions of the header are visible: several libraries may be
    used in one process, and each has its own `forward`."""
    with tempfile.TemporaryDirectory() as scratch:
        triple, needed = library.cpus[0].triple, symbols_of(code).needed
        shares_turns = any(name.startswith(OPENMP) for name in needed)
        if shares_turns and triple:
            raise ToolchainError(
                f"there is no OpenMP runtime for {triple} here: --threads 1, or --emit obj to link with one elsewhere"
            )
        support = [support_object(triple)] if needed & libcalls.NAMES else []
        support += [library_object()] if shares_turns else []
        objects = [Path(scratch) / "wrapper.c"]
        objects[0].write_text(wrapper_text(library), encoding="utf-8")
        for index, data in enumerate([*code, *support]):
            objects.append(Path(scratch) / f"{index}.o")
            objects[-1].write_bytes(data)
        symbols = Path(scratch) / "symbols"
        public = [*library.reserved, *(name for method in library.methods for name in method.functions)]
        symbols.write_text(
            f"{{ global: {' '.join(f'{library.name}_{name};' for name in public)} local: *; }};",
            encoding="utf-8",
        )
        flags = [*flags_for(artifact, weights), "-lm"]
        flags += linker(f"--version-script={symbols}", f"-soname={artifact.library.name}")
        if shares_turns:
            # Where it is here says nothing of where the library will be: beside it, or where the loader looks.
            flags += [str(find_openmp()), *linker("-rpath=$ORIGIN", *(f"--wrap={name}" for name in WRAPPED))]
        link_shared(objects, artifact.library, flags, triple)
