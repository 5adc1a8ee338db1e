"""Lowerings of pooling: reductions over windows.

A `Line` says where the windows along one dimension lie. Windows at equal distances are read through affine maps of a
padded input; adaptive ones of differing extents are reduced along one dimension after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import gcd

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, apply, max_, min_, prod, provably
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder, Tensor, dims, read
from xdsl_exir.lowering.reductions import is_same, lowest, shaped
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes, quotient

Out = list[TensorMeta]

# --- windows -------------------------------------------------------------------------------------------------


FEW = 32
"""Taps along a dimension, so that an input padded by as many is not much larger."""


@dataclass(frozen=True)
class Sliding:
    """Windows of the same width at equal distances along a dimension."""

    size: Dim
    count: Dim
    width: Dim
    step: int
    pad: int
    spread: int

    @property
    def taps(self) -> Dim:
        """Those that are in the input in any window: none are that are past its end in the first. Of inputs of unknown size few are taken to be
        there: loops over a known number of them are faster, and the input is padded by few."""
        reached = max_((self.size + self.pad - 1) // self.spread + 1, 1)
        if not isinstance(reached, int) and (not isinstance(self.width, int) or self.width <= FEW):
            return self.width
        return min_(self.width, reached)

    @property
    def high_pad(self) -> Dim:
        """By how much the taps of the last window reach past the input."""
        return self.past(self.taps)

    def past(self, taps: Dim) -> Dim:
        """By how much so many taps of the last window reach past the input."""
        return max_((self.count - 1) * self.step - self.pad + self.spread * (taps - 1) + 1 - self.size, 0)

    def access(self, place: AffineExpr, tap: AffineExpr) -> AffineExpr:
        """Where in the padded input a window's tap lies."""
        return place * self.step + tap * self.spread

    def coordinate(self, place: Scalar, tap: Scalar) -> tuple[Scalar, Scalar]:
        """Where in the input a window's tap lies, and whether it is inside."""
        here = place * self.step + tap * self.spread - self.pad
        return here, (here >= 0) & (here < self.size)

    def extent(self, place: Scalar, include_pad: bool) -> Scalar | Dim:
        """How many taps count; those past the padding never do."""
        margin = self.pad if include_pad else 0
        if self.pad <= margin and provably(apply("le", self.past(self.width), margin)):
            return self.width
        start = place * self.step - self.pad
        last = s.constant(self.size, dt.Long) + margin
        return s.minimum(start + self.width, last) - s.maximum(start, -margin)


@dataclass(frozen=True)
class Adaptive:
    """Windows that divide a dimension evenly: number i of n covers from floor(i size / n) to ceil((i + 1) size / n)."""

    size: Dim
    count: Dim

    @property
    def taps(self) -> Dim:
        """Those of the longest window; of symbolic sizes it may be one less."""
        size, count = self.size, self.count
        common = gcd(size, count) if isinstance(size, int) and isinstance(count, int) else 1
        return (size + 2 * count - 1 - common) // count

    def start(self, place: Scalar) -> Scalar:
        return place * self.size / self.count

    def end(self, place: Scalar) -> Scalar:
        return ((place + 1) * self.size + (self.count - 1)) / self.count

    def coordinate(self, place: Scalar, tap: Scalar) -> tuple[Scalar, Scalar]:
        """Where in the input a window's tap lies, and whether it is one of the window's."""
        here = self.start(place) + tap
        return here, here < self.end(place)

    def extent(self, place: Scalar, include_pad: bool) -> Scalar:
        """How many taps count."""
        return self.end(place) - self.start(place)


@dataclass(frozen=True)
class Windows:
    """What a pooling reduces: an input's elements by place and tap, with a neutral number where there is none."""

    source: Tensor
    access: AffineMap
    """From (*batch, *places, *taps) to the source's indices."""
    lines: Sequence[Sliding]
    shape: Sizes
    """Of the result: (*batch, *places)."""

    @property
    def taps(self) -> Sizes:
        return tuple(line.taps for line in self.lines)

    def coordinates(self) -> list[tuple[Scalar, Scalar]]:
        """In the body of a fold: where the tap lies along each dimension, and whether there."""
        rank, space = len(self.shape), len(self.lines)
        indices = [s.from_index(linalg.IndexOp(dim).results[0]) for dim in range(rank - space, rank + space)]
        return [
            line.coordinate(place, tap)
            for line, place, tap in zip(self.lines, indices[:space], indices[space:], strict=True)
        ]

    def fold(
        self,
        b: LinalgBuilder,
        combine: Callable[..., Scalar],
        others: Sequence[Tensor],
        initial: float,
        dtype: DType,
    ) -> Tensor:
        """Reduces each window. `combine` gets the result so far, an element, and the place's elements of others."""
        rank, space = len(self.shape), len(self.lines)
        loops = dims(rank + space)
        places = AffineMap(rank + space, 0, tuple(loops[:rank]))

        def element(x: Scalar, *rest: Scalar) -> Scalar:
            return combine(rest[-1], x, *rest[:-2])

        # Only the shape of this one matters: it says how many taps there are.
        taps = Tensor(b.empty(self.taps, dt.Byte), self.taps, dt.Byte)
        return b.generic(
            [
                (self.source, self.access),
                *((other, places) for other in others),
                (taps, AffineMap(rank + space, 0, tuple(loops[rank:]))),
            ],
            b.fill(initial, self.shape, dtype),
            places,
            ["parallel"] * rank + ["reduction"] * space,
            element,
        )


