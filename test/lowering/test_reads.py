"""Sizes that native code reads out of memory: programs are native throughout, at every stage, and results are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from modules import Function

import xdsl_exir
from xdsl_exir.dialects.expr import Dim, Expr, apply, ceildiv, max_, min_
from xdsl_exir.errors import UnsupportedError
from xdsl_exir.importers.mlir import read_module
from xdsl_exir.interpreter.operators.symbolic import AssertionFailed
from xdsl_exir.lowering.reads import most
from xdsl_exir.runtime.executable import Executable
from xdsl_exir.runtime.fallback import SplitEngine
from xdsl_exir.runtime.native import NativeEngine
from xdsl_exir.tools.main import main

X = torch.linspace(-3, 2, 24).reshape(6, 4)
W = torch.linspace(-1, 1, 20).reshape(4, 5)


def counted(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A number that is a result as well."""
    count = (x > 0).sum()
    number = count.item()
    torch._check(number >= 0)
    return count, torch.arange(number) * 2


PICKING: dict[str, Callable[..., Any]] = {
    "nonzero": lambda x, w: torch.nonzero(x > 0),
    "transposed": lambda x, w: torch.nonzero(x > 0).T * 2,
    "where": lambda x, w: torch.where(x > 0),
    "masked_select": lambda x, w: torch.masked_select(x, x > 0) * 2 + 1,
    "rows": lambda x, w: torch.softmax(x[x.sum(1) > 0] @ w, 1),
    "rows of rows": lambda x, w: x[x[:, 0] > -2][:, 1:].relu(),
    "unique": lambda x, w: torch.unique(x.round(), return_inverse=True, return_counts=True),
    "two": lambda x, w: (x[x > 0].sum(), x[x <= 0].cumsum(0)),
    "size": lambda x, w: (x[x > 0].shape[0] * 2, x[x > 0]),
    "number beside": lambda x, w: (*counted(x), w.sum()),
    "constant": lambda x, w: x[torch.tensor([True, False, True, True, False, True])] * w.sum(),
    "both": lambda x, w: torch.cat([x[x > 1], x[x < -1]]),
}
NATIVE = ("dispatches", "buffers", "planned", "kernels")


def program(name: str, **options: Any) -> xdsl_exir.Program:
    exported = torch.export.export(Function(PICKING[name]), (X, W), **options)
    return xdsl_exir.from_exported_program(exported)


def assert_as_eager(run: Executable, name: str, *shifts: float) -> None:
    """Inputs that are shifted have some, all, or no elements that are picked."""
    for shift in shifts:
        got, expected = run(X + shift, W), PICKING[name](X + shift, W)
        for a, b in zip(flat(got), flat(expected), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), 1.3e-6, 1e-5)


def flat(values: Any) -> list[Any]:
    return list(values) if isinstance(values, tuple | list) else [values]


SHIFTS = 0.0, 9.0, -9.0, 0.5


@pytest.mark.native
@pytest.mark.parametrize("name", PICKING)
def test_native_throughout(name: str) -> None:
    run = xdsl_exir.compile(program(name), "native")
    assert isinstance(run.engine, NativeEngine)
    assert_as_eager(run, name, *SHIFTS)


@pytest.mark.native
@pytest.mark.parametrize("target", ["interpreter", "native"])
def test_write_through_a_view_whose_size_is_read(target: Any) -> None:
    def written(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y.tensor_split(at, 0)[1].T[1:].mul_(2)
        return y

    example = torch.tensor([1, 3, 4])
    program = xdsl_exir.from_exported_program(torch.export.export(Function(written), (X, example)))
    run = xdsl_exir.compile(program, target)
    for at in (example, torch.tensor([3, 1, 4]), torch.tensor([0, 9, -1]), torch.tensor([2, 2, 2])):
        np.testing.assert_array_equal(np.asarray(run(X, at)), written(X, at))


@pytest.mark.native
@pytest.mark.parametrize("name", ["nonzero", "rows", "unique"])
def test_symbolic_inputs(name: str) -> None:
    dynamic = {0: torch.export.Dim("n", min=2)}, None
    run = xdsl_exir.compile(program(name, dynamic_shapes=(dynamic,)), "native")
    assert isinstance(run.engine, NativeEngine)
    assert_as_eager(run, name, *SHIFTS)
    for rows in (2, 50):
        x = torch.linspace(-4, 4, rows * 4).reshape(rows, 4)
        for a, b in zip(flat(run(x, W)), flat(PICKING[name](x, W)), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), 1.3e-6, 1e-5)


