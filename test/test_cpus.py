"""`make check-cpus`, which takes twenty minutes: that its runs find their tests."""

from __future__ import annotations

import pytest
from cpus import RUNS, Run


@pytest.mark.parametrize("run", [RUNS[0], RUNS[-1]], ids=["native", "pytorch"])
def test_runs_find_their_tests(run: Run) -> None:
    assert run.passes(["--collect-only", "-q", "-n", "0"])
