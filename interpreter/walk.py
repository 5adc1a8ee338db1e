"""How a program is walked: xDSL's interpreter, which reads a block once, and keeps what it read for the calls to come.

A call of little work is not to take its time with looking up what stays the same: programs with parts that are native have little else to do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.interpreter import Interpreter, OpImplResult, PythonValues, ReturnedValues
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.scoped_dict import ScopedDict

from xdsl_exir.errors import ExirError
from xdsl_exir.locations import name_place


class Step(NamedTuple):
    """An operation of a block that is walked from the first to the last."""

    op: Operation
    operands: tuple[int, ...]
    """Which ones of the block's values, arguments first."""
    values: int
    """How many values there are after it."""


@dataclass
class ProgramInterpreter(Interpreter):
    """xDSL's interpreter, but for how it fails: an error names its operation and line instead of printing the module. What a symbol names and what a
    block holds is looked up once: a module that was run stays as it is."""

    named: dict[str | SymbolRefAttr, Operation] = field(default_factory=dict[str | SymbolRefAttr, Operation])
    steps: dict[Block, list[Step] | None] = field(default_factory=dict[Block, "list[Step] | None"])

    def get_op_for_symbol(self, symbol: str | SymbolRefAttr) -> Operation:
        found = self.named.get(symbol)
        if found is None:
            found = self.named[symbol] = super().get_op_for_symbol(symbol)
        return found

    def run_ssacfg_region(self, region: Region, args: PythonValues, name: str = "unknown") -> PythonValues:
        """As xDSL's; in regions of one block, which nearly all are, the values that it has itself are looked up at once."""
        block, outer = region.blocks.first, self._ctx
        if block is None or block.next_block is not None:
            return super().run_ssacfg_region(region, args, name)
        if block not in self.steps:
            self.steps[block] = self.read(block)
        steps = self.steps[block]
        if steps is not None and len(args) == len(block.args):
            return self.walk(steps, args)
        held: dict[SSAValue, Any] = dict(zip(block.args, args, strict=False))
        self._ctx = ScopedDict(outer, name=name, local_scope=held)
        for op in block.ops:
            inputs = tuple(held[value] if value in held else outer[value] for value in op.operands)
            result = self._run_op(op, inputs)
            if isinstance(result.terminator_value, ReturnedValues):
                self._ctx = outer
                return result.terminator_value.values
            held.update(zip(op.results, result.values, strict=True))
        self._ctx = outer
        return ()

    def read(self, block: Block) -> list[Step] | None:
        """The steps of a block; None for one whose operations have regions, which may see its values, or see others than its own."""
        places: dict[SSAValue, int] = {value: at for at, value in enumerate(block.args)}
        steps: list[Step] = []
        for op in block.ops:
            if op.regions or not places.keys() >= set(op.operands):
                return None
            operands = tuple(places[value] for value in op.operands)
            places |= {value: len(places) + at for at, value in enumerate(op.results)}
            steps.append(Step(op, operands, len(places)))
        return steps

    def walk(self, steps: list[Step], args: PythonValues) -> PythonValues:
        """Runs the steps of a block."""
        values = list(args)
        for op, operands, count in steps:
            result = self._run_op(op, tuple([values[at] for at in operands]))
            if isinstance(result.terminator_value, ReturnedValues):
                return result.terminator_value.values
            values += result.values
            if len(values) != count:
                raise ExirError(f"{op.name} gives {len(result.values)} results for {len(op.results)}")
        return ()

    def _run_op(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        for listener in self.listeners:
            listener.will_interpret_op(op, inputs)
        functions, implementation = self._impls._impl_dict[type(op)]  # pyright: ignore[reportPrivateUsage]
        try:
            result = implementation(functions, self, op, inputs)
        except Exception as error:
            name_place(error, op)
            raise
        for listener in self.listeners:
            listener.did_interpret_op(op, result.values)
        return result


def for_one_call(interpreter: Interpreter) -> Interpreter:
    """An interpreter for one call, which shares all but the values of operations. (`copy.copy` of it would take microseconds.)"""
    call = object.__new__(type(interpreter))
    call.__dict__.update(interpreter.__dict__)
    call._ctx = ScopedDict(name="root")  # pyright: ignore[reportPrivateUsage]
    return call
