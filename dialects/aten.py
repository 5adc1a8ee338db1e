"""The `aten` dialect: PyTorch's operators, as `torch.export` captures them, on values.

Operations are made from the spec; `AddTensorOp` and the like are attributes of this module (`stubs/aten.pyi` lists them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Dialect

from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp

OPERATORS = OperatorDialect("aten")


def dialect() -> Dialect:
    """The xDSL dialect of all operators in PyTorch's `aten` namespace."""
    return OPERATORS.dialect()


if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.aten import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:

    def __getattr__(name: str) -> type[OperatorOp]:
        return OPERATORS.by_class_name(name)
