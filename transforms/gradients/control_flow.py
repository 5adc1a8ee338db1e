"""Gradients of operations with regions: operations of the same kind, whose regions compute again what they need and go back.

| operation | its gradient |
|---|---|
| `cond` | a `cond` of the gradients of both branches |
| `map` | a `map`; what all elements share gets the sum |
| `scan` | a `scan` from the end; the forward one keeps what was carried into each step |
| `associative_scan` | that of the `scan` that it is |
| `while_loop` | of a known number of turns that of a `scan`; else a loop from the end, over what `while_loop_stack_output` kept |
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.builder import Builder, Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import Category, Long
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.region_types import argument_types, leading_dimension, stack_type, types_of
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta, tensor_type
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.transforms.decompositions.backward import zeros
from xdsl_exir.transforms.unroll_loops import turns_of

Share: TypeAlias = "tuple[SSAValue, SSAValue | None]"
"""A value, and what it gets of a gradient."""
PullBack: TypeAlias = Callable[
    [Builder, Sequence[Operation], Sequence[Share], Sequence[SSAValue]], "list[SSAValue | None]"
]
"""`reverse.pull_back`."""
Grads: TypeAlias = "Sequence[SSAValue | None]"

MOST_COUNTED = 4096
"""Turns up to which a loop's are counted beforehand."""

# --- what rules share ----------------------------------------------------------------------------------------


def is_differentiable(value: SSAValue) -> bool:
    """Whether a value may have a gradient: floating-point and complex tensors do."""
    return is_tensor_type(value.type) and tensor_meta(value.type).dtype.category >= Category.FLOAT


def zeros_like(aten: Namespace, value: SSAValue) -> SSAValue:
    return zeros(aten, sizes(aten, value), meta(value).dtype)


def copied(
    region: Region, block: Block, arguments: Sequence[SSAValue]
) -> tuple[list[Operation], list[SSAValue]]:
    """A region's operations at the end of a block, with values for its arguments; and what it yields."""
    values: dict[SSAValue, SSAValue] = dict(zip(region.block.args, arguments, strict=True))
    made: list[Operation] = []
    for op in region.block.ops:
        if isinstance(op, cf.YieldOp):
            return made, [values.get(value, value) for value in op.values]
        made.append(op.clone(value_mapper=values))
        block.add_op(made[-1])
    raise AssertionError("a region ends in a yield")


def gradients_of_region(
    aten: Namespace,
    region: Region,
    block: Block,
    arguments: Sequence[SSAValue],
    grads: Grads,
    wanted: Sequence[SSAValue],
    pull_back: PullBack,
) -> list[SSAValue]:
    """In a block, what a region computes, and from the gradients of that those of some of its arguments; zeros where there is none."""
    ops, yielded = copied(region, block, arguments)
    seeds = [(value, grad) for value, grad in zip(yielded, grads, strict=True) if grad is not None]
    found = pull_back(aten.builder, ops, seeds, wanted)
    return [
        zeros_like(aten, value) if grad is None else grad for value, grad in zip(wanted, found, strict=True)
    ]


class Distributed:
    """Values as arguments of a block, in groups."""

    def __init__(self, *groups: Sequence[Attribute]):
        self.block = Block(arg_types=[type for group in groups for type in group])
        rest = iter(self.block.args)
        self.groups = [[next(rest) for _ in group] for group in groups]


def expanded(
    op: Operation, build: Callable[[Namespace], Sequence[SSAValue]], aten: Namespace
) -> list[Operation]:
    """Puts in place of an operation what is built, and gives the operations of that."""
    builder = Builder(aten.builder.dialect, op)
    values = build(Namespace(builder))
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.detach()
    op.erase()
    return builder.made


# --- rules ---------------------------------------------------------------------------------------------------


def cond(
    aten: Namespace, op: Operation, grads: Grads, changing: set[SSAValue], pull_back: PullBack
) -> Iterable[Share]:
    assert isinstance(op, cf.CondOp)
    wanted = [place for place, value in enumerate(op.inputs) if value in changing]
    given = [grad for grad in grads if grad is not None]
    regions: list[Region] = []
    for region in (op.true_region, op.false_region):
        parts = Distributed(argument_types(region), types_of(given))
        arguments, rest = parts.groups[0], iter(parts.groups[1])
        with aten.builder.inside(parts.block):
            seeds = [None if grad is None else next(rest) for grad in grads]
            asked = [arguments[place] for place in wanted]
            found = gradients_of_region(aten, region, parts.block, arguments, seeds, asked, pull_back)
            aten.builder.insert(cf.YieldOp(*found))
        regions.append(Region(parts.block))
    values = [op.inputs[place] for place in wanted]
    made = aten.builder.insert(
        cf.CondOp(op.pred, [*op.inputs, *given], regions[0], regions[1], types_of(values))
    )
    return zip(values, made.results, strict=True)


