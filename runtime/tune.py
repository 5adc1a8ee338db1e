"""Which schedules are best for a program's kernels on this processor: each is measured, and what is learned is kept (`targets.cpu.tuning`).

    for each in tune(program):                             # every later compile for this processor takes what was found
        print(each.problem, each.before, each.after, each.choice)

Products and convolutions of known sizes have choices: the register tile, whether a product packs its right-hand side, the
way of a convolution, how much of it is a task. A kernel is timed alone, on numbers of its own, which caches hold if they can: what a program
gains is to be seen in the program.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from xdsl_exir.interpreter.upstream.scalars import numpy_dtype
from xdsl_exir.lowering.driver import calls_of
from xdsl_exir.names import own_name
from xdsl_exir.program import Program
from xdsl_exir.runtime import linking
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.compile import kernel_unit, objects_of
from xdsl_exir.targets.cpu.kernels.description import Choice
from xdsl_exir.targets.cpu.kernels.kernel import Kernel
from xdsl_exir.targets.cpu.machine import Processor, processor
from xdsl_exir.targets.cpu.tuning import learn

SECONDS = 0.01
"""That a schedule is timed for in each round."""

ROUNDS = 5

BEYOND_CACHES = 16 << 20
"""Bytes of weights of which each is no more in a cache when it is used again."""
MOST_COPIES = 64

HOPELESS = 1.3
"""Of the best time: what takes longer in a round is not timed again."""

WORTHWHILE = 0.97
"""Of the time of the kernel's own rule: what takes longer is not worth a choice, and may be chance."""


@dataclass(frozen=True)
class Tuned:
    """A problem, how many calls of it a program has, and its best schedule."""

    problem: Kernel
    count: int
    before: float
    """Seconds of the schedule that the kernel's own rule gives."""
    after: float
    choice: Choice
    """What is best; the rule's where nothing is clearly better."""


def tune(program: Program, cpu: str | None = None) -> Iterator[Tuned]:
    """Measures the kernels of a program that have choices, one after the other, and keeps what is learned of each.

    Raises what `compile` does for native code, and `ExirError` for a processor that is not this one."""
    target = processor(cpu)
    target.check_runs_here()
    planned = plan_program(program, target)
    kernels = planned.dispatches.kernels
    called = [kernels.get(name) for plan in planned.plans.values() for name in calls_of(plan.driver)]
    counts = Counter(kernel.problem for kernel in called if isinstance(kernel, Kernel) and kernel.choices)
    for problem, count in counts.items():
        found = best(problem, count, target)
        learn(target, {problem.key: found.choice})
        yield found


def best(problem: Kernel, count: int, cpu: Processor) -> Tuned:
    """The best schedule of a problem."""
    own = Choice()
    ways = [own, *problem.choices]
    calls = dict(zip(ways, prepared([problem.chosen(way) for way in ways], cpu), strict=True))
    left, times = calls, dict[Choice, float]()
    for _ in range(ROUNDS):
        time_again(times, left)
        limit = HOPELESS * min(times.values())
        left = {way: call for way, call in left.items() if times[way] <= limit}
    fastest = min(times, key=lambda way: times[way])
    # The least of many times is too good by chance: these two are timed again.
    again = dict[Choice, float]()
    for _ in range(ROUNDS):
        time_again(again, {way: calls[way] for way in (own, fastest)})
    choice = fastest if again[fastest] < WORTHWHILE * again[own] else own
    return Tuned(problem, count, again[own], again[choice], choice)


def time_again(times: dict[Choice, float], calls: Mapping[Choice, Callable[[], object]]) -> None:
    """Times each call once more; the least seconds count."""
    for way, call in calls.items():
        times[way] = min(times.get(way, float("inf")), timed(call))


def prepared(kernels: Sequence[Kernel], cpu: Processor) -> list[Callable[[], object]]:
    """Calls of kernels, compiled for a processor, on arrays of their own."""
    units = [
        kernel_unit(kernel, own_name(f"way{number}"), public=True) for number, kernel in enumerate(kernels)
    ]
    library = linking.load_objects(objects_of(units, cpu))
    return [cold(library, unit.name, kernel) for unit, kernel in zip(units, kernels, strict=True)]


def cold(library: linking.Library, name: str, kernel: Kernel) -> Callable[[], object]:
    """Calls of a kernel one after the other, each with weights that no cache has: those of a program are used once in a call."""
    arrays = arrays_of(kernel)
    weights = kernel.weights
    copies = min(MOST_COPIES, 1 + BEYOND_CACHES // sum((arrays[at].nbytes for at in weights), 1))
    calls = [
        linking.bind(library, name, [x.copy() if at in weights else x for at, x in enumerate(arrays)])
        for _ in range(copies if weights else 1)
    ]
    turns = cycle(calls)
    return lambda: next(turns)()


def arrays_of(kernel: Kernel) -> list[Any]:
    """What a kernel is called with."""
    random = np.random.default_rng(0)
    made: list[Any] = []
    for type in kernel.types.values():
        dtype, shape = numpy_dtype(type.element_type), type.get_shape()
        numbers = random.standard_normal(shape) if dtype.kind == "f" else random.integers(-8, 8, shape)
        made.append(numbers.astype(dtype))
    return made


def timed(call: Callable[[], object]) -> float:
    """Seconds of the fastest of the calls that fit into some time, two at least."""
    fastest, end, calls = float("inf"), time.perf_counter() + SECONDS, 0
    while calls < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        fastest, calls = min(fastest, time.perf_counter() - start), calls + 1
    return fastest
