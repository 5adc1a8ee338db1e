"""The `quantized_decomposed` dialect: quantization as PyTorch's PT2E flow writes it, affine and explicit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.dialects.operator import OperatorDialect

OPERATORS = OperatorDialect("quantized_decomposed")
dialect = OPERATORS.dialect
"""The xDSL dialect."""

if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.quantized_decomposed import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:
    __getattr__ = OPERATORS.by_class_name
