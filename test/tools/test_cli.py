"""The command line: `xdsl-exir import`, `run` and `ops`; what it writes, how it fails."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.spec import specs
from xdsl_exir.targets.cpu.machine import llvm_binding
from xdsl_exir.tools import common
from xdsl_exir.tools.main import main
from xdsl_exir.transforms.stages import RUN

DIGITS = Path(__file__).parents[2] / "bench" / "digits" / "digits.pt2"

SILU = """
func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0 = aten.silu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0, %y : tensor<2x3xf32>, tensor<3xf32>
}
func.func @g(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = aten.neg(%x) : (tensor<2xi64>) -> tensor<2xi64>
  func.return %0 : tensor<2xi64>
}
"""
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
Y = np.arange(3, dtype=np.float32)


@pytest.fixture
def silu(tmp_path: Path) -> Path:
    path = tmp_path / "silu.mlir"
    path.write_text(SILU)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    np.savez(tmp_path / "xy.npz", x=X, y=Y)
    return path


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, nothing is said of what takes long."""
    monkeypatch.setattr(common, "PATIENCE", 100)


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line that a failing command prints on standard error."""
    assert main([str(argument) for argument in arguments]) == 1
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len(lines) == 1, captured.err
    assert captured.out == ""
    assert lines[0].startswith("xdsl-exir: error: ")
    return lines[0].removeprefix("xdsl-exir: error: ")


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


# --- import --------------------------------------------------------------------------------------------------


def test_import_at_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    program = xdsl_exir.load(DIGITS)
    assert output_of(capsys, "import", DIGITS) == f"{program}\n"
    assert output_of(capsys, "import", DIGITS, "--stage", "core") == f"{program.to_core()}\n"
    assert output_of(capsys, "import", DIGITS, "--stage", "edge") == f"{program.to_edge()}\n"


def test_import_forms(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = xdsl_exir.load(DIGITS)
    assert output_of(capsys, "import", DIGITS, "--generic") == program.text(generic=True) + "\n"
    assert output_of(capsys, "import", DIGITS, "--print-debuginfo") == program.text(locations=True) + "\n"
    path = tmp_path / "digits.mlir"
    assert output_of(capsys, "import", DIGITS, "-o", path) == ""
    assert path.read_text() == f"{program}\n"


def test_import_and_passes(capsys: pytest.CaptureFixture[str], silu: Path) -> None:
    out = output_of(capsys, "import", silu, "-p", "decompose-aten,aten-to-edge,canonicalize")
    assert "edge.aten.sigmoid(" in out
    assert output_of(capsys, "import", silu, "--stage", "edge") == out


def test_stats(capsys: pytest.CaptureFixture[str], silu: Path) -> None:
    assert main(["import", str(silu), "--stage", "edge", "--stats"]) == 0
    captured = capsys.readouterr()
    assert "edge.aten.sigmoid(" in captured.out
    table = [line.split() for line in captured.err.splitlines()]
    assert table[0][1:] == ["s", "decompose-aten"]
    assert ["1", "decomposition", "of", "aten.silu"] in table


def test_bisect(capsys: pytest.CaptureFixture[str], silu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from xdsl_exir.transforms.decompositions import DECOMPOSITIONS

    arguments = ("bisect", silu, "-p", "decompose-aten,aten-to-edge")
    assert output_of(capsys, *arguments) == "no difference\n"
    silu.write_text(SILU.replace("silu", "gelu"))
    former = DECOMPOSITIONS.override("aten.gelu", lambda aten, self: aten.sigmoid(self))
    try:
        assert main([str(argument) for argument in (*arguments, "--inputs", silu.parent / "xy.npz")]) == 1
    finally:
        DECOMPOSITIONS.override("aten.gelu", former)
    *steps, found, limit = capsys.readouterr().out.splitlines()
    assert found.startswith("application 1 of decompose-aten, decomposition of aten.gelu changes")
    assert limit == "XDSL_EXIR_OPT_LIMIT=decompose-aten=1"
    assert all(re.fullmatch(r"\d+ of \d+: (right|wrong)", step) for step in steps)


def test_import_to_other_forms(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    archive, text = tmp_path / "edge.pt2", tmp_path / "edge.mlir"
    for form, path in (("pt2", archive), ("mlir", text)):
        assert output_of(capsys, "import", DIGITS, "--stage", "edge", "--to", form, "-o", path) == ""
    edge = xdsl_exir.load(DIGITS).to_edge()
    assert xdsl_exir.load(text).text() == edge.text()
    assert xdsl_exir.load(archive).to_edge().methods.keys() == edge.methods.keys()
    assert (tmp_path / "edge.safetensors").is_file()
    printed = output_of(capsys, "import", DIGITS, "--to", "fx")
    assert printed == xdsl_exir.load(DIGITS).fx_text() + "\n"
    assert error_of(capsys, "import", DIGITS, "--to", "pt2") == "--to pt2 needs -o FILE.pt2"
    wrong = tmp_path / "edge.bin"
    assert error_of(capsys, "import", DIGITS, "--to", "mlir", "-o", wrong) == "--to mlir needs -o FILE.mlir"


# --- run -----------------------------------------------------------------------------------------------------


def test_run(capsys: pytest.CaptureFixture[str], silu: Path, tmp_path: Path) -> None:
    expected = X / (1 + np.exp(-X))
    for inputs in (["x.npy", "y.npy"], ["xy.npz"]):
        for stage in RUN:
            output = tmp_path / "out.npz"
            paths = [tmp_path / name for name in inputs]
            printed = output_of(capsys, "run", silu, "--stage", stage, "-o", output, "--inputs", *paths)
            assert printed.splitlines()[0].startswith("out0: float32[2, 3] [[-0.2689,")
            assert printed.splitlines()[-1] == "out1: float32[3] [0., 1., 2.]"
            with np.load(output) as held:
                assert held.files == ["out0", "out1"]
                np.testing.assert_allclose(held["out0"], expected, rtol=1e-6)
                np.testing.assert_array_equal(held["out1"], Y)


def test_run_another_method(capsys: pytest.CaptureFixture[str], silu: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "n.npy", np.array([1, -2]))
    printed = output_of(capsys, "run", silu, "--method", "g", "--inputs", tmp_path / "n.npy")
    assert printed == "out0: int64[2] [-1,  2]\n"


BF16 = """
func.func @f(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = aten.neg(%x) : (tensor<2xbf16>) -> tensor<2xbf16>
  func.return %0 : tensor<2xbf16>
}
"""


def test_files_of_numbers_that_numpy_has_as_bytes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import ml_dtypes

    path, x, y = tmp_path / "bf16.mlir", tmp_path / "x.npy", tmp_path / "y.npy"
    path.write_text(BF16)
    for file, values in ((x, [1, 2]), (y, [-1, -2])):
        np.save(file, np.array(values, ml_dtypes.bfloat16))
    printed = output_of(capsys, "run", path, "--inputs", x, "--expected", y)
    assert printed.splitlines() == ["out0: bfloat16[2] [-1, -2]", "out0: agrees, largest difference 0"]


def test_a_program_lowered_too_far(capsys: pytest.CaptureFixture[str], silu: Path, tmp_path: Path) -> None:
    linalg = "a program lowered to linalg: {} takes it as it was at edge"
    refused = error_of(capsys, "import", silu, "--stage", "linalg", "--to", "pt2", "-o", tmp_path / "m.pt2")
    assert refused.endswith(linalg.format("Export IR"))
    with pytest.raises(xdsl_exir.ExirError, match="the interpreter does not run kernels' code"):
        xdsl_exir.compile(xdsl_exir.load(silu).to("kernels"))


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_the_stage_of_llvm(capsys: pytest.CaptureFixture[str], silu: Path, tmp_path: Path) -> None:
    """LLVM takes each of the modules."""
    llvm = llvm_binding()
    modules = [
        llvm.parse_assembly(text)
        for text in output_of(capsys, "import", silu, "--stage", "llvm").split("; -----")
    ]
    for module in modules:
        module.verify()
    defined = [f.name for module in modules for f in module.functions if not f.is_declaration]
    assert {"exir.entry.exir.forward0", "exir.entry.exir.forward1"} <= {*defined}
    refused = error_of(capsys, "import", silu, "--stage", "llvm", "--to", "pt2", "-o", tmp_path / "m.pt2")
    assert refused == "--stage llvm is text alone, not --to pt2"


DYNAMIC = """
func.func @f(%x: tensor<?x3xf32, #exir.shape<[s0, 3]>> {exir.input = #exir.input<user_input, "x">},
             %y: tensor<?x1xf32, #exir.shape<[s0, 1]>> {exir.input = #exir.input<user_input, "y">},
             %n: !exir.symint<s1> {exir.input = #exir.input<user_input, "n">})
    -> (tensor<?x3xf32, #exir.shape<[s0, 3]>>, !exir.symint<2 * s1>)
    attributes {exir.ranges = {s0 = #exir.range<1, 9>}} {
  %0 = aten.add.Tensor(%x, %y) : (tensor<?x3xf32, #exir.shape<[s0, 3]>>, tensor<?x1xf32, #exir.shape<[s0, 1]>>)
    -> tensor<?x3xf32, #exir.shape<[s0, 3]>>
  %2 = exir.number 2 : !exir.symint<2>
  %1 = exir.sym_mul %n, %2 : (!exir.symint<s1>, !exir.symint<2>) -> !exir.symint<2 * s1>
  func.return %0, %1 : tensor<?x3xf32, #exir.shape<[s0, 3]>>, !exir.symint<2 * s1>
}
"""


def test_symbolic_sizes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, file = tmp_path / "dynamic.mlir", tmp_path / "in.npz"
    path.write_text(DYNAMIC)
    np.save(tmp_path / "x.npy", X)

    def arguments(rows: int, others: int) -> list[str | Path]:
        np.savez(file, x=np.ones((rows, 3), np.float32), y=np.ones((others, 1), np.float32))
        return [path, "--inputs", file]

    for rows in (1, 9):
        np.savez(tmp_path / "out.npz", np.full((rows, 3), 2, np.float32), 14)
        output_of(capsys, "run", *arguments(rows, rows), "7", "--expected", tmp_path / "out.npz")
        assert output_of(capsys, "diff", f"{path}@edge", *arguments(rows, rows), "7") == "no difference\n"
    for rows, others, number, error in (
        (0, 0, "7", "input 'x', dimension 0: 0 is less than 1 (s0 >= 1)"),
        (10, 10, "7", "input 'x', dimension 0: 10 is more than 9 (s0 <= 9)"),
        (2, 3, "7", "input 'y', dimension 0: 3 is not s0 = 2, since input 'x', dimension 0 is 2"),
        (2, 2, "7.5", "input 'n' is 7.5, expected an integer"),
        (2, 2, tmp_path / "x.npy", "input 'n' is an array of float32, expected an integer"),
    ):
        assert error in error_of(capsys, "run", *arguments(rows, others), number)


def test_expected_outputs(capsys: pytest.CaptureFixture[str], silu: Path, tmp_path: Path) -> None:
    run = ["run", str(silu), "--inputs", str(tmp_path / "xy.npz")]
    good = X / (1 + np.exp(-X))
    cases = {
        "good": (good, Y, 0, ("out0: agrees", "out1: agrees")),
        "near": (good + 1e-3, Y, 1, ("out0: DIFFERS, largest difference 0.001", "out1: agrees")),
        "dtype": (
            good.astype(np.float64),
            Y,
            1,
            ("out0: float32[2, 3], expected float64[2, 3]", "out1: agrees"),
        ),
        "shape": (good.reshape(6), Y, 1, ("out0: float32[2, 3], expected float32[6]", "out1: agrees")),
        "nan": (np.where(X > 0, np.nan, good), Y, 1, ("out0: DIFFERS", "out1: agrees")),
    }
    for name, (first, second, code, lines) in cases.items():
        path = tmp_path / f"{name}.npz"
        np.savez(path, first, second)
        assert main([*run, "--expected", str(path)]) == code, name
        printed = capsys.readouterr().out
        for line in lines:
            assert line in printed, name
    assert main([*run, "--expected", str(tmp_path / "near.npz"), "--atol", "0.01"]) == 0
    assert main([*run, "--expected", str(tmp_path / "x.npy")]) == 1
    assert "2 outputs, expected 1" in capsys.readouterr().err


# --- ops -----------------------------------------------------------------------------------------------------


def test_ops(capsys: pytest.CaptureFixture[str]) -> None:
    listed = output_of(capsys, "ops").splitlines()
    assert [line.split()[0] for line in listed] == list(specs())
    matmuls = output_of(capsys, "ops", "--family", "matmul").splitlines()
    assert 10 < len(matmuls) < 50
    assert all(" matmul " in line for line in matmuls)
    adds = output_of(capsys, "ops", "aten.add.*", "aten.mm").splitlines()
    assert [line.split()[0] for line in adds] == ["aten.add.Tensor", "aten.add.Scalar", "aten.mm"]
    assert adds[0].split(maxsplit=3)[1:] == [
        "pointwise",
        "promote",
        "shape rule, gradient, interpreter, lowering",
    ]
    views = output_of(capsys, "ops", "--tag", "view").splitlines()
    assert any(line.startswith("aten.permute ") for line in views)


@pytest.mark.parametrize("name", ["aten::relu", "torch.ops.aten.relu.default", "edge.aten.relu"])
def test_names_as_others_write_them(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert output_of(capsys, "ops", name).startswith("aten::relu(Tensor self)")


def test_names_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "aten.relu " in output_of(capsys, "ops", "ReLU")
    assert main(["ops", "aten.relux"]) == 1
    assert "no operator matches aten.relux; is it relu?" in capsys.readouterr().err


def test_parts_of_names(capsys: pytest.CaptureFixture[str]) -> None:
    def names(*patterns: str) -> set[str]:
        return {line.split()[0] for line in output_of(capsys, "ops", *patterns).splitlines()}

    assert names("relu") >= {"aten.relu", "aten.relu6", "aten.leaky_relu"}
    assert all("relu" in name for name in names("relu"))
    assert names("aten.add") >= {"aten.add.Tensor", "aten.add.Scalar", "aten.addmm"}
    assert names("aten.mm", "aten.relu") == {"aten.mm", "aten.relu"}
    assert error_of(capsys, "ops", "nonesuch") == "no operator matches nonesuch"


def test_one_operator(capsys: pytest.CaptureFixture[str]) -> None:
    shown = output_of(capsys, "ops", "aten.sigmoid")
    assert shown.startswith(
        "aten::sigmoid(Tensor self) -> Tensor\nfamily: pointwise\ntags: core, pointwise\n"
    )
    assert "shape rule: yes\ndecomposition: no\ngradient: yes\ninterpreter: yes\n" in shown
    for line in (
        "func: aten::sigmoid",
        "namespace: edge",
        "inherits: aten::sigmoid",
        "type_alias:",
        "type_constraint:",
    ):
        assert line in shown


# --- errors --------------------------------------------------------------------------------------------------


def test_errors_are_one_line(capsys: pytest.CaptureFixture[str], silu: Path, tmp_path: Path) -> None:
    xy = tmp_path / "xy.npz"
    bad, broken, text = tmp_path / "bad.pt2", tmp_path / "broken.mlir", tmp_path / "latin.mlir"
    bad.write_bytes(b"PK\x03\x04 not an archive")
    broken.write_text("func.func @f() { aten.nonesuch() : () -> () }")
    text.write_bytes(b"\xff\xfe")
    invalid = tmp_path / "invalid.mlir"
    invalid.write_text(
        "func.func @g(%x: tensor<2xi64>) { %0 = aten.neg(%x) : (tensor<2xi64>) -> tensor<3xi64> func.return }"
    )
    attribute = tmp_path / "attribute.mlir"
    attribute.write_text("func.func private @f(tensor<2x2xf32, #exir.shape<dim_order = [0, 0]>>)")
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    assert "nonesuch.pt2" in error_of(capsys, "import", tmp_path / "nonesuch.pt2")
    assert "bad.pt2" in error_of(capsys, "import", bad)
    assert error_of(capsys, "import", broken) == f"{broken}:1:31: Operation aten.nonesuch is not registered"
    assert "dim_order [0, 0] is not a permutation" in error_of(capsys, "import", attribute)
    assert "latin.mlir: not text" in error_of(capsys, "import", text)
    assert "aten.neg: result 0 is" in error_of(capsys, "import", invalid)
    assert "nonesuch" in error_of(capsys, "import", silu, "-p", "nonesuch")
    assert "pass pipeline 'a,,'" in error_of(capsys, "import", silu, "-p", "a,,")
    assert "f takes 2 inputs, got 0" in error_of(capsys, "run", silu)
    assert "no method 'h'; the program has f, g" in error_of(capsys, "run", silu, "--method", "h")
    assert "no target 'abacus'" in error_of(capsys, "run", silu, "--inputs", xy, "--target", "abacus")
    assert "pickled.npy" in error_of(capsys, "run", silu, "--inputs", pickled)
    assert "silu.mlir" in error_of(capsys, "run", silu, "--inputs", silu)
    swapped = error_of(capsys, "run", silu, "--inputs", tmp_path / "y.npy", tmp_path / "x.npy")
    assert swapped == "input has 1 dimensions, expected 2"
    assert "no operator matches aten.nonesuch" in error_of(capsys, "ops", "aten.nonesuch")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["nonesuch"], ["import"], ["import", "x.pt2", "--stage", "nonesuch"]):
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 2
    with pytest.raises(SystemExit) as raised:
        main(["--help"])
    assert raised.value.code == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in ("import", "run", "ops"))


def test_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "PATIENCE", 0.01)
    with common.step("counting"):
        time.sleep(0.1)
    begun, done = capsys.readouterr().err.splitlines()
    assert begun == "counting ..."
    assert re.fullmatch(r"counting: \d+\.\d s", done)  # however busy the machine is
    monkeypatch.setattr(common, "PATIENCE", 10)
    with common.step("counting"):
        pass
    assert capsys.readouterr().err == ""


def test_the_installed_command() -> None:
    command = Path(sys.executable).with_name("xdsl-exir")
    run = subprocess.run([command, "ops", "aten.mm"], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("aten::mm(Tensor self, Tensor mat2) -> Tensor\n")
    run = subprocess.run([command, "import", "nonesuch.pt2"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.count("\n") == 1


def test_a_reader_that_goes_away() -> None:
    """`xdsl-exir import model.pt2 | head -1` ends quietly."""
    command = f"{Path(sys.executable).with_name('xdsl-exir')} import {DIGITS} --generic | head -1"
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    told = [line for line in run.stderr.splitlines() if not line.startswith(("reading ", "printing"))]
    assert (run.returncode, told) == (0, [])
