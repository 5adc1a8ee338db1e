"""Random programs before and after passes that change no bit, at small scale: `python test/simplified.py` runs more of them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from simplified import PASSES, findings


@pytest.mark.parametrize("pipeline", PASSES)
def test_random_programs_keep_their_bits(pipeline: str, figures: Callable[[str], None]) -> None:
    found = [finding for seed in range(6) for finding in findings(seed, [pipeline])]
    assert [finding for finding in found if finding.status != "ok"] == []
    before, after = (sum(getattr(finding, name) for finding in found) for name in ("before", "after"))
    figures(f"{len(found)} programs, operations {before} -> {after}")
    assert after < before
