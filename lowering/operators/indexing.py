"""Lowerings of operators that pick, place and order elements.

Picking is a map over the result that reads at computed places; placing is a loop, in order, since places may coincide.
PyTorch raises where an index is out of range. Native code cannot raise, and must not read or write elsewhere: the nearest element is read in place of
it, and nothing is written (what is written to may be memory of the caller's, who is told in the end).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import inf
from typing import Any, TypeVar

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, min_, prod
from xdsl_exir.dialects.meta import broadcast_shapes, wrap_dim
from xdsl_exir.dialects.shapes.indexing import BAG_MAX, BAG_MEAN
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.introselect import Steps, introselect, introsort, quickselect, sorts_by_steps
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype, is_unsigned, sum_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder, dims
from xdsl_exir.lowering.loops import first_where
from xdsl_exir.lowering.operators.pointwise import floor_divide
from xdsl_exir.lowering.places import Place, from_start, in_range, is_within, replaced
from xdsl_exir.lowering.reassociation import broadcast_map
from xdsl_exir.lowering.reductions import alone
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.sorting import found_by_steps, sorting_order
from xdsl_exir.lowering.tensors import Tensor, read

Out = list[TensorMeta]
TensorLike = TypeVar("TensorLike", Tensor, TensorMeta)


# --- picking -------------------------------------------------------------------------------------------------


def indexed_by(
    b: LinalgBuilder, self: Tensor, dim: int, index: Tensor, index_dims: Sequence[int], shape: Sizes
) -> Tensor:
    """Elements of a tensor at an index along one dimension, which depends on some dimensions of the result."""
    index_map = AffineMap(len(shape), 0, tuple(dims(len(shape))[axis] for axis in index_dims))
    first, last = dim, dim + len(shape) - self.ndim + 1  # the result's dimensions that stand for `dim`

    def pick(found: Scalar, *at: SSAValue) -> Scalar:
        return read(self, [*at[:first], in_range(found, self.shape[dim]), *at[last:]])

    return b.indexed(pick, shape, self.dtype, [(index, index_map)])


@lowering("aten.embedding", takes_complex=True)
def embedding(b: LinalgBuilder, weight: Tensor, indices: Tensor, out: Out) -> Tensor:
    return indexed_by(b, weight, 0, indices, range(indices.ndim), out[0].shape)


@lowering("aten.index_select", takes_complex=True)
def index_select(b: LinalgBuilder, self: Tensor, dim: int, index: Tensor, out: Out) -> Tensor:
    if not self.ndim:
        return self
    dim = wrap_dim(dim, self.ndim)
    vector = b.reshape(index, index.shape or (1,))
    return indexed_by(b, self, dim, vector, [dim], out[0].shape)


@lowering("aten.gather", takes_complex=True)
def gather(b: LinalgBuilder, self: Tensor, dim: int, index: Tensor) -> Tensor:
    if 0 in index.shape:
        return Tensor(b.empty(index.shape, self.dtype), index.shape, self.dtype)
    source, places = at_least_1d(b, self), at_least_1d(b, index)
    dim = wrap_dim(dim, source.ndim)
    return b.reshape(indexed_by(b, source, dim, places, range(places.ndim), places.shape), index.shape)


def at_least_1d(b: LinalgBuilder, self: Tensor) -> Tensor:
    """A 0-dim tensor as a vector of one element."""
    return b.reshape(self, self.shape or (1,))


# --- placing by index tensors of the source's rank -----------------------------------------------------------

Combine = Callable[[Scalar, Scalar], Scalar]


def scattered(
    b: LinalgBuilder,
    self: Tensor,
    dim: int,
    index: Tensor,
    value: Callable[..., Scalar],
    combine: Combine | None,
) -> Tensor:
    """`self` with values, functions of the place in `index`, at their indices, or combined with what stands there: in order and in the dtype that
    elements are computed in, as PyTorch's kernels do, bit for bit."""
    if 0 in index.shape:
        return self
    if combine in (s.add, s.mul) and self.dtype is not compute_dtype(self.dtype):
        wide = b.convert(self, compute_dtype(self.dtype))
        return b.convert(scattered(b, wide, dim, index, value, combine), self.dtype)
    target, places = at_least_1d(b, self), at_least_1d(b, index)
    dim = wrap_dim(dim, target.ndim)

    def step(*at: SSAValue) -> tuple[Scalar, Place, Scalar]:
        found = s.cast(read(places, at), dt.Long)
        new = s.cast(value(*at), compute_dtype(self.dtype))
        return is_within(found, target.shape[dim]), replaced(at, dim, found), new

    return b.reshape(b.update_where(target, places.shape, step, combine), self.shape)


