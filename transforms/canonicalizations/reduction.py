"""Canonicalizations of reductions: the largest of one element is it.

Sums of one element are not here: of -0.0 the sum is 0.0.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Results, meta
from xdsl_exir.dialects.meta import wrap_dims
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization


@canonicalization("aten.amax", "aten.amin")
def extremum(aten: Namespace, self: SSAValue, dim: list[int], keepdim: bool) -> Results:
    """Over dimensions of size 1; none are all."""
    shape = meta(self).shape
    dims = wrap_dims(dim, len(shape)) if dim else list(range(len(shape)))
    if any(shape[at] != 1 for at in dims if shape):
        return KEEP
    return self if keepdim or not shape else aten.squeeze.dims(self, dims)
