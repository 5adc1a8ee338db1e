"""Derives `edge.yaml`, the dtype rules, from what PyTorch's CPU kernels accept and return.

    python -m xdsl_exir.dialects.spec.probe               # rewrites edge.yaml
    python -m xdsl_exir.dialects.spec.probe --check       # exits 1 where it differs
    python -m xdsl_exir.dialects.spec.probe add.Tensor    # only shows these operators' rules

For every operator of the families' files: take small arguments (`samples`), cast every tensor, number and `dtype`
argument over the twelve dtypes and run the kernel (`Probe`), and write the shortest rule that says exactly what
was seen (`fit`). Needs PyTorch, with its testing modules; nothing else here does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.dialects.dtype_rules import dtype_set
from xdsl_exir.dialects.schema import FunctionSchema

# Kernels log some warnings to stderr past Python's warning filters.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
import torch
from torch.utils._python_dispatch import TorchDispatchMode

PROBED = dtype_set("All")
"""The twelve dtypes that every slot is cast over."""
EXOTIC = tuple(dtype for dtype in dt.DTYPES if dtype not in PROBED)
"""The rest, tried where operators take all twelve alike: what only moves data takes these too."""
TORCH = {dtype: getattr(torch, dtype.torch_name) for dtype in dt.DTYPES}
OF_TORCH = {dtype: ours for ours, dtype in TORCH.items()}

# --- samples -------------------------------------------------------------------------------------------------

Call = tuple[Any, ...]
"""Arguments by schema position; left-out trailing ones are the defaults."""


def overload(name: str) -> Any:
    """The OpOverload of a qualified name. Raises `AttributeError` where PyTorch has none."""
    namespace, packet, *rest = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), rest[0] if rest else "default")


def bind(schema: FunctionSchema, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a call by name, defaults left out."""
    names = [argument.name for argument in schema.arguments]
    return dict(zip(names, args, strict=False)) | dict(kwargs)


class Recorder(TorchDispatchMode):
    """Keeps the arguments of every call of a known operator that reaches the dispatcher."""

    def __init__(self, keep: Any) -> None:
        super().__init__()
        self.keep = keep

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func).removesuffix(".default")
        self.keep(name, args, kwargs or {})
        return func(*args, **(kwargs or {}))
