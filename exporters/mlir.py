"""Writes programs as MLIR text, with the weights beside it: the mirror of `importers.mlir`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from xdsl_exir.errors import ExirError, LoadError
from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.safetensors import digest_of
from xdsl_exir.exporters.safetensors import write_safetensors
from xdsl_exir.files import locked, put, real, scratch, settle
from xdsl_exir.importers.mlir import CONVENTION, WEIGHTS, waiting, weights_of
from xdsl_exir.program import CallingConvention, Program, Slot
from xdsl_exir.transforms.stages import stage_of


def write_mlir(path: Path, program: Program) -> None:
    """Writes the module, with source locations, and its weights in a file of the same stem, in one step: until the text is in
    its place, the old text and the old weights are what they were. The new weights wait for it under a name where
    `read_mlir` finds them, and then take the old ones' place.

    Raises `ExirError` where the file for the weights is there, and no program was ever saved with it.
    """
    text, weights = real(path), weights_of(path)
    if weights.exists() and not _is_ours(weights):
        raise ExirError(
            f"{weights} is not of a program that was saved as {path.name}, and its weights would take its place; "
            "move it away, or save under another name"
        )
    with scratch(text.parent) as folder, scratch(weights.parent) as weights_folder:
        new_text, new_weights = folder / text.name, weights_folder / weights.name
        digest = write_safetensors(new_weights, program.state)
        new_text.write_text(text_of(program, digest), encoding="utf-8")
        settle(new_text, text)
        settle(new_weights, weights)
        with locked(text.parent, weights.parent):
            there = waiting(weights, digest)
            put(new_weights, there)
            put(new_text, text)
            put(there, weights)
            # Those of a process that was killed in between: nothing names them any more.
            for left in weights.parent.glob(f"{waiting(weights, '').name}*"):
                left.unlink()


def text_of(program: Program, digest: str | None = None, generic: bool = False) -> str:
    """All of a program but its arrays, whose file may have a digest; `generic` whatever its stage, as that of methods without bodies has
    to be for their arguments' attributes to be there."""
    module = program.module.clone()
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    for name, convention in program.conventions.items():
        if name in functions:
            functions[name].attributes[CONVENTION] = StringAttr(json.dumps(_convention(convention)))
    if digest is not None:
        module.attributes[WEIGHTS] = StringAttr(digest)
    # xDSL does not read all that it prints of upstream dialects, locations among it: the generic form it does.
    generic = generic or stage_of(module) not in ("aten", "edge", "backend")
    return replace(program, module=module).text(generic, locations=True) + "\n"


def _is_ours(weights: Path) -> bool:
    try:
        return digest_of(weights) is not None
    except LoadError:
        return False


def _convention(convention: CallingConvention) -> dict[str, object]:
    calls = {path: call and _convention(call) for path, call in convention.calls.items()}
    return {
        "in_spec": pytree.dumps(convention.in_spec),
        "out_spec": pytree.dumps(convention.out_spec),
        "inputs": [_slot(slot) for slot in convention.inputs],
        "outputs": [_slot(slot) for slot in convention.outputs],
        "arg_names": convention.arg_names,
        "modules": dict(convention.modules),
        "calls": calls,
        "namedtuples": {
            **pytree.namedtuple_fields(convention.in_spec),
            **pytree.namedtuple_fields(convention.out_spec),
        },
    }


def _slot(slot: Slot) -> dict[str, object]:
    held: dict[str, object] = {"name": slot.name}
    if slot.is_constant:
        held["constant"] = slot.constant
    if slot.index:
        held["index"] = slot.index
    return held
