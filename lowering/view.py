"""Lowerings of views and rearrangements: reshapes, slices, and copies through affine maps of the result's indices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, Shape, Tensor, read, static_shape
from xdsl_exir.lowering.linalg import dims as loop_indices
from xdsl_exir.lowering.scalar import Scalar

Out = list[TensorMeta]


# --- reshaping and permuting ---------------------------------------------------------------------------------


@lowering("aten.view", "aten.view_copy", "aten.unsqueeze", "aten.squeeze.dims")
def view(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return b.reshape(self, static_shape(out[0]))


@lowering("aten.permute", "aten.permute_copy")
def permute(b: LinalgBuilder, self: Tensor, dims: list[int]) -> Tensor:
    return b.permute(self, [wrap_dim(dim, self.ndim) for dim in dims])


def pick(b: LinalgBuilder, self: Tensor, exprs: Sequence[AffineExpr], shape: Shape) -> Tensor:
    """The elements at affine functions of the result's indices."""
    init = Tensor(b.empty(shape, self.dtype), shape, self.dtype)
    return b.copy(self, AffineMap(len(shape), 0, tuple(exprs)), init)


@lowering("aten.flip")
def flip(b: LinalgBuilder, self: Tensor, dims: list[int]) -> Tensor:
    if not self.ndim:
        return self
    flipped = {wrap_dim(dim, self.ndim) for dim in dims}
    exprs = [
        AffineExpr.constant(size - 1) - AffineExpr.dimension(dim)
        if dim in flipped
        else AffineExpr.dimension(dim)
        for dim, size in enumerate(self.shape)
    ]
    return pick(b, self, exprs, self.shape)


# --- broadcasting and repeating ------------------------------------------------------------------------------


