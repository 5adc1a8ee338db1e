"""C libraries of which a process has several instances: each has its own state, and they run at the same time."""

# pyright: basic

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from xdsl.parser import Parser

from xdsl_exir.dialects.dtypes import Float
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.program import Program, context
from xdsl_exir.runtime.c.library import Artifact, compile_library
from xdsl_exir.targets.cpu.machine import IS_X86

COMPILER = shutil.which("cc") or ""
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not COMPILER, reason="no C compiler (cc) is installed"),
]
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")

# Adds to a buffer, at any number of rows.
TEXT = """
func.func @forward(%total: tensor<64xf32> {exir.input = #exir.input<buffer, "total">},
                   %x: tensor<?x64xf32, #exir.shape<[s0, 64]>> {exir.input = #exir.input<user_input, "x">})
    -> (tensor<64xf32> {exir.output = #exir.output<buffer_mutation, "total">},
        tensor<64xf32> {exir.output = #exir.output<user_output, "y">})
    attributes {exir.ranges = {s0 = #exir.range<1, 64>}} {
  %0 = edge.aten.sum.dim_IntList(%x, dim = [0], keepdim = false) : (tensor<?x64xf32, #exir.shape<[s0, 64]>>) -> tensor<64xf32>
  %1 = edge.aten.add.Tensor(%total, %0) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  func.return %1, %1 : tensor<64xf32>, tensor<64xf32>
}"""

THREADS = """
#include <pthread.h>
#include <stdio.h>
#include "sums.h"

enum { CALLS = 200, ROWS = 8 };
struct work { sums_instance *instance; float step, y[64]; int failed; };

static void *run(void *given) {
  struct work *work = given;
  float x[ROWS * 64];
  for (int i = 0; i < ROWS * 64; i++) x[i] = work->step;
  for (int call = 0; call < CALLS; call++) {
    work->failed |= sums_forward(work->instance, ROWS, x, work->y) != SUMS_OK;
    work->failed |= sums_forward(work->instance, 65, x, work->y) != SUMS_ERROR_SIZE;
    work->failed |= sums_error()[0] != 'i'; /* input 'x' ... */
  }
  return NULL;
}

int main(int argc, char **argv) {
  sums_instance *one = sums_new(argv[1]), *two = SECOND;
  if (!one || !two) return puts(sums_error()), 1;
  struct work works[2] = {{.instance = one, .step = 1}, {.instance = two, .step = 2}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, &works[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%g %g %d\\n", works[0].y[0], works[1].y[63], works[0].failed | works[1].failed);
  sums_delete(one);
  if (two != one) sums_delete(two);
  return 0;
}
"""


def program_of_sums() -> Program:
    state = {"total": TensorData.of(np.zeros(64, np.float32), Float)}
    return Program(Parser(context().clone(), TEXT).parse_module(), state).verify()


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    program, folder = program_of_sums(), tmp_path_factory.mktemp("sums")
    compile_library(program, folder, "sums", threads=1, instances=True)
    return compile_library(program, folder, "sums", emit="obj", threads=1, instances=True)


def built(sums: Artifact, folder: Path, second: str, *flags: str) -> str:
    """The program of two threads; the second one's instance is this."""
    (folder / "main.c").write_text(THREADS.replace("SECOND", second))
    words = [str(sums.source), str(sums.library), f"-I{sums.header.parent}", "-pthread", "-lm"]
    command = [COMPILER, "-std=c11", "-g", "-Wall", "-Werror", *flags, "-o", "main", "main.c", *words]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "main")


def can_sanitize(folder: Path, what: str) -> bool:
    """Whether programs with a sanitizer are built and run here."""
    (folder / "empty.c").write_text("int main(void) { return 0; }")
    made = subprocess.run(
        [COMPILER, f"-fsanitize={what}", "-o", "empty", "empty.c"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return made.returncode == 0 and subprocess.run([str(folder / "empty")], check=False).returncode == 0


def run(program: str, sums: Artifact) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, str(sums.weights)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("sanitizer", ["", "thread", "undefined,address"])
def test_instances_run_at_the_same_time(sums: Artifact, tmp_path: Path, sanitizer: str) -> None:
    """Each on its own state, with errors of its own; sanitizers see nothing wrong in the C source."""
    if sanitizer and not can_sanitize(tmp_path, sanitizer):
        pytest.skip(f"no sanitizer {sanitizer}")
    flags = [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"] if sanitizer else []
    done = run(built(sums, tmp_path, "sums_new(argv[1])", *flags), sums)
    assert (done.stdout, done.stderr, done.returncode) == ("1600 3200 0\n", "", 0)


def test_a_race_is_found(sums: Artifact, tmp_path: Path) -> None:
    """One instance in two threads: what the test above does not find, it would."""
    if not can_sanitize(tmp_path, "thread"):
        pytest.skip("no sanitizer thread")
    done = run(built(sums, tmp_path, "one", "-fsanitize=thread"), sums)
    assert "data race" in done.stderr


@pytest.fixture(scope="module")
def portable(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """The same, in code that valgrind knows."""
    return compile_library(
        program_of_sums(),
        tmp_path_factory.mktemp("v3"),
        "sums",
        "x86-64-v3" if IS_X86 else None,
        emit="obj",
        threads=1,
        instances=True,
    )


def valgrind(tool: str, program: str, sums: Artifact) -> subprocess.CompletedProcess[str]:
    command = ["valgrind", "-q", f"--tool={tool}", "--error-exitcode=9", program, str(sums.weights)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@needs_valgrind
@pytest.mark.parametrize("tool", ["memcheck", "helgrind"])
def test_valgrind_sees_nothing_wrong(portable: Artifact, tmp_path: Path, tool: str) -> None:
    """In the code of kernels, either."""
    done = valgrind(tool, built(portable, tmp_path, "sums_new(argv[1])"), portable)
    assert (done.stdout, done.stderr, done.returncode) == ("1600 3200 0\n", "", 0)


@needs_valgrind
def test_valgrind_finds_a_race(portable: Artifact, tmp_path: Path) -> None:
    """What it would see."""
    done = valgrind("helgrind", built(portable, tmp_path, "one"), portable)
    assert done.returncode == 9
    assert "Possible data race" in done.stderr


def test_from_python(sums: Artifact, tmp_path: Path) -> None:
    """The shared library; errors; NULL."""
    library = ctypes.CDLL(str(sums.header.parent / "libsums.so"))
    library.sums_new.restype = ctypes.c_void_p
    library.sums_error.restype = ctypes.c_char_p
    library.sums_delete.argtypes = [ctypes.c_void_p]
    library.sums_forward.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    assert library.sums_new(str(tmp_path / "nowhere").encode()) is None
    assert b"cannot be opened" in library.sums_error()
    x, y = np.ones((3, 64), np.float32), np.zeros(64, np.float32)
    instances = [library.sums_new(str(sums.weights).encode()) for _ in range(3)]
    for calls, instance in enumerate(instances):
        for _ in range(calls + 1):
            assert library.sums_forward(instance, 3, x.ctypes.data, y.ctypes.data) == 0
        assert y.tolist() == [3 * (calls + 1)] * 64
    assert library.sums_forward(None, 3, x.ctypes.data, y.ctypes.data) != 0
    assert b"no weights" in library.sums_error()
    for instance in (*instances, None):
        library.sums_delete(instance)
    assert not hasattr(library, "sums_load")
