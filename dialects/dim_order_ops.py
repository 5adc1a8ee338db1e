"""The `dim_order_ops` dialect: how tensors lie in memory, as ExecuTorch's edge programs say it.

Values of the IR are elements. That a tensor lies in memory in some order of its dimensions is a wish of the program's: in
`aten` an argument `memory_format`, in `edge` a copy of its own whose `dim_order` lists dimensions from outermost to innermost,
`[0, 2, 3, 1]` for channels last. It changes no element and no type. Kept by every pass, it matters where the program goes
back to PyTorch or ExecuTorch, which do have strides; the interpreter and native code, which choose layouts of their own, take
the copy for its operand. How inputs and outputs lie is part of the signature (`#exir.input`, `#exir.output`), and
that is what executables follow. No `dim_order` is the operand's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Dialect

from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.errors import ExirError

OPERATORS = OperatorDialect("dim_order_ops")

ATEN_OPERATORS: Mapping[str, str] = {
    "dim_order_ops._to_dim_order_copy": "aten._to_copy",
    "dim_order_ops._clone_dim_order": "aten.clone",
    "dim_order_ops._empty_dim_order": "aten.empty.memory_format",
}
"""The operators, and the ones of ATen that take a memory format in place of an order."""

CHANNELS_LAST = {"channels_last": 4, "channels_last_3d": 5}
"""Memory formats with the channels innermost, and the rank of the tensors that have them."""


def dim_order(memory_format: str, rank: int) -> list[int] | None:
    """The order that a memory format is for a rank; None of `preserve_format`.

    Raises `ExirError` for channels last of another rank, which PyTorch refuses too.
    """
    if memory_format == "preserve_format":
        return None
    if memory_format not in CHANNELS_LAST:
        return list(range(rank))
    if rank != CHANNELS_LAST[memory_format]:
        raise ExirError(f"{memory_format} of a tensor of {rank} dimensions")
    return [0, *range(2, rank), 1]


def memory_format(order: Sequence[int]) -> str:
    """The memory format of an order. Raises `ExirError` for an order that is none of PyTorch's."""
    rank = len(order)
    formats = ["contiguous_format", *(name for name, its_rank in CHANNELS_LAST.items() if its_rank == rank)]
    for name in formats:
        if dim_order(name, rank) == list(order):
            return name
    raise ExirError(f"dim_order {list(order)} is no memory format of PyTorch's")


def dialect() -> Dialect:
    """The xDSL dialect."""
    return OPERATORS.dialect()


def __getattr__(name: str) -> type[OperatorOp]:
    return OPERATORS.by_class_name(name)
