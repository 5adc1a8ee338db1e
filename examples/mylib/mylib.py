"""What the operators of `mylib.yaml` do: found beside it, and imported when one of these is first needed. No PyTorch."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.dialects.meta import Shape, check, same_shape, shape_rule
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.interpreter.operators import Array, impl
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.pointwise import pointwise
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.transforms.decompositions import decomposition

# soft_relu stays one operator: its tag says the shape of the result, the interpreter has an `impl`, native code a lowering.


@impl("mylib.soft_relu")
def soft_relu(x: Array, beta: float) -> Array:
    return np.logaddexp(0, beta * x) / beta


@pointwise("mylib.soft_relu")
def soft_relu_of_element(x: Scalar, beta: float) -> Scalar:
    scaled = x * beta
    return (s.maximum(scaled, 0) + s.log1p(s.exp(-s.absolute(scaled)))) / beta


# row_norms is made of others: with a decomposition it needs neither `impl` nor lowering.


@shape_rule("mylib.row_norms")
def row_norms_shapes(x: TensorMeta, weight: TensorMeta | None) -> list[Shape]:
    check(x.ndim == 2, f"x has {x.ndim} dimensions, expected 2")
    check(weight is None or same_shape(weight.shape, x.shape[1:]), "weight is not as long as a row")
    return [x.shape, x.shape[:1]]


@decomposition("mylib.row_norms")
def row_norms(aten: Namespace, x: SSAValue, weight: SSAValue | None) -> tuple[SSAValue, SSAValue]:
    norms = aten.sqrt(aten.sum.dim_IntList(aten.mul.Tensor(x, x), [1]))
    rows = aten.div.Tensor(x, aten.unsqueeze(norms, 1))
    return rows if weight is None else aten.mul.Tensor(rows, weight), norms
