"""Kernels: GFLOP/s of every contraction and convolution of the five models, beside eager PyTorch in the same run.

    python bench/kernels.py [MODEL ...] [--threads 1 2] [--rounds N]

float32, batch 1, weights packed beforehand, padding inside, no epilogue on either side. Each round times ours and PyTorch's one
after the other for some milliseconds, with a pause between, in which the other's waiting threads go to sleep; the figure is
the best call of all rounds. `share` is the part of the model's operations that a row stands for.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

os.environ.setdefault("KMP_BLOCKTIME", "2")

import numpy as np
import torch
import torch.nn.functional as F

from xdsl_exir.lowering.printing import generic_text
from xdsl_exir.runtime import linking
from xdsl_exir.runtime.tune import timed
from xdsl_exir.targets.cpu.kernels import Conv2d, Machine, Matmul
from xdsl_exir.targets.cpu.machine import processor

Kernel = Matmul | Conv2d


def linear(m: int, n: int, k: int) -> Matmul:
    return Matmul(m, n, k)


def scores(heads: int, tokens: int, size: int) -> Matmul:
    return Matmul(tokens, tokens, size, (heads,), "transposed")


def values(heads: int, tokens: int, size: int) -> Matmul:
    return Matmul(tokens, size, tokens, (heads,), "row_major")


def conv(c: int, o: int, size: int, kernel: int = 3, stride: int = 1) -> Conv2d:
    half = kernel // 2
    return Conv2d(1, c, size, size, o, (kernel, kernel), (stride, stride), (half, half), transforms=True)


def depthwise(c: int, size: int, stride: int = 1) -> Conv2d:
    return Conv2d(1, c, size, size, c, (3, 3), (stride, stride), (1, 1), groups=c)


# (how often it occurs, kernel)
MODELS: dict[str, list[tuple[int, Kernel]]] = {
    "mlp": [(1, linear(4, 128, 64)), (1, linear(4, 128, 128)), (1, linear(4, 10, 128))],
    "bert6": [
        (24, linear(128, 384, 384)),
        (6, scores(12, 128, 32)),
        (6, values(12, 128, 32)),
        (6, linear(128, 1536, 384)),
        (6, linear(128, 384, 1536)),
        (1, linear(1, 384, 384)),
        (1, linear(1, 2, 384)),
    ],
    "llama8": [
        (16, linear(128, 512, 512)),
        (16, linear(128, 256, 512)),
        (8, scores(8, 128, 64)),
        (8, values(8, 128, 64)),
        (16, linear(128, 1376, 512)),
        (8, linear(128, 512, 1376)),
        (1, linear(128, 8192, 512)),
    ],
    "resnet18": [
        (1, conv(3, 64, 224, 7, 2)),
        (4, conv(64, 64, 56)),
        (1, conv(64, 128, 56, 3, 2)),
        (1, conv(64, 128, 56, 1, 2)),
        (3, conv(128, 128, 28)),
        (1, conv(128, 256, 28, 3, 2)),
        (1, conv(128, 256, 28, 1, 2)),
        (3, conv(256, 256, 14)),
        (1, conv(256, 512, 14, 3, 2)),
        (1, conv(256, 512, 14, 1, 2)),
        (3, conv(512, 512, 7)),
        (1, linear(1, 1000, 512)),
    ],
    "mobilenetv2": [
        (1, conv(3, 32, 224, 3, 2)),
        (1, depthwise(32, 112)),
        (1, conv(32, 16, 112, 1)),
        (1, conv(16, 96, 112, 1)),
        (1, depthwise(96, 112, 2)),
        (1, conv(96, 24, 56, 1)),
        (2, conv(24, 144, 56, 1)),
        (1, depthwise(144, 56)),
        (1, conv(144, 24, 56, 1)),
        (1, depthwise(144, 56, 2)),
        (1, conv(144, 32, 28, 1)),
        (3, conv(32, 192, 28, 1)),
        (2, depthwise(192, 28)),
        (2, conv(192, 32, 28, 1)),
        (1, depthwise(192, 28, 2)),
        (1, conv(192, 64, 14, 1)),
        (4, conv(64, 384, 14, 1)),
        (4, depthwise(384, 14)),
        (3, conv(384, 64, 14, 1)),
        (1, conv(384, 96, 14, 1)),
        (3, conv(96, 576, 14, 1)),
        (2, depthwise(576, 14)),
        (2, conv(576, 96, 14, 1)),
        (1, depthwise(576, 14, 2)),
        (1, conv(576, 160, 7, 1)),
        (3, conv(160, 960, 7, 1)),
        (3, depthwise(960, 7)),
        (2, conv(960, 160, 7, 1)),
        (1, conv(960, 320, 7, 1)),
        (1, conv(320, 1280, 7, 1)),
        (1, linear(1, 1000, 1280)),
    ],
}


@dataclass(frozen=True)
class Peers:
    """One problem: what it is, our call and PyTorch's, both with the same data."""

    label: str
    flops: int
    ours: Callable[[], Any]
    eager: Callable[[], Any]


