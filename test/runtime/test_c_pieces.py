"""C libraries of programs that are native in pieces: sizes that depend on data, and delegates."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import ExirError, UnsupportedError
from xdsl_exir.runtime.c.library import compile_library

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

from runtime.test_c_instances import can_sanitize  # noqa: E402
from runtime.test_c_library import COMPILER  # noqa: E402
from runtime.test_c_sizes import CODES, Library, export  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("native_tools"),
    pytest.mark.skipif(not COMPILER, reason="no C compiler (cc) is installed"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning"),
]


class Finds(nn.Module):
    """Counts, picks and groups of what a layer makes, a count that is kept, and results whose sizes callers know."""

    seen: Any

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        places = (y > 0).nonzero()
        self.seen.add_(places.shape[0])
        values, inverse, counts = torch.unique(y.round(), return_inverse=True, return_counts=True)
        picked = torch.masked_select(y, y > 0.5)
        return places * 2, picked.relu(), values, inverse, counts, places.shape[0], y * x[0, 0].item(), x


def call(library: Library, program: Any, expected: list[Any], x: Any, *before: Any) -> list[Any]:
    """The results of a call, those of sizes that depend on data where the library has them."""
    given = [
        ctypes.c_void_p() if f"**out{index}" in library.header else np.empty_like(result)
        for index, result in enumerate(expected)
    ]
    passed = [
        ctypes.byref(one) if isinstance(one, ctypes.c_void_p) else one.ctypes.data_as(ctypes.c_void_p)
        for one in given
    ]
    code = library.function("forward")(
        *before, ctypes.c_int64(len(x)), x.ctypes.data_as(ctypes.c_void_p), *passed
    )
    assert code == 0, library.error
    return [
        read(library, index, one, result, *before) if isinstance(one, ctypes.c_void_p) else one
        for index, (one, result) in enumerate(zip(given, expected, strict=True))
    ]


def read(library: Library, index: int, pointer: Any, like: Any, *before: Any) -> Any:
    """A copy of a result whose size is asked after the call."""
    shape = (ctypes.c_int64 * like.ndim)()
    function = library.function(f"forward_out{index}_shape")
    function.restype = ctypes.c_int64
    count = function(*before, shape)
    assert count == np.prod(shape)
    data = ctypes.string_at(pointer.value, count * like.itemsize) if count else b""
    return np.frombuffer(data, like.dtype).reshape(tuple(shape))


@pytest.fixture(scope="module")
def finds() -> xdsl_exir.Program:
    torch.manual_seed(0)
    return export(Finds(), (torch.randn(3, 4),), ({0: Dim("rows", min=1, max=100)},))


def test_sizes_that_depend_on_data(finds: Any, tmp_path: Path) -> None:
    library, run = Library(compile_library(finds, tmp_path, "finds", threads=1)), xdsl_exir.compile(finds)
    shape = library.function("forward_out0_shape")
    shape.restype = ctypes.c_int64
    assert shape(None) == -1
    assert "no call of 'forward' has given" in library.error
    rng = np.random.default_rng(0)
    for rows in (3, 100, 1, 40):
        x = rng.normal(size=(rows, 4)).astype(np.float32) if rows > 1 else np.full((1, 4), -9, np.float32)
        expected = [np.asarray(result) for result in run.flat([x])]
        for found, wanted in zip(call(library, finds, expected, x), expected, strict=True):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert library.function("forward")(ctypes.c_int64(101), *[None] * 9) == CODES["SIZE"]
    assert (
        library.function("forward")(ctypes.c_int64(1), *[ctypes.c_void_p(x.ctypes.data)] * 1, *[None] * 8)
        == CODES["NULL"]
    )


MAIN = """
#include <stdio.h>
#include "finds.h"

int main(int argc, char **argv) {
  static float x[100 * 4], same[100 * 4], scaled[100 * 4];
  static int64_t inverse[100 * 4];
  finds_instance *one = finds_new(argv[1]), *two = finds_new(argv[1]);
  if (!one || !two) return puts(finds_error()), 1;
  for (int call = 1; call < 100; call += 14)
    for (int which = 0; which < 2; which++) {
      const int64_t *places, *counts;
      const float *picked, *values;
      int64_t found, shape[2], sum = 0, number;
      for (int i = 0; i < call * 4; i++) x[i] = (float)(i * i % 7 - 3 + which);
      finds_instance *self = which ? two : one;
      if (finds_forward(self, call, x, &places, &picked, &values, inverse, &counts, &found, scaled, same) != FINDS_OK) return puts(finds_error()), 2;
      for (int64_t i = finds_forward_out4_shape(self, shape); i > 0; i--) sum += counts[i - 1];
      number = finds_forward_out0_shape(self, shape);
      if (sum != call * 4 || number != 2 * found || shape[0] != found || shape[1] != 2) return 3;
      for (int64_t i = 0; i < number; i++) if (places[i] < 0) return 4;
    }
  finds_delete(one);
  finds_delete(two);
  return 0;
}
"""


@pytest.mark.parametrize("sanitizer", ["undefined,address"])
def test_memory_between_steps(finds: Any, tmp_path: Path, sanitizer: str) -> None:
    """It is there, and given back: sanitizers see nothing wrong."""
    if not can_sanitize(tmp_path, sanitizer):
        pytest.skip(f"no sanitizer {sanitizer}")
    made = compile_library(finds, tmp_path, "finds", emit="obj", threads=1, instances=True)
    (tmp_path / "main.c").write_text(MAIN)
    flags = ["-std=c11", "-g", "-Wall", "-Werror", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]
    words = ["main.c", str(made.source), str(made.library), f"-I{tmp_path}", "-lm", "-o", "main"]
    subprocess.run([COMPILER, *flags, *words], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main", made.weights], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


class Grows(nn.Module):
    """As many ones as the input says, and no more than 8."""

    def forward(self, x: Any) -> Any:
        count = x.item()
        torch._check(count >= 1)
        torch._check(count <= 8)
        return torch.ones(count).cumsum(0)


def test_numbers_that_programs_refuse(tmp_path: Path) -> None:
    program = export(Grows(), (torch.tensor(3),))
    library, run = Library(compile_library(program, tmp_path, "grows", threads=1)), xdsl_exir.compile(program)
    for count in (1, 8, 0, 9, -4, 3):
        given, out = np.array(count), ctypes.c_void_p()
        code = library.function("forward")(ctypes.c_void_p(given.ctypes.data), ctypes.byref(out))
        if 1 <= count <= 8:
            assert code == 0, library.error
            np.testing.assert_array_equal(
                read(library, 0, out, run.flat([given])[0]), np.arange(1, count + 1)
            )
            continue
        assert code == CODES["ASSERTION"]
        with pytest.raises(ExirError, match=re.escape(library.error)):
            run.flat([given])


def test_what_has_no_form_in_c_is_named(tmp_path: Path) -> None:
    class Draws(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.rand_like(x) + x.nonzero().sum()

    with pytest.raises(UnsupportedError, match=r"rand.*draws random numbers, in C"):
        compile_library(export(Draws(), (torch.ones(4),)), tmp_path, "it")
