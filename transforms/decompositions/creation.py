"""Decompositions of operators that make tensors from numbers: into `full`, `full_like`, `arange` and `empty`."""

from __future__ import annotations

from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import DEFAULT_DTYPE
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.builder import Namespace, meta, sizes
from xdsl_exir.transforms.decompositions import decomposition

Size: TypeAlias = int | SSAValue
Number: TypeAlias = complex | SSAValue


def number(value: int, dtype: DType) -> int | bool:
    """A fill value as PyTorch writes it for a dtype."""
    return bool(value) if dtype is dt.Bool else value


# --- constant tensors ----------------------------------------------------------------------------------------


@decomposition("aten.zeros")
def zeros(aten: Namespace, size: list[Size], dtype: DType | None, device: str | None) -> SSAValue:
    dtype = dtype or DEFAULT_DTYPE
    return aten.full(size, number(0, dtype), dtype=dtype, device=device)


@decomposition("aten.ones")
def ones(aten: Namespace, size: list[Size], dtype: DType | None, device: str | None) -> SSAValue:
    dtype = dtype or DEFAULT_DTYPE
    return aten.full(size, number(1, dtype), dtype=dtype, device=device)


@decomposition("aten.zeros_like")
def zeros_like(
    aten: Namespace, self: SSAValue, dtype: DType | None, device: str | None, memory_format: str | None
) -> SSAValue:
    value = number(0, dtype or meta(self).dtype)
    return aten.full_like(self, value, dtype=dtype, device=device, memory_format=memory_format)


@decomposition("aten.ones_like")
def ones_like(
    aten: Namespace, self: SSAValue, dtype: DType | None, device: str | None, memory_format: str | None
) -> SSAValue:
    value = number(1, dtype or meta(self).dtype)
    return aten.full_like(self, value, dtype=dtype, device=device, memory_format=memory_format)


@decomposition("aten.new_full")
def new_full(
    aten: Namespace,
    self: SSAValue,
    size: list[Size],
    fill_value: Number,
    dtype: DType | None,
    device: str | None,
) -> SSAValue:
    like = meta(self)
    return aten.full(size, fill_value, dtype=dtype or like.dtype, device=device or like.device)


@decomposition("aten.new_zeros")
def new_zeros(
    aten: Namespace, self: SSAValue, size: list[Size], dtype: DType | None, device: str | None
) -> SSAValue:
    value = number(0, dtype or meta(self).dtype)
    return aten.new_full(self, size, value, dtype=dtype, device=device)


@decomposition("aten.new_ones")
def new_ones(
    aten: Namespace, self: SSAValue, size: list[Size], dtype: DType | None, device: str | None
) -> SSAValue:
    value = number(1, dtype or meta(self).dtype)
    return aten.new_full(self, size, value, dtype=dtype, device=device)


@decomposition("aten.new_empty")
def new_empty(
    aten: Namespace, self: SSAValue, size: list[Size], dtype: DType | None, device: str | None
) -> SSAValue:
    like = meta(self)
    return aten.empty.memory_format(size, dtype=dtype or like.dtype, device=device or like.device)


@decomposition("aten.new_empty_strided")
def new_empty_strided(
    aten: Namespace,
    self: SSAValue,
    size: list[Size],
    stride: list[Size],
    dtype: DType | None,
    device: str | None,
) -> SSAValue:
    like = meta(self)
    return aten.empty_strided(size, stride, dtype=dtype or like.dtype, device=device or like.device)


@decomposition("aten.empty_like")
def empty_like(aten: Namespace, self: SSAValue, dtype: DType | None, device: str | None) -> SSAValue:
    like = meta(self)
    order = list(like.dim_order or range(like.ndim))
    return aten.empty_permuted(
        sizes(aten, self), order, dtype=dtype or like.dtype, device=device or like.device
    )


# --- ranges --------------------------------------------------------------------------------------------------


@decomposition("aten.arange")
def arange(aten: Namespace, end: Number, dtype: DType | None, device: str | None) -> SSAValue:
    return aten.arange.start_step(0, end, dtype=dtype, device=device)


@decomposition("aten.arange.start")
def arange_start(
    aten: Namespace, start: Number, end: Number, dtype: DType | None, device: str | None
) -> SSAValue:
    return aten.arange.start_step(start, end, dtype=dtype, device=device)


@decomposition("aten.linspace")
def linspace(
    aten: Namespace, start: Number, end: Number, steps: int, dtype: DType | None, device: str | None
) -> SSAValue:
    """From both ends to the middle, so that first and last element are exact."""
    if isinstance(start, SSAValue) or isinstance(end, SSAValue):
        raise ExirError("aten.linspace: a bound that the program computes has no decomposition")
    dtype = dtype or (dt.ComplexFloat if isinstance(start + end, complex) else DEFAULT_DTYPE)
    if steps <= 1:
        return aten.full([steps], start if steps else 0, dtype=dtype, device=device)
    computed = dt.Float if dtype in (dt.Half, dt.BFloat16) else dtype
    computed = dt.Long if dtype.category <= Category.INT else computed

    def cast(value: SSAValue, to: DType) -> SSAValue:
        return value if meta(value).dtype is to else aten._to_copy(value, dtype=to)

    step = (end - start) / (steps - 1)
    index = aten.arange.start_step(0, steps, device=device)
    rising = aten.add.Tensor(aten.mul.Tensor(cast(index, computed), step), start)
    rest = cast(aten.sub.Tensor(steps - 1, index), computed)
    falling = aten.sub.Tensor(end, aten.mul.Tensor(rest, step))
    return cast(aten.where.self(aten.lt.Scalar(index, steps / 2), rising, falling), dtype)


@decomposition("aten.eye")
def eye(aten: Namespace, n: Size, dtype: DType | None, device: str | None) -> SSAValue:
    return eye_m(aten, n, n, dtype, device)


@decomposition("aten.eye.m")
def eye_m(aten: Namespace, n: Size, m: Size, dtype: DType | None, device: str | None) -> SSAValue:
    options: dict[str, Any] = {"dtype": index_dtype(n, m), "device": device}
    rows = aten.arange.start_step(0, n, **options)
    columns = aten.arange.start_step(0, m, **options)
    equal = aten.eq.Tensor(aten.unsqueeze(rows, -1), columns)
    return equal if dtype is dt.Bool else aten._to_copy(equal, dtype=dtype or DEFAULT_DTYPE)


def index_dtype(*lengths: Size) -> DType:
    """A short dtype for positions within these lengths."""
    return dt.Byte if all(isinstance(length, int) and length < 256 for length in lengths) else dt.Long
