"""`xdsl-exir compile`: a program as an executable in one file, or as a shared library with a C header and a weights file."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from xdsl_exir.errors import InputError
from xdsl_exir.program import Program
from xdsl_exir.tools.common import (
    EXECUTABLE,
    add_cpu,
    add_program_arguments,
    add_target,
    read_program,
    step,
    tell_slow_paths,
)


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "compile", help="compile a program to an executable or a library for C", description=__doc__
    )
    add_program_arguments(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FOLDER|FILE.exir",
        help="the folder for the files of a C library, or the file of an executable",
    )
    add_target(parser, "native")
    parser.add_argument("--name", help="of the library, prefix of its functions (default: the program's)")
    add_cpu(parser)
    parser.add_argument(
        "--triple",
        help="the architecture and system that a C library is for: aarch64-linux-gnu, riscv64-linux-gnu, wasm32 (default: this one's)",
    )
    parser.add_argument(
        "--emit",
        choices=("so", "a", "obj", "asm", "llvm", "mlir"),
        default="so",
        help="a shared or a static C library, or an object file, assembly, LLVM IR or MLIR with the C source of its functions (default: %(default)s)",
    )
    parser.add_argument(
        "--threads", type=int, help="how many share a loop of a C library; 1: it calls no OpenMP"
    )
    parser.add_argument(
        "--instances",
        action="store_true",
        help="a C library of which a process may have several: NAME_new, NAME_forward(instance, ...), NAME_delete",
    )
    parser.add_argument(
        "--embed", action="store_true", help="the weights are in the C library, not in a file"
    )
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Compiles, and says what was written."""
    path: Path = args.program
    program = read_program(args)
    if args.output.suffix == EXECUTABLE:
        return save(program, args)
    if args.target != "native" or args.fallback != "error":
        raise InputError(
            f"--target and --fallback are of executables (-o FILE{EXECUTABLE}), not of C libraries"
        )
    from xdsl_exir.runtime.c.library import compile_library

    name = args.name or re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    with step("compiling"):
        artifact = compile_library(
            program,
            args.output,
            name,
            args.cpu,
            args.triple,
            args.emit,
            args.threads,
            args.instances,
            args.embed,
        )
    files = artifact.library, artifact.header, artifact.weights, artifact.source
    for file in dict.fromkeys(filter(None, files)):
        print(f"{file}: {file.stat().st_size} bytes")
    return 0


def save(program: Program, args: argparse.Namespace) -> int:
    """Saves an executable, and says what was written."""
    from xdsl_exir.runtime.executable import compile

    given = [name for name in ("name", "triple", "threads") if getattr(args, name) is not None]
    given += [
        name
        for name, default in (("emit", "so"), ("instances", False), ("embed", False))
        if getattr(args, name) != default
    ]
    if given:
        raise InputError(f"--{given[0]} is of C libraries, not of executables")
    with step("compiling"):
        executable = compile(program, args.target, args.fallback, args.cpu)
        tell_slow_paths(executable, args)
        executable.save(args.output)
    print(f"{args.output}: {args.output.stat().st_size} bytes")
    return 0
