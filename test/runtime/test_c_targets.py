"""C libraries for other processors and systems than this one, and in other forms than a shared library."""

# pyright: basic

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir import ExirError
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.c.library import Artifact, compile_library
from xdsl_exir.runtime.openmp import find_openmp
from xdsl_exir.targets.cpu import machine as processors
from xdsl_exir.targets.cpu import objects
from xdsl_exir.targets.cpu.architectures import ARCHITECTURES, canonical
from xdsl_exir.targets.cpu.machine import processor
from xdsl_exir.tools.main import main

COMPILER = shutil.which("cc") or ""
pytestmark = pytest.mark.native
needs_compiler = pytest.mark.skipif(not COMPILER, reason="no C compiler (cc) is installed")

MACHINES = {"x86_64": 62, "aarch64": 183, "riscv64": 243}
"""What ELF calls them (e_machine)."""
TRIPLES = ["aarch64-linux-gnu", "riscv64-linux-gnu", "x86_64-linux-gnu", "wasm32"]
ROWS, INNER, COLUMNS = 96, 80, 72

MAIN = """
#include <stdio.h>
#include "net.h"
OTHER
static float x[NET_FORWARD_IN_X_ELEMENTS], y[NET_FORWARD_OUT0_ELEMENTS];
int main(int argc, char **argv) {
  if (net_load(argv[1]) != NET_OK) { fprintf(stderr, "%s\\n", net_error()); return 1; }
  if (fread(x, sizeof x, 1, stdin) != 1) return 2;
  if (net_forward(x, y) != NET_OK) return 3;
  fwrite(y, sizeof y, 1, stdout);
  net_free();
  return 0;
}
"""


@pytest.fixture(autouse=True)
def _tools(native_tools: None) -> None:
    pass


def net(scale: float = 1.0, half: str = "f16") -> Program:
    """A product, what libm's and the compiler's functions are called for, and a row-wise kernel; large enough for threads."""
    x = f'tensor<{ROWS}x{INNER}xf32> {{exir.input = #exir.input<user_input, "x">}}'
    w = f'tensor<{INNER}x{COLUMNS}xf32> {{exir.input = #exir.input<parameter, "w">}}'
    y, b = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{ROWS}x{COLUMNS}x{half}>"
    text = f"""
    func.func @forward(%x: {x}, %w: {w}) -> {y} {{
      %0 = edge.aten.mm(%x, %w) : (tensor<{ROWS}x{INNER}xf32>, tensor<{INNER}x{COLUMNS}xf32>) -> {y}
      %1 = edge.aten.sin(%0) : ({y}) -> {y}
      %2 = edge.aten._to_copy(%1, dtype = {half}) : ({y}) -> {b}
      %3 = edge.aten._to_copy(%2, dtype = f32) : ({b}) -> {y}
      %4 = edge.aten._softmax(%3, dim = -1, half_to_float = false) : ({y}) -> {y}
      func.return %4 : {y}
    }}"""
    from xdsl_exir.dialects.dtypes import Float
    from xdsl_exir.exchange.tensor_data import TensorData

    weight = np.linspace(-scale, scale, INNER * COLUMNS, dtype=np.float32).reshape(INNER, COLUMNS)
    return Program(Parser(context().clone(), text).parse_module(), {"w": TensorData.of(weight, Float)})


X = np.linspace(-1, 1, ROWS * INNER, dtype=np.float32).reshape(ROWS, INNER)


def machine_of(data: bytes) -> int:
    """The architecture of an ELF file."""
    assert data.startswith(b"\x7fELF\x02\x01")
    return struct.unpack_from("<H", data, 18)[0]


def files(artifact: Artifact) -> dict[str, bytes]:
    paths = (artifact.library, artifact.header, artifact.weights, artifact.source)
    return {path.name: path.read_bytes() for path in paths if path is not None}


def run_main(command: list[str], weights: Path) -> np.ndarray[Any, Any]:
    done = subprocess.run([*command, str(weights)], input=X.tobytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, np.float32).reshape(ROWS, COLUMNS)


def built(folder: Path, compiler: str, *words: str | Path, other: str = "") -> str:
    """A program around the library `net`, whose files are among the words."""
    (folder / "main.c").write_text(MAIN.replace("OTHER", other))
    command = [compiler, "-std=c11", "-Wall", "-Werror", "-o", "main", "main.c", f"-I{folder}"]
    subprocess.run([*command, *map(str, words), "-lm"], cwd=folder, check=True)
    return str(folder / "main")


