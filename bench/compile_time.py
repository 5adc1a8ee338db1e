"""Compile time: from a saved program to verified edge IR, beside ExecuTorch when it is installed, and to native code.

    python bench/compile_time.py [NAME ...] [--runs N] [--directory DIR]

CPU seconds, minimum over runs. `fresh` is a new process with everything it imports; `warm` the same again in that
process. `cold` is loading and compiling to native code where nothing is kept, with the processes of tools and after a small program, which
imports what there is to import; `cached` the same again. ExecuTorch's column is `to_edge` alone, on an already loaded and decomposed program.
Needs torch to export the models (into a directory that is kept and reused).
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

NATIVE = """
import json, os, resource, sys, tempfile
import xdsl_exir
def used():
    each = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in each)
def once(path):
    start = used()
    xdsl_exir.compile(xdsl_exir.load(path), "native")
    return used() - start
with tempfile.TemporaryDirectory() as cache:
    os.environ["XDSL_EXIR_CACHE"] = cache
    once(sys.argv[2])
    print(json.dumps(dict(cold=once(sys.argv[1]), cached=once(sys.argv[1]))))
"""

SMALL = """
func.func @forward(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = aten.relu(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %0 : tensor<8x8xf32>
}
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


def measure(script: str, *paths: Path) -> dict[str, float]:
    """Runs a script on files in a fresh process; its last line is JSON."""
    command = [sys.executable, "-c", script, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def best(script: str, *paths: Path, runs: int) -> dict[str, float]:
    """Minimum of each figure over runs."""
    results = [measure(script, *paths) for _ in range(runs)]
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
    small = args.directory / "small.mlir"
    small.write_text(SMALL)
    executorch = importlib.util.find_spec("executorch") is not None
    print(
        f"{'':12} {'program':10} {'edge ops':>8} {'fresh':>7} {'warm':>7} {'cold':>7} {'cached':>7}", end=""
    )
    print(
        f" {'ExecuTorch to_edge':>19} {'(decompose)':>12} {'ratio':>6}"
        if executorch
        else "   (executorch is not installed)"
    )
    for name in args.names:
        for dialect in ("training", "core"):
            path = args.directory / f"{name}.{dialect}.pt2"
            ours = best(OURS, path, runs=args.runs) | best(NATIVE, path, small, runs=args.runs)
            line = f"{name:12} {dialect:10} {ours['ops']:8.0f}"
            line += "".join(f" {ours[column]:7.2f}" for column in ("fresh", "warm", "cold", "cached"))
            if executorch:
                theirs = best(EXECUTORCH, path, runs=1)
                ratio = theirs["to_edge"] / ours["warm"]
                line += f" {theirs['to_edge']:19.2f} {theirs['decompose']:12.2f} {ratio:5.1f}x"
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
