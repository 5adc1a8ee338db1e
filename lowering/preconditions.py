"""What operators raise for by what tensors hold, as assertions: native code itself cannot raise.

An operator of the table gets an assertion after it, `_assert_async` of a boolean, which its caller looks at
(`lowering.checks`). A region has no caller to do so: its booleans become results of it, those of a branch that is
not taken True, those of all turns together, and are asserted where the region ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeGuard

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import edge
from xdsl_exir.dialects.builder import Namespace, cast, meta, sizes
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.expr import condition, provably
from xdsl_exir.dialects.meta import numel
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import is_tensor_type, is_value, tensor_type
from xdsl_exir.lowering.index_ranges import INDICES, MOVES, Index, Known, indices_of
from xdsl_exir.transforms.decompose_aten import Decomposer
from xdsl_exir.transforms.decompositions.view import Sizes

ASSERT = "aten._assert_async.msg"
FLAG = tensor_type((), dt.Bool)
DIVISION_BY_ZERO = "integer division by zero"

# --- what operators ask for ----------------------------------------------------------------------------------


def is_known_true(value: SSAValue, known: Known) -> bool:
    """Whether no element of a tensor is 0, as its literal or array says."""
    if value in known:
        return bool(np.all(known[value]))
    op = value.owner
    if isinstance(op, ConstantOp):
        return all(op.values)
    if not isinstance(op, OperatorOp):
        return False
    given = op.arguments()
    match op.SPEC.qualified_name:
        case "aten._to_copy" | "aten.expand" | "aten.view" | "aten.alias":
            wider = meta(value).dtype.bits >= meta(given["self"]).dtype.bits
            return wider and is_known_true(given["self"], known)
        case "aten.full" | "aten.full_like" | "aten.scalar_tensor":
            number = given["s" if "s" in given else "fill_value"]
            return not is_value(number) and meta(value).dtype.category is Category.INT and bool(int(number))
        case _:
            return False


@dataclass(frozen=True)
class Demand:
    """What an operator asks of a tensor: how the boolean is built, and what to say where it is False."""

    of: SSAValue
    message: str
    check: Callable[[Namespace], SSAValue]


def divides(op: OperatorOp, known: Known) -> Iterator[Demand]:
    """No integer is divided by 0. A divisor that meets no element divides nothing."""
    other, result = op.arguments()["other"], op.results[0]
    count = numel(meta(result).shape)
    if meta(result).dtype.category is not Category.INT or is_known_true(other, known) or count == 0:
        return

    def check(aten: Namespace) -> SSAValue:
        meets = isinstance(count, int) or meta(other).shape == meta(result).shape
        return other if meets else aten.expand(other, sizes(aten, result))

    yield Demand(other, DIVISION_BY_ZERO, check)


def picks(op: OperatorOp, known: Known) -> Iterator[Demand]:
    """No index is out of range: code stays within the dimension, and gives other numbers than were asked for. Of a call that picks nothing out of
    something none is looked at."""
    result, picked = op.results[0], op.SPEC.qualified_name in MOVES
    shape = meta(result).shape

    def unless_empty(index: Index) -> Callable[[Namespace], SSAValue]:
        def check(aten: Namespace) -> SSAValue:
            zero = aten.builder.constant(0, dt.Long)
            counts = Sizes(aten, result).flat(shape), Sizes(aten, index.of)(index.size)
            picks, there = (aten.full([], count, dtype=dt.Long) for count in counts)
            none = aten.logical_and(aten.eq.Tensor(picks, zero), aten.gt.Tensor(there, zero))
            return aten.logical_or(index.check(aten), none)

        # Of no index nothing is looked at in any case.
        of_each = numel(shape) // (numel(meta(index.value).shape) or 1)
        return check if picked and not provably(condition("ge", of_each, 1)) else index.check

    for index in indices_of(op, known):
        yield Demand(index.value, index.message, unless_empty(index))


def fills(op: OperatorOp, known: Known) -> Iterator[Demand]:
    """There is an element for each place that a mask picks."""
    mask, source = (op.arguments()[name] for name in ("mask", "source"))
    given, places = meta(source).shape, numel(meta(op.results[0]).shape)
    if provably(condition("le", places, numel(given))):
        return

    def check(aten: Namespace) -> SSAValue:
        picked = aten.expand(cast(aten, mask, dt.Long), sizes(aten, op.results[0]))
        most = aten.full([], Sizes(aten, source).flat(given), dtype=dt.Long)
        return aten.le.Tensor(aten.sum.dim_IntList(picked, None), most)

    yield Demand(mask, f"masked_scatter: {numel(given)} elements in source for more places", check)


PRECONDITIONS: Mapping[str, Callable[[OperatorOp, Known], Iterator[Demand]]] = {
    **dict.fromkeys(("aten.div.Tensor_mode", "aten.remainder.Tensor", "aten.fmod.Tensor"), divides),
    **dict.fromkeys(INDICES, picks),
    "aten.masked_scatter": fills,
}
"""What operators ask of their arguments, but for what is known to hold."""


def add_assertions(block: Block, known: Known, asserted: set[tuple[SSAValue, str]]) -> None:
    """Puts assertions after the operators of a block, regions included; one for the same argument of several."""
    for op in list(block.ops):
        if isinstance(op, cf.OPERATIONS):
            for region in op.regions:
                add_assertions(region.block, known, asserted)
            continue
        rule = PRECONDITIONS.get(op.SPEC.qualified_name) if isinstance(op, OperatorOp) else None
        if rule is None:
            continue
        assert isinstance(op, OperatorOp)
        for demand in rule(op, known):
            if (demand.of, demand.message) not in asserted:
                aten = after(op)
                aten._assert_async.msg(all_true(aten, demand.check(aten)), demand.message)
                asserted.add((demand.of, demand.message))


def after(op: Operation) -> Namespace:
    """What builds after an operation."""
    assert op.next_op is not None, "a block ends in a return or a yield"
    aten = before(op.next_op)
    aten.builder.follow(op)
    return aten


def before(op: Operation) -> Namespace:
    """What builds before an operation."""
    return Namespace(Decomposer().builder(edge.OPERATORS, op))


def all_true(aten: Namespace, self: SSAValue) -> SSAValue:
    """Whether no element is 0, as 0-dim boolean."""
    held = meta(self)
    if held.dtype is dt.Bool and not held.ndim:
        return self
    return aten.logical_not(aten.any.dims(aten.logical_not(self)))


# --- out of regions ------------------------------------------------------------------------------------------

Flags = dict[str, SSAValue]
"""By message, whether all that it is about holds."""


def is_assertion(op: Operation) -> TypeGuard[OperatorOp]:
    """Whether an operation asserts what a tensor holds."""
    return (
        isinstance(op, OperatorOp)
        and op.SPEC.qualified_name == ASSERT
        and is_tensor_type(op.operand_types[0])
    )


def taken_out(block: Block) -> Flags:
    """Takes the assertions out of a block; what they looked at."""
    flags: Flags = {}
    for op in list(block.ops):
        if is_assertion(op):
            given = op.arguments()
            end = block.last_op
            assert end is not None
            aten = before(end)
            flag, message = all_true(aten, given["self"]), given["assert_msg"]
            flags[message] = aten.logical_and(flags[message], flag) if message in flags else flag
            Rewriter.erase_op(op)
    return flags


def add_yields(region: Region, flags: Iterable[SSAValue], at: int | None = None) -> None:
    """Makes a region yield more, from a position on."""
    end = region.block.last_op
    assert isinstance(end, cf.YieldOp)
    values = list(end.values)
    at = len(values) if at is None else at
    end.operands = [*values[:at], *flags, *values[at:]]


def true(aten: Namespace) -> SSAValue:
    return aten.builder.constant(True, dt.Bool)


def raise_assertions(block: Block) -> None:
    """Takes assertions out of the regions in a block: they stand after the operations with these regions."""
    for op in list(block.ops):
        if isinstance(op, cf.OPERATIONS):
            for region in op.regions:
                raise_assertions(region.block)
            RAISE[type(op)](op) if type(op) in RAISE else None


def replaced(op: Operation, new: Operation, messages: Sequence[str], at: int) -> Namespace:
    """Puts an operation that has results more, from a position on, in another one's place, and asserts all of each."""
    aten = after(op)
    aten.builder.insert(new)
    added = new.results[at : at + len(messages)]
    kept = [*new.results[:at], *new.results[at + len(messages) :]]
    for old, result in zip(op.results, kept, strict=True):
        old.replace_all_uses_with(result)
    op.detach()
    op.erase()
    for flag, message in zip(added, messages, strict=True):
        aten._assert_async.msg(all_true(aten, flag), message)
    return aten


