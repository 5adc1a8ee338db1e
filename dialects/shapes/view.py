"""Shape rules of views and rearrangements: results hold elements of the operands in other places.

In Export IR's functional form a view is a value like any other, so nothing here looks at strides: `view` takes every
operand, as `reshape` does. Where PyTorch decides by a size whether to drop or broadcast a dimension, a symbolic size
counts as other than 1, as in `torch.export`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, Expr, apply, ceildiv, max_, min_, prod, provably
from xdsl_exir.dialects.meta import (
    MetaError,
    Shape,
    broadcast_shapes,
    check,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
    wrap_dims,
)
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta

Size: TypeAlias = Dim | NumberMeta
"""A SymInt argument; `NumberMeta` is one that the program computes and no expression tells."""
PartialShape: TypeAlias = tuple[Dim | None, ...]
"""A shape of which some sizes depend on the data."""
Tensors: TypeAlias = list[TensorMeta]


def may_be_at_most(a: Dim, b: Dim) -> bool:
    """Whether a <= b is possible: False only where it is disproved."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    return provably(apply("le", a, b)) is not False


def is_at_most(a: Dim, b: Dim) -> bool:
    """Whether a <= b is certain."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    return provably(apply("le", a, b)) is True


def divides(divisor: Dim, size: Dim) -> bool:
    """Whether a size may be a multiple of another: False only where it is disproved."""
    return divisor != 0 and same_size(size % divisor, 0)


def is_negative(value: Dim) -> bool | None:
    """Whether a number is below zero; None where that is not known."""
    return value < 0 if isinstance(value, int) else provably(apply("lt", value, 0))


def static(size: Dim, what: str) -> int:
    """A size that decides how many results there are. Raises `MetaError` for a symbolic one."""
    if isinstance(size, Expr):
        raise MetaError(f"{what} is symbolic ({size}); the number of results must be known")
    return size


def replaced(shape: Sequence[Dim], dim: int, size: Dim | None) -> PartialShape:
    """A shape with another size in one place."""
    return (*shape[:dim], size, *shape[dim + 1 :])


def without(shape: Sequence[Dim], *dims: int) -> Shape:
    """A shape without some of its dimensions."""
    return tuple(size for dim, size in enumerate(shape) if dim not in dims)


def only_sizes(size: Sequence[Size]) -> PartialShape:
    """Requested sizes; those that the data decide are None. Raises `MetaError` for a negative one."""
    known = tuple(None if isinstance(item, NumberMeta) else item for item in size)
    check(all(item is None or is_negative(item) is not True for item in known), "a size is negative")
    return known


# --- reshaping -----------------------------------------------------------------------------------------------


def infer_size(count: Dim, size: Sequence[Size]) -> PartialShape:
    """Sizes for this many elements, of which one may be -1 (at::infer_size)."""
    shown = f"[{', '.join('?' if isinstance(item, NumberMeta) else str(item) for item in size)}]"
    open_dims = [dim for dim, item in enumerate(size) if item == -1]
    check(len(open_dims) <= 1, f"only one size of {shown} may be -1")
    if any(isinstance(item, NumberMeta) for item in size):
        return tuple(None if isinstance(item, NumberMeta) or item == -1 else item for item in size)
    sizes = [item for item in size if not isinstance(item, NumberMeta)]
    given = [item for item in sizes if item != -1]
    check(all(is_negative(item) is not True for item in given), f"a size of {shown} is negative")
    known = prod(given)
    message = f"shape {shown} is invalid for {count} elements"
    if not open_dims:
        check(same_size(known, count), message)
        return tuple(sizes)
    check(divides(known, count), message)
    return replaced(sizes, open_dims[0], count // known)


@shape_rule("aten.view.dtype", "aten.view_copy.dtype")
def view_dtype(self: TensorMeta, dtype: DType) -> Shape:
    """The same bytes as elements of another size: as many more or fewer in the last dimension."""
    old, new = self.dtype.bits, dtype.bits
    if old == new:
        return self.shape
    check(self.ndim > 0, f"a 0-dim tensor of {old} bits has no view of {new}")
    *front, last = self.shape
    check(divides(new // old or 1, last), f"{last} elements of {old} bits are no multiple of {new} bits")
    # Strides must be multiples too, and are one along the front where the last dimension is empty.
    check(old > new or not front or last != 0, f"no elements of {old} bits are viewed as {new} bits")
    return (*front, last * (old // new) if old > new else last // (new // old))


@shape_rule("aten.view", "aten._unsafe_view", "aten.view_copy")
def view(self: TensorMeta, size: list[Size]) -> PartialShape:
    return infer_size(numel(self.shape), size)


@shape_rule("aten.reshape")
def reshape(self: TensorMeta, shape: list[Size]) -> PartialShape:
    return infer_size(numel(self.shape), shape)


@shape_rule("aten.view_as", "aten.reshape_as")
def view_as(self: TensorMeta, other: TensorMeta) -> PartialShape:
    return infer_size(numel(self.shape), other.shape)


@shape_rule("aten.flatten.using_ints")
def flatten(self: TensorMeta, start_dim: int, end_dim: int) -> Shape:
    start, end = wrap_dim(start_dim, self.ndim), wrap_dim(end_dim, self.ndim)
    check(start <= end, "start_dim comes after end_dim")
    return (*self.shape[:start], prod(self.shape[start : end + 1]), *self.shape[end + 1 :])


@shape_rule("aten.ravel")
def ravel(self: TensorMeta) -> Shape:
    return (numel(self.shape),)


@shape_rule("aten.unflatten.int")
def unflatten(self: TensorMeta, dim: int, sizes: list[Size]) -> PartialShape:
    check(self.ndim > 0 and len(sizes) > 0, "needs a dimension and sizes to unflatten it to")
    dim = wrap_dim(dim, self.ndim)
    return (*self.shape[:dim], *infer_size(self.shape[dim], sizes), *self.shape[dim + 1 :])


@shape_rule("aten.unsqueeze", "aten.unsqueeze_copy")
def unsqueeze(self: TensorMeta, dim: int) -> Shape:
    dim = wrap_dim(dim, self.ndim + 1)
    return (*self.shape[:dim], 1, *self.shape[dim:])


def squeezed(shape: Sequence[Dim], dims: Sequence[int]) -> Shape:
    return tuple(size for dim, size in enumerate(shape) if dim not in dims or size != 1)


@shape_rule("aten.squeeze", "aten.squeeze_copy")
def squeeze(self: TensorMeta) -> Shape:
    return squeezed(self.shape, range(self.ndim))


@shape_rule("aten.squeeze.dim", "aten.squeeze_copy.dim")
def squeeze_dim(self: TensorMeta, dim: int) -> Shape:
    return squeezed(self.shape, [wrap_dim(dim, self.ndim)])


@shape_rule("aten.squeeze.dims", "aten.squeeze_copy.dims")
def squeeze_dims(self: TensorMeta, dim: list[int]) -> Shape:
    return squeezed(self.shape, wrap_dims(dim, self.ndim))


def at_least(shape: Sequence[Dim], rank: int) -> Shape:
    """A shape with sizes 1 added as `atleast_1d`, `atleast_2d` and `atleast_3d` do."""
    shape = tuple(shape)
    if len(shape) < min(rank, 2):
        shape = (1,) * (min(rank, 2) - len(shape)) + shape
    return shape + (1,) * (rank - len(shape))


@shape_rule("aten.atleast_1d")
def atleast_1d(self: TensorMeta) -> Shape:
    return at_least(self.shape, 1)


@shape_rule("aten.atleast_1d.Sequence")
def atleast_1d_of_each(tensors: Tensors) -> list[Shape]:
    return [at_least(tensor.shape, 1) for tensor in tensors]


@shape_rule("aten.atleast_2d")
def atleast_2d(self: TensorMeta) -> Shape:
    return at_least(self.shape, 2)


@shape_rule("aten.atleast_2d.Sequence")
def atleast_2d_of_each(tensors: Tensors) -> list[Shape]:
    return [at_least(tensor.shape, 2) for tensor in tensors]


@shape_rule("aten.atleast_3d")
def atleast_3d(self: TensorMeta) -> Shape:
    return at_least(self.shape, 3)


@shape_rule("aten.atleast_3d.Sequence")
def atleast_3d_of_each(tensors: Tensors) -> list[Shape]:
    return [at_least(tensor.shape, 3) for tensor in tensors]


@shape_rule("aten.alias_copy", "aten.detach_copy")
def alias_copy(self: TensorMeta) -> Shape:
    return self.shape


@shape_rule("aten.pixel_shuffle")
def pixel_shuffle(self: TensorMeta, upscale_factor: int) -> Shape:
    r = upscale_factor
    check(self.ndim >= 3 and r > 0, "needs [..., C, H, W] and a positive factor")
    *batch, c, h, w = self.shape
    check(divides(r * r, c), f"{c} channels are no multiple of {r}^2")
    return (*batch, c // (r * r), h * r, w * r)


@shape_rule("aten.pixel_unshuffle")
def pixel_unshuffle(self: TensorMeta, downscale_factor: int) -> Shape:
    r = downscale_factor
    check(self.ndim >= 3 and r > 0, "needs [..., C, H, W] and a positive factor")
    *batch, c, h, w = self.shape
    check(divides(r, h) and divides(r, w), f"{h} x {w} is no multiple of {r}")
    return (*batch, c * (r * r), h // r, w // r)


@shape_rule("aten.channel_shuffle", "aten.native_channel_shuffle")
def channel_shuffle(self: TensorMeta, groups: Size) -> Shape:
    check(self.ndim >= 3, "needs [N, C, *]")
    if not isinstance(groups, NumberMeta):
        check(is_negative(groups - 1) is not True, "groups must be positive")
        check(divides(groups, self.shape[1]), f"{self.shape[1]} channels are no multiple of {groups}")
    return self.shape


# --- permuting -----------------------------------------------------------------------------------------------


@shape_rule("aten.permute", "aten.permute_copy")
def permute(self: TensorMeta, dims: list[int]) -> Shape:
    check(len(dims) == self.ndim, f"{len(dims)} dims for {self.ndim} dimensions")
    return tuple(self.shape[dim] for dim in wrap_dims(dims, self.ndim))


def swapped(shape: Sequence[Dim], dim0: int, dim1: int) -> Shape:
    dim0, dim1 = wrap_dim(dim0, len(shape)), wrap_dim(dim1, len(shape))
    order = list(shape)
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return tuple(order)


@shape_rule("aten.transpose.int", "aten.transpose_copy.int", "aten.swapdims")
def transpose(self: TensorMeta, dim0: int, dim1: int) -> Shape:
    return swapped(self.shape, dim0, dim1)


@shape_rule("aten.swapaxes")
def swapaxes(self: TensorMeta, axis0: int, axis1: int) -> Shape:
    return swapped(self.shape, axis0, axis1)


@shape_rule("aten.t", "aten.t_copy")
def t(self: TensorMeta) -> Shape:
    check(self.ndim <= 2, f"takes at most 2 dimensions, not {self.ndim}")
    return self.shape[::-1]


@shape_rule("aten.numpy_T")
def numpy_t(self: TensorMeta) -> Shape:
    return self.shape[::-1]


@shape_rule("aten.mT", "aten.mH", "aten.adjoint")
def mt(self: TensorMeta) -> Shape:
    check(self.ndim != 1, "takes matrices, not a vector")
    return swapped(self.shape, -2, -1) if self.ndim else ()


@shape_rule("aten.matrix_H")
def matrix_h(self: TensorMeta) -> Shape:
    check(self.ndim in (0, 2), f"takes a matrix, not {self.ndim} dimensions")
    return self.shape[::-1]


def movedim_order(rank: int, source: Sequence[int], destination: Sequence[int]) -> list[int]:
    """Which dimension of the operand each dimension of the result is."""
    check(len(source) == len(destination), "source and destination are of different lengths")
    sources, destinations = wrap_dims(source, rank), wrap_dims(destination, rank)
    if rank == 0:
        return []
    target = dict(zip(destinations, sources, strict=True))
    rest = iter(dim for dim in range(rank) if dim not in sources)
    return [target[dim] if dim in target else next(rest) for dim in range(rank)]


@shape_rule("aten.movedim.int", "aten.moveaxis.int")
def movedim(self: TensorMeta, source: int, destination: int) -> Shape:
    return tuple(self.shape[dim] for dim in movedim_order(self.ndim, [source], [destination]))


@shape_rule("aten.movedim.intlist", "aten.moveaxis.intlist")
def movedim_list(self: TensorMeta, source: list[int], destination: list[int]) -> Shape:
    return tuple(self.shape[dim] for dim in movedim_order(self.ndim, source, destination))


@shape_rule("aten.flip")
def flip(self: TensorMeta, dims: list[int]) -> Shape:
    wrap_dims(dims, self.ndim)
    return self.shape


@shape_rule("aten.fliplr")
def fliplr(self: TensorMeta) -> Shape:
    check(self.ndim >= 2, "needs 2 dimensions")
    return self.shape


@shape_rule("aten.flipud")
def flipud(self: TensorMeta) -> Shape:
    check(self.ndim >= 1, "needs a dimension")
    return self.shape


@shape_rule("aten.rot90")
def rot90(self: TensorMeta, k: int, dims: list[int]) -> Shape:
    check(self.ndim >= 2 and len(dims) == 2, "turns a plane of two dimensions")
    dim0, dim1 = wrap_dims(dims, self.ndim)
    return swapped(self.shape, dim0, dim1) if k % 2 else self.shape


@shape_rule("aten.roll")
def roll(self: TensorMeta, shifts: list[Size], dims: list[int]) -> Shape:
    check(len(shifts) > 0, "needs a shift")
    if dims or len(shifts) != 1:
        check(len(shifts) == len(dims), f"{len(shifts)} shifts for {len(dims)} dims")
        check(self.ndim > 0, "a 0-dim tensor has no dims to roll")
    for dim in dims:
        wrap_dim(dim, self.ndim)
    return self.shape


# --- broadcasting and repeating ------------------------------------------------------------------------------


@shape_rule("aten.expand", "aten.expand_copy", "aten.broadcast_to")
def expand(self: TensorMeta, size: list[Size]) -> PartialShape:
    added = len(size) - self.ndim
    check(added >= 0, f"{len(size)} sizes for {self.ndim} dimensions")
    only_sizes([item for item in size if item != -1])
    check(-1 not in size[:added], "a new dimension cannot be -1")

    def expanded(old: Dim, new: Size) -> Dim | None:
        if new == -1:
            return old
        if isinstance(new, NumberMeta):
            return None if old == 1 else old
        check(old == 1 or same_size(old, new), f"size {old} does not expand to {new}")
        return new if old == 1 or isinstance(new, int) else old

    old_sizes = (1,) * added + self.shape
    return tuple(expanded(old, new) for old, new in zip(old_sizes, size, strict=True))


@shape_rule("aten.expand_as")
def expand_as(self: TensorMeta, other: TensorMeta) -> PartialShape:
    return expand(self, list(other.shape))


@shape_rule("aten.broadcast_tensors")
def broadcast_tensors(tensors: Tensors) -> list[Shape]:
    return [broadcast_shapes(*(tensor.shape for tensor in tensors))] * len(tensors)


@shape_rule("aten.meshgrid.indexing")
def meshgrid_indexing(tensors: Tensors, indexing: str) -> list[Shape]:
    check(len(tensors) > 0, "needs a tensor")
    check(indexing in ("ij", "xy"), f"indexing is '{indexing}', not 'ij' or 'xy'")
    check(all(tensor.ndim <= 1 for tensor in tensors), "takes tensors of at most one dimension")
    sizes = [tensor.shape[0] if tensor.ndim else 1 for tensor in tensors]
    if indexing == "xy":
        sizes[:2] = sizes[1::-1]
    return [tuple(sizes)] * len(tensors)


@shape_rule("aten.meshgrid")
def meshgrid(tensors: Tensors) -> list[Shape]:
    return meshgrid_indexing(tensors, "ij")


def repeated(shape: Sequence[Dim], repeats: Sequence[Size]) -> PartialShape:
    factors = only_sizes(repeats)
    old = (1,) * (len(factors) - len(shape)) + tuple(shape)
    return tuple(None if factor is None else size * factor for size, factor in zip(old, factors, strict=True))


@shape_rule("aten.repeat")
def repeat(self: TensorMeta, repeats: list[Size]) -> PartialShape:
    check(len(repeats) >= self.ndim, f"{len(repeats)} repeats for {self.ndim} dimensions")
    return repeated(self.shape, repeats)


@shape_rule("aten.tile")
def tile(self: TensorMeta, dims: list[Size]) -> PartialShape:
    return repeated(self.shape, [1] * (self.ndim - len(dims)) + dims)


@shape_rule("aten.repeat_interleave.self_int")
def repeat_interleave(self: TensorMeta, repeats: Size, dim: int | None) -> PartialShape:
    [factor] = only_sizes([repeats])
    shape = (numel(self.shape),) if dim is None else self.shape
    check(len(shape) > 0, "a 0-dim tensor has no dim to repeat along")
    dim = wrap_dim(dim or 0, len(shape))
    return replaced(shape, dim, None if factor is None else shape[dim] * factor)


@shape_rule("aten.repeat_interleave.Tensor")
def repeated_places(repeats: TensorMeta, output_size: Size | None) -> PartialShape:
    check(repeats.ndim == 1, f"repeats are a vector, not of shape {shape_text(repeats.shape)}")
    return only_sizes([output_size]) if output_size is not None else (None,)


@shape_rule("aten.repeat_interleave.self_Tensor")
def repeat_interleave_by(
    self: TensorMeta, repeats: TensorMeta, dim: int | None, output_size: Size | None
) -> PartialShape:
    shape = (numel(self.shape),) if dim is None else self.shape
    check(len(shape) > 0, "a 0-dim tensor has no dim to repeat along")
    dim = wrap_dim(dim or 0, len(shape))
    fits = repeats.ndim == 0 or repeats.shape[0] == 1 or same_size(repeats.shape[0], shape[dim])
    check(repeats.ndim <= 1 and fits, f"repeats {shape_text(repeats.shape)} of a dimension of {shape[dim]}")
    return replaced(shape, dim, None if output_size is None else only_sizes([output_size])[0])


# --- taking parts --------------------------------------------------------------------------------------------


MAX_INT = (1 << 63) - 1
"""The bound by which PyTorch says: to the end."""


def smaller(a: Dim, b: Dim) -> Dim:
    """The smaller of two sizes, without `min` where it is known."""
    return a if is_at_most(a, b) else b if is_at_most(b, a) else min_(a, b)


def larger(a: Dim, b: Dim) -> Dim:
    """The larger of two sizes, without `max` where it is known."""
    return b if is_at_most(a, b) else a if is_at_most(b, a) else max_(a, b)


def from_start(place: Dim, size: Dim) -> Dim:
    """A place in a dimension, of which a negative one counts from the end."""
    negative = is_negative(place)
    if negative is None:
        return apply("where", apply("lt", place, 0), place + size, place)
    return place + size if negative else place


def clamped(bound: Dim, size: Dim) -> Dim:
    """A slice's bound as position: negative ones count from the end, all are within 0 and the size."""
    place = from_start(bound, size)
    return size if place == MAX_INT else smaller(larger(place, 0), size)


