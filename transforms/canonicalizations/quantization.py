"""Canonicalizations of quantization: what is made numbers of a scale again, right after it was, is what it was.

| rule | left alone |
|---|---|
| `quantize(dequantize(q))` is `q` | other scales, zero points and dtypes; bounds that the dtype has numbers beyond; integers of more than 16 bits, halves in between, and scales that are not known or extreme, where a rounding may be lost |
| `dequantize(quantize(x))` stays | always: there the program rounds, whatever it is for |

Between them a number `n = q - zero_point` becomes `n * scale * (1 / scale)`, where scale, reciprocal and each product are rounded to
float32: by 4 times 2^-24 of `n` at most, which is less than the half that rounding to the next integer takes, while `n` is below 2^21.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Results, meta
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.transforms.canonicalizations import KEEP, canonicalization
from xdsl_exir.transforms.canonicalizations.pointwise import is_signed
from xdsl_exir.transforms.matching import known, made_by

_PREFIX = "quantized_decomposed."
QUANTIZE = (f"{_PREFIX}quantize_per_tensor", f"{_PREFIX}quantize_per_tensor.tensor")
DEQUANTIZE = (f"{_PREFIX}dequantize_per_tensor", f"{_PREFIX}dequantize_per_tensor.tensor")

SCALES = (2.0**-100, 2.0**100)
"""Of these neither reciprocals nor products with numbers below 2^21 overflow, or are denormal."""
FARTHEST = 1 << 20
"""Zero points up to which numbers of 16 bits are less than 2^21 away."""


def bounds(dtype: DType) -> tuple[int, int]:
    """The least and the largest integer that a dtype holds. (What was quantized between others may be beyond those: a NaN.)"""
    signed = is_signed(dtype)
    return -(1 << (dtype.bits - 1)) if signed else 0, (1 << (dtype.bits - signed)) - 1


@canonicalization(*QUANTIZE)
def quantize(
    aten: Namespace, input: SSAValue, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Results:
    inner = made_by(input, *DEQUANTIZE)
    if inner is None or meta(input).dtype is not dt.Float:
        return KEEP
    given = inner.arguments()
    number, step, point = given["input"], known(scale), known(zero_point)
    if step != known(given["scale"]) or point != known(given["zero_point"]):
        return KEEP
    if not isinstance(step, int | float) or not isinstance(point, int | float):
        return KEEP
    exact = SCALES[0] <= step <= SCALES[1] and abs(point) <= FARTHEST and point == int(point)
    dtype = meta(number).dtype
    if not exact or dtype.category is not Category.INT or dtype.bits > 16:
        return KEEP
    low, high = bounds(dtype)
    return number if quant_min <= low and high <= quant_max else KEEP
