"""What was measured of kernels on a processor: which of the ways to solve a problem is best (`runtime.tune` measures).

What was learned is kept in the cache, a table for each processor; a problem says how many threads there are. Code that expands kernels otherwise learns anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING

from xdsl_exir.lowering.cache import keep, kept
from xdsl_exir.targets.cpu.kernels.description import Choice
from xdsl_exir.targets.cpu.kernels.kernel import Kernel, expansion

if TYPE_CHECKING:
    from xdsl_exir.lowering.target import Solved
    from xdsl_exir.targets.cpu.machine import Processor

Choices = Mapping[str, Choice]
"""By the text of a problem."""

NOTHING: Choices = MappingProxyType({})


def learned(cpu: Processor) -> Choices:
    """What is known of a processor."""
    data = kept(table_key(cpu))
    return NOTHING if data is None else read(data)


def learn(cpu: Processor, choices: Choices) -> None:
    """Keeps what was measured on a processor, beside what is known of it."""
    known = {**learned(cpu), **choices}
    text = json.dumps({problem: asdict(choice) for problem, choice in known.items()})
    keep({table_key(cpu): [text.encode()]})


@lru_cache(maxsize=8)
def read(data: bytes) -> Choices:
    """A table as it is kept."""
    return {problem: Choice(**said) for problem, said in json.loads(data).items()}


def table_key(cpu: Processor) -> str:
    """What a processor's table is kept under."""
    return sha256("\0".join(("tuned", expansion(), cpu.name, cpu.features, cpu.triple)).encode()).hexdigest()


def with_choice(kernel: Solved, choices: Choices) -> Solved:
    """A kernel that is solved in the way that is known to be best, if one is."""
    if not choices or not isinstance(kernel, Kernel):
        return kernel
    choice = choices.get(kernel.problem.key)
    return kernel if choice is None else kernel.chosen(choice)
