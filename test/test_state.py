"""State that lives across calls and methods: a decoder with a key-value cache, prefill and decode as two methods."""

# pyright: basic, reportMissingImports=false, reportCallIssue=false, reportArgumentType=false
# (PyTorch types attributes of modules as `Tensor | Module`.)

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

STEPS = 32
PROMPT = 8


class Decoder(nn.Module):
    """Two layers of attention over what was seen so far, kept in buffers, and the position in a buffer of its own."""

    keys: Tensor
    values: Tensor
    position: Tensor

    def __init__(self, dim: int = 32, heads: int = 4, layers: int = 2, length: int = 64, words: int = 100):
        super().__init__()
        self.heads = heads
        self.embedding, self.head = nn.Embedding(words, dim), nn.Linear(dim, words)
        self.qkv = nn.ModuleList(nn.Linear(dim, 3 * dim) for _ in range(layers))
        self.project = nn.ModuleList(nn.Linear(dim, dim) for _ in range(layers))
        self.register_buffer("keys", torch.zeros(layers, 1, heads, length, dim // heads))
        self.register_buffer("values", torch.zeros(layers, 1, heads, length, dim // heads))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        count = ids.shape[1]
        where = self.position + torch.arange(count)
        visible = torch.arange(self.keys.shape[3])[None, :] <= where[:, None]
        for i, (qkv, project) in enumerate(zip(self.qkv, self.project, strict=True)):
            q, k, v = (y.view(1, count, self.heads, -1).transpose(1, 2) for y in qkv(x).chunk(3, -1))
            self.keys[i].index_copy_(2, where, k)
            self.values[i].index_copy_(2, where, v)
            y = nn.functional.scaled_dot_product_attention(q, self.keys[i], self.values[i], attn_mask=visible)
            x = x + project(y.transpose(1, 2).flatten(2))
        self.position += count
        return self.head(x)[:, -1]


@pytest.fixture(scope="module")
def decoder() -> tuple[nn.Module, xdsl_exir.Program]:
    torch.manual_seed(0)
    model = Decoder().eval()
    with torch.no_grad():
        methods = {
            name: torch.export.export(model, (torch.zeros(1, count, dtype=torch.long),))
            for name, count in (("prefill", PROMPT), ("decode", 1))
        }
    return model, xdsl_exir.from_exported_program(methods)


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
