"""A `Program`: a module, the arrays its state is bound to, and how each of its methods is called."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import StringIO
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.printer import Printer

from xdsl_exir.errors import ExirError, LoadError, VerificationError
from xdsl_exir.limits import LIMITS
from xdsl_exir.names import flaw, like
from xdsl_exir.narrowing import is_mapping, is_sequence
from xdsl_exir.threads import lock_against_forks

if TYPE_CHECKING:
    from pathlib import Path

    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation
    from xdsl.pattern_rewriter import RewritePattern

    from xdsl_exir.dialects.dtypes import DType
    from xdsl_exir.exchange.graph import ExportedGraph
    from xdsl_exir.exchange.pytree import TreeSpec
    from xdsl_exir.exchange.tensor_data import TensorData
    from xdsl_exir.importers.sources import Source, Target

DEFAULT_METHOD = "forward"

REWRITING = lock_against_forks()
"""Held where passes run and programs are lowered: xDSL's implicit builder is, while it is at work, a method of all operations."""


class State(dict[str, "TensorData"]):
    """The state of a program that passes are at work on: they may add to it, and take from it."""

    def add(self, name: str, array: Any) -> str:
        """Adds an array, under a name like this one that nothing has yet; gives the name."""
        from xdsl_exir.exchange.tensor_data import TensorData
        from xdsl_exir.interpreter.interpreter import dtype_of

        free = next(f"{name}_{number}" for number in range(len(self) + 1) if f"{name}_{number}" not in self)
        self[free] = TensorData.of(array, dtype_of(array.dtype))
        return free

    def cast(self, name: str, dtype: DType) -> None:
        """Gives an array another dtype."""
        import numpy as np

        from xdsl_exir.exchange.tensor_data import TensorData

        if self[name].dtype is not dtype:
            with np.errstate(all="ignore"):
                array = self[name].numpy().astype(dtype.numpy)
            self[name] = TensorData.of(array, dtype)


@dataclass
class ProgramContext(Context):
    """xDSL's context, and the state of the program that passes are at work on. Of a module alone, as `xdsl-opt` has it, there is none."""

    state: State = field(default_factory=State)

    def clone(self) -> ProgramContext:
        copy = ProgramContext(state=self.state)
        vars(copy).update(vars(super().clone()))
        return copy


@lru_cache(maxsize=1)
def context() -> ProgramContext:
    """A context that knows this package's dialects and passes, and xDSL's."""
    from xdsl.universe import Universe

    from xdsl_exir.dialects.upstream import DIALECTS, Completed

    context = ProgramContext()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(
            name, (lambda factory=factory: Completed(factory())) if name in DIALECTS else factory
        )
    return context


def state_of(ctx: Context) -> State:
    """The state of the program whose module a pass is given with this context."""
    return ctx.state if isinstance(ctx, ProgramContext) else State()


def methods_of(module: ModuleOp) -> dict[str, FuncOp]:
    """The public functions of a module by name."""
    from xdsl.dialects.builtin import StringAttr
    from xdsl.dialects.func import FuncOp

    private = StringAttr("private")
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    return {op.sym_name.data: op for op in functions if op.sym_visibility != private}


def signature_of(function: FuncOp) -> FuncOp:
    """The function whose types and attributes say how a method is called: the method itself or, below edge, what it was there.

    Raises `LoadError` for a signature that is none."""
    from xdsl.dialects.builtin import StringAttr

    from xdsl_exir.dialects.signature import SIGNATURE
    from xdsl_exir.errors import LoadError

    said = function.attributes.get(SIGNATURE)
    if not isinstance(said, StringAttr):
        return function
    declared = _declared(said.data)
    if declared.sym_name != function.sym_name:
        raise LoadError(f"exir.signature of '{function.sym_name.data}' declares '{declared.sym_name.data}'")
    return declared


@lru_cache(maxsize=256)
def _declared(text: str) -> FuncOp:
    """The declaration of a method. Raises `LoadError` for text that is none."""
    from xdsl.dialects.func import FuncOp
    from xdsl.utils.exceptions import VerifyException

    from xdsl_exir.errors import LoadError
    from xdsl_exir.importers.mlir import read_module

    module = read_module(text, "exir.signature")
    try:
        module.verify()
    except VerifyException as error:
        raise LoadError(f"exir.signature: {error}") from None
    match list(module.ops):
        case [FuncOp() as declared]:
            return declared
        case _:
            raise LoadError("exir.signature: it declares no function")


