"""State that lives across calls and methods: a decoder with a key-value cache, prefill and decode as two methods."""

# pyright: basic, reportMissingImports=false, reportCallIssue=false, reportArgumentType=false
# (PyTorch types attributes of modules as `Tensor | Module`.)

from __future__ import annotations

import copy
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

STEPS = 32
PROMPT = 8


EXAMPLE = Path(__file__).parents[2] / "examples" / "decoder"


@pytest.fixture(scope="module")
def decoder() -> tuple[nn.Module, xdsl_exir.Program]:
    torch.manual_seed(0)
    example = runpy.run_path(str(EXAMPLE / "model.py"))
    model = example["Decoder"]().eval()
    return model, example["export"](model)


def assert_decodes_as_eager(program: xdsl_exir.Program, model: nn.Module, target: str) -> None:
    eager, run = copy.deepcopy(model), xdsl_exir.compile(program, target=target)
    ids = torch.randint(0, 100, (1, PROMPT), generator=torch.Generator().manual_seed(1))
    for step in range(1 + STEPS):
        with torch.no_grad():
            expected = eager(ids)
        got = run.method("decode" if step else "prefill")(ids.numpy())
        np.testing.assert_allclose(got, expected.numpy(), rtol=1e-4, atol=1e-5)
        ids = expected.argmax(-1, keepdim=True)
    assert run.array("position") == PROMPT + STEPS
    np.testing.assert_allclose(run.array("keys"), eager.keys.numpy(), rtol=1e-4, atol=1e-5)


def test_interpreter(decoder: Any) -> None:
    model, program = decoder
    for stage in (program, program.to_edge()):
        assert_decodes_as_eager(stage, model, "interpreter")


@pytest.mark.usefixtures("native_tools")
def test_native_code(decoder: Any) -> None:
    model, program = decoder
    assert_decodes_as_eager(program, model, "native")


@pytest.mark.parametrize("suffix", ["pt2", "mlir"])
def test_saved(decoder: Any, suffix: str, tmp_path: Path) -> None:
    """Both methods go to one file, with one copy of what they share."""
    model, program = decoder
    path = tmp_path / f"decoder.{suffix}"
    program.save(path)
    read = xdsl_exir.load(path)
    assert list(read.methods) == ["prefill", "decode"]
    assert read.state.keys() == program.state.keys()
    assert_decodes_as_eager(read, model, "interpreter")


def test_runs_start_from_the_programs_state(decoder: Any) -> None:
    """A run's buffers are its own: the program, and other runs of it, see nothing of them."""
    _, program = decoder
    first, second = xdsl_exir.compile(program), xdsl_exir.compile(program)
    ids = np.zeros((1, 1), np.int64)
    first.method("decode")(ids)
    assert first.array("position") == 1
    assert second.array("position") == 0
    assert program.state["position"].numpy() == 0


def test_state_is_apart_from_the_exported_modules() -> None:
    """`ep.module()` writes to the tensors that the exported program holds: not to those of who was compiled before."""

    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = torch.zeros(2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.count.add_(x) + 0

    x = torch.ones(2)
    exported = torch.export.export(Counter(), (x,))
    runs = [
        xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target)
        for target in ("interpreter", "native")
    ]
    eager = exported.module()
    for calls in (1, 2, 3):
        assert eager(x).tolist() == [calls, calls]
        for run in runs:
            assert run(x.numpy()).tolist() == [calls, calls]


@pytest.mark.parametrize("target", ["interpreter", "native"])
def test_training_goes_on_without_what_was_compiled(target: str) -> None:
    """Native code has some weights packed, others as they lie: it computed with new ones beside old ones."""

    class Layers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 4, bias=False)
            self.second.weight.data = self.first.weight.data[:4]  # shares memory

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x).relu())

    model, x = Layers(), torch.ones(2, 64)
    exported = torch.export.export(model, (x,))
    expected = model(x).detach().numpy()
    program = xdsl_exir.from_exported_program(exported)
    shared = xdsl_exir.from_exported_program(exported, share=True)
    run = xdsl_exir.compile(program, target)
    with torch.no_grad():
        model.first.weight.mul_(2)
        model.first.bias.zero_()
    changed = model(x).detach().numpy()
    assert not np.allclose(changed, expected)
    for each in (run, xdsl_exir.compile(program, target)):
        np.testing.assert_allclose(each(x.numpy()), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(xdsl_exir.compile(shared, target)(x.numpy()), changed, rtol=1e-5, atol=1e-6)
    assert program.state["first.weight"].storage_key == program.state["second.weight"].storage_key


class SameNames(nn.Module):
    """A buffer and an input of one name, both written to."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("k", torch.arange(4.0))

    def forward(self, k: torch.Tensor) -> torch.Tensor:
        self.k.add_(k.sum())
        k.mul_(2)
        return self.k + 1


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_names_of_both_a_buffer_and_an_input(target: str) -> None:
    given, eager = torch.tensor([1.0, 2.0]), SameNames()
    run = xdsl_exir.compile(
        xdsl_exir.from_exported_program(torch.export.export(SameNames(), (given,))), target=target
    )
    own, wanted = given.numpy().copy(), given.clone()
    for _ in range(2):
        np.testing.assert_allclose(run(own), eager(wanted).numpy())
        np.testing.assert_allclose(own, wanted.numpy())
        np.testing.assert_allclose(run.array("k"), eager.k.numpy())
