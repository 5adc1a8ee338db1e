"""The `quantized_decomposed` dialect: quantization as PyTorch's PT2E flow writes it, affine and explicit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Dialect

from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp

OPERATORS = OperatorDialect("quantized_decomposed")


def dialect() -> Dialect:
    """The xDSL dialect."""
    return OPERATORS.dialect()


if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.quantized_decomposed import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:

    def __getattr__(name: str) -> type[OperatorOp]:
        return OPERATORS.by_class_name(name)
