"""Running the `higher_order` dialect in the interpreter: regions are run as often as they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
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

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.errors import InputError
from xdsl_exir.interpreter.operators import Array


def decides(value: Any) -> bool:
    """A predicate's value: a boolean, or an array of one element."""
    return bool(np.asarray(value).item())


def elements(name: str, xs: Sequence[Array]) -> Iterator[tuple[Array, ...]]:
    """The arrays' elements along their leading dimension, together. Raises `InputError` where it is 0 or differs."""
    lengths = {len(x) for x in xs}
    if len(lengths) != 1 or 0 in lengths:
        shapes = ", ".join(str(list(x.shape)) for x in xs)
        raise InputError(f"{name}: leading dimensions must be equal and positive, shapes are {shapes}")
    [length] = lengths
    return (tuple(x[index, ...] for x in xs) for index in range(length))


def stacked(steps: Sequence[PythonValues]) -> PythonValues:
    """The values of all steps, each stacked along a new leading dimension."""
    return tuple(np.stack(values) for values in zip(*steps, strict=True))


@register_impls
class ControlFlowFunctions(InterpreterFunctions):
    """Implementations of the `higher_order` dialect."""

    @impl_terminator(cf.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: cf.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(cf.CondOp)
    def run_cond(self, interpreter: Interpreter, op: cf.CondOp, args: PythonValues) -> PythonValues:
        region = op.true_region if decides(args[0]) else op.false_region
        return interpreter.run_ssacfg_region(region, args[1:], op.name)

    def turns(self, interpreter: Interpreter, op: cf.LoopOp, args: PythonValues) -> Iterator[PythonValues]:
        """The carried values after each turn of a loop."""
        count = len(op.carried_inputs)
        carried, additional = args[:count], args[count:]
        while decides(*interpreter.run_ssacfg_region(op.cond_region, (*carried, *additional), op.name)):
            carried = interpreter.run_ssacfg_region(op.body_region, (*carried, *additional), op.name)
            yield carried

    @impl(cf.WhileLoopOp)
    def run_while_loop(
        self, interpreter: Interpreter, op: cf.WhileLoopOp, args: PythonValues
    ) -> PythonValues:
        carried = args[: len(op.carried_inputs)]
        for after in self.turns(interpreter, op, args):
            carried = after
        return carried

    @impl(cf.WhileLoopStackOutputOp)
    def run_while_loop_stack_output(
        self, interpreter: Interpreter, op: cf.WhileLoopStackOutputOp, args: PythonValues
    ) -> PythonValues:
        return stacked(list(self.turns(interpreter, op, args)) or [args[: len(op.carried_inputs)]])

    @impl(cf.MapOp)
    def run_map(self, interpreter: Interpreter, op: cf.MapOp, args: PythonValues) -> PythonValues:
        count = len(op.xs)
        return stacked(
            [
                interpreter.run_ssacfg_region(op.body_region, (*xs, *args[count:]), op.name)
                for xs in elements(op.name, args[:count])
            ]
        )

    @impl(cf.ScanOp)
    def run_scan(self, interpreter: Interpreter, op: cf.ScanOp, args: PythonValues) -> PythonValues:
        first, last = len(op.init), len(op.init) + len(op.xs)
        carried, outputs = args[:first], list[PythonValues]()
        for xs in elements(op.name, args[first:last]):
            inputs = (*carried, *xs, *args[last:])
            results = interpreter.run_ssacfg_region(op.combine_region, inputs, op.name)
            carried = results[:first]
            outputs.append(results[first:])
        return (*carried, *stacked(outputs))

    @impl(cf.AssociativeScanOp)
    def run_associative_scan(
        self, interpreter: Interpreter, op: cf.AssociativeScanOp, args: PythonValues
    ) -> PythonValues:
        count = len(op.xs)
        prefixes = list[PythonValues]()
        for xs in elements(op.name, args[:count]):
            step = xs
            if prefixes:
                inputs = (*prefixes[-1], *xs, *args[count:])
                step = interpreter.run_ssacfg_region(op.combine_region, inputs, op.name)
            prefixes.append(step)
        return stacked(prefixes)
