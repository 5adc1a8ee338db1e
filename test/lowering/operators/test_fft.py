"""Fourier transforms natively: what the operators' own tests call, and frequencies."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively  # noqa: E402
from interpreter.operators.test_fft import CASES  # noqa: E402

DTYPES = [torch.float32, torch.float64, torch.float16]


def test_frequencies():
    calls: list[Any] = [
        (f"aten.fft_{name}", (n, d), {"dtype": dtype})
        for name in ("fftfreq", "rfftfreq")
        for n in (1, 2, 5, 8)
        for d in (1.0, 0.1)
        for dtype in DTYPES
    ]
    check_natively(calls)


@pytest.mark.parametrize("name", CASES)
def test_agrees(name: str) -> None:
    check_natively([(name, *call) for call in CASES[name]], scale=10)
