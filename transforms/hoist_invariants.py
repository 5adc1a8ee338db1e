"""`hoist-invariants`: what a loop computes anew in every turn, of values that no turn changes, is computed before it.

Regions see nothing of the program around them, so what is moved out comes back in as one more of the values that every turn gets as
they are. Only what cannot fail is moved, since a loop may not turn at all: pointwise operators of floats and booleans, views, casts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free
from xdsl.transforms.dead_code_elimination import region_dce

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import ConstantOp, NumberOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.spec import BY_ELEMENTS, MOVING, families
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta
from xdsl_exir.transforms.matching import static

LOOPS = cf.WhileLoopOp | cf.WhileLoopStackOutputOp | cf.MapOp | cf.ScanOp
MOVED = BY_ELEMENTS | MOVING - families("layout")
"""Families of operators that are moved; of tensors of integers they are not, where a division may fail."""


def is_movable(op: Operation) -> bool:
    """Whether an operation gives the same in every turn if its operands are the same, and cannot fail."""
    if isinstance(op, ConstantOp | NumberOp):
        return True
    if not isinstance(op, OperatorOp) or not is_side_effect_free(op) or op.SPEC.family not in MOVED:
        return False
    values = (*op.operands, *op.results)
    return all(is_plain(value) for value in values)


def is_plain(value: SSAValue) -> bool:
    """Whether a value is a Python number or a tensor of floats or booleans whose sizes are numbers."""
    if not is_tensor_type(value.type):
        return not isinstance(value.type, SymType)
    meta = tensor_meta(value.type)
    return static(meta.shape) is not None and meta.dtype.category is not Category.INT


def shared(op: Operation) -> dict[SSAValue, SSAValue]:
    """What arguments of regions are the same in every turn: the values outside that they are."""
    return {arg: value for value, arg in cf.shared_arguments(op)}


def invariants(op: Operation) -> list[Operation]:
    """Operations in the regions of a loop that give the same in every turn, in order."""
    same, found = set(shared(op)), list[Operation]()
    for inner in [inner for region in op.regions for inner in region.block.ops]:
        if is_movable(inner) and all(operand in same for operand in inner.operands):
            same |= set(inner.results)
            found.append(inner)
    return found


def with_inputs(op: Operation, values: Sequence[SSAValue]) -> Operation:
    """A loop whose regions get further values, that are the same in every turn, as their last arguments. It takes the regions."""
    regions, types = [op.detach_region(region) for region in list(op.regions)], op.result_types
    match op:
        case cf.LoopOp():
            return type(op)(
                op.carried_inputs, [*op.additional_inputs, *values], regions[0], regions[1], types
            )
        case cf.MapOp():
            return cf.MapOp(op.xs, [*op.pos_args, *values], regions[0], types)
        case cf.ScanOp():
            return cf.ScanOp(op.init, op.xs, [*op.additional_inputs, *values], regions[0], types)
        case _:
            raise AssertionError(op.name)


def hoist(op: Operation) -> None:
    """Moves what is the same in every turn before a loop."""
    found = invariants(op)
    mapping = shared(op)
    needed = [  # what is still computed in the loop uses these
        (inner, result)
        for inner in found
        for result in inner.results
        if isinstance(inner, OperatorOp) and any(use.operation not in found for use in result.uses)
    ]
    if not needed:
        return
    block = op.parent
    assert block is not None
    for inner in found:
        block.insert_op_before(inner.clone(value_mapper=mapping), op)
    made = with_inputs(op, [mapping[result] for _, result in needed])
    made.location = op.location
    made.attributes.update(op.attributes)
    homes = [inner.parent for inner, _ in needed]
    for region in made.regions:
        for (_, result), home in zip(needed, homes, strict=True):
            arg = region.block.insert_arg(result.type, len(region.block.args))
            if home is region.block:
                result.replace_all_uses_with(arg)
    Rewriter.replace_op(op, made)


@dataclass(frozen=True)
class HoistInvariants(ModulePass):
    """Computes before `while_loop`, `map` and `scan` what is the same in every turn of them; inner loops first."""

    name = "hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in reversed([inner for inner in op.walk() if isinstance(inner, LOOPS)]):
            hoist(loop)
        region_dce(op.body)
