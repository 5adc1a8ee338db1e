"""Results that kernels lay in memory otherwise than they are traced.

PyTorch's tracer computes shapes and strides by functions of its own. For a few operators these are not those that the kernels give, which decides
whether a reshape is a view, and what a write to one changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl_exir.dialects import spec
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, Ranges
from xdsl_exir.dialects.meta import same_size
from xdsl_exir.dialects.sharing import is_viewable
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers.strides import (
    Order,
    clone_order,
    iterated_order,
    memory_of,
    memory_order,
    size_of,
    strides_in,
    viewed_by,
    written_by,
)

Operands = Mapping[str, g.TensorMeta]
Laid = Callable[[Operands, g.TensorMeta, Ranges], Order | None]
"""The order of dimensions that a kernel gives its result, by its operands and the result as traced; None where it is that one's."""


def _as(name: str) -> Laid:
    return lambda operands, after, ranges: clone_order(operands[name], ranges)


def _as_operands(operands: Operands, after: g.TensorMeta, ranges: Ranges) -> Order | None:
    """As what is computed element by element, the first operand first."""
    known = [([*map(size_of, meta.sizes)], [*map(size_of, meta.strides)]) for meta in operands.values()]
    sizes = [*map(size_of, after.sizes)]
    if all(own == sizes and strides == known[0][1] for own, strides in known):
        return clone_order(next(iter(operands.values())), ranges)

    def expanded(own: Sequence[Dim], strides: Sequence[Dim]) -> list[Dim]:
        """Strides of an operand that is broadcast."""
        pairs = zip(sizes[len(sizes) - len(own) :], own, strides, strict=True)
        # A size that cannot be the whole is 1, if only by a guard.
        kept = [
            0 if size == 1 != whole or not same_size(size, whole) else stride for whole, size, stride in pairs
        ]
        return [*[0] * (len(sizes) - len(own)), *kept]

    return iterated_order(sizes, [expanded(*each) for each in known], ranges)


def _row_major(operands: Operands, after: g.TensorMeta, ranges: Ranges) -> Order | None:
    return tuple(range(max(len(operand.sizes) for operand in operands.values())))


def _row_major_of_classes(operands: Operands, after: g.TensorMeta, ranges: Ranges) -> Order | None:
    return tuple(range(len(operands["self"].sizes) + 1))


def _channels_last(image: g.TensorMeta) -> Order | None:
    """The order of images whose channels are innermost, if it is one."""
    rank = len(image.sizes)
    order = (0, *range(2, rank), 1)
    return order if rank in (4, 5) and memory_order(image) == order else None


def _row_major_of_complex(operands: Operands, after: g.TensorMeta, ranges: Ranges) -> Order | None:
    return (
        _row_major(operands, after, ranges) if operands["self"].dtype.category is Category.COMPLEX else None
    )


def _row_major_or_channels_last(operands: Operands, after: g.TensorMeta, ranges: Ranges) -> Order | None:
    return None if _channels_last(operands["input"]) else tuple(range(len(operands["input"].sizes)))


LAID: Mapping[str, Laid] = {
    **dict.fromkeys(("aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor"), _as("self")),
    "aten.native_dropout_backward": _as("grad_output"),
    **dict.fromkeys(
        (
            *("aten.copysign.Tensor", "aten.div.Tensor_mode", "aten.floor_divide", "aten.logaddexp"),
            *("aten.logaddexp2", "aten.heaviside", "aten.xlogy.Tensor", "aten.special_xlogy"),
            *("aten.special_xlog1py", "aten.logical_and", "aten.logical_or", "aten.logical_xor"),
        ),
        _as_operands,
    ),
    **dict.fromkeys(
        (
            *("aten.log_sigmoid", "aten.log_sigmoid_forward", "aten.pow.Scalar", "aten.rrelu"),
            *("aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar"),
            *("aten.upsample_nearest1d", "aten.upsample_nearest1d.vec", "aten.max_pool1d"),
            *("aten.normal.Tensor_Tensor", "aten.normal.Tensor_float", "aten.normal.float_Tensor"),
        ),
        _row_major,
    ),
    "aten.one_hot": _row_major_of_classes,
    "aten.max_unpool2d": lambda operands, after, ranges: _channels_last(operands["self"]),
    "aten.angle": _row_major_of_complex,
    **dict.fromkeys(
        (
            *("aten.batch_norm", "aten.native_batch_norm", "aten._batch_norm_with_update"),
            *("aten._native_batch_norm_legit", "aten._native_batch_norm_legit.no_stats"),
            *("aten._native_batch_norm_legit_functional", "aten._native_batch_norm_legit_no_training"),
        ),
        _row_major_or_channels_last,
    ),
}
"""Operators whose (first) results kernels lay in memory otherwise than they are traced, in PyTorch 2.13: `test_traced_apart.py` says which."""


