"""`xdsl-exir import`: a saved program as MLIR text, at any stage, or in one of the forms that PyTorch reads."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program
from xdsl_exir.tools.common import add_program_arguments, read_program, step
from xdsl_exir.transforms.stages import LOWERED, STAGES

FORMS = {
    "text": "MLIR text",
    "mlir": "MLIR text to OUTPUT.mlir with the weights in OUTPUT.safetensors beside it",
    "pt2": "an archive that torch.export.load reads, to OUTPUT.pt2",
    "fx": "the graph as PyTorch prints it",
}
"""What a program may be written as."""
SAVED = ("mlir", "pt2")
"""Forms that are files, told by their suffix."""
LLVM = "llvm"
"""The stage that is no MLIR: LLVM IR, a module for each dispatch and each driver."""


def add_parser(subparsers: Any) -> None:
    """Adds this command to the command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "import", help="print a saved program as MLIR, or write it in another form", description=__doc__
    )
    add_program_arguments(parser, (*STAGES, *LOWERED, LLVM))
    parser.add_argument("-o", "--output", type=Path, help="file to write (default: standard output)")
    parser.add_argument(
        "--to",
        choices=FORMS,
        default="text",
        help="; ".join(f"{form}: {what}" for form, what in FORMS.items()) + " (default: %(default)s)",
    )
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
    """Imports and writes."""
    output: Path | None = args.output
    if args.to in SAVED and (output is None or output.suffix != f".{args.to}"):
        raise ExirError(f"--to {args.to} needs -o FILE.{args.to}")
    as_llvm = args.stage == LLVM
    if as_llvm:
        if args.to != "text":
            raise ExirError(f"--stage {LLVM} is text alone, not --to {args.to}")
        args.stage = "edge"
    program = read_program(args)
    if args.to in SAVED:
        assert output is not None
        with step(f"writing {output}"):
            program.save(output)
        return 0
    with step("printing"):
        text = (_llvm_text(program) if as_llvm else _text(program, args)) + "\n"
    if output:
        output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
    return 0


def _llvm_text(program: Program) -> str:
    from xdsl_exir.runtime.native import plan_program

    return "\n; -----\n".join(plan_program(program).llvm_ir())


def _text(program: Program, args: argparse.Namespace) -> str:
    if args.to == "fx":
        return program.fx_text()
    if args.rename:
        from xdsl_exir.transforms.irdl_names import ToIrdlNames

        program = program.apply(ToIrdlNames())
    return program.text(generic=args.generic or args.rename, locations=args.print_debuginfo)
