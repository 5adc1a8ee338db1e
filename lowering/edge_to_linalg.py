"""`edge-to-linalg`: an edge program as linalg on tensors, in upstream dialects only.

Functions keep their names and their arguments' order; types are converted (`linalg.lowered_type`). A symbol is an argument of
type index, read from an argument that has it as a size, or extracted from a tensor; numbers whose type says their value are lowered to nothing.
What the program asserts about symbols is its caller's to check, about what it extracts and about tensors' elements a `cf.assert` (outside of regions). Everything that cannot be lowered is reported at once, before anything is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects import cf as upstream_cf
from xdsl.dialects.builtin import IndexType, ModuleOp, UnknownLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.ancestry import descent_of
from xdsl_exir.dialects.backend import DelegateOp, DispatchOp, YieldOp
from xdsl_exir.dialects.dtypes import BY_MLIR_TYPE, Bool, Category
from xdsl_exir.dialects.exir import ConstantOp, RefineOp
from xdsl_exir.dialects.expr import Dim, Expr, linear, provably
from xdsl_exir.dialects.meta import as_meta, same_shape
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.sizes import is_static, is_symbol, sizes_of, symbols_of
from xdsl_exir.dialects.tensors import SymIntType, SymType, TensorMeta, is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.lowering.control_flow import Regions
from xdsl_exir.lowering.dispatches.assertions import asserted, assumed
from xdsl_exir.lowering.index_ranges import range_of
from xdsl_exir.lowering.linalg import LinalgBuilder
from xdsl_exir.lowering.named import NamedBuilder
from xdsl_exir.lowering.preconditions import all_true, before, is_assertion, raise_assertions
from xdsl_exir.lowering.preparation import COUNTED, PLAIN
from xdsl_exir.lowering.signatures import keep_signature
from xdsl_exir.lowering.sizes import Sizes, is_computable
from xdsl_exir.lowering.tensors import Tensor, lowered_type, storage_type, tensor_of
from xdsl_exir.transforms.forget_sizes import is_number
from xdsl_exir.transforms.numbers_to_tensors import is_item
from xdsl_exir.transforms.partition import inline_dispatches
from xdsl_exir.transforms.unflatten import inline_modules, is_private


def obstacle(op: Operation) -> str | None:
    """Why an operation cannot be lowered; None where it can."""
    if is_number(op):
        return None
    if (reason := obstacle_of_sizes(op)) is not None:
        return reason
    if isinstance(op, OperatorOp):
        if op.NUMBERS:
            return "not an edge operation"
        if LOWERINGS.find(op.SPEC) is None:
            return "no lowering"
    elif isinstance(op, DelegateOp):
        return f"belongs to backend {op.backend}"
    elif not isinstance(
        op, ConstantOp | RefineOp | ReturnOp | FuncOp | ModuleOp | DispatchOp | YieldOp | REGIONS
    ):
        return "no lowering"
    if (reason := obstacle_of_region(op)) is not None:
        return reason
    values = (*op.operands, *op.results)
    return next((reason for value in values if (reason := unlowerable(op, value.type))), None) or (
        refusal(op) if isinstance(op, OperatorOp) else None
    )


REGIONS = cf.YieldOp | cf.CondOp | cf.WhileLoopOp | cf.MapOp | cf.ScanOp | cf.AssociativeScanOp
"""Operations with regions that can be lowered, and what ends these. Results as many as turns of a loop cannot."""


def obstacle_of_region(op: Operation) -> str | None:
    """Why an operation with regions, or one that is in a region, cannot be lowered there; None where it can."""
    if isinstance(op, OperatorOp) and not op.results and isinstance(op.parent_op(), REGIONS):
        types = [value.type for value in op.operands]
        if any(isinstance(type, SymType) and isinstance(type.data, Expr) for type in types):
            return "an assertion inside a region"
    args = [arg for region in op.regions for arg in region.block.args] if isinstance(op, REGIONS) else []
    return next((reason for arg in args if (reason := unlowerable(op, arg.type))), None)


def obstacle_of_sizes(op: Operation) -> str | None:
    """Why sizes that an operation names cannot be known when native code is called; None where they can."""
    if op.parent is None or isinstance(op, FuncOp):
        return None
    args = [arg for region in op.regions for arg in region.block.args]
    named = {name for name in symbols_of(sizes_of([*op.results, *args])) if Expr.symbol(name).is_unbacked}
    new = named and named - symbols_of(sizes_of([*op.operands, *op.parent.args]))
    return f"{min(new)} depends on data" if new else None


def depends_on_data(module: ModuleOp) -> bool:
    """Whether operators of a module, but those that read a number, find out sizes by computing."""
    return any(not is_item(op) and obstacle_of_sizes(op) is not None for op in module.walk())


def obstacle_to_all(op: Operation) -> str | None:
    """Why an operation, or one that is in its regions, cannot be lowered; None where they all can."""
    for inner in op.walk():
        if (reason := obstacle(inner)) is not None:
            return reason if inner is op else f"{inner.name}: {reason}"
    return None


def unlowerable(op: Operation, type: Attribute) -> str | None:
    """Why an operation cannot be lowered with an operand or result of a type; None where it can."""
    if isinstance(type, SymType) and isinstance(op, REGIONS | OperatorOp | ReturnOp):
        asserts = isinstance(op, OperatorOp | ReturnOp) and not op.results
        return None if asserts or is_computable(type.data) else f"a number of type {type}"
    if not is_tensor_type(type):
        return f"a value of type {type}"
    dtype = BY_MLIR_TYPE[type.element_type]
    if dtype.category is Category.COMPLEX and not takes_complex(op):
        return f"dtype {dtype}"
    sizes = tensor_meta(type).shape
    if not all(map(is_computable, sizes)):
        return "symbolic sizes"
    return None


def takes_complex(op: Operation) -> bool:
    """Whether an operation can be lowered with complex tensors."""
    if not isinstance(op, OperatorOp):
        return True
    entry = LOWERINGS.find(op.SPEC)
    return entry is not None and bool(entry.options.get("takes_complex"))


def refusal(op: OperatorOp) -> str | None:
    """Why an operator's lowering does not take this call; None where it does."""
    entry = LOWERINGS.find(op.SPEC)
    refuses, static = (
        entry.options.get(name) if entry is not None else None for name in ("refuses", "static")
    )
    if not refuses and not static:
        return None
    arguments = op.arguments(lambda value: as_meta(value.type))
    for name in static or ():
        if not is_static(sizes_in(arguments.get(name))):
            return f"symbolic {name}"
    used = [result.first_use is not None for result in op.results]
    return refuses({**arguments, "used": used}) if refuses else None


