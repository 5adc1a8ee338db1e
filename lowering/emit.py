"""LLVM IR to object files: LLVM's optimiser and code generator, through llvmlite.

    python -IS emit.py < request > objects      # also a program: several of them compile at once

llvmlite lets one thread at a time into LLVM, so that what is to be compiled in parallel takes processes. This file is all that they need:
it imports nothing of the package, and llvmlite from where the asking process would, whatever the environment says. A request is JSON,
`{"path": [folder, ...], "cpu": ..., "features": ..., "modules": [text, ...]}`; the answer is a digest of the rest, and the objects in
order, each behind its length as 8 bytes, lowest first.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from typing import Any


def target_machine(llvm: Any, cpu: str, features: str) -> Any:
    """Code for a processor of this kind, position independent, at O3. `llvm` is llvmlite's binding, set up."""
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
    )


def parsed(llvm: Any, llvm_ir: str, machine: Any) -> Any:
    """A module for a machine, verified. Raises `RuntimeError` where LLVM refuses it."""
    module = llvm.parse_assembly(llvm_ir)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    return module


def emit(llvm: Any, llvm_ir: str, machine: Any) -> bytes:
    """The object file of LLVM IR, optimised. Raises `RuntimeError` where LLVM refuses it."""
    module = parsed(llvm, llvm_ir, machine)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    # Schedules are written out as far as they should be: unrolled further, register tiles spill (half the speed).
    options.loop_unrolling = False
    options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def request(modules: Sequence[str], cpu: str, features: str) -> bytes:
    """What to ask this program for."""
    return json.dumps({"path": sys.path, "cpu": cpu, "features": features, "modules": modules}).encode()


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
    machine = target_machine(llvm, asked["cpu"], asked["features"])
    try:
        sys.stdout.buffer.write(answer([emit(llvm, text, machine) for text in asked["modules"]]))
    except RuntimeError as error:
        sys.exit(f"LLVM refused the code: {error}")


if __name__ == "__main__":
    main()
