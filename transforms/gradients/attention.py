"""The gradient of attention."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace
from xdsl_exir.transforms.gradients import Gradient, Gradients, Several, gradient


@gradient("aten._scaled_dot_product_flash_attention_for_cpu")
def flash_attention(
    aten: Namespace,
    grad: Several,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Gradient,
    scale: float | None,
    results: Sequence[SSAValue],
) -> Gradients:
    """The mask counts as a constant, as PyTorch has it; the logarithms of the denominators are not differentiated."""
    if grad[0] is None:
        return None
    return aten._scaled_dot_product_flash_attention_for_cpu_backward(
        grad[0], query, key, value, *results, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
    )
