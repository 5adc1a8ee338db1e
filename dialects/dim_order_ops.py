"""The `dim_order_ops` dialect: how tensors lie in memory, as ExecuTorch's edge programs say it.

Values of the IR are elements. That a tensor lies in memory in some order of its dimensions is a wish of the program's: in
`aten` an argument `memory_format`, in `edge` a copy of its own whose `dim_order` lists dimensions from outermost to innermost,
`[0, 2, 3, 1]` for channels last. It changes no element and no type. Kept by every pass, it matters where the program goes
back to PyTorch or ExecuTorch, which do have strides; the interpreter and native code, which choose layouts of their own, take
the copy for its operand. How inputs and outputs lie is part of the signature (`#exir.input`, `#exir.output`), and
that is what executables follow. No `dim_order` is the operand's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl_exir.dialects.operator import OperatorDialect

OPERATORS = OperatorDialect("dim_order_ops")
dialect = OPERATORS.dialect
"""The xDSL dialect."""

if TYPE_CHECKING:
    from xdsl_exir.dialects.stubs.dim_order_ops import *  # noqa: F403  # pyright: ignore[reportMissingModuleSource]
else:
    __getattr__ = OPERATORS.by_class_name
