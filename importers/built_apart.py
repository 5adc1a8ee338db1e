"""Operators that are not always built as themselves: those that write to arguments which their schema does not mark, writes to memory
that overlaps itself, and what PyTorch's tracer describes wrongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import aten
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, flat_results, meta, sizes
from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.dialects.tensors import is_value, tensor_type
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.importers import overlaps
from xdsl_exir.importers.functionalize import Tensor
from xdsl_exir.importers.strides import size_of
from xdsl_exir.importers.views import Step

if TYPE_CHECKING:
    from xdsl_exir.importers.build import GraphBuilder


def _native_batch_norm(aten: Namespace, bound: Mapping[str, Any]) -> list[SSAValue]:
    names = ("input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps")
    return list(aten._native_batch_norm_legit_functional(*(bound[name] for name in names)))


def _batch_norm(aten: Namespace, bound: Mapping[str, Any]) -> list[SSAValue]:
    output, _, _, *statistics = _native_batch_norm(aten, bound)
    return [output, *statistics]


def _instance_norm(aten: Namespace, bound: Mapping[str, Any]) -> list[SSAValue]:
    from xdsl_exir.transforms.decompositions.normalization import one_sample

    shape = sizes(aten, bound["input"])
    names = ("input", "weight", "bias", "running_mean", "running_var")
    flat = one_sample(aten, *(bound[name] for name in names))
    output, _, _, *statistics = aten._native_batch_norm_legit_functional(
        *flat, True, bound["momentum"], bound["eps"]
    )
    # Each sample has statistics; what is kept is their mean.
    kept = (aten.mean.dim(aten.view(value, shape[:2]), [0]) for value in statistics)
    return [aten.view(output, shape), *kept]


def _statistics(
    flag: str, functional: Callable[[Namespace, Mapping[str, Any]], list[SSAValue]]
) -> Callable[[GraphBuilder, g.Node, dict[str, Any]], bool]:
    """How an operator is built that updates running statistics if a flag says so: its results, and then theirs."""

    def build_node(build: GraphBuilder, node: g.Node, bound: dict[str, Any]) -> bool:
        refs = {item.name: item.value for item in node.inputs}
        statistics = [
            build.values[ref.name]
            for ref in (refs["running_mean"], refs["running_var"])
            if isinstance(ref, g.Ref)
        ]
        if not bound[flag] or len(statistics) != 2 or 0 in meta(bound["input"]).shape:
            return False
        if all(isinstance(each, Tensor) for each in statistics):
            mean, variance = (each.storage for each in statistics if isinstance(each, Tensor))
            if mean is variance:
                raise UnsupportedError([Unsupported(node.target, "a mean and a variance in the same memory")])
        *results, mean, variance = functional(Namespace(build.builder), bound)
        build.define_all(node.result_names, results)
        for target, value in zip(statistics, (mean, variance), strict=True):
            assert isinstance(target, Tensor)
            target.write(build.builder, value)
        return True

    return build_node


IMPLICIT_WRITES: dict[str, Callable[[GraphBuilder, g.Node, dict[str, Any]], bool]] = {
    "aten.batch_norm": _statistics("training", _batch_norm),
    "aten.native_batch_norm": _statistics("training", _native_batch_norm),
    "aten.instance_norm": _statistics("use_input_stats", _instance_norm),
}
"""Operators that write to arguments which their schema does not mark; the function says whether it took the node."""


def _as_strided_scatter(build: GraphBuilder, node: g.Node, bound: dict[str, Any]) -> bool:
    """A view that overlaps itself gets what a functionalized program wrote to it: elements that are others than before."""
    size, strides = bound["size"], bound["stride"]
    dtype = meta(bound["self"]).dtype
    if any(map(is_value, (*size, *strides))) or not Memory(dtype, tuple(size), tuple(strides)).overlaps:
        return False
    base, src = bound["self"], bound["src"]
    given = {name: bound[name] for name in ("size", "stride", "storage_offset")}
    view = Step("aten.as_strided", "self", given)
    namespace = Namespace(build.builder)
    changed = overlaps.differs(namespace, src, view.apply(build.builder, base))
    build.define_all(node.result_names, [overlaps.put_where(namespace, base, [view], src, changed)])
    return True


def _scatter(build: GraphBuilder, node: g.Node, bound: dict[str, Any]) -> bool:
    """PyTorch writes to a copy that lies as the operand does, where that overlaps itself other than by an expansion: to several elements at once."""
    refs = {item.name: item.value for item in node.inputs}
    base = build.values[refs["self"].name] if isinstance(refs["self"], g.Ref) else None
    if isinstance(base, Tensor) and 0 not in base.memory.strides and base.memory.overlaps:
        raise UnsupportedError([Unsupported(node.target, "a write to memory that overlaps itself")])
    return False


def _unique_consecutive(build: GraphBuilder, node: g.Node, bound: dict[str, Any]) -> bool:
    """Distinct neighbours along the last dimension, which PyTorch's tracer describes wrongly where it is called -1: how many there are is
    the one thing that it says right."""
    known, name = meta(bound["self"]), node.result_names[0]
    described = build.graph.values.get(name) if name is not None else None
    if bound["dim"] != -1 or not known.ndim or not isinstance(described, g.TensorMeta):
        return False
    count = size_of(described.sizes[known.ndim - 1])
    shapes = ((*known.shape[:-1], count), known.shape[-1:], (count,))
    types = [
        tensor_type(shape, dtype)
        for shape, dtype in zip(shapes, (known.dtype, dt.Long, dt.Long), strict=True)
    ]
    cls = aten.OPERATORS[node.target]
    made = build.builder.build(cls, {**bound, "dim": known.ndim - 1}, types)
    build.define_all(node.result_names, flat_results(made))
    return True


BUILT_APART: dict[str, Callable[[GraphBuilder, g.Node, dict[str, Any]], bool]] = {
    **IMPLICIT_WRITES,
    "aten.as_strided_scatter": _as_strided_scatter,
    **dict.fromkeys(("aten.select_scatter", "aten.slice_scatter", "aten.diagonal_scatter"), _scatter),
    "aten.unique_consecutive": _unique_consecutive,
}
"""Operators that are not always built as themselves."""
