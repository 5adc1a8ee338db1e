"""`sink-casts`: casts to longer elements go below what moves elements, so that shorter ones are moved.

    permute(_to_copy(x : bf16 -> f32))    becomes    _to_copy(permute(x) : bf16 -> f32)

Casts to shorter elements stay above, where they save as much.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from xdsl_exir.dialects.builder import Builder, Results, flat_results, meta
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.transforms.canonicalization import in_delegate
from xdsl_exir.transforms.canonicalizations.slicing import SLICES
from xdsl_exir.transforms.canonicalizations.view import PERMUTES, RESHAPES
from xdsl_exir.transforms.matching import is_tensor, made_by
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern

MOVES = frozenset({*PERMUTES, *RESHAPES, *SLICES, "aten.expand", "aten.expand_copy", "aten.flip", "aten.select.int", "aten.repeat", "aten.unfold"})  # fmt: skip
"""Operators of one tensor that move its elements, or some of them, whatever they are."""


class SinkCast(OperatorPattern):
    """A cast that only one operator of `MOVES` uses is done after it."""

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        if op.SPEC.qualified_name not in MOVES or in_delegate(op):
            return KEEP
        value = op.operands[0]
        cast = made_by(value, "aten._to_copy")
        if cast is None or not value.has_one_use() or cast.arguments()["memory_format"] is not None:
            return KEEP
        origin = cast.operands[0]
        if not is_tensor(origin) or meta(origin).device != meta(value).device:
            return KEEP
        if meta(origin).dtype.bits >= meta(value).dtype.bits:
            return KEEP
        moved = flat_results(builder.call(op.SPEC.qualified_name, (), {**op.arguments(), "self": origin}))[0]
        made = builder.call("aten._to_copy", [moved], {"dtype": meta(value).dtype})
        return made if made.type == op.results[0].type else KEEP


@dataclass(frozen=True)
class SinkCasts(ModulePass):
    """Puts casts to longer elements below views, permutes, slices and their like."""

    name = "sink-casts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(GreedyRewritePatternApplier([SinkCast()])).rewrite_module(op)
