"""How exact sums are: every operator that adds up or multiplies many numbers, against PyTorch, by a run in float64.

    python test/accuracy.py [PATTERN ...] [--dtypes float32 bfloat16 float16] [--engines interpreter native] [--all]

Each operator is called on five shapes of numbers of three distributions (`accuracy_calls`). The table says, for the worst of
them, the greatest error over PyTorch's. It is within bounds where each element is off by at most twice PyTorch's greatest
error, or by 4 units in its last place. Every call is made again, natively by each of `THREADS` threads, and gives the same
bits. With `--all` every call has a row, with `--times` every operator its time.

The last lines count the cells (an operator on a shape in a dtype from a distribution by an engine), name those that nobody
measured, and say what was worst.
"""

from __future__ import annotations

import argparse
import ctypes
import fnmatch
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from accuracy_calls import CALLS, DISTRIBUTIONS, DTYPES, Draw, Shape
from differential import find_operator, flatten, program_of, run, to_numpy, to_torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xdsl_exir.errors import ExirError
from xdsl_exir.program import Program
from xdsl_exir.runtime.fallback import make_engine
from xdsl_exir.runtime.openmp import find_openmp
from xdsl_exir.transforms.aten_to_edge import AtenToEdge
from xdsl_exir.transforms.decompose_aten import DecomposeAten

Tensor = torch.Tensor
ENGINES = ("interpreter", "native")
THREADS = (1, 2, 3)


def doubled(value: Any) -> Any:
    """An argument in float64, or complex128."""
    if isinstance(value, Tensor):
        wide = torch.complex128 if value.is_complex() else torch.float64
        return value.to(wide) if value.is_floating_point() or value.is_complex() else value
    if isinstance(value, torch.dtype):
        return torch.float64
    if isinstance(value, list | tuple):
        return [doubled(item) for item in value]
    return {key: doubled(item) for key, item in value.items()} if isinstance(value, dict) else value


def last_place(reference: Tensor, dtype: torch.dtype) -> Tensor:
    """The unit in the last place of numbers of a dtype."""
    info = torch.finfo(dtype)
    exponent = torch.frexp(reference.abs().clamp_min(info.tiny)).exponent - 1
    return torch.ldexp(torch.full_like(reference, info.eps), exponent)


def parts(value: Tensor) -> Tensor:
    return torch.view_as_real(value.resolve_conj()) if value.is_complex() else value


def excess(given: Tensor, eager: Tensor, reference: Tensor, whole: bool) -> float:
    """How far the worst element is off, in PyTorch's greatest errors or units of two in its last place (of the greatest
    element, if the result is a `whole`) if those are larger: within bounds up to 2."""
    given, eager, reference = parts(given), parts(eager), parts(reference)
    dtype = eager.dtype
    # What overflows in PyTorch, or has to, is not measured.
    counts = (reference.abs() <= torch.finfo(dtype).max) & eager.isfinite()
    if not counts.any():
        return 0.0
    off, of_eager = ((each.double() - reference).abs()[counts] for each in (given, eager))
    size = reference[counts].abs().max() if whole else reference[counts]
    share = off / torch.maximum(of_eager.max(), 2 * last_place(size, dtype))
    return float("inf") if share.isnan().any() else share.max().item()


@dataclass
class Sample:
    """One operator on one shape in one dtype, with arguments of each distribution."""

    name: str
    shape: Shape
    dtype: str
    calls: list[tuple[Sequence[Any], Mapping[str, Any]]] = field(default_factory=list)

    @property
    def operator(self) -> str:
        return f"aten.{self.name.split(' ')[0]}"

    def programs(self, symbolic: bool) -> Iterator[tuple[ModuleOp, list[Tensor]]]:
        sizes = {size: f"s{size}" for size in self.shape if size > 4} if symbolic else {}
        for args, kwargs in self.calls:
            yield program_of(self.operator, *args, symbols=sizes, **kwargs)


def samples(names: Iterable[str], dtypes: Iterable[str], shapes: slice = slice(None)) -> Iterator[Sample]:
    for name in names:
        measured = CALLS[name]
        for dtype in dtypes:
            for shape in measured.shapes[shapes] if dtype in measured.dtypes else ():
                sample = Sample(name, shape, dtype)
                for distribution in DISTRIBUTIONS:
                    draw = Draw(distribution, DTYPES[dtype], torch.Generator().manual_seed(sum(shape)))
                    args = list(measured.arguments(draw, shape))
                    kwargs = args.pop() if isinstance(args[-1], dict) else {}
                    sample.calls.append((args, kwargs))
                yield sample


Call = Callable[[list[Tensor]], list[Tensor]]


def natively(module: ModuleOp) -> Call:
    """Calls a program's native code, by each number of threads. Raises AssertionError where results differ."""
    DecomposeAten().apply(Context(), module)
    AtenToEdge().apply(Context(), module)
    [function] = module.ops
    assert isinstance(function, FuncOp)
    engine, name = make_engine(Program(module), "error"), function.sym_name.data
    openmp = ctypes.CDLL(str(find_openmp()))

    def call(tensors: list[Tensor]) -> list[Tensor]:
        found: list[list[np.ndarray[Any, Any]]] = []
        for threads in THREADS:
            openmp.omp_set_num_threads(threads)
            found.append([np.asarray(x) for x in engine.run(name, [to_numpy(t) for t in tensors])])
        assert len({tuple(x.tobytes() for x in each) for each in found}) == 1, "other bits by other threads"
        return [to_torch(x) for x in found[0]]

    return call


