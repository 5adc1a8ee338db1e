"""The rest of `quantized_decomposed`: by tokens and by groups, and what ExecuTorch fuses of that library.

Formulas: `torch/ao/quantization/fx/_decomposed.py`, and the schemas that ExecuTorch adds. Types of the IR are those of the
operators that quantize whole tensors and channels; backends see these.
"""

from __future__ import annotations

from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.exchange.graph import Ref, Value
from xdsl_exir.importers.synonyms.calls import Calls, Table

QUANTIZED = Table("quantized_decomposed")
QUANTIZED.renamed("convert_element_type.no_fuse", "aten._to_copy", "input=self dtype")


def _quantized(calls: Calls, input: Value, scales: Value, zero_points: Value, low: Value, high: Value) -> Ref:
    scaled = calls("aten.mul.Tensor", self=input, other=calls("aten.reciprocal", self=scales))
    rounded = calls("aten.round", self=calls("aten.add.Tensor", self=scaled, other=zero_points))
    return calls("aten.clamp", self=rounded, min=low, max=high)


def dequantized(calls: Calls, input: Value, scales: Value, zero_points: Value) -> Ref:
    """The numbers that quantized ones stand for."""
    if zero_points is None:
        return calls("aten.mul.Tensor", self=input, other=scales)
    return calls(
        "aten.mul.Tensor", self=calls("aten.sub.Tensor", self=input, other=zero_points), other=scales
    )


@QUANTIZED.of("quantize_per_tensor.tensor2")
def quantize_per_tensor(
    calls: Calls,
    input: Value,
    scale: Value,
    zero_point: Value,
    quant_min: Value,
    quant_max: Value,
    dtype: Any,
) -> Ref:
    """With all that there is to say in tensors of one element."""
    scale, zero_point, low, high = (
        _scalar(calls, each) for each in (scale, zero_point, quant_min, quant_max)
    )
    scaled = calls(
        "aten.mul.Tensor", self=input, other=calls("aten.reciprocal", self=calls.cast(scale, dt.Float))
    )
    moved = calls("aten.add.Tensor", self=calls("aten.round", self=scaled), other=zero_point)
    return calls.cast(calls("aten.clamp.Tensor", self=moved, min=low, max=high), dtype)


@QUANTIZED.of("dequantize_per_tensor.tensor2")
def dequantize_per_tensor(
    calls: Calls,
    input: Value,
    scale: Value,
    zero_point: Value,
    quant_min: Value,
    quant_max: Value,
    dtype: Value,
    *,
    out_dtype: Any = None,
) -> Ref:
    numbers = calls.cast(input, dt.Float)
    made = dequantized(calls, numbers, _scalar(calls, scale), _scalar(calls, zero_point))
    return calls.cast(made, out_dtype or dt.Float)


def _scalar(calls: Calls, value: Value) -> Ref:
    return calls("aten.reshape", self=value, shape=())


@QUANTIZED.of("fake_quant_per_channel")
def fake_quant_per_channel(
    calls: Calls,
    input: Value,
    scales: Value,
    zero_points: Value,
    axis: Value,
    quant_min: Value,
    quant_max: Value,
) -> Ref:
    return calls(
        "aten.fake_quantize_per_channel_affine",
        self=input,
        scale=calls.cast(scales, dt.Float),
        zero_point=calls.cast(zero_points, dt.Int),
        axis=axis,
        quant_min=quant_min,
        quant_max=quant_max,
    )


@QUANTIZED.of("choose_qparams_symmetric.tensor")
def choose_qparams_symmetric(
    calls: Calls, input: Value, quant_min: int, quant_max: int, eps: float, dtype: Any
) -> tuple[Ref, Ref]:
    """`determine_qparams` of `torch/ao/quantization/utils.py` with a symmetric scheme."""
    largest = calls("aten.amax", self=calls("aten.abs", self=input), dim=())
    scale = calls("aten.div.Scalar", self=largest, other=float(quant_max - quant_min) / 2)
    scale = calls(
        "aten.reshape", self=calls("aten.clamp", self=calls.cast(scale, dt.Float), min=eps), shape=(1,)
    )
    point = calls("aten.full", size=(1,), fill_value=128 if dtype is dt.Byte else 0, dtype=dt.Long)
    return calls.cast(scale, dt.Double), point


@QUANTIZED.of("quantize_per_token")
def quantize_per_token(
    calls: Calls,
    input: Value,
    scales: Value,
    zero_points: Value,
    quant_min: Value,
    quant_max: Value,
    dtype: Any,
) -> Ref:
    return calls.cast(_quantized(calls, input, scales, zero_points, quant_min, quant_max), dtype)


