"""Ahead of time: a program as a shared library with a C header and a weights file, for use without Python.

    compile_library(program, Path("out"), "digits")     # out/libdigits.so, out/digits.h, out/digits.weights

The library is for processors like this one, or for those of a level, and needs libc, libm and, where the program has loops worth threads, LLVM's
OpenMP runtime. The weights file holds what the driver takes as constants, packed as its dispatches want it: a header
of 64 bytes (magic, version, CRC-32 of the rest, size of the rest, its SHA-256) and arrays, each 64-byte aligned. Of the
methods' arguments, buffers that calls change live in the instance, from call to call, and methods share them. Symbolic sizes
depend on numbers that the caller passes. The C text is made in `interface`.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, Expr, apply, max_, provably
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import (
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
from xdsl_exir.dialects.sizes import is_symbol
from xdsl_exir.dialects.tensors import SymBoolType, SymFloatType, SymIntType, is_tensor_type
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.files import aside
from xdsl_exir.interpreter.backend import refuse_delegates
from xdsl_exir.interpreter.operators.linear_algebra import failure_text
from xdsl_exir.locations import location_text
from xdsl_exir.lowering import plan_memory
from xdsl_exir.lowering.dispatch import ALIGNMENT, Array, Plan, Value
from xdsl_exir.lowering.draws import PlainDraws
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.sizes import Sizes, is_computable, static
from xdsl_exir.names import LONGEST, c_name, is_c_name, own_name
from xdsl_exir.program import Program
from xdsl_exir.runtime.c.emission import EMITTED, LINKED, Artifact, Code
from xdsl_exir.runtime.c.header import header_text
from xdsl_exir.runtime.c.interface import (
    C_TYPES,
    HEADER_BYTES,
    MAGIC,
    VERSION,
    Assertion,
    CLibrary,
    CMethod,
    Parameter,
    Place,
    Requirement,
    Symbol,
)
from xdsl_exir.runtime.c.sizes import PLACEHOLDER
from xdsl_exir.runtime.guards import Guards, guard_text, name_of, place_text, range_text
from xdsl_exir.runtime.linking import is_system_function
from xdsl_exir.runtime.native import as_edge, plan_program
from xdsl_exir.targets.cpu.architectures import ARCHITECTURES
from xdsl_exir.targets.cpu.machine import check_system, processor
from xdsl_exir.transforms.numbers_to_tensors import NumbersToTensors


def compile_library(
    program: Program,
    folder: str | os.PathLike[str],
    name: str,
    cpu: str | None = None,
    triple: str | None = None,
    emit: str = "so",
    threads: int | None = None,
    instances: bool = False,
) -> Artifact:
    """Compiles a program, at any stage, to files in a folder, which is made if it is not there. They take the places of
    others one after the other when all are written; a library refuses the weights of another one.

    `name` is the prefix of the C functions, `cpu` the processor, as for `compile`: it need not be one that this one can
    be. With a `triple` (`aarch64-linux-gnu`, `riscv64-linux-gnu`, `wasm32`, `x86_64-linux-gnu`) the code is for that architecture, by default
    its baseline, in one thread, and says nothing of this machine. `threads` share a loop; of 1 the code calls no OpenMP.

    `emit` says what is made: a shared library (`so`) or a static one (`a`), for which there has to be a C compiler of the triple, or one
    object file (`obj`), its assembly (`asm`), its LLVM IR (`llvm`) or the modules that MLIR lowers to it (`mlir`), with the C source of the functions that the
    header declares. With `instances` a process may have several, which run at the same time: `NAME_new(weights_path)` makes one,
    `NAME_forward(instance, ...)` runs it, `NAME_delete(instance)` gives it back. Raises `UnsupportedError` listing what cannot be lowered, `ExirError` for a
    name that C does not take, `ToolchainError` where a tool is missing.
    """
    if not re.fullmatch(rf"[A-Za-z_]\w{{0,{LONGEST - 1}}}", name, re.ASCII):
        raise ExirError(f"'{name:.200}' cannot be the prefix of C functions; give another with --name")
    refuse_delegates(
        program.module,
        "native",
        "C libraries hold no backends; inline-delegates makes native code of what its region says",
    )
    if emit not in EMITTED:
        raise ExirError(f"nothing is called '{emit}' that can be emitted; there is {', '.join(EMITTED)}")
    target = processor(cpu, triple, threads)
    if not target.triple:
        check_system()
    elif emit in LINKED and not ARCHITECTURES[target.arch].has_files:
        raise ExirError(f"for {target.triple} there are no libraries: --emit obj, asm, llvm or mlir")
    plain = as_edge(program.inlined()).apply(NumbersToTensors(), PlainDraws())
    planned = plan_program(plain, target, draws=f"{name}.draw")
    layout = Memory(planned.program)
    names = method_names(planned.program.methods)
    methods = [
        MethodMemory(layout, function, planned.plans[method], planned.passed[method]).method(
            names[method], planned.checks[method], planned.drivers[method]
        )
        for method, function in planned.program.methods.items()
    ]
    drivers = {driver: own_name(f"{name}.{driver}") for driver in planned.drivers.values()}
    if emit != "so":
        methods = [replace(method, driver=drivers[method.driver]) for method in methods]
    code = Code(planned, drivers)
    fixed = [method.arena for method in methods if isinstance(method.arena, int)]
    library = CLibrary(
        name,
        methods,
        max(layout.memory, ALIGNMENT),
        max([ALIGNMENT, *fixed]),
        layout.initial,
        layout.weights.size,
        layout.weights.digest(),
        planned.cpu,
        instances,
        {called: len(types) for called, types in planned.dispatches.external.items()},
    )
    refuse(library)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / EMITTED[emit].format(name), folder / f"{name}.h", folder / f"{name}.weights"]
    if emit not in LINKED:
        paths.append(folder / f"{name}.c")
    with aside(*paths) as names:
        written = Artifact(*names)
        written.header.write_text(header_text(library), encoding="utf-8")
        layout.weights.write(written.weights)
        code.write(emit, library, written)
    return Artifact(*paths)


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
            ("the result", [number for _, number in method.numbers]),
            ("the size", [method.arena, *(size for array in method.parameters for size in array.shape)]),
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


# --- what a call has to satisfy ------------------------------------------------------------------------------


ANY = (None, None)
"""The range of a number of which nobody said one: C may pass any."""


def requirements_of(function: FuncOp, inputs: Sequence[InputSpec], plan: Plan) -> list[Requirement]:
    """What has to hold of the symbols of a method, in the words of `guards` and of the program's assertions."""
    guards = Guards.of(function)
    said = {symbol: place_text(inputs[at.argument].target, at.dim) for symbol, at in plan.symbols.items()}
    found: list[Requirement] = []
    for symbol, at in plan.symbols.items():
        value = Expr.symbol(symbol)
        for relation, bound in guards.bounds(symbol):
            text = range_text(said[symbol], at.size, PLACEHOLDER, symbol, PLACEHOLDER, relation, bound)
            condition = apply({">=": "ge", "<=": "le"}[relation], value, bound)
            found.append(Requirement(condition, "SIZE", text, (value,) if at.is_symbol else (at.size, value)))
    ranges: dict[str, tuple[int | None, int | None]] = {
        symbol: guards.ranges[symbol] if guards.bounds(symbol) else ANY for symbol in plan.symbols
    }
    for place, size in sizes_by_place(function, inputs, plan):
        condition = apply("ge", size, 0)
        if not provably(condition, ranges) and condition not in [one.condition for one in found]:
            found.append(Requirement(condition, "SIZE", f"{place}: {PLACEHOLDER} is negative", (size,)))
            ranges |= {str(size): (0, None)} if is_symbol(size) else {}
    placeholders = dict.fromkeys(plan.symbols, PLACEHOLDER)
    for condition in guards.conditions:
        if isinstance(condition, Expr) and condition.free_symbols() <= plan.symbols.keys():
            values = tuple(map(Expr.symbol, sorted(condition.free_symbols())))
            found.append(Requirement(condition, "SIZE", guard_text(condition, said, placeholders), values))
    return found + [Requirement(condition, "ASSERTION", text) for condition, text in plan.checks]


