"""`flex_attention` in terms of matrix products and softmax, its functions applied to all scores at once.

As PyTorch computes it without a kernel of its own: `math_attention` in `torch/_higher_order_ops/flex_attention.py`.
"""

from __future__ import annotations

import math

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_exir.dialects import aten
from xdsl_exir.dialects.builder import Builder, Namespace, cast, meta, sizes
from xdsl_exir.dialects.control_flow import FlexAttentionOp, working_dtype
from xdsl_exir.dialects.dtypes import Int
from xdsl_exir.transforms.batching import batched
from xdsl_exir.transforms.decompositions.attention import repeat_heads
from xdsl_exir.transforms.decompositions.matmul import transpose
from xdsl_exir.transforms.patterns import apply_once, replace


def has_flex_attention(module: ModuleOp) -> bool:
    return any(isinstance(op, FlexAttentionOp) for op in module.walk())


class FlexAttention(RewritePattern):
    """Replaces `flex_attention` by what it does."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FlexAttentionOp, rewriter: PatternRewriter, /) -> None:
        builder = Builder(aten.OPERATORS, op, rewriter=rewriter)
        replace(builder, op, attention(Namespace(builder), op))


class ExpandFlexAttention(ModulePass):
    """Replaces `flex_attention` by the operators that it is made of, as `decompose-aten` does among others."""

    name = "expand-flex-attention"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_once(op, FlexAttention(), FlexAttentionOp)


def attention(aten: Namespace, op: FlexAttentionOp) -> list[SSAValue]:
    """The attention, the logarithm of the softmax' denominators, and the largest scores."""
    query, dtype = op.query, working_dtype(op.query.type)
    key, value = (over_batch(aten, repeat_heads(aten, each, query), query) for each in (op.key, op.value))
    product = aten.matmul(cast(aten, query, dtype), transpose(aten, cast(aten, key, dtype)))
    scores = aten.mul.Scalar(product, op.scale.value.data)
    indices = [index_along(aten, scores, dim) for dim in range(4)]
    counts = batched(aten.builder, op.mask_region, indices, op.mask_args)
    scored = batched(aten.builder, op.score_region, [scores, *indices], op.score_args)
    nothing = aten.scalar_tensor(-math.inf, dtype=dtype)
    scores = aten.expand(aten.where.self(counts, scored, nothing), sizes(aten, scores))
    shut = aten.all.dim(aten.eq.Scalar(scores, -math.inf), -1)
    logarithm = aten.where.self(shut, nothing, aten.logsumexp(scores, [-1]))
    weights = aten._safe_softmax(scores, -1)
    result = aten.matmul(cast(aten, weights, meta(query).dtype), cast(aten, value, meta(query).dtype))
    return [result, *(aten.div.Scalar(each, math.log(2)) for each in (logarithm, aten.amax(scores, [-1])))]


def over_batch(aten: Namespace, value: SSAValue, query: SSAValue) -> SSAValue:
    """Keys or values for every element of the queries' batch."""
    return aten.expand(value, [*sizes(aten, query)[:1], *[-1] * 3])


def index_along(aten: Namespace, scores: SSAValue, dim: int) -> SSAValue:
    """Every score's index along a dimension, of size 1 along the others."""
    size = sizes(aten, scores)[dim]
    return aten.view(aten.arange.start_step(0, size, dtype=Int), [size if d == dim else 1 for d in range(4)])
