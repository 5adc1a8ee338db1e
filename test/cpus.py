"""`make check-cpus`: the tests of what depends on the processor as if on other ones, each description one run of pytest.

    python test/cpus.py [pytest's arguments]

Of families of many tests each run takes other ones; XDSL_EXIR_THOROUGH=1 has all run all.

The first runs make native code for a level of the x86-64 ABI; one that this processor cannot run is said and left out. The last one
runs PyTorch as it is on other processors: its kernels, and the dtypes that oneDNN takes, differ.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xdsl_exir.errors import ExirError
from xdsl_exir.targets.cpu.machine import VARIABLE, processor

HERE = Path(__file__).parent
PART = "XDSL_EXIR_PART"
"""What tells `conftest.py` which one a run is of several of the same tests: each takes other ones of a family, and every
second one of those that are like no other."""
NUMBERS = (
    *(
        "lowering",
        "targets",
        "test_accuracy.py",
        "lowering/test_dispatch.py",
        "test_models.py",
        "test_ordinary_models.py",
    ),
    *(
        "targets/cpu/test_machine.py",
        "test_random_programs.py",
        "transforms/test_rewrites.py",
        "targets/cpu/test_schedules.py",
    ),
    "test_special_values.py",
)
"""Tests of what native code computes. Others that run some (containers, files, threads) would show nothing new."""
PYTORCH = (
    "interpreter/operators",
    "test_accuracy.py",
    "dialects/test_dtype_rules.py",
    "transforms/test_rewrites.py",
    "test_special_values.py",
)
"""Tests that compare with single operators of PyTorch."""


@dataclass(frozen=True)
class Run:
    """Tests under variables of the environment."""

    environment: Mapping[str, str]
    tests: tuple[str, ...]
    marks: str
    part: int

    @property
    def name(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.environment.items())

    def obstacle(self) -> str | None:
        """Why the run is not possible here."""
        try:
            processor(self.environment.get(VARIABLE)).check_runs_here()
        except ExirError as error:
            return str(error)
        return None

    def passes(self, arguments: list[str]) -> bool:
        """Runs pytest."""
        paths = [str(HERE / test) for test in self.tests]
        # -P: else the project's folders, which are called as those of its tests, come before these.
        command = [sys.executable, "-P", "-m", "pytest", "-m", self.marks, *arguments, *paths]
        environment = {**os.environ, PART: str(self.part), **self.environment}
        return subprocess.run(command, env=environment, check=False).returncode == 0


LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")
RUNS = (
    *(Run({VARIABLE: level}, NUMBERS, "native", part) for part, level in enumerate(LEVELS)),
    Run({"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "AVX2"}, PYTORCH, "not native", len(LEVELS)),
)


def main(arguments: list[str]) -> int:
    """Runs all, whatever the others gave. Exit code 1 where one failed."""
    failed = False
    for run in RUNS:
        reason = run.obstacle()
        print(f"== {run.name}{f': left out: {reason}' if reason else ''}", flush=True)
        failed |= reason is None and not run.passes(arguments)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
