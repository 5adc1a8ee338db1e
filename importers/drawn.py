"""Random numbers in the order in which PyTorch draws them: as elements lie in memory, where a kernel fills a tensor like its operand.

The IR draws in row-major order. So what lies otherwise, permuted or in channels_last, is drawn as it lies, and permuted afterwards. Normal
numbers PyTorch draws otherwise there, too: not sixteen at a time, but in pairs in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Ranges
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.rewriter import GraphRewriter, inverse, permute, permuted
from xdsl_exir.importers.strides import clone_order, memory_order
from xdsl_exir.importers.synonyms.calls import Calls

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

NORMAL = frozenset({"aten.randn_like", "aten.normal_", "aten.normal_functional"})
"""Operators that fill a tensor like their operand with normal numbers."""


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
        if self.is_in_pairs(node):
            yield from self.in_pairs(node, {name: item.value for name, item in inputs.items()})
            return
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

    def is_in_pairs(self, node: g.Node) -> bool:
        """Whether a node draws normal numbers in pairs for where they lie: not in row-major order, or with gaps."""
        meta = self.result(node)
        return (
            node.target in NORMAL
            and meta is not None
            and meta.dtype.category is not Category.COMPLEX
            and memory_order(meta) != tuple(range(len(meta.sizes)))
        )

    def in_pairs(self, node: g.Node, given: Mapping[str, Any]) -> Iterator[g.Node]:
        """Of operators that draw normal numbers `log_normal` draws all in pairs; in float64 its logarithm is what it drew, to far more
        digits than shorter dtypes have."""
        calls, order, meta = Calls(node, self.values), self.order(node), self.result(node)
        assert meta is not None
        laid = calls.cast(calls("aten.permute", self=given["self"], dims=order), dt.Double)
        drawn = calls("aten.log", self=calls("aten.log_normal", self=laid, mean=0.0, std=1.0))
        for name, target in (("std", "aten.mul.Scalar"), ("mean", "aten.add.Scalar")):
            if name in given:
                drawn = calls(target, self=drawn, other=given[name])
        drawn = calls("aten.permute", self=drawn, dims=inverse(order))
        if node.target.endswith("_"):
            calls("aten.copy_", self=given["self"], src=drawn)
        else:
            calls.cast(drawn, meta.dtype)
        *before, last = calls.made
        yield from before
        yield replace(last, outputs=node.outputs)

    def result(self, node: g.Node) -> g.TensorMeta | None:
        """What a node's first result is, if it is a tensor."""
        meta = self.values.get(next(filter(None, node.result_names), ""))
        return meta if isinstance(meta, g.TensorMeta) else None

    def order(self, node: g.Node) -> tuple[int, ...]:
        """Dimensions of a node's first result from outermost to innermost; none where it is no tensor."""
        meta = self.result(node)
        return () if meta is None else clone_order(meta, self.ranges)

    def permuted(self, name: str, order: tuple[int, ...]) -> str:
        """A new value that lies as another one does, with its dimensions in that order."""
        meta = self.values[name]
        assert isinstance(meta, g.TensorMeta)
        return self.new_value(f"{name}_in_drawn_order", permuted(meta, order))
