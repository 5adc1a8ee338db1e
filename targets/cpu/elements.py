"""Which operators are computed element by element in epilogues and rows, and how descriptions of kernels name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import SSAValue

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.spec import BY_ELEMENTS
from xdsl_exir.dialects.tensors import is_tensor_type
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.targets.cpu.kernels.description import Elementwise
from xdsl_exir.targets.cpu.kernels.elements import DTYPES, element_of

CODES = {dtype: code for code, dtype in DTYPES.items()}


def elementwise(
    op: OperatorOp, arguments: Mapping[str, Any]
) -> tuple[Elementwise, Sequence[SSAValue]] | None:
    """An operator on elements, and its tensors; None if it is not computed by element with these dtypes and arguments.

    `arguments` are its arguments by name, tensors that are filled with one number as that number.
    """
    if op.SPEC.family not in BY_ELEMENTS or len(op.results) != 1:
        return None
    if not all(is_tensor_type(value.type) for value in (*op.results, *op.operands)):
        return None
    codes = {operand: CODES.get(meta_of(operand).dtype, "") for operand in op.operands}
    if meta_of(op.results[0]).dtype not in CODES or not all(codes.values()):
        return None
    given = op.arguments()
    others = {
        name: value.torch_name if isinstance(value, DType) else value
        for name, value in given.items()
        if not isinstance(value, SSAValue)
    }
    if not all(isinstance(value, float | int | str | None) for value in others.values()):
        return None
    tensors: dict[str, SSAValue] = {
        name: value for name, value in given.items() if isinstance(value, SSAValue)
    }
    numbers = {name: arguments[name] for name in tensors if not isinstance(arguments[name], SSAValue)}
    if not set(codes.values()) <= set("fb"):
        numbers = {}
    for taken in ({}, numbers):
        left = [value for name, value in tensors.items() if name not in taken]
        operands = "".join(codes[value] for value in left)
        said = tuple(sorted({**others, **taken}.items()))
        element = Elementwise(op.SPEC.qualified_name, said, operands if set(operands) != {"f"} else "")
        if element_of(element) is not None:
            return element, left
    return None
