"""Functions of operators that join, repeat and pad tensors."""

from __future__ import annotations

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.interpreter.operators.creation import element
from xdsl_exir.interpreter.operators.view import check, fitting

# --- broadcasting and repeating ------------------------------------------------------------------------------


@impl("aten.repeat", raw=True)
def repeat(self: Array, repeats: list[int]) -> Array:
    return np.tile(self, repeats)


# --- joining and padding -------------------------------------------------------------------------------------


@impl("aten.repeat_interleave.Tensor", raw=True)
def repeated_places(repeats: Array, output_size: int | None) -> Array:
    if (repeats < 0).any():
        raise ExirError("repeat_interleave: repeats can not be negative")
    if output_size is not None and output_size != repeats.sum():
        raise ExirError(f"repeat_interleave: repeats add up to {repeats.sum()}, not to {output_size}")
    return np.repeat(np.arange(len(repeats), dtype=repeats.dtype), repeats)


@impl("aten.cat", raw=True)
def cat(tensors: list[Array], dim: int, out: tuple[DType, ...]) -> Array:
    dtype = out[0].numpy
    joined = [array for array in tensors if array.shape != (0,)] or tensors
    with fitting("cat"):
        return np.concatenate([array.astype(dtype, copy=False) for array in joined], axis=dim)


@impl("aten.constant_pad_nd", raw=True)
def constant_pad_nd(self: Array, pad: list[int], value: complex) -> Array:
    amounts = [(0, 0)] * (self.ndim - len(pad) // 2) + list(zip(pad[-2::-2], pad[::-2], strict=True))
    shape = [size + before + after for size, (before, after) in zip(self.shape, amounts, strict=True)]
    check(min(shape, default=0) >= 0, f"pad {pad} leaves nothing of {list(self.shape)}")
    result = np.full(shape, element(value, self.dtype))
    inner = tuple(
        slice(max(before, 0), size - max(after, 0))
        for size, (before, after) in zip(shape, amounts, strict=True)
    )
    kept = tuple(
        slice(max(-before, 0), size - max(-after, 0))
        for size, (before, after) in zip(self.shape, amounts, strict=True)
    )
    result[inner] = self[kept]
    return result