@QUANTIZED.of("dequantize_per_token")
def dequantize_per_token(
    calls: Calls,
    input: Value,
    scales: Value,
    zero_points: Value,
    quant_min: Value,
    quant_max: Value,
    dtype: Any,
    output_dtype: Any = dt.Float,
) -> Ref:
    return calls.cast(dequantized(calls, input, scales, zero_points), output_dtype)


@QUANTIZED.of("choose_qparams_per_token")
def choose_qparams_per_token(calls: Calls, input: Value, dtype: Any) -> tuple[Ref, ...]:
    if dtype is not dt.Char:
        raise calls.unsupported(f"to {dtype.torch_name}")
    largest = calls("aten.amax", self=calls("aten.abs", self=input), dim=(-1,), keepdim=True)
    if calls.meta(input).dtype is dt.Half:
        largest = calls.cast(largest, dt.Float)
    scales = calls("aten.div.Scalar", self=calls("aten.clamp", self=largest, min=1e-5), other=127)
    # PyTorch traces other dtypes than its kernel gives, and the program goes on with those.
    points = calls("aten.zeros_like", self=scales)
    return tuple(
        calls.cast(made, traced) if traced else made
        for made, traced in zip((scales, points), (*calls.dtypes, None, None), strict=False)
    )


@QUANTIZED.of("choose_qparams_per_token_asymmetric", "_choose_qparams_per_token_asymmetric_impl")
def choose_qparams_per_token_asymmetric(calls: Calls, input: Value, dtype: Any) -> tuple[Ref, Ref]:
    low, high = (
        calls("aten.clamp", self=calls(f"aten.{name}", self=input, dim=(-1,), keepdim=True), **{side: 0})
        for name, side in (("amin", "max"), ("amax", "min"))
    )
    width = calls("aten.div.Scalar", self=calls("aten.sub.Tensor", self=high, other=low), other=255.0)
    scale = calls("aten.clamp", self=width, min=2.0**-23)
    low, high = (calls("aten.div.Tensor", self=end, other=scale) for end in (low, high))
    errors = [calls("aten.add.Scalar", self=end, other=at) for end, at in ((low, -128), (high, 127))]
    error = calls("aten.add.Tensor", self=errors[0], other=errors[1])
    points = [calls("aten.rsub.Scalar", self=end, other=at) for end, at in ((low, -128), (high, 127))]
    is_above = calls("aten.gt.Scalar", self=error, other=0)
    point = calls("aten.where.self", condition=is_above, self=points[0], other=points[1])
    point = calls("aten.round", self=calls("aten.clamp", self=point, min=-128, max=127))
    return calls.cast(scale, dt.Double), calls.cast(point, dt.Long)


def _groups(calls: Calls, input: Value, of: Value, group_size: Any) -> tuple[Any, int]:
    """How the rows of a matrix are in groups of elements, and how many of these a group has; one that is larger than a row is the row."""
    sizes = calls.meta(input).sizes
    if len(sizes) != 2 or not all(isinstance(size, int) for size in sizes):
        raise calls.unsupported("groups of what is no matrix of known sizes")
    rows, columns = sizes
    if group_size > columns and calls.meta(of).sizes[-1] == 1:
        group_size = columns
    return (rows, columns), group_size


def _column(calls: Calls, value: Value) -> Ref:
    return calls("aten.reshape", self=value, shape=(-1, 1))


@QUANTIZED.of("quantize_per_channel_group")
def quantize_per_channel_group(
    calls: Calls,
    input: Value,
    scales: Value,
    zero_points: Value,
    quant_min: Value,
    quant_max: Value,
    dtype: Any,
    group_size: int = 128,
) -> Ref:
    sizes, group_size = _groups(calls, input, scales, group_size)
    grouped = calls("aten.reshape", self=input, shape=(-1, group_size))
    scale, point = _column(calls, scales), _column(calls, zero_points)
    made = _quantized(calls, grouped, scale, point, quant_min, quant_max)
    return calls("aten.reshape", self=calls.cast(made, dtype), shape=sizes)


@QUANTIZED.of("dequantize_per_channel_group")
def dequantize_per_channel_group(
    calls: Calls,
    input: Value,
    scales: Value,
    zero_points: Value,
    quant_min: Value,
    quant_max: Value,
    dtype: Any,
    group_size: int = 128,
    output_dtype: Any = dt.Float,
) -> Ref:
    sizes, group_size = _groups(calls, input, scales, group_size)
    return _of_groups(calls, input, scales, zero_points, sizes, group_size, output_dtype)


