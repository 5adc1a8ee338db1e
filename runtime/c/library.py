"""Ahead of time: a program as a shared library with a C header and a weights file, for use without Python.

    compile_library(program, Path("out"), "digits")     # out/libdigits.so, out/digits.h, out/digits.weights

The library has code for several levels of its processor, of which the best is chosen when it is loaded, or for one. It needs libc, libm
and, where the program has loops worth threads, LLVM's OpenMP runtime. The weights file holds what the driver takes as constants, packed as
its dispatches want it. Of the methods' arguments, buffers that calls change live in the instance, from call to call, and methods share
them. Symbolic sizes depend on numbers that the caller passes, or on data. Where everything is, `methods` says; the C text is made in `wrapper`.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.func import FuncOp

from xdsl_exir.dialects.backend import delegates_of
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.files import aside
from xdsl_exir.lowering.dispatch import ALIGNMENT
from xdsl_exir.lowering.draws import PlainDraws, is_call
from xdsl_exir.lowering.preparation import COUNTED
from xdsl_exir.lowering.sizes import is_computable
from xdsl_exir.names import LONGEST, c_name, is_c_name, own_name
from xdsl_exir.program import Program
from xdsl_exir.runtime.c.emission import EMITTED, LINKED, Artifact, Code
from xdsl_exir.runtime.c.header import header_text
from xdsl_exir.runtime.c.interface import CLibrary, CMethod, Drive, Number, Step
from xdsl_exir.runtime.c.methods import Memory, MethodMemory
from xdsl_exir.runtime.c.pieces import Pieces, refuse_split
from xdsl_exir.runtime.fallback import Split, needs_host, split
from xdsl_exir.runtime.linking import is_system_function
from xdsl_exir.runtime.native import Planned, as_edge, plan_program
from xdsl_exir.targets.cpu.architectures import ARCHITECTURES
from xdsl_exir.targets.cpu.machine import VARIABLE, Processor, check_system, processor
from xdsl_exir.transforms.preprocess_delegates import PreprocessDelegates
from xdsl_exir.transforms.stages import EDGE, stage_of


def compile_library(
    program: Program,
    folder: str | os.PathLike[str],
    name: str,
    cpu: str | None = None,
    triple: str | None = None,
    emit: str = "so",
    threads: int | None = None,
    instances: bool = False,
    embed: bool = False,
) -> Artifact:
    """Compiles a program, at any stage, to files in a folder, which is made if it is not there. They take the places of
    others one after the other when all are written; a library refuses the weights of another one.

    `name` is the prefix of the C functions, `cpu` the processor, as for `compile`: it need not be one that this one can
    be. Without one (nor $XDSL_EXIR_CPU), a library for x86-64 has code for the levels `SHIPPED`, of which the best that the processor
    can be is chosen when it is loaded. With a `triple` (`aarch64-linux-gnu`, `riscv64-linux-gnu`, `wasm32`, `x86_64-linux-gnu`) the code is for that architecture, by default
    its baseline, in one thread, and says nothing of this machine. `threads` share a loop; of 1 the code calls no OpenMP.

    `emit` says what is made: a shared library (`so`) or a static one (`a`), for which there has to be a C compiler of the triple, or one
    object file (`obj`), its assembly (`asm`), its LLVM IR (`llvm`) or the modules that MLIR lowers to it (`mlir`), for one processor, with the C source of the functions that the
    header declares. With `instances` a process may have several, which run at the same time: `NAME_new(weights_path)` makes one,
    `NAME_forward(instance, ...)` runs it, `NAME_delete(instance)` gives it back. With `embed` the weights are in the library.

    Delegates are called through functions that the user says (`NAME_backend_BACKEND`); they are preprocessed here, if they are not. Raises
    `UnsupportedError` listing what cannot be lowered, `ExirError` for a
    name that C does not take, `ToolchainError` where a tool is missing.
    """
    if not re.fullmatch(rf"[A-Za-z_]\w{{0,{LONGEST - 1}}}", name, re.ASCII):
        raise ExirError(f"'{name:.200}' cannot be the prefix of C functions; give another with --name")
    if emit not in EMITTED:
        raise ExirError(f"nothing is called '{emit}' that can be emitted; there is {', '.join(EMITTED)}")
    if embed and emit not in LINKED:
        raise ExirError(f"weights are embedded in libraries (--emit so, a), not in {emit}")
    cpus = targets_of(program, cpu, triple, threads, emit)
    if not triple:
        check_system()
    elif emit in LINKED and not ARCHITECTURES[cpus[0].arch].has_files:
        raise ExirError(f"for {cpus[0].triple} there are no libraries: --emit obj, asm, llvm or mlir")
    parts = Parts.of(program)
    draws = f"{name}.draw" if parts.cut is None else None
    plans = [
        plan_program(parts.code, one, suffix, draws) for one, suffix in zip(cpus, suffixes(cpus), strict=True)
    ]
    layout = Memory(plans[0].program)
    public = {
        driver: own_name(f"{name}.{driver}") for planned in plans for driver in planned.drivers.values()
    }
    shown = str if emit == "so" else public.__getitem__
    names = method_names(parts.methods)
    methods = [method_of(parts, method, names[method], layout, plans, shown) for method in parts.methods]
    library = CLibrary(
        name,
        methods,
        max(layout.memory, ALIGNMENT),
        layout.initial,
        layout.weights.size,
        layout.weights.digest(),
        [planned.cpu for planned in plans],
        instances,
        layout.delegates,
        embed,
        {called: len(types) for plan in plans for called, types in plan.dispatches.external.items()},
    )
    refuse(library)
    return write(library, Path(folder), emit, layout, Code(plans, public))


def write(library: CLibrary, folder: Path, emit: str, layout: Memory, code: Code) -> Artifact:
    """Writes a library's files."""
    name = library.name
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / EMITTED[emit].format(name), folder / f"{name}.h"]
    paths += [folder / f"{name}.weights"] * (not library.embedded)
    paths += [folder / f"{name}.c"] * (emit not in LINKED)
    with aside(*paths) as written, tempfile.TemporaryDirectory() as scratch:
        artifact = artifact_of(library, written)
        artifact.header.write_text(header_text(library), encoding="utf-8")
        weights = Path(scratch) / f"{name}.weights" if library.embedded else artifact.weights
        layout.weights.write(weights)
        code.write(emit, library, artifact, weights.parent)
    return artifact_of(library, paths)


