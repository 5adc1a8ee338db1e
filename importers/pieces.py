"""Splits of symbolic sizes, whose number of pieces no type says: they are those the program was exported with.

PyTorch decides how many there are by an example's sizes, and has a guard for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl_exir.dialects.builder import Namespace, meta
from xdsl_exir.exchange import graph as g

if TYPE_CHECKING:
    from xdsl_exir.importers.build import GraphBuilder

COUNTED = {
    "aten.split.Tensor": "aten.split_with_sizes",
    "aten.unsafe_split.Tensor": "aten.unsafe_split_with_sizes",
    "aten.split_copy.Tensor": "aten.split_with_sizes_copy",
}
"""Operators whose operand's size says how many results they have, and those that are told."""


def counted(build: GraphBuilder, node: g.Node) -> g.Node:
    """A split of a symbolic size as one into pieces of given sizes, of which the last is what is left; others as they are."""
    if node.target not in COUNTED:
        return node
    from xdsl_exir.transforms.decompositions.view import Sizes

    given = {item.name: item.value for item in node.inputs}
    split, length, dim = given.get("self"), given.get("split_size"), given.get("dim", 0)
    if not (isinstance(split, g.Ref) and isinstance(length, int) and isinstance(dim, int)):
        return node
    value = build.read(split.name)
    shape = meta(value).shape
    if not -len(shape) <= dim < len(shape) or isinstance(shape[dim], int):
        return node
    before = len(node.result_names) - 1
    rest = Sizes(Namespace(build.builder), value, *build.block.args)(shape[dim] - length * before)
    last: g.Value = rest if isinstance(rest, int) else g.Ref(f"{node.name}_rest")
    if isinstance(last, g.Ref) and not isinstance(rest, int):
        build.values[last.name] = rest
    sizes = g.NodeInput("split_sizes", (*[length] * before, last), False)
    inputs = tuple(sizes if item.name == "split_size" else item for item in node.inputs)
    return replace(node, target=COUNTED[node.target], inputs=inputs)
