"""What the subcommands share: reading programs, taking them to a stage, telling what takes long."""

from __future__ import annotations

import argparse
import json
import re
import sys
import threading
import time
import zipfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl_exir.errors import InputError
from xdsl_exir.program import Program, load
from xdsl_exir.transforms.stages import RUN

if TYPE_CHECKING:
    from xdsl_exir.runtime.executable import Executable

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


def add_program_arguments(
    parser: argparse.ArgumentParser, stages: Sequence[str] = RUN, more: str = ""
) -> None:
    """Arguments that say which program, at which of these stages; the help says what it may be `more`."""
    parser.add_argument("program", type=Path, help=f"a .pt2 archive, or MLIR text (.mlir){more}")
    parser.add_argument(
        "--stage",
        choices=stages,
        default="imported",
        help="take the program to this stage (default: %(default)s)",
    )
    parser.add_argument(
        "-p", "--passes", metavar="PIPELINE", help="then apply these passes, as xdsl-opt -p does"
    )
    parser.add_argument(
        "--verify-numerics",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="run the program on these inputs (.npy, .npz) after every pass, and stop at one that changes its results",
    )
    add_stats(parser)


def add_stats(parser: argparse.ArgumentParser) -> None:
    """The argument that asks how passes did."""
    parser.add_argument(
        "--stats",
        action="store_true",
        help="print how long passes took and how often each pattern was applied, on standard error",
    )


EXECUTABLE = ".exir"
"""What the names of files end with that executables are saved in."""


def add_target(parser: argparse.ArgumentParser, default: str) -> None:
    """Arguments that say what runs a program."""
    parser.add_argument("--target", default=default, help="what runs it (default: %(default)s)")
    parser.add_argument(
        "--fallback",
        choices=("error", "interpreter"),
        default="error",
        help="what becomes of operators that the target cannot take (default: %(default)s)",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="say on standard error what takes the slow road when it is compiled, and about what share of a call",
    )


def tell_slow_paths(executable: Executable, args: argparse.Namespace) -> None:
    """What takes the slow road, where that is asked for."""
    if args.verbose:
        for item in dict.fromkeys(map(str, executable.slow_paths)):
            print(f"slow: {item}", file=sys.stderr)


def add_cpu(parser: argparse.ArgumentParser) -> None:
    """The argument for the processor that native code is for."""
    parser.add_argument(
        "--cpu", help="the processor that native code is for, as for `xdsl_exir.compile` (default: this one)"
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The argument that says what a program is run on."""
    parser.add_argument(
        "--inputs",
        nargs="*",
        type=Path,
        default=[],
        metavar="INPUT",
        help=".npy (one array) or .npz files and numbers, in order",
    )


NUMBER = r"-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?|true|false"
"""JSON's numbers and conditions, which are not taken for names of files."""


def read_arrays(paths: list[Path]) -> list[Any]:
    """Arrays of .npy and .npz files, and numbers, in order. Pickled arrays are refused. Raises `InputError`."""
    import numpy as np

    arrays: list[Any] = []
    for path in paths:
        if re.fullmatch(NUMBER, str(path)):
            arrays.append(json.loads(str(path)))
            continue
        try:
            read = np.load(path, allow_pickle=False)
            arrays += [read] if isinstance(read, np.ndarray) else [read[name] for name in read.files]
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{path}: {error}") from None
    return arrays


def add_tolerances(parser: argparse.ArgumentParser) -> None:
    """Arguments that say what counts as equal."""
    parser.add_argument("--rtol", type=float, default=1e-4, help="relative tolerance (default: %(default)s)")
    parser.add_argument("--atol", type=float, default=1e-4, help="absolute tolerance (default: %(default)s)")


def at_stage(program: Program, stage: str) -> Program:
    """The program, taken to a stage."""
    if stage == "imported":
        return program
    with step(f"taking it to {stage}"):
        return program.to(stage)


def read_program(args: argparse.Namespace) -> Program:
    """The program that the arguments name, at the stage they name."""
    path: Path = args.program
    with step(f"reading {path}"):
        program = load(path)
    program = at_stage(program, args.stage)
    if args.passes:
        with step(f"applying {args.passes}"):
            if args.verify_numerics is None:
                return program.transform(args.passes)
            from xdsl_exir.runtime.diff import verify_numerics

            return verify_numerics(program, program.passes(args.passes), read_arrays(args.verify_numerics))
    return program