def artifact_of(library: CLibrary, paths: Sequence[Path]) -> Artifact:
    """A library's files, in the order in which they are named."""
    made, header, *others = paths
    return Artifact(made, header, *([made] if library.embedded else []), *others)


SHIPPED = ("x86-64", "x86-64-v3", "x86-64-v4")
"""The levels that a library for x86-64 has code for, the lowest first."""


def targets_of(
    program: Program, cpu: str | None, triple: str | None, threads: int | None, emit: str
) -> list[Processor]:
    """The processors that code is made for. (Dispatches of a program that is lowered so far have names already: code for several could not be linked.)"""
    one = processor(cpu, triple, threads)
    is_said = cpu is not None or (triple is None and bool(os.environ.get(VARIABLE)))
    if is_said or one.arch != "x86_64" or emit not in LINKED or stage_of(program.module) in WITH_DRIVERS:
        return [one]
    return [processor(level, triple, threads) for level in SHIPPED]


WITH_DRIVERS = ("buffers", "planned", "kernels")
"""Stages at which methods are drivers."""


def suffixes(cpus: Sequence[Processor]) -> list[str]:
    """What the names of the code for each processor end in."""
    return [f".{c_name(cpu.name, set())}" for cpu in cpus] if len(cpus) > 1 else [""]


