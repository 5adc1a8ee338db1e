"""Shape rules of operators that join, repeat and pad tensors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl_exir.dialects.expr import Dim, ceildiv, max_
from xdsl_exir.dialects.meta import (
    Shape,
    check,
    may_be_at_most,
    numel,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
    wrap_dim,
)
from xdsl_exir.dialects.shapes.view import (
    MAX_INT,
    PartialShape,
    Size,
    Tensors,
    at_least,
    cat_shape,
    is_negative,
    only_sizes,
    replaced,
)
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta

# --- broadcasting and repeating ------------------------------------------------------------------------------


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


# --- joining -------------------------------------------------------------------------------------------------


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
