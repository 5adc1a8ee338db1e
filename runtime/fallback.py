"""Native code in pieces, with the interpreter between them.

A program is split as `partition` splits it, by what can be lowered, into as few native pieces as can be. Each piece
becomes a function of one module, compiled as a whole; the interpreter runs what is left, in which pieces are calls of
external functions. State stays constant in the pieces, so weights are packed as in a program that is native throughout.
What depends on no input is computed beforehand and is constant on both sides.

What makes no tensor is never native where native code cannot know its result when it is called: it reads one number out of
memory, computes with numbers, or raises. It is the *host's*, with `fallback="error"` as well, and pieces take the symbols that
it gives. So are draws of random numbers: there is one generator a process, and pieces take what it gives; branches and loops in which numbers
are drawn are the host's for that, and what is around the draws in them is pieces of its own. So is what
LAPACK computes and native code has no algorithm for: vectors whose signs it chooses, checks that raise; and, in this process, what loops
over a matrix of its order take long for. With `fallback="interpreter"` so are the operators that have no lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, UnrealizedConversionCastOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from xdsl_exir.dialects import edge
from xdsl_exir.dialects.backend import DelegateOp, is_delegable
from xdsl_exir.dialects.builder import Builder, Namespace
from xdsl_exir.dialects.control_flow import OPERATIONS, YieldOp, shared_arguments
from xdsl_exir.dialects.exir import ConstantOp, NumberOp, RefineOp
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import INPUT, InputAttr, InputKind, InputSpec
from xdsl_exir.dialects.sizes import is_symbol, sizes_of, symbols_of
from xdsl_exir.dialects.sym_ops import SymOp
from xdsl_exir.dialects.tensors import SymType, is_tensor_type
from xdsl_exir.errors import Unsupported, UnsupportedError
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.interpreter.generator import Generator
from xdsl_exir.interpreter.interpreter import generator_of, make_interpreter, run_function, used_arguments
from xdsl_exir.locations import location_text
from xdsl_exir.lowering.checks import is_draw, take_checks
from xdsl_exir.lowering.dispatch import symbol_places
from xdsl_exir.lowering.edge_to_linalg import (
    FunctionLowering,
    meta_of,
    obstacle,
    obstacle_of_sizes,
    obstacle_to_all,
)
from xdsl_exir.lowering.preparation import COUNTED
from xdsl_exir.lowering.reads import obstacle_to_reads, reads_of
from xdsl_exir.program import REWRITING, Program, methods_of
from xdsl_exir.runtime.executable import Fallback
from xdsl_exir.runtime.kept_code import kept_code
from xdsl_exir.runtime.native import NOTHING, NativeCode, NativeEngine, as_edge
from xdsl_exir.targets.cpu.machine import Processor, processor
from xdsl_exir.transforms.decompositions.view import Sizes
from xdsl_exir.transforms.fold_constants import Array, Folding, bind_folded, constant_arguments, drop_dead
from xdsl_exir.transforms.forget_sizes import is_number
from xdsl_exir.transforms.partition import group, inline_dispatches
from xdsl_exir.transforms.runnable import runnable
from xdsl_exir.transforms.stages import EDGE, stage_of


def make_engine(
    program: Program,
    fallback: Fallback,
    cpu: Processor | None = None,
    known: Mapping[str, bytes] = NOTHING,
    lasting: bool = False,
) -> NativeEngine | SplitEngine:
    """The engine of a program: native throughout where nothing stands in the way, for a processor (`processor()` by default).
    Object files that are `known` are not made (`native.compile_native`); the code of a `lasting` program is kept, and found again.

    Raises `UnsupportedError` that lists the operators which only the interpreter could run, where it must not.
    """
    if stage_of(program.module) not in ("aten", *EDGE):
        return NativeEngine(program, cpu, known)
    place = kept_code(program, cpu or processor()) if lasting else None
    if place is not None and (code := place.find()) is not None:
        return NativeEngine(code)
    engine = planned_engine(program, fallback, cpu, known)
    if place is not None and isinstance(engine, NativeEngine):
        place.keep(engine.code)
    return engine


def planned_engine(
    program: Program, fallback: Fallback, cpu: Processor | None, known: Mapping[str, bytes]
) -> NativeEngine | SplitEngine:
    """The engine of a program at `aten` or edge."""
    program = as_edge(program, then=COUNTED.passes)
    if not needs_host(program, fallback, also=is_long, reads=True):
        return NativeEngine(program, cpu, known)
    cut = split(program, also=is_long)
    if cut.fallbacks and fallback == "error":
        raise UnsupportedError(cut.fallbacks)
    return SplitEngine(cut, cpu, known)


Asked: TypeAlias = Callable[[Operation], bool]


def none(op: Operation) -> bool:
    return False


def needs_host(
    program: Program,
    fallback: Fallback = "error",
    but: Asked = none,
    also: Asked = none,
    reads: bool = False,
) -> bool:
    """Whether a program is not native throughout, `but` for operations that code does in other ways, and for sizes that it `reads` itself;
    and what the host does `also`, though native code could."""

    def in_the_way(method: FuncOp) -> bool:
        read = reads_of(method, {}) if reads else {}
        ops = method.walk() if fallback == "interpreter" or read else filter(is_host, method.walk())
        return any(obstacle_to_reads(op, read) is not None and not but(op) for op in ops)

    def has_obstacle(module: ModuleOp) -> bool:
        return any(map(in_the_way, methods_of(module).values())) or any(map(also, module.walk()))

    if not has_obstacle(program.module):  # what checks look at is looked at before
        return False
    unchecked = program.module.clone()
    take_checks(unchecked, program.state)
    return has_obstacle(unchecked)


def is_host(op: Operation) -> bool:
    """Whether an operation makes no tensor: it gives numbers, or only looks at some or at data. What makes a number a tensor
    is taken for such an operation where native code does not compute the number, as is what names a size. What draws random
    numbers is the host's as well, and so is linear algebra without a lowering."""
    if not isinstance(op, OperatorOp | SymOp | NumberOp | RefineOp) or not is_around(op.parent_op()):
        return False
    if is_draw(op) or is_of_lapack(op) or not any(is_tensor_type(result.type) for result in op.results):
        return True
    names = isinstance(op, RefineOp) or op.name == "edge.aten.scalar_tensor"
    return names and obstacle(op) is not None


