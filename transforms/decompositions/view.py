"""Decompositions of views and rearrangements: into `view`, `permute`, `expand`, `slice`, `cat` and a few more.

They end where PyTorch's do, but for the copies that only strides ask for: values of the IR have none. Sizes may be
symbolic; what a rule computes from them becomes arithmetic on symbolic numbers (`Sizes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Bool, Long
from xdsl_exir.dialects.exir import NumberOp
from xdsl_exir.dialects.expr import Dim, Expr, ExprError, max_, multiple
from xdsl_exir.dialects.expr import prod as product
from xdsl_exir.dialects.meta import broadcast_shapes, wrap_dim
from xdsl_exir.dialects.shapes.view import chunk_sizes, infer_size, movedim_order, split_dim
from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import KEEP, decomposition, other_names

Size: TypeAlias = int | SSAValue
"""A size or index as the operators take it."""

SYM_OP_OF = {op.FUNCTION: op for op in reversed(SYM_OPS.values())}


class Sizes:
    """Brings sizes to the form that operators take: ints stay, expressions become operations that compute them.

    An expression is computed from the sizes of tensors and from the symbolic numbers given as sources.
    """

    def __init__(self, aten: Namespace, *sources: Size):
        self.aten = aten
        self.known: dict[Dim, tuple[SSAValue, int | None]] = {}
        for source in sources:
            if isinstance(source, int):
                continue
            if is_tensor_type(source.type):
                for dim, size in enumerate(meta(source).shape):
                    self.known.setdefault(size, (source, dim))
            elif isinstance(source.type, SymType):
                self.known[source.type.data] = source, None

    def __call__(self, size: Dim) -> Size:
        return size if isinstance(size, int) else self._value(size)

    def number(self, value: Dim | float) -> float | SSAValue:
        """A number, which may be an expression of sizes."""
        return self._value(value) if isinstance(value, Expr) else value

    def all(self, shape: Sequence[Dim]) -> list[Size]:
        """The sizes of a shape."""
        return [self(size) for size in shape]

    def named(self, size: Dim) -> Dim:
        """A known size under a name of its own: what is computed from it needs it alone, whatever it is made of."""
        if not isinstance(size, Expr) or size.head == "symbol" or size not in self.known:
            return size
        name = Expr.symbol(f"__size{[*self.known].index(size)}")
        self.known[name] = self.known[size]
        return name

    def of_view(self, shape: Sequence[Dim]) -> list[Size]:
        """The sizes of a view's shape: one that alone is not known is left to the view, where there are elements."""
        unknown = [size for size in shape if not isinstance(size, int)]
        if len(unknown) == 1 and 0 not in shape:
            return [size if isinstance(size, int) else -1 for size in shape]
        return self.all(shape)

    def _value(self, size: Dim) -> SSAValue:
        """A size as SSA value."""
        if not isinstance(size, Expr):
            return self.aten.builder.insert(NumberOp(size, symbolic=True)).results[0]
        if size in self.known:
            source, dim = self.known[size]
            return source if dim is None else self.aten.sym_size.int(source, dim)
        if size.head == "constant" and isinstance(size.value, int | float):
            return self.aten.builder.insert(NumberOp(size.value, symbolic=True)).results[0]
        if size.head == "symbol":
            return self._solved(size)
        if size.head not in SYM_OP_OF:
            raise ExirError(f"size {size} cannot be computed from the operands' sizes")
        if size.head == "mul" and (factors := self._factors(size)):
            return reduce(partial(self._apply, "mul"), map(self._value, factors))
        if size.head == "add" and (found := self._multiple(size)):
            known, times, more = found
            product = (
                self._value(known) if times == 1 else self._apply("mul", *map(self._value, (known, times)))
            )
            return self._apply("add", product, self._value(more)) if more else product
        args = [self._value(arg) for arg in size.args]
        if len(args) == 1:
            return self._apply(size.head, *args)
        return reduce(partial(self._apply, size.head), args)

    def _factors(self, product: Expr) -> list[Dim]:
        """A known product of symbols, of which nothing may tell each, and what another one is a multiple of it by."""
        for size in self.known:
            if isinstance(size, Expr) and size.head in ("mul", "pow"):
                times = product // size
                if times * size == product and not (isinstance(times, Expr) and times.head == "floordiv"):
                    return [size, times]
        return []

    def _multiple(self, total: Expr) -> tuple[Dim, int, int] | None:
        """A known size of which nothing may tell each symbol, a factor, and what another one is more than their product by."""
        for size in self.known:
            if (
                isinstance(size, Expr)
                and size.head in ("add", "mul", "pow")
                and (found := multiple(total, size))
            ):
                return size, *found
        return None

    def _solved(self, symbol: Expr) -> SSAValue:
        """A symbol from a size that is linear in it and depends on no other."""
        name = str(symbol.value)
        for size in self.known:
            if not isinstance(size, Expr) or size.free_symbols() != frozenset([name]):
                continue
            try:
                offset = size.substitute({name: 0})
                factor = size.substitute({name: 1}) - offset
            except ExprError:
                continue  # it is divided by something that is 0 there, so not linear
            if size == factor * symbol + offset:
                multiple = self._apply("sub", self._value(size), self._value(offset))
                return self._apply("floordiv", multiple, self._value(factor))
        raise ExirError(f"size {symbol} cannot be computed from the operands' sizes")

    def _apply(self, function: str, *args: SSAValue) -> SSAValue:
        return self.aten.builder.insert(SYM_OP_OF[function](args)).results[0]


