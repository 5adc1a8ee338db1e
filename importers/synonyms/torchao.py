"""The quantization of `torchao`: numbers in blocks, each block with a scale and a zero point of its own, and float8.

Formulas: `torchao/quantization/quant_primitives.py`. A dimension of a tensor is one block, or each of its elements is one, or it is split into
blocks; what lies in a block of its own is a dimension then, which scales and zero points have with size 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.exchange.graph import Ref, SymMeta, Value
from xdsl_exir.importers.synonyms.calls import Calls, Table
from xdsl_exir.importers.synonyms.quantized import dequantized

TORCHAO = Table("torchao")

_BOUNDS = {dt.Byte: (0, 255), **{of: (-(1 << of.bits - 1), (1 << of.bits - 1) - 1) for of in (dt.Char, dt.Short, dt.Int)}}  # fmt: skip
_LARGEST = {dt.Float8_e4m3fn: 448.0, dt.Float8_e5m2: 57344.0, dt.Float8_e4m3fnuz: 240.0, dt.Float8_e5m2fnuz: 57344.0}  # fmt: skip


class _Blocks:
    """How a tensor lies in blocks: its sizes, those with blocks in dimensions of their own, and which of these lie in a block."""

    def __init__(self, calls: Calls, input: Value, block_size: Sequence[Any]):
        known = calls.meta(input).sizes
        self.sizes = [calls.size(input, dim) for dim in range(len(known))]
        self.counts: list[Any] = []
        self.grouped: list[Any] = []
        self.inside: list[int] = []
        for size, own, block in zip(known, self.sizes, block_size, strict=True):
            if isinstance(block, Ref) and isinstance(said := calls.values.get(block.name), SymMeta):
                block = said.expr
            if block == 1:
                self.counts.append(own)
                self.grouped.append(own)
            elif block == size:
                self.counts.append(1)
                self.inside.append(len(self.grouped))
                self.grouped.append(own)
            elif isinstance(block, int):
                count = size // block if isinstance(size, int) else -1
                self.counts.append(count)
                self.inside.append(len(self.grouped) + 1)
                self.grouped += [count, block]
            else:
                raise calls.unsupported("blocks whose sizes are not known")
        self.of_scales = [1 if dim in self.inside else size for dim, size in enumerate(self.grouped)]


def _shaped(calls: Calls, value: Value, sizes: Sequence[Any]) -> Ref:
    return calls("aten.reshape", self=value, shape=tuple(sizes))


def _bounds(calls: Calls, dtype: Any, low: Value, high: Value) -> tuple[Any, Any]:
    """The bounds of quantized numbers, the dtype's by default."""
    if dtype not in _BOUNDS and dtype not in _LARGEST:
        raise calls.unsupported(f"to {dtype.torch_name}")
    least, most = _BOUNDS.get(dtype) or (-_LARGEST[dtype], _LARGEST[dtype])
    return (least if low is None else low), (most if high is None else high)


@TORCHAO.of("choose_qparams_affine")
def choose_qparams_affine(
    calls: Calls,
    input: Value,
    mapping_type: Any,
    block_size: Any,
    target_dtype: Any,
    quant_min: Any = None,
    quant_max: Any = None,
    eps: Any = None,
    scale_dtype: Any = None,
    zero_point_dtype: Any = None,
    keepdim: Any = False,
) -> tuple[Ref, Ref]:
    least, most = _bounds(calls, target_dtype, quant_min, quant_max)
    own = calls.meta(input).dtype
    blocks = _Blocks(calls, input, block_size)
    grouped = _shaped(calls, input, blocks.grouped)
    low, high = (
        calls("aten.clamp", self=calls(f"aten.{name}", self=grouped, dim=tuple(blocks.inside), keepdim=keepdim), **{side: 0})
        for name, side in (("amin", "max"), ("amax", "min"))
    )  # fmt: skip
    match mapping_type:
        case "SYMMETRIC":
            largest = calls("aten.maximum", self=calls("aten.neg", self=low), other=high)
            scale = calls("aten.div.Scalar", self=largest, other=float(most - least) / 2)
        case "SYMMETRIC_NO_CLIPPING_ERR":
            ends = [calls("aten.div.Scalar", self=end, other=float(of)) for end, of in ((low, least), (high, most))]  # fmt: skip
            scale = calls("aten.maximum", self=ends[0], other=ends[1])
        case "ASYMMETRIC":
            width = calls("aten.sub.Tensor", self=high, other=low)
            scale = calls("aten.div.Scalar", self=width, other=float(most - least))
        case _:
            raise calls.unsupported(f"of mapping {mapping_type!r}")
    scale = calls("aten.clamp", self=scale, min=_smallest_normal(own) if eps is None else eps)
    if mapping_type == "ASYMMETRIC":
        steps = calls("aten.round", self=calls("aten.div.Tensor", self=low, other=scale))
        point = calls("aten.clamp", self=calls("aten.rsub.Scalar", self=steps, other=least), min=least, max=most)  # fmt: skip
    else:
        point = calls("aten.full_like", self=scale, fill_value=int((most + least + 1) / 2))
    if keepdim:
        scale, point = (_shaped(calls, each, blocks.counts) for each in (scale, point))
    # PyTorch casts a zero point of a dtype that is not said only where it is computed.
    point_dtype = zero_point_dtype or (dt.Int if mapping_type == "ASYMMETRIC" else own)
    return calls.cast(scale, scale_dtype or own), calls.cast(point, point_dtype)


