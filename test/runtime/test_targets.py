"""Targets: found by name, on the command line too; what they say is what happens."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

from xdsl_exir import ExirError, Memory, Target, UnsupportedError, backend_op, register_target
from xdsl_exir.interpreter.backend import BACKENDS
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.executable import compile  # which registers its targets
from xdsl_exir.runtime.targets import TARGETS

X = "tensor<2x2xf32>"
TEXT = f"""
func.func @forward(%x: {X}) -> {X} {{
  %0 = aten.silu(%x) : ({X}) -> {X}
  %1 = aten.relu(%0) : ({X}) -> {X}
  %2 = aten.sin(%1) : ({X}) -> {X}
  func.return %2 : {X}
}}"""
INPUT = np.array([[-1, 0.5], [2, -3]], np.float32)


@pytest.fixture(autouse=True)
def _clean(clean: None) -> Iterator[None]:
    before, backends = dict(TARGETS), dict(BACKENDS)
    yield
    for held, kept in ((TARGETS, before), (BACKENDS, backends)):
        held.clear()
        held.update(kept)


def program() -> Program:
    return Program(Parser(context().clone(), TEXT).parse_module()).verify()


def target(**said: Any) -> Target:
    """One whose only operator counts how often it is run."""

    @backend_op("mini::silu_relu(Tensor x) -> Tensor")
    def silu_relu(aten: Any, x: Any) -> Any:
        return aten.relu(aten.silu(x))

    kernels = {"mini.silu_relu": lambda x: np.maximum(x / (1 + np.exp(-x)), 0)}
    given: dict[str, Any] = {"legal": ("mini.*",), "operators": (silu_relu,), "kernels": kernels, **said}
    return register_target(Target("mini", **given))


def test_kernels_run_what_is_fused_and_the_host_the_rest() -> None:
    mini = target()
    with pytest.raises(UnsupportedError, match=r"edge\.aten\.sin: mini has no such operator"):
        compile(program(), "mini")
    run = compile(program(), "mini", fallback="interpreter")
    assert [item.operator for item in run.fallbacks] == ["edge.aten.sin"]
    [found], [expected] = run.flat([INPUT]), compile(program()).flat([INPUT])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    lowered, _ = mini.lowered(program())
    assert "backend.mini.silu_relu" in str(lowered)
    # As others decomposed it, and without what it could run.
    assert str(mini.lowered(program().to_edge())[0]).count("backend.mini.silu_relu") == 1
    [found] = compile(program(), "mini", "interpreter", delegates="region").flat([INPUT])
    np.testing.assert_array_equal(found, expected)


def test_what_is_not_taken_is_decomposed() -> None:
    """Operators of its own too, where they are not legal, or the partitioner says no."""
    few = target(legal=("aten.sin",), kernels={"aten.sin": lambda self: np.sin(self) + 100})
    lowered, left = few.lowered(program())
    assert "mini." not in str(lowered)
    assert {item.operator for item in left} == {"edge.aten.sigmoid", "edge.aten.mul.Tensor", "edge.aten.relu"}
    [found] = compile(program(), few, "interpreter").flat([INPUT])
    assert np.all(found > 90)
    none = dataclasses.replace(few, legal=("mini.*",), partitioner=lambda op: "not today")
    assert "not today" in {item.reason for item in none.lowered(program())[1]}


def test_operators_to_keep_are_not_decomposed() -> None:
    kept = target(
        legal=("aten.silu",), operators=(), keep=("aten.silu",), kernels={"aten.silu": lambda self: self}
    )
    lowered, left = kept.lowered(program())
    assert "edge.aten.silu" in str(lowered)
    assert {item.operator for item in left} == {"edge.aten.relu", "edge.aten.sin"}


def test_memories() -> None:
    local = Memory("local", nbytes=256, alignment=64)
    mini = target(memories=(local,))
    assert mini.memory("local") is local
    # The first two are needed at a time, the third when they are not.
    first, second, third = local.place([(100, 0, 1), (100, 1, 2), (200, 3, 3)], mini.planner)
    assert {first, second} == {0, 128}
    assert third == 0
    assert not local.fits([(200, 0, 0), (100, 0, 0)])
    with pytest.raises(ExirError, match="memory local has 256 bytes, and 356 are needed"):
        local.place([(200, 0, 0), (100, 0, 0)])
    with pytest.raises(ExirError, match="target mini has no memory 'remote'"):
        mini.memory("remote")


def test_refusals() -> None:
    with pytest.raises(ExirError, match="no target 'nonesuch'; there is interpreter, native"):
        compile(program(), "nonesuch")
    mini = target(kernels={})
    with pytest.raises(UnsupportedError, match="delegate of backend mini: it is not registered"):
        compile(program(), mini, "interpreter")
    broken = dataclasses.replace(mini, kernels={"mini.other": print})
    register_target(broken)
    with pytest.raises(UnsupportedError, match=r"backend\.mini\.silu_relu: mini has no kernel for it"):
        compile(program(), broken, "interpreter")
    with pytest.raises(UnsupportedError, match="mini takes it as it was at edge"):
        mini.lowered(program().to("linalg"))


SOURCE = """
import numpy as np
import xdsl_exir
from xdsl_exir import Target, backend_op

@backend_op("mini::silu_relu(Tensor x) -> Tensor")
def silu_relu(aten, x):
    return aten.relu(aten.silu(x))

TARGET = xdsl_exir.register_target(Target(
    "mini", legal=("mini.*",), operators=(silu_relu,),
    kernels={"mini.silu_relu": lambda x: np.maximum(x / (1 + np.exp(-x)), 0)},
))
"""


@pytest.mark.parametrize("way", ["variable", "entry point"])
def test_found_by_name_on_the_command_line(way: str, tmp_path: Path) -> None:
    (tmp_path / "mini_target.py").write_text(SOURCE)
    (tmp_path / "model.mlir").write_text(TEXT)
    np.save(tmp_path / "x.npy", INPUT)
    environment = dict(os.environ)
    if way == "variable":
        environment["XDSL_EXIR_TARGETS"] = str(tmp_path / "mini_target.py")
    else:
        info = tmp_path / "mini-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mini\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[xdsl_exir.targets]\nmini = mini_target:TARGET\n")
        environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    arguments = ["run", "model.mlir", "--inputs", "x.npy", "--target", "mini", "--fallback", "interpreter"]
    done = subprocess.run(
        [sys.executable, "-m", "xdsl_exir", *arguments, "-o", "y.npz"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "edge.aten.sin: mini has no such operator" in done.stdout + done.stderr
    [expected] = compile(program()).flat([INPUT])
    [found] = np.load(tmp_path / "y.npz").values()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