def is_around(op: Operation | None) -> bool:
    """Whether the host runs an operation's regions: a method's, or those of an operation of the host's."""
    return isinstance(op, FuncOp) or (op is not None and is_around_draws(op))


def is_around_draws(op: Operation) -> bool:
    """Whether an operation of the host's has regions in which random numbers are drawn."""
    return isinstance(op, OPERATIONS) and any(map(is_draw, op.walk())) and is_around(op.parent_op())


def is_of_lapack(op: Operation) -> bool:
    """Whether an operation is linear algebra that native code leaves to LAPACK, on sizes that it knows."""
    algebra = isinstance(op, OperatorOp) and op.SPEC.family == "linear_algebra"
    return algebra and obstacle_of_sizes(op) is None and obstacle(op) is not None


ROTATED = ("_linalg_svd", "_linalg_eigh", "linalg_pinv.atol_rtol_tensor")
"""What loops do by rotations, of which there are many more than LAPACK has steps."""
ORDERS = {
    **dict.fromkeys(ROTATED, 16),
    **dict.fromkeys(("cholesky_inverse", "cholesky_solve"), 96),
    **dict.fromkeys(("linalg_qr", "geqrf", "linalg_householder_product", "ormqr"), 160),
    "linalg_cholesky_ex": 256,
    **dict.fromkeys(("linalg_lu", "linalg_lu_factor_ex", "linalg_lu_solve", "linalg_inv_ex"), 256),
    **dict.fromkeys(("_linalg_solve_ex", "_linalg_det", "_linalg_slogdet"), 256),
    **dict.fromkeys(("linalg_solve_triangular", "triangular_solve"), 640),
}
"""Orders of matrices up to which loops take no longer than LAPACK by way of the interpreter, as measured."""


