"""Memory of a compiled program: buffers, and how tensors lie in them; what a caller has to know of a method.

A value is a strided view of a buffer, so that permuting, expanding and slicing move nothing. Sizes, strides and offsets may be
symbolic: the driver computes them from the program's symbols, which it gets first and passes on to dispatches that use them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import IndexType, MemRefType, StridedLayoutAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, SSAValue

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.dialects.expr import Dim, Expr, prod
from xdsl_exir.dialects.tensors import TensorMeta
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.lowering.sizes import Sizes
from xdsl_exir.lowering.tensors import static_size, storage_type
from xdsl_exir.names import own_name

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatches.outline import Body
    from xdsl_exir.lowering.kernel import Kernel

Array = np.ndarray[Any, np.dtype[Any]]
Shape = Sizes

ALIGNMENT = 64
"""Bytes: a cache line, and an AVX-512 register."""

NAME = "NAME"
"""Stands for a dispatch's name in its text."""

# --- buffers and values --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Buffer:
    """Memory of the driver: an argument, or an allocation."""

    nbytes: Dim
    memory: SSAValue | None = None
    """The memref in the driver."""
    also: set[Dim] = field(default_factory=set[Dim])
    """Other names of its size: of other shapes in which all of it was seen."""

    @property
    def is_argument(self) -> bool:
        return isinstance(self.memory, BlockArgument)


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
        known = self.nbytes == self.buffer.nbytes or self.nbytes in self.buffer.also
        return self.is_contiguous and self.offset == 0 and known

    def seen_as(self, shape: Shape) -> Value:
        """Its elements, which lie without gaps, in another shape: as many, whatever their number is called."""
        seen = Value(self.buffer, shape, self.dtype, (), self.offset)
        if self.is_whole:
            self.buffer.also.add(seen.nbytes)
        return seen

    @property
    def type(self) -> MemRefType[Any]:
        """Its memref type."""
        strides, shifted = self.strided
        return memref_type(self.shape, self.dtype, strides, None if shifted else 0)

    @property
    def reach(self) -> Dim:
        """Elements from the first to the last one."""
        return sum(((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)), 0)

    @property
    def strided(self) -> tuple[Shape | None, bool]:
        """Its memref type's strides, None for the plain one, and whether it has an offset. Which one is told when it is passed: what is
        computed of each step of a sequence is one dispatch."""
        return (None, False) if self.is_plain else (self.strides, self.offset != 0)

    @property
    def is_plain(self) -> bool:
        """Whether its memref type names no layout: it has no gaps, and begins where its buffer does."""
        return self.is_contiguous and not self.offset


@lru_cache(maxsize=4096)
def memref_type(
    shape: Shape, dtype: DType, strides: Shape | None = None, offset: Dim | None = 0
) -> MemRefType[Any]:
    """A memref type; without strides that of a contiguous tensor. An offset of None is any."""
    sizes = [static_size(size) for size in shape]
    if strides is None:
        return MemRefType(storage_type(dtype), sizes)
    known = [size if isinstance(size, int) else None for size in (*strides, offset)]
    return MemRefType(storage_type(dtype), sizes, StridedLayoutAttr(known[:-1], known[-1]))


# --- plans ---------------------------------------------------------------------------------------------------


@dataclass
class Plan:
    """A method cut into dispatches: its driver, and what a caller has to know of it."""

    driver: FuncOp = field(init=False)
    """What calls them, over memrefs (`lowering.driver`)."""

    inputs: list[Value] = field(default_factory=list[Value])
    constants: list[tuple[Value, Array]] = field(default_factory=list[tuple[Value, Array]])
    outputs: list[Value] = field(default_factory=list[Value])
    copies: list[tuple[int, Array | int]] = field(default_factory=list[tuple[int, "Array | int"]])
    """Outputs that no dispatch makes: their position, and a constant, the position of the input they repeat, or -1 minus
    the position of the output they repeat."""
    arena_bytes: Dim = 0
    """Of the driver's arena, once its memory is planned."""
    symbols: dict[str, Place] = field(default_factory=dict[str, "Place"])
    """The symbols that sizes depend on, in the driver's order, and where a call finds their values."""
    reads: dict[str, Dim] = field(default_factory=dict[str, "Dim"])
    """The symbols that the driver reads, and what they are at most (`lowering.reads`): the last of its outputs are these numbers."""
    numbers: dict[int, Dim] = field(default_factory=dict[int, Dim])
    """Results that are numbers, by position among the method's results: no dispatch makes them."""
    updates: dict[int, int] = field(default_factory=dict[int, int])
    """Results that are inputs which the driver writes to, by position among the method's results: which of them."""
    orders: dict[int, Sequence[int]] = field(default_factory=dict[int, Sequence[int]])
    """Outputs whose dimensions the driver is given in another order, that in which they lie in memory: by position, that order."""
    checks: list[tuple[Dim, str]] = field(default_factory=list[tuple[Dim, str]])
    """What the program asserts about symbols, with its messages; about those that are read, once they are."""


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


def value_for(meta: TensorMeta) -> Value:
    """An array that the driver is given for a tensor."""
    return Value(Buffer(prod(meta.shape) * meta.dtype.itemsize), meta.shape, meta.dtype)


@dataclass
class Dispatches:
    """The dispatch functions of a program. Equal ones are one, named after what is in it."""

    suffix: str = ""
    """Of their names."""
    scheduled: dict[Kernel, str] = field(default_factory=dict["Kernel", str])
    """The names of kernels, which are made when their code is."""
    bodies: dict[Kernel, Body | None] = field(default_factory=dict["Kernel", "Body | None"])
    """What they compute, where that can be said."""
    functions: dict[str, FuncOp] = field(default_factory=dict[str, FuncOp])
    """What MLIR lowers, by its text with `NAME` for the name."""
    external: dict[str, list[Attribute]] = field(default_factory=dict[str, "list[Attribute]"])
    """What drivers call that others define, by name: what it takes."""

    def kernel(self, kernel: Kernel, body: Callable[[], Body | None]) -> str:
        """The name of a kernel, and of what it computes, which is asked of the first of those that are equal."""
        if kernel not in self.scheduled:
            self.scheduled[kernel] = name_of("kernel", kernel.key) + self.suffix
            self.bodies[kernel] = body()
        return self.scheduled[kernel]

    def function(self, kind: str, function: FuncOp) -> str:
        """The name of a function called `NAME`, which is given to the first of those that are equal."""
        text = generic_text(function)
        if text not in self.functions:
            function.properties["sym_name"] = StringAttr(name_of(kind, text) + self.suffix)
            self.functions[text] = function
        return self.functions[text].sym_name.data

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels by name."""
        return {name: kernel for kernel, name in self.scheduled.items()}

    @property
    def types(self) -> dict[str, list[Attribute]]:
        """What they take, by name."""
        kernels: dict[str, list[Attribute]] = {
            name: [*[IndexType()] * len(kernel.symbols), *kernel.types.values()]
            for kernel, name in self.scheduled.items()
        }
        groups = {f.sym_name.data: list(f.function_type.inputs) for f in self.functions.values()}
        return kernels | groups | self.external


def name_of(kind: str, content: str) -> str:
    """The name of a dispatch: the same wherever the same is done."""
    return own_name(f"{kind}_{hashlib.sha256(content.encode()).hexdigest()[:16]}")
