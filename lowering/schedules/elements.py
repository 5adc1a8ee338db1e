"""Elementwise operators as arithmetic on vectors (or numbers) of float32, for epilogues and rows.

    expand(Elementwise("aten.relu"), Lanes(b, 16), [x])        # the result

A Bool is an i1 here. Operators, dtypes and arguments that are not in the table go the general way, through linalg.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from xdsl_exir.lowering.schedules.builder import Lanes
from xdsl_exir.lowering.schedules.description import Elementwise

Tensors = Sequence[SSAValue]
Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Element:
    """How an operator computes an element."""

    operands: str
    """Dtypes of its tensors in order: f for Float, b for Bool, n for a Float that is filled with one number, which is an argument."""
    body: Callable[[Lanes, Tensors, Arguments], SSAValue]
    """Takes tensors in order, and other arguments by name."""
    cost: int = 1
    """Of one vector, in additions."""
    takes: Callable[[Arguments], bool] = lambda arguments: True
    """Whether it takes these arguments that are no tensors."""


def unary(kind: type[Operation], cost: int = 1) -> Element:
    return Element("f", lambda w, x, a: w.op(kind, *x), cost)


def function(build: Callable[[Lanes, SSAValue], SSAValue], cost: int) -> Element:
    return Element("f", lambda w, x, a: build(w, *x), cost)


def binary(kind: type[Operation], cost: int = 1) -> Element:
    return Element("ff", lambda w, x, a: w.op(kind, *x), cost)


def scaled(kind: type[Operation]) -> Element:
    """self and alpha * other."""

    def body(w: Lanes, x: Tensors, a: Arguments) -> SSAValue:
        left, right = x
        alpha = a.get("alpha", 1)
        return w.op(kind, left, right if alpha == 1 else w.op(arith.MulfOp, right, w.constant(float(alpha))))

    return Element("ff", body)


def comparison(predicate: str) -> Element:
    return Element("ff", lambda w, x, a: w.compare(predicate, *x))


def logical(kind: type[Operation]) -> Element:
    return Element("bb", lambda w, x, a: w.op(kind, *x, dtype="i1"))


def power(w: Lanes, tensors: Tensors, a: Arguments) -> SSAValue:
    (x,) = tensors
    square = w.op(arith.MulfOp, x, x)
    return w.op(arith.MulfOp, square, x) if a["exponent"] == 3 else square


def clamp(w: Lanes, x: SSAValue, low: float | None, high: float | None) -> SSAValue:
    """A number brought between bounds. NaN stays, as does a zero of any sign at a bound of zero."""
    for bound, beyond in ((low, "olt"), (high, "ogt")):
        if bound is not None:
            limit = w.constant(float(bound))
            x = limit if isnan(bound) else w.select(w.compare(beyond, x, limit), limit, x)
    return x


def inverse(w: Lanes, x: SSAValue) -> SSAValue:
    return w.op(arith.DivfOp, w.constant(1.0), x)


def sigmoid(w: Lanes, x: SSAValue) -> SSAValue:
    """1 / (1 + e^-x)."""
    one = w.constant(1.0)
    return w.op(arith.DivfOp, one, w.op(arith.AddfOp, one, w.op(math.ExpOp, w.op(arith.NegfOp, x))))


def silu(w: Lanes, x: SSAValue) -> SSAValue:
    """x sigmoid(x)."""
    return w.op(arith.MulfOp, x, sigmoid(w, x))


def gelu(w: Lanes, x: SSAValue) -> SSAValue:
    """x (1 + erf(x / sqrt(2))) / 2, the approximate="none" form of torch.nn.functional.gelu."""
    inner = w.op(math.ErfOp, w.op(arith.MulfOp, x, w.constant(0.5**0.5)))
    half = w.op(arith.MulfOp, x, w.constant(0.5))
    # Far on the left the sum is a zero without a sign.
    return w.op(math.CopySignOp, w.fma(half, inner, half), x)


ELEMENTS: dict[str, Element] = {
    "aten.add.Tensor": scaled(arith.AddfOp),
    "aten.sub.Tensor": scaled(arith.SubfOp),
    "aten.mul.Tensor": binary(arith.MulfOp),
    "aten.div.Tensor": binary(arith.DivfOp, 4),
    "aten.maximum": binary(arith.MaximumfOp),
    "aten.minimum": binary(arith.MinimumfOp),
    "aten.pow.Tensor_Tensor": Element("fn", power, takes=lambda a: a["exponent"] in (2.0, 3.0)),
    "aten.neg": unary(arith.NegfOp),
    "aten.abs": unary(math.AbsFOp),
    "aten.sqrt": unary(math.SqrtOp, 6),
    "aten.rsqrt": function(lambda w, x: inverse(w, w.op(math.SqrtOp, x)), 10),
    "aten.reciprocal": function(inverse, 4),
    "aten.relu": function(lambda w, x: clamp(w, x, 0.0, None), 1),
    "aten.hardtanh": Element("f", lambda w, x, a: clamp(w, x[0], a["min_val"], a["max_val"])),
    "aten.clamp": Element("f", lambda w, x, a: clamp(w, x[0], a["min"], a["max"])),
    "aten.exp": unary(math.ExpOp, 16),
    "aten.tanh": unary(math.TanhOp, 30),
    "aten.erf": unary(math.ErfOp, 35),
    "aten.sigmoid": function(sigmoid, 22),
    "aten.silu": function(silu, 23),
    "aten.gelu": Element(
        "f",
        lambda w, x, a: gelu(w, *x),
        40,
        takes=lambda a: a["approximate"] == "none",
    ),
    "aten.eq.Tensor": comparison("oeq"),
    "aten.ne.Tensor": comparison("une"),
    "aten.lt.Tensor": comparison("olt"),
    "aten.le.Tensor": comparison("ole"),
    "aten.gt.Tensor": comparison("ogt"),
    "aten.ge.Tensor": comparison("oge"),
    "aten.logical_not": Element("b", lambda w, x, a: w.op(arith.XOrIOp, *x, w.constant(True), dtype="i1")),
    "aten.logical_and": logical(arith.AndIOp),
    "aten.logical_or": logical(arith.OrIOp),
    "aten.where.self": Element("bff", lambda w, x, a: w.select(*x)),
}
"""By operator."""


def expand(element: Elementwise, w: Lanes, operands: Sequence[SSAValue]) -> SSAValue:
    """Builds the operations of an operator on vectors."""
    return ELEMENTS[element.operator].body(w, operands, dict(element.arguments))
