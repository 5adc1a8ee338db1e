"""`numbers-to-tensors`: numbers that are computed from data become tensors of one element, as far as they can.

A region of native code cannot give its caller a number, nor the next turn of a loop one: its types say what numbers are. So
what goes in and out of regions, and is not known before, is a tensor, and what regions need as a number they read out of it
(`_local_scalar_dense`). Then what is done with such numbers is done with the tensors: arithmetic, comparison, making a tensor of
it, picking at it. What is left of numbers inside regions are sizes and assertions, which native code refuses.

`while_loop_stack_output`, whose results are as long as the loop has turns, is a loop that counts them and a scan of so many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_exir.dialects import aten as aten_dialect
from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.builder import Builder, Namespace, Results, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.registry import Registry
from xdsl_exir.dialects.signature import checked_ranges_of
from xdsl_exir.dialects.sizes import is_symbol, sizes_of, symbols_of
from xdsl_exir.dialects.sym_ops import SymOp
from xdsl_exir.dialects.tensors import (
    SymBoolType,
    SymFloatType,
    SymIntType,
    SymType,
    is_tensor_type,
    is_value,
    tensor_meta,
    tensor_type,
)
from xdsl_exir.transforms.assertions import drop_proved
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.decompose_aten import Decomposer
from xdsl_exir.transforms.decompositions.symbolic import item
from xdsl_exir.transforms.decompositions.view import Sizes
from xdsl_exir.transforms.patterns import KEEP, apply_once

F = TypeVar("F", bound=Callable[..., Any])
Out = Sequence[Attribute]

DTYPES: dict[type[SymType], DType] = {SymIntType: dt.Long, SymFloatType: dt.Double, SymBoolType: dt.Bool}
"""The dtypes of numbers as tensors."""


class Function(NamedTuple):
    """An operator that computes with elements what a function does with numbers."""

    operator: str
    takes: DType | None = None
    """The dtype of its operands, where it is not theirs."""
    gives: DType | None = None


FUNCTIONS = {
    "add": Function("aten.add.Tensor"),
    "sub": Function("aten.sub.Tensor"),
    "mul": Function("aten.mul.Tensor"),
    "floordiv": Function("aten.floor_divide"),
    "mod": Function("aten.remainder.Tensor"),
    "truediv": Function("aten.div.Tensor", takes=dt.Double),
    "neg": Function("aten.neg"),
    "max": Function("aten.maximum"),
    "min": Function("aten.minimum"),
    "eq": Function("aten.eq.Tensor"),
    "ne": Function("aten.ne.Tensor"),
    "lt": Function("aten.lt.Tensor"),
    "le": Function("aten.le.Tensor"),
    "gt": Function("aten.gt.Tensor"),
    "ge": Function("aten.ge.Tensor"),
    "bitwise_and": Function("aten.bitwise_and.Tensor"),
    "bitwise_or": Function("aten.bitwise_or.Tensor"),
    "abs": Function("aten.abs"),
    "not": Function("aten.logical_not"),
    "where": Function("aten.where.self"),
    "sqrt": Function("aten.sqrt", takes=dt.Double),
    "to_float": Function("aten.alias", takes=dt.Double),
    "trunc_to_int": Function("aten.trunc", gives=dt.Long),
    "ceil_to_int": Function("aten.ceil", gives=dt.Long),
    "floor_to_int": Function("aten.floor", gives=dt.Long),
    "round_to_int": Function("aten.round", gives=dt.Long),
}
"""Functions of expressions on tensors of one element. Powers are not among them: those of integers may be fractions."""


def apply(aten: Namespace, function: Function, arity: int, args: Sequence[SSAValue]) -> SSAValue:
    """A function of elements; one of no arity is one of two, folded."""

    def call(*operands: SSAValue) -> SSAValue:
        return aten.builder.call(function.operator, operands, {})

    given = [cast(aten, arg, function.takes or meta(arg).dtype) for arg in args]
    result = call(*given) if arity else reduce(call, given)
    return cast(aten, result, function.gives or meta(result).dtype)


def tensor_of_number(number: SSAValue) -> tuple[SymType, DType]:
    """The type of a number, and the dtype of the tensor that stands for it."""
    assert isinstance(number.type, SymType)
    return number.type, DTYPES[type(number.type)]


def is_item(op: object) -> bool:
    """Whether an operation reads a number out of memory."""
    return isinstance(op, OperatorOp) and op.SPEC.qualified_name == "aten._local_scalar_dense"


def depends_on_item(number: SSAValue) -> bool:
    """Whether a number is computed from one that is read out of memory."""
    seen, left = {number}, [number]
    while left:
        value = left.pop()
        owner = value.owner
        if not isinstance(value.type, SymType) or not isinstance(owner, Operation):
            continue
        if is_item(owner):
            return True
        left += [operand for operand in dict.fromkeys(owner.operands) if operand not in seen]
        seen.update(owner.operands)
    return False


def next_op(value: SSAValue) -> Operation:
    """The first operation that may use a value."""
    after = value.owner.first_op if isinstance(value.owner, Block) else value.owner.next_op
    assert after is not None, "a block ends in an operation without results"
    return after


class Tensors(Decomposer):
    """The tensors that numbers are read out of or computed as; what is built of them is decomposed."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[SSAValue, SSAValue | None] = {}

    def dialect(self, op: OperatorOp) -> OperatorDialect:
        return aten_dialect.OPERATORS

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        """An operator that takes a number on a tensor, if it can take one."""
        entry = RULES.find(op.SPEC)
        if entry is None or (entry.options["inside"] and isinstance(op.parent_op(), FuncOp)):
            return KEEP
        return entry.call({"out": op.result_types, **op.arguments()}, self, Namespace(builder))

    def aten(self, before: Operation) -> Namespace:
        """The operators, built before an operation."""
        return Namespace(self.builder(aten_dialect.OPERATORS, before))

    def of(self, number: SSAValue) -> SSAValue | None:
        """The tensor that a number is the element of, made right behind it; None for one that does not depend on data, or that has
        no function on tensors."""
        if number not in self.made:
            self.made[number] = self.make(number)
        return self.made[number]

    def of_value(self, number: Any) -> SSAValue | None:
        """The tensor of what may be a number of Python's, which has none."""
        return self.of(number) if is_value(number) else None

    def make(self, number: SSAValue) -> SSAValue | None:
        aten = self.aten(next_op(number))
        if not depends_on_item(number):
            return None
        match number.owner:
            case RefineOp(input=source):
                return self.of(source)
            case SymOp(FUNCTION=name, ARITY=arity, args=args) if name in FUNCTIONS:
                given = [self.of(arg) or self.before(next_op(number), arg) for arg in args]
                return apply(aten, FUNCTIONS[name], arity, given)
            case OperatorOp(operands=[source]) if is_item(number.owner):
                return cast(aten, aten.reshape(source, []), tensor_of_number(number)[1])
            case _:
                return None

    def before(self, op: Operation, number: SSAValue) -> SSAValue:
        """A number as a tensor, made before an operation."""
        type, dtype = tensor_of_number(number)
        known = type.data
        if isinstance(known, Expr) and not known.free_symbols():
            known = known.evaluate({})
        if not isinstance(known, Expr):
            return self.aten(op).builder.constant(known, dtype)
        return self.aten(op).scalar_tensor(number, dtype=dtype)

    def stand_for(self, value: SSAValue) -> None:
        """Makes an argument or result that is a number a tensor, and reads the number out of it."""
        kind, dtype = tensor_of_number(value)
        tensor = Rewriter.replace_value_with_new_type(value, tensor_type((), dtype))
        number = item(self.aten(next_op(tensor)), tensor, [kind])
        tensor.replace_uses_with_if(number, lambda use: use.operation is not number.owner)


