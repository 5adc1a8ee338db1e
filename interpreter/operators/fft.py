"""Functions of Fourier transforms, by scipy.fft.

PyTorch's normalizations are numbers: 0 none, 1 by the root of the number of values, 2 by their number. SciPy's names
of the same depend on the direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.interpreter.operators.symbolic import require

FORWARD = ("backward", "ortho", "forward")
"""SciPy's names of PyTorch's normalizations for a forward transform."""
INVERSE = FORWARD[::-1]


def transform(name: str, array: Array, **options: Any) -> Array:
    """A transform of scipy.fft, imported when first called."""
    from scipy import fft  # pyright: ignore[reportMissingTypeStubs]

    return getattr(fft, name)(array, **options)


@impl("aten._fft_c2c")
def c2c(self: Array, dim: list[int], normalization: int, forward: bool) -> Array:
    if not dim or not self.size:
        return self
    name, norms = ("fftn", FORWARD) if forward else ("ifftn", INVERSE)
    return transform(name, self, axes=dim, norm=norms[normalization])


@impl("aten._fft_r2c")
def r2c(self: Array, dim: list[int], normalization: int, onesided: bool) -> Array:
    require(all(self.shape[d] for d in dim), "invalid number of data points (0): a transform has some")
    return transform("rfftn" if onesided else "fftn", self, axes=dim, norm=FORWARD[normalization])


@impl("aten._fft_c2r")
def c2r(self: Array, dim: list[int], normalization: int, last_dim_size: int) -> Array:
    sizes = [*(self.shape[d] for d in dim[:-1]), last_dim_size]
    return transform("irfftn", self, s=sizes, axes=dim, norm=INVERSE[normalization])


@impl("aten.fft_fftfreq")
def fftfreq(n: int, d: float, out: tuple[DType, ...]) -> Array:
    numbers = np.arange(n)
    return scaled(np.where(numbers > (n - 1) // 2, numbers - n, numbers), n, d, out)


@impl("aten.fft_rfftfreq")
def rfftfreq(n: int, d: float, out: tuple[DType, ...]) -> Array:
    return scaled(np.arange(n // 2 + 1), n, d, out)


def scaled(numbers: Array, n: int, d: float, out: tuple[DType, ...]) -> Array:
    """Whole numbers as frequencies of `n` samples at distance `d`."""
    dtype = np.result_type(out[0].numpy, np.float32)
    return numbers.astype(dtype) * dtype.type(1 / (n * d) if n else 0)
