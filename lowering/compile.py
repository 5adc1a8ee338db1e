"""From a plan of dispatches to an object file: the groups are fused and bufferized, joined with the schedules' kernels and the driver, and compiled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering.cache import cached
from xdsl_exir.lowering.dispatch import NAME, Dispatches, Plan
from xdsl_exir.lowering.dispatches.groups import DIRECT, LARGE
from xdsl_exir.lowering.plan_memory import PlanMemory, arena_bytes_of
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.lowering.processor import Processor, processor
from xdsl_exir.lowering.toolchain import TO_LLVM, Pass, cache_key, emit_object, run_passes, to_llvm_ir
from xdsl_exir.lowering.verify_memory import VerifyMemory
from xdsl_exir.program import context
from xdsl_exir.transforms.watch import run_passes as watched

GROUPS = (
    Pass("canonicalize", "folds reshapes"),
    Pass("linalg-fuse-elementwise-ops", "elementwise operators become one loop, and part of reductions"),
    Pass("canonicalize", "drops what was fused away"),
    Pass("transform-interpreter{entry-point=direct}", "results are computed in their destination"),
    Pass("cse", "one copy of equal operators, but for those that start results of their own"),
    Pass("empty-tensor-to-alloc-tensor", "what is left becomes an allocation"),
    Pass("transform-interpreter{entry-point=bufferize}", "tensors to memrefs, by the script of this name"),
    Pass("canonicalize", "drops copies onto themselves"),
    Pass("cse", "and equal views"),
    Pass("func.func(buffer-loop-hoisting)", "the steps of a loop share their buffers"),
    Pass(
        "func.func(promote-buffers-to-stack{max-alloc-size-in-bytes=16384})",
        "small buffers cost nothing to allocate",
    ),
    Pass("buffer-deallocation-pipeline", "frees what was allocated"),
    Pass("convert-bufferization-to-memref", "clones become allocations and copies"),
    Pass(
        "func.func(test-math-polynomial-approximation)",
        "exp, tanh, erf and the like without calls, so that loops vectorize",
    ),
    Pass("convert-linalg-to-affine-loops", "loops whose dependences are known"),
    Pass(
        "transform-interpreter{entry-point=parallelize}", "outermost loops without dependences run in threads"
    ),
    Pass("test-transform-dialect-erase-schedule", "drops the scripts"),
    Pass("lower-affine", "scf loops"),
)
"""How groups of operators in linalg become loops."""

SCRIPTS = f"""
transform.named_sequence @direct(%module: !transform.any_op {{transform.readonly}}) {{
  %0 = transform.structured.match ops{{["func.func"]}} attributes {{{DIRECT}}} in %module
    : (!transform.any_op) -> !transform.any_op
  transform.bufferization.eliminate_empty_tensors %0 : !transform.any_op
  transform.yield
}}
transform.named_sequence @bufferize(%module: !transform.any_op {{transform.consumed}}) {{
  %0 = transform.bufferization.one_shot_bufferize %module {{memcpy_op = "linalg.copy"}}
    : (!transform.any_op) -> !transform.any_op
  transform.yield
}}
transform.named_sequence @parallelize(%module: !transform.any_op {{transform.readonly}}) {{
  %0 = transform.structured.match ops{{["func.func"]}} attributes {{{LARGE}}} in %module
    : (!transform.any_op) -> !transform.any_op
  %1 = transform.apply_registered_pass "affine-parallelize" with options = {{"max-nested" = 1 : i64}} to %0
    : (!transform.any_op) -> !transform.any_op
  transform.yield
}}
"""
"""Copies become loops: of views that are not contiguous, `memref.copy` would be a call of MLIR's runtime library. A
parallel region costs a few microseconds: only large groups have one."""


def functions_of(table: dict[str, str]) -> str:
    """The functions of a table of texts, under their names."""
    return "\n".join(
        text.replace(f'"{NAME}"', f'"{name}"').replace(f"@{NAME}(", f"@{name}(")
        for text, name in table.items()
    )


def parts_of(module: str) -> tuple[str, str]:
    """What stands before a module that mlir-opt printed, and inside it. Raises `ToolchainError` where it printed none."""
    before, begin, rest = module.partition("module {")
    inside, end, _ = rest.rpartition("}")
    if not begin or not end:
        raise ToolchainError(f"mlir-opt printed no whole module, but {module[:100]!r}")
    return before, inside


def groups_text(dispatches: Dispatches) -> str:
    """The groups in linalg as a module, with the scripts of their passes; nothing where there are none."""
    if not dispatches.generic:
        return ""
    script = f"module attributes {{transform.with_named_sequence}} {{{SCRIPTS}"
    return f"{script}{functions_of(dispatches.generic)}\n}}"


def kernels_text(dispatches: Dispatches, drivers: Iterable[FuncOp]) -> str:
    """What is on memrefs: the schedules' kernels, and a driver for each method."""
    return "\n".join([functions_of(dispatches.scheduled), *map(generic_text, drivers)])


MEMORY: tuple[ModulePass, ...] = (PlanMemory(), VerifyMemory())
"""From what drivers allocate to parts of an arena."""


def plan_arenas(plans: Sequence[Plan]) -> ModuleOp:
    """Plans the memory of methods; gives their drivers as a module."""
    module = ModuleOp([plan.driver for plan in plans])
    watched(MEMORY, context(), module)
    for plan in plans:
        plan.arena_bytes = arena_bytes_of(plan.driver)
    return module


def module_text(groups: str, kernels: str) -> str:
    """The whole program as one module on memrefs."""
    maps = ""
    if groups:
        loops = run_passes(groups, GROUPS)
        loops = loops.replace("module attributes {transform.with_named_sequence} {", "module {", 1)
        maps, groups = parts_of(loops)
    return f"{maps}module {{\n{groups}\n{kernels}\n}}\n"


def module_object(dispatches: Dispatches, drivers: Iterable[FuncOp], cpu: Processor | None = None) -> bytes:
    """The object file of a program's methods, given by their drivers with planned memory, for a processor (`processor()` by default); from the cache, without a call of
    any tool, when it was made before. Raises `ToolchainError` where a tool is missing."""
    cpu = cpu or processor()
    groups, kernels = groups_text(dispatches), kernels_text(dispatches, drivers)
    key = cache_key(f"{groups}\0{kernels}", (*GROUPS, *TO_LLVM), cpu)
    return cached(key, lambda: emit_object(to_llvm_ir(module_text(groups, kernels)), cpu))
