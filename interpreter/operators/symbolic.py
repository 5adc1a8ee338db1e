"""Functions of operators that give numbers, of assertions, which raise, and of printing."""

from __future__ import annotations

from typing import Any

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array, impl


class AssertionFailed(ExirError):
    """A check that the program itself makes, and that its inputs or their consequences do not pass."""


def require(condition: Any, message: str) -> None:
    """Raises `AssertionFailed` unless the condition holds."""
    if not condition:
        raise AssertionFailed(message)


@impl("aten.sym_size.int", raw=True)
def sym_size(self: Array, dim: int) -> int:
    return self.shape[dim]


@impl("aten.sym_numel", raw=True)
def sym_numel(self: Array) -> int:
    return self.size


@impl("aten._local_scalar_dense", raw=True)
def local_scalar_dense(self: Array) -> Any:
    require(self.size == 1, f"a tensor of {self.size} elements is not one number")
    return self.item()


@impl("aten._assert_async.msg", raw=True)
def assert_async(self: Array, assert_msg: str) -> None:
    require(self.size == 1, f"the truth of a tensor of {self.size} elements is ambiguous")
    require(self.item(), assert_msg)


@impl("aten._assert_scalar")
def assert_scalar(self: float, assert_msg: str) -> None:
    require(self, assert_msg)


@impl("aten._print")
def print_text(s: str) -> None:
    print(s)


@impl("aten._assert_tensor_metadata", raw=True)
def assert_tensor_metadata(a: Array, size: list[int] | None, dtype: DType | None) -> None:
    """Strides, device and layout are not a run-time array's: what holds of them holds by its type."""
    require(size is None or list(a.shape) == size, f"expected sizes {size}, got {list(a.shape)}")
    require(dtype is None or a.dtype == dtype.numpy, f"expected dtype {dtype}, got {a.dtype}")


@impl("aten.sym_constrain_range")
def sym_constrain_range(size: int, min: int | None, max: int | None) -> None:
    require(
        (min is None or size >= min) and (max is None or size <= max),
        f"{size} is not between {'-inf' if min is None else min} and {'inf' if max is None else max}",
    )


@impl("aten.sym_constrain_range_for_size")
def sym_constrain_range_for_size(size: int, min: int | None, max: int | None) -> None:
    """A size is not negative."""
    sym_constrain_range(size, 0 if min is None else min, max)