def _of_groups(
    calls: Calls, weight: Value, scales: Value, zero_points: Value, sizes: Any, group_size: int, dtype: Any
) -> Ref:
    grouped = calls("aten.reshape", self=weight, shape=(-1, group_size))
    points = None if zero_points is None else _column(calls, zero_points)
    numbers = dequantized(calls, grouped, _column(calls, scales), points)
    return calls.cast(calls("aten.reshape", self=numbers, shape=sizes), dtype)


@QUANTIZED.of(
    *(f"embedding_{bits}{overload}" for bits in ("byte", "4bit", "2bit") for overload in ("", ".dtype"))
)
def embedding(
    calls: Calls,
    weight: Any,
    weight_scales: Value,
    weight_zero_points: Value,
    weight_quant_min: Value,
    weight_quant_max: Value,
    indices: Value,
    dtype: Any = None,
) -> Ref:
    """Rows of a table of bytes; of smaller numbers, several are in a byte: two with the first above, or four with the first below."""
    shifts = next(
        (shifts for bits, shifts in (("4bit", (4, 0)), ("2bit", (0, 2, 4, 6))) if bits in calls.node.target),
        (),
    )
    (rows, columns), scales = calls.meta(weight).sizes, calls.meta(weight_scales)
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise calls.unsupported("a table of unknown sizes")
    if shifts:
        bits = 8 // len(shifts)
        parts = [
            calls(
                "aten.bitwise_and.Scalar",
                self=calls("aten.bitwise_right_shift.Tensor_Scalar", self=weight, other=shift),
                other=(1 << bits) - 1,
            )
            for shift in shifts
        ]
        columns *= len(shifts)
        numbers = calls(
            "aten.reshape", self=calls("aten.stack", tensors=tuple(parts), dim=-1), shape=(rows, columns)
        )
        weight = calls("aten.sub.Scalar", self=calls.cast(numbers, dt.Char), other=1 << (bits - 1))
    groups = scales.sizes[1] if len(scales.sizes) == 2 else 1
    assert isinstance(groups, int)
    table = _of_groups(
        calls,
        weight,
        weight_scales,
        weight_zero_points,
        (rows, columns),
        columns // groups,
        dtype or scales.dtype,
    )
    return calls("aten.embedding", weight=table, indices=indices)


@QUANTIZED.of("add", "add_relu")
def add(
    calls: Calls,
    a: Value,
    a_scale: Value,
    a_zero_point: Value,
    a_quant_min: Value,
    a_quant_max: Value,
    b: Value,
    b_scale: Value,
    b_zero_point: Value,
    b_quant_min: Value,
    b_quant_max: Value,
    out_scale: Value,
    out_zero_point: Value,
    out_quant_min: Value,
    out_quant_max: Value,
) -> Ref:
    left = _of_tensor(calls, a, a_scale, a_zero_point, a_quant_min, a_quant_max)
    right = _of_tensor(calls, b, b_scale, b_zero_point, b_quant_min, b_quant_max)
    total = calls("aten.add.Tensor", self=left, other=right)
    if calls.node.target.endswith("relu"):
        total = calls("aten.relu", self=total)
    return _as_tensor(
        calls, total, out_scale, out_zero_point, out_quant_min, out_quant_max, calls.meta(a).dtype
    )


@QUANTIZED.of("add.scalar")
def add_scalar(
    calls: Calls,
    qa: Value,
    a_scale: Value,
    a_zero_point: Value,
    a_quant_min: Value,
    a_quant_max: Value,
    a_dtype: Value,
    b: Value,
    out_scale: Value,
    out_zero_point: Value,
    out_quant_min: Value,
    out_quant_max: Value,
    out_dtype: Value,
) -> Ref:
    number = _of_tensor(calls, qa, a_scale, a_zero_point, a_quant_min, a_quant_max)
    total = calls("aten.add.Scalar", self=number, other=b)
    return _as_tensor(calls, total, out_scale, out_zero_point, out_quant_min, out_quant_max, out_dtype)


def _of_tensor(calls: Calls, input: Value, scale: Value, zero_point: Value, low: Value, high: Value) -> Ref:
    return calls(
        "quantized_decomposed.dequantize_per_tensor",
        input=input,
        scale=scale,
        zero_point=zero_point,
        quant_min=low,
        quant_max=high,
        dtype=calls.meta(input).dtype,
    )


def _as_tensor(
    calls: Calls, input: Value, scale: Value, zero_point: Value, low: Value, high: Value, dtype: Value
) -> Ref:
    return calls(
        "quantized_decomposed.quantize_per_tensor",
        input=input,
        scale=scale,
        zero_point=zero_point,
        quant_min=low,
        quant_max=high,
        dtype=dtype,
    )