def elements_of(b: LinalgBuilder, src: Tensor) -> Callable[..., Scalar]:
    """The element of a tensor at a place."""
    source = at_least_1d(b, src)
    return lambda *at: read(source, at)


@lowering("aten.scatter.src", takes_complex=True)
def scatter_src(b: LinalgBuilder, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return scattered(b, self, dim, index, elements_of(b, src), None)


@lowering("aten.scatter.value", takes_complex=True)
def scatter_value(b: LinalgBuilder, self: Tensor, dim: int, index: Tensor, value: float) -> Tensor:
    return scattered(b, self, dim, index, lambda *_: s.constant(value, compute_dtype(self.dtype)), None)


@lowering("aten.scatter_add", takes_complex=True)
def scatter_add(b: LinalgBuilder, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return scattered(b, self, dim, index, elements_of(b, src), s.add)


COMBINE: dict[str, Combine] = {
    "sum": s.add,
    "mean": s.add,
    "prod": s.mul,
    "amax": s.maximum,
    "amin": s.minimum,
}
"""How `scatter_reduce` combines elements, by the name of the reduction."""


def neutral(reduce: str, dtype: DType) -> float:
    """The element that a reduction of other elements does not depend on."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    sign = -1 if reduce == "amax" else 1
    return sign * inf if dtype.category is Category.FLOAT else least_and_greatest(dtype)[sign > 0]


def least_and_greatest(dtype: DType) -> tuple[int, int]:
    """The range of an integer dtype."""
    if dtype is dt.Bool:
        return 0, 1
    if is_unsigned(dtype):
        return 0, (1 << dtype.bits) - 1
    return -(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1


@lowering("aten.scatter_reduce.two", takes_complex=True)
def scatter_reduce(
    b: LinalgBuilder, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Tensor:
    base = self
    if not include_self:
        # Where something is scattered to, start from what changes nothing.
        base = scatter_value(b, self, dim, index, neutral(reduce, self.dtype))
    result = scattered(b, base, dim, index, elements_of(b, src), COMBINE[reduce])
    if reduce != "mean":
        return result
    counts = b.fill(int(include_self), self.shape, dt.Long)
    counts = scattered(b, counts, dim, index, lambda *_: s.constant(1, dt.Long), s.add)

    def mean(total: Scalar, count: Scalar) -> Scalar:
        count = s.cast(s.maximum(count, 1), total.dtype)
        return floor_divide(total, count) if total.dtype.category <= Category.INT else total / count

    return b.elementwise(mean, [result, counts], self.shape, self.dtype)


# --- advanced indexing ---------------------------------------------------------------------------------------


class Indices:
    """A list of indices as `self[indices]` takes it. Their common shape stands where the indexed dimensions stood, or
    first if those are not adjacent; None keeps a dimension."""

    def __init__(self, sizes: Sizes, indices: Sequence[Tensor | None]):
        self.source = sizes
        self.by_dim = {dim: index for dim, index in enumerate(indices) if index is not None}
        self.common: Sizes = broadcast_shapes(*(index.shape for index in self.by_dim.values()))
        kept = tuple(size for dim, size in enumerate(sizes) if dim not in self.by_dim)
        first, *_, last = (*self.by_dim, *self.by_dim)
        self.start = first if last - first + 1 == len(self.by_dim) else 0
        """The first dimension of the common shape in what is indexed."""
        self.shape: Sizes = (*kept[: self.start], *self.common, *kept[self.start :])
        """The shape of what is indexed."""

    def maps(self) -> list[tuple[Tensor, AffineMap]]:
        """The index tensors with maps from places in what is indexed."""
        rank = len(self.shape)
        within = AffineMap(rank, 0, tuple(dims(rank)[self.start : self.start + len(self.common)]))
        return [
            (index, broadcast_map(index.shape, self.common).compose(within)) for index in self.by_dim.values()
        ]

    def place(
        self,
        found: Sequence[Scalar],
        at: Sequence[SSAValue],
        along: Callable[[Scalar, Dim, bool], Scalar] = in_range,
    ) -> Place:
        """The place in `self` of one in what is indexed, where the index tensors hold these numbers, which say that `along` a dimension."""
        kept = iter([*at[: self.start], *at[self.start + len(self.common) :]])
        given = iter(found)
        return [
            along(next(given), size, True) if dim in self.by_dim else next(kept)
            for dim, size in enumerate(self.source)
        ]

    def are_within(self, found: Sequence[Scalar]) -> Scalar:
        """Whether the numbers that the index tensors hold are all within their dimensions."""
        sizes = [self.source[dim] for dim in self.by_dim]
        each = (is_within(index, size, wraps=True) for index, size in zip(found, sizes, strict=True))
        return reduce(lambda one, other: one & other, each)


def masks(indices: Sequence[TensorLike | None]) -> list[TensorLike]:
    """The indices that pick what they hold True for."""
    return [index for index in indices if index is not None and index.dtype in (dt.Bool, dt.Byte)]


def refuse_masks(arguments: Mapping[str, Any]) -> str | None:
    """A result's size must not depend on data."""
    return "a mask among its indices" if masks(arguments["indices"]) else None


def refuse_masks_with_others(arguments: Mapping[str, Any]) -> str | None:
    """One mask covers dimensions in order; with other indices it would not."""
    indices = [index for index in arguments["indices"] if index is not None]
    return "a mask and other indices" if masks(indices) and len(indices) > 1 else None


@lowering("aten.index.Tensor", refuses=refuse_masks, takes_complex=True)
def index(b: LinalgBuilder, self: Tensor, indices: list[Tensor | None], out: Out) -> Tensor:
    if 0 in self.shape:
        return Tensor(b.empty(out[0].shape, self.dtype), out[0].shape, self.dtype)
    where = Indices(self.shape, indices)
    count = len(where.by_dim)
    return b.indexed(
        lambda *args: read(self, where.place(args[:count], args[count:])),
        where.shape,
        self.dtype,
        where.maps(),
    )


@lowering("aten.index_put", refuses=refuse_masks_with_others, takes_complex=True)
def index_put(
    b: LinalgBuilder, self: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool
) -> Tensor:
    if masks(indices):
        return mask_put(b, self, indices, values, accumulate)
    where = Indices(self.shape, indices)
    if 0 in where.shape:
        return self
    if accumulate and self.dtype is not compute_dtype(self.dtype):
        wide = b.convert(self, compute_dtype(self.dtype))
        return b.convert(index_put(b, wide, indices, values, True), self.dtype)
    given = [b.broadcast(index, where.common) for index in where.by_dim.values()]
    source = b.broadcast(values, where.shape)

    def step(*at: SSAValue) -> tuple[Scalar, Place, Scalar]:
        common = at[where.start : where.start + len(where.common)]
        found = [read(index, common) for index in given]
        new = s.cast(read(source, at), compute_dtype(self.dtype))
        return where.are_within(found), where.place(found, at, from_start), new

    return b.update_where(self, where.shape, step, s.add if accumulate else None)


def mask_put(
    b: LinalgBuilder, self: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool
) -> Tensor:
    """`index_put` by one mask: a map over `self`, since no two values go to one place."""
    [mask] = [index for index in indices if index is not None]
    if 0 in values.shape:
        return self
    start = indices.index(mask)
    covered = slice(start, start + mask.ndim)
    mask_map = AffineMap(self.ndim, 0, tuple(dims(self.ndim)[covered]))

    def element(old: Scalar, masked: Scalar, before: Scalar, *at: SSAValue) -> Scalar:
        target = [*at[:start], before, *at[covered.stop :]]
        place: Place = [
            in_range(x if isinstance(x, Scalar) else s.from_index(x), size)
            for x, size in zip(target[len(target) - values.ndim :], values.shape, strict=True)
        ]
        new = s.cast(read(values, place), old.dtype)
        return s.select(s.cast(masked, dt.Bool), old + new if accumulate else new, old)

    inputs = [(self, AffineMap.identity(self.ndim)), (mask, mask_map), (true_before(b, mask), mask_map)]
    return b.indexed(element, self.shape, self.dtype, inputs)


def true_before(b: LinalgBuilder, mask: Tensor) -> Tensor:
    """For each element of a mask the number of true ones before it, in row-major order."""
    count = prod(mask.shape)
    flat = b.reshape(mask, (count,))

    def step(so_far: Tensor, at: SSAValue) -> tuple[Place, Scalar]:
        position = s.from_index(at)
        last = [s.maximum(position - 1, 0)]
        total = read(so_far, last) + s.cast(s.cast(read(flat, last), dt.Bool), dt.Long)
        return [at], s.select(position.equals(0), s.constant(0, dt.Long), total)

    return b.reshape(b.update(b.fill(0, (count,), dt.Long), (count,), step), mask.shape)


@lowering("aten.masked_scatter", takes_complex=True)
def masked_scatter(b: LinalgBuilder, self: Tensor, mask: Tensor, source: Tensor, out: Out) -> Tensor:
    shape = out[0].shape
    count = prod(source.shape)
    if not count:
        return b.broadcast(self, shape)
    flat, mask = b.reshape(source, (count,)), b.broadcast(mask, shape)

    def element(old: Scalar, masked: Scalar, before: Scalar) -> Scalar:
        return s.select(masked, read(flat, [in_range(before, count)]), old)

    return b.elementwise(element, [self, mask, true_before(b, mask)], shape, self.dtype)


# --- order ---------------------------------------------------------------------------------------------------


@lowering("aten.sort")
def sort(b: LinalgBuilder, self: Tensor, dim: int, descending: bool) -> tuple[Tensor, Tensor]:
    return sort_stable(b, self, False, dim, descending)


@lowering("aten.sort.stable")
def sort_stable(
    b: LinalgBuilder, self: Tensor, stable: bool | None, dim: int, descending: bool
) -> tuple[Tensor, Tensor]:
    if not self.ndim:
        return alone(b, self)
    dim = wrap_dim(dim, self.ndim)
    if not stable and sorts_by_steps(self.shape, dim, self.dtype, descending):
        order = found_by_steps(b, self, dim, descending, 0, self.shape[dim], introsort)
    else:
        order = sorting_order(b, self, dim, descending)
    return indexed_by(b, self, dim, order, range(self.ndim), self.shape), order


@lowering("aten.topk")
def topk(b: LinalgBuilder, self: Tensor, dim: int, largest: bool, sorted: bool, out: Out) -> Sequence[Tensor]:
    if not self.ndim:
        return alone(b, self)
    dim = wrap_dim(dim, self.ndim)
    shape = out[0].shape
    if not shape[dim]:
        return [b.fill(0, shape, meta.dtype) for meta in out]
    count = shape[dim]

    def find(steps: Steps, size: Scalar) -> None:
        introselect(steps, s.constant(count, dt.Long), size, sorted)

    order = found_by_steps(b, self, dim, largest, 0, count, find)
    return indexed_by(b, self, dim, order, range(self.ndim), shape), order


@lowering("aten.kthvalue", takes_complex=True)
def kthvalue(b: LinalgBuilder, self: Tensor, k: Dim, dim: int, out: Out) -> Sequence[Tensor]:
    if not self.shape:
        return alone(b, self)
    vectors = at_least_1d(b, self)
    dim = wrap_dim(dim, vectors.ndim)

    def find(steps: Steps, size: Scalar) -> None:
        quickselect(steps, s.constant(k - 1, dt.Long), size)

    places = found_by_steps(b, vectors, dim, False, k - 1, 1, find)
    values = indexed_by(b, vectors, dim, places, range(vectors.ndim), places.shape)
    return [b.reshape(result, meta.shape) for result, meta in zip((values, places), out, strict=True)]


def search(
    b: LinalgBuilder, boundaries: Tensor, self: Tensor, right: bool, sorter: Tensor | None, out: TensorMeta
) -> Tensor:
    """Where numbers belong among boundaries that ascend along the last dimension: after those less, or after equal ones
    as well if `right`."""
    count = boundaries.shape[-1]

    def element(x: Scalar, *at: SSAValue) -> Scalar:
        def is_past(position: Scalar) -> Scalar:
            row = at[: boundaries.ndim - 1]
            place = position if sorter is None else in_range(read(sorter, [*row, position]), count)
            boundary = s.cast(read(boundaries, [*row, place]), x.dtype)
            return boundary > x if right else boundary >= x

        found = first_where(is_past, s.constant(0, dt.Long), s.constant(count, dt.Long))
        return s.cast(found, out.dtype)

    if not count:
        return b.fill(0, out.shape, out.dtype)
    return b.indexed(element, out.shape, out.dtype, [(self, AffineMap.identity(self.ndim))])


@lowering("aten.searchsorted.Tensor")
def searchsorted(
    b: LinalgBuilder,
    sorted_sequence: Tensor,
    self: Tensor,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
    out: Out,
) -> Tensor:
    if side == "left" and right:
        raise ExirError("searchsorted: side='left' contradicts right=True")
    return search(b, sorted_sequence, self, right or side == "right", sorter, out[0])


@lowering("aten.bucketize.Tensor")
def bucketize(b: LinalgBuilder, self: Tensor, boundaries: Tensor, right: bool, out: Out) -> Tensor:
    return search(b, boundaries, self, right, None, out[0])


# --- counting ------------------------------------------------------------------------------------------------


@lowering("aten.nonzero_static", takes_complex=True)
def nonzero_static(b: LinalgBuilder, self: Tensor, fill_value: int, out: Out) -> Tensor:
    """The indices of elements that are not 0, as many as there is place for. A row behind them takes all others."""
    count, rank = out[0].shape
    if 0 in (*out[0].shape, *self.shape):
        return b.fill(fill_value, (count, rank), dt.Long)
    rows = b.fill(fill_value, (count + 1, rank), dt.Long)
    return b.slice(places_in(b, b.convert(self, dt.Bool), rows), [0, 0], (count, rank), [1, 1])


def places_in(b: LinalgBuilder, mask: Tensor, rows: Tensor) -> Tensor:
    """Rows, of which one after the other holds the indices of a true element; the last row, those of all others. How many there are so far
    goes from element to element in a register."""
    zero, one, *sizes = map(b.size, (0, 1, *mask.shape))
    last = rows.shape[0] - 1

    def element(at: Sequence[SSAValue], made: SSAValue, number: SSAValue) -> tuple[SSAValue, SSAValue]:
        is_true, row = read(mask, at), Scalar(number, dt.Long)
        place = s.to_index(s.select(is_true & (row < last), row, s.constant(last, dt.Long)))
        for dim, index in enumerate(at):
            here = arith.ConstantOp(IntegerAttr(dim, IndexType())).result
            made = tensor.InsertOp(s.from_index(index).value, made, [place, here]).result
        return made, (row + s.cast(is_true, dt.Long)).value

    def nest(at: list[SSAValue], made: SSAValue, number: SSAValue) -> Sequence[SSAValue]:
        if len(at) == len(sizes):
            return element(at, made, number)
        block = Block(arg_types=[IndexType(), made.type, number.type])
        with s.body(block, b.size):
            index, *so_far = block.args
            scf.YieldOp(*nest([*at, index], *so_far))
        return scf.ForOp(zero, sizes[len(at)], one, [made, number], block).results

    start = b.add(arith.ConstantOp(IntegerAttr(0, i64)))
    made, _ = nest([], rows.value, start)
    assert isinstance(made.owner, scf.ForOp)
    b.add(made.owner)
    return Tensor(made, rows.shape, rows.dtype)


# --- bags ----------------------------------------------------------------------------------------------------


def bag_of_each(b: LinalgBuilder, offsets: Tensor, count: Dim) -> Tensor:
    """The bag that each of so many indices is in: the last one that begins at it or before."""

    def begins(so_far: Tensor, at: SSAValue) -> tuple[Place, Scalar]:
        place: Place = [in_range(s.cast(read(offsets, [at]), dt.Long), count + 1)]
        return place, read(so_far, place) + 1

    def begun(so_far: Tensor, at: SSAValue) -> tuple[Place, Scalar]:
        last = s.from_index(at) - 1
        before = read(so_far, [in_range(last, count + 1)])
        return [at], read(so_far, [at]) + s.select(last < 0, s.constant(-1, dt.Long), before)

    begin = b.update(b.fill(0, (count + 1,), dt.Long), offsets.shape, begins)
    return b.slice(b.update(begin, (count,), begun), [0], [count], [1])


@lowering("aten._embedding_bag", "aten._embedding_bag_forward_only")
def embedding_bag(
    b: LinalgBuilder,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int,
    out: Out,
) -> list[Tensor]:
    """Sums, means or maxima of rows, a bag from each offset to the next; empty ones are 0."""
    (count, width), total = out[0].shape, indices.shape[0]
    compute = sum_dtype(weight.dtype)
    if not count or not total:
        return [b.fill(0, meta.shape, meta.dtype) for meta in out]
    bag = bag_of_each(b, offsets, total)

    def taken(at: SSAValue) -> tuple[Scalar, Scalar, Scalar]:
        """The bag of an index, the row it picks, and whether it counts."""
        number, row = read(bag, [at]), s.cast(read(indices, [at]), dt.Long)
        return (
            in_range(number, count),
            in_range(row, weight.shape[0]),
            (number < count) & row.differs(padding_idx),
        )

    def gather(
        initial: float,
        dtype: DType,
        shape: Sizes,
        combine: Callable[[Scalar, Scalar, list[Scalar | SSAValue]], Scalar],
    ) -> Tensor:
        """Combines, bag by bag, what stands there with each row that counts, at a place `[row, column]`."""

        def step(so_far: Tensor, *at: SSAValue) -> tuple[Place, Scalar]:
            number, row, counts = taken(at[0])
            place: Place = [number, *at[1:]]
            old = read(so_far, place)
            new = combine(old, row, [at[0], *at[1:]])
            return place, s.select(counts, new, old)

        return b.update(b.fill(initial, shape, dtype), (total, *shape[1:]), step)

    sizes = gather(0, dt.Long, (count,), lambda old, _, __: old + 1)

    def fitted(values: Tensor, meta: TensorMeta) -> Tensor:
        """A vector with zeros after it, or cut off."""
        [size] = meta.shape
        kept = min_(size, values.shape[0])
        return b.pad(b.slice(values, [0], [kept], [1]), [0], [size - kept], 0)

    def element(row: Scalar, at: list[Scalar | SSAValue]) -> Scalar:
        value = s.cast(read(weight, [row, at[1]]), compute)
        if per_sample_weights is None:
            return value
        return value * s.cast(read(per_sample_weights, at[:1]), value.dtype)

    def as_counted(results: list[Tensor]) -> list[Tensor]:
        """What is counted in the dtype of the indices."""
        return [b.convert(result, meta.dtype) for result, meta in zip(results, out, strict=True)]

    nothing = b.fill(0, (0,), dt.Long)
    numbers = nothing if out[1].shape == (0,) else bag
    shape = (count, width)
    per_bag = b.reshape(sizes, (count, 1))
    if mode == BAG_MAX:
        greatest = gather(
            neutral("amax", weight.dtype),
            compute,
            shape,
            lambda old, row, at: s.maximum(old, element(row, at)),
        )

        def first(old: Scalar, row: Scalar, at: list[Scalar | SSAValue]) -> Scalar:
            value, best = element(row, at), read(greatest, [in_range(read(bag, at[:1]), count), at[1]])
            return s.select((old < 0) & (value.equals(best) | s.is_nan(value)), row, old)

        places = gather(-1, dt.Long, shape, first)
        result = b.elementwise(
            lambda x, size: s.select(size > 0, x, 0), [greatest, per_bag], shape, weight.dtype
        )
        found = b.elementwise(lambda place: s.maximum(place, 0), [places], shape, dt.Long)
        return as_counted([result, numbers, fitted(sizes, out[2]), found])
    sums = gather(0, compute, shape, lambda old, row, at: old + element(row, at))
    if mode == BAG_MEAN:
        means = b.elementwise(
            lambda x, size: x / s.cast(s.maximum(size, 1), x.dtype), [sums, per_bag], shape, weight.dtype
        )
        return as_counted([means, numbers, fitted(sizes, out[2]), fitted(sizes, out[3])])
    zeros = [b.fill(0, meta.shape, dt.Long) for meta in out[2:]]
    return as_counted([b.convert(sums, weight.dtype), numbers, *zeros])
