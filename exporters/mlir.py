"""Writes programs as MLIR text, with the weights beside it: the mirror of `importers.mlir`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from xdsl_exir.exchange import pytree
from xdsl_exir.exchange.files import aside
from xdsl_exir.exporters.safetensors import write_safetensors
from xdsl_exir.importers.mlir import CONVENTION, WEIGHTS, WEIGHTS_SUFFIX
from xdsl_exir.program import CallingConvention, Program, Slot


def write_mlir(path: Path, program: Program) -> None:
    """Writes the module, with source locations, and its weights in a file of the same stem: both or none, but for a moment
    in which one of them has no place in a program yet and `read_mlir` says so."""
    module = program.module.clone()
    annotated = replace(program, module=module)
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    for name, convention in program.conventions.items():
        if name in functions:
            functions[name].attributes[CONVENTION] = StringAttr(json.dumps(_convention(convention)))
    with aside(path.with_suffix(WEIGHTS_SUFFIX), path) as (weights, text):
        module.attributes[WEIGHTS] = StringAttr(write_safetensors(weights, program.state))
        text.write_text(annotated.text(locations=True) + "\n")


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
