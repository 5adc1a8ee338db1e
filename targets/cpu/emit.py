"""LLVM IR to object files: LLVM's optimiser and code generator, through llvmlite.

    python -IS emit.py < request > objects      # also a program: several of them compile at once

llvmlite lets one thread at a time into LLVM, so that what is to be compiled in parallel takes processes. This file is all that they need:
it imports nothing of the package, and llvmlite from where the asking process would, whatever the environment says. A request is JSON,
`{"path": [folder, ...], "library": name, "machine": [cpu, features, triple, abi], "modules": [[text, passes], ...]}`; the answer is a digest of the rest, and
the objects in order, each behind its length as 8 bytes, lowest first.

Modules by themselves are compiled by the LLVM that MLIR's tools are linked with, through its C interface, where there is one: llvmlite's is built
with assertions and takes about twice as long.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, str] = MappingProxyType({})


SPEED = 3
"""The level that LLVM optimises at."""
TUNING = {"loop_vectorization": 1, "loop_interleaving": 1, "slp_vectorization": 1, "loop_unrolling": 0}
"""Schedules are written out as far as they should be: unrolled further, register tiles spill (half the speed)."""


LOOPS = f"default<O{SPEED}>"
"""LLVM's passes for code that has loops over numbers, which they make vectors of."""
VECTORS = (
    "inferattrs,function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),gvn,dse,"
    "loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm))"
)
"""Those for code that is vectors already, its loops unrolled as they should be: the others look in vain, for half of the time, for what could
be better. llvmlite, which cannot be told of most of these, runs the others."""


def level_of(llvm_ir: str) -> int:
    """The level that code is generated at. A function that is not optimised is long: allocating registers for it well, too, takes time that grows
    with the square of its length."""
    return 0 if " optnone" in llvm_ir else SPEED


def target_machine(
    llvm: Any, cpu: str, features: str, triple: str = "", abi: str = "", level: int = SPEED
) -> Any:
    """Code for a processor of this kind, of this process's architecture and system or another one, position independent. `llvm` is
    llvmlite's binding, set up."""
    if triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple or llvm.get_process_triple())
    return target.create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small", abiname=abi
    )


def parsed(llvm: Any, llvm_ir: str, machine: Any) -> Any:
    """A module for a machine, verified. Raises `RuntimeError` where LLVM refuses it."""
    module = llvm.parse_assembly(llvm_ir)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    return module


STEPS = ("TargetInfo", "Target", "TargetMC", "AsmPrinter")
TARGETS = ("X86", "AArch64", "ARM", "RISCV", "WebAssembly", "PowerPC", "SystemZ", "LoongArch")
"""LLVM's names for architectures, of those that a library may have; and what is set up of each."""
PIC, SMALL, OBJECT_FILE, RETURN_STATUS = 2, 3, 1, 2
"""Of the C interface's enumerations: LLVMRelocPIC, LLVMCodeModelSmall, LLVMObjectFile, LLVMReturnStatusAction."""


OPTIONS = (b"-hoist-runtime-checks=false",)
"""Of LLVM as a whole: it takes checks that memory lies apart out of two loops where it can, and of an outer loop that runs backwards makes
none then, nor vectors (rows in reverse order, four times slower)."""


class Library:
    """LLVM as a shared library with its C interface. Raises `OSError` where there is none of this name."""

    def __init__(self, name: str):
        self.functions = ctypes.CDLL(name)
        given = (ctypes.c_char_p * (1 + len(OPTIONS)))(b"", *OPTIONS)
        self.functions.LLVMParseCommandLineOptions(len(given), given, None)
        for target in TARGETS:
            for step in STEPS:
                if hasattr(self.functions, f"LLVMInitialize{target}{step}"):
                    getattr(self.functions, f"LLVMInitialize{target}{step}")()

    def call(self, name: str, *arguments: Any) -> Any:
        """A call of a function that gives a pointer, or nothing."""
        function = getattr(self.functions, f"LLVM{name}")
        function.restype = ctypes.c_void_p
        return function(*arguments)

    def check(self, name: str, *arguments: Any, then: Sequence[Any] = ()) -> None:
        """A call of a function that gives whether it failed, and by an argument after these why. Raises `RuntimeError`."""
        said = ctypes.c_void_p()
        function = getattr(self.functions, f"LLVM{name}")
        function.restype = ctypes.c_int
        failed = function(*arguments, ctypes.byref(said), *then)
        message = ctypes.string_at(said).decode(errors="backslashreplace") if said else ""
        if said:
            self.call("DisposeMessage", said)
        if failed:
            raise RuntimeError(message.strip())

    def triple(self) -> bytes:
        """Of this process, as a target has it."""
        said = ctypes.c_void_p(self.call("GetDefaultTargetTriple"))
        triple = ctypes.string_at(said)
        self.call("DisposeMessage", said)
        return triple

    def version(self) -> str:
        parts = [ctypes.c_uint() for _ in range(3)]
        self.call("GetVersion", *map(ctypes.byref, parts))
        return ".".join(str(part.value) for part in parts)


