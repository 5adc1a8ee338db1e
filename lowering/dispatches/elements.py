"""Elementwise operators as arithmetic on vectors (or numbers) of float32, for epilogues and rows.

    ELEMENTS["aten.relu"].body(lanes, {"self": "%x"})      # the name of the result

A Bool is a vector of i1 here. Operators, dtypes and arguments that are not in the table go the general way, through linalg.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.schedules import functions
from xdsl_exir.lowering.schedules.text import Text, literal

Arguments = Mapping[str, Any]
"""An operator's arguments by name, tensors as the names of their values."""


@dataclass(frozen=True)
class Lanes:
    """Writes operations on float32 vectors of some lanes; on numbers with 0 lanes."""

    text: Text
    lanes: int

    def of(self, element: str) -> str:
        return f"vector<{self.lanes}x{element}>" if self.lanes else element

    @property
    def type(self) -> str:
        return self.of("f32")

    def constant(self, value: float | bool) -> str:
        number = literal(value)
        element = "i1" if isinstance(value, bool) else "f32"
        return self.text.constant(f"dense<{number}>" if self.lanes else number, self.of(element))

    def op(self, name: str, *operands: str) -> str:
        return self.text.op(f"{name} {', '.join(operands)} : {self.type}")

    def mask_op(self, name: str, *operands: str) -> str:
        return self.text.op(f"{name} {', '.join(operands)} : {self.of('i1')}")

    def compare(self, predicate: str, a: str, b: str) -> str:
        return self.text.op(f"arith.cmpf {predicate}, {a}, {b} : {self.type}")

    def select(self, condition: str, yes: str, no: str) -> str:
        return self.text.op(f"arith.select {condition}, {yes}, {no} : {self.of('i1')}, {self.type}")

    def clamp(self, value: str, low: float | None, high: float | None) -> str:
        """A number brought between bounds. NaN stays, as does a zero of any sign at a bound of zero."""
        for bound, beyond in ((low, "olt"), (high, "ogt")):
            if bound is not None:
                limit = self.constant(float(bound))
                value = (
                    limit if isnan(bound) else self.select(self.compare(beyond, value, limit), limit, value)
                )
        return value

    def broadcast(self, value: str, element: str = "f32") -> str:
        """A number in all lanes."""
        return self.text.op(f"vector.broadcast {value} : {element} to {self.of(element)}")


@dataclass(frozen=True)
class Element:
    """How an operator computes an element."""

    operands: str
    """Dtypes of its tensors in order: f for Float, b for Bool."""
    body: Callable[[Lanes, Arguments], str]
    cost: int = 1
    """Of one vector, in additions."""
    takes: Callable[[Arguments], bool] = lambda arguments: True
    """Whether it takes these arguments; tensors that are filled with one number come as that number."""


def unary(name: str, cost: int = 1) -> Element:
    return Element("f", lambda w, a: w.op(name, a["self"]), cost)


def function(write: Callable[[Text, str, str], str], cost: int) -> Element:
    """One of schedules.functions."""
    return Element("f", lambda w, a: write(w.text, a["self"], w.type), cost)


def binary(name: str, cost: int = 1) -> Element:
    return Element("ff", lambda w, a: w.op(name, a["self"], a["other"]), cost)


def scaled(name: str) -> Element:
    """self and alpha * other."""

    def body(w: Lanes, a: Arguments) -> str:
        other = (
            a["other"] if a["alpha"] == 1 else w.op("arith.mulf", a["other"], w.constant(float(a["alpha"])))
        )
        return w.op(name, a["self"], other)

    return Element("ff", body)


def comparison(predicate: str) -> Element:
    return Element("ff", lambda w, a: w.compare(predicate, a["self"], a["other"]))


def logical(name: str) -> Element:
    return Element("bb", lambda w, a: w.mask_op(name, a["self"], a["other"]))


def power(w: Lanes, a: Arguments) -> str:
    x = a["self"]
    square = w.op("arith.mulf", x, x)
    return {2.0: square, 3.0: w.op("arith.mulf", square, x)}[a["exponent"]]


ELEMENTS: dict[str, Element] = {
    "aten.add.Tensor": scaled("arith.addf"),
    "aten.sub.Tensor": scaled("arith.subf"),
    "aten.mul.Tensor": binary("arith.mulf"),
    "aten.div.Tensor": binary("arith.divf", 4),
    "aten.maximum": binary("arith.maximumf"),
    "aten.minimum": binary("arith.minimumf"),
    "aten.pow.Tensor_Tensor": Element("ff", power, takes=lambda a: a["exponent"] in (2.0, 3.0)),
    "aten.neg": unary("arith.negf"),
    "aten.abs": unary("math.absf"),
    "aten.sqrt": unary("math.sqrt", 6),
    "aten.rsqrt": Element(
        "f", lambda w, a: w.op("arith.divf", w.constant(1.0), w.op("math.sqrt", a["self"])), 10
    ),
    "aten.reciprocal": Element("f", lambda w, a: w.op("arith.divf", w.constant(1.0), a["self"]), 4),
    "aten.relu": Element("f", lambda w, a: w.clamp(a["self"], 0.0, None)),
    "aten.hardtanh": Element("f", lambda w, a: w.clamp(a["self"], a["min_val"], a["max_val"])),
    "aten.clamp": Element("f", lambda w, a: w.clamp(a["self"], a["min"], a["max"])),
    "aten.exp": function(functions.exp, 16),
    "aten.tanh": function(functions.tanh, 30),
    "aten.erf": function(functions.erf, 35),
    "aten.sigmoid": function(functions.sigmoid, 22),
    "aten.silu": function(functions.silu, 23),
    "aten.gelu": Element(
        "f",
        lambda w, a: functions.gelu(w.text, a["self"], w.type),
        40,
        takes=lambda a: a["approximate"] == "none",
    ),
    "aten.eq.Tensor": comparison("oeq"),
    "aten.ne.Tensor": comparison("une"),
    "aten.lt.Tensor": comparison("olt"),
    "aten.le.Tensor": comparison("ole"),
    "aten.gt.Tensor": comparison("ogt"),
    "aten.ge.Tensor": comparison("oge"),
    "aten.logical_not": Element("b", lambda w, a: w.mask_op("arith.xori", a["self"], w.constant(True))),
    "aten.logical_and": logical("arith.andi"),
    "aten.logical_or": logical("arith.ori"),
    "aten.where.self": Element("bff", lambda w, a: w.select(a["condition"], a["self"], a["other"])),
}
"""By operator."""

_CODES = {dt.Float: "f", dt.Bool: "b"}


def element_of(op: OperatorOp, arguments: Arguments) -> Element | None:
    """How an operator computes its elements, if it is in the table with these dtypes and arguments."""
    element = ELEMENTS.get(op.SPEC.qualified_name)
    if element is None or meta_of(op.results[0]).dtype not in _CODES:
        return None
    codes = "".join(_CODES.get(meta_of(operand).dtype, "?") for operand in op.operands)
    return element if codes == element.operands and element.takes(arguments) else None
