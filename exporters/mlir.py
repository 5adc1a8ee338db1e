"""Writes programs as MLIR text, with the weights beside it: the mirror of `importers.mlir`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from xdsl.dialects.builtin import StringAttr

from xdsl_exir.exporters.safetensors import write_safetensors
from xdsl_exir.importers import pytree
from xdsl_exir.importers.mlir import CONVENTION, WEIGHTS_SUFFIX
from xdsl_exir.program import CallingConvention, Program, Slot


def write_mlir(path: Path, program: Program) -> None:
    """Writes the module, with source locations, and its weights in a file of the same stem."""
    module = program.module.clone()
    annotated = replace(program, module=module)
    for name, convention in program.conventions.items():
        if name in annotated.methods:
            annotated.methods[name].attributes[CONVENTION] = _convention(convention)
    path.write_text(annotated.text(locations=True) + "\n")
    write_safetensors(path.with_suffix(WEIGHTS_SUFFIX), program.state)


def _convention(convention: CallingConvention) -> StringAttr:
    held = {
        "in_spec": pytree.dumps(convention.in_spec),
        "out_spec": pytree.dumps(convention.out_spec),
        "inputs": [_slot(slot) for slot in convention.inputs],
        "outputs": [_slot(slot) for slot in convention.outputs],
        "arg_names": convention.arg_names,
        "modules": convention.modules,
        "namedtuples": {
            **pytree.namedtuple_fields(convention.in_spec),
            **pytree.namedtuple_fields(convention.out_spec),
        },
    }
    return StringAttr(json.dumps(held))


def _slot(slot: Slot) -> dict[str, object]:
    return {"name": slot.name, **({"constant": slot.constant} if slot.is_constant else {})}
