"""Shape rules of quantization operators."""

from __future__ import annotations

from xdsl_exir.dialects.dtypes import (
    Byte,
    Category,
    Char,
    DType,
    Float8_e4m3fn,
    Float8_e5m2,
    Int,
    Short,
    UInt16,
    UInt32,
    UInt64,
)
from xdsl_exir.dialects.meta import Shape, check, numel, same_size, shape_rule, shape_text, wrap_dim
from xdsl_exir.dialects.tensors import TensorMeta

_PREFIX = "quantized_decomposed."
UNSIGNED = (Byte, UInt16, UInt32, UInt64)
QUANTIZED = (Byte, Char, Short, Int, UInt16, Float8_e5m2, Float8_e4m3fn)
"""What quantized numbers are held in."""


def check_bounds(quant_min: int, quant_max: int, dtype: DType) -> None:
    """What is quantized must fit the dtype that holds it."""
    if dtype.category is Category.INT:
        signed = dtype not in UNSIGNED
        low, high = (
            (-(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1) if signed else (0, (1 << dtype.bits) - 1)
        )
        check(low <= quant_min and quant_max <= high, f"{quant_min} to {quant_max} do not fit {dtype}")


@shape_rule(f"{_PREFIX}quantize_per_tensor", f"{_PREFIX}dequantize_per_tensor")
def per_tensor(input: TensorMeta, quant_min: int, quant_max: int, dtype: DType) -> Shape:
    check_bounds(quant_min, quant_max, dtype)
    return input.shape


@shape_rule(f"{_PREFIX}quantize_per_tensor.tensor", f"{_PREFIX}dequantize_per_tensor.tensor")
def per_tensor_of_tensors(
    input: TensorMeta, scale: TensorMeta, zero_point: TensorMeta, quant_min: int, quant_max: int, dtype: DType
) -> Shape:
    for name, value in (("scale", scale), ("zero_point", zero_point)):
        check(same_size(numel(value.shape), 1), f"{name} {shape_text(value.shape)} has more than one element")
    return per_tensor(input, quant_min, quant_max, dtype)


@shape_rule(f"{_PREFIX}quantize_per_channel", f"{_PREFIX}dequantize_per_channel")
def per_channel(
    input: TensorMeta,
    scales: TensorMeta,
    zero_points: TensorMeta | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: DType,
) -> Shape:
    axis = wrap_dim(axis, input.ndim)
    for name, values in (("scales", scales), ("zero_points", zero_points)):
        check(
            values is None or (values.ndim == 1 and same_size(values.shape[0], input.shape[axis])),
            f"{name} do not fit dimension {axis} of {shape_text(input.shape)}",
        )
    return per_tensor(input, quant_min, quant_max, dtype)


@shape_rule(f"{_PREFIX}choose_qparams.tensor")
def choose_qparams(input: TensorMeta, quant_min: int, quant_max: int, dtype: DType) -> tuple[Shape, Shape]:
    check(quant_min < quant_max, f"quant_min {quant_min} is not below quant_max {quant_max}")
    check(dtype in QUANTIZED, f"{dtype} holds no quantized numbers")
    check_bounds(quant_min, quant_max, dtype)
    return (1,), (1,)


# --- fake quantization: floats stay floats -------------------------------------------------------------------


@shape_rule("aten.fake_quantize_per_tensor_affine")
def fake_per_tensor(self: TensorMeta, quant_min: int, quant_max: int, zero_point: int) -> Shape:
    check(quant_min <= quant_max, f"quant_min {quant_min} is above quant_max {quant_max}")
    check(quant_min <= zero_point <= quant_max, f"zero_point {zero_point} is not between the bounds")
    return self.shape


@shape_rule("aten.fake_quantize_per_tensor_affine_cachemask")
def fake_per_tensor_with_mask(
    self: TensorMeta, quant_min: int, quant_max: int, zero_point: int
) -> tuple[Shape, Shape]:
    shape = fake_per_tensor(self, quant_min, quant_max, zero_point)
    return shape, shape


@shape_rule("aten.fake_quantize_per_tensor_affine.tensor_qparams")
def fake_per_tensor_of_tensors(
    self: TensorMeta, scale: TensorMeta, zero_point: TensorMeta, quant_min: int, quant_max: int
) -> Shape:
    check(quant_min <= quant_max, f"quant_min {quant_min} is above quant_max {quant_max}")
    for name, value in (("scale", scale), ("zero_point", zero_point)):
        check(same_size(numel(value.shape), 1), f"{name} {shape_text(value.shape)} has more than one element")
    return self.shape


@shape_rule("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def fake_per_tensor_of_tensors_with_mask(
    self: TensorMeta,
    scale: TensorMeta,
    zero_point: TensorMeta,
    fake_quant_enabled: TensorMeta,
    quant_min: int,
    quant_max: int,
) -> tuple[Shape, Shape]:
    enabled = fake_quant_enabled.shape
    check(same_size(numel(enabled), 1), f"fake_quant_enabled {shape_text(enabled)} has more than one element")
    shape = fake_per_tensor_of_tensors(self, scale, zero_point, quant_min, quant_max)
    return shape, shape


@shape_rule("aten.fake_quantize_per_channel_affine")
def fake_per_channel(
    self: TensorMeta, scale: TensorMeta, zero_point: TensorMeta, axis: int, quant_min: int, quant_max: int
) -> Shape:
    check(quant_min <= quant_max, f"quant_min {quant_min} is above quant_max {quant_max}")
    check(0 <= axis < self.ndim, f"axis {axis} is no dimension of {shape_text(self.shape)}")
    for name, values in (("scale", scale), ("zero_point", zero_point)):
        check(
            values.ndim == 1 and same_size(values.shape[0], self.shape[axis]),
            f"{name} does not fit dimension {axis} of {shape_text(self.shape)}",
        )
    return self.shape


@shape_rule("aten.fake_quantize_per_channel_affine_cachemask")
def fake_per_channel_with_mask(
    self: TensorMeta, scale: TensorMeta, zero_point: TensorMeta, axis: int, quant_min: int, quant_max: int
) -> tuple[Shape, Shape]:
    shape = fake_per_channel(self, scale, zero_point, axis, quant_min, quant_max)
    return shape, shape
