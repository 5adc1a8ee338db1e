"""Brings the families' files up to date with an installed PyTorch.

    python -m xdsl_exir.tools.spec.harvest            # rewrites <family>.yaml
    python -m xdsl_exir.tools.spec.harvest --check    # exits 1 where they differ

To add an operator, write its name (`- func: aten::add.Tensor`) into its family's file and run this: it fills in the
schema and the tags that PyTorch knows. Tags written by hand (`effect`) stay, and so does what `probe.py` and `memory.py`
found. Needs PyTorch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from xdsl_exir.dialects.shapes.layout import ATEN_OPERATORS, memory_format
from xdsl_exir.dialects.spec import find
from xdsl_exir.tools.spec.entries import Entry, options, rewrite

TAGS = {"core": "core", "pointwise": "pointwise", "nondeterministic_seeded": "random"}
"""PyTorch's tags that the spec keeps, and the names it keeps them under."""
DEFINING = ("torch.ao.quantization.fx._decomposed", "torch.nn.modules.linear_cross_entropy")
"""Modules of PyTorch that define operators when they are imported."""
HARVESTED = {*TAGS.values(), "composite", "view"}


def find_overload(namespace: str, name: str) -> Any:
    """The OpOverload of a schema name such as `add.Tensor`. Raises `AttributeError` where PyTorch has none."""
    import torch

    for module in DEFINING:
        import_module(module)
    if namespace in OF_OTHERS:
        OF_OTHERS[namespace]()
    packet, _, overload = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


@cache
def define_dim_order_ops() -> None:
    """Has PyTorch know the operators of ExecuTorch's edge programs: ExecuTorch's own, or, where that is not installed, what
    the spec says of them with what they do.
    """
    if find_spec("executorch") is not None:
        import_module("executorch.exir.passes.dim_order_ops_registry")
        return
    import torch

    library: Any = torch.library.Library("dim_order_ops", "DEF")
    for name, aten_name in ATEN_OPERATORS.items():
        _, _, packet = name.partition(".")
        library.define(find(name).schema_text.removeprefix("dim_order_ops::"))
        library.impl(packet, in_memory_format(aten_name), "CompositeImplicitAutograd")
    _kept.append(library)


@cache
def define_transformers_ops() -> None:
    """Has PyTorch know the operators of Hugging Face's transformers: its own, or, where that is not installed, one in a loop."""
    if find_spec("transformers") is not None:
        import_module("transformers.integrations.moe")
        return
    import torch

    library: Any = torch.library.Library("transformers", "DEF")
    library.define(find("transformers.grouped_mm_fallback").schema_text.removeprefix("transformers::"))
    library.impl("grouped_mm_fallback", by_groups, "CompositeExplicitAutograd")
    _kept.append(library)


def by_groups(input: Any, weight: Any, offs: Any) -> Any:
    """Rows times matrices, the e-th one for those up to offs[e]; zeros for what is left."""
    import torch

    if offs.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"ends are int32 or int64, not {offs.dtype}")
    ends = offs.tolist()
    products = [
        torch.mm(input[start:end], matrix)
        for matrix, start, end in zip(weight, [0, *ends], ends, strict=False)
    ]
    rest = input.new_zeros(len(input) - max(ends, default=0), weight.shape[2])
    return torch.cat([*products, rest])


OF_OTHERS: dict[str, Callable[[], None]] = {
    "dim_order_ops": define_dim_order_ops,
    "transformers": define_transformers_ops,
}
"""What defines the operators of namespaces that are not PyTorch's."""

_kept: list[Any] = []
"""Libraries of operators, which end with their objects."""


def in_memory_format(name: str) -> Callable[..., Any]:
    """An operator that takes a memory format, as one that takes an order of dimensions."""
    import torch

    operator = find_overload(*name.split(".", 1))

    def call(*args: Any, dim_order: list[int] | None = None, **kwargs: Any) -> Any:
        format = "preserve_format" if dim_order is None else memory_format(dim_order)
        return operator(*args, **kwargs, memory_format=getattr(torch, format))

    return call


def harvested_tags(op: Any) -> frozenset[str]:
    """What PyTorch says of an operator, in the spec's words."""
    tags = {TAGS[tag.name] for tag in op.tags if tag.name in TAGS}
    if op.has_kernel_for_dispatch_key("CompositeImplicitAutograd"):
        tags.add("composite")
    if op.is_view:
        tags.add("view")
    return frozenset(tags)


def refreshed(entry: Entry) -> Entry:
    """An entry with schema and tags as PyTorch has them."""
    op = find_overload(entry.namespace, entry.name)
    return replace(entry, schema=str(op._schema), tags=harvested_tags(op) | (entry.tags - HARVESTED))


def main() -> int:
    check = options(__doc__).parse_args().check
    return 1 if rewrite(refreshed, check) and check else 0


if __name__ == "__main__":
    sys.exit(main())
