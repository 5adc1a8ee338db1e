"""`specialize{symbols="s0=4" dtypes="f32=bf16"}`: a program for one size, or other dtypes, where it was for many.

Types say what sizes and symbolic numbers are, so pinning a symbol is putting a number in its place in all of them; ranges and guards
that the number keeps go. `canonicalize` then makes constants of what was computed. Sizes that depend on data cannot be pinned.

Dtypes of arguments and state are pinned by name, or all that have one; state is cast, and every operation has its dtypes inferred again, as
`Module.to(dtype)` and another export would have it: what says a dtype itself, a cast, keeps it. That is for `aten`, where
operators promote; programs whose casts are explicit are not cast anew.

`versions="s0=1","s0=8 s1=4"` keeps the program as it is, for all other sizes, and puts versions of it before it: a chain of
`higher_order.cond`, each of which asks whether the sizes are a version's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects import aten
from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.meta import as_meta, flat_dtypes
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import GUARDS, RANGES, InputKind, RangeAttr, checked_ranges_of, guards_of
from xdsl_exir.dialects.sym_ops import SymAndOp, SymEqOp
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    is_tensor_type,
    tensor_meta,
    tensor_type,
)
from xdsl_exir.errors import ExirError
from xdsl_exir.program import State, methods_of, state_of
from xdsl_exir.transforms.fold_constants import input_of
from xdsl_exir.transforms.retyping import change_sizes, compared, places_of, values_of, with_sizes

T = TypeVar("T")


@dataclass(frozen=True)
class Specialize(ModulePass):
    """Pins symbols and dtypes of all methods: `symbols="s0=4","s1=7"`, `dtypes="f32=bf16","x=f16"`; and puts versions before each method
    (`versions="s0=1","s0=8 s1=4"`), the first that fits being taken.

    Raises `ExirError` for a number that a symbol's range or a guard excludes, for a symbol, an argument or a dtype that no method has,
    for what is no `name=value`, for dtypes of what is no `aten`, and for versions by a symbol that is the size of no argument.
    """

    name = "specialize"

    symbols: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = list(methods_of(op).values())
        symbols = read_symbols(self.symbols, functions)
        versions = [read_symbols(version.split(), functions) for version in self.versions]
        if {} in versions:
            raise ExirError("specialize: a version names no symbol")
        if self.dtypes:
            pin_dtypes(functions, read_dtypes(self.dtypes), state_of(ctx))
        for function in functions:
            pin(function, symbols)
            add_versions(function, versions)


def read_symbols(texts: Sequence[str], functions: Sequence[FuncOp]) -> dict[str, int]:
    """`s0=4` as name and number."""
    symbols = table_of(map(read_symbol, texts))
    known = {name for function in functions for name in checked_ranges_of(function)}
    if unknown := [name for name in symbols if name not in known]:
        raise ExirError(
            f"specialize: no symbol '{unknown[0]}'; there are {', '.join(sorted(known)) or 'none'}"
        )
    return symbols


def table_of(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """What is said of names. Raises `ExirError` where two things are said of one."""
    said: dict[str, T] = {}
    for name, value in pairs:
        if said.setdefault(name, value) != value:
            raise ExirError(f"specialize: '{name}' is {said[name]}, and {value}")
    return said


def read_symbol(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not (number.isascii() and number.isdigit()):
        raise ExirError(f"specialize: '{text}' is not SYMBOL=NUMBER")
    if name.startswith("u"):
        raise ExirError(f"specialize: '{name}' depends on data")
    return name, int(number)


# --- symbols -----------------------------------------------------------------------------------------------------


def pinned(size: Dim, symbols: Mapping[str, int]) -> Dim:
    """A size with numbers in place of symbols."""
    return size.substitute(symbols) if isinstance(size, Expr) else size


def pinned_type(type: Attribute, symbols: Mapping[str, int]) -> Attribute:
    """A type with numbers in place of symbols."""
    return with_sizes(type, partial(pinned, symbols=symbols))


def check_symbols(function: FuncOp, symbols: Mapping[str, int]) -> list[Dim]:
    """The guards of a method with numbers in place of symbols. Raises `ExirError` where a range or a guard excludes them."""
    for name, (low, high) in checked_ranges_of(function).items():
        number = symbols.get(name)
        if number is not None and not (low is None or low <= number) & (high is None or number <= high):
            raise ExirError(f"specialize: {name} is {low} to {high}, not {number}")
    guards = [pinned(guard, symbols) for guard in guards_of(function)]
    if any(is_false(guard) for guard in guards):
        raise ExirError(f"specialize: {', '.join(f'{n}={v}' for n, v in symbols.items())} breaks a guard")
    return guards


def pin(function: FuncOp, symbols: Mapping[str, int]) -> None:
    """Pins symbols of one method."""
    guards = check_symbols(function, symbols)
    change_sizes(function, partial(pinned, symbols=symbols))
    rest = [SymBoolType(guard) for guard in guards if isinstance(guard, Expr) and guard.free_symbols()]
    replace_attribute(function, GUARDS, ArrayAttr(rest) if rest else None)
    held = function.attributes.get(RANGES)
    ranges = {
        str(size): attr
        for name, attr in (held.data.items() if isinstance(held, DictionaryAttr) else ())
        if isinstance(attr, RangeAttr)
        if isinstance(size := pinned(Expr.parse(name), symbols), Expr)
    }
    replace_attribute(function, RANGES, DictionaryAttr(ranges) if ranges else None)


def is_false(guard: Dim) -> bool:
    return isinstance(guard, Expr) and not guard.free_symbols() and not guard.evaluate({})


def replace_attribute(function: FuncOp, name: str, attr: Attribute | None) -> None:
    function.attributes.pop(name, None)
    if attr is not None:
        function.attributes[name] = attr


# --- dtypes ------------------------------------------------------------------------------------------------------

DTYPES = {str(dtype.mlir_type): dtype for dtype in dt.DTYPES}
"""By name, as in the text of programs."""


def read_dtypes(texts: Sequence[str]) -> dict[str, DType]:
    """`x=f16` as name and dtype; the name is that of an argument, of state, or of a dtype."""
    return table_of(map(read_dtype, texts))


def read_dtype(text: str) -> tuple[str, DType]:
    name, _, dtype = text.partition("=")
    if dtype not in DTYPES:
        raise ExirError(f"specialize: '{text}' is not NAME=DTYPE; dtypes are {', '.join(DTYPES)}")
    return name, DTYPES[dtype]


def pin_dtypes(functions: Sequence[FuncOp], dtypes: Mapping[str, DType], state: State) -> None:
    """Gives arguments of all methods other dtypes, casts state, and infers what follows."""
    found = set[str]()
    for function in functions:
        for index, arg in enumerate(function.args):
            if not is_tensor_type(arg.type):
                continue
            attrs = list(function.arg_attrs or ())
            spec = input_of(attrs[index]) if index < len(attrs) else None
            own = tensor_meta(arg.type).dtype
            name = next((name for name in (spec.target if spec else arg.name_hint, str(own.mlir_type)) if name in dtypes), None)  # fmt: skip
            if name is None:
                continue
            found.add(name)
            retype(arg, dtypes[name])
            if spec is not None and spec.kind is not InputKind.USER_INPUT and spec.target in state:
                state.cast(spec.target, dtypes[name])
    if missing := [name for name in dtypes if name not in found]:
        raise ExirError(f"specialize: no method has an argument '{missing[0]}', or one of that dtype")
    for function in functions:
        infer_dtypes(function.body.block)
        function.update_function_type()


def retype(value: SSAValue, dtype: DType) -> None:
    """Gives a tensor another dtype."""
    meta = tensor_meta(value.type)
    if meta.dtype is not dtype:
        Rewriter.replace_value_with_new_type(
            value, tensor_type(meta.shape, dtype, meta.dim_order, meta.device)
        )


def infer_dtypes(block: Block) -> None:
    """Infers the dtypes of all results of a block, and of the regions in it, from those of its arguments.

    Raises `ExirError` where an operator does not take what it is given, or does not promote.
    """
    for op in list(block.ops):
        match op:
            case OperatorOp() if op.SPEC.qualified_name == ASSERTS:
                claim(op)
            case OperatorOp() if not op.NUMBERS and any(is_tensor_type(value.type) for value in op.operands):
                raise ExirError(
                    f"specialize: dtypes of {op.name}, which takes what is cast: do this before `to_edge`"
                )
            case OperatorOp():
                given = op.arguments(lambda value: as_meta(value.type))
                copy_dtypes(op.results, flat_dtypes(op.SPEC, given))
            case RefineOp():
                copy_dtypes(op.results, dtypes_of([op.input]))
            case cf.CondOp() | cf.LoopOp() | cf.MapOp() | cf.ScanOp():
                infer_of_regions(op)
            case _ if op.regions:
                raise ExirError(f"specialize: dtypes of {op.name}")
            case _:
                pass


ASSERTS = "aten._assert_tensor_metadata"
"""Says the dtype that a tensor had when the program was exported."""


def claim(op: OperatorOp) -> None:
    """Has an assertion say the dtype that there is now."""
    given = op.arguments()
    if given["dtype"] is not None:
        made = type(op).from_bound({**given, "dtype": tensor_meta(given["a"].type).dtype}, ())
        made.location = op.location
        made.attributes.update(op.attributes)
        Rewriter.replace_op(op, made)


def infer_of_regions(op: Operation) -> None:
    """The same of what has regions: their arguments are its operands, their results are its own, or what is carried."""
    inputs = op.inputs if isinstance(op, cf.CondOp) else op.operands
    for region in op.regions:
        copy_dtypes(region.block.args, dtypes_of(inputs))
        infer_dtypes(region.block)
    yielded = op.regions[0].block.last_op
    assert yielded is not None
    copy_dtypes(op.results, dtypes_of(op.carried_inputs if isinstance(op, cf.LoopOp) else yielded.operands))


def dtypes_of(values: Sequence[SSAValue]) -> list[DType | None]:
    return [tensor_meta(value.type).dtype if is_tensor_type(value.type) else None for value in values]


def copy_dtypes(values: Sequence[SSAValue], dtypes: Any) -> None:
    """Gives values the dtypes that there are; None stands for that of no tensor."""
    for value, dtype in zip(list(values), dtypes, strict=False):  # of results of one dtype there is no end
        if dtype is not None and is_tensor_type(value.type):
            retype(value, dtype)


# --- versions ----------------------------------------------------------------------------------------------------


def add_versions(function: FuncOp, versions: Sequence[Mapping[str, int]]) -> None:
    """Puts versions of a method before it, the first outermost."""
    for symbols in versions:
        check_symbols(function, symbols)
    specials = [version_of(function.body.block, symbols) for symbols in versions]
    for symbols, special in reversed(list(zip(versions, specials, strict=True))):
        general = function.body.block
        block = Block(arg_types=general.arg_types)
        for arg, old in zip(block.args, general.args, strict=True):
            arg.name_hint = old.name_hint
        fits = is_version(Builder(aten.OPERATORS, block), block, symbols)
        results = general.last_op
        assert isinstance(results, ReturnOp)
        types = [value.type for value in results.operands]
        general.detach_op(results)
        general.add_op(cf.YieldOp(*results.operands))
        function.body.detach_block(general)
        cond = cf.CondOp(fits, block.args, special, Region(general), types)
        block.add_ops([cond, ReturnOp(*cond.outputs)])
        function.body.add_block(block)


def is_version(builder: Builder, block: Block, symbols: Mapping[str, int]) -> SSAValue:
    """Whether symbols are these numbers. Raises `ExirError` for one that is the size of no argument."""

    def both(one: SSAValue, other: SSAValue) -> SSAValue:
        return builder.insert(SymAndOp([one, other])).results[0]

    places = places_of(block)
    if missing := [name for name in symbols if name not in places]:
        raise ExirError(f"specialize: versions by {missing[0]}, which is the size of no argument")
    checks = [compared(builder, places[name], SymEqOp, number) for name, number in symbols.items()]
    return reduce(both, checks)


def version_of(general: Block, symbols: Mapping[str, int]) -> Region:
    """A copy of a method's block as a branch: symbols are numbers inside, and what goes in and comes out has the types it had."""
    block = Block(arg_types=general.arg_types)
    values: dict[SSAValue, SSAValue] = {}
    for old, arg in zip(general.args, block.args, strict=True):
        arg.name_hint = old.name_hint
        values[old] = refined(block, arg, pinned_type(arg.type, symbols))
    for op in general.ops:
        if isinstance(op, ReturnOp):
            block.add_op(cf.YieldOp(*[refined(block, values[value], value.type) for value in op.operands]))
            break
        copy = op.clone(value_mapper=values)
        block.add_op(copy)
        for value in list(values_of(copy)):
            Rewriter.replace_value_with_new_type(value, pinned_type(value.type, symbols))
        values.update(zip(op.results, copy.results, strict=True))
    return Region(block)


def refined(block: Block, value: SSAValue, type: Attribute) -> SSAValue:
    """A value as one of this type."""
    if value.type == type:
        return value
    op = RefineOp(value, type)
    block.add_op(op)
    return op.result
