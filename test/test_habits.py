"""What people's hands expect of a package: whatever holds the same numbers or the same bytes is taken for it, names are completed, what is
wrong says what it is and what to do, weights are swapped.
"""

# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.program import Program

torch = pytest.importorskip("torch")

# What torch.export warns of is its own use of its own functions.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:torch",
    "ignore:`isinstance\\(treespec, LeafSpec\\)` is deprecated:FutureWarning",
)

X = torch.linspace(-1, 1, 12).reshape(3, 4)


class Mlp(torch.nn.Module):
    """Two layers, a buffer that counts calls, and one that no file has."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Linear(4, 64), torch.nn.Linear(64, 2)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("scale", torch.tensor(2.0), persistent=False)

    def forward(self, x: Any) -> Any:
        self.calls.add_(1)
        return torch.nn.functional.silu(self.second(torch.relu(self.first(x)))) * self.scale


@pytest.fixture(scope="module")
def program() -> Program:
    return xdsl_exir.from_exported_program(torch.export.export(Mlp().eval(), (X,)))


TARGETS = ["interpreter", pytest.param("native", marks=pytest.mark.native)]


def test_names_are_completed() -> None:
    assert {*dir(xdsl_exir)} == {*xdsl_exir.__all__, "__version__"}
    assert xdsl_exir.__version__.count(".") == 2
    done = subprocess.run(
        [sys.executable, "-m", "xdsl_exir", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["xdsl-exir", xdsl_exir.__version__]


# --- inputs --------------------------------------------------------------------------------------------------


class Dlpack:
    """Nothing but DLPack's protocol."""

    def __init__(self, array: Any):
        self.array = array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


AS: dict[str, Callable[[Any], Any]] = {
    "tensor": torch.from_numpy,
    "tensor that requires gradients": lambda x: torch.from_numpy(x).clone().requires_grad_(),
    "parameter": lambda x: torch.nn.Parameter(torch.from_numpy(x).clone()),
    "strided tensor": lambda x: torch.from_numpy(x.T.copy()).T,
    "lazily negated": lambda x: torch.complex(torch.from_numpy(x), torch.from_numpy(-x)).conj().imag,
    "DLPack": Dlpack,
    "DLPack of a tensor": lambda x: Dlpack(torch.from_numpy(x)),
    "order of Fortran": np.asfortranarray,
    "negative strides": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "big-endian": lambda x: x.astype(">f4"),
    "not aligned": lambda x: (
        np.frombuffer(b"-" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape)
    ),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", AS)
def test_forms_of_inputs(program: Program, target: str, form: str) -> None:
    """Whatever holds the same numbers gives the same results."""
    run = xdsl_exir.compile(program, target)
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_array_equal(run.flat([AS[form](x)])[0], run.flat([x])[0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16])
def test_tensors_of_types_that_numpy_lacks(dtype: Any) -> None:
    class Turned(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.permute(1, 0).clone()

    x = torch.arange(12.0).reshape(3, 4).to(dtype)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Turned(), (x,))))
    for given in (x, x.T.clone().T):
        np.testing.assert_array_equal(run(given).astype(np.float32), x.T.float().numpy())


