"""Random TorchScript programs with views, writes, lists, branches and loops give what they give in PyTorch, or are refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scripted import assert_same, load, quiet, random_module, save  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402

COUNT = 40
REFUSED = 0.1


def test_random_programs(tmp_path: Path) -> None:
    ran, refused = 0, 0
    inputs = np.random.default_rng(0).standard_normal((2, 2, 3, 3)).astype(np.float32)
    for seed in range(COUNT):
        path = save(random_module(seed, tmp_path), tmp_path / "model.pt")
        n = seed % 4
        with quiet():
            theirs = torch.jit.load(str(path))
        try:
            expected = [
                [value.clone() for value in theirs(torch.tensor(x), torch.tensor(y), n)] for x, y in inputs
            ]
        except RuntimeError:
            continue  # as a write to what repeats
        for traced in (False, True):
            try:
                run = load(path)
                if traced:
                    run = xdsl_exir.compile(run.to_aten([*inputs[0], n]))
                for (x, y), wanted in zip(inputs, expected, strict=True):
                    assert_same(list(run(x.copy(), y.copy(), n)), wanted)
                ran += 1
            except UnsupportedError:
                refused += 1
    assert ran > COUNT
    assert refused <= REFUSED * (ran + refused)
