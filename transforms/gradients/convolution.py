"""Gradients of convolutions, by PyTorch's own operator for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, sizes
from xdsl_exir.transforms.gradients import Gradients, gradient


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
