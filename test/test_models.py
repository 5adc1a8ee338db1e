"""The five models of bench/models: exported, imported both ways, run at every stage, compared with eager PyTorch."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")

BENCH = Path(__file__).parents[1] / "bench"
MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")
CLEAN_UP = "canonicalize,cse,dce"

# PyTorch's own warnings while it exports; nothing of ours warns.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)


def load_script(name: str) -> Any:
    """A script of bench/ as module."""
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def export(name: str, folder: Path) -> tuple[dict[str, Any], dict[str, Path], list[Any], list[Any]]:
    """A model's exported programs and archives by dialect, its inputs and eager outputs."""
    model, inputs = load_script("export_models").get_model_and_inputs(name)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = model(*inputs)
        training = torch.export.export(model, inputs)
        programs = {"training": training, "core": training.run_decompositions()}
        archives = {dialect: folder / f"{dialect}.pt2" for dialect in programs}
        for dialect, program in programs.items():
            torch.export.save(program, archives[dialect])
    flat = outputs if isinstance(outputs, tuple) else (outputs,)
    return programs, archives, [x.numpy() for x in inputs], [x.numpy() for x in flat]


def assert_same(got: list[Any], expected: list[Any]) -> None:
    assert len(got) == len(expected)
    for value, wanted in zip(got, expected, strict=True):
        assert value.dtype == wanted.dtype
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_every_stage_equals_eager(name: str, tmp_path: Path):
    programs, archives, inputs, expected = export(name, tmp_path)
    for dialect, exported in programs.items():
        sources = {
            "live": xdsl_exir.from_exported_program(exported),
            "pt2": xdsl_exir.load(archives[dialect]),
        }
        # One module in two ways: the text is the same but for what only a file or only a live program knows.
        assert str(sources["live"]) == str(sources["pt2"])
        for program in sources.values():
            for stage in (program, program.to_core(), program.to_edge()):
                assert_same(xdsl_exir.compile(stage).flat(inputs), expected)


@pytest.mark.parametrize("name", ["llama8", "resnet18"])
def test_stock_clean_ups_between_stages_change_no_result(name: str, tmp_path: Path):
    _, archives, inputs, expected = export(name, tmp_path)
    imported = xdsl_exir.load(archives["training"]).transform(CLEAN_UP)
    core = imported.to_core().transform(CLEAN_UP)
    edge = core.transform("aten-to-edge").transform(CLEAN_UP)
    for program in (imported, core, edge):
        assert_same(xdsl_exir.compile(program).flat(inputs), expected)


@pytest.mark.parametrize("name", ["bert6", "resnet18"])
def test_stock_walkers_with_decompositions_do_what_the_pass_does(name: str, tmp_path: Path):
    from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

    from xdsl_exir.program import Program
    from xdsl_exir.transforms.decompose_aten import decompositions

    program = xdsl_exir.load(export(name, tmp_path)[1]["training"])
    module = program.module.clone()
    assert PatternRewriteWalker(GreedyRewritePatternApplier(decompositions())).rewrite_module(module)
    assert Program(module).text(locations=True) == program.to_core().text(locations=True)


@pytest.mark.usefixtures("clean")
def test_fusing_into_an_operator_of_ones_own(tmp_path: Path):
    """Each linear layer of bert6 with a gelu behind it: in Python and in PDL, the same program and the same numbers."""
    fused = BENCH.parent / "examples" / "fused"
    xdsl_exir.register_ops(fused / "fused.yaml")
    _, archives, inputs, expected = export("bert6", tmp_path)
    program = xdsl_exir.load(archives["training"])
    pattern = xdsl_exir.rewrite(
        lambda aten, x, w, b: aten.gelu(aten.linear(x, w, b)),
        lambda fused, x, w, b: fused.linear_gelu(x, w, b),
    )
    after = program.transform(pattern)
    assert str(after).count(" fused.linear_gelu(") == str(program).count(" aten.gelu(") == 6
    assert " aten.gelu(" not in str(after)
    in_pdl = program.transform(f'apply-pdl{{pdl_file="{fused / "fuse.mlir"}"}}')
    assert in_pdl.text(locations=True) == after.text(locations=True)
    # The lines of Python and the modules are those of what was fused.
    gelus = [line for line in program.text(locations=True).splitlines() if " aten.gelu(" in line]
    fused_lines = [line for line in after.text(locations=True).splitlines() if " fused.linear_gelu(" in line]
    for line, gelu in zip(fused_lines, gelus, strict=True):
        assert line.rpartition("loc(")[2] == gelu.rpartition("loc(")[2]
        assert (
            line.partition("#exir.origin")[2].partition(">")[0]
            == gelu.partition("#exir.origin")[2].partition(">")[0]
        )
    for stage in (after, after.to_edge(), after.to_edge(keep=("fused.linear_gelu",))):
        assert_same(xdsl_exir.compile(stage).flat(inputs), expected)


@pytest.mark.parametrize("name", ["mlp", "resnet18"])
def test_text_round_trip_of_every_stage(name: str, tmp_path: Path):
    from xdsl.parser import Parser

    from xdsl_exir.program import context

    _, archives, _, _ = export(name, tmp_path)
    program = xdsl_exir.load(archives["training"])
    for stage in (program, program.to_core(), program.to_edge()):
        for generic in (False, True):
            module = Parser(context().clone(), stage.text(generic=generic, locations=True)).parse_module()
            assert module.is_structurally_equivalent(stage.module)


@pytest.mark.native
@pytest.mark.parametrize("name", MODELS)
def test_native_code_equals_eager(name: str, tmp_path: Path):
    programs, archives, inputs, expected = export(name, tmp_path)
    for dialect, exported in programs.items():
        for program in (xdsl_exir.from_exported_program(exported), xdsl_exir.load(archives[dialect])):
            run = xdsl_exir.compile(program, target="native", fallback="error")
            for _ in range(2):  # the second call reuses what the first one bound
                assert_same(run.flat(inputs), expected)
