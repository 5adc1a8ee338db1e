"""Types and signatures as PyTorch's users write them: `x: float32[4, s0]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xdsl_exir.dialects.dtypes import Category
from xdsl_exir.dialects.signature import INPUT, InputAttr, InputKind
from xdsl_exir.dialects.tensors import is_tensor_type, number_category, tensor_meta

MOST = 8
"""Of inputs or outputs, those that are shown."""


def type_text(type: Attribute) -> str:
    """`float32[4, s0]`, `int`; types of other dialects as they are."""
    if is_tensor_type(type):
        meta = tensor_meta(type)
        return f"{meta.dtype.torch_name}[{', '.join(map(str, meta.shape))}]"
    category = number_category(type)
    return str(type) if category is None else Category(category).name.lower()


def shortened(texts: Sequence[str]) -> str:
    """A list, up to its first few."""
    more = len(texts) - MOST
    return ", ".join(texts if more <= 1 else [*texts[:MOST], f"{more} more"])


def user_inputs(function: FuncOp) -> list[str]:
    """`x: float32[4, s0]` for each input of a method that its caller gives."""
    types = function.function_type.inputs.data
    attrs: Sequence[Any] = function.arg_attrs.data if function.arg_attrs else ()
    found: list[str] = []
    for index, type in enumerate(types):
        spec = attrs[index].data.get(INPUT) if attrs else None
        if isinstance(spec, InputAttr):
            if spec.data.kind is InputKind.USER_INPUT:
                found.append(f"{spec.data.target}: {type_text(type)}")
        else:
            found.append(type_text(type))
    return found


def signature_text(function: FuncOp) -> str:
    """`forward(x: float32[4, 64]) -> float32[4, 8]`: what a method's caller gives, and all its results."""
    results = [type_text(type) for type in function.function_type.outputs.data]
    return f"{function.sym_name.data}({shortened(user_inputs(function))}) -> {shortened(results)}"