class Machine:
    """What `target_machine` makes, by a shared library."""

    def __init__(
        self, library: Library, cpu: str, features: str, triple: str = "", abi: str = "", level: int = SPEED
    ):
        self.library, self.triple = library, triple.encode() or library.triple()
        target, call = ctypes.c_void_p(), library.call
        library.check("GetTargetFromTriple", self.triple, ctypes.byref(target))
        options = ctypes.c_void_p(call("CreateTargetMachineOptions"))
        for name, value in (("CPU", cpu), ("Features", features), ("ABI", abi)):
            call(f"TargetMachineOptionsSet{name}", options, value.encode())
        for name, value in (("CodeGenOptLevel", level), ("RelocMode", PIC), ("CodeModel", SMALL)):
            call(f"TargetMachineOptionsSet{name}", options, value)
        made = call("CreateTargetMachineWithOptions", target, self.triple, options)
        call("DisposeTargetMachineOptions", options)
        self.pointer = ctypes.c_void_p(made)
        self.layout = ctypes.c_void_p(call("CreateTargetDataLayout", self.pointer))

    def emit(self, llvm_ir: str, passes: str) -> bytes:
        """The object file of LLVM IR, optimised by LLVM's passes. Raises `RuntimeError` where LLVM refuses it."""
        call = self.library.call
        context = ctypes.c_void_p(call("ContextCreate"))
        try:
            return self._emit(context, llvm_ir.encode(), passes.encode())
        finally:
            call("ContextDispose", context)  # and all that is in it

    def _emit(self, context: ctypes.c_void_p, text: bytes, passes: bytes) -> bytes:
        call, check, module, made = (
            self.library.call,
            self.library.check,
            ctypes.c_void_p(),
            ctypes.c_void_p(),
        )
        given = ctypes.c_void_p(
            call("CreateMemoryBufferWithMemoryRangeCopy", text, ctypes.c_size_t(len(text)), b"")
        )
        check("ParseIRInContext", context, given, ctypes.byref(module))
        call("SetTarget", module, self.triple)
        call("SetModuleDataLayout", module, self.layout)
        check("VerifyModule", module, RETURN_STATUS)
        options = ctypes.c_void_p(call("CreatePassBuilderOptions"))
        for name, value in TUNING.items():
            spelled = name.title().replace("_", "").replace("Slp", "SLP")
            call(f"PassBuilderOptionsSet{spelled}", options, value)
        error = call("RunPasses", module, passes, self.pointer, options)
        call("DisposePassBuilderOptions", options)
        assert error is None, "these are passes of LLVM"
        check("TargetMachineEmitToMemoryBuffer", self.pointer, module, OBJECT_FILE, then=[ctypes.byref(made)])
        data = ctypes.string_at(call("GetBufferStart", made), call("GetBufferSize", made))
        call("DisposeMemoryBuffer", made)
        return data


def types_in(module: Any) -> set[str]:
    """The names of the types that a module computes with, those of elements among them."""
    instructions = [
        op for function in module.functions for block in function.blocks for op in block.instructions
    ]
    types = {str(value.type) for op in instructions for value in (op, *op.operands)}
    return {name for type in types for name in type.translate(BRACKETS).split()}


BRACKETS = str.maketrans("<>[]{}(),*", " " * 10)
"""What is around names in types."""