def sizes_in(argument: Any) -> list[Dim]:
    """The sizes of tensors, and whole numbers, in an argument."""
    match argument:
        case TensorMeta():
            return list(argument.shape)
        case list() | tuple():
            return [size for item in cast("Sequence[Any]", argument) for size in sizes_in(item)]
        case _:
            return [argument] if isinstance(argument, int | Expr) else []


def obstacles(module: ModuleOp) -> list[Unsupported]:
    """Everything in a module that cannot be lowered; of what is in a delegate only that."""
    found: list[Unsupported] = []
    for op in module.walk():
        handled = isinstance(op.parent_op(), DelegateOp) or is_flag(op) or is_read(op)
        reason = None if handled else obstacle(op)
        if reason is not None:
            found.append(Unsupported(op.name, reason, location_text(op)))
    return found


def is_read(op: Operation) -> bool:
    """Whether an operation reads a whole number out of memory as a symbol of its own, outside of regions."""
    if not is_item(op) or not isinstance(op.parent_op(), FuncOp):
        return False
    return is_symbol(sizes_of(op.results)[0]) and meta_of(op.operands[0]).dtype.category is Category.INT


def with_flags(block: Block) -> None:
    """Makes the assertions about tensors of one element look at one Bool, outside of regions."""
    raise_assertions(block)
    for op in list(block.ops):
        if is_assertion(op) and meta_of(op.operands[0]).shape == (1,) * meta_of(op.operands[0]).ndim:
            op.operands = [all_true(before(op), op.operands[0])]


def is_flag(op: Operation) -> bool:
    """Whether an operation asserts one Bool, outside of regions."""
    outside = isinstance(op.parent_op(), FuncOp)
    return outside and is_assertion(op) and meta_of(op.operands[0]) == TensorMeta((), Bool)


