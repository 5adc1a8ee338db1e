"""Functions of operators that make tensors from numbers.

`empty` and its kin give zeros: what uninitialised memory holds could not be reproduced.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.shapes.creation import arange_length
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, impl

DTypes = tuple[DType, ...]


def element(value: complex, dtype: np.dtype[Any]) -> Array:
    """A number as 0-dim array; out-of-range integers wrap, the rest rounds."""
    return np.asarray(value).astype(dtype)


@impl("aten.full")
def full(size: list[int], fill_value: complex, out: DTypes) -> Array:
    return np.full(size, element(fill_value, out[0].numpy))


@impl("aten.full_like", raw=True)
def full_like(self: Array, fill_value: complex, out: DTypes) -> Array:
    return np.full(self.shape, element(fill_value, out[0].numpy))


@impl("aten.scalar_tensor")
def scalar_tensor(s: complex, out: DTypes) -> Array:
    return element(s, out[0].numpy)


@impl("aten.empty.memory_format", "aten.empty_strided", "aten.empty_permuted")
def empty(size: list[int], out: DTypes) -> Array:
    return np.zeros(size, out[0].numpy)


@impl("aten.arange.start_step")
def arange(start: float, end: float, step: float, out: DTypes) -> Array:
    dtype = out[0]
    if dtype.category <= Category.INT:
        integral = dtype is dt.Long
        first, increment = int(start), int(step)
        length = arange_length(start, end, step, integral)
    else:
        first, increment = start, step
        length = arange_length(start, end, step, False)
    if length < 0:
        raise ExirError(f"step {step} leads from {start} away from {end}")
    return (first + increment * np.arange(length)).astype(dtype.numpy)


def indices(row: int, col: int, keep: Array) -> Array:
    """Rows and columns of the elements to keep, row by row."""
    return np.stack(np.nonzero(keep.reshape(row, col)))


@impl("aten.tril_indices")
def tril_indices(row: int, col: int, offset: int) -> Array:
    return indices(row, col, np.tri(row, col, offset, dtype=bool))


@impl("aten.triu_indices")
def triu_indices(row: int, col: int, offset: int) -> Array:
    return indices(row, col, ~np.tri(row, col, offset - 1, dtype=bool))
