"""Single operators natively against eager PyTorch: where does one fall off a cliff?

    python bench/operators.py [NAME ...] [--sizes 16k 1M 64M] [--threads N] [--limit S] [--list]

A case is a function of tensors, whose operands take about so many bytes; names are shell patterns (`conv*`). Calls are in turns,
with a pause between, in which the other's waiting threads go to sleep; figures are the fastest calls in milliseconds, `ratio`
is ours to eager's. Results are compared with eager's. A case whose calls take longer than the limit is stopped after one; one
that does not compile, or differs, says so and the next one goes on. At the end are the ten worst and geometric means.
"""

from __future__ import annotations

import argparse
import fnmatch
import math
import sys
import time
import warnings
from typing import Any

import torch
from more_operator_cases import CASES
from operator_cases import BYTES, Call
from torch import nn
from turns import best, set_threads

import xdsl_exir


class Calling(nn.Module):
    """A function as a module."""

    def __init__(self, call: Call):
        super().__init__()
        self.call = call

    def forward(self, *args: Any) -> Any:
        return self.call(*args)


# --- measuring ---------------------------------------------------------------------------------------------------


def measure(name: str, nbytes: int, limit: float) -> tuple[float, float, float, str]:
    """(eager's seconds, ours, seconds to compile, what is wrong)."""
    torch.manual_seed(0)
    call, args = CASES[name](nbytes)
    module = (call if isinstance(call, nn.Module) else Calling(call)).eval()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        program = xdsl_exir.from_exported_program(torch.export.export(module, args))
        start = time.perf_counter()
        run = xdsl_exir.compile(program, target="native")
        compiled = time.perf_counter() - start
        # NumPy knows no bfloat16: such tensors are given as they are.
        inputs = [a if a.dtype is torch.bfloat16 else a.numpy() for a in args]
        expected = list(torch.utils._pytree.tree_leaves(module(*args)))
        given = run.flat(inputs)
        wrong = "" if agree(given, expected) else "differs"
        ours, eager = best(lambda: run.flat(inputs), lambda: module(*args), limit)
    return eager, ours, compiled, wrong


def agree(given: Any, expected: list[torch.Tensor]) -> bool:
    """Whether results are close, for their dtype; those of ties may stand elsewhere."""
    for got, wanted in zip(given, expected, strict=True):
        array = torch.as_tensor(got if isinstance(got, torch.Tensor) else got.astype("f8"))
        if not wanted.dtype.is_floating_point:
            same = (array.double() == wanted.double()).double().mean().item()
            if same < 0.99:
                return False
            continue
        tolerance = {torch.float64: 1e-9, torch.float32: 1e-3}.get(wanted.dtype, 0.1)
        scale = wanted.double().abs().nan_to_num(0, 0, 0).max().item() if wanted.numel() else 1
        if not torch.allclose(array.double(), wanted.double(), tolerance, tolerance * scale, equal_nan=True):
            return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=["*"], metavar="NAME")
    parser.add_argument("--sizes", nargs="*", choices=BYTES, default=["16k", "1M"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=3.0, help="seconds for the calls of one case")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = [name for name in CASES if any(fnmatch.fnmatch(name, pattern) for pattern in options.names)]
    if options.list:
        print(*names, f"{len(names)} cases", sep="\n")
        return 0
    set_threads(options.threads)
    ratios: dict[str, dict[str, float]] = {size: {} for size in options.sizes}
    print(f"{'case':30}{'size':>5}{'eager ms':>11}{'ours ms':>11}{'ratio':>8}{'compile':>9}")
    for name in names:
        for size in options.sizes:
            try:
                eager, ours, compiled, wrong = measure(name, BYTES[size], options.limit)
            except Exception as error:  # what is wrong with one is for its line to say
                print(f"{name:30}{size:>5}  {type(error).__name__}: {str(error)[:90]!r}", flush=True)
                continue
            ratios[size][name] = ours / eager
            line = (
                f"{name:30}{size:>5}{1e3 * eager:11.4f}{1e3 * ours:11.4f}{ours / eager:8.2f}{compiled:9.2f}"
            )
            print(f"{line}  {wrong}".rstrip(), flush=True)
    for size, found in ratios.items():
        if found:
            mean = math.exp(sum(map(math.log, found.values())) / len(found))
            over = sum(ratio > 1.25 for ratio in found.values())
            print(f"{size}: geometric mean {mean:.2f} of {len(found)}, {over} above 1.25")
            worst = sorted(found, key=lambda name: -found[name])[:10]
            print("  worst: " + ", ".join(f"{name} {found[name]:.1f}" for name in worst))
    return 0


if __name__ == "__main__":
    sys.exit(main())