def assert_right(found: np.ndarray[Any, Any], program: Program) -> None:
    expected = xdsl_exir.compile(program).flat([X])[0]
    np.testing.assert_allclose(found, expected, rtol=2e-2, atol=1e-6)
    np.testing.assert_allclose(np.median(np.abs(found / expected - 1)), 0, atol=1e-5)


# --- other processors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("triple", TRIPLES)
def test_code_is_for_the_triple_and_says_nothing_of_this_machine(
    triple: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = files(compile_library(net(), tmp_path / "one", "net", triple=triple, emit="obj"))
    arch = triple.partition("-")[0]
    if arch in MACHINES:
        assert machine_of(first["net.o"]) == MACHINES[arch]
    else:
        assert first["net.o"].startswith(b"\0asm")
    assert b"__kmpc_" not in first["net.o"]
    assert canonical(triple).encode() in first["net.h"]
    monkeypatch.setenv("XDSL_EXIR_CPU", "x86-64-v2" if processors.IS_X86 else "native")
    monkeypatch.setenv("XDSL_EXIR_CACHE", str(tmp_path / "other"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(7)))
    monkeypatch.setattr(processors, "host", None)
    assert files(compile_library(net(), tmp_path / "two", "net", triple=triple, emit="obj")) == first


def test_names_of_processors(tmp_path: Path) -> None:
    code = {
        name: files(compile_library(net(), tmp_path / name, "net", name, "riscv64-linux-gnu", "asm"))
        for name in ("rv64gc", "rv64gcv", "baseline")
    }
    assert code["baseline"]["net.s"] == code["rv64gc"]["net.s"]
    assert b"vfmacc" in code["rv64gcv"]["net.s"]
    assert b"vfmacc" not in code["rv64gc"]["net.s"]
    assert b"getauxval" in code["rv64gcv"]["net.c"]
    assert b"with v;" in code["rv64gcv"]["net.h"]


@pytest.mark.parametrize(
    ("cpu", "triple", "message"),
    [
        ("native", "riscv64-linux-gnu", "no processor 'native' for riscv64-unknown-linux-gnu; there is rv64gc, rv64gcv, baseline"),
        (None, "sparc-linux-gnu", "no triple 'sparc-linux-gnu': code is made for x86_64, aarch64, riscv64, wasm32"),
        (None, "aarch64-apple-darwin", "made for Linux.*for macOS and Windows there is none yet"),
        (None, "x86_64-pc-windows-msvc", "made for Linux.*for macOS and Windows there is none yet"),
        (None, "aarch64-linux-android", "gnu and musl"),
        (None, "wasm32", "for wasm32-unknown-unknown there are no libraries: --emit obj"),
    ],
)  # fmt: skip
def test_what_there_is_no_code_for(cpu: str | None, triple: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ExirError, match=message):
        compile_library(net(), tmp_path, "net", cpu, triple)


BFLOAT = """
define bfloat @main(bfloat %x) {
  %y = fadd bfloat %x, %x
  ret bfloat %y
}
"""
"""What our own code has none of: it computes with bfloat16 in float32."""


def test_types_that_llvm_makes_no_code_of() -> None:
    """It would end the process."""
    with pytest.raises(ExirError, match="bfloat: LLVM makes no code for wasm32 of it"):
        objects.one_module([BFLOAT], processor(triple="wasm32"), {})


def test_llvm_may_end_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not this one."""
    lacks_nothing = {"wasm32": replace(ARCHITECTURES["wasm32"], lacks=())}
    monkeypatch.setattr(objects, "ARCHITECTURES", {**ARCHITECTURES, **lacks_nothing})
    with pytest.raises(ExirError, match=r"the code generator crashed \(Aborted\)"):
        objects.one_module([BFLOAT], processor(triple="wasm32"), {})


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_halves_everywhere(half: str, tmp_path: Path) -> None:
    made = compile_library(net(half=half), tmp_path, "net", triple="wasm32", emit="obj")
    assert made.library.read_bytes().startswith(b"\0asm")


def test_other_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Their errors say so; for others, code can be made on them."""
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ExirError, match="native code runs on Linux, not on darwin"):
        xdsl_exir.compile(net(), "native")
    with pytest.raises(ExirError, match="native code runs on Linux, not on darwin"):
        compile_library(net(), tmp_path, "net")
    assert machine_of(
        compile_library(net(), tmp_path, "net", triple="aarch64-linux-gnu", emit="obj").library.read_bytes()
    )


def test_windows_is_told_at_once() -> None:
    script = "import os, sys; del os.register_at_fork; sys.platform = 'win32'; import xdsl_exir"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith(
        "ImportError: xdsl-exir needs a system with forks, as Linux, and this is win32"
    )


