"""Random numbers in code that has no Python beside it: calls of functions that whoever links the code defines.

`plain-draws` says each draw by one of `PLAIN`, which are such calls, and arithmetic on what they give: the same numbers, of the same words of the
engine in the same order, as `interpreter.generator` has it. A call is given memory of any length and what it is to draw:

    draw.uniform(x, p)      x: float32 or float64, p: float64[2]   within p[0] (included) and p[1] (excluded)
    draw.normal(x)          x: float32 or float64
    draw.log_normal(x, p)   x: float32 or float64, p: float64[2]   exp(p[0] + p[1] * normal), however many in pairs
    draw.integers(x, p)     x: int64, p: int64[3]                  p[0] + word % p[1], of words of 64 bits where p[2], else of 32
    draw.permutation(x)     x: int64
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects import edge
from xdsl_exir.dialects.builder import Namespace, meta, sizes
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.expr import prod
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.interpreter.generator import WIDE
from xdsl_exir.interpreter.operators.random import largest_drawn
from xdsl_exir.lowering.dispatches.buffers import Value, memref_type
from xdsl_exir.lowering.driver import UNKNOWN
from xdsl_exir.lowering.edge_to_linalg import meta_of
from xdsl_exir.lowering.preconditions import all_true
from xdsl_exir.names import own_name
from xdsl_exir.transforms.decompose_aten import Decomposer

if TYPE_CHECKING:
    from xdsl_exir.lowering.dispatch import Planner

FLOATS = (dt.Float, dt.Double)
"""Dtypes in which numbers are drawn."""


@dataclass(frozen=True)
class Call:
    """A draw: the function, and what it is given."""

    function: str
    parameters: np.ndarray[Any, Any] | None = None


def integers(low: int, end: int, wide: bool | None = None) -> Call:
    """Integers from `low` up to, but without, `end`."""
    span = end - low
    given = [low, np.uint64(span).astype(np.int64), (span >= WIDE) if wide is None else wide]
    return Call("integers", np.array(given, np.int64))


def call_of(op: OperatorOp) -> Call | None:
    """The draw that an operator is; None if there is no function that draws so."""
    dtype, given = meta_of(op.results[0]).dtype, op.arguments()
    match op.SPEC.qualified_name:
        case "aten.rand" if dtype in FLOATS:
            return Call("uniform", np.array([0.0, 1.0]))
        case "aten.uniform" if dtype in FLOATS:
            return Call("uniform", np.array([given["from"], given["to"]], np.float64))
        case "aten.randn" if dtype in FLOATS:
            return Call("normal")
        case "aten.log_normal" if dtype in FLOATS:
            return Call("log_normal", np.array([given["mean"], given["std"]], np.float64))
        case "aten.randint.low" if dtype is dt.Long and are_numbers(given["low"], given["high"]):
            return integers(given["low"], given["high"])
        case "aten.random" if dtype is dt.Long:
            return integers(0, 1 << 63, wide=True)
        case "aten.randperm" if dtype is dt.Long:
            return Call("permutation")
        case _:
            return None


def are_numbers(*values: Any) -> bool:
    """Whether these are known."""
    return all(isinstance(value, int) for value in values)


def is_call(op: Operation) -> bool:
    """Whether an operator is such a call."""
    return isinstance(op, OperatorOp) and "random" in op.SPEC.tags and call_of(op) is not None


def draw(planner: Planner, op: OperatorOp, prefix: str) -> None:
    """Calls the function that draws what an operator gives, `prefix` before its name."""
    call = call_of(op)
    assert call is not None
    made = planner.make(op.results[0])
    arguments = [Value(made.buffer, (prod(made.shape),), made.dtype)]
    if call.parameters is not None:
        dtype = dt.Long if call.parameters.dtype == np.int64 else dt.Double
        arguments.append(planner.constant(call.parameters, dtype))
    name = own_name(f"{prefix}.{call.function}.{made.dtype.torch_name}")
    types: list[Attribute] = [memref_type((UNKNOWN,), value.dtype) for value in arguments]
    planner.dispatches.external[name] = types
    operands = [flat(planner, value, type) for value, type in zip(arguments, types, strict=True)]
    planner.driver.add_for_source(
        func.CallOp.create(operands=operands, properties={"callee": SymbolRefAttr(name)})
    )


def flat(planner: Planner, value: Value, type: Attribute) -> SSAValue:
    """A vector of any length."""
    held = planner.driver.view(value)
    if held.type == type:
        return held
    cast = memref.CastOp.create(operands=[held], result_types=[type])
    planner.driver.add(cast)
    return cast.results[0]


# --- the pass ------------------------------------------------------------------------------------------------

Plain = Callable[[Namespace, OperatorOp, Mapping[str, Any]], "list[SSAValue] | None"]


@dataclass(frozen=True)
class PlainDraws(ModulePass):
    """Says draws of an edge program by those that are calls, where that can be; others stay."""

    name = "plain-draws"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [
            each for each in op.walk() if isinstance(each, OperatorOp) and "random" in each.SPEC.tags
        ]:
            plain = PLAIN.get(each.SPEC.qualified_name)
            if plain is None or is_call(each):
                continue
            results = plain(Namespace(Decomposer().builder(edge.OPERATORS, each)), each, each.arguments())
            if results is not None:
                Rewriter.replace_op(each, [], results)


def number(aten: Namespace, value: float, dtype: DType) -> SSAValue:
    """A number as a tensor."""
    return aten.full([], value, dtype=dtype)


def uniform(aten: Namespace, like: SSAValue, dtype: DType) -> SSAValue:
    """Uniform numbers of a tensor's shape."""
    return aten.rand(sizes(aten, like), dtype=dtype)