# --- regions -------------------------------------------------------------------------------------------------


def yield_of(region: Region) -> cf.YieldOp:
    """What a region ends in."""
    end = region.block.last_op
    assert isinstance(end, cf.YieldOp)
    return end


def carried_arguments(op: Operation) -> list[list[SSAValue]]:
    """By carried operand, of which there is one for each of an operation's first results, the arguments that it is."""
    match op:
        case cf.LoopOp():
            return [[region.block.args[i] for region in op.regions] for i in range(len(op.carried_inputs))]
        case cf.ScanOp():
            return [[op.combine_region.block.args[i]] for i in range(len(op.init))]
        case _:
            return []


def results_from(op: Operation) -> list[cf.YieldOp]:
    """What yields an operation's results, or elements of them."""
    return (
        [yield_of(op.body_region)]
        if isinstance(op, cf.LoopOp)
        else [yield_of(region) for region in op.regions]
    )


class RegionNumbers:
    """Makes the numbers that operations with regions take, give and carry tensors, where they are computed."""

    def __init__(self, tensors: Tensors):
        self.tensors = tensors

    def rewrite(self, op: Operation) -> None:
        """Rewrites one operation. Those around it were rewritten before."""
        given, carried = symbols_of(sizes_of(op.operands)), carried_arguments(op)
        for index, args in enumerate(carried):
            if isinstance(op.operands[index].type, SymType):
                op.operands[index] = self.tensors.before(op, op.operands[index])
                for arg in args:
                    self.tensors.stand_for(arg)
        for index, result in enumerate(list(op.results)):
            if isinstance(result.type, SymType) and (
                index < len(carried) or not symbols_of([result.type.data]) <= given
            ):
                for end in results_from(op):
                    end.operands[index] = self.tensors.before(end, end.operands[index])
                self.tensors.stand_for(result)
        self.pass_in(op)
        self.decide(op)
        if isinstance(op, cf.CondOp):
            self.name_sizes(op, given)

    def pass_in(self, op: Operation) -> None:
        """Passes as tensors the numbers that a region around computes, and what is read out of memory and no whole one: such numbers
        native code has not."""
        passed: dict[SSAValue, SSAValue] = {}
        for number, arg in cf.shared_arguments(op):
            inside = not isinstance(op.parent_op(), FuncOp)
            if (inside or isinstance(number.type, SymFloatType)) and depends_on_item(number):
                passed[number] = passed.get(number) or self.tensors.before(op, number)
                self.tensors.stand_for(arg)
        op.operands = [passed.get(operand, operand) for operand in op.operands]

    def decide(self, op: Operation) -> None:
        """Makes predicates tensors."""
        match op:
            case cf.CondOp():
                decides = op
            case cf.LoopOp():
                decides = yield_of(op.cond_region)
            case _:
                return
        if depends_on_item(decides.operands[0]):
            decides.operands[0] = self.tensors.before(decides, decides.operands[0])

    def name_sizes(self, op: cf.CondOp, given: set[str]) -> None:
        """Computes the sizes that results have names for, from those that both branches give them, and passes them in."""
        for index, result in enumerate(op.results):
            if not is_tensor_type(result.type):
                continue
            branches = [unrefined(end.operands[index]) for end in results_from(op)]
            for symbol, *sizes_ in zip(*(meta(value).shape for value in (result, *branches)), strict=True):
                if symbols_of([symbol]) <= given or not is_symbol(symbol) or not symbols_of(sizes_) <= given:
                    continue
                assert isinstance(symbol, Expr)
                number = self.chosen(op, sizes_, SymIntType(symbol))
                op.operands = [*op.operands, number]
                for region in op.regions:
                    region.block.insert_arg(number.type, len(region.block.args))
                given |= symbols_of([symbol])

    def chosen(self, op: cf.CondOp, choices: Sequence[Dim], type: SymIntType) -> SSAValue:
        """The size of the branch that is taken."""
        aten = self.tensors.aten(op)
        choice = Sizes(aten, *op.operands)
        first, *others = [aten.scalar_tensor(choice(size), dtype=dt.Long) for size in choices]
        if is_tensor_type(op.pred.type):
            predicate = aten.reshape(op.pred, [])
        else:
            predicate = self.tensors.before(op, op.pred)
        return item(aten, aten.where.self(predicate, first, *others), [type])


