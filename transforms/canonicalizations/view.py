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
from xdsl_exir.dialects.tensors import tensor_meta
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.matching import is_tensor, key_of, known, made_by, static

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


@canonicalization("aten.expand_as", "aten.repeat", "aten.alias_copy", "aten.detach_copy", "aten.narrow", "aten.narrow_copy", "aten.view_as",
                  "aten.reshape_as", "aten.ravel", "aten.atleast_1d")  # fmt: skip
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


# --- parts -------------------------------------------------------------------------------------------------------

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


SPLITS = ("aten.split_with_sizes", "aten.split.Tensor", "aten.chunk")


@canonicalization(*SPLITS)
def split(aten: Namespace, self: SSAValue, out: list[Any]) -> Results:
    """One piece is all of it."""
    return [self] if len(out) == 1 else KEEP


# --- pieces put together -----------------------------------------------------------------------------------------


@canonicalization("aten.cat")
def cat(aten: Namespace, tensors: list[SSAValue], dim: int, out: list[Any]) -> Results:
    """One piece is itself; pieces without elements go, and those of a piece that nobody else needs take its place."""
    if len(tensors) == 1:
        return tensors[0]
    rank, pieces = tensor_meta(out[0]).ndim, list[SSAValue]()
    for piece in tensors:
        if nested := pieces_of(piece, dim):
            pieces += nested
        elif meta(piece).ndim != rank or meta(piece).shape[dim] != 0:
            pieces.append(piece)
    if pieces == tensors or not pieces:
        return KEEP
    return pieces[0] if len(pieces) == 1 else aten.cat(pieces, dim)


def pieces_of(value: SSAValue, dim: int) -> list[SSAValue]:
    """The pieces that a value is put together of along this dimension for one user alone. Where they are promoted, it stays."""
    inner = made_by(value, "aten.cat") if value.has_one_use() else None
    if inner is None or wrap_dim(inner.arguments()["dim"], meta(value).ndim) != wrap_dim(
        dim, meta(value).ndim
    ):
        return []
    of_one_dtype = all(meta(piece).dtype is meta(value).dtype for piece in inner.operands)
    return list(inner.operands) if of_one_dtype else []


@canonicalization("aten.stack")
def stack(aten: Namespace, tensors: list[SSAValue], dim: int) -> Results:
    return aten.unsqueeze(tensors[0], dim) if len(tensors) == 1 else KEEP


@canonicalization("aten.constant_pad_nd")
def pad(aten: Namespace, self: SSAValue, pad: list[Any], value: Any) -> Results:
    """Around a padding by the same number, it is one of both; sides that are cut are left alone."""
    widths = static(pad)
    if widths is None:
        return KEEP
    if not any(widths):
        return self
    inner = made_by(self, "aten.constant_pad_nd")
    if inner is None or key_of(inner.arguments()["value"]) != key_of(value):
        return KEEP
    before = static(inner.arguments()["pad"])
    if before is None or min(widths + before) < 0:
        return KEEP
    count = max(len(widths), len(before))
    both = [a + b for a, b in zip(widths + [0] * (count - len(widths)), before + [0] * (count - len(before)), strict=True)]  # fmt: skip
    return aten.constant_pad_nd(inner.operands[0], both, value)
