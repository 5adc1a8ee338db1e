"""Rows of float64 in kernels: sums of long rows, in blocks, are as exact as PyTorch's; what later passes need again is kept."""

# pyright: basic, reportMissingImports=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Across
from xdsl_exir.targets.cpu.kernels.rows import Rows

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.native

CALLS: dict[str, Any] = {
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(-1, keepdim=True),
    "norm": lambda x: x.norm(dim=-1),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: (x * 2).log_softmax(-1).exp(),
    "logsumexp": lambda x: x.logsumexp(-1),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:], x[0], x[1]) + 1,
    "var": lambda x: x.var(-1),
    "across": lambda x: x.t().softmax(0),
    "sum across": lambda x: x.t().sum(0),
}


class Doubles(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return tuple(call(x) for call in CALLS.values())


def program_of(x: Any) -> Any:
    return xdsl_exir.from_exported_program(torch.export.export(Doubles(), (x,))).to_edge()


@pytest.mark.parametrize("length", [5, 64, 300, 2048, 2049, 4096, 5003, 20011])
def test_results(length: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(5, length, dtype=torch.float64) * 3
    x[2, 3], x[3, 0], x[4] = -torch.inf, torch.nan, -torch.inf
    program = program_of(x)
    for stage in (program, program.transform("to-destinations")):
        results = xdsl_exir.compile(stage, "native").flat([x.numpy()])
        for name, got, wanted in zip(CALLS, results, Doubles()(x), strict=True):
            np.testing.assert_allclose(got, wanted.numpy(), 1e-12, 1e-13, err_msg=name)


def test_long_sums_are_exact() -> None:
    torch.manual_seed(0)
    x = torch.rand(16, 100_003, dtype=torch.float64)
    program = program_of(x)
    kernels = plan_program(program).dispatches.scheduled
    assert any(isinstance(kernel, Rows) and kernel.inputs[0].dtype == "f64" for kernel in kernels)
    assert not any(isinstance(kernel, Across) for kernel in kernels)
    got = xdsl_exir.compile(program, "native").flat([x.numpy()])[0]
    exact = x.numpy().astype(np.longdouble).sum(-1)
    wrong, theirs = (np.abs(made - exact).max() for made in (got, x.sum(-1).numpy()))
    assert wrong <= max(2 * theirs, 4 * np.spacing(np.float64(exact.max())))
