"""Effect tokens of a program, removed: `with_effects(token, op, ...)` is the operator itself.

PyTorch's functional graphs order operators with side effects (prints, checks of factorizations) by a token that each takes
and gives. In the IR operations stand in a block, one after the other, and an operation with a side effect is neither moved
nor removed, so their order is kept without tokens. Tokens are no arguments or results of functions either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from xdsl_exir.dialects import spec
from xdsl_exir.exchange import graph as g

T = TypeVar("T")

WITH_EFFECTS = "higher_order.with_effects"


def without_tokens(program: g.ExportedGraph) -> g.ExportedGraph:
    """The program without effect tokens. A wrapped higher-order operator, which gets tokens itself, stays as it is."""
    graph = program.graph
    tokens = [item.kind == "token" for item in program.inputs]
    results = [item.kind == "token" for item in program.outputs]
    if not any(tokens):
        return program
    return replace(
        program,
        graph=replace(
            graph,
            inputs=_others(graph.inputs, tokens),
            nodes=tuple(unwrapped(node) for node in graph.nodes),
            outputs=_others(graph.outputs, results),
        ),
        inputs=_others(program.inputs, tokens),
        outputs=_others(program.outputs, results),
    )


def unwrapped(node: g.Node) -> g.Node:
    """The call of the operator that `with_effects` wraps; every other node as it is."""
    if node.target != WITH_EFFECTS:
        return node
    operator = node.inputs[1].value
    if not isinstance(operator, g.OperatorRef) or operator.name.startswith("higher_order."):
        return node
    known = spec.specs().get(operator.name)
    names = [argument.name for argument in known.schema.arguments] if known is not None else []
    positional = [item for item in node.inputs[2:] if not item.keyword]
    inputs = [replace(item, name=name) for name, item in zip(names, positional, strict=False)]
    results = tuple(result for result in node.outputs[1:] if result is not None)
    keywords = tuple(item for item in node.inputs if item.keyword)
    return replace(node, target=operator.name, inputs=(*inputs, *keywords), outputs=results)


def _others(items: tuple[T, ...], tokens: list[bool]) -> tuple[T, ...]:
    return tuple(item for item, is_token in zip(items, tokens, strict=True) if not is_token)
