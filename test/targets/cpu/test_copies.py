"""Copies between layouts natively: every dtype, sizes that no vector divides, dimensions in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Copy

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.native

CALLS: list[Any] = [
    lambda x: x.permute(0, 2, 1),
    lambda x: x.permute(2, 1, 0),
    lambda x: x.permute(1, 2, 0),
    lambda x: x[:, 1:, 2:],
    lambda x: x[:, :, 1:].permute(2, 0, 1),
    lambda x: x[:2, 3:40, :9].permute(0, 2, 1),
    lambda x: x[:, :3].permute(0, 2, 1),
    lambda x: x[:, ::3],
    lambda x: x[:, :, ::3].permute(0, 2, 1),
    lambda x: x[:, :, :1].expand(-1, -1, 20),
    lambda x: x[:1].expand(4, -1, -1).permute(0, 2, 1),
    lambda x: x[:, :, 5],
    lambda x: x[:, 0:0],
]


class Copies(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return tuple(call(x).contiguous() for call in CALLS)


def edge_of(x: Any) -> Any:
    return xdsl_exir.from_exported_program(torch.export.export(Copies(), (x,))).to_edge()


def check(run: Any, x: Any) -> None:
    given = x if x.dtype is torch.bfloat16 else x.numpy()
    for number, (got, wanted) in enumerate(zip(run.flat([given]), Copies()(x), strict=True)):
        array = wanted.float().numpy() if x.dtype is torch.bfloat16 else wanted.numpy()
        np.testing.assert_array_equal(np.asarray(got).astype(array.dtype), array, str(number))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "uint8", "bool"])  # fmt: skip
def test_layouts(dtype: str) -> None:
    torch.manual_seed(0)
    x = (torch.randn(3, 41, 53) * 50).to(getattr(torch, dtype))
    check(xdsl_exir.compile(edge_of(x), "native"), x)


def test_copies_have_kernels_and_bodies() -> None:
    x = torch.randn(3, 41, 53)
    found = [kernel for kernel in plan_program(edge_of(x)).dispatches.scheduled if isinstance(kernel, Copy)]
    assert {kernel.transposed for kernel in found} == {True, False}
    for target in ("interpreter", "native"):
        check(xdsl_exir.compile(edge_of(x).transform("to-destinations"), target), x)


def test_many_rows_are_shared() -> None:
    x = torch.randn(64, 130, 67)
    check(xdsl_exir.compile(edge_of(x), "native"), x)


JOINED: list[Any] = [
    lambda x: torch.cat([x, x[:, :3], x[:, 5:]], 1),
    lambda x: torch.cat([x.permute(0, 2, 1), x.permute(0, 2, 1)[:, 1:]], 1),
    lambda x: torch.cat([x[:, 2], x[:, 0], x[:, 7]]),
    lambda x: torch.cat([x[:, :1].expand(-1, 9, -1), x], 1),
    lambda x: torch.cat([torch.ones_like(x[:2]), x + x]),
    lambda x: torch.cat([x[:, :, :9], x[:, :, 20:]], -1),
    lambda x: torch.stack([x, x[:1].expand(3, -1, -1)], 1),
    lambda x: torch.cat([x[:, :0], x, x[:, 3:4]], 1),
    lambda x: torch.cat([x[:, :, :7], x[:, :, :1]], 2),
]


class Joins(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return tuple(call(x) for call in JOINED)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_pieces_are_copied_to_where_they_go(dtype: str) -> None:
    torch.manual_seed(0)
    x = (torch.randn(3, 11, 53) * 50).to(getattr(torch, dtype))
    program = xdsl_exir.from_exported_program(torch.export.export(Joins(), (x,))).to_edge()
    planned = plan_program(program)
    assert any(isinstance(kernel, Copy) and kernel.target.strides for kernel in planned.dispatches.scheduled)
    given = x if x.dtype is torch.bfloat16 else x.numpy()
    for stage in (program, program.transform("to-destinations")):
        results = xdsl_exir.compile(stage, "native").flat([given])
        for got, wanted in zip(results, Joins()(x), strict=True):
            array = wanted.float().numpy() if x.dtype is torch.bfloat16 else wanted.numpy()
            np.testing.assert_array_equal(np.asarray(got).astype(array.dtype), array)


@pytest.mark.native
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "bool"])
def test_transposes_of_any_size(dtype: str) -> None:
    """Whole blocks, and what is left of rows and columns, or all of what is less than a block."""

    class Turned(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = x.flip(0)
            return (
                y.transpose(1, 2).contiguous(),
                y[0].t().contiguous(),
                y.permute(2, 1, 0).contiguous(),
                y.permute(2, 0, 1).contiguous(),
            )

    def numbers(*shape: int) -> Any:
        return (torch.rand(shape) * 100).to(getattr(torch, dtype))

    any_size = (dict.fromkeys(range(3), torch.export.Dim.AUTO),)
    exported = torch.export.export(Turned(), (numbers(3, 20, 30),), dynamic_shapes=any_size)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native", fallback="error")
    for shape in ((2, 2, 2), (3, 16, 16), (2, 17, 35), (5, 70, 3), (4, 9, 64), (33, 2, 40)):
        x = numbers(*shape)
        for got, wanted in zip(run.flat([x.numpy()]), Turned()(x), strict=True):
            np.testing.assert_array_equal(got, wanted.numpy())
