"""The `quantized_decomposed` dialect: quantization as PyTorch's PT2E flow writes it, affine and explicit."""

from __future__ import annotations

from xdsl.ir import Dialect

from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp

OPERATORS = OperatorDialect("quantized_decomposed")


def dialect() -> Dialect:
    """The xDSL dialect."""
    return OPERATORS.dialect()


def __getattr__(name: str) -> type[OperatorOp]:
    return OPERATORS.by_class_name(name)
