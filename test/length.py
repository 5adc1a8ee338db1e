"""How time grows with the length of programs: each shape of program at N, 2N and 4N, loaded, compiled for a target and called.

    python test/length.py [--only PATTERN] [--target native|interpreter] [--scale 0.1]

prints a table: seconds of processor time (tools that are called included), and how many times more 4N takes than N: 4 is linear.
Each is measured in a process of its own, with an empty cache.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROW, SQUARE = "tensor<16xf32>", "tensor<4x4xf32>"


def function(arguments: list[tuple[str, str]], lines: list[str], results: list[tuple[str, str]]) -> str:
    """A function's text; arguments and results are names and types."""
    given = ", ".join(f"{name}: {type}" for name, type in arguments)
    names, types = (", ".join(column) for column in zip(*results, strict=True))
    return (
        f"func.func @f({given}) -> ({types}) {{\n  "
        + "\n  ".join([*lines, f"func.return {names} : {types}"])
        + "\n}\n"
    )


def op(result: str, name: str, arguments: str, types: str, type: str) -> str:
    return f"{result} = aten.{name}({arguments}) : ({types}) -> {type}"


def chain(count: int, *links: tuple[str, str, str]) -> str:
    """An input and `count` operators, each of the one before: name, further arguments and type, in turn. They stand between
    two operators that compute."""
    last = links[-1][2]
    lines = [op("%0", "exp", "%x", last, last)]
    type = last
    for i in range(count):
        name, arguments, made = links[i % len(links)]
        lines.append(op(f"%{i + 1}", name, f"%{i}{arguments}", type, made))
        type = made
    lines.append(op("%y", "exp", f"%{count}", type, type))
    return function([("%x", last)], lines, [("%y", type)])


def views(count: int) -> str:
    return chain(count, ("view", ", size = [16]", ROW), ("view", ", size = [4, 4]", SQUARE))


def reduced(count: int) -> str:
    """Views of what is made element by element, then a sum of all: kernels look through them at what they add up."""
    long, square = "tensor<65536xf32>", "tensor<256x256xf32>"
    lines = [op("%0", "exp", "%x", square, square)]
    for i in range(count):
        sizes, *types = ("[65536]", square, long) if i % 2 == 0 else ("[256, 256]", long, square)
        lines.append(op(f"%{i + 1}", "view", f"%{i}, size = {sizes}", *types))
    last = square if count % 2 == 0 else long
    lines.append(op("%y", "sum.dim_IntList", f"%{count}, dim = []", last, "tensor<f32>"))
    return function([("%x", square)], lines, [("%y", "tensor<f32>")])


def permutes(count: int) -> str:
    return chain(count, ("permute", ", dims = [1, 0]", SQUARE))


def expands(count: int) -> str:
    return chain(count, ("expand", ", size = [4, 4]", SQUARE))


def adds(count: int) -> str:
    lines = [op(f"%{i + 1}", "add.Tensor", f"%{i}, %0", f"{SQUARE}, {SQUARE}", SQUARE) for i in range(count)]
    return function([("%0", SQUARE)], lines, [(f"%{count}", SQUARE)])


def rolls(count: int) -> str:
    return chain(count, ("roll", ", shifts = [1], dims = [0]", SQUARE))


def pieces(count: int, name: str, type: str) -> str:
    """`cat` or `stack` of results of operators."""
    lines = [op(f"%{i}", "mul.Scalar", f"%x, other = {i}", ROW, ROW) for i in range(count)]
    given = ", ".join(f"%{i}" for i in range(count))
    lines.append(op("%y", name, f"[{given}]", ", ".join([ROW] * count), type))
    return function([("%x", ROW)], lines, [("%y", type)])


def cats(count: int) -> str:
    return pieces(count, "cat", f"tensor<{16 * count}xf32>")


def stacks(count: int) -> str:
    return pieces(count, "stack", f"tensor<{count}x16xf32>")


def slices(count: int) -> str:
    """Rows of an input, put together in the opposite order."""
    whole, row = f"tensor<{count}x16xf32>", "tensor<1x16xf32>"
    lines = [op(f"%{i}", "slice.Tensor", f"%x, start = {i}, end = {i + 1}", whole, row) for i in range(count)]
    given = ", ".join(f"%{i}" for i in reversed(range(count)))
    lines.append(op("%y", "cat", f"[{given}]", ", ".join([row] * count), whole))
    return function([("%x", whole)], lines, [("%y", whole)])


def arguments(count: int) -> str:
    """A sum of many inputs."""
    lines = [op(f"%{i + 1}", "add.Tensor", f"%{i}, %x{i}", f"{ROW}, {ROW}", ROW) for i in range(count)]
    return function([("%0", ROW), *((f"%x{i}", ROW) for i in range(count))], lines, [(f"%{count}", ROW)])


