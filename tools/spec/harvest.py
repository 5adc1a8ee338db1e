"""Brings the families' files up to date with an installed PyTorch.

    python -m xdsl_exir.tools.spec.harvest            # rewrites <family>.yaml
    python -m xdsl_exir.tools.spec.harvest --check    # exits 1 where they differ

To add an operator, write its name (`- func: aten::add.Tensor`) into its family's file and run this: it fills in the
schema and the tags that PyTorch knows. Tags written by hand (`effect`) stay, and so does what `memory.py` found. Needs
PyTorch.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from xdsl_exir.dialects.shapes.layout import ATEN_OPERATORS, memory_format
from xdsl_exir.dialects.spec import FAMILIES, find

_ENTRY = re.compile(
    r"^- func: (?P<namespace>\w+)::(?P<name>[\w.]+).*\n(?:  tags: \[(?P<tags>[\w, ]*)\]\n)?", re.MULTILINE
)

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
    if namespace == "dim_order_ops":
        define_dim_order_ops()
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


def harvested_tags(op: Any) -> set[str]:
    """What PyTorch says of an operator, in the spec's words."""
    tags = {TAGS[tag.name] for tag in op.tags if tag.name in TAGS}
    if op.has_kernel_for_dispatch_key("CompositeImplicitAutograd"):
        tags.add("composite")
    if op.is_view:
        tags.add("view")
    return tags


def refresh(text: str) -> str:
    """A family's file with every entry's schema and tags as PyTorch has them."""

    def entry(match: re.Match[str]) -> str:
        op = find_overload(match["namespace"], match["name"])
        kept = set(re.findall(r"\w+", match["tags"] or "")) - HARVESTED
        tags = sorted(harvested_tags(op) | kept)
        lines = f"- func: {op._schema}\n"
        return lines + (f"  tags: [{', '.join(tags)}]\n" if tags else "")

    return _ENTRY.sub(entry, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--check", action="store_true", help="change nothing, exit 1 where a file is out of date"
    )
    check = parser.parse_args().check
    stale = 0
    for family in FAMILIES:
        path = Path(__file__).with_name(f"{family}.yaml")
        if not path.is_file():
            continue
        before = path.read_text(encoding="utf-8")
        after = refresh(before)
        if before != after:
            stale += 1
            print(f"{path.name}: {'out of date' if check else 'updated'}")
            if not check:
                path.write_text(after, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
