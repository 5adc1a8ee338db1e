"""`unroll-loops`: loops that turn a few times, known beforehand, become what they do.

A `while_loop` whose condition depends on constants alone is counted by computing it; `scan` and `map` turn as often as their
inputs are long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from xdsl_exir.dialects import aten, edge
from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.builder import Builder, Namespace, meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.tensors import SymType
from xdsl_exir.transforms.canonicalization import operand_value, run_small
from xdsl_exir.transforms.canonicalizations.control_flow import inline, replace

LARGEST = 512
"""Operations that a loop becomes at most."""

Values = dict[SSAValue, Any]


def known_results(region: Region, values: Sequence[Any]) -> list[Any]:
    """What a region yields for values of which some are known: arrays and numbers, None for what is not known."""
    known: Values = dict(zip(region.block.args, values, strict=True))
    for op in region.block.ops:
        if isinstance(op, cf.YieldOp):
            return [known.get(value) for value in op.values]
        if isinstance(op, OperatorOp):
            results = run_small(op, [known.get(operand) for operand in op.operands])
            known |= dict(zip(op.results, results or (), strict=False))
        elif len(op.results) == 1:
            known[op.results[0]] = operand_value(op.results[0])
    raise AssertionError("a region ends in a yield")


def turns_of(op: cf.WhileLoopOp, most: int) -> int | None:
    """How often a loop turns; None where that is not known, or more often than `most`."""
    carried = list(map(operand_value, op.carried_inputs))
    additional = list(map(operand_value, op.additional_inputs))
    for turn in range(most + 1):
        [goes_on] = known_results(op.cond_region, [*carried, *additional])
        if goes_on is None:
            return None
        if not bool(np.asarray(goes_on).item()):
            return turn
        carried = known_results(op.body_region, [*carried, *additional])
    return None


def size_of(region: Region) -> int:
    return sum(1 for _ in region.walk())


def unroll_while(op: cf.WhileLoopOp, turns: int, rewriter: PatternRewriter) -> None:
    """Puts the turns of a loop in its place."""
    carried: Sequence[SSAValue] = op.carried_inputs
    for _ in range(turns):
        carried = inline(op, op.body_region, [*carried, *op.additional_inputs], rewriter)
    replace(op, carried, rewriter)


def unroll_over(op: cf.ScanOp | cf.MapOp, turns: int, region: Region, rewriter: PatternRewriter) -> None:
    """Puts what a region does of each element along the leading dimension in place of a `scan` or a `map`."""
    is_edge = any(isinstance(inner, OperatorOp) and not inner.NUMBERS for inner in region.block.ops)
    builder = Builder((edge if is_edge else aten).OPERATORS, op, rewriter=rewriter)
    namespace = Namespace(builder)
    carried: Sequence[SSAValue] = op.init if isinstance(op, cf.ScanOp) else ()
    rest = op.additional_inputs if isinstance(op, cf.ScanOp) else op.pos_args
    count, steps = len(carried), list[Sequence[SSAValue]]()
    for turn in range(turns):
        elements = [namespace.select.int(x, 0, turn) for x in op.xs]
        results = inline(op, region, [*carried, *elements, *rest], rewriter)
        carried = results[:count]
        steps.append(results[count:])
    stacked = [
        namespace.cat([namespace.unsqueeze(value, 0) for value in values], 0)
        for values in zip(*steps, strict=True)
    ]
    replace(op, [*carried, *stacked], rewriter)


class Unroll(RewritePattern):
    """A loop of at most so many turns."""

    def __init__(self, turns: int):
        self.turns = turns

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        match op:
            case cf.WhileLoopOp():
                region, turns = op.body_region, turns_of(op, self.turns)
            case cf.ScanOp():
                region, turns = op.combine_region, length_of(op.xs)
            case cf.MapOp():
                region, turns = op.body_region, length_of(op.xs)
            case _:
                return
        numbers = any(isinstance(value.type, SymType) for value in (*op.operands, *op.results))
        if turns is None or turns > self.turns or turns * size_of(region) > LARGEST or numbers:
            return
        if isinstance(op, cf.WhileLoopOp):
            unroll_while(op, turns, rewriter)
        else:
            unroll_over(op, turns, region, rewriter)


def length_of(xs: Sequence[SSAValue]) -> int | None:
    """The leading dimension of tensors, if it is a number."""
    length = meta(xs[0]).shape[0]
    return length if isinstance(length, int) else None


@dataclass(frozen=True)
class UnrollLoops(ModulePass):
    """Unrolls `while_loop`, `scan` and `map` of at most `turns` turns. Loops that carry symbolic numbers stay."""

    name = "unroll-loops"

    turns: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(Unroll(self.turns)).rewrite_module(op)
