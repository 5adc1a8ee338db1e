"""Masked attention natively: what is masked out costs nothing of its own, and results are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Matmul, Rows

pytestmark = pytest.mark.native


class Attention(torch.nn.Module):
    def forward(self, query: Any, key: Any, value: Any, mask: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)


def operands(*mask: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    shut = torch.rand(mask) < 0.4
    shut[..., 2, :] = True
    added = torch.zeros(mask).masked_fill(shut, -torch.inf)
    return (*(torch.randn(2, 3, 21, 16) for _ in range(3)), added)


def program(model: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(model, args))


@pytest.mark.parametrize("mask", [(21, 21), (2, 1, 21, 21), (2, 3, 21, 21)])
def test_attention(mask: tuple[int, ...]) -> None:
    args = operands(*mask)
    run = xdsl_exir.compile(program(Attention(), args), "native")
    np.testing.assert_allclose(run.flat(list(args))[0], Attention()(*args).numpy(), 1e-5, 1e-5)


def test_a_mask_is_added_where_rows_are_reduced() -> None:
    """Scores are read once, and nothing is stored of them but the result: zeros of their type need no elements."""
    kernels = list(plan_program(program(Attention(), operands(21, 21))).dispatches.kernels.values())
    (rows,) = [kernel for kernel in kernels if isinstance(kernel, Rows)]
    assert (len(rows.inputs), len(rows.outputs)) == (2, 1)
    assert not any(kernel.epilogue.inputs for kernel in kernels if isinstance(kernel, Matmul))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exp_of_what_is_far_below(dtype: str) -> None:
    class Exp(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.exp()

    far = [-torch.inf, torch.nan, torch.inf, -0.0, -1e4, -1e30, -176.0, -254.0 * np.log(2), -1418.0]
    x = torch.cat([torch.tensor(far, dtype=torch.float64), torch.linspace(-1500, -60, 3001)])
    x = x.to(getattr(torch, dtype))
    run = xdsl_exir.compile(program(Exp(), (x,)), "native")
    smallest = torch.finfo(x.dtype).smallest_normal
    tiny = smallest * torch.finfo(x.dtype).eps
    got, wanted = run.flat([x])[0], x.exp().numpy()
    np.testing.assert_allclose(got, wanted, 4 * torch.finfo(x.dtype).eps, tiny)
    assert not np.signbit(got).any()
