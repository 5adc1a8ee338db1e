"""`xdsl-exir compile`: a program as a shared library with a C header and a weights file."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from xdsl_exir.tools.common import add_cpu, add_program_arguments, read_program, step


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "compile", help="compile a program to a shared library for C", description=__doc__
    )
    add_program_arguments(parser)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="where the files go"
    )
    parser.add_argument("--name", help="of the library, prefix of its functions (default: the program's)")
    add_cpu(parser)
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Compiles, and says what was written."""
    from xdsl_exir.runtime.c.library import compile_library

    path: Path = args.program
    program = read_program(args)
    name = args.name or re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    with step("compiling"):
        artifact = compile_library(program, args.output, name, args.cpu)
    for file in (artifact.library, artifact.header, artifact.weights):
        print(f"{file}: {file.stat().st_size} bytes")
    return 0
