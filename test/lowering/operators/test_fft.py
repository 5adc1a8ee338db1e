"""Fourier transforms natively: what the operators' own tests call, and frequencies."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively  # noqa: E402
from interpreter.operators.test_fft import CASES  # noqa: E402

import xdsl_exir  # noqa: E402

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


def test_sizes_of_many_factors() -> None:
    """Steps by factors of several kinds, and sums where one is large; there and back; along a dimension that is not the last."""

    class Transforms(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return tuple(
                result
                for x in inputs
                for result in (
                    torch.view_as_real(torch.fft.fft(x)),
                    torch.fft.irfft(torch.fft.rfft(x, dim=0), x.shape[0], dim=0),
                )
            )

    torch.manual_seed(0)
    inputs = tuple(torch.randn(3, size) for size in (22, 128, 400))
    program = xdsl_exir.from_exported_program(torch.export.export(Transforms(), inputs))
    results = xdsl_exir.compile(program, "native").flat([x.numpy() for x in inputs])
    exact = Transforms()(*(x.double() for x in inputs))
    for got, wanted in zip(results, exact, strict=True):
        torch.testing.assert_close(torch.as_tensor(got).double(), wanted, rtol=1e-6, atol=1e-5)
