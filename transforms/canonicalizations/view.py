"""Canonicalizations of views and of what moves elements: what does nothing goes, what is done after its like is one.

All elements stay as they are, so these hold for every dtype; sizes may be symbolic where a rule compares types, and are
numbers where it computes with them. A type that stays says that a view, a slice, a repetition did nothing: `x[:n]` of `n` rows.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Results, meta
from xdsl_exir.dialects.meta import wrap_dim, wrap_dims
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.matching import is_tensor, made_by, static

# --- other shapes of the same elements, in row-major order -------------------------------------------------------

RESHAPES = ("aten.view", "aten._unsafe_view", "aten.reshape", "aten.view_copy", "aten.unsqueeze", "aten.unsqueeze_copy", "aten.squeeze",
            "aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze_copy", "aten.squeeze_copy.dim", "aten.squeeze_copy.dims",
            "aten.flatten.using_ints", "aten.unflatten.int")  # fmt: skip
"""Operators that keep all elements, in their order."""

BY_SIZES = ("aten.view", "aten._unsafe_view", "aten.reshape", "aten.view_copy")
"""Those of them that say the result's sizes."""


def reshaped(value: Any) -> Any:
    """What a value is another shape of."""
    while (op := made_by(value, *RESHAPES)) is not None:
        value = op.operands[0]
    return value


@canonicalization(*(name for name in RESHAPES if name not in BY_SIZES))
def same_elements(aten: Namespace, self: SSAValue, out: list[Any]) -> Results:
    """Whatever was between, what has the shape that it had is the same."""
    if self.type == out[0]:
        return self
    origin = reshaped(self)
    return origin if origin.type == out[0] else KEEP


def by_sizes(aten: Namespace, self: SSAValue, sizes: list[Any], out: list[Any], operator: Any) -> Results:
    unchanged = same_elements(aten, self, out)
    if unchanged is not KEEP:
        return unchanged
    origin = reshaped(self)
    return KEEP if origin is self or not is_tensor(origin) else operator(origin, sizes)


@canonicalization("aten.view")
def view(aten: Namespace, self: SSAValue, size: list[Any], out: list[Any]) -> Results:
    return by_sizes(aten, self, size, out, aten.view)


@canonicalization("aten._unsafe_view")
def unsafe_view(aten: Namespace, self: SSAValue, size: list[Any], out: list[Any]) -> Results:
    return by_sizes(aten, self, size, out, aten._unsafe_view)


@canonicalization("aten.view_copy")
def view_copy(aten: Namespace, self: SSAValue, size: list[Any], out: list[Any]) -> Results:
    return by_sizes(aten, self, size, out, aten.view_copy)


@canonicalization("aten.reshape")
def reshape(aten: Namespace, self: SSAValue, shape: list[Any], out: list[Any]) -> Results:
    return by_sizes(aten, self, shape, out, aten.reshape)


@canonicalization("aten.expand", "aten.expand_copy", "aten.broadcast_to")
def expand(aten: Namespace, self: SSAValue, size: list[Any], out: list[Any]) -> Results:
    """-1 is the size that there was."""
    if self.type == out[0]:
        return self
    inner = made_by(self, "aten.expand", "aten.expand_copy", "aten.broadcast_to")
    before = static(meta(self).shape)
    if inner is None or (-1 in size and before is None):
        return KEEP
    first = len(size) - meta(self).ndim
    sizes = [before[i - first] if before is not None and item == -1 else item for i, item in enumerate(size)]
    return aten.expand(inner.operands[0], sizes)


@canonicalization("aten.expand_as", "aten.alias_copy", "aten.detach_copy", "aten.view_as", "aten.reshape_as", "aten.ravel", "aten.atleast_1d")  # fmt: skip
def unchanged(aten: Namespace, self: SSAValue) -> Results:
    """Where the type stays, so do the elements."""
    return self


# --- orders of dimensions ----------------------------------------------------------------------------------------

PERMUTES = ("aten.permute", "aten.permute_copy", "aten.transpose.int", "aten.transpose_copy.int", "aten.t", "aten.t_copy", "aten.numpy_T",
            "aten.swapaxes", "aten.swapdims", "aten.mT")  # fmt: skip


def order_of(op: OperatorOp) -> list[int]:
    """Which dimension of the operand each dimension of the result of one of `PERMUTES` is."""
    rank = meta(op.operands[0]).ndim
    order = list(range(rank))
    if op.SPEC.qualified_name == "aten.mT":
        swapped: list[Any] = [-2, -1]
    else:
        match list(op.arguments().values())[1:]:
            case []:
                return order[::-1]
            case [dims]:
                return wrap_dims(dims, rank)
            case swapped:
                pass
    if rank:
        a, b = (wrap_dim(dim, rank) for dim in swapped)
        order[a], order[b] = order[b], order[a]
    return order


@canonicalization(*PERMUTES)
def permute(aten: Namespace, self: SSAValue, op: OperatorOp) -> Results:
    """One after another is one, or none."""
    order, inner = order_of(op), made_by(self, *PERMUTES)
    if inner is not None:
        before = order_of(inner)
        self, order = inner.operands[0], [before[dim] for dim in order]
    if order == sorted(order):
        return self
    return KEEP if inner is None else aten.permute(self, order)


@canonicalization("aten.flip")
def flip(aten: Namespace, self: SSAValue, dims: list[int]) -> Results:
    """Of each dimension an even number of times is none."""
    rank, inner = meta(self).ndim, made_by(self, "aten.flip")
    flipped = set(wrap_dims(dims, rank))
    if not flipped:
        return self
    if inner is None:
        return KEEP
    rest = sorted(flipped ^ set(wrap_dims(inner.arguments()["dims"], rank)))
    return aten.flip(inner.operands[0], rest) if rest else inner.operands[0]
