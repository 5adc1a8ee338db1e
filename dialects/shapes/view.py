"""Shape rules of views and rearrangements: results hold elements of the operands in other places.

In Export IR's functional form a view is a value like any other, so nothing here looks at strides: `view` takes every
operand, as `reshape` does. Where PyTorch decides by a size whether to drop or broadcast a dimension, a symbolic size
counts as other than 1, as in `torch.export`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, apply, max_, min_, prod, provably
from xdsl_exir.dialects.meta import (
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
        return new

    old_sizes = (1,) * added + self.shape
    return tuple(expanded(old, new) for old, new in zip(old_sizes, size, strict=True))


@shape_rule("aten.expand_as")
def expand_as(self: TensorMeta, other: TensorMeta) -> PartialShape:
    return expand(self, list(other.shape))


@shape_rule("aten.broadcast_tensors")
def broadcast_tensors(tensors: Tensors) -> list[Shape]:
    return [broadcast_shapes(*(tensor.shape for tensor in tensors))] * len(tensors)


# --- taking parts --------------------------------------------------------------------------------------------

MAX_INT = (1 << 63) - 1
"""The bound by which PyTorch says: to the end."""


def smaller(a: Dim, b: Dim) -> Dim:
    """The smaller of two sizes, without `min` where it is known."""
    return a if is_at_most(a, b) else b if is_at_most(b, a) else min_(a, b)


def larger(a: Dim, b: Dim) -> Dim:
    """The larger of two sizes, without `max` where it is known."""
    return b if is_at_most(a, b) else a if is_at_most(b, a) else max_(a, b)


def diagonal_shape(shape: Sequence[Dim], offset: int, dim1: int, dim2: int) -> Shape:
    check(len(shape) >= 2, f"needs two dimensions, not {len(shape)}")
    dim1, dim2 = wrap_dims([dim1, dim2], len(shape))
    rows, columns = shape[dim1] + min(offset, 0), shape[dim2] - max(offset, 0)
    return (*without(shape, dim1, dim2), larger(smaller(rows, columns), 0))


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


# --- padding -------------------------------------------------------------------------------------------------


@shape_rule("aten.resize")
def resize(size: list[Size]) -> PartialShape:
    return only_sizes(size)


@shape_rule("aten.resize_as")
def resize_as(the_template: TensorMeta) -> Shape:
    return the_template.shape