def dim_of(value: Size | None) -> Dim | None:
    """The value of a size argument, None where it is absent or nothing tells it."""
    if isinstance(value, SSAValue):
        return value.type.data if isinstance(value.type, SymType) else None
    return value


def dims_of(values: Sequence[Size], name: str) -> list[Dim]:
    """Values of size arguments. Raises `ExirError` where nothing tells one."""
    dims = [dim_of(value) for value in values]
    known = [dim for dim in dims if dim is not None]
    if len(known) != len(dims):
        raise ExirError(f"{name}: a number depends on the data; it has no decomposition then")
    return known


def rank(value: SSAValue) -> int:
    return meta(value).ndim


# --- other names ---------------------------------------------------------------------------------------------

OTHER_NAMES = {
    "expand_copy": "expand",
    "squeeze_copy": "squeeze",
    "squeeze_copy.dim": "squeeze.dim",
    "squeeze_copy.dims": "squeeze.dims",
    "unsqueeze_copy": "unsqueeze",
    "t_copy": "t",
    "transpose_copy.int": "transpose.int",
    "as_strided_copy": "as_strided",
    "unfold_copy": "unfold",
    "slice_copy.Tensor": "slice.Tensor",
    "select_copy.int": "select.int",
    "split_copy.Tensor": "split.Tensor",
    "split_with_sizes_copy": "split_with_sizes",
    "unbind_copy.int": "unbind.int",
    "narrow_copy": "narrow",
    "view_as_real_copy": "view_as_real",
    "view_as_complex_copy": "view_as_complex",
    "unsafe_split_with_sizes": "split_with_sizes",
    "native_channel_shuffle": "channel_shuffle",
    "_neg_view": "neg",
    "view_copy.dtype": "view.dtype",
    "concatenate": "cat",
    "row_stack": "vstack",
    "_unsafe_view": "view",
    "reshape": "view",
    "alias_copy": "clone",
    "detach_copy": "clone",
    "swapaxes": "transpose.int",
    "broadcast_to": "expand",
    "split.sizes": "split_with_sizes",
    "concat": "cat",
}
"""Operators and the one of the same arguments that they are: values are never views of others, so a copy is its view."""

other_names(OTHER_NAMES)


# --- reshaping -----------------------------------------------------------------------------------------------


