"""Lowerings of quantization operators: affine, rounding half to even, saturating."""

from __future__ import annotations

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.meta import wrap_dim
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering import scalar as s
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.scalar import Scalar
from xdsl_exir.lowering.tensors import Tensor

Out = list[TensorMeta]

_PREFIX = "quantized_decomposed."


def of_number(b: LinalgBuilder, value: Tensor | float) -> Tensor:
    """A scale or zero point, given as a number or as a tensor of one element, as one that broadcasts."""
    if isinstance(value, Tensor):
        return b.reshape(value, ())
    return b.fill(value, (), dt.Long if isinstance(value, int) else dt.Double)


def along(b: LinalgBuilder, values: Tensor, axis: int, rank: int) -> Tensor:
    """A vector along a dimension."""
    axis = wrap_dim(axis, rank)
    return b.reshape(values, tuple(values.shape[0] if dim == axis else 1 for dim in range(rank)))


def quantized(
    b: LinalgBuilder,
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    quant_min: int,
    quant_max: int,
    out: TensorMeta,
) -> Tensor:
    """`input / scale + zero_point`, rounded and between limits; scales and zero points broadcast."""

    def step(x: Scalar, scale: Scalar, zero_point: Scalar) -> Scalar:
        # PyTorch multiplies by the reciprocal in float32.
        steps = s.round_even(s.cast(x, dt.Float) * (1 / s.cast(scale, dt.Float)))
        number = s.cast(steps, dt.Double) + s.cast(zero_point, dt.Double)
        return s.minimum(s.maximum(number, quant_min), quant_max)

    return b.elementwise(step, [input, scale, zero_point], out.shape, out.dtype)


def dequantized(
    b: LinalgBuilder, input: Tensor, scale: Tensor, zero_point: Tensor, out: TensorMeta
) -> Tensor:
    """`(input - zero_point) * scale`, in float32."""

    def number(x: Scalar, scale: Scalar, zero_point: Scalar) -> Scalar:
        return (s.cast(x, dt.Float) - s.cast(zero_point, dt.Float)) * s.cast(scale, dt.Float)

    return b.elementwise(number, [input, scale, zero_point], out.shape, out.dtype)


@lowering(f"{_PREFIX}quantize_per_tensor", f"{_PREFIX}quantize_per_tensor.tensor")
def quantize_per_tensor(
    b: LinalgBuilder,
    input: Tensor,
    scale: Tensor | float,
    zero_point: Tensor | int,
    quant_min: int,
    quant_max: int,
    out: Out,
) -> Tensor:
    return quantized(b, input, of_number(b, scale), of_number(b, zero_point), quant_min, quant_max, out[0])


@lowering(f"{_PREFIX}dequantize_per_tensor", f"{_PREFIX}dequantize_per_tensor.tensor")
def dequantize_per_tensor(
    b: LinalgBuilder, input: Tensor, scale: Tensor | float, zero_point: Tensor | int, out: Out
) -> Tensor:
    return dequantized(b, input, of_number(b, scale), of_number(b, zero_point), out[0])


@lowering(f"{_PREFIX}quantize_per_channel")
def quantize_per_channel(
    b: LinalgBuilder,
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
    out: Out,
) -> Tensor:
    scale, zero_point = (along(b, values, axis, input.ndim) for values in (scales, zero_points))
    return quantized(b, input, scale, zero_point, quant_min, quant_max, out[0])


@lowering(f"{_PREFIX}dequantize_per_channel")
def dequantize_per_channel(
    b: LinalgBuilder, input: Tensor, scales: Tensor, zero_points: Tensor | None, axis: int, out: Out
) -> Tensor:
    zero_point = of_number(b, 0) if zero_points is None else along(b, zero_points, axis, input.ndim)
    return dequantized(b, input, along(b, scales, axis, input.ndim), zero_point, out[0])