def sliding_windows(b: LinalgBuilder, input: Tensor, lines: Sequence[Sliding], neutral: float) -> Windows:
    batch = input.shape[: input.ndim - len(lines)]
    untouched = [0] * len(batch)
    source = b.pad(
        input,
        [*untouched, *(line.pad for line in lines)],
        [*untouched, *(line.high_pad for line in lines)],
        neutral,
    )
    loops = dims(input.ndim + len(lines))
    reached = [
        line.access(place, tap)
        for line, place, tap in zip(lines, loops[len(batch) : input.ndim], loops[input.ndim :], strict=True)
    ]
    access = AffineMap(len(loops), 0, (*loops[: len(batch)], *reached))
    return Windows(source, access, lines, (*batch, *(line.count for line in lines)))


def evenly(size: Dim, count: Dim) -> Sliding | None:
    """Windows that divide a dimension into equal parts of known distance; None where there are no such."""
    taps = quotient(size, count)
    if count == 1:
        return Sliding(size, 1, size, 1, 0, 1)
    return Sliding(size, count, taps, taps, 0, 1) if isinstance(taps, int) else None


AT_ONCE = 16
"""Results of a long window that are made at once."""


@dataclass(frozen=True)
class Order:
    """How many loops there are of a reduction along one dimension; which is over places, and which over taps, of what sizes. Results of the
    `kept` ones of these stay apart."""

    count: int
    place: int
    taps: Sequence[int]
    sizes: Sizes
    kept: Sequence[int] = ()


