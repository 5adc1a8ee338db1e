"""Layers of the literature natively against eager PyTorch: do they run, agree, and how fast?

    python bench/literature.py [NAME ...] [--dynamic] [--engine native|interpreter] [--threads N] [--limit RATIO] [--dtype D]

Each is exported with fixed sizes, or (`--dynamic`) with every dimension that torch.export leaves free symbolic. Results of float32 are
compared as PyTorch's tests compare, those of another `--dtype` with the same in float64; times are the least of many calls in turns.
Those slower than `--limit` of eager's time are named at the end, and those that are refused or differ.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import Any

import ml_dtypes
import torch
from layers import LAYERS, Layer, numerics, sequences
from turns import as_tensor, best, differs, set_threads

import xdsl_exir
from xdsl_exir.errors import ExirError

TABLES = (numerics, sequences)
"""What is imported to be recorded."""


def exported(model: Layer, inputs: tuple[torch.Tensor, ...], dynamic: bool) -> torch.export.ExportedProgram:
    free = tuple(dict.fromkeys(range(x.ndim), torch.export.Dim.AUTO) for x in inputs)
    return torch.export.export(model, inputs, dynamic_shapes=(free,) if dynamic else None)


def flat(results: Any) -> list[torch.Tensor]:
    return [results] if isinstance(results, torch.Tensor) else list(results)


def converted(inputs: tuple[torch.Tensor, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Inputs, those of floating point in a dtype."""
    return tuple(x.to(dtype) if x.is_floating_point() else x for x in inputs)


def array(x: torch.Tensor) -> Any:
    """A tensor as NumPy sees it, which of itself knows no bfloat16."""
    return x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def wrong(got: Any, eager: torch.Tensor, exact: torch.Tensor | None) -> str:
    """How a result differs from eager's, or is further from the exact one than eager's is, or nothing."""
    if exact is not None:
        return differs(as_tensor(got), eager, exact)
    try:
        torch.testing.assert_close(as_tensor(got), eager, rtol=1e-4, atol=1e-4, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())
    return ""


def measure(
    name: str, engine: str, dynamic: bool, seconds: float, dtype: torch.dtype = torch.float32
) -> tuple[str, float]:
    """One line about a layer, and our share of eager's time (infinite where it does not run or differs, NaN where there is no program)."""
    torch.manual_seed(0)
    model = LAYERS[name]().eval().to(dtype)
    inputs = converted(model.inputs(), dtype)
    with torch.no_grad():
        try:
            expected = flat(model(*inputs))
            captured = exported(model, inputs, dynamic)
            exact: list[Any] = [None] * len(expected)
            if dtype != torch.float32:
                exact = flat(model.double()(*converted(inputs, torch.float64)))
                model.to(dtype)
        except Exception as error:  # PyTorch raises what it likes
            return f"PyTorch refuses: {' '.join(str(error).split())[:100]}", math.nan
        start = time.perf_counter()
        try:
            run = xdsl_exir.compile(xdsl_exir.from_exported_program(captured), engine)
        except ExirError as error:
            return f"refused: {error}", math.inf
        compiled = time.perf_counter() - start
        arrays = [array(x) for x in inputs]
        for got, wanted, truth in zip(run.flat(arrays), expected, exact, strict=True):
            if said := wrong(got, wanted, truth):
                return f"differs: {said}", math.inf
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
    parser.add_argument("--dtype", default="float32", choices=["float32", "float16", "bfloat16", "float64"])
    options = parser.parse_args()
    dtype = getattr(torch, options.dtype)
    warnings.simplefilter("ignore")
    set_threads(options.threads)
    shares: dict[str, float] = {}
    for name in options.names or LAYERS:
        line, shares[name] = measure(name, options.engine, options.dynamic, options.seconds, dtype)
        print(f"{shares[name]:6.2f} {name:24} {line}", flush=True)
    timed = [share for share in shares.values() if 0 < share < math.inf]
    mean = math.exp(sum(map(math.log, timed)) / len(timed)) if timed else math.nan
    slow = [name for name, share in shares.items() if share > options.limit]
    print(
        f"{len(shares)} layers, geometric mean {mean:.2f}; beyond {options.limit}: {', '.join(slow) or 'none'}"
    )


if __name__ == "__main__":
    main()
