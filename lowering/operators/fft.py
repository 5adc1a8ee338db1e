"""Lowerings of Fourier transforms: one dimension after another, each by the factors of its size.

A transform of p q values is q transforms of p, a multiplication by roots of unity, and p transforms of q (Cooley and
Tukey, 1965). Where all factors are at most `DIRECT` each of them is one step, whose results stand in the order that the next one
reads (Stockham's form), so that loops go along memory. A larger prime, or a symbolic number of values, is a sum of products with the roots.
Roots are computed in float64.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.meta import wrap_dims
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import complex_numbers as numbers
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import PARTS, compute_dtype, sum_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder, dims
from xdsl_exir.lowering.operators.view import part
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor, read

Out = list[TensorMeta]

DIRECT = 8
"""Number of values up to which a transform is one sum."""
LARGEST_PRIME = 512
"""A prime factor above which the sum would take too long."""

# --- one dimension -------------------------------------------------------------------------------------------


def factor(size: int) -> int:
    """The greatest factor up to `DIRECT`; of a number without any, its least prime factor."""
    found = next((p for p in range(min(DIRECT, size), 1, -1) if size % p == 0), 1)
    return found if found > 1 else next((p for p in range(2, math.isqrt(size) + 1) if size % p == 0), size)


def roots(b: LinalgBuilder, size: Dim, forward: bool, dtype: DType) -> Tensor:
    """The powers 0 to size - 1 of exp(-2 pi i / size), conjugated if not `forward`.

    Quarters of the circle are turned by exactly: what cancels is 0.
    """

    def root(index: SSAValue) -> Scalar:
        quarters, whole = 4 * s.from_index(index), s.constant(size, dt.Long)
        second, third, fourth = (quarters >= whole * n for n in (1, 2, 3))
        angle = s.cast(s.rem(quarters, whole), dt.Double) * (s.constant(math.pi / 2, dt.Double) / size)
        cosine, sine = s.cos(angle), s.sin(angle)
        is_odd, is_left = (second ^ third) | fourth, second ^ fourth
        x, y = s.select(is_odd, sine, cosine), s.select(is_odd, cosine, sine)
        x, y = s.select(is_left, -x, x), s.select(third, -y, y)
        return s.cast(s.complex_number(x, -y if forward else y), dtype)

    return b.indexed(root, (size,), dtype)


def power(table: Tensor, i: SSAValue, j: SSAValue) -> Scalar:
    """The root of a table to the power i j."""
    return read(table, [s.rem(s.from_index(i) * s.from_index(j), s.constant(table.shape[0], dt.Long))])


def transform(b: LinalgBuilder, input: Tensor, forward: bool) -> Tensor:
    """The transform along the last dimension, not normalized: steps by factors, each of which puts what it made before what is to
    be transformed yet, so that the result is in order (Stockham's form). A large factor, or a symbolic size, is one sum."""
    count, size = input.shape
    if not isinstance(size, int) or largest_factor(size) > DIRECT:
        return by_sums(b, input, forward)
    table = roots(b, size, forward, input.dtype)
    rest, done = size, 1
    while rest > 1:
        p = factor(rest)
        input = step(b, b.reshape(input, (count, p, rest // p, done)), table)
        rest, done = rest // p, done * p
    return b.reshape(input, (count, size))


def largest_factor(size: int) -> int:
    """The largest one that a transform is taken apart into."""
    found = 1
    while size > 1:
        p = factor(size)
        found, size = max(found, p), size // p
    return found


def step(b: LinalgBuilder, input: Tensor, table: Tensor) -> Tensor:
    """[n, p, q, done] to [n, q, p, done]: transforms of p values, turned by the roots of p q for the transforms of q values to come."""
    n, p, q, done = input.shape
    size = table.shape[0]
    assert isinstance(p, int)
    assert isinstance(size, int)
    assert isinstance(q, int)
    apart = size // (p * q)

    def turned(term: SSAValue, place: SSAValue, frequency: SSAValue) -> Scalar:
        whole = s.from_index(frequency) * (s.from_index(place) + s.from_index(term) * q)
        return read(table, [s.rem(whole * apart, s.constant(size, dt.Long))])

    factors = b.indexed(turned, (p, q, p), input.dtype)

    def total(i: SSAValue, place: SSAValue, frequency: SSAValue, k: SSAValue) -> Scalar:
        terms = [
            read(input, [i, s.constant(term, dt.Long), place, k])
            * read(factors, [s.constant(term, dt.Long), place, frequency])
            for term in range(p)
        ]
        return functools.reduce(s.add, terms)

    return b.indexed(total, (n, q, p, done), input.dtype)


def by_sums(b: LinalgBuilder, input: Tensor, forward: bool) -> Tensor:
    """The transform along the last dimension, where a factor is large: columns, turned, and then rows."""
    *batch, size = input.shape
    if size == 1:
        return input
    p = factor(size) if isinstance(size, int) else size
    q = size // p
    if q == 1:
        return b.reshape(direct(b, b.reshape(input, (*batch, size, 1)), forward), input.shape)
    columns = direct(b, b.reshape(input, (*batch, p, q)), forward)
    table = roots(b, size, forward, input.dtype)
    rank = columns.ndim

    def turn(x: Scalar, *at: SSAValue) -> Scalar:
        return x * power(table, at[-2], at[-1])

    turned = b.indexed(turn, columns.shape, input.dtype, [(columns, AffineMap.identity(rank))])
    rows = by_sums(b, turned, forward)
    return b.reshape(b.permute(rows, [*range(rank - 2), rank - 1, rank - 2]), input.shape)


def direct(b: LinalgBuilder, input: Tensor, forward: bool) -> Tensor:
    """The transform along the last dimension but one, as sums of products."""
    rank, size = input.ndim, input.shape[-2]
    table = roots(b, size, forward, input.dtype)
    *batch, row, column, summed = dims(rank + 1)

    def add(x: Scalar, total: Scalar) -> Scalar:
        frequency, place = (linalg.IndexOp(dim).results[0] for dim in (rank - 2, rank))
        return total + x * power(table, frequency, place)

    return b.generic(
        [(input, AffineMap(rank + 1, 0, (*batch, summed, column)))],
        b.fill(0, input.shape, input.dtype),
        AffineMap(rank + 1, 0, (*batch, row, column)),
        [*["parallel"] * rank, "reduction"],
        add,
    )


def along(b: LinalgBuilder, input: Tensor, over: Sequence[int], forward: bool) -> Tensor:
    """Transforms along dimensions, not normalized, in the dtype that sums accumulate in."""
    input, rank = b.convert(input, sum_dtype(input.dtype)), input.ndim
    for dim in over:
        order = [*(d for d in range(rank) if d != dim), dim]
        moved = b.permute(input, order)
        flat = b.reshape(moved, (prod(moved.shape[:-1]), moved.shape[-1]))
        result = b.reshape(transform(b, flat, forward), moved.shape)
        input = b.permute(result, [order.index(d) for d in range(rank)])
    return input


# --- several dimensions --------------------------------------------------------------------------------------


def normalized(b: LinalgBuilder, input: Tensor, normalization: int, count: Dim, dtype: DType) -> Tensor:
    """Divided by the number of values, or its root, as PyTorch's number of a normalization says; of real dtypes the real part."""

    def share(x: Scalar) -> Scalar:
        number = s.constant(count, dt.Double)
        divisor = {0: s.constant(1, dt.Double), 1: s.sqrt(number), 2: number}[normalization]
        return s.cast(numbers.scaled(x, s.cast(1 / divisor, PARTS[x.dtype])), dtype)

    return b.elementwise(share, [input], input.shape, dtype)


def count_of(shape: Sequence[Dim], over: Sequence[int]) -> Dim:
    return prod(shape[d] for d in over)


def too_long(arguments: Mapping[str, Any]) -> str | None:
    """Refuses transforms of numbers of values with a large prime factor."""
    self: TensorMeta = arguments["self"]
    shape = list(self.shape)
    over = wrap_dims(arguments["dim"], self.ndim)
    if "last_dim_size" in arguments:
        shape[over[-1]] = arguments["last_dim_size"]
    for d in over:
        rest = shape[d]
        while isinstance(rest, int) and rest > 1 and (p := factor(rest)) <= LARGEST_PRIME:
            rest //= p
        if isinstance(rest, int) and rest > 1:
            return f"a transform of {shape[d]} values, which has the prime factor {rest}"
    return None


@lowering("aten._fft_c2c", refuses=too_long, takes_complex=True)
def c2c(b: LinalgBuilder, self: Tensor, dim: list[int], normalization: int, forward: bool) -> Tensor:
    over = wrap_dims(dim, self.ndim)
    if 0 in self.shape or not over:
        return self
    result = along(b, self, over, forward)
    return normalized(b, result, normalization, count_of(self.shape, over), self.dtype)


@lowering("aten._fft_r2c", refuses=too_long, takes_complex=True)
def r2c(b: LinalgBuilder, self: Tensor, dim: list[int], normalization: int, out: Out) -> Tensor:
    """The transform of the numbers as complex ones, cut off after the half that is kept."""
    over, dtype = wrap_dims(dim, self.ndim), out[0].dtype
    shape = out[0].shape
    if 0 in self.shape:
        return Tensor(b.empty(shape, dtype), shape, dtype)
    last = along(b, b.convert(self, dtype), over[-1:], True)
    half = part(b, last, over[-1], 0, shape[over[-1]])
    result = along(b, half, over[:-1], True)
    return normalized(b, result, normalization, count_of(self.shape, over), dtype)


@lowering("aten._fft_c2r", refuses=too_long, takes_complex=True)
def c2r(b: LinalgBuilder, self: Tensor, dim: list[int], normalization: int, out: Out) -> Tensor:
    """The inverse transform of the whole spectrum, whose second half mirrors the first, conjugated."""
    over, shape = wrap_dims(dim, self.ndim), out[0].shape
    if 0 in shape:
        return Tensor(b.empty(shape, out[0].dtype), shape, out[0].dtype)
    half = along(b, self, over[:-1], False)
    last = over[-1]
    size, given = shape[last], half.shape[last]

    def mirrored(*at: SSAValue) -> Scalar:
        place = s.from_index(at[last])
        inside = place < given
        x = read(
            half, [*at[:last], s.select(inside, place, s.constant(size, dt.Long) - place), *at[last + 1 :]]
        )
        return s.select(inside, x, s.conjugate(x))

    whole = b.indexed(mirrored, shape, half.dtype)
    return normalized(b, along(b, whole, [last], False), normalization, count_of(shape, over), out[0].dtype)


# --- frequencies ---------------------------------------------------------------------------------------------


def frequencies(b: LinalgBuilder, negative_from: Dim, n: Dim, d: float, out: TensorMeta) -> Tensor:
    """Whole numbers, from one on less n, as frequencies of `n` samples at distance `d`."""
    compute = compute_dtype(out.dtype)

    def frequency(index: SSAValue) -> Scalar:
        number = s.from_index(index)
        signed = s.cast(s.select(number < negative_from, number, number - n), compute)
        return signed * s.cast(1 / (s.constant(n, dt.Double) * d), compute)

    return b.indexed(frequency, out.shape, out.dtype)


@lowering("aten.fft_fftfreq")
def fftfreq(b: LinalgBuilder, n: Dim, d: float, out: Out) -> Tensor:
    return frequencies(b, (n + 1) // 2, n, d, out[0])


@lowering("aten.fft_rfftfreq")
def rfftfreq(b: LinalgBuilder, n: Dim, d: float, out: Out) -> Tensor:
    return frequencies(b, n, n, d, out[0])
