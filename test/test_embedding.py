"""Our text in flows that are not ours: stock mlir-opt with other passes, IREE, and the dialects as IRDL."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects import irdl_text
from xdsl_exir.dialects.exir import ConstantOp, NumberOp
from xdsl_exir.program import Program, context
from xdsl_exir.tools.main import main
from xdsl_exir.transforms.irdl_names import FromIrdlNames, ToIrdlNames

MLIR_OPT = shutil.which("mlir-opt-22") or ""
DIGITS = Path(__file__).parents[1] / "bench" / "digits"
Case = tuple[xdsl_exir.Program, list[Any], Any]


def export(model: Any, inputs: tuple[Any, ...], **options: Any) -> xdsl_exir.Program:
    torch = pytest.importorskip("torch")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xdsl_exir.from_exported_program(torch.export.export(model.eval(), inputs, **options))


def mlp() -> Case:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 24), torch.nn.GELU(), torch.nn.Linear(24, 5), torch.nn.Softmax(-1)
    )
    x = torch.randn(3, 16)
    return export(model, (x,)), [x.numpy()], model(x).detach().numpy()


def digits() -> Case:
    images = np.load(DIGITS / "test_images.npz")["images"]
    program = xdsl_exir.load(DIGITS / "digits.pt2")
    return program, [images], xdsl_exir.compile(program).flat([images])[0]


CASES = {"mlp": mlp, "digits": digits}


def arguments(program: xdsl_exir.Program, inputs: list[Any]) -> list[Any]:
    """Arrays for all arguments of the function: weights, then inputs."""
    run = xdsl_exir.compile(program)
    given = zip(run.method().targets, run.method().bind(inputs), strict=True)
    # State that no operation looks at is not bound.
    return [np.asarray(run.array(name) if value is None else value, order="C") for name, value in given]


def mlir_opt(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MLIR_OPT, *options], input=text, capture_output=True, text=True, check=False)


# --- linalg through stock MLIR -------------------------------------------------------------------------------

# The order that MLIR's documentation shows for linalg on tensors; none of this package's passes or schedules.
STOCK = (
    "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map}",
    "buffer-results-to-out-params{modify-public-functions}",
    "convert-linalg-to-loops",
    "func.func(llvm-request-c-wrappers)",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
)


@pytest.mark.native
@pytest.mark.parametrize("name", CASES)
def test_linalg_through_a_stock_pipeline(name: str):
    from xdsl_exir.lowering import mlir
    from xdsl_exir.runtime import linking

    program, inputs, expected = CASES[name]()
    text = program.to_edge().transform("edge-to-linalg").text(generic=True)
    lowered = mlir_opt(text, f"--pass-pipeline=builtin.module({','.join(STOCK)})", "--mlir-print-op-generic")
    assert lowered.returncode == 0, lowered.stderr
    dialects = set(re.findall(r'^\s*(?:%\S+ = )?"(\w+)\.', lowered.stdout, re.MULTILINE))
    assert dialects == {"builtin", "llvm"}

    if "memrefCopy" in lowered.stdout:
        runtime = next(Path("/usr/lib/llvm-22/lib").glob("libmlir_c_runner_utils.so*"), None)
        if runtime is None:
            pytest.skip(
                "lowered, but not run: MLIR's runtime library (libmlir_c_runner_utils) is not installed"
            )
        pytest.importorskip("llvmlite.binding").load_library_permanently(str(runtime))
    got = np.empty_like(expected)
    library = linking.load(
        lowered.stdout, [mlir.Pass("canonicalize", "the module is in LLVM's dialect already")]
    )
    linking.bind(library, "forward", [*arguments(program, inputs), got])()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_the_command_line_prints_linalg(tmp_path: Path):
    out = tmp_path / "digits.mlir"
    assert main(["import", str(DIGITS / "digits.pt2"), "--stage", "linalg", "--generic", "-o", str(out)]) == 0
    text = out.read_text()
    assert '"linalg.generic"' in text
    assert '"edge.' not in text
    assert '"exir.' not in text


# --- IREE ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")  # IREE's own
def test_linalg_through_iree(name: str):
    reason = "IREE is not installed (pip install 'xdsl-exir[iree]')"
    compiler = pytest.importorskip("iree.compiler", reason=reason)
    runtime = pytest.importorskip("iree.runtime", reason=reason)
    program, inputs, expected = CASES[name]()
    text = program.to_edge().transform("edge-to-linalg").text(generic=True)
    binary = compiler.compile_str(
        text, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"]
    )
    config = runtime.Config("local-sync")
    module = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, binary), config)
    # Lowered types are signless: Byte and Bool are i8.
    values = [a.view(np.int8) if a.dtype in (np.uint8, np.bool_) else a for a in arguments(program, inputs)]
    got = module.forward(*values).to_host()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


# --- IRDL ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def irdl_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("irdl") / "exir.irdl.mlir"
    assert main(["irdl", "-o", str(path)]) == 0
    return path


def renamed(program: xdsl_exir.Program) -> str:
    return program.apply(ToIrdlNames()).text(generic=True)


def restored(text: str, program: xdsl_exir.Program) -> str:
    """The program of renamed text, as xdsl-opt reads it and the pass turns it back."""
    ctx = context().clone()
    ctx.allow_unregistered = True
    module = Parser(ctx, text).parse_module()
    FromIrdlNames().apply(ctx, module)
    return Program(module, program.state).verify().text()


def lists_program() -> xdsl_exir.Program:
    """Lists of several types, of operands and of results."""
    torch = pytest.importorskip("torch")

    class Lists(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            first, second = torch.split(torch.cat([x, y], dim=1), [2, 6], dim=1)
            return first * 2, second[:, None]

    return export(Lists(), (torch.randn(4, 3), torch.randn(4, 5)))


def dynamic_program() -> xdsl_exir.Program:
    torch = pytest.importorskip("torch")

    class Dynamic(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            both = torch.cat([x, y], dim=1)
            return both, torch.zeros(x.shape[1] * 2 + 1, y.shape[1], 3) + 1

    sizes = [{1: torch.export.Dim("n", min=2, max=64)}, {1: torch.export.Dim("m", min=2)}]
    return export(Dynamic(), (torch.randn(4, 3), torch.randn(4, 5)), dynamic_shapes=sizes)


PROGRAMS = {
    "mlp": lambda: mlp()[0],
    "digits": lambda: digits()[0],
    "lists": lists_program,
    "dynamic": dynamic_program,
}


@pytest.mark.native
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("stage", ["imported", "edge"])
def test_mlir_verifies_our_programs(name: str, stage: str, irdl_file: Path):
    program = PROGRAMS[name]()
    program = program.to_edge() if stage == "edge" else program
    text = renamed(program)
    done = mlir_opt(text, f"--irdl-file={irdl_file}", "--mlir-print-op-generic")
    assert done.returncode == 0, done.stderr
    assert restored(text, program) == program.text()
    # And back from what mlir-opt printed, but for the names of values.
    assert len(restored(done.stdout, program).splitlines()) == len(program.text().splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_are_turned_back(name: str):
    program = PROGRAMS[name]()
    assert program.apply(ToIrdlNames()).apply(FromIrdlNames()).text() == program.text()


@pytest.mark.native
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('%0 = "edge.aten_dot_mm"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>', None),
        ('%0 = "edge.aten_dot_mm"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>', "operands"),
        ('%0 = "edge.aten_dot_mm"(%x, %n) : (tensor<2x2xf32>, f64) -> tensor<2x2xf32>', "builtin.tensor"),
        ('%0 = "aten.mul_dot_tensor"(%x, %n) : (tensor<2x2xf32>, f64) -> tensor<2x2xf32>', None),
        ('%0 = "edge.aten_dot_mm"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> f64', "builtin.tensor"),
        ('"edge.aten_dot_mm"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()', "results"),
        (
            '%0 = "edge.aten_dot_permute"(%x) {dims = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>',
            None,
        ),
        ('%0 = "edge.aten_dot_permute"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>', "dims"),
        (
            '%0 = "edge.aten_dot_permute"(%x) {dims = [1, 0]} : (tensor<2x2xf32>) -> tensor<2x2xf32>',
            "dense_array",
        ),
        ('%0 = "edge.aten_dot_no_such"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>', "unregistered"),
    ],
)
def test_mlir_refuses_what_is_wrong(text: str, error: str | None, irdl_file: Path):
    module = f"func.func @f(%x: tensor<2x2xf32>, %n: f64) {{\n{text}\nreturn\n}}"
    done = mlir_opt(module, f"--irdl-file={irdl_file}")
    assert (done.returncode == 0) == (error is None), done.stderr
    assert (error or "") in done.stderr


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aten.add.Tensor", "aten.add_dot_tensor"),
        ("edge.aten._softmax", "edge.aten_dot_under_softmax"),
        ("aten.__and__.Scalar", "aten.under_under_and_under_under_dot_scalar"),
        ("exir.sym_add", "exir.sym_add"),
    ],
)
def test_names(name: str, expected: str):
    assert irdl_text.irdl_name(name) == expected


def test_every_operation_has_a_name_of_its_own():
    classes = irdl_text.operation_classes()
    assert {ConstantOp, NumberOp} <= set(classes.values())
    for name in classes:
        assert re.fullmatch(r"[a-z]+(_?[a-z0-9])*\.[a-z0-9]+(_[a-z0-9]+)*", name), name


def test_the_command_line_selects_dialects_and_operators(capsys: pytest.CaptureFixture[str]):
    assert main(["irdl", "edge", "--operators", "edge.aten.add.*"]) == 0
    text = capsys.readouterr().out
    assert "irdl.operation @aten_dot_add_dot_tensor" in text
    assert "mm" not in text
    assert "irdl.dialect @aten" not in text
    assert "irdl.type @symint_text" in text
    assert main(["irdl", "nonsense"]) == 1
    assert "no dialect 'nonsense'" in capsys.readouterr().err
