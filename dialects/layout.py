"""Shape rules of the operators that say how tensors lie in memory (`dim_order_ops`)."""

from __future__ import annotations

from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.meta import Shape, check_order, shape_rule
from xdsl_exir.dialects.view import only_sizes


@shape_rule("dim_order_ops._to_dim_order_copy", "dim_order_ops._clone_dim_order")
def copy(self: TensorMeta, dim_order: list[int] | None) -> Shape:
    check_order(dim_order, self.ndim)
    return self.shape


@shape_rule("dim_order_ops._empty_dim_order")
def empty(size: list[int], dim_order: list[int] | None) -> Shape:
    check_order(dim_order, len(size))
    return tuple(only_sizes(size))