def slice_size(size: Dim, start: Size | None, end: Size | None, step: Size) -> Dim | None:
    """Number of elements of `[start:end:step]` of a dimension; None where the data decide."""
    start = 0 if start is None else start
    end = MAX_INT if end is None else end
    if isinstance(step, int):
        check(step > 0, f"step is {step}; it must be positive")
    if isinstance(start, NumberMeta) or isinstance(end, NumberMeta) or isinstance(step, NumberMeta):
        return None
    low, high = clamped(start, size), clamped(end, size)
    length = larger(high - low, 0)
    return length if step == 1 else ceildiv(length, step)


def sliced_dim(self: TensorMeta, dim: int) -> int:
    check(self.ndim > 0, "a 0-dim tensor has no dimension to take from")
    return wrap_dim(dim, self.ndim)


@shape_rule("aten.slice.Tensor", "aten.slice_copy.Tensor")
def slice_tensor(
    self: TensorMeta, dim: int, start: Size | None, end: Size | None, step: Size
) -> PartialShape:
    dim = sliced_dim(self, dim)
    return replaced(self.shape, dim, slice_size(self.shape[dim], start, end, step))


@shape_rule("aten.select.int", "aten.select_copy.int")
def select(self: TensorMeta, dim: int, index: Size) -> Shape:
    dim = sliced_dim(self, dim)
    if not isinstance(index, NumberMeta):
        size = self.shape[dim]
        fits = may_be_at_most(-size, index) and may_be_at_most(index + 1, size)
        check(fits, f"index {index} of a dimension of size {size}")
    return without(self.shape, dim)