def label(kernel: Kernel) -> str:
    if isinstance(kernel, Matmul):
        batch = "".join(f"{size}x" for size in kernel.batch)
        return f"{batch}{kernel.m}x{kernel.n}x{kernel.k} {kernel.rhs}"
    (kh, kw), (stride, _) = kernel.kernel, kernel.stride
    return f"{kh}x{kw} s{stride} {kernel.c}->{kernel.o} at {kernel.h} {kernel.strategy}"


def operands(kernel: Kernel) -> tuple[list[np.ndarray], Callable[[], Any], tuple[int, ...]]:
    """(our operands, PyTorch's call, the result's shape)."""
    random = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return random.standard_normal(shape, np.float32)

    if isinstance(kernel, Conv2d):
        c = kernel
        x, weight = draw(c.n, c.c, c.h, c.w), draw(c.o, c.c // c.groups, *c.kernel)
        tx, tw = torch.from_numpy(x), torch.from_numpy(weight)
        eager = lambda: F.conv2d(tx, tw, None, c.stride, c.padding, c.dilation, c.groups)  # noqa: E731
        return [x, c.pack(weight)], eager, c.out_shape
    a, shape = draw(*kernel.batch, kernel.m, kernel.k), (*kernel.batch, kernel.m, kernel.n)
    ta = torch.from_numpy(a)
    if kernel.rhs == "packed":
        weight = draw(kernel.n, kernel.k)
        tw = torch.from_numpy(weight)
        return [a, kernel.pack(weight, transposed=True)], lambda: F.linear(ta, tw), shape
    transposed = kernel.rhs == "transposed"
    b = draw(*kernel.batch, *((kernel.n, kernel.k) if transposed else (kernel.k, kernel.n)))
    tb = torch.from_numpy(b)
    return [a, b], lambda: torch.matmul(ta, tb.mT if transposed else tb), shape


def prepare(kernels: Sequence[Kernel], machine: Machine) -> list[Peers]:
    """All kernels in one module, compiled and bound to random data."""
    kernels = [replace(kernel, machine=machine) for kernel in kernels]
    library = linking.load(
        "\n".join(generic_text(kernel.function(f"f{i}", True)) for i, kernel in enumerate(kernels))
    )
    peers: list[Peers] = []
    for i, kernel in enumerate(kernels):
        arrays, eager, shape = operands(kernel)
        out = np.zeros(shape, np.float32)
        scratch = [np.zeros(kernel.scratch, np.float32)] if kernel.scratch else []
        ours = linking.bind(library, f"f{i}", [*arrays, *scratch, out])
        ours()
        np.testing.assert_allclose(out, eager().numpy(), rtol=1e-3, atol=1e-3)
        peers.append(Peers(label(kernel), kernel.flops, ours, eager))
    return peers


def best_call(call: Callable[[], Any]) -> float:
    """Seconds of the fastest of some calls, once the other's waiting threads sleep."""
    time.sleep(0.02)
    return timed(call)


def measure(peers: Peers, rounds: int) -> tuple[float, float]:
    """GFLOP/s of ours and PyTorch's."""
    pairs = [(best_call(peers.ours), best_call(peers.eager)) for _ in range(rounds)]
    ours, eager = (peers.flops / min(times) / 1e9 for times in zip(*pairs, strict=True))
    return ours, eager


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    head = "".join(
        f"{f'{threads} thread(s): ours':>20} {'eager':>7} {'ratio':>6}" for threads in args.threads
    )
    print(f"{'GFLOP/s':44} {'share':>6}{head}")
    for model in args.models:
        counts, kernels = zip(*MODELS[model], strict=True)
        flops = [count * kernel.flops for count, kernel in zip(counts, kernels, strict=True)]
        columns: list[list[tuple[float, float]]] = []
        for threads in args.threads:
            torch.set_num_threads(threads)
            peers = prepare(kernels, processor().machine(threads))
            columns.append([measure(one, args.rounds) for one in peers])
        for i, kernel in enumerate(kernels):
            line = f"{model:12} {label(kernel):32}{flops[i] / sum(flops):6.1%}"
            line += "".join(
                f"{ours:20.1f} {eager:7.1f} {ours / eager:5.1f}x" for ours, eager in (c[i] for c in columns)
            )
            print(line, flush=True)
        line = f"{model:12} {'all, in ms':32}{'':6}"
        for column in columns:
            ours, eager = (
                sum(f / rates[side] for f, rates in zip(flops, column, strict=True)) / 1e6 for side in (0, 1)
            )
            line += f"{ours:20.2f} {eager:7.2f} {eager / ours:5.1f}x"
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
