"""Chains as dispatches: two products, and operators row by row on what is between them, in one kernel, without all of that in memory.

    softmax(q @ k.T / 8 + mask) @ v

What is between follows from what operators do to rows (`rows`): any of them may be there, as long as nothing else uses what they make. A chain is found at its first
product, and made a dispatch of where its second one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.dispatches.buffers import Buffer, Shape, Value
from xdsl_exir.lowering.dispatches.outline import Body, Outline
from xdsl_exir.lowering.dispatches.views import RENAMES, is_view, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.targets.cpu.dispatches import before_view, placed, shape_of, strides_of, swapped
from xdsl_exir.targets.cpu.epilogues import Absorber, input_of
from xdsl_exir.targets.cpu.kernels import Chain, Matmul, Rows
from xdsl_exir.targets.cpu.kernels.chain import FEWEST
from xdsl_exir.targets.cpu.kernels.rows import needed
from xdsl_exir.targets.cpu.kernels.tails import without_tail
from xdsl_exir.targets.cpu.rows import JOINED, RowGroup, space_of

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.targets.cpu.target import Cpu

PRODUCTS = ("aten.bmm", "aten.mm")
STORED = {"f32": dt.Float, "i8": dt.Bool}
"""Dtypes of a chain's buffers."""

LARGE = 1 << 16
"""Elements between two products from which on they are not kept in memory."""


@dataclass(frozen=True)
class Links:
    """Two products, and the operators between them."""

    first: OperatorOp
    rows: RowGroup
    second: OperatorOp

    @property
    def result(self) -> SSAValue:
        """What the second product takes, rows of as many elements as the first one's."""
        return self.rows.planner.root(self.second.operands[0])


def links_from(cpu: Cpu, planner: Planner, first: OperatorOp) -> Links | None:
    """The chain that begins with a product, if one does."""
    shape = shape_of(first.results[0])
    if not is_link(planner, first) or planner.usual(shape[-2]) <= FEWEST or planner.usual(prod(shape)) < LARGE:
        return None
    made, group, second = {first.results[0]}, None, None
    while (op := next_user(planner, made, second)) is not None:
        if is_view(op):
            made.update(op.results)
        elif second is None and is_link(planner, op):
            second = op
        elif second is None and (group := joined(cpu, planner, group, op, first)) is not None:
            made.update(op.results)
        else:
            return None
    if group is None or second is None:
        return None
    return Links(first, group, second) if are_links(planner, first, group, second) else None


def next_user(planner: Planner, made: set[SSAValue], second: Operation | None) -> Operation | None:
    """The first operation that uses what there is, and is not there itself."""
    users = {
        use.operation
        for value in made
        for use in value.uses
        if use.operation is not second
        and not any(result in made for result in use.operation.results)
        and not planner.is_constant(use.operation)
    }
    return min(users, key=planner.position, default=None)


def is_link(planner: Planner, op: Operation) -> bool:
    """Whether it is a product of float32 that a chain's kernel may compute."""
    if not isinstance(op, OperatorOp) or op.SPEC.qualified_name not in PRODUCTS:
        return False
    values = (*op.operands, *op.results)
    fits = all(meta_of(value).dtype is dt.Float and 0 not in shape_of(value) for value in values)
    lhs, rhs, out = map(shape_of, values)
    if op.operands[1] in planner.constants:
        return False  # weights are packed when the program is compiled
    same = lhs == (*out[:-1], lhs[-1]) and rhs == (*out[:-2], lhs[-1], out[-1])
    return fits and same and planner.boundaries.takes(op, Chain.__name__)


def joined(
    cpu: Cpu, planner: Planner, group: RowGroup | None, op: Operation, first: OperatorOp
) -> RowGroup | None:
    """The operators between products, with one more; None if it cannot be there."""
    if not isinstance(op, OperatorOp) or op in planner.absorbed or len(op.results) != 1:
        return None
    if not planner.boundaries.are_together(op, first) or not planner.boundaries.takes(op, Chain.__name__):
        return None
    entry = JOINED.get(op.SPEC.qualified_name)
    space = space_of(cpu, planner, op)
    if space is None or (entry is not None and entry.from_memory):
        return None
    group = group or RowGroup(cpu, planner, space.leading)
    if not group.takes(op) or not all(
        is_same_rows(planner, operand, first.results[0])
        for operand in op.operands
        if planner.root(operand) is first.results[0]
    ):
        return None
    group.add(op)
    return group


def is_same_rows(planner: Planner, value: SSAValue, root: SSAValue) -> bool:
    """Whether a view has the rows of what it is a view of."""
    while value is not root:
        if value in planner.identities:
            value = planner.identities[value]
            continue
        op = value.owner
        assert isinstance(op, OperatorOp)
        source, name = op.operands[0], op.SPEC.qualified_name
        same = shape_of(value) == shape_of(source)
        if not (same and name == "aten.expand") and not (
            name in RENAMES and shape_of(value)[-1:] == shape_of(source)[-1:]
        ):
            return False
        value = source
    return True


