"""Shape rules of operators that make tensors from numbers: results have the sizes that are asked for.

`arange`'s length follows from its numbers, and is symbolic where one of them is.
"""

from __future__ import annotations

from math import ceil
from typing import TypeAlias

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import Dim, Expr, apply
from xdsl_exir.dialects.meta import Shape, check, check_order, numel, shape_rule
from xdsl_exir.dialects.shapes.view import PartialShape, Size, is_negative, only_sizes
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta

Number: TypeAlias = float | Expr | NumberMeta
"""A `Scalar` argument; `NumberMeta` is one that the program computes and no expression tells."""


@shape_rule(
    "aten.full", "aten.zeros", "aten.ones", "aten.empty.memory_format",
    "aten.new_zeros", "aten.new_ones", "aten.new_full", "aten.new_empty",
)  # fmt: skip
def sized(size: list[Size]) -> PartialShape:
    return only_sizes(size)


@shape_rule("aten.full_like", "aten.zeros_like", "aten.ones_like", "aten.empty_like")
def like(self: TensorMeta) -> Shape:
    return self.shape


@shape_rule("aten.empty_strided", "aten.new_empty_strided")
def empty_strided(size: list[Size], stride: list[Size]) -> PartialShape:
    check(len(size) == len(stride), f"{len(size)} sizes and {len(stride)} strides")
    only_sizes(stride)
    return only_sizes(size)


@shape_rule("aten.empty_permuted")
def empty_permuted(size: list[Size], physical_layout: list[int]) -> PartialShape:
    check_order(physical_layout, len(size), "physical_layout")
    return only_sizes(size)


@shape_rule("aten.scalar_tensor")
def scalar_tensor() -> Shape:
    return ()


@shape_rule("aten.eye")
def eye(n: Size) -> PartialShape:
    return only_sizes([n, n])


@shape_rule("aten.eye.m")
def eye_m(n: Size, m: Size) -> PartialShape:
    return only_sizes([n, m])


@shape_rule("aten.linspace", "aten.logspace")
def linspace(steps: int) -> Shape:
    check(steps >= 0, f"steps is {steps}; it must not be negative")
    return (steps,)


@shape_rule(*(f"aten.{name}.Tensor_Tensor" for name in ("linspace", "logspace")))
@shape_rule(*(f"aten.{name}.Tensor_Scalar" for name in ("linspace", "logspace")))
@shape_rule(*(f"aten.{name}.Scalar_Tensor" for name in ("linspace", "logspace")))
def linspace_between(start: Number | TensorMeta, end: Number | TensorMeta, steps: int) -> Shape:
    for bound in (start, end):
        check(not isinstance(bound, TensorMeta) or bound.ndim == 0, "start and end must be 0-dimensional")
    return linspace(steps)


WINDOWS = ("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")


@shape_rule(*(f"aten.{name}{overload}" for name in WINDOWS for overload in ("", ".periodic")))
@shape_rule(
    "aten.hamming_window.periodic_alpha", "aten.hamming_window.periodic_alpha_beta", "aten.kaiser_window.beta"
)
def window(window_length: int) -> Shape:
    check(window_length >= 0, f"window_length is {window_length}; it must not be negative")
    return (window_length,)


# --- arange --------------------------------------------------------------------------------------------------


def is_integral(number: Number) -> bool:
    """Whether a number is a bool or an integer."""
    match number:
        case Expr():
            return number.kind != "float"
        case NumberMeta():
            return number.dtype.category <= Category.INT
        case _:
            return isinstance(number, int)


