"""LLVM IR to object files: LLVM's optimiser and code generator, through llvmlite.

    python -IS emit.py < request > objects      # also a program: several of them compile at once

llvmlite lets one thread at a time into LLVM, so that what is to be compiled in parallel takes processes. This file is all that they need:
it imports nothing of the package, and llvmlite from where the asking process would, whatever the environment says. A request is JSON,
`{"path": [folder, ...], "machine": [cpu, features, triple, abi], "modules": [text, ...]}`; the answer is a digest of the rest, and the objects in
order, each behind its length as 8 bytes, lowest first.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, str] = MappingProxyType({})


def target_machine(llvm: Any, cpu: str, features: str, triple: str = "", abi: str = "") -> Any:
    """Code for a processor of this kind, of this process's architecture and system or another one, position independent, at
    O3. `llvm` is llvmlite's binding, set up."""
    if triple:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple or llvm.get_process_triple())
    return target.create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small", abiname=abi
    )


def parsed(llvm: Any, llvm_ir: str, machine: Any) -> Any:
    """A module for a machine, verified. Raises `RuntimeError` where LLVM refuses it."""
    module = llvm.parse_assembly(llvm_ir)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    return module


def types_in(module: Any) -> set[str]:
    """The names of the types that a module computes with, those of elements among them."""
    instructions = [
        op for function in module.functions for block in function.blocks for op in block.instructions
    ]
    types = {str(value.type) for op in instructions for value in (op, *op.operands)}
    return {name for type in types for name in type.translate(BRACKETS).split()}


BRACKETS = str.maketrans("<>[]{}(),*", " " * 10)
"""What is around names in types."""


def emit(llvm: Any, llvm_ir: str, machine: Any) -> bytes:
    """The object file of LLVM IR, optimised. Raises `RuntimeError` where LLVM refuses it."""
    return machine.emit_object(optimised(llvm, llvm_ir, machine))


def optimised(llvm: Any, llvm_ir: str, machine: Any, renamed: Mapping[str, str] = NOTHING) -> Any:
    """A module for a machine, optimised, which calls some functions by other names, unless it is where those are. Raises `RuntimeError`
    where LLVM refuses it."""
    module = parsed(llvm, llvm_ir, machine)
    functions = {function.name: function for function in module.functions}
    for name, other in renamed.items():
        if name in functions and other not in functions:
            functions[name].name = other
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    # Schedules are written out as far as they should be: unrolled further, register tiles spill (half the speed).
    options.loop_unrolling = False
    options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = True
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


def request(modules: Sequence[str], *machine: str, together: Sequence[Any] = ()) -> bytes:
    """What to ask this program for, of what `target_machine` takes; `together` is what `one_module` takes besides."""
    asked = {"path": sys.path, "machine": machine, "modules": modules, "together": together}
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
    import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

    llvm: Any = llvmlite.binding
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = target_machine(llvm, *asked["machine"])
    try:
        if asked["together"]:
            made = one_module(llvm, asked["modules"], machine, *asked["together"])
        else:
            made = [emit(llvm, text, machine) for text in asked["modules"]]
        sys.stdout.buffer.write(answer(made))
    except RuntimeError as error:
        sys.exit(f"LLVM refused the code: {error}")


if __name__ == "__main__":
    main()
