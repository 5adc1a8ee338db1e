"""The `torch_nn` dialect: operators that `torch.nn` registers for itself, in Python."""

from __future__ import annotations

from xdsl.ir import Dialect

from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp

OPERATORS = OperatorDialect("torch_nn")


def dialect() -> Dialect:
    """The xDSL dialect."""
    return OPERATORS.dialect()


def __getattr__(name: str) -> type[OperatorOp]:
    return OPERATORS.by_class_name(name)
