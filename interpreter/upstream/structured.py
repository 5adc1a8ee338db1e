"""`scf`, and assertions, on whole arrays. Inside the body of a `linalg.generic` a condition is one for each turn of its loops: what is not meant for a turn is computed
and not taken, and reads some element there is."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from xdsl.dialects import cf, scf
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)

from xdsl_exir.errors import ExirError
from xdsl_exir.interpreter.operators import Array
from xdsl_exir.interpreter.operators.symbolic import require

GUARDS = "exir.guards"
"""Key, in the interpreter's data, of how many conditions are around that hold in some turns only."""


def guarded(interpreter: Interpreter) -> bool:
    """Whether what is computed may be meant for some turns only."""
    return bool(interpreter.get_data(StructuredFunctions, GUARDS, list[Any]))


@contextmanager
def guard(interpreter: Interpreter, condition: Array) -> Generator[None]:
    """Says so of what is computed inside, unless the condition holds in all turns."""
    guards = interpreter.get_data(StructuredFunctions, GUARDS, list[Any])
    if everywhere := bool(condition.all()):
        yield
        return
    guards.append(everywhere)
    yield
    guards.pop()


def elements(array: Array, at: Sequence[Any], unchecked: bool) -> Array:
    """Elements at indices, which are numbers, or arrays over loops. Raises `ExirError` beyond the array, unless `unchecked`."""
    taken: list[Any] = []
    for index, size in zip(at, array.shape, strict=True):
        if unchecked:
            index = np.clip(index, 0, size - 1)
        elif np.size(index) and not 0 <= np.min(index) <= np.max(index) < size:
            raise ExirError(f"index {np.min(index)} to {np.max(index)} of a dimension of size {size}")
        taken.append(index)
    return array[tuple(taken)]


def chosen(condition: Array, yes: Sequence[Any], no: Sequence[Any]) -> PythonValues:
    """Of two lists of values those that a condition says."""
    if condition.ndim == 0:
        return tuple(yes) if condition else tuple(no)
    return tuple([np.where(condition, a, b) for a, b in zip(yes, no, strict=True)])


@register_impls
class StructuredFunctions(InterpreterFunctions):
    """Implementations of `scf` and `cf.assert`."""

    @impl(cf.AssertOp)
    def run_assert(self, interpreter: Interpreter, op: cf.AssertOp, args: PythonValues) -> PythonValues:
        holds = bool(np.all(args[0]))
        if not holds and guarded(interpreter):
            raise ExirError(
                f"{op.msg.data}: asserted in some turns of a loop, maybe not in those where it fails"
            )
        require(holds, op.msg.data)
        return ()

    @impl_terminator(scf.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: scf.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl_terminator(scf.ConditionOp)
    def run_condition(
        self, interpreter: Interpreter, op: scf.ConditionOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(scf.IfOp)
    def run_if(self, interpreter: Interpreter, op: scf.IfOp, args: PythonValues) -> PythonValues:
        condition = np.asarray(args[0])
        if condition.all() or not condition.any():
            region = op.true_region if condition.all() else op.false_region
            return interpreter.run_ssacfg_region(region, (), op.name) if region.blocks else ()
        with guard(interpreter, condition):
            yes, no = (
                interpreter.run_ssacfg_region(region, (), op.name)
                for region in (op.true_region, op.false_region)
            )
        return chosen(condition, yes, no)

    @impl(scf.ForOp)
    def run_for(self, interpreter: Interpreter, op: scf.ForOp, args: PythonValues) -> PythonValues:
        low, high, step = np.broadcast_arrays(*args[:3])
        turn, carried = low, args[3:]
        while (goes_on := np.asarray(turn < high)).any():
            with guard(interpreter, goes_on):
                made = interpreter.run_ssacfg_region(op.body, (turn, *carried), op.name)
            carried, turn = chosen(goes_on, made, carried), turn + step
        return tuple(carried)

    @impl(scf.WhileOp)
    def run_while(self, interpreter: Interpreter, op: scf.WhileOp, args: PythonValues) -> PythonValues:
        condition, *passed = interpreter.run_ssacfg_region(op.before_region, args, op.name)
        goes_on = np.asarray(condition)
        while goes_on.any():
            with guard(interpreter, goes_on):
                args = interpreter.run_ssacfg_region(op.after_region, tuple(passed), op.name)
                condition, *made = interpreter.run_ssacfg_region(op.before_region, args, op.name)
            passed, goes_on = chosen(goes_on, made, passed), goes_on & condition
        return tuple(passed)
