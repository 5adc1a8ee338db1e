"""Results as bits, for those that must not change at all."""

# pyright: basic

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def bits(results: Sequence[Any]) -> list[Any]:
    """Results to compare: dtypes, shapes and all bits, of NaNs that they are."""
    seen: list[Any] = []
    for array in map(np.asarray, results):
        parts = [np.real(array), np.imag(array)] if array.dtype.kind == "c" else [array]
        is_nan = [
            np.isnan(part) if part.dtype.kind not in "biu" else np.zeros(part.shape, bool) for part in parts
        ]
        plain = [
            np.where(nan, part.dtype.type(0), part).tobytes() for nan, part in zip(is_nan, parts, strict=True)
        ]
        seen.append((array.dtype, array.shape, plain, [nan.tobytes() for nan in is_nan]))
    return seen
