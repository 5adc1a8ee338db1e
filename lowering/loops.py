"""Loops inside loop bodies, over numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import scf
from xdsl.ir import Block, Region

from xdsl_exir.lowering.scalar import Scalar, constant, select, shift_right


def repeat_while(
    state: Sequence[Scalar], condition: Callable[..., Scalar], step: Callable[..., Sequence[Scalar]]
) -> list[Scalar]:
    """Numbers that `step` makes from the last ones, from `state` on, as long as `condition` holds of them."""
    types = [x.value.type for x in state]
    before, after = Block(arg_types=types), Block(arg_types=types)

    def inside(block: Block) -> list[Scalar]:
        return [Scalar(arg, x.dtype) for arg, x in zip(block.args, state, strict=True)]

    with ImplicitBuilder(before):
        scf.ConditionOp(condition(*inside(before)).value, *before.args)
    with ImplicitBuilder(after):
        scf.YieldOp(*[x.value for x in step(*inside(after))])
    loop = scf.WhileOp([x.value for x in state], types, Region(before), Region(after))
    return [Scalar(result, x.dtype) for result, x in zip(loop.results, state, strict=True)]


def first_where(holds: Callable[[Scalar], Scalar], low: Scalar, high: Scalar) -> Scalar:
    """The first number from `low` on that something holds of, and of all after it; `high` if of none. By bisection."""

    def halve(low: Scalar, high: Scalar) -> list[Scalar]:
        middle = shift_right(low + high, constant(1, low.dtype))
        found = holds(middle)
        return [select(found, low, middle + 1), select(found, middle, high)]

    return repeat_while([low, high], _less, halve)[0]


def _less(low: Scalar, high: Scalar) -> Scalar:
    return low < high