def map_(
    aten: Namespace, op: Operation, grads: Grads, changing: set[SSAValue], pull_back: PullBack
) -> Iterator[Share]:
    assert isinstance(op, cf.MapOp)
    given = [grad for grad in grads if grad is not None]
    count = len(op.xs)
    types = argument_types(op.body_region)
    parts = Distributed(types[:count], list(map(cf.slice_type, types_of(given))), types[count:])
    arguments, rest = [*parts.groups[0], *parts.groups[2]], iter(parts.groups[1])
    operands = [*op.xs, *op.pos_args]
    wanted = [place for place, value in enumerate(operands) if value in changing]
    with aten.builder.inside(parts.block):
        seeds = [None if grad is None else next(rest) for grad in grads]
        asked = [arguments[place] for place in wanted]
        found = gradients_of_region(aten, op.body_region, parts.block, arguments, seeds, asked, pull_back)
        aten.builder.insert(cf.YieldOp(*found))
    length = leading_dimension(types_of(op.xs))
    stacked = [stack_type(value.type, length) for value in found]
    made = aten.builder.insert(cf.MapOp([*op.xs, *given], op.pos_args, Region(parts.block), stacked))
    for place, grad in zip(wanted, made.results, strict=True):
        yield operands[place], grad if place < count else aten.sum.dim_IntList(grad, [0])


def scan(
    aten: Namespace, op: Operation, grads: Grads, changing: set[SSAValue], pull_back: PullBack
) -> Iterator[Share]:
    assert isinstance(op, cf.ScanOp)
    init, xs, additional = list(op.init), list(op.xs), list(op.additional_inputs)
    count, region = len(init), op.combine_region.clone()
    kept = keeping(op)
    carried = [place for place, value in enumerate(init) if is_differentiable(value)]
    of_xs = [place for place, value in enumerate(xs) if value in changing]
    shared = [place for place, value in enumerate(additional) if value in changing]
    given = [grad for grad in grads[count:] if grad is not None]
    back = [aten.flip(value, [0]) for value in (*kept, *xs, *given)]
    start = [grads[place] or zeros_like(aten, init[place]) for place in carried]
    start += [zeros_like(aten, additional[place]) for place in shared]
    slices = list(map(cf.slice_type, types_of(back)))
    parts = Distributed(types_of(start), slices, types_of(additional))
    sums, elements, constants = parts.groups
    forward = [*elements[: count + len(xs)], *constants]
    with aten.builder.inside(parts.block):
        outer, rest = dict(zip(carried, sums, strict=False)), iter(elements[count + len(xs) :])
        seeds = [outer.get(place) for place in range(count)]
        seeds += [None if grad is None else next(rest) for grad in grads[count:]]
        asked = [forward[place] for place in carried]
        asked += [forward[count + len(xs) + place] for place in shared]
        asked += [forward[count + place] for place in of_xs]
        found = gradients_of_region(aten, region, parts.block, forward, seeds, asked, pull_back)
        first, last = len(carried), len(carried) + len(shared)
        added = [aten.add.Tensor(*pair) for pair in zip(sums[first:], found[first:last], strict=True)]
        aten.builder.insert(cf.YieldOp(*found[:first], *added, *found[last:]))
    length = leading_dimension(types_of(back))
    types = [*types_of(start), *(stack_type(value.type, length) for value in found[last:])]
    made = aten.builder.insert(cf.ScanOp(start, back, additional, Region(parts.block), types)).results
    yield from zip([init[place] for place in carried], made[:first], strict=True)
    yield from zip([additional[place] for place in shared], made[first:last], strict=True)
    for place, grad in zip(of_xs, made[last:], strict=True):
        yield xs[place], aten.flip(grad, [0])


