"""`fold-batch-norm`: a batch norm of running statistics after a convolution becomes part of the convolution's weight and bias.

    weight * s, (bias - mean) * s + shift      where s = scale / sqrt(var + eps)

is written as operators of the weights alone, for `fold-constants` to compute. Results are rounded elsewhere: their last bits change.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from xdsl_exir.dialects.builder import Builder, Namespace, Results, meta
from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.transforms.canonicalization import in_delegate
from xdsl_exir.transforms.fold_constants import is_state
from xdsl_exir.transforms.matching import made_by, static
from xdsl_exir.transforms.patterns import KEEP, OperatorPattern

NORM = "aten._native_batch_norm_legit_no_training"


class FoldNorm(OperatorPattern):
    """A norm of which only the first result is used, of a convolution that nothing else uses; all weights are state of one dtype."""

    def results(self, op: OperatorOp, builder: Builder) -> Results:
        if op.SPEC.qualified_name != NORM or in_delegate(op) or any(value.uses for value in op.results[1:]):
            return KEEP
        norm = op.arguments()
        convolution = made_by(norm["input"], "aten.convolution") if norm["input"].has_one_use() else None
        given = convolution.arguments() if convolution is not None else {}
        if not given or given["transposed"]:
            return KEEP
        weight, bias = given["weight"], given["bias"]
        scale, shift, mean, variance = (
            norm[name] for name in ("weight", "bias", "running_mean", "running_var")
        )
        weights = [value for value in (weight, bias, scale, shift, mean, variance) if value is not None]
        dtype = meta(op.results[0]).dtype
        of_one_dtype = all(is_state(value) and meta(value).dtype is dtype for value in weights)
        spare = [static(meta(value).shape) for value in op.results[1:]]
        if not of_one_dtype or dtype.category is not Category.FLOAT or dtype.bits < 32 or None in spare:
            return KEEP
        aten = Namespace(builder)
        factor = aten.rsqrt(aten.add.Tensor(variance, norm["eps"]))
        factor = factor if scale is None else aten.mul.Tensor(factor, scale)
        centred = aten.neg(mean) if bias is None else aten.sub.Tensor(bias, mean)
        moved = aten.mul.Tensor(centred, factor)
        moved = moved if shift is None else aten.add.Tensor(moved, shift)
        scaled = aten.mul.Tensor(weight, aten.view(factor, [-1] + [1] * (meta(weight).ndim - 1)))
        folded = aten.convolution(**{**given, "weight": scaled, "bias": moved})
        nothing = [builder.constant(0, meta(v).dtype, tuple(s or ())) for v, s in zip(op.results[1:], spare, strict=True)]  # fmt: skip
        return (folded, *nothing)


@dataclass(frozen=True)
class FoldBatchNorm(ModulePass):
    """Makes batch norms part of the convolutions before them."""

    name = "fold-batch-norm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(GreedyRewritePatternApplier([FoldNorm()])).rewrite_module(op)
