"""Programs whose operators with side effects PyTorch orders by tokens: imported without them, in the same order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.program import Program, context


class Effects(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, None, torch.Tensor]:
        torch.ops.aten._print("before")
        x = torch.linalg.solve(a, b)
        torch.ops.aten._print("after")
        return x, None, torch.linalg.cholesky(a @ a.T)


pytestmark = pytest.mark.filterwarnings("default")
INPUTS = torch.tensor([[2.0, 1.0], [0.5, 3.0]]), torch.tensor([1.0, -2.0])
EFFECTS = ["_print", "_linalg_check_errors", "_print", "_linalg_check_errors"]
AT_EDGE = ["_print", "_assert_async.msg", "_print", "_assert_async.msg"]


def exported() -> torch.export.ExportedProgram:
    return torch.export.export(Effects(), INPUTS).run_decompositions()


@pytest.fixture(scope="module", params=["live", "file"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    ep = exported()
    assert any("with_effects" in str(node.target) for node in ep.graph.nodes), "PyTorch uses tokens here"
    if request.param == "live":
        return xdsl_exir.from_exported_program(ep)
    path: Path = tmp_path_factory.mktemp("effects") / "effects.pt2"
    torch.export.save(ep, path)
    return xdsl_exir.load(path)


def effects(text: str) -> list[str]:
    return [
        name for line in text.splitlines() for name in (*EFFECTS[:2], AT_EDGE[1]) if f"aten.{name}(" in line
    ]


def test_order_and_signature(program: Program) -> None:
    assert effects(str(program)) == EFFECTS
    edge = program.to_edge().transform("canonicalize,cse,dce")
    assert effects(str(edge)) == AT_EDGE
    [function] = edge.methods.values()
    assert (len(function.args), len(function.function_type.outputs)) == (2, 2)
    again = Parser(context(), str(program)).parse_module()
    assert str(again) == str(program.module)


@pytest.mark.parametrize("stage", ["imported", "edge"])
def test_runs(program: Program, stage: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = xdsl_exir.compile(program.to_edge() if stage == "edge" else program)
    a, b = (tensor.numpy() for tensor in INPUTS)
    x, nothing, factor = run(a, b)
    expected = Effects()(*INPUTS)
    capsys.readouterr()
    assert nothing is None
    np.testing.assert_allclose(x, expected[0].numpy(), rtol=1e-5)
    np.testing.assert_allclose(factor, expected[2].numpy(), rtol=1e-5)
    run(a, b)
    assert capsys.readouterr().out == "before\nafter\n"
    with pytest.raises(ExirError, match="singular"):
        run(np.zeros_like(a), b)
    assert capsys.readouterr().out == "before\n"


def test_unknown_operators_are_named() -> None:
    class Printing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch._higher_order_ops.print("{x}", x=x)
            return x + 1

    ep = torch.export.export(Printing(), INPUTS[1:]).run_decompositions()
    with pytest.raises(UnsupportedError, match=r"higher_order\.with_effects"):
        xdsl_exir.from_exported_program(ep)