class FunctionLowering:
    """Lowers one function into a block of its own."""

    def __init__(self, function: FuncOp, named: bool = False):
        self.function = function
        self.named = named
        self.arguments = self.block = Block()
        self.regions = Regions(self)
        self.values: dict[SSAValue, Tensor] = {}
        self.symbols: dict[str, SSAValue] = {}
        self.read: dict[str, tuple[int | None, int | None]] = {}
        """Symbols that are read out of memory, and between which numbers, both included, they are known to be."""
        self.location = function.location

    def builder(self) -> LinalgBuilder:
        return (NamedBuilder if self.named else LinalgBuilder)(self.insert, self.symbol)

    def insert(self, op: Operation) -> None:
        if op.parent is not None:  # the body of a loop, which is being made: sizes stand before it
            op.detach()
        self.block.add_op(op)
        self.locate(op)

    def locate(self, op: Operation) -> None:
        """Gives an operation, and what is inside, the location in work, but for what has one."""
        for inner in op.walk():
            if isinstance(inner.location, UnknownLoc):
                inner.location = self.location

    def run(self) -> FuncOp:
        """The lowered function."""
        builder = self.builder()
        for arg in self.function.args:
            if isinstance(arg.type, SymType) and not is_symbol(arg.type.data):
                continue  # its type says what it is
            type = IndexType() if isinstance(arg.type, SymIntType) else lowered_type(meta_of(arg))
            value = self.block.insert_arg(type, len(self.block.args))
            value.name_hint = arg.name_hint
            if isinstance(arg.type, SymIntType):
                self.symbols[str(arg.type.data)] = value
            else:
                meta = meta_of(arg)
                self.values[arg] = Tensor(value, meta.shape, meta.dtype)
        for op in self.function.body.block.ops:
            self.location = descent_of(op)
            self.operation(builder, op)
        # Bodies of loops are filled once the loop is in its place.
        for op in self.block.ops:
            self.location = op.location
            self.locate(op)
        types = [arg.type for arg in self.block.args], [value.type for value in self.results]
        return FuncOp(self.function.sym_name.data, types, Region(self.block), self.function.sym_visibility)

    def symbol(self, name: str) -> SSAValue:
        """A symbol's value: an argument, a size of one, or what a multiple of it plus a constant says that is one."""
        if name not in self.symbols:
            places = [
                (value.value, dim, *said[1:])
                for value in self.values.values()
                for dim, size in enumerate(value.shape)
                if value.value in self.arguments.args
                and (said := linear(size)) is not None
                and said[0] == name
            ]
            if not places:
                raise ExirError(f"the symbol {name} is not the size of an argument")
            value, dim, step, start = min(places, key=lambda place: place[2:] != (1, 0))
            size = self.index(tensor.DimOp(value, self.number(dim)))
            if start:
                size = self.index(arith.SubiOp(size, self.number(start)))
            self.symbols[name] = size if step == 1 else self.index(arith.DivSIOp(size, self.number(step)))
        return self.symbols[name]

    def number(self, value: int) -> SSAValue:
        return self.index(arith.ConstantOp.from_int_and_width(value, IndexType()))

    def index(self, op: Operation) -> SSAValue:
        """The value of an operation that is put in."""
        self.insert(op)
        return op.results[0]

    def operation(self, builder: LinalgBuilder, op: Operation) -> None:
        match op:
            case _ if is_number(op):
                pass
            case OperatorOp() if is_read(op):
                self.extract(op)
            case OperatorOp() if is_flag(op):
                self.assertion(builder, op)
            case OperatorOp():
                self.conditions(builder, op)
                for result, value in zip(op.results, self.operator(builder, op), strict=True):
                    self.values[result] = value
            case ConstantOp():
                self.values[op.result] = literal(builder, op)
            case _ if isinstance(op, cf.OPERATIONS):
                self.regions.lower(builder, op)
            case RefineOp():
                self.values[op.result] = builder.retyped(self.values[op.input], meta_of(op.result).shape)
            case _:
                assert isinstance(op, ReturnOp)
                self.results = [
                    builder.size(operand.type.data)
                    if isinstance(operand.type, SymType)
                    else self.values[operand].value
                    for operand in op.operands
                ]
                self.insert(ReturnOp(*self.results))

    def operator(self, builder: LinalgBuilder, op: OperatorOp) -> Sequence[Tensor]:
        entry = LOWERINGS.find(op.SPEC)
        assert entry is not None
        arguments: dict[str, Any] = op.arguments(self.argument)
        given = entry.call({**arguments, "out": [meta_of(result) for result in op.results]}, builder)
        if given is None:
            return ()
        results = [given] if isinstance(given, Tensor) else list(given)
        typed: list[Tensor] = []
        for result, value in zip(op.results, results, strict=True):
            meta = meta_of(result)
            agrees = same_shape(value.shape, meta.shape) and value.dtype is meta.dtype
            assert agrees, f"lowering of {op.name} gives {value.dtype}{list(value.shape)} for {result.type}"
            typed.append(builder.retyped(value, meta.shape))
        return typed

    def extract(self, op: OperatorOp) -> None:
        """Makes an element of a tensor a symbol."""
        element, symbol = self.values[op.operands[0]], str(sizes_of(op.results)[0])
        place = [self.number(0)] * element.ndim
        number = self.index(tensor.ExtractOp(element.value, place, storage_type(element.dtype)))
        self.symbols[symbol] = self.index(arith.IndexCastOp(number, IndexType()))
        low, end = range_of(op.operands[0], {})
        self.read[symbol] = low, end - 1 if isinstance(end, int) else None

    def conditions(self, builder: LinalgBuilder, op: OperatorOp) -> None:
        """What an operator asserts, or takes to hold, of symbols that were read."""
        if not self.read or not symbols_of(sizes_of(op.operands)) & self.read.keys():
            return
        for condition, message in (*asserted(op), *assumed(op)):
            of_read = isinstance(condition, Expr) and condition.free_symbols() & self.read.keys()
            if of_read and not provably(condition, self.read):
                self.insert(upstream_cf.AssertOp(self.regions.condition(builder, condition), message))

    def assertion(self, builder: LinalgBuilder, op: OperatorOp) -> None:
        """One Bool is set. (Native code of ours has no such operation: its caller looks, `lowering.checks`.)"""
        flag = builder.add(tensor.ExtractOp(self.values[op.operands[0]].value, [], storage_type(Bool)))
        zero = builder.add(arith.ConstantOp.from_int_and_width(0, 8))
        holds = builder.add(arith.CmpiOp(flag, zero, "ne"))
        self.insert(upstream_cf.AssertOp(holds, op.arguments()["assert_msg"]))

    def argument(self, value: SSAValue) -> Tensor | Dim:
        """What a lowering gets for an operand."""
        return value.type.data if isinstance(value.type, SymType) else self.values[value]


