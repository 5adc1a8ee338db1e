"""From a plan of dispatches to object files, one for each dispatch and each driver.

A dispatch is named after what is in it, and kept under that: another program that has it, or this one with a layer changed, compiles only what
is new.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from xdsl_exir.dialects.signature import EXPANDED
from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering import external
from xdsl_exir.lowering.bfloat16_bits import bfloat16_as_bits
from xdsl_exir.lowering.cache import keep, kept
from xdsl_exir.lowering.dispatch import Dispatches, Plan
from xdsl_exir.lowering.dispatches.buffers import NAME
from xdsl_exir.lowering.dispatches.groups import DIRECT, LARGE, NESTED
from xdsl_exir.lowering.distinct import say_distinct
from xdsl_exir.lowering.driver import calls_of
from xdsl_exir.lowering.expand_kernels import KERNEL, check_takes
from xdsl_exir.lowering.expand_math import Apart, ExpandMath, expand
from xdsl_exir.lowering.kernel import Kernel, Kernels, no_kernels
from xdsl_exir.lowering.mlir import TO_LLVM, Pass, all_to_llvm_ir, pipeline
from xdsl_exir.lowering.pack_arguments import ENTRY, PackArguments
from xdsl_exir.lowering.plan_memory import PlanMemory, arena_bytes_of
from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.lowering.verify_memory import VerifyMemory
from xdsl_exir.program import context
from xdsl_exir.targets.cpu.blocks import with_blocks
from xdsl_exir.targets.cpu.emit import LOOPS, VECTORS
from xdsl_exir.targets.cpu.kernels.attributes import kernel_of
from xdsl_exir.targets.cpu.kernels.kernel import expansion
from xdsl_exir.targets.cpu.machine import Processor, cores, processor
from xdsl_exir.targets.cpu.objects import cache_key, defines, emit_elsewhere, emit_object, passes_for
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
    Pass("transform-interpreter{entry-point=nest}", "loops of sizes that branches and loops compute"),
    Pass("convert-linalg-to-affine-loops", "loops whose dependences are known"),
    Pass(
        "transform-interpreter{entry-point=parallelize}", "outermost loops without dependences run in threads"
    ),
    Pass("test-transform-dialect-erase-schedule", "drops the scripts"),
    Pass("lower-affine", "scf loops"),
)
"""How groups of operators in linalg become loops."""
GROUPED = (*GROUPS, *TO_LLVM)

SCRIPTS = f"""
transform.named_sequence @direct(%module: !transform.any_op {{transform.readonly}}) {{
  %0 = transform.structured.match ops{{["func.func"]}} attributes {{{DIRECT}}} in %module
    : (!transform.any_op) -> !transform.any_op
  transform.bufferization.eliminate_empty_tensors %0 : !transform.any_op
  transform.yield
}}
transform.named_sequence @bufferize(%module: !transform.any_op {{transform.consumed}}) {{
  %0 = transform.bufferization.one_shot_bufferize %module {{allow_return_allocs_from_loops = true, memcpy_op = "linalg.copy"}}
    : (!transform.any_op) -> !transform.any_op
  transform.yield
}}
transform.named_sequence @nest(%module: !transform.any_op {{transform.readonly}}) {{
  %0 = transform.structured.match ops{{["func.func"]}} attributes {{{NESTED}}} in %module
    : (!transform.any_op) -> !transform.any_op
  %1 = transform.apply_registered_pass "convert-linalg-to-loops" to %0 : (!transform.any_op) -> !transform.any_op
  transform.yield
}}
transform.named_sequence @parallelize(%module: !transform.any_op {{transform.readonly}}) {{
  %0 = transform.structured.match ops{{["func.func"]}} attributes {{{LARGE}}} in %module
    : (!transform.any_op) -> !transform.any_op
  %1 = transform.apply_registered_pass "affine-loop-normalize" with options = {{"promote-single-iter" = true}} to %0
    : (!transform.any_op) -> !transform.any_op
  %2 = transform.apply_registered_pass "affine-parallelize" with options = {{"max-nested" = 1 : i64}} to %1
    : (!transform.any_op) -> !transform.any_op
  transform.yield
}}
"""
"""Copies become loops: of views that are not contiguous, `memref.copy` would be a call of MLIR's runtime library. A
parallel region costs a few microseconds: only large groups have one, along the outermost loop of more than one step."""


@dataclass(frozen=True)
class Known:
    """Of a pass over drivers alone: the kernels that they call."""

    known: Kernels = no_kernels

    def kernels(self, module: ModuleOp) -> Kernels:
        return self.known


@dataclass(frozen=True)
class PlanDrivers(Known, PlanMemory):
    """`plan-memory` of drivers whose kernels are at hand."""


@dataclass(frozen=True)
class VerifyDrivers(Known, VerifyMemory):
    """`verify-memory` of the same."""


def plan_arenas(plans: Sequence[Plan], kernels: Kernels) -> ModuleOp:
    """Plans the memory of methods whose drivers allocate it, and proves all that is planned right; gives the drivers as a module."""
    module = ModuleOp([plan.driver for plan in plans])
    watched((PlanDrivers(known=kernels), VerifyDrivers(known=kernels)), context(), module)
    for plan in plans:
        plan.arena_bytes = arena_bytes_of(plan.driver)
    return module


KERNELS: tuple[ModulePass, ...] = (ExpandMath(),)
"""From kernels as they are described to what MLIR lowers well."""


@dataclass(frozen=True)
class Unit:
    """What becomes one object file: a dispatch, or the driver of a method."""

    name: str
    """Of its function."""
    key: str
    """Says all that is in it, but for the name: a module may call its functions otherwise than we do."""
    passes: Sequence[Pass]
    write: Callable[[], str]
    """Writes the module."""

    @property
    def optimiser(self) -> str:
        """LLVM's passes for it: groups are loops over numbers, other units are written as vectors."""
        return LOOPS if set(GROUPS) <= set(self.passes) else VECTORS

    @property
    def identity(self) -> str:
        """A digest of all that its code says, whatever tools make it: what an executable that was saved keeps the object under."""
        return hashlib.sha256("\0".join((self.name, self.key, pipeline(self.passes))).encode()).hexdigest()


