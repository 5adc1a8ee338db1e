"""Delegates of ExecuTorch's edge programs: modules that it lowered, each with the program that it was, in edge operators, and the bytes that a
backend made of it.

They become calls as our exporters write them, whose operands are all that a delegate needs: inputs, what it owns, the bytes. Data that a backend
keeps beside its bytes (`NamedDataStore`) is not read: who runs them elsewhere needs ExecuTorch's own file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from xdsl_exir.exchange.graph import Graph, Ref, TensorMeta
from xdsl_exir.importers.exported_pytree import import_untyped

CALL_DELEGATE = "higher_order.executorch_call_delegate"


@dataclass(frozen=True)
class Owned:
    """A tensor that a delegate owns, under the name that it has in the program."""

    name: str
    tensor: Any


@dataclass(frozen=True)
class Lowered:
    """What is said of a lowered module."""

    backend: str
    said: str
    """JSON, as `transforms.call_delegates` reads it."""
    owned: list[Owned]
    """Its state, and last the bytes."""
    state: list[str]
    """What of its graph's inputs is that state, in the same order."""

    def ordered(self, graph: Graph, meta: Callable[[str, Any], TensorMeta]) -> Graph:
        """Its graph, which takes the inputs first, then what it owns."""
        given = tuple(one for one in graph.inputs if not isinstance(one, Ref) or one.name not in self.state)
        made = self.owned[-1]
        values = {**graph.values, made.name: meta(made.name, made.tensor)}
        inputs = (*given, *map(Ref, self.state), Ref(made.name))
        return replace(graph, inputs=inputs, values=values)


def is_lowered(attribute: Any) -> bool:
    """Whether an attribute of a graph is a module that ExecuTorch lowered. (Of ExecuTorch nothing is imported.)"""
    return all(hasattr(attribute, name) for name in ("backend_id", "processed_bytes", "original_module"))


def lowered_parts(module: Any, name: str) -> Lowered:
    """What is said of a lowered module, and what it owns, named after it."""
    torch = import_untyped("torch")
    program, specs = module.original_module, module.compile_specs
    kinds = import_untyped("torch.export.graph_signature").InputKind
    owned, state = list[Owned](), list[str]()
    for spec in program.graph_signature.input_specs:
        if spec.kind is not kinds.USER_INPUT:
            held = program.state_dict.get(spec.target, program.constants.get(spec.target))
            owned.append(Owned(f"{name}_{spec.arg.name}", held))
            state.append(spec.arg.name)
    said = {
        "specs": {spec.key: bytes(spec.value).decode("latin-1") for spec in specs},
        "owned": len(owned),
        "processed": True,
    }
    data = torch.frombuffer(bytearray(module.processed_bytes), dtype=torch.uint8)
    return Lowered(module.backend_id, json.dumps(said), [*owned, Owned(f"{name}_bytes", data)], state)