def is_long(op: Operation) -> bool:
    """Whether loops over a matrix take long for an operation: as far as its sizes are known or, by rotations, if none is known to be small."""
    if not isinstance(op, OperatorOp) or not isinstance(op.parent_op(), FuncOp):
        return False
    name = op.SPEC.qualified_name.removeprefix("aten.")
    if name not in ORDERS or obstacle_of_sizes(op) is not None:
        return False
    known = [size for size in meta_of(op.operands[0]).shape[-2:] if isinstance(size, int)]
    return (len(known) == 2 or name in ROTATED) and all(size > ORDERS[name] for size in known)


def obstacle_to_piece(op: Operation) -> str | None:
    """Why an operation cannot be part of a native piece; None where it can."""
    reason = obstacle_to_all(op)
    movable = is_delegable(op) or (isinstance(op, (RefineOp, *OPERATIONS)) and is_side_effect_free(op))
    return "has an effect" if reason is None and not movable else reason


@dataclass
class Split:
    """A program in two: what the interpreter runs, and the native pieces that it calls."""

    outer: ModuleOp
    pieces: Program | NativeCode
    state: Mapping[str, TensorData]
    """Of the program, delegates' own among it."""
    bound: dict[str, list[Array]] = field(default_factory=dict[str, "list[Array]"])
    """By method, arrays for the arguments that it has gained."""
    fallbacks: list[Unsupported] = field(default_factory=list[Unsupported])
    """The operators that stay in the interpreter, each with the reason and its source line."""
    hosted: list[Unsupported] = field(default_factory=list[Unsupported])
    """Likewise those that give tensors and are the host's, whatever the fallback is."""


def split(program: Program, keep: Collection[str] | None = None, also: Asked = none) -> Split:
    """Splits a program at any stage; delegates of the backends to `keep` (`as_edge`) stay, and the host does `also` what native code
    could."""
    edge = as_edge(program, keep)
    edge = replace(edge, module=edge.module.clone())
    inline_dispatches(edge.module)
    state = dict(edge.state)
    pieces = Program(ModuleOp([]), state)
    cut = Split(edge.module, pieces, edge.state)
    for name, function in edge.methods.items():
        constants = constant_arguments(edge.module, function, edge.state)
        attrs: dict[SSAValue, DictionaryAttr] = {
            arg: own
            for arg, own in zip(function.args, function.arg_attrs or (), strict=False)
            if arg in constants
        }
        cut.bound[name] = []
        for arg, array in bind_folded(
            function, Folding(function, constants, lowers=lambda op: obstacle(op) is None)
        ).items():
            target = f"{name}.folded{len(cut.bound[name])}"
            state[target] = TensorData.of(array, meta_of(arg).dtype)
            attrs[arg] = DictionaryAttr({INPUT: InputAttr(InputSpec(InputKind.CONSTANT_TENSOR, target))})
            cut.bound[name].append(array)
        counted = count()
        for block in blocks_of(function, attrs):
            chosen = lowerable(block, cut, also)
            sources = symbol_sources(block, chosen)
            say_numbers(chosen, sources)
            ask_sources(block, sources)
            for delegate in group(block, chosen, "native") if chosen else ():
                piece = outline(delegate, f"{name}.native{next(counted)}", attrs, sources)
                pieces.module.body.block.add_op(piece)
            drop_dead(block)
    for name, piece in pieces.methods.items():
        types = piece.function_type
        cut.outer.body.block.add_op(FuncOp.external(name, types.inputs.data, types.outputs.data))
    return cut


