"""Decompositions of operators that take parts of tensors, or put such parts back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Bool, Long
from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.shapes.slicing import chunk_sizes, split_dim
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import decomposition, other_names
from xdsl_exir.transforms.decompositions.view import Sizes, dims_of, rank

# --- other names ---------------------------------------------------------------------------------------------

OTHER_NAMES = {
    "as_strided_copy": "as_strided",
    "unfold_copy": "unfold",
    "slice_copy.Tensor": "slice.Tensor",
    "select_copy.int": "select.int",
    "split_copy.Tensor": "split.Tensor",
    "split_with_sizes_copy": "split_with_sizes",
    "unbind_copy.int": "unbind.int",
    "narrow_copy": "narrow",
    "unsafe_split_with_sizes": "split_with_sizes",
    "split.sizes": "split_with_sizes",
}
"""Names that PyTorch has for operators besides their own."""

other_names(OTHER_NAMES)


# --- taking parts --------------------------------------------------------------------------------------------


@decomposition("aten.narrow")
def narrow(aten: Namespace, self: SSAValue, dim: int, start: Size, length: Size) -> SSAValue:
    dim = wrap_dim(dim, rank(self))
    size = meta(self).shape[dim]
    if isinstance(start, int) and start < 0 and isinstance(size, int):
        start += size
    if isinstance(start, int) and isinstance(length, int) and start >= 0:
        return aten.slice.Tensor(self, dim, start, start + length)
    return aten.slice.Tensor(aten.slice.Tensor(self, dim, start), dim, 0, length)


@decomposition("aten.narrow.Tensor")
def narrow_from(aten: Namespace, self: SSAValue, dim: int, start: SSAValue, length: Size) -> SSAValue:
    size = sizes(aten, self)[wrap_dim(dim, rank(self))]
    start = cast(aten, start, Long)
    start = aten.where.self(aten.lt.Scalar(start, 0), aten.add.Tensor(start, size), start)
    return aten.index_select(self, dim, aten.add.Tensor(aten.arange(length), start))


@decomposition("aten.split.Tensor", "aten.unsafe_split.Tensor")
def split(aten: Namespace, self: SSAValue, split_size: Size, dim: int) -> list[SSAValue]:
    [piece] = dims_of([split_size], "aten.split.Tensor")
    size = meta(self).shape[wrap_dim(dim, rank(self))]
    count = -(-size // piece) if piece != 0 else 1
    if not isinstance(count, int):
        raise ExirError(f"aten.split.Tensor: pieces of {piece} of a dimension of size {size} are not counted")
    pieces = [piece] * (max(count, 1) - 1)
    size_of = Sizes(aten, self, split_size)
    last = size_of.named(size) - size_of.named(piece) * len(pieces)
    return aten.split_with_sizes(self, size_of.all([*pieces, last]), dim)


@decomposition("aten.chunk", "aten.unsafe_chunk")
def chunk(aten: Namespace, self: SSAValue, chunks: int, dim: int) -> list[SSAValue]:
    pieces = chunk_sizes(meta(self).shape[wrap_dim(dim, rank(self))], chunks)
    return aten.split_with_sizes(self, Sizes(aten, self).all(pieces), dim)


@decomposition("aten.unbind.int")
def unbind(aten: Namespace, self: SSAValue, dim: int) -> list[SSAValue]:
    dim = wrap_dim(dim, rank(self))
    size = meta(self).shape[dim]
    if not isinstance(size, int):
        raise ExirError(f"aten.unbind.int: size {size} is symbolic; the number of results must be known")
    return [aten.squeeze.dims(aten.slice.Tensor(self, dim, index, index + 1), [dim]) for index in range(size)]


@decomposition("aten.tensor_split.sections")
def tensor_split(aten: Namespace, self: SSAValue, sections: Size, dim: int) -> list[SSAValue]:
    if not isinstance(sections, int):
        raise ExirError("aten.tensor_split.sections: the number of results must be known")
    size_of = Sizes(aten, self)
    size = size_of.named(meta(self).shape[wrap_dim(dim, rank(self))])
    ends: list[Dim] = [0]
    for index in range(sections):
        ends.append(ends[-1] + (size + (sections - 1 - index)) // sections)
    return between(aten, self, size_of.all(ends), dim)


@decomposition("aten.tensor_split.indices")
def tensor_split_indices(aten: Namespace, self: SSAValue, indices: list[Size], dim: int) -> list[SSAValue]:
    end = Sizes(aten, self)(meta(self).shape[wrap_dim(dim, rank(self))])
    return between(aten, self, [0, *indices, end], dim)


def between(aten: Namespace, self: SSAValue, bounds: Sequence[Size], dim: int) -> list[SSAValue]:
    """The parts of a dimension that these bounds part it into."""
    return [aten.slice.Tensor(self, dim, start, end) for start, end in pairwise(bounds)]


def _split_rules(name: str) -> None:
    def split_int(aten: Namespace, self: SSAValue, sections: Size) -> list[SSAValue]:
        return aten.tensor_split.sections(self, sections, split_dim(meta(self), name))

    def split_array(aten: Namespace, self: SSAValue, indices: list[Size]) -> list[SSAValue]:
        return aten.tensor_split.indices(self, indices, split_dim(meta(self), name))

    decomposition(f"aten.{name}.int")(split_int)
    decomposition(f"aten.{name}.array")(split_array)


for _name in ("hsplit", "vsplit", "dsplit"):
    _split_rules(_name)


@decomposition("aten.diff")
def diff(
    aten: Namespace, self: SSAValue, n: int, dim: int, prepend: SSAValue | None, append: SSAValue | None
) -> SSAValue:
    if n == 0:
        return self
    dim = wrap_dim(dim, rank(self))
    joined = [tensor for tensor in (prepend, self, append) if tensor is not None]
    result = aten.cat(joined, dim) if len(joined) > 1 else self
    less = aten.logical_xor if meta(result).dtype is Bool else aten.sub.Tensor
    for _ in range(n):
        size = meta(result).shape[dim]
        if size == 0:
            break
        size_of = Sizes(aten, result)
        last = size_of(size_of.named(size) - 1)
        result = less(aten.slice.Tensor(result, dim, 1), aten.slice.Tensor(result, dim, 0, last))
    return result


@decomposition("aten.diagonal_copy")
def diagonal_copy(aten: Namespace, self: SSAValue, offset: int, dim1: int, dim2: int) -> SSAValue:
    return aten.clone(aten.diagonal(self, offset, dim1, dim2))


@decomposition("aten.select_scatter")
def select_scatter(aten: Namespace, self: SSAValue, src: SSAValue, dim: int, index: Size) -> SSAValue:
    """At a known place it is a slice of one; else the place may be negative or not, which a slice's end cannot say."""
    dim = wrap_dim(dim, rank(self))
    shape = sizes(aten, self)
    [place] = dims_of([index], "aten.select_scatter")
    if isinstance(place, int):
        row = aten.unsqueeze(cast(aten, src, meta(self).dtype), dim)
        return aten.slice_scatter(self, row, dim, place, None if place == -1 else place + 1)
    positions = aten.view(
        aten.arange.start_step(0, shape[dim]), [-1 if d == dim else 1 for d in range(rank(self))]
    )
    source = aten.expand(aten.unsqueeze(cast(aten, src, meta(self).dtype), dim), shape)
    return aten.where.self(aten.eq.Scalar(positions, index), source, self)
