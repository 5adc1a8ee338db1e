"""`xdsl-exir irdl`: the dialects as `irdl` text, so that stock mlir-opt (`--irdl-file`) parses and verifies programs.

Programs have to be in IRDL's names: `xdsl-exir import --rename`.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from pathlib import Path
from typing import Any

from xdsl_exir.dialects.irdl_text import DIALECTS, irdl_text


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "irdl", help="print the dialects as MLIR's irdl", description=__doc__
    )
    parser.add_argument(
        "dialects", nargs="*", metavar="DIALECT", help=f"which (default: all: {', '.join(DIALECTS)}, users')"
    )
    parser.add_argument(
        "--operators", nargs="+", metavar="PATTERN", help="only operations of these names (edge.aten.add.*)"
    )
    parser.add_argument("-o", "--output", type=Path, help="file to write (default: standard output)")
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Prints the text."""
    patterns: list[str] = args.operators or ["*"]
    text = irdl_text(
        args.dialects,
        lambda name: any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns),
    )
    if args.output:
        args.output.write_text(text + "\n", encoding="utf-8")
    else:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    return 0