def test_without_a_compiler_for_the_triple(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(
        ExirError, match=r"needs riscv64-linux-gnu-gcc .*apt-get install gcc-riscv64-linux-gnu .*--emit obj"
    ):
        compile_library(net(), tmp_path, "net", triple="riscv64-linux-gnu")


@pytest.mark.parametrize("emit", ["so", "a"])
@pytest.mark.parametrize(
    ("triple", "cpu"),
    [("aarch64-linux-gnu", None), ("riscv64-linux-gnu", "rv64gc"), ("riscv64-linux-gnu", "rv64gcv")],
)
def test_other_processors_run_it(triple: str, cpu: str | None, emit: str, tmp_path: Path) -> None:
    """Under qemu, where that and a compiler are there."""
    compiler = shutil.which(f"{triple}-gcc")
    emulator = shutil.which(f"qemu-{triple.partition('-')[0]}")
    if compiler is None or emulator is None:
        pytest.skip(f"needs {triple}-gcc and qemu-user")
    artifact = compile_library(net(), tmp_path, "net", cpu, triple, emit)
    program = built(
        tmp_path, compiler, "-static" if emit == "a" else f"-Wl,-rpath,{tmp_path}", artifact.library
    )
    prefix = os.environ.get("QEMU_ROOTS", "/usr")
    root = f"{prefix}/{triple}"
    command = [emulator, "-cpu", "rv64,v=true" if cpu == "rv64gcv" else "max" if cpu is None else "rv64"]
    assert_right(run_main([*command, "-L", root, program], artifact.weights), net())
    if cpu == "rv64gcv":
        done = subprocess.run(
            [emulator, "-cpu", "rv64", "-L", root, program, str(artifact.weights)],
            input=X.tobytes(), capture_output=True, check=False,
        )  # fmt: skip
        assert b"lacks instructions" in done.stderr


# --- other forms ---------------------------------------------------------------------------------------------


@needs_compiler
def test_a_static_library(tmp_path: Path) -> None:
    """Two of them in one program: neither calls what is the other's."""
    one = compile_library(net(), tmp_path, "net", emit="a", threads=1)
    two = compile_library(net(2.0), tmp_path, "other", emit="a", threads=1)
    for first, second in ((one, two), (two, one)):
        program = built(
            tmp_path,
            COMPILER,
            first.library,
            second.library,
            other='#include "other.h"\nint (*const load)(const char *) = other_load;',
        )
        assert_right(run_main([program], one.weights), net())


@needs_compiler
@pytest.mark.parametrize("emit", ["obj", "asm"])
def test_an_object_and_its_source(emit: str, tmp_path: Path) -> None:
    artifact = compile_library(net(), tmp_path, "net", emit=emit, threads=1)
    assert artifact.source is not None
    program = built(tmp_path, COMPILER, artifact.library, artifact.source)
    assert_right(run_main([program], artifact.weights), net())


def test_text(tmp_path: Path) -> None:
    """LLVM IR that LLVM reads, of MLIR that MLIR reads."""
    from xdsl_exir.lowering.mlir import run_passes
    from xdsl_exir.targets.cpu.machine import llvm_binding

    artifact = compile_library(net(), tmp_path, "net", triple="aarch64-linux-gnu", emit="llvm")
    module = llvm_binding().parse_assembly(artifact.library.read_text())
    assert module.triple == "aarch64-unknown-linux-gnu"
    made = compile_library(net(), tmp_path, "net", triple="aarch64-linux-gnu", emit="mlir")
    assert run_passes(made.library.read_text(), (), "--split-input-file", "--verify-each")


@needs_compiler
def test_without_openmp(tmp_path: Path) -> None:
    names: dict[int, bytes] = {}
    for threads in (1, 2):
        artifact = compile_library(net(), tmp_path / str(threads), "net", threads=threads)
        names[threads] = artifact.library.read_bytes()
        comment = artifact.header.read_text().replace("\n *", "")  # its lines break anywhere
        assert ("no OpenMP" in comment) == (threads == 1)
    assert b"__kmpc_" in names[2]
    assert b"__kmpc_" not in names[1]
    with pytest.raises(ExirError, match="1 thread or more"):
        processor(threads=0)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net().save(tmp_path / "net.mlir")
    words = ["compile", str(tmp_path / "net.mlir"), "-o", str(tmp_path / "out")]
    assert main([*words, "--triple", "riscv64-linux-gnu", "--cpu", "baseline", "--emit", "obj"]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"net.o", "net.c", "net.h", "net.weights"}
    assert str(tmp_path / "out" / "net.o") in capsys.readouterr().out
    assert main([*words, "--emit", "so", "--triple", "wasm32"]) == 1
    assert "no libraries" in capsys.readouterr().err
    assert main([*words[:-1], str(tmp_path / "net.exir"), "--triple", "wasm32"]) == 1
    assert "--triple is of C libraries" in capsys.readouterr().err


def test_this_machines_architecture_is_known() -> None:
    assert platform.machine() in ARCHITECTURES


# --- several processors in one library -----------------------------------------------------------------------

LEVELS = {"x86-64": "Nehalem", "x86-64-v3": "Haswell"}
"""What emulators call a processor of a level, and none of the next one's."""


def of_all_levels(monkeypatch: pytest.MonkeyPatch, folder: Path, emit: str = "so") -> Artifact:
    monkeypatch.delenv("XDSL_EXIR_CPU", raising=False)
    return compile_library(net(), folder, "net", emit=emit, threads=1)


def result_of(command: list[str], weights: Path) -> bytes:
    return run_main(command, weights).tobytes()


@needs_compiler
@pytest.mark.skipif(not processors.IS_X86, reason="of x86-64")
@pytest.mark.parametrize("emit", ["so", "a"])
def test_code_is_chosen_when_the_library_is_loaded(
    emit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It computes what code for the best level computes that the processor can be."""
    folder = tmp_path / "all"
    artifact = of_all_levels(monkeypatch, folder, emit)
    assert "for x86-64, x86-64-v3, x86-64-v4." in artifact.header.read_text()
    program = built(folder, COMPILER, f"-Wl,-rpath,{folder}", artifact.library)
    made: dict[str, list[str]] = {}
    for level in ("x86-64", "x86-64-v3", "x86-64-v4"):
        alone = compile_library(net(), tmp_path / level, "net", level, threads=1)
        made[level] = [
            built(alone.header.parent, COMPILER, f"-Wl,-rpath,{alone.header.parent}", alone.library),
            str(alone.weights),
        ]
    best = [
        level
        for level, features in processors.X86.items()
        if features <= processor("native").enabled and level in made
    ][-1]
    assert result_of([program], artifact.weights) == result_of(made[best][:1], Path(made[best][1]))
    if (emulator := shutil.which("qemu-x86_64")) is None:
        pytest.skip("needs qemu-user for the other levels")
    results: set[bytes] = set()
    for level, cpu in LEVELS.items():
        found = result_of([emulator, "-cpu", cpu, program], artifact.weights)
        assert found == result_of([emulator, "-cpu", cpu, made[level][0]], Path(made[level][1]))
        assert_right(np.frombuffer(found, np.float32).reshape(ROWS, COLUMNS), net())
        results.add(found)
    assert len(results) == 2


def test_other_forms_have_code_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        "net: a program compiled by xdsl-exir, for x86-64-v3."
        not in of_all_levels(monkeypatch, tmp_path, "obj").header.read_text()
    )
    with pytest.raises(ExirError, match="nothing is called 'dll' that can be emitted"):
        compile_library(net(), tmp_path, "net", emit="dll")


# --- nothing beside it ---------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize("emit", ["so", "a"])
def test_weights_in_the_library(emit: str, tmp_path: Path) -> None:
    artifact = compile_library(net(), tmp_path, "net", emit=emit, threads=1, embed=True)
    assert artifact.weights == artifact.library
    assert {path.name for path in tmp_path.iterdir()} == {artifact.library.name, "net.h"}
    (tmp_path / "main.c").write_text(MAIN.replace("OTHER", "").replace("net_load(argv[1])", "net_load()"))
    words = [str(artifact.library), f"-I{tmp_path}", f"-Wl,-rpath,{tmp_path}", "-lm"]
    subprocess.run(
        [COMPILER, "-std=c11", "-Wall", "-Werror", "-o", "main", "main.c", *words], cwd=tmp_path, check=True
    )
    assert_right(run_main([str(tmp_path / "main")], tmp_path), net())
    with pytest.raises(ExirError, match="weights are embedded in libraries"):
        compile_library(net(), tmp_path, "net", emit="obj", embed=True)


@needs_compiler
def test_no_run_path_of_this_machine(tmp_path: Path) -> None:
    """Where the OpenMP runtime is, is no fact of the library's."""
    library = compile_library(net(), tmp_path, "net", threads=2).library.read_bytes()
    runtime = find_openmp()
    assert b"__kmpc_" in library
    assert str(runtime.parent).encode() not in library
    assert str(tmp_path).encode() not in library
    assert b"$ORIGIN\0" in library
