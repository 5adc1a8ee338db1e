"""Bags natively: what PyTorch makes of rows that indices pick, of any sizes, dtypes and begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import xdsl_exir
from xdsl_exir.errors import ExirError
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Bags

pytestmark = pytest.mark.native


class Bagged(torch.nn.Module):
    def __init__(self, width: int, dtype: torch.dtype, **said: Any):
        super().__init__()
        self.said = said
        self.table = torch.nn.Parameter(torch.randn(11, width).to(dtype))

    def forward(self, picked: Any, begin: Any, factors: Any = None) -> Any:
        return F.embedding_bag(picked, self.table, begin, per_sample_weights=factors, **self.said)


def program(model: Bagged, *inputs: torch.Tensor, **said: Any) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(model, inputs, **said))


def drawn(width: int = 40, index: torch.dtype = torch.int64) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices, and where bags begin: of no row, of one, of many, and of what is left."""
    return torch.randint(11, (30,)).to(index), torch.tensor([0, 0, 1, 4, 20, 20], dtype=index)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("width", [1, 40, 150])
def test_sums_and_means(dtype: torch.dtype, width: int) -> None:
    torch.manual_seed(0)
    tolerance = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype, 1e-6)
    factors = torch.rand(30).to(dtype)
    for said, more in (({"mode": "sum"}, ()), ({"mode": "mean"}, ()), ({"mode": "sum"}, (factors,))):
        for index, is_closed in ((torch.int64, False), (torch.int32, True)):
            model = Bagged(width, dtype, include_last_offset=is_closed, **said)
            picked, begin = drawn(index=index)
            begin = torch.cat([begin, torch.tensor([30], dtype=index)]) if is_closed else begin
            run = xdsl_exir.compile(program(model, picked, begin, *more), "native", fallback="error")
            [got] = run.flat([picked, begin, *more])
            exact = model.double()(picked, begin, *(each.double() for each in more)).detach().numpy()
            np.testing.assert_allclose(np.asarray(got).astype("f8"), exact, tolerance, tolerance)


def test_they_have_a_kernel() -> None:
    for said, expected in (({"mode": "mean"}, 1), ({"mode": "max"}, 0), ({"padding_idx": 3}, 0)):
        planned = plan_program(program(Bagged(16, torch.float32, **said), *drawn()))
        kernels = [kernel for kernel in planned.dispatches.kernels.values() if isinstance(kernel, Bags)]
        assert len(kernels) == expected


def test_any_number_of_bags_of_any_length() -> None:
    torch.manual_seed(0)
    model, dims = Bagged(20, torch.float32, mode="sum"), [torch.export.Dim(name, max=10**6) for name in "nm"]
    run = xdsl_exir.compile(
        program(model, *drawn(), dynamic_shapes=tuple({0: dim} for dim in dims)), "native"
    )
    for count, begin in ((30, [0, 3]), (5, [0, 0, 5, 5]), (20_000, [*range(0, 20_000, 7)])):
        inputs = torch.randint(11, (count,)), torch.tensor(begin)
        [got] = run.flat(inputs)
        np.testing.assert_allclose(got, model(*inputs).detach().numpy(), 1e-5, 1e-5)


def test_rows_that_are_not_there_are_refused() -> None:
    run = xdsl_exir.compile(program(Bagged(20, torch.float32), *drawn()), "native")
    for row in (-1, 11):
        with pytest.raises(ExirError, match="out of range"):
            run.flat([torch.full((30,), row), drawn()[1]])
