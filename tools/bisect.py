"""`xdsl-exir bisect`: the application of a pattern that changes what a program computes.

xdsl-exir bisect model.pt2 -p decompose-aten,aten-to-edge --inputs x.npy        # without inputs, random ones

It runs the passes again and again, each time only so many applications, and the program in the interpreter after each.
`XDSL_EXIR_OPT_LIMIT=PASS=N` stops a pass there in every other command.
"""

from __future__ import annotations

import argparse
from typing import Any

from xdsl_exir.program import Program, load
from xdsl_exir.tools.common import RUN, add_inputs, add_tolerances, at_stage, read_arrays, step


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "bisect",
        help="find the application of a pattern that changes what a program computes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("program", help="a .pt2 archive, or MLIR text (.mlir)")
    parser.add_argument(
        "--stage",
        choices=RUN,
        default="imported",
        help="take the program to this stage (default: %(default)s)",
    )
    parser.add_argument(
        "-p", "--passes", metavar="PIPELINE", required=True, help="the passes, as xdsl-opt -p takes them"
    )
    add_inputs(parser)
    add_tolerances(parser)
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Searches. Exit code 1 where there is such an application."""
    from xdsl_exir.runtime.bisect import bisect
    from xdsl_exir.runtime.inputs import random_inputs

    with step(f"reading {args.program}"):
        program = at_stage(load(args.program), args.stage)
    inputs = read_arrays(args.inputs) or random_inputs(program)
    passes = Program.passes(args.passes)
    found = bisect(program, passes, inputs, args.rtol, args.atol, lambda text: print(text, flush=True))
    if found is None:
        print("no difference")
        return 0
    print(found)
    print(found.limit)
    return 1
