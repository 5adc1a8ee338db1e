"""Gradients of views: the gradient is viewed the other way round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.meta import wrap_dims
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.transforms.gradients import Gradients, gradient


@gradient("aten.view", "aten.view_copy", "aten._unsafe_view", "aten.squeeze.dims", "aten.unsqueeze")
def view(aten: Namespace, grad: SSAValue, self: SSAValue) -> Gradients:
    return aten.view(grad, sizes(aten, self))


@gradient("aten.expand")
def expand(aten: Namespace, grad: SSAValue) -> Gradients:
    return grad


@gradient("aten.permute", "aten.permute_copy")
def permute(aten: Namespace, grad: SSAValue, dims: Sequence[int]) -> Gradients:
    order = wrap_dims(dims, len(dims))
    return aten.permute(grad, [int(place) for place in np.argsort(order)])


@gradient("aten.flip")
def flip(aten: Namespace, grad: SSAValue, dims: Sequence[int]) -> Gradients:
    return aten.flip(grad, dims)


@gradient("aten.view.dtype")
def view_dtype(aten: Namespace, grad: SSAValue, self: SSAValue, dtype: DType) -> Gradients:
    if dtype is meta(self).dtype:
        return grad
    raise UnsupportedError([Unsupported("aten.view.dtype", "bits read as another dtype have no gradient")])