def interpreted(module: ModuleOp) -> Call:
    """Runs a program in the interpreter, twice. Raises AssertionError where results differ."""
    DecomposeAten().apply(Context(), module)

    def call(tensors: list[Tensor]) -> list[Tensor]:
        first, second = ([np.asarray(x) for x in run(module, tensors)] for _ in range(2))
        assert [x.tobytes() for x in first] == [x.tobytes() for x in second], "other bits by another call"
        return [to_torch(x) for x in first]

    return call


MAKE = {"native": natively, "interpreter": interpreted}

Row = tuple[Sample, str, str, float | str]
"""A sample, the engine, the distribution, and how far it is off; or why nobody knows."""


def measure(sample: Sample, engines: Sequence[str] = ENGINES, symbolic: bool = False) -> Iterator[Row]:
    """How far each call of a sample is off in each engine."""
    function = find_operator(sample.operator)

    def unknown(engines: Sequence[str], why: str) -> Iterator[Row]:
        return ((sample, engine, distribution, why) for engine in engines for distribution in DISTRIBUTIONS)

    try:
        eager = [flatten(function(*args, **kwargs)) for args, kwargs in sample.calls]
    except (RuntimeError, NotImplementedError):
        yield from unknown(engines, "not in PyTorch")
        return
    exact = [flatten(function(*doubled(args), **doubled(kwargs))) for args, kwargs in sample.calls]
    for engine in engines:
        try:
            programs = list(sample.programs(symbolic))
            call = MAKE[engine](programs[0][0])
        except ExirError:
            yield from unknown([engine], "refused")
            continue
        for number, (_, tensors) in enumerate(programs):
            worst = 0.0
            for got, one, reference in zip(call(tensors), eager[number], exact[number], strict=True):
                if isinstance(one, Tensor) and one.numel() and (one.is_floating_point() or one.is_complex()):
                    worst = max(worst, excess(got, one, reference, CALLS[sample.name].whole))
            yield sample, engine, DISTRIBUTIONS[number], worst


class Table:
    """Prints a row for each operator, and in the end what all of them come to."""

    def __init__(self, columns: Sequence[tuple[str, str]], every_call: bool) -> None:
        self.columns, self.every_call = columns, every_call
        self.cells = self.beyond = 0
        self.worst: dict[tuple[str, str], tuple[float, str]] = {}
        self.unknown = Counter[str]()
        titles = "".join(f"{dtype + ' ' + engine[:6]:>17}" for dtype, engine in columns)
        print("off by, in PyTorch's greatest errors (or 2 units in the last place): within bounds up to 2")
        print(f"{'':40}{titles}", flush=True)

    def add(self, name: str, rows: Iterable[Row], seconds: Callable[[], str]) -> None:
        worst: dict[tuple[str, str], float] = {}
        for sample, engine, distribution, off in rows:
            self.cells += 1
            if isinstance(off, str):
                self.unknown[f"{name} {sample.dtype}{'' if 'not' in off else ' ' + engine}: {off}"] += 1
                continue
            key, which = (sample.dtype, engine), f"{name} {sample.shape} {distribution}"
            worst[key] = max(worst.get(key, 0), off)
            self.worst[key] = max(self.worst.get(key, (0, "")), (off, which))
            self.beyond += off > 2
            if self.every_call or off > 2:
                print(f"  {which} {sample.dtype} {engine}: {off:.2f}", flush=True)
        row = (
            f"{worst[key]:16.2f}{'!' if worst[key] > 2 else ' '}" if key in worst else f"{'-':>16} "
            for key in self.columns
        )
        print(f"{name:40}{''.join(row)}{seconds()}", flush=True)

    def summary(self) -> None:
        for why, count in self.unknown.items():
            print(f"not measured: {why} ({count} cells)")
        for (dtype, engine), (off, which) in self.worst.items():
            print(f"worst of {dtype} {engine}: {off:.2f} in {which}")
        known = self.cells - sum(self.unknown.values())
        print(f"{self.cells} cells, {known} measured, {self.beyond} beyond bounds")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--shapes", type=int, default=5, help="only the first so many")
    parser.add_argument("--symbolic", action="store_true", help="sizes are symbolic")
    parser.add_argument("--all", action="store_true", help="a row for each call")
    parser.add_argument("--times", action="store_true", help="how long each operator takes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = Table([(dtype, engine) for dtype in options.dtypes for engine in options.engines], options.all)
    for name in CALLS:
        if any(fnmatch.fnmatch(name, pattern) for pattern in options.patterns):
            start = sum(os.times()[:4])
            rows = (
                row
                for sample in samples([name], options.dtypes, slice(options.shapes))
                for row in measure(sample, options.engines, options.symbolic)
            )
            seconds = lambda: f"{sum(os.times()[:4]) - start:8.1f} s" if options.times else ""  # noqa: B023, E731
            table.add(name, rows, seconds)
    table.summary()
    return 1 if table.beyond else 0


if __name__ == "__main__":
    sys.exit(main())