def meta_of(value: SSAValue) -> TensorMeta:
    """Shape and dtype of a tensor of the edge program."""
    assert is_tensor_type(value.type)
    return tensor_meta(value.type)


def shape_of(value: SSAValue) -> Sizes:
    return meta_of(value).shape


def literal(builder: LinalgBuilder, op: ConstantOp) -> Tensor:
    """A literal as a filled tensor, or as elements put together."""
    meta = tensor_meta(op.type)
    shape, values = meta.shape, op.values
    if op.is_splat or not values:
        return builder.fill(values[0] if values else 0, shape, meta.dtype)
    elements = [builder.constant(value, meta.dtype) for value in values]
    flat = tensor_of([len(elements)], meta.dtype)
    value = builder.add(tensor.FromElementsOp(*elements, result_type=flat))
    return builder.reshape(Tensor(value, (len(elements),), meta.dtype), shape)


@dataclass(frozen=True)
class EdgeToLinalg(ModulePass):
    """Lowers edge operations to linalg on tensors. Functions of modules are put where they are called.

    Raises `UnsupportedError` listing everything that cannot be lowered; then no operator is.
    """

    name = "edge-to-linalg"

    named: bool = False
    """For other compilers: named operations where there is one (`lowering/named.py`)."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if any(isinstance(function, FuncOp) and is_private(function) for function in op.ops):
            inline_modules(op)
        inline_dispatches(op)
        PLAIN.apply(ctx, op)
        if depends_on_data(op):
            COUNTED.apply(ctx, op)
        for function in op.ops:
            assert isinstance(function, FuncOp)
            with_flags(function.body.block)
        found = obstacles(op)
        if found:
            raise UnsupportedError(found)
        for function in list(op.ops):
            assert isinstance(function, FuncOp)
            lowered = FunctionLowering(function, self.named).run()
            keep_signature(function, lowered)
            Rewriter.replace_op(function, lowered)
