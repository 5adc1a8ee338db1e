"""The `torch_nn` dialect: operators that `torch.nn` registers for itself, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.dialects.operator import OperatorDialect

OPERATORS = OperatorDialect("torch_nn")
dialect = OPERATORS.dialect
"""The xDSL dialect."""

if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.torch_nn import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:
    __getattr__ = OPERATORS.by_class_name