@dataclass(frozen=True)
class Parts:
    """A program as C runs it."""

    methods: Mapping[str, FuncOp]
    """What says how each is called."""
    code: Program
    """What becomes native code: the methods, or pieces of them."""
    cut: Split | None = None
    """What is between pieces."""

    @staticmethod
    def of(program: Program) -> Parts:
        """Raises `UnsupportedError` for what has no form in C."""
        program = program.inlined()
        if stage_of(program.module) not in ("aten", *EDGE):
            return Parts(program.signatures, program)
        others = {op.backend.data for op in delegates_of(program.module)} - {NATIVE_BACKEND}
        program = as_edge(
            program, others, [*([PreprocessDelegates()] if others else []), PlainDraws(), *COUNTED.passes]
        )
        if not others and not needs_host(program, but=is_call):
            return Parts(program.methods, program)
        cut = split(program, others)
        refuse_split(cut)
        assert isinstance(cut.pieces, Program)
        return Parts(program.methods, cut.pieces, cut)


NATIVE_BACKEND = "native"
"""Of delegates that are native code like all else."""


def method_of(
    parts: Parts,
    method: str,
    name: str,
    layout: Memory,
    plans: Sequence[Planned],
    shown: Callable[[str], str],
) -> CMethod:
    """A method in C, called so there; `shown` says what others call native code."""
    made: list[MethodMemory] = []
    for planned in plans:
        memory, calls = MethodMemory(layout, parts.methods[method]), planned.calls(shown)
        if parts.cut is None:
            memory.whole(calls[method])
        else:
            outer = next(
                op for op in parts.cut.outer.ops if isinstance(op, FuncOp) and op.sym_name.data == method
            )
            Pieces(parts.cut, outer, memory, calls).run()
        made.append(memory)
    requirements = dict.fromkeys(one for memory in made for one in memory.requirements)
    return CMethod(
        name,
        method,
        made[0].c_symbols(),
        list(requirements),
        list(made[0].parameters.values()),
        [memory.steps for memory in made],
    )


def method_names(methods: Iterable[str]) -> dict[str, str]:
    """What methods are called in C: as in the program, if C takes that."""
    taken = {name.upper() for name in RESERVED}
    return {name: c_name(name, taken) for name in sorted(methods, key=lambda name: not is_c_name(name))}


RESERVED = ("load", "error", "free", "new", "delete", "instance", "seed")
"""What methods are not called in C."""


def refuse(library: CLibrary) -> None:
    """Raises `UnsupportedError` for what C cannot compute, `ExirError` for functions or macros of one name, and for functions
    that would be called as one of the C library."""
    name, methods = library.name, library.methods
    found = [
        Unsupported(method.title, f"{what} {size} is not computed in C")
        for method in methods
        for what, sizes in (
            ("the condition", [requirement.condition for requirement in method.requirements]),
            ("the result", [step.value for step in steps_of(method) if isinstance(step, Number)]),
            ("the size", [method.arena(code) for code in method.codes]),
            ("the size", [step.arena for step in steps_of(method) if isinstance(step, Drive)]),
            ("the size", [size for array in method.parameters for size in array.shape]),
        )
        for size in sizes
        if not is_computable(size)
    ]
    if found:
        raise UnsupportedError(found)
    functions = [*library.reserved, *(function for method in methods for function in method.functions)]
    macros = [macro for method in methods for array in method.parameters for macro in method.macros(array)]
    for what, names in (("functions", functions), ("macros", macros)):
        for one, count in Counter(names).items():
            if count > 1:
                raise ExirError(f"two {what} of the library would be called '{one}'")
    for function in functions:
        if is_system_function(f"{name}_{function}"):
            raise ExirError(
                f"a function of the library would be called '{name}_{function}', as one of the C library; "
                "give another prefix with --name"
            )


def steps_of(method: CMethod) -> list[Step]:
    """What a call does, on any of the processors."""
    return [step for code in method.codes for step in code]
