"""Running the `backend` dialect: a delegate does what its backend makes of it, or what its region says.

A backend has up to three functions. `compile` makes something that runs of a delegate, in this process. Or in two halves:
`preprocess` makes bytes of it, which are saved with the program, and `load`, the runtime half, makes something that runs of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
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
from xdsl.ir import Attribute, Operation

from xdsl_exir.dialects import backend
from xdsl_exir.dialects.signature import INPUT, RANGES, InputAttr, InputKind, InputSpec
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.program import DEFAULT_METHOD, Program

State: TypeAlias = Mapping[str, Any]
"""The state of a program by name: what has a method `numpy`."""
CompiledDelegate: TypeAlias = Callable[..., Sequence[Any]]
"""Gives a delegate's outputs, arrays, for its inputs, arrays too, which it must not write to."""
Specs: TypeAlias = Mapping[str, str]
"""What a backend is told of a delegate besides."""


@dataclass(frozen=True)
class Backend:
    """Who runs the delegates of a backend."""

    compile: Callable[[Program], CompiledDelegate] | None = None
    preprocess: Callable[[Program, Specs], bytes] | None = None
    load: Callable[[bytes, Specs], CompiledDelegate] | None = None

    def compiled(self, op: backend.DelegateOp, state: State) -> CompiledDelegate:
        """What runs a delegate. Raises `UnsupportedError` where the backend has no function for it as it is."""
        blob = blob_of(op, state)
        if blob is not None:
            if self.load is not None:
                return self.load(blob, specs_of(op))
            reason = "it is preprocessed, and the backend has no `load`"
        elif self.compile is not None:
            return self.compile(program_of(op, state))
        elif self.preprocess is not None and self.load is not None:
            return self.load(self.preprocessed(op, state), specs_of(op))
        else:
            reason = "it is not preprocessed, and only `load` is registered"
        raise UnsupportedError(
            [Unsupported(f"delegate of backend {op.backend.data}", reason, location_text(op))]
        )

    def preprocessed(self, op: backend.DelegateOp, state: State) -> bytes:
        """The bytes that the backend makes of a delegate. Raises `ExirError` for what is no bytes."""
        assert self.preprocess is not None
        made = self.preprocess(program_of(op, state), specs_of(op))
        if not isinstance(made, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ExirError(f"preprocess of backend {op.backend.data} gives {type(made).__name__}, not bytes")
        return bytes(made)


BACKENDS: dict[str, Backend] = {}
"""Backends by name."""


def register_backend(
    name: str,
    compile: Callable[[Program], CompiledDelegate] | None = None,
    *,
    preprocess: Callable[[Program, Specs], bytes] | None = None,
    load: Callable[[bytes, Specs], CompiledDelegate] | None = None,
) -> None:
    """Says who runs the delegates of a backend. The last registration counts.

    `compile` and `preprocess` get what a delegate computes, as an edge program of one method `forward` whose state are the constants
    that it owns; they are called once for each delegate, and raise `UnsupportedError` for what they cannot run. `compile`, and `load` of the
    bytes that `preprocess` made, return a function from the delegate's inputs to the list of its results, as NumPy arrays. A
    process that only runs programs needs `load` alone. Raises `ExirError` without any function.
    """
    if compile is None and preprocess is None and load is None:
        raise ExirError(f"backend {name}: none of compile, preprocess and load is given")
    BACKENDS[name] = Backend(compile, preprocess, load)


def registered(name: str) -> Backend | None:
    """A backend by name; None for one that nobody registered."""
    return BACKENDS.get(name)


def registered_names() -> tuple[str, ...]:
    """The names of the backends that are registered."""
    return tuple(BACKENDS)


def backend_of(op: Operation | None) -> Backend | None:
    """The registered backend of an operation, where it is a delegate of one."""
    return BACKENDS.get(op.backend.data) if isinstance(op, backend.DelegateOp) else None


def unregistered(module: ModuleOp, own: str = "") -> list[Unsupported]:
    """The delegates of backends that nobody registered, but for those of the target itself."""
    return [
        Unsupported(
            f"delegate of backend {op.backend.data}",
            'it is not registered: register_backend does so, delegates="region" runs what its region says',
            location_text(op),
        )
        for op in module.walk()
        if isinstance(op, backend.DelegateOp) and op.backend.data not in (own, *BACKENDS)
    ]


def refuse_delegates(module: ModuleOp, own: str, reason: str) -> None:
    """Raises `UnsupportedError` that lists the delegates of all backends but one."""
    found = [op for op in module.walk() if isinstance(op, backend.DelegateOp) and op.backend.data != own]
    if found:
        raise UnsupportedError(
            [Unsupported(f"delegate of backend {op.backend.data}", reason, location_text(op)) for op in found]
        )


def preprocessed_state(module: ModuleOp) -> set[str]:
    """Names of the state that delegates own which are preprocessed, and of what their backends made."""
    done = [op for op in module.walk() if isinstance(op, backend.DelegateOp) and op.processed is not None]
    return {
        name
        for op in done
        for name in (str(op.processed and op.processed.data), *(spec.target for spec in op.owned))
    }


def specs_of(op: backend.DelegateOp) -> Specs:
    """What a backend is told of a delegate."""
    held: Mapping[str, Attribute] = op.specs.data if op.specs is not None else {}
    return {key: attr.data if isinstance(attr, StringAttr) else str(attr) for key, attr in held.items()}


def blob_of(op: backend.DelegateOp, state: State) -> bytes | None:
    """The bytes that its backend made of a delegate; None where it made none. Raises `ExirError` where they are missing."""
    if op.processed is None:
        return None
    data = state.get(op.processed.data)
    if data is None:
        raise ExirError(f"the program has no data for '{op.processed.data}', of backend {op.backend.data}")
    return data.numpy().tobytes()


def program_of(op: backend.DelegateOp, state: State = MappingProxyType({})) -> Program:
    """What a delegate computes, as a program of its own, whose state is what the delegate owns."""
    body = op.body.clone()
    end = body.block.last_op
    assert isinstance(end, backend.YieldOp)
    types = [arg.type for arg in body.block.args], [value.type for value in op.outputs]
    body.block.insert_op_before(ReturnOp(*end.values), end)
    end.detach()
    end.erase()
    given = len(op.inputs)
    inputs = [
        InputSpec(InputKind.USER_INPUT, arg.name_hint or f"arg_{arg.index}")
        for arg in body.block.args[:given]
    ]
    owned = op.owned
    attrs = ArrayAttr(
        [DictionaryAttr({INPUT: InputAttr(spec)}) for spec in (*inputs, *owned)] if owned else []
    )
    function = FuncOp(DEFAULT_METHOD, types, body, arg_attrs=attrs if owned else None)
    if op.ranges is not None:
        function.attributes[RANGES] = op.ranges
    return Program(
        ModuleOp([function]), {spec.target: state[spec.target] for spec in owned if spec.target in state}
    )


@register_impls
class BackendFunctions(InterpreterFunctions):
    """Implementations of the `backend` dialect, in a module whose delegates are compiled by their backends."""

    def __init__(self, module: ModuleOp, state: State = MappingProxyType({})):
        delegates = [op for op in module.walk() if isinstance(op, backend.DelegateOp)]
        self.compiled = {
            op: found.compiled(op, state) for op in delegates if (found := backend_of(op)) is not None
        }
        self.owned = {
            op: tuple(_array(state, spec.target) for spec in op.owned)
            for op in delegates
            if op not in self.compiled
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

    @impl(backend.AllocOp)
    def run_alloc(self, interpreter: Interpreter, op: backend.AllocOp, args: PythonValues) -> PythonValues:
        return (None,)  # nobody reads it: an operator that writes gives what it wrote

    @impl(backend.OutVariantOp)
    def run_out_variant(
        self, interpreter: Interpreter, op: backend.OutVariantOp, args: PythonValues
    ) -> PythonValues:
        raise ExirError(f"{op.target.data} is run as {op.functional.data}")

    @impl(backend.DelegateOp)
    def run_delegate(
        self, interpreter: Interpreter, op: backend.DelegateOp, args: PythonValues
    ) -> PythonValues:
        from xdsl_exir.interpreter.interpreter import conform

        if op not in self.compiled:
            return interpreter.run_ssacfg_region(op.body, (*args, *self.owned[op]), op.name)
        results = self.compiled[op](*args)
        if len(results) != len(op.outputs):
            raise ExirError(f"backend {op.backend} gives {len(results)} results for {len(op.outputs)}")
        return tuple(
            conform(result, output.type, f"backend {op.backend}")
            for result, output in zip(results, op.outputs, strict=True)
        )


def _array(state: State, name: str) -> np.ndarray[Any, Any]:
    if name not in state:
        raise ExirError(f"the program has no data for '{name}', which a delegate owns")
    return state[name].numpy()
