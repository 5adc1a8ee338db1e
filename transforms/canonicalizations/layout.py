"""Canonicalizations of what says how tensors lie in memory: of two wishes the last counts. A wish is never dropped."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Results
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.matching import made_by

COPY = "dim_order_ops._clone_dim_order"


@canonicalization(COPY)
def clone_dim_order(
    aten: Namespace, self: SSAValue, dim_order: list[int] | None, non_blocking: bool
) -> Results:
    inner = made_by(self, COPY)
    if inner is None or dim_order is None:
        return KEEP
    return aten.builder.call(
        COPY, [inner.operands[0]], {"dim_order": dim_order, "non_blocking": non_blocking}
    )
