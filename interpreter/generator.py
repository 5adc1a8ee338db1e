"""Random numbers as PyTorch's generator for the CPU draws them: after the same seed, the same numbers in the same order.

The engine is the Mersenne Twister mt19937, of 32 bits a draw. What PyTorch makes of the bits is written in its
`ATen/core/TransformationHelper.h` and `DistributionsHelper.h` (uniform and normal numbers, integers),
`native/cpu/DistributionTemplates.h` (which of them a tensor is filled with) and `native/TensorFactories.cpp` (permutations).

Normal numbers agree to some units in the last place, for PyTorch's vector functions round otherwise. On processors of Intel PyTorch
draws Bernoulli and exponential numbers by MKL's generator, which is another: these are those of all other processors.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from os import urandom
from threading import RLock
from typing import Any, TypeAlias

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

BITS = {dt.Half: 11, dt.BFloat16: 8, dt.Float: 24, dt.Double: 53}
"""Bits of integers that are all exact in a dtype."""
SHORT = (dt.Half, dt.BFloat16)
PARTS = {dt.ComplexFloat: dt.Float, dt.ComplexDouble: dt.Double}
"""Of complex dtypes, what their parts are."""
WIDE = 1 << 28
"""Ranges of so many integers or more take 64 bits of the engine."""
FILL = 16
"""Normal numbers that are made at once; fewer are made in pairs."""


class Generator:
    """A stream of random numbers, which threads may share."""

    def __init__(self, seed: int | None = None):
        """Of a seed the engine takes the lower 32 bits; without one it begins anywhere."""
        self.lock = RLock()
        self.seed(int.from_bytes(urandom(4)) if seed is None else seed)

    def seed(self, seed: int) -> None:
        """Starts the stream anew, as `torch.manual_seed` does."""
        with self.lock:
            self.bits: Any = np.random.RandomState(seed & 0xFFFFFFFF)._bit_generator  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
            self.kept: float | None = None
            """The second number of the last pair of normal ones."""

    def follow(self, other: Generator) -> None:
        """Goes on with another's stream, from where that is."""
        with self.lock, other.lock:
            self.bits, self.kept = other.bits, other.kept

    def words(self, count: int) -> Array:
        """Draws of 32 bits, as uint64."""
        return self.bits.random_raw(count)

    def double_words(self, count: int) -> Array:
        """Draws of 64 bits, the upper half first."""
        pairs = self.words(2 * count).reshape(-1, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def uniform(self, size: Sequence[int], dtype: DType) -> Array:
        """Uniform numbers within 0 (included) and 1 (excluded); of complex ones both parts are."""
        if dtype.category is Category.COMPLEX:
            parts = self.uniform((*size, 2), PARTS[dtype])
            return parts[..., 0] + 1j * parts[..., 1]
        if dtype in SHORT:  # what is rounded to 1 is 0
            rounded = self.uniform(size, dt.Float).astype(dtype.numpy)
            return np.where(rounded == 1, 0, rounded).astype(dtype.numpy)
        bits = BITS[dtype]
        with self.lock:
            drawn = (self.double_words if dtype is dt.Double else self.words)(prod(size))
        kept = drawn & np.uint64((1 << bits) - 1)
        return (kept.astype(np.float64) * 2.0**-bits).reshape(size)

    def between(self, size: Sequence[int], dtype: DType, low: float, high: float) -> Array:
        """Uniform numbers within `low` (included) and `high` (excluded), scaled and shifted with one rounding; of complex ones both parts are."""
        if dtype.category is Category.COMPLEX:
            parts = self.between((*size, 2), PARTS[dtype], low, high)
            return parts[..., 0] + 1j * parts[..., 1]
        if dtype is dt.Double:
            drawn = scaled(self.uniform(size, dtype), np.float64(high) - np.float64(low), np.float64(low))
        else:
            start, end = np.float32(low), np.float32(high)
            # 48 bits of a product are exact in float64.
            drawn = self.uniform(size, dt.Float) * np.float64(end - start) + np.float64(start)
            drawn = drawn.astype(np.float32).astype(dtype.numpy)
        least, end = np.array([low, high]).astype(dtype.numpy)
        return np.where(drawn == end, least, drawn)  # rounding may lead to the end

    def integers(self, low: int, high: int, size: Sequence[int]) -> Array:
        """Uniform integers from `low` up to, but without, `high`."""
        span = high - low
        with self.lock:
            drawn = (self.double_words if span >= WIDE else self.words)(prod(size))
        return ((drawn % np.uint64(span)).astype(np.int64) + low).reshape(size)

    def integers_of(self, dtype: DType, size: Sequence[int]) -> Array:
        """Uniform integers that `random_` draws: from 0 to the largest of the dtype, or the last of those that are all exact in it."""
        count = prod(size)
        with self.lock:
            drawn = (self.double_words if dtype in (dt.Double, dt.Long) else self.words)(count)
        if dtype.category is Category.BOOL:
            return (drawn & np.uint64(1)).astype(np.bool_).reshape(size)
        last = int(np.iinfo(dtype.numpy).max) if dtype.category is Category.INT else 1 << BITS[dtype]
        return (drawn % np.uint64(last + 1)).astype(np.int64).reshape(size)

    def permutation(self, count: int) -> Array:
        """The numbers below `count` in random order."""
        with self.lock:
            drawn = self.words(max(count - 1, 0)).tolist()
        order = list(range(count))
        for at, word in enumerate(drawn):
            other = at + word % (count - at)
            order[at], order[other] = order[other], order[at]
        return np.array(order, np.int64)

    def normal(self, size: Sequence[int], dtype: DType) -> Array:
        """Standard normal numbers; complex ones have variance 1, half of it in each part."""
        if dtype.category is Category.COMPLEX:
            parts = self.normal((*size, 2), PARTS[dtype]) * np.sqrt(0.5)
            return parts[..., 0] + 1j * parts[..., 1]
        count = prod(size)
        with self.lock:
            made = self.filled(count, dtype) if count >= FILL else self.paired(count)
        return made.reshape(size)

    def filled(self, count: int, dtype: DType) -> Array:
        """Normal numbers, sixteen at a time by the method of Box and Muller; the last sixteen from draws of their own where the rest is
        fewer, for which only the longer dtypes have drawn before."""
        made = np.empty(count)
        whole = count - count % FILL
        kind = dt.Float if dtype in SHORT else dtype
        drawn = self.uniform((whole if dtype in SHORT else count,), kind)
        made[:whole] = box_muller(drawn[:whole].reshape(-1, FILL), dtype).reshape(-1)
        if whole < count:
            made[count - FILL :] = box_muller(self.uniform((1, FILL), kind), dtype)[0]
        return made

    def paired(self, count: int) -> Array:
        """Normal numbers, two at a time in float64; a second one that is not taken is the next one's."""
        made: list[float] = []
        while len(made) < count:
            if self.kept is not None:
                made.append(self.kept)
                self.kept = None
                continue
            angle, distance = self.uniform((2,), dt.Double)
            radius = np.sqrt(-2.0 * np.log1p(-distance))
            self.kept = float(radius * np.sin(2.0 * np.pi * angle))
            made.append(float(radius * np.cos(2.0 * np.pi * angle)))
        return np.array(made)

    def exponential(self, size: Sequence[int]) -> Array:
        """Exponential numbers of rate 1."""
        return -np.log1p(-self.uniform(size, dt.Double))


def scaled(numbers: Array, scale: np.float64, start: np.float64) -> Array:
    """`numbers * scale + start` with one rounding: the product's error (Dekker's) and the sum's (Knuth's) are added last."""
    product = numbers * scale
    (a, b), (c, d) = halves(numbers), halves(scale)
    error = ((a * c - product) + a * d + b * c) + b * d
    total = product + start
    shift = total - product
    return total + (((product - (total - shift)) + (start - shift)) + error)


def halves(number: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits whose sum it is."""
    large = number * 134217729.0
    upper = large - (large - number)
    return upper, number - upper


def box_muller(uniform: Array, dtype: DType) -> Array:
    """Rows of sixteen normal numbers from rows of as many uniform ones, computed in float32 but for float64."""
    kind = np.float64 if dtype is dt.Double else np.float32
    half = FILL // 2
    first, second = (uniform[:, part].astype(kind) for part in (slice(half), slice(half, None)))
    radius = np.sqrt(kind(-2.0) * np.log(kind(1.0) - first))
    angle = (kind(2.0) * np.pi * second).astype(kind)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], 1)


__all__ = ["Generator"]
