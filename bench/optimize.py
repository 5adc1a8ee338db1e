"""What `optimize` does to models: operations, seconds and milliseconds at each level, measured in turns.

    python bench/optimize.py [NAME ...] [--rounds N] [--levels LEVEL ...] [--directory DIR]

Names are those of the five models and of `test/ordinary.py`; all by default. `operations` are those of the edge program.
`passes` are the seconds that `optimize` takes; `cold` those of compiling natively with an empty cache, `cached` from what that
left. `min` is the least of all calls, in milliseconds; the levels are called one after another, a burst each a round. `ratio` is to level 0,
which changes nothing. A level may also be a pipeline, `merge-common,dce`; the first is what others are compared with. Results of all levels are compared with level 0's.
Last come, for each level, the sums over all models and the geometric mean of the ratios. All of it takes some seven minutes on two cores. Needs torch.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "test")]
BURST = 0.05
"""Seconds of calls in a burst."""
PAUSE = 0.01
"""Seconds before a burst, in which threads of the one before go to sleep."""


class Level:
    """A model at one level, compiled."""

    def __init__(self, program: Any, level: str, caches: str, inputs: Sequence[Any]):
        import xdsl_exir

        start = time.perf_counter()
        program = program.transform(f"optimize{{level={level}}}" if level.isdigit() else level)
        self.passes = time.perf_counter() - start
        self.operations = sum(1 for _ in program.method().body.walk()) - 1
        os.environ["XDSL_EXIR_CACHE"] = f"{caches}/{hash(level)}"
        self.compiled: list[float] = []
        for _ in ("cold", "cached"):
            start = time.perf_counter()
            self.run = xdsl_exir.compile(program, "native")
            self.compiled.append(time.perf_counter() - start)
        self.inputs = inputs
        self.first = [np.array(value) for value in self.run.flat(inputs)]
        """What the first call gives: models that have a state give another each time."""
        self.level = level
        self.times = [self.timed() for _ in range(3)]
        self.calls = max(1, min(1000, int(BURST / min(self.times))))

    @property
    def sums(self) -> tuple[float, ...]:
        """What is added up over models: operations, seconds."""
        return self.operations, self.passes, *self.compiled

    def timed(self) -> float:
        start = time.perf_counter()
        self.run.flat(self.inputs)
        return time.perf_counter() - start

    def turn(self) -> None:
        """A round: a call that is not counted, then a burst."""
        time.sleep(PAUSE)
        self.timed()
        self.times += [self.timed() for _ in range(self.calls)]


def row(name: str, level: str, sums: Sequence[float], least: float | None, ratio: float) -> None:
    """Prints a line of the table."""
    operations, passes, cold, cached = sums
    shown = "" if least is None else f"{least * 1e3:.4f}"
    print(
        f"{name:20} {level[:24]:5} {operations:10.0f} {passes:7.2f} {cold:7.2f} {cached:7.2f} {shown:>9} {ratio:6.3f}",
        flush=True,
    )


def compare(
    name: str, program: Any, inputs: Sequence[Any], levels: Sequence[str], rounds: int
) -> dict[str, tuple[tuple[float, ...], float]]:
    """Prints a model's rows; gives of each level what is added up, and its ratio to the first."""
    with tempfile.TemporaryDirectory() as caches:
        compiled = [Level(program, level, caches, inputs) for level in levels]
    for level in compiled:
        for actual, wanted in zip(level.first, compiled[0].first, strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=1e-3, atol=1e-4)
    for turn in range(rounds):
        for level in compiled[:: 1 if turn % 2 else -1]:
            level.turn()
    first = min(compiled[0].times)
    for level in compiled:
        row(name, level.level, level.sums, min(level.times), min(level.times) / first)
    return {level.level: (level.sums, min(level.times) / first) for level in compiled}


def models(directory: Path) -> dict[str, Callable[[], tuple[Any, list[Any]]]]:
    """By name, what makes an edge program and its inputs."""
    import export_models
    import ordinary
    import torch

    import xdsl_exir

    def exported(name: str) -> tuple[Any, list[Any]]:
        if not (directory / f"{name}.npz").is_file():
            export_models.export_model(name, directory)
        arrays = np.load(directory / f"{name}.npz")
        program = xdsl_exir.load(directory / f"{name}.training.pt2").to_edge()
        return program, [arrays[key] for key in arrays.files if key.startswith("in")]

    def made(name: str) -> tuple[Any, list[Any]]:
        torch.manual_seed(0)
        model, inputs = ordinary.ORDINARY[name]()
        program = xdsl_exir.from_exported_program(torch.export.export(model, inputs)).to_edge()
        flat, _ = torch.utils._pytree.tree_flatten(inputs)
        return program, [each.numpy() if isinstance(each, torch.Tensor) else each for each in flat]

    return {name: (lambda name=name: exported(name)) for name in export_models.MODELS} | {
        name: (lambda name=name: made(name)) for name in ordinary.ORDINARY
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--levels", nargs="+", default=["0", "1", "2"], metavar="LEVEL")
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()) / "xdsl-exir-models")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    import xdsl_exir

    args.directory.mkdir(exist_ok=True)
    known = models(args.directory)
    print(
        f"{'':20} {'level':>5} {'operations':>10} {'passes':>7} {'cold':>7} {'cached':>7} {'min':>9} {'ratio':>6}"
    )
    xdsl_exir.compile(known["mlp"]()[0], "native")  # so that the first model's seconds are those of compiling
    slow: list[str] = []
    all_of: dict[str, list[tuple[tuple[float, ...], float]]] = {level: [] for level in args.levels}
    for name in args.names or known:
        for level, found in compare(name, *known[name](), args.levels, args.rounds).items():
            all_of[level].append(found)
            slow += [f"{name} at {level} {found[1]:.3f}"] * (found[1] > 1.03)
    for level, found in all_of.items():
        sums = [sum(column) for column in zip(*(sums for sums, _ in found), strict=True)]
        row("all", level, sums, None, float(np.exp(np.mean([np.log(ratio) for _, ratio in found]))))
    print("above 1.03:", ", ".join(slow) or "none")
    return 0


if __name__ == "__main__":
    sys.exit(main())
