"""The `transformers` dialect: operators that Hugging Face's `transformers` registers, for its mixtures of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Dialect

from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp

OPERATORS = OperatorDialect("transformers")


def dialect() -> Dialect:
    """The xDSL dialect."""
    return OPERATORS.dialect()


if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.transformers import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:

    def __getattr__(name: str) -> type[OperatorOp]:
        return OPERATORS.by_class_name(name)
