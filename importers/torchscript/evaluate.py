"""One operation at a time, run as soon as its operands are known: by the interpreter's functions, decomposed where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Operation, Region

from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sym_ops import SymOp
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.interpreter import (
    PYTHON_TYPES,
    RNG,
    OperatorFunctions,
    literal_array,
    make_interpreter,
    run_function,
    run_operator,
)
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.transforms.runnable import runnable


class Evaluator:
    """Runs operations. Programs made of one that the interpreter has no function for are kept."""

    def __init__(self, seed: int | None = None):
        self.rng = Generator(seed)
        self._made: dict[Any, Interpreter] = {}

    def results(self, op: Operation, values: Sequence[Any]) -> Sequence[Any] | None:
        """The results of an operation for the values of its operands; None where it is none that can be run alone."""
        match op:
            case OperatorOp():
                with np.errstate(all="ignore"):
                    if IMPLS.find(op.SPEC) is not None:
                        return run_operator(op, tuple(values), self.rng)
                return run_function(self._program(op), "main", tuple(values))
            case NumberOp():
                return (op.number,)
            case ConstantOp():
                return (literal_array(op),)
            case RefineOp():
                return tuple(values)
            case SymOp():
                value = op.value_of(tuple(values))
                number = value.evaluate({}) if isinstance(value, Expr) else value
                return (PYTHON_TYPES[type(op.result.type)](number),)
            case _:
                return None

    def _program(self, op: OperatorOp) -> Interpreter:
        key = (
            type(op),
            tuple(operand.type for operand in op.operands),
            tuple(op.result_types),
            tuple(op.properties.items()),
        )
        if key not in self._made:
            block = Block(arg_types=[operand.type for operand in op.operands])
            clone = op.clone(dict(zip(op.operands, block.args, strict=True)))
            # The same value may be several operands.
            clone.operands = list(block.args)
            block.add_ops([clone, ReturnOp(*clone.results)])
            types = [arg.type for arg in block.args], list(op.result_types)
            module = ModuleOp([FuncOp("main", types, Region(block))])
            self._made[key] = make_interpreter(runnable(module))
            self._made[key].set_data(OperatorFunctions, RNG, self.rng)
        return self._made[key]