def units_of(dispatches: Dispatches, drivers: Iterable[FuncOp]) -> list[Unit]:
    """What the methods of a program are made of, given by their drivers with planned memory."""
    kernels = [kernel_unit(kernel, name) for kernel, name in dispatches.scheduled.items()]
    groups = [
        Unit(function.sym_name.data, text, GROUPED, partial(group_text, function))
        for text, function in dispatches.functions.items()
    ]
    return [*kernels, *groups, *(driver_unit(driver, dispatches.types) for driver in drivers)]


def units_of_functions(functions: Sequence[FuncOp], drivers: Iterable[FuncOp]) -> list[Unit]:
    """The same, of a module that holds its dispatches as functions."""
    types = {function.sym_name.data: list(function.function_type.inputs) for function in functions}
    return [*map(unit_of, functions), *(driver_unit(driver, types) for driver in drivers)]


def unit_of(function: FuncOp) -> Unit:
    """A dispatch of a module: one that has a kernel is what the kernel expands to."""
    name, described = function.sym_name.data, function.attributes.get(KERNEL)
    if described is not None:
        kernel = kernel_of(described)
        check_takes(function, kernel)
        return kernel_unit(kernel, name)
    written = function.clone()
    written.properties.pop("sym_visibility", None)
    if written.attributes.pop(EXPANDED, None) is not None:
        return Unit(name, generic_text(written), TO_LLVM, partial(generic_text, ModuleOp([written])))
    write = partial(group_text, written)
    unnamed = written.clone()
    unnamed.properties["sym_name"] = StringAttr(NAME)
    return Unit(name, generic_text(unnamed), GROUPED, write)


def kernel_unit(kernel: Kernel, name: str, public: bool = False) -> Unit:
    """A kernel, for drivers alone or `public`: as a function that C can call."""
    key = f"{expansion()} {kernel.key}{' public' if public else ''}"
    return Unit(name, key, TO_LLVM, partial(kernel_text, kernel, name, public))


def driver_unit(driver: FuncOp, types: Mapping[str, Sequence[Attribute]]) -> Unit:
    """A driver, which calls dispatches of these types."""
    write = partial(driver_text, driver, types)
    return Unit(ENTRY + driver.sym_name.data, generic_text(driver), TO_LLVM, write)


def kernel_text(kernel: Kernel, name: str, public: bool = False) -> str:
    """A kernel, expanded to operations, as a module."""
    function = kernel.function(name, public)
    bfloat16_as_bits(function)
    module = ModuleOp([function])
    watched(KERNELS, context(), module)
    return generic_text(module)


WITHOUT_BRANCHES = (
    math.ExpOp,
    math.ExpM1Op,
    math.LogOp,
    math.Log2Op,
    math.Log10Op,
    math.Log1pOp,
    math.AsinOp,
    math.AcosOp,
    math.AtanOp,
    math.RoundEvenOp,
)
"""Functions that are arithmetic in loops over numbers, which become vectors then."""


