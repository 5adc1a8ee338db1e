"""Ours and a peer's side by side: times of calls in turns, and whose results are nearer to the truth."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

import torch

PAUSE = 0.002
"""Seconds between turns."""


def set_threads(count: int) -> None:
    """Of both: ours are those of the same runtime, or else of LLVM's, which is loaded with the first code and whose threads sleep in the pause between turns."""
    torch.set_num_threads(count)
    os.environ["OMP_NUM_THREADS"] = str(count)
    os.environ.setdefault("KMP_BLOCKTIME", "2")


def seconds(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    call()
    return clock() - start


def best(
    ours: Callable[[], Any],
    eager: Callable[[], Any],
    limit: float,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Seconds of the fastest of calls in turns: of one thread by `process_time`, which other work on the machine does not lengthen."""
    first = seconds(ours, clock), seconds(eager, clock)
    if max(first) > limit:
        return first
    found, end = [math.inf, math.inf], time.perf_counter() + min(limit, max(0.15, 12 * sum(first)))
    while time.perf_counter() < end:
        for which, call in enumerate((ours, eager)):
            time.sleep(PAUSE)
            # Of short calls several, since the first one after a pause is slow.
            for _ in range(max(1, min(20, int(0.002 / max(min(first[which], found[which]), 1e-6))))):
                found[which] = min(found[which], seconds(call, clock))
    return found[0], found[1]


def as_tensor(result: Any) -> torch.Tensor:
    """A result as a tensor: NumPy knows no bfloat16."""
    if result.dtype.name == "bfloat16":
        return torch.as_tensor(result.view("int16")).view(torch.bfloat16)
    return torch.as_tensor(result)


def differs(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> str:
    """How ours is further from the truth than eager is, or nothing."""
    if ours.shape != eager.shape or ours.dtype != eager.dtype:
        return f"{ours.dtype}{list(ours.shape)} for {eager.dtype}{list(eager.shape)}"
    if not ours.numel() or torch.equal(ours.nan_to_num(), eager.nan_to_num()):
        return ""
    finite = exact.isfinite() & eager.isfinite()
    if not torch.equal(ours.isfinite() | ~finite, torch.ones_like(finite)):
        return "not finite where eager is"
    wrong, theirs = (
        ((it.double() - exact)[finite].abs().max().item() for it in (ours, eager))
        if finite.any()
        else (0.0, 0.0)
    )
    little = 80 * torch.finfo(eager.dtype).eps if eager.is_floating_point() else 0.0
    bound = 4 * theirs + little * exact[finite].abs().max().item() if finite.any() else 0.0
    return f"error {wrong:.2g}, eager's {theirs:.2g}" if wrong > bound else ""
