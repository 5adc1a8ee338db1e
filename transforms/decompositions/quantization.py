"""Decompositions of what chooses scales, and of fake quantization, which rounds floats to what integers of a scale and a zero point would hold."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, cast, meta, opmath
from xdsl_exir.dialects.dtypes import Double, DType, Float, Long
from xdsl_exir.transforms.decompositions import decomposition, other_names

other_names(
    {
        "fake_quantize_per_tensor_affine": ("fake_quantize_per_tensor_affine_cachemask", 0),
        "fake_quantize_per_channel_affine": ("fake_quantize_per_channel_affine_cachemask", 0),
    }
)


Pair = tuple[SSAValue, SSAValue]


@decomposition("quantized_decomposed.choose_qparams.tensor")
def choose_qparams(aten: Namespace, input: SSAValue, quant_min: int, quant_max: int, eps: float) -> Pair:
    """The scale and the zero point with which all elements, and zero exactly, lie between the bounds."""
    low, high = aten.clamp(aten.amin(input, []), None, 0), aten.clamp(aten.amax(input, []), 0)
    steps = aten.div.Tensor(aten.sub.Tensor(high, low), float(quant_max - quant_min))
    scale = aten.maximum(steps, aten.full([1], eps, dtype=Float))
    below = aten._to_copy(aten.round(aten.div.Tensor(low, scale)), dtype=Long)
    zero_point = aten.clamp(aten.rsub.Scalar(below, quant_min), quant_min, quant_max)
    return aten._to_copy(scale, dtype=Double), zero_point


def fake_quantized(
    aten: Namespace,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue | int,
    quant_min: int,
    quant_max: int,
    scaled_in: DType = Float,
) -> Pair:
    """What is left of `self`, and where the quantized number was within bounds. Scales are float32, as in PyTorch."""
    x = cast(aten, self, opmath(meta(self).dtype))
    steps = aten.round(aten.mul.Tensor(x, aten.reciprocal(scale)))
    number = aten.add.Tensor(steps, zero_point)
    inside = aten.bitwise_and.Tensor(aten.ge.Scalar(number, quant_min), aten.le.Scalar(number, quant_max))
    bounded = aten.where.ScalarSelf(aten.isnan(number), quant_min, aten.clamp(number, quant_min, quant_max))
    kept = aten.sub.Tensor(cast(aten, bounded, Long), zero_point)
    output = aten.mul.Tensor(aten._to_copy(kept, dtype=scaled_in), scale)
    return cast(aten, output, meta(self).dtype), inside


@decomposition("aten.fake_quantize_per_tensor_affine_cachemask")
def per_tensor_with_mask(
    aten: Namespace, self: SSAValue, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> Pair:
    return fake_quantized(aten, self, aten.full([], scale, dtype=Float), zero_point, quant_min, quant_max)


@decomposition("aten.fake_quantize_per_tensor_affine.tensor_qparams")
def per_tensor_of_tensors(
    aten: Namespace, self: SSAValue, scale: SSAValue, zero_point: SSAValue, quant_min: int, quant_max: int
) -> SSAValue:
    enabled = aten.full([1], 1, dtype=Long)
    operator = aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams
    return operator(self, scale, zero_point, enabled, quant_min, quant_max)[0]


@decomposition("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def per_tensor_of_tensors_with_mask(
    aten: Namespace,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue,
    fake_quant_enabled: SSAValue,
    quant_min: int,
    quant_max: int,
) -> Pair:
    scale, zero_point, enabled = (aten.view(x, []) for x in (scale, zero_point, fake_quant_enabled))
    output, inside = fake_quantized(
        aten, self, cast(aten, scale, Float), cast(aten, zero_point, Long), quant_min, quant_max
    )
    off = aten.eq.Scalar(enabled, 0)
    return aten.where.self(off, self, output), aten.logical_or(off, inside)


@decomposition("aten.fake_quantize_per_channel_affine_cachemask")
def per_channel_with_mask(
    aten: Namespace,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> Pair:
    ndim, dtype = meta(self).ndim, meta(self).dtype
    size = [-1 if dim == axis else 1 for dim in range(ndim)]
    scale, zero_point = aten.view(scale, size), aten.view(zero_point, size)
    return fake_quantized(aten, self, scale, zero_point, quant_min, quant_max, opmath(dtype))
