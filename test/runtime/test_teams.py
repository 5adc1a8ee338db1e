"""How many threads a team has, on a machine whose clock and whose waiting are a test's: our functions on a runtime that is not there."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from xdsl_exir.runtime import openmp, teams

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("native_tools")]
THREADS, ALL = 4, 0
AT, NUMBER = ctypes.c_void_p, ctypes.c_int
WORK = 0.0001
"""Seconds that each thread works."""


class Machine:
    """One of which the first thread alone is there; for the others it waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self.late = 0.0
        """Seconds for which the first thread waits for the others at the end of its work."""
        self.late_at_barriers = 0.0
        self.asked: list[int] = []
        """The threads of each team."""
        self.alone = 0
        """How often one thread worked without a team."""
        self.made: dict[str, Any] = {
            "GOMP_parallel": ctypes.CFUNCTYPE(None, AT, AT, NUMBER, NUMBER)(self.parallel),
            "GOMP_barrier": ctypes.CFUNCTYPE(None)(lambda: self.passes(self.late_at_barriers)),
            "omp_get_wtime": ctypes.CFUNCTYPE(ctypes.c_double)(lambda: self.now),
            "omp_get_max_threads": ctypes.CFUNCTYPE(NUMBER)(lambda: THREADS),
            "omp_get_num_threads": ctypes.CFUNCTYPE(NUMBER)(lambda: 1),
            "omp_get_thread_num": ctypes.CFUNCTYPE(NUMBER)(lambda: 0),
        }
        known = {name: ctypes.cast(function, AT).value for name, function in self.made.items()}
        names = [openmp.OPENMP + name for name in ("fork_call", "barrier")]
        fork, barrier = openmp._linked(openmp.code(), known, names).values()  # pyright: ignore[reportPrivateUsage]
        self.fork = ctypes.CFUNCTYPE(None, AT, NUMBER, AT, AT)(fork)
        self.barrier = ctypes.CFUNCTYPE(None, AT, NUMBER)(barrier)
        self.work = ctypes.CFUNCTYPE(None, AT, AT, AT)(self.share)
        self.run()  # whose threads are made

    def passes(self, seconds: float) -> None:
        self.now += seconds

    def parallel(self, worker: int, task: int, threads: int, _: int) -> None:
        self.asked.append(threads)
        ctypes.CFUNCTYPE(None, AT)(worker)(task)
        self.now += self.late

    def share(self, *_: int | None) -> None:
        self.now += WORK
        if self.late_at_barriers:
            self.barrier(None, 0)
            self.now += WORK

    def run(self) -> int:
        """How many threads run it."""
        teams = len(self.asked)
        self.fork(None, 1, ctypes.cast(self.work, AT), None)
        return self.asked[-1] if len(self.asked) > teams else 1


def test_a_team_is_whole_while_its_threads_are_in_time() -> None:
    machine = Machine()
    machine.late = teams.PATIENCE + WORK
    assert [machine.run() for _ in range(20)] == [ALL] * 20


def test_the_first_team_has_its_threads_made() -> None:
    machine = Machine()
    assert machine.asked == [ALL]


LATE = 0.004


@pytest.mark.parametrize("at", ["late", "late_at_barriers"])
def test_teams_have_fewer_threads_where_they_wait(at: str) -> None:
    machine = Machine()
    setattr(machine, at, LATE)
    threads = [machine.run()]
    while threads[-1] != 1:
        threads.append(machine.run())
    assert [*dict.fromkeys(threads)][:2] == [ALL, 2]
    assert threads.index(2) * LATE < teams.WINDOW
    assert machine.run() == 1, "it rests"
    setattr(machine, at, 0.0)
    machine.passes(teams.WINDOW * teams.REST)
    assert [machine.run() for _ in range(3)] == [2, THREADS, ALL], "it is over"


def test_little_of_the_time_goes_to_trying() -> None:
    machine = Machine()
    machine.late = LATE
    began, runs = machine.now, 0
    while machine.now < began + 60:
        machine.run()
        runs += 1
    assert runs * WORK > (machine.now - began) * 0.8


def test_a_short_while_of_waiting_has_a_short_rest() -> None:
    machine = Machine()
    machine.late = LATE
    while machine.run() != 1:
        pass
    machine.late, began = 0.0, machine.now
    while machine.run() != ALL:
        pass
    assert machine.now - began < 4 * teams.WINDOW


def test_one_late_thread_now_and_then_changes_nothing() -> None:
    machine = Machine()
    for run in range(4000):
        machine.late = LATE if run % 500 == 0 else 0.0
        assert machine.run() == ALL
