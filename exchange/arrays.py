"""NumPy arrays of what callers give: arrays, tensors of PyTorch's, what has DLPack's protocol."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from xdsl_exir.dialects.dtypes import BY_TORCH_NAME

BOXES: tuple[type[Any], ...] = (np.ndarray, np.generic)
"""What NumPy has numbers in."""
MASKED: type[Any] = np.ma.MaskedArray


ALIGNMENT = 64
"""Bytes of a cache line."""


def aligned_bytes(count: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Bytes that begin at a cache line."""
    memory = np.empty(count + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + count]


@cache
def in_numpy(torch_dtype: Any) -> tuple[Any, np.dtype[Any] | None]:
    """Of a dtype that PyTorch does not give NumPy, as bfloat16, that of integers of its size, and NumPy's; (None, None) of others."""
    dtype = BY_TORCH_NAME.get(str(torch_dtype).removeprefix("torch."))
    if dtype is None or dtype.numpy.isbuiltin == 1:
        return None, None
    return getattr(sys.modules["torch"], f"uint{8 * dtype.itemsize}"), dtype.numpy


def is_plain_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch's, of no class of its own, that lies in memory, without gradients."""
    torch = sys.modules.get("torch")
    if torch is None or value.__class__ is not torch.Tensor:
        return False
    return value.layout is torch.strided and value.is_cpu and not value.requires_grad


def array_of(value: Any) -> np.ndarray[Any, Any]:
    """The array of what has one: over the same memory, for arrays, tensors of PyTorch's on the CPU, and what has DLPack's protocol.

    Raises `TypeError`, `ValueError`, `RuntimeError` and `BufferError`, as NumPy and PyTorch do."""
    if isinstance(value, BOXES):
        return np.asarray(value)
    torch = sys.modules.get("torch")  # who has a tensor has imported it
    if torch is not None and isinstance(value, torch.Tensor):
        tensor = value.detach() if value.requires_grad else value
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        seen, dtype = in_numpy(tensor.dtype)
        return tensor.numpy() if seen is None else tensor.view(seen).numpy().view(dtype)
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)
