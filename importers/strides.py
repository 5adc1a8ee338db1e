"""`as_strided` by elements: PyTorch's picks from memory, the IR's from its operand's elements in row-major order.

What lies in memory as a permutation of itself is permuted first, and offsets count from where the operand starts. Of an
operand with gaps, or that overlaps itself, the memory around it is not known here, and it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from xdsl_exir.dialects.expr import Dim, Expr, prod, provably_equal
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.importers import graph as g
from xdsl_exir.locations import text_of

VIEWS = frozenset({"aten.as_strided", "aten.as_strided_copy"})
SCATTERS = frozenset({"aten.as_strided_scatter"})


@lru_cache(maxsize=4096)
def read_expr(srepr: str) -> Dim:
    """A symbolic size of the file as expression."""
    return Expr.from_srepr(srepr)


def size_of(size: int | g.Symbolic) -> Dim:
    """A size of the file: a number or an expression."""
    return size if isinstance(size, int) else read_expr(size.srepr)


def memory_order(meta: g.TensorMeta) -> tuple[int, ...] | None:
    """Dimensions from outermost to innermost, if the tensor's elements lie in memory without gap or overlap; else None.

    Of several orders that describe the same memory (a dimension of size 1 lies anywhere) the one nearest to row-major.
    """
    sizes, strides = [*map(size_of, meta.sizes)], [*map(size_of, meta.strides)]
    if 0 in sizes:
        return tuple(range(len(sizes)))
    left = [dim for dim, size in enumerate(sizes) if size != 1]
    inner: list[int] = []
    while left:
        expected = prod(sizes[dim] for dim in inner)
        found = [dim for dim in left if provably_equal(strides[dim], expected)]
        if not found:
            return None
        left.remove(found[-1])
        inner.insert(0, found[-1])
    # Dimensions of size 1 stand where they do in row-major order, before the next one.
    for dim in reversed([dim for dim, size in enumerate(sizes) if size == 1]):
        place = inner.index(dim + 1) if dim + 1 in inner else len(inner)
        inner.insert(place, dim)
    return tuple(inner)


def in_memory_order(graph: g.Graph) -> g.Graph:
    """The graph with each `as_strided` on elements. Raises `UnsupportedError` listing all that cannot be."""
    refused: list[Unsupported] = []
    changed = _Rewriter(graph, refused).graph()
    if refused:
        raise UnsupportedError(refused)
    return changed


class _Rewriter:
    """Rewrites one graph."""

    def __init__(self, graph: g.Graph, refused: list[Unsupported]):
        self.before = graph
        self.values = dict(graph.values)
        self.refused = refused

    def graph(self) -> g.Graph:
        nodes = tuple(new for node in self.before.nodes for new in self.rewritten(node))
        same = len(nodes) == len(self.before.nodes) and all(map(_is, nodes, self.before.nodes))
        return self.before if same else replace(self.before, nodes=nodes, values=self.values)

    def rewritten(self, node: g.Node) -> Iterator[g.Node]:
        """What stands for a node."""
        if node.target not in VIEWS | SCATTERS:
            inputs = tuple(map(self.inner, node.inputs))
            yield node if all(map(_is, inputs, node.inputs)) else replace(node, inputs=inputs)
            return
        source = node.inputs[0].value
        meta = self.values.get(source.name) if isinstance(source, g.Ref) else None
        if not isinstance(source, g.Ref) or not isinstance(meta, g.TensorMeta):
            yield node
            return
        order = memory_order(meta)
        if order is None:
            reason = f"its operand lies in memory with gaps or overlaps (strides {list(meta.strides)})"
            self.refuse(node, reason)
            return
        node = self.from_its_start(node, meta)
        if order == tuple(range(len(order))):
            yield node
            return
        permuted = self.permuted(meta, order)
        name = self.new_value(f"{node.name}_in_memory_order", permuted)
        yield self.permute(node, source.name, order, name)
        node = replace(node, inputs=(replace(node.inputs[0], value=g.Ref(name)), *node.inputs[1:]))
        if node.target in VIEWS:
            yield node
            return
        [result] = node.outputs
        assert isinstance(result, g.Ref)
        scattered = self.new_value(f"{node.name}_scattered", permuted)
        yield replace(node, outputs=(g.Ref(scattered),))
        yield self.permute(node, scattered, [order.index(dim) for dim in range(len(order))], result.name)

    def inner(self, item: g.NodeInput) -> g.NodeInput:
        """An argument, which may be a sub-graph."""
        if not isinstance(item.value, g.Subgraph):
            return item
        graph = _Rewriter(item.value.graph, self.refused).graph()
        return item if graph is item.value.graph else replace(item, value=replace(item.value, graph=graph))

    def from_its_start(self, node: g.Node, meta: g.TensorMeta) -> g.Node:
        """The node with an offset that counts from the operand's first element."""
        if meta.storage_offset == 0:
            return node
        inputs: list[g.NodeInput] = []
        for item in node.inputs:
            if item.name == "storage_offset" and item.value is not None:
                if not isinstance(item.value, int) or not isinstance(meta.storage_offset, int):
                    self.refuse(node, "a computed offset of an operand that does not start its memory")
                elif item.value < meta.storage_offset:
                    self.refuse(node, "it reaches memory before its operand")
                else:
                    item = replace(item, value=item.value - meta.storage_offset)
            inputs.append(item)
        return replace(node, inputs=tuple(inputs))

    def permuted(self, meta: g.TensorMeta, order: tuple[int, ...]) -> g.TensorMeta:
        sizes, strides = (tuple(held[dim] for dim in order) for held in (meta.sizes, meta.strides))
        return replace(meta, sizes=sizes, strides=strides)

    def permute(self, node: g.Node, source: str, order: tuple[int, ...] | list[int], name: str) -> g.Node:
        """A permutation that comes from a node."""
        inputs = (g.NodeInput("self", g.Ref(source), False), g.NodeInput("dims", tuple(order), False))
        return replace(node, target="aten.permute", inputs=inputs, outputs=(g.Ref(name),))

    def new_value(self, name: str, meta: g.TensorMeta) -> str:
        while name in self.values:
            name += "_"
        self.values[name] = meta
        return name

    def refuse(self, node: g.Node, reason: str) -> None:
        from xdsl_exir.importers.build import location_of

        self.refused.append(Unsupported(node.target, reason, text_of(location_of(node.stack_trace))))


def _is(a: object, b: object) -> bool:
    return a is b