def as_laid(graph: g.Graph, ranges: Ranges) -> g.Graph:
    """The graph with values lying as kernels lay them. What was traced to lie as those do lies as they do."""
    values = dict(graph.values)
    moved = False
    for node in graph.nodes:
        if node.target not in LAID and not moved:
            continue
        result = next(iter(node.result_names), None)
        after = values.get(result or "")
        refs = {item.name: item.value.name for item in node.inputs if isinstance(item.value, g.Ref)}
        given = {name: values.get(ref) for name, ref in refs.items()}
        operands = {name: found for name, found in given.items() if isinstance(found, g.TensorMeta)}
        if result is None or not operands or not isinstance(after, g.TensorMeta):
            continue
        if node.target in LAID:
            order = LAID[node.target](operands, after, ranges)
        else:
            by_value = {refs[name]: found for name, found in operands.items()}
            if (seen := _seen_in(node, by_value, graph)) is not None:
                values, moved = values | seen, True
                continue
            order = _moved_with(node, after, by_value, graph)
        if order is not None and len(order) == len(after.sizes):
            strides = strides_in(after, order)
            if strides != tuple(after.strides):
                values[result], moved = replace(after, strides=strides), True
    return replace(graph, values=values) if moved else graph


def _seen_in(node: g.Node, operands: Operands, graph: g.Graph) -> dict[str, g.TensorMeta] | None:
    """The results of a node that has them in the memory of an operand which does not lie as it was traced: views of it have
    its strides. None where it is no such node, or takes dimensions apart."""
    seen: dict[str, g.TensorMeta] = {}
    for result in filter(None, node.result_names):
        viewed, after = viewed_by(node, result) or written_by(node, result), graph.values.get(result)
        operand = operands.get(viewed.name) if viewed is not None else None
        if viewed is None or operand is None or not isinstance(after, g.TensorMeta):
            return None
        traced = graph.values[viewed.name]
        if operand is traced or not isinstance(traced, g.TensorMeta):
            return None
        if _reshapes(node) and not is_viewable(memory_of(operand), memory_of(after).sizes):
            strides = strides_in(after, tuple(range(len(after.sizes))))
        else:
            pairs = zip(operand.sizes, traced.strides, operand.strides, strict=True)
            known = {before: now for size, before, now in pairs if size != 1}
            held = [stride for size, stride in zip(after.sizes, after.strides, strict=True) if size != 1]
            if not known.keys() >= {stride for stride in held if stride != 0}:
                return None
            strides = tuple(known.get(stride, stride) for stride in after.strides)
        seen[result] = replace(after, strides=strides)
    return seen or None


def _reshapes(node: g.Node) -> bool:
    known = spec.specs().get(node.target)
    return known is not None and known.sharing is not None and known.sharing.condition == "viewable"


def _moved_with(node: g.Node, after: g.TensorMeta, operands: Operands, graph: g.Graph) -> Order | None:
    """The order of an operand that does not lie as it was traced, if the result was traced to lie as it was: not by chance, as in
    row-major order, unless it is computed element by element."""
    known = spec.specs().get(node.target)
    for name, operand in operands.items():
        traced = graph.values[name]
        if operand is not traced and isinstance(traced, g.TensorMeta):
            order = memory_order(traced)
            by_chance = order == tuple(range(len(traced.sizes)))
            follows = not by_chance or (known is not None and "pointwise" in known.tags)
            same = order is not None and order == memory_order(after)
            return memory_order(operand) if same and follows else None
    return None
