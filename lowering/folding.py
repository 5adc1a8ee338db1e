"""Constant folding: what does not depend on a program's inputs is computed when it is compiled, by the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from xdsl_exir.dialects.exir import ConstantOp, is_tensor_type, tensor_meta
from xdsl_exir.dialects.operator import OperatorOp

Array = np.ndarray[Any, np.dtype[Any]]

LARGEST_FOLDED = 1 << 22
"""Elements of a folded constant, above which only what is no larger than its operands is folded."""


def elements(value: SSAValue) -> int | None:
    """How many elements a tensor has; None where that is not known, or the value is no tensor."""
    if not is_tensor_type(value.type):
        return None
    sizes = [size for size in tensor_meta(value.type).shape if isinstance(size, int)]
    return prod(sizes) if len(sizes) == tensor_meta(value.type).ndim else None


def is_foldable(op: Operation, known: Mapping[SSAValue, Array]) -> bool:
    """Whether an operator's results can be computed now, and are worth their memory."""
    from xdsl_exir.runtime.kernels import KERNELS

    if not isinstance(op, OperatorOp) or KERNELS.find(op.SPEC) is None or not is_side_effect_free(op):
        return False
    if not all(operand in known for operand in op.operands):
        return False
    limit = max([LARGEST_FOLDED, *[known[operand].size for operand in op.operands]])
    counts = [elements(result) for result in op.results]
    return all(count is not None and count <= limit for count in counts)


def folded(function: FuncOp, constants: Mapping[SSAValue, Array]) -> dict[SSAValue, Array]:
    """The constants, the function's literals, and every value that depends on them alone."""
    from xdsl_exir.runtime.interpreter import literal_array, run_operator

    known, rng = dict(constants), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for op in function.body.block.ops:
            if isinstance(op, ConstantOp):
                known[op.result] = literal_array(op)
            elif isinstance(op, OperatorOp) and is_foldable(op, known):
                results = run_operator(op, tuple(known[operand] for operand in op.operands), rng)
                known.update(zip(op.results, results, strict=True))
    return known
