"""A short run of faults.py, which says what it does; the long one is made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from faults import PARTS, run_part

COUNTS = {
    "mlir": 8,
    "pt2": 5,
    "cache": 10,
    "library": 2,
    "disks": 6,
    "entries": 4,
    "no cache": 1,
    "compilations": 2,
    "processes": 1,
    "weights": 8,
    "forks": 2,
}
"""Trials of each part."""
NATIVE = ("library", "disks", "entries", "no cache", "compilations", "processes", "weights", "forks")


@pytest.mark.parametrize("part", PARTS)
def test_faults(part: str, figures: Callable[[str], None], request: pytest.FixtureRequest) -> None:
    if part in NATIVE:
        request.getfixturevalue("native_tools")
    found = run_part(part, COUNTS[part])
    figures(str(found))
    assert found.seen
    assert not found.bad
