"""Normalizations and softmax as native code against PyTorch: absent weights, mixed dtypes, empty and 0-dim tensors."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_native  # noqa: E402

from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402
from xdsl_exir.lowering.toolchain import ToolchainError, find_tool  # noqa: E402

try:
    find_tool("mlir-opt")
except ToolchainError as error:
    pytest.skip(str(error), allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")

FLOATS = ["float32", "float16", "bfloat16", "float64"]
MIXED = [(dtype, dtype) for dtype in FLOATS] + [("float16", "float32"), ("bfloat16", "float32")]
"""Dtypes of the input and of the weights: short floats also take float32 weights."""


def tensor(*shape: int, dtype: str = "float32", seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, generator=generator).to(getattr(torch, dtype))


Call = tuple[Any, ...]


def channels(count: int, dtype: str = "float32") -> tuple[torch.Tensor, ...]:
    """Weight, bias, running mean and variance."""
    weight, bias, mean, variance = (tensor(count, dtype=dtype, seed=seed) for seed in range(4))
    return weight, bias, mean, variance.abs() + 0.5


X = tensor(2, 3, 5)
STATISTICS = channels(3)[2:]


def batch_norms(*after: Any) -> list[Call]:
    return [
        *((tensor(2, 3, 5, dtype=dtype), *channels(3, weights), *after) for dtype, weights in MIXED),
        (tensor(4, 3), None, None, *STATISTICS, *after),
        (tensor(2, 3, 2, 2, 2), channels(3)[0], None, *STATISTICS, *after),
        (tensor(2, 3, 4, 5), None, channels(3)[1], *STATISTICS, *after),
    ]


def softmaxes(*after: Any) -> list[Call]:
    return [
        *((tensor(2, 3, 5, dtype=dtype), 1, *after) for dtype in FLOATS),
        *((X * 50, dim, *after) for dim in (0, -1)),
        (torch.tensor([[inf, 1.0], [-inf, 1.0], [nan, 1.0], [-inf, -inf]]), -1, *after),
        (torch.tensor(3.0), -1, *after),
        (torch.empty(2, 0), 1, *after),
        (torch.empty(0, 2), 1, *after),
        (tensor(3, 700), -1, *after),
    ]


CASES: dict[str, list[Call]] = {
    "aten.batch_norm": [(X, *channels(3), False, 0.1, 1e-5, True)],
    "aten.native_batch_norm": [(X, *channels(3), True, 0.1, 1e-5)],
    "aten._native_batch_norm_legit_no_training": [*batch_norms(0.1, 1e-5), (tensor(0, 3, 2), *channels(3), 0.1, 1e-5)],
    "aten._native_batch_norm_legit_functional": [*batch_norms(True, 0.3, 1e-5), *batch_norms(False, 0.3, 1e-5)[:2]],
    "aten._native_batch_norm_legit.no_stats": [
        (X, *channels(3)[:2], True, 0.1, 1e-5), (tensor(2, 3, 4, dtype="float16"), None, None, True, 0.1, 1e-3)],
    "aten.layer_norm": [(X, [5])],
    "aten.native_layer_norm": [
        *((tensor(2, 3, 4, dtype=dtype), [3, 4], tensor(3, 4, dtype=weights), tensor(3, 4, dtype=weights, seed=1), 1e-5)
          for dtype, weights in MIXED),
        (X, [5], None, tensor(5), 0.1), (tensor(4), [4], tensor(4), None, 1e-5), (tensor(0, 3), [3], None, tensor(3), 1e-5)],
    "aten.group_norm": [(tensor(2, 6, 4), 3, tensor(6), tensor(6, seed=1))],
    "aten.native_group_norm": [
        *((tensor(2, 6, 4, dtype=dtype), tensor(6, dtype=weights), tensor(6, dtype=weights, seed=1), 2, 6, 4, 3, 1e-5)
          for dtype, weights in MIXED),
        (tensor(2, 6, 2, 2), None, None, 2, 6, 4, 2, 1e-5), (tensor(0, 6, 2), None, None, 0, 6, 2, 3, 1e-5)],
    "aten.instance_norm": [(X, *channels(3)[:2], None, None, True, 0.1, 1e-5, True)],
    "aten.rms_norm": [(X, [5], tensor(5), None)],
    "aten._fused_rms_norm": [(tensor(2, 3, 4, dtype="bfloat16"), [3, 4], None, None)],
    "aten.softmax.int": [(tensor(2, 3, dtype="float16"), -1, torch.float32)],
    "aten.log_softmax.int": [(X, 1)],
    "aten._safe_softmax": [(torch.tensor([[1.0, 2.0], [-inf, -inf]]), 1)],
    "aten._softmax": softmaxes(False),
    "aten._log_softmax": softmaxes(False),
}  # fmt: skip


def test_every_operator_occurs() -> None:
    family = {name for name, spec in specs().items() if spec.family == "normalization"}
    assert family == {*CASES, "aten.native_dropout"}


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    for args in CASES[name]:
        check_native(name, *args, scale=2)


def test_refuses_random_numbers() -> None:
    with pytest.raises(UnsupportedError, match="native_dropout: no lowering"):
        check_native("aten.native_dropout", X, 0.5, True)
