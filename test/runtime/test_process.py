"""What the process has that runs programs: its memory, its open files, how its processor rounds, its signals. Calls leave them alone."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import resource
import shutil
import signal
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import xdsl_exir
from xdsl_exir.dialects import dtypes as dt
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.c.library import compile_library
from xdsl_exir.runtime.executable import Executable
from xdsl_exir.runtime.linking import load_objects
from xdsl_exir.runtime.native import plan_program

TEXT = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = placeholder[target=y]
    %m : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%x, %y), kwargs = {})
    %z : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, %m), kwargs = {})
    return (z,)"""
TYPES = {"x": "float32[16, 16]", "y": "float32[16, 16]"}
X = np.linspace(-1, 1, 256, dtype=np.float32).reshape(16, 16)
EYE = np.eye(16, dtype=np.float32)


@pytest.fixture(params=["interpreter", "native"])
def run(request: Any) -> Executable:
    if request.param == "native":
        request.getfixturevalue("native_tools")
    return xdsl_exir.compile(xdsl_exir.from_fx_text(TEXT, TYPES), request.param)


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_calls_take_no_more_memory(run: Executable) -> None:
    calls = 20_000 if "Native" in type(run.engine).__name__ else 2_000
    for _ in range(calls // 10):
        run.flat([X, EYE])
    before, files = resident(), open_files()
    for _ in range(calls):
        run.flat([X, EYE])
    assert resident() - before < 2 << 20
    assert open_files() == files


@pytest.mark.native
def test_compiled_code_goes_with_its_program() -> None:
    """LLVM's JIT keeps some 9 kB of each library that it was given, as long as it lives."""
    program = xdsl_exir.from_fx_text(TEXT, TYPES)
    code = plan_program(program).objects()
    for _ in range(50):
        load_objects(code)
    before = resident()
    for _ in range(800):
        load_objects(code)
    assert resident() - before < 1 << 20


@pytest.mark.native
def test_packed_weights_are_held_once(tmp_path: Path) -> None:
    """What a file has is read again by who asks for it."""
    weight = "tensor<1024x1024xf32>"
    state = {"w": TensorData.of(np.ones((1024, 1024), np.float32), dt.Float)}
    text = f"""func.func @f(%w: {weight} {{exir.input = #exir.input<parameter, "w">}},
                            %x: tensor<4x1024xf32> {{exir.input = #exir.input<user_input, "x">}}) -> tensor<4x1024xf32> {{
      %0 = aten.mm(%x, %w) : (tensor<4x1024xf32>, {weight}) -> tensor<4x1024xf32>
      func.return %0 : tensor<4x1024xf32>
    }}"""
    path = tmp_path / "w.pt2"
    Program(Parser(context().clone(), text).parse_module(), state).save(path)
    program = xdsl_exir.load(path)
    tracemalloc.start()
    try:
        run = xdsl_exir.compile(program, target="native")
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 4 << 20 <= held < 6 << 20
    (actual,) = run.flat([np.ones((4, 1024), np.float32)])
    np.testing.assert_array_equal(actual, 1024)


def test_denormals(run: Executable) -> None:
    """The smallest numbers there are, products with them and products that are such."""
    tiny = np.full((16, 16), np.finfo(np.float32).smallest_subnormal * 3)
    np.testing.assert_array_equal(run.flat([np.ones_like(X), EYE * tiny])[0], tiny)
    small = np.full((16, 16), 1e-20, np.float32)
    [product] = run.flat([small, EYE])
    np.testing.assert_array_equal(product, small * small)
    assert product.all()


@pytest.mark.parametrize("mode", [0x000, 0x400, 0x800, 0xC00])
def test_rounding_modes_stay(run: Executable, mode: int) -> None:
    """`fesetround` of x86: what others set is set after a call."""
    libm = ctypes.CDLL("libm.so.6")
    wanted = run.flat([X, EYE])[0]
    before = libm.fegetround()
    if libm.fesetround(mode):
        pytest.skip("this processor has other rounding modes")
    try:
        got = run.flat([X, EYE])[0]
        after = libm.fegetround()
    finally:
        libm.fesetround(before)
    assert after == mode
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_signals(run: Executable) -> None:
    """A handler that runs in the middle of calls, and calls itself."""
    wanted, seen = run.flat([X, EYE])[0], list[bool]()

    def handle(*_: object) -> None:
        seen.append(np.array_equal(run.flat([X, EYE])[0], wanted))

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        while len(seen) < 20:
            assert np.array_equal(run.flat([X, EYE])[0], wanted)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert all(seen)


@pytest.mark.usefixtures("native_tools")
def test_a_library_is_loaded_again_and_again(tmp_path: Path) -> None:
    """2,000 times, with calls in between, and files that are refused."""
    compile_library(xdsl_exir.from_fx_text(TEXT, TYPES), tmp_path, "net")
    library = ctypes.CDLL(str(tmp_path / "libnet.so"))
    weights, none = (os.fsencode(tmp_path / name) for name in ("net.weights", "nonesuch"))
    out = np.empty_like(X)
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (X, EYE, out)]

    def cycle(times: int) -> None:
        for _ in range(times):
            assert library.net_load(none) != 0
            assert library.net_load(weights) == 0
            assert library.net_forward(*arrays) == 0
            library.net_free()

    cycle(200)
    before, files = resident(), open_files()
    cycle(2_000)
    assert resident() - before < 1 << 20
    assert open_files() == files
    np.testing.assert_allclose(out, X * X, rtol=1e-6)


MAIN = """
#include <stdio.h>
#include "net.h"

int main(int count, char **arguments) {
  static float x[256], y[256], out[256];
  for (int i = 0; i < 256; i++) x[i] = (float)i, y[i] = i % 17 == 0;
  for (int i = 1; i < count; i++) {
    if (net_load(arguments[i]) != NET_OK) puts(net_error());
    else if (net_forward(x, y, out) != NET_OK || out[3] != x[3] * x[3]) return 1;
    net_free();
  }
  return 0;
}
"""


@pytest.mark.usefixtures("native_tools")
def test_memcheck(tmp_path: Path) -> None:
    """A C library reads and writes nothing but what is its own, and keeps nothing, also of weights that it refuses."""
    valgrind, compiler = shutil.which("valgrind"), shutil.which("cc")
    if not valgrind or not compiler or platform.machine() != "x86_64":
        pytest.skip("no valgrind or C compiler here")
    compile_library(xdsl_exir.from_fx_text(TEXT, TYPES), tmp_path, "net", "x86-64-v2")
    weights = (tmp_path / "net.weights").read_bytes()
    for name, data in {
        "cut": weights[:60],
        "flipped": bytes([weights[0] ^ 1]) + weights[1:],
        "empty": b"",
    }.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "main.c").write_text(MAIN)
    build = [compiler, "main.c", "-o", "main", "-I.", "-L.", "-lnet", "-Wl,-rpath,."]
    subprocess.run(build, cwd=tmp_path, check=True)
    check = [
        valgrind,
        "--error-exitcode=9",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
        "./main",
    ]
    files = ["net.weights", "cut", "flipped", "nonesuch", "empty", "net.weights"]
    done = subprocess.run([*check, *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