def sizes_by_place(function: FuncOp, inputs: Sequence[InputSpec], plan: Plan) -> Iterator[tuple[str, Dim]]:
    """All that a negative number among the symbols could make negative, and what it is."""
    for arg, spec in zip(function.args, inputs, strict=True):
        for dim, size in enumerate(meta_of(arg).shape if is_tensor_type(arg.type) else ()):
            yield place_text(spec.target, dim), size
    for index, value in enumerate(plan.outputs):
        for dim, size in enumerate(value.shape):
            yield f"result {index}, dimension {dim}", size
    for nbytes in plan_memory.symbolic_bytes(plan.driver):
        yield "bytes of an intermediate result", nbytes


ASSERTIONS: dict[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "aten._assert_async.msg": ("!=", lambda arguments: arguments["assert_msg"]),
    "aten._linalg_check_errors": ("==", lambda arguments: failure_text(arguments["api_name"])),
}
"""Checks of what a tensor holds, by operator: how its elements have to be to 0, and the text where one is not."""


def obstacle(check: OperatorOp) -> Unsupported | None:
    """Why a check of what a tensor holds has no form in C; None where it has one."""
    if check.SPEC.qualified_name not in ASSERTIONS:
        reason = "a check of what a tensor holds"
    elif (dtype := meta_of(check.operands[0]).dtype) in UNREADABLE:
        reason = f"a check of what a tensor of {dtype.torch_name} holds"
    else:
        return None
    return Unsupported(check.name, f"{reason}, in C", location_text(check))