@lowering("aten.expand")
def expand(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return b.broadcast(self, static_shape(out[0]))


@lowering("aten.repeat")
def repeat(b: LinalgBuilder, self: Tensor, repeats: list[int]) -> Tensor:
    """Every dimension behind one of its repetitions, of which both become one."""
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    apart = tuple(size for pair in zip([1] * len(shape), shape, strict=True) for size in pair)
    copies = tuple(size for pair in zip(repeats, shape, strict=True) for size in pair)
    together = tuple(count * size for count, size in zip(repeats, shape, strict=True))
    return b.reshape(b.broadcast(b.reshape(self, apart), copies), together)


# --- taking parts --------------------------------------------------------------------------------------------


def part(b: LinalgBuilder, self: Tensor, dim: int, start: int, size: int, step: int = 1) -> Tensor:
    """Some of a dimension."""
    return self if size == self.shape[dim] else b.slice(self, *window(self.shape, dim, start, size, step))


def window(
    shape: Shape, dim: int, start: int, size: int, step: int = 1
) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides of some of a dimension and all of the others."""
    offsets, sizes, strides = [0] * len(shape), list(shape), [1] * len(shape)
    offsets[dim], sizes[dim], strides[dim] = start, size, step
    return offsets, sizes, strides


@lowering("aten.slice.Tensor")
def slice_tensor(
    b: LinalgBuilder, self: Tensor, dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    places = range(self.shape[dim])[start:end:step]
    return part(b, self, dim, places.start, len(places), step)


@lowering("aten.select.int")
def select(b: LinalgBuilder, self: Tensor, dim: int, index: int, out: Out) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    place = range(self.shape[dim])[index]
    return b.reshape(part(b, self, dim, place, 1), static_shape(out[0]))


@lowering("aten.split_with_sizes")
def split_with_sizes(b: LinalgBuilder, self: Tensor, split_sizes: list[int], dim: int) -> list[Tensor]:
    dim = wrap_dim(dim, self.ndim)
    starts = [sum(split_sizes[:index]) for index in range(len(split_sizes))]
    return [part(b, self, dim, start, size) for start, size in zip(starts, split_sizes, strict=True)]


@lowering("aten.diagonal")
def diagonal(b: LinalgBuilder, self: Tensor, offset: int, dim1: int, dim2: int, out: Out) -> Tensor:
    dim1, dim2 = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    shape = static_shape(out[0])
    # The square whose main diagonal it is: a dimension that one loop runs over has to be as long as the loop.
    square = part(b, self, dim1, max(-offset, 0), shape[-1])
    square = part(b, square, dim2, max(offset, 0), shape[-1])
    *exprs, along = loop_indices(self.ndim - 1)
    for dim in sorted([dim1, dim2]):
        exprs.insert(dim, along)
    return pick(b, square, exprs, shape)


@lowering("aten.unfold")
def unfold(b: LinalgBuilder, self: Tensor, dimension: int, step: int, out: Out) -> Tensor:
    shape = static_shape(out[0])
    if not self.ndim:
        return (
            b.reshape(self, shape) if shape == (1,) else Tensor(b.empty(shape, self.dtype), shape, self.dtype)
        )
    *exprs, inside = loop_indices(len(shape))
    dim = wrap_dim(dimension, self.ndim)
    exprs[dim] = exprs[dim] * step + inside
    return pick(b, self, exprs, shape)


@lowering("aten.as_strided")
def as_strided(
    b: LinalgBuilder, self: Tensor, size: list[int], stride: list[int], storage_offset: int | None
) -> Tensor:
    shape = tuple(size)
    if 0 in shape:
        return Tensor(b.empty(shape, self.dtype), shape, self.dtype)
    # Dimensions of size 1 stay where they are, whatever their stride.
    terms = [
        dim * step
        for dim, step, length in zip(loop_indices(len(size)), stride, size, strict=True)
        if length > 1
    ]
    reach = 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    storage = part(b, b.reshape(self, (prod(self.shape),)), 0, storage_offset or 0, reach)
    return pick(b, storage, [sum(terms, AffineExpr.constant(0))], shape)


# --- writing parts -------------------------------------------------------------------------------------------


@lowering("aten.slice_scatter")
def slice_scatter(
    b: LinalgBuilder, self: Tensor, src: Tensor, dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    places = range(self.shape[dim])[start:end:step]
    offsets, sizes, strides = window(self.shape, dim, places.start, len(places), step)
    return b.insert(b.broadcast(b.convert(src, self.dtype), tuple(sizes)), self, offsets, strides)


@lowering("aten.diagonal_scatter")
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


@lowering("aten.as_strided_scatter")
def as_strided_scatter(
    b: LinalgBuilder,
    self: Tensor,
    src: Tensor,
    size: list[int],
    stride: list[int],
    storage_offset: int | None,
) -> Tensor:
    def step(_: Tensor, *at: SSAValue) -> tuple[list[Scalar], Scalar]:
        place = s.constant(storage_offset or 0, dt.Long)
        for index, step in zip(at, stride, strict=True):
            place += s.from_index(index) * step
        return [place], read(src, at)

    flat = b.update(b.reshape(self, (prod(self.shape),)), tuple(size), step)
    return b.reshape(flat, self.shape)


# --- joining and padding -------------------------------------------------------------------------------------


@lowering("aten.cat")
def cat(b: LinalgBuilder, tensors: list[Tensor], dim: int, out: Out) -> Tensor:
    """Parts put one behind another. Vectors without elements count for nothing, whatever the others' rank."""
    shape, dtype = static_shape(out[0]), out[0].dtype
    dim = wrap_dim(dim, len(shape))
    parts = [
        b.convert(tensor, dtype) for tensor in tensors if tensor.ndim == len(shape) and tensor.shape[dim]
    ]
    if len(parts) == 1:
        return parts[0]
    result = Tensor(b.empty(shape, dtype), shape, dtype)
    start = 0
    for tensor in parts:
        offsets, _, _ = window(shape, dim, start, tensor.shape[dim])
        result = b.insert(tensor, result, offsets)
        start += tensor.shape[dim]
    return result


@lowering("aten.constant_pad_nd")
def constant_pad_nd(b: LinalgBuilder, self: Tensor, pad: list[int], value: float) -> Tensor:
    """A border of one number; a negative pad takes away."""
    untouched = [0] * (self.ndim - len(pad) // 2)
    low, high = untouched + pad[-2::-2], untouched + pad[::-2]
    offsets = [max(-before, 0) for before in low]
    sizes = [
        size + min(before, 0) + min(after, 0)
        for size, before, after in zip(self.shape, low, high, strict=True)
    ]
    kept = self if tuple(sizes) == self.shape else b.slice(self, offsets, sizes, [1] * self.ndim)
    return b.pad(kept, [max(before, 0) for before in low], [max(after, 0) for after in high], value)
