"""What takes the slow road is told, with about its share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import xdsl_exir
from xdsl_exir.dialects.expr import Expr
from xdsl_exir.lowering.dispatches.boundaries import Formed
from xdsl_exir.lowering.sizes import typical
from xdsl_exir.lowering.slow_paths import NUMBERS, PRODUCTS, estimate
from xdsl_exir.tools.main import main


class Mixed(torch.nn.Module):
    """A product, which has a kernel, and a determinant, which has none."""

    def forward(self, x: Any) -> Any:
        return torch.relu(x @ x), torch.linalg.det(x)


X = torch.eye(24) * 2


@pytest.fixture(scope="module")
def program() -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(Mixed(), (X,)))


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_what_has_no_kernel_is_named(program: xdsl_exir.Program) -> None:
    run = xdsl_exir.compile(program, "native", fallback="interpreter")
    told = [str(each) for each in run.slow_paths]
    assert told
    assert not any("aten.mm" in each for each in told)
    assert any("det" in each or "linalg" in each for each in told)
    assert any("about" in each and "% of a call" in each and Path(__file__).name in each for each in told)


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_what_has_kernels_throughout_is_not(program: xdsl_exir.Program) -> None:
    linear = torch.export.export(torch.nn.Linear(4, 3), (torch.ones(2, 4),))
    assert xdsl_exir.compile(xdsl_exir.from_exported_program(linear), "native").slow_paths == ()
    assert xdsl_exir.compile(program).slow_paths == ()  # nobody asks the interpreter


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_the_command_line_tells(
    program: xdsl_exir.Program, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program.save(tmp_path / "mixed.pt2")
    np.save(tmp_path / "x.npy", X.numpy())
    asked = [str(tmp_path / "mixed.pt2"), "--inputs", str(tmp_path / "x.npy"), "--target", "native"]
    assert main(["run", *asked, "--fallback", "interpreter", "--verbose"]) == 0
    assert "slow: " in capfd.readouterr().err
    assert main(["run", *asked, "--fallback", "interpreter"]) == 0
    assert "slow: " not in capfd.readouterr().err


def test_estimates_grow_with_the_work(program: xdsl_exir.Program) -> None:
    product = next(op for op in program.to_edge().method().walk() if op.name == "edge.aten.mm")
    with_kernel, without = estimate(Formed("Matmul", [product])), estimate(Formed(None, [product]))
    assert with_kernel == pytest.approx(2 * 24**3 / PRODUCTS, rel=0.5)
    assert without == pytest.approx(2 * 24**3 / NUMBERS, rel=0.5)


def test_sizes_that_have_no_value_with_small_symbols() -> None:
    """As those of windows, of which a small image has none."""
    of_windows = Expr.parse("s0 floordiv (s0 floordiv 224)")
    assert typical(of_windows) == 256
    assert typical(of_windows, {"s0": (500, 600)}) == 250
    assert typical(Expr.parse("s0 floordiv (s0 floordiv 5000)")) == 0
    assert typical(7) == 7
