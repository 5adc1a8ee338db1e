"""MLIR's own tools, run on a module's text: where they are found, the table of passes to LLVM and why each is there.

What goes into the module is made elsewhere, and so is what becomes of the LLVM IR (`targets/cpu/objects.py`).
"""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering import external

INSTALL = "apt-get install mlir-22-tools"


@dataclass(frozen=True)
class Pass:
    """One entry of a pipeline: the pass as `--pass-pipeline` spells it, and why it is there."""

    text: str
    why: str


ROUNDEVEN = Pass("math-expand-ops{ops=roundeven}", "roundeven has a libm function only on new systems")

# Linalg on memrefs, scf, vector, memref, arith and math to LLVM.
TO_LLVM = (
    Pass("canonicalize", "folds constant indices"),
    Pass("convert-linalg-to-loops", "what no schedule took: plain loops"),
    Pass("convert-scf-to-openmp", "scf.parallel to a team of threads with a static schedule"),
    Pass(
        "canonicalize", "drops the memref.alloca_scope around a parallel body, which may have one block only"
    ),
    Pass("expand-strided-metadata", "views to arithmetic on offsets and strides"),
    Pass("lower-affine", "the affine maps that the two before leave"),
    Pass("convert-vector-to-scf", "transfers of rank above 1 to loops of rank 1"),
    Pass("convert-vector-to-llvm{reassociate-fp-reductions=1}", "vector reductions as trees"),
    Pass("convert-scf-to-cf", "loops to branches"),
    ROUNDEVEN,
    Pass(
        "convert-math-to-llvm{approximate-log1p=0}",
        "math functions that are LLVM intrinsics; log1p is not log(1 + x)",
    ),
    Pass("convert-math-to-libm", "the others are libm's"),
    Pass("convert-to-llvm", "func, arith, cf, memref, index and OpenMP's types"),
    Pass("convert-openmp-to-llvm", "types inside the parallel regions"),
    Pass("reconcile-unrealized-casts", "nothing may be left of the conversions"),
)


def pipeline(passes: Sequence[Pass]) -> str:
    """The passes as the argument of mlir-opt's `--pass-pipeline`."""
    return f"builtin.module({','.join(entry.text for entry in passes)})"


@functools.cache
def find_tool(name: str) -> Path:
    """The path of mlir-opt-22 or mlir-translate-22. Raises ToolchainError with the install command when missing."""
    found = shutil.which(f"{name}-22") or shutil.which(name, path="/usr/lib/llvm-22/bin")
    if found is None:
        raise ToolchainError(f"native code needs {name}-22, which is not on PATH; install it with: {INSTALL}")
    return Path(found)


@functools.cache
def tool_version() -> str:
    """Version of mlir-opt, for the cache's key."""
    return external.run([str(find_tool("mlir-opt")), "--version"])


_MODULE = re.compile(r'^(module|"builtin\.module")', re.MULTILINE)


def run_passes(text: str, passes: Sequence[Pass], *options: str) -> str:
    """A module's text after the passes, by one mlir-opt process. Raises ToolchainError with the tool's message."""
    tool = find_tool("mlir-opt")
    printed = external.run([str(tool), f"--pass-pipeline={pipeline(passes)}", *options], text)
    if not _MODULE.search(printed):
        raise ToolchainError(f"{tool.name} printed no module, but {printed[:100]!r}")
    return printed


def to_llvm_ir(text: str, passes: Sequence[Pass] = TO_LLVM) -> str:
    """LLVM IR, as text, of a module in upstream dialects. Raises ToolchainError with the tool's message."""
    (llvm_ir,) = all_to_llvm_ir([(text, passes)])
    return llvm_ir


def all_to_llvm_ir(modules: Sequence[tuple[str, Sequence[Pass]]]) -> list[str]:
    """LLVM IR, as text, of modules in upstream dialects, each by its passes: one process of a tool does all that it can. Raises
    `ToolchainError` with the tool's message."""
    between = "// -----"
    together: dict[str, list[int]] = {}
    for index, (_, passes) in enumerate(modules):
        together.setdefault(pipeline(passes), []).append(index)
    lowered: list[str] = []
    for indices in together.values():
        text = f"\n{between}\n".join(modules[index][0] for index in indices)
        # What is given and what is made are verified, by this tool and the next; after each pass would be a third of the time.
        lowered.append(run_passes(text, modules[indices[0]][1], "--split-input-file", "--verify-each=0"))
    translate = [
        str(find_tool("mlir-translate")),
        "--mlir-to-llvmir",
        "--split-input-file",
        f"--output-split-marker=; {between}",
    ]
    found = external.run(translate, f"\n{between}\n".join(lowered)).split(f"; {between}\n")
    if len(found) != len(modules):
        raise ToolchainError(f"mlir-translate made {len(found)} modules of {len(modules)}")
    order = [index for indices in together.values() for index in indices]
    return [text for _, text in sorted(zip(order, found, strict=True))]


INTERFACE = "_mlir_ciface_"
"""What MLIR begins the names of functions with that have `llvm.emit_c_interface`, and take pointers to descriptors."""
