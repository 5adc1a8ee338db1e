"""Other programs (mlir-opt, mlir-translate, the C compiler): run with a limit of time, and whatever goes wrong with one is
one error that names it. They end with this process."""

from __future__ import annotations

import functools
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from xdsl_exir.errors import ToolchainError
from xdsl_exir.limits import LIMITS, VARIABLE

LINES = 20
"""Of what a program says about what it refused, the lines that are shown; of one that crashed, a stack trace comes after the
first few."""
LINES_OF_CRASH = 3


@functools.cache
def _ending_with_us() -> list[str]:
    """What a command begins with for the kernel to end it when this process has ended, however that came (`prctl(2)`,
    PR_SET_PDEATHSIG): a process can say so of itself only. Without util-linux it ends when it next prints."""
    setpriv = shutil.which("setpriv")
    probe = [setpriv, "--pdeathsig", "KILL", "true"] if setpriv else ["false"]
    has = setpriv and subprocess.run(probe, capture_output=True, check=False).returncode == 0
    return probe[:-1] if has else []


def run(command: Sequence[str], text: str = "", seconds: float | None = None, name: str = "") -> str:
    """What a program prints when it is given a text, as `run_on_bytes`. Raises `ToolchainError` also where it prints what is no text."""
    name = name or Path(command[0]).name
    try:
        return run_on_bytes(command, text.encode(), seconds, name).decode()
    except UnicodeDecodeError as error:
        raise ToolchainError(f"{name} printed something that is no text ({error.reason})") from None


def run_on_bytes(command: Sequence[str], given: bytes, seconds: float | None = None, name: str = "") -> bytes:
    """What a program, which errors call `name`, prints when it is given some bytes. Raises `ToolchainError` where it cannot be run, takes more
    than `seconds` (`LIMITS.tool_seconds`), crashes, or refuses what it is given (its message follows)."""
    name, seconds = name or Path(command[0]).name, LIMITS.tool_seconds if seconds is None else seconds
    try:
        done = subprocess.run(
            [*_ending_with_us(), *command], input=given, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise ToolchainError(
            f"{name} did not end within {seconds:g} s, and was stopped; {VARIABLE}=tool_seconds=... allows more"
        ) from None
    except OSError as error:
        raise ToolchainError(f"{name} cannot be run: {error}") from None
    said = done.stderr.decode(errors="backslashreplace").splitlines()
    if done.returncode < 0:
        how = signal.strsignal(-done.returncode) or f"signal {-done.returncode}"
        raise ToolchainError("\n".join([f"{name} crashed ({how})", *said[:LINES_OF_CRASH]]))
    if done.returncode > 0:
        raise ToolchainError("\n".join([f"{name} refused the module:", *said[:LINES]]))
    return done.stdout
