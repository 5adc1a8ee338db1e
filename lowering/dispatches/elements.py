"""Which operators are computed element by element in epilogues and rows, and how descriptions of kernels name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.schedules.description import Elementwise
from xdsl_exir.lowering.schedules.elements import ELEMENTS

CODES = {dt.Float: "f", dt.Bool: "b"}


def elementwise(
    op: OperatorOp, arguments: Mapping[str, Any]
) -> tuple[Elementwise, Sequence[SSAValue]] | None:
    """An operator on elements, and its tensors; None if it is not in the table with these dtypes and arguments.

    `arguments` are its arguments by name, tensors that are filled with one number as that number.
    """
    entry = ELEMENTS.get(op.SPEC.qualified_name)
    tensors = [op.results[0], *op.operands]
    if entry is None or not all(is_tensor_type(value.type) for value in tensors):
        return None
    result, *codes = (CODES.get(meta_of(value).dtype, "?") for value in tensors)
    if result == "?" or "".join(codes) != entry.operands.replace("n", "f"):
        return None
    given = op.arguments()
    names = [name for name, value in given.items() if isinstance(value, SSAValue)]
    numbers = [name for name, code in zip(names, entry.operands, strict=True) if code == "n"]
    if any(isinstance(arguments[name], SSAValue) for name in numbers):
        return None
    others = {name: arguments[name] for name in given if name not in names or name in numbers}
    if not entry.takes(others):
        return None
    return Elementwise(op.SPEC.qualified_name, tuple(sorted(others.items()))), [
        given[name] for name in names if name not in numbers
    ]