def emitter(llvm: Callable[[], Any], library: str, *machine: str) -> Callable[[str, str], bytes]:
    """What makes an object file of LLVM IR, optimised by passes, and raises `RuntimeError` where LLVM refuses it: by the shared library of this
    name, by what `llvm` gives, which always optimises as for `LOOPS`, if there is no name."""
    binding, shared = (None, Library(library)) if library else (llvm(), None)

    @functools.cache
    def at_level(level: int) -> Callable[[str, str], bytes]:
        if shared is not None:
            return Machine(shared, *machine, level=level).emit
        made = target_machine(binding, *machine, level=level)
        return lambda llvm_ir, passes: made.emit_object(optimised(binding, llvm_ir, made))

    return lambda llvm_ir, passes: at_level(level_of(llvm_ir))(llvm_ir, passes)


def optimised(llvm: Any, llvm_ir: str, machine: Any, renamed: Mapping[str, str] = NOTHING) -> Any:
    """A module for a machine, optimised, which calls some functions by other names, unless it is where those are. Raises `RuntimeError`
    where LLVM refuses it."""
    module = parsed(llvm, llvm_ir, machine)
    functions = {function.name: function for function in module.functions}
    for name, other in renamed.items():
        if name in functions and other not in functions:
            functions[name].name = other
    options = llvm.create_pipeline_tuning_options(speed_level=SPEED)
    for name, value in TUNING.items():
        setattr(options, name, bool(value))
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def one_module(
    llvm: Any,
    modules: Sequence[str],
    machine: Any,
    public: Mapping[str, str],
    support: str,
    names: Sequence[str],
    renamed: Mapping[str, str],
) -> list[bytes]:
    """Modules in LLVM IR as one, optimised, of which nobody else sees but the `public` functions, by other names: its object file, its
    assembly, its LLVM IR. `support` is linked with it where it calls functions of these names, and what is `renamed` is called so. Raises
    `RuntimeError`."""
    module, *others = [optimised(llvm, text, machine, renamed) for text in modules]
    for other in others:
        module.link_in(other)
    hide(module, public)
    data = machine.emit_object(module)
    if any(name.encode() in data for name in names):
        module.link_in(parsed(llvm, support, machine))
        hide(module, {name: name for name in public.values()})
    return [machine.emit_object(module), machine.emit_assembly(module).encode(), str(module).encode()]


def hide(module: Any, public: Mapping[str, str]) -> None:
    """Hides what a module defines, but for the public functions, which are called so."""
    for value in (*module.functions, *module.global_variables):
        if value.name in public:
            value.name = public[value.name]
        elif not value.is_declaration:
            value.linkage = "internal"


def request(
    modules: Sequence[str | tuple[str, str]], library: str, *machine: str, together: Sequence[Any] = ()
) -> bytes:
    """What to ask this program for: of modules with their passes what `emitter` takes, or of modules `together` what `one_module` takes besides."""
    asked = {
        "path": sys.path,
        "library": library,
        "machine": machine,
        "modules": modules,
        "together": together,
    }
    return json.dumps(asked).encode()


def answer(objects: Sequence[bytes]) -> bytes:
    """What this program says that was asked for these objects."""
    data = b"".join(len(one).to_bytes(8, "little") + one for one in objects)
    return hashlib.sha256(data).digest() + data


def answered(said: bytes) -> list[bytes]:
    """The objects of an answer. Raises `ValueError` for anything else."""
    size = hashlib.sha256().digest_size
    digest, data = said[:size], said[size:]
    if hashlib.sha256(data).digest() != digest:
        raise ValueError("the answer is not whole")
    objects: list[bytes] = []
    while data:
        end = 8 + int.from_bytes(data[:8], "little")
        objects.append(data[8:end])
        data = data[end:]
    return objects


def main() -> None:
    """Compiles what standard input asks for."""
    asked = json.load(sys.stdin.buffer)
    sys.path[:] = asked["path"]
    try:
        if asked["together"]:
            llvm = binding()
            machine = target_machine(llvm, *asked["machine"])
            made = one_module(llvm, asked["modules"], machine, *asked["together"])
        else:
            emit = emitter(binding, asked["library"], *asked["machine"])
            made = [emit(*module) for module in asked["modules"]]
        sys.stdout.buffer.write(answer(made))
    except RuntimeError as error:
        sys.exit(f"LLVM refused the code: {error}")


def binding() -> Any:
    """llvmlite's, set up."""
    import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

    llvm: Any = llvmlite.binding
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


if __name__ == "__main__":
    main()