def types_with(op: Operation, more: Sequence[Attribute], at: int) -> list[Attribute]:
    return [*op.result_types[:at], *more, *op.result_types[at:]]


def of_branches(op: cf.CondOp) -> None:
    """The branch that is not taken asserts nothing."""
    flags = [taken_out(region.block) for region in op.regions]
    messages = list(dict.fromkeys(message for found in flags for message in found))
    if not messages:
        return
    for region, found in zip(op.regions, flags, strict=True):
        end = region.block.last_op
        assert end is not None
        add_yields(region, [found[m] if m in found else true(before(end)) for m in messages])
    count = len(op.outputs)
    types = types_with(op, [FLAG] * len(messages), count)
    pred, inputs = op.pred, list(op.inputs)
    true_region, false_region = map(op.detach_region, list(op.regions))
    replaced(op, cf.CondOp(pred, inputs, true_region, false_region, types), messages, count)


def of_loop(op: cf.WhileLoopOp) -> None:
    """All turns so far are carried; a loop ends where something does not hold.

    What its condition asserts is looked at in the body, which begins where the condition held, and after the last turn.
    """
    condition = op.cond_region.block
    asserted = op.cond_region.clone().block if has_assertions(condition) else None
    taken_out(condition)
    if asserted is not None:
        put_before(asserted, op.body_region.block.first_op, op.body_region.block.args)
    flags = taken_out(op.body_region.block)
    if not flags:
        return
    count, messages = len(op.carried_inputs), list(flags)
    kept = [region.block.insert_arg(FLAG, count + at) for region in op.regions for at in range(len(flags))]
    so_far, in_body = kept[: len(flags)], kept[len(flags) :]
    end = op.body_region.block.last_op
    assert end is not None
    aten = before(end)
    add_yields(
        op.body_region, [aten.logical_and(a, b) for a, b in zip(in_body, flags.values(), strict=True)], count
    )
    decision = condition.last_op
    assert isinstance(decision, cf.YieldOp)
    if is_tensor_type(decision.values[0].type):
        aten, [decided] = before(decision), decision.values
        shape = [1] * meta(decided).ndim
        all_hold = reduce(lambda a, b: aten.logical_and(a, b), so_far)
        decision.operands = [aten.logical_and(decided, aten.view(all_hold, shape) if shape else all_hold)]
    aten = before(op)
    carried = [*op.carried_inputs, *(true(aten) for _ in messages)]
    additional, types = list(op.additional_inputs), types_with(op, [FLAG] * len(messages), count)
    cond, body = map(op.detach_region, list(op.regions))
    new = cf.WhileLoopOp(carried, additional, cond, body, types)
    aten = replaced(op, new, messages, count)
    if asserted is not None:
        put_before(asserted, new.next_op, [*new.results[:count], *additional])


