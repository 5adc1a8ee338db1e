"""Decompositions of operators that give numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.transforms.decompositions import decomposition


@decomposition("aten.item")
def item(aten: Namespace, self: SSAValue, out: Sequence[Attribute] | None) -> SSAValue:
    builder = aten.builder
    return builder.build(builder.dialect["aten._local_scalar_dense"], {"self": self}, out)