@dataclass(frozen=True)
class Slot:
    """One leaf of the inputs or outputs of a method or module: an SSA value, or a constant fixed at export. Those of a
    method stand in their order, those of a module are what a node of the exported graph gives."""

    constant: Any = None
    is_constant: bool = False
    name: str = ""
    """Of a method's input; the node that gives a module's input or output."""
    index: int = 0
    """Of a node that gives several results, which."""


@dataclass(frozen=True)
class CallingConvention:
    """How a method or a module is called from Python: pytrees of arguments and results around the flat values."""

    in_spec: TreeSpec
    out_spec: TreeSpec
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    arg_names: tuple[str, ...] | None = None
    """Names of the arguments, which may then be given by position or by name."""
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    """The classes of the `nn.Module`s that a method calls, where that is known, by path; its own under the empty one."""
    calls: Mapping[str, CallingConvention | None] = field(
        default_factory=dict[str, "CallingConvention | None"]
    )
    """The modules below, called or not, and how those calls are made of which `torch.export` was told to keep it
    (`preserve_module_call_signature`); a second call of `layers.0` is `layers.0@1`."""


@dataclass(frozen=True)
class Program:
    """An exported program in MLIR.

    Transforming methods leave it as it is and return a new one; the arrays of its state are shared, never copied.
    """

    module: ModuleOp
    """One `func.func` per method."""
    state: Mapping[str, TensorData] = field(default_factory=dict[str, "TensorData"])
    """Parameters, buffers and constants by qualified name."""
    conventions: Mapping[str, CallingConvention] = field(default_factory=dict[str, CallingConvention])
    """How methods are called from Python, where that is known."""

    def __post_init__(self) -> None:
        """Raises `ExirError` where regions lie deeper in one another than what prints and changes them can recurse."""
        level: list[Operation] = [self.module]
        for _ in range(LIMITS.nesting + 1):
            level = [
                op
                for one in level
                for region in one.regions
                for block in region.blocks
                for op in block.ops
                if op.regions
            ]
            if not level:
                return
        raise ExirError(f"{level[0].name}: regions lie more than {LIMITS.nesting} deep in one another")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        """A line for each method: what it takes and gives, how long it is; and the state."""
        from xdsl_exir.dialects.describing import signature_text

        lines = [
            f"{signature_text(signature_of(function))}, {sum(1 for _ in function.walk()) - 2} operations"
            for function in self.methods.values()
        ]
        nbytes = sum(data.nbytes for data in self.state.values())
        return "\n  ".join(["Program", *lines, f"state: {len(self.state)} arrays, {nbytes:,} bytes"])

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        """Another module over the same arrays, which nobody writes to."""
        return replace(self, module=self.module.clone())

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: a text, as it is saved, and the arrays."""
        from xdsl_exir.exporters.mlir import text_of
        from xdsl_exir.importers.mlir import unpickled

        return unpickled, (text_of(self), dict(self.state))

    def text(self, generic: bool = False, locations: bool = False) -> str:
        """The module as MLIR; `generic` in the form that other tools read, `locations` with source lines."""
        stream = StringIO()
        Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(self.module)
        return stream.getvalue()

    @property
    def methods(self) -> dict[str, FuncOp]:
        """The public functions of the module by name."""
        return methods_of(self.module)

    @property
    def signatures(self) -> dict[str, FuncOp]:
        """How methods are called that are lowered past edge, by name."""
        found = {name: signature_of(function) for name, function in self.methods.items()}
        return {name: found[name] for name, function in self.methods.items() if found[name] is not function}

    def method(self, name: str | None = None) -> FuncOp:
        """A method by name, the first by default. Raises `ExirError` for an unknown one."""
        methods = self.methods
        if name is None and methods:
            return next(iter(methods.values()))
        if name not in methods:
            raise ExirError(f"no method '{name}'; the program has {', '.join(methods) or 'none'}")
        return methods[name]

    def apply(self, *passes: ModulePass) -> Program:
        """A new program with passes applied, not verified."""
        from xdsl_exir.transforms.watch import run_passes

        module, ctx = self.module.clone(), context().clone()
        state = ctx.state = State(self.state)
        with REWRITING:
            run_passes(passes, ctx, module)
        before = self.state
        same = state.keys() == before.keys() and all(state[name] is data for name, data in before.items())
        return replace(self, module=module, state=before if same else state)

    def to_core(
        self,
        keep: tuple[str, ...] = (),
        decompositions: Mapping[str, Callable[..., Any] | None] = MappingProxyType({}),
    ) -> Program:
        """Decomposed to core ATen, and verified. `keep` names operators to leave as they are; `decompositions` has
        functions, as `@decomposition` takes them, that count for this program in place of the registered ones.

        Raises `VerificationError` where the result breaks the rules of the aten dialect, `SpecError` for operators that
        are not known and functions that do not take their arguments.
        """
        from xdsl_exir.transforms.decompose_aten import DecomposeAten

        return self.apply(DecomposeAten(keep, decompositions)).verify()

    def to_edge(
        self,
        keep: tuple[str, ...] = (),
        decompositions: Mapping[str, Callable[..., Any] | None] = MappingProxyType({}),
    ) -> Program:
        """Decomposed as by `to_core`, specialised to the edge dialect, and verified.

        Raises `VerificationError` where the result breaks the rules of the edge dialect, `SpecError` as `to_core` does.
        """
        from xdsl_exir.transforms.aten_to_edge import AtenToEdge
        from xdsl_exir.transforms.decompose_aten import DecomposeAten

        return self.apply(DecomposeAten(keep, decompositions), AtenToEdge()).verify()

    def grad(
        self,
        wrt: str | Sequence[str] = (),
        of: int | str | None = None,
        method: str | None = None,
        cotangents: bool = False,
        recompute: str | Sequence[str] = (),
    ) -> Program:
        """A method with its backward pass: what an executable leaves in `gradients`, of what `wrt` names, or of all parameters.

        `of` says which output is the loss, by number or name, if there are several; with `cotangents` outputs may be of any shape, and
        keyword arguments `cotangent_0`... say their gradients. What `recompute` names (operators, families) is not kept. Raises
        `UnsupportedError` listing the operators that no gradient passes, `ExirError` for names of nothing.
        """
        from xdsl_exir.exchange.joint import differentiated
        from xdsl_exir.transforms.grad import Grad

        names = [(given,) if isinstance(given, str) else tuple(given) for given in (wrt, recompute)]
        return differentiated(self, Grad(names[0], of, method, cotangents, names[1]))

    def to(self, stage: str) -> Program:
        """Taken to a stage, and verified: `core`, `edge`, `linalg` (linalg on tensors), `buffers` (dispatches and a driver over memrefs),
        `planned` (buffers, in one arena) or `kernels` (dispatches with their code).

        Raises `ExirError` for another stage, `UnsupportedError` listing what cannot be lowered."""
        from xdsl_exir.transforms.stages import to_stage

        return to_stage(self, stage)

    def transform(
        self,
        pipeline: str | ModulePass | RewritePattern | Sequence[RewritePattern],
        stats: bool = False,
        check: Sequence[Any] | bool = False,
    ) -> Program:
        """A new program with a pass, a pipeline (`"canonicalize,cse"`) or patterns applied, verified afterwards.

        `stats` prints on standard error how long passes took and how often each pattern was applied. `check` has flat
        inputs of the first method, or True for random ones: before and after are run in the interpreter.

        Raises `ExirError` for what is no pipeline or does not parse and, with `check`, where results change: it names the first
        application of a pattern after which they do. Raises `VerificationError` where the result is not valid.
        """
        from xdsl_exir.transforms.watch import statistics

        passes = self._as_passes(pipeline)
        inputs = self._inputs_of(check)
        with statistics() if stats else nullcontext():
            after = self.apply(*passes)
        if inputs is not None:
            from xdsl_exir.runtime.bisect import bisect

            found = bisect(self, passes, inputs)
            if found is not None:
                raise ExirError(str(found))
        return after.verify()

    def _inputs_of(self, check: object) -> Sequence[Any] | None:
        """The inputs that `transform` is to check with; None where it is not to."""
        from xdsl_exir.runtime.inputs import random_inputs

        match check:
            case False:
                return None
            case True:
                return random_inputs(self)
            case _ if is_sequence(check):
                return check
            case _:
                raise ExirError(f"check: a list of the first method's inputs, or True, not {check!r}")

    def _as_passes(self, pipeline: object) -> tuple[ModulePass, ...]:
        from xdsl.pattern_rewriter import RewritePattern

        from xdsl_exir.transforms.patterns import ApplyPatterns

        match pipeline:
            case str():
                return self.passes(pipeline)
            case ModulePass():
                return (pipeline,)
            case _:
                given = tuple(pipeline) if is_sequence(pipeline) else (pipeline,)
                patterns = tuple(pattern for pattern in given if isinstance(pattern, RewritePattern))
                if len(patterns) != len(given):
                    raise ExirError(f"{pipeline!r} is no pipeline, no pass, and no patterns")
                return (ApplyPatterns(patterns),)

    def unflatten(self) -> Program:
        """With the module hierarchy as nested functions: `@layers.0.ff` for what the module `layers.0.ff` does. Those of
        modules whose signature was to be kept take and give what the module did, as their convention says."""
        from xdsl_exir.transforms.unflatten import outline_modules

        module = self.module.clone()
        kept = outline_modules(module, self.conventions)
        return replace(self, module=module, conventions={**self.conventions, **kept}).verify()

    def inlined(self) -> Program:
        """Without calls of modules: what `unflatten` has taken apart in one function again. What drivers call are no modules."""
        from xdsl.dialects.func import CallOp

        from xdsl_exir.transforms.stages import has_drivers
        from xdsl_exir.transforms.unflatten import InlineModules

        ops = (op for function in self.methods.values() for op in function.walk())
        calls = not has_drivers(self.module) and any(isinstance(op, CallOp) for op in ops)
        return self.apply(InlineModules()) if calls else self

    @staticmethod
    def passes(pipeline: str) -> tuple[ModulePass, ...]:
        """The passes of a pipeline, as `xdsl-opt -p` takes it. Raises `ExirError` for one that does not parse."""
        from xdsl.universe import Universe
        from xdsl.utils.arg_spec import parse_pipeline
        from xdsl.utils.exceptions import ArgSpecParseError

        try:
            known = Universe.get_multiverse().all_passes
            if unknown := [spec.name for spec in parse_pipeline(pipeline) if spec.name not in known]:
                raise ExirError(f"no pass is called {unknown[0]!r}{like(unknown[0], known)}")
            return tuple(PassPipeline.parse_spec(known, pipeline).passes)
        except (ValueError, ArgSpecParseError) as error:
            raise ExirError(f"pass pipeline '{pipeline}': {error}") from error

    def verify(self) -> Program:
        """Itself, if it keeps the rules of its stage. Raises `VerificationError` that lists every violation."""
        from xdsl_exir.transforms.verify import verify_program

        verify_program(self)
        return self

    def save(self, path: Target) -> None:
        """Writes the program, without PyTorch: to a `.pt2` archive, which `torch.export.load` reads, or to MLIR text
        (`.mlir`) with the weights in a `.safetensors` file beside it. `xdsl_exir.load` reads both. A file that is open for
        writing becomes an archive.

        Raises `UnsupportedError` listing what the format has no form for, `VerificationError` for a program that
        `load` would refuse, as one with operations of other dialects than its stage's, `ExirError` for another suffix.
        """
        from pathlib import Path

        from xdsl_exir.importers.sources import is_file

        if is_file(path, "write"):
            from xdsl_exir.exporters.pt2 import write_pt2

            write_pt2(path, self._archived())
            return
        target = Path(path)
        if target.suffix == ".mlir":
            from xdsl_exir.exporters.mlir import write_mlir

            write_mlir(target, self.verify())
        elif target.suffix == ".pt2":
            from xdsl_exir.exporters.pt2 import save_pt2

            save_pt2(target, self._archived())
        else:
            raise ExirError(f"{path}: programs are saved as .pt2 or .mlir")

    def _archived(self) -> Mapping[str, ExportedGraph]:
        """The methods by their names in an archive."""
        from xdsl_exir.exporters.graph import graphs_of
        from xdsl_exir.exporters.pt2 import MODEL

        graphs = graphs_of(self)
        return graphs if len(graphs) > 1 else {MODEL: next(iter(graphs.values()))}

    def fx_text(self, method: str | None = None) -> str:
        """A method, the first by default, as PyTorch prints graphs (`print(ep.graph)`), its sub-graphs after it.

        Raises `UnsupportedError` listing what Export IR has no form for.
        """
        from xdsl_exir.exporters.fx_text import fx_text
        from xdsl_exir.exporters.graph import graph_of

        program = graph_of(self, method)
        return fx_text(program.graph, program.inputs)

    def to_exported_program(self, method: str | None = None) -> Any:
        """A method, the first by default, as a live `torch.export.ExportedProgram`. Needs PyTorch; weights are copied.

        Raises `UnsupportedError` listing what Export IR has no form for.
        """
        from xdsl_exir.exporters.exported_program import exported_program_of
        from xdsl_exir.exporters.graph import graph_of

        return exported_program_of(graph_of(self, method))


def from_graphs(graphs: Mapping[str, ExportedGraph], source: str) -> Program:
    """A program of one method for each exported graph; equal names of state are shared."""
    from xdsl_exir.importers.conventions import convention_of
    from xdsl_exir.importers.methods import build_method

    module = ModuleOp([])
    state: dict[str, TensorData] = {}
    conventions: dict[str, CallingConvention] = {}
    for name, graph in graphs.items():
        if (reason := flaw(name)) is not None:
            raise LoadError(f"{source}: {reason}")
        module.body.block.add_op(
            build_method(name, graph, source if len(graphs) == 1 else f"{source}: {name}")
        )
        conventions[name] = convention_of(graph)
        for spec in graph.inputs:
            if spec.target is not None and spec.kind in ("parameter", "buffer", "constant_tensor"):
                state[spec.target] = graph.data(spec)
    return with_delegates(Program(module, state, conventions))


def with_delegates(program: Program) -> Program:
    """A program that was imported, at edge with its delegates whole where there are some: what was delegated was at edge."""
    from xdsl_exir.dialects.backend import delegates_of

    if not delegates_of(program.module):
        return program
    from xdsl_exir.transforms.aten_to_edge import AtenToEdge
    from xdsl_exir.transforms.call_delegates import TakeDelegates

    return program.apply(AtenToEdge(), TakeDelegates())


def verified(program: Program) -> Program:
    """A program that was imported. What PyTorch exported and an operator's rule has no dtypes for is not supported."""
    from xdsl_exir.transforms.verify import refuse_dtypes

    try:
        return program.verify()
    except VerificationError:
        refuse_dtypes(program.module)
        raise


