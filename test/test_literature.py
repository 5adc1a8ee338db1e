"""Layers of the literature (`bench/layers`), exported by PyTorch, against eager: all are run by the interpreter, with fixed and with symbolic sizes in turn."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from literature import LAYERS, measure


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str) -> None:
    dynamic = list(LAYERS).index(name) % 2 == 1
    line, share = measure(name, "interpreter", dynamic, seconds=0)
    assert share == 0, line
