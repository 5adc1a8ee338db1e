"""Memory of a compiled program: buffers, how tensors lie in them, where the arena puts them; and the driver's text.

A value is a strided view of a buffer, so that permuting, expanding and slicing move nothing. Sizes, strides and offsets may be
symbolic: the driver computes them from the program's symbols, which it gets first and passes on to dispatches that use them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, Expr, apply, ceildiv, max_, prod, provably
from xdsl_exir.lowering.linalg import storage_type
from xdsl_exir.lowering.schedules.text import Text, layout_text, memref, symbol_name
from xdsl_exir.lowering.sizes import Sizes, is_static
from xdsl_exir.lowering.sizes import symbols_of as free_symbols

Array = np.ndarray[Any, np.dtype[Any]]
Shape = Sizes

ALIGNMENT = 64
"""Bytes: a cache line, and an AVX-512 register."""

NAME = "NAME"
"""Stands for a dispatch's name in its text."""

# --- buffers and values --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Buffer:
    """Memory of the driver: an argument or a part of the arena."""

    nbytes: Dim
    argument: str | None = None
    """Name of the driver's argument; None for a part of the arena."""
    first: int = 0
    last: int = 0
    """Steps that make and last use a part of the arena."""
    offset: Dim = 0
    """Bytes into the arena."""


def contiguous_strides(shape: Sequence[Dim]) -> Shape:
    """Strides, in elements, of a tensor without gaps."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


@dataclass(frozen=True)
class Value:
    """A tensor in memory: a buffer and how it is read."""

    buffer: Buffer
    shape: Shape
    dtype: DType
    strides: Shape = ()
    """In elements; those of a contiguous tensor by default."""
    offset: Dim = 0
    """Elements before the first."""

    def __post_init__(self) -> None:
        # Strides of dimensions of size 1 mean nothing: one form, so that equal kernels are found to be equal.
        plain = contiguous_strides(self.shape)
        given = self.strides or plain
        strides = tuple(p if size == 1 else s for p, s, size in zip(plain, given, self.shape, strict=True))
        object.__setattr__(self, "strides", plain if 0 in self.shape else strides)

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie in order, without gaps."""
        return self.strides == contiguous_strides(self.shape)

    @property
    def nbytes(self) -> Dim:
        return prod(self.shape) * self.dtype.itemsize

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its buffer, in order."""
        return self.is_contiguous and self.offset == 0 and self.buffer.nbytes == self.nbytes

    @property
    def type(self) -> str:
        """Its memref type."""
        return memref(self.shape, str(storage_type(self.dtype)), *self.strided)

    @property
    def strided(self) -> tuple[Shape | None, Dim]:
        """Strides and offset in its memref type; None and 0 for the plain one."""
        return (None, 0) if self.is_contiguous and not self.offset else (self.strides, self.offset)

    @property
    def layout(self) -> str:
        """The layout in its memref type; nothing for the plain one."""
        strides, offset = self.strided
        return "" if strides is None else layout_text(strides, offset)


# --- plans ---------------------------------------------------------------------------------------------------


class Step(Protocol):
    """Something that a driver does."""

    def write(self, driver: Driver) -> None:
        """Writes it."""
        ...


@dataclass
class Call:
    """A call of a dispatch by the driver."""

    function: str
    arguments: list[Value]
    symbols: Sequence[str] = ()
    """What the dispatch takes before them."""

    def write(self, driver: Driver) -> None:
        symbols = [symbol_name(symbol) for symbol in self.symbols]
        names = ", ".join([*symbols, *[driver.view(value) for value in self.arguments]])
        types = ", ".join(["index"] * len(symbols) + [value.type for value in self.arguments])
        driver.text.line(f"func.call @{self.function}({names}) : ({types}) -> ()")


@dataclass
class Plan:
    """A method cut into dispatches, ready to be written as one module."""

    inputs: list[Value] = field(default_factory=list[Value])
    constants: list[tuple[Value, Array]] = field(default_factory=list[tuple[Value, Array]])
    outputs: list[Value] = field(default_factory=list[Value])
    copies: list[tuple[int, Array | int]] = field(default_factory=list[tuple[int, "Array | int"]])
    """Outputs that no dispatch makes: their position, and a constant, the position of the input they repeat, or -1 minus
    the position of the output they repeat."""
    steps: list[Step] = field(default_factory=list[Step])
    """What the driver does: calls, and the beginnings and ends of branches and loops."""
    arena: list[Buffer] = field(default_factory=list[Buffer])
    arena_bytes: Dim = 0
    symbols: dict[str, Place] = field(default_factory=dict[str, "Place"])
    """The symbols that sizes depend on, in the driver's order, and where a call finds their values."""
    numbers: dict[int, Dim] = field(default_factory=dict[int, Dim])
    """Results that are numbers, by position among the method's results: no dispatch makes them."""
    checks: list[tuple[Dim, str]] = field(default_factory=list[tuple[Dim, str]])
    """What the program asserts about symbols, with its messages."""

    @property
    def calls(self) -> list[Call]:
        """The calls among the steps."""
        return [step for step in self.steps if isinstance(step, Call)]


