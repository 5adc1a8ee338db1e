"""Loops inside loop bodies, over numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import scf
from xdsl.ir import Block, Region, SSAValue

from xdsl_exir.lowering.scalar import Scalar, constant, select, shift_right


def repeat_while(
    state: Sequence[Scalar], condition: Callable[..., Scalar], step: Callable[..., Sequence[Scalar]]
) -> list[Scalar]:
    """Numbers that `step` makes from the last ones, from `state` on, as long as `condition` holds of them."""

    def numbers(values: Sequence[SSAValue]) -> list[Scalar]:
        return [Scalar(value, x.dtype) for value, x in zip(values, state, strict=True)]

    return numbers(
        while_loop(
            [x.value for x in state],
            lambda values: condition(*numbers(values)),
            lambda values: [x.value for x in step(*numbers(values))],
        )
    )


def while_loop(
    given: Sequence[SSAValue],
    condition: Callable[[Sequence[SSAValue]], Scalar],
    step: Callable[[Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """The same of values of any type."""
    types = [value.type for value in given]
    before, after = Block(arg_types=types), Block(arg_types=types)
    with ImplicitBuilder(before):
        scf.ConditionOp(condition(before.args).value, *before.args)
    with ImplicitBuilder(after):
        scf.YieldOp(*step(after.args))
    return scf.WhileOp(given, types, Region(before), Region(after)).results


def first_where(holds: Callable[[Scalar], Scalar], low: Scalar, high: Scalar) -> Scalar:
    """The first number from `low` on that something holds of, and of all after it; `high` if of none. By bisection."""

    def halve(low: Scalar, high: Scalar) -> list[Scalar]:
        middle = shift_right(low + high, constant(1, low.dtype))
        found = holds(middle)
        return [select(found, low, middle + 1), select(found, middle, high)]

    return repeat_while([low, high], _less, halve)[0]


def _less(low: Scalar, high: Scalar) -> Scalar:
    return low < high
