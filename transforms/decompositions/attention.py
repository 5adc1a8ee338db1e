"""Decompositions of attention into matrix products and softmax: PyTorch's math form, which it exports on CPUs."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from xdsl_exir.dialects.dtypes import Bool, DType, Long
from xdsl_exir.errors import ExirError
from xdsl_exir.transforms.builder import Namespace, cast, meta, opmath, sizes
from xdsl_exir.transforms.decompositions import decomposition
from xdsl_exir.transforms.decompositions.matmul import Size, contiguous, transpose


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
    scale: float | None,
    dtype: DType,
) -> SSAValue:
    """`query @ key.mT * scale + mask`. Each factor gets the root of the scale, so that half the range suffices."""
    if scale is None:
        scale = default_scale(query)
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


def default_scale(query: SSAValue) -> float:
    """`1 / sqrt(E)` of a query `[..., L, E]`."""
    size = meta(query).shape[-1]
    if not isinstance(size, int):
        raise ExirError(
            f"scaled_dot_product_attention: the scale of heads of symbolic size {size} must be given"
        )
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
