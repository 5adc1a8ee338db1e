"""The models of ordinary.py: interpreter and native code against eager PyTorch, from both dialects of torch.export."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import xdsl_exir

torch = pytest.importorskip("torch")

from ordinary import ORDINARY  # noqa: E402

# PyTorch's own warnings while it exports; nothing of ours warns.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"
)


def leaves(outputs: Any) -> list[Any]:
    return [x.numpy() for x in torch.utils._pytree.tree_leaves(outputs)]


def exported(name: str) -> tuple[list[xdsl_exir.Program], list[Any], list[list[Any]]]:
    """A model imported from both dialects, its inputs, and what eager PyTorch gives at a first and a second call."""
    torch.manual_seed(0)
    model, inputs = ORDINARY[name]()
    with torch.no_grad():
        training = torch.export.export(model, inputs)
        programs = [xdsl_exir.from_exported_program(x) for x in (training, training.run_decompositions())]
        # A call may change buffers, which the exported programs share.
        eager = copy.deepcopy(model)
        expected = [leaves(copy.deepcopy(eager(*inputs))) for _ in range(2)]
    return programs, [x.numpy() for x in inputs], expected


def assert_calls(run: xdsl_exir.Executable, inputs: list[Any], expected: list[list[Any]]) -> None:
    for call in expected:
        for got, wanted in zip(run.flat(inputs), call, strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ORDINARY)
def test_interpreter_equals_eager(name: str):
    programs, inputs, expected = exported(name)
    for program in programs:
        for stage in (program, program.to_edge()):
            assert_calls(xdsl_exir.compile(stage), inputs, expected)


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.usefixtures("native_tools")
def test_native_code_equals_eager(name: str):
    programs, inputs, expected = exported(name)
    for program in programs:
        assert_calls(xdsl_exir.compile(program, target="native"), inputs, expected)


@pytest.mark.parametrize("name", ORDINARY)
def test_drivers_equal_eager(name: str):
    """Lowered as far as the interpreter runs it: dispatches over planned memory."""
    programs, inputs, expected = exported(name)
    assert_calls(xdsl_exir.compile(programs[-1].to("dispatches").to("planned")), inputs, expected)
