"""Lowerings of operators that join, repeat and pad tensors."""

from __future__ import annotations

from xdsl_exir.dialects.expr import Dim, max_, min_
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.operators.view import Out, window
from xdsl_exir.lowering.tensors import Tensor

# --- broadcasting and repeating ------------------------------------------------------------------------------


@lowering("aten.repeat", takes_complex=True)
def repeat(b: LinalgBuilder, self: Tensor, repeats: list[Dim]) -> Tensor:
    """Every dimension behind one of its repetitions, of which both become one."""
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    apart = tuple(size for pair in zip([1] * len(shape), shape, strict=True) for size in pair)
    copies = tuple(size for pair in zip(repeats, shape, strict=True) for size in pair)
    together = tuple(count * size for count, size in zip(repeats, shape, strict=True))
    return b.reshape(b.broadcast(b.reshape(self, apart), copies), together)


# --- joining and padding -------------------------------------------------------------------------------------


@lowering("aten.cat", takes_complex=True)
def cat(b: LinalgBuilder, tensors: list[Tensor], dim: int, out: Out) -> Tensor:
    """Parts put one behind another. Vectors without elements count for nothing, whatever the others' rank."""
    shape, dtype = out[0].shape, out[0].dtype
    dim = wrap_dim(dim, len(shape))
    parts = [
        b.convert(tensor, dtype) for tensor in tensors if tensor.ndim == len(shape) and tensor.shape[dim] != 0
    ]
    if len(parts) == 1:
        return parts[0]
    result = Tensor(b.empty(shape, dtype), shape, dtype)
    start: Dim = 0
    for tensor in parts:
        offsets, _, _ = window(shape, dim, start, tensor.shape[dim])
        result = b.insert(tensor, result, offsets)
        start = start + tensor.shape[dim]
    return result


@lowering("aten.constant_pad_nd", takes_complex=True)
def constant_pad_nd(b: LinalgBuilder, self: Tensor, pad: list[Dim], value: float) -> Tensor:
    """A border of one number; a negative pad takes away."""
    untouched: list[Dim] = [0] * (self.ndim - len(pad) // 2)
    low, high = untouched + pad[-2::-2], untouched + pad[::-2]
    offsets = [max_(0 - before, 0) for before in low]
    sizes = [
        size + min_(before, 0) + min_(after, 0)
        for size, before, after in zip(self.shape, low, high, strict=True)
    ]
    kept = self if tuple(sizes) == self.shape else b.slice(self, offsets, sizes, [1] * self.ndim)
    return b.pad(kept, [max_(before, 0) for before in low], [max_(after, 0) for after in high], value)
