"""The `transformers` dialect: operators that Hugging Face's `transformers` registers, for its mixtures of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.dialects.operator import OperatorDialect

OPERATORS = OperatorDialect("transformers")
dialect = OPERATORS.dialect
"""The xDSL dialect."""

if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.transformers import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:
    __getattr__ = OPERATORS.by_class_name
