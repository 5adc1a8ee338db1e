"""Which operators of PyTorch's exported programs the spec does not have, with the reason.

    python -m xdsl_exir.tools.missing                      # lists them
    python -m xdsl_exir.tools.missing --harvest [REGEX]    # first exports PyTorch's operator samples anew

Wanted are the core ATen operators, and all that PyTorch's own operator samples (`OpInfo`s) leave in programs: straight from
`torch.export.export` (`training`) and after `run_decompositions()` (`core`). Exporting them takes half an hour, so what was
found is kept in exported_targets.yaml; `--harvest` adds what it finds, of the operators that match. Needs PyTorch.
"""

# pyright: basic, reportMissingImports=false
# (PyTorch's types are unknown to the checker.)

from __future__ import annotations

import argparse
import itertools
import re
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from xdsl_exir.importers.nodes import is_known

PATH = Path(__file__).with_name("exported_targets.yaml")
DTYPES = ("float32", "int64", "bool", "float16", "bfloat16")
SAMPLES = 3
"""Samples exported of each operator and dtype."""

SPARSE = "tensors are dense"
REASONS = {
    "aten.to_sparse": SPARSE,
    "aten.to_sparse.sparse_dim": SPARSE,
    "aten._to_sparse": SPARSE,
    "aten._to_sparse.sparse_dim": SPARSE,
    "aten.histogramdd": "gives a tensor and a list of tensors, which no operation of the IR does",
    "aten.histogramdd.TensorList_bins": "gives a tensor and a list of tensors, which no operation of the IR does",
}
"""Why an operator is not in the spec."""


def core_operators() -> set[str]:
    """The overloads that PyTorch tags as core ATen."""
    import torch

    found: set[str] = set()
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        if namespace == "aten":
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            if torch.Tag.core in op.tags:
                found.add(name.replace("::", "."))
    return found


def exported_targets() -> dict[str, set[str]]:
    """Operators found in exports of PyTorch's samples, by stage."""
    return {
        stage: set(targets) for stage, targets in yaml.safe_load(PATH.read_text(encoding="utf-8")).items()
    }


def missing() -> dict[str, list[str]]:
    """The operators that are wanted and not known, with where they come from."""
    wanted = {"tagged core": core_operators(), **exported_targets()}
    targets = sorted(set().union(*wanted.values()))
    return {
        target: [source for source, names in wanted.items() if target in names]
        for target in targets
        if not is_known(target)
    }


# --- exporting the samples -----------------------------------------------------------------------------------


def sample_modules(info: Any, dtype: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Modules that call an operator as its samples do; tensors are inputs, all else is constant."""
    import torch
    from torch.utils import _pytree as pytree

    class Sample(torch.nn.Module):
        def __init__(self, leaves: list[Any], spec: Any) -> None:
            super().__init__()
            self.leaves, self.spec = leaves, spec

        def forward(self, *tensors: torch.Tensor) -> Any:
            given = iter(tensors)
            leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
            args, kwargs = pytree.tree_unflatten(leaves, self.spec)
            return pytree.tree_leaves(info.op(*args, **kwargs))

    for sample in itertools.islice(info.sample_inputs("cpu", dtype), SAMPLES):
        leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
        yield Sample(leaves, spec), tuple(leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor))


def targets_of(program: Any) -> set[str]:
    """The operators of a program, sub-graphs included, as importers name them."""
    import torch

    found: set[str] = set()
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function":
                # The importers unwrap operators with effects.
                target = node.args[1] if node.target is torch.ops.higher_order.with_effects else node.target
                is_operator = isinstance(target, torch._ops.OperatorBase)
                name = str(target) if is_operator else f"{target.__module__}.{target.__name__}"
                found.add(f"higher_order.{name}" if "." not in name else name.removesuffix(".default"))
    return found - {"_operator.getitem"}  # of lists, which the importers unpack


def harvest(pattern: str) -> dict[str, set[str]]:
    """The targets of the samples whose operator's name matches, by stage, with those that were known before."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    found = exported_targets() if PATH.exists() else {"training": set(), "core": set()}
    for info in op_db:
        if not re.fullmatch(pattern, info.name):
            continue
        for dtype in (getattr(torch, name) for name in DTYPES):
            if dtype not in info.dtypes:
                continue
            torch.manual_seed(0)
            for module, inputs in sample_modules(info, dtype):
                # Samples may be what export does not take, in whatever way it says so.
                try:
                    with torch.no_grad():
                        program = torch.export.export(module, inputs)
                        core = program.run_decompositions()
                except Exception as error:
                    print(f"{info.name}: {type(error).__name__}")
                    continue
                found["training"] |= targets_of(program)
                found["core"] |= targets_of(core)
    return found


def write(found: dict[str, set[str]]) -> None:
    """Writes the targets found, by stage, to their file."""
    text = "# Operators in exports of PyTorch's operator samples, by stage; made by missing.py.\n"
    for stage, targets in found.items():
        names = textwrap.fill(", ".join(sorted(targets)), 110, break_long_words=False, break_on_hyphens=False)
        text += f"{stage}: [\n{textwrap.indent(names, '  ')}\n]\n"
    PATH.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--harvest",
        nargs="?",
        const=".*",
        metavar="REGEX",
        help="export the samples of these operators first",
    )
    pattern = parser.parse_args().harvest
    if pattern is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write(harvest(pattern))
    lacking = missing()
    for target, sources in lacking.items():
        print(f"{target} ({', '.join(sources)}): {REASONS.get(target, 'no reason known')}")
    print(f"{len(lacking)} operators missing")


if __name__ == "__main__":
    main()
