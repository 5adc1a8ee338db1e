"""Functions of quantization operators: affine, rounding half to even, saturating."""

from __future__ import annotations

from typing import Any

import numpy as np

from xdsl_exir.interpreter.operators import Array, impl

_PREFIX = "quantized_decomposed."


@impl(f"{_PREFIX}quantize_per_tensor", f"{_PREFIX}quantize_per_tensor.tensor")
def quantize(input: Array, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Array:
    # PyTorch multiplies by the reciprocal in float32.
    steps = np.rint(input * (np.float32(1) / np.asarray(scale, np.float32)))
    return np.clip(steps + np.asarray(zero_point), quant_min, quant_max)


@impl(f"{_PREFIX}dequantize_per_tensor", f"{_PREFIX}dequantize_per_tensor.tensor")
def dequantize(input: Array, scale: Any, zero_point: Any) -> Array:
    return (input.astype(np.float32) - np.asarray(zero_point, np.float32)) * np.asarray(scale, np.float32)


def _along(values: Array, axis: int, rank: int) -> Array:
    return values.reshape([-1 if dim == axis % rank else 1 for dim in range(rank)])


@impl(f"{_PREFIX}quantize_per_channel")
def quantize_per_channel(
    input: Array, scales: Array, zero_points: Array, axis: int, quant_min: int, quant_max: int
) -> Array:
    scale, zero_point = _along(scales, axis, input.ndim), _along(zero_points, axis, input.ndim)
    return quantize(input, scale, zero_point, quant_min, quant_max)


@impl(f"{_PREFIX}dequantize_per_channel")
def dequantize_per_channel(input: Array, scales: Array, zero_points: Array | None, axis: int) -> Array:
    zero_point = 0 if zero_points is None else _along(zero_points, axis, input.ndim)
    return dequantize(input, _along(scales, axis, input.ndim), zero_point)
