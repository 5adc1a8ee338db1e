"""`xdsl-exir tune`: the best schedules of a program's kernels on this processor, found by measuring; later compiles take them.

xdsl-exir tune model.pt2                          # a line for each kernel that has a choice

What is learned is kept in the cache ($XDSL_EXIR_CACHE), for each processor and number of threads. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from xdsl_exir.lowering.kernel import Kernel
from xdsl_exir.targets.cpu.kernels.attributes import default_of
from xdsl_exir.tools.common import add_cpu, add_program_arguments, read_program


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "tune",
        help="find the best schedules of a program's kernels by measuring",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program_arguments(parser)
    add_cpu(parser)
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Measures, and says of each kernel what is best."""
    from xdsl_exir.runtime.tune import tune

    print(
        "microseconds: rule, best    calls, problem: schedule, if it is another than the kernel's rule gives"
    )
    before = after = 0.0
    for found in tune(read_program(args), args.cpu):
        before, after = before + found.count * found.before, after + found.count * found.after
        chosen = " ".join(said(found.choice)) or "-"
        times = f"{found.before * 1e6:12.1f} {found.after * 1e6:12.1f}"
        print(f"{times} {found.count:8}x {title(found.problem)}: {chosen}", flush=True)
    print(f"{before * 1e6:12.1f} {after * 1e6:12.1f}   all of them once")
    return 0


def title(problem: Kernel) -> str:
    """What a kernel solves, in a few words."""
    return " ".join(
        [type(problem).__name__, *(word for word in said(problem) if not word.startswith("machine="))]
    )


def said(value: Any) -> Iterator[str]:
    """What a description says other than by default."""
    for field in fields(value):
        if (held := getattr(value, field.name)) != default_of(field):
            yield f"{field.name}={held}"
