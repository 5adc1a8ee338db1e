"""Gradients of convolutions, and of their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.transforms.gradients import Gradient, Gradients, Several, gradient


@gradient("aten.convolution")
def convolution(
    aten: Namespace,
    grad: SSAValue,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    stride: Sequence[Any],
    padding: Sequence[Any],
    dilation: Sequence[Any],
    transposed: bool,
    output_padding: Sequence[Any],
    groups: Any,
    needed: Sequence[bool],
) -> Gradients:
    bias_sizes = None if bias is None else sizes(aten, bias)
    window = (stride, padding, dilation, transposed, output_padding, groups)
    shares = aten.convolution_backward(grad, input, weight, bias_sizes, *window, list(needed))
    return tuple(share if asked else None for share, asked in zip(shares, needed, strict=True))


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
