"""Tensors of PyTorch's as arguments of quick calls: where they lie. A NumPy array of each would take longer than a small kernel does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.interpreter.interpreter import dtype_of

Addresses = Callable[[Sequence[Any]], list[int] | None]


def addresses_of(types: Sequence[tuple[np.dtype[Any], Sequence[int]]]) -> Addresses:
    """A function of as many tensors: where each lies, if all are plain ones of these dtypes and shapes, in row-major order in memory; None else.

    Of complex tensors it is None, which may be conjugates of what is there."""
    dtypes = [dtype_of(dtype) for dtype, _ in types]
    known = all(dtype.category is not Category.COMPLEX for dtype in dtypes)
    names, shapes = [dtype.torch_name for dtype in dtypes], [tuple(shape) for _, shape in types]
    aligned = [dtype.itemsize - 1 for dtype in dtypes]
    wanted: list[tuple[Any, tuple[int, ...], int]] = []

    def addresses(tensors: Sequence[Any]) -> list[int] | None:
        torch = sys.modules.get("torch")  # who has a tensor has imported it
        if torch is None or not known:
            return None
        if not wanted:
            wanted[:] = zip((getattr(torch, name) for name in names), shapes, aligned, strict=True)
        kind, strided, found = torch.Tensor, torch.strided, list[int]()
        for tensor, (dtype, shape, low) in zip(tensors, wanted, strict=True):
            if tensor.__class__ is not kind or tensor.dtype is not dtype or tensor.shape != shape:
                return None
            if tensor.layout is not strided or tensor.requires_grad or not tensor.is_cpu:
                return None
            if not tensor.is_contiguous() or tensor.is_neg() or (address := tensor.data_ptr()) & low:
                return None
            found.append(address)
        return found

    return addresses
