"""Gradients of pools: PyTorch has an operator for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.transforms.gradients import Gradient, Gradients, gradient


@gradient("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")
def max_pool(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    self: SSAValue,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    name = f"aten.max_pool{len(kernel_size)}d_with_indices_backward"
    window = (kernel_size, stride, padding, dilation, ceil_mode)
    return aten.builder.call(name, (grad[0], self, *window, results[1]), {})


@gradient("aten.avg_pool2d", "aten.avg_pool3d")
def avg_pool(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Gradients:
    name = f"aten.avg_pool{len(kernel_size)}d_backward"
    window = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return aten.builder.call(name, (grad, self, *window), {})


@gradient("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive_avg_pool(
    aten: Namespace, grad: SSAValue, self: SSAValue, output_size: Sequence[Any]
) -> Gradients:
    name = f"aten._adaptive_avg_pool{len(output_size)}d_backward"
    return aten.builder.call(name, (grad, self), {})


@gradient("aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d")
def adaptive_max_pool(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    self: SSAValue,
    output_size: Sequence[Any],
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    name = f"aten.adaptive_max_pool{len(output_size)}d_backward"
    return aten.builder.call(name, (grad[0], self, results[1]), {})


@gradient("aten.fractional_max_pool2d", "aten.fractional_max_pool3d")
def fractional_max_pool(
    aten: Namespace,
    grad: tuple[SSAValue, Gradient],
    self: SSAValue,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
    results: tuple[SSAValue, SSAValue],
) -> Gradients:
    name = f"aten.fractional_max_pool{len(output_size)}d_backward"
    return aten.builder.call(name, (grad[0], self, kernel_size, output_size, results[1]), {})
