"""Results as a caller gets them: in memory of their own, their dimensions in the order that the program says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xdsl_exir.interpreter.operators import is_array


def apart(results: Sequence[Any], written: Sequence[Any], owned: Sequence[Any]) -> list[Any]:
    """The results, copied where they lie in the memory of inputs that are about to be written: an operator that changes no
    element, as `clone`, may have given its operand. A result that is its own input stays, of which `owned` has the one that each is written back to."""

    def lies_in(value: Any, each: Any) -> bool:
        return is_array(value) and is_array(each) and np.may_share_memory(value, each)

    return [
        value.copy() if value is not own and any(lies_in(value, each) for each in written) else value
        for value, own in zip(results, owned, strict=True)
    ]


def lying(value: Any, dim_order: Sequence[int] | None) -> Any:
    """An array with its dimensions in this order in memory, row-major where none is given; copied if they are not."""
    if not is_array(value) or value.ndim == 0:
        return value
    if dim_order is None:
        return np.ascontiguousarray(value)
    return np.ascontiguousarray(value.transpose(dim_order)).transpose(np.argsort(dim_order))
