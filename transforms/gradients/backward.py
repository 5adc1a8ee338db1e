"""Gradients of gradients, of those operators for them that stay."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.transforms.gradients import Gradient, Gradients, Several, gradient


@gradient("aten.avg_pool2d_backward", "aten.avg_pool3d_backward")
def avg_pool_backward(
    aten: Namespace,
    grad: SSAValue,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Gradients:
    """It is linear in the gradient it is given, and of the input it needs the shape alone."""
    name = f"aten.avg_pool{len(kernel_size)}d"
    window = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return aten.builder.call(name, (grad, *window), {})


@gradient("aten._adaptive_avg_pool2d_backward")
def adaptive_avg_pool2d_backward(aten: Namespace, grad: SSAValue, grad_output: SSAValue) -> Gradients:
    return aten._adaptive_avg_pool2d(grad, sizes(aten, grad_output)[-2:])


@gradient("aten._adaptive_avg_pool3d_backward")
def adaptive_avg_pool3d_backward(aten: Namespace, grad: SSAValue, grad_output: SSAValue) -> Gradients:
    return aten._adaptive_avg_pool3d(grad, sizes(aten, grad_output)[-3:])


@gradient("aten.max_pool2d_with_indices_backward")
def max_pool2d_backward(
    aten: Namespace, grad: SSAValue, grad_output: SSAValue, indices: SSAValue
) -> Gradients:
    """What is at the indices of each plane."""
    batch = sizes(aten, grad)[: meta(grad).ndim - 2]
    planes, places = (aten.view(each, [*batch, -1]) for each in (grad, indices))
    return aten.view(aten.gather(planes, -1, places), sizes(aten, grad_output))


@gradient("aten.convolution_backward")
def convolution_backward(
    aten: Namespace,
    grad: Several,
    grad_output: SSAValue,
    input: SSAValue,
    weight: SSAValue,
    stride: Sequence[Any],
    padding: Sequence[Any],
    dilation: Sequence[Any],
    transposed: bool,
    output_padding: Sequence[Any],
    groups: Any,
) -> Gradients:
    """A convolution is linear in its input and in its weights, so the gradients are again convolutions and their gradients."""
    of_input, of_weight, of_bias = grad
    window = (stride, padding, dilation, transposed, output_padding, groups)
    shares: list[SSAValue] = []
    if of_input is not None:
        shares.append(aten.convolution(of_input, weight, None, *window))
    if of_weight is not None:
        shares.append(aten.convolution(input, of_weight, None, *window))
    if of_bias is not None:
        shares.append(aten.view(of_bias, [-1, *([1] * (meta(grad_output).ndim - 2))]))

    def back(input: SSAValue, weight: SSAValue, which: int) -> SSAValue:
        mask = [which == 0, which == 1, False]
        return aten.convolution_backward(grad_output, input, weight, None, *window, mask)[which]

    further: tuple[Gradient, Gradient] = (
        of_weight and back(input, of_weight, 0),
        of_input and back(of_input, weight, 1),
    )
    return reduce(aten.add.Tensor, shares), *further
