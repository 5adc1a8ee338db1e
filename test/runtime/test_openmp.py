"""One OpenMP runtime in a process: GNU's does the work where PyTorch brought it, up to a fork."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch  # noqa: F401  # whose runtime is then in this process

from xdsl_exir.runtime import openmp

pytestmark = [
    pytest.mark.native,
    pytest.mark.usefixtures("native_tools"),
    pytest.mark.skipif(
        len(openmp.loaded_openmp(openmp.GNU_NAME)) != 1, reason="PyTorch has another OpenMP runtime"
    ),
]

SQUARES = """
func.func @squares(%out: memref<TURNSxf32>) attributes {llvm.emit_c_interface} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %turns = arith.constant TURNS : index
  scf.parallel (%i) = (%0) to (%turns) step (%1) {
    %before = memref.load %out[%i] : memref<TURNSxf32>
    %square = arith.muli %i, %i : index
    %int = arith.index_cast %square : index to i64
    %float = arith.sitofp %int : i64 to f32
    %sum = arith.addf %before, %float : f32
    memref.store %sum, %out[%i] : memref<TURNSxf32>
  }
  return
}
"""

BEGINNING = """
import multiprocessing, sys
import numpy as np
import torch
from xdsl_exir.errors import ToolchainError
from xdsl_exir.runtime import linking, openmp

def check(turns):
    out = np.zeros(turns, np.float32)
    linking.bind(linking.load(sys.argv[1].replace("TURNS", str(turns))), "squares", [out])()
    np.testing.assert_array_equal(out, np.arange(turns) ** 2)  # each turn once

def in_child(work):
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join(30)
    child.kill()
    assert child.exitcode == 0, child.exitcode

def both():
    torch.ones(100_000).exp().sum()
    check(64)
"""


ALONE = """
func.func @forward(%x: tensor<?x?xf32, #exir.shape<[s0, s1]>>) -> tensor<?x?xf32, #exir.shape<[s0, s1]>> {
  %0 = aten.exp(%x) : (tensor<?x?xf32, #exir.shape<[s0, s1]>>) -> tensor<?x?xf32, #exir.shape<[s0, s1]>>
  %1 = aten.cumsum(%0, dim = 1) : (tensor<?x?xf32, #exir.shape<[s0, s1]>>) -> tensor<?x?xf32, #exir.shape<[s0, s1]>>
  func.return %1 : tensor<?x?xf32, #exir.shape<[s0, s1]>>
}
"""
"""Of any size: whether threads share it is known when it runs."""


def run(script: str) -> None:
    command = [sys.executable, "-c", BEGINNING + script, SQUARES, ALONE]
    # As these tests set it, it says where LLVM's runtime is, also under GNU's name.
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr


def test_threads_are_pytorchs() -> None:
    run("""
for threads in (2, 1, 3, 5):
    torch.set_num_threads(threads)
    both()
    check(3)
    check(1)
assert not openmp.loaded_openmp()
""")


def test_a_fork() -> None:
    run("""
torch.set_num_threads(2)
both()

def work():
    check(64)
    check(3)
    assert openmp.loaded_openmp()
    in_child(lambda: check(64))

in_child(work)
both()
assert not openmp.loaded_openmp()
""")


def test_a_fork_where_there_is_no_other_runtime() -> None:
    run("""
def nowhere(*_):
    raise ToolchainError("none")

openmp.find_openmp = nowhere
torch.set_num_threads(2)
both()

def work():
    check(64)
    check(1)

in_child(work)
both()
""")


def test_functions_that_only_llvms_runtime_has() -> None:
    """Those of one piece of code are all of one runtime."""
    fork, dispatch = "__kmpc_fork_call", "__kmpc_dispatch_init_8u"
    found = openmp.addresses([fork, dispatch])
    assert found[dispatch]
    assert found[fork] != openmp.addresses([fork])[fork]


def test_llvms_runtime() -> None:
    """Of which runs of one thread, and shares of turns, are ours; also where several threads of Python call at once."""
    run("""
import threading
import xdsl_exir

openmp._gnu = lambda: None
shares = "__kmpc_for_static_init_8u"
assert openmp.addresses([shares])[shares] != openmp.address_in(openmp._llvm(), shares)
for turns in (64, 3, 1):
    check(turns)
program = xdsl_exir.compile(xdsl_exir.load(sys.argv[2].encode()), "native", fallback="error")

def of_every_size():
    for shape in ((3, 5), (300, 500), (1, 7), (0, 4), (2000, 33)):
        x = np.random.default_rng(0).random(shape, np.float32)
        np.testing.assert_allclose(program.flat([x])[0], np.exp(x).cumsum(1), rtol=1e-4)

of_every_size()
failed = []

def repeatedly():
    try:
        for _ in range(20):
            of_every_size()
    except Exception as error:
        failed.append(error)

workers = [threading.Thread(target=repeatedly) for _ in range(3)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert not failed, failed
assert openmp.loaded_openmp()
""")
