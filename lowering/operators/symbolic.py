"""Lowerings of assertions about what is known when a program is compiled: checked then, lowered to nothing.

Those about symbols are left to the caller of the code, which cannot raise; about tensors' elements there are none.
"""

from __future__ import annotations

from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.errors import ExirError
from xdsl_exir.lowering import lowering
from xdsl_exir.lowering.linalg import LinalgBuilder


def require(condition: object, message: str) -> None:
    """Raises `ExirError` unless the condition holds: the program would fail at every run."""
    if not condition:
        raise ExirError(message)


@lowering("aten._assert_tensor_metadata", takes_complex=True)
def assert_tensor_metadata(b: LinalgBuilder) -> None:
    """Sizes and dtype are its shape and dtype rules' business; what else holds of a tensor holds by its type."""


@lowering("aten._assert_scalar")
def assert_scalar(b: LinalgBuilder, self: float | Expr, assert_msg: str) -> None:
    if not isinstance(self, Expr):
        require(self, assert_msg)


@lowering("aten.sym_constrain_range")
def constrain_range(b: LinalgBuilder, size: Dim, min: int | None, max: int | None) -> None:
    if isinstance(size, Expr):
        return
    low, high = "-inf" if min is None else min, "inf" if max is None else max
    require(
        (min is None or size >= min) and (max is None or size <= max),
        f"{size} is not between {low} and {high}",
    )


@lowering("aten.sym_constrain_range_for_size")
def constrain_range_for_size(b: LinalgBuilder, size: Dim, min: int | None, max: int | None) -> None:
    """A size is not negative."""
    constrain_range(b, size, 0 if min is None else min, max)
