"""`optimize{level=1}`: a list of passes, each of which may be used alone.

| level | passes |
|---|---|
| 0 | none |
| 1 | `canonicalize`, `unroll-loops`, `fold-constants`, `dedupe-weights`, `sink-casts`, `hoist-invariants`, `merge-common`, `canonicalize`, `dce`: results keep all their bits |
| 2 | those, `fold-batch-norm` and `batch-matmuls`, which round elsewhere, and those again |

Level 1 changes no bit of what the interpreter gives; of level 2 the errors are those of another order of sums.
With `batch-matmuls` a Llama of 8 layers took 0.79 to 0.99 of the time of level 1 natively, a BERT of 6 layers 1.00 to 1.01 of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass, PassPipeline
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker, RewritePattern
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.dead_code_elimination import region_dce
from xdsl.universe import Universe

from xdsl_exir.dialects.registry import Entry
from xdsl_exir.dialects.signature import ORIGIN
from xdsl_exir.dialects.spec import MOVING, OperatorSpec
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.canonicalization import Canonicalization
from xdsl_exir.transforms.canonicalizations import CANONICALIZATIONS
from xdsl_exir.transforms.watch import run_inner

LEVELS: tuple[tuple[str, ...], ...] = (
    (),
    ("canonicalize", "unroll-loops", "fold-constants", "dedupe-weights", "sink-casts", "hoist-invariants", "merge-common", "canonicalize", "dce"),
    ("optimize{level=1}", "fold-batch-norm", "batch-matmuls", "optimize{level=1}"),
)  # fmt: skip
"""The passes of each level, in order."""


@dataclass(frozen=True)
class Optimize(ModulePass):
    """Runs the passes of a level until they leave as many operations as they found. Raises `ExirError` for a level that there is not."""

    name = "optimize"

    level: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.level not in range(len(LEVELS)):
            raise ExirError(f"optimize: no level {self.level}; there are 0 to {len(LEVELS) - 1}")
        pipeline = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, ",".join(LEVELS[self.level]))
        before, after = -1, size_of(op)
        while before != after:
            run_inner(pipeline.passes, ctx, op)
            before, after = after, size_of(op)


def size_of(module: ModuleOp) -> int:
    """How many operations there are."""
    return sum(1 for _ in module.walk())


@dataclass(frozen=True)
class MergeCommon(ModulePass):
    """xDSL's `cse`, which compares all attributes, for operations that differ in nothing but `exir.origin`: the first stays."""

    name = "merge-common"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        origins: dict[Operation, Attribute] = {}
        for inner in op.walk():
            if (origin := inner.attributes.pop(ORIGIN, None)) is not None:
                origins[inner] = origin
        cse(op)
        for inner in op.walk():
            if inner in origins:
                inner.attributes[ORIGIN] = origins[inner]
        region_dce(op.body)


@dataclass(frozen=True)
class MergeViews(ModulePass):
    """What `canonicalize` does to views and to what moves elements, and nothing else of it."""

    name = "merge-views"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [Canonicalization(_rule_of_view)]
        pattern = GreedyRewritePatternApplier(patterns, ctx=ctx)
        PatternRewriteWalker(pattern).rewrite_module(op)


def _rule_of_view(spec: OperatorSpec) -> Entry[Callable[..., Any]] | None:
    return CANONICALIZATIONS.find(spec) if spec.family in MOVING else None
