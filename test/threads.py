"""Threads at full scale: several threads call one native executable of each model, and every result is compared, bit by bit,
with that of a call which is alone.

    python test/threads.py [NAME ...] [--threads N] [--calls N] [--directory DIR]

Models are those of bench/models, exported into a directory that is kept and reused. Each thread makes `--calls` calls, in
turns over as many inputs as there are threads. Prints a line for each model; ends with 1 if anything was wrong.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import xdsl_exir

BENCH = Path(__file__).parents[1] / "bench"
MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")


def variants(inputs: Sequence[Any], count: int) -> list[list[Any]]:
    """Inputs of a model, and as many others: integers in another order, floats of another scale."""
    return [
        [
            np.roll(x, step, -1) if x.dtype.kind in "iub" else (x * (1 + step / 4)).astype(x.dtype)
            for x in inputs
        ]
        for step in range(count)
    ]


def wrong_results(name: str, directory: Path, threads: int, calls: int) -> int:
    """How many results of a model's calls in threads are not those of a call that is alone."""
    file = directory / f"{name}.core.pt2"
    if not file.is_file():
        subprocess.run([sys.executable, str(BENCH / "export_models.py"), str(directory), name], check=True)
    held = np.load(directory / f"{name}.npz")
    inputs = variants([held[key] for key in held.files if key.startswith("in")], threads)
    run = xdsl_exir.compile(xdsl_exir.load(file), "native")
    wanted = [[output.tobytes() for output in run.flat(values)] for values in inputs]
    wrong = [0] * threads

    def work(number: int) -> None:
        for call in range(calls):
            which = (number + call) % threads
            got = [output.tobytes() for output in run.flat(inputs[which])]
            wrong[number] += got != wanted[which]

    start = time.perf_counter()
    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - start
    print(
        f"{name:12} {threads} threads, {calls} calls each: {sum(wrong)} wrong ({seconds:.1f} s)", flush=True
    )
    return sum(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", default=MODELS)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()) / "xdsl-exir-models")
    options = parser.parse_args()
    options.directory.mkdir(exist_ok=True)
    wrong = [wrong_results(name, options.directory, options.threads, options.calls) for name in options.names]
    sys.exit(1 if any(wrong) else 0)


if __name__ == "__main__":
    main()
