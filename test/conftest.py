"""What tests share: skipping without tools, forgetting operators that a test registers, and figures that tests record,
printed after the run (with xdist as well)."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from cpus import PART
from hypothesis import HealthCheck, settings

from xdsl_exir import errors
from xdsl_exir.dialects.spec import specs
from xdsl_exir.lowering import mlir
from xdsl_exir.runtime import kept_code
from xdsl_exir.runtime.openmp import find_openmp
from xdsl_exir.targets.cpu.machine import NATIVE, VARIABLE, llvm_binding
from xdsl_exir.universe import unregister_ops

# A machine with other work to do is slow, and no test is about that.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Threads of two processes on two cores would spin for each other, ours and PyTorch's: an eighth of the time of a run.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# What is collected and what it imports stays until the end: no search for garbage need go through it (a tenth of the time of a run).
gc.set_threshold(20_000, 20, 100)

# C libraries have code for several processors unless one is said: three times the work, which tests of that ask for.
os.environ.setdefault(VARIABLE, NATIVE)

SLOW = {
    "*test_autocast.py": "exports models in every way",
    "*test_attention.py": "every operator in every dtype",
    "*test_backend_ops.py": "many programs natively",
    "*test_backward.py": "every gradient in both engines",
    "*test_canonicalizations.py": "every rule in every dtype",
    "*test_simplified.py": "random programs",
    "*test_linear_algebra.py": "every factorization in every dtype",
    "*test_kept_code.py": "compiles natively",
    "*test_special_values.py::test_*natively*": "every operator natively",
    "lowering/*": "every operator natively",
    "targets/*": "every kernel natively",
    "exporters/*": "every model there and back",
    "*test_a[cl]*.py": "tables of errors, views of every operator",
    "*test_c_*.py": "C compilers, tables of errors, other processors",
    "*test_control_flow.py": "many programs natively",
    "*test_cpus.py": "two collections of tests",
    "*test_count_sizes.py": "many programs natively",
    "*test_d[iot]*.py": "many programs natively; the examples of documents; every operator in every combination of dtypes",
    "*test_embedding.py": "other tools",
    "*test_exported_collections.py": "PyTorch's collections",
    "*test_executorch.py": "another package",
    "*test_exported_program.py": "exports models in every way",
    "*test_expr.py": "random expressions",
    "*test_external.py": "tools that hang",
    "*test_fa[lu]*.py": "processes that are killed; many programs natively",
    "*test_files.py": "processes that are killed",
    "*test_fft.py": "every operator in every dtype",
    "*test_flex_attention.py": "many programs natively",
    "*test_functionalize.py": "every view",
    "*test_*fuzz*.py": "random programs",
    "*test_gradients.py": "many derivatives, natively",
    "*test_generator.py": "millions of numbers",
    "*test_hostile*.py": "large files, thousands of damaged ones",
    "*test_layouts.py": "every operator in every layout",
    "*test_length.py": "long programs",
    "*test_libcalls.py": "every half, on several processors",
    "*test_literature.py": "many models",
    "*test_matmul.py": "every operator in every dtype",
    "*test_metadata.py": "every pass over whole models",
    "*test_*models.py": "whole models",
    "*test_normalization.py": "every operator in every dtype",
    "test_npu.py": "an accelerator in several processes",
    "*test_out_variants.py": "every operator of PyTorch's; a model natively",
    "*test_delegates.py": "processes, C libraries",
    "*test_packaging.py": "installs the package",
    "*operators/test_pointwise.py": "every operator in every dtype",
    "*test_process.py": "many calls",
    "*test_random_*.py": "random programs, every operator that draws numbers",
    "*test_re[cds]*.py": "every operator in every dtype",
    "*test_rewrites.py": "every rule in every dtype",
    "*test_round_trip*.py": "every operator, every model there and back",
    "*test_saved.py": "exports models, compiles natively",
    "*test_spec.py": "every operator of PyTorch's",
    "*test_specialize.py": "exports models",
    "*test_state.py": "exports models, compiles natively",
    "*test_synonyms.py": "exports models, compiles natively",
    "*test_threads.py": "many calls natively",
    "*test_user_operators.py": "processes that find libraries",
    "*test_targets.py": "processes that find libraries",
    "*test_traced_apart.py": "exports programs in every way",
    "importers/test_effects.py": "exports programs in every way",
    "*test_unflatten.py": "exports models",
    "*test_upstream.py": "every stage, natively",
    "*test_verifier.py": "every operator, changed in one thing",
    "*test_torch[av]*.py": "quantized models and detectors natively",
    "*test_orders.py::test_long_chains_are_laid": "exports 1,200 operators",
    "*test_complex32.py::test_operators": "every operator natively",
}
"""Files of tests, and tests, that `make check` leaves to `make test`, and why they take long. They bear the mark `slow`."""


LONG = {
    "*test_accuracy.py::test_errors_of_native_code*float16*": "`python test/accuracy.py` has all",
    "*test_complex.py::test_agrees*dtype1*": "complex64 is tested",
    "*test_fourier.py::test_long_ones_in_two_rounds*float64*": "float32 is tested",
    "*test_random_numbers.py::test_*float16*native*": "float32 and float64 are tested",
    "*test_back_out.py::test_models?mobilenetv2*": "resnet18 is tested",
    "*test_dynamic.py::test_models?llama8*": "bert6 is tested",
    "*test_models.py::test_every_stage_equals_eager?llama8*": "bert6 is tested; `python test/stages.py` has all",
    "*test_models.py::test_stock_clean_ups*llama8*": "bert6 is tested",
    "*test_metadata.py::test_operators?decompose-aten,aten-to-edge,canonicalize,cse,dce?": "the same with linalg is tested",
    "*test_resampling.py::test_the_calls_of_the_interpreter": "`test_rewrites.py` lowers each operator",
    "*test_special.py::test_the_calls_of_the_interpreter": "`test_pointwise.py` has a part",
    "*test_rewrites.py::test_lowerings?special 1?": "`test_special.py` tests these functions",
    "*test_verifier.py::test_mutants?aten?": "edge is tested",
    "*test_random_programs.py::test_random_programs_in_the_interpreter?core?": "programs as captured are tested",
    "*test_dtype_rules.py::test_rules_are_exact?[1-9]*": "a sixteenth of the operators is tested; `python test/dtype_sweep.py` has all",
    "*test_round_trip.py::test_samples?aten?": "edge is tested",
    "*test_schedules.py::test_convolutions?*-plain?": "the same are tested with what follows",
    "*test_models.py::test_every_stage_equals_eager?mobilenetv2?": "resnet18 is tested; `python test/stages.py` has all",
}
"""Tests that a run of everything leaves out unless `XDSL_EXIR_THOROUGH` is set, and why they may be."""
LARGE = 5000
"""Tests of a run of everything, at least."""
STEPS = ((96, 16), (24, 8), (6, 3), (3, 2), (0, 1))
"""Of more tests of a kind than that, in such a run, how many steps it takes from one to the next: `make test` shall take less than 25 minutes
on two cores, also of slow ones."""


@pytest.fixture(autouse=True, scope="session")
def _planned_anew() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Programs are planned, whatever runs before have kept: that is what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_code, "LIMITS", replace(kept_code.LIMITS, program_bytes=0))
        yield


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Called with a text: prints it in the summary of the run."""

    def record(text: str) -> None:
        record_property("figures", text)

    return record


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, text in report.user_properties:
            if name == "figures":
                terminalreporter.section(report.nodeid)
                terminalreporter.line(text)


