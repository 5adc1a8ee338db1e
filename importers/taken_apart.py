"""What PyTorch takes apart before a program is read: `torch.vmap`, and tensors that are made of others."""

from __future__ import annotations

from typing import Any

from xdsl_exir.errors import LoadError
from xdsl_exir.importers.exported_pytree import import_untyped

VMAP = "torch._functorch.predispatch"
FLEX_ATTENTION = "flex_attention"


def taken_apart(ep: Any) -> Any:
    """A program in which `torch.vmap` is what it does operator by operator, and a tensor that is made of others (torchao's of quantized
    weights, say) these others, as PyTorch itself says."""
    is_made_of_others = import_untyped("torch.utils._python_dispatch").is_traceable_wrapper_subclass
    tensors = (*ep.state_dict.values(), *ep.constants.values())
    if any(map(is_made_of_others, tensors)):
        reason = "tensors made of others"
    elif _has_vmap(ep):
        reason = "torch.vmap"
    else:
        return ep
    try:
        return ep.run_decompositions({})
    except Exception as error:  # whatever PyTorch's tracer says of what it exported
        raise LoadError(f"{reason} in a program that PyTorch cannot decompose: {error}") from error


def _has_vmap(ep: Any) -> bool:
    """Around `flex_attention` it makes the block masks, which nobody needs."""
    targets = {
        node.target
        for module in ep.graph_module.modules()
        if isinstance(module, import_untyped("torch").fx.GraphModule)
        for node in module.graph.nodes
        if node.op == "call_function"
    }
    modules = {getattr(target, "__module__", None) for target in targets}
    return VMAP in modules and FLEX_ATTENTION not in map(str, targets)
