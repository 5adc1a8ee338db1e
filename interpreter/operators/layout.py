"""Functions of the operators that say how tensors lie in memory: here values are elements, in whatever order."""

from __future__ import annotations

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.interpreter.operators import Array, impl


@impl("dim_order_ops._to_dim_order_copy", "dim_order_ops._clone_dim_order", raw=True)
def copy(self: Array) -> Array:
    return self


@impl("dim_order_ops._empty_dim_order")
def empty(size: list[int], out: list[DType]) -> Array:
    return np.zeros(size, out[0].numpy)
