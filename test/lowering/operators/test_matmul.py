"""Every matrix product as native code against PyTorch: the calls of test/interpreter/operators."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from differential import check_native, check_natively  # noqa: E402
from interpreter.operators.test_matmul import CASES, tensor  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    check_natively([(name, *call) for call in CASES[name]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_added_up_in_float32(dtype: str) -> None:
    left, right = (torch.rand(*shape).to(getattr(torch, dtype)) for shape in ((4, 3000), (3000, 5)))
    check_native("aten.mm", left, right)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ragged_sizes(dtype: str) -> None:
    check_native("aten.mm", tensor(37, 41, dtype=dtype), tensor(41, 29, dtype=dtype))
    check_native("aten.bmm", tensor(2, 17, 9, dtype=dtype), tensor(2, 9, 33, dtype=dtype))
