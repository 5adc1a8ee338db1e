"""Random TorchScript programs with views, writes, lists, branches and loops give what they give in PyTorch, or are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from scripts_campaign import outcomes

COUNT = 40
REFUSED = 0.1


def test_random_programs(tmp_path: Path) -> None:
    found = outcomes(range(COUNT), tmp_path)
    kinds = [outcome.kind for outcome in found]
    assert not [outcome for outcome in found if outcome.kind == "wrong"]
    assert kinds.count("ok") > COUNT
    assert kinds.count("refused") <= REFUSED * len(kinds)