def outputs(count: int) -> str:
    """Results that have nothing to do with one another."""
    lines = [op(f"%{i}", "mul.Scalar", f"%x, other = {i}", ROW, ROW) for i in range(count)]
    return function([("%x", ROW)], lines, [(f"%{i}", ROW) for i in range(count)])


def literal(count: int) -> str:
    """The elements of a small tensor."""
    line = f"%0 = exir.constant {numbers(count)} : tensor<{count}xf32>"
    return function([], [line], [("%0", f"tensor<{count}xf32>")])


def numbers(count: int) -> str:
    return f"[{', '.join(f'{i}.5' for i in range(count))}]"


def attribute(text: str) -> str:
    return f"func.func @f() attributes {{a = {text}}} {{\n  func.return\n}}\n"


def dense(count: int) -> str:
    return attribute(f"dense<{numbers(count)}> : tensor<{count}xf32>")


def listed(count: int) -> str:
    return attribute(f"[{', '.join(map(str, range(count)))}]")


SHAPES: dict[str, tuple[Callable[[int], str], int, tuple[str, ...]]] = {
    "views": (views, 1000, ("native", "interpreter")),
    "views, sum": (reduced, 1000, ("native", "interpreter")),
    "permutes": (permutes, 1000, ("native", "interpreter")),
    "expands": (expands, 1000, ("native", "interpreter")),
    "adds": (adds, 1000, ("native", "interpreter")),
    "cat": (cats, 128, ("native", "interpreter")),
    "stack": (stacks, 128, ("native", "interpreter")),
    "rolls": (rolls, 300, ("native", "interpreter")),
    "slices, cat": (slices, 600, ("native", "interpreter")),
    "arguments": (arguments, 1000, ("native", "interpreter")),
    "outputs": (outputs, 500, ("native", "interpreter")),
    "text of operations": (adds, 12500, ("load",)),
    "save .pt2": (adds, 2500, ("save",)),
    "numbers of a literal": (literal, 250_000, ("load",)),
    "dense numbers": (dense, 250_000, ("load",)),
    "numbers in a list": (listed, 250_000, ("load",)),
}
"""Programs by name: what makes their text, N, and what is measured of them."""


def seconds() -> float:
    """Processor time of this process and of those it waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(shape: str, count: int, target: str) -> float:
    """Seconds that a program takes, in this process."""
    import xdsl_exir

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.mlir")
        path.write_text(SHAPES[shape][0](count))
        start = seconds()
        program = xdsl_exir.load(path)
        if target == "load":
            return seconds() - start
        if target == "save":
            start = seconds()
            program.save(path.with_suffix(".pt2"))
            return seconds() - start
        check(program, xdsl_exir.compile(program, target=target))
        return seconds() - start


def check(program: Any, run: Any) -> None:
    """Calls it once."""
    types = program.method().function_type.inputs.data
    run.flat([np.ones(type.get_shape(), np.float32) for type in types])


def apart(shape: str, count: int, target: str, limit: float) -> float | str:
    """The same in a process of its own; what went wrong. The limit is of processor time, of it and of each tool it calls."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--limit", str(limit), "--one", shape, str(count), target],
            env={**os.environ, "XDSL_EXIR_CACHE": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == -signal.SIGXCPU or f"({signal.strsignal(signal.SIGXCPU)})" in done.stderr:
            return f"> {limit:g}"
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:60]
        return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="regular expression of names of programs")
    parser.add_argument("--target", default="", help="one target")
    parser.add_argument("--scale", type=float, default=1.0, help="of N")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds of processor time that one may take"
    )
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        shape, count, target = options.one
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(options.limit), most))
        print(measure(shape, int(count), target))
        return
    print(f"{'program':20} {'':12} {'N':>7} {'s':>8} {'2N':>8} {'4N':>8} {'4N / N':>7}")
    for shape, (_, count, targets) in SHAPES.items():
        if not re.search(options.only, shape):
            continue
        for target in targets:
            if options.target in ("", target):
                count = int(SHAPES[shape][1] * options.scale)
                taken: list[float | str] = []
                for factor in (1, 2, 4):
                    taken.append(apart(shape, factor * count, target, options.limit))
                    if isinstance(taken[-1], str):
                        break
                print(f"{shape:20} {target:12} {count:7} {row(taken)}", flush=True)


def row(taken: Sequence[float | str]) -> str:
    """Times of N, 2N and 4N, and what the last one is of the first."""
    shown = " ".join(one if isinstance(one, str) else f"{one:8.2f}" for one in taken)
    first, last = taken[0], taken[-1]
    if isinstance(first, str) or isinstance(last, str):
        return shown
    return f"{shown} {last / first:7.1f}"


if __name__ == "__main__":
    main()
