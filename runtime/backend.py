"""Running the `backend` dialect in the interpreter: a delegate does what its region says."""

from __future__ import annotations

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

from xdsl_exir.dialects import backend


@register_impls
class BackendFunctions(InterpreterFunctions):
    """Implementations of the `backend` dialect."""

    @impl_terminator(backend.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: backend.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(backend.DelegateOp)
    def run_delegate(
        self, interpreter: Interpreter, op: backend.DelegateOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, args, op.name)
