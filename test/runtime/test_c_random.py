"""Random numbers in C libraries: PyTorch's, after the same seed, in the same order."""

# pyright: basic, reportMissingImports=false, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.errors import UnsupportedError

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning"),
    pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler (cc) is installed"),
]

SEED = 12345678901
WEIGHTS = torch.tensor([[0.1, 0.0, 3.0, 0.7, 1.2], [5.0, 0.25, 0.5, 1.0, 2.0]])

EXACT: dict[str, Callable[[Any], Any]] = {
    "rand": lambda x: torch.rand(3, 5),
    "rand float64": lambda x: torch.rand(7, dtype=torch.float64),
    "rand_like": torch.rand_like,
    "rand_like float16": lambda x: torch.rand_like(x.half()).float(),
    "uniform": lambda x: torch.empty_like(x).uniform_(-0.7, 0.31),
    "uniform float64": lambda x: torch.empty(5, dtype=torch.float64).uniform_(-0.7, 0.31),
    "randint": lambda x: torch.randint(3, 100, (17,)),
    "randint int32": lambda x: torch.randint(-7, 100, (17,), dtype=torch.int32),
    "randint wide": lambda x: torch.randint(-(1 << 40), 1 << 50, (5,)),
    "random": lambda x: torch.empty(5, dtype=torch.int64).random_(),
    "randperm": lambda x: torch.randperm(33),
    "bernoulli": lambda x: torch.bernoulli(torch.full_like(x, 0.3)),
    "bernoulli.p": lambda x: torch.empty_like(x).bernoulli_(0.3),
    "dropout": lambda x: torch.nn.functional.dropout(x, 0.4, True),
    "multinomial": lambda x: torch.multinomial(WEIGHTS.to(x.dtype), 6, replacement=True),
    "without replacement": lambda x: torch.multinomial(WEIGHTS.to(x.dtype), 3),
}
CLOSE: dict[str, Callable[[Any], Any]] = {
    "randn": lambda x: torch.randn(40),
    "randn in pairs": lambda x: torch.randn(3),
    "randn float64": lambda x: torch.randn(17, dtype=torch.float64),
    "randn_like": torch.randn_like,
    "normal": lambda x: torch.empty_like(x).normal_(0.5, 2.0),
    "log_normal": lambda x: torch.empty(21).log_normal_(0.5, 0.25),
    "exponential": lambda x: torch.empty_like(x).exponential_(1.5),
}


class Draws(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return [draw(x) for draw in (*EXACT.values(), *CLOSE.values())]


class Library:
    """A library in this process."""

    def __init__(self, artifact: Any):
        self.library = ctypes.CDLL(str(artifact.library))
        self.library.net_error.restype = ctypes.c_char_p

    def call(self, outputs: list[Any], *given: Any) -> list[Any]:
        made = [np.empty(tuple(each.shape), each.numpy().dtype) for each in outputs]
        arrays = [each.numpy().ctypes.data_as(ctypes.c_void_p) for each in given]
        code = self.library.net_forward(*arrays, *(each.ctypes.data_as(ctypes.c_void_p) for each in made))
        assert code == 0, self.library.net_error()
        return made


def exported(module: Any, *inputs: Any) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(module, inputs))


def test_as_pytorch(tmp_path: Path) -> None:
    x = torch.ones(4, 6)
    artifact = xdsl_exir.compile_library(exported(Draws(), x), tmp_path, "net")
    library = Library(artifact)
    assert library.library.net_load(str(artifact.weights).encode()) == 0
    for seed in (SEED, 0):
        library.library.net_seed(ctypes.c_uint64(seed))
        torch.manual_seed(seed)
        for _ in range(2):  # the stream goes on from call to call
            wanted = Draws()(x)
            got = library.call(wanted, x)
            for name, value, expected in zip((*EXACT, *CLOSE), got, wanted, strict=True):
                assert_equal = np.testing.assert_array_equal if name in EXACT else close
                assert_equal(value, expected.numpy(), err_msg=name)
    assert "net_seed(uint64_t seed)" in artifact.header.read_text()


def close(value: Any, expected: Any, err_msg: str) -> None:
    rtol = 1e-13 if expected.dtype == np.float64 else 2e-6
    np.testing.assert_allclose(value, expected, rtol=rtol, atol=rtol, err_msg=err_msg)


class Unused(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        torch.rand(5)
        return torch.rand(3) + x


def test_draws_that_nobody_uses_count(tmp_path: Path) -> None:
    x = torch.zeros(3)
    artifact = xdsl_exir.compile_library(exported(Unused(), x), tmp_path, "net")
    library = Library(artifact)
    assert library.library.net_load(str(artifact.weights).encode()) == 0
    library.library.net_seed(ctypes.c_uint64(3))
    torch.manual_seed(3)
    wanted = Unused()(x)
    np.testing.assert_array_equal(library.call([wanted], x)[0], wanted.numpy())


SEVERAL = """
#include <stdio.h>
#include "net.h"
int main(int argc, char **argv) {
  float x[3] = {0}, a[3], b[3];
  net_instance *one = net_new(argv[1]), *two = net_new(argv[1]);
  if (!one || !two) return 1;
  net_seed(one, 3);
  net_forward(two, x, b); /* which changes nothing of the other */
  net_forward(one, x, a);
  printf("%.9g %.9g %.9g", a[0], a[1], a[2]);
  net_delete(one), net_delete(two);
}
"""


def test_each_instance_has_its_own(tmp_path: Path) -> None:
    artifact = xdsl_exir.compile_library(
        exported(Unused(), torch.zeros(3)), tmp_path, "net", emit="a", threads=1, instances=True
    )
    (tmp_path / "main.c").write_text(SEVERAL)
    program = tmp_path / "main"
    command = ["cc", "main.c", "libnet.a", "-lm", "-o", program]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([program, artifact.weights], capture_output=True, text=True, check=True).stdout
    torch.manual_seed(3)
    np.testing.assert_array_equal(np.array(said.split(), np.float32), Unused()(torch.zeros(3)).numpy())


def test_what_has_no_function_is_named(tmp_path: Path) -> None:
    class Short(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.randn_like(x)

    with pytest.raises(UnsupportedError, match=r"aten\.randn_like"):
        xdsl_exir.compile_library(exported(Short(), torch.zeros(3).half()), tmp_path, "net")


def test_bad_weights_are_an_error(tmp_path: Path) -> None:
    class Pick(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.multinomial(x, 2)

    artifact = xdsl_exir.compile_library(exported(Pick(), torch.ones(3)), tmp_path, "net")
    library = Library(artifact)
    assert library.library.net_load(str(artifact.weights).encode()) == 0
    for bad in ([0.0, 0.0, 0.0], [1.0, -1.0, 1.0], [1.0, float("nan"), 1.0], [1.0, 0.0, 0.0]):
        with pytest.raises(AssertionError, match="multinomial"):
            library.call([torch.zeros(2, dtype=torch.int64)], torch.tensor(bad))
