"""The driver of a method, as IR: a `func.func` over memrefs that calls one dispatch after another.

Its arguments are the program's symbols, then pointers: inputs, constants, outputs. What lies in between is `memref.alloc`, which
`plan-memory` makes parts of an arena. Tensors that are views of others are `memref.reinterpret_cast`s, branches and loops are
`scf`. Sizes are computed from the symbols in one place, at the top, as `index` values; only what depends on the turn of a loop
is computed inside it, and what depends on a size that is read out of memory (`memref.load`, `lowering.reads`) behind that.

What of symbolic sizes a pass has to know is said in attributes of upstream operations, in words that need no dialect of ours:
`exir.symbols` (the symbols among a function's arguments, in order), `exir.bytes` (the bytes of an allocation, as an expression of them) and
`exir.typical` (these bytes for typical sizes).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xdsl_exir.dialects.ancestry import descent_of
from xdsl_exir.dialects.expr import Dim, Expr
from xdsl_exir.dialects.sizes import is_static
from xdsl_exir.lowering.arithmetic import SYMBOLS as SYMBOLS
from xdsl_exir.lowering.arithmetic import SizesOf
from xdsl_exir.lowering.dispatches.buffers import ALIGNMENT, Buffer, Value, memref_type
from xdsl_exir.lowering.reads import Most, at_most
from xdsl_exir.lowering.tensors import storage_type

BYTES, TYPICAL = "exir.bytes", "exir.typical"
UNKNOWN = Expr.symbol("unknown")
Predicate = Value | Dim
"""A boolean in memory, or one that the program's symbols say."""


def as_attribute(size: Dim) -> IntegerAttr[Any] | StringAttr:
    """A size in an attribute that needs no dialect of ours."""
    return IntegerAttr(size, i64) if isinstance(size, int) else StringAttr(str(size))


def size_in(attr: Attribute | None) -> Dim | None:
    """The size in such an attribute; None of any other."""
    match attr:
        case IntegerAttr(value=value):
            return value.data
        case StringAttr(data=text):
            return Expr.parse(text)
        case _:
            return None


class Inner(SizesOf):
    """Computes what depends on the turn of a loop, or on what is read, where it is used."""

    def __init__(self, driver: Driver):
        super().__init__(driver.block, driver.sizes.symbols)
        self.driver = driver

    def add(self, op: Operation) -> SSAValue:
        self.driver.add(op)
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        return self.driver.sizes.number(value)


