"""Reductions over outer dimensions natively: what PyTorch says, of any number of rows and columns, and special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Columns

pytestmark = pytest.mark.native

KINDS: dict[str, Callable[[torch.Tensor, Any], torch.Tensor]] = {
    "sum": lambda x, dim: x.sum(dim),
    "mean": lambda x, dim: x.mean(dim),
    "amax": lambda x, dim: x.amax(dim),
    "amin": lambda x, dim: x.amin(dim, keepdim=True),
    "prod": lambda x, dim: x.prod(dim),
}
FLOATS = ["float32", "float64", "float16", "bfloat16"]
SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((9, 40), 0),
    ((3, 8, 24), 1),
    ((2, 5, 3, 17), [1, 2]),
    ((33, 2, 131), [0, 1]),
    ((17, 1100), 0),
    ((4, 2, 3, 8), [1]),
    ((1, 5, 6, 17), [0, 2]),
    ((2, 6, 1, 5, 24), [1, 3]),
    ((2, 1, 9), [1]),
]


class Reduced(torch.nn.Module):
    """By all kinds that a dtype has, over dimensions."""

    def __init__(self, dim: Any, kinds: list[str]):
        super().__init__()
        self.dim, self.kinds = dim, kinds

    def forward(self, x: Any) -> Any:
        return tuple(
            KINDS[kind](x, self.dim) for kind in self.kinds if kind != "prod" or isinstance(self.dim, int)
        )


def draw(dtype: str, *shape: int) -> torch.Tensor:
    kind = getattr(torch, dtype)
    if not kind.is_floating_point:
        return torch.randint(-9, 9, shape).to(kind)
    x = (torch.rand(shape) + 0.5).to(kind)
    x[..., 3] = torch.nan
    x[..., 5] = -torch.inf
    x[..., 6] = -0.0
    return x


def program(model: torch.nn.Module, x: torch.Tensor) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(model, (x,)))


def check(model: Reduced, x: torch.Tensor) -> None:
    run = xdsl_exir.compile(program(model, x), "native")
    tolerance = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-6}.get(x.dtype, 1e-12)
    for got, wanted in zip(run.flat([x]), model(x.double() if x.dtype.is_floating_point else x), strict=True):
        np.testing.assert_allclose(got.astype("f8"), wanted.double().numpy(), tolerance)


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64"])
def test_kinds(dtype: str) -> None:
    torch.manual_seed(0)
    floats = getattr(torch, dtype).is_floating_point
    kinds = [kind for kind in KINDS if floats or kind in ("sum", "amax", "amin")]
    for shape, dim in SHAPES:
        check(Reduced(dim, kinds), draw(dtype, *shape))


@pytest.mark.parametrize(
    ("shape", "dim"), [((9, 40), 0), ((1, 5, 6, 17), [0, 2]), ((2, 6, 1, 5, 24), [1, 3])]
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_they_have_a_kernel(dtype: str, shape: tuple[int, ...], dim: Any) -> None:
    planned = plan_program(program(Reduced(dim, ["sum", "mean", "amax"]), draw(dtype, *shape)))
    kernels = [kernel for kernel in planned.dispatches.kernels.values() if isinstance(kernel, Columns)]
    assert sorted(kernel.kind for kernel in kernels) == ["max", "mean", "sum"]


def test_of_several_users_halves_are_made_once() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            wide = x.float()
            return wide.sum(0), wide * 2

    x = draw("bfloat16", 20, 16)
    run = xdsl_exir.compile(program(Model(), x), "native")
    for got, wanted in zip(run.flat([x]), Model()(x), strict=True):
        np.testing.assert_allclose(got, wanted.numpy(), 1e-6)


def test_long_columns_are_exact() -> None:
    """Sums do not lose what a running sum in float32 would."""
    x = torch.full((20000, 16), 0.1)
    run = xdsl_exir.compile(program(Reduced(0, ["sum"]), x), "native")
    np.testing.assert_allclose(run.flat([x])[0], x.double().sum(0).numpy(), 1e-7)


def test_threads_and_neighbours_change_nothing() -> None:
    """Columns alone are, bit by bit, what they are among others that are shared out to threads."""
    torch.manual_seed(1)
    x = torch.randn(203, 5000)
    model = Reduced(0, ["sum", "mean"])
    whole = xdsl_exir.compile(program(model, x), "native").flat([x])
    for start, end in ((0, 30), (1000, 1100), (4990, 5000)):
        part = x[:, start:end].contiguous()
        alone = xdsl_exir.compile(program(model, part), "native").flat([part])
        for one, some in zip(whole, alone, strict=True):
            assert one[start:end].tobytes() == some.tobytes()