def group_text(function: FuncOp) -> str:
    """A group in linalg as a module, with the scripts of its passes. (MLIR's exp loses some units where it nearly overflows, and
    libm's functions keep loops from becoming vectors.)"""
    written = function.clone()
    expand(written, WITHOUT_BRANCHES, Apart)
    bfloat16_as_bits(written)
    functions = with_blocks(written)
    for each in functions:
        say_distinct(each)
    text = "\n".join(map(generic_text, functions))
    return f"module attributes {{transform.with_named_sequence}} {{{SCRIPTS}{text}\n}}"


def driver_text(driver: FuncOp, types: Mapping[str, Sequence[Attribute]]) -> str:
    """A driver as a module, what it calls declared: calls of other types than theirs are refused by MLIR."""
    module, called = ModuleOp([driver.clone()]), sorted(set(calls_of(driver)))
    if missing := [name for name in called if name not in types]:
        raise ToolchainError(
            f"'{driver.sym_name.data}' calls {', '.join(missing)}, which the module does not have"
        )
    PackArguments().apply(context(), module)
    module.body.block.add_ops(FuncOp.external(name, types[name], []) for name in called)
    return generic_text(module)


def objects_of(units: Sequence[Unit], cpu: Processor | None = None) -> list[bytes]:
    """The object files of units for a processor (`processor()` by default): from the cache, without a call of any tool, what was
    made before; the others by as many processes at once as there are cores. Raises `ToolchainError` where a tool is missing."""
    cpu = cpu or processor()
    units = units_for(units, cpu)
    keys = [cache_key(f"{unit.name}\0{unit.key}", unit.passes, cpu) for unit in units]
    found = {key: kept(key) for key in keys}
    missing = [(key, unit) for key, unit in dict(zip(keys, units, strict=True)).items() if found[key] is None]
    if missing:
        new = dict(zip([key for key, _ in missing], made([unit for _, unit in missing], cpu), strict=True))
        keep({key: [data] for key, data in new.items()})
        found |= new
    return [data for data in map(found.get, keys) if data is not None]


def units_for(units: Sequence[Unit], cpu: Processor) -> Sequence[Unit]:
    """Units, by the passes that make code for a processor of them."""
    return [replace(unit, passes=passes_for(unit.passes, cpu)) for unit in units]


def llvm_ir_of(units: Sequence[Unit], cpu: Processor | None = None) -> list[str]:
    """LLVM IR of units, as text, before it is optimised. Raises `ToolchainError` where a tool is missing."""
    units = units_for(units, cpu) if cpu else units
    return all_to_llvm_ir([(unit.write(), unit.passes) for unit in units])


WORTHWHILE = 85_000
"""Characters of modules from which on it pays to have another process."""


def written(unit: Unit) -> str:
    """A unit's module. Meanwhile cyclic garbage stays where it is: so many operations come and go that Python would look through all that the process
    has, again and again, for little."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return unit.write()
    finally:
        if enabled:
            gc.enable()


def made(units: Sequence[Unit], cpu: Processor) -> list[bytes]:
    """The object files of units, in order, made now."""
    texts = [written(unit) for unit in units]
    available = cores() if sys.executable else 1
    count = max(1, min(available, len(units), sum(map(len, texts)) // WORTHWHILE))
    batches = [list[int]() for _ in range(count)]
    for index in sorted(range(len(units)), key=lambda index: -len(texts[index])):
        min(batches, key=lambda batch: sum(len(texts[i]) for i in batch)).append(index)

    def work(number: int) -> dict[int, bytes]:
        batch = batches[number]
        llvm_ir = all_to_llvm_ir([(texts[index], units[index].passes) for index in batch])
        lowered = [(text, units[index].optimiser) for text, index in zip(llvm_ir, batch, strict=True)]
        # This process emits one batch itself.
        data = (
            emit_elsewhere(lowered, cpu)
            if number
            else [emit_object(text, cpu, passes) for text, passes in lowered]
        )
        return dict(zip(batch, data, strict=True))

    parts = external.at_once([partial(work, number) for number in range(count)])
    results = [data for part in parts for data in part.items()]
    objects = [data for _, data in sorted(results)]
    for unit, data in zip(units, objects, strict=True):
        if not defines(data, unit.name):
            raise ToolchainError(f"the tools made no function {unit.name!r}")
    return objects
