"""Ahead of time: a program as a shared library with a C header and a weights file, for use without Python.

    compile_library(program, Path("out"), "digits")     # out/libdigits.so, out/digits.h, out/digits.weights

The library is for processors like this one and needs libc, libm and, where the program has loops worth threads, LLVM's
OpenMP runtime. The weights file holds what the driver takes as constants, packed as its dispatches want it: a header
of 64 bytes (magic, version, CRC-32 of the rest, size of the rest, its SHA-256) and arrays, each 64-byte aligned. Of the
methods' arguments, buffers that calls change live in the instance, from call to call. The C text is made in `c_interface`.
"""

from __future__ import annotations

import hashlib
import platform
import re
import struct
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.exir import (
    INPUT,
    MUTATIONS,
    OUTPUT,
    InputAttr,
    InputKind,
    InputSpec,
    OutputAttr,
    OutputKind,
    OutputSpec,
)
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.compile import module_object
from xdsl_exir.lowering.dispatch import ALIGNMENT, Array, Plan, Value
from xdsl_exir.lowering.sizes import static
from xdsl_exir.lowering.toolchain import cpu_name, find_openmp, link_shared
from xdsl_exir.program import Program
from xdsl_exir.runtime.c_interface import (
    C_TYPES,
    CPU_FEATURES,
    HEADER_BYTES,
    MAGIC,
    VERSION,
    CLibrary,
    CMethod,
    Parameter,
    Place,
    header_text,
    wrapper_text,
)
from xdsl_exir.runtime.native import plan_program

RESERVED = ("load", "error", "free")
"""Functions of the library's own, which no method may be called."""


@dataclass(frozen=True)
class Artifact:
    """The files of a compiled program."""

    library: Path
    header: Path
    weights: Path


