"""Products of bfloat16 on processors that multiply pairs of them: which are, and that numbers are those of PyTorch wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Conv2d, Matmul
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


class Convolutions(torch.nn.Module):
    """One of an odd number of channels, what follows by rows, groups and points, of which the last is of too few channels for a register."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 30, 3, 2, 1)
        self.grouped = torch.nn.Conv2d(30, 40, (1, 3), padding=(0, 2), dilation=(1, 2), groups=2)
        self.point, self.few = torch.nn.Conv2d(40, 33, 1), torch.nn.Conv2d(33, 5, 2)

    def forward(self, x: Any) -> Any:
        return self.few(self.point(self.grouped(self.stem(x).relu())).sigmoid())


CASES: dict[str, tuple[Callable[[], Any], list[Any], int]] = {
    "block": (Block, [draw(2, 9, 256)], 2),
    "turned": (lambda: Function(lambda x, y: x.T @ y.T), [draw(64, 20), draw(33, 64)], 1),
    "batches": (lambda: Function(torch.matmul), [draw(3, 20, 30), draw(3, 30, 17)], 1),
    "of one batch": (lambda: Function(torch.matmul), [draw(3, 20, 30), draw(30, 17)], 1),
    "one row": (lambda: torch.nn.Linear(256, 433), [draw(1, 256)], 0),
    "an odd reduction": (lambda: torch.nn.Linear(255, 433), [draw(5, 255)], 0),
    "small": (lambda: torch.nn.Linear(16, 20), [draw(5, 16)], 1),
    "convolutions": (Convolutions, [draw(2, 3, 21, 18)], 3),
    "patches": (lambda: torch.nn.Conv2d(3, 48, 8, 8), [draw(2, 3, 33, 40)], 1),
    "of lines": (lambda: torch.nn.Conv1d(64, 48, 5, padding=2), [draw(2, 64, 37)], 1),
    "a long sum": (lambda: torch.nn.Conv2d(515, 17, 3, padding=1), [draw(1, 515, 8, 7)], 1),
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
    kernels = planned.dispatches.kernels.values()
    of_pairs = sum(isinstance(kernel, Matmul | Conv2d) and kernel.pair > 1 for kernel in kernels)
    assert of_pairs == (CASES[name][2] if "bf16" in features else 0)


@pytest.mark.parametrize("name", CASES)
def test_which_products_are_of_tiles(name: str) -> None:
    """Products of enough rows and of enough pairs, convolutions of enough channels. Other products are of pairs only where they are thin: by
    themselves these take longer."""
    tiles = replace(processor(), features="+avx512f,+avx512bf16,+amx-tile,+amx-bf16")
    kernels = plan_program(program(name)[1], tiles).dispatches.kernels.values()
    products = [kernel for kernel in kernels if isinstance(kernel, Matmul) and kernel.pair > 1]
    convolutions = [kernel for kernel in kernels if isinstance(kernel, Conv2d) and kernel.pair > 1]
    assert sum(kernel.tiled for kernel in products) + len(convolutions) == {
        "block": 2,
        "turned": 1,
        "batches": 1,
        "of one batch": 1,
        "convolutions": 1,
        "patches": 1,
        "of lines": 1,
        "a long sum": 1,
    }.get(name, 0)
    assert all(kernel.tiled or min(kernel.n, kernel.k) <= 64 for kernel in products)
    assert all(kernel.strategy == "tiles" for kernel in convolutions)


@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    module, made, inputs = program(name)
    [given] = xdsl_exir.compile(made, "native").flat(inputs)
    with torch.no_grad():
        expected = module(*inputs).float().numpy()
    np.testing.assert_allclose(given.astype(np.float32), expected, rtol=1.6e-2, atol=1.6e-2)


def test_convolutions_of_any_size() -> None:
    torch.manual_seed(0)
    model, auto = Convolutions().bfloat16(), torch.export.Dim.AUTO
    sizes = ({0: auto, 2: auto, 3: auto},)
    exported = torch.export.export(model, (draw(2, 3, 21, 18),), dynamic_shapes=sizes)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for shape in ((2, 3, 21, 18), (1, 3, 64, 33), (3, 3, 7, 70)):
        with torch.no_grad():
            wanted = model(draw(*shape)).float().numpy()
        given = np.asarray(run.flat([draw(*shape)])[0]).astype(np.float32)
        np.testing.assert_allclose(given, wanted, rtol=1.6e-2, atol=1.6e-2)


@pytest.mark.parametrize(
    ("make", "image"),
    [
        (lambda: torch.nn.Conv2d(3, 20, (4, 5), (4, 5)), (3, 20, 17)),
        (lambda: torch.nn.Conv1d(2, 5, 3, 3, bias=False), (2, 11)),
        (lambda: torch.nn.Conv3d(1, 6, (2, 3, 3), (2, 3, 3)), (1, 4, 7, 9)),
    ],
    ids=["images", "lines", "volumes"],
)
def test_patches_of_batches_of_any_size(make: Callable[[], Any], image: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    model = make().bfloat16()
    exported = torch.export.export(model, (draw(2, *image),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    program = xdsl_exir.from_exported_program(exported)
    kernels = plan_program(program, processor()).dispatches.kernels.values()
    made = {type(kernel) for kernel in kernels}
    assert Matmul in made
    assert Conv2d not in made
    run = xdsl_exir.compile(program, "native")
    for count in (2, 1, 5):
        with torch.no_grad():
            wanted = model(draw(count, *image)).float().numpy()
        given = np.asarray(run.flat([draw(count, *image)])[0]).astype(np.float32)
        np.testing.assert_allclose(given, wanted, rtol=1.6e-2, atol=1.6e-2)


def test_halves_hold_no_sums_of_parts() -> None:
    conv = Conv2d(1, 515, 8, 7, 17, (3, 3), padding=(1, 1))
    assert conv.parts
    assert not replace(conv, out_dtype="bf16").parts
