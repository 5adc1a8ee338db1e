"""`tune`: what is measured decides what later compiles do, and results stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.runtime import tune as tuning
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.machine import processor
from xdsl_exir.targets.cpu.tuning import learned
from xdsl_exir.tools.main import main

pytestmark = pytest.mark.native

PRODUCTS = """func.func @forward(%a: tensor<6x20xf32>, %b: tensor<20x18xf32>, %c: tensor<18x20xf32>) -> tensor<6x18xf32> {
  %0 = aten.mm(%a, %b) : (tensor<6x20xf32>, tensor<20x18xf32>) -> tensor<6x18xf32>
  %1 = aten.mm(%0, %c) : (tensor<6x18xf32>, tensor<18x20xf32>) -> tensor<6x20xf32>
  %2 = aten.mm(%1, %b) : (tensor<6x20xf32>, tensor<20x18xf32>) -> tensor<6x18xf32>
  func.return %2 : tensor<6x18xf32>
}"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program, and measurements by which what was compiled last is best."""
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "cache"))
    seconds = dict[Callable[[], object], float]()

    def timed(call: Callable[[], object]) -> float:
        call()
        return seconds.setdefault(call, 1 / (1 + len(seconds)))

    monkeypatch.setattr(tuning, "timed", timed)
    monkeypatch.setattr(tuning, "HOPELESS", float("inf"))
    (tmp_path / "products.mlir").write_text(PRODUCTS)
    return tmp_path / "products.mlir"


def kernels(program: xdsl_exir.Program) -> list[Kernel]:
    return [kernel for kernel in plan_program(program).dispatches.scheduled if isinstance(kernel, Kernel)]


def test_what_is_best_is_compiled(path: Path) -> None:
    program = xdsl_exir.load(path)
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape, np.float32) for shape in ((6, 20), (20, 18), (18, 20))]
    [before] = xdsl_exir.compile(program, "native").flat(arrays)
    rules = kernels(program)
    found = list(xdsl_exir.tune(program))
    assert [each.problem for each in found] == rules
    assert [each.count for each in found] == [2, 1]
    assert [each.choice for each in found] == [each.problem.choices[-1] for each in found]
    assert all(each.after < each.before for each in found)
    assert learned(processor()) == {each.problem.key: each.choice for each in found}
    assert kernels(program) == [each.problem.chosen(each.choice) for each in found] != rules
    [after] = xdsl_exir.compile(program, "native").flat(arrays)
    np.testing.assert_array_equal(after, before)
    assert learned(processor("baseline")) == {}


def test_chance_is_no_choice(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "WORTHWHILE", 0.0)
    program = xdsl_exir.load(path)
    rules = kernels(program)
    assert all(each.after == each.before for each in xdsl_exir.tune(program))
    assert kernels(program) == rules


def test_command(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(path)]) == 0
    _, first, second, last = capsys.readouterr().out.splitlines()
    assert "2x Matmul m=6 n=18 k=20 rhs=row_major: rows=" in first
    assert "1x Matmul m=6 n=20 k=18 rhs=row_major: rows=" in second
    assert last.endswith("all of them once")
    assert main(["tune", str(path), "--cpu", "nothing"]) == 1
    assert "no processor 'nothing'" in capsys.readouterr().err
