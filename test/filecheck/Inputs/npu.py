"""Operators of a backend that FileCheck tests look for."""

from __future__ import annotations

from typing import Any

from xdsl_exir import backend_op


@backend_op("npu::linear_relu(Tensor x, Tensor w, Tensor? b=None) -> Tensor")
def linear_relu(aten: Any, x: Any, w: Any, b: Any) -> Any:
    return aten.relu(aten.linear(x, w, b))


@backend_op("npu::scaled.Tensor(Tensor x, Tensor y, float scale=1.0, bool negated=False) -> Tensor")
def scaled(aten: Any, x: Any, y: Any, scale: Any, negated: Any) -> Any:
    both = aten.mul.Tensor(aten.add.Tensor(x, y), scale)
    return aten.neg(both) if negated else both


@backend_op("npu::sin_cos(Tensor x) -> (Tensor sin, Tensor cos)")
def sin_cos(aten: Any, x: Any) -> Any:
    square = aten.mul.Tensor(x, x)
    return aten.sin(square), aten.cos(square)


@backend_op("npu::best(Tensor x, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def best(aten: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    return aten.max.dim(aten.tanh(x), dim, keepdim)
