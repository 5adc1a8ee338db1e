"""Chains as dispatches: two products, and operators row by row on what is between them, in one kernel, without all of that in memory.

    softmax(q @ k.T / 8 + mask) @ v

What is between follows from what operators do to rows (`rows`): any of them may be there, as long as nothing else uses what they make. A chain is found at its first
product, and made a dispatch of where its second one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.dispatches.buffers import Buffer, Value
from xdsl_exir.lowering.dispatches.outline import Body, Outline
from xdsl_exir.lowering.dispatches.views import RENAMES, is_view, reshaped
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.targets.cpu.dispatches import (
    SCHEDULES,
    before_view,
    placed,
    strides_of,
    swapped,
)
from xdsl_exir.targets.cpu.epilogues import HALVES, Absorber, input_of
from xdsl_exir.targets.cpu.kernels import Chain, Matmul, Rows
from xdsl_exir.targets.cpu.kernels.chain import FEWEST
from xdsl_exir.targets.cpu.kernels.row_nodes import needed
from xdsl_exir.targets.cpu.kernels.tails import without_tail
from xdsl_exir.targets.cpu.kernels.tiles import fits
from xdsl_exir.targets.cpu.kernels.unseen import NOTHING, are_left_out, masked
from xdsl_exir.targets.cpu.rows import JOINED, RowGroup, must, space_of
from xdsl_exir.targets.cpu.widenings import in_pairs, unwiden

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xdsl_exir.lowering.dispatch import Planner
    from xdsl_exir.targets.cpu.target import Cpu

STORED = {"f32": dt.Float, "bf16": dt.BFloat16, "i8": dt.Bool}
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
    """The chain that begins with a product, if one does: all that uses what it makes is row by row, and then a second product."""
    shape = shape_of(first.results[0])
    if (
        not is_link(planner, first)
        or planner.usual(shape[-2]) <= FEWEST
        or planner.usual(prod(shape)) < LARGE
    ):
        return None
    made: set[SSAValue] = {first.results[0]}
    group, second = None, None
    while (op := next_user(planner, made, second)) is not None:
        if second is not None or not isinstance(op, OperatorOp):
            return None
        if is_view(op):
            made.update(op.results)
        elif is_link(planner, op):
            second = op
        elif (group := joined(cpu, planner, group, op, first)) is not None:
            made.update(op.results)
        else:
            return None
    if group is None or second is None:
        return None
    links = Links(first, group, second)
    return links if are_chain(planner, links) and is_worth_it(planner, links) else None


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


def is_link(planner: Planner, op: OperatorOp) -> bool:
    """Whether it is a product of float32 that a chain's kernel may compute."""
    if SCHEDULES.get(op.SPEC.qualified_name, (None,))[0] != Matmul.__name__ or len(op.operands) != 2:
        return False
    values = (*op.operands, *op.results)
    fits = all(meta_of(value).dtype is dt.Float and 0 not in shape_of(value) for value in values)
    lhs, rhs, out = map(shape_of, values)
    if op.operands[1] in planner.constants:
        return False  # weights are packed when the program is compiled
    same = lhs == (*out[:-1], lhs[-1]) and rhs == (*out[:-2], lhs[-1], out[-1])
    return fits and same and planner.boundaries.takes(op, Chain.__name__)


def joined(
    cpu: Cpu, planner: Planner, group: RowGroup | None, op: OperatorOp, first: OperatorOp
) -> RowGroup | None:
    """The operators between products, with one more; None if it cannot be there."""
    space, entry = space_of(cpu, planner, op), JOINED.get(op.SPEC.qualified_name)
    if space is None or op in planner.absorbed or (entry is not None and entry.from_memory):
        return None
    if not planner.boundaries.are_together(op, first) or not planner.boundaries.takes(op, Chain.__name__):
        return None
    group, scores = group or RowGroup(cpu, planner, space.leading), first.results[0]
    seen = [operand for operand in op.operands if planner.root(operand) is scores]
    if not group.takes(op) or not all(is_same_rows(planner, operand, scores) for operand in seen):
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
        shape, given = shape_of(value), shape_of(source)
        if not (shape[-1:] == given[-1:] if name in RENAMES else name == "aten.expand" and shape == given):
            return False
        value = source
    return True


