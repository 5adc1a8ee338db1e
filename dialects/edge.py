"""The `edge` dialect: operators with everything explicit.

Every operand has one of the dtypes its operator's rule lists, operands that would promote share one dtype, and no
Python number stands for a tensor. Operators keep their namespace, `edge.aten.add.Tensor`. Classes are attributes of
this module (`stubs/edge.pyi` lists those of the aten namespace).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.dialects.operator import OperatorDialect

OPERATORS = OperatorDialect("edge", prefix="edge.", numbers=False)
dialect = OPERATORS.dialect
"""The xDSL dialect of all operators with a spec."""

if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.edge import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:
    __getattr__ = OPERATORS.by_class_name
