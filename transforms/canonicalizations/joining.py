"""Canonicalizations of operators that join, repeat and pad tensors."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Results, meta
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.tensors import tensor_meta
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.matching import key_of, made_by, static


@canonicalization("aten.repeat")
def repeat(aten: Namespace, self: SSAValue) -> Results:
    """Where the type stays, it is repeated once."""
    return self


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
