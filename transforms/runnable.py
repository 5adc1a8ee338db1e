"""What the interpreter has no function for, decomposed: it runs programs of every stage, as far as it can as they are."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xdsl_exir.dialects.backend import OutVariantOp
from xdsl_exir.dialects.control_flow import FlexAttentionOp
from xdsl_exir.dialects.spec import find
from xdsl_exir.interpreter.interpreter import obstacles
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.transforms.decompose_aten import Decomposer
from xdsl_exir.transforms.flex_attention import FlexAttention, has_flex_attention
from xdsl_exir.transforms.out_variants import from_out_variants
from xdsl_exir.transforms.patterns import apply_once


def runnable(module: ModuleOp) -> ModuleOp:
    """The module, or a copy in which operators without a function of their own are decomposed, as far as they can be."""
    has_outs = any(isinstance(op, OutVariantOp) for op in module.walk())
    if not has_flex_attention(module) and not has_outs and not obstacles(module):
        return module
    module = module.clone()
    from_out_variants(module)
    apply_once(module, FlexAttention(), FlexAttentionOp)
    decomposer = Decomposer(keep=lambda name: IMPLS.find(find(name)) is not None)
    for op, _ in obstacles(module):
        decomposer.rewrite(op)
    return module