def compile_library(program: Program, folder: Path, name: str) -> Artifact:
    """Compiles a program, at any stage, to files in a folder, which is made if it is not there.

    `name` is the prefix of the C functions. Raises `UnsupportedError` listing what cannot be lowered, `ExirError` for a
    name that C does not take, `ToolchainError` where a tool is missing.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ExirError(f"'{name}' cannot be the prefix of C functions; give another with --name")
    planned = plan_program(program.inlined())
    refuse_symbols(planned.plans)
    refuse_checks(planned.checks)
    data = module_object(planned.dispatches, planned.plans)
    layout = Layout(planned.program)
    methods = [
        layout.method(function, planned.plans[method], planned.passed[method])
        for method, function in planned.program.methods.items()
    ]
    cpu, _, features = cpu_name().partition(" ")
    known = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    library = CLibrary(
        name,
        methods,
        layout.memory + layout.arena,
        layout.initial,
        layout.weights.size,
        layout.weights.digest(),
        cpu,
        [feature for feature in CPU_FEATURES if feature in known and platform.machine() == "x86_64"],
    )
    folder.mkdir(parents=True, exist_ok=True)
    artifact = Artifact(folder / f"lib{name}.so", folder / f"{name}.h", folder / f"{name}.weights")
    artifact.header.write_text(header_text(library))
    layout.weights.write(artifact.weights)
    link(library, data, artifact)
    return artifact


def refuse_symbols(plans: Mapping[str, Plan]) -> None:
    """Raises `UnsupportedError` for methods with symbolic sizes: the C interface has arrays of fixed shape, and no numbers."""
    found = [
        Unsupported(method, f"the size {symbol} is symbolic")
        for method, plan in plans.items()
        for symbol in plan.symbols
    ]
    found += [
        Unsupported(method, "results that are numbers") for method, plan in plans.items() if plan.numbers
    ]
    if found:
        raise UnsupportedError(found)


def refuse_checks(checks: Mapping[str, Sequence[OperatorOp]]) -> None:
    """Raises `UnsupportedError` for methods that look at what tensors hold and may raise, in Python."""
    found = [
        Unsupported(check.name, "a check of what a tensor holds", location_text(check))
        for method in checks.values()
        for check in method
    ]
    if found:
        raise UnsupportedError(found)


def link(library: CLibrary, data: bytes, artifact: Artifact) -> None:
    """Links the object file with its wrapper. Only the functions of the header are visible: several libraries may be
    used in one process, and each has its own `forward`."""
    with tempfile.TemporaryDirectory() as scratch:
        objects = Path(scratch) / "program.o", Path(scratch) / "wrapper.c"
        objects[0].write_bytes(data)
        objects[1].write_text(wrapper_text(library))
        symbols = Path(scratch) / "symbols"
        public = [*RESERVED, *(method.name for method in library.methods)]
        symbols.write_text(
            f"{{ global: {' '.join(f'{library.name}_{name};' for name in public)} local: *; }};"
        )
        flags = ["-std=c11", "-O2", "-fPIC", f"-I{artifact.header.parent}", f"-Wl,--version-script={symbols}"]
        flags += [f"-Wl,-soname,{artifact.library.name}", "-lm"]
        if b"__kmpc_" in data:
            runtime = find_openmp()
            flags += [str(runtime), f"-Wl,-rpath,{runtime.parent}"]
        link_shared(objects, artifact.library, flags)


# --- the weights file ----------------------------------------------------------------------------------------


@dataclass
class Weights:
    """Arrays back to back, each aligned; equal ones are stored once."""

    arrays: list[tuple[int, memoryview]] = field(default_factory=list[tuple[int, memoryview]])
    size: int = 0
    known: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """Offsets by digest of the bytes."""

    def add(self, array: Array) -> int:
        """Offset of an array's elements, in bytes from the first array's."""
        flat = elements(array)
        key = hashlib.sha256(flat).digest()
        if key not in self.known:
            self.known[key] = self.size
            self.arrays.append((self.size, flat))
            self.size = aligned(self.size + flat.nbytes)
        return self.known[key]

    def chunks(self) -> Iterator[memoryview | bytes]:
        """The bytes in order, with padding."""
        for offset, flat in self.arrays:
            yield flat
            yield bytes(aligned(offset + flat.nbytes) - offset - flat.nbytes)

    def digest(self) -> bytes:
        """SHA-256 of the bytes."""
        total = hashlib.sha256()
        for chunk in self.chunks():
            total.update(chunk)
        return total.digest()

    def write(self, path: Path) -> None:
        """Writes the file."""
        checksum = 0
        for chunk in self.chunks():
            checksum = zlib.crc32(chunk, checksum)
        header = struct.pack("<8sIIQ32s", MAGIC, VERSION, checksum, self.size, self.digest())
        with path.open("wb") as file:
            file.write(header.ljust(HEADER_BYTES, b"\0"))
            for chunk in self.chunks():
                file.write(chunk)


def elements(array: Array) -> memoryview:
    """The bytes of an array's elements, row-major."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def aligned(size: int) -> int:
    """The next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


# --- where everything is -------------------------------------------------------------------------------------


class Layout:
    """Places of a program's arrays: with the caller, in the weights file, or in the instance's memory.

    The memory begins with what outlives a call; the arena comes last, and methods share it.
    """

    def __init__(self, program: Program):
        self.program = program
        self.weights = Weights()
        self.state: dict[str, Place] = {}
        """Buffers that calls change, by name."""
        self.initial: list[tuple[Place, Place]] = []
        """Places of the state and of its initial values."""
        self.memory = 0
        """Bytes taken so far."""
        self.arena = ALIGNMENT
        """Bytes of the largest arena. Its address is `instance.memory + MEMORY - this`, whatever is taken before it."""

    def method(self, function: FuncOp, plan: Plan, passed: list[int]) -> CMethod:
        """A method's C interface. Raises `ExirError` for what C has no type or name for."""
        name = function.sym_name.data
        if name in RESERVED or not re.fullmatch(r"\w+", name, re.ASCII):
            raise ExirError(f"a method named '{name}' cannot be a C function")
        inputs = signature(function.arg_attrs, INPUT, InputSpec(InputKind.USER_INPUT), len(function.args))
        outputs = signature(function.res_attrs, OUTPUT, OutputSpec(OutputKind.USER_OUTPUT), len(plan.outputs))
        written = {spec.target for spec in outputs if MUTATIONS.get(spec.kind) is InputKind.USER_INPUT}
        parameters: dict[str, Parameter] = {}
        given: list[Place] = []
        by_target: dict[str, Place] = {}
        for position, spec in enumerate(inputs):
            place: Place | None = None
            if spec.kind is InputKind.USER_INPUT:
                what = spec.target or f"argument {position}"
                value = plan.inputs[passed.index(position)]
                parameter = self.parameter(
                    parameters, f"in_{spec.target or position}", value, what in written, f"input '{what}'"
                )
                place = by_target[spec.target] = place_of(parameter.name, value)
            elif position in passed:
                place = self.state_place(spec.target, plan.inputs[passed.index(position)])
            if place is not None:
                given.append(place)
        made, after, replaced, count = (
            list[Place](),
            list[tuple[Place, Place]](),
            list[tuple[Place, Place]](),
            0,
        )
        for spec, value in zip(outputs, plan.outputs, strict=True):
            kind = MUTATIONS.get(spec.kind)
            if kind is None:
                parameter = self.parameter(
                    parameters, f"out{count}", value, True, spec.kind.value.replace("_", " ")
                )
                made.append(place_of(parameter.name, value))
                count += 1
                continue
            # The driver may read the old value to its end: the new one goes beside it.
            made.append(place_of(self.take(nbytes(value)), value))
            target = (
                by_target[spec.target]
                if kind is InputKind.USER_INPUT
                else self.state_place(spec.target, value)
            )
            replaced.append((target, made[-1]))
        for index, source in plan.copies:
            if isinstance(source, int):
                after.append((made[index], given[source] if source >= 0 else made[-1 - source]))
            else:
                after.append((made[index], self.constant(source, plan.outputs[index])))
        constants = [self.constant(array, value) for value, array in plan.constants]
        (arena_bytes,) = static([plan.arena_bytes])
        self.arena = max(self.arena, aligned(arena_bytes))
        arena = Place(
            f"instance.memory + MEMORY - {aligned(max(arena_bytes, 1))}", (max(arena_bytes, 1),), dt.Char
        )
        return CMethod(
            name, list(parameters.values()), [*given, *constants, *made, arena], [*after, *replaced]
        )

    def parameter(
        self, parameters: dict[str, Parameter], wanted: str, value: Value, written: bool, comment: str
    ) -> Parameter:
        """A parameter of the C function under a name of its own."""
        if value.dtype not in C_TYPES:
            raise ExirError(f"{comment}: C has no type for {value.dtype.torch_name}")
        name = base = re.sub(r"\W", "_", wanted, flags=re.ASCII)
        while name in parameters:
            name = f"{base}_{len(parameters)}"
        parameters[name] = Parameter(name, static(value.shape), value.dtype, written, comment)
        return parameters[name]

    def take(self, size: int) -> str:
        """Memory of the instance, beside the arena."""
        offset, self.memory = self.memory, self.memory + aligned(size)
        return f"instance.memory + {offset}"

    def constant(self, array: Array, value: Value) -> Place:
        """A constant in the weights file."""
        return place_of(f"instance.weights + {self.weights.add(array)}", value)

    def state_place(self, target: str, value: Value) -> Place:
        """A buffer that calls change. Raises `ExirError` where the program has no data for it."""
        if target not in self.state:
            if target not in self.program.state:
                raise ExirError(f"the program has no data for '{target}'")
            self.state[target] = place_of(self.take(nbytes(value)), value)
            self.initial.append(
                (self.state[target], self.constant(self.program.state[target].numpy(), value))
            )
        return self.state[target]


def place_of(address: str, value: Value) -> Place:
    """A place for a value of the driver."""
    return Place(address, static(value.shape), value.dtype)


def nbytes(value: Value) -> int:
    """Size of a value, in bytes."""
    return place_of("", value).nbytes


def signature(attrs: Any, name: str, default: Any, count: int) -> list[Any]:
    """The signature's entry for each argument or result; `default` where there is none."""
    found = [item.data.get(name) for item in attrs or ()] or [None] * count
    return [attr.data if isinstance(attr, InputAttr | OutputAttr) else default for attr in found]
