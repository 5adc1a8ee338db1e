"""Other programs (mlir-opt, mlir-translate, the C compiler): run with a limit of time, and whatever goes wrong with one is
one error that names it. They end with this process, and with the work that they are part of, if that is given up."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from xdsl_exir.errors import ToolchainError
from xdsl_exir.limits import LIMITS, VARIABLE
from xdsl_exir.threads import wait_for_in_forks

T = TypeVar("T")

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
    none = subprocess.DEVNULL  # a pipe would be the child's, too, of a fork in another thread
    has = setpriv and subprocess.run(probe, stdout=none, stderr=none, check=False).returncode == 0
    return probe[:-1] if has else []


STARTING = threading.RLock()
"""Held while a program is started: in the midst of that, a child would have its pipes and not know it."""
wait_for_in_forks(STARTING)
_RUNNING: weakref.WeakSet[subprocess.Popen[bytes]] = weakref.WeakSet()


def _let_go() -> None:
    """Has nothing in place of the pipes of all programs, in the child of a fork: as long as it had them, they would wait for more
    to read, and who asked for more that they print."""
    for process in list(_RUNNING):
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None and not pipe.closed:
                with open(os.devnull, "r+b", buffering=0) as nothing:
                    os.dup2(nothing.fileno(), pipe.fileno(), inheritable=False)
    _RUNNING.clear()


os.register_at_fork(after_in_child=_let_go)


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
    pipe = subprocess.PIPE
    command = [*_ending_with_us(), *command]
    try:
        with STARTING:
            started = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
            _RUNNING.add(started)
        with started as process, _of_this_work(process):
            printed, errors = process.communicate(given, seconds)
    except subprocess.TimeoutExpired:
        raise ToolchainError(
            f"{name} did not end within {seconds:g} s, and was stopped; {VARIABLE}=tool_seconds=... allows more"
        ) from None
    except OSError as error:
        raise ToolchainError(f"{name} cannot be run: {error}") from None
    said = errors.decode(errors="backslashreplace").splitlines()
    if (code := process.returncode) < 0:
        how = signal.strsignal(-code) or f"signal {-code}"
        raise ToolchainError("\n".join([f"{name} crashed ({how})", *said[:LINES_OF_CRASH]]))
    if code > 0:
        raise ToolchainError("\n".join([f"{name} refused the module:", *said[:LINES]]))
    return printed


# --- at once -------------------------------------------------------------------------------------------------


class _Work:
    """What several threads do for one result, and the programs that they run for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen[bytes]] = set()
        self.given_up = False

    def give_up(self) -> None:
        """Ends the programs, those also that are yet to start."""
        with self.lock:
            self.given_up = True
            for process in self.running:
                process.kill()


_here = threading.local()
"""The work that this thread is part of."""


@contextmanager
def _of_this_work(process: subprocess.Popen[bytes]) -> Generator[None]:
    """A program that ends here, however that comes, or when the work is given up that this thread does."""
    work: _Work = getattr(_here, "work", None) or _Work()
    with work.lock:
        work.running.add(process)
        if work.given_up:
            process.kill()
    try:
        yield
    except BaseException:
        process.kill()
        raise
    finally:
        with work.lock:
            work.running.remove(process)


def at_once(functions: Sequence[Callable[[], T]]) -> list[T]:
    """What functions give that run at the same time, each in a thread. Where one of them raises, or this thread is interrupted, the
    programs that the others run are ended: nobody waits for them."""
    if len(functions) == 1:
        return [functions[0]()]
    work = _Work()

    def enter() -> None:
        _here.work = work

    with ThreadPoolExecutor(len(functions), initializer=enter) as pool:
        try:
            futures = [pool.submit(function) for function in functions]
            ended, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in ended:
                future.result()
            return [future.result() for future in futures]
        except BaseException:
            work.give_up()
            raise
