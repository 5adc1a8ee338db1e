"""Numeric bisection: the first operation that differs, and the line of Python that it comes from."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

torch = pytest.importorskip("torch")

import xdsl_exir  # noqa: E402
from xdsl_exir import diff  # noqa: E402
from xdsl_exir.dialects import aten  # noqa: E402
from xdsl_exir.dialects.builder import Builder  # noqa: E402
from xdsl_exir.runtime.diff import verify_numerics  # noqa: E402
from xdsl_exir.tools.main import main  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        x = self.norm(self.first(x)).relu()
        return torch.nn.functional.dropout(x.sigmoid() * 2, 0.5, training=True)


class SoftplusForRelu(ModulePass):
    """A pass that is wrong."""

    name = "softplus-for-relu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for relu in list(op.walk()):
            if relu.name == "aten.relu":
                softplus = Builder(aten.OPERATORS, relu).call("aten.softplus", [relu.operands[0]], {})
                relu.results[0].replace_all_uses_with(softplus)
                relu.detach()
                relu.erase()


@pytest.fixture(scope="module")
def program() -> xdsl_exir.Program:
    torch.manual_seed(0)
    return xdsl_exir.from_exported_program(torch.export.export(Model(), (torch.from_numpy(X),)))


def test_stages_agree(program: xdsl_exir.Program) -> None:
    """Random numbers among them: both forms draw the same."""
    assert diff(program, program.to_core(), [X]) is None
    assert diff(program, program.to_edge(), [X]) is None


def test_the_first_operation_that_differs(program: xdsl_exir.Program) -> None:
    wrong = program.apply(SoftplusForRelu()).to_edge()
    found = diff(program, wrong, [X])
    assert found is not None
    assert found.node.startswith("relu, aten.relu")
    assert found.operations[0] == "aten.relu"
    line = next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if ".relu()" in text)
    assert f"test_diff.py:{line}" in found.location
    assert found.largest == pytest.approx(np.log(2), rel=0.5)
    assert str(found).startswith("relu, aten.relu")


def test_what_a_program_writes_to_its_inputs_stays_there() -> None:
    class Writing(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.add_(1), None, "mode"

    writing = xdsl_exir.from_exported_program(torch.export.export(Writing(), (torch.zeros(3),)))
    x = np.zeros(3, np.float32)
    assert diff(writing, writing.to_edge(), [x]) is None
    assert not x.any()


def test_values_of_other_nodes_that_are_not_there_are_passed_over(program: xdsl_exir.Program) -> None:
    """Without ancestry only the results are left to compare."""
    wrong = program.apply(SoftplusForRelu())
    for op in wrong.module.walk():
        op.attributes.pop("exir.origin", None)
    found = diff(program, wrong, [X])
    assert found is not None
    assert str(found).startswith("result 0: the first program gives ")


@pytest.mark.parametrize(("value", "other"), [(np.nan, 1.0), (np.inf, 1.0), (np.inf, -np.inf), (1.0, np.nan)])
def test_non_finite_values_differ(value: float, other: float) -> None:
    from xdsl_exir.runtime.diff import largest_difference

    assert largest_difference([value], [value], 0, 0) is None
    assert largest_difference([0.0, value], [0.0, other], 1e-4, 1e-4) == (np.inf, (1,))


def test_after_every_pass(program: xdsl_exir.Program) -> None:
    told: list[str] = []
    passes = (*program.passes("canonicalize,cse"), SoftplusForRelu(), DecomposeAten())
    with pytest.raises(
        xdsl_exir.ExirError, match=r"softplus-for-relu changes what the program computes: relu, "
    ):
        verify_numerics(program, passes, [X], report=told.append)
    assert told == ["canonicalize", "cse"]


def test_command_line(program: xdsl_exir.Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, wrong, inputs = (str(tmp_path / name) for name in ("model.mlir", "wrong.mlir", "x.npy"))
    program.save(model)
    program.apply(SoftplusForRelu()).save(wrong)
    np.save(inputs, X)
    assert main(["diff", model, f"{model}@edge", "--inputs", inputs]) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert main(["diff", model, wrong, "--inputs", inputs]) == 1
    assert capsys.readouterr().out.startswith("relu, aten.relu")
    assert main(["diff", model, "-p", "decompose-aten,aten-to-edge", "--inputs", inputs]) == 0
    assert capsys.readouterr().out == "decompose-aten: no difference\naten-to-edge: no difference\n"
    assert main(["import", model, "-p", "decompose-aten", "--verify-numerics", inputs]) == 0
    assert "aten.addmm" in capsys.readouterr().out
    assert main(["diff", model]) == 1
    assert "give either a second program or passes" in capsys.readouterr().err