@dataclass(frozen=True)
class Place:
    """Where a call finds a symbol's value: a size of an input, or the input itself."""

    argument: int
    """Position among all arguments of the method."""
    dim: int | None
    size: Dim
    """The size there: the symbol, or a multiple of it plus a constant."""

    @property
    def is_symbol(self) -> bool:
        return isinstance(self.size, Expr) and self.size.head == "symbol"


@dataclass
class Dispatches:
    """The dispatch functions of a program: their text, with `NAME` for the name, to the name. Equal ones are one."""

    scheduled: dict[str, str] = field(default_factory=dict[str, str])
    """Written by schedules."""
    generic: dict[str, str] = field(default_factory=dict[str, str])
    """Groups in linalg."""


SYMBOLS = re.compile(r"%sym_(\w+) ?: index")


def symbols_of(text: str) -> list[str]:
    """The symbols that a dispatch takes, in order: its arguments of type index."""
    return list(dict.fromkeys(SYMBOLS.findall(text)))


def plan_memory(buffers: Sequence[Buffer], typical: Mapping[str, int]) -> Dim:
    """Offsets of buffers so that none overlaps another that lives at the same time; the arena's size in bytes.

    Those of symbolic sizes come behind the others. `typical` are values of the symbols to tell large buffers from small ones by.
    """
    total: Dim = plan_arena([buffer for buffer in buffers if isinstance(buffer.nbytes, int)])

    def estimate(buffer: Buffer) -> float:
        return float(buffer.nbytes.evaluate(typical)) if isinstance(buffer.nbytes, Expr) else 0.0

    for slot in plan_slots([buffer for buffer in buffers if isinstance(buffer.nbytes, Expr)], estimate):
        total = aligned(total)
        for buffer in slot:
            buffer.offset = total
        total = total + largest(list(dict.fromkeys(buffer.nbytes for buffer in slot)))
    return total


def plan_slots(buffers: Sequence[Buffer], estimate: Callable[[Buffer], float]) -> list[list[Buffer]]:
    """Buffers that share memory, none of which live at the same time.

    Greedy by size, each in the smallest slot that is free (Pisarchyk and Lee, 2020, shared objects).
    """
    slots: list[list[Buffer]] = []
    for buffer in sorted(buffers, key=lambda b: -estimate(b)):
        free = (
            slot
            for slot in reversed(slots)
            if all(other.last < buffer.first or buffer.last < other.first for other in slot)
        )
        slot = next(free, None)
        if slot is None:
            slots.append(slot := [])
        slot.append(buffer)
    return slots


def aligned(nbytes: Dim) -> Dim:
    """Bytes rounded up to the alignment."""
    return ceildiv(nbytes, ALIGNMENT) * ALIGNMENT


def largest(sizes: Sequence[Dim]) -> Dim:
    """The largest of sizes: one of them where that is known of all symbols' values, 0 among them."""
    ranges = dict.fromkeys(free_symbols(sizes), (0, None))
    result, *rest = sizes
    for size in rest:
        if provably(apply("ge", size, result), ranges):
            result = size
        elif not provably(apply("ge", result, size), ranges):
            result = max_(result, size)
    return result


