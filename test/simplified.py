"""Random programs before and after passes that change no bit: `python test/simplified.py --count 2000`.

Each program of `random_programs.py` is imported in both stages and taken to edge; each pass has to leave IR that verifies, do nothing
a second time, and give the same bits in the interpreter for all its inputs (of a NaN that it is one). Exit code 1 where one does not.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from bits import bits
from differential import to_numpy
from random_programs import export, program_of, quiet

import xdsl_exir
from xdsl_exir.errors import ExirError

PASSES = ("canonicalize", "optimize{level=1}")


@dataclass(frozen=True)
class Finding:
    """How a pass did on a program at a stage: `ok`, or what was wrong; and how many operations there were before and after."""

    seed: int
    stage: str
    pipeline: str
    status: str
    detail: str = ""
    before: int = 0
    after: int = 0


def results_of(program: xdsl_exir.Program, inputs: Sequence[torch.Tensor]) -> Any:
    """The bits of a program's results and of what it leaves in its inputs; the kind of error where it raises one."""
    arrays = [to_numpy(value.clone()) for value in inputs]
    try:
        return bits([*xdsl_exir.compile(program).flat(arrays), *arrays])
    except ExirError as error:
        return type(error).__name__


def settled(program: xdsl_exir.Program, inputs: Sequence[torch.Tensor]) -> Any:
    """The bits of its results; None of a program that draws random numbers, or is an error, which dead code may be."""
    results = results_of(program, inputs)
    return None if isinstance(results, str) or results_of(program, inputs) != results else results


def size_of(program: xdsl_exir.Program) -> int:
    return sum(1 for _ in program.module.walk())


def stages_of(seed: int) -> Iterator[tuple[str, xdsl_exir.Program]]:
    """A random program as PyTorch exports it, decomposed by PyTorch, and as edge."""
    made = program_of(seed)
    for stage in ("training", "core"):
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exported = export(made, stage)
            program = xdsl_exir.from_exported_program(exported)
        except Exception:  # what PyTorch does not export, or export right
            continue
        yield stage, program
        if stage == "training":
            try:
                edge = program.to_edge()
            except ExirError:
                continue
            yield "edge", edge


def findings(seed: int, pipelines: Sequence[str] = PASSES) -> Iterator[Finding]:
    """What passes do to a random program."""
    made = program_of(seed)
    for stage, program in stages_of(seed):
        calls = [made.values(call) for call in range(len(made.sizes))]
        expected = [settled(program, inputs) for inputs in calls]
        for pipeline in pipelines:
            try:
                simple = program.transform(pipeline)
                again = simple.transform(pipeline)
                status, detail = "ok", ""
                if str(again) != str(simple):
                    status, detail = "not idempotent", f"{simple}\n{again}"
                for inputs, wanted in zip(calls, expected, strict=True):
                    if wanted is not None and results_of(simple, inputs) != wanted:
                        status, detail = "wrong", f"{program}\n{simple}"
                yield Finding(seed, stage, pipeline, status, detail, size_of(program), size_of(simple))
            except Exception as error:  # any is a finding
                yield Finding(seed, stage, pipeline, "error", f"{type(error).__name__}: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--passes", nargs="+", default=PASSES)
    parser.add_argument("--quiet", action="store_true", help="without the programs")
    given = parser.parse_args()
    quiet()
    counts: Counter[tuple[str, str, str]] = Counter()
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    start = time.process_time()
    programs = 0
    for seed in range(given.first, given.first + given.count):
        found = list(findings(seed, given.passes))
        programs += bool(found)
        for finding in found:
            counts[finding.pipeline, finding.stage, finding.status] += 1
            before[finding.pipeline] += finding.before
            after[finding.pipeline] += finding.after
            if finding.status != "ok":
                print(finding.seed, finding.stage, finding.pipeline, finding.status, finding.detail[: 200 if given.quiet else 10000], flush=True)  # fmt: skip
        torch._dynamo.reset()
        if seed % 50 == 49:
            print(f"# {seed + 1 - given.first} seeds", flush=True)
    print(f"{programs} of {given.count} programs, {time.process_time() - start:.0f} s")
    for (pipeline, stage, status), count in sorted(counts.items()):
        print(f"{pipeline:24} {stage:10} {status:16} {count}")
    for pipeline in given.passes:
        print(f"{pipeline:24} operations {before[pipeline]} -> {after[pipeline]}")
    return int(any(status != "ok" for _, _, status in counts))


if __name__ == "__main__":
    sys.exit(main())
