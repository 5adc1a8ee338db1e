"""LLVM IR to object files: LLVM's optimiser and code generator, through llvmlite.

    python -P emit.py < request > objects      # also a program: several of them compile at once

llvmlite lets one thread at a time into LLVM, so that what is to be compiled in parallel takes processes. This file is all that they need:
it imports nothing of the package. A request is JSON, `{"cpu": ..., "features": ..., "modules": [text, ...]}`; the answer is the objects
in order, each behind its length as 8 bytes, lowest first.
"""

from __future__ import annotations

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
    return json.dumps({"cpu": cpu, "features": features, "modules": modules}).encode()


def answered(answer: bytes) -> list[bytes]:
    """The objects that it gave. Raises `ValueError` for anything else."""
    objects: list[bytes] = []
    while answer:
        size = int.from_bytes(answer[:8], "little")
        if len(answer) < 8 + size:
            raise ValueError("the answer is cut off")
        objects.append(answer[8 : 8 + size])
        answer = answer[8 + size :]
    return objects


def main() -> None:
    """Compiles what standard input asks for."""
    import llvmlite.binding  # pyright: ignore[reportMissingTypeStubs]

    llvm: Any = llvmlite.binding
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    asked = json.load(sys.stdin.buffer)
    machine = target_machine(llvm, asked["cpu"], asked["features"])
    try:
        for text in asked["modules"]:
            data = emit(llvm, text, machine)
            sys.stdout.buffer.write(len(data).to_bytes(8, "little") + data)
    except RuntimeError as error:
        sys.exit(f"LLVM refused the code: {error}")


if __name__ == "__main__":
    main()
