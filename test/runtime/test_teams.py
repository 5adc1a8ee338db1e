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
    """One of which the first thread alone is there; for the others it waits. Where `members` says so, it is others as well, one after the other."""

    def __init__(self) -> None:
        self.now = 100.0
        self.late = 0.0
        """Seconds for which the first thread waits for the others at the end of its work."""
        self.late_at_barriers = 0.0
        self.asked: list[int] = []
        """The threads of each team."""
        self.alone = 0
        """How often one thread worked without a team."""
        self.members, self.member = [0], 0
        self.processors = list(range(THREADS))
        """That threads may be on."""
        self.on = dict.fromkeys(range(THREADS), 0)
        """The processor that each thread is on."""
        self.made: dict[str, Any] = {
            "GOMP_parallel": ctypes.CFUNCTYPE(None, AT, AT, NUMBER, NUMBER)(self.parallel),
            "GOMP_barrier": ctypes.CFUNCTYPE(None)(lambda: self.passes(self.late_at_barriers)),
            "omp_get_wtime": ctypes.CFUNCTYPE(ctypes.c_double)(lambda: self.now),
            "omp_get_max_threads": ctypes.CFUNCTYPE(NUMBER)(lambda: THREADS),
            "omp_get_num_threads": ctypes.CFUNCTYPE(NUMBER)(lambda: THREADS),
            "omp_get_thread_num": ctypes.CFUNCTYPE(NUMBER)(lambda: self.member),
            "sched_getcpu": ctypes.CFUNCTYPE(NUMBER)(lambda: self.on[self.member]),
            "sched_getaffinity": ctypes.CFUNCTYPE(NUMBER, NUMBER, ctypes.c_size_t, AT)(self.may_be_on),
            "sched_setaffinity": ctypes.CFUNCTYPE(NUMBER, NUMBER, ctypes.c_size_t, AT)(self.is_to_be_on),
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
        for member in self.members:
            self.member = member
            ctypes.CFUNCTYPE(None, AT)(worker)(task)
        self.member = 0
        self.now += self.late

    def may_be_on(self, _: int, size: int, place: int) -> int:
        ctypes.memmove(place, sum(1 << at for at in self.processors).to_bytes(size, "little"), size)
        return 0

    def is_to_be_on(self, _: int, size: int, place: int) -> int:
        wanted = int.from_bytes(ctypes.string_at(place, size), "little")
        self.processors = [at for at in range(8 * size) if wanted >> at & 1]
        if self.on[self.member] not in self.processors:
            self.on[self.member] = self.processors[0]
        return 0

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


def test_a_thread_leaves_the_processor_of_the_first_one() -> None:
    machine = Machine()
    machine.members, machine.processors, machine.on = [0, 1, 2], [3, 5, 70, 900], {0: 70, 1: 70, 2: 5}
    machine.run()
    assert machine.on == {0: 70, 1: 3, 2: 5}
    assert machine.processors == [3, 5, 70, 900], "from where it may go back"


def test_a_thread_stays_where_a_team_has_more_threads_than_processors() -> None:
    machine = Machine()
    machine.members, machine.processors = [0, 1], list(range(THREADS - 1))
    machine.run()
    assert machine.on[1] == machine.on[0]
