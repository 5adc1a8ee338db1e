"""`compile`: a program made runnable, and what running means: inputs checked, state bound, mutations written back."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
from xdsl.dialects.func import FuncOp

from xdsl_exir.dialects.describing import shortened, signature_text, user_inputs
from xdsl_exir.dialects.signature import (
    INPUT,
    MUTATIONS,
    OUTPUT,
    InputAttr,
    InputKind,
    InputSpec,
    OutputAttr,
    OutputKind,
    OutputSpec,
    written_inputs,
)
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError, InputError, Unsupported, UnsupportedError
from xdsl_exir.interpreter.backend import preprocessed_state, unregistered
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.operators import is_array
from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT
from xdsl_exir.lowering.sizes import static
from xdsl_exir.program import CallingConvention, Program, signature_of
from xdsl_exir.runtime.given_state import replaced_state
from xdsl_exir.runtime.guards import Guards, Seen, check_input, check_written, plain_array
from xdsl_exir.runtime.quick_calls import ByShapes, Quick, QuickCall, Shapes, shapes_of
from xdsl_exir.runtime.results import apart, lying
from xdsl_exir.runtime.targets import HostEngine, Memory, Target, find_target, register_target
from xdsl_exir.targets.cpu.machine import Processor, check_name, processor
from xdsl_exir.threads import UNFORKED, Lock, cached_property
from xdsl_exir.transforms.partition import InlineDelegates
from xdsl_exir.transforms.verify import refuse_buffers

Fallback: TypeAlias = Literal["error", "interpreter"]
Delegates: TypeAlias = Literal["backend", "region"]


if TYPE_CHECKING:
    from xdsl_exir.interpreter.interpreter import InterpreterEngine
    from xdsl_exir.runtime.drivers import DriverEngine


class Engine(Protocol):
    """Something that computes a method's results from its arguments, both flat."""

    @property
    def fallbacks(self) -> Sequence[Unsupported]:
        """The operators that the target could not take, and that the interpreter runs in its place."""
        ...

    @property
    def hosted(self) -> Sequence[Unsupported]:
        """The operators that are never native: what draws random numbers, and what LAPACK computes."""
        ...

    @property
    def generator(self) -> Generator | None:
        """Where random numbers come from, if it draws any."""
        ...

    def reads(self, method: str) -> Collection[int]:
        """Positions of the argument values that `run` looks at; in place of other state there may be None."""
        ...

    def updates(self, method: str) -> Collection[int]:
        """Positions of the argument values that `run` may write to: the results that are their new values are the same arrays then."""
        ...

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays and numbers)."""
        ...


@dataclass(frozen=True)
class Recipe:
    """How an engine is made of a program."""

    target: str
    fallback: Fallback
    cpu: str | Processor
    """What native code is for."""
    known: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    """Object files that are there already (`native.compile_native`)."""

    on: Target | None = field(default=None, repr=False)
    """The target, where it is not the one that is known by the name."""
    lasting: bool = True
    """Whether the program is one that will be compiled again, and its code worth keeping."""
    left: tuple[Unsupported, ...] = ()
    """What is in no delegate of a target's, and why."""

    def __call__(self, program: Program) -> Engine:
        """The engine of a program that was lowered to the target. Raises as `compile` does."""
        target = self.on or find_target(self.target)
        if target.whole is not None:
            return target.whole(program, self)
        host = find_target(target.host).whole
        if host is None:
            raise ExirError(f"target {target.name}: its host '{target.host}' does not run whole programs")
        return HostEngine(host(program, replace(self, fallback="interpreter")), self.left)


def _interpreter(program: Program, recipe: Recipe) -> Engine:
    return interpreting(program)


def interpreting(program: Program) -> InterpreterEngine | DriverEngine:
    """The interpreter as engine of a program of any stage. Raises `LoadError` for a driver that does not say how it is called."""
    from xdsl_exir.interpreter.interpreter import InterpreterEngine
    from xdsl_exir.runtime.drivers import DriverEngine
    from xdsl_exir.transforms.runnable import runnable
    from xdsl_exir.transforms.stages import has_drivers

    if has_drivers(program.module):
        return DriverEngine(program)
    return InterpreterEngine(runnable(program.module), program.signatures, program.state)


