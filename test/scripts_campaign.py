"""Random TorchScript programs (`random_scripts.py`), run as they are and as ordinary programs, against PyTorch.

    python test/scripts_campaign.py --count 1000 --start 5000

Each has views, writes through them, lists, branches and loops, and is called with two inputs of one shape: the second takes other branches.
It prints what is wrong, how many were right, refused and not run by PyTorch, and what refusals say; exit code 1 where one is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scripted import assert_same, load, quiet, random_module, save

import xdsl_exir
from xdsl_exir.errors import ExirError, UnsupportedError


class Outcome(NamedTuple):
    seed: int
    form: str
    """`script`, as it is, or `aten`."""
    kind: str
    """`ok`, `refused` or `wrong`."""
    said: str = ""


def outcome(seed: int, path: Path, form: str, inputs: Any, n: int, expected: Any) -> Outcome:
    """One form of a program, run."""
    try:
        run = load(path)
        if form == "aten":
            run = xdsl_exir.compile(run.to_aten([*inputs[0], n]))
        for (x, y), wanted in zip(inputs, expected, strict=True):
            assert_same(list(run(x.copy(), y.copy(), n)), wanted)
    except UnsupportedError as error:
        return Outcome(seed, form, "refused", "; ".join(item.reason for item in error.items))
    except (AssertionError, ExirError) as error:
        return Outcome(seed, form, "wrong", f"{type(error).__name__}: {error}")
    return Outcome(seed, form, "ok")


def of_pytorch(path: Path) -> Callable[..., list[torch.Tensor]]:
    with quiet():
        return torch.jit.load(str(path))


def outcomes(seeds: Iterable[int], folder: Path) -> list[Outcome]:
    """What comes of programs, two forms of each that PyTorch runs: it does not write to what repeats."""
    inputs = np.random.default_rng(0).standard_normal((2, 2, 3, 3)).astype(np.float32)
    found: list[Outcome] = []
    for seed in seeds:
        path, n = save(random_module(seed, folder), folder / "model.pt"), seed % 4
        theirs = of_pytorch(path)
        try:
            expected = [
                [value.clone() for value in theirs(torch.tensor(x), torch.tensor(y), n)] for x, y in inputs
            ]
        except RuntimeError:
            continue
        found += [outcome(seed, path, form, inputs, n, expected) for form in ("script", "aten")]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    kinds: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for start in range(args.start, args.start + args.count, 50):
            found = outcomes(range(start, min(start + 50, args.start + args.count)), Path(folder))
            kinds.update(f"{one.form} {one.kind}" for one in found)
            refusals.update(f"{one.said:.150}" for one in found if one.kind == "refused")
            for one in found:
                if one.kind == "wrong":
                    print(f"{one.seed} {one.form}: {one.said:.300}", flush=True)
            print(f"up to seed {start + 49}: {dict(sorted(kinds.items()))}", flush=True)
    for said, count in refusals.most_common():
        print(f"{count:6} {said}")
    return 1 if any(kind.endswith("wrong") for kind in kinds) else 0


if __name__ == "__main__":
    sys.exit(main())
