"""Shape rules of attention."""

from __future__ import annotations

from xdsl_exir.dialects.dtypes import Bool, Float
from xdsl_exir.dialects.exir import TensorMeta
from xdsl_exir.dialects.matmul import check_expands
from xdsl_exir.dialects.meta import Shape, broadcast_shapes, check, same_size, shape_rule, shape_text


@shape_rule("aten.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: TensorMeta,
    key: TensorMeta,
    value: TensorMeta,
    attn_mask: TensorMeta | None,
    enable_gqa: bool,
) -> Shape:
    """`[..., L, E], [..., S, E], [..., S, Ev]` give `[..., L, Ev]`; a mask expands to `[..., L, S]`."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        check(
            tensor.ndim >= 2, f"'{name}' has shape {shape_text(tensor.shape)}; at least 2 dimensions expected"
        )
    check(
        same_size(query.shape[-1], key.shape[-1]), f"query and key of {query.shape[-1]} and {key.shape[-1]}"
    )
    check(same_size(key.shape[-2], value.shape[-2]), f"{key.shape[-2]} keys, {value.shape[-2]} values")
    batch = query.shape[:-2]
    if enable_gqa:
        for tensor in (key, value):
            check(query.ndim >= 3 and tensor.ndim >= 3, "grouped queries need a dimension of heads")
            heads, groups = query.shape[-3], tensor.shape[-3]
            divides = isinstance(heads, int) and isinstance(groups, int) and groups and heads % groups == 0
            check(
                bool(divides) or heads == groups, f"{groups} heads of keys do not divide {heads} of queries"
            )
            broadcast_shapes(batch[:-1], tensor.shape[:-3])
    else:
        batch = broadcast_shapes(batch, key.shape[:-2], value.shape[:-2])
    if attn_mask is not None:
        allowed = (Bool, Float, query.dtype)
        check(attn_mask.dtype in allowed, f"'attn_mask' is {attn_mask.dtype}, 'query' {query.dtype}")
        check(attn_mask.ndim >= 2, "'attn_mask' needs at least 2 dimensions")
        check_expands(attn_mask, (*batch, query.shape[-2], key.shape[-2]))
    return (*batch, query.shape[-2], value.shape[-1])


@shape_rule("aten._scaled_dot_product_flash_attention_for_cpu")
def flash_attention_for_cpu(
    query: TensorMeta, key: TensorMeta, value: TensorMeta, attn_mask: TensorMeta | None, dropout_p: float
) -> list[Shape]:
    """`[B, H, L, E]` throughout; the second result is the logarithm of the softmax' denominators, `[B, H, L]`."""
    check(dropout_p == 0, "no dropout in flash attention on the CPU")
    check(query.ndim == key.ndim == value.ndim == 4, "4 dimensions expected")
    check(same_size(query.shape[-1], value.shape[-1]), "query and value of different sizes")
    check(attn_mask is None or attn_mask.dtype is not Bool, "the mask is not of the query's dtype")
    return [
        scaled_dot_product_attention(query, key, value, attn_mask, enable_gqa=True),
        query.shape[:-1],
    ]


@shape_rule("aten._native_multi_head_attention")
def native_multi_head_attention(
    query: TensorMeta,
    key: TensorMeta,
    value: TensorMeta,
    embed_dim: int,
    num_head: int,
    qkv_weight: TensorMeta,
    mask: TensorMeta | None,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: int | None,
) -> list[Shape]:
    """`[B, L, E]` throughout; the weights are `[B, L, L]` averaged over heads, `[B, H, L, L]` else, none if not asked for."""
    check(
        query.ndim == 3, f"'query' has shape {shape_text(query.shape)}; batch, positions, features expected"
    )
    check(same_size(query.shape[-1], embed_dim), f"queries of {query.shape[-1]} features, not {embed_dim}")
    check(num_head > 0 and embed_dim % num_head == 0, f"{num_head} heads of {embed_dim} features")
    check(key.shape == value.shape, f"keys {shape_text(key.shape)}, values {shape_text(value.shape)}")
    check(same_size(qkv_weight.shape[0], 3 * embed_dim), f"'qkv_weight' is {shape_text(qkv_weight.shape)}")
    check(
        mask is None or mask_type in (0, 1, 2), f"mask type {mask_type}; it says what a mask is of: 0, 1 or 2"
    )
    batch, queries, _ = query.shape
    heads = () if average_attn_weights else (num_head,)
    weights = (batch, *heads, queries, key.shape[1]) if need_weights else (0,)
    return [query.shape, weights]


@shape_rule("aten._transformer_encoder_layer_fwd")
def transformer_encoder_layer(src: TensorMeta, embed_dim: int, num_heads: int) -> Shape:
    check(src.ndim == 3, f"'src' has shape {shape_text(src.shape)}; batch, positions, features expected")
    check(same_size(src.shape[-1], embed_dim), f"{src.shape[-1]} features, not {embed_dim}")
    check(num_heads > 0 and embed_dim % num_heads == 0, f"{num_heads} heads of {embed_dim} features")
    return src.shape
