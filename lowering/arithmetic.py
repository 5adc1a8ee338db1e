"""Arithmetic on `index` values as operations of arith: what sizes are computed with (`sizes.compute`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, f64, i64
from xdsl.ir import Block, Operation, SSAValue

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.lowering.sizes import compute

SYMBOLS = "exir.symbols"
"""The attribute of functions that names the symbols among their arguments, in order."""

BINARY: dict[str, type[arith.SignlessIntegerBinaryOperation]] = {
    "addi": arith.AddiOp,
    "subi": arith.SubiOp,
    "muli": arith.MuliOp,
    "divsi": arith.DivSIOp,
    "maxsi": arith.MaxSIOp,
    "minsi": arith.MinSIOp,
    "maxui": arith.MaxUIOp,
    "minui": arith.MinUIOp,
    "xori": arith.XOrIOp,
}


class IndexArithmetic(ABC):
    """Writes operations on indices where `add` puts them."""

    @abstractmethod
    def add(self, op: Operation) -> SSAValue:
        """Inserts an operation and gives its result."""

    @abstractmethod
    def symbol(self, name: str) -> SSAValue:
        """The value of a symbol."""

    def number(self, value: int) -> SSAValue:
        """A constant."""
        return self.add(arith.ConstantOp.from_int_and_width(value, IndexType()))

    def binary(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """An operation of two indices, by its name in arith."""
        return self.add(BINARY[name](a, b))

    def scaled(self, a: SSAValue, factor: float) -> SSAValue:
        """The whole part of an index times a number, in float64."""
        real = self.add(arith.SIToFPOp(self.add(arith.IndexCastOp(a, i64)), f64))
        product = self.add(arith.MulfOp(real, self.add(arith.ConstantOp(FloatAttr(factor, f64)))))
        return self.add(arith.IndexCastOp(self.add(arith.FPToSIOp(product, i64)), IndexType()))

    def choose(self, predicate: str, a: SSAValue, b: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """`yes` where the comparison holds (a predicate of arith.cmpi), else `no`."""
        return self.add(arith.SelectOp(self.add(arith.CmpiOp(a, b, predicate)), yes, no))


class SizesOf(IndexArithmetic):
    """Computes sizes as `index` values at the beginning of a function, each once."""

    def __init__(self, entry: Block, symbols: Mapping[str, SSAValue]):
        self.entry = entry
        self.symbols = dict(symbols)
        self.known: dict[Dim, SSAValue] = {}
        self.made: dict[tuple[str | SSAValue, ...], SSAValue] = {}
        self.last: Operation | None = None
        """The last of what computes them."""

    def index(self, size: Dim) -> SSAValue:
        """A size."""
        if size not in self.known:
            self.known[size] = compute(size, self)
        return self.known[size]

    def add(self, op: Operation) -> SSAValue:
        """Adds an operation behind those that were added before; its result."""
        if self.last is not None:
            self.entry.insert_ops_after([op], self.last)
        elif self.entry.first_op is not None:
            self.entry.insert_ops_before([op], self.entry.first_op)
        else:
            self.entry.add_op(op)
        self.last = op
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        if value not in self.known:
            self.known[value] = super().number(value)
        return self.known[value]

    def symbol(self, name: str) -> SSAValue:
        return self.symbols[name]

    def binary(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.once((name, a, b), lambda: super(SizesOf, self).binary(name, a, b))

    def choose(self, predicate: str, a: SSAValue, b: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return self.once(
            (predicate, a, b, yes, no), lambda: super(SizesOf, self).choose(predicate, a, b, yes, no)
        )

    def once(self, what: tuple[str | SSAValue, ...], make: Callable[[], SSAValue]) -> SSAValue:
        """What was made for the same before, as parts of sizes are often sizes of others."""
        if what not in self.made:
            self.made[what] = make()
        return self.made[what]