def unrefined(value: SSAValue) -> SSAValue:
    """A value without the names that its sizes were given."""
    return unrefined(value.owner.input) if isinstance(value.owner, RefineOp) else value


def as_stacked_scan(op: cf.WhileLoopStackOutputOp) -> None:
    """Replaces a loop that gives the values of every turn by one that counts turns, and a scan of so many.

    Of a loop without a turn the results are its inputs: those of one turn, not taken.
    """
    builder = Builder(aten_dialect.OPERATORS, op)
    aten = Namespace(builder)
    carried, count = list(op.carried_inputs), len(op.carried_inputs)
    zero = builder.constant(0, dt.Long)

    regions = [op.cond_region.clone(), op.body_region.clone()]
    for region in regions:
        region.block.insert_arg(zero.type, 0)
    end = yield_of(regions[1])
    inside = Namespace(Builder(aten_dialect.OPERATORS, end))
    end.operands = [inside.add.Scalar(regions[1].block.args[0], 1), *end.operands]
    types = [zero.type, *cf.types_of(carried)]
    counting = cf.WhileLoopOp([zero, *carried], list(op.additional_inputs), regions[0], regions[1], types)
    turns = builder.insert(counting).results[0]

    length = cf.leading_dimension(cf.types_of(op.outputs))
    assert isinstance(length, Expr)
    steps = aten.full([item(aten, aten.clamp(turns, 1), [SymIntType(length)])], 0, dtype=dt.Bool)
    taken = aten.gt.Scalar(turns, 0)

    combine = op.body_region.clone()
    combine.block.insert_arg(cf.slice_type(steps.type), count)
    is_taken = combine.block.insert_arg(taken.type, len(combine.block.args))
    end = yield_of(combine)
    inside = Namespace(Builder(aten_dialect.OPERATORS, end))
    turn = [
        inside.where.self(is_taken, new, old)
        for new, old in zip(end.values, combine.block.args, strict=False)
    ]
    end.operands = [*turn, *turn]
    results = [*types[1:], *(cf.stack_type(type, length) for type in types[1:])]
    scan = builder.insert(cf.ScanOp(carried, [steps], [*op.additional_inputs, taken], combine, results))
    for old, new in zip(op.outputs, scan.results[count:], strict=True):
        named = new if new.type == old.type else builder.insert(RefineOp(new, old.type)).results[0]
        old.replace_all_uses_with(named)
    op.detach()
    op.erase()