def has_assertions(block: Block) -> bool:
    return any(isinstance(op, OperatorOp) and op.SPEC.qualified_name == ASSERT for op in block.ops)


def put_before(block: Block, at: Operation | None, args: Sequence[SSAValue]) -> None:
    """Copies what a block does, but for its end, to a place, for other arguments."""
    assert at is not None
    assert at.parent is not None
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, args, strict=False))
    for op in list(block.ops)[:-1]:
        at.parent.insert_op_before(op.clone(values), at)


def of_map(op: cf.MapOp) -> None:
    flags = taken_out(op.body_region.block)
    if flags:
        add_yields(op.body_region, flags.values())
        xs, args, types = list(op.xs), list(op.pos_args), stacked_types(op, op.xs, flags)
        replaced(
            op, cf.MapOp(xs, args, op.detach_region(op.body_region), types), list(flags), len(op.outputs)
        )


def of_scan(op: cf.ScanOp) -> None:
    flags = taken_out(op.combine_region.block)
    if flags:
        add_yields(op.combine_region, flags.values())
        types = stacked_types(op, op.xs, flags)
        init, xs, more = list(op.init), list(op.xs), list(op.additional_inputs)
        replaced(
            op,
            cf.ScanOp(init, xs, more, op.detach_region(op.combine_region), types),
            list(flags),
            len(op.outputs),
        )


def of_associative_scan(op: cf.AssociativeScanOp) -> None:
    """Whether all combinations held is one more value that is combined."""
    flags = taken_out(op.combine_region.block)
    if not flags:
        return
    block, count = op.combine_region.block, len(op.xs)
    left = [block.insert_arg(FLAG, count + at) for at in range(len(flags))]
    right = [block.insert_arg(FLAG, 2 * count + len(flags) + at) for at in range(len(flags))]
    end = block.last_op
    assert end is not None
    aten = before(end)
    add_yields(
        op.combine_region,
        [
            aten.logical_and(aten.logical_and(a, b), flag)
            for a, b, flag in zip(left, right, flags.values(), strict=True)
        ],
    )
    aten = before(op)
    length = sizes(aten, op.xs[0])[:1]
    xs = [*op.xs, *(aten.expand(aten.builder.constant(True, dt.Bool, (1,)), length) for _ in flags)]
    more, types = list(op.additional_inputs), stacked_types(op, op.xs, flags)
    replaced(
        op, cf.AssociativeScanOp(xs, more, op.detach_region(op.combine_region), types), list(flags), count
    )


def stacked_types(op: Operation, xs: Sequence[SSAValue], flags: Flags) -> list[Attribute]:
    """The results of an operation over elements that stacks flags as well."""
    return [*op.result_types, *[cf.stack_type(FLAG, meta(xs[0]).shape[0])] * len(flags)]


RAISE: Mapping[type[Operation], Callable[[Any], None]] = {
    cf.CondOp: of_branches,
    cf.WhileLoopOp: of_loop,
    cf.MapOp: of_map,
    cf.ScanOp: of_scan,
    cf.AssociativeScanOp: of_associative_scan,
}
"""How assertions leave regions. While native code has no other loops, those of others stay where they are."""


def assert_preconditions(function: FuncOp, known: Known) -> None:
    """Makes what operators of a function raise for assertions, all outside of regions. What is known to hold is none."""
    block = function.body.block
    add_assertions(block, known, set())
    raise_assertions(block)
