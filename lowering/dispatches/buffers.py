"""Memory of a compiled program: buffers, how tensors lie in them, where the arena puts them; and the driver's text.

A value is a strided view of a buffer, so that permuting, expanding and slicing move nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.lowering.linalg import storage_type

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

ALIGNMENT = 64
"""Bytes: a cache line, and an AVX-512 register."""

NAME = "NAME"
"""Stands for a dispatch's name in its text."""

# --- buffers and values --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Buffer:
    """Memory of the driver: an argument or a part of the arena."""

    nbytes: int
    argument: str | None = None
    """Name of the driver's argument; None for a part of the arena."""
    first: int = 0
    last: int = 0
    """Dispatches that make and last use a part of the arena."""
    offset: int = 0
    """Bytes into the arena."""


def contiguous_strides(shape: Sequence[int]) -> Shape:
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
    offset: int = 0
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
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    @property
    def is_whole(self) -> bool:
        """Whether it is all of its buffer, in order."""
        return self.is_contiguous and self.offset == 0 and max(self.buffer.nbytes, 1) == max(self.nbytes, 1)

    @property
    def type(self) -> str:
        """Its memref type."""
        sizes = "".join(f"{size}x" for size in self.shape)
        return f"memref<{sizes}{storage_type(self.dtype)}{self.layout}>"

    @property
    def layout(self) -> str:
        """The layout in its memref type; nothing for the plain one."""
        if self.is_contiguous and not self.offset:
            return ""
        offset = f", offset: {self.offset}" if self.offset else ""
        return f", strided<{list(self.strides)}{offset}>"


# --- plans ---------------------------------------------------------------------------------------------------


@dataclass
class Call:
    """A call of a dispatch by the driver."""

    function: str
    arguments: list[Value]


@dataclass
class Plan:
    """A method cut into dispatches, ready to be written as one module."""

    inputs: list[Value] = field(default_factory=list[Value])
    constants: list[tuple[Value, Array]] = field(default_factory=list[tuple[Value, Array]])
    outputs: list[Value] = field(default_factory=list[Value])
    copies: list[tuple[int, Array | int]] = field(default_factory=list[tuple[int, "Array | int"]])
    """Outputs that no dispatch makes: their position, and a constant, the position of the input they repeat, or -1 minus
    the position of the output they repeat."""
    calls: list[Call] = field(default_factory=list[Call])
    arena: list[Buffer] = field(default_factory=list[Buffer])
    arena_bytes: int = 0


@dataclass
class Dispatches:
    """The dispatch functions of a program: their text, with `NAME` for the name, to the name. Equal ones are one."""

    scheduled: dict[str, str] = field(default_factory=dict[str, str])
    """Written by schedules."""
    generic: dict[str, str] = field(default_factory=dict[str, str])
    """Groups in linalg."""


def plan_arena(buffers: Sequence[Buffer]) -> int:
    """Offsets of buffers so that none overlaps another that lives at the same time; the arena's size in bytes.

    Greedy by size, each at the lowest gap that fits (Pisarchyk and Lee, 2020, "Efficient memory management for deep
    neural net inference").
    """
    placed: list[Buffer] = []
    total = 0
    for buffer in sorted(buffers, key=lambda b: -b.nbytes):
        offset = 0
        alive = [p for p in placed if p.first <= buffer.last and buffer.first <= p.last]
        for other in sorted(alive, key=lambda p: p.offset):
            if offset + buffer.nbytes <= other.offset:
                break
            offset = max(offset, -(-(other.offset + other.nbytes) // ALIGNMENT) * ALIGNMENT)
        buffer.offset = offset
        placed.append(buffer)
        total = max(total, offset + buffer.nbytes)
    return total


# --- the driver ----------------------------------------------------------------------------------------------


class Driver:
    """Writes a plan's driver: views of arguments and arena, and the calls."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.arguments: dict[Buffer, Value] = {}
        for value in (*plan.inputs, *(value for value, _ in plan.constants), *plan.outputs):
            if value.buffer.argument is not None:
                self.arguments.setdefault(value.buffer, value)
        self.arena = f"memref<{max(plan.arena_bytes, 1)}xi8>"
        self.lines: list[str] = []
        self.views: dict[tuple[Buffer, str], str] = {
            (buffer, value.type): str(buffer.argument) for buffer, value in self.arguments.items()
        }

    def text(self, name: str) -> str:
        for call in self.plan.calls:
            names = ", ".join(self.view(value) for value in call.arguments)
            types = ", ".join(value.type for value in call.arguments)
            self.lines.append(f"  func.call @{call.function}({names}) : ({types}) -> ()")
        signature = [f"{buffer.argument}: {value.type}" for buffer, value in self.arguments.items()]
        head = f"func.func @{name}({', '.join([*signature, f'%arena: {self.arena}'])})"
        return "\n".join(
            [f"{head} attributes {{llvm.emit_c_interface}} {{", *self.lines, "  func.return", "}"]
        )

    def view(self, value: Value) -> str:
        """The name of a value's memref."""
        key = (value.buffer, value.type)
        if key not in self.views:
            self.views[key] = self.make_view(value, f"%v{len(self.views)}")
        return self.views[key]

    def make_view(self, value: Value, name: str) -> str:
        own = self.arguments.get(value.buffer)
        if own is None:
            plain = Value(value.buffer, value.shape, value.dtype)
            if not value.layout:
                self.lines.append(f"  {name}o = arith.constant {value.buffer.offset} : index")
                self.lines.append(f"  {name} = memref.view %arena[{name}o][] : {self.arena} to {value.type}")
                return name
            reach = (
                value.offset + sum((n - 1) * s for n, s in zip(value.shape, value.strides, strict=True)) + 1
            )
            plain = Value(value.buffer, (reach,), value.dtype)
            source, type = self.view(plain), plain.type
        else:
            source, type = str(own.buffer.argument), own.type
        strides = list(value.strides)
        offset = f", offset: {value.offset}" if value.offset else ""
        sizes = "".join(f"{size}x" for size in value.shape)
        strided = f"memref<{sizes}{storage_type(value.dtype)}, strided<{strides}{offset}>>"
        self.lines.append(
            f"  {name}s = memref.reinterpret_cast {source} to offset: [{value.offset}], sizes: {list(value.shape)}, "
            f"strides: {strides} : {type} to {strided}"
        )
        if value.layout:
            return f"{name}s"
        self.lines.append(f"  {name} = memref.cast {name}s : {strided} to {value.type}")
        return name


def driver_text(plan: Plan, name: str) -> str:
    """The driver of a method: a function of its inputs, constants, outputs and arena, in this order."""
    return Driver(plan).text(name)
