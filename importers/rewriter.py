"""Graphs rewritten node by node before they are built: new values, permutations, sub-graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

from xdsl_exir.exchange import graph as g


class GraphRewriter(ABC):
    """Rewrites one graph; a subclass says what stands for a node. What nothing changes stays the same object."""

    def __init__(self, graph: g.Graph):
        self.before = graph
        self.values = dict(graph.values)

    @abstractmethod
    def rewritten(self, node: g.Node) -> Iterator[g.Node]:
        """What stands for a node."""

    @abstractmethod
    def of(self, graph: g.Graph) -> Self:
        """The rewriter of a sub-graph."""

    def graph(self) -> g.Graph:
        nodes = tuple(new for node in self.before.nodes for new in self.rewritten(node))
        same = len(nodes) == len(self.before.nodes) and all(map(_is, nodes, self.before.nodes))
        return self.before if same else replace(self.before, nodes=nodes, values=self.values)

    def within(self, node: g.Node) -> g.Node:
        """The node with its sub-graphs rewritten."""
        inputs = tuple(map(self._inner, node.inputs))
        return node if all(map(_is, inputs, node.inputs)) else replace(node, inputs=inputs)

    def _inner(self, item: g.NodeInput) -> g.NodeInput:
        if not isinstance(item.value, g.Subgraph):
            return item
        graph = self.of(item.value.graph).graph()
        return item if graph is item.value.graph else replace(item, value=replace(item.value, graph=graph))

    def new_value(self, name: str, meta: g.TensorMeta) -> str:
        """The name of a new value: the one asked for, if it is free."""
        while name in self.values:
            name += "_"
        self.values[name] = meta
        return name


def permuted(meta: g.TensorMeta, order: Sequence[int]) -> g.TensorMeta:
    """A tensor with its dimensions in another order."""
    sizes, strides = (tuple(held[dim] for dim in order) for held in (meta.sizes, meta.strides))
    return replace(meta, sizes=sizes, strides=strides)


def permute(node: g.Node, source: str, order: Sequence[int], name: str) -> g.Node:
    """A permutation that comes from a node: of `source`, with `name` as its result."""
    inputs = (g.NodeInput("self", g.Ref(source), False), g.NodeInput("dims", tuple(order), False))
    return replace(node, target="aten.permute", inputs=inputs, outputs=(g.Ref(name),))


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another one."""
    return tuple(order.index(dim) for dim in range(len(order)))


def _is(a: object, b: object) -> bool:
    return a is b
