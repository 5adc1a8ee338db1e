"""The way back to PyTorch, over some of what `round_trips.py` takes over everything."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import round_trips

pytestmark = pytest.mark.filterwarnings("default")

CHOSEN = (
    "model.mlp",
    "ordinary.CachedDecoder",
    "sample.aminmax.default",
    "sample.broadcast_tensors.default",
    "sample.expand_copy.default",
    "sample.nonzero.default",
)


@pytest.mark.parametrize("dialect", round_trips.DIALECTS)
@pytest.mark.parametrize("name", CHOSEN)
def test_round_trip(name: str, dialect: str) -> None:
    [case] = [case for case in round_trips.cases() if case.name == name]
    [(_, steps)] = round_trips.results([case], dialects=(dialect,))
    assert steps
    assert {step: why for step, why in steps.items() if why is not None} == {}
