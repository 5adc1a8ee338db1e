"""`decompose-aten`: every operator that has a decomposition is replaced by it, down to core ATen.

Rules stand in `decompositions/<family>.py` and are found by operator, in a dictionary. What rules build is decomposed
as it is built, so one walk over the program does all. `decompositions` gives them as patterns for other walkers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xdsl_exir.dialects.builder import Builder, Results, Rule
from xdsl_exir.dialects.control_flow import FlexAttentionOp
from xdsl_exir.dialects.meta import BACKEND
from xdsl_exir.dialects.operator import OperatorDialect
from xdsl_exir.dialects.registry import Entry
from xdsl_exir.dialects.spec import OperatorSpec, find, specs
from xdsl_exir.errors import SpecError
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS
from xdsl_exir.transforms.flex_attention import FlexAttention
from xdsl_exir.transforms.patterns import KEEP, RulePattern, apply_once, call_rule

Table = Mapping[str, Callable[..., Any] | None]
"""Decompositions by operator that count in place of the registered ones; None leaves an operator as it is."""


class Decomposer(RulePattern):
    """Applies decompositions, except of the operators to keep."""

    def __init__(self, keep: Callable[[str], bool] = lambda name: False, table: Table | None = None):
        super().__init__(self.entry)
        self.keep = keep
        """Whether an operator, by qualified name, stays as it is."""
        self.table = {name: rule and DECOMPOSITIONS.entry(name, rule) for name, rule in (table or {}).items()}

    def label(self, op: Operation) -> str:
        return f"decomposition of {op.name}"

    def entry(self, spec: OperatorSpec) -> Entry[Callable[..., Any]] | None:
        """The rule of an operator that has one and is not kept."""
        name = spec.qualified_name
        if self.keep(name):
            return None
        return self.table[name] if name in self.table else DECOMPOSITIONS.find(spec)

    def builder(
        self, dialect: OperatorDialect, before: Operation, rewriter: PatternRewriter | None = None
    ) -> Builder:
        """Builds operators before an operation, decomposed."""
        builder = super().builder(dialect, before, rewriter)
        builder.rule_of = partial(self.rule, builder)
        return builder

    def rule(self, builder: Builder, name: str) -> Rule | None:
        """What the builder runs in place of building an operator."""
        entry = self.entry(find(name))
        if entry is None:
            return None

        def run(bound: Mapping[str, Any]) -> Results:
            results = call_rule(entry, builder, bound)
            return builder.build(builder.dialect[name], bound) if results is KEEP else results

        return run


def decompositions(*names: str, table: Table | None = None) -> list[RewritePattern]:
    """Decompositions as patterns, for a walker or pass of one's own:

        PatternRewriteWalker(GreedyRewritePatternApplier(decompositions("aten.silu"))).rewrite_module(module)

    One pattern for each operator named. Without names, what `decompose-aten` applies: one pattern that finds rules
    by operator (hundreds of patterns would each be tried on every operation). `table` has functions that count in place
    of the registered ones. Raises `SpecError` for an operator that is not known or has no decomposition.
    """
    if not names:
        return [FlexAttention(), Decomposer(table=table)]
    patterns = [Decomposer(keep=_all_but(name), table=table) for name in names]
    for name, pattern in zip(names, patterns, strict=True):
        if pattern.entry(find(name)) is None:
            raise SpecError(f"{name} has no decomposition")
    return [*patterns]


def _all_but(name: str) -> Callable[[str], bool]:
    return lambda other: other != name


def known(names: Iterable[str], where: str) -> None:
    """Raises `SpecError` unless all are names of operators; `where` says who asks."""
    for name in names:
        try:
            find(name)
        except SpecError as error:
            raise SpecError(f"{where}: {error}") from None


@dataclass(frozen=True)
class DecomposeAten(ModulePass):
    """Replaces composite operators by core ATen ones; `keep="aten.silu","aten.linear"` leaves those alone.

    Raises `SpecError` for operators to keep, or to decompose otherwise, that are not known.
    """

    name = "decompose-aten"

    keep: tuple[str, ...] = ()
    decompositions: Table = field(default_factory=dict[str, Callable[..., Any] | None], hash=False)
    """Functions that count in place of the registered ones, from Python only."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known(self.keep, "decompose-aten: keep")
        known(self.decompositions, "decompose-aten: decompositions")
        apply_once(op, FlexAttention(), FlexAttentionOp)
        # Operators of backends are for `decompose-backend`.
        kept = {*self.keep, *(name for name, spec in specs().items() if BACKEND in spec.tags)}
        apply_once(op, Decomposer(kept.__contains__, self.decompositions))