@pytest.fixture(scope="session")
def native_tools() -> None:
    """Skips what needs native code where it cannot be made. Tests that have it bear the mark `native`."""
    skip_without_tools()


@functools.cache
def missing_tool() -> str | None:
    """What native code lacks here."""
    try:
        mlir.find_tool("mlir-opt")
        llvm_binding()
        have_openmp_found()
    except errors.ToolchainError as error:
        return str(error)
    return None


def have_openmp_found() -> None:
    """C libraries say nothing of where the OpenMP runtime is: the loader finds it here, for this process and those that it starts."""
    runtime = find_openmp()
    ctypes.CDLL(str(runtime))
    folders = [str(runtime.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(folders)


def skip_without_tools() -> None:
    if reason := missing_tool():
        pytest.skip(reason)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = os.environ.get(PART)
    if (part or len(items) > LARGE) and not os.environ.get("XDSL_EXIR_THOROUGH"):
        left = {id(item) for item in (left_out(items, int(part), 8) if part else left_out(items))}
        config.hook.pytest_deselected(items=[item for item in items if id(item) in left])
        items[:] = [item for item in items if id(item) not in left]
    for item in items:
        if "native_tools" in getattr(item, "fixturenames", ()):
            item.add_marker("native")
        path = str(item.path.relative_to(Path(__file__).parent))
        names = path, f"{path}::{item.name}"
        if any(fnmatch(name, pattern) for name in names for pattern in SLOW):
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def left_out(items: list[pytest.Item], part: int = 0, least: int = 1) -> Iterator[pytest.Item]:
    """What a run of everything leaves to `make thorough`, and one of several to the others."""
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        if any(fnmatch(item.nodeid, pattern) for pattern in LONG):
            yield item
        else:
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
    # Of several runs, every second one has a test that is like no other.
    alone = [family for family in families.values() if least > 1 and len(family) == 1]
    yield from (item for at, [item] in enumerate(alone) if (at - part) % 2)
    for family in families.values():
        step = next(step for more, step in STEPS if least * len(family) > more) if len(family) > 1 else 1
        yield from (item for at, item in enumerate(family) if (at - part) % step)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("native"):
        skip_without_tools()


@pytest.fixture
def clean() -> Iterator[None]:
    """Forgets what a test registers."""

    before = set(specs())
    yield
    unregister_ops(*(name for name in specs() if name not in before))
