"""What the subcommands share: reading programs, taking them to a stage, telling what takes long."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from xdsl.utils.exceptions import ParseError, VerifyException

from xdsl_exir.errors import LoadError
from xdsl_exir.program import Program, context, load

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
        program = read_text(path) if path.suffix == ".mlir" else load(path)
    if args.stage != "imported":
        with step(f"taking it to {args.stage}"):
            program = program.to_core() if args.stage == "core" else program.to_edge()
            if args.stage == "linalg":
                program = program.transform("edge-to-linalg")
    if args.passes:
        with step(f"applying {args.passes}"):
            program = program.transform(args.passes)
    return program


def read_text(path: Path) -> Program:
    """A program from MLIR text; it has no state. Raises `LoadError` where the text does not parse."""
    from xdsl.parser import Parser

    try:
        module = Parser(context().clone(), path.read_text(), str(path)).parse_module()
    except ParseError as error:
        raise LoadError(_where(error)) from None
    except VerifyException as error:  # attributes and types verify as they are read
        raise LoadError(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise LoadError(f"{path}: not text ({error.reason})") from None
    return Program(module).verify()


def _where(error: ParseError) -> str:
    """`model.mlir:3:12: operation is not registered`: where the text begins to be wrong, and what it lacks."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{lines[0]}: {lines[-1].lstrip('^ ')}"
