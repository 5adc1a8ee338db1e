"""Decompositions of views and rearrangements: into `view`, `permute`, `expand`, `slice`, `cat` and a few more.

They end where PyTorch's do, but for the copies that only strides ask for: values of the IR have none. Sizes may be
symbolic; what a rule computes from them becomes arithmetic on symbolic numbers (`Sizes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from math import prod

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, meta, sizes
from xdsl_exir.dialects.exir import NumberOp
from xdsl_exir.dialects.expr import Dim, Expr, ExprError, max_, multiple
from xdsl_exir.dialects.expr import prod as product
from xdsl_exir.dialects.meta import broadcast_shapes, wrap_dim
from xdsl_exir.dialects.shapes.view import infer_size, movedim_order
from xdsl_exir.dialects.sym_ops import SYM_OPS
from xdsl_exir.dialects.tensors import SymType, is_tensor_type
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import decomposition, other_names

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

    def together(self, sizes: Iterable[Dim]) -> Dim:
        """A product of known sizes, each under a name of its own: as one expression it would be taken apart into their symbols."""
        return product(map(self.named, sizes))

    def flat(self, shape: Iterable[Dim]) -> Size:
        """The size of dimensions laid flat."""
        return self(self.together(shape))

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
        if size.head in ("add", "mul", "pow", "floordiv") and (part := self._part(size)):
            return self._apply("floordiv", *map(self._value, part))
        args = [self._value(arg) for arg in size.args]
        if len(args) == 1 or size.head == "where":
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

    def _part(self, size: Expr) -> tuple[Dim, int] | None:
        """A known size of which nothing may tell each symbol, and how many times another one it is."""
        for whole in self.known:
            if isinstance(whole, Expr) and whole.head in ("add", "mul"):
                times = whole // size
                if isinstance(times, int) and times * size == whole:
                    return whole, times
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
    "view_as_real_copy": "view_as_real",
    "view_as_complex_copy": "view_as_complex",
    "native_channel_shuffle": "channel_shuffle",
    "_neg_view": "neg",
    "view_copy.dtype": "view.dtype",
    "_unsafe_view": "view",
    "reshape": "view",
    "alias_copy": "clone",
    "detach_copy": "clone",
    "swapaxes": "transpose.int",
    "broadcast_to": "expand",
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
    shape, size_of = meta(self).shape, Sizes(aten, self)
    merged = size_of.together(shape[start : end + 1])
    return aten.view(self, size_of.of_view([*shape[:start], merged, *shape[end + 1 :]]))


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
        turns = max_(size, 1)  # of no elements none is moved
        cut = length((size - shift % turns) % turns)
        ends = [aten.slice.Tensor(result, dim, start, end) for start, end in ((cut, None), (0, cut))]
        result = aten.cat(ends, dim)
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


# --- taking parts --------------------------------------------------------------------------------------------


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


# --- padding -------------------------------------------------------------------------------------------------


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
