"""That what a function writes lies apart from all else it is given, said for LLVM, in a function that is about to become code.

Dispatches write to memory that no other argument is a view of (`dispatches.groups.destination_style`), and what is needed at the same
time does not overlap (`verify-memory`). LLVM has to know, or it keeps loops that go through two arrays from becoming vectors, or copies.
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.ops import CopyOp
from xdsl.dialects.memref import SubviewOp
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def, var_operand_def, var_result_def
from xdsl.traits import Pure

from xdsl_exir.dialects.upstream import MaterializeInDestinationOp

MOST = 64
"""Pairs that are said of a function."""


@irdl_op_definition
class DistinctObjectsOp(IRDLOperation):
    """memref.distinct_objects: the same memrefs, none of which overlaps another."""

    name = "memref.distinct_objects"

    given = var_operand_def(MemRefType)
    made = var_result_def(MemRefType)
    traits = traits_def(Pure())


def say_distinct(function: FuncOp) -> None:
    """Says of each argument that is written that it overlaps no other one."""
    block = function.body.block
    buffers: list[SSAValue] = [arg for arg in block.args if isinstance(arg.type, MemRefType)]
    written = [arg for arg in buffers if is_written(arg)]
    pairs = [
        (out, other) for at, out in enumerate(written) for other in buffers if other not in written[: at + 1]
    ]
    if len(pairs) > MOST:
        return
    first, now = block.first_op, {buffer: buffer for buffer in buffers}
    assert first is not None
    for pair in pairs:
        given = [now[buffer] for buffer in pair]
        said = DistinctObjectsOp.create(operands=given, result_types=[buffer.type for buffer in given])
        block.insert_op_before(said, first)
        for buffer, before, result in zip(pair, given, said.results, strict=True):
            for use in [use for use in before.uses if use.operation is not said]:
                use.operation.operands[use.index] = result
            now[buffer] = result


def is_written(buffer: SSAValue) -> bool:
    """Whether an operation writes to memory, or to a part of it: to its second operand."""
    return any(
        is_written(use.operation.result)
        if isinstance(use.operation, SubviewOp)
        else use.index == 1 and isinstance(use.operation, MaterializeInDestinationOp | CopyOp)
        for use in buffer.uses
    )
