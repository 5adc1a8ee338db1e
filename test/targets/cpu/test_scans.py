"""Scans natively: what the interpreter and PyTorch say, of any number of rows, special values, symbolic and empty sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import xdsl_exir

pytestmark = pytest.mark.native

SPECIAL = [torch.nan, torch.inf, -torch.inf, 0.0, -0.0]
KINDS = ["cumsum", "cumprod", "cummax", "cummin"]


class Scans(torch.nn.Module):
    def __init__(self, dim: int = -1):
        super().__init__()
        self.dim = dim

    def forward(self, x: Any) -> Any:
        made = (getattr(x, kind)(self.dim) for kind in KINDS)
        return tuple(result for one in made for result in ([one] if isinstance(one, torch.Tensor) else one))


def draw(dtype: str, *shape: int) -> torch.Tensor:
    kind = getattr(torch, dtype)
    if not kind.is_floating_point:
        return torch.randint(-9, 9, shape).to(kind)
    x = torch.randn(shape).to(kind)
    flat = x.view(-1)[3::29]
    flat[:] = torch.tensor(SPECIAL, dtype=kind).repeat(len(flat))[: len(flat)]
    return x


def check(run: Any, x: torch.Tensor, dim: int = -1) -> None:
    for got, wanted in zip(run.flat([x]), Scans(dim)(x), strict=True):
        torch.testing.assert_close(as_tensor(got), wanted, equal_nan=True)


def as_tensor(result: Any) -> torch.Tensor:
    """A result; PyTorch takes no bfloat16 of NumPy's."""
    if result.dtype.name != "bfloat16":
        return torch.as_tensor(np.asarray(result))
    return torch.as_tensor(result.view(np.int16)).view(torch.bfloat16)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64"])
def test_rows(dtype: str) -> None:
    torch.manual_seed(0)
    for shape in ((37,), (19, 21), (2, 4, 1), (3, 64), (2, 300)):
        x = draw(dtype, *shape)
        check(
            xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Scans(), (x,))), "native"),
            x,
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64"])
def test_columns(dtype: str) -> None:
    """Few of them, as many as some vectors, and some more; of one row and of several."""
    torch.manual_seed(3)
    for shape in ((9, 3), (5, 25), (17, 5, 16), (3, 11, 64), (2, 7, 131)):
        x, dim = draw(dtype, *shape), len(shape) - 2
        program = xdsl_exir.from_exported_program(torch.export.export(Scans(dim), (x,)))
        assert "Scan" in str(program.to("dispatches").module)
        check(xdsl_exir.compile(program, "native"), x, dim)


def test_symbolic_rows() -> None:
    torch.manual_seed(5)
    sizes = {dim: torch.export.Dim(f"size{dim}", max=200) for dim in range(2)}
    program = torch.export.export(Scans(), (draw("float32", 5, 6),), dynamic_shapes=(sizes,))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(program), "native")
    for shape in ((3, 50), (7, 3), (6, 128), (1, 33)):
        check(run, draw("float32", *shape))


def test_symbolic_columns() -> None:
    torch.manual_seed(4)
    sizes = {dim: torch.export.Dim(f"size{dim}", max=200) for dim in range(3)}
    program = torch.export.export(Scans(1), (draw("float32", 5, 6, 7),), dynamic_shapes=(sizes,))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(program), "native")
    for shape in ((3, 50, 2), (2, 7, 64), (5, 3, 150)):
        check(run, draw("float32", *shape), 1)


def test_symbolic_sizes() -> None:
    torch.manual_seed(1)
    rows, size = torch.export.Dim("rows", max=100), torch.export.Dim("size", max=100)
    program = torch.export.export(Scans(), (draw("float32", 5, 6),), dynamic_shapes=({0: rows, 1: size},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(program), "native")
    for shape in ((3, 50), (24, 7), (29, 2)):
        check(run, draw("float32", *shape))


def test_threads_and_rows_at_once_change_nothing() -> None:
    """A row alone is, bit by bit, what it is among others that are shared out to threads."""
    torch.manual_seed(2)
    x = draw("float32", 1003, 300)
    whole, alone = (
        xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Scans(), (given,))), "native")
        for given in (x, x[:1])
    )
    together = whole.flat([x.numpy()])
    for row in (0, 7, 8, 500, 999, 1002):
        for part, one in zip(together, alone.flat([x[row : row + 1].numpy()]), strict=True):
            assert np.asarray(part)[row].tobytes() == np.asarray(one)[0].tobytes()
