"""Whole models at every stage below edge: `python test/stages.py [--only PATTERN]`.

Each of the five models of `bench/models` and of those in `ordinary.py` is taken to each stage. The stage verifies, is printed and read back
equal, taken by `mlir-opt` in generic form (but for `edge`'s), run by the interpreter as the one before it gave, and compiled to the same results as
from edge. A line a model: operations at each stage, the largest difference between neighbours in parts of the largest number, how many
kernels there are, and the bytes of the arena beside those that are needed at one time. Exit code 1 where anything differs.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import fnmatch
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ordinary import ORDINARY
from xdsl.dialects.func import FuncOp

import xdsl_exir
from xdsl_exir.importers.mlir import read_module
from xdsl_exir.lowering import mlir
from xdsl_exir.lowering.expand_kernels import KERNEL
from xdsl_exir.lowering.plan_memory import arena_bytes_of, drivers_of
from xdsl_exir.program import Program
from xdsl_exir.tools.memory import live_bytes, rows_of

BELOW = ("dispatches", "linalg", "buffers", "planned")
TOLERANCE = 1e-4
FIVE = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")


def models() -> Iterator[tuple[str, Any]]:
    sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
    from export_models import get_model_and_inputs

    for name in FIVE:
        yield name, lambda name=name: get_model_and_inputs(name)
    yield from ORDINARY.items()


def leaves(value: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in value]


def apart(given: Any, wanted: Any) -> float:
    """The largest difference, in parts of the largest number; infinite for other shapes, dtypes or NaN."""
    most = 0.0
    for a, b in zip(leaves(given), leaves(wanted), strict=True):
        if a.shape != b.shape or a.dtype != b.dtype or not np.array_equal(a != a, b != b):
            return float("inf")
        if a.size and a.dtype.kind == "f":
            largest = max(float(np.nanmax(np.abs(b))), 1e-30)
            most = max(most, float(np.nanmax(np.abs(a.astype(float) - b.astype(float)))) / largest)
        elif not np.array_equal(a, b):
            return float("inf")
    return most


def peak(program: Program) -> tuple[int, int]:
    """Bytes of the arenas, and those of buffers needed at one time."""
    arenas = needed = 0
    for function in drivers_of(program.module):
        needed += max(live_bytes(rows_of(function)).values(), default=0)
        total = arena_bytes_of(function)
        arenas += total if isinstance(total, int) else 0
    return arenas, needed


def taken_by_mlir(program: Program) -> str:
    """What `mlir-opt` says of a program in generic form; empty if it takes it."""
    command = [mlir.find_tool("mlir-opt"), "--allow-unregistered-dialect", "-o", "/dev/null"]
    done = subprocess.run(
        command, input=program.text(generic=True), capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[0][:200]


def written(edge: Program, arrays: list[Any], native: list[Any]) -> list[str]:
    """What is wrong with the code of kernels, which the interpreter does not run, as text."""
    at = edge.to("kernels").verify()
    again = Program(read_module(str(at), "kernels"), at.state).verify()
    wrong = [] if again.text(generic=True) == at.text(generic=True) else ["kernels: text"]
    if error := taken_by_mlir(at):
        wrong.append(f"kernels: mlir-opt: {error}")
    if apart(xdsl_exir.compile(again, "native").flat(arrays), native):
        wrong.append("kernels: compiled to other results than edge")
    return wrong


def line(name: str, made: Any) -> tuple[str, bool]:
    torch.manual_seed(0)
    module, inputs = made()
    with torch.no_grad():
        edge = xdsl_exir.from_exported_program(torch.export.export(module.eval(), inputs)).to_edge()
    arrays = [leaf.numpy() for leaf in torch.utils._pytree.tree_leaves(inputs)]
    before, native = xdsl_exir.compile(edge).flat(arrays), xdsl_exir.compile(edge, "native").flat(arrays)
    worst, wrong, counts = 0.0, [], []
    for stage in BELOW:
        try:
            at = edge.to(stage).verify()
        except xdsl_exir.UnsupportedError as error:  # linalg has no assertions
            counts.append(f"{stage} refused ({str(error).splitlines()[0][:80]})")
            continue
        counts.append(f"{stage} {sum(1 for _ in at.module.walk())}")
        if str(Program(read_module(str(at), name), at.state)) != str(at):
            wrong.append(f"{stage}: text")
        if error := taken_by_mlir(at):
            wrong.append(f"{stage}: mlir-opt: {error}")
        now = xdsl_exir.compile(at).flat(arrays)
        worst, before = max(worst, apart(now, before)), now
        # MLIR's own loops, of which linalg is made, add in another order.
        if apart(xdsl_exir.compile(at, "native").flat(arrays), native) > (
            TOLERANCE if stage == "linalg" else 0
        ):
            wrong.append(f"{stage}: compiled to other results than edge")
    wrong += written(edge, arrays, native)
    planned = edge.to("planned")
    kernels = sum(1 for op in planned.module.ops if isinstance(op, FuncOp) and KERNEL in op.attributes)
    arena, needed = peak(planned)
    if worst > TOLERANCE:
        wrong.append("stages differ")
    said = f"{name:28} {worst:8.1e}  kernels {kernels:3}  arena {arena} / {needed}  {', '.join(counts)}"
    return "  ".join([said, *wrong]), not wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="*")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    right = True
    for name, made in models():
        if fnmatch.fnmatch(name, given.only):
            said, well = line(name, made)
            right &= well
            print(said, flush=True)
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
