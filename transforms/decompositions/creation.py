"""Decompositions of operators that make tensors from numbers: into `full`, `full_like`, `arange` and `empty`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import pi
from typing import Any, TypeAlias

from xdsl.ir import Attribute, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.promotion import DEFAULT_DTYPE
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import decomposition

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


@decomposition("aten.range.step")
def range_step(
    aten: Namespace, start: Number, end: Number, step: Number, dtype: DType | None, device: str | None
) -> SSAValue:
    if isinstance(start, SSAValue) or isinstance(end, SSAValue) or isinstance(step, SSAValue):
        raise ExirError("aten.range: a bound that the program computes has no decomposition")
    dtype = dtype or DEFAULT_DTYPE
    computed = computed_in(dtype)
    number = int if computed is dt.Long else float
    first, last, each = (number(value.real) for value in (start, end, step))
    index = cast(aten, aten.arange(int((last - first) / each) + 1, device=device), computed)
    return cast(aten, aten.add.Tensor(aten.mul.Tensor(index, each), first), dtype)


def computed_in(dtype: DType) -> DType:
    return dt.Long if dtype.category <= Category.INT else opmath(dtype)


Bound: TypeAlias = complex | SSAValue
"""Where a line begins or ends: a number, or a 0-dim tensor."""

WITH_TENSORS = ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")


def is_complex(bound: Bound) -> bool:
    if isinstance(bound, SSAValue):
        return is_tensor_type(bound.type) and meta(bound).dtype.category is Category.COMPLEX
    return isinstance(bound, complex)


@decomposition("aten.linspace", *(f"aten.linspace.{overload}" for overload in WITH_TENSORS))
def linspace(
    aten: Namespace, start: Bound, end: Bound, steps: int, dtype: DType | None, device: str | None
) -> SSAValue:
    """From both ends to the middle, so that first and last element are exact.

    As in PyTorch's `RangeFactoriesKernel.cpp` the step is rounded to the result's dtype (float64 for
    integers), and in half precision so is each product and sum. Those of float32 are not: where there are
    fused multiply-adds PyTorch's compiler uses them, and a product of float32 is exact in float64.
    """
    dtype = dtype or (dt.ComplexFloat if is_complex(start) or is_complex(end) else DEFAULT_DTYPE)
    if steps == 0:
        return aten.full([0], 0, dtype=dtype, device=device)
    first, last = (bound_of(aten, bound, dtype, device) for bound in (start, end))
    if steps == 1:
        return aten.expand(aten.unsqueeze(first, 0), [1])
    stepped = dt.Double if dtype.category <= Category.INT else dtype
    computed = WIDER.get(stepped, stepped)
    first, last = cast(aten, first, stepped), cast(aten, last, stepped)
    step = cast(aten, aten.div.Tensor(aten.sub.Tensor(last, first), steps - 1), computed)
    first, last = cast(aten, first, computed), cast(aten, last, computed)
    index = aten.arange.start_step(0, steps, device=device)
    rising = aten.add.Tensor(aten.mul.Tensor(cast(aten, index, computed), step), first)
    rest = cast(aten, aten.sub.Tensor(steps - 1, index), computed)
    falling = aten.sub.Tensor(last, aten.mul.Tensor(rest, step))
    return cast(aten, aten.where.self(aten.lt.Scalar(index, steps // 2), rising, falling), dtype)


WIDER: dict[DType, DType] = {dt.Float: dt.Double, dt.ComplexFloat: dt.ComplexDouble}


def bound_of(aten: Namespace, bound: Bound, dtype: DType, device: str | None) -> SSAValue:
    """A bound as a 0-dim tensor of a dtype: integers truncate."""
    if isinstance(bound, SSAValue) and is_tensor_type(bound.type):
        return cast(aten, bound, dtype)
    if isinstance(bound, complex):
        return aten.scalar_tensor(bound, dtype=dtype, device=device)
    if dtype.category <= Category.INT and not isinstance(bound, SSAValue):
        bound = int(bound)
    return aten.scalar_tensor(bound, dtype=dtype, device=device)


@decomposition("aten.logspace", *(f"aten.logspace.{overload}" for overload in WITH_TENSORS))
def logspace(
    aten: Namespace,
    start: Bound,
    end: Bound,
    steps: int,
    base: float,
    dtype: DType | None,
    device: str | None,
) -> SSAValue:
    """Powers of the base to evenly spaced exponents, in double precision; whole bounds for whole results."""
    has_complex = is_complex(start) or is_complex(end)
    dtype = dtype or (dt.ComplexFloat if has_complex else DEFAULT_DTYPE)
    wide = dt.ComplexDouble if has_complex else dt.Double

    def whole(bound: Bound) -> Bound:
        return cast(aten, bound, dtype) if isinstance(bound, SSAValue) else int(bound.real)

    if dtype.category <= Category.INT:
        start, end = whole(start), whole(end)
    kinds = ["Tensor" if isinstance(bound, SSAValue) else "Scalar" for bound in (start, end)]
    linspace = getattr(aten.linspace, "_".join(kinds)) if "Tensor" in kinds else aten.linspace
    return cast(aten, aten.pow.Scalar(base, linspace(start, end, steps, dtype=wide, device=device)), dtype)


# --- selections ----------------------------------------------------------------------------------------------


@decomposition("aten.cartesian_prod")
def cartesian_prod(aten: Namespace, tensors: list[SSAValue]) -> SSAValue:
    if len(tensors) == 1:
        return tensors[0]
    return aten.stack([aten.view(grid, [-1]) for grid in aten.meshgrid(tensors)], 1)


@decomposition("aten.combinations")
def combinations(
    aten: Namespace, self: SSAValue, r: int, with_replacement: bool, out: Sequence[Attribute] | None
) -> SSAValue:
    """Elements at the positions i < j < ..., or i <= j <= ..., among all tuples of r positions."""
    if r == 0:
        return aten.empty.memory_format([0], dtype=meta(self).dtype)
    [size] = sizes(aten, self)
    grids = aten.meshgrid([aten.arange.start_step(0, size)] * r)
    mask = aten.full([size] * r, True, dtype=dt.Bool)
    for before, after in pairwise(grids):
        ordered = aten.le.Tensor(before, after) if with_replacement else aten.lt.Tensor(before, after)
        mask = aten.logical_and(mask, ordered)
    builder = aten.builder
    found = out and [tensor_type(tensor_meta(type).shape, dt.Long) for type in out if is_tensor_type(type)]
    return aten.index.Tensor(self, [builder.build(builder.dialect["aten.nonzero"], {"self": mask}, found)])


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


# --- windows -------------------------------------------------------------------------------------------------


Shape: TypeAlias = Callable[[Namespace, SSAValue, int], SSAValue]


def window(
    aten: Namespace,
    length: int,
    periodic: bool,
    dtype: DType | None,
    device: str | None,
    shape: Shape,
) -> SSAValue:
    """A function of the places 0 to n - 1, and of the last one. A periodic window is one of a place more without its last."""
    dtype = dtype or DEFAULT_DTYPE
    if length <= 1:
        return aten.full([length], 1, dtype=dtype, device=device)
    count = length + 1 if periodic else length
    places = aten.arange.start_step(0, count, dtype=dtype, device=device)
    values = shape(aten, places, count - 1)
    return aten.slice.Tensor(values, 0, 0, length) if periodic else values


def cosine(aten: Namespace, places: SSAValue, turn: float, factor: float) -> SSAValue:
    return aten.mul.Tensor(aten.cos(aten.mul.Tensor(places, turn)), factor)


def hamming(alpha: float, beta: float) -> Shape:
    return lambda aten, places, last: aten.add.Tensor(cosine(aten, places, 2 * pi / last, -beta), alpha)


def blackman(aten: Namespace, places: SSAValue, last: int) -> SSAValue:
    fast, slow = cosine(aten, places, 4 * pi / last, 0.08), cosine(aten, places, 2 * pi / last, 0.5)
    return aten.add.Tensor(aten.sub.Tensor(fast, slow), 0.42)


def bartlett(aten: Namespace, places: SSAValue, last: int) -> SSAValue:
    """A triangle."""
    rising = aten.mul.Tensor(places, 2 / last)
    falling = aten.add.Tensor(aten.mul.Tensor(rising, -1), 2)
    return aten.where.self(aten.le.Scalar(places, last // 2), rising, falling)


def kaiser(beta: float) -> Shape:
    def shape(aten: Namespace, places: SSAValue, last: int) -> SSAValue:
        from_middle = aten.sub.Tensor(aten.mul.Tensor(places, 2 / last), 1)
        arch = aten.sqrt(aten.clamp(aten.rsub.Scalar(aten.square(from_middle), 1), 0))
        peak = aten.i0(aten.full([], beta, dtype=meta(places).dtype))
        return aten.div.Tensor(aten.i0(aten.mul.Tensor(arch, beta)), peak)

    return shape


def register_window(name: str, shape: Shape) -> None:
    """A window by its name, periodic unless it is told otherwise."""

    @decomposition(f"aten.{name}")
    def plain(aten: Namespace, window_length: int, dtype: DType | None, device: str | None) -> SSAValue:
        return window(aten, window_length, True, dtype, device, shape)

    @decomposition(f"aten.{name}.periodic")
    def periodic(
        aten: Namespace, window_length: int, periodic: bool, dtype: DType | None, device: str | None
    ) -> SSAValue:
        return window(aten, window_length, periodic, dtype, device, shape)


register_window("hann_window", hamming(0.5, 0.5))
register_window("hamming_window", hamming(0.54, 0.46))
register_window("blackman_window", blackman)
register_window("bartlett_window", bartlett)
register_window("kaiser_window", kaiser(12.0))


@decomposition("aten.kaiser_window.beta")
def kaiser_window_beta(
    aten: Namespace, window_length: int, periodic: bool, beta: float, dtype: DType | None, device: str | None
) -> SSAValue:
    return window(aten, window_length, periodic, dtype, device, kaiser(beta))


@decomposition("aten.hamming_window.periodic_alpha")
def hamming_window_alpha(
    aten: Namespace, window_length: int, periodic: bool, alpha: float, dtype: DType | None, device: str | None
) -> SSAValue:
    return window(aten, window_length, periodic, dtype, device, hamming(alpha, 0.46))


@decomposition("aten.hamming_window.periodic_alpha_beta")
def hamming_window_alpha_beta(
    aten: Namespace,
    window_length: int,
    periodic: bool,
    alpha: float,
    beta: float,
    dtype: DType | None,
    device: str | None,
) -> SSAValue:
    return window(aten, window_length, periodic, dtype, device, hamming(alpha, beta))
