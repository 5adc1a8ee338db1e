"""What the subcommands share: reading programs, taking them to a stage, telling what takes long."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from xdsl_exir.program import Program, load

STAGES = ("imported", "core", "edge")

PATIENCE = 1.0
"""Seconds after which a step says that it is at work."""


@contextmanager
def step(what: str) -> Generator[None]:
    """Tells on standard error what is being done once it takes over a second, and in the end how long it took."""
    start = time.perf_counter()
    timer = threading.Timer(PATIENCE, lambda: print(f"{what} ...", file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    seconds = time.perf_counter() - start
    if seconds > PATIENCE:
        print(f"{what}: {seconds:.1f} s", file=sys.stderr, flush=True)


def add_program_arguments(parser: argparse.ArgumentParser, stages: Sequence[str] = STAGES) -> None:
    """Arguments that say which program, at which of these stages."""
    parser.add_argument("program", type=Path, help="a .pt2 archive, or MLIR text (.mlir)")
    parser.add_argument(
        "--stage",
        choices=stages,
        default="imported",
        help="take the program to this stage (default: %(default)s)",
    )
    parser.add_argument(
        "-p", "--passes", metavar="PIPELINE", help="then apply these passes, as xdsl-opt -p does"
    )


def read_program(args: argparse.Namespace) -> Program:
    """The program that the arguments name, at the stage they name."""
    path: Path = args.program
    with step(f"reading {path}"):
        program = load(path)
    if args.stage != "imported":
        with step(f"taking it to {args.stage}"):
            program = program.to_core() if args.stage == "core" else program.to_edge()
            if args.stage == "linalg":
                program = program.transform("edge-to-linalg")
    if args.passes:
        with step(f"applying {args.passes}"):
            program = program.transform(args.passes)
    return program
