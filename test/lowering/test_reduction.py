"""Every reduction, scan and norm as native code against PyTorch: the calls of test/interpreter/operators, but for complex numbers."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_native, check_natively  # noqa: E402
from interpreter.operators.test_reduction import CASES  # noqa: E402

# PyTorch warns where a variance has no degrees of freedom.
pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom")


def is_real(value: Any) -> bool:
    """Whether an argument holds no complex tensor."""
    if isinstance(value, list):
        return all(map(is_real, value))
    return not isinstance(value, torch.Tensor) or not value.is_complex()


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    check_natively([(name, *call) for call in CASES[name] if all(map(is_real, call[0]))], scale=2)


def test_short_floats_are_added_up_in_float32() -> None:
    check_native("aten.mean.dim", torch.rand(3, 3000).bfloat16(), [1])
    check_native("aten.sum", torch.full((70, 90), 0.1).half())


def test_long_sums() -> None:
    check_native("aten.sum.dim_IntList", torch.rand(3, 10000), [1], scale=10)
    check_native("aten.cumsum", torch.full((5000,), 0.1), 0)


def test_sums_of_exponentials_with_infinities() -> None:
    inf = float("inf")
    check_native("aten.logcumsumexp", torch.tensor([-inf, -inf, 1.0, 200.0, inf, inf, 3.0]), 0)
    check_native("aten.logcumsumexp", torch.tensor([-inf, float("nan"), 1.0]), 0)
