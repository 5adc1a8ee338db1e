"""Canonicalizations of operators that take parts of tensors, or put such parts back."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Results, meta
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.matching import known, made_by, static

SLICES = ("aten.slice.Tensor", "aten.slice_copy.Tensor")


def bounds(size: int, start: Any, end: Any, step: Any) -> range | None:
    """The places that a slice of a dimension has; None where its numbers are not known."""
    given = static([0 if start is None else start, size if end is None else end, step])
    return None if given is None else range(size)[slice(*given)]


@canonicalization(*SLICES)
def slice_(
    aten: Namespace, self: SSAValue, dim: int, start: Any, end: Any, step: Any, out: list[Any]
) -> Results:
    """One of another is one."""
    inner = made_by(self, *SLICES)
    if inner is None or self.type == out[0]:
        return self
    origin, first = inner.operands[0], inner.arguments()
    rank = meta(origin).ndim
    dim = wrap_dim(dim, rank)
    size, sliced = meta(origin).shape[dim], meta(self).shape[dim]
    if wrap_dim(first["dim"], rank) != dim or not isinstance(size, int) or not isinstance(sliced, int):
        return KEEP
    places = bounds(size, first["start"], first["end"], first["step"])
    taken = bounds(sliced, start, end, step)
    if places is None or taken is None or len(places) != sliced:
        return KEEP
    both = places[taken.start : taken.stop : taken.step]
    return aten.slice.Tensor(origin, dim, both.start, both.stop, both.step)


SPLITS = ("aten.split_with_sizes", "aten.split.Tensor", "aten.chunk")


@canonicalization(*SPLITS)
def split(aten: Namespace, self: SSAValue, out: list[Any]) -> Results:
    """One piece is all of it."""
    return [self] if len(out) == 1 else KEEP


@canonicalization("aten.narrow", "aten.narrow_copy")
def narrow(aten: Namespace, self: SSAValue) -> Results:
    """Where the type stays, it is the whole."""
    return self


@canonicalization("aten.select.int", "aten.select_copy.int")
def select(aten: Namespace, self: SSAValue, dim: int, index: Any) -> Results:
    """Of a dimension that was put in, or of tensors that were stacked along it."""
    rank, number = meta(self).ndim, known(index)
    inner = made_by(self, "aten.unsqueeze", "aten.stack")
    if inner is None or number is None:
        return KEEP
    given = inner.arguments()
    if wrap_dim(given["dim"], rank) != wrap_dim(dim, rank):
        return KEEP
    if inner.SPEC.qualified_name == "aten.unsqueeze":
        return given["self"]
    return given["tensors"][int(number.real)]