def load(
    source: Source,
    mmap: bool = False,
    inputs: Sequence[Any] | None = None,
) -> Program:
    """Reads a `.pt2` archive, without PyTorch, MLIR text (`.mlir`), or a TorchScript archive (`torch.jit.save`): a path,
    a file that is open, or its contents as `bytes`.

    Weights stay in the file, or in the
    `.safetensors` file beside the text, and are read when used; `compile` reads all that it needs. A file that was written to
    since it was loaded is a `LoadError` then; one that was replaced by another is still read.

    With `mmap`, weights are mapped and never copied as they are. Nobody may write to the file as long as the program or
    anything made of it lives: the numbers would change, and if it becomes shorter, the process ends with SIGBUS.

    A TorchScript archive is a `ScriptProgram`, which can be called and has no types; with `inputs` (arrays, or types as text)
    it is the ordinary program that it is for inputs like these: its `to_aten(inputs)`.

    Raises `LoadError` for a file that is damaged, of another kind or version, or holds what is refused (pickles, paths that
    leave the archive), `UnsupportedError` listing every operator that is not known.
    """
    from xdsl_exir.importers.sources import as_file

    with as_file(source) as path:
        return _load(path, mmap, inputs)


def _load(path: Path, mmap: bool, inputs: Sequence[Any] | None) -> Program:
    from xdsl_exir.importers.foreign import check_kind

    check_kind(path)
    if path.suffix == ".mlir":
        from xdsl_exir.importers.mlir import read_mlir

        return read_mlir(path, mmap).verify()
    if path.suffix != ".pt2":
        from xdsl_exir.importers.torchscript.archive import is_torchscript

        if is_torchscript(path):
            from xdsl_exir.importers.torchscript.program import read_torchscript

            script = read_torchscript(path, mmap)
            return script if inputs is None else script.to_aten(inputs)

    from xdsl_exir.importers.pt2 import read_pt2

    read = read_pt2(path, mmap)
    graphs = read if isinstance(read, Mapping) else {DEFAULT_METHOD: read}
    return verified(from_graphs(graphs, os.fspath(path)))


def from_exported_program(exported: Any, share: bool = False) -> Program:
    """A program from a live `torch.export.ExportedProgram`, or from a dict of them: one method each.

    Its state is that of now: training the module further, or calling `exported.module()`, changes nothing in it. With `share`, arrays
    are the module's own and take no memory; nobody may write to them then as long as the program or anything made of it lives: what
    was compiled may compute with some as they were and others as they are.

    Raises `LoadError`, `UnsupportedError` as `load` does.
    """
    from xdsl_exir.importers.exported_program import read_exported_program

    programs = exported if is_mapping(exported) else {DEFAULT_METHOD: exported}
    graphs = {name: read_exported_program(program, share) for name, program in programs.items()}
    return verified(from_graphs(graphs, "ExportedProgram"))
