"""Object files: one for each dispatch and each driver, made once, by several processes."""

# pyright: basic

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xdsl_exir
from xdsl_exir.errors import ToolchainError
from xdsl_exir.lowering import mlir
from xdsl_exir.lowering.mlir import TO_LLVM
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu import compile as compiling
from xdsl_exir.targets.cpu import emit, objects
from xdsl_exir.targets.cpu.compile import Unit
from xdsl_exir.targets.cpu.machine import llvm_binding, processor

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native_tools")]


def layers(*sizes: int, last: str = "relu") -> Any:
    """Linear layers of these sizes, one after the other, with a ReLU between, and an operator after the last."""
    lines, types, before = (
        ["graph():", "    %x : [num_users=1] = placeholder[target=x]"],
        {"x": "float32[3, 8]"},
        "x",
    )
    names = [f"w{i}" for i in range(len(sizes))]
    lines += [f"    %{name} : [num_users=1] = placeholder[target={name}]" for name in names]
    width = 8
    for i, (name, size) in enumerate(zip(names, sizes, strict=True)):
        types[name] = f"float32[{width}, {size}]"
        function = last if i == len(sizes) - 1 else "relu"
        for made, operator, arguments in (
            (f"m{i}", "mm", f"%{before}, %{name}"),
            (f"a{i}", function, f"%m{i}"),
        ):
            lines.append(
                f"    %{made} : [num_users=1] = call_function[target=torch.ops.aten.{operator}.default]"
                f"(args = ({arguments},), kwargs = {{}})"
            )
        before, width = f"a{i}", size
    lines.append(f"    return ({before},)")
    return xdsl_exir.from_fx_text("\n".join(lines), types)


def run(program: Any, *sizes: int) -> tuple[np.ndarray, np.ndarray]:
    """What native code and the interpreter give for ones and small numbers."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((3, 8), np.float32)]
    width = 8
    for size in sizes:
        arrays.append(rng.standard_normal((width, size), np.float32) / 4)
        width = size
    return xdsl_exir.compile(program, "native").flat(arrays)[0], xdsl_exir.compile(program).flat(arrays)[0]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many objects each compilation made, on an empty cache."""
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path))
    counts: list[int] = []
    real = compiling.made

    def counting(units: Any, cpu: Any) -> list[bytes]:
        counts.append(len(units))
        return real(units, cpu)

    monkeypatch.setattr(compiling, "made", counting)
    return counts


def test_another_program_compiles_what_is_new(made: list[int]) -> None:
    for sizes, last in (
        ((24, 40), "relu"),  # two products and a driver
        ((24, 40), "relu"),  # nothing
        ((24, 40, 8), "relu"),  # a third layer, and the driver
        ((24, 40), "sigmoid"),  # the last layer changed: its product, and the driver, which calls another
    ):
        native, expected = run(layers(*sizes, last=last), *sizes)
        np.testing.assert_allclose(native, expected, rtol=1e-5, atol=1e-5)
    assert made == [3, 2, 2]


def test_equal_layers_are_one_object(made: list[int]) -> None:
    native, expected = run(layers(8, 8, 8, 8), 8, 8, 8, 8)
    np.testing.assert_allclose(native, expected, rtol=1e-5, atol=1e-5)
    assert made == [2]


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_objects_do_not_depend_on_how_many_make_them(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan_program(layers(24, 40, 8))
    units = compiling.units_of(planned.dispatches, [plan.driver for plan in planned.plans.values()])
    alone = [
        objects.emit_object(mlir.to_llvm_ir(unit.write(), unit.passes), planned.cpu, unit.optimiser)
        for unit in units
    ]
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)))
    monkeypatch.setattr(compiling, "WORTHWHILE", 1)
    assert compiling.made(units, planned.cpu) == alone


@pytest.mark.parametrize("cores", [1, 3])
def test_one_bad_unit_is_one_error(cores: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Wherever it is compiled; and nothing is kept."""
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)))
    monkeypatch.setattr(compiling, "WORTHWHILE", 1)
    text = "func.func @f{}() {{\n  %0 = llvm.mlir.constant(1 : i32) : i32\n  {}\n  return\n}}"
    units = [
        Unit(f"f{i}", str(i), TO_LLVM, lambda i=i: text.format(i, "nonsense" if i == 2 else ""))
        for i in range(4)
    ]
    with pytest.raises(ToolchainError, match="refused the module"):
        compiling.objects_of(units)
    assert not [*tmp_path.iterdir()]


def test_the_code_generator_says_what_llvm_refuses() -> None:
    with pytest.raises(ToolchainError, match="the code generator refused the module:\nLLVM refused the code"):
        objects.emit_elsewhere([("define i32 @f() { ret i64 0 }", emit.LOOPS)], processor())


def test_whichever_llvm_makes_it_an_object_is_the_same() -> None:
    """The library that MLIR's tools are linked with, where it is one of llvmlite's release, and llvmlite's."""
    planned = plan_program(layers(24, 8))
    library, _ = objects.library()
    emitters = [
        emit.emitter(llvm_binding, name, *objects.described(planned.cpu))
        for name in dict.fromkeys((library, ""))
    ]
    long = """define i32 @long(i32 %x) noinline optnone {
  %y = add i32 %x, %x
  ret i32 %y
}"""
    assert emit.level_of(long) == 0
    for llvm_ir in (*planned.llvm_ir(), long):
        code = [code_in(emitter(llvm_ir, emit.LOOPS)) for emitter in emitters]
        assert all(code)
        assert code == code[:1] * len(code)
        for emitter in emitters:
            with pytest.raises(RuntimeError):
                emitter(llvm_ir.replace("ret ", "ret i64 0 ;"), emit.LOOPS)


def code_in(data: bytes) -> bytes:
    """The code of an object file; other sections name the tools that made it."""
    sections = llvm_binding().ObjectFileRef.from_data(data).sections()
    return b"".join(section.data() for section in sections if section.is_text())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=4), st.data())
def test_answers_of_the_code_generator(objects: list[bytes], data: st.DataObject) -> None:
    """They are whole, or none: LLVM does not survive objects that are cut off."""
    whole = emit.answer(objects)
    assert emit.answered(whole) == objects
    cut = data.draw(st.integers(0, len(whole) - 1))
    flipped = bytearray(whole)
    flipped[cut] ^= 1 << data.draw(st.integers(0, 7))
    for other in (whole[:cut], whole + bytes(8), bytes(flipped)):
        with pytest.raises(ValueError, match="not whole"):
            emit.answered(other)


def test_the_code_generator_needs_nothing_of_the_package() -> None:
    """It starts in the time that LLVM takes to load."""
    code = "import runpy, sys; runpy.run_path(sys.argv[1]); print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-P", "-c", code, emit.__file__], capture_output=True, text=True, check=True
    )
    assert not {"xdsl", "xdsl_exir", "numpy", "sympy"} & {*said.stdout.split()}
