"""The first application of a pattern that changes what a program computes, by binary search.

    found = bisect(program, Program.passes("decompose-aten,aten-to-edge"), inputs)

The passes are run again and again, and stopped after so many applications (`transforms/watch.py`); what they leave is
compared with the program as it was, in the interpreter (`runtime/diff.py`). What that has no function for it runs by the
registered decomposition: this one is then what others are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program
from xdsl_exir.runtime.diff import BEFORE_AND_AFTER, diff
from xdsl_exir.transforms.watch import ALL, LIMIT, Application, Watch, watching


@dataclass(frozen=True)
class Wrong:
    """The application that changes what a program computes."""

    application: Application
    reason: str
    """How results differ, or why the program does not run any more."""

    def __str__(self) -> str:
        return f"{self.application} changes what the program computes: {self.reason}"

    @property
    def limit(self) -> str:
        """What stops the passes right after it."""
        return f"{LIMIT}={self.application.transform}={self.application.of_pass}"


def bisect(
    program: Program,
    passes: Sequence[ModulePass],
    inputs: Sequence[Any],
    rtol: float = 1e-4,
    atol: float = 1e-4,
    report: Callable[[str], None] = lambda _: None,
) -> Wrong | None:
    """The first application after which the program computes something else; None where after the last one it does not.

    `inputs` are flat user inputs of the first method; `report` is told of each step. Raises `InputError` for inputs
    that do not fit, `ExirError` where the program itself does not run.
    """
    # What is wrong with the program or its inputs is no pattern's fault.
    diff(program, program, inputs, rtol, atol)

    def wrong_after(limit: int | None) -> tuple[Watch, str | None]:
        with watching(Watch({} if limit is None else {ALL: limit})) as watch:
            after = program.apply(*passes)
        try:
            after.module.verify()
            found = diff(program, after, inputs, rtol, atol, BEFORE_AND_AFTER)
        except (ExirError, VerifyException) as error:
            return watch, str(error)
        return watch, None if found is None else str(found)

    watch, reason = wrong_after(None)
    right, wrong = 0, watch.totals[ALL]
    if reason is None or watch.last is None:
        return None
    last = watch.last
    while wrong - right > 1:
        middle = (right + wrong) // 2
        watch, difference = wrong_after(middle)
        report(f"{middle} of {last.number}: {'right' if difference is None else 'wrong'}")
        if difference is None:
            right = middle
        else:
            wrong, reason = middle, difference
            assert watch.last is not None
            last = watch.last
    return Wrong(last, reason)
