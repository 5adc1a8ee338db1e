"""Gradients of Fourier transforms: transforms the other way."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.transforms.decompositions.backward import zeros
from xdsl_exir.transforms.decompositions.pointwise import real_part
from xdsl_exir.transforms.decompositions.view import Size
from xdsl_exir.transforms.gradients import Gradients, gradient


@gradient("aten._fft_c2c")
def c2c(aten: Namespace, grad: SSAValue, dim: Sequence[Size], normalization: int, forward: bool) -> Gradients:
    return aten._fft_c2c(grad, dim, normalization, not forward)


@gradient("aten._fft_r2c")
def r2c(
    aten: Namespace, grad: SSAValue, self: SSAValue, dim: Sequence[int], normalization: int, onesided: bool
) -> Gradients:
    """Of half a spectrum: the other half has no gradient."""
    if onesided:
        whole = zeros(aten, sizes(aten, self), meta(grad).dtype)
        last = wrap_dim(dim[-1], meta(self).ndim)
        grad = aten.slice_scatter(whole, grad, last, 0, sizes(aten, grad)[last])
    return real_part(aten, aten._fft_c2c(grad, dim, normalization, False))


@gradient("aten._fft_c2r")
def c2r(aten: Namespace, grad: SSAValue, self: SSAValue, dim: Sequence[int], normalization: int) -> Gradients:
    """What stands for two frequencies counts twice: all but the first, and of an even number of them the last."""
    half = aten._fft_r2c(grad, dim, normalization, True)
    last = wrap_dim(dim[-1], meta(self).ndim)
    count, length = meta(half).shape[last], meta(grad).shape[last]
    assert isinstance(count, int)
    assert isinstance(length, int)
    twice = length - count
    weights = [2.0 if 1 <= place <= twice else 1.0 for place in range(count)]
    vector = aten.builder.constant(weights, meta(grad).dtype, (count,))
    return aten.mul.Tensor(half, aten.view(vector, [-1, *([1] * (meta(half).ndim - last - 1))]))