UNREADABLE = frozenset(dt.DTYPES) - C_TYPES.keys() | {dt.Half, dt.BFloat16}
"""Dtypes whose elements C does not compare."""


# --- where everything is -------------------------------------------------------------------------------------


class Memory:
    """Places of a program's arrays: with the caller, in the weights file, in the instance's memory, which outlives calls, or in
    the arena, which methods share."""

    def __init__(self, program: Program):
        self.program = program
        self.weights = Weights()
        self.state: dict[str, Place] = {}
        """Buffers that calls change, by name."""
        self.initial: list[tuple[Place, Place]] = []
        """Places of the state and of its initial values."""
        self.memory = 0
        """Bytes of the state."""

    def constant(self, array: Array, value: Value) -> Place:
        """A constant in the weights file."""
        return Place("instance.weights", self.weights.add(array), value.shape, value.dtype)

    def state_place(self, target: str, value: Value) -> Place:
        """A buffer that calls change. Raises `ExirError` where the program has no data for it."""
        if target not in self.state:
            if target not in self.program.state:
                raise ExirError(f"the program has no data for '{target}'")
            place = Place("instance.memory", self.memory, static(value.shape), value.dtype)
            self.memory += aligned(*static([place.nbytes]))
            self.state[target] = place
            self.initial.append((place, self.constant(self.program.state[target].numpy(), value)))
        return self.state[target]


