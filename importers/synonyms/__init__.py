"""Operators that say what others say: a graph has those others before anything is built of it.

PyTorch has names of its own for many a call: `prims` below its decompositions, kernels behind composite operators, a generator that is an argument,
quantized operators that ExecuTorch fuses. A function for each (`calls`) says which calls it stands for. What they view and write to is so what
the operator does.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl_exir.errors import ExirError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.synonyms.aten import ATEN
from xdsl_exir.importers.synonyms.calls import Calls, Synonym
from xdsl_exir.importers.synonyms.foreach import FOREACH
from xdsl_exir.importers.synonyms.observed import OBSERVED
from xdsl_exir.importers.synonyms.packed import PACKED
from xdsl_exir.importers.synonyms.prims import PRIMS
from xdsl_exir.importers.synonyms.quantized import QUANTIZED
from xdsl_exir.importers.synonyms.torchao import TORCHAO
from xdsl_exir.importers.synonyms.torchvision import TORCHVISION
from xdsl_exir.narrowing import is_sequence

SYNONYMS: Mapping[str, Synonym] = {
    **ATEN,
    **FOREACH,
    **OBSERVED,
    **PACKED,
    **PRIMS,
    **QUANTIZED,
    **TORCHAO,
    **TORCHVISION,
}
"""What operators stand for, by target."""

_WITH_GENERATOR = re.compile(
    r"(aten\.(?:rand|randn|randint|randperm)(?:_like)?)\.(\w*?)_?generator(?:_(?=\w))?(\w*)"
)


def without_generator(target: str) -> str | None:
    """The overload without a generator of one that has it, whose generator is the program's; None of others."""
    found = _WITH_GENERATOR.fullmatch(target)
    return found and ".".join(filter(None, (found[1], "_".join(filter(None, (found[2], found[3]))))))


def is_synonym(target: str) -> bool:
    return target in SYNONYMS or without_generator(target) is not None


def in_aten(graph: g.Graph, source: str) -> g.Graph:
    """The graph, and those in it, without operators that stand for others."""
    from xdsl_exir.importers.nodes import all_nodes

    if not any(is_synonym(node.target) for node in all_nodes(graph)):
        return graph
    nodes = (made for node in graph.nodes for made in made_of(_inside(node, source), graph.values, source))
    return replace(graph, nodes=tuple(nodes))


def _inside(node: g.Node, source: str) -> g.Node:
    """A node whose sub-graphs are so, too."""
    inputs = (
        replace(item, value=replace(item.value, graph=in_aten(item.value.graph, source)))
        if isinstance(item.value, g.Subgraph)
        else item
        for item in node.inputs
    )
    return replace(node, inputs=tuple(inputs))


def made_of(node: g.Node, values: Mapping[str, g.ValueMeta], source: str) -> list[g.Node]:
    """The nodes that one stands for, itself if it is one of those."""
    node = replace(node, target=without_generator(node.target) or node.target)
    function = SYNONYMS.get(node.target)
    if function is None:
        return [node]
    calls = Calls(node, values)
    results = called(function, calls, ((item.name, item.value) for item in node.inputs), source)
    return under_names(calls, results if is_sequence(results) else [results])


def called(
    function: Callable[..., Any], calls: Calls, arguments: Iterable[tuple[str, Any]], source: str
) -> Any:
    """What a function gives that says what a node stands for; arguments by position have no names."""
    from xdsl_exir.importers.nodes import at_node

    given = list(arguments)
    named = {name: value for name, value in given if name}
    positional = [value for name, value in given if not name]
    try:
        inspect.signature(function).bind(calls, *positional, **named)
        return function(calls, *positional, **named)
    except (TypeError, ExirError) as error:
        raise at_node(error, source, calls.node) from error


def under_names(calls: Calls, results: Sequence[Any]) -> list[g.Node]:
    """The calls that a node stands for, their results under the names that those of the node have."""
    outputs = [ref for given in calls.node.outputs for ref in (given if is_sequence(given) else (given,))]
    own = {made: given for made, given in zip(results, outputs, strict=False) if isinstance(given, g.Ref)}
    return [_with_names(made, own) for made in calls.made]


def _with_names(node: g.Node, names: Mapping[g.Ref, g.Ref]) -> g.Node:
    """A node whose values have other names, where it defines them and where it uses them."""

    def of(value: Any) -> Any:
        if is_sequence(value):
            return tuple(map(of, value))
        return names.get(value, value) if isinstance(value, g.Ref) else value

    inputs = tuple(replace(item, value=of(item.value)) for item in node.inputs)
    return replace(node, inputs=inputs, outputs=of(node.outputs))
