"""Assertions about storage offsets, removed: values of the IR have no storage, and start where they start.

`torch.export` asserts of every view whose place depends on the data that its offset is not negative. Where an offset is
used in any other way it stays, and is computed where sizes and numbers of the program tell it (`strides.reported`).
"""

from __future__ import annotations

from dataclasses import replace

from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.exchange import graph as g


def without_offsets(graph: g.Graph) -> g.Graph:
    """The graph without storage offsets, if only assertions ask for them."""
    offsets: set[str] = set()  # and what is computed from them
    kept: list[g.Node] = []
    for node in graph.nodes:
        of_offset = any(name in offsets for item in node.inputs for name in g.references(item.value))
        if node.target == "aten.sym_storage_offset" or (of_offset and node.target in SYM_OPS):
            offsets |= {result.name for result in node.outputs if isinstance(result, g.Ref)}
        elif of_offset and node.target != "aten._assert_scalar":
            return graph
        elif not of_offset:
            kept.append(node)
    returned = any(name in offsets for value in graph.outputs for name in g.references(value))
    return replace(graph, nodes=tuple(kept)) if offsets and not returned else graph
