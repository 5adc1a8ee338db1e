"""The plugin: what stock `xdsl-opt` gains when this package is installed, users' libraries of operators included.

Factories import inside, so that a tool which uses none of it pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.universe import Universe

from xdsl_exir.dialects.spec.libraries import found_dialects


def _lazy(module: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(f"xdsl_exir.{module}"), name)


def _dialect(module: str) -> Callable[[], Any]:
    return lambda: import_module(f"xdsl_exir.dialects.{module}").dialect()


XDSL_EXIR_UNIVERSE = Universe(
    all_dialects={
        "aten": _dialect("aten"),
        "backend": _dialect("backend"),
        "dim_order_ops": _dialect("dim_order_ops"),
        "edge": _dialect("edge"),
        "exir": _dialect("exir"),
        "higher_order": _dialect("control_flow"),
        "quantized_decomposed": _dialect("quantized_decomposed"),
        "torch_nn": _dialect("torch_nn"),
        **found_dialects(),
    },
    all_passes={
        "aten-to-edge": _lazy("transforms.aten_to_edge", "AtenToEdge"),
        "edge-to-linalg": _lazy("lowering.edge_to_linalg", "EdgeToLinalg"),
        "expand-flex-attention": _lazy("transforms.flex_attention", "ExpandFlexAttention"),
        "forget-layouts": _lazy("transforms.layouts", "ForgetLayouts"),
        "from-irdl-names": _lazy("transforms.irdl_names", "FromIrdlNames"),
        "to-irdl-names": _lazy("transforms.irdl_names", "ToIrdlNames"),
        "decompose-aten": _lazy("transforms.decompose_aten", "DecomposeAten"),
        "inline-delegates": _lazy("transforms.partition", "InlineDelegates"),
        "inline-modules": _lazy("transforms.unflatten", "InlineModules"),
        "partition": _lazy("transforms.partition", "Partition"),
        "to-memory-formats": _lazy("transforms.layouts", "ToMemoryFormats"),
        "unflatten": _lazy("transforms.unflatten", "Unflatten"),
        "verify-aten": _lazy("transforms.verify", "VerifyAten"),
        "verify-edge": _lazy("transforms.verify", "VerifyEdge"),
    },
    all_targets={
        "exir-run": _lazy("runtime.target", "RunTarget"),
    },
)
