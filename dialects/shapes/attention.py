"""Shape rules of attention."""

from __future__ import annotations

from xdsl_exir.dialects.dtypes import Bool, Float
from xdsl_exir.dialects.meta import Shape, broadcast_shapes, check, same_size, shape_rule, shape_text
from xdsl_exir.dialects.shapes.matmul import check_expands
from xdsl_exir.dialects.tensors import TensorMeta


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


def check_shapes(**expected: tuple[TensorMeta | None, Shape]) -> None:
    """Checks tensors, by their names, against the shapes that they are to have; None is left out."""
    for name, (tensor, shape) in expected.items():
        if tensor is not None:
            fits = tensor.ndim == len(shape) and all(map(same_size, tensor.shape, shape))
            check(fits, f"'{name}' has shape {shape_text(tensor.shape)}; {shape_text(shape)} expected")


def check_heads(inputs: TensorMeta, features: int, heads: int) -> None:
    """Checks what goes into a layer of attention, `[B, L, E]`, against its options."""
    check(
        inputs.ndim == 3,
        f"an input has shape {shape_text(inputs.shape)}; batch, positions, features expected",
    )
    check(same_size(inputs.shape[-1], features), f"inputs of {inputs.shape[-1]} features, not {features}")
    check(heads > 0 and features % heads == 0, f"{heads} heads of {features} features")


@shape_rule("aten._native_multi_head_attention")
def native_multi_head_attention(
    query: TensorMeta,
    key: TensorMeta,
    value: TensorMeta,
    embed_dim: int,
    num_head: int,
    qkv_weight: TensorMeta,
    qkv_bias: TensorMeta,
    proj_weight: TensorMeta,
    proj_bias: TensorMeta,
    mask: TensorMeta | None,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: int | None,
) -> list[Shape]:
    """`[B, L, E]` throughout; the weights are `[B, L, L]` averaged over heads, `[B, H, L, L]` else, none if not asked for."""
    check_heads(query, embed_dim, num_head)
    batch, queries, _ = query.shape
    check(key.ndim == 3, f"keys have shape {shape_text(key.shape)}; batch, positions, features expected")
    keys = key.shape[1]
    masked = {0: (queries, keys), 1: (batch, keys), 2: (batch, num_head, queries, keys)}
    check(mask is None or mask_type in masked, f"mask type {mask_type}; 0, 1 or 2 say what a mask is of")
    check_shapes(
        key=(key, (batch, keys, embed_dim)),
        value=(value, (batch, keys, embed_dim)),
        qkv_weight=(qkv_weight, (3 * embed_dim, embed_dim)),
        qkv_bias=(qkv_bias, (3 * embed_dim,)),
        proj_weight=(proj_weight, (embed_dim, embed_dim)),
        proj_bias=(proj_bias, (embed_dim,)),
        mask=(mask, masked.get(mask_type or 0, ())),
    )
    heads = () if average_attn_weights else (num_head,)
    return [query.shape, (batch, *heads, queries, keys) if need_weights else (0,)]


@shape_rule("aten._transformer_encoder_layer_fwd")
def transformer_encoder_layer(
    src: TensorMeta,
    embed_dim: int,
    num_heads: int,
    qkv_weight: TensorMeta,
    qkv_bias: TensorMeta,
    proj_weight: TensorMeta,
    proj_bias: TensorMeta,
    norm_weight_1: TensorMeta,
    norm_bias_1: TensorMeta,
    norm_weight_2: TensorMeta,
    norm_bias_2: TensorMeta,
    ffn_weight_1: TensorMeta,
    ffn_bias_1: TensorMeta,
    ffn_weight_2: TensorMeta,
    ffn_bias_2: TensorMeta,
    mask: TensorMeta | None,
    mask_type: int | None,
) -> Shape:
    weights = qkv_weight, qkv_bias, proj_weight, proj_bias
    native_multi_head_attention(src, src, src, embed_dim, num_heads, *weights, mask, False, True, mask_type)
    check(
        ffn_weight_1.ndim == 2,
        f"'ffn_weight_1' has shape {shape_text(ffn_weight_1.shape)}; a matrix expected",
    )
    inner = ffn_weight_1.shape[0]
    check_shapes(
        norm_weight_1=(norm_weight_1, (embed_dim,)),
        norm_bias_1=(norm_bias_1, (embed_dim,)),
        norm_weight_2=(norm_weight_2, (embed_dim,)),
        norm_bias_2=(norm_bias_2, (embed_dim,)),
        ffn_weight_1=(ffn_weight_1, (inner, embed_dim)),
        ffn_bias_1=(ffn_bias_1, (inner,)),
        ffn_weight_2=(ffn_weight_2, (embed_dim, inner)),
        ffn_bias_2=(ffn_bias_2, (embed_dim,)),
    )
    return src.shape
