"""An executable in a file: loaded and called in a new process, beside compiling the program there.

    python bench/saved.py [NAME ...] [--runs N]

Seconds of CPU, those of tools and code generators among them, to the end of the first call, imports included; the least of several runs. `cold` begins
with an empty cache, `cached` with one that has all. Needs torch to export the models.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")

COMPILED = """
program = xdsl_exir.load(sys.argv[1])
run = xdsl_exir.compile(program, "native")
"""
SAVES = "run.save(sys.argv[3])\n"
LOADED = "run = xdsl_exir.load_executable(sys.argv[3])\n"
SCRIPT = """
import os, sys
import numpy as np
import xdsl_exir
WORK
arrays = np.load(sys.argv[2])
inputs = [arrays[name] for name in arrays if name.startswith("in")]
outputs = [name for name in arrays if name.startswith("out")]
for name, result in zip(outputs, run.flat(inputs), strict=True):
    np.testing.assert_allclose(result, arrays[name], rtol=1e-2, atol=1e-3)
AFTER
print(sum(os.times()[:4]))
"""


def seconds(work: str, paths: list[Path], cache: Path, after: str = "") -> float:
    """CPU seconds of a new process that gets a program ready, calls it once and compares."""
    environment: Mapping[str, str] = {**os.environ, "XDSL_EXIR_CACHE": str(cache)}
    command = [sys.executable, "-c", SCRIPT.replace("WORK", work).replace("AFTER", after), *map(str, paths)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def measure(name: str, directory: Path, runs: int) -> str:
    """A row of the table."""
    subprocess.run(
        [sys.executable, HERE / "export_models.py", directory, name], check=True, capture_output=True
    )
    given = [directory / f"{name}.core.pt2", directory / f"{name}.npz"]
    file, cache = directory / f"{name}.exir", directory / "cache"
    cold = seconds(COMPILED, [*given, file], cache, SAVES)
    cached = min(seconds(COMPILED, [*given, file], cache) for _ in range(runs))
    loaded = min(seconds(LOADED, [*given, file], directory / "unused") for _ in range(runs))
    sizes = [path.stat().st_size / 1e6 for path in (given[0], file)]
    return f"{name:12} {cold:8.2f} {cached:8.2f} {loaded:8.2f} {sizes[0]:10.1f} {sizes[1]:10.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Times saved executables.")
    parser.add_argument("names", nargs="*", default=MODELS)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    print(f"{'model':12} {'cold':>8} {'cached':>8} {'loaded':>8} {'pt2, MB':>10} {'exir, MB':>10}")
    for name in args.names:
        with tempfile.TemporaryDirectory() as folder:
            print(measure(name, Path(folder), args.runs), flush=True)


if __name__ == "__main__":
    main()