def test_inputs_in_another_order_of_bytes_that_are_written_to() -> None:
    class Doubling(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mul_(2) + 1

    run = xdsl_exir.compile(
        xdsl_exir.from_exported_program(torch.export.export(Doubling(), (torch.ones(3),)))
    )
    x = torch.ones(3)
    assert run(x).tolist() == [3, 3, 3]
    assert x.tolist() == [2, 2, 2], "a tensor is written to, as an array is"
    with pytest.raises(xdsl_exir.InputError, match="in another order"):
        run(np.ones(3, ">f4"))


def test_missing_inputs_are_told_with_their_types(program: Program) -> None:
    run = xdsl_exir.compile(program)
    for call in (run, lambda: run.flat([]), lambda: run(X, X, X), lambda: run([X])):
        with pytest.raises(xdsl_exir.InputError, match=r"forward takes x: float32\[3, 4\]"):
            call()


def test_arrays_of_objects(program: Program) -> None:
    with pytest.raises(xdsl_exir.InputError, match="input 'x' is object, expected float32"):
        xdsl_exir.compile(program)(np.asarray(X).astype(object))


# --- programs ------------------------------------------------------------------------------------------------


def test_copies_and_pickles(program: Program) -> None:
    run, x = xdsl_exir.compile(program), np.asarray(X)
    assert repr(run).splitlines()[1].strip().startswith("forward(x: float32[3, 4]) -> ")
    for stage in (program, program.to_edge(), program.to("linalg")):
        for other in (copy.deepcopy(stage), pickle.loads(pickle.dumps(stage))):
            assert str(other) == str(stage)
            assert other.conventions == stage.conventions
            assert len(repr(other).splitlines()) < 5
            got, wanted = xdsl_exir.compile(other)(x), xdsl_exir.compile(stage)(x)
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(xdsl_exir.ExirError, match="pickle its program"):
        pickle.dumps(run)


def test_what_is_no_program() -> None:
    for value in ("model.pt2", None, torch.nn.ReLU()):
        with pytest.raises(xdsl_exir.ExirError, match="expected a Program, got"):
            xdsl_exir.compile(value)  # pyright: ignore


def test_passes_that_are_none(program: Program) -> None:
    with pytest.raises(xdsl_exir.ExirError, match=r"no pass is called 'canonicalise'; is it canonicalize\?"):
        program.transform("cse,canonicalise")


@pytest.mark.parametrize("suffix", ["pt2", "mlir"])
def test_programs_of_files_and_bytes(program: Program, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"net.{suffix}"
    program.save(path)
    data = path.read_bytes()
    expected = xdsl_exir.load(path)
    with open(path, "rb") as file:
        sources = [str(path), path, file]
        if suffix == "pt2":  # of text, the weights are beside it
            sources += [data, bytearray(data), memoryview(data), io.BytesIO(data)]
        for source in sources:
            read = xdsl_exir.load(source)
            assert str(read) == str(expected)
            np.testing.assert_array_equal(
                xdsl_exir.compile(read).flat([X])[0], xdsl_exir.compile(expected).flat([X])[0]
            )


def test_text_as_bytes() -> None:
    text = b"""
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = aten.neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}"""
    for source in (text, io.BytesIO(text)):
        assert xdsl_exir.compile(xdsl_exir.load(source)).flat([np.ones(2, np.float32)])[0].tolist() == [
            -1,
            -1,
        ]


def test_programs_written_to_files(program: Program, tmp_path: Path) -> None:
    memory = io.BytesIO()
    program.save(memory)
    with open(tmp_path / "other", "wb") as file:
        program.save(file)
    assert (tmp_path / "other").read_bytes() == memory.getvalue()
    program.save(tmp_path / "net.pt2")
    assert str(xdsl_exir.load(memory.getvalue())) == str(xdsl_exir.load(tmp_path / "net.pt2"))
    assert torch.export.load(io.BytesIO(memory.getvalue())).module()(X).shape == (3, 2)


def test_what_is_no_source() -> None:
    for value, message in (
        (None, "not from a NoneType"),
        (torch.nn.ReLU(), "torch.export.export"),
        (io.StringIO("module {}"), "open for bytes"),
        (b"", "this is empty"),
        (b"PK\x03\x04half", "contents: an archive that is cut off or damaged"),
        (io.BytesIO(b"func.func @f() { nonsense }"), r"^contents:1:27: "),
    ):
        with pytest.raises(xdsl_exir.LoadError, match=message) as raised:
            xdsl_exir.load(value)  # pyright: ignore
        assert "/tmp" not in str(raised.value)


# --- weights -------------------------------------------------------------------------------------------------


def result(model: Any) -> Any:
    return model(X).detach().numpy()


@pytest.mark.parametrize("target", TARGETS)
def test_weights_are_swapped(program: Program, target: str) -> None:
    run, other = xdsl_exir.compile(program, target), Mlp().eval()
    for _ in range(3):
        run(X)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn_like(parameter))
    run.load_state(other.state_dict())
    assert run.array("calls") == 0
    np.testing.assert_allclose(run(X), result(other), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(xdsl_exir.compile(program, target)(X), result(Mlp()), rtol=1e-4, atol=1e-5)
    # As LoRA does: a product is added to one of them.
    delta = np.outer(np.arange(64), np.arange(4)).astype(np.float32) / 100
    run.load_state({"first.weight": run.array("first.weight") + delta}, strict=False)
    other.first.weight.data += torch.from_numpy(delta)
    wanted = result(other)
    np.testing.assert_allclose(run(X), wanted, rtol=1e-4, atol=1e-5)
    assert run.array("calls") == 2, "what is not named stays as calls left it"
    with torch.no_grad():
        other.first.weight.zero_()
    np.testing.assert_allclose(run(X), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.native
def test_swapping_weights_compiles_nothing(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    from xdsl_exir.lowering import external

    def never(*_: Any, **__: Any) -> str:
        raise AssertionError("a tool is called")

    run = xdsl_exir.compile(program, "native")
    monkeypatch.setattr(external, "run", never)
    monkeypatch.setattr(external, "run_on_bytes", never)
    run.load_state(Mlp().state_dict())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nonesuch": X}, "no state called 'nonesuch'"),
        ({"first.bias": None}, r"not given: 'first.bias' \(strict=False"),
        ({"first.bias": torch.zeros(5)}, r"'first.bias' is float32\[5\], expected float32\[64\]"),
        ({"first.bias": torch.zeros(64).double()}, r"'first.bias' is float64\[64\], expected float32\[64\]"),
        ({"first.bias": torch.zeros(64, device="meta")}, "'first.bias' is no array"),
    ],
)
def test_weights_that_do_not_fit(program: Program, change: dict[str, Any], message: str) -> None:
    run = xdsl_exir.compile(program)
    before = run(X)
    given = {name: value for name, value in {**Mlp().state_dict(), **change}.items() if value is not None}
    with pytest.raises(xdsl_exir.InputError, match=message):
        run.load_state(given)
    np.testing.assert_array_equal(run(X), before)


def test_weights_that_share_their_memory() -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4, bias=False)
            self.second.weight = self.first.weight
            self.part = torch.nn.Parameter(self.first.weight.data[1])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x)) + self.part

    model = Tied()
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(model, (X,))))
    other = Tied()
    run.load_state(other.state_dict(), strict=False)
    np.testing.assert_allclose(run(X), result(other), rtol=1e-4, atol=1e-5)
    with pytest.raises(xdsl_exir.InputError, match="shares memory with"):
        run.load_state({"first.weight": torch.ones(4, 4)}, strict=False)
