"""The `aten` dialect: PyTorch's operators, as `torch.export` captures them, on values.

Operations are made from the spec; `AddTensorOp` and the like are attributes of this module (`stubs/aten.pyi` lists them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.dialects.operator import OperatorDialect

OPERATORS = OperatorDialect("aten")
dialect = OPERATORS.dialect
"""The xDSL dialect of all operators in PyTorch's `aten` namespace."""

if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.aten import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:
    __getattr__ = OPERATORS.by_class_name