def blocks_of(op: Operation, attrs: dict[SSAValue, DictionaryAttr]) -> list[Block]:
    """The blocks that the host runs, outer ones first. State that regions see has the attributes that it has outside."""
    found: list[Block] = []
    for region in op.regions:
        for block in region.blocks:
            found.append(block)
            for inner in filter(is_around_draws, block.ops):
                attrs |= {arg: attrs[value] for value, arg in shared_arguments(inner) if value in attrs}
                found += blocks_of(inner, attrs)
    return found


def lowerable(block: Block, cut: Split, also: Asked) -> set[Operation]:
    """What of a block can be part of native pieces; reports the other operators."""
    chosen: set[Operation] = set()
    for op in list(block.ops):
        if isinstance(op, ConstantOp | ReturnOp | YieldOp) or is_around_draws(op):
            continue
        if also(op):
            cut.hosted.append(Unsupported(op.name, "takes long in loops", location_text(op)))
            continue
        if is_host(op):
            if is_draw(op) or is_of_lapack(op):
                reason = "draws random numbers" if is_draw(op) else str(obstacle(op))
                cut.hosted.append(Unsupported(op.name, reason, location_text(op)))
            numbers = any(isinstance(value.type, SymType) for value in (*op.operands, *op.results))
            if obstacle(op) is None and not numbers:
                settle(op)
            continue
        reason = obstacle_to_piece(op)
        if reason is None:
            chosen.add(op)
        else:
            cut.fallbacks.append(Unsupported(op.name, reason, location_text(op)))
    return chosen


def settle(op: Operation) -> None:
    """Drops an assertion that compiling settles, as native code does. Raises `ExirError` where it does not hold."""
    block = Block(arg_types=op.operand_types)
    block.add_op(op.clone(dict(zip(op.operands, block.args, strict=True))))
    block.add_op(ReturnOp())
    with REWRITING:
        FunctionLowering(FuncOp("assertion", (op.operand_types, ()), Region(block))).run()
    op.detach()
    op.erase()


def symbol_sources(block: Block, chosen: Collection[Operation]) -> dict[str, SSAValue]:
    """For each symbol the value outside of native pieces that says it first."""
    outside = [op for op in block.ops if op not in chosen]
    values = [*block.args, *(result for op in outside for result in op.results)]
    return {
        symbol: values[place.argument]
        for symbol, place in symbol_places([value.type for value in values]).items()
    }


def say_numbers(chosen: Iterable[Operation], sources: Mapping[str, SSAValue]) -> None:
    """Makes the numbers that operations take depend on nothing but the values that say their symbols.

    Their types say what they are: a piece needs not wait for what computes them.
    """
    for op in chosen:
        for index, operand in enumerate(op.operands):
            if isinstance(operand.type, SymType) and (symbols := symbols_of([operand.type.data])):
                said = dict.fromkeys(sources[symbol] for symbol in sorted(symbols))
                number = UnrealizedConversionCastOp.get(list(said), [operand.type])
                Rewriter.insert_op(number, InsertPoint.before(op))
                op.operands[index] = number.results[0]


def ask_sources(block: Block, sources: Mapping[str, SSAValue]) -> None:
    """Makes the sizes that a tensor is asked for those of the values that say their symbols."""
    for op in list(block.ops):
        if isinstance(op, OperatorOp) and is_number(op) and is_symbol(size := sizes_of(op.results)[0]):
            said = sources.get(str(size))
            if said is not None and said is not op.results[0]:
                number = Sizes(Namespace(Builder(edge.OPERATORS, op)), said)(size)
                assert isinstance(number, SSAValue)
                Rewriter.replace_op(op, [], [number])


