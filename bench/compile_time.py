"""Compile time: from a saved program to verified edge IR, beside ExecuTorch when it is installed.

    python bench/compile_time.py [NAME ...] [--runs N] [--directory DIR]

CPU seconds, minimum over runs. `fresh` is a new process with everything it imports; `warm` the same again in that
process. ExecuTorch's column is `to_edge` alone, on an already loaded and decomposed program. Needs torch to export the
models (into a directory that is kept and reused).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")

OURS = """
import json, sys, time
start = time.process_time()
import xdsl_exir
def once():
    program = xdsl_exir.load(sys.argv[1])
    return program.to_edge()
edge = once()
fresh = time.process_time() - start
warm = []
for _ in range(3):
    start = time.process_time()
    once()
    warm.append(time.process_time() - start)
ops = sum(1 for _ in edge.module.walk())
print(json.dumps(dict(fresh=fresh, warm=min(warm), ops=ops, total=time.process_time())))
"""

EXECUTORCH = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import torch
from executorch.exir import to_edge
program = torch.export.load(sys.argv[1])
start = time.process_time()
decomposed = program.run_decompositions()
decompose = time.process_time() - start
start = time.process_time()
to_edge(decomposed)
print(json.dumps(dict(decompose=decompose, to_edge=time.process_time() - start)))
"""


def measure(script: str, path: Path) -> dict[str, float]:
    """Runs a script on a file in a fresh process; its last line is JSON."""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def best(script: str, path: Path, runs: int) -> dict[str, float]:
    """Minimum of each figure over runs."""
    results = [measure(script, path) for _ in range(runs)]
    return {key: min(result[key] for result in results) for key in results[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=MODELS, metavar="NAME")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()) / "xdsl-exir-models")
    args = parser.parse_args()
    args.directory.mkdir(exist_ok=True)
    missing = [name for name in args.names if not (args.directory / f"{name}.core.pt2").is_file()]
    if missing:
        export = [sys.executable, str(HERE / "export_models.py"), str(args.directory), *missing]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
    executorch = importlib.util.find_spec("executorch") is not None
    print(f"{'':12} {'program':10} {'edge ops':>8} {'fresh':>7} {'warm':>7}", end="")
    print(
        f" {'ExecuTorch to_edge':>19} {'(decompose)':>12} {'ratio':>6}"
        if executorch
        else "   (executorch is not installed)"
    )
    for name in args.names:
        for dialect in ("training", "core"):
            path = args.directory / f"{name}.{dialect}.pt2"
            ours = best(OURS, path, args.runs)
            line = f"{name:12} {dialect:10} {ours['ops']:8.0f} {ours['fresh']:7.2f} {ours['warm']:7.2f}"
            if executorch:
                theirs = best(EXECUTORCH, path, 1)
                ratio = theirs["to_edge"] / ours["warm"]
                line += f" {theirs['to_edge']:19.2f} {theirs['decompose']:12.2f} {ratio:5.1f}x"
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
