"""Tensors that are joined, as dispatches: copies, each to its part of the whole, and what is joined again made in its part of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from xdsl_exir.dialects.expr import Dim, prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.dispatches import groups
from xdsl_exir.lowering.dispatches.boundaries import Formed
from xdsl_exir.lowering.dispatches.buffers import Shape, Value
from xdsl_exir.lowering.dispatches.views import is_view, part
from xdsl_exir.lowering.edge_to_linalg import meta_of, shape_of
from xdsl_exir.targets.cpu.copies import FEW
from xdsl_exir.targets.cpu.dispatches import Schedule
from xdsl_exir.targets.cpu.kernels import Machine

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner

MOST_PIECES = 32
"""Pieces of a `cat` that is fused with what makes and uses them; and of one dispatch, where there are more."""
CAT = "aten.cat"


def cat(planner: Planner, op: OperatorOp, machine: Machine) -> bool:
    """A `cat` whose pieces are copied, each to its part of the result: where most of it is runs of elements which vectors are worth, those by
    kernels, and the others together; and many, which together would be compiled in time that grows with their number."""
    runs, pieces = runs_of(planner, op), pieces_of(op)
    is_long = len(op.operands) > MOST_PIECES
    if not is_of_one_dtype(op) or not (runs or is_long):
        return False
    values = [planner.value(piece) for piece in pieces]
    whole, dim, start = place_of(planner, op), dim_of(op), 0
    copies: list[tuple[Value, Value]] = []
    planner.formed.append(Formed(None, [op]))
    for piece, value in zip(pieces, values, strict=True):
        target = part(whole, dim, start, value.shape[dim])
        start = start + value.shape[dim]
        if piece not in runs:
            copies.append((value, target))
        elif value != target:  # what was made in its place is there
            planner.copy(value, target)
    for first in range(0, len(copies), MOST_PIECES):
        some = copies[first : first + MOST_PIECES]
        function = groups.copies(some, planner.is_large([value for value, _ in some]))
        planner.call_function(function, [value for copy in some for value in copy], [])
    return True


def dim_of(op: OperatorOp) -> int:
    dim: int = op.arguments()["dim"]
    return dim % len(shape_of(op.results[0]))


def pieces_of(op: OperatorOp) -> list[SSAValue]:
    """What counts of what is joined: vectors without elements do not."""
    rank = len(shape_of(op.results[0]))
    return [piece for piece in op.operands if len(shape_of(piece)) == rank and 0 not in shape_of(piece)]


def is_of_one_dtype(op: OperatorOp) -> bool:
    return all(meta_of(piece).dtype is meta_of(op.results[0]).dtype for piece in op.operands)


def runs_of(planner: Planner, op: OperatorOp) -> list[SSAValue]:
    """The pieces that kernels copy, if they are nearly all of the whole, and no group has rows of it."""
    pieces, dim = pieces_of(op), dim_of(op)
    runs = [piece for piece in pieces if is_run(planner, shape_of(piece), dim)]
    if not is_of_one_dtype(op) or planner.target.group(planner, op) is not None:
        return []
    given, whole = (sum(planner.usual(prod(shape_of(piece))) for piece in each) for each in (runs, pieces))
    return runs if 9 * given > 8 * whole else []


def is_run(planner: Planner, shape: Shape, dim: int) -> bool:
    """Whether the elements of a piece from a dimension on, which lie behind one another in the whole, are enough for vectors."""
    return planner.usual(prod(shape[dim:])) >= FEW


def place_of(planner: Planner, op: OperatorOp) -> Value:
    """Where a `cat` is made: in its part of the one that alone takes it and parts of it, as padding one dimension after another does."""
    chain = [op]
    while chain[-1].results[0] not in planner.values and (outer := outer_of(planner, chain[-1])) is not None:
        chain.append(outer)
    last, *inner = reversed(chain)
    place = planner.values.get(last.results[0]) or planner.make(last.results[0])
    for outer, each in zip((last, *inner), inner, strict=False):
        made, dim = each.results[0], dim_of(outer)
        start: Dim = 0
        for piece in pieces_of(outer)[: pieces_of(outer).index(made)]:
            start = start + shape_of(piece)[dim]
        place = planner.values[made] = part(place, dim, start, shape_of(made)[dim])
    return place


def outer_of(planner: Planner, op: OperatorOp) -> OperatorOp | None:
    """The `cat` that copies all of another one's result, once, if nothing else takes that but what it copies too: parts of it."""
    made = op.results[0]
    users = {use.operation for use in made.uses}
    outer = next((user for user in users if is_named(user, CAT)), None)
    if not isinstance(outer, OperatorOp) or outer.parent is not op.parent:
        return None
    if not is_taken_by(made, outer):
        return None
    return outer if pieces_of(outer).count(made) == 1 and made in runs_of(planner, outer) else None


def is_named(op: object, name: str) -> bool:
    return isinstance(op, OperatorOp) and op.SPEC.qualified_name == name


def is_taken_by(value: SSAValue, user: OperatorOp) -> bool:
    """Whether one operation alone takes a value, and views of it."""
    seen = [value]
    for each in seen:
        others = [use.operation for use in each.uses if use.operation is not user]
        if not all(map(is_view, others)):
            return False
        seen.extend(result for other in others for result in other.results)
    return True


JOIN_SCHEDULES: dict[str, tuple[str | None, Schedule]] = {CAT: (None, cat)}
"""By operator."""