def in_dtype(aten: Namespace, drawn: SSAValue, dtype: DType) -> SSAValue:
    """Numbers in a dtype, which is the one that they have or has to be made."""
    return drawn if meta(drawn).dtype is dtype else aten._to_copy(drawn, dtype=dtype)


def _rand(aten: Namespace, op: OperatorOp, given: Mapping[str, Any]) -> list[SSAValue] | None:
    """Of short dtypes numbers are drawn in float32; what is rounded to 1 is 0."""
    result = meta(op.results[0])
    if result.dtype not in (*FLOATS, dt.Half, dt.BFloat16):
        return None
    drawn = dt.Double if result.dtype is dt.Double else dt.Float
    like = given.get("self")
    size = given["size"] if like is None else sizes(aten, like)
    numbers = in_dtype(aten, aten.rand(size, dtype=drawn), result.dtype)
    if result.dtype is drawn:
        return [numbers]
    one, zero = (number(aten, value, result.dtype) for value in (1, 0))
    return [aten.where.self(aten.eq.Tensor(numbers, one), zero, numbers)]


def _randn(aten: Namespace, op: OperatorOp, given: Mapping[str, Any]) -> list[SSAValue] | None:
    dtype = meta(op.results[0]).dtype
    return [aten.randn(sizes(aten, given["self"]), dtype=dtype)] if dtype in FLOATS else None


def _integers(aten: Namespace, op: OperatorOp, given: Mapping[str, Any]) -> list[SSAValue] | None:
    """Integers are drawn as int64."""
    dtype, like = meta(op.results[0]).dtype, given.get("self")
    low, end = given.get("low", given.get("from", 0)), given.get("high", given.get("to"))
    if end is None and op.SPEC.qualified_name == "aten.random.from":
        end = largest_drawn(dtype) + 1
    if not are_numbers(low, end) or dtype.category is Category.COMPLEX:
        return None
    size = given["size"] if like is None else sizes(aten, like)
    return [in_dtype(aten, aten.randint.low(low, end, size, dtype=dt.Long), dtype)]


def _bernoulli(aten: Namespace, op: OperatorOp, given: Mapping[str, Any]) -> list[SSAValue]:
    drawn = uniform(aten, given["self"], dt.Double)
    chosen = aten.lt.Tensor(drawn, number(aten, given["p"], dt.Double))
    return [in_dtype(aten, chosen, meta(op.results[0]).dtype)]


def _dropout(aten: Namespace, op: OperatorOp, given: Mapping[str, Any]) -> list[SSAValue] | None:
    self, p = given["input"], given["p"]
    dtype = meta(self).dtype
    if given["train"] is False:
        return None
    kept = aten.lt.Tensor(uniform(aten, self, dt.Double), number(aten, 1 - p, dt.Double))
    scale = number(aten, 0 if p == 1 else 1 / (1 - p), dtype)
    return [aten.mul.Tensor(aten.mul.Tensor(self, in_dtype(aten, kept, dtype)), scale), kept]


WEIGHTS = "multinomial: weights must be finite, not negative and not all zero"


def _multinomial(aten: Namespace, op: OperatorOp, given: Mapping[str, Any]) -> list[SSAValue] | None:
    """Where a uniform number belongs among sums of weights; without replacement, the order of exponential arrivals at these rates."""
    self, count = given["self"], given["num_samples"]
    held = meta(self)
    if not are_numbers(count, *held.shape) or held.dtype not in FLOATS:
        return None
    zero, last = number(aten, 0, held.dtype), held.shape[-1]
    total = aten.sum.dim_IntList(self, [-1])
    # A sum that is not finite compares as False, or is the weight's own.
    good = aten.logical_and(
        aten.ge.Tensor(self, zero), aten.lt.Tensor(self, number(aten, float("inf"), held.dtype))
    )
    for condition in (good, aten.gt.Tensor(total, zero)):
        aten._assert_async.msg(all_true(aten, condition), WEIGHTS)
    if given["replacement"] and count > 1:
        sums = aten.cumsum(self, -1)
        sums = aten.div.Tensor(sums, aten.slice.Tensor(sums, -1, last - 1, last))
        one = aten.full([*held.shape[:-1], 1], 1, dtype=held.dtype)
        sums = in_dtype(aten, aten.slice_scatter(sums, one, -1, last - 1, last), dt.Double)
        return [aten.searchsorted.Tensor(sums, aten.rand([*held.shape[:-1], count], dtype=dt.Double))]
    positive = aten.sum.dim_IntList(in_dtype(aten, aten.gt.Tensor(self, zero), dt.Long), [-1])
    enough = aten.ge.Tensor(positive, number(aten, count, dt.Long))
    aten._assert_async.msg(all_true(aten, enough), f"multinomial: fewer than {count} weights are positive")
    arrivals = aten.neg(aten.log1p(aten.neg(uniform(aten, self, dt.Double))))
    rates = aten.div.Tensor(self, in_dtype(aten, arrivals, held.dtype))
    order = aten.sort.stable(rates, stable=True, dim=-1, descending=True)[1]
    return [aten.slice.Tensor(order, -1, 0, count)]


PLAIN: dict[str, Plain] = {
    **dict.fromkeys(("aten.rand", "aten.rand_like"), _rand),
    "aten.randn_like": _randn,
    **dict.fromkeys(
        (
            "aten.randint",
            "aten.randint.low",
            "aten.randint_like",
            "aten.randint_like.low_dtype",
            "aten.random.to",
            "aten.random.from",
        ),
        _integers,
    ),
    "aten.bernoulli.p": _bernoulli,
    "aten.native_dropout": _dropout,
    "aten.multinomial": _multinomial,
}

__all__ = ["FLOATS", "PlainDraws", "draw", "is_call"]
