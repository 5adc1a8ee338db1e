"""`xdsl-exir run`: a program's outputs for inputs from files, compared with expected ones if those are given."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl_exir.errors import InputError
from xdsl_exir.tools.common import (
    EXECUTABLE,
    add_cpu,
    add_inputs,
    add_program_arguments,
    add_target,
    add_tolerances,
    read_arrays,
    read_program,
    step,
    tell_slow_paths,
)

if TYPE_CHECKING:
    from xdsl_exir.runtime.executable import Executable


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser("run", help="run a program", description=__doc__)
    add_program_arguments(parser, more=f", or an executable ({EXECUTABLE}), which is run as it was compiled")
    parser.add_argument("--method", help="method to run (default: the first)")
    add_inputs(parser)
    parser.add_argument("-o", "--output", type=Path, help=".npz file for the outputs (out0, out1, ...)")
    parser.add_argument("--expected", nargs="*", type=Path, metavar="FILE", help="outputs to compare with")
    add_tolerances(parser)
    add_target(parser, "interpreter")
    add_cpu(parser)
    parser.set_defaults(function=run)


def run(args: argparse.Namespace) -> int:
    """Runs and reports. Exit code 1 where outputs differ from the expected ones."""
    import numpy as np

    inputs = read_arrays(args.inputs)
    executable = read_executable(args)
    method = executable.method(args.method)
    tell_slow_paths(executable, args)
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


def read_executable(args: argparse.Namespace) -> Executable:
    """The executable that the arguments name, or that of the program that they name. Raises `InputError` for arguments that an
    executable, being compiled, does not take."""
    from xdsl_exir.runtime.executable import compile
    from xdsl_exir.runtime.saved import load_executable

    path: Path = args.program
    if path.suffix != EXECUTABLE:
        program = read_program(args)
        with step("compiling"):
            return compile(program, target=args.target, fallback=args.fallback, cpu=args.cpu)
    given = [name for name, default in OF_PROGRAMS.items() if getattr(args, name) != default]
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise InputError(f"{path} is compiled: {options} cannot be asked of it")
    with step(f"reading {path}"):
        return load_executable(path)


OF_PROGRAMS = {
    "stage": "imported",
    "passes": None,
    "verify_numerics": None,
    "target": "interpreter",
    "fallback": "error",
    "cpu": None,
}
"""Arguments that say what becomes of a program before it is run, and their defaults."""


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
