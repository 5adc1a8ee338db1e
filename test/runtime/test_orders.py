"""Results lie in memory as PyTorch's do: computed so, returned so, saved so; a C library's are in row-major order."""

# pyright: basic, reportMissingImports=false, reportArgumentType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native_tools")]


class Turned(torch.nn.Module):
    """What is computed of turned tensors, of tensors that lie otherwise, views, repeated results, a number, and a constant."""

    def __init__(self):
        super().__init__()
        self.register_buffer("c", torch.randn(6, 5).t())

    def forward(self, x: Any, y: Any, image: Any) -> Any:
        turned = x.t()
        both = turned.exp() + y
        return (
            turned.relu() * 2,
            both,
            turned + y.t().contiguous().t(),
            turned,
            (x @ y).t(),
            image.permute(0, 3, 1, 2).float() / 255 - torch.tensor([0.5, 0.25, 0.125]).view(3, 1, 1),
            image.permute(0, 3, 1, 2),
            both,
            turned.sum(0),
            self.c,
            turned.softmax(-1),
            y.shape[0],
            image.permute(0, 2, 1, 3).to(torch.bfloat16),
        )


def arguments(rows: int = 6) -> tuple[Any, ...]:
    torch.manual_seed(0)
    x, y = torch.randn(rows, 5), torch.randn(5, rows)
    return x, y, torch.randint(0, 255, (1, 7, rows, 3), dtype=torch.uint8)


def check(given: list[Any], wanted: tuple[Any, ...]) -> None:
    for number, (got, each) in enumerate(zip(given, wanted, strict=True)):
        if isinstance(each, int):
            assert got == each
            continue
        array = np.asarray(got).astype(each.float().numpy().dtype)
        np.testing.assert_allclose(array, each.float().numpy(), 1e-5, 1e-5, err_msg=str(number))
        strides = [
            stride // got.itemsize for stride, size in zip(got.strides, got.shape, strict=True) if size != 1
        ]
        assert strides == [s for s, size in zip(each.stride(), each.shape, strict=True) if size != 1], number


@pytest.mark.parametrize("symbolic", [False, True])
def test_results_lie_as_they_do_in_pytorch(symbolic: bool, tmp_path: Path) -> None:
    model, args = Turned(), arguments()
    model.c = model.c.contiguous() if symbolic else model.c
    n = torch.export.Dim("n", min=2, max=64)
    shapes = ({0: n}, {1: n}, {2: n}) if symbolic else None
    exported = torch.export.export(model, args, dynamic_shapes=shapes)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    run.save(tmp_path / "turned.exir")
    for each in (run, xdsl_exir.load_executable(tmp_path / "turned.exir")):
        for given in (args, arguments(9)) if symbolic else (args,):
            check(each.flat([tensor.numpy() for tensor in given]), model(*given))
            check(each.flat([np.asfortranarray(tensor.numpy()) for tensor in given]), model(*given))


def test_turned_results_take_the_quick_road() -> None:
    def call(x: Any, y: Any) -> Any:
        return x.t() + y, x.sum(0)

    class Sum(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return call(x, y)

    x, y = torch.randn(6, 5), torch.randn(6)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Sum(), (x, y))), "native")
    quick = run.method().quick
    assert quick is not None
    for _ in range(2):
        found = quick([x.numpy(), y.numpy()])
        assert found is not None
        check(found, call(x, y))


def test_long_chains_are_laid() -> None:
    """Nothing recurses over the length of a program."""

    class Chain(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            x = x.permute(0, 2, 1)
            for number in range(1200):
                x = x.relu() if number % 2 else x - 0.001
            return x

    x = torch.randn(2, 3, 4)
    run = xdsl_exir.compile(
        xdsl_exir.from_exported_program(torch.export.export(Chain(), (x,))), target="native"
    )
    [got] = run.flat([x.numpy()])
    np.testing.assert_allclose(got, Chain()(x), rtol=1e-5, atol=1e-6)
    assert got.strides == (48, 4, 16)
