"""The `torch_nn` dialect: operators that `torch.nn` registers for itself, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Dialect

from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp

OPERATORS = OperatorDialect("torch_nn")


def dialect() -> Dialect:
    """The xDSL dialect."""
    return OPERATORS.dialect()


if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.torch_nn import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:

    def __getattr__(name: str) -> type[OperatorOp]:
        return OPERATORS.by_class_name(name)
