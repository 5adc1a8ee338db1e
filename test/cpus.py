"""`make check-cpus`: the tests of native code as if on other processors, each description one run of pytest.

    python test/cpus.py [pytest's arguments]

The first runs make native code for a level of the x86-64 ABI; one that this processor cannot run is said and left out. The last one
runs PyTorch as it is on other processors: its kernels, and the dtypes that oneDNN takes, differ.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from xdsl_exir.errors import ExirError
from xdsl_exir.lowering.processor import VARIABLE, processor

RUNS: tuple[Mapping[str, str], ...] = (
    {VARIABLE: "x86-64"},
    {VARIABLE: "x86-64-v3"},
    {VARIABLE: "x86-64-v4"},
    {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "AVX2"},
)


def obstacle(environment: Mapping[str, str]) -> str | None:
    """Why a run is not possible here."""
    try:
        processor(environment.get(VARIABLE)).check_runs_here()
    except ExirError as error:
        return str(error)
    return None


def main(arguments: list[str]) -> int:
    """Runs pytest for each, whatever the others gave. Exit code 1 where one failed."""
    failed = False
    for environment in RUNS:
        name = " ".join(f"{key}={value}" for key, value in environment.items())
        if reason := obstacle(environment):
            print(f"== {name}: left out: {reason}", flush=True)
            continue
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", "pytest", "-m", "native", *arguments]
        failed |= subprocess.run(command, env={**os.environ, **environment}, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
