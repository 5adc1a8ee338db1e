"""Running the `backend` dialect: a delegate does what its backend makes of it, or what its region says.

A backend that `register_backend` was told of compiles each of its delegates when the program is compiled; delegates of
others are run by the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
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
from xdsl.ir import Operation

from xdsl_exir.dialects import backend
from xdsl_exir.errors import ExirError
from xdsl_exir.program import DEFAULT_METHOD, Program

CompiledDelegate: TypeAlias = Callable[..., Sequence[Any]]
"""Gives a delegate's outputs, arrays, for its inputs, arrays too, which it must not write to."""

BACKENDS: dict[str, Callable[[Program], CompiledDelegate]] = {}
"""What compiles the delegates of a backend, by its name."""


def register_backend(name: str, compile: Callable[[Program], CompiledDelegate]) -> None:
    """Says who runs the delegates of a backend. The last registration counts.

    `compile` gets what a delegate computes, as an edge program of one method `forward`, and returns a function from
    the method's arguments to the list of its results, as NumPy arrays. It is called once for each delegate, when a
    program is compiled, and raises `UnsupportedError` for what it cannot run.
    """
    BACKENDS[name] = compile


def compiler_of(op: Operation | None) -> Callable[[Program], CompiledDelegate] | None:
    """What compiles an operation, where it is a delegate of a registered backend."""
    return BACKENDS.get(op.backend.data) if isinstance(op, backend.DelegateOp) else None


def program_of(op: backend.DelegateOp) -> Program:
    """What a delegate computes, as a program of its own."""
    body = op.body.clone()
    end = body.block.last_op
    assert isinstance(end, backend.YieldOp)
    body.block.insert_op_before(ReturnOp(*end.values), end)
    end.detach()
    end.erase()
    types = [value.type for value in op.inputs], [value.type for value in op.outputs]
    return Program(ModuleOp([FuncOp(DEFAULT_METHOD, types, body)]))


@register_impls
class BackendFunctions(InterpreterFunctions):
    """Implementations of the `backend` dialect, in a module whose delegates are compiled by their backends."""

    def __init__(self, module: ModuleOp):
        self.compiled = {
            op: compile(program_of(op))
            for op in module.walk()
            if isinstance(op, backend.DelegateOp) and (compile := compiler_of(op)) is not None
        }

    @impl_terminator(backend.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: backend.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(backend.DispatchOp)
    def run_dispatch(
        self, interpreter: Interpreter, op: backend.DispatchOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, args, op.name)

    @impl(backend.DelegateOp)
    def run_delegate(
        self, interpreter: Interpreter, op: backend.DelegateOp, args: PythonValues
    ) -> PythonValues:
        from xdsl_exir.interpreter.interpreter import conform

        if op not in self.compiled:
            return interpreter.run_ssacfg_region(op.body, args, op.name)
        results = self.compiled[op](*args)
        if len(results) != len(op.outputs):
            raise ExirError(f"backend {op.backend} gives {len(results)} results for {len(op.outputs)}")
        return tuple(
            conform(result, output.type, f"backend {op.backend}")
            for result, output in zip(results, op.outputs, strict=True)
        )
