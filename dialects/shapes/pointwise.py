"""Shape rules of pointwise operators: what PyTorch checks of their constant arguments.

Those with the tag `pointwise` need none for their shape, which is the one that their tensors broadcast to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.meta import (
    Number,
    Shape,
    broadcast_shapes,
    broadcasts,
    check,
    same_shape,
    same_size,
    shape_rule,
    shape_text,
)
from xdsl_exir.dialects.tensors import NumberMeta, TensorMeta

Tensor: TypeAlias = TensorMeta | NumberMeta
"""A tensor argument: in `aten` it may be a Python number."""


def check_expands(shape: Sequence[Dim], target: Sequence[Dim], what: str) -> None:
    """Raises `MetaError` unless a shape broadcasts to the target without enlarging it."""
    check(
        len(shape) <= len(target) and same_shape(broadcast_shapes(shape, target), target),
        f"{what} {shape_text(shape)} does not broadcast to {shape_text(target)}",
    )


def check_integral(operands: Sequence[Tensor | Number], number: Number, what: str) -> None:
    """Raises `MetaError` for a fractional number beside operands all of which are integers."""
    fractional = isinstance(number, float | complex)
    check(
        not fractional or any(_category(operand) > Category.INT for operand in operands),
        f"{what} = {number} is not an integer, and the operands are",
    )


def _category(value: Tensor | Number) -> Category:
    match value:
        case TensorMeta() | NumberMeta():
            return value.dtype.category
        case bool():
            return Category.BOOL
        case int() | Expr():
            return Category.INT
        case float():
            return Category.FLOAT
        case complex():
            return Category.COMPLEX


# --- one operand ---------------------------------------------------------------------------------------------

UNARY = """
    floor_divide.Scalar __and__.Scalar __or__.Scalar to.dtype to.dtype_layout to.device to.other type_as
    _to_copy alias detach contiguous lift_fresh lift_fresh_copy fill.Scalar real conj _conj negative
    absolute arccos arccosh arcsin arcsinh arctan arctanh fix multiply.Scalar divide.Scalar
    true_divide.Scalar greater.Scalar greater_equal.Scalar less.Scalar less_equal.Scalar not_equal.Scalar
    isreal resolve_conj resolve_neg lift imag
"""


@shape_rule(*(f"aten.{name}" for name in UNARY.split()))
def unary(self: TensorMeta) -> Shape:
    return self.shape


@shape_rule("aten.frexp.Tensor")
def frexp(self: TensorMeta) -> list[Shape]:
    return [self.shape, self.shape]


@shape_rule("aten.add.Scalar", "aten.sub.Scalar", "aten.rsub.Scalar", "aten.subtract.Scalar")
def add_scalar(self: Tensor, other: Number, alpha: Number) -> Shape:
    check_integral([self, other], alpha, "alpha")
    return self.shape


@shape_rule("aten.div.Scalar_mode", "aten.divide.Scalar_mode")
def div_scalar(self: Tensor, other: Number, rounding_mode: str | None) -> Shape:
    check_rounding(rounding_mode)
    return self.shape


@shape_rule("aten.clamp", "aten.clip")
def clamp(self: TensorMeta, min: Number | None, max: Number | None) -> Shape:
    check(min is not None or max is not None, "at least one of 'min' and 'max' must be given")
    return self.shape


@shape_rule("aten.view_as_real")
def view_as_real(self: TensorMeta) -> Shape:
    return (*self.shape, 2)


# --- several operands ----------------------------------------------------------------------------------------

broadcasts(
    {
        "self other": """
            floor_divide __and__.Tensor __or__.Tensor multiply.Tensor divide.Tensor arctan2
            greater.Tensor greater_equal.Tensor less.Tensor less_equal.Tensor not_equal.Tensor
        """,
        "condition self": "where.ScalarOther",
        "condition other": "where.ScalarSelf",
        "condition": "where.Scalar",
        "real imag": "complex",
        "abs angle": "polar",
    }
)


@shape_rule("aten.add.Tensor", "aten.sub.Tensor", "aten.rsub.Tensor", "aten.subtract.Tensor")
def add(self: Tensor, other: Tensor, alpha: Number) -> Shape:
    check_integral([self, other], alpha, "alpha")
    return broadcast_shapes(self.shape, other.shape)


@shape_rule("aten.div.Tensor_mode", "aten.divide.Tensor_mode")
def div(self: Tensor, other: Tensor, rounding_mode: str | None) -> Shape:
    check_rounding(rounding_mode)
    return broadcast_shapes(self.shape, other.shape)


def check_rounding(mode: str | None) -> None:
    """Raises `MetaError` for a rounding mode that division does not have."""
    check(mode in (None, "trunc", "floor"), f"rounding_mode is '{mode}', not None, 'trunc' or 'floor'")


@shape_rule("aten.isclose")
def isclose(self: Tensor, other: Tensor, rtol: float, atol: float) -> Shape:
    check(self.dtype is other.dtype, f"operands of one dtype expected, not {self.dtype} and {other.dtype}")
    check(rtol >= 0 and atol >= 0, f"rtol {rtol} and atol {atol} must not be negative")
    return broadcast_shapes(self.shape, other.shape)


@shape_rule("aten.clamp.Tensor", "aten.clip.Tensor")
def clamp_tensor(self: Tensor, min: Tensor | None, max: Tensor | None) -> Shape:
    check(min is not None or max is not None, "at least one of 'min' and 'max' must be given")
    return broadcast_shapes(*(operand.shape for operand in (self, min, max) if operand is not None))


@shape_rule("aten.masked_fill.Tensor")
def masked_fill_tensor(self: TensorMeta, mask: TensorMeta, value: Tensor) -> Shape:
    check(value.ndim == 0, f"the value is 0-dimensional, not {shape_text(value.shape)}")
    return broadcast_shapes(self.shape, mask.shape)


@shape_rule("aten.fill.Tensor")
def fill(self: TensorMeta, value: Tensor) -> Shape:
    check(value.ndim == 0, f"the value is 0-dimensional, not {shape_text(value.shape)}")
    return self.shape


@shape_rule("aten.copy")
def copy(self: TensorMeta, src: Tensor) -> Shape:
    check_expands(src.shape, self.shape, "source shape")
    return self.shape


# --- complex numbers -----------------------------------------------------------------------------------------


@shape_rule("aten.view_as_complex")
def view_as_complex(self: TensorMeta) -> Shape:
    check(
        self.ndim > 0, "complex numbers are pairs along a last dimension, which a 0-dimensional tensor lacks"
    )
    check(same_size(self.shape[-1], 2), f"the last dimension has size {self.shape[-1]}, not 2")
    return self.shape[:-1]
