"""What the operator of `testlib.yaml` does: as PyTorch's `torch.testing._internal.hop_db` says it."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.dialects.meta import Shape, broadcast_shapes, shape_rule
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.transforms.decompositions import decomposition


@shape_rule("testlib.mutating_custom_op")
def shapes(x: TensorMeta, z: TensorMeta) -> list[Shape]:
    return [x.shape, z.shape, broadcast_shapes(x.shape, z.shape), x.shape, z.shape]


@decomposition("testlib.mutating_custom_op")
def mutating_custom_op(aten: Namespace, x: SSAValue, z: SSAValue) -> tuple[SSAValue, ...]:
    """Adds 5 to both; gives copies of them and their sum, and last what it writes."""
    x, z = aten.add.Scalar(x, 5), aten.add.Scalar(z, 5)
    return x, z, aten.add.Tensor(x, z), x, z