def keeping(op: cf.ScanOp) -> Sequence[SSAValue]:
    """Puts in place of a `scan` one that also gives what was carried into each step; gives that, stacked."""
    refuse_numbers(op, op.init)
    count, results = len(op.init), len(op.results)
    region = op.combine_region.clone()
    end = region.block.last_op
    assert isinstance(end, cf.YieldOp)
    entering = region.block.args[:count]
    end.operands = [*end.values, *entering]
    length = leading_dimension(types_of(op.xs))
    types = [*(result.type for result in op.results), *(stack_type(arg.type, length) for arg in entering)]
    made = cf.ScanOp(op.init, op.xs, op.additional_inputs, region, types)
    put_in_place(op, made, results)
    return made.results[results:]


def put_in_place(op: Operation, made: Operation, results: int) -> None:
    """Puts an operation in place of another, its first results for the other's."""
    made.location, made.attributes = op.location, dict(op.attributes)
    block = op.parent
    assert block is not None
    block.insert_op_before(made, op)
    for old, new in zip(op.results, made.results[:results], strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


def refuse_numbers(op: Operation, carried: Sequence[SSAValue]) -> None:
    """Raises `UnsupportedError` for a loop that carries numbers, which cannot be stacked."""
    if any(isinstance(value.type, SymType) for value in carried):
        raise UnsupportedError(
            [Unsupported(op.name, "no gradient of a loop that carries numbers", location_text(op))]
        )


def associative_scan(
    aten: Namespace, op: Operation, grads: Grads, changing: set[SSAValue], pull_back: PullBack
) -> Iterable[Share]:
    """The first element, then what each further one makes of what was carried so far, which is carried on and given."""
    assert isinstance(op, cf.AssociativeScanOp)
    wanted = [value for value in (*op.xs, *op.additional_inputs) if value in changing]
    length, region = leading_dimension(types_of(op.xs)), op.combine_region.clone()
    end = region.block.last_op
    assert isinstance(end, cf.YieldOp)
    end.operands = [*end.values, *end.values]
    xs, additional = list(op.xs), list(op.additional_inputs)

    def build(own: Namespace) -> Sequence[SSAValue]:
        if length == 1:
            return xs
        first = [own.slice.Tensor(x, 0, 0, 1) for x in xs]
        init = [own.select.int(x, 0, 0) for x in xs]
        rest = [own.slice.Tensor(x, 0, 1) for x in xs]
        types = [*types_of(init), *types_of(rest)]
        made = own.builder.insert(cf.ScanOp(init, rest, additional, region, types)).results[len(xs) :]
        return [own.cat([*pair], 0) for pair in zip(first, made, strict=True)]

    values: list[SSAValue] = []
    ops = expanded(op, lambda own: values.extend(build(own)) or values, aten)
    found = pull_back(aten.builder, ops, list(zip(values, grads, strict=True)), wanted)
    return zip(wanted, found, strict=True)


def while_loop(
    aten: Namespace, op: Operation, grads: Grads, changing: set[SSAValue], pull_back: PullBack
) -> Iterable[Share]:
    assert isinstance(op, cf.WhileLoopOp)
    refuse_numbers(op, op.carried_inputs)
    turns = turns_of(op, MOST_COUNTED)
    if turns is None:
        return loop_of_unknown_length(aten, op, grads, changing, pull_back)
    wanted = [value for value in (*op.carried_inputs, *op.additional_inputs) if value in changing]
    carried, additional = list(op.carried_inputs), list(op.additional_inputs)
    region = op.body_region.clone()
    region.block.insert_arg(tensor_type((), Long), len(carried))

    def build(own: Namespace) -> Sequence[SSAValue]:
        if turns == 0:
            return carried
        steps = own.arange.start_step(0, turns, 1, dtype=Long)
        made = cf.ScanOp(carried, [steps], additional, region, types_of(carried))
        return own.builder.insert(made).results

    values: list[SSAValue] = []
    ops = expanded(op, lambda own: values.extend(build(own)) or values, aten)
    found = pull_back(aten.builder, ops, list(zip(values, grads, strict=True)), wanted)
    return zip(wanted, found, strict=True)


def loop_of_unknown_length(
    aten: Namespace, op: cf.WhileLoopOp, grads: Grads, changing: set[SSAValue], pull_back: PullBack
) -> Iterator[Share]:
    """The forward loop counts its turns, and keeps what each one leaves; the other goes from the last turn to the first."""
    carried, additional = list(op.carried_inputs), list(op.additional_inputs)
    region, count = op.body_region.clone(), len(op.carried_inputs)
    turns, entering = recorded(aten, op)
    places = [place for place, value in enumerate(carried) if is_differentiable(value)]
    shared = [place for place, value in enumerate(additional) if value in changing]
    start = [
        aten.sub.Scalar(turns, 1),
        *(grads[place] or zeros_like(aten, carried[place]) for place in places),
    ]
    start += [zeros_like(aten, additional[place]) for place in shared]
    rest = [*entering, *additional]
    condition = Distributed(types_of(start), types_of(rest))
    with aten.builder.inside(condition.block):
        aten.builder.insert(cf.YieldOp(aten.ge.Scalar(condition.groups[0][0], 0)))
    body = Distributed(types_of(start), types_of(rest))
    turn, *sums = body.groups[0]
    stacks, constants = body.groups[1][:count], body.groups[1][count:]
    with aten.builder.inside(body.block):
        forward = [*(aten.index.Tensor(stack, [turn]) for stack in stacks), *constants]
        seeds: list[SSAValue | None] = [None] * count
        for place, grad in zip(places, sums, strict=False):
            seeds[place] = grad
        asked = [forward[place] for place in places] + [constants[place] for place in shared]
        found = gradients_of_region(aten, region, body.block, forward, seeds, asked, pull_back)
        last = len(places)
        added = [aten.add.Tensor(*pair) for pair in zip(sums[last:], found[last:], strict=True)]
        aten.builder.insert(cf.YieldOp(aten.sub.Scalar(turn, 1), *found[:last], *added))
    loop = cf.WhileLoopOp(start, rest, Region(condition.block), Region(body.block), types_of(start))
    made = aten.builder.insert(loop).results[1:]
    yield from zip([carried[place] for place in places], made[:last], strict=True)
    yield from zip([additional[place] for place in shared], made[last:], strict=True)


def recorded(aten: Namespace, op: cf.WhileLoopOp) -> tuple[SSAValue, list[SSAValue]]:
    """Puts in place of a loop one that counts its turns and keeps what each leaves. Gives the number of turns, and what is
    carried into each, stacked, with what the last one leaves after it."""
    function = op
    while not isinstance(function, FuncOp):
        parent = function.parent_op()
        assert parent is not None
        function = parent
    length = unused_symbol(function)
    carried, regions = list(op.carried_inputs), [region.clone() for region in op.regions]
    for region in regions:
        region.block.insert_arg(tensor_type((), Long), 0)
    end = regions[1].block.last_op
    assert isinstance(end, cf.YieldOp)
    builder = Builder(aten.builder.dialect, end)
    counted = Namespace(builder).add.Scalar(regions[1].block.args[0], 1)
    end.operands = [counted, *end.values]
    before = Namespace(Builder(aten.builder.dialect, op))
    none = before.full([], 0, dtype=Long)
    init = [none, *carried]
    types = [stack_type(value.type, length) for value in init]
    loop = cf.WhileLoopStackOutputOp(init, op.additional_inputs, regions[0], regions[1], types)
    stacks = before.builder.insert(loop).results
    for result, stack in zip(op.results, stacks[1:], strict=True):
        result.replace_all_uses_with(before.select.int(stack, 0, -1))
    turns = before.select.int(stacks[0], 0, -1)
    entering = [
        before.cat([before.unsqueeze(value, 0), stack], 0)
        for value, stack in zip(carried, stacks[1:], strict=True)
    ]
    op.detach()
    op.erase()
    return turns, entering


def unused_symbol(function: Operation) -> Expr:
    """A symbol of a size that is only known when a function runs, and that it does not have yet."""
    text = str(function)
    number = next(number for number in itertools.count() if not re.search(rf"\bu{number}\b", text))
    return Expr.symbol(f"u{number}")


REGIONS: dict[
    type[Operation], Callable[[Namespace, Operation, Grads, set[SSAValue], PullBack], Iterable[Share]]
] = {
    cf.CondOp: cond,
    cf.MapOp: map_,
    cf.ScanOp: scan,
    cf.AssociativeScanOp: associative_scan,
    cf.WhileLoopOp: while_loop,
}
"""Rules by operation."""
