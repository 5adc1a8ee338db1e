"""Rewrites of operators as xDSL's `RewritePattern`s, each made of one small function.

    def rule(aten: Namespace, self: SSAValue, dim: int) -> SSAValue: ...

A rule gets the namespace to build with and, by name, the arguments of the operator that it asks for, in normal form
(lists are lists, tensors and computed numbers are SSA values). It returns what the operator's call returns, or `KEEP`
where it does not apply. Decompositions, specialisations and canonicalizations are rules; `OperatorPattern` is what puts
one in an operation's place, in a stock walker or in a pass: everything is built, replaced and erased through the
`PatternRewriter`, with the location and the origin of the operation that it comes of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_exir.dialects import aten, edge
from xdsl_exir.dialects.builder import Builder, Namespace, Results, flat_results
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.meta import may_equal
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.registry import Entry, name_of
from xdsl_exir.dialects.spec import OperatorSpec
from xdsl_exir.errors import ExirError, Unsupported, UnsupportedError
from xdsl_exir.locations import location_text
from xdsl_exir.transforms.watch import Labelled, told


class _Keep:
    def __repr__(self) -> str:
        return "KEEP"


KEEP = _Keep()
"""Returned by a rule: leave the operator as it is."""

EXTRAS = frozenset({"out", "op"})
"""What a rule may ask for besides the operator's arguments: the types of its results, and the operation. Both are None of
an operator that another rule would build."""

FindRule = Callable[[OperatorSpec], Entry[Callable[..., Any]] | None]
"""Gives the rule of an operator; None where it has none. `Registry.find` is one."""


class OperatorPattern(Labelled, ABC):
    """Puts in place of an operation made from a schema what `results` builds."""

    @abstractmethod
    def results(self, op: OperatorOp, builder: Builder) -> Results:
        """What stands in place of an operation, as its Python call returns it; `KEEP` where it stays."""

    def dialect(self, op: OperatorOp) -> OperatorDialect:
        """What is built is of this dialect: of the operation's own, if nobody says otherwise."""
        return dialect_of(op)

    def builder(
        self, dialect: OperatorDialect, before: Operation, rewriter: PatternRewriter | None = None
    ) -> Builder:
        """Builds operators before an operation, through a rewriter if there is one."""
        return Builder(dialect, before, rewriter=rewriter)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrites an operation, if the pattern applies to it. Raises `ExirError` where types do not agree."""
        if not isinstance(op, OperatorOp):
            return
        acted = rewriter.has_done_action
        builder = self.builder(self.dialect(op), op, rewriter)
        results = self.results(op, builder)
        if results is not KEEP:
            replace(builder, op, flat_results(results))
        elif builder.made:
            undo(builder, rewriter, acted)

    def rewrite(self, op: OperatorOp) -> None:
        """The same where nobody looks on."""
        self.match_and_rewrite(op, PatternRewriter(op))


class RulePattern(OperatorPattern):
    """Applies the rules that `find` gives, to the operators that have one."""

    def __init__(self, find: FindRule):
        self.find = find

    def label(self, op: Operation) -> str:
        entry = self.find(op.SPEC) if isinstance(op, OperatorOp) else None
        return super().label(op) if entry is None else name_of(entry.function)

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        """What the rule gives. Raises `UnsupportedError` that names the operation where a rule does not take it."""
        entry = self.find(op.SPEC)
        if entry is None:
            return KEEP
        try:
            return call_rule(entry, builder, op.arguments(), op)
        except UnsupportedError:
            raise
        except ExirError as error:
            refused = Unsupported(op.SPEC.qualified_name, str(error), location_text(op))
            raise UnsupportedError([refused]) from error


def call_rule(
    entry: Entry[Callable[..., Any]],
    builder: Builder,
    arguments: Mapping[str, Any],
    op: OperatorOp | None = None,
) -> Results:
    """What a rule builds of arguments; `op` is the operation that has them, if one was built."""
    extras = {"out": op and op.result_types, "op": op}
    return entry.call({**extras, **arguments}, Namespace(builder))


def dialect_of(op: OperatorOp) -> OperatorDialect:
    """The dialect of an operation."""
    return (aten if op.NUMBERS else edge).OPERATORS


def undo(builder: Builder, rewriter: PatternRewriter, acted: bool) -> None:
    """Erases what was built; whether the rewriter has acted is what it was before."""
    for made in reversed(builder.made):
        rewriter.erase(made)
    rewriter.has_done_action = acted


def replace(builder: Builder, op: Operation, results: Sequence[SSAValue | None]) -> None:
    """Puts values in place of an operation's results and erases it, and what was built without being of use, if it was of use.

    None stands for a result that nobody uses. Raises `ExirError` where types do not agree.
    """
    if len(results) != len(op.results):
        raise ExirError(f"{op.name}: rule gives {len(results)} results for {len(op.results)}")
    rewriter = builder.rewriter or PatternRewriter(op)
    used = any(old.first_use is not None for old in op.results)
    rewriter.replace(
        op, (), [_as_type(builder, new, old) for old, new in zip(op.results, results, strict=True)]
    )
    for made in reversed(builder.made):
        if used and is_trivially_dead(made):
            rewriter.erase(made)


def _as_type(builder: Builder, new: SSAValue | None, old: OpResult) -> SSAValue | None:
    """A value that stands for another, with its type."""
    if new is None or new.type == old.type:
        return new
    if not may_equal(new.type, old.type):
        raise ExirError(f"{old.op.name}: rule gives {new.type} for {old.type}")
    return builder.insert(RefineOp(new, old.type)).results[0]


@dataclass(frozen=True)
class ApplyPatterns(ModulePass):
    """Applies patterns, in order, until none of them applies any more."""

    name = "apply-patterns"

    patterns: tuple[RewritePattern, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(GreedyRewritePatternApplier([*self.patterns])).rewrite_module(op)


def apply_once(
    module: ModuleOp | FuncOp, pattern: RewritePattern, kind: type[Operation] = OperatorOp
) -> None:
    """Applies a pattern to every operation of a kind, in every region, once: what it builds is not looked at again."""
    pattern, rewriter = told(pattern), PatternRewriter(InsertPoint.at_end(module.body.block))
    for op in list(module.body.walk()):
        if isinstance(op, kind) and op.parent is not None:  # else one before it has taken it away
            rewriter.current_operation, rewriter.insertion_point = op, InsertPoint.before(op)
            pattern.match_and_rewrite(op, rewriter)
