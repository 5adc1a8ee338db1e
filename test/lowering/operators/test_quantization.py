"""Quantization natively: per tensor and per channel, numbers that round, saturate and are given as tensors."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.ao.quantization.fx._decomposed")  # registers the operators
from differential import check_natively  # noqa: E402

torch.manual_seed(0)
X = torch.cat([torch.randn(4, 6) * 20, torch.tensor([[0.25, 0.75, -0.25, 1.25, 1e6, -1e6]])])
RANGES: list[Any] = [
    (torch.int8, -128, 127),
    (torch.uint8, 0, 255),
    (torch.int16, -32768, 32767),
    (torch.int32, -(2**31), 2**31 - 1),
    (torch.int8, -7, 8),
]
SCALES, POINTS = torch.rand(6) + 0.1, torch.tensor([0, 1, -3, 5, 7, 2])


def name(operator: str) -> str:
    return f"quantized_decomposed.{operator}"


def test_per_tensor():
    calls: list[Any] = []
    for dtype, low, high in RANGES:
        for x in (X, X.half().clamp(-1000, 1000)):
            # float32 holds no 2**31 - 1: PyTorch's cast of what it clamps to is undefined.
            x = x.clamp(-1e4, 1e4) if dtype == torch.int32 else x
            calls.append((name("quantize_per_tensor"), (x, 0.5, 3, low, high, dtype), {}))
            scale, point = torch.tensor([0.3], dtype=torch.float64), torch.tensor([2])
            calls.append((name("quantize_per_tensor.tensor"), (x, scale, point, low, high, dtype), {}))
        q = torch.randint(max(low, -100), min(high, 100), (4, 6)).to(dtype)
        calls.append((name("dequantize_per_tensor"), (q, 0.3, -2, low, high, dtype), {}))
        calls.append((name("dequantize_per_tensor.tensor"), (q, scale, point, low, high, dtype), {}))
        calls.append(
            (name("dequantize_per_tensor"), (q, 0.3, 1, low, high, dtype), {"out_dtype": torch.float16})
        )
    check_natively(calls)


def test_per_channel():
    calls: list[Any] = []
    for dtype, low, high in RANGES[:3]:
        for axis in (1, -1):
            calls.append(
                (name("quantize_per_channel"), (X, SCALES, POINTS.abs(), axis, low, high, dtype), {})
            )
        q = torch.randint(max(low, -100), min(high, 100), (2, 6, 3)).to(dtype)
        for points in (POINTS, None):
            calls.append((name("dequantize_per_channel"), (q, SCALES, points, 1, low, high, dtype), {}))
    check_natively(calls)
