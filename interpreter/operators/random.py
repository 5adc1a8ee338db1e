"""Functions of random operators. They draw from the run's generator, so a run with a seed can be repeated.

With the same seed they are PyTorch's (`interpreter.generator`).
"""

from __future__ import annotations

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.generator import BITS, Generator
from xdsl_exir.interpreter.operators import Array, impl

DTypes = tuple[DType, ...]


@impl("aten.rand")
def rand(size: list[int], out: DTypes, rng: Generator) -> Array:
    return rng.uniform(size, out[0])


@impl("aten.rand_like", raw=True)
def rand_like(self: Array, out: DTypes, rng: Generator) -> Array:
    return rng.uniform(self.shape, out[0])


@impl("aten.randn")
def randn(size: list[int], out: DTypes, rng: Generator) -> Array:
    return rng.normal(size, out[0])


@impl("aten.randn_like", raw=True)
def randn_like(self: Array, out: DTypes, rng: Generator) -> Array:
    return rng.normal(self.shape, out[0])


@impl("aten.randint")
def randint(high: int, size: list[int], rng: Generator) -> Array:
    return rng.integers(0, high, size)


@impl("aten.randint.low")
def randint_low(low: int, high: int, size: list[int], rng: Generator) -> Array:
    return rng.integers(low, high, size)


@impl("aten.randint_like", raw=True)
def randint_like(self: Array, high: int, rng: Generator) -> Array:
    return rng.integers(0, high, self.shape)


@impl("aten.randint_like.low_dtype", raw=True)
def randint_like_low(self: Array, low: int, high: int, rng: Generator) -> Array:
    return rng.integers(low, high, self.shape)


@impl("aten.randperm")
def randperm(n: int, rng: Generator) -> Array:
    return rng.permutation(n)


@impl("aten.bernoulli.p", raw=True)
def bernoulli(self: Array, p: float, rng: Generator) -> Array:
    return rng.uniform(self.shape, dt.Double) < p


@impl("aten.uniform", parameters=("self", "from", "to", "out", "rng"), raw=True)
def uniform(self: Array, to: float, out: DTypes, rng: Generator, **arguments: float) -> Array:
    return rng.between(self.shape, out[0], arguments["from"], to)


@impl("aten.log_normal", raw=True)
def log_normal(self: Array, mean: float, std: float, rng: Generator) -> Array:
    """However many they are, they are made in pairs."""
    with rng.lock:
        return np.exp(rng.paired(self.size) * std + mean).reshape(self.shape)


@impl("aten.multinomial")
def multinomial(self: Array, num_samples: int, replacement: bool, rng: Generator) -> Array:
    """Indices drawn with these weights. Without replacement: the order of exponential arrivals at these rates."""
    weights = np.asarray(self, np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any() or (weights.sum(-1) <= 0).any():
        raise ExirError("multinomial: weights must be finite, not negative and not all zero")
    if replacement and num_samples > 1:
        # Sums of weights are kept in float32, those of float64 in float64; the last is 1.
        sums = np.cumsum(self, -1, dtype=np.float64 if self.dtype == np.float64 else np.float32)
        sums = sums / sums[..., -1:]
        sums[..., -1] = 1
        drawn = rng.uniform((*self.shape[:-1], num_samples), dt.Double)
        rows = zip(sums.reshape(-1, sums.shape[-1]), drawn.reshape(-1, num_samples), strict=True)
        found = [np.searchsorted(row.astype(np.float64), places) for row, places in rows]
        return np.array(found, np.int64).reshape(drawn.shape)
    # One number is drawn as without replacement: any is.
    if ((weights > 0).sum(-1) < num_samples).any():
        raise ExirError(f"multinomial: fewer than {num_samples} weights are positive")
    with np.errstate(divide="ignore"):
        arrivals = rng.exponential(self.shape).astype(self.dtype)
        rates = self / arrivals
    return np.argsort(-rates, -1, kind="stable")[..., :num_samples]


@impl("aten.random", raw=True)
def random(self: Array, out: DTypes, rng: Generator) -> Array:
    return rng.integers_of(out[0], self.shape)


@impl("aten.random.to", raw=True)
def random_to(self: Array, to: int, rng: Generator) -> Array:
    return rng.integers(0, to, self.shape)


@impl("aten.random.from", parameters=("self", "from", "to", "out", "rng"), raw=True)
def random_from(self: Array, to: int | None, out: DTypes, rng: Generator, **arguments: int) -> Array:
    last = largest_drawn(out[0]) if to is None else to - 1
    return rng.integers(arguments["from"], last + 1, self.shape)


def largest_drawn(dtype: DType) -> int:
    """The largest integer that `random_` draws unless told: all up to it are exact in the dtype."""
    match dtype.category:
        case Category.BOOL:
            return 1
        case Category.INT:
            last: int = np.iinfo(dtype.numpy).max
            return last
        case _:
            return 1 << BITS[dtype]


@impl("aten.native_dropout")
def native_dropout(input: Array, p: float, train: bool | None, rng: Generator) -> tuple[Array, Array]:
    """`train` None is True."""
    if train is False:
        return input, np.ones(input.shape, np.bool_)
    shape: tuple[int, ...] = input.shape
    mask = rng.uniform(shape, dt.Double) < 1 - p
    scale = 0 if p == 1 else 1 / (1 - p)
    return input * mask * input.dtype.type(scale), mask
