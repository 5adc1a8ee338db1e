"""Kernels as lowering sees them: descriptions, plain data, equal where its text is equal.

A kernel is a frozen dataclass of numbers, names, sizes and other such dataclasses, without functions or operations: what it says is
its canonical text (`canonical`), the same in every process, of which keys of caches are made. What kernels there are is a
target's (`targets/`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xdsl_exir.dialects.expr import Expr
from xdsl_exir.dialects.sizes import symbols_of
from xdsl_exir.threads import cached_property


class Kernel(ABC):
    """A frozen dataclass that says which problem a kernel solves. Two are equal if their texts are."""

    @cached_property
    def key(self) -> str:
        """What it says, the same in every process. How it expands is not in it."""
        return canonical(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def symbols(self) -> list[str]:
        """The symbols that its sizes depend on, sorted: the first arguments of its function, each an `index`."""
        return sorted(symbols_of(sizes_in(self)))

    @property
    @abstractmethod
    def types(self) -> Mapping[str, MemRefType[Any]]:
        """The buffers that its function takes, in order behind the symbols, by name."""

    @property
    def in_place(self) -> Sequence[str]:
        """The buffers in whose place the last one may lie, if that is all that the kernel writes: it reads each of their elements for the last time
        before it writes the one that lies there."""
        return ()

    @cached_property
    def places(self) -> list[int]:
        """The same, as positions among the arguments of its function."""
        names = list(self.types)
        return [len(self.symbols) + names.index(name) for name in self.in_place]

    @abstractmethod
    def function(self, name: str, public: bool = False) -> FuncOp:
        """The kernel as `func.func @name`: private, or with `llvm.emit_c_interface` when public."""


Kernels = Callable[[str], Kernel | None]
"""The kernels of dispatches, by name; None of those that have none, or are not known."""


def no_kernels(name: str) -> None:
    """Of programs without kernels."""


@dataclass(frozen=True)
class OfKernels(ModulePass):
    """A pass over drivers that asks what the kernels are that they call."""

    @abstractmethod
    def kernels(self, module: ModuleOp) -> Kernels:
        """The kernels of a module."""


@cache
def fields_of(kind: type) -> tuple[str, ...]:
    """The names of a dataclass's fields."""
    return tuple(field.name for field in fields(kind))


def canonical(value: object) -> str:
    """The text of what a description holds. Numbers that compare equal have texts of their own where they are not the same: 0.0 and
    -0.0, 1 and True."""
    if isinstance(value, Expr):
        return str(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(canonical, cast(tuple[object, ...], value)))})"
    if is_dataclass(value):
        kind = type(value)
        said = ", ".join(f"{name}={canonical(getattr(value, name))}" for name in fields_of(kind))
        return f"{kind.__name__}({said})"
    return repr(value)


def sizes_in(value: object) -> Iterator[Expr]:
    """The symbolic sizes that a description holds."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for part in cast(tuple[object, ...], value):
            yield from sizes_in(part)
    elif is_dataclass(value):
        for name in fields_of(type(value)):
            yield from sizes_in(getattr(value, name))
