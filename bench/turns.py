"""Times of calls in turns, ours and a peer's."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

PAUSE = 0.002


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best(ours: Callable[[], Any], eager: Callable[[], Any], limit: float) -> tuple[float, float]:
    """Seconds of the fastest of calls in turns."""
    first = seconds(ours), seconds(eager)
    if max(first) > limit:
        return first
    found, end = [math.inf, math.inf], time.perf_counter() + min(limit, max(0.15, 12 * sum(first)))
    while time.perf_counter() < end:
        for which, call in enumerate((ours, eager)):
            time.sleep(PAUSE)
            # Of short calls several, since the first one after a pause is slow.
            for _ in range(max(1, min(20, int(0.002 / max(first[which], 1e-6))))):
                found[which] = min(found[which], seconds(call))
    return found[0], found[1]