@pytest.mark.parametrize("stage", NATIVE[:-1])
@pytest.mark.parametrize("name", ["rows", "unique", "size"])
def test_interpreted_at_every_stage(name: str, stage: str) -> None:
    lowered = program(name).to(stage)
    assert_as_eager(xdsl_exir.compile(lowered, "interpreter"), name, *SHIFTS)


@pytest.mark.native
@pytest.mark.parametrize("stage", NATIVE)
def test_compiled_from_every_stage(stage: str) -> None:
    made = program("rows").to(stage)
    lowered = xdsl_exir.Program(read_module(str(made), stage), made.state)
    assert lowered.text(generic=True) == made.text(generic=True)
    assert_as_eager(xdsl_exir.compile(lowered, "native"), "rows", *SHIFTS)


@pytest.mark.native
def test_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program("unique").save(tmp_path / "unique.pt2")
    main(["memory", str(tmp_path / "unique.pt2")])
    assert "_unique2" in capsys.readouterr().out
    main(["import", str(tmp_path / "unique.pt2"), "--stage", "llvm"])
    assert "define void @" in capsys.readouterr().out


@pytest.mark.native
def test_saved(tmp_path: Path) -> None:
    xdsl_exir.compile(program("unique"), "native").save(tmp_path / "unique.exir")
    assert_as_eager(xdsl_exir.load_executable(tmp_path / "unique.exir"), "unique", *SHIFTS)


@pytest.mark.native
@pytest.mark.parametrize("target", ["interpreter", "native"])
def test_what_is_asserted_of_a_size_that_is_read(target: str) -> None:
    def few(x: torch.Tensor) -> torch.Tensor:
        places = torch.nonzero(x > 0)
        torch._check(places.shape[0] <= 12)
        return places + 1

    exported = torch.export.export(Function(few), (X,))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target)
    np.testing.assert_array_equal(np.asarray(run(X)), few(X).numpy())
    with pytest.raises(AssertionFailed, match="u0 <= 12"):
        run(X + 9)


HOSTED: dict[str, tuple[Callable[..., Any], torch.Tensor]] = {
    "no bound": (lambda i: torch.bincount(i), torch.tensor([3, 1, 1])),
    "much memory": (lambda i: torch.nonzero(i), torch.zeros(3 << 22)),
}


@pytest.mark.native
@pytest.mark.parametrize("name", HOSTED)
def test_what_is_left_to_the_host(name: str) -> None:
    function, given = HOSTED[name]
    exported = torch.export.export(Function(function), (given,))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    assert isinstance(run.engine, SplitEngine)
    np.testing.assert_array_equal(np.asarray(run(given)), function(given).numpy())


@pytest.mark.native
def test_a_library_reads_sizes_itself(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="u0: is read in native code"):
        xdsl_exir.compile_library(program("nonzero").to("planned"), tmp_path, "nonzero")


U, S = Expr.symbol("u0"), Expr.symbol("s0")


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (S * 3, S * 3),
        (U, S * 4),
        (U * 8 + 16, S * 32 + 16),
        (10 - U, 10),
        (ceildiv(U, 4) * 4, S * 4),
        (apply("mod", U, 4), 3),
        (max_(U, 7), max_(S * 4, 7)),
        (min_(U, 7), min_(S * 4, 7)),
        (U * U, S * S * 16),
        (apply("floordiv", 100, U), None),
        (U * (S - 5), S * S * 4),
    ],
    ids=str,
)
def test_most(size: Dim, expected: Dim | None) -> None:
    assert most(size, {"u0": S * 4}) == expected
