"""Executables in files: what is loaded gives the same bits, in a process that has no tools; what is wrong with a file is one error."""

# pyright: basic, reportMissingImports=false, reportCallIssue=false, reportArgumentType=false, reportInvalidTypeForm=false

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir import ExirError, UnsupportedError
from xdsl_exir.dialects.dtypes import Float
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.lowering import LOWERINGS
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.executable import Executable
from xdsl_exir.runtime.fallback import SplitEngine
from xdsl_exir.runtime.native import NativeEngine
from xdsl_exir.runtime.saved import SavedFile, write_file
from xdsl_exir.tools.main import main

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "decoder"
TARGETS = ["interpreter", pytest.param("native", marks=pytest.mark.native)]


class Net(nn.Module):
    """Dynamic sizes, a buffer that calls change, tied weights, and what the test computes of them."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        torch.manual_seed(0)
        self.linear, self.tied = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        self.tied.weight = self.linear.weight
        self.register_buffer("calls", torch.zeros(()))
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        self.calls.add_(1)
        return {"y": self.function(self.tied(self.linear(x)) + self.calls), "n": x.shape[0], "x": x.sum(0)}


def export(function: Callable[..., Any]) -> Program:
    sizes = ({0: torch.export.Dim("n", min=2, max=9)},)
    with torch.no_grad():
        exported = torch.export.export(Net(function).eval(), (torch.zeros(3, 4),), dynamic_shapes=sizes)
    return xdsl_exir.from_exported_program(exported)


def x_of(rows: int) -> np.ndarray[Any, Any]:
    return np.linspace(-1, 1, rows * 4, dtype=np.float32).reshape(rows, 4)


def loaded(run: Executable, path: Path) -> Executable:
    run.save(path)
    return xdsl_exir.load_executable(path)


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    else:
        assert type(one) is type(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


# --- the same bits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_calls(target: str, tmp_path: Path) -> None:
    """At several sizes, state going on from where it was; errors of inputs are the same."""
    first = xdsl_exir.compile(export(torch.relu), target)
    first(x_of(2))
    again = loaded(first, tmp_path / "net.exir")
    assert repr(again.method()) == repr(first.method())
    for rows in (1, 2, 3, 7):
        assert_same(again(x_of(rows)), first(x_of(rows)))
    assert again.array("calls") == first.array("calls") == 5
    for wrong in (x_of(3)[:, :2], x_of(10), x_of(3).astype(np.float64)):
        with pytest.raises(xdsl_exir.InputError) as expected:
            first(wrong)
        with pytest.raises(xdsl_exir.InputError) as found:
            again(wrong)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("target", TARGETS)
def test_state(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other weights are laid out anew without a tool; what shares memory still does."""
    program = export(torch.sigmoid)
    first = xdsl_exir.compile(program, target)
    again = loaded(first, tmp_path / "net.exir")
    weight = np.linspace(1, 2, 16, dtype=np.float32).reshape(4, 4)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr("xdsl_exir.lowering.mlir.find_tool", None)
    for run in (first, again):
        if run is first and target == "native":
            continue
        run.load_state({"linear.weight": weight}, strict=False)
        with pytest.raises(xdsl_exir.InputError, match="one array"):
            run.load_state({"linear.weight": weight, "tied.weight": weight + 1}, strict=False)
    monkeypatch.undo()
    if target == "native":
        first.load_state({"linear.weight": weight}, strict=False)
    assert_same(again(x_of(5)), first(x_of(5)))
    np.testing.assert_array_equal(again.array("tied.weight"), weight)
    assert str(again.program) == str(first.program)


@pytest.mark.parametrize("target", TARGETS)
def test_saved_again_it_is_the_same_file(target: str, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.exir", tmp_path / "twice.exir"
    run = xdsl_exir.compile(export(torch.tanh), target)
    again = loaded(run, once)
    again.save(twice)
    assert once.read_bytes() == twice.read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_methods(target: str, tmp_path: Path) -> None:
    """Two methods share the state that the first one changes, of which the file has one copy."""
    torch.manual_seed(0)
    example = runpy.run_path(str(EXAMPLE / "model.py"))
    first = xdsl_exir.compile(example["export"](example["Decoder"]().eval()), target)
    again = loaded(first, tmp_path / "decoder.exir")
    ids = np.arange(8).reshape(1, 8)
    for name in ("prefill", "decode", "decode"):
        got, expected = again.method(name)(ids), first.method(name)(ids)
        assert_same(got, expected)
        ids = got.argmax(-1, keepdims=True)
    np.testing.assert_array_equal(again.array("keys"), first.array("keys"))


@pytest.mark.parametrize("target", TARGETS)
def test_random_numbers(target: str, tmp_path: Path) -> None:
    """A loaded executable is no copy of a stream: two of them draw other numbers, but after `manual_seed`."""
    first = xdsl_exir.compile(export(lambda x: x + torch.rand_like(x)), target)
    path = tmp_path / "random.exir"
    runs = [first, loaded(first, path), xdsl_exir.load_executable(path)]
    assert first.hosted == runs[1].hosted
    drawn = [run(x_of(9))["y"] for run in runs]
    assert not np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[1], drawn[2])
    for run in runs:
        run.manual_seed(7)
    results = [run(x_of(9)) for run in runs]
    assert_same(results[1], results[0])
    assert_same(results[2], results[0])


