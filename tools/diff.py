"""`xdsl-exir diff`: where two forms of a program begin to give other numbers.

xdsl-exir diff model.pt2 model.pt2@edge --inputs x.npy          # two stages, or two files
xdsl-exir diff model.pt2 -p decompose-aten,aten-to-edge --inputs x.npy      # after every pass
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program, load
from xdsl_exir.tools.common import RUN, add_inputs, add_tolerances, at_stage, read_arrays, step


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "diff",
        help="find the first operation in which two forms of a program differ",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    form = f"a .pt2 archive or MLIR text, and if wanted a stage: FILE@{'|'.join(RUN)}"
    parser.add_argument("a", metavar="A", help=form)
    parser.add_argument("b", metavar="B", nargs="?", help="another one, in the same form")
    parser.add_argument(
        "-p", "--passes", metavar="PIPELINE", help="compare before and after each of these passes"
    )
    add_inputs(parser)
    add_tolerances(parser)
    parser.set_defaults(function=run)


def read_form(text: str) -> Program:
    """The program that `FILE` or `FILE@STAGE` names."""
    file, separator, stage = text.rpartition("@")
    if not separator or stage not in RUN:
        file, stage = text, "imported"
    with step(f"reading {text}"):
        return at_stage(load(Path(file)), stage)


def report(name: str) -> None:
    """Says that a pass changes nothing."""
    print(f"{name}: no difference", flush=True)


def run(args: argparse.Namespace) -> int:
    """Compares. Exit code 1 where there is a difference."""
    from xdsl_exir.runtime.diff import diff, verify_numerics

    if (args.b is None) == (args.passes is None):
        raise ExirError("give either a second program or passes (-p)")
    inputs = read_arrays(args.inputs)
    before = read_form(args.a)
    if args.passes is not None:
        verify_numerics(before, Program.passes(args.passes), inputs, args.rtol, args.atol, report)
        return 0
    with step("running both"):
        found = diff(before, read_form(args.b), inputs, args.rtol, args.atol)
    print("no difference" if found is None else found)
    return 0 if found is None else 1