class MethodMemory:
    """Places of a method's arrays, and its interface."""

    def __init__(self, owner: Memory, function: FuncOp, plan: Plan, passed: list[int]):
        self.owner = owner
        self.function = function
        self.plan = plan
        self.passed = passed
        self.inputs = signature(
            function.arg_attrs, INPUT, InputSpec(InputKind.USER_INPUT), len(function.args)
        )
        self.parameters: dict[str, Parameter] = {}
        self.taken = set[str]()
        """Their names, in capitals."""
        self.targets: dict[str, Place] = {}
        """Places of user inputs, by name."""
        self.arena = plan_memory.aligned(plan.arena_bytes)
        """Bytes taken so far of the arena, which begins with the driver's."""

    def method(self, called: str, checks: Sequence[OperatorOp], driver: str) -> CMethod:
        """The interface of the method, `called` so in C, whose code is `driver`. Raises `ExirError` for what C has no type or name for, `UnsupportedError` for what it has no form of."""
        name, plan = self.function.sym_name.data, self.plan
        self.refuse(name, checks)
        count = len(plan.outputs) + len(plan.numbers) + len(plan.updates) - len(checks)
        results = signature(self.function.res_attrs, OUTPUT, OutputSpec(OutputKind.USER_OUTPUT), count)
        given = self.given(
            {spec.target for spec in results if MUTATIONS.get(spec.kind) is InputKind.USER_INPUT}
        )
        made: list[Place] = []
        numbers: list[tuple[str, Dim]] = []
        writes: list[tuple[Place, Place]] = []
        outputs, places = iter(plan.outputs), (f"out{index}" for index in itertools.count())
        for position, spec in enumerate(results):
            kind, comment = MUTATIONS.get(spec.kind), spec.kind.value.replace("_", " ")
            if position in plan.numbers:
                type = self.function.function_type.outputs.data[position]
                size = plan.numbers[position]
                numbers.append((self.number(next(places), type, f"{comment}, {size}"), size))
                continue
            if position in plan.updates:
                continue  # the driver writes to the input
            value = next(outputs)
            if kind is None:
                made.append(self.parameter(next(places), value, True, comment))
                continue
            # The driver may read the old value to its end: the new one goes elsewhere.
            made.append(self.scratch(value))
            target = self.targets.get(spec.target) if kind is InputKind.USER_INPUT else None
            writes.append((target or self.owner.state_place(spec.target, value), made[-1]))
        assertions: list[Assertion] = []
        for check, value in zip(checks, outputs, strict=True):
            relation, text = ASSERTIONS[check.SPEC.qualified_name]
            made.append(self.scratch(value))
            assertions.append(Assertion(made[-1], relation, text(check.arguments())))
        copies = [(made[index], self.source(index, source, given, made)) for index, source in plan.copies]
        constants = [self.owner.constant(array, value) for value, array in plan.constants]
        arena = Place("instance.arena", 0, (max_(plan.arena_bytes, 1),), dt.Char)
        return CMethod(
            called,
            name,
            driver,
            self.symbols(),
            requirements_of(self.function, self.inputs, plan),
            list(self.parameters.values()),
            [*given, *constants, *made, arena],
            copies,
            assertions,
            numbers,
            writes,
            self.arena,
        )

    def refuse(self, name: str, checks: Sequence[OperatorOp]) -> None:
        """Raises `UnsupportedError` for what has no form in C, whatever its sizes."""
        found = [reason for check in checks if (reason := obstacle(check)) is not None]
        found += [
            Unsupported(name, f"{name_of(spec.target)} is a number of type {arg.type}")
            for arg, spec in zip(self.function.args, self.inputs, strict=True)
            if not is_tensor_type(arg.type) and not isinstance(arg.type, SymIntType)
        ]
        results = self.function.function_type.outputs.data
        found += [
            Unsupported(name, f"the result {type}") for type in results if isinstance(type, SymFloatType)
        ]
        if found:
            raise UnsupportedError(found)

    def symbols(self) -> list[Symbol]:
        """What the caller passes for the symbols."""
        return [
            Symbol(
                symbol,
                symbol if re.fullmatch(r"s\d+", symbol) else f"size_{symbol}",
                place_text(self.inputs[place.argument].target, place.dim)
                + ("" if place.is_symbol else f" is {place.size}"),
            )
            for symbol, place in self.plan.symbols.items()
        ]

    def given(self, written: set[str]) -> list[Place]:
        """Places of what the driver takes as inputs. `written` are names of user inputs that the program changes."""
        places: list[Place] = []
        for position, value in zip(self.passed, self.plan.inputs, strict=True):
            target = self.inputs[position].target
            if self.inputs[position].kind is not InputKind.USER_INPUT:
                places.append(self.owner.state_place(target, value))
                continue
            name, what = f"in_{target or position}", name_of(target or f"argument {position}")
            places.append(self.parameter(name, value, target in written, what))
            self.targets[target] = places[-1]
        return places

    def parameter(self, wanted: str, value: Value, written: bool, comment: str) -> Place:
        """An array of the caller's, under a name of its own."""
        name = self.declare(wanted, value.shape, value.dtype, written, comment)
        return Place(name, 0, value.shape, value.dtype)

    def number(self, wanted: str, type: Attribute, comment: str) -> str:
        """A number that the caller gets through a pointer: the name of the parameter."""
        dtype = dt.Bool if isinstance(type, SymBoolType) else dt.Long
        return self.declare(wanted, (), dtype, True, comment)

    def declare(self, wanted: str, shape: Sizes, dtype: DType, written: bool, comment: str) -> str:
        """The name of a new parameter of the C function."""
        if dtype not in C_TYPES:
            raise ExirError(f"{comment}: C has no type for {dtype.torch_name}")
        name = c_name(wanted, self.taken)
        self.parameters[name] = Parameter(name, shape, dtype, written, comment)
        return name

    def scratch(self, value: Value) -> Place:
        """Memory for what lives during the call alone."""
        place = Place("instance.arena", self.arena, value.shape, value.dtype)
        self.arena = self.arena + plan_memory.aligned(place.nbytes)
        return place

    def source(self, index: int, source: Array | int, given: list[Place], made: list[Place]) -> Place:
        """What an output that no dispatch makes is copied from, as in `Plan.copies`."""
        if not isinstance(source, int):
            return self.owner.constant(source, self.plan.outputs[index])
        return given[source] if source >= 0 else made[-1 - source]


def signature(attrs: Any, name: str, default: Any, count: int) -> list[Any]:
    """The signature's entry for each argument or result; `default` where there is none."""
    found = [item.data.get(name) for item in attrs or ()] or [None] * count
    return [attr.data if isinstance(attr, InputAttr | OutputAttr) else default for attr in found]
