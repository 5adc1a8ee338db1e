"""The plugin: what stock `xdsl-opt` gains when this package is installed, users' libraries of operators included.

Factories import inside, so that a tool which uses none of it pays nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.universe import Universe

from xdsl_exir.libraries import (
    SCHEMA_NAMESPACES,
    Library,
    check_namespace,
    found,
    functions_of,
    python_beside,
)

if TYPE_CHECKING:
    from xdsl.ir import Dialect


def _lazy(module: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(f"xdsl_exir.{module}"), name)


def _pass(module: str, name: str) -> Callable[[], Any]:
    """A pass, which is watched where it is applied alone as well: by `xdsl-opt`."""

    def watched() -> Any:
        from xdsl_exir.transforms.watch import watched_alone

        return watched_alone(_lazy(module, name)())

    return watched


def _dialect(module: str) -> Callable[[], Any]:
    return lambda: import_module(f"xdsl_exir.dialects.{module}").dialect()


def _make_dialect(namespace: str) -> Dialect:
    from xdsl_exir.dialects.operator import OperatorDialect

    return OperatorDialect(namespace).dialect()


def dialects_of(namespaces: list[str]) -> dict[str, Callable[[], Dialect]]:
    """The dialects of users' namespaces, made when first used. Raises `SpecError` for a name that is taken."""
    own = [name for name in dict.fromkeys(namespaces) if name not in SCHEMA_NAMESPACES]
    for name in own:
        check_namespace(name)
    return {name: partial(_make_dialect, name) for name in own}


def found_dialects() -> dict[str, Callable[[], Dialect]]:
    """The dialects of the libraries found."""
    return dialects_of([name for library in found() for name in library.namespaces()])


XDSL_EXIR_UNIVERSE = Universe(
    all_dialects={
        "aten": _dialect("aten"),
        "backend": _dialect("backend"),
        "dim_order_ops": _dialect("dim_order_ops"),
        "edge": _dialect("edge"),
        "exir": _dialect("exir"),
        "higher_order": _dialect("control_flow"),
        "quantized_decomposed": _dialect("quantized_decomposed"),
        "torchscript": _dialect("torchscript"),
        "torch_nn": _dialect("torch_nn"),
        "transformers": _dialect("transformers"),
        **found_dialects(),
    },
    all_passes={
        "aten-to-edge": _pass("transforms.aten_to_edge", "AtenToEdge"),
        "count-sizes": _pass("transforms.count_sizes", "CountSizes"),
        "kernel-forms": _pass("targets.cpu.kernel_forms", "KernelForms"),
        "forget-sizes": _pass("transforms.forget_sizes", "ForgetSizes"),
        "numbers-to-tensors": _pass("transforms.numbers_to_tensors", "NumbersToTensors"),
        "plan-memory": _pass("targets.cpu.passes", "PlanMemory"),
        "expand-kernels": _pass("targets.cpu.passes", "ExpandKernels"),
        "pack-arguments": _pass("lowering.pack_arguments", "PackArguments"),
        "form-dispatches": _pass("targets.cpu.passes", "FormDispatches"),
        "to-destinations": _pass("targets.cpu.passes", "ToDestinations"),
        "verify-memory": _pass("targets.cpu.passes", "VerifyMemory"),
        "edge-to-linalg": _pass("lowering.edge_to_linalg", "EdgeToLinalg"),
        "expand-math": _pass("lowering.expand_math", "ExpandMath"),
        "expand-flex-attention": _pass("transforms.flex_attention", "ExpandFlexAttention"),
        "batch-matmuls": _pass("transforms.batch_matmuls", "BatchMatmuls"),
        "canonicalize-fastmath": _pass("transforms.fastmath", "CanonicalizeFastMath"),
        "fold-batch-norm": _pass("transforms.fold_batch_norm", "FoldBatchNorm"),
        "fold-constants": _pass("transforms.fold_constants", "FoldConstants"),
        "forget-layouts": _pass("transforms.layouts", "ForgetLayouts"),
        "from-irdl-names": _pass("transforms.irdl_names", "FromIrdlNames"),
        "to-irdl-names": _pass("transforms.irdl_names", "ToIrdlNames"),
        "dedupe-weights": _pass("transforms.dedupe_weights", "DedupeWeights"),
        "grad": _pass("transforms.grad", "Grad"),
        "hoist-invariants": _pass("transforms.hoist_invariants", "HoistInvariants"),
        "merge-common": _pass("transforms.optimize", "MergeCommon"),
        "merge-views": _pass("transforms.optimize", "MergeViews"),
        "optimize": _pass("transforms.optimize", "Optimize"),
        "simplify-sizes": _pass("transforms.simplify_sizes", "SimplifySizes"),
        "specialize": _pass("transforms.specialize", "Specialize"),
        "lay-results": _pass("transforms.lay_results", "LayResults"),
        "sink-casts": _pass("transforms.sink_casts", "SinkCasts"),
        "unroll-loops": _pass("transforms.unroll_loops", "UnrollLoops"),
        "decompose-aten": _pass("transforms.decompose_aten", "DecomposeAten"),
        "inline-delegates": _pass("transforms.partition", "InlineDelegates"),
        "inline-torchscript-calls": _pass("importers.torchscript.passes", "InlineTorchscriptCalls"),
        "torchscript-to-aten": _pass("importers.torchscript.passes", "TorchscriptToAten"),
        "inline-modules": _pass("transforms.unflatten", "InlineModules"),
        "decompose-backend": _pass("transforms.fuse_operators", "DecomposeBackend"),
        "fuse-operators": _pass("transforms.fuse_operators", "FuseOperators"),
        "partition": _pass("transforms.partition", "Partition"),
        "preprocess-delegates": _pass("transforms.preprocess_delegates", "PreprocessDelegates"),
        "to-out-variants": _pass("transforms.out_variants", "ToOutVariants"),
        "to-memory-formats": _pass("transforms.layouts", "ToMemoryFormats"),
        "unflatten": _pass("transforms.unflatten", "Unflatten"),
        "verify-aten": _pass("transforms.verify", "VerifyAten"),
        "verify-backend": _pass("transforms.verify", "VerifyBackend"),
        "verify-edge": _pass("transforms.verify", "VerifyEdge"),
    },
    all_targets={
        "exir-run": _lazy("runtime.xdsl_target", "RunTarget"),
    },
)


