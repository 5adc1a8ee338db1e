"""Splits of symbolic sizes, whose number of pieces no type says: they are those the program was exported with.

PyTorch decides how many there are by an example's sizes, and has a guard for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl_exir.dialects.builder import Namespace, meta
from xdsl_exir.dialects.expr import Dim, Expr, ceildiv
from xdsl_exir.dialects.tensors import SymIntType
from xdsl_exir.exchange import graph as g

if TYPE_CHECKING:
    from xdsl_exir.importers.build import GraphBuilder

COUNTED = {
    "aten.split.Tensor": "aten.split_with_sizes",
    "aten.unsafe_split.Tensor": "aten.unsafe_split_with_sizes",
    "aten.split_copy.Tensor": "aten.split_with_sizes_copy",
    "aten.chunk": "aten.split_with_sizes",
    "aten.unsafe_chunk": "aten.unsafe_split_with_sizes",
}
"""Operators whose operand's size says how many results they have, and those that are told."""


def counted(build: GraphBuilder, node: g.Node) -> g.Node:
    """A split of a symbolic size as one into pieces of given sizes, of which the last is what is left; others as they are."""
    if node.target not in COUNTED:
        return node
    from xdsl_exir.transforms.decompositions.view import Sizes

    given = {item.name: item.value for item in node.inputs}
    split, dim = given.get("self"), given.get("dim", 0)
    name = "chunks" if "chunks" in given else "split_size"
    number = given.get(name)
    if isinstance(number, g.Ref) and isinstance(type := build.read(number.name).type, SymIntType):
        number = type.data
    if not (isinstance(split, g.Ref) and isinstance(number, int | Expr) and isinstance(dim, int)):
        return node
    value = build.read(split.name)
    shape = meta(value).shape
    if not -len(shape) <= dim < len(shape) or isinstance(shape[dim], int):
        return node
    size_of = Sizes(Namespace(build.builder), value, *build.block.args)
    size = size_of.named(shape[dim])
    length = ceildiv(size, number) if name == "chunks" else number

    def named(name: str, size: Dim) -> g.Value:
        """A size as an argument of a node."""
        made = size_of(size)
        if isinstance(made, int):
            return made
        build.values[name] = made
        return g.Ref(name)

    before = len(node.result_names) - 1
    first = named(f"{node.name}_length", length)
    last = named(f"{node.name}_rest", size - length * before)
    sizes = g.NodeInput("split_sizes", (*[first] * before, last), False)
    inputs = tuple(sizes if item.name == name else item for item in node.inputs)
    return replace(node, target=COUNTED[node.target], inputs=inputs)