@pytest.mark.native
def test_what_the_interpreter_runs_between_native_pieces(tmp_path: Path) -> None:
    before = LOWERINGS.override("aten.sin", None)
    try:
        first = xdsl_exir.compile(export(lambda x: torch.sin(x) @ x.T), "native", fallback="interpreter")
        again = loaded(first, tmp_path / "split.exir")
        assert isinstance(again.engine, SplitEngine)
        assert again.fallbacks == first.fallbacks != ()
        for rows in (2, 5):
            assert_same(again(x_of(rows)), first(x_of(rows)))
        again.load_state({"linear.bias": np.ones(4, np.float32)}, strict=False)
        first.load_state({"linear.bias": np.ones(4, np.float32)}, strict=False)
        assert_same(again(x_of(5)), first(x_of(5)))
    finally:
        LOWERINGS.override("aten.sin", before)


@pytest.mark.native
def test_dtypes_and_layouts(tmp_path: Path) -> None:
    """Constants of every dtype, copied outputs, those that are no row-major arrays, assertions."""

    class Constants(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            kinds = [torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.bool, torch.complex64]
            self.held = [torch.arange(6).reshape(2, 3).to(kind) for kind in kinds]
            self.weight = torch.nn.Parameter(torch.randn(3, 4).T)

        def forward(self, x: torch.Tensor) -> Any:
            torch._assert_async((x < 9).all(), "too large")
            return [one + one if i % 2 else one.T for i, one in enumerate(self.held)], x @ self.weight, x

    program = xdsl_exir.from_exported_program(torch.export.export(Constants(), (torch.ones(2, 4),)))
    for stage in ("imported", "planned"):
        first = xdsl_exir.compile(program.to(stage), "native")
        again = loaded(first, tmp_path / f"{stage}.exir")
        for got, expected in zip(
            again.flat([np.ones((2, 4), np.float32)]),
            first.flat([np.ones((2, 4), np.float32)]),
            strict=True,
        ):
            assert_same(got, expected)
        with pytest.raises(ExirError, match="too large"):
            again.flat([np.full((2, 4), 10, np.float32)])


ALONE = """
import sys
sys.modules["torch"] = None
import numpy as np, xdsl_exir
path, weight, *out = sys.argv[1:]
run = xdsl_exir.load_executable(path)
x = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
first = run(x)["y"]
run.load_state({"linear.weight": np.load(weight)}, strict=False)
np.savez(out[0], first, run(x)["y"])
"""


@pytest.mark.native
def test_a_process_without_tools(tmp_path: Path) -> None:
    """It has no program on its PATH, no PyTorch, no cache; the machine that compiled may have had other numbers of cores."""
    run = xdsl_exir.compile(export(torch.relu), "native")
    assert isinstance(run.engine, NativeEngine)
    run.save(tmp_path / "net.exir")
    weight = np.linspace(1, 2, 16, dtype=np.float32).reshape(4, 4)
    np.save(tmp_path / "weight.npy", weight)
    paths = [tmp_path / name for name in ("net.exir", "weight.npy", "out.npz")]
    environment = {**os.environ, "PATH": "/nowhere", "XDSL_EXIR_CACHE": "/nowhere"}
    subprocess.run([sys.executable, "-c", ALONE, *map(str, paths)], check=True, env=environment)
    found = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(found["arr_0"], run(x_of(5))["y"])
    run.load_state({"linear.weight": weight}, strict=False)
    np.testing.assert_array_equal(found["arr_1"], run(x_of(5))["y"])


# --- what is wrong -------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path, native_tools: None) -> Path:
    path = tmp_path / "net.exir"
    xdsl_exir.compile(export(torch.relu), "native").save(path)
    return path


def test_every_changed_byte_is_an_error(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    places = [*range(0, len(data), len(data) // 40), *range(len(data) - 120, len(data))]
    for place in places:
        changed = data.copy()
        changed[place] ^= 1
        saved.write_bytes(changed)
        with pytest.raises(ExirError, match=r"net\.exir"):
            xdsl_exir.load_executable(saved)


def test_what_is_cut_off_or_longer_is_an_error(saved: Path) -> None:
    data = saved.read_bytes()
    for part in (b"", data[:10], data[: len(data) // 2], data[:-1], data + b"\0", b"\0" + data):
        saved.write_bytes(part)
        with pytest.raises(ExirError, match=r"net\.exir.*(truncated|whole|digest)"):
            xdsl_exir.load_executable(saved)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "there is no such file"),
        ("folder", "a folder, not a file"),
        ("model.pt2", "not an xdsl-exir executable, .*xdsl_exir.load reads"),
    ],
)
def test_what_is_no_executable_is_an_error(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    export(torch.relu).save(tmp_path / "model.pt2")
    with pytest.raises(ExirError, match=message):
        xdsl_exir.load_executable(tmp_path / name)


def rewritten(path: Path, change: Callable[[Any], None]) -> None:
    """Another file, as whoever had that manifest would have saved it."""
    file = SavedFile(str(path))
    entries: dict[str, Any] = {name: file.read(name) for name in file.names}
    manifest = json.loads(entries["manifest.json"])
    change(manifest)
    entries["manifest.json"] = json.dumps(manifest).encode()
    write_file(path, entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda manifest: manifest.update({"xdsl-exir": "0.0.1"}), r"xdsl-exir 0\.0\.1"),
        (
            lambda manifest: manifest["engine"]["cpu"].update(features="+avx1024", name="future"),
            "cannot run code for future: it has no avx1024",
        ),
        (
            lambda manifest: manifest["engine"].update(triple="wasm32-unknown-wasi"),
            "for wasm32-unknown-wasi, and this is",
        ),
    ],
)
def test_another_version_or_processor(saved: Path, change: Callable[[Any], None], message: str) -> None:
    rewritten(saved, change)
    with pytest.raises(ExirError, match=message):
        xdsl_exir.load_executable(saved)


def test_another_format(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xdsl_exir.runtime.saved.FORMAT", 3)
    with pytest.raises(ExirError, match=r"format 2; this version reads format 3"):
        xdsl_exir.load_executable(saved)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    run = xdsl_exir.compile(export(torch.relu))
    with pytest.raises(ExirError, match="folder"):
        run.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        run.save(tmp_path / "nowhere" / "net.exir")
    assert list(tmp_path.iterdir()) == []


DELEGATE = """
func.func @forward(%x: tensor<3xf32> {exir.input = #exir.input<user_input, "x">})
    -> (tensor<3xf32> {exir.output = #exir.output<user_output, "y">}) {
  %0 = edge.aten.relu(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}"""


@pytest.mark.parametrize("target", TARGETS)
def test_delegates(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a backend compiled in this process is refused; bytes that it made are saved, and need the backend when they are loaded."""
    from xdsl_exir.interpreter.backend import BACKENDS

    program = Program(Parser(context().clone(), DELEGATE).parse_module())
    program = program.transform('partition{backend=saving ops="aten.*"}')

    def load(blob: bytes, specs: Any) -> Callable[..., Any]:
        return lambda x: [x * np.float32(blob.decode())]

    xdsl_exir.register_backend("saving", lambda program: lambda x: [x + 1])
    try:
        with pytest.raises(UnsupportedError, match=r"backend saving.*cannot be saved"):
            xdsl_exir.compile(program, target, "interpreter").save(tmp_path / "net.exir")
        xdsl_exir.register_backend("saving", preprocess=lambda program, specs: b"3", load=load)
        run = xdsl_exir.compile(program.transform("preprocess-delegates"), target, "interpreter")
        again = loaded(run, tmp_path / "net.exir")
        np.testing.assert_array_equal(again(np.ones(3, np.float32))[0], [3, 3, 3])
        BACKENDS.pop("saving")
        with pytest.raises(UnsupportedError, match=r"backend saving.*not registered"):
            xdsl_exir.load_executable(tmp_path / "net.exir")
    finally:
        BACKENDS.pop("saving", None)


# --- the command line ----------------------------------------------------------------------------------------


@pytest.mark.native
def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export(torch.relu).save(tmp_path / "net.pt2")
    np.save(tmp_path / "x.npy", x_of(3))
    model, inputs = str(tmp_path / "net.pt2"), ["--inputs", str(tmp_path / "x.npy")]
    path = tmp_path / "net.exir"
    assert main(["compile", model, "-o", str(path)]) == 0
    assert str(path) in capsys.readouterr().out
    assert main(["run", model, *inputs, "--target", "native"]) == 0
    expected = capsys.readouterr().out
    assert main(["run", str(path), *inputs]) == 0
    assert capsys.readouterr().out == expected
    assert main(["run", str(path), *inputs, "--stage", "edge"]) == 1
    assert "compiled" in capsys.readouterr().err


def test_state_is_what_its_storages_are(tmp_path: Path) -> None:
    """Two arrays of the same bytes do not share memory: each takes a value of its own."""
    text = """
    func.func @forward(%a: tensor<2xf32> {exir.input = #exir.input<parameter, "a">},
                       %b: tensor<2xf32> {exir.input = #exir.input<parameter, "b">})
        -> (tensor<2xf32> {exir.output = #exir.output<user_output, "y">}) {
      %0 = edge.aten.mul.Tensor(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }"""
    ones = {name: TensorData.of(np.ones(2, np.float32), Float) for name in "ab"}
    run = xdsl_exir.compile(Program(Parser(context().clone(), text).parse_module(), ones))
    again = loaded(run, tmp_path / "sum.exir")
    again.load_state({"a": np.full(2, 5, np.float32), "b": np.ones(2, np.float32)})
    np.testing.assert_array_equal(again()[0], [5, 5])
