"""`canonicalize-fastmath{flags=...}`: simplifications of floats that may change results, under the names of MLIR's fast-math flags.

| flag | what is assumed, or allowed | rules |
|---|---|---|
| `nsz` | the sign of a zero makes no difference | `x + 0`, `x - (-0)` are `x` |
| `nnan`, `ninf`, `nsz` | neither NaN nor infinity comes in, and as above | `x * 0` is 0 |
| `nnan`, `ninf` | | `x - x` is 0 |
| `arcp` | a quotient may be a product with the reciprocal | `x / c` is `x * (1 / c)` |
| `reassoc` | sums and products may be taken in another order | `(x + a) + b`, `(x * a) * b` are one operation |
| `fast` | all of them | |

`contract` and `afn` are flags too; no rule needs them. Integers and complex numbers are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker, RewritePattern

from xdsl_exir.dialects.builder import Builder, Namespace, Results, flat_results, opmath
from xdsl_exir.dialects.dtypes import Category, DType
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import is_tensor_type, tensor_meta
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.canonicalization import in_delegate
from xdsl_exir.transforms.canonicalizations.pointwise import addend, filled
from xdsl_exir.transforms.matching import is_tensor, known, made_by
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern

FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")
ALL = "fast"

Rule = Callable[..., Results]
RULES: list[tuple[frozenset[str], frozenset[str], Rule]] = []
"""The flags that a rule needs, the operators that it is for, and what it does of an operation's arguments."""


def fastmath(flags: str, *names: str) -> Callable[[Rule], Rule]:
    """Registers a rule of the operators named, overloads for numbers included."""

    def register(rule: Rule) -> Rule:
        operators = {f"aten.{name}.{overload}" for name in names for overload in ("Tensor", "Scalar")}
        RULES.append((frozenset(flags.split()), frozenset(operators), rule))
        return rule

    return register


@fastmath("nsz", "add")
def add_zero(aten: Namespace, out: Any, self: Any, other: Any, alpha: Any) -> Results:
    dtype = tensor_meta(out).dtype
    if addend(other, alpha, dtype) == 0:
        return self
    return other if known(alpha) == 1 and addend(self, 1, dtype) == 0 else KEEP


@fastmath("nsz", "sub")
def sub_zero(aten: Namespace, out: Any, self: Any, other: Any, alpha: Any) -> Results:
    return self if addend(other, alpha, tensor_meta(out).dtype) == 0 else KEEP


@fastmath("nnan ninf nsz", "mul")
def mul_zero(aten: Namespace, out: Any, self: Any, other: Any) -> Results:
    return filled(aten, out, 0) if 0 in (known(self), known(other)) else KEEP


@fastmath("nnan ninf", "sub")
def sub_itself(aten: Namespace, out: Any, self: Any, other: Any, alpha: Any) -> Results:
    return filled(aten, out, 0) if self is other and known(alpha) == 1 else KEEP


@fastmath("arcp", "div")
def div_known(aten: Namespace, out: Any, self: Any, other: Any) -> Results:
    divisor, dtype = known(other), tensor_meta(out).dtype
    reciprocal = (
        rounded(lambda one: one / divisor, dtype) if isinstance(divisor, int | float) and divisor else None
    )
    if reciprocal is None or not is_tensor(self) or self.type != out:
        return KEEP
    return aten.mul.Tensor(self, aten.builder.constant(reciprocal, dtype))


@fastmath("reassoc", "add")
def add_twice(aten: Namespace, out: Any, self: Any, other: Any, alpha: Any) -> Results:
    inner = made_by(self, "aten.add.Tensor", "aten.add.Scalar")
    if inner is None:
        return KEEP
    dtype, given = tensor_meta(out).dtype, inner.arguments()
    first, second = addend(given["other"], given["alpha"], dtype), addend(other, alpha, dtype)
    if first is None or second is None or not given["self"].type == self.type == out:
        return KEEP
    total = rounded(lambda one: one * (first + second), dtype)
    return KEEP if total is None else aten.add.Tensor(given["self"], aten.builder.constant(total, dtype))


@fastmath("reassoc", "mul")
def mul_twice(aten: Namespace, out: Any, self: Any, other: Any) -> Results:
    inner = made_by(self, "aten.mul.Tensor", "aten.mul.Scalar")
    if inner is None:
        return KEEP
    dtype, given = tensor_meta(out).dtype, inner.arguments()
    first, second = known(given["other"]), known(other)
    if first is None or second is None or not given["self"].type == self.type == out:
        return KEEP
    product = rounded(lambda one: one * (first * second), dtype)
    return KEEP if product is None else aten.mul.Tensor(given["self"], aten.builder.constant(product, dtype))


def rounded(compute: Callable[[float], Any], dtype: DType) -> float | None:
    """A number as the dtype that operators compute in holds it; None where it overflows, is lost, or is complex."""
    number = compute(1.0)
    if isinstance(number, complex):
        return None
    with np.errstate(all="ignore"):
        held = np.array(number).astype(opmath(dtype).numpy).astype(dtype.numpy).item()
    return held if np.isfinite(held) and (held != 0 or number == 0) else None


class FastMath(OperatorPattern):
    """The rules that need no other flags than these, for operators whose result is a tensor of floats."""

    def __init__(self, flags: frozenset[str]):
        self.rules = [(names, rule) for needed, names, rule in RULES if needed <= flags]

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        if in_delegate(op) or len(op.results) != 1:
            return KEEP
        out = op.results[0].type
        if not is_tensor_type(out) or tensor_meta(out).dtype.category is not Category.FLOAT:
            return KEEP
        for results in self.tried(op, builder, out):
            if results is not KEEP and [value.type for value in flat_results(results)] == [out]:
                return results
        return KEEP

    def tried(self, op: OperatorOp, builder: Builder, out: Any) -> Iterator[Results]:
        for names, rule in self.rules:
            if op.SPEC.qualified_name in names:
                yield rule(Namespace(builder), out, **op.arguments())


@dataclass(frozen=True)
class CanonicalizeFastMath(ModulePass):
    """Applies the rules of `transforms/fastmath.py` that the flags allow, and no others. Raises `ExirError` for an unknown flag."""

    name = "canonicalize-fastmath"

    flags: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if unknown := [flag for flag in self.flags if flag not in (*FLAGS, ALL)]:
            raise ExirError(f"{self.name}: no flag '{unknown[0]}'; there are {', '.join((*FLAGS, ALL))}")
        flags = frozenset(FLAGS if ALL in self.flags else self.flags)
        patterns: list[RewritePattern] = [FastMath(flags)]
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns, ctx=ctx)).rewrite_module(op)
