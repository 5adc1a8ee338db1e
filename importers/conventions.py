"""How a program and its modules are called, by the signatures of the exported graph; `exporters.graph` writes them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from xdsl_exir.dialects.ancestry import Place, input_place
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange import pytree
from xdsl_exir.importers.effects import unwrapped
from xdsl_exir.importers.nodes import all_nodes
from xdsl_exir.program import CallingConvention, Slot


def convention_of(program: g.ExportedGraph) -> CallingConvention:
    """The calling convention of an exported program, those of its modules included. Raises `LoadError` for treespecs
    that cannot be read."""
    inputs = tuple(
        Slot(spec.value, spec.kind == "constant_input", spec.name)
        for spec in program.inputs
        if spec.kind in ("user_input", "constant_input")
    )
    outputs = tuple(
        Slot() if isinstance(spec.value, g.Ref) else Slot(spec.value, True)
        for spec in program.outputs
        if spec.kind in ("user_output", "loss_output")
    )
    places = dict(_places(program))
    frames = (frame for node in all_nodes(program.graph) for frame in node.modules)
    calls = {
        call.fqn: None if call.signature is None else _convention(program, call.signature, places)
        for call in program.module_calls
        if call.fqn
    }
    modules = {frame.path: frame.type_name for frame in frames}
    own = _convention(program, program.signature, places)
    return replace(own, inputs=inputs, outputs=outputs, modules=modules, calls=calls)


def _convention(
    program: g.ExportedGraph, signature: g.ModuleCallSignature, places: Mapping[str, Place]
) -> CallingConvention:
    """The convention that a signature says."""
    return CallingConvention(
        pytree.loads(signature.in_spec, program.namedtuple_fields),
        pytree.loads(signature.out_spec, program.namedtuple_fields),
        tuple(_slot(value, places) for value in signature.inputs),
        tuple(_slot(value, places) for value in signature.outputs),
        signature.forward_arg_names,
    )


def _places(program: g.ExportedGraph) -> Iterator[tuple[str, Place]]:
    """The values of a program by name."""
    for spec in program.inputs:
        yield spec.name, input_place(spec.kind, spec.target or spec.name)
    for node in map(unwrapped, program.graph.nodes):
        results = [result if isinstance(result, tuple) else (result,) for result in node.outputs]
        for index, ref in enumerate(chain.from_iterable(results)):
            if ref is not None:
                yield ref.name, (node.name, index)


def _slot(value: g.Value, places: Mapping[str, Place]) -> Slot:
    if not isinstance(value, g.Ref):
        return Slot(value, True)
    # A value that is none of the graph's, as PyTorch may leave one, stays without anything that stands for it.
    name, index = places.get(value.name, (value.name, 0))
    return Slot(name=name, index=index)
