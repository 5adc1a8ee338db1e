"""Arithmetic on `index` values, and on float64, as operations of arith and math: what sizes are computed with (`sizes.compute`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float64Type, FloatAttr, IndexType, f64, i64
from xdsl.ir import Block, Operation, SSAValue

from xdsl_exir.dialects.expr import Dim
from xdsl_exir.dialects.upstream import RemFOp
from xdsl_exir.lowering.sizes import compute

SYMBOLS = "exir.symbols"
"""The attribute of functions that names the symbols among their arguments, in order."""

BINARY: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "addi": arith.AddiOp,
    "subi": arith.SubiOp,
    "muli": arith.MuliOp,
    "divsi": arith.DivSIOp,
    "maxsi": arith.MaxSIOp,
    "minsi": arith.MinSIOp,
    "maxui": arith.MaxUIOp,
    "minui": arith.MinUIOp,
    "andi": arith.AndIOp,
    "ori": arith.OrIOp,
    "xori": arith.XOrIOp,
    "shli": arith.ShLIOp,
    "addf": arith.AddfOp,
    "subf": arith.SubfOp,
    "mulf": arith.MulfOp,
    "divf": arith.DivfOp,
    "remf": lambda a, b: RemFOp(operands=[a, b], result_types=[a.type]),
    "powf": math.PowFOp,
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

    def real(self, value: float) -> SSAValue:
        """A constant of float64."""
        return self.add(arith.ConstantOp(FloatAttr(value, f64)))

    def as_real(self, a: SSAValue) -> SSAValue:
        """An index as float64."""
        return self.add(arith.SIToFPOp(self.add(arith.IndexCastOp(a, i64)), f64))

    def truncated(self, a: SSAValue) -> SSAValue:
        """The whole part of a float64, as index."""
        return self.add(arith.IndexCastOp(self.add(arith.FPToSIOp(a, i64)), IndexType()))

    def root(self, a: SSAValue) -> SSAValue:
        """The square root of a float64."""
        return self.add(math.SqrtOp(a))

    def choose(self, predicate: str, a: SSAValue, b: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """`yes` where the comparison holds (a predicate of arith.cmpi, or of arith.cmpf), else `no`."""
        compare = arith.CmpfOp if isinstance(a.type, Float64Type) else arith.CmpiOp
        return self.add(arith.SelectOp(self.add(compare(a, b, predicate)), yes, no))


class SizesOf(IndexArithmetic):
    """Computes sizes as `index` values, and numbers with fractions as float64, at the beginning of a function, each once."""

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

    def real(self, value: float) -> SSAValue:
        return self.once((value.hex(),), lambda: super(SizesOf, self).real(value))

    def as_real(self, a: SSAValue) -> SSAValue:
        return self.once(("sitofp", a), lambda: super(SizesOf, self).as_real(a))

    def truncated(self, a: SSAValue) -> SSAValue:
        return self.once(("fptosi", a), lambda: super(SizesOf, self).truncated(a))

    def root(self, a: SSAValue) -> SSAValue:
        return self.once(("sqrt", a), lambda: super(SizesOf, self).root(a))

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
