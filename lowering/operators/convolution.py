"""Lowering of convolution, over any number of dimensions.

Padding is explicit; then one loop nest over (n, [g,] oc, *out, ic, *kernel), or over (n, c, *out, *kernel) where each channel is a
group. A transposed convolution is one of stride 1
over the input with zeros between its elements, by the kernel turned around.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, max_
from xdsl_exir.dialects.meta import pair
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder, dims
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor, read

Out = list[TensorMeta]


def forward(
    b: LinalgBuilder,
    images: Tensor,
    weight: Tensor,
    sizes: Sequence[Dim],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """A convolution of padded images `[n, [g,] ic, *in]` by weights `[[g,] oc, ic, *kernel]` to `[n, [g,] oc, *sizes]`, or of
    `[n, c, *in]` by `[c, *kernel]`, in the dtype that sums accumulate in: not rounded yet."""
    space, wide = len(sizes), b.accumulator(images.dtype)
    channels = weight.shape[: weight.ndim - space]
    mixed = int(len(channels) > 1)
    shape = (images.shape[0], *channels[: len(channels) - mixed], *sizes)
    loops = dims(len(shape) + mixed + space)
    n, *g = loops[: 1 + len(channels) - 2 * mixed]
    oc, places = loops[len(g) + 1 : len(shape) - space], loops[len(shape) - space : len(shape)]
    ic, taps = loops[len(shape) : len(shape) + mixed], loops[len(shape) + mixed :]
    reached = [
        scaled(place, step) + scaled(tap, spread)
        for place, tap, step, spread in zip(places, taps, stride, dilation, strict=True)
    ]

    def access(*exprs: AffineExpr) -> AffineMap:
        return AffineMap(len(loops), 0, exprs)

    return b.generic(
        [(images, access(n, *g, *ic, *reached)), (weight, access(*g, *oc, *ic, *taps))],
        b.fill(0, shape, wide),
        access(*loops[: len(shape)]),
        ["parallel"] * len(shape) + ["reduction"] * (mixed + space),
        lambda x, w, total: total + s.cast(x, wide) * s.cast(w, wide),
    )


def scaled(expr: AffineExpr, factor: int) -> AffineExpr:
    """An index times a constant, in the form MLIR gives it."""
    return expr if factor == 1 else expr * factor


def grouped(b: LinalgBuilder, input: Tensor, dim: int, groups: int) -> Tensor:
    """A dimension of channels as one of groups and one of each group's channels; nothing to do for a single group."""
    if groups == 1:
        return input
    before, size, after = input.shape[:dim], input.shape[dim], input.shape[dim + 1 :]
    return b.reshape(input, (*before, groups, size // groups, *after))


def turned_around(b: LinalgBuilder, weight: Tensor, space: int) -> Tensor:
    """`[[g,] ic, oc, *kernel]` as `[[g,] oc, ic, *kernel]` with the kernel's positions in reverse; `[c, *kernel]` likewise."""
    fixed = weight.ndim - space
    channels, kernel = weight.shape[:fixed], weight.shape[fixed:]

    def element(*at: SSAValue) -> Scalar:
        reverse = [
            s.constant(size - 1, dt.Long) - s.from_index(tap)
            for size, tap in zip(kernel, at[fixed:], strict=True)
        ]
        return read(weight, [*at[:fixed][:-2], *at[:fixed][-2:][::-1], *reverse])

    return b.indexed(element, (*channels[:-2], *channels[-2:][::-1], *kernel), weight.dtype)


def spread_out(
    b: LinalgBuilder, input: Tensor, sizes: Sequence[Dim], low: Sequence[Dim], stride: Sequence[int]
) -> Tensor:
    """The input's elements `stride` apart in zeros, with a border of `low` in front, which may be negative."""
    fixed = input.ndim - len(sizes)
    border = [max_(before, 0) for before in low]
    cut = [max_(-before, 0) for before in low]
    # An element cut away in front still takes its place.
    whole = [
        max_(front + away + size, front + (count - 1) * step + 1)
        for front, away, size, count, step in zip(
            border, cut, sizes, input.shape[fixed:], stride, strict=True
        )
    ]
    zeros = b.fill(0, (*input.shape[:fixed], *whole), input.dtype)
    result = b.insert(input, zeros, [0] * fixed + border, [1] * fixed + list(stride))
    if not any(cut) and whole == list(sizes):
        return result
    return b.slice(result, [0] * fixed + cut, (*input.shape[:fixed], *sizes), [1] * input.ndim)


@lowering("aten.convolution", static=["stride", "padding", "dilation", "groups"])
def convolution(
    b: LinalgBuilder,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    groups: int,
    out: Out,
) -> Tensor:
    shape, dtype = out[0].shape, out[0].dtype
    if 0 in shape:
        return Tensor(b.empty(shape, dtype), shape, dtype)
    space, sizes, kernel = input.ndim - 2, shape[2:], weight.shape[2:]
    strides, paddings, dilations = pair(stride, space), pair(padding, space), pair(dilation, space)
    single = groups > 1 and weight.shape[:2] == (groups, 1)
    weight = b.reshape(weight, (groups, *kernel)) if single else grouped(b, weight, 0, groups)
    if transposed:
        weight = turned_around(b, weight, space)
        reach = [spread * (size - 1) for size, spread in zip(kernel, dilations, strict=True)]
        low = [far - pad for far, pad in zip(reach, paddings, strict=True)]
        extents = [size + far for size, far in zip(sizes, reach, strict=True)]
        input, strides = spread_out(b, input, extents, low, strides), [1] * space
    else:
        input = b.pad(input, [0, 0, *paddings], [0, 0, *paddings], 0)
    images = input if single else grouped(b, input, 1, groups)
    product = b.reshape(forward(b, images, weight, sizes, strides, dilations), shape)
    if bias is None:
        return b.convert(product, dtype)
    per_channel = b.reshape(bias, (shape[1], *[1] * space))
    return b.elementwise(lambda x, shift: x + s.cast(shift, x.dtype), [product, per_channel], shape, dtype)
