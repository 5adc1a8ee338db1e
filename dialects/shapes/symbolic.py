"""Shape rules of operators that give numbers, and of assertions and printing, which give nothing.

The rule of a number gives its expression; a number read from a tensor's elements has none (None).
"""

from __future__ import annotations

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.meta import check, numel, same_shape, same_size, shape_rule, shape_text
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta


@shape_rule("aten.sym_size.int")
def sym_size(self: TensorMeta, dim: int) -> Dim:
    check(-self.ndim <= dim < self.ndim, f"dimension {dim} of a {self.ndim}-dimensional tensor")
    return self.shape[dim]


@shape_rule("aten.sym_numel")
def sym_numel(self: TensorMeta) -> Dim:
    return numel(self.shape)


@shape_rule("aten.item", "aten._local_scalar_dense")
def item(self: TensorMeta | NumberMeta) -> None:
    check(same_size(numel(self.shape), 1), f"a tensor of shape {shape_text(self.shape)} is not one number")


@shape_rule("aten._assert_async.msg")
def assert_async(self: TensorMeta | NumberMeta) -> None:
    check(
        same_size(numel(self.shape), 1),
        f"the truth of a tensor of shape {shape_text(self.shape)} is ambiguous",
    )


@shape_rule("aten._assert_scalar", "aten.sym_constrain_range", "aten.sym_constrain_range_for_size")
def assert_scalar() -> None:
    """Takes any number."""


@shape_rule("aten._print")
def print_text() -> None:
    """Takes no values."""


@shape_rule("aten._assert_tensor_metadata")
def assert_tensor_metadata(a: TensorMeta, size: list[Dim] | None) -> None:
    check(
        size is None or same_shape(a.shape, size),
        f"expected sizes {shape_text(size or ())}, got {shape_text(a.shape)}",
    )
