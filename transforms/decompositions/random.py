"""Decompositions of random operators."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.transforms.builder import Namespace, meta, sizes
from xdsl_exir.transforms.decompositions import decomposition


@decomposition("aten.bernoulli")
def bernoulli(aten: Namespace, self: SSAValue) -> SSAValue:
    chosen = aten.lt.Tensor(aten.rand(sizes(aten, self), dtype=dt.Float, device=meta(self).device), self)
    return aten._to_copy(chosen, dtype=meta(self).dtype)
