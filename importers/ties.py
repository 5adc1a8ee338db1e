"""State that shares memory: tied weights, and a tensor of a module beside a view of it. A write to one is seen in the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from xdsl_exir.dialects.sharing import Memory
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange import graph as g
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.importers.functionalize import Tensor
from xdsl_exir.importers.views import Step

if TYPE_CHECKING:
    from xdsl_exir.importers.build import GraphBuilder


def tie(build: GraphBuilder, program: g.ExportedGraph) -> None:
    """Makes state that shares memory (tied weights, a tensor beside a view of it) views of one storage: a write to one is one to all.

    State that shares in a way that is no view of one of them stays apart: `check_ties` refuses writes to it.
    """
    for items in _tied(program):
        data = {item.name: program.data(item) for item in items}
        root = max(data, key=lambda name: data[name].nbytes)
        whole, base = data[root], build.values[root]
        assert isinstance(base, Tensor)
        for name, own in data.items():
            tensor = build.values[name]
            if name == root or not isinstance(tensor, Tensor) or not _contains(whole, own):
                continue
            start = own.storage_offset - whole.storage_offset
            given = {"size": list(own.sizes), "stride": list(own.strides), "storage_offset": start}
            step = Step("aten.as_strided", "self", given)
            build.values[name] = base.view(step, tensor.read(build.builder), tensor.described)


def _tied(program: g.ExportedGraph) -> Iterable[list[g.InputSpec]]:
    """Inputs with data that share memory, in groups."""
    groups: dict[int, list[g.InputSpec]] = {}
    for item in program.inputs:
        if item.kind in ("parameter", "buffer", "constant_tensor"):
            groups.setdefault(program.data(item).storage_key, []).append(item)
    return (items for items in groups.values() if len(items) > 1)


def _contains(whole: TensorData, part: TensorData) -> bool:
    """Whether a tensor in row-major order has all elements of another one."""
    if whole.dtype is not part.dtype or not Memory(whole.dtype, whole.sizes, whole.strides).is_contiguous:
        return False
    first = part.storage_offset - whole.storage_offset
    last = first + sum((size - 1) * stride for size, stride in zip(part.sizes, part.strides, strict=True))
    return 0 in part.sizes or (first >= 0 and last < math.prod(whole.sizes))


def check_ties(program: g.ExportedGraph, given: Mapping[str, Tensor | SSAValue]) -> None:
    """Raises `UnsupportedError` for a write to state that shares memory with other state, if that does not see it."""
    for items in _tied(program):
        tensors = [given[item.name] for item in items]
        storages = {id(each.storage) for each in tensors if isinstance(each, Tensor)}
        if len(storages) > 1 and any(isinstance(each, Tensor) and each.storage.version for each in tensors):
            names = ", ".join(f"'{item.target}'" for item in items)
            raise UnsupportedError([Unsupported("aten.copy_", f"a write to {names}, which share memory")])
