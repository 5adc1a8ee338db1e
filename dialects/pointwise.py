"""Shape rules of pointwise operators: results have the shape that the operands broadcast to."""

from __future__ import annotations

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import NumberMeta, TensorMeta
from xdsl_exir.dialects.meta import Shape, broadcast_shapes, check, same_shape, same_size, shape_rule, shape_text
from xdsl_exir.dialects.schema_aliases import *
