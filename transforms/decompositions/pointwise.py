"""Decompositions of pointwise operators."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.transforms.builder import Namespace
from xdsl_exir.transforms.decompositions import decomposition


@decomposition("aten.silu")
def silu(aten: Namespace, self: SSAValue) -> SSAValue:
    return aten.mul.Tensor(self, aten.sigmoid(self))
