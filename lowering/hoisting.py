"""What loops over elements would read and compute in each turn, before them: what is written might lie there, so LLVM cannot.

    for i, j: out[index[i], j] = x[i, j]        becomes        for i: at = index[i]; for j: out[at, j] = x[i, j]

On tensors, where reading has no effects. An index that is the same along a dimension, as one that `expand` makes, is read at the first of its places.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, IntAttr, IntegerAttr, MemRefType, StridedLayoutAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from xdsl_exir.dialects.upstream import ToTensorOp

DIVISIONS = ("arith.div", "arith.ceildiv", "arith.floordiv", "arith.rem")
"""How the names of operations start that trap where they divide integers by 0."""


def hoist(function: FuncOp) -> None:
    """Takes what is the same in all turns of loops in loops before them: where they have turns, or where it does no harm."""
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    for op in [op for op in function.walk() if isinstance(op, tensor.ExtractOp)]:
        read_first(op, zero.result)
    first = function.body.block.first_op
    if zero.result.uses and first is not None:
        function.body.block.insert_op_before(zero, first)
    loops = [op for op in function.walk() if isinstance(op, scf.ForOp)]
    for loop in reversed(loops):
        if isinstance(loop.parent_op(), scf.ForOp):
            before(loop, is_free if has_turns(loop) else partial(is_harmless, first=zero.result))


def read_first(op: tensor.ExtractOp, zero: SSAValue) -> None:
    """Reads what repeats along a dimension at its first place there."""
    owner = op.tensor.owner
    type = owner.memref.type if isinstance(owner, ToTensorOp) else None
    if isa(type, MemRefType) and isinstance(type.layout, StridedLayoutAttr):
        for at, stride in enumerate(type.layout.strides):
            if stride == IntAttr(0):
                op.operands[1 + at] = zero


def has_turns(loop: scf.ForOp) -> bool:
    """Whether it is known that a loop runs."""
    bounds = [bound.owner for bound in (loop.lb, loop.ub)]
    numbers = [
        owner.value.value.data
        for owner in bounds
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr)
    ]
    return len(numbers) == 2 and numbers[0] < numbers[1]


def before(loop: scf.ForOp, may_move: Callable[[Operation], bool]) -> None:
    """Takes what a loop's turns do not change out of it."""
    block = loop.body.block
    inside: set[SSAValue] = set(block.args)
    for op in list(block.ops):
        if may_move(op) and inside.isdisjoint(op.operands):
            op.detach()
            assert loop.parent is not None
            loop.parent.insert_op_before(op, loop)
        else:
            inside.update(op.results)


def is_free(op: Operation) -> bool:
    """Whether an operation only reads an element, or computes."""
    return isinstance(op, tensor.ExtractOp) or op.name.startswith("arith.")


def is_harmless(op: Operation, first: SSAValue) -> bool:
    """Whether an operation may run where the loop around it has no turns: it divides by nothing, and reads at a place of the loops further
    out, `first` where what it reads repeats."""
    if isinstance(op, tensor.ExtractOp):
        return all(index is first or is_counter(index) for index in op.indices)
    return is_free(op) and not op.name.startswith(DIVISIONS)


def is_counter(index: SSAValue) -> bool:
    """Whether it counts a loop's turns."""
    return (
        isinstance(index, BlockArgument)
        and index.index == 0
        and isinstance(index.owner.parent_op(), scf.ForOp)
    )
