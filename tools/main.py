"""`xdsl-exir`: programs from the command line.

    xdsl-exir import model.pt2 --stage edge       # a saved program as MLIR text
    xdsl-exir run model.pt2 --inputs x.npy        # its outputs
    xdsl-exir compile model.pt2 -o out/           # a shared library for C, with header and weights
    xdsl-exir tune model.pt2                      # the best schedules of its kernels on this processor, for later compiles
    xdsl-exir diff model.pt2 model.pt2@edge --inputs x.npy      # the first operation that differs
    xdsl-exir bisect model.pt2 -p decompose-aten   # the application of a pattern that changes a result
    xdsl-exir irdl > exir.irdl.mlir               # the dialects, for stock mlir-opt --irdl-file
    xdsl-exir ops aten.add.Tensor                 # what the spec says of an operator

Errors are one line on standard error and exit code 1, Ctrl-C is one and 130; what takes over a second says what it is doing.
"""

from __future__ import annotations

import argparse
import importlib
import io
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext

import xdsl_exir

COMMANDS = ("import_program", "run", "compile", "tune", "diff", "bisect", "memory", "irdl", "ops")
"""Modules of the subcommands: each adds its parser, whose `function` runs it."""

INTERRUPTED = 128 + signal.SIGINT
"""The exit code that shells give to what Ctrl-C ended."""


def make_parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    parser = argparse.ArgumentParser(
        prog="xdsl-exir", description="PyTorch's exported programs as MLIR: import, transform, run, inspect."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {xdsl_exir.__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        importlib.import_module(f"xdsl_exir.tools.{command}").add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        print("xdsl-exir: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    # What takes long to import is imported here, where an interruption is one line as well.
    from xdsl_exir.errors import ExirError
    from xdsl_exir.names import printable

    # Programs are UTF-8, in files and where these are piped to, whatever the locale; names of files may be any bytes.
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
    from xdsl_exir.transforms.watch import statistics

    args = make_parser().parse_args(arguments)
    try:
        with statistics() if getattr(args, "stats", False) else nullcontext():
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
