"""Maxima of windows natively: of all floats, apart by any stride, with numbers that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import MaxPool2d

pytestmark = pytest.mark.native
WINDOWS: list[tuple[int, int, int, int]] = [
    (3, 2, 1, 1),
    (2, 2, 0, 1),
    (5, 3, 2, 1),
    (2, 1, 1, 2),
    (3, 5, 0, 3),
]
"""Width, stride, padding, dilation."""


class Pooled(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return tuple(torch.nn.functional.max_pool2d(x, *window) for window in WINDOWS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_floats(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 9, 43).to(dtype)
    x[0, 3, [5, 20]] = torch.tensor([torch.nan, torch.inf], dtype=dtype)
    x[1, :4, :9] = -torch.inf
    program = xdsl_exir.from_exported_program(torch.export.export(Pooled(), (x,)))
    for got, wanted in zip(xdsl_exir.compile(program, "native").flat([x]), Pooled()(x), strict=True):
        np.testing.assert_array_equal(got.astype("f8"), wanted.double().numpy())
    kernels = plan_program(program).dispatches.kernels.values()
    assert sum(isinstance(kernel, MaxPool2d) for kernel in kernels) == len(WINDOWS)
