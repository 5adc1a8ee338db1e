"""Products of bfloat16 on processors that multiply pairs of them: which are, and that numbers are those of PyTorch wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Matmul
from xdsl_exir.targets.cpu.machine import processor

torch = pytest.importorskip("torch")

from modules import Function  # noqa: E402

pytestmark = pytest.mark.native


def draw(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).bfloat16()


class Block(torch.nn.Module):
    """Three products of what a norm makes, one of what follows, and what was given."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.out = torch.nn.LayerNorm(256), torch.nn.Linear(512, 256, bias=False)
        self.gate, self.up, self.shift = (torch.nn.Linear(256, 512) for _ in range(3))

    def forward(self, x: Any) -> Any:
        y = self.norm(x)
        return x + self.out(torch.nn.functional.silu(self.gate(y)) * self.up(y) + self.shift(y))


CASES: dict[str, tuple[Callable[[], Any], list[Any], int]] = {
    "block": (Block, [draw(2, 9, 256)], 2),
    "turned": (lambda: Function(lambda x, y: x.T @ y.T), [draw(64, 20), draw(33, 64)], 1),
    "batches": (lambda: Function(torch.matmul), [draw(3, 20, 30), draw(3, 30, 17)], 1),
    "of one batch": (lambda: Function(torch.matmul), [draw(3, 20, 30), draw(30, 17)], 1),
    "one row": (lambda: torch.nn.Linear(256, 433), [draw(1, 256)], 0),
    "an odd reduction": (lambda: torch.nn.Linear(255, 433), [draw(5, 255)], 0),
    "with float32": (
        lambda: Function(lambda x, y: x.float() @ y.sigmoid().float()),
        [draw(8, 64), draw(64, 8)],
        1,
    ),
}
"""Modules, what they take, and in how many kernels pairs are multiplied."""


def program(name: str) -> tuple[Any, Any, list[Any]]:
    make, inputs, _ = CASES[name]
    torch.manual_seed(0)
    module = make().bfloat16()
    exported = torch.export.export(module, tuple(inputs))
    return module, xdsl_exir.from_exported_program(exported), inputs


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("features", ["+avx512f", "+avx512f,+avx512bf16"])
def test_which_products_are_of_pairs(name: str, features: str) -> None:
    planned = plan_program(program(name)[1], replace(processor(), features=features))
    kernels = [kernel for kernel in planned.dispatches.kernels.values() if isinstance(kernel, Matmul)]
    of_pairs = sum(kernel.lhs_dtype == "bf16" for kernel in kernels)
    assert of_pairs == (CASES[name][2] if "bf16" in features else 0)


@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    module, made, inputs = program(name)
    [given] = xdsl_exir.compile(made, "native").flat(inputs)
    with torch.no_grad():
        expected = module(*inputs).float().numpy()
    np.testing.assert_allclose(given.astype(np.float32), expected, rtol=1.6e-2, atol=1.6e-2)