def are_chain(planner: Planner, links: Links) -> bool:
    """Whether the rows of one product are those of the other, in the same batches, and what is between them is used nowhere else."""
    first, second, group, result = links.first, links.second, links.rows, links.result
    lhs, rhs = second.operands
    (*batch, m, n), leading = shape_of(first.results[0]), group.leading
    inside = {each for op in group.ops for each in op.results}
    if result not in inside or planner.root(rhs) in {first.results[0], *inside}:
        return False
    if meta_of(result).dtype is not dt.Float or not is_same_rows(planner, lhs, result):
        return False
    if leading[-1:] != (m,) or prod(leading) != prod((*batch, m)) or shape_of(lhs) != (*batch, m, n):
        return False
    others = inside - {result}
    if any(planner.is_used_outside(each, group.inside) for each in others):
        return False
    return shape_of(result)[-1:] == (n,) and planner.boundaries.are_together(first, second)


def is_worth_it(planner: Planner, links: Links) -> bool:
    """Whether less is packed, of both right-hand sides, than is kept from memory, to be written and read; and nothing is written between the
    products that the first one may read, as it is where the second one is."""
    m, k = map(planner.usual, shape_of(links.first.operands[0])[-2:])
    begin, end = planner.position(links.first), planner.position(links.second)
    written = any(begin < planner.position(op) < end for op in planner.updates.operators)
    return not written and k + planner.usual(shape_of(links.second.results[0])[-1]) <= 2 * m


def dispatch_links(planner: Planner, links: Links) -> None:
    """Makes a dispatch of a chain."""
    first, second, group = links.first, links.second, links.rows
    (lhs, rhs), other = first.operands, second.operands[1]
    (left_factor, scaled), (right_factor, also_scaled) = (planner.unscale(each, first) for each in (lhs, rhs))
    *batch, m = group.leading
    n, k, width = shape_of(rhs)[-1], shape_of(lhs)[-1], shape_of(other)[-1]
    frame, machine = (*batch, m, width), group.cpu.machine
    pairs = in_pairs(planner, first, machine, lhs, rhs) if machine.tiles and fits(m, k, False) else []
    widening = [*(pairs or unwiden(planner, rhs, first)), *unwiden(planner, other, second)]
    left = planner.plain(matrices(planner, lhs, batch))
    (right, layout), (value, other_layout) = (right_hand(planner, each, batch) for each in (rhs, other))
    inputs, at, whole = rows_of(planner, links)
    rows, tail = without_tail(whole, width)
    absorber = Absorber(planner, second.results[0], lambda value: True, frame)
    if tail is None:
        absorber.run()
    factor = Absorber(planner, first.results[0], lambda value: True).epilogue((), left_factor * right_factor)
    absorber.commit()
    out, place = placed(planner, second.results[0], frame, dt.Float)
    one = Matmul(m, n, k, tuple(batch), layout, epilogue=factor, machine=machine)
    two = Matmul(m, width, n, tuple(batch), other_layout, epilogue=absorber.epilogue(), machine=machine)
    one = replace(
        one, lhs_strides=strides_of(left), rhs_strides=strides_of(right), rhs_dtype=HALVES.get(right.dtype)
    )
    two = replace(
        two, rhs_strides=strides_of(value), out_strides=strides_of(out), rhs_dtype=HALVES.get(value.dtype)
    )
    if pairs:
        one = replace(one, lhs_dtype="bf16")
    kernel = Chain(one, rows, at, two, tail, reach_of(planner, links, rows, at, inputs))
    if pairs and value.dtype is dt.BFloat16 and is_rounded(second):
        narrow = replace(kernel, second=replace(two, lhs_dtype="bf16", rounded=True))
        kernel = narrow if narrow.second.tiled and narrow.parts[2].tiled else kernel
    scratches = [planner.allocate(each.shape, STORED[each.dtype]) for each in kernel.scratches.values()]
    others = [each for i, each in enumerate(inputs) if i != at]
    arguments = [left, right, *others, value, *absorber.inputs, *scratches, out]
    ops = [*widening, *scaled, *also_scaled, first, *group.ops, second]

    def body() -> Body | None:
        outline = Outline(planner, ops, True)
        outline.epilogue(absorber.ops, absorber.made, place)
        return outline.body(arguments, [absorber.result if absorber.ops else place])

    planner.call_kernel(kernel, arguments, body, [*ops, *absorber.ops])