def register_ops(
    source: str | os.PathLike[str], functions: str | os.PathLike[str] | None = None
) -> tuple[str, ...]:
    """Adds a library of operators to those known in this process, and gives their names (`mylib.my_op`).

    `source` is the path of a YAML file, or YAML text. `functions` is the Python that says what the operators do: a
    `.py` file or the name of a module, imported when first needed; by default the file beside `source`. The decorators
    (`shape_rule`, `impl`, `decomposition`, `lowering`) may also be used afterwards, anywhere.

    Raises `SpecError`, with file and line, for an entry that is not an operator, or an operator that is known already;
    then nothing is added. A file that `XDSL_EXIR_OPS` or an entry point names may be registered once more, which changes
    nothing.
    """
    from xdsl_exir.dialects.spec import specs
    from xdsl_exir.dialects.spec.library import read, read_library, registered_by_itself
    from xdsl_exir.program import context

    table = specs()
    if isinstance(source, str) and ("\n" in source or "func:" in source):
        added = read(source, "<text>", functions_of(functions))
    else:
        path = Path(source).resolve()
        if functions is None and (names := registered_by_itself(path)) is not None:
            return names
        python = python_beside(path) if functions is None else functions_of(functions)
        added = read_library(Library(path, python, "register_ops"))
    dialects = dialects_of([spec.schema.namespace for spec in added])
    table.extend(added)
    for name, dialect in dialects.items():
        XDSL_EXIR_UNIVERSE.all_dialects.setdefault(name, dialect)
    context.cache_clear()
    return tuple(spec.qualified_name for spec in added)


def register_with_transformers() -> None:
    """Makes `export_format="xdsl-exir"` one of `transformers.exporters` (`tools.huggingface`). Once is enough, and more do nothing.

    Raises `ExirError` where `transformers` is not there, or has no exporters that others may add to.
    """
    from xdsl_exir.tools.huggingface import backend

    backend()


def unregister_ops(*names: str) -> None:
    """Takes users' operators away again, with what is registered for them, and with all that the Python of libraries
    of which nothing is left has registered. (In a notebook: unregister, edit, register.) Programs that hold them must not
    be used any more.

    Raises `SpecError` for an operator that is built in, or that is not known.
    """
    from xdsl_exir.dialects import aten, backend, edge
    from xdsl_exir.dialects.registry import forget
    from xdsl_exir.dialects.spec import find, specs
    from xdsl_exir.errors import SpecError
    from xdsl_exir.program import context
    from xdsl_exir.transforms.backend_ops import BACKEND_OPS

    table = specs()
    taken = [find(name) for name in names]
    for spec in taken:
        if not spec.place:
            raise SpecError(f"{spec.qualified_name} is built in")
    table.remove(names)
    forget(names, {spec.functions for spec in taken} - table.homes - {""})
    for dialect in (aten.OPERATORS, edge.OPERATORS, backend.OPERATORS):
        dialect.forget(names)
    for name in names:
        BACKEND_OPS.pop(name, None)
    for namespace in {spec.schema.namespace for spec in taken}:
        if not any(name.startswith(f"{namespace}.") for name in table):
            XDSL_EXIR_UNIVERSE.all_dialects.pop(namespace, None)
    context.cache_clear()