def _native(program: Program, recipe: Recipe) -> Engine:
    from xdsl_exir.runtime.fallback import make_engine

    cpu = processor(recipe.cpu) if isinstance(recipe.cpu, str) else recipe.cpu
    return make_engine(program.inlined(), recipe.fallback, cpu, recipe.known, recipe.lasting)


register_target(Target("interpreter", whole=_interpreter))
register_target(Target("native", memories=(Memory("arena", alignment=ALIGNMENT),), whole=_native))


def compile(
    program: Program,
    target: str | Target = "interpreter",
    fallback: Fallback = "error",
    cpu: str | None = None,
    delegates: Delegates = "backend",
) -> Executable:
    """Makes a program runnable, whatever its stage.

    `target` is `interpreter` (NumPy), `native` (MLIR 22 and LLVM), or another `Target` (`runtime.targets`) or its name. What a target cannot take is an error, or with
    `fallback="interpreter"` left to the interpreter and listed in the result's `fallbacks`. `cpu` is the processor that native code is for: `native`,
    the one that this runs on, or a level of the x86-64 ABI that it can run (`x86-64`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`).
    The default is what the environment variable `XDSL_EXIR_CPU` says, else `native`.

    Delegates are run by their backends, those of a backend that is called as the target by the target itself; with
    `delegates="region"` the target runs what their regions say.

    Raises `UnsupportedError` that lists every operator and dtype in the way, and every delegate of a backend that nobody registered,
    `ExirError` for an unknown target or processor, and for one whose code cannot run here.
    """
    if not isinstance(program, Program):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ExirError(
            f"expected a Program, got {type(program).__name__}; xdsl_exir.load and from_exported_program make one"
        )
    if fallback not in get_args(Fallback):
        raise ExirError(f"no fallback '{fallback}'; there is {', '.join(get_args(Fallback))}")
    target = find_target(target)
    if delegates not in get_args(Delegates):
        raise ExirError(
            f"delegates are run by their {' or their '.join(get_args(Delegates))}, not '{delegates}'"
        )
    refuse_buffers(program, f"target {target.name}")
    program, left = target.lowered(program)
    if left and fallback == "error":
        raise UnsupportedError(left)
    if delegates == "region":
        program = program.apply(InlineDelegates())
    elif missing := unregistered(program.module, target.name if target.whole else ""):
        raise UnsupportedError(missing)
    cpu = check_name(cpu)
    make = Recipe(target.name, fallback, cpu, on=target, left=tuple(left))
    return Executable(program, make(program), make)


