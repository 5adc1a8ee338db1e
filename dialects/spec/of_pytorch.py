"""Operators that graphs of PyTorch's may have and that nobody can register: what each is, and what to do instead.

`UnsupportedError` says it with the operator's name. Each text goes on after "unknown operator, ".
"""

from __future__ import annotations

_TRACED = "which run_decompositions() traces through"
_COMPILED = "import the program as it was before"
_REPLAYED = "random numbers drawn again, as in recomputation while training; export the model in eval()"
_PYTHON = "a call of Python that is not in the program; write what it does in operators, or as an operator of your own"
_TRITON = "a Triton kernel, code for GPUs; write what it does in operators, or as an operator of your own"

_HIGHER_ORDER = {
    "_export_tracepoint": "the boundary of a module while PyTorch exports; a finished program has none",
    "aoti_call_delegate": f"a part that AOTInductor compiled; {_COMPILED}",
    "autograd_function_apply": f"a torch.autograd.Function inside torch.compile, {_TRACED}",
    "call_torchbind": "a method of an object in C++, which is not in the program; keep the object out of the model",
    "custom_function_call": f"a torch.autograd.Function inside torch.func, {_TRACED}",
    "dynamo_bypassing_wrapper": _PYTHON,
    "flat_apply": f"{_PYTHON}; if it is a torch.autograd.Function, run_decompositions() traces through it",
    "flex_attention_backward": "the gradient of flex_attention; export the forward, or take scaled_dot_product_attention",
    "graphsafe_run_with_rng_state": _REPLAYED,
    "inductor_compiled_code": f"a part that Inductor compiled; {_COMPILED}",
    "inline_asm_elementwise": "PTX, the assembly of NVIDIA's GPUs; write what it does in operators",
    "invoke_leaf_function": _PYTHON,
    "local_map_hop": "a function of one rank's part of distributed tensors; export what one rank runs",
    "print": "text that is printed as the model runs; take it out, or print the values that it gives back",
    "register_hook": "a change to a gradient; export the forward",
    "run_and_save_rng_state": _REPLAYED,
    "run_dtensor_rng_op": _REPLAYED,
    "run_with_rng_state": _REPLAYED,
    "trace_wrapped": _PYTHON,
    "triton_kernel_wrapper_functional": _TRITON,
    "triton_kernel_wrapper_mutation": _TRITON,
}

OF_PYTORCH = {
    **{f"higher_order.{name}": what for name, what in _HIGHER_ORDER.items()},
    "aten.set_.": "which gives a tensor the memory of another one; values of the IR have no memory, so take the other one itself",
    "higher_order.": "a higher-order operator of PyTorch's that this package does not know",
    "torch._functorch.": "a part of torch.vmap; ExportedProgram.run_decompositions() says what it does operator by operator",
}
"""By name, then, ending in a dot, by how names begin."""
