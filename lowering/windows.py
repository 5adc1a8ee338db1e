"""Windows of a pooling, and how they are reduced.

A line says where the windows along one dimension lie. Windows at equal distances are read through affine maps of a padded input; adaptive ones of
differing extents are reduced along one dimension after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, apply, max_, min_, provably
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, dims
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.sizes import Sizes, quotient
from xdsl_exir.lowering.tensors import Tensor, read

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


def even_lines(input: Tensor | TensorMeta, counts: Sizes) -> list[Sliding] | None:
    """Adaptive windows that all have one extent, as others at equal distances."""
    sizes = input.shape[input.ndim - len(counts) :]
    even = [line for pair in zip(sizes, counts, strict=True) if (line := evenly(*pair)) is not None]
    return even if len(even) == len(counts) else None


def everywhere(coordinates: Sequence[tuple[Scalar, Scalar]]) -> Scalar:
    """Whether a tap is inside along every dimension."""
    return reduce(lambda a, b: a & b, (inside for _, inside in coordinates))


def lines_of(
    input: Tensor | TensorMeta,
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
