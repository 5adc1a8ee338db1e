"""Layers of the literature natively against eager PyTorch: do they run, agree, and how fast?

    python bench/literature.py [NAME ...] [--dynamic] [--engine native|interpreter] [--threads N] [--limit RATIO]

Each is exported with fixed sizes, or (`--dynamic`) with every dimension that torch.export leaves free symbolic. Results are
compared as PyTorch's tests compare; times are the least of many calls in turns. Those slower than `--limit` of eager's time are
named at the end, and those that are refused or differ.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import Any

import torch
from layers import LAYERS, Layer, numerics, sequences
from turns import best

import xdsl_exir
from xdsl_exir.errors import ExirError

TABLES = (numerics, sequences)
"""What is imported to be recorded."""


def exported(model: Layer, inputs: tuple[torch.Tensor, ...], dynamic: bool) -> torch.export.ExportedProgram:
    free = tuple(dict.fromkeys(range(x.ndim), torch.export.Dim.AUTO) for x in inputs)
    return torch.export.export(model, inputs, dynamic_shapes=(free,) if dynamic else None)


def flat(results: Any) -> list[torch.Tensor]:
    return [results] if isinstance(results, torch.Tensor) else list(results)


def measure(name: str, engine: str, dynamic: bool, seconds: float) -> tuple[str, float]:
    """One line about a layer, and our share of eager's time (infinite where it does not run or differs, NaN where there is no program)."""
    torch.manual_seed(0)
    model = LAYERS[name]().eval()
    inputs = model.inputs()
    with torch.no_grad():
        expected = flat(model(*inputs))
        try:
            captured = exported(model, inputs, dynamic)
        except Exception as error:  # PyTorch raises what it likes
            return f"torch.export refuses: {' '.join(str(error).split())[:100]}", math.nan
        program = xdsl_exir.from_exported_program(captured)
        start = time.perf_counter()
        try:
            run = xdsl_exir.compile(program, engine)
        except ExirError as error:
            return f"refused: {error}", math.inf
        compiled = time.perf_counter() - start
        arrays = [x.numpy() for x in inputs]
        for got, wanted in zip(run.flat(arrays), expected, strict=True):
            try:
                torch.testing.assert_close(torch.as_tensor(got), wanted, rtol=1e-4, atol=1e-4, equal_nan=True)
            except AssertionError as error:
                return f"differs: {' '.join(str(error).split())}", math.inf
        if not seconds:
            return f"agrees, compiled in {compiled:.1f} s", 0.0
        ours, eager = best(lambda: run.flat(arrays), lambda: model(*inputs), seconds)
    return f"{ours * 1e3:8.3f} ms, eager {eager * 1e3:8.3f}, compiled in {compiled:.1f} s", ours / eager


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dynamic", action="store_true")
    parser.add_argument("--engine", default="native")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1.25)
    parser.add_argument("--seconds", type=float, default=0.5, help="of timing each; 0 only compares")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    shares: dict[str, float] = {}
    for name in options.names or LAYERS:
        line, shares[name] = measure(name, options.engine, options.dynamic, options.seconds)
        print(f"{shares[name]:6.2f} {name:24} {line}", flush=True)
    timed = [share for share in shares.values() if 0 < share < math.inf]
    mean = math.exp(sum(map(math.log, timed)) / len(timed)) if timed else math.nan
    slow = [name for name, share in shares.items() if share > options.limit]
    print(
        f"{len(shares)} layers, geometric mean {mean:.2f}; beyond {options.limit}: {', '.join(slow) or 'none'}"
    )


if __name__ == "__main__":
    main()