# --- what is done with numbers -------------------------------------------------------------------------------

RULES: Registry[Callable[..., Any]] = Registry("rule for numbers", leading=2, extras=frozenset({"out"}))


def with_tensor(*names: str, inside: bool = False) -> Callable[[F], F]:
    """Registers what operators that take a number do with a tensor in its place; if `inside`, in regions only.

    Rules get `Tensors`, the operators to build with, and arguments by name; `out` is the types of the results.
    """
    return RULES.register(*names, inside=inside)


def element(tensors: Tensors, aten: Namespace, number: Any, out: Out) -> Any:
    """A number as element of the dtype that results have; `KEEP` if native code has it as a number."""
    tensor = tensors.of_value(number)
    return KEEP if tensor is None else cast(aten, tensor, tensor_meta(out[0]).dtype)


def place(tensors: Tensors, aten: Namespace, self: SSAValue, dim: int, number: Any) -> Any:
    """A place in a dimension, which counts from the end if it is negative; `KEEP` for one that is known."""
    tensor = tensors.of_value(number)
    if tensor is None:
        return KEEP
    size = sizes(aten, self)[dim]
    size = size if isinstance(size, int) else aten.scalar_tensor(size, dtype=dt.Long)
    return aten.where.self(aten.lt.Scalar(tensor, 0), aten.add.Tensor(tensor, size), tensor)


@with_tensor("aten.scalar_tensor")
def scalar_tensor(tensors: Tensors, aten: Namespace, s: Any, out: Out) -> Any:
    return element(tensors, aten, s, out) if is_value(s) and depends_on_item(s) else KEEP


@with_tensor("aten.full")
def full(tensors: Tensors, aten: Namespace, size: list[int | SSAValue], fill_value: Any, out: Out) -> Any:
    filling = element(tensors, aten, fill_value, out)
    return filling if filling is KEEP else aten.expand(filling, size)


@with_tensor("aten.full_like")
def full_like(tensors: Tensors, aten: Namespace, self: SSAValue, fill_value: Any, out: Out) -> Any:
    return full(tensors, aten, sizes(aten, self), fill_value, out)


