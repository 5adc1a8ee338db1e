"""Shape rules of quantization operators."""

from __future__ import annotations

from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.meta import Shape, check, same_size, shape_rule, shape_text, wrap_dim

_PREFIX = "quantized_decomposed."


@shape_rule(
    f"{_PREFIX}quantize_per_tensor",
    f"{_PREFIX}dequantize_per_tensor",
    f"{_PREFIX}quantize_per_tensor.tensor",
    f"{_PREFIX}dequantize_per_tensor.tensor",
)
def per_tensor(input: TensorMeta) -> Shape:
    return input.shape


@shape_rule(f"{_PREFIX}quantize_per_channel", f"{_PREFIX}dequantize_per_channel")
def per_channel(input: TensorMeta, scales: TensorMeta, axis: int) -> Shape:
    axis = wrap_dim(axis, input.ndim)
    check(
        scales.ndim == 1 and same_size(scales.shape[0], input.shape[axis]),
        f"scales {shape_text(scales.shape)} do not fit dimension {axis} of {shape_text(input.shape)}",
    )
    return input.shape
