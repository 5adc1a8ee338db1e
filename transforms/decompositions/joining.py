"""Decompositions of operators that join, repeat and pad tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Long
from xdsl_exir.dialects.expr import Dim, max_
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.transforms.decompositions import KEEP, decomposition, other_names
from xdsl_exir.transforms.decompositions.view import Sizes, dims_of, rank

# --- other names ---------------------------------------------------------------------------------------------

OTHER_NAMES = {
    "concatenate": "cat",
    "row_stack": "vstack",
    "concat": "cat",
}
"""Names that PyTorch has for operators besides their own."""

other_names(OTHER_NAMES)


# --- broadcasting and repeating ------------------------------------------------------------------------------


@decomposition("aten.meshgrid")
def meshgrid(aten: Namespace, tensors: list[SSAValue]) -> list[SSAValue]:
    return meshgrid_indexing(aten, tensors, "ij")


@decomposition("aten.meshgrid.indexing")
def meshgrid_indexing(aten: Namespace, tensors: list[SSAValue], indexing: str) -> list[SSAValue]:
    axes = list(range(len(tensors)))
    if indexing == "xy":
        axes[:2] = axes[1::-1]
    lengths = Sizes(aten, *tensors).all([(*meta(tensor).shape, 1)[0] for tensor in tensors])
    grid = [lengths[axis] for axis in axes]  # a swap is its own inverse

    def along(tensor: SSAValue, axis: int) -> SSAValue:
        line = aten.view(tensor, [-1 if other == axis else 1 for other in range(len(grid))])
        return aten.expand(line, grid)

    return [along(tensor, axis) for tensor, axis in zip(tensors, axes, strict=True)]


@decomposition("aten.tile")
def tile(aten: Namespace, self: SSAValue, dims: list[Size]) -> SSAValue:
    return aten.repeat(self, [1] * (rank(self) - len(dims)) + dims)


@decomposition("aten.repeat_interleave.self_int")
def repeat_interleave(aten: Namespace, self: SSAValue, repeats: Size, dim: int | None) -> SSAValue:
    if dim is None:
        self, dim = aten.view(self, [-1]), 0
    dim = wrap_dim(dim, rank(self))
    size = sizes(aten, self)
    copies = aten.expand(aten.unsqueeze(self, dim + 1), [*size[: dim + 1], repeats, *size[dim + 1 :]])
    return aten.flatten.using_ints(copies, dim, dim + 1)


@decomposition("aten.repeat_interleave.Tensor", may_keep=True)
def repeated_places(aten: Namespace, repeats: SSAValue, output_size: Size | None) -> Any:
    """Each place stands where as many elements as it and those before are repeated are not passed yet."""
    if output_size is None:
        return KEEP
    natural = aten.all(aten.ge.Scalar(repeats, 0))
    fits = aten.eq.Tensor(aten.sum(repeats), aten.scalar_tensor(output_size, dtype=Long))
    aten._assert_async.msg(
        aten.logical_and(natural, fits), "repeats are negative, or not as many as output_size"
    )
    positions = aten.arange.start_step(0, output_size)
    found = aten.searchsorted.Tensor(aten.cumsum(repeats, 0), positions, right=True)
    return cast(aten, found, meta(repeats).dtype)


@decomposition("aten.repeat_interleave.self_Tensor")
def repeat_interleave_by(
    aten: Namespace,
    self: SSAValue,
    repeats: SSAValue,
    dim: int | None,
    output_size: Size | None,
    out: Sequence[Attribute] | None,
) -> SSAValue:
    self, dim = (aten.view(self, [-1]), 0) if dim is None else (self, wrap_dim(dim, rank(self)))
    repeats = aten.expand(aten.reshape(repeats, [-1]), [sizes(aten, self)[dim]])
    if output_size is not None:
        found = aten.repeat_interleave.Tensor(repeats, output_size=output_size)
        return aten.index_select(self, dim, found)
    places = aten.builder.dialect["aten.repeat_interleave.Tensor"]
    types = out and [
        tensor_type(tensor_meta(one).shape[dim : dim + 1], meta(repeats).dtype)
        for one in out
        if is_tensor_type(one)
    ]
    found = aten.builder.build(places, {"repeats": repeats, "output_size": None}, types)
    return aten.index_select(self, dim, found)


# --- joining -------------------------------------------------------------------------------------------------


@decomposition("aten.stack")
def stack(aten: Namespace, tensors: list[SSAValue], dim: int) -> SSAValue:
    dim = wrap_dim(dim, rank(tensors[0]) + 1)
    if dim == rank(tensors[0]):
        return aten.cat([aten.unsqueeze(tensor, dim) for tensor in tensors], dim)
    shape = sizes(aten, tensors[0])
    return aten.view(aten.cat(tensors, dim), [*shape[:dim], len(tensors), *shape[dim:]])


@decomposition("aten.hstack")
def hstack(aten: Namespace, tensors: list[SSAValue]) -> SSAValue:
    lines = [aten.atleast_1d(tensor) for tensor in tensors]
    return aten.cat(lines, 0 if rank(lines[0]) == 1 else 1)


@decomposition("aten.vstack")
def vstack(aten: Namespace, tensors: list[SSAValue]) -> SSAValue:
    return aten.cat([aten.atleast_2d(tensor) for tensor in tensors], 0)


@decomposition("aten.dstack")
def dstack(aten: Namespace, tensors: list[SSAValue]) -> SSAValue:
    return aten.cat([aten.atleast_3d(tensor) for tensor in tensors], 2)


@decomposition("aten.column_stack")
def column_stack(aten: Namespace, tensors: list[SSAValue]) -> SSAValue:
    return aten.cat([aten.view(t, [-1, 1]) if rank(t) <= 1 else t for t in tensors], 1)


@decomposition("aten.pad_sequence")
def pad_sequence(
    aten: Namespace, sequences: list[SSAValue], batch_first: bool, padding_value: float, padding_side: str
) -> SSAValue:
    lengths = [meta(sequence).shape[0] for sequence in sequences]
    size, longest = Sizes(aten, *sequences), max_(*lengths)

    def padded(sequence: SSAValue, length: Dim) -> SSAValue:
        missing = [0, size(longest - length)]
        pads = [0, 0] * (rank(sequence) - 1) + (missing if padding_side == "right" else missing[::-1])
        return aten.constant_pad_nd(sequence, pads, padding_value)

    return aten.stack(list(map(padded, sequences, lengths)), 0 if batch_first else 1)


@decomposition("aten.block_diag")
def block_diag(aten: Namespace, tensors: list[SSAValue]) -> SSAValue:
    blocks = [aten.atleast_2d(tensor) for tensor in tensors]
    size = Sizes(aten, *blocks)
    widths = [meta(block).shape[1] for block in blocks]

    def row(index: int) -> SSAValue:
        def zeros(columns: Sequence[Dim]) -> SSAValue:
            height = size(meta(blocks[index]).shape[0])
            return aten.full([height, size(sum(columns, 0))], 0, dtype=meta(blocks[index]).dtype)

        return aten.cat([zeros(widths[:index]), blocks[index], zeros(widths[index + 1 :])], 1)

    return aten.cat([row(index) for index in range(len(blocks))], 0)


# --- padding -------------------------------------------------------------------------------------------------


class Padded(NamedTuple):
    """A dimension's length and pads, which take away where they are negative."""

    length: Dim
    before: Dim
    after: Dim