@with_tensor("aten.clamp")
def clamp(tensors: Tensors, aten: Namespace, self: SSAValue, min: Any, max: Any, out: Out) -> Any:
    if tensors.of_value(min) is None and tensors.of_value(max) is None:
        return KEEP

    def end(number: Any) -> SSAValue | None:
        if number is None:
            return None
        made = element(tensors, aten, number, out)
        return aten.scalar_tensor(number, dtype=tensor_meta(out[0]).dtype) if made is KEEP else made

    return aten.clamp.Tensor(self, *(end(number) for number in (min, max)))


@with_tensor("aten.add.Tensor")
def add(tensors: Tensors, aten: Namespace, self: SSAValue, other: SSAValue, alpha: Any, out: Out) -> Any:
    """In the dtype that elements are computed in, as the factor is there."""
    factor = element(tensors, aten, alpha, out)
    if factor is KEEP:
        return KEEP
    dtype = tensor_meta(out[0]).dtype
    self, other, factor = (cast(aten, each, opmath(dtype)) for each in (self, other, factor))
    return cast(aten, aten.add.Tensor(self, aten.mul.Tensor(other, factor)), dtype)


@with_tensor("aten.sub.Tensor")
def sub(tensors: Tensors, aten: Namespace, self: SSAValue, other: SSAValue, alpha: Any, out: Out) -> Any:
    return KEEP if tensors.of_value(alpha) is None else add(tensors, aten, self, aten.neg(other), alpha, out)


@with_tensor("aten.select.int", inside=True)
def select(tensors: Tensors, aten: Namespace, self: SSAValue, dim: int, index: Any) -> Any:
    where = place(tensors, aten, self, dim, index)
    if where is KEEP:
        return KEEP
    return aten.select.int(aten.index_select(self, dim, aten.reshape(where, [1])), dim, 0)


def places(
    tensors: Tensors, aten: Namespace, self: SSAValue, dim: int, start: Any, step: int, count: Dim
) -> Any:
    """So many places from one on; `KEEP` where this, or how many they are, is known otherwise."""
    first = place(tensors, aten, self, dim, start) if isinstance(count, int) else KEEP
    if first is KEEP:
        return KEEP
    return aten.add.Tensor(aten.arange.start_step(0, count * step, step), first)


@with_tensor("aten.slice.Tensor", inside=True)
def slice_tensor(
    tensors: Tensors, aten: Namespace, self: SSAValue, dim: int, start: Any, step: int, out: Out
) -> Any:
    found = places(tensors, aten, self, dim, start, step, tensor_meta(out[0]).shape[dim])
    return KEEP if found is KEEP else aten.index_select(self, dim, found)


@with_tensor("aten.slice_scatter", inside=True)
def slice_scatter(
    tensors: Tensors, aten: Namespace, self: SSAValue, src: SSAValue, dim: int, start: Any, step: int
) -> Any:
    found = places(tensors, aten, self, dim, start, step, meta(src).shape[dim])
    if found is KEEP:
        return KEEP
    return aten.index_put(self, [*[None] * (dim % meta(self).ndim), found], src)


# --- the pass ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumbersToTensors(ModulePass):
    """Makes numbers that are computed from data tensors of an edge program, as far as they can be."""

    name = "numbers-to-tensors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        tensors = Tensors()
        for inner in list(op.walk()):
            if isinstance(inner, cf.WhileLoopStackOutputOp) and isinstance(inner.parent_op(), FuncOp):
                as_stacked_scan(inner)
        for inner in list(op.walk()):
            if isinstance(inner, cf.OPERATIONS):
                RegionNumbers(tensors).rewrite(inner)
        drop_known_assertions(op)
        if not any(map(is_item, op.walk())):
            return
        apply_once(op, tensors)
        for inner in reversed(list(op.walk())):
            if is_trivially_dead(inner):
                inner.detach()
                inner.erase()
        AtenToEdge().apply(ctx, op)


def drop_known_assertions(module: ModuleOp) -> None:
    """Drops what regions assert about numbers that holds by what these may be."""
    for function in module.ops:
        inside = (op for op in function.walk() if not isinstance(op.parent_op(), FuncOp))
        drop_proved(inside, checked_ranges_of(function))
