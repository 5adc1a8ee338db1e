"""Block masks of `flex_attention`, removed: which blocks of scores its mask leaves is for GPUs' kernels, and says nothing new.

Straight from `torch.export.export` they are computed in the graph, by way of `torch.vmap`, which goes with them. What nothing
else uses is found by storage: a write stays where anything that stays may see it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from xdsl_exir.dialects import spec
from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.exchange import graph as g

FLEX_ATTENTION = "higher_order.flex_attention"
VMAP = "torch._functorch.predispatch."
CHECK = "aten._assert_tensor_metadata"
BLOCK_MASK = 4
"""Which argument it is. Its last item is the function that says which scores count."""


def without_block_masks(graph: g.Graph) -> g.Graph:
    """The graph without block masks, and without what is computed for them only; sub-graphs too."""
    nodes = [_without(node) for node in graph.nodes]
    if all(node.target != FLEX_ATTENTION for node in nodes):
        return replace(graph, nodes=tuple(nodes))
    live = _live(replace(graph, nodes=tuple(nodes)))
    return replace(graph, nodes=tuple(node for node in nodes if node.name in live))


def _without(node: g.Node) -> g.Node:
    if node.target != FLEX_ATTENTION and not any(isinstance(item.value, g.Subgraph) for item in node.inputs):
        return node

    def changed(index: int, value: g.Value) -> g.Value:
        if isinstance(value, g.Subgraph):
            return replace(value, graph=without_block_masks(value.graph))
        if node.target == FLEX_ATTENTION and index == BLOCK_MASK and isinstance(value, tuple):
            return value[-1:]
        return value

    inputs = tuple(replace(item, value=changed(i, item.value)) for i, item in enumerate(node.inputs))
    return replace(node, inputs=inputs)


def _live(graph: g.Graph) -> set[str]:
    """Names of the nodes whose results or effects anything may see."""
    storages = {value.name: value.name for value in graph.inputs if isinstance(value, g.Ref)}
    of_storage: dict[str, list[g.Node]] = defaultdict(list)
    """The nodes that make, view, write or check what lies in a storage."""
    for node in graph.nodes:
        seen = [storages[name] for item in node.inputs for name in g.references(item.value)]
        made = [name for name in node.result_names if name is not None]
        for name in made:
            storages[name] = seen[0] if seen and _shares(node) else name
        for storage in [storages[name] for name in made] or seen[:1]:
            of_storage[storage].append(node)
    frames = [node for node in graph.nodes if node.target.startswith(VMAP) and not node.outputs]
    inputs = [node for value in graph.inputs if isinstance(value, g.Ref) for node in of_storage[value.name]]
    returned = [name for value in graph.outputs for name in g.references(value)]
    left = [node for node in graph.nodes if not _is_free(node)]
    left += [*inputs, *(node for name in returned for node in of_storage[storages[name]])]
    live = set[str]()
    while left:
        node = left.pop()
        if node.name not in live:
            live.add(node.name)
            uses = (name for item in node.inputs for name in g.references(item.value))
            left += [maker for name in uses for maker in of_storage[storages[name]]]
            left += frames if node.target.startswith(VMAP) else []
    return live


def _is_free(node: g.Node) -> bool:
    """Whether a node has no effect but on its results, and on what it writes."""
    if node.target.startswith(VMAP) or node.target in (CHECK, *SYM_OPS):
        return True
    known = spec.specs().get(node.target)
    if not node.outputs or not node.target.startswith("aten.") or node.target.endswith("out"):
        return False
    return known is None or not known.tags & {"random", "effect"}


def _shares(node: g.Node) -> bool:
    """Whether a node's results lie where its first operand does."""
    known = spec.specs().get(node.target)
    in_place = node.target.split(".")[1].endswith("_")
    return node.target.startswith(VMAP) or in_place or (known is not None and known.sharing is not None)
