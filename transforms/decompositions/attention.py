"""Decompositions of attention into matrix products and softmax: PyTorch's math form, which it exports on CPUs."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, Size, cast, meta, opmath, sizes
from xdsl_exir.dialects.dtypes import Bool, Double, DType, Long
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.decompositions import decomposition
from xdsl_exir.transforms.decompositions.matmul import contiguous, transpose


@decomposition("aten.scaled_dot_product_attention")
def scaled_dot_product_attention(
    aten: Namespace,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    attn_mask: SSAValue | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> SSAValue:
    """`softmax(query @ key.mT * scale + mask) @ value`."""
    dtype = meta(query).dtype
    if enable_gqa:
        key, value = repeat_heads(aten, key, query), repeat_heads(aten, value, query)
    query, key, value = (cast(aten, each, opmath(dtype)) for each in (query, key, value))
    scores = masked_scores(aten, query, key, attn_mask, is_causal, scale, dtype)
    weights = aten._safe_softmax(scores, -1)
    if dropout_p > 0:
        weights = aten.native_dropout(weights, dropout_p, True)[0]
    return cast(aten, aten.matmul(weights, value), dtype)


def masked_scores(
    aten: Namespace,
    query: SSAValue,
    key: SSAValue,
    attn_mask: SSAValue | None,
    is_causal: bool,
    scale: float | SSAValue | None,
    dtype: DType,
) -> SSAValue:
    """`query @ key.mT * scale + mask`. Each factor gets the root of the scale, so that half the range suffices."""
    if scale is None:
        scale = default_scale(aten, query)
    if isinstance(scale, SSAValue):
        query, keys = (aten.mul.Tensor(each, aten.sqrt(scale)) for each in (query, transpose(aten, key)))
    else:
        root = math.sqrt(abs(scale))
        query = aten.mul.Scalar(query, math.copysign(root, scale))
        keys = aten.mul.Scalar(transpose(aten, key), root)
    masks = [attn_mask] if attn_mask is not None else []
    if is_causal:
        masks.append(causal_mask(aten, sizes(aten, query)[-2], sizes(aten, key)[-2]))
    scores = aten.matmul(query, keys)
    for mask in masks:
        scores = aten.add.Tensor(scores, additive(aten, mask, dtype))
    return scores


def causal_mask(aten: Namespace, queries: Size, keys: Size) -> SSAValue:
    """True where a key comes no later than the query."""
    # The conjunction with a mask of all is how PyTorch arrives at it (tril of ones).
    everything = aten.full([queries, keys], True, dtype=Bool)
    columns = aten.unsqueeze(aten.arange.start_step(0, keys, dtype=Long), -2)
    rows = aten.unsqueeze(aten.arange.start_step(0, queries, dtype=Long), -1)
    return aten.logical_and(aten.le.Scalar(aten.sub.Tensor(columns, rows), 0), everything)


def default_scale(aten: Namespace, query: SSAValue) -> float | SSAValue:
    """`1 / sqrt(E)` of a query `[..., L, E]`, where `E` is symbolic a 0-dim tensor."""
    size = sizes(aten, query)[-1]
    if isinstance(size, SSAValue):
        return aten.rsqrt(aten.full([], size, dtype=Double))
    return size**-0.5 if size else math.inf


def additive(aten: Namespace, mask: SSAValue, dtype: DType) -> SSAValue:
    """A mask to add to scores: of booleans 0 where true, minus infinity where false."""
    if meta(mask).dtype is not Bool:
        return mask
    shut, open_ = aten.scalar_tensor(-math.inf, dtype=dtype), aten.scalar_tensor(0.0, dtype=dtype)
    return aten.where.self(mask, open_, shut)


def repeat_heads(aten: Namespace, value: SSAValue, query: SSAValue) -> SSAValue:
    """Heads of keys or values `[..., H, S, E]`, each repeated for the group of queries that shares it."""
    heads, groups = meta(query).shape[-3], meta(value).shape[-3]
    if heads == groups:
        return value
    if not isinstance(heads, int) or not isinstance(groups, int):
        raise ExirError(
            f"scaled_dot_product_attention: grouped queries of symbolic sizes {heads} and {groups}"
        )
    *batch, _, keys, size = sizes(aten, value)
    copies = aten.expand(aten.unsqueeze(value, -3), [*batch, groups, heads // groups, keys, size])
    return aten.view(contiguous(aten, copies), [*batch, heads, keys, size])


@decomposition("aten._scaled_dot_product_flash_attention_for_cpu")
def flash_attention_for_cpu(
    aten: Namespace,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    is_causal: bool,
    attn_mask: SSAValue | None,
    scale: float | None,
) -> tuple[SSAValue, SSAValue]:
    dtype = meta(query).dtype
    key, value = repeat_heads(aten, key, query), repeat_heads(aten, value, query)
    query, key, value = (cast(aten, each, opmath(dtype)) for each in (query, key, value))
    scores = masked_scores(aten, query, key, attn_mask, is_causal, scale, dtype)
    result = aten.matmul(aten._safe_softmax(scores, -1), value)
    return cast(aten, result, dtype), aten.logsumexp(scores, [-1])


# --- layers that PyTorch runs as one where gradients are off ------------------------------------------------------


@decomposition("aten._native_multi_head_attention")
def native_multi_head_attention(
    aten: Namespace,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    embed_dim: int,
    num_head: int,
    qkv_weight: SSAValue,
    qkv_bias: SSAValue,
    proj_weight: SSAValue,
    proj_bias: SSAValue,
    mask: SSAValue | None,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: int | None,
) -> tuple[SSAValue, SSAValue]:
    """Attention of projections, projected. True in the mask, and what is not 0 in one of numbers, is what is not attended to."""
    batch, length, _ = sizes(aten, query)
    parts = zip(aten.chunk(qkv_weight, 3), aten.chunk(qkv_bias, 3), strict=True)
    projected = [aten.linear(x, *part) for x, part in zip((query, key, value), parts, strict=True)]
    split = [batch, -1, num_head, embed_dim // num_head]
    q, k, v = (aten.transpose.int(aten.view(x, split), 1, 2) for x in projected)
    scores = aten.matmul(aten.mul.Scalar(q, (embed_dim // num_head) ** -0.5), transpose(aten, k))
    if mask is not None:
        hidden = cast(aten, mask, Bool)
        if mask_type == 1:  # of keys
            hidden = aten.unsqueeze(aten.unsqueeze(hidden, 1), 1)
        scores = aten.masked_fill.Scalar(scores, hidden, -math.inf)
    weights = aten.softmax.int(scores, -1)
    joined = contiguous(aten, aten.transpose.int(aten.matmul(weights, v), 1, 2))
    result = aten.linear(aten.view(joined, [batch, length, embed_dim]), proj_weight, proj_bias)
    if not need_weights:
        return result, aten.full([0], 0, dtype=meta(query).dtype)
    return result, aten.mean.dim(weights, [1]) if average_attn_weights else weights


@decomposition("aten._transformer_encoder_layer_fwd")
def transformer_encoder_layer(
    aten: Namespace,
    src: SSAValue,
    embed_dim: int,
    num_heads: int,
    qkv_weight: SSAValue,
    qkv_bias: SSAValue,
    proj_weight: SSAValue,
    proj_bias: SSAValue,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: SSAValue,
    norm_bias_1: SSAValue,
    norm_weight_2: SSAValue,
    norm_bias_2: SSAValue,
    ffn_weight_1: SSAValue,
    ffn_bias_1: SSAValue,
    ffn_weight_2: SSAValue,
    ffn_bias_2: SSAValue,
    mask: SSAValue | None,
    mask_type: int | None,
) -> SSAValue:
    """Attention, then two linear layers; each normalized before (`norm_first`) or after it is added to what goes in."""

    def attention(x: SSAValue) -> SSAValue:
        weights = qkv_weight, qkv_bias, proj_weight, proj_bias
        options = {"mask": mask, "need_weights": False, "mask_type": mask_type}
        return aten._native_multi_head_attention(x, x, x, embed_dim, num_heads, *weights, **options)[0]

    def feed_forward(x: SSAValue) -> SSAValue:
        inner = aten.linear(x, ffn_weight_1, ffn_bias_1)
        return aten.linear(aten.gelu(inner) if use_gelu else aten.relu(inner), ffn_weight_2, ffn_bias_2)

    x = src
    norms = (norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2)
    for part, norm in zip((attention, feed_forward), norms, strict=True):
        if norm_first:
            x = aten.add.Tensor(x, part(aten.layer_norm(x, [embed_dim], *norm, eps)))
        else:
            x = aten.layer_norm(aten.add.Tensor(x, part(x)), [embed_dim], *norm, eps)
    return x
