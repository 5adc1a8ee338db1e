"""Groups of operators that work row by row, on rows that lie side by side in memory: they are read where they lie, and written alike.

What a `permute` makes of a dimension that is not the last one, as a softmax over channels has it, is such rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.lowering.dispatches.buffers import Value
from xdsl_exir.lowering.dispatches.outline import Outline
from xdsl_exir.lowering.dispatches.views import permuted, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.targets.cpu.epilogues import input_of
from xdsl_exir.targets.cpu.kernels import Across
from xdsl_exir.targets.cpu.kernels.row_nodes import needed

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.targets.cpu.rows import RowGroup

SCRATCH = {"f32": dt.Float, "f64": dt.Double}


def dispatch_across(group: RowGroup, outputs: Sequence[SSAValue]) -> bool:
    """Makes a dispatch of a group if its rows lie side by side; outputs are what is used outside."""
    planner, leading = group.planner, group.leading
    if not planner.boundaries.takes(group.ops[0], Across.__name__):
        return False
    given = dict.fromkeys(operand for op in group.ops for operand in op.operands)
    if not any(is_turned(group, operand) for operand in given):
        return False
    builder = group.builder(as_they_lie=True)
    program, results = needed(builder.nodes, [builder.made[value] for value in outputs])
    lengths = {node.length for node in program if node.length != 1}
    if len(lengths) != 1 or not Across.takes(program, results):
        return False
    [length] = lengths
    found = side_by_side(leading, length, builder.inputs, group.cpu.machine.lanes)
    if found is None:
        return False
    outer, inputs = found
    inner = prod(leading[len(outer) :])
    kernel = Across(outer, length, inner, tuple(map(input_of, inputs)), program, results, group.cpu.machine)
    scratch = [planner.allocate(shape, SCRATCH[dtype]) for shape, dtype in kernel.buffers.values()]
    made = [
        made_across(planner, value, kernel, program[n].length == 1)
        for value, n in zip(outputs, results, strict=True)
    ]
    arguments = [*inputs, *scratch, *made]
    planner.call_kernel(
        kernel, arguments, lambda: Outline(planner, group.ops, True).body(arguments, outputs), group.ops
    )
    return True


def is_turned(group: RowGroup, operand: SSAValue) -> bool:
    """Whether the rows of what a group is given have strides."""
    planner = group.planner
    if planner.splat(operand) is not None or planner.root(operand).owner in group.inside:
        return False
    value = planner.value(operand)
    return bool(value.shape) and value.shape[-1] != 1 and value.strides[-1] not in (0, 1)


def side_by_side(
    leading: Sequence[Dim], length: Dim, inputs: Sequence[Value], lanes: int
) -> tuple[tuple[Dim, ...], list[Value]] | None:
    """The leading dimensions but for those along which rows lie side by side, as many as can be, and the inputs, whose shapes are
    [*leading, length], as [*outer, length, inner]. None if rows do not lie so."""
    for cut in range(len(leading)):
        outer, inner = leading[:cut], prod(leading[cut:])
        if isinstance(inner, int) and inner < lanes:
            return None
        seen = [reshaped(value, (*outer, inner, value.shape[-1])) for value in inputs]
        known = [value for value in seen if value is not None and value.strides[-2] in (0, 1)]
        if len(known) == len(inputs) and any(
            value.strides[-2] == 1 and value.shape[-1] == length for value in known
        ):
            return tuple(outer), [one_sized(last_turned(value)) for value in known]
    return None


def made_across(planner: Planner, value: SSAValue, kernel: Across, numbers: bool) -> Value:
    """Memory for a result of a kernel, as the kernel sees it."""
    meta = meta_of(value)
    row = () if numbers else (kernel.length,)
    whole = planner.allocate((*kernel.leading, *row, kernel.inner), meta.dtype)
    seen = reshaped(whole if numbers else last_turned(whole), meta.shape)
    assert seen is not None
    planner.values[value] = seen
    return whole


def last_turned(value: Value) -> Value:
    """A value with its last two dimensions exchanged."""
    rank = len(value.shape)
    return permuted(value, [*range(rank - 2), rank - 1, rank - 2])


def one_sized(value: Value) -> Value:
    """A value with size 1 where it repeats."""
    sizes = tuple(n if s else 1 for n, s in zip(value.shape, value.strides, strict=True))
    return Value(value.buffer, sizes, value.dtype, value.strides, value.offset)
