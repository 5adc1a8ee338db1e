"""Pointwise operators on special values (`special_values`): those that tell signs of zero and infinities apart."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from differential import run, run_native  # noqa: E402
from special_values import Case, cases_of, differences  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.spec import find  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

COMPLEX = ["sqrt", "add.Tensor", "sub.Tensor", "reciprocal"]
REAL = [
    "relu",
    "hardtanh",
    "clamp",
    "erfinv",
    "maximum",
    "copysign.Tensor",
    "remainder.Tensor",
    "sigmoid_backward",
]
NATIVE = ["relu", "relu6", "hardtanh", "clamp", "gelu", "sigmoid_backward"]
CHOICES = ["fmax", "fmin"]
"""Which zero they choose of two depends on the dtype in PyTorch."""


@pytest.mark.parametrize("name", REAL)
def test_real_functions_in_the_interpreter(name: str) -> None:
    for case in cases_of(find(f"aten.{name}"), dt.Float):
        assert differences(case, run(case.module, case.tensors)) == []


def test_complex_sums_in_the_interpreter() -> None:
    for name in ("aten.add.Tensor", "aten.sub.Tensor", "aten.sub.Scalar"):
        for case in cases_of(find(name), dt.ComplexFloat):
            assert differences(case, run(case.module, case.tensors)) == []


def differences_natively(case: Case) -> list[str]:
    DecomposeAten().apply(Context(), case.module)
    AtenToEdge().apply(Context(), case.module)
    return differences(case, run_native(case.module, case.tensors))


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions_natively(name: str) -> None:
    assert differences_natively(next(cases_of(find(f"aten.{name}"), dt.ComplexFloat))) == []


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", NATIVE + CHOICES)
def test_real_functions_natively(name: str) -> None:
    """In single precision on vectors; in another through linalg."""
    for dtype in (dt.Float, dt.BFloat16)[: 1 if name in CHOICES else 2]:
        for case in cases_of(find(f"aten.{name}"), dtype):
            assert differences_natively(case) == []
