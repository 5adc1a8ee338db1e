"""What the operator of `fused.yaml` does: found beside it, and imported when it is first needed."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.dialects.meta import Shape, check, same_shape, shape_rule
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.transforms.decompositions import decomposition


@shape_rule("fused.linear_gelu")
def linear_gelu_shape(x: TensorMeta, weight: TensorMeta, bias: TensorMeta) -> Shape:
    check(weight.ndim == 2 and same_shape(weight.shape[1:], x.shape[-1:]), "weight does not fit x")
    check(same_shape(bias.shape, weight.shape[:1]), "bias does not fit weight")
    return (*x.shape[:-1], weight.shape[0])


@decomposition("fused.linear_gelu")
def linear_gelu(aten: Namespace, x: SSAValue, weight: SSAValue, bias: SSAValue) -> SSAValue:
    return aten.gelu(aten.linear(x, weight, bias))