class Driver:
    """Builds the driver of a method. (Where operations are many they are made by `create`, in a fifth of the time of their constructors.)"""

    def __init__(self) -> None:
        self.entry = self.block = Block()
        """The first block, and the one that is being filled."""
        self.source: Operation | None = None
        """What allocations and calls are made for."""
        self.sizes = SizesOf(self.entry, {})
        self.arguments: dict[Buffer, Value] = {}
        """What is passed, in the order of the function's arguments."""
        self.views: dict[Value, SSAValue] = {}
        """What is known where operations are added."""
        self.inner: set[str] = set()
        """Symbols that are known from somewhere on: what loops count with, and what is read."""
        self.most: Most = {}
        """What symbols that are read are at most."""

    def function(self, name: str, symbols: Sequence[str]) -> func.FuncOp:
        """The driver, when all is in it."""
        self.add(func.ReturnOp())
        made = func.FuncOp(name, ([arg.type for arg in self.entry.args], []), Region(self.entry))
        made.attributes["llvm.emit_c_interface"] = UnitAttr()
        if symbols:
            made.attributes[SYMBOLS] = ArrayAttr([StringAttr(symbol) for symbol in symbols])
        return made

    def add(self, op: Operation) -> None:
        """Adds an operation."""
        self.block.add_op(op)

    def add_for_source(self, op: Operation) -> None:
        """Adds an operation that says what it is for."""
        if self.source is not None:
            op.location = descent_of(self.source)
        self.block.add_op(op)

    # arguments and memory

    def symbol(self, name: str) -> None:
        """Makes a symbol an argument; before all others."""
        self.sizes.symbols[name] = self.entry.insert_arg(IndexType(), len(self.entry.args))

    def argument(self, value: Value) -> None:
        """Makes an array that is passed an argument. One of symbolic shape is passed as an address: its sizes are known."""
        type = memref_type(value.shape if is_static(value.shape) else (UNKNOWN,), value.dtype)
        value.buffer.memory = self.entry.insert_arg(type, len(self.entry.args))
        self.arguments[value.buffer] = value
        if is_static(value.shape):
            self.views[value] = value.buffer.memory

    def allocate(self, value: Value, typical: int) -> None:
        """Allocates the memory of a value: of its shape if it has no gaps, else of as many elements as it reaches over."""
        shape = value.shape if value.is_contiguous else (value.reach + 1,)
        dynamic = [self.index(size) for size in shape if not isinstance(size, int)]
        op = memref.AllocOp.create(
            operands=dynamic,
            result_types=[memref_type(shape, value.dtype)],
            properties={
                "alignment": IntegerAttr(ALIGNMENT, i64),
                "operandSegmentSizes": DenseArrayBase.from_list(i32, [len(dynamic), 0]),
            },
        )
        if dynamic:
            nbytes = at_most(value.buffer.nbytes, self.most)
            usual = nbytes if isinstance(nbytes, int) else typical
            op.attributes |= {BYTES: as_attribute(nbytes), TYPICAL: IntegerAttr(usual, i64)}
        self.add_for_source(op)
        value.buffer.memory = op.memref
        self.views[Value(value.buffer, shape, value.dtype)] = op.memref

    def replace(self, buffer: Buffer, argument: Value) -> None:
        """Makes what was allocated for a buffer an array that is passed, of as many bytes."""
        allocated = buffer.memory
        assert allocated is not None
        op = allocated.owner
        assert isinstance(op, memref.AllocOp)
        self.argument(argument)
        passed = argument.buffer.memory
        assert passed is not None
        if passed.type != allocated.type or not is_static(argument.shape):
            held = next(value for value, view in self.views.items() if view is allocated)
            block, self.block = self.block, Block()
            passed = self.make_view(held, passed)
            new, self.block = self.block, block
            ops = list(new.ops)
            for each in ops:
                each.detach()
            parent = op.parent
            assert parent is not None
            parent.insert_ops_before(ops, op)
        allocated.replace_all_uses_with(passed)
        self.views = {value: passed if view is allocated else view for value, view in self.views.items()}
        op.detach()
        op.erase()

    # sizes and views

    def index(self, size: Dim) -> SSAValue:
        """A size."""
        if self.inner and isinstance(size, Expr) and size.free_symbols() & self.inner:
            return Inner(self).index(size)
        return self.sizes.index(size)

    def view(self, value: Value) -> SSAValue:
        """A value's memref."""
        if value not in self.views:
            assert value.buffer.memory is not None
            self.views[value] = self.make_view(value, value.buffer.memory)
        return self.views[value]

    def make_view(self, value: Value, memory: SSAValue) -> SSAValue:
        type = memref_type(value.shape, value.dtype, value.strides, value.offset)
        op = reinterpreted(with_elements(memory, value, self.add), value, type, self.index)
        self.add(op)
        (cast,) = op.results
        if value.type == type:
            return cast
        plain = memref.CastOp.create(operands=[cast], result_types=[value.type])
        self.add(plain)
        return plain.results[0]

    # what is done

    def call(self, name: str, symbols: Sequence[str], arguments: Sequence[Value]) -> None:
        """Calls a dispatch."""
        operands = [*(self.sizes.symbols[symbol] for symbol in symbols), *map(self.view, arguments)]
        self.add_for_source(func.CallOp.create(operands=operands, properties={"callee": SymbolRefAttr(name)}))

    def read(self, symbol: str, element: Value) -> None:
        """Makes what one element of memory is, now, a symbol."""
        number = memref.LoadOp.get(self.view(element), [])
        index = arith.IndexCastOp(number.res, IndexType())
        self.add(number)
        self.add(index)
        self.inner.add(symbol)
        self.sizes.symbols[symbol] = index.result

    def predicate(self, predicate: Predicate) -> SSAValue:
        """A predicate's i1."""
        if not isinstance(predicate, Value):
            number = self.index(predicate if isinstance(predicate, Expr) else int(predicate))
            compare = arith.CmpiOp(number, self.index(0), "ne")
        else:
            byte = memref.LoadOp.get(self.view(predicate), [self.index(0)] * len(predicate.shape))
            zero = arith.ConstantOp.from_int_and_width(0, i8)
            self.add(byte)
            self.add(zero)
            compare = arith.CmpiOp(byte.res, zero.result, "ne")
        self.add(compare)
        return compare.result

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """What is added goes into a block of a region, and is seen in it alone."""
        outer, views = self.block, self.views
        self.block, self.views = block, dict(views)
        yield
        self.block, self.views = outer, views

    @contextmanager
    def loop(self, turn: str, count: Dim) -> Generator[None]:
        """`for turn in range(count)`."""
        body = Block(arg_types=[IndexType()])
        self.add(scf.ForOp(self.index(0), self.index(count), self.index(1), [], body))
        self.inner.add(turn)
        self.sizes.symbols[turn] = body.args[0]
        with self.inside(body):
            yield
            self.add(scf.YieldOp())


def reinterpreted(
    memory: SSAValue,
    value: Value,
    type: MemRefType[Any],
    index: Callable[[Dim], SSAValue],
    offset: SSAValue | None = None,
) -> memref.ReinterpretCastOp:
    """Sees memory, from its buffer's beginning, as a value, at another offset if one is given; `index` computes sizes."""
    operands, counts, properties = [memory], [1], dict[str, Attribute]()
    parts: dict[str, Sequence[Dim | SSAValue]] = {
        "offsets": (value.offset if offset is None else offset,),
        "sizes": value.shape,
        "strides": value.strides,
    }
    for name, sizes in parts.items():
        dynamic = [
            size if isinstance(size, SSAValue) else index(size) for size in sizes if not isinstance(size, int)
        ]
        operands += dynamic
        counts.append(len(dynamic))
        static = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
        properties[f"static_{name}"] = DenseArrayBase.from_list(i64, static)
    properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, counts)
    return memref.ReinterpretCastOp.create(operands=operands, result_types=[type], properties=properties)


def with_elements(memory: SSAValue, value: Value, add: Callable[[Operation], object]) -> SSAValue:
    """Memory, from its beginning on, as of a value's elements: complex numbers are pairs of floats. (To LLVM both are the same.)"""
    type, element = memory.type, storage_type(value.dtype)
    assert isa(type, MemRefType[Attribute])
    if type.element_type == element:
        return memory
    seen = MemRefType(element, type.shape, type.layout, type.memory_space)
    op = UnrealizedConversionCastOp.create(operands=[memory], result_types=[seen])
    add(op)
    return op.results[0]


def calls_of(driver: func.FuncOp) -> list[str]:
    """The names of the dispatches that a driver calls, in order."""
    return [op.callee.string_value() for op in driver.walk() if isinstance(op, func.CallOp)]
