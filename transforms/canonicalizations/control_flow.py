"""Canonicalizations of operations with regions: a branch that is known to be taken takes their place, a loop that never turns goes.

higher_order.cond %true ...        what its first region computes
higher_order.while_loop ...        its carried inputs, where the condition is false for them from the start
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from xdsl_exir.dialects import control_flow as cf
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.transforms.matching import known


def inline(
    op: Operation, region: Region, arguments: Sequence[SSAValue], rewriter: PatternRewriter
) -> Sequence[SSAValue]:
    """Puts what a region computes of some values before an operation; gives what the region yields. The region stays."""
    values: dict[SSAValue, SSAValue] = {
        arg: typed(value, arg.type, op, rewriter)
        for arg, value in zip(region.block.args, arguments, strict=True)
    }
    for inner in region.block.ops:
        if isinstance(inner, cf.YieldOp):
            return [values[value] for value in inner.values]
        copy = inner.clone(value_mapper=values)
        rewriter.insert(copy, InsertPoint.before(op))
    raise AssertionError("a region ends in a yield")


def typed(value: SSAValue, type: Attribute, before: Operation, rewriter: PatternRewriter) -> SSAValue:
    """A value as one of this type, whose sizes have other names."""
    if value.type == type:
        return value
    refined = RefineOp(value, type)
    refined.location = before.location
    rewriter.insert(refined, InsertPoint.before(before))
    return refined.result


def replace(op: Operation, values: Sequence[SSAValue], rewriter: PatternRewriter) -> None:
    """Puts values in place of an operation's results, with their types."""
    pairs = zip(values, op.results, strict=True)
    rewriter.replace(op, [], [typed(value, result.type, op, rewriter) for value, result in pairs])


class KnownBranch(RewritePattern):
    """`cond` of a boolean that is known."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.CondOp, rewriter: PatternRewriter) -> None:
        taken = known(op.pred)
        if taken is not None:
            replace(
                op, inline(op, op.true_region if taken else op.false_region, op.inputs, rewriter), rewriter
            )


class NoTurn(RewritePattern):
    """`while_loop` of which the condition is false whatever is carried."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: cf.WhileLoopOp, rewriter: PatternRewriter) -> None:
        condition = op.cond_region.block.last_op
        if isinstance(condition, cf.YieldOp) and known(condition.values[0]) is False:
            replace(op, op.carried_inputs, rewriter)


PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = {
    cf.CondOp: (KnownBranch(),),
    cf.WhileLoopOp: (NoTurn(),),
}
"""By operation."""
