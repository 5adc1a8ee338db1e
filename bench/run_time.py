"""Run time: a call of each model by the interpreter, native code, eager PyTorch and its inductor, measured in turns.

    python bench/run_time.py [NAME ...] [--rounds N] [--threads N] [--contenders NAME ...] [--directory DIR]

Each contender lives in a process of its own, which loads the model, checks its results against those that eager PyTorch
gave when the model was exported, and then waits. In every round each is asked, one after the other and after a pause in
which the other's waiting threads go to sleep, for a burst of calls. `min` and `median` are over all calls, in
milliseconds, with what it takes to call from Python; `ratio` is the minimum's to the best minimum. `cold` and `cached` are seconds to
compile: with an empty cache, and again from what that left. Needs torch to export the models (into a directory that is
kept and reused) and for its own columns; inductor also needs a C++ compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
MODELS = ("mlp", "bert6", "llama8", "resnet18", "mobilenetv2")
SLOW = {"interpreter": 2}
"""Rounds of contenders that take seconds a call."""
BURST = 0.05
"""Seconds of calls in a burst."""
PAUSE = 0.02
"""Seconds before a burst; waiting threads spin for a few milliseconds after a call."""

Run = Callable[[], Sequence[Any]]
Compile = Callable[[], Run]

# --- contenders: how to compile a model, and call it ---------------------------------------------------------


def ours(target: str) -> Callable[[Path, list[Any]], Compile]:
    def load(path: Path, inputs: list[Any]) -> Compile:
        import xdsl_exir

        program = xdsl_exir.load(path)

        def compile_() -> Run:
            executable = xdsl_exir.compile(program, target=target)
            return lambda: executable.flat(inputs)

        return compile_

    return load


def pytorch(inductor: bool) -> Callable[[Path, list[Any]], Compile]:
    def load(path: Path, inputs: list[Any]) -> Compile:
        import export_models
        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        model, _ = export_models.get_model_and_inputs(path.name.split(".")[0])
        tensors = [torch.from_numpy(array) for array in inputs]

        def compile_() -> Run:
            torch.compiler.reset()
            compiled: Any = torch.compile(model) if inductor else model

            def run() -> Sequence[Any]:
                with torch.inference_mode():
                    result = compiled(*tensors)
                return [tensor.numpy() for tensor in (result if isinstance(result, tuple) else (result,))]

            run()
            return run

        return compile_

    return load


CONTENDERS: dict[str, Callable[[Path, list[Any]], Compile]] = {
    "interpreter": ours("interpreter"),
    "native": ours("native"),
    "eager": pytorch(inductor=False),
    "inductor": pytorch(inductor=True),
}


def serve(name: str, path: Path) -> None:
    """The child: says how long compiling took, then answers each line, a number of calls, with their seconds."""
    warnings.simplefilter("ignore")
    arrays = np.load(path.with_name(f"{path.name.split('.')[0]}.npz"))
    inputs = [arrays[key] for key in arrays.files if key.startswith("in")]
    expected = [arrays[key] for key in arrays.files if key.startswith("out")]
    compile_ = CONTENDERS[name](path, inputs)
    seconds: list[float] = []
    run: Run = list
    for _ in ("cold", "cached"):
        start = time.perf_counter()
        run = compile_()
        seconds.append(time.perf_counter() - start)
    for actual, wanted in zip(run(), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-4)
    print(json.dumps(seconds), flush=True)
    for line in sys.stdin:
        times: list[float] = []
        for _ in range(int(line)):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(json.dumps(times), flush=True)


# --- the parent ----------------------------------------------------------------------------------------------


class Child:
    """A contender in a process of its own."""

    def __init__(self, name: str, path: Path, threads: int, caches: Path):
        self.name = name
        count = str(threads)
        environment = os.environ | {
            "OMP_NUM_THREADS": count,
            "OPENBLAS_NUM_THREADS": count,
            "XDSL_EXIR_CACHE": str(caches / "ours"),
            "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        }
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self.cold, self.cached = self.read()
        self.times: list[float] = []
        self.rounds = 0
        self.calls = max(1, round(BURST / self.burst(2)[-1]))

    def read(self) -> list[float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} failed; its message is above")
        return json.loads(line)

    def burst(self, calls: int) -> list[float]:
        assert self.process.stdin is not None
        print(calls, file=self.process.stdin, flush=True)
        return self.read()

    def turn(self) -> None:
        """One round: a call that is not counted, for caches and threads to wake up, then a burst."""
        if self.rounds < SLOW.get(self.name, self.rounds + 1):
            time.sleep(PAUSE)
            self.times += self.burst(self.calls + 1)[1:]
            self.rounds += 1

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(names: Sequence[str], path: Path, rounds: int, threads: int) -> None:
    """Prints a model's rows."""
    model = path.name.split(".")[0]
    with tempfile.TemporaryDirectory() as caches:
        children = [Child(name, path, threads, Path(caches)) for name in names]
        for _ in range(rounds):
            for child in children:
                child.turn()
        for child in children:
            child.close()
    best = min(min(child.times) for child in children)
    for child in children:
        least, middle = min(child.times), statistics.median(child.times)
        print(
            f"{model:12} {child.name:12} {least * 1e3:9.3f} {middle * 1e3:9.3f} {least / best:7.2f}"
            f" {child.cold:7.2f} {child.cached:7.2f}",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=MODELS, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()) / "xdsl-exir-models")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve[0], Path(args.serve[1]))
        return 0
    args.directory.mkdir(exist_ok=True)
    missing = [name for name in args.names if not (args.directory / f"{name}.npz").is_file()]
    if missing:
        export = [sys.executable, str(HERE / "export_models.py"), str(args.directory), *missing]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
    contenders: list[str] = args.contenders
    if "inductor" in contenders and not any(map(shutil.which, ("g++", "clang++", "c++"))):
        print("inductor needs a C++ compiler, and there is none: left out")
        contenders.remove("inductor")
    print(f"{'ms a call':12} {'':12} {'min':>9} {'median':>9} {'ratio':>7} {'cold':>7} {'cached':>7}")
    for name in args.names:
        compare(contenders, args.directory / f"{name}.core.pt2", args.rounds, args.threads)
    return 0


if __name__ == "__main__":
    sys.exit(main())
