"""Functions of views and rearrangements. They move elements and never compute, so operands arrive as they are.

Most results are NumPy views of the operands, which costs nothing; nobody writes to arrays that they return.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, impl


def check(condition: bool, message: str) -> None:
    """Raises `ExirError` unless the condition holds: for arguments that only the run knows."""
    if not condition:
        raise ExirError(message)


@contextmanager
def fitting(name: str) -> Generator[None]:
    """Shapes that only the run knows and NumPy refuses become an `ExirError`."""
    try:
        yield
    except ValueError as error:
        raise ExirError(f"{name}: sizes do not fit: {error}") from error


# --- reshaping and permuting ---------------------------------------------------------------------------------


@impl("aten.view", "aten._unsafe_view", "aten.view_copy", raw=True)
def view(self: Array, size: list[int]) -> Array:
    with fitting("view"):
        return self.reshape(size)


@impl("aten.view.dtype", raw=True)
def view_dtype(self: Array, dtype: DType) -> Array:
    return np.ascontiguousarray(self).reshape(self.shape).view(dtype.numpy)


@impl("aten.unsqueeze", raw=True)
def unsqueeze(self: Array, dim: int) -> Array:
    return np.expand_dims(self, dim)


@impl("aten.squeeze.dims", raw=True)
def squeeze(self: Array, dim: list[int]) -> Array:
    dims = {d % self.ndim for d in dim} if self.ndim else set[int]()
    return self.reshape([size for d, size in enumerate(self.shape) if d not in dims or size != 1])


@impl("aten.permute", "aten.permute_copy", raw=True)
def permute(self: Array, dims: list[int]) -> Array:
    return self.transpose(dims)


@impl("aten.flip", raw=True)
def flip(self: Array, dims: list[int]) -> Array:
    return np.flip(self, tuple(dims) if self.ndim else ())


# --- broadcasting and repeating ------------------------------------------------------------------------------


@impl("aten.expand", raw=True)
def expand(self: Array, size: list[int]) -> Array:
    old = (1,) * (len(size) - self.ndim) + self.shape
    with fitting("expand"):
        return np.broadcast_to(self, [o if s == -1 else s for o, s in zip(old, size, strict=True)])