def is_rounded(op: OperatorOp) -> bool:
    """Whether all that is done with what an operation makes is that bfloat16 is made of it."""
    values, found = [op.results[0]], list[bool]()
    for value in values:
        for use in value.uses:
            user = use.operation
            if is_view(user):
                values += user.results
            else:
                narrows = isinstance(user, OperatorOp) and user.SPEC.qualified_name == "aten._to_copy"
                found.append(narrows and meta_of(user.results[0]).dtype is dt.BFloat16)
    return bool(found) and all(found)


def reach_of(planner: Planner, links: Links, rows: Rows, at: int, inputs: Sequence[Value]) -> int | None:
    """How far beyond its own place a row sees elements, by a known mask; None if it may see all."""
    *_, m, n = shape_of(links.first.results[0])
    found = masked(rows.program, at)
    if found is None or not isinstance(m, int) or not isinstance(n, int):
        return None
    mask = inputs[found[1]]
    known = next((array for held, array in planner.plan.constants if held.buffer is mask.buffer), None)
    if known is None or known.shape[-2:] != (m, n) or known.size != prod(mask.shape):
        return None
    if not are_left_out(rows.program, rows.outputs, found[0], n):
        return None
    opened: NDArray[np.bool_] = known if known.dtype == np.bool_ else np.not_equal(known, NOTHING)
    opened = np.any(opened.reshape(-1, m, n), axis=0)
    seen = np.where(np.any(opened, axis=1), n - np.argmax(opened[:, ::-1], axis=1), 0)
    reach = int(np.max(seen - np.arange(m)))
    return reach if reach < n - 1 else None


def rows_of(planner: Planner, links: Links) -> tuple[list[Value], int, Rows]:
    """What is done row by row: its inputs, which of them is the first product, and the kernel that it is alone."""
    group, scores = links.rows, links.first.results[0]
    lying = planner.values[scores] = Value(Buffer(0), shape_of(scores), dt.Float)
    builder = group.builder()
    del planner.values[scores]
    program, results = needed(builder.nodes, [builder.made[links.result]])
    rows = Rows(group.leading, tuple(map(input_of, builder.inputs)), program, results, group.cpu.machine)
    return builder.inputs, [each.buffer for each in builder.inputs].index(lying.buffer), rows


def matrices(planner: Planner, value: SSAValue, batch: Sequence[Dim]) -> Value:
    """Matrices seen in these batch dimensions, as they lie before a view that would copy them."""
    shape = (*batch, *shape_of(value)[-2:])
    for source in (before_view(planner, value), value):
        if source is not None and (seen := reshaped(planner.value(source), shape)) is not None:
            return seen
    return must(reshaped(planner.contiguous(planner.value(value)), shape))


def right_hand(
    planner: Planner, value: SSAValue, batch: Sequence[Dim]
) -> tuple[Value, Literal["transposed", "row_major"]]:
    """The right-hand side of a product, and how it lies."""
    given = planner.plain(matrices(planner, value, batch))
    if 1 not in given.strides[-2:]:
        given = planner.contiguous(given)
    return (given, "row_major") if given.strides[-1] == 1 else (swapped(given), "transposed")
