"""Lowerings of the gradients that decomposition leaves: those of convolution and of pooling."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.meta import pair
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.body_types import sum_dtype
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.operators.convolution import convolution, forward
from xdsl_exir.lowering.operators.indexing import scatter_add
from xdsl_exir.lowering.places import Place
from xdsl_exir.lowering.reductions import shaped
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor, read
from xdsl_exir.lowering.windows import Adaptive, Sliding, everywhere, lines_of

Out = list[TensorMeta]


# --- convolution ---------------------------------------------------------------------------------------------


def of_weight(
    b: LinalgBuilder,
    images: Tensor,
    places: Tensor,
    kernel_size: Sequence[Dim],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """`[[g,] of places, of images, *kernel]`: a convolution of the padded images by the places, as if by a kernel, in
    which the batch is summed and steps and dilation have changed roles."""
    border = [0, 0, *padding]
    padded = b.pad(images, border, border, 0)
    if groups == 1:
        swapped = b.permute(padded, [1, 0, *range(2, padded.ndim)])
        weight = b.permute(places, [1, 0, *range(2, places.ndim)])
        joined = forward(b, swapped, weight, kernel_size, dilation, stride)
        return b.permute(joined, [1, 0, *range(2, joined.ndim)])
    split = [
        b.reshape(each, (each.shape[0], groups, each.shape[1] // groups, *each.shape[2:]))
        for each in (padded, places)
    ]
    swapped = b.permute(split[0], [2, 1, 0, *range(3, split[0].ndim)])
    weight = b.permute(split[1], [1, 2, 0, *range(3, split[1].ndim)])
    joined = forward(b, swapped, weight, kernel_size, dilation, stride)
    return b.permute(joined, [1, 2, 0, *range(3, joined.ndim)])


@lowering("aten.convolution_backward")
def convolution_backward(
    b: LinalgBuilder,
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    groups: int,
    output_mask: list[bool],
    out: Out,
) -> list[Tensor]:
    """The gradient of the input is a convolution the other way round."""
    results = [b.fill(0, meta.shape, meta.dtype) for meta in out]
    if 0 in grad_output.shape or 0 in input.shape:
        return results
    space = weight.ndim - 2
    strides, paddings, dilations = pair(stride, space), pair(padding, space), pair(dilation, space)
    if output_mask[0]:
        results[0] = convolution(
            b, grad_output, weight, None, strides, paddings, dilations, not transposed, groups, out[:1]
        )
    if output_mask[1]:
        images, places = (grad_output, input) if transposed else (input, grad_output)
        joined = of_weight(b, images, places, weight.shape[2:], strides, paddings, dilations, groups)
        results[1] = b.convert(b.reshape(joined, weight.shape), out[1].dtype)
    if output_mask[2]:
        others = [0, *range(2, grad_output.ndim)]
        results[2] = shaped(b, b.sum(grad_output, others), out[2])
    return results


# --- pooling -------------------------------------------------------------------------------------------------


def spread(
    b: LinalgBuilder,
    grad: Tensor,
    lines: Sequence[Sliding | Adaptive],
    include_pad: bool,
    divisor: int | None,
    out: TensorMeta,
) -> Tensor:
    """Each window's share of its gradient, added to all elements that the window covers."""
    shape, wide = out.shape, sum_dtype(out.dtype)
    batch = grad.ndim - len(lines)

    def step(so_far: Tensor, *at: SSAValue) -> tuple[Place, Scalar]:
        places = [s.from_index(index) for index in at[batch : grad.ndim]]
        taps = [s.from_index(index) for index in at[grad.ndim :]]
        found = [line.coordinate(p, t) for line, p, t in zip(lines, places, taps, strict=True)]
        inner = [
            s.minimum(s.maximum(along, 0), size - 1)
            for (along, _), size in zip(found, shape[batch:], strict=True)
        ]
        here = [*at[:batch], *inner]
        count = s.constant(1 if divisor is None else divisor, dt.Long)
        if divisor is None:
            for line, place in zip(lines, places, strict=True):
                count = count * line.extent(place, include_pad)
        share = s.cast(read(grad, at[: grad.ndim]), wide) / s.cast(count, wide)
        return here, read(so_far, here) + s.select(everywhere(found), share, 0)

    zeros = b.fill(0, shape, wide)
    if 0 in grad.shape or 0 in shape:
        return b.convert(zeros, out.dtype)
    return b.convert(b.update(zeros, (*grad.shape, *(line.taps for line in lines)), step), out.dtype)


@lowering("aten.avg_pool2d_backward", "aten.avg_pool3d_backward")
def avg_pool_backward(
    b: LinalgBuilder,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    count_include_pad: bool,
    divisor_override: int | None,
    out: Out,
) -> Tensor:
    pooled = TensorMeta(grad_output.shape, grad_output.dtype)
    lines = lines_of(self, pooled, kernel_size, stride, padding, [1] * len(kernel_size))
    return spread(b, grad_output, lines, count_include_pad, divisor_override, out[0])


def adaptive_backward(b: LinalgBuilder, grad: Tensor, out: TensorMeta, space: int) -> Tensor:
    sizes, counts = out.shape[-space:], grad.shape[-space:]
    lines = [Adaptive(size, count) for size, count in zip(sizes, counts, strict=True) if count]
    return spread(b, grad, lines, False, None, out)


@lowering("aten._adaptive_avg_pool2d_backward")
def adaptive_avg_pool2d_backward(b: LinalgBuilder, grad_output: Tensor, out: Out) -> Tensor:
    return adaptive_backward(b, grad_output, out[0], 2)


@lowering("aten._adaptive_avg_pool3d_backward")
def adaptive_avg_pool3d_backward(b: LinalgBuilder, grad_output: Tensor, out: Out) -> Tensor:
    return adaptive_backward(b, grad_output, out[0], 3)


@lowering("aten.max_pool2d_with_indices_backward")
def max_pool2d_backward(b: LinalgBuilder, grad_output: Tensor, indices: Tensor, out: Out) -> Tensor:
    """The gradient added where each window's maximum was in its plane."""
    shape, dtype = out[0].shape, out[0].dtype
    planes = prod(shape[:-2])
    zeros = b.fill(0, (planes, prod(shape[-2:])), sum_dtype(dtype))
    places, grad = (b.reshape(each, (planes, prod(each.shape[-2:]))) for each in (indices, grad_output))
    placed = scatter_add(b, zeros, 1, places, grad)
    return b.convert(b.reshape(placed, shape), dtype)
