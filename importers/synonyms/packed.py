"""Products with weights of `aten` that are packed: bytes, and four bits in the layout of PyTorch's portable kernel.

Formulas: `aten/src/ATen/native/cpu/int8mm_kernel.cpp` and `int4mm_kernel.cpp` (`ref_dyn_quant_matmul_4bit_*_kernel`).
"""

from __future__ import annotations

import math

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.exchange.graph import Ref, Value
from xdsl_exir.importers.synonyms.calls import Calls, Table

PACKED = Table("aten")


@PACKED.of("_weight_int8pack_mm")
def weight_int8pack_mm(calls: Calls, self: Value, mat2: Value, scales: Value) -> Ref:
    """Rows times rows of bytes, which a scale each makes numbers; sums in float32."""
    rows = calls("aten.t", self=calls.cast(mat2, dt.Float))
    product = calls("aten.mm", self=calls.cast(self, dt.Float), mat2=rows)
    return calls.cast(
        calls("aten.mul.Tensor", self=product, other=calls.cast(scales, dt.Float)), calls.meta(self).dtype
    )


@PACKED.of(
    "_weight_int4pack_mm_for_cpu",
    "_convert_weight_to_int4pack_for_cpu",
    "_weight_int4pack_mm",
    "_convert_weight_to_int4pack",
)
def packed_int4(calls: Calls, *arguments: Value, **named: Value) -> Ref:
    """How many rows of a weight are in a block differs between AVX2 and AVX-512 (`ATen/native/cpu/int4mm_kernel.cpp`)."""
    raise calls.unsupported(
        "weights in the layout of the processor that packed them, which a program does not name"
    )


_OF_ARM = "four bits in the layout of KleidiAI, which ARM's processors have"


@PACKED.of("_dyn_quant_pack_4bit_weight")
def dyn_quant_pack_4bit_weight(
    calls: Calls,
    weights: Value,
    scales_zeros: Value,
    bias: Value,
    block_size: int,
    in_features: int,
    out_features: int,
) -> Ref:
    """Bytes of two numbers each, their scales, and a bias, one after another as float32."""
    if dt.Byte in calls.dtypes:
        raise calls.unsupported(_OF_ARM)
    parts = (each for each in (weights, scales_zeros, bias) if each is not None)
    flat = (calls("aten.reshape", self=calls.cast(part, dt.Float), shape=(-1,)) for part in parts)
    return calls("aten.cat", tensors=tuple(flat), dim=0)


@PACKED.of("_dyn_quant_matmul_4bit")
def dyn_quant_matmul_4bit(
    calls: Calls, inp: Value, packed_weights: Value, block_size: int, in_features: int, out_features: int
) -> Ref:
    """Rows, each rounded to bytes by a scale of its own, times rows of four bits, the first of two in a byte below."""
    if calls.meta(packed_weights).dtype is not dt.Float:
        raise calls.unsupported(_OF_ARM)
    blocks = in_features // block_size

    def part(start: int, *shape: int) -> Ref:
        end = start + math.prod(shape)
        cut = calls("aten.slice.Tensor", self=packed_weights, dim=0, start=start, end=end)
        return calls("aten.reshape", self=cut, shape=shape)

    after, rows = out_features * in_features // 2, (out_features, blocks, block_size)
    held = calls.cast(part(0, out_features, in_features // 2), dt.Byte)
    halves = (
        calls("aten.bitwise_and.Scalar", self=held, other=15),
        calls("aten.bitwise_right_shift.Tensor_Scalar", self=held, other=4),
    )
    numbers = calls.cast(calls("aten.stack", tensors=halves, dim=-1), dt.Float)
    numbers = calls("aten.sub.Scalar", self=calls("aten.reshape", self=numbers, shape=rows), other=8)
    weight = calls("aten.mul.Tensor", self=numbers, other=part(after, out_features, blocks, 1))
    weight = calls("aten.reshape", self=weight, shape=(out_features, in_features))
    product = calls("aten.mm", self=_rounded_rows(calls, inp), mat2=calls("aten.t", self=weight))
    after += out_features * blocks
    if calls.fixed(packed_weights, [0]) == [after]:
        return product
    return calls("aten.add.Tensor", self=product, other=part(after, out_features))


def _rounded_rows(calls: Calls, rows: Value) -> Ref:
    """What is left of each row as bytes, of which one is zero."""
    low, high = (
        calls("aten.clamp", self=calls(f"aten.{name}", self=rows, dim=(-1,), keepdim=True), **{side: 0})
        for name, side in (("amin", "max"), ("amax", "min"))
    )
    width = calls("aten.sub.Tensor", self=high, other=low)
    scale = calls("aten.mul.Scalar", self=calls("aten.reciprocal", self=width), other=255)
    scale = calls(
        "aten.masked_fill.Scalar", self=scale, mask=calls("aten.eq.Scalar", self=width, other=0), value=1
    )
    ends = [calls("aten.mul.Tensor", self=end, other=scale) for end in (low, high)]
    errors = [calls("aten.add.Scalar", self=end, other=of) for end, of in zip(ends, (-128, 127), strict=True)]
    points = [
        calls("aten.rsub.Scalar", self=end, other=of) for end, of in zip(ends, (-128, 127), strict=True)
    ]
    is_above = calls(
        "aten.gt.Scalar", self=calls("aten.add.Tensor", self=errors[0], other=errors[1]), other=0
    )
    point = calls("aten.where.self", condition=is_above, self=points[0], other=points[1])
    point = calls("aten.round", self=calls("aten.clamp", self=point, min=-128, max=127))
    scaled = calls("aten.mul.Tensor", self=rows, other=scale)
    moved = calls("aten.add.Tensor", self=calls("aten.round", self=scaled), other=point)
    number = calls("aten.sub.Tensor", self=calls("aten.clamp", self=moved, min=-128, max=127), other=point)
    return calls("aten.div.Tensor", self=number, other=scale)
