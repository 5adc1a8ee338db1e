"""Random numbers in the order in which PyTorch draws them: as elements lie in memory, where a kernel fills a tensor like its operand.

The IR draws in row-major order. So what lies otherwise, permuted or in channels_last, is drawn as it lies, and permuted afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.strides import memory_order

DRAWN: dict[str, str] = {
    **dict.fromkeys(
        (
            *("aten.rand_like", "aten.randint_like", "aten.randint_like.low_dtype"),
            *("aten.uniform", "aten.uniform_", "aten.exponential", "aten.exponential_"),
        ),
        "self",
    ),
    **dict.fromkeys(("aten.dropout", "aten.native_dropout", "aten.alpha_dropout"), "input"),
}
"""The operators, and the operand whose order the draws have. Bernoulli's are drawn in row-major order wherever they lie."""


def in_drawn_order(graph: g.Graph) -> g.Graph:
    """The graph in which all of these work on what lies in row-major order."""
    values = dict(graph.values)
    nodes = tuple(new for node in graph.nodes for new in _rewritten(node, values))
    return replace(graph, nodes=nodes, values=values)


def _rewritten(node: g.Node, values: dict[str, g.ValueMeta]) -> Iterator[g.Node]:
    """What stands for a node."""
    inputs = {item.name: item for item in node.inputs}
    drawn = inputs.get(DRAWN.get(node.target, ""))
    results = [name for name in node.result_names if name is not None]
    result = values.get(results[0]) if results else None
    order = memory_order(result) if isinstance(result, g.TensorMeta) else None
    is_copy = "train" in inputs and inputs["train"].value is False  # which draws nothing
    if (
        drawn is None
        or not isinstance(drawn.value, g.Ref)
        or order in (None, tuple(range(len(order or ()))))
        or is_copy
    ):
        yield replace(node, inputs=tuple(map(_inner, node.inputs)))
        return
    assert order is not None

    def permuted(name: str) -> str:
        """A new value that lies as another one does, with dimensions from outermost to innermost."""
        meta = values[name]
        assert isinstance(meta, g.TensorMeta)
        sizes, strides = (tuple(held[dim] for dim in order) for held in (meta.sizes, meta.strides))
        new = f"{name}_in_drawn_order"
        while new in values:
            new += "_"
        values[new] = replace(meta, sizes=sizes, strides=strides)
        return new

    def permute(source: str, dims: tuple[int, ...], name: str) -> g.Node:
        given = (g.NodeInput("self", g.Ref(source), False), g.NodeInput("dims", dims, False))
        return replace(node, target="aten.permute", inputs=given, outputs=(g.Ref(name),))

    operand = permuted(drawn.value.name)
    yield permute(drawn.value.name, order, operand)
    inputs[drawn.name] = replace(drawn, value=g.Ref(operand))
    inputs.pop("memory_format", None)
    drawings = [permuted(name) for name in results]
    yield replace(node, inputs=tuple(inputs.values()), outputs=tuple(map(g.Ref, drawings)))
    back = tuple(order.index(dim) for dim in range(len(order)))
    for drawing, name in zip(drawings, results, strict=True):
        yield permute(drawing, back, name)


def _inner(item: g.NodeInput) -> g.NodeInput:
    """An argument, which may be a sub-graph."""
    if not isinstance(item.value, g.Subgraph):
        return item
    return replace(item, value=replace(item.value, graph=in_drawn_order(item.value.graph)))
