"""Lowerings of views and rearrangements: reshapes, slices, and copies through affine maps of the result's indices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, max_, min_, prod
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.shapes.view import clamped, from_start, slice_size
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, read, storage_type
from xdsl_exir.lowering.linalg import dims as loop_indices
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes

Out = list[TensorMeta]


# --- reshaping and permuting ---------------------------------------------------------------------------------


@lowering("aten.view", "aten.view_copy", "aten._unsafe_view", "aten.unsqueeze", "aten.squeeze.dims")
def view(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return b.reshape(self, out[0].shape)


@lowering("aten.permute", "aten.permute_copy")
def permute(b: LinalgBuilder, self: Tensor, dims: list[int]) -> Tensor:
    return b.permute(self, [wrap_dim(dim, self.ndim) for dim in dims])


def pick(b: LinalgBuilder, self: Tensor, exprs: Sequence[AffineExpr], shape: Sizes) -> Tensor:
    """The elements at affine functions of the result's indices."""
    init = Tensor(b.empty(shape, self.dtype), shape, self.dtype)
    return b.copy(self, AffineMap(len(shape), 0, tuple(exprs)), init)


@lowering("aten.flip")
def flip(b: LinalgBuilder, self: Tensor, dims: list[int]) -> Tensor:
    if not self.ndim:
        return self
    flipped = {wrap_dim(dim, self.ndim) for dim in dims}

    def element(*at: SSAValue) -> Scalar:
        place: list[Scalar | SSAValue] = list(at)
        for dim in flipped:
            place[dim] = s.constant(self.shape[dim] - 1, dt.Long) - s.from_index(at[dim])
        return read(self, place)

    return b.indexed(element, self.shape, self.dtype)


# --- other dtypes --------------------------------------------------------------------------------------------

BITS = {8: dt.Byte, 16: dt.UInt16, 32: dt.UInt32, 64: dt.UInt64}
"""Dtypes of bit patterns, by width."""


def bitcast(b: LinalgBuilder, self: Tensor, dtype: DType) -> Tensor:
    """The elements' bits as elements of another dtype of that width."""
    source, target = storage_type(self.dtype), storage_type(dtype)
    if source == target:
        return Tensor(self.value, self.shape, dtype)
    block = Block(arg_types=[source, target])
    with ImplicitBuilder(block):
        linalg.YieldOp(arith.BitcastOp(block.args[0], target))
    init = b.empty(self.shape, dtype)
    identity = AffineMapAttr(AffineMap.identity(self.ndim))
    parallel = IteratorTypeAttr(IteratorType.PARALLEL)
    op = linalg.GenericOp(
        [self.value],
        [init],
        Region(block),
        [identity, identity],
        ArrayAttr([parallel] * self.ndim),
        [init.type],
    )
    return Tensor(b.add(op), self.shape, dtype)


def parts_of(b: LinalgBuilder, self: Tensor) -> Tensor:
    """Complex numbers as pairs: real and imaginary parts are one more dimension."""
    shape = (*self.shape, 2)

    def part(x: Scalar, *at: SSAValue) -> Scalar:
        return s.select(s.from_index(at[-1]).equals(0), s.real(x), s.imaginary(x))

    of_pair = AffineMap(len(shape), 0, tuple(loop_indices(self.ndim)))
    return b.indexed(part, shape, s.PARTS[self.dtype], [(self, of_pair)])


def of_parts(b: LinalgBuilder, self: Tensor) -> Tensor:
    """Pairs as complex numbers."""
    shape, rank = self.shape[:-1], self.ndim - 1
    dtype = next(whole for whole, part in s.PARTS.items() if part is self.dtype)
    places = loop_indices(rank)
    parts = [(self, AffineMap(rank, 0, (*places, AffineExpr.constant(which)))) for which in (0, 1)]
    return b.generic(
        parts,
        Tensor(b.empty(shape, dtype), shape, dtype),
        AffineMap.identity(rank),
        ["parallel"] * rank,
        lambda real, imaginary, _: s.complex_number(real, imaginary),
    )


