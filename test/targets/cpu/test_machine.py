"""The processor that code is for: names, what LLVM and C's check are told of it, and that both mean the same."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.c.cpu import cpu_check
from xdsl_exir.targets.cpu import machine as processors
from xdsl_exir.targets.cpu import objects
from xdsl_exir.targets.cpu.machine import FEATURES, LEVELS, Processor, host, processor

pytest.importorskip("llvmlite", reason="needs llvmlite: pip install llvmlite==0.50.0")
pytestmark = [
    pytest.mark.usefixtures("native_tools"),
    pytest.mark.skipif(not processors.IS_X86, reason="of other architectures there is `native` alone"),
]
LOOP = """
func.func @f(%x: memref<64xf32>) attributes {llvm.emit_c_interface} {
  %c = arith.constant dense<2.0> : vector<32xf32>
  %i = arith.constant 0 : index
  %v = vector.load %x[%i] : memref<64xf32>, vector<32xf32>
  %w = arith.mulf %v, %c : vector<32xf32>
  vector.store %w, %x[%i] : memref<64xf32>, vector<32xf32>
  return
}
"""
RUNNABLE = [name for name, level in LEVELS.items() if level <= host().enabled]


@pytest.fixture
def program() -> xdsl_exir.Program:
    text = """
        func.func @forward(%x: tensor<8xf32>) -> tensor<8xf32> {
          %0 = edge.aten.relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
          func.return %0 : tensor<8xf32>
        }"""
    return Program(Parser(context().clone(), text).parse_module())


def test_unknown_names_are_refused(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for target in ("interpreter", "native"):
        with pytest.raises(
            xdsl_exir.ExirError, match=r"^no processor 'z80'; there is native, x86-64, .*x86-64-v4"
        ):
            xdsl_exir.compile(program, target, cpu="z80")
    monkeypatch.setenv("XDSL_EXIR_CPU", "z80")
    with pytest.raises(xdsl_exir.ExirError, match=r"^XDSL_EXIR_CPU: no processor 'z80'"):
        xdsl_exir.compile(program, "native")


def test_the_environment_says_what_the_argument_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDSL_EXIR_CPU", "x86-64-v3")
    assert processor() == processor("x86-64-v3") != processor("x86-64")
    monkeypatch.setenv("XDSL_EXIR_CPU", "")
    assert processor() == processor("native") == host()


def test_levels_have_their_registers() -> None:
    lanes = {name: processor(name).machine().lanes for name in LEVELS}
    assert lanes == {"x86-64": 4, "x86-64-v2": 4, "x86-64-v3": 8, "x86-64-v4": 16}


def test_objects_are_of_one_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path))
    names = [*LEVELS, "native"]
    made = {name: objects.compile_object(LOOP, cpu=processor(name)) for name in names}
    assert len(list(tmp_path.iterdir())) == len(names)
    assert made["x86-64"] != made["x86-64-v3"] != made["x86-64-v4"]
    assert capfd.readouterr().err == ""  # LLVM knows all features that it is told of


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_program_runs_on_lower_levels(program: Any, name: str) -> None:
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    assert np.array_equal(xdsl_exir.compile(program, "native", cpu=name)(x)[0], np.maximum(x, 0))


def test_what_cannot_run_here_is_refused(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "host", lambda: processor("x86-64-v2"))
    with pytest.raises(xdsl_exir.ExirError, match="cannot run code for x86-64-v3: it has no avx, avx2, bmi"):
        xdsl_exir.compile(program, "native", cpu="x86-64-v3")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc) is installed")
def test_c_asks_the_processor_for_each_feature(tmp_path: Path) -> None:
    """By the bits of our table, which have to say what LLVM finds."""
    checks = [
        cpu_check([Processor("one", f"+{name}")])
        .replace("has(", f"has_{i}(")
        .replace("saves(", f"saves_{i}(")
        .replace("static bool usable(", f"bool usable_{i}(")
        for i, name in enumerate(FEATURES)
    ]
    source = tmp_path / "checks.c"
    source.write_text("#include <cpuid.h>\n#include <stdbool.h>\n#include <stdint.h>\n" + "\n".join(checks))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "checks.so", source], check=True)
    library = ctypes.CDLL(str(tmp_path / "checks.so"))
    said = {name for i, name in enumerate(FEATURES) if getattr(library, f"usable_{i}")() & 1}
    assert said == host().enabled & FEATURES.keys()
    assert {name: processor(name).checked.keys() for name in LEVELS} == LEVELS


FUSED = """
func.func @fused(%x: memref<64xf32>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%zero], %pad {in_bounds = [true]} : memref<64xf32>, vector<8xf32>
  %y = math.fma %v, %v, %v : vector<8xf32>
  vector.transfer_write %y, %x[%zero] {in_bounds = [true]} : vector<8xf32>, memref<64xf32>
  func.return
}
"""


@pytest.mark.parametrize(
    ("cpu", "triple"),
    [
        ("x86-64", None),
        ("x86-64-v2", None),
        ("x86-64-v3", None),
        (None, "wasm32"),
        (None, "aarch64-linux-gnu"),
    ],
)
def test_no_function_is_called_for_a_product_and_a_sum(cpu: str | None, triple: str | None) -> None:
    """Of processors without an instruction for both: C's function takes a hundred times as long as two."""
    target = processor(cpu, triple)
    assert target.fuses == (cpu == "x86-64-v3" or triple == "aarch64-linux-gnu")
    assert b"fmaf" not in objects.compile_object(FUSED, cpu=target)