def reflected(aten: Namespace, positions: SSAValue, size: Sizes, dim: Padded) -> SSAValue:
    """Mirrored at the first and the last element."""
    last = size(dim.length - 1)
    return aten.sub.Tensor(last, aten.abs(aten.sub.Tensor(last, aten.abs(positions))))


def replicated(aten: Namespace, positions: SSAValue, size: Sizes, dim: Padded) -> SSAValue:
    """The first and the last element going on."""
    return aten.clamp(positions, 0, size(dim.length - 1))


def around(aten: Namespace, positions: SSAValue, size: Sizes, dim: Padded) -> SSAValue:
    """What is left going on with its other end."""
    first = max_(-dim.before, 0)
    left = aten.sub.Tensor(positions, size(first))
    left = aten.remainder.Tensor(left, size(dim.length - first - max_(-dim.after, 0)))
    return aten.add.Tensor(left, size(first))


POSITIONS = {"reflect": reflected, "replicate": replicated, "circular": around}
"""Where in a dimension the elements of what is around it stand."""


def pad_by_index(aten: Namespace, self: SSAValue, padding: list[Size], mode: str) -> SSAValue:
    """Every padded dimension in turn, from the first on, gathered at positions within it."""
    pads = dims_of(padding, f"padding by '{mode}'")
    size = Sizes(aten, self, *padding)
    result = self
    for dim in range(-len(pads) // 2, 0):
        padded = Padded(size.named(meta(self).shape[dim]), *pads[-2 * dim - 2 : -2 * dim or None])
        positions = aten.arange.start_step(size(-padded.before), size(padded.length + padded.after))
        positions = POSITIONS[mode](aten, positions, size, padded)
        result = aten.index.Tensor(result, [None] * (rank(self) + dim) + [positions] + [None] * (-dim - 1))
    return result


Beyond: TypeAlias = Callable[[Namespace, SSAValue, int, int, int], list[SSAValue]]
"""What goes on beyond an end of a dimension: of a tensor, the dimension, so many elements, and 0 or -1 for which end."""


def mirrored(aten: Namespace, self: SSAValue, dim: int, count: int, end: int) -> list[SSAValue]:
    if count <= MOST_REPEATED:
        places = range(count, 0, -1) if end == 0 else range(-2, -2 - count, -1)
        return [element(aten, self, dim, place) for place in places]
    size = meta(self).shape[dim]
    assert isinstance(size, int)
    start = 1 if end == 0 else size - 1 - count
    return [aten.flip(aten.slice.Tensor(self, dim, start, start + count), [dim])]


def repeated(aten: Namespace, self: SSAValue, dim: int, count: int, end: int) -> list[SSAValue]:
    return [element(aten, self, dim, end)] * count


def element(aten: Namespace, self: SSAValue, dim: int, place: int) -> SSAValue:
    """What stands at a place along a dimension, of size 1; places below 0 are counted from its end."""
    return aten.unsqueeze(aten.select.int(self, dim, place), dim)


BEYOND: dict[str, Beyond] = {"reflect": mirrored, "replicate": repeated}


def pad_by_parts(aten: Namespace, self: SSAValue, padding: list[Size], mode: str) -> SSAValue:
    """Every padded dimension in turn, from the first on, between what goes on beyond its ends: copies of whole parts; by positions
    where pads are symbolic, or long ones of symbolic sizes, or a pad takes away, or there are not as many elements, or more parts than
    elements are worth."""
    pads = dims_of(padding, f"padding by '{mode}'")
    sizes = meta(self).shape[-(len(pads) // 2) :]
    room = [
        size - 1 if isinstance(size, int) else MOST_REPEATED for size in reversed(sizes) for _ in range(2)
    ]
    most = room if mode == "reflect" else [min(size, MOST_REPEATED) for size in room]
    known = [pad if isinstance(pad, int) else -1 for pad in pads]
    if not all(0 <= pad <= size for pad, size in zip(known, most, strict=True)):
        return pad_by_index(aten, self, padding, mode)
    result = self
    for dim in range(-len(pads) // 2, 0):
        before, after = known[-2 * dim - 2 : -2 * dim or None]
        first = BEYOND[mode](aten, result, dim, before, 0) if before else []
        last = BEYOND[mode](aten, result, dim, after, -1) if after else []
        result = aten.cat([*first, result, *last], dim)
    return result


MOST_REPEATED = 8
"""How many elements are put beside one another, up to which that is better than looking for each place."""


@decomposition("aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d")
def reflection_pad(aten: Namespace, self: SSAValue, padding: list[Size]) -> SSAValue:
    return pad_by_parts(aten, self, padding, "reflect")


@decomposition("aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d")
def replication_pad(aten: Namespace, self: SSAValue, padding: list[Size]) -> SSAValue:
    return pad_by_parts(aten, self, padding, "replicate")


def pad_around(aten: Namespace, self: SSAValue, pad: list[Size]) -> SSAValue:
    """Every padded dimension goes on with its other end; a negative pad takes away."""
    known = [each for each in pad if isinstance(each, int)]
    if len(known) < len(pad):
        return pad_by_index(aten, self, pad, "circular")
    result = self
    for index, (before, after) in enumerate(zip(known[::2], known[1::2], strict=True)):
        dim = rank(self) - 1 - index
        middle = aten.slice.Tensor(result, dim, max(-before, 0), -max(-after, 0) or None)
        first = [aten.slice.Tensor(middle, dim, -before)] if before > 0 else []
        last = [aten.slice.Tensor(middle, dim, 0, after)] if after > 0 else []
        result = aten.cat([*first, middle, *last], dim)
    return result


@decomposition("aten.pad")
def pad(aten: Namespace, self: SSAValue, pad: list[Size], mode: str, value: float | None) -> SSAValue:
    if mode == "constant":
        return aten.constant_pad_nd(self, pad, 0.0 if value is None else value)
    return pad_around(aten, self, pad) if mode == "circular" else pad_by_parts(aten, self, pad, mode)


@decomposition("aten._chunk_cat")
def chunk_cat(aten: Namespace, tensors: Sequence[SSAValue], dim: int, num_chunks: int) -> SSAValue:
    """Each tensor padded to chunks of one length, and these side by side."""
    dim = wrap_dim(dim, meta(tensors[0]).ndim)

    def chunks(tensor: SSAValue) -> SSAValue:
        shape, size_of = meta(tensor).shape, Sizes(aten, tensor)
        behind = len(shape) - dim - 1
        missing = size_of(-shape[dim] % num_chunks)
        padded = aten.constant_pad_nd(tensor, [0, 0] * behind + [0, missing], 0)
        return aten.view(padded, [*size_of.all(shape[:dim]), num_chunks, -1])

    return aten.cat([chunks(tensor) for tensor in tensors], dim + 1)
