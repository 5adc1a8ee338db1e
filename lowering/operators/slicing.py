"""Lowerings of operators that take parts of tensors, or put such parts back."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.shapes.slicing import clamped, from_start, slice_size
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.linalg import dims as loop_indices
from xdsl_exir.lowering.operators.view import Out, part, window
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import Tensor, read


def pick(b: LinalgBuilder, self: Tensor, exprs: Sequence[AffineExpr], shape: Sizes) -> Tensor:
    """The elements at affine functions of the result's indices."""
    init = Tensor(b.empty(shape, self.dtype), shape, self.dtype)
    return b.copy(self, AffineMap(len(shape), 0, tuple(exprs)), init)


# --- taking parts --------------------------------------------------------------------------------------------


@lowering("aten.slice.Tensor", takes_complex=True)
def slice_tensor(b: LinalgBuilder, self: Tensor, dim: int, start: Dim | None, step: Dim, out: Out) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    return part(b, self, dim, clamped(start or 0, self.shape[dim]), out[0].shape[dim], step)


@lowering("aten.select.int", takes_complex=True)
def select(b: LinalgBuilder, self: Tensor, dim: int, index: Dim, out: Out) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    return b.reshape(part(b, self, dim, from_start(index, self.shape[dim]), 1), out[0].shape)


@lowering("aten.split_with_sizes", takes_complex=True)
def split_with_sizes(b: LinalgBuilder, self: Tensor, split_sizes: list[Dim], dim: int) -> list[Tensor]:
    dim = wrap_dim(dim, self.ndim)
    start: Dim = 0
    parts: list[Tensor] = []
    for size in split_sizes:
        parts.append(part(b, self, dim, start, size))
        start = start + size
    return parts


@lowering("aten.diagonal", static=["offset"], takes_complex=True)
def diagonal(b: LinalgBuilder, self: Tensor, offset: int, dim1: int, dim2: int, out: Out) -> Tensor:
    dim1, dim2 = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    shape = out[0].shape
    # The square whose main diagonal it is: a dimension that one loop runs over has to be as long as the loop.
    square = part(b, self, dim1, max(-offset, 0), shape[-1])
    square = part(b, square, dim2, max(offset, 0), shape[-1])
    *exprs, along = loop_indices(self.ndim - 1)
    for dim in sorted([dim1, dim2]):
        exprs.insert(dim, along)
    return pick(b, square, exprs, shape)


@lowering("aten.unfold", static=["step"], takes_complex=True)
def unfold(b: LinalgBuilder, self: Tensor, dimension: int, step: int, out: Out) -> Tensor:
    shape = out[0].shape
    if not self.ndim:
        return (
            b.reshape(self, shape) if shape == (1,) else Tensor(b.empty(shape, self.dtype), shape, self.dtype)
        )
    *exprs, inside = loop_indices(len(shape))
    dim = wrap_dim(dimension, self.ndim)
    exprs[dim] = exprs[dim] * step + inside
    return pick(b, self, exprs, shape)


@lowering("aten.as_strided", takes_complex=True)
def as_strided(
    b: LinalgBuilder, self: Tensor, size: list[Dim], stride: list[Dim], storage_offset: Dim | None
) -> Tensor:
    storage = b.reshape(self, (prod(self.shape),))
    return b.indexed(
        lambda *at: read(storage, [in_storage(at, stride, storage_offset)]), tuple(size), self.dtype
    )


def in_storage(at: Sequence[SSAValue], stride: Sequence[Dim], offset: Dim | None) -> Scalar:
    """Where in memory the element at a place lies."""
    place = s.constant(offset or 0, dt.Long)
    for index, step in zip(at, stride, strict=True):
        place += s.from_index(index) * step
    return place


# --- writing parts -------------------------------------------------------------------------------------------


@lowering("aten.slice_scatter", takes_complex=True)
def slice_scatter(
    b: LinalgBuilder, self: Tensor, src: Tensor, dim: int, start: Dim | None, end: Dim | None, step: Dim
) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    whole = self.shape[dim]
    count = slice_size(whole, start, end, step)
    assert count is not None, "numbers that depend on data are refused"
    offsets, sizes, strides = window(self.shape, dim, clamped(start or 0, whole), count, step)
    return b.insert(b.broadcast(b.convert(src, self.dtype), tuple(sizes)), self, offsets, strides)


@lowering("aten.diagonal_scatter", static=["offset"], takes_complex=True)
def diagonal_scatter(
    b: LinalgBuilder, self: Tensor, src: Tensor, offset: int, dim1: int, dim2: int
) -> Tensor:
    dim1, dim2 = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    rows, columns = max(-offset, 0), max(offset, 0)

    def step(_: Tensor, *at: SSAValue) -> tuple[list[Scalar | SSAValue], Scalar]:
        *others, along = at
        place: list[Scalar | SSAValue] = list(others)
        for dim, shift in sorted([(dim1, rows), (dim2, columns)]):
            place.insert(dim, s.from_index(along) + shift)
        return place, read(src, at)

    return b.update(self, src.shape, step)


@lowering("aten.as_strided_scatter", takes_complex=True)
def as_strided_scatter(
    b: LinalgBuilder,
    self: Tensor,
    src: Tensor,
    size: list[Dim],
    stride: list[Dim],
    storage_offset: Dim | None,
) -> Tensor:
    def step(_: Tensor, *at: SSAValue) -> tuple[list[Scalar], Scalar]:
        return [in_storage(at, stride, storage_offset)], read(src, at)

    flat = b.update(b.reshape(self, (prod(self.shape),)), tuple(size), step)
    return b.reshape(flat, self.shape)
