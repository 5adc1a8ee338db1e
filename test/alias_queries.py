"""Alias analysis beside TorchScript's own (`torch._C`'s AliasDb): `python test/alias_queries.py --count 1000`.

Graphs of random scripts (`random_scripts.py`), inlined; all pairs of values are asked for. What PyTorch reports has to be reported; what is reported
beyond that is counted.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from scripted import quiet, random_module
from xdsl.ir import SSAValue

import xdsl_exir
from xdsl_exir.dialects.torchscript.aliases import Aliases
from xdsl_exir.dialects.torchscript.operations import ReturnOp, ScriptOp, YieldOp

Graph = Any


def values_of_pytorch(graph: Graph) -> list[Any]:
    """The values of a graph in the order of its text."""

    def of_block(block: Any) -> list[Any]:
        found = list(block.inputs())
        for node in block.nodes():
            found += list(node.outputs()) if not list(node.blocks()) else []
            for inner in node.blocks():
                found += of_block(inner)
            found += list(node.outputs()) if list(node.blocks()) else []
        return found

    return of_block(graph)


def values_of(aliases: Aliases) -> list[SSAValue]:
    """The same values, as they were read."""

    def of_block(block: Any) -> list[SSAValue]:
        found: list[SSAValue] = list(block.args)
        for op in block.ops:
            if not isinstance(op, ScriptOp | ReturnOp | YieldOp):
                continue
            for region in op.regions:
                found += of_block(region.block)
            found += op.results
        return found

    return of_block(aliases.function.regions[0].block)


def compare(graph: Graph, counts: Counter[str]) -> list[str]:
    """Asks both for each pair of values: what PyTorch reports and we do not, as text."""
    theirs = graph.alias_db()
    aliases = xdsl_exir.from_torchscript_text(str(graph)).aliases()
    pairs = list(zip(values_of_pytorch(graph), values_of(aliases), strict=True))
    missing: list[str] = []

    def note(kind: str, reported: bool, ours: bool, what: str) -> None:
        counts[f"{kind} queries"] += 1
        counts[f"{kind} reported by PyTorch"] += reported
        counts[f"{kind} coarser"] += ours and not reported
        if reported and not ours:
            missing.append(f"{kind} {what}")

    for value, ours in pairs:
        note("has_writers", theirs.has_writers(value), aliases.has_writers(ours), value.debugName())
    for (a, x), (b, y) in itertools.combinations(pairs, 2):
        reported, found = theirs.may_contain_alias(a, b), aliases.may_contain_alias(x, y)
        note("may_contain_alias", reported, found, f"{a.debugName()} {b.debugName()}")
    return missing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as folder, quiet():
        for seed in range(arguments.start, arguments.start + arguments.count):
            graph = random_module(seed, Path(folder)).inlined_graph
            missing += [f"seed {seed}: {text}" for text in compare(graph, counts)]
    print(f"{arguments.count} graphs, torch {torch.__version__}")
    for kind in ("has_writers", "may_contain_alias"):
        asked, coarser = counts[f"{kind} queries"], counts[f"{kind} coarser"]
        reported = counts[f"{kind} reported by PyTorch"]
        print(
            f"{kind}: {asked} queries, {reported} reported by PyTorch, {coarser} coarser ({coarser / asked:.2%})"
        )
    print(f"missing: {len(missing)}", *missing[:20], sep="\n")


if __name__ == "__main__":
    main()
