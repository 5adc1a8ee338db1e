"""Gradients of what joins, repeats and pads tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.transforms.decompositions.view import Size
from xdsl_exir.transforms.gradients import Gradient, Gradients, gradient
from xdsl_exir.transforms.matching import static


def is_left_out(tensor: SSAValue, rank: int) -> bool:
    """Whether `cat` leaves a tensor out: a vector of no elements among others that are none."""
    return meta(tensor).shape == (0,) and rank != 1


@gradient("aten.cat")
def cat(aten: Namespace, grad: SSAValue, tensors: Sequence[SSAValue], dim: int) -> Gradients:
    rank = meta(grad).ndim
    dim = wrap_dim(dim, rank)
    counts = [sizes(aten, tensor)[dim] for tensor in tensors if not is_left_out(tensor, rank)]
    parts = iter(aten.split_with_sizes(grad, counts, dim))
    shares: list[Gradient] = [None if is_left_out(tensor, rank) else next(parts) for tensor in tensors]
    return [shares]


@gradient("aten.repeat")
def repeat(aten: Namespace, grad: SSAValue, self: SSAValue, repeats: Sequence[Size]) -> Gradients:
    """Every repetition's, added up."""
    own = sizes(aten, self)
    leading = len(repeats) - len(own)
    split: list[Size] = [*repeats[:leading]]
    for count, size in zip(repeats[leading:], own, strict=True):
        split += [count, size]
    if not split:
        return grad
    dims = [*range(leading), *range(leading, len(split), 2)]
    return aten.sum.dim_IntList(aten.view(grad, split), dims)


@gradient("aten.constant_pad_nd")
def constant_pad(aten: Namespace, grad: SSAValue, pad: Sequence[Any]) -> Gradients:
    constants = static(pad)
    if constants is None:
        raise UnsupportedError([Unsupported("aten.constant_pad_nd", "its gradient needs constant padding")])
    return aten.constant_pad_nd(grad, [-count for count in constants])


def _register_padding(name: str, count: int) -> None:
    operator = f"aten.{name}{count}d"

    def rule(aten: Namespace, grad: SSAValue, self: SSAValue, padding: Sequence[Size]) -> Gradients:
        return aten.builder.call(f"{operator}_backward", (grad, self, padding), {})

    rule.__module__ = __name__
    gradient(operator)(rule)


for _name in ("reflection_pad", "replication_pad"):
    for _count in (1, 2, 3):
        _register_padding(_name, _count)
