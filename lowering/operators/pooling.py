"""Lowerings of pooling: reductions over windows (`lowering.windows`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import compute_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.reductions import is_same, lowest, shaped
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor, read
from xdsl_exir.lowering.windows import (
    Adaptive,
    Along,
    Sliding,
    Windows,
    adaptive_lines,
    each_along,
    even_lines,
    everywhere,
    lines_of,
    sliding_windows,
)

Out = list[TensorMeta]

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
    lines = lines_of(self, out[0], kernel_size, stride, padding, dilation)
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
    lines = lines_of(self, out[0], kernel_size, stride, padding, [1] * len(kernel_size))
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
