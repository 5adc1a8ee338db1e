"""`xdsl-exir`: programs from the command line.

    xdsl-exir import model.pt2 --stage edge       # a saved program as MLIR text
    xdsl-exir run model.pt2 --inputs x.npy        # its outputs
    xdsl-exir compile model.pt2 -o out/           # a shared library for C, with header and weights
    xdsl-exir diff model.pt2 model.pt2@edge --inputs x.npy      # the first operation that differs
    xdsl-exir irdl > exir.irdl.mlir               # the dialects, for stock mlir-opt --irdl-file
    xdsl-exir ops aten.add.Tensor                 # what the spec says of an operator

Errors are one line on standard error and exit code 1; what takes over a second says what it is doing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from xdsl_exir.errors import ExirError
from xdsl_exir.names import printable
from xdsl_exir.tools import compile, diff, import_program, irdl, ops, run

COMMANDS = (import_program, run, compile, diff, irdl, ops)
"""Modules of the subcommands: each adds its parser, whose `function` runs it."""


def make_parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    parser = argparse.ArgumentParser(
        prog="xdsl-exir", description="PyTorch's exported programs as MLIR: import, transform, run, inspect."
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    args = make_parser().parse_args(arguments)
    try:
        return args.function(args)
    except BrokenPipeError:
        # The reader of our output (a pager, head) went away: nobody is left to tell.
        sys.stderr.close()
        return 0
    except (ExirError, OSError) as error:
        text = "; ".join(line.strip() for line in str(error).splitlines())
        print(f"xdsl-exir: error: {printable(text)}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
