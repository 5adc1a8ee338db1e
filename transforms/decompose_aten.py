"""`decompose-aten`: every operator that has a decomposition is replaced by it, down to core ATen.

Rules stand in `decompositions/<family>.py` and are found by operator, in a dictionary. What rules build is decomposed
as it is built, so one walk over the program does all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xdsl_exir.dialects import aten, edge
from xdsl_exir.dialects.builder import Builder, Namespace, Results, Rule, flat_results
from xdsl_exir.dialects.exir import RefineOp
from xdsl_exir.dialects.meta import may_equal
from xdsl_exir.dialects.operator import OperatorDialect, OperatorOp
from xdsl_exir.dialects.registry import Entry
from xdsl_exir.dialects.spec import find
from xdsl_exir.errors import ExirError, SpecError
from xdsl_exir.transforms.decompositions import DECOMPOSITIONS, KEEP


class Decomposer:
    """Applies decompositions, except of the operators to keep."""

    def __init__(self, keep: Callable[[str], bool] = lambda name: False):
        self.keep = keep
        """Whether an operator, by qualified name, stays as it is."""

    def entry(self, name: str) -> Entry[Callable[..., Any]] | None:
        """The rule of an operator that has one and is not kept."""
        return None if self.keep(name) else DECOMPOSITIONS.find(find(name))

    def rewrite(self, op: OperatorOp) -> None:
        """Replaces one operation by its decomposition, if it has one that applies."""
        entry = self.entry(op.SPEC.qualified_name)
        if entry is None:
            return
        builder = self.builder((aten if op.NUMBERS else edge).OPERATORS, op)
        results = entry.call({"out": op.result_types, **op.arguments()}, Namespace(builder))
        if results is not KEEP:
            replace(builder, op, flat_results(results))

    def builder(self, dialect: OperatorDialect, before: Operation) -> Builder:
        """Builds operators before an operation, decomposed."""
        builder = Builder(dialect, before)
        builder.rule_of = partial(self.rule, builder)
        return builder

    def rule(self, builder: Builder, name: str) -> Rule | None:
        """What the builder runs in place of building an operator."""
        entry = self.entry(name)
        if entry is None:
            return None

        def run(bound: Mapping[str, Any]) -> Results:
            results = entry.call({"out": None, **bound}, Namespace(builder))
            return builder.build(builder.dialect[name], bound) if results is KEEP else results

        return run


def replace(builder: Builder, op: Operation, results: list[SSAValue]) -> None:
    """Puts values in place of an operation's results and erases it, and what was built without being of use, if it was of use.

    Raises `ExirError` where types do not agree.
    """
    if len(results) != len(op.results):
        raise ExirError(f"{op.name}: rule gives {len(results)} results for {len(op.results)}")
    used = any(old.first_use is not None for old in op.results)
    for old, new in zip(op.results, results, strict=True):
        if old.type != new.type:
            if not may_equal(old.type, new.type):
                raise ExirError(f"{op.name}: rule gives {new.type} for {old.type}")
            new = builder.insert(RefineOp(new, old.type)).results[0]
        if new.name_hint is None:
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
    for made in reversed(builder.made):
        if used and is_trivially_dead(made):
            made.detach()
            made.erase()


def for_each_operator(module: ModuleOp, rewrite: Callable[[OperatorOp], None]) -> None:
    """Calls `rewrite` for every operation made from a schema, in every region; it may replace the operation."""
    for op in list(module.walk()):
        if isinstance(op, OperatorOp):
            rewrite(op)


@dataclass(frozen=True)
class DecomposeAten(ModulePass):
    """Replaces composite operators by core ATen ones; `keep="aten.silu","aten.linear"` leaves those alone."""

    name = "decompose-aten"

    keep: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from xdsl_exir.transforms.flex_attention import expand_flex_attention

        for name in self.keep:
            try:
                find(name)
            except SpecError as error:
                raise SpecError(f"decompose-aten: keep: {error}") from None
        expand_flex_attention(op)
        for_each_operator(op, Decomposer(frozenset(self.keep).__contains__).rewrite)
