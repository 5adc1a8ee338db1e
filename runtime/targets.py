"""Targets: each one description of what a piece of hardware, or of software, takes and how it runs it.

    TARGET = register_target(Target("npu", operators=(linear_relu,), legal=("npu.*", "aten.relu"), preprocess=..., load=...))
    run = xdsl_exir.compile(program, TARGET)                 # or target="npu", in Python and on the command line

A program is taken to a target in the order of its fields: decomposed but for what is to be kept, its operators fused, what is legal and
chosen by the partitioner put into delegates. What is left is the host's: an error that says why, or with
`fallback="interpreter"` listed in the executable's `fallbacks`.

The interpreter and native code are targets too, which take programs as a whole. Those of packages are entry points of the group
`xdsl_exir.targets` (`npu = "mypackage.npu:TARGET"`); `XDSL_EXIR_TARGETS` names `.py` files that register some.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from xdsl_exir.dialects.backend import GROUP, load_targets
from xdsl_exir.dialects.exir import ConstantOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.spec import find
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.interpreter.backend import CompiledDelegate, Specs, register_backend
from xdsl_exir.interpreter.interpreter import conform, literal_array
from xdsl_exir.locations import location_text
from xdsl_exir.narrowing import is_sequence
from xdsl_exir.program import Program
from xdsl_exir.threads import once
from xdsl_exir.transforms.backend_ops import BackendOp
from xdsl_exir.transforms.decompose_aten import DecomposeAten
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
from xdsl_exir.transforms.fuse_operators import DecomposeBackend, FuseOperators, operators_in
from xdsl_exir.transforms.partitioner import Candidate, PartitionBy, Predicate
from xdsl_exir.transforms.stages import EDGE, stage_of

if TYPE_CHECKING:
    from xdsl_exir.interpreter.generator import Generator
    from xdsl_exir.runtime.executable import Engine, Recipe


@dataclass(frozen=True)
class Memory:
    """A memory of a target."""

    name: str
    nbytes: int | None = None
    """How much there is; None where that is no matter."""
    alignment: int = 64
    space: int = 0
    """Its number, as of memory spaces in memref types."""

    def place(self, buffers: Sequence[tuple[int, int, int]], planner: str = "best") -> list[int]:
        """Offsets for buffers: each is its bytes and the first and last step that it is needed in. What is not needed at a time may
        share memory. Raises `ExirError` where they do not fit."""
        from xdsl_exir.lowering.plan_memory import PLANNERS, Buffer

        given = [Buffer(nbytes, first, last, nbytes, self.alignment) for nbytes, first, last in buffers]
        offsets = PLANNERS[planner](given)
        needed = max(
            (offset + buffer.typical for offset, buffer in zip(offsets, given, strict=True)), default=0
        )
        if self.nbytes is not None and needed > self.nbytes:
            raise ExirError(f"memory {self.name} has {self.nbytes} bytes, and {needed} are needed")
        return offsets

    def fits(self, buffers: Sequence[tuple[int, int, int]], planner: str = "best") -> bool:
        """Whether there is room for buffers (see `place`)."""
        try:
            self.place(buffers, planner)
        except ExirError:
            return False
        return True

    def aligned(self, nbytes: int) -> int:
        """A number of bytes, rounded up."""
        return -(-nbytes // self.alignment) * self.alignment


@dataclass(frozen=True, eq=False)
class Target:
    """What a piece of hardware takes, and how it runs it."""

    name: str
    """Delegates say it, too."""
    legal: tuple[str, ...] = ("*",)
    """Names or patterns of the operators that it can run."""
    keep: tuple[str, ...] = ()
    """Operators that are not decomposed on the way to it."""
    operators: tuple[BackendOp, ...] = ()
    """The operators that it adds."""
    partitioner: Predicate | None = None
    """Decides which legal operations it takes; without one, all."""
    specs: Mapping[str, str] = field(default_factory=dict[str, str])
    """What its delegates are told."""
    kernels: Mapping[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])
    """What runs single operators of delegates, on arrays by argument name; in place of `compile`."""
    memories: tuple[Memory, ...] = ()
    planner: str = "best"
    """Of `plan-memory`'s planners, the one for its memories."""
    compile: Callable[[Program], CompiledDelegate] | None = None
    preprocess: Callable[[Program, Specs], bytes] | None = None
    load: Callable[[bytes, Specs], CompiledDelegate] | None = None
    """Its executable: as `register_backend` takes them."""
    host: str = "interpreter"
    """The target that runs what is between its delegates."""
    whole: Callable[[Program, Recipe], Engine] | None = None
    """Of a target that takes programs as a whole: what makes an engine of one."""

    def memory(self, name: str) -> Memory:
        """One of its memories. Raises `ExirError` for an unknown one."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise ExirError(f"target {self.name} has no memory '{name}'")

    def is_legal(self, name: str) -> bool:
        """Whether it can run an operator, by qualified name."""
        return any(fnmatchcase(name, pattern) for pattern in self.legal)

    def takes(self, op: Candidate) -> bool | str:
        """Whether it takes an operation, or why not."""
        if not self.is_legal(op.name):
            return f"{self.name} has no such operator"
        return True if self.partitioner is None else self.partitioner(op)

    def lowered(self, program: Program) -> tuple[Program, list[Unsupported]]:
        """A program of any stage up to edge, with delegates, and what is in none, with the reason. Raises `UnsupportedError` for one that is
        lowered further."""
        if self.whole is not None:
            return program, []
        if stage_of(program.module) not in ("aten", *EDGE):
            raise UnsupportedError(
                [Unsupported("a program lowered past edge", f"{self.name} takes it as it was at edge")]
            )
        program = program.inlined()
        if stage_of(program.module) == "aten":
            written = {name for op in self.operators for name in operators_in(op)}
            composite = {name for name in written if DECOMPOSITIONS.find(find(name)) is not None}
            program = program.to_edge(keep=(*self.keep, *sorted(composite - {*self.keep})))
        fusion = [FuseOperators(tuple(op.name for op in self.operators))] if self.operators else []
        by = PartitionBy(self.name, self.takes, specs=dict(self.specs))
        # What was kept only to be found, and what the target has but does not take here, is decomposed like all else.
        program = program.apply(*fusion, DecomposeAten(self.keep))
        illegal = tuple(op.name for op in self.operators if self.is_legal(op.name))
        program = program.apply(DecomposeBackend(illegal)).apply(by).verify()
        return program, by.left


TARGETS: dict[str, Target] = {}
"""Targets by name."""


def register_target(target: Target) -> Target:
    """Makes a target known by its name, and its backend with it. The last registration counts."""
    TARGETS[target.name] = target
    if target.whole is None:
        compile = target.compile
        if target.kernels and compile is None:
            compile = KernelsOnly(target)
        if compile or target.preprocess or target.load:
            register_backend(target.name, compile, preprocess=target.preprocess, load=target.load)
    return target


@once
def _load_found() -> None:
    """Registers the targets that the environment and packages name."""
    load_targets()
    for entry in entry_points(group=GROUP):
        if entry.attr:
            found = entry.load()
            if not isinstance(found, Target):
                raise ExirError(f"entry point '{entry.name} = {entry.value}' of group {GROUP} is no Target")
            register_target(found)


def find_target(target: str | Target) -> Target:
    """A target by name. Raises `ExirError` for an unknown one."""
    if isinstance(target, Target):
        return target
    if target not in TARGETS:
        _load_found()
    if target not in TARGETS:
        raise ExirError(f"no target '{target}'; there is {', '.join(TARGETS)}")
    return TARGETS[target]


class KernelsOnly:
    """Compiles delegates of a target that has functions for single operators."""

    def __init__(self, target: Target):
        self.target = target

    def __call__(self, program: Program) -> CompiledDelegate:
        """Raises `UnsupportedError` for operators without a function."""
        block = program.method().body.block
        kernels, missing = self.target.kernels, list[Unsupported]()
        for op in block.ops:
            if op is block.last_op or isinstance(op, ConstantOp):
                continue
            if not isinstance(op, OperatorOp) or op.SPEC.qualified_name not in kernels:
                missing.append(
                    Unsupported(op.name, f"{self.target.name} has no kernel for it", location_text(op))
                )
        if missing:
            raise UnsupportedError(missing)
        owned = [data.numpy() for data in program.state.values()]

        def run(*inputs: Any) -> Sequence[Any]:
            values: dict[Any, Any] = dict(zip(block.args, (*inputs, *owned), strict=True))
            for op in block.ops:
                if isinstance(op, ConstantOp):
                    values[op.result] = literal_array(op)
                elif isinstance(op, OperatorOp):
                    given = kernels[op.SPEC.qualified_name](**op.arguments(values.__getitem__))
                    results = given if is_sequence(given) else (given,)
                    for result, array in zip(op.results, results, strict=True):
                        values[result] = conform(array, result.type, op.name)
            assert block.last_op is not None
            return [values[value] for value in block.last_op.operands]

        return run


class HostEngine:
    """The engine of a program with delegates: another target's, which says what was left to it, and why."""

    def __init__(self, engine: Engine, left: Sequence[Unsupported]):
        self.engine = engine
        self.fallbacks = tuple(left)
        self.hosted = tuple(engine.hosted)

    @property
    def generator(self) -> Generator | None:
        """Where random numbers come from."""
        return self.engine.generator

    def reads(self, method: str) -> Collection[int]:
        """Positions of the argument values that it looks at."""
        return self.engine.reads(method)

    def updates(self, method: str) -> Collection[int]:
        """Positions of the argument values that it may write to."""
        return self.engine.updates(method)

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays and numbers)."""
        return self.engine.run(method, values)
