"""`xdsl-exir run`: a program's outputs for inputs from files, compared with expected ones if those are given."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from xdsl_exir.tools.common import (
    add_cpu,
    add_inputs,
    add_program_arguments,
    add_tolerances,
    read_arrays,
    read_program,
    step,
)


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser("run", help="run a program", description=__doc__)
    add_program_arguments(parser)
    parser.add_argument("--method", help="method to run (default: the first)")
    add_inputs(parser)
    parser.add_argument("-o", "--output", type=Path, help=".npz file for the outputs (out0, out1, ...)")
    parser.add_argument("--expected", nargs="*", type=Path, metavar="FILE", help="outputs to compare with")
    add_tolerances(parser)
    parser.add_argument("--target", default="interpreter", help="what runs it (default: %(default)s)")
    parser.add_argument(
        "--fallback",
        choices=("error", "interpreter"),
        default="error",
        help="what becomes of operators that the target cannot take (default: %(default)s)",
    )
    add_cpu(parser)
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Runs and reports. Exit code 1 where outputs differ from the expected ones."""
    import numpy as np

    from xdsl_exir.runtime.executable import compile

    inputs = read_arrays(args.inputs)
    program = read_program(args)
    with step("compiling"):
        executable = compile(program, target=args.target, fallback=args.fallback, cpu=args.cpu)
        method = executable.method(args.method)
    for item in dict.fromkeys(map(str, executable.fallbacks)):
        print(f"in the interpreter: {item}", file=sys.stderr)
    with step("running"):
        outputs = [value for value in method.flat(inputs) if is_number(value)]
    for index, value in enumerate(outputs):
        array = np.asarray(value)
        with np.printoptions(threshold=8, edgeitems=2, precision=4):
            print(f"out{index}: {array.dtype}{list(array.shape)} {np.array2string(array, separator=', ')}")
    if args.output:
        np.savez(args.output, **{f"out{index}": value for index, value in enumerate(outputs)})
    if args.expected is None:
        return 0
    return compare(outputs, read_arrays(args.expected), args.rtol, args.atol)


def is_number(value: Any) -> bool:
    """Whether an output is an array or a number; None and strings are in no file of arrays."""
    return value is not None and not isinstance(value, str)


def compare(outputs: list[Any], expected: list[Any], rtol: float, atol: float) -> int:
    """Prints how outputs differ from expected ones; 0 where they agree, else 1."""
    import numpy as np

    from xdsl_exir.runtime.guards import typed

    if len(outputs) != len(expected):
        print(f"{len(outputs)} outputs, expected {len(expected)}", file=sys.stderr)
        return 1
    failures = 0
    for index, (value, wanted) in enumerate(zip(outputs, expected, strict=True)):
        got = np.asarray(value)
        wanted = typed(wanted, got.dtype)
        if (got.shape, got.dtype) != (wanted.shape, wanted.dtype):
            print(f"out{index}: {got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}")
            failures += 1
            continue
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        difference = np.abs(got.astype(wide) - wanted.astype(wide))
        largest = float(np.nanmax(difference, initial=0))
        agrees = np.allclose(got.astype(wide), wanted.astype(wide), rtol=rtol, atol=atol, equal_nan=True)
        print(f"out{index}: {'agrees' if agrees else 'DIFFERS'}, largest difference {largest:.3g}")
        failures += not agrees
    return 1 if failures else 0