@lowering("aten.view.dtype")
def view_dtype(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    """The same memory. Complex numbers are pairs in it."""
    dtype, shape = out[0].dtype, out[0].shape
    if self.dtype is dtype:
        return self
    *rest, last = self.shape or (1,)
    if self.dtype.category is Category.COMPLEX:
        self = b.reshape(parts_of(b, self), (*rest, last * 2))
    else:
        self = b.reshape(self, (*rest, last))
    if dtype.category is not Category.COMPLEX:
        return b.reshape(same_bits(b, self, shape or (1,), dtype), shape)
    *rest, last = shape or (1,)
    return of_parts(b, b.reshape(same_bits(b, self, (*rest, last * 2), s.PARTS[dtype]), (*shape, 2)))


def same_bits(b: LinalgBuilder, self: Tensor, shape: Sizes, dtype: DType) -> Tensor:
    """The memory as real numbers. Where widths differ the last dimension is cut into parts or put together, the lowest
    bits first."""
    source, target = BITS[self.dtype.bits], BITS[dtype.bits]
    bits = bitcast(b, self, source)
    ratio = max(source.bits, target.bits) // min(source.bits, target.bits)

    def cut(*at: SSAValue) -> Scalar:
        place = s.from_index(at[-1])
        whole = s.cast(read(bits, [*at[:-1], place / ratio]), source)
        return s.cast(
            s.shift_right(whole, s.cast(s.rem(place, s.constant(ratio, dt.Long)) * target.bits, source)),
            target,
        )

    def joined(*at: SSAValue) -> Scalar:
        first = s.from_index(at[-1]) * ratio
        total = s.constant(0, target)
        for part in range(ratio):
            piece = s.cast(s.cast(read(bits, [*at[:-1], first + part]), source), target)
            total = total | s.shift_left(piece, s.constant(part * source.bits, target))
        return total

    if source.bits != target.bits:
        bits = b.indexed(cut if source.bits > target.bits else joined, shape, target)
    return bitcast(b, bits, dtype)


# --- broadcasting and repeating ------------------------------------------------------------------------------


@lowering("aten.expand")
def expand(b: LinalgBuilder, self: Tensor, out: Out) -> Tensor:
    return b.broadcast(self, out[0].shape)


@lowering("aten.repeat")
def repeat(b: LinalgBuilder, self: Tensor, repeats: list[Dim]) -> Tensor:
    """Every dimension behind one of its repetitions, of which both become one."""
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    apart = tuple(size for pair in zip([1] * len(shape), shape, strict=True) for size in pair)
    copies = tuple(size for pair in zip(repeats, shape, strict=True) for size in pair)
    together = tuple(count * size for count, size in zip(repeats, shape, strict=True))
    return b.reshape(b.broadcast(b.reshape(self, apart), copies), together)


# --- taking parts --------------------------------------------------------------------------------------------


def part(b: LinalgBuilder, self: Tensor, dim: int, start: Dim, size: Dim, step: int = 1) -> Tensor:
    """Some of a dimension."""
    return self if size == self.shape[dim] else b.slice(self, *window(self.shape, dim, start, size, step))


def window(
    shape: Sizes, dim: int, start: Dim, size: Dim, step: int = 1
) -> tuple[list[Dim], list[Dim], list[int]]:
    """Offsets, sizes and strides of some of a dimension and all of the others."""
    offsets: list[Dim] = [0] * len(shape)
    sizes, strides = list(shape), [1] * len(shape)
    offsets[dim], sizes[dim], strides[dim] = start, size, step
    return offsets, sizes, strides


@lowering("aten.slice.Tensor", static=["step"])
def slice_tensor(b: LinalgBuilder, self: Tensor, dim: int, start: Dim | None, step: int, out: Out) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    return part(b, self, dim, clamped(start or 0, self.shape[dim]), out[0].shape[dim], step)


@lowering("aten.select.int")
def select(b: LinalgBuilder, self: Tensor, dim: int, index: Dim, out: Out) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    return b.reshape(part(b, self, dim, from_start(index, self.shape[dim]), 1), out[0].shape)


@lowering("aten.split_with_sizes")
def split_with_sizes(b: LinalgBuilder, self: Tensor, split_sizes: list[Dim], dim: int) -> list[Tensor]:
    dim = wrap_dim(dim, self.ndim)
    start: Dim = 0
    parts: list[Tensor] = []
    for size in split_sizes:
        parts.append(part(b, self, dim, start, size))
        start = start + size
    return parts


@lowering("aten.diagonal", static=["offset"])
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


@lowering("aten.unfold", static=["step"])
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


@lowering("aten.as_strided")
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


@lowering("aten.slice_scatter", static=["step"])
def slice_scatter(
    b: LinalgBuilder, self: Tensor, src: Tensor, dim: int, start: Dim | None, end: Dim | None, step: int
) -> Tensor:
    dim = wrap_dim(dim, self.ndim)
    whole = self.shape[dim]
    count = slice_size(whole, start, end, step)
    assert count is not None, "numbers that depend on data are refused"
    offsets, sizes, strides = window(self.shape, dim, clamped(start or 0, whole), count, step)
    return b.insert(b.broadcast(b.convert(src, self.dtype), tuple(sizes)), self, offsets, strides)


@lowering("aten.diagonal_scatter", static=["offset"])
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
    size: list[Dim],
    stride: list[Dim],
    storage_offset: Dim | None,
) -> Tensor:
    def step(_: Tensor, *at: SSAValue) -> tuple[list[Scalar], Scalar]:
        return [in_storage(at, stride, storage_offset)], read(src, at)

    flat = b.update(b.reshape(self, (prod(self.shape),)), tuple(size), step)
    return b.reshape(flat, self.shape)


# --- joining and padding -------------------------------------------------------------------------------------


@lowering("aten.cat")
def cat(b: LinalgBuilder, tensors: list[Tensor], dim: int, out: Out) -> Tensor:
    """Parts put one behind another. Vectors without elements count for nothing, whatever the others' rank."""
    shape, dtype = out[0].shape, out[0].dtype
    dim = wrap_dim(dim, len(shape))
    parts = [
        b.convert(tensor, dtype) for tensor in tensors if tensor.ndim == len(shape) and tensor.shape[dim] != 0
    ]
    if len(parts) == 1:
        return parts[0]
    result = Tensor(b.empty(shape, dtype), shape, dtype)
    start: Dim = 0
    for tensor in parts:
        offsets, _, _ = window(shape, dim, start, tensor.shape[dim])
        result = b.insert(tensor, result, offsets)
        start = start + tensor.shape[dim]
    return result


@lowering("aten.constant_pad_nd")
def constant_pad_nd(b: LinalgBuilder, self: Tensor, pad: list[Dim], value: float) -> Tensor:
    """A border of one number; a negative pad takes away."""
    untouched: list[Dim] = [0] * (self.ndim - len(pad) // 2)
    low, high = untouched + pad[-2::-2], untouched + pad[::-2]
    offsets = [max_(0 - before, 0) for before in low]
    sizes = [
        size + min_(before, 0) + min_(after, 0)
        for size, before, after in zip(self.shape, low, high, strict=True)
    ]
    kept = self if tuple(sizes) == self.shape else b.slice(self, offsets, sizes, [1] * self.ndim)
    return b.pad(kept, [max_(before, 0) for before in low], [max_(after, 0) for after in high], value)