def plan_arena(buffers: Sequence[Buffer]) -> int:
    """Offsets of buffers so that none overlaps another that lives at the same time; the arena's size in bytes.

    Greedy by size, each at the lowest gap that fits (Pisarchyk and Lee, 2020, "Efficient memory management for deep
    neural net inference").
    """
    placed: list[Buffer] = []
    offsets: dict[Buffer, int] = {}
    total = 0
    sizes = {buffer: buffer.nbytes for buffer in buffers if isinstance(buffer.nbytes, int)}
    for buffer in sorted(sizes, key=lambda b: -sizes[b]):
        offset = 0
        alive = [p for p in placed if p.first <= buffer.last and buffer.first <= p.last]
        for other in sorted(alive, key=offsets.__getitem__):
            if offset + sizes[buffer] <= offsets[other]:
                break
            offset = max(offset, -(-(offsets[other] + sizes[other]) // ALIGNMENT) * ALIGNMENT)
        buffer.offset = offsets[buffer] = offset
        placed.append(buffer)
        total = max(total, offset + sizes[buffer])
    return total


# --- the driver ----------------------------------------------------------------------------------------------


class Driver:
    """Writes a plan's driver: views of arguments and arena, and the calls."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.text = Text()
        self.numbers = count()
        self.outer: list[dict[tuple[Buffer, Shape, Shape, Dim, DType], str]] = []
        """The views that are known outside of each branch or loop that is being written."""
        self.arguments: dict[Buffer, Value] = {}
        for value in (*plan.inputs, *(value for value, _ in plan.constants), *plan.outputs):
            if value.buffer.argument is not None:
                self.arguments.setdefault(value.buffer, value)
        self.arena = memref((max_(plan.arena_bytes, 1),), "i8")
        self.views: dict[tuple[Buffer, Shape, Shape, Dim, DType], str] = {
            key_of(value): str(buffer.argument)
            for buffer, value in self.arguments.items()
            if is_static(value.shape)
        }

    def write(self, name: str) -> str:
        for step in self.plan.steps:
            step.write(self)
        signature = [(symbol_name(symbol), "index") for symbol in self.plan.symbols]
        signature += [(str(buffer.argument), passed_type(value)) for buffer, value in self.arguments.items()]
        return self.text.function(name, [*signature, ("%arena", self.arena)], public=True, symbols=())

    def enter(self, text: str) -> None:
        """Begins a region: what is written until `leave` is seen in it alone."""
        self.text.line(text)
        self.text.depth += 1
        self.outer.append(self.views)
        self.views = dict(self.views)

    def leave(self, text: str) -> None:
        """Ends a region."""
        self.views = self.outer.pop()
        self.text.depth -= 1
        self.text.line(text)

    def view(self, value: Value) -> str:
        """The name of a value's memref."""
        key = key_of(value)
        if key not in self.views:
            self.views[key] = self.make_view(value, f"%v{next(self.numbers)}")
        return self.views[key]

    def list_text(self, sizes: Sequence[Dim]) -> str:
        """Sizes in an operation's list: numbers, and names of those that are computed."""
        return ", ".join(str(size) if isinstance(size, int) else self.text.index(size) for size in sizes)

    def make_view(self, value: Value, name: str) -> str:
        text, element = self.text, str(storage_type(value.dtype))
        own = self.arguments.get(value.buffer)
        if own is None:
            if not value.layout:
                dynamic = self.list_text([size for size in value.shape if not isinstance(size, int)])
                offset = text.index(value.buffer.offset)
                text.line(f"{name} = memref.view %arena[{offset}][{dynamic}] : {self.arena} to {value.type}")
                return name
            plain = Value(value.buffer, (value.offset + distance(value) + 1,), value.dtype)
            source, type = self.view(plain), plain.type
        else:
            source, type = str(own.buffer.argument), passed_type(own)
        strided = memref(value.shape, element, value.strides, value.offset)
        text.line(
            f"{name}s = memref.reinterpret_cast {source} to offset: [{self.list_text([value.offset])}], "
            f"sizes: [{self.list_text(value.shape)}], strides: [{self.list_text(value.strides)}] : {type} to {strided}"
        )
        if value.layout:
            return f"{name}s"
        text.line(f"{name} = memref.cast {name}s : {strided} to {value.type}")
        return name


def distance(value: Value) -> Dim:
    """Elements from the first to the last one of a value."""
    reach: Dim = 0
    for size, stride in zip(value.shape, value.strides, strict=True):
        reach = reach + (size - 1) * stride
    return reach


def key_of(value: Value) -> tuple[Buffer, Shape, Shape, Dim, DType]:
    """What tells a view of a buffer from others."""
    return value.buffer, value.shape, value.strides, value.offset, value.dtype


def passed_type(value: Value) -> str:
    """The type of a driver's argument. One of symbolic shape is passed as an address: the driver knows its sizes."""
    return value.type if is_static(value.shape) else memref((UNKNOWN,), str(storage_type(value.dtype)))


UNKNOWN = Expr.symbol("unknown")


def driver_text(plan: Plan, name: str) -> str:
    """The driver of a method: a function of its symbols, inputs, constants, outputs and arena, in this order."""
    return Driver(plan).write(name)
