"""Shape rules of pointwise operators: results have the shape that the operands broadcast to."""

from __future__ import annotations

from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.meta import Shape, broadcast_shapes, shape_rule


@shape_rule("aten.relu", "aten.sigmoid", "aten.neg", "aten._to_copy", "aten.silu")
def unary(self: TensorMeta) -> Shape:
    return self.shape


@shape_rule("aten.add.Tensor", "aten.mul.Tensor")
def binary(self: TensorMeta, other: TensorMeta) -> Shape:
    return broadcast_shapes(self.shape, other.shape)
