"""Code of whole programs in the cache: what was compiled is found, what differs in anything is planned anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import xdsl_exir
from runtime.test_cache import DAMAGE
from xdsl_exir import Program
from xdsl_exir.dialects.registry import REGISTRIES
from xdsl_exir.interpreter.operators import IMPLS
from xdsl_exir.limits import LIMITS
from xdsl_exir.runtime import fallback, kept_code
from xdsl_exir.runtime.native import NativeEngine
from xdsl_exir.targets.cpu import machine
from xdsl_exir.targets.cpu.machine import processor

pytestmark = pytest.mark.native


class Net(nn.Module):
    """Convolutions with norms, which are folded and packed, a table that is used as it is, and a buffer that is written to."""

    def __init__(self, blocks: int = 6):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv1d(8, 8, 3, padding=1), nn.BatchNorm1d(8), nn.GELU(), nn.Conv1d(8, 8, 1))
            for _ in range(blocks)
        )
        self.table = nn.Parameter(torch.randn(40, 16))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        self.calls += 1  # pyright: ignore
        for block in self.blocks:
            x = x + block(x)
        return x.softmax(-1) @ self.table[at].sum(0).reshape(16, 1) + self.calls


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kept_code, "LIMITS", LIMITS)
    for registry in REGISTRIES:  # other tests of this process have functions of their own
        monkeypatch.setattr(registry, "altered", False)
    return tmp_path / "cache"


@pytest.fixture
def plannings(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """The programs that are planned."""
    planned: list[Program] = []
    before = fallback.planned_engine

    def told(program: Program, *rest: Any) -> Any:
        planned.append(program)
        return before(program, *rest)

    monkeypatch.setattr(fallback, "planned_engine", told)
    return planned


def exported(seed: int = 0, batch: int | None = None) -> tuple[Program, Sequence[np.ndarray[Any, Any]]]:
    """The program, and what it takes."""
    torch.manual_seed(seed)
    model = Net().eval()
    args = torch.randn(2, 8, 16), torch.tensor([1, 5, 1])
    sizes = None if batch is None else ({0: torch.export.Dim("batch", max=batch)}, None)
    program = xdsl_exir.from_exported_program(torch.export.export(model, args, dynamic_shapes=sizes))
    return program, [arg.numpy() for arg in args]


@pytest.mark.parametrize("batch", [None, 8])
def test_code_is_found_again(directory: Path, plannings: list[Program], batch: int | None) -> None:
    program, args = exported(batch=batch)
    first = xdsl_exir.compile(program, "native")
    expected = [first(*args), first(*args)]
    program, _ = exported(batch=batch)
    run = xdsl_exir.compile(program, "native")
    assert len(plannings) == 1
    assert [run(*args).tobytes(), run(*args).tobytes()] == [each.tobytes() for each in expected]
    assert (expected[0] != expected[1]).any(), "the buffer is written to"
    assert run.slow_paths == first.slow_paths
    [entry] = [path for path in directory.glob("*.entry") if b'"methods"' in path.read_bytes()[:100_000]]
    assert program.state["table"].numpy().tobytes() not in entry.read_bytes(), "the program has it"


CHANGES: dict[str, Callable[[Program], Program]] = {
    "a weight": lambda program: replace(
        program, state={**program.state, "blocks.0.0.weight": exported(1)[0].state["blocks.0.0.weight"]}
    ),
    "edge": Program.to_edge,
    "a line": lambda program: _moved(program),
}


def _moved(program: Program) -> Program:
    """The same program, of which one operation is from elsewhere."""
    module = program.module.clone()
    first, *_, last = next(iter(program.methods.values())).body.block.ops
    moved, *_ = (op for op in module.walk() if op.name == first.name)
    moved.location = last.location
    return replace(program, module=module)


@pytest.mark.parametrize("change", CHANGES)
def test_another_program_is_planned(directory: Path, plannings: list[Program], change: str) -> None:
    program, args = exported()
    before = xdsl_exir.compile(program, "native")(*args)
    other = CHANGES[change](program)
    run = xdsl_exir.compile(other, "native")
    assert len(plannings) == 2
    np.testing.assert_allclose(run(*args), xdsl_exir.compile(other)(*args), rtol=1e-4, atol=1e-5)
    assert (change == "a weight") == (not np.allclose(run(*args) - 1, before, rtol=1e-4, atol=1e-5))


def test_another_processor_is_planned_for(directory: Path, plannings: list[Program]) -> None:
    for cpu in ("x86-64", "x86-64-v2", "x86-64"):
        xdsl_exir.compile(exported()[0], "native", cpu=cpu)
    assert len(plannings) == 2


def test_other_threads_are_planned_for(
    directory: Path, plannings: list[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    for cores in (1, 2, 1):
        monkeypatch.setattr(machine, "cores", lambda cores=cores: cores)
        run = xdsl_exir.compile(exported()[0], "native")
        assert isinstance(run.engine, NativeEngine)
        assert run.engine.code.cpu.threads == cores
    assert len(plannings) == 2


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entries_are_replaced(directory: Path, plannings: list[Program], damage: str) -> None:
    program, args = exported()
    expected = xdsl_exir.compile(program, "native")(*args)
    for path in directory.glob("*.entry"):
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    for _ in range(2):
        assert xdsl_exir.compile(program, "native")(*args).tobytes() == expected.tobytes()
    assert len(plannings) == 2


def test_what_no_key_says_is_not_kept(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = exported()
    assert kept_code.kept_code(program, processor()) is not None
    for name, value in (("FEW", 1000), ("LIMITS", replace(LIMITS, program_bytes=1000))):
        with monkeypatch.context() as patch:
            patch.setattr(kept_code, name, value)
            assert kept_code.kept_code(program, processor()) is None
    with monkeypatch.context() as patch:
        patch.setenv("XDSL_EXIR_OPT_LIMIT", "dce=1")
        assert kept_code.kept_code(program, processor()) is None
    with monkeypatch.context() as patch:
        patch.setattr(IMPLS, "altered", IMPLS.altered)
        IMPLS.override("aten.gelu", IMPLS.override("aten.gelu", None))
        assert kept_code.kept_code(program, processor()) is None


def test_weights_that_are_loaded_are_not_kept(directory: Path, plannings: list[Program]) -> None:
    program, _ = exported()
    run = xdsl_exir.compile(program, "native")
    before = len([*directory.iterdir()])
    run.load_state({"table": np.ones((40, 16), np.float32)}, strict=False)
    assert len(plannings) == 2
    assert len([*directory.iterdir()]) == before