@decomposition("aten.view_as", "aten.reshape_as")
def view_as(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return aten.view(self, sizes(aten, other))


@decomposition("aten.ravel")
def ravel(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.view(self, [-1])


@decomposition("aten.flatten.using_ints")
def flatten(aten: Namespace, self: SSAValue, start_dim: int, end_dim: int) -> SSAValue:
    start, end = wrap_dim(start_dim, rank(self)), wrap_dim(end_dim, rank(self))
    if rank(self) == 0:
        return aten.view(self, [1])
    if start == end:
        return self
    kept = sizes(aten, self)
    merged = [size for size in meta(self).shape[start : end + 1] if isinstance(size, int)]
    if len(merged) == end - start + 1:
        size = prod(merged)
    else:  # a view finds it, where there are elements
        size = (
            -1 if 0 not in meta(self).shape else Sizes(aten, self)(product(meta(self).shape[start : end + 1]))
        )
    return aten.view(self, [*kept[:start], size, *kept[end + 1 :]])


@decomposition("aten.unflatten.int")
def unflatten(aten: Namespace, self: SSAValue, dim: int, sizes: list[Size]) -> SSAValue:
    dim = wrap_dim(dim, rank(self))
    kept = Sizes(aten, self).all(meta(self).shape)
    static = [size for size in sizes if isinstance(size, int)]
    if len(static) == len(sizes):
        inferred = infer_size(meta(self).shape[dim], static)
        sizes = [new if isinstance(new, int) else old for new, old in zip(inferred, sizes, strict=True)]
    return aten.view(self, [*kept[:dim], *sizes, *kept[dim + 1 :]])


@decomposition("aten.squeeze")
def squeeze(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.squeeze.dims(self, list(range(rank(self))))


@decomposition("aten.squeeze.dim")
def squeeze_dim(aten: Namespace, self: SSAValue, dim: int) -> SSAValue:
    return aten.squeeze.dims(self, [dim])


@decomposition("aten.atleast_1d.Sequence")
def atleast_1d_of_each(aten: Namespace, tensors: list[SSAValue]) -> list[SSAValue]:
    return [aten.atleast_1d(tensor) for tensor in tensors]


@decomposition("aten.atleast_1d")
def atleast_1d(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.view(self, [1]) if rank(self) == 0 else self


@decomposition("aten.atleast_2d.Sequence")
def atleast_2d_of_each(aten: Namespace, tensors: list[SSAValue]) -> list[SSAValue]:
    return [aten.atleast_2d(tensor) for tensor in tensors]


@decomposition("aten.atleast_2d")
def atleast_2d(aten: Namespace, self: SSAValue) -> SSAValue:
    if rank(self) == 0:
        return aten.view(self, [1, 1])
    return aten.unsqueeze(self, 0) if rank(self) == 1 else self


@decomposition("aten.atleast_3d.Sequence")
def atleast_3d_of_each(aten: Namespace, tensors: list[SSAValue]) -> list[SSAValue]:
    return [aten.atleast_3d(tensor) for tensor in tensors]


@decomposition("aten.atleast_3d")
def atleast_3d(aten: Namespace, self: SSAValue) -> SSAValue:
    if rank(self) == 0:
        return aten.view(self, [1, 1, 1])
    return aten.unsqueeze(aten.atleast_2d(self), -1) if rank(self) <= 2 else self


@decomposition("aten.pixel_shuffle")
def pixel_shuffle(aten: Namespace, self: SSAValue, upscale_factor: int) -> SSAValue:
    r, n = upscale_factor, rank(self) - 3
    blocks = aten.unflatten.int(self, n, [-1, r, r])  # [..., C / r^2, r, r, H, W]
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]
    rows = aten.flatten.using_ints(aten.permute(blocks, order), n + 1, n + 2)
    return aten.flatten.using_ints(rows, n + 2, n + 3)


@decomposition("aten.pixel_unshuffle")
def pixel_unshuffle(aten: Namespace, self: SSAValue, downscale_factor: int) -> SSAValue:
    r, n = downscale_factor, rank(self) - 3
    rows = aten.unflatten.int(self, n + 1, [-1, r])
    blocks = aten.unflatten.int(rows, n + 3, [-1, r])  # [..., C, H / r, r, W / r, r]
    order = [*range(n), n, n + 2, n + 4, n + 1, n + 3]
    return aten.flatten.using_ints(aten.permute(blocks, order), n, n + 2)


@decomposition("aten.channel_shuffle")
def channel_shuffle(aten: Namespace, self: SSAValue, groups: Size) -> SSAValue:
    grouped = aten.unflatten.int(self, 1, [groups, -1])
    return aten.flatten.using_ints(aten.transpose.int(grouped, 1, 2), 1, 2)


# --- permuting -----------------------------------------------------------------------------------------------


@decomposition("aten.transpose.int", "aten.swapdims")
def transpose(aten: Namespace, self: SSAValue, dim0: int, dim1: int) -> SSAValue:
    dim0, dim1 = wrap_dim(dim0, rank(self)), wrap_dim(dim1, rank(self))
    order = list(range(rank(self)))
    if order:
        order[dim0], order[dim1] = dim1, dim0
    return aten.permute(self, order)


@decomposition("aten.mT")
def mt(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.transpose.int(self, -2, -1) if rank(self) else self


@decomposition("aten.mH", "aten.adjoint", "aten.matrix_H")
def mh(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.conj(aten.transpose.int(self, -2, -1) if rank(self) else self)


@decomposition("aten.t")
def t(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.permute(self, [1, 0]) if rank(self) == 2 else self


@decomposition("aten.numpy_T")
def numpy_t(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.permute(self, list(reversed(range(rank(self)))))


@decomposition("aten.movedim.int", "aten.moveaxis.int")
def movedim(aten: Namespace, self: SSAValue, source: int, destination: int) -> SSAValue:
    return aten.permute(self, movedim_order(rank(self), [source], [destination]))


@decomposition("aten.movedim.intlist", "aten.moveaxis.intlist")
def movedim_list(aten: Namespace, self: SSAValue, source: list[int], destination: list[int]) -> SSAValue:
    return aten.permute(self, movedim_order(rank(self), source, destination))


@decomposition("aten.fliplr")
def fliplr(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.flip(self, [1])


@decomposition("aten.flipud")
def flipud(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.flip(self, [0])


@decomposition("aten.rot90")
def rot90(aten: Namespace, self: SSAValue, k: int, dims: list[int]) -> SSAValue:
    a, b = dims
    match k % 4:
        case 1:
            return aten.transpose.int(aten.flip(self, [b]), a, b)
        case 2:
            return aten.flip(self, dims)
        case 3:
            return aten.transpose.int(aten.flip(self, [a]), a, b)
        case _:
            return aten.clone(self)


@decomposition("aten.roll")
def roll(aten: Namespace, self: SSAValue, shifts: list[Size], dims: list[int]) -> SSAValue:
    if not dims:
        flat = roll(aten, aten.view(self, [-1]), shifts, [0])
        return aten.view(flat, sizes(aten, self))
    result = self
    for shift, dim in zip(dims_of(shifts, "aten.roll"), dims, strict=True):
        length = Sizes(aten, self, *shifts)
        size = length.named(meta(self).shape[wrap_dim(dim, rank(self))])
        if size == 0:
            continue
        positions = aten.arange.start_step(0, length(size))
        sources = aten.add.Tensor(positions, length((size - shift % size) % size))
        result = aten.index_select(result, dim, aten.fmod.Scalar(sources, length(size)))
    return result


# --- broadcasting and repeating ------------------------------------------------------------------------------


@decomposition("aten.expand_as")
def expand_as(aten: Namespace, self: SSAValue, other: SSAValue) -> SSAValue:
    return aten.expand(self, sizes(aten, other))


@decomposition("aten.broadcast_tensors")
def broadcast_tensors(aten: Namespace, tensors: list[SSAValue]) -> list[SSAValue]:
    shape = broadcast_shapes(*(meta(tensor).shape for tensor in tensors))
    size = Sizes(aten, *tensors).all(shape)
    return [tensor if meta(tensor).shape == shape else aten.expand(tensor, size) for tensor in tensors]


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


@decomposition("aten.diag_embed")
def diag_embed(aten: Namespace, self: SSAValue, offset: int, dim1: int, dim2: int) -> SSAValue:
    """The last dimension as a diagonal: in each row only one column is not masked."""
    columns = self
    if offset:
        columns = aten.constant_pad_nd(self, [max(offset, 0), max(-offset, 0)])
    positions = aten.arange.start_step(0, sizes(aten, columns)[-1])
    past = aten.sub.Tensor(positions, aten.unsqueeze(positions, -1))
    zero = aten.scalar_tensor(0, dtype=meta(self).dtype)
    matrix = aten.where.self(aten.eq.Scalar(past, offset), aten.unsqueeze(columns, -2), zero)
    return aten.movedim.intlist(matrix, [-2, -1], [dim1, dim2])


@decomposition("aten.diag")
def diag(aten: Namespace, self: SSAValue, diagonal: int) -> SSAValue:
    embed = aten.diag_embed if rank(self) == 1 else aten.diagonal_copy
    return embed(self, diagonal)


@decomposition("aten.diagflat")
def diagflat(aten: Namespace, self: SSAValue, offset: int) -> SSAValue:
    return aten.diag_embed(aten.view(self, [-1]), offset)


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
    dim = wrap_dim(dim, rank(self))
    shape = sizes(aten, self)
    [place] = dims_of([index], "aten.select_scatter")
    if isinstance(place, int) and place < 0:
        size_of = Sizes(aten, self)
        index = size_of(place + size_of.named(meta(self).shape[dim]))
    positions = aten.view(
        aten.arange.start_step(0, shape[dim]), [-1 if d == dim else 1 for d in range(rank(self))]
    )
    source = aten.expand(aten.unsqueeze(cast(aten, src, meta(self).dtype), dim), shape)
    return aten.where.self(aten.eq.Scalar(positions, index), source, self)


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


def reflected(aten: Namespace, low: Size, high: Size, last: Size) -> SSAValue:
    """Positions of a dimension's elements around it, mirrored at its first and last element."""
    positions = aten.abs(aten.arange.start_step(low, high))
    return aten.sub.Tensor(last, aten.abs(aten.sub.Tensor(last, positions)))


def replicated(aten: Namespace, low: Size, high: Size, last: Size) -> SSAValue:
    """Positions of a dimension's elements around it, its first and last element going on."""
    return aten.clamp(aten.arange.start_step(low, high), 0, last)


POSITIONS = {"reflect": reflected, "replicate": replicated}


def pad_by_index(aten: Namespace, self: SSAValue, padding: list[Size], mode: str) -> SSAValue:
    """Every padded dimension in turn, from the first on, gathered at positions within it."""
    pads = dims_of(padding, f"padding by '{mode}'")
    size = Sizes(aten, self, *padding)
    result = self
    for dim in range(-len(pads) // 2, 0):
        before, after = pads[-2 * dim - 2 : -2 * dim or None]
        length = meta(self).shape[dim]
        positions = POSITIONS[mode](aten, size(-before), size(length + after), size(length - 1))
        result = aten.index.Tensor(result, [None] * (rank(self) + dim) + [positions] + [None] * (-dim - 1))
    return result


@decomposition("aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d")
def reflection_pad(aten: Namespace, self: SSAValue, padding: list[Size]) -> SSAValue:
    return pad_by_index(aten, self, padding, "reflect")


@decomposition("aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d")
def replication_pad(aten: Namespace, self: SSAValue, padding: list[Size]) -> SSAValue:
    return pad_by_index(aten, self, padding, "replicate")


def pad_around(aten: Namespace, self: SSAValue, pad: list[Size]) -> SSAValue:
    """Every padded dimension goes on with its other end; a negative pad takes away."""
    result = self
    for index, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        dim = rank(self) - 1 - index
        if not (isinstance(before, int) and isinstance(after, int)):
            raise ExirError("aten.pad: circular padding takes constant pads")
        middle = aten.slice.Tensor(result, dim, max(-before, 0), -max(-after, 0) or None)
        first = [aten.slice.Tensor(middle, dim, -before)] if before > 0 else []
        last = [aten.slice.Tensor(middle, dim, 0, after)] if after > 0 else []
        result = aten.cat([*first, middle, *last], dim)
    return result


@decomposition("aten.pad")
def pad(aten: Namespace, self: SSAValue, pad: list[Size], mode: str, value: float | None) -> SSAValue:
    if mode == "constant":
        return aten.constant_pad_nd(self, pad, 0.0 if value is None else value)
    return pad_around(aten, self, pad) if mode == "circular" else pad_by_index(aten, self, pad, mode)


@decomposition("aten._chunk_cat")
def chunk_cat(aten: Namespace, tensors: Sequence[SSAValue], dim: int, num_chunks: int) -> SSAValue:
    """Each tensor padded to chunks of one length, and these side by side."""
    dim = wrap_dim(dim, meta(tensors[0]).ndim)

    def chunks(tensor: SSAValue) -> SSAValue:
        shape = meta(tensor).shape
        length = shape[dim]
        if not isinstance(length, int):
            raise ExirError(f"aten._chunk_cat: size {length} is symbolic; it has no decomposition then")
        behind = len(shape) - dim - 1
        padded = aten.constant_pad_nd(tensor, [0, 0] * behind + [0, -length % num_chunks], 0)
        return aten.view(padded, [*sizes(aten, tensor)[:dim], num_chunks, -1])

    return aten.cat([chunks(tensor) for tensor in tensors], dim + 1)


@decomposition("aten.resize")
def resize(aten: Namespace, self: SSAValue, size: Sequence[Size]) -> SSAValue:
    """The elements in order, as many as there is room for; what more room holds is undefined, here 0."""
    if not all(isinstance(length, int) for length in (*size, *meta(self).shape)):
        raise ExirError("aten.resize: a size is symbolic; it has no decomposition then")
    missing = prod(length for length in size if isinstance(length, int)) - prod(
        length for length in meta(self).shape if isinstance(length, int)
    )
    return aten.view(aten.constant_pad_nd(aten.view(self, [-1]), [0, missing], 0), size)


@decomposition("aten.resize_as")
def resize_as(aten: Namespace, self: SSAValue, the_template: SSAValue) -> SSAValue:
    return aten.resize(self, sizes(aten, the_template))