def _smallest_normal(dtype: dt.DType) -> float:
    """2**-14 of float16, 2**-126 of bfloat16 and float32."""
    return float(np.finfo(np.float16 if dtype is dt.Half else np.float32).smallest_normal)


@TORCHAO.of("quantize_affine")
def quantize_affine(
    calls: Calls,
    input: Value,
    block_size: Any,
    scale: Value,
    zero_point: Value,
    output_dtype: Any,
    quant_min: Any = None,
    quant_max: Any = None,
) -> Ref:
    least, most = _bounds(calls, output_dtype, quant_min, quant_max)
    blocks = _Blocks(calls, input, block_size)
    reciprocal = calls("aten.reciprocal", self=_shaped(calls, scale, blocks.of_scales))
    scaled = calls("aten.mul.Tensor", self=_shaped(calls, input, blocks.grouped), other=reciprocal)
    number = calls(
        "aten.add.Tensor",
        self=calls("aten.round", self=scaled),
        other=_shaped(calls, zero_point, blocks.of_scales),
    )
    bounded = calls("aten.clamp", self=number, min=least, max=most)
    return calls.cast(_shaped(calls, bounded, blocks.sizes), output_dtype)


@TORCHAO.of("dequantize_affine")
def dequantize_affine(
    calls: Calls,
    input: Value,
    block_size: Any,
    scale: Value,
    zero_point: Value,
    input_dtype: Any,
    quant_min: Any = None,
    quant_max: Any = None,
    output_dtype: Any = dt.Float,
) -> Ref:
    blocks = _Blocks(calls, input, block_size)
    number = calls.cast(_shaped(calls, input, blocks.grouped), output_dtype)
    point = (
        None if zero_point is None else calls.cast(_shaped(calls, zero_point, blocks.of_scales), output_dtype)
    )
    number = dequantized(calls, number, _shaped(calls, scale, blocks.of_scales), point)
    return calls.cast(_shaped(calls, number, blocks.sizes), output_dtype)


@TORCHAO.of("choose_scale_float8")
def choose_scale_float8(
    calls: Calls,
    tensor: Value,
    block_size: Any,
    float8_dtype: Any = dt.Float8_e4m3fn,
    scale_dtype: Any = dt.Float,
    hp_value_lb: Any = None,
    hp_value_ub: Any = None,
) -> Ref:
    if scale_dtype is not dt.Float:
        raise calls.unsupported(f"scales of {scale_dtype.torch_name}")
    blocks = _Blocks(calls, tensor, block_size)
    sizes = calls("aten.abs", self=_shaped(calls, tensor, blocks.grouped))
    largest = calls("aten.amax", self=sizes, dim=tuple(blocks.inside), keepdim=True)
    if hp_value_lb is not None or hp_value_ub is not None:
        largest = calls("aten.clamp", self=largest, min=hp_value_lb, max=hp_value_ub)
    scale = calls("aten.div.Scalar", self=largest, other=_LARGEST[float8_dtype])
    return calls.cast(_shaped(calls, scale, blocks.counts), dt.Float)


def _by_scales(calls: Calls, operator: str, tensor: Value, scale: Value) -> Ref:
    """Tensors in float32, by scales that have one number, or one for each element or slice."""
    sizes, of_scales = calls.meta(tensor).sizes, calls.meta(scale).sizes
    if any(size not in (1, whole) for size, whole in zip(reversed(of_scales), reversed(sizes), strict=False)):
        raise calls.unsupported("scales of blocks within a dimension")
    return calls(operator, self=calls.cast(tensor, dt.Float), other=scale)


@TORCHAO.of("quantize_affine_float8", "quantize_affine_float8_non_decomposed")
def quantize_affine_float8(
    calls: Calls, tensor: Value, scale: Value, float8_dtype: Any = dt.Float8_e4m3fn
) -> Ref:
    most = _LARGEST[float8_dtype]
    scaled = _by_scales(calls, "aten.div.Tensor", tensor, scale)
    return calls.cast(calls("aten.clamp", self=scaled, min=-most, max=most), float8_dtype)


@TORCHAO.of("dequantize_affine_float8", "dequantize_affine_float8_non_decomposed")
def dequantize_affine_float8(calls: Calls, tensor: Value, scale: Value, output_dtype: Any = dt.Float) -> Ref:
    return calls.cast(_by_scales(calls, "aten.mul.Tensor", tensor, scale), output_dtype)
