"""Recurrent networks: how long they take to edge and to native code, cold, and to run, against eager PyTorch.

    python bench/recurrent.py [NAME ...] [--rounds N] [--threads N] [--batch N] [--hidden N]

`lstm` and `gru` are six bidirectional layers over 512 steps, `sequencer` has the sizes of timm's sequencer2d_s: its blocks mix
the 32 x 32 patches of an image by bidirectional LSTMs over columns and rows. `edge` and `compile` are seconds, the latter with
an empty cache; `native` and `eager` milliseconds, minima of calls in turns; `ratio` is between these.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

PAUSE = 0.05
"""Seconds before a call; waiting threads spin for a few milliseconds after one."""


def stack(kind: str, batch: int, hidden: int) -> tuple[Any, Any]:
    """Six bidirectional layers, and an input of 512 steps."""
    import torch

    model = getattr(torch.nn, kind)(hidden, hidden, 6, bidirectional=True, batch_first=True)
    return model, torch.randn(batch, 512, hidden)


def sequencer(batch: int, _: int) -> tuple[Any, Any]:
    """Sequencer2D-S (Tatsunami and Taki, 2022), as in timm's `sequencer.py`, and an image of 224 x 224 pixels."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, size: int, hidden: int):
            super().__init__()
            self.before, self.after = nn.LayerNorm(size, eps=1e-6), nn.LayerNorm(size, eps=1e-6)
            self.columns, self.rows = (
                nn.LSTM(size, hidden, batch_first=True, bidirectional=True) for _ in range(2)
            )
            self.mix = nn.Linear(4 * hidden, size)
            self.mlp = nn.Sequential(nn.Linear(size, 3 * size), nn.GELU(), nn.Linear(3 * size, size))

        def forward(self, x: Any) -> Any:
            b, h, w, _ = x.shape
            y = self.before(x)
            columns = self.columns(y.permute(0, 2, 1, 3).reshape(b * w, h, -1))[0]
            columns = columns.reshape(b, w, h, -1).permute(0, 2, 1, 3)
            rows = self.rows(y.reshape(b * h, w, -1))[0].reshape(b, h, w, -1)
            x = x + self.mix(torch.cat([columns, rows], -1))
            return x + self.mlp(self.after(x))

    class Patches(nn.Conv2d):
        def forward(self, input: Any) -> Any:
            return super().forward(input.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)

    class Sequencer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            blocks: list[nn.Module] = [Patches(3, 192, 7, 7), *(Block(192, 48) for _ in range(4))]
            blocks += [Patches(192, 384, 2, 2), *(Block(384, 96) for _ in range(3))]
            blocks += [nn.Linear(384, 384), *(Block(384, 96) for _ in range(8))]
            blocks += [nn.Linear(384, 384), *(Block(384, 96) for _ in range(3))]
            self.blocks = nn.Sequential(*blocks)
            self.norm, self.head = nn.LayerNorm(384, eps=1e-6), nn.Linear(384, 1000)

        def forward(self, x: Any) -> Any:
            return self.head(self.norm(self.blocks(x.permute(0, 2, 3, 1))).mean((1, 2)))

    return Sequencer(), torch.randn(batch, 3, 224, 224)


NETWORKS: dict[str, Callable[[int, int], tuple[Any, Any]]] = {
    "lstm": lambda batch, hidden: stack("LSTM", batch, hidden),
    "gru": lambda batch, hidden: stack("GRU", batch, hidden),
    "sequencer": sequencer,
}


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """How long a call takes, and what it gives."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def measure(name: str, batch: int, hidden: int, rounds: int) -> None:
    """Prints a network's line. Raises `AssertionError` where native code does not give what eager PyTorch does."""
    import torch

    import xdsl_exir

    torch.manual_seed(0)
    model, x = NETWORKS[name](batch, hidden)
    with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(model.eval(), (x,))
    to_edge, edge = seconds(lambda: xdsl_exir.from_exported_program(exported).to_edge())
    to_native, run = seconds(lambda: xdsl_exir.compile(edge, target="native"))
    inputs, native, eager = [x.numpy()], list[float](), list[float]()
    with torch.inference_mode():
        for _ in range(rounds):
            time.sleep(PAUSE)
            took, expected = seconds(lambda: model(x))
            eager.append(took)
            time.sleep(PAUSE)
            took, results = seconds(lambda: run.flat(inputs))
            native.append(took)
    for got, wanted in zip(results, torch.utils._pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(torch.from_numpy(got), wanted, rtol=1e-4, atol=1e-5)
    ours, theirs = 1e3 * min(native), 1e3 * min(eager)
    count = sum(1 for _ in edge.module.walk())
    print(
        f"{name:<10}{count:>11}{to_edge:>8.2f}{to_native:>9.1f}{ours:>9.1f}{theirs:>9.1f}{ours / theirs:>7.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(NETWORKS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=128)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDSL_EXIR_CACHE"] = cache
        import torch

        torch.set_num_threads(options.threads)
        print(
            f"{'network':<10}{'operations':>11}{'edge':>8}{'compile':>9}{'native':>9}{'eager':>9}{'ratio':>7}"
        )
        for name in options.names:
            measure(name, options.batch, options.hidden, options.rounds)


if __name__ == "__main__":
    main()