def outline(
    delegate: DelegateOp, name: str, attrs: Mapping[SSAValue, DictionaryAttr], sources: Mapping[str, SSAValue]
) -> FuncOp:
    """A delegate's body as a function, arguments with the attributes of what is passed; a call takes its place.

    For the symbols of which it is passed no size as it is, their `sources` are passed as well, and numbers that are not
    symbols are known from these.
    """
    end, body = delegate.yielded, delegate.detach_region(delegate.body)
    body.block.add_op(ReturnOp(*end.values))
    end.detach()
    end.erase()
    inputs: list[SSAValue] = []
    for value, arg in zip(delegate.inputs, list(body.block.args), strict=True):
        if isinstance(arg.type, SymType):
            number = UnrealizedConversionCastOp.get([], [arg.type])
            Rewriter.insert_op(number, InsertPoint.at_start(body.block))
            arg.replace_all_uses_with(number.results[0])
            body.block.erase_arg(arg)
        else:
            inputs.append(value)
    needed = symbols_of(sizes_of(value for op in body.walk() for value in (*op.operands, *op.results)))
    missing = sorted(needed - symbol_places([value.type for value in inputs]).keys())
    for source in dict.fromkeys(sources[symbol] for symbol in missing if symbol in sources):
        body.block.insert_arg(source.type, len(inputs))
        inputs.append(source)
    types = [value.type for value in inputs], [value.type for value in delegate.outputs]
    call = CallOp(name, inputs, types[1])
    call.location = delegate.location
    block = delegate.parent
    assert block is not None
    block.insert_op_before(call, delegate)
    for old, new in zip(delegate.outputs, call.results, strict=True):
        old.replace_all_uses_with(new)
    arg_attrs = ArrayAttr([attrs.get(value, DictionaryAttr({})) for value in inputs])
    delegate.detach()
    delegate.erase()
    return FuncOp(name, types, body, arg_attrs=arg_attrs)


@register_impls
class NativePieces(InterpreterFunctions):
    """Calls of native pieces, which are functions that the interpreter only knows by name."""

    def __init__(self, engine: NativeEngine):
        self.engine = engine
        self.called: dict[CallOp, Callable[[PythonValues], Sequence[Any]]] = {}

    @impl(CallOp)
    def run_call(self, interpreter: Interpreter, op: CallOp, args: PythonValues) -> PythonValues:
        """A call of a piece, which is found at once the next time."""
        method = self.called.get(op)
        if method is None:
            name = op.callee.string_value()
            if name not in self.engine.methods:
                return interpreter.call_op(op.callee, args)
            method = self.called[op] = self.engine.methods[name]
        return tuple(method(args))


class SplitEngine:
    """Runs the methods of a program natively as far as they can be lowered, the rest in the interpreter.

    Raises `UnsupportedError` that lists every operator which neither can run.
    """

    def __init__(self, cut: Split, cpu: Processor | None = None, known: Mapping[str, bytes] = NOTHING):
        self.outer = cut.outer
        self.bound = cut.bound
        self.fallbacks = tuple(cut.fallbacks)
        self.hosted = tuple(cut.hosted)
        self.interpreter = make_interpreter(runnable(cut.outer), state=cut.state)
        self.pieces = tuple(cut.pieces.methods)
        """Names of the native pieces."""
        self.native = NativeEngine(cut.pieces, cpu, known) if self.pieces else None
        if self.native is not None:
            self.interpreter.register_implementations(NativePieces(self.native), override=True)

    @property
    def slow_paths(self) -> Sequence[Unsupported]:
        """What has no kernel in the native pieces."""
        return self.native.slow_paths if self.native is not None else ()

    @property
    def generator(self) -> Generator:
        """Where random numbers come from."""
        return generator_of(self.interpreter)

    def reads(self, method: str) -> Collection[int]:
        """Positions of the argument values that it looks at."""
        return used_arguments(self.interpreter, method)

    def updates(self, method: str) -> Collection[int]:
        """Positions of the argument values that it may write to."""
        return ()

    def run(self, method: str, values: Sequence[Any]) -> Sequence[Any]:
        """Results of a method for argument values (arrays and numbers)."""
        return run_function(self.interpreter, method, (*values, *self.bound[method]))
