"""Functions of random operators. They draw from the run's generator, so a run with a seed can be repeated.

Distributions are PyTorch's, the numbers are not: its generators are others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, impl

DTypes = tuple[DType, ...]
Shape = list[int] | tuple[int, ...]

UNIFORM_BITS = {dt.Half: 11, dt.BFloat16: 8}
"""Random bits of a uniform number of the shorter dtypes: all multiples of 2^-bits below 1 are exact in them."""


def integers(rng: np.random.Generator, low: int, high: int, size: Shape, closed: bool = False) -> Array:
    """Uniform integers from `low` up to, but without (unless the range is `closed`), `high`."""
    drawn: Any = rng.integers(low, high, size, endpoint=closed)
    return np.asarray(drawn)


def uniform(rng: np.random.Generator, size: Shape, dtype: DType) -> Array:
    """Uniform numbers within 0 (included) and 1 (excluded)."""
    if dtype.category is Category.COMPLEX:
        return rng.random(size) + 1j * rng.random(size)
    if dtype in UNIFORM_BITS:
        scale = 1 << UNIFORM_BITS[dtype]
        return integers(rng, 0, scale, size) / scale
    return rng.random(size, dtype.numpy)


def normal(rng: np.random.Generator, size: Shape, dtype: DType) -> Array:
    """Standard normal numbers; complex ones have variance 1, half of it in each part."""
    if dtype.category is Category.COMPLEX:
        return (rng.standard_normal(size) + 1j * rng.standard_normal(size)) / np.sqrt(2)
    return rng.standard_normal(size, np.float64 if dtype is dt.Double else np.float32)


@impl("aten.rand")
def rand(size: list[int], out: DTypes, rng: np.random.Generator) -> Array:
    return uniform(rng, size, out[0])


@impl("aten.rand_like", raw=True)
def rand_like(self: Array, out: DTypes, rng: np.random.Generator) -> Array:
    return uniform(rng, self.shape, out[0])


@impl("aten.randn")
def randn(size: list[int], out: DTypes, rng: np.random.Generator) -> Array:
    return normal(rng, size, out[0])


@impl("aten.randn_like", raw=True)
def randn_like(self: Array, out: DTypes, rng: np.random.Generator) -> Array:
    return normal(rng, self.shape, out[0])


@impl("aten.randint")
def randint(high: int, size: list[int], rng: np.random.Generator) -> Array:
    return integers(rng, 0, high, size)


@impl("aten.randint.low")
def randint_low(low: int, high: int, size: list[int], rng: np.random.Generator) -> Array:
    return integers(rng, low, high, size)


@impl("aten.randint_like", raw=True)
def randint_like(self: Array, high: int, rng: np.random.Generator) -> Array:
    return integers(rng, 0, high, self.shape)


@impl("aten.randint_like.low_dtype", raw=True)
def randint_like_low(self: Array, low: int, high: int, rng: np.random.Generator) -> Array:
    return integers(rng, low, high, self.shape)


@impl("aten.randperm")
def randperm(n: int, rng: np.random.Generator) -> Array:
    order: Array = rng.permutation(n)
    return order


@impl("aten.bernoulli.p", raw=True)
def bernoulli(self: Array, p: float, rng: np.random.Generator) -> Array:
    return uniform(rng, self.shape, dt.Double) < p


@impl("aten.multinomial")
def multinomial(self: Array, num_samples: int, replacement: bool, rng: np.random.Generator) -> Array:
    """Indices drawn with these weights. Without replacement: the order of exponential arrivals at these rates."""
    weights = np.asarray(self, np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any() or (weights.sum(-1) <= 0).any():
        raise ExirError("multinomial: weights must be finite, not negative and not all zero")
    if replacement:
        sums = np.cumsum(weights, -1)
        drawn = rng.random((*weights.shape[:-1], num_samples)) * sums[..., -1:]
        return np.sum(sums[..., None, :] <= drawn[..., None], -1)
    if ((weights > 0).sum(-1) < num_samples).any():
        raise ExirError(f"multinomial: fewer than {num_samples} weights are positive")
    with np.errstate(divide="ignore"):
        arrivals = rng.exponential(size=weights.shape) / weights
    return np.argsort(arrivals, -1)[..., :num_samples]


EXACT_BITS = UNIFORM_BITS | {dt.Float: 24, dt.Double: 53}
"""Bits of integers that are all exact in a dtype."""


def largest_drawn(dtype: DType) -> int:
    """The largest integer that `random_` draws unless told: all up to it are exact in the dtype."""
    match dtype.category:
        case Category.BOOL:
            return 1
        case Category.INT:
            last: int = np.iinfo(dtype.numpy).max
            return last
        case _:
            return 1 << EXACT_BITS[dtype]


@impl("aten.random", raw=True)
def random(self: Array, out: DTypes, rng: np.random.Generator) -> Array:
    return integers(rng, 0, largest_drawn(out[0]), self.shape, closed=True)


@impl("aten.random.to", raw=True)
def random_to(self: Array, to: int, rng: np.random.Generator) -> Array:
    return integers(rng, 0, to, self.shape)


@impl("aten.random.from", parameters=("self", "from", "to", "out", "rng"), raw=True)
def random_from(
    self: Array, to: int | None, out: DTypes, rng: np.random.Generator, **arguments: int
) -> Array:
    last = largest_drawn(out[0]) if to is None else to - 1
    return integers(rng, arguments["from"], last, self.shape, closed=True)


@impl("aten.native_dropout")
def native_dropout(
    input: Array, p: float, train: bool | None, rng: np.random.Generator
) -> tuple[Array, Array]:
    """`train` None is True."""
    if train is False:
        return input, np.ones(input.shape, np.bool_)
    shape: tuple[int, ...] = input.shape
    mask = rng.random(shape, np.float32) >= p
    scale = 0 if p == 1 else 1 / (1 - p)
    return input * mask * input.dtype.type(scale), mask
