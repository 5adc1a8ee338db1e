"""Arithmetic on `index` values as operations of arith: what sizes are computed with (`sizes.compute`)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, f64, i64
from xdsl.ir import Operation, SSAValue

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