def arange_length(start: float, end: float, step: float, integral: bool) -> int:
    """How many numbers `arange` gives; in exact arithmetic for int64 results, else in float64, as PyTorch computes."""
    if integral:
        return -((int(start) - int(end)) // int(step))
    return ceil((end - start) / step)


def arange_shape(start: Number, end: Number, step: Number, dtype: DType | None) -> PartialShape:
    integral = dtype is dt.Long or (dtype is None and all(map(is_integral, (start, end, step))))
    if isinstance(step, int | float):
        check((int(step) if integral else step) != 0, "step is zero")
    if isinstance(start, NumberMeta) or isinstance(end, NumberMeta) or isinstance(step, NumberMeta):
        return (None,)
    if isinstance(start, Expr) or isinstance(end, Expr) or isinstance(step, Expr):
        return (_symbolic_length(start, end, step, integral),)
    finite = all(abs(number) < float("inf") for number in (start, end, step))
    check(finite, f"range from {start} to {end} by {step} has no end")
    check((end - start) * step >= 0, f"step {step} leads from {start} away from {end}")
    return (arange_length(start, end, step, integral),)


def _symbolic_length(
    start: float | Expr, end: float | Expr, step: float | Expr, integral: bool
) -> Dim | None:
    """Floats that are whole numbers count as these, which gives the same length; others are cut off where the result is int64."""
    start, end, step = map(_whole, (start, end, step))
    distance = apply("sub", end, start)
    if is_integral(start) and is_integral(end) and is_integral(step):
        length = apply("ceildiv", distance, step)
    elif integral:
        return None
    else:
        length = apply("ceil_to_int", apply("truediv", distance, step))
    check(is_negative(length) is not True, f"step {step} leads from {start} away from {end}")
    return length


def _whole(number: float | Expr) -> float | Expr:
    return int(number) if isinstance(number, float) and number.is_integer() else number


@shape_rule("aten.arange")
def arange(end: Number, dtype: DType | None) -> PartialShape:
    return arange_shape(0, end, 1, dtype)


@shape_rule("aten.arange.start")
def arange_start(start: Number, end: Number, dtype: DType | None) -> PartialShape:
    return arange_shape(start, end, 1, dtype)


@shape_rule("aten.arange.start_step")
def arange_start_step(start: Number, end: Number, step: Number, dtype: DType | None) -> PartialShape:
    return arange_shape(start, end, step, dtype)


@shape_rule("aten.range.step")
def range_step(start: Number, end: Number, step: Number, dtype: DType | None) -> PartialShape:
    """As `arange`, with the end."""
    if not (
        isinstance(start, int | float) and isinstance(end, int | float) and isinstance(step, int | float)
    ):
        return (None,)
    if dtype is not None and dtype.category <= Category.INT:
        start, end, step = int(start), int(end), int(step)
    check(step != 0 and (end - start) * step >= 0, f"step {step} leads from {start} away from {end}")
    return (int((end - start) / step) + 1,)


# --- triangles -----------------------------------------------------------------------------------------------


def tril_size(row: int, col: int, offset: int) -> int:
    """Number of elements on and below the diagonal `offset` of a matrix."""
    check(row >= 0 and col >= 0, f"a matrix of {row} x {col}")
    full = min(max(row + offset - col + 1, 0), row)  # rows at the bottom that are whole
    first = max(-offset, 0)  # the first row that has any
    partial = max(row - full - first, 0)
    lengths = 2 * first + 2 * offset + 1 + partial  # shortest + longest of the others
    return full * col + partial * lengths // 2


@shape_rule("aten.tril_indices")
def tril_indices(row: int, col: int, offset: int) -> Shape:
    return 2, tril_size(row, col, offset)


@shape_rule("aten.triu_indices")
def triu_indices(row: int, col: int, offset: int) -> Shape:
    return 2, row * col - tril_size(row, col, offset - 1)


# --- selections ----------------------------------------------------------------------------------------------


@shape_rule("aten.cartesian_prod")
def cartesian_prod(tensors: list[TensorMeta]) -> Shape:
    check(len(tensors) > 0, "needs a tensor")
    check(all(tensor.ndim == 1 for tensor in tensors), "expected vectors")
    return tensors[0].shape if len(tensors) == 1 else (numel([t.shape[0] for t in tensors]), len(tensors))


@shape_rule("aten.combinations")
def combinations(self: TensorMeta, r: int) -> PartialShape:
    check(self.ndim == 1, f"expected a vector, got {self.ndim} dimensions")
    check(r >= 0, f"r is {r}; it must not be negative")
    # As torch.export has it: the number is found as if it depended on the data.
    return (None, r) if r else (0,)
