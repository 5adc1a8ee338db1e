"""Libraries for C whose callers are in a team of OpenMP's: what is theirs then runs as OpenMP has it there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import xdsl_exir
from xdsl_exir.runtime.openmp import find_openmp

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native_tools")]

PROGRAMS = {
    "known": """
func.func @forward(%x: tensor<64x9000xf32>) -> tensor<64x9000xf32> {
  %0 = aten.cumsum(%x, dim = 1) : (tensor<64x9000xf32>) -> tensor<64x9000xf32>
  %1 = aten._softmax(%0, dim = 1, half_to_float = false) : (tensor<64x9000xf32>) -> tensor<64x9000xf32>
  func.return %1 : tensor<64x9000xf32>
}
""",
    "of any size": """
func.func @forward(%x: tensor<?x9000xf32, #exir.shape<[s0, 9000]>>) -> tensor<?x9000xf32, #exir.shape<[s0, 9000]>> {
  %0 = aten.cumsum(%x, dim = 1) : (tensor<?x9000xf32, #exir.shape<[s0, 9000]>>) -> tensor<?x9000xf32, #exir.shape<[s0, 9000]>>
  func.return %0 : tensor<?x9000xf32, #exir.shape<[s0, 9000]>>
}
""",
}
SCRIPT = """
import ctypes, sys
import numpy as np

openmp = ctypes.CDLL(sys.argv[1])
net = ctypes.CDLL(sys.argv[2])
assert net.net_load(sys.argv[3].encode()) == 0

def results(rows):
    x = np.random.default_rng(rows).random((rows, 9000), np.float32)
    y = np.full_like(x, np.nan)
    arrays = [ctypes.c_void_p(each.ctypes.data) for each in (x, y)]
    sizes = [ctypes.c_int64(rows)] if "of any size" in sys.argv[4] else []
    assert net.net_forward(*sizes, *arrays) == 0
    return y

NUMBER = ctypes.POINTER(ctypes.c_int)
PLACE = ctypes.create_string_buffer(b";test;test;0;0;;")
IDENT = (ctypes.c_int64 * 3)(2 << 32, 0, ctypes.addressof(PLACE))
expected = {rows: results(rows) for rows in (64, 1) if rows == 64 or "of any size" in sys.argv[4]}
ran, threads = [], []

@ctypes.CFUNCTYPE(None, NUMBER, NUMBER)
def team(number, in_team):
    threads.append(in_team[0])
    if in_team[0] == 1 or openmp.omp_get_num_threads() == 1:
        ran.append({rows: results(rows) for rows in expected})

openmp.__kmpc_fork_call(IDENT, 0, team)
assert sorted(threads) == [0, 1], threads
for rows, given in expected.items():
    np.testing.assert_array_equal(ran[0][rows], given)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_caller_in_a_team(tmp_path: Path, name: str) -> None:
    program = xdsl_exir.load(PROGRAMS[name].encode())
    made = xdsl_exir.compile_library(program, tmp_path, "net", threads=2)
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", SCRIPT, str(find_openmp()), str(made.library), str(made.weights), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
