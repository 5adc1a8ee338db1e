"""Random numbers in the order in which PyTorch draws them: as elements lie in memory, where a kernel fills a tensor like its operand.

The IR draws in row-major order. So what lies otherwise, permuted or in channels_last, is drawn as it lies, and permuted afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl_exir.dialects.expr import Ranges
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.rewriter import GraphRewriter, inverse, permute, permuted
from xdsl_exir.importers.strides import clone_order

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


def in_drawn_order(graph: g.Graph, ranges: Ranges) -> g.Graph:
    """The graph in which all of these work on what lies in row-major order. `ranges` are those of the symbols."""
    return _Rewriter(graph, ranges).graph()


class _Rewriter(GraphRewriter):
    def __init__(self, graph: g.Graph, ranges: Ranges):
        super().__init__(graph)
        self.ranges = ranges

    def of(self, graph: g.Graph) -> _Rewriter:
        return _Rewriter(graph, self.ranges)

    def rewritten(self, node: g.Node) -> Iterator[g.Node]:
        inputs = {item.name: item for item in node.inputs}
        drawn = inputs.get(DRAWN.get(node.target, ""))
        order = self.order(node)
        is_copy = "train" in inputs and inputs["train"].value is False  # which draws nothing
        if (
            drawn is None
            or not isinstance(drawn.value, g.Ref)
            or order == tuple(range(len(order)))
            or is_copy
        ):
            yield self.within(node)
            return
        operand = self.permuted(drawn.value.name, order)
        yield permute(node, drawn.value.name, order, operand)
        inputs[drawn.name] = replace(drawn, value=g.Ref(operand))
        inputs.pop("memory_format", None)
        results = [result for result in node.outputs if isinstance(result, g.Ref)]
        drawings = {result: g.Ref(self.permuted(result.name, order)) for result in results}
        outputs = tuple(drawings[result] if isinstance(result, g.Ref) else result for result in node.outputs)
        yield replace(node, inputs=tuple(inputs.values()), outputs=outputs)
        for result, drawing in drawings.items():
            yield permute(node, drawing.name, inverse(order), result.name)

    def order(self, node: g.Node) -> tuple[int, ...]:
        """Dimensions of a node's first result from outermost to innermost; none where it is no tensor."""
        name = next(filter(None, node.result_names), "")
        meta = self.values.get(name)
        return clone_order(meta, self.ranges) if isinstance(meta, g.TensorMeta) else ()

    def permuted(self, name: str, order: tuple[int, ...]) -> str:
        """A new value that lies as another one does, with its dimensions in that order."""
        meta = self.values[name]
        assert isinstance(meta, g.TensorMeta)
        return self.new_value(f"{name}_in_drawn_order", permuted(meta, order))