@shape_rule("aten.narrow", "aten.narrow_copy")
def narrow(self: TensorMeta, dim: int, start: Size, length: Size) -> PartialShape:
    dim = sliced_dim(self, dim)
    size = self.shape[dim]
    [known] = only_sizes([length])
    if known is not None and not isinstance(start, NumberMeta):
        check(may_be_at_most(-size, start), f"start {start} of a dimension of size {size}")
        begin = start + size if is_negative(start) else start
        check(may_be_at_most(begin + known, size), f"{known} from {start} of a dimension of size {size}")
    return replaced(self.shape, dim, known)


@shape_rule("aten.narrow.Tensor")
def narrow_from(self: TensorMeta, dim: int, start: TensorMeta, length: Size) -> PartialShape:
    check(start.ndim == 0, f"start is a tensor of rank {start.ndim}")
    return narrow(self, dim, NumberMeta(start.dtype), length)


def parts(self: TensorMeta, dim: int, sizes: Sequence[Dim | None]) -> list[PartialShape]:
    """Shapes of pieces that have these sizes in one dimension."""
    return [replaced(self.shape, dim, size) for size in sizes]


def even_sizes(size: int, split_size: int) -> list[int]:
    """Sizes of pieces of `split_size`, the last one smaller where it does not divide."""
    check(split_size > 0 or (split_size == 0 and size == 0), f"split_size {split_size} of size {size}")
    count = max(-(-size // split_size), 1) if split_size else 1
    return [split_size] * (count - 1) + [size - split_size * (count - 1)]


@shape_rule("aten.split.Tensor", "aten.split_copy.Tensor", "aten.unsafe_split.Tensor")
def split(self: TensorMeta, split_size: Size, dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    size = self.shape[dim]
    if isinstance(split_size, int) and isinstance(size, int):
        return parts(self, dim, even_sizes(size, split_size))
    if isinstance(split_size, NumberMeta):
        raise MetaError("split_size depends on the data; the number of results must be known")
    count = static(ceildiv(size, split_size), "the number of pieces")
    return parts(self, dim, [split_size] * (count - 1) + [size - split_size * (count - 1)])


def with_sizes(self: TensorMeta, sizes: Sequence[Size], dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    known = only_sizes(sizes)
    whole = [size for size in known if size is not None]
    if len(whole) == len(known):
        total = sum(whole, 0)
        check(same_size(total, self.shape[dim]), f"sizes add up to {total}, not {self.shape[dim]}")
    return parts(self, dim, known)


@shape_rule("aten.split_with_sizes", "aten.split_with_sizes_copy", "aten.unsafe_split_with_sizes")
def split_with_sizes(self: TensorMeta, split_sizes: list[Size], dim: int) -> list[PartialShape]:
    return with_sizes(self, split_sizes, dim)


@shape_rule("aten.split.sizes")
def split_sizes(self: TensorMeta, split_size: list[Size], dim: int) -> list[PartialShape]:
    return with_sizes(self, split_size, dim)


def chunk_sizes(size: Dim, chunks: int) -> list[Dim]:
    """Sizes of at most `chunks` even pieces; a symbolic size is taken to be enough for all of them."""
    check(chunks > 0, f"chunks is {chunks}; it must be positive")
    split_size = ceildiv(size, chunks)
    if isinstance(size, int) and isinstance(split_size, int):
        return [0] * chunks if size == 0 else list(even_sizes(size, split_size))
    return [split_size] * (chunks - 1) + [size - split_size * (chunks - 1)]


@shape_rule("aten.chunk", "aten.unsafe_chunk")
def chunk(self: TensorMeta, chunks: int, dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    return parts(self, dim, chunk_sizes(self.shape[dim], chunks))


@shape_rule("aten.tensor_split.sections")
def tensor_split(self: TensorMeta, sections: Size, dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    if isinstance(sections, NumberMeta):
        raise MetaError("sections depends on the data; the number of results must be known")
    count = static(sections, "sections")
    check(count > 0, f"sections is {count}; it must be positive")
    # The first size % count pieces have one element more.
    return parts(self, dim, [(self.shape[dim] + (count - 1 - i)) // count for i in range(count)])


@shape_rule("aten.tensor_split.indices")
def tensor_split_indices(self: TensorMeta, indices: list[Size], dim: int) -> list[PartialShape]:
    dim = sliced_dim(self, dim)
    bounds = zip([0, *indices], [*indices, None], strict=True)
    return parts(self, dim, [slice_size(self.shape[dim], start, end, 1) for start, end in bounds])


def split_dim(self: TensorMeta, name: str) -> int:
    """The dimension that `hsplit`, `vsplit` or `dsplit` parts."""
    dim = {"hsplit": int(self.ndim > 1), "vsplit": 0, "dsplit": 2}[name]
    least = {"hsplit": 1, "vsplit": 2, "dsplit": 3}[name]
    check(self.ndim >= least, f"needs {least} dimensions, not {self.ndim}")
    return dim


def _split_rules(name: str) -> None:
    def split_int(self: TensorMeta, sections: int) -> list[PartialShape]:
        dim = split_dim(self, name)
        check(
            sections > 0 and divides(sections, self.shape[dim]), f"{sections} even parts of {self.shape[dim]}"
        )
        return tensor_split(self, sections, dim)

    def split_array(self: TensorMeta, indices: list[int]) -> list[PartialShape]:
        return tensor_split_indices(self, list(indices), split_dim(self, name))

    shape_rule(f"aten.{name}.int")(split_int)
    shape_rule(f"aten.{name}.array")(split_array)


for _name in ("hsplit", "vsplit", "dsplit"):
    _split_rules(_name)


@shape_rule("aten.unbind.int", "aten.unbind_copy.int")
def unbind(self: TensorMeta, dim: int) -> list[Shape]:
    dim = sliced_dim(self, dim)
    return [without(self.shape, dim)] * static(self.shape[dim], f"dimension {dim}")


def diagonal_shape(shape: Sequence[Dim], offset: int, dim1: int, dim2: int) -> Shape:
    check(len(shape) >= 2, f"needs two dimensions, not {len(shape)}")
    dim1, dim2 = wrap_dims([dim1, dim2], len(shape))
    rows, columns = shape[dim1] + min(offset, 0), shape[dim2] - max(offset, 0)
    return (*without(shape, dim1, dim2), larger(smaller(rows, columns), 0))


@shape_rule("aten.diagonal", "aten.diagonal_copy")
def diagonal(self: TensorMeta, offset: int, dim1: int, dim2: int) -> Shape:
    return diagonal_shape(self.shape, offset, dim1, dim2)


@shape_rule("aten.diag_embed")
def diag_embed(self: TensorMeta, offset: int, dim1: int, dim2: int) -> Shape:
    check(self.ndim > 0, "needs a diagonal")
    *batch, length = self.shape
    side = length + abs(offset)
    first, second = sorted(wrap_dims([dim1, dim2], self.ndim + 1))
    batch.insert(first, side)
    batch.insert(second, side)
    return tuple(batch)


@shape_rule("aten.diag")
def diag(self: TensorMeta, diagonal: int) -> Shape:
    check(self.ndim in (1, 2), f"takes a vector or a matrix, not {self.ndim} dimensions")
    if self.ndim == 1:
        return diag_embed(self, diagonal, -2, -1)
    return diagonal_shape(self.shape, diagonal, 0, 1)


@shape_rule("aten.diagflat")
def diagflat(self: TensorMeta, offset: int) -> Shape:
    side = numel(self.shape) + abs(offset)
    return side, side


@shape_rule("aten.diff")
def diff(
    self: TensorMeta, n: int, dim: int, prepend: TensorMeta | None, append: TensorMeta | None
) -> PartialShape:
    check(self.ndim > 0 and n >= 0, "takes a tensor of at least one dimension and an order of at least 0")
    dim = wrap_dim(dim, self.ndim)
    if n == 0:
        return self.shape
    joined = [tensor.shape for tensor in (prepend, self, append) if tensor is not None]
    check(all(len(shape) == self.ndim for shape in joined), "what is joined to self must have its rank")
    shape = cat_shape(joined, dim)
    return replaced(shape, dim, larger(shape[dim] - n, 0))


@shape_rule("aten._neg_view")
def neg_view(self: TensorMeta) -> Shape:
    return self.shape


@shape_rule("aten.view_as_complex_copy")
def view_as_complex(self: TensorMeta) -> Shape:
    check(self.ndim > 0 and same_size(self.shape[-1], 2), "the last dimension holds real and imaginary part")
    return self.shape[:-1]


@shape_rule("aten.view_as_real_copy")
def view_as_real(self: TensorMeta) -> Shape:
    return (*self.shape, 2)


@shape_rule("aten.unfold", "aten.unfold_copy")
def unfold(self: TensorMeta, dimension: int, size: int, step: int) -> Shape:
    dim = wrap_dim(dimension, self.ndim)
    available = self.shape[dim] if self.shape else 1
    check(size >= 0 and step > 0, f"size {size}, step {step}: step must be positive, size not negative")
    check(may_be_at_most(size, available), f"window of {size} in a dimension of size {available}")
    if not self.shape:
        return (size,)
    return (*self.shape[:dim], (available - size) // step + 1, *self.shape[dim + 1 :], size)


def strided_shape(
    self: TensorMeta, size: list[Size], stride: list[Size], offset: Size | None
) -> PartialShape:
    check(len(size) == len(stride), f"{len(size)} sizes and {len(stride)} strides")
    known = only_sizes(size)
    only_sizes(stride)
    offset = 0 if offset is None else offset
    only_sizes([offset])
    numbers = [item for item in (*size, *stride, offset, numel(self.shape)) if isinstance(item, int)]
    if len(numbers) == 2 * len(size) + 2 and 0 not in known:
        *_, begin, count = numbers
        pairs = zip(numbers[: len(size)], numbers[len(size) : 2 * len(size)], strict=True)
        last = begin + sum((length - 1) * step for length, step in pairs)
        check(last < count, f"reaches element {last} of {count}")
    return known


@shape_rule("aten.as_strided", "aten.as_strided_copy")
def as_strided(
    self: TensorMeta, size: list[Size], stride: list[Size], storage_offset: Size | None
) -> PartialShape:
    return strided_shape(self, size, stride, storage_offset)


# --- writing parts -------------------------------------------------------------------------------------------


def check_source(src: TensorMeta, shape: PartialShape) -> None:
    """Raises `MetaError` unless what is written has the shape of the place."""
    known = tuple(size if part is None else part for size, part in zip(src.shape, shape, strict=False))
    fits = len(shape) == src.ndim and same_shape(src.shape, known)
    check(fits, f"src is {shape_text(src.shape)} for a place of another shape {list(map(str, shape))}")


@shape_rule("aten.slice_scatter")
def slice_scatter(
    self: TensorMeta, src: TensorMeta, dim: int, start: Size | None, end: Size | None, step: Size
) -> Shape:
    check_source(src, slice_tensor(self, dim, start, end, step))
    return self.shape


@shape_rule("aten.select_scatter")
def select_scatter(self: TensorMeta, src: TensorMeta, dim: int, index: Size) -> Shape:
    check_source(src, select(self, dim, index))
    return self.shape


@shape_rule("aten.diagonal_scatter")
def diagonal_scatter(self: TensorMeta, src: TensorMeta, offset: int, dim1: int, dim2: int) -> Shape:
    check_source(src, diagonal_shape(self.shape, offset, dim1, dim2))
    return self.shape


@shape_rule("aten.as_strided_scatter")
def as_strided_scatter(
    self: TensorMeta, src: TensorMeta, size: list[Size], stride: list[Size], storage_offset: Size | None
) -> Shape:
    check_source(src, strided_shape(self, size, stride, storage_offset))
    return self.shape


# --- joining -------------------------------------------------------------------------------------------------


def cat_shape(shapes: Sequence[Shape], dim: int) -> Shape:
    check(len(shapes) > 0, "needs a tensor")
    check(all(shapes), "0-dim tensors cannot be concatenated")
    joined = [shape for shape in shapes if shape != (0,)] or list(shapes)  # 1-D empty tensors never count
    rank = len(joined[0])
    check(
        all(len(shape) == rank for shape in joined),
        f"tensors of different ranks: {' and '.join(map(shape_text, joined))}",
    )
    dim = wrap_dim(dim, rank)
    rests = [without(shape, dim) for shape in joined]
    check(
        all(same_shape(rests[0], rest) for rest in rests),
        f"sizes differ outside dimension {dim}: {' and '.join(map(shape_text, joined))}",
    )
    rest = [next((s for s in sizes if isinstance(s, int)), sizes[0]) for sizes in zip(*rests, strict=True)]
    return (*rest[:dim], sum((shape[dim] for shape in joined), 0), *rest[dim:])


@shape_rule("aten.cat", "aten.concat", "aten.concatenate")
def cat(tensors: Tensors, dim: int) -> Shape:
    return cat_shape([tensor.shape for tensor in tensors], dim)


@shape_rule("aten.stack")
def stack(tensors: Tensors, dim: int) -> Shape:
    check(len(tensors) > 0, "needs a tensor")
    first = tensors[0].shape
    dim = wrap_dim(dim, len(first) + 1)
    for tensor in tensors[1:]:
        check(
            same_shape(first, tensor.shape),
            f"shapes {shape_text(first)} and {shape_text(tensor.shape)} differ",
        )
    return (*first[:dim], len(tensors), *first[dim:])


@shape_rule("aten.hstack")
def hstack(tensors: Tensors) -> Shape:
    shapes = [at_least(tensor.shape, 1) for tensor in tensors]
    return cat_shape(shapes, 0 if shapes and len(shapes[0]) == 1 else 1)


@shape_rule("aten.vstack", "aten.row_stack")
def vstack(tensors: Tensors) -> Shape:
    return cat_shape([at_least(tensor.shape, 2) for tensor in tensors], 0)


@shape_rule("aten.dstack")
def dstack(tensors: Tensors) -> Shape:
    return cat_shape([at_least(tensor.shape, 3) for tensor in tensors], 2)


@shape_rule("aten.column_stack")
def column_stack(tensors: Tensors) -> Shape:
    return cat_shape([t.shape if t.ndim > 1 else (numel(t.shape), 1) for t in tensors], 1)


@shape_rule("aten.pad_sequence")
def pad_sequence(sequences: Tensors, batch_first: bool, padding_side: str) -> Shape:
    check(bool(sequences), "no sequences")
    check(padding_side in ("left", "right"), f"padding_side is {padding_side!r}; 'left' or 'right' expected")
    check(all(tensor.ndim > 0 for tensor in sequences), "sequences have at least one dimension")
    first, *others = sequences
    for tensor in others:
        same = tensor.ndim == first.ndim and all(map(same_size, tensor.shape[1:], first.shape[1:]))
        check(same, f"steps of shapes {shape_text(first.shape[1:])} and {shape_text(tensor.shape[1:])}")
    longest = max_(*(tensor.shape[0] for tensor in sequences))
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    return (*sizes, *first.shape[1:])


@shape_rule("aten.block_diag")
def block_diag(tensors: Tensors) -> Shape:
    check(all(tensor.ndim <= 2 for tensor in tensors), "takes matrices, vectors and 0-dim tensors")
    shapes = [at_least(tensor.shape, 2) for tensor in tensors]
    return sum((rows for rows, _ in shapes), 0), sum((columns for _, columns in shapes), 0)


# --- padding -------------------------------------------------------------------------------------------------


def padded(shape: Sequence[Dim], pad: Sequence[Size]) -> PartialShape:
    """Sizes with what is added (or, where negative, taken away) before and after, from the last dimension on."""
    check(len(pad) % 2 == 0, f"{len(pad)} pads; they come in pairs")
    check(len(pad) <= 2 * len(shape), f"{len(pad) // 2} padded dimensions of {len(shape)}")
    sizes: list[Dim | None] = list(shape)
    for index in range(len(pad) // 2):
        before, after = pad[2 * index : 2 * index + 2]
        old = shape[-1 - index]
        if isinstance(before, NumberMeta) or isinstance(after, NumberMeta):
            sizes[-1 - index] = None
            continue
        new = old + before + after
        check(is_negative(new) is not True, f"pad [{before}, {after}] leaves nothing of size {old}")
        sizes[-1 - index] = new
    return tuple(sizes)


@shape_rule("aten.constant_pad_nd")
def constant_pad_nd(self: TensorMeta, pad: list[Size]) -> PartialShape:
    for index, amount in enumerate(pad[: 2 * self.ndim]):
        size = self.shape[-1 - index // 2]
        check(
            isinstance(amount, NumberMeta) or may_be_at_most(-amount, size),
            f"pad {amount} cuts more than {size}",
        )
    return padded(self.shape, pad)


LIMITS = {"reflect": -1, "replicate": MAX_INT, "circular": 0}
"""Most that a mode can add to either end of a dimension, beyond the dimension's size."""


def edge_padded(self: TensorMeta, pad: Sequence[Size], mode: str) -> PartialShape:
    """The shape after padding `[N, C, *]` or `[C, *]` by elements of the operand itself."""
    count = len(pad) // 2
    check(
        len(pad) in (2, 4, 6) and self.ndim in (count + 1, count + 2),
        f"{len(pad)} pads for {self.ndim} dimensions",
    )
    shape = padded(self.shape, pad)
    for index, amount in enumerate(pad):
        size = self.shape[-1 - index // 2]
        if isinstance(amount, int) and isinstance(size, int):
            check(amount <= size + LIMITS[mode], f"{mode} pad {amount} of a dimension of size {size}")
    check(0 not in shape[-count:] and 0 not in self.shape[1:], f"{shape_text(self.shape)} padded is empty")
    return shape


@shape_rule("aten.pad")
def pad(self: TensorMeta, pad: list[Size], mode: str, value: float | None) -> PartialShape:
    if mode == "constant":
        return constant_pad_nd(self, pad)
    check(mode in LIMITS, f"mode '{mode}' is not one of constant, {', '.join(LIMITS)}")
    check(value is None or value == 0, f"mode '{mode}' takes no value")
    return edge_padded(self, pad, mode)


def _padding_rule(name: str, mode: str, dims: int) -> None:
    def padding_rule(self: TensorMeta, padding: list[Size]) -> PartialShape:
        check(len(padding) == 2 * dims, f"takes {2 * dims} pads, not {len(padding)}")
        return edge_padded(self, padding, mode)

    shape_rule(f"aten.{name}_pad{dims}d")(padding_rule)


for _dims in (1, 2, 3):
    _padding_rule("reflection", "reflect", _dims)
    _padding_rule("replication", "replicate", _dims)


@shape_rule("aten._chunk_cat")
def chunk_cat(tensors: Tensors, dim: int, num_chunks: int) -> Shape:
    check(len(tensors) > 0, "needs a tensor")
    check(num_chunks > 0, f"num_chunks is {num_chunks}; it must be positive")
    dim = wrap_dim(dim, tensors[0].ndim)
    check(all(tensor.ndim > dim for tensor in tensors), f"a tensor has no dimension {dim}")
    front = tensors[0].shape[:dim]
    check(all(same_shape(tensor.shape[:dim], front) for tensor in tensors), "sizes before dim must agree")
    total: Dim = 0
    for tensor in tensors:
        total = total + ceildiv(tensor.shape[dim], num_chunks) * numel(tensor.shape[dim + 1 :])
    return (*front, num_chunks, total)


@shape_rule("aten.tensor_split.tensor_indices_or_sections")
def tensor_split_computed(
    self: TensorMeta, tensor_indices_or_sections: TensorMeta, dim: int
) -> list[PartialShape]:
    bounds = tensor_indices_or_sections
    check(bounds.ndim == 1, "the number of parts depends on the data")
    dim = sliced_dim(self, dim)
    count = static(bounds.shape[0], "the number of indices") + 1
    return [(*self.shape[:dim], None, *self.shape[dim + 1 :])] * count


@shape_rule("aten.resize")
def resize(size: list[Size]) -> PartialShape:
    return only_sizes(size)


@shape_rule("aten.resize_as")
def resize_as(the_template: TensorMeta) -> Shape:
    return the_template.shape