class Executable:
    """A compiled program. Its buffers start as the program's and persist across calls.

    It may be called from any number of threads. Calls of methods that change buffers run one after the other, each on what
    the one before left; a call of another method works on the buffers as some such call left them, all of the same one.
    Random numbers come from one generator: which call draws which is not said. Arrays that a call writes to (inputs that
    the program changes) are the caller's to keep from others. The child of a fork goes on with buffers of its own, as the
    last call that had ended left them.
    """

    def __init__(
        self,
        program: Program,
        engine: Engine,
        recipe: Recipe | None = None,
        whole: Callable[[], Program] | None = None,
    ):
        """Of one that was saved, `program` declares the methods, and `whole` gives them with their bodies."""
        self._whole = whole or (lambda: program)
        self.engine = engine
        self.recipe = recipe
        """How the engine was made."""
        self.initial = program.state
        """State as it was compiled with: of what dtypes and shapes it is, and what shares memory."""
        self.state = dict(program.state)
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        """State as arrays; what no call needs, when it is asked for. Replaced as a whole by what changes state: who has it has
        one moment's."""
        self.lock = Lock()
        """Held by calls of methods that change state."""
        self._gradients: Mapping[str, Any] = {}
        self._here = threading.local()
        self.methods = {
            name: Method(self, signature_of(function), program.conventions.get(name))
            for name, function in program.methods.items()
        }
        if not self.methods:
            raise ExirError("a program without methods")
        self.written = frozenset[str]().union(*(method.updated for method in self.methods.values()))
        """Names of the state that calls write to where it lies."""
        self._first = next(iter(self.methods.values()))
        self.changed = frozenset[str]().union(*(method.changed for method in self.methods.values()))
        """Names of the state that calls change."""
        self._needed = frozenset[str]().union(*(method.needed for method in self.methods.values()))
        self._saved = frozenset(
            spec.target for method in self.methods.values() for spec in method.inputs if is_saved(spec)
        )
        """Names that a module's `state_dict` has."""
        for name in self._needed & self.state.keys():
            self.first(self.arrays, name)

    def __repr__(self) -> str:
        lines = [repr(method) for method in self.methods.values()]
        return "\n  ".join([f"Executable ({type(self.engine).__name__})", *lines])

    def __reduce__(self) -> tuple[Any, ...]:
        raise ExirError("compiled code cannot be copied or pickled; pickle its program, and compile that")

    @property
    def program(self) -> Program:
        """The program that was compiled."""
        return self._whole()

    @property
    def fallbacks(self) -> tuple[Unsupported, ...]:
        """The operators that the target could not take, and that the interpreter runs in its place."""
        return tuple(self.engine.fallbacks)

    @property
    def hosted(self) -> tuple[Unsupported, ...]:
        """The operators that Python computes between native pieces, with `fallback="error"` as well, each with the reason: what
        draws random numbers, and linear algebra that is left to LAPACK."""
        return tuple(self.engine.hosted)

    @property
    def slow_paths(self) -> tuple[Unsupported, ...]:
        """What takes the slow road: native dispatches that no kernel is written for, with the share of a call that each is estimated to take, where
        that is noticeable; what Python computes between native pieces; and what the interpreter runs in place of native code."""
        native: Sequence[Unsupported] = getattr(self.engine, "slow_paths", ())
        return (*native, *self.hosted, *self.fallbacks)

    @property
    def gradients(self) -> Mapping[str, Any]:
        """What the last call of a program with its backward pass found, by the parameter or input it is the gradient of:
        the last call of this thread, in a thread that made none the last of all."""
        return getattr(self._here, "gradients", self._gradients)

    def method(self, name: str | None = None) -> Method:
        """A method by name, the first by default."""
        if name is None:
            return next(iter(self.methods.values()))
        if name not in self.methods:
            raise ExirError(f"no method '{name}'; the program has {', '.join(self.methods)}")
        return self.methods[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the first method, as the model is called in Python. Raises `InputError` for inputs that do not fit."""
        return self._first(*args, **kwargs)

    def manual_seed(self, seed: int) -> None:
        """Starts the stream of random numbers anew: from then on they are those that PyTorch draws on the CPU after
        `torch.manual_seed(seed)`, for the same operators on the same shapes and dtypes in the same order (`interpreter.generator` says
        how far). Raises `ExirError` for a seed that is no integer of 64 bits."""
        if not isinstance(seed, (int, np.integer)) or not -(1 << 63) <= seed < 1 << 64:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ExirError(f"a seed is an integer of 64 bits, not {seed!r}")
        if self.engine.generator is not None:
            self.engine.generator.seed(int(seed))

    def flat(self, inputs: Sequence[Any]) -> list[Any]:
        """Runs the first method on flat user inputs; returns its flat user outputs."""
        return self._first.flat(inputs)

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """The array of a parameter, buffer or constant as it is now; of what calls write to where it lies, a copy."""
        if name in self.written:
            with self.lock:
                return self.arrays[name].copy(order="K")
        arrays = self.arrays
        return arrays[name] if name in arrays else self.first(arrays, name)

    def first(self, arrays: dict[str, np.ndarray[Any, Any]], name: str) -> np.ndarray[Any, Any]:
        """The array of state that is asked for the first time, among these: as the program has it, as no call wrote to it."""
        if name not in self.state:
            raise ExirError(f"the program has no data for '{name}'")
        array = self.state[name].numpy()
        # Other executables start from the program's as well.
        return arrays.setdefault(name, array.copy(order="K") if name in self.changed else array)

    def load_state(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Takes other weights, by the names of the program's state, as arrays or tensors; they are copied.

        What is compiled stays as it is: natively weights are laid out anew for the same code, which the cache has. State that is not
        named is as it was; `strict`, all parameters and buffers that the module's `state_dict` has must be. Names that share their
        memory have one value. No call may run meanwhile.

        Raises `InputError` for names that the program does not have, and arrays of another dtype or shape.
        """
        if self.recipe is None:
            raise ExirError("this executable was not made by compile()")
        with self.lock:
            new = replaced_state(self.initial, state, self._saved if strict else frozenset())
            if fixed := sorted(new.keys() & preprocessed_state(self.program.module)):
                raise InputError(
                    f"'{fixed[0]}' is in the bytes that a backend made of its delegate: preprocess it anew"
                )
            self.state = {**self.state, **new}
            before = self.engine.generator
            self.engine = replace(self.recipe, lasting=False)(replace(self.program, state=self.state))
            for method in self.methods.values():
                method.__dict__.pop("quick", None)
            if before is not None and self.engine.generator is not None:
                self.engine.generator.follow(before)
            kept = {name: array for name, array in self.arrays.items() if name not in new}
            self.arrays = {}
            for name in self._needed:
                if name in new:
                    self.first(self.arrays, name)
            self.arrays |= kept

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes all that it takes to run it to one file, for `xdsl_exir.load_executable`: code, weights and other state as they
        are now, and how methods are called. A file of that name is replaced once the new one is on the disk.

        Raises `UnsupportedError` that lists what cannot be saved (delegates that their backends compile in this process), `OSError`
        where the file cannot be written.
        """
        from xdsl_exir.runtime.saved import save_executable

        save_executable(self, path)

    def leave(self, state: Mapping[str, Any], gradients: Mapping[str, Any]) -> None:
        """Takes over what a call leaves behind, all at once."""
        if state:
            self.arrays = {**self.arrays, **state}
        if gradients:
            self._here.gradients = self._gradients = gradients


class Method:
    """One method of a compiled program."""

    def __init__(self, owner: Executable, function: FuncOp, convention: CallingConvention | None):
        self.owner = owner
        self.name = function.sym_name.data
        self.convention = convention
        self.types = function.function_type.inputs.data
        self.inputs = list(_specs(function.arg_attrs, INPUT, InputAttr, len(self.types), _USER_INPUT))
        self.targets = [spec.target for spec in self.inputs]
        self.given = [
            (position, spec.target, self.types[position])
            for position, spec in enumerate(self.inputs)
            if spec.kind is InputKind.USER_INPUT
        ]
        """Positions of user inputs, with their names and types."""
        self.plain = [plain_array(type) for _, _, type in self.given]
        """Their dtypes and shapes, where arrays of these need no other look."""
        self.guards = Guards.of(function)
        results = function.function_type.outputs.data
        self.outputs = list(_specs(function.res_attrs, OUTPUT, OutputAttr, len(results), _USER_OUTPUT))
        self.mutations = [MUTATIONS.get(spec.kind) for spec in self.outputs]
        """By result, the kind of input that it is the new value of."""
        self.writes = written_inputs(self.inputs, self.outputs)
        """By result, the position of that input."""
        writes = {at for at in self.writes if at is not None}
        self.written = sorted(at for at in writes if self.inputs[at].kind is InputKind.USER_INPUT)
        """Positions of the user inputs that are written to."""
        self.changed = {self.targets[at] for at in writes.difference(self.written)}
        """Names of the state that is."""
        reads = owner.engine.reads(self.name)
        self.taken_state = [
            (position, spec.target)
            for position, spec in enumerate(self.inputs)
            if spec.kind is not InputKind.USER_INPUT and (position in reads or spec.target in self.changed)
        ]
        """Positions of the state that a call takes, with its names: of a large model natively there is little, and no call is to
        look at all weights."""
        self.needed = {target for _, target in self.taken_state}
        self.changes_state = bool(self.changed)
        self.updated = {self.targets[position] for position in owner.engine.updates(self.name)}
        """Names of what a call may write to where it lies."""
        self.signature = function
        """For messages."""
        self.by_shapes = ByShapes(self.quick_of)

    @cached_property
    def alone(self) -> int:
        """How many arguments a call has, where each is an array and positional; -1 elsewhere. Raises `InputError` where what the model
        returns cannot be made."""
        from xdsl_exir.exchange import pytree

        if self.convention is None or any(slot.is_constant for slot in self.convention.inputs):
            return -1
        pytree.check_known(self.convention.out_spec)
        match self.convention.in_spec.children:
            case (positional, named) if not named.children and all(
                x.kind is None for x in positional.children
            ):
                return len(positional.children)
            case _:
                return -1

    @cached_property
    def in_order(self) -> Callable[[list[Any]], Any]:
        """What a call returns, of the arrays in it."""
        from xdsl_exir.exchange import pytree

        spec = self.convention.out_spec if self.convention is not None else pytree.LEAF
        return itemgetter(0) if spec.kind is None else partial(pytree.unflatten, spec=spec)

    @cached_property
    def is_symbolic(self) -> bool:
        """Whether arrays of more shapes than one may be given."""
        return any(plain is None for plain in self.plain)

    @cached_property
    def quick(self) -> QuickCall | None:
        """A call that does all of `flat`, for arrays as they usually are, where these have one shape each."""
        return None if self.is_symbolic or self.guards.conditions else self.quick_of(())

    def quick_of(self, shapes: Shapes) -> QuickCall | None:
        """A call that does all of `flat` for arrays as they usually are, of these shapes where some are symbolic: the engine's, where a call takes its inputs
        alone, changes nothing, and returns what is computed as it lies."""
        engine, convention = self.owner.engine, self.convention
        usual = all(spec.kind is OutputKind.USER_OUTPUT for spec in self.outputs)
        orders = {at: spec.dim_order for at, spec in enumerate(self.outputs) if spec.dim_order is not None}
        whole = convention is None or not any(slot.is_constant for slot in convention.outputs)
        arrays = all(is_tensor_type(type) for _, _, type in self.given)
        if not isinstance(engine, Quick) or not usual or not whole or not arrays:
            return None
        if self.taken_state or self.written:
            return None
        metas = [tensor_meta(type) for _, _, type in self.given]
        types = [
            (meta.dtype.numpy, shape)
            for meta, shape in zip(metas, shapes or [static(meta.shape) for meta in metas], strict=True)
        ]
        return engine.quick(self.name, types, [position for position, _, _ in self.given], orders)

    def __repr__(self) -> str:
        return signature_text(self.signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the method as the model is called in Python: pytrees of arrays in, pytrees out."""
        if not kwargs and len(args) == self.alone and (found := self.quickly(args)) is not None:
            return self.in_order(found)
        from xdsl_exir.exchange import pytree

        convention = self.convention
        if convention is None:
            if kwargs:
                raise InputError(
                    "this program's calling convention is not known; give flat inputs by position"
                )
            return self.flat(args)
        pytree.check_known(convention.out_spec)
        try:
            leaves = pytree.flatten_call(args, kwargs, convention.in_spec, convention.arg_names)
        except InputError as error:
            raise InputError(f"{error}; {self.taken()}") from None
        inputs: list[Any] = []
        for leaf, slot in zip(leaves, convention.inputs, strict=True):
            if not slot.is_constant:
                inputs.append(leaf)
            elif leaf != slot.constant or type(leaf) is not type(slot.constant):
                raise InputError(f"input '{slot.name}' was {slot.constant!r} at export, is {leaf!r}")
        return self.in_order(self.flat(inputs))

    def flat(self, inputs: Sequence[Any]) -> list[Any]:
        """Runs the method on flat user inputs (arrays or numbers) and returns its flat user outputs.

        Inputs are those that the program takes. Outputs are all that the model returns, constants among them.
        """
        if (found := self.quickly(inputs)) is not None:
            return found
        outputs = self.run(inputs)
        if self.is_symbolic:
            self.by_shapes.meet(shapes_of(inputs))
        if self.convention is None:
            return outputs
        computed = iter(outputs)
        return [slot.constant if slot.is_constant else next(computed) for slot in self.convention.outputs]

    def quickly(self, inputs: Sequence[Any]) -> list[Any] | None:
        """What `flat` returns, for arrays as they usually are; None where more of Python is needed: then nothing ran."""
        quick = self.by_shapes.get(shapes_of(inputs)) if self.is_symbolic else self.quick
        return None if quick is None else quick(inputs)

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """Runs the method; returns the user outputs that it computes. Gradients are the executable's from then on."""
        if not self.changes_state and self.needed.isdisjoint(self.owner.written):
            return self._run(inputs)
        with UNFORKED, self.owner.lock:
            return self._run(inputs)

    def _run(self, inputs: Sequence[Any]) -> list[Any]:
        values = self.bind(inputs)
        results = self.owner.engine.run(self.name, values)
        owned: list[Any] = [None if at is None else values[at] for at in self.writes]
        if self.written:
            results = apart(results, [values[at] for at in self.written], owned)
        outputs: list[Any] = []
        # (Made of `dict[str, Any]` each would take microseconds.)
        state: dict[str, Any] = {}
        gradients: dict[str, Any] = {}
        for spec, kind, old, value in zip(self.outputs, self.mutations, owned, results, strict=True):
            if kind is not None and value is old:
                continue  # it was written where it lies
            if kind is InputKind.USER_INPUT:
                np.copyto(old, value)
            elif kind is not None:
                lain = np.empty_like(old)  # in the order of dimensions that it has
                np.copyto(lain, value)
                state[spec.target] = lain
            elif spec.kind in GRADIENTS:
                gradients[spec.target] = value
            elif spec.kind is not OutputKind.TOKEN:
                outputs.append(lying(value, spec.dim_order))
        if state or gradients:
            self.owner.leave(state, gradients)
        return outputs

    def bind(self, inputs: Sequence[Any]) -> list[Any]:
        """Argument values: user inputs, checked, and state."""
        if len(inputs) != len(self.given):
            raise InputError(f"{self.name} takes {len(self.given)} inputs, got {len(inputs)}; {self.taken()}")
        arrays, values = self.owner.arrays, list[Any]([None] * len(self.inputs))
        seen: list[Seen] = []
        for (position, target, type), plain, value in zip(self.given, self.plain, inputs, strict=True):
            if value.__class__ is np.ndarray and (value.dtype, value.shape) == plain:
                values[position] = value
            else:
                values[position] = check_input(target, value, type, seen, position in self.written)
        for position, target in self.taken_state:
            known = arrays.get(target)
            values[position] = self.owner.first(arrays, target) if known is None else known
        self.guards.check(seen)
        if self.written:
            self.check_written(values)
        return values

    def taken(self) -> str:
        """`forward takes x: float32[4, 64]`."""
        return f"{self.name} takes {shortened(user_inputs(self.signature)) or 'no inputs'}"

    def check_written(self, values: Sequence[Any]) -> None:
        """Raises `InputError` for user inputs that cannot be written to without others changing, or at all."""
        pairs = {at: (name, values[at]) for at, name, _ in self.given}
        for at in self.written:
            name, value = pairs[at]
            if is_array(value):
                check_written(name, value, tuple(pair for other, pair in pairs.items() if other != at))


def is_saved(spec: InputSpec) -> bool:
    """Whether an argument is what a module's `state_dict` has."""
    return spec.kind is InputKind.PARAMETER or (spec.kind is InputKind.BUFFER and spec.persistent)


GRADIENTS = (OutputKind.GRADIENT_TO_PARAMETER, OutputKind.GRADIENT_TO_USER_INPUT)
_USER_INPUT = InputSpec(InputKind.USER_INPUT)
_USER_OUTPUT = OutputSpec(OutputKind.USER_OUTPUT)


def _specs(
    attrs: Iterable[Any] | None, name: str, kind: type[InputAttr] | type[OutputAttr], count: int, default: Any
) -> Iterable[Any]:
    if not attrs:
        return [default] * count
    found: list[Any] = []
    for item in attrs:
        attr = item.data.get(name)
        found.append(attr.data if isinstance(attr, kind) else default)
    return found
