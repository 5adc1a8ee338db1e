"""Every normalization and softmax as native code against PyTorch: the calls of test/interpreter/operators."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from differential import check_native, check_natively  # noqa: E402
from interpreter.operators.test_normalization import CASES, tensor  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")

RANDOM = ["aten.native_dropout"]
"""What draws is the host's (test_fallback.py)."""


@pytest.mark.parametrize("name", [name for name in CASES if name not in RANDOM])
def test_operator(name: str) -> None:
    check_natively([(name, *call) for call in CASES[name]], scale=4)


def test_long_rows() -> None:
    check_native("aten._softmax", tensor(3, 2000), -1, False)
    check_native("aten.native_layer_norm", tensor(3, 2000) + 100, [2000], None, None, 1e-5, scale=40)
