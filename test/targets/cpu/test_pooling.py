"""Maxima and means of windows natively: of all floats, two dimensions and three, apart by any stride, with numbers that are none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Kernel, Pool

pytestmark = pytest.mark.native
WINDOWS: list[tuple[int, int, int, int]] = [
    (3, 2, 1, 1),
    (2, 2, 0, 1),
    (5, 3, 2, 1),
    (2, 1, 1, 2),
    (3, 5, 0, 3),
]
"""Width, stride, padding, dilation."""
POOLS: list[Callable[[Any], Any]] = [
    *(lambda x, w=window: F.max_pool2d(x, *w) for window in WINDOWS),
    lambda x: F.max_pool2d(x, (2, 3), (2, 3), ceil_mode=True),
    lambda x: F.max_pool3d(x[None], (2, 3, 3), 2, 1),
    lambda x: F.max_pool1d(x[0], 4, 1, 2),
    lambda x: F.adaptive_max_pool2d(x, (3, 43)),
]
MEANS: list[Callable[[Any], Any]] = [
    *(lambda x, w=window[:3]: F.avg_pool2d(x, *w) for window in WINDOWS),
    lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    lambda x: F.avg_pool2d(x, (2, 5), (1, 4), (1, 2), ceil_mode=True),
    lambda x: F.avg_pool2d(x, (9, 2), divisor_override=5),
    lambda x: F.avg_pool1d(x[0], 4, 3, 2),
    lambda x: F.adaptive_avg_pool2d(x, (3, 43)),
]
DEEP: list[Callable[[Any], Any]] = [
    lambda x: F.avg_pool3d(x[None], (2, 3, 3), (1, 2, 3), (1, 1, 0), count_include_pad=False),
    lambda x: F.adaptive_avg_pool3d(x[None], (1, 3, 43)),
]
"""Of which PyTorch has no halves."""


class Pooled(torch.nn.Module):
    def __init__(self, pools: Sequence[Callable[[Any], Any]]):
        super().__init__()
        self.pools = pools

    def forward(self, x: Any) -> Any:
        return tuple(pool(x) for pool in self.pools)


def check(
    pools: Sequence[Callable[[Any], Any]], inputs: Sequence[torch.Tensor], free: Any = None
) -> list[Kernel]:
    """Compares natively with eager, which computes means of halves in float32 as well; gives the kernels, of which all is made."""
    model = Pooled(pools)
    program = xdsl_exir.from_exported_program(
        torch.export.export(model, (inputs[0],), dynamic_shapes=free and (free,))
    )
    run = xdsl_exir.compile(program, "native")
    for x in inputs:
        eps = torch.finfo(x.dtype).eps
        for got, wanted in zip(run.flat([x]), model(x), strict=True):
            np.testing.assert_allclose(got.astype("f8"), wanted.double().numpy(), 2 * eps, 4 * eps)
    assert not run.slow_paths
    return list(plan_program(program).dispatches.kernels.values())


def check_pools(
    pools: Sequence[Callable[[Any], Any]], inputs: Sequence[torch.Tensor], free: Any = None
) -> None:
    kernels = check(pools, inputs, free)
    assert sum(isinstance(kernel, Pool) for kernel in kernels) == len(pools)


@pytest.mark.parametrize("pools", [POOLS, MEANS], ids=["max", "mean"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_floats(dtype: torch.dtype, pools: Sequence[Callable[[Any], Any]]) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 9, 43).to(dtype)
    x[0, 3, [5, 20]] = torch.tensor([torch.nan, torch.inf], dtype=dtype)
    x[1, :4, :9] = -torch.inf
    halves = dtype in (torch.float16, torch.bfloat16)
    check_pools([*pools, *(DEEP if pools is MEANS and not halves else ())], [x])


@pytest.mark.parametrize("pools", [POOLS[:5], MEANS[:6]], ids=["max", "mean"])
def test_unknown_sizes(pools: Sequence[Callable[[Any], Any]]) -> None:
    torch.manual_seed(0)
    sizes = [(3, 30, 41), (2, 17, 70), (4, 13, 16)]
    free = dict.fromkeys(range(3), torch.export.Dim.DYNAMIC)
    check_pools(pools, [torch.randn(size) for size in sizes], free)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_long_windows_that_divide_sizes(dtype: torch.dtype) -> None:
    """Those are reductions over one dimension after the other."""
    torch.manual_seed(0)
    pools: list[Callable[[Any], Any]] = [
        lambda x: F.adaptive_avg_pool2d(x, (2, 2)),
        lambda x: F.adaptive_avg_pool2d(x, (40, 2)),
        lambda x: F.adaptive_avg_pool1d(x[0], 2),
        lambda x: F.adaptive_avg_pool3d(x[None, None], (2, 1, 4)),
    ]
    kernels = check(pools, [torch.randn(4, 40, 80).to(dtype)])
    assert not any(isinstance(kernel, Pool) for kernel in kernels)