@dataclass(frozen=True)
class Along:
    """Reduces adaptive windows along one dimension of a shape."""

    b: LinalgBuilder
    shape: Sizes
    dim: int
    line: Adaptive

    @property
    def stays(self) -> bool:
        """Whether each element is a window."""
        return provably(apply("eq", self.line.size, self.line.count)) is True

    @property
    def reduced(self) -> Sizes:
        return (*self.shape[: self.dim], self.line.count, *self.shape[self.dim + 1 :])

    def fold(
        self,
        combine: Callable[..., Scalar],
        sources: Sequence[Tensor],
        others: Sequence[Tensor],
        initial: float,
        dtype: DType,
        merge: Callable[..., Scalar],
    ) -> Tensor:
        """`combine` gets the result so far, where the tap lies along the dimension, the elements of sources there, and those of others at the
        result's place; `merge` two results and the latter.

        The innermost loop goes along memory, and never over taps that wait for each other: along the last dimension it is over the places, or
        where windows are long over so many results of each, which are merged in the end.
        """
        dim, rank, taps = self.dim, len(self.shape), self.line.taps
        parts = combine, sources, others, initial, dtype
        if dim < rank - 1:
            return self.over(Order(rank + 1, dim, (dim + 1,), (taps,)), *parts)
        if not isinstance(taps, int) or taps < 2 * AT_ONCE:
            return self.over(Order(rank + 1, dim + 1, (dim,), (taps,)), *parts)
        blocks = -(-taps // AT_ONCE)
        several = self.over(
            Order(rank + 2, dim, (dim + 1, dim + 2), (blocks, AT_ONCE), kept=(dim + 2,)), *parts
        )
        loops = dims(rank + 1)
        places = AffineMap(rank + 1, 0, tuple(loops[:rank]))

        def merged(each: Scalar, *rest: Scalar) -> Scalar:
            return merge(rest[-1], each, *rest[:-1])

        return self.b.generic(
            [(several, AffineMap.identity(rank + 1)), *((other, places) for other in others)],
            self.b.fill(initial, self.reduced, dtype),
            places,
            [*["parallel"] * rank, "reduction"],
            merged,
        )

    def bound(self, of: Callable[[Scalar], Scalar]) -> Tensor:
        """Where each window begins, or ends."""

        def element(place: SSAValue) -> Scalar:
            return of(s.from_index(place))

        return self.b.indexed(element, (self.line.count,), dt.Long)

    def over(
        self,
        order: Order,
        combine: Callable[..., Scalar],
        sources: Sequence[Tensor],
        others: Sequence[Tensor],
        initial: float,
        dtype: DType,
    ) -> Tensor:
        """A reduction by loops in an order."""
        b, line, dim, count = self.b, self.line, self.dim, order.count
        loops = dims(count)
        reduced = [tap for tap in order.taps if tap not in order.kept]
        kept = [loop for at, loop in enumerate(loops) if at not in reduced]
        places = [loop for at, loop in enumerate(loops) if at not in order.taps]
        bounds = [self.bound(of) for of in (line.start, line.end)]
        # Only the shape of this one matters: it says how many taps there are.
        taps = Tensor(b.empty(order.sizes, dt.Byte), order.sizes, dt.Byte)

        def element(*given: Scalar) -> Scalar:
            *found, start, end, _, total = given
            at = [linalg.IndexOp(each).results[0] for each in range(count)]
            block, *lanes = [s.from_index(at[tap]) for tap in order.taps]
            span = AT_ONCE if lanes else 1
            # The last block of a dimension may begin before it should, so that all of it is there: then some of it is left out.
            first = start + block * span
            here = reduce(Scalar.__add__, lanes, s.minimum(first, line.size - span))
            read_at = [
                *at[:dim],
                here,
                *(each for loop, each in enumerate(at) if loop > dim + 1 and loop not in order.taps),
            ]
            values = [read(source, read_at) for source in sources]
            return s.select((here >= first) & (here < end), combine(total, here, *values, *found), total)

        return b.generic(
            [
                *((other, AffineMap(count, 0, tuple(places))) for other in others),
                *((bound, AffineMap(count, 0, (loops[order.place],))) for bound in bounds),
                (taps, AffineMap(count, 0, tuple(loops[tap] for tap in order.taps))),
            ],
            b.fill(initial, (*self.reduced, *order.sizes[len(order.sizes) - len(order.kept) :]), dtype),
            AffineMap(count, 0, tuple(kept)),
            ["reduction" if each in reduced else "parallel" for each in range(count)],
            element,
        )


def adaptive_lines(input: Tensor, counts: Sizes) -> list[Adaptive]:
    return [Adaptive(*each) for each in zip(input.shape[input.ndim - len(counts) :], counts, strict=True)]


def each_along(b: LinalgBuilder, input: Tensor, lines: Sequence[Adaptive]) -> Iterator[Along]:
    """The steps of a reduction by adaptive windows: along one dimension after the other."""
    shape, first = list(input.shape), input.ndim - len(lines)
    for dim, line in enumerate(lines, first):
        yield Along(b, tuple(shape), dim, line)
        shape[dim] = line.count


def even_lines(input: Tensor, counts: Sizes) -> list[Sliding] | None:
    """Adaptive windows that all have one extent, as others at equal distances."""
    sizes = input.shape[input.ndim - len(counts) :]
    even = [line for pair in zip(sizes, counts, strict=True) if (line := evenly(*pair)) is not None]
    return even if len(even) == len(counts) else None


def everywhere(coordinates: Sequence[tuple[Scalar, Scalar]]) -> Scalar:
    """Whether a tap is inside along every dimension."""
    return reduce(lambda a, b: a & b, (inside for _, inside in coordinates))


def lines_of(
    b: LinalgBuilder,
    input: Tensor,
    out: TensorMeta,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> list[Sliding]:
    """The windows of an operator's arguments."""
    space = len(kernel_size)
    options = kernel_size, stride or kernel_size, padding, dilation
    counts, sizes = out.shape[input.ndim - space :], input.shape[input.ndim - space :]
    return [Sliding(*line) for line in zip(sizes, counts, *options, strict=True)]


# --- maxima --------------------------------------------------------------------------------------------------


def max_of(b: LinalgBuilder, windows: Windows, out: Out) -> tuple[Tensor, Tensor]:
    """The greatest element of each window, and where it lies in its plane, flattened.

    As in PyTorch the first of equal ones, and the last NaN if there is one.
    """
    dtype = windows.source.dtype
    values = windows.fold(b, s.maximum, [], lowest(dtype), compute_dtype(dtype))

    def earlier(found: Scalar, x: Scalar, best: Scalar) -> Scalar:
        coordinates = windows.coordinates()
        here = s.constant(0, dt.Long)
        for (along, _), line in zip(coordinates, windows.lines, strict=True):
            here = here * line.size + along
        nan = s.is_nan(x)
        better = (found < 0) | (nan & (here > found)) | (~nan & (here < found))
        return s.select(everywhere(coordinates) & is_same(x, best) & better, here, found)

    return shaped(b, values, out[0]), windows.fold(b, earlier, [values], -1, dt.Long)


@lowering("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")
def max_pool_with_indices(
    b: LinalgBuilder,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    out: Out,
) -> tuple[Tensor, Tensor]:
    lines = lines_of(b, self, out[0], kernel_size, stride, padding, dilation)
    return max_of(b, sliding_windows(b, self, lines, lowest(self.dtype)), out)


def nothing(b: LinalgBuilder, out: TensorMeta) -> Tensor:
    """A result without elements."""
    shape = out.shape
    return Tensor(b.empty(shape, out.dtype), shape, out.dtype)


@lowering("aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d")
def adaptive_max_pool(
    b: LinalgBuilder, self: Tensor, output_size: list[int], out: Out
) -> tuple[Tensor, Tensor]:
    counts = out[0].shape[self.ndim - len(output_size) :]
    if 0 in counts:
        return nothing(b, out[0]), nothing(b, out[1])
    even = even_lines(self, counts)
    if even is not None:
        return max_of(b, sliding_windows(b, self, even, lowest(self.dtype)), out)
    return max_along(b, self, adaptive_lines(self, counts), out)


def further_along(b: LinalgBuilder, where: Tensor, step: Along) -> Tensor:
    """Places of what is each a window of its own along one more dimension."""

    def element(before: Scalar, *at: SSAValue) -> Scalar:
        return before * step.line.size + s.from_index(at[step.dim])

    return b.indexed(element, where.shape, dt.Long, [(where, AffineMap.identity(where.ndim))])


def max_along(b: LinalgBuilder, input: Tensor, lines: Sequence[Adaptive], out: Out) -> tuple[Tensor, Tensor]:
    """The same along one dimension after the other: of what is greatest along those before, and where that lies along them, flattened."""
    dtype = input.dtype

    def sooner(found: Scalar, here: Scalar, best: Scalar) -> Scalar:
        nan = s.is_nan(best)
        return (found < 0) | (nan & (here > found)) | (~nan & (here < found))

    def earlier(
        found: Scalar, along: Scalar, x: Scalar, before: Scalar, best: Scalar, *, size: Dim
    ) -> Scalar:
        here = before * size + along
        return s.select(is_same(x, best) & sooner(found, here, best), here, found)

    def earliest(found: Scalar, other: Scalar, best: Scalar) -> Scalar:
        return s.select((other >= 0) & sooner(found, other, best), other, found)

    def greatest(total: Scalar, along: Scalar, x: Scalar) -> Scalar:
        return s.maximum(total, s.cast(x, total.dtype))

    values, where = input, b.fill(0, input.shape, dt.Long)
    for step in each_along(b, input, lines):
        if step.stays:
            where = further_along(b, where, step)
            continue
        best = step.fold(greatest, [values], [], lowest(dtype), dtype, s.maximum)
        find = partial(earlier, size=step.line.size)
        values, where = best, step.fold(find, [values, where], [best], -1, dt.Long, earliest)
    return shaped(b, values, out[0]), shaped(b, where, out[1])


def interval_start(sample: Scalar, place: Scalar, size: Dim, taps: int, count: int, dtype: DType) -> Scalar:
    """Where a window begins, in the samples' dtype as PyTorch (generate_intervals in FractionalMaxPooling.h); the last
    one ends with the input."""
    last = s.constant(size - taps, dt.Long)
    if count <= 1:
        return last

    def rounded(x: Scalar) -> Scalar:
        return s.cast(s.cast(x, dtype), x.dtype)

    alpha = rounded(s.constant(size - taps, sample.dtype) / (count - 1))
    here = rounded(rounded(s.cast(place, sample.dtype) + sample) * alpha)
    start = s.cast(here, dt.Long) - s.cast(rounded(sample * alpha), dt.Long)
    return s.select(place.equals(count - 1), last, start)


@lowering("aten.fractional_max_pool2d", "aten.fractional_max_pool3d")
def fractional_max_pool(
    b: LinalgBuilder,
    self: Tensor,
    kernel_size: list[int],
    output_size: list[int],
    random_samples: Tensor,
    out: Out,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows at random places, gathered; the first of equal elements, and the last NaN if there is one."""
    space = len(kernel_size)
    sizes = self.shape[self.ndim - space :]
    planes = prod(self.shape[: self.ndim - space])
    if not planes:
        return nothing(b, out[0]), nothing(b, out[1])
    source = b.reshape(self, (planes, *sizes))
    samples = b.reshape(random_samples, (planes, space))
    shape = (planes, *output_size, *kernel_size)

    def coordinates(at: Sequence[SSAValue]) -> list[Scalar]:
        found: list[Scalar] = []
        for dim, line in enumerate(zip(sizes, kernel_size, output_size, strict=True)):
            # Of images columns come first.
            which = s.constant(space - 1 - dim if space == 2 else dim, dt.Long)
            place, tap = s.from_index(at[1 + dim]), s.from_index(at[1 + space + dim])
            start = interval_start(read(samples, [at[0], which]), place, *line, random_samples.dtype)
            found.append(start + tap)
        return found

    def flat(*at: SSAValue) -> Scalar:
        here = s.constant(0, dt.Long)
        for along, size in zip(coordinates(at), sizes, strict=True):
            here = here * size + along
        return here

    values = b.indexed(lambda *at: read(source, [at[0], *coordinates(at)]), shape, self.dtype)
    places = b.indexed(flat, shape, dt.Long)
    taps = range(1 + space, 1 + 2 * space)
    best = b.reduce(s.maximum, values, taps, lowest(self.dtype), self.dtype)

    def earlier(found: Scalar, x: Scalar, here: Scalar, best: Scalar) -> Scalar:
        nan = s.is_nan(x)
        better = (found < 0) | (nan & (here > found)) | (~nan & (here < found))
        return s.select(is_same(x, best) & better, here, found)

    where = b.fold(earlier, [values, places, best], taps, -1, dt.Long)
    return shaped(b, best, out[0]), shaped(b, where, out[1])


# --- averages ------------------------------------------------------------------------------------------------


def average(
    b: LinalgBuilder,
    total: Tensor,
    lines: Sequence[Sliding | Adaptive],
    include_pad: bool,
    divisor: int | None,
    out: TensorMeta,
) -> Tensor:
    """The sum of each window over the number of its elements, or over a given divisor."""
    rank, space = total.ndim, len(lines)

    def mean(total: Scalar, *indices: SSAValue) -> Scalar:
        if divisor is not None:
            return total / divisor
        count = s.constant(1, dt.Long)
        for line, place in zip(lines, indices[rank - space :], strict=True):
            count = count * line.extent(s.from_index(place), include_pad)
        return total / s.cast(count, total.dtype)

    return b.indexed(mean, total.shape, out.dtype, [(total, AffineMap.identity(rank))])


def add(total: Scalar, x: Scalar) -> Scalar:
    return total + s.cast(x, total.dtype)


def add_tap(total: Scalar, _: Scalar, x: Scalar) -> Scalar:
    return add(total, x)


def sliding_average(
    b: LinalgBuilder,
    input: Tensor,
    lines: Sequence[Sliding],
    include_pad: bool,
    divisor: int | None,
    out: TensorMeta,
) -> Tensor:
    windows = sliding_windows(b, input, lines, 0)
    total = windows.fold(b, add, [], 0, b.accumulator(out.dtype))
    return average(b, total, lines, include_pad, divisor, out)


@lowering("aten.avg_pool2d", "aten.avg_pool3d")
def avg_pool(
    b: LinalgBuilder,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    count_include_pad: bool,
    divisor_override: int | None,
    out: Out,
) -> Tensor:
    lines = lines_of(b, self, out[0], kernel_size, stride, padding, [1] * len(kernel_size))
    return sliding_average(b, self, lines, count_include_pad, divisor_override, out[0])


@lowering("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive_avg_pool(b: LinalgBuilder, self: Tensor, output_size: list[int], out: Out) -> Tensor:
    counts = out[0].shape[self.ndim - len(output_size) :]
    if 0 in counts:
        return nothing(b, out[0])
    even = even_lines(self, counts)
    if even is not None:
        return sliding_average(b, self, even, False, None, out[0])
    lines, total, wide = adaptive_lines(self, counts), self, b.accumulator(out[0].dtype)
    for step in each_along(b, self, lines):
        if not step.stays:
            total = step.fold(add_tap, [total], [], 0, wide, add)
    return average(b, total, lines, False, None, out[0])