def are_links(planner: Planner, first: OperatorOp, group: RowGroup, second: OperatorOp) -> bool:
    """Whether two products and what is between them are a chain: the rows of one are those of the other, in the same batches."""
    lhs, rhs = second.operands
    root, (*batch, m, n) = planner.root(lhs), shape_of(first.results[0])
    inside = {result for op in group.ops for result in op.results}
    if root not in inside or planner.root(rhs) in {first.results[0], *inside}:
        return False
    if meta_of(root).dtype is not dt.Float or not is_same_rows(planner, lhs, root):
        return False
    leading = group.leading
    fits = leading[-1:] == (m,) and prod(leading) == prod((*batch, m)) and shape_of(lhs) == (*batch, m, n)
    # Both right-hand sides are packed: that is to be less than what is kept from memory, written and read.
    packed = planner.usual(shape_of(first.operands[0])[-1]) + planner.usual(shape_of(rhs)[-1])
    if not fits or shape_of(root)[-1:] != (n,) or packed > 2 * planner.usual(m):
        return False
    if not planner.boundaries.are_together(first, second):
        return False
    begin, end = planner.position(first), planner.position(second)
    written = any(begin < planner.position(op) < end for op in planner.updates.operators)
    return not written and wanted(group, root)


def wanted(group: RowGroup, root: SSAValue) -> bool:
    """Whether the group's last result is all that is used of it, and what its rows hold is float32."""
    return all(
        not group.planner.is_used_outside(result, group.inside)
        for op in group.ops
        for result in op.results
        if result is not root
    )


def dispatch_links(planner: Planner, links: Links) -> None:
    """Makes a dispatch of a chain."""
    first, second, group = links.first, links.second, links.rows
    (q, k), v = first.operands, second.operands[1]
    (left_factor, scaled), (right_factor, also_scaled) = (planner.unscale(value, first) for value in (q, k))
    *batch, m = group.leading
    n, depth, width = shape_of(first.results[0])[-1], shape_of(q)[-1], shape_of(second.results[0])[-1]
    frame = (*batch, m, width)
    left = planner.plain(matrices(planner, q, batch))
    right, layout = right_hand(planner, k, batch)
    other, other_layout = right_hand(planner, v, batch)
    machine = group.cpu.machine
    scores = Value(Buffer(0), shape_of(first.results[0]), dt.Float)
    planner.values[first.results[0]] = scores
    builder = group.builder()
    program, results = needed(builder.nodes, [builder.made[links.result]])
    inputs = builder.inputs
    at = next(i for i, value in enumerate(inputs) if value.buffer is scores.buffer)
    rows, tail = without_tail(
        Rows(group.leading, tuple(map(input_of, inputs)), program, results, machine), width
    )
    absorber = Absorber(planner, second.results[0], lambda value: True, frame)
    if tail is None:
        absorber.run()
    numbers = Absorber(planner, first.results[0], lambda value: True).epilogue((), left_factor * right_factor)
    one = Matmul(m, n, depth, tuple(batch), layout, epilogue=numbers, machine=machine)
    two = Matmul(m, width, n, tuple(batch), other_layout, epilogue=absorber.epilogue(), machine=machine)
    absorber.commit()
    out, place = placed(planner, second.results[0], frame)
    kernel = Chain(
        replace(one, lhs_strides=strides_of(left), rhs_strides=strides_of(right)),
        rows,
        at,
        replace(two, rhs_strides=strides_of(other), out_strides=strides_of(out)),
        tail,
    )
    scratches = [planner.allocate(each.shape, STORED[each.dtype]) for each in kernel.scratches.values()]
    others = [value for i, value in enumerate(inputs) if i != at]
    arguments = [left, right, *others, other, *absorber.inputs, *scratches, out]
    links_ops = [*scaled, *also_scaled, first, *group.ops, second]

    def body() -> Body | None:
        outline = Outline(planner, links_ops, True)
        outline.epilogue(absorber.ops, absorber.made)
        return outline.body(arguments, [absorber.result if absorber.ops else place])

    del planner.values[first.results[0]]
    planner.call_kernel(kernel, arguments, body, [*links_ops, *absorber.ops])


def matrices(planner: Planner, value: SSAValue, batch: Sequence[object]) -> Value:
    """Matrices seen in these batch dimensions, as they lie before a view that would copy them."""
    shape: Shape = (*batch, *shape_of(value)[-2:])  # pyright: ignore[reportAssignmentType]
    for source in (before_view(planner, value), value):
        seen = source and reshaped(planner.value(source), shape)
        if seen is not None:
            return seen
    seen = reshaped(planner.contiguous(planner.value(value)), shape)
    assert seen is not None
    return seen


def right_hand(planner: Planner, value: SSAValue, batch):
    """The right-hand side of a product, and how it lies."""
    given = planner.plain(matrices(planner, value, batch))
    if 1 not in given.strides[-2:]:
        given = planner.contiguous(given)
    transposed = given.strides[-1] != 1
    return (swapped(given), "transposed") if transposed else (given, "row_major")
