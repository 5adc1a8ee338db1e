"""`xdsl-exir import`: a saved program as MLIR text, at any stage."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from xdsl_exir.tools.common import STAGES, add_program_arguments, read_program, step


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "import", help="print a saved program as MLIR", description=__doc__
    )
    add_program_arguments(parser, (*STAGES, "linalg"))
    parser.add_argument("-o", "--output", type=Path, help="file to write (default: standard output)")
    parser.add_argument(
        "--generic", action="store_true", help="print MLIR's generic form, which other tools read"
    )
    parser.add_argument(
        "--rename",
        action="store_true",
        help="print the generic form in names that MLIR's IRDL takes (see xdsl-exir irdl)",
    )
    parser.add_argument("--print-debuginfo", action="store_true", help="print source locations")
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Imports and prints."""
    program = read_program(args)
    if args.rename:
        from xdsl_exir.transforms.irdl_names import ToIrdlNames

        program = program.apply(ToIrdlNames())
    with step("printing"):
        text = program.text(generic=args.generic or args.rename, locations=args.print_debuginfo) + "\n"
    if args.output:
        args.output.write_text(text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
    return 0
