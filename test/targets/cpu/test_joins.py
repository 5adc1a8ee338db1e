"""Tensors that are joined natively: pieces of which some are runs for kernels, and what is joined again made in its part of that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.linalg.ops import CopyOp, GenericOp

import xdsl_exir

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.native


def pad(mode: str, *sides: int) -> Any:
    return lambda x: torch.nn.functional.pad(x, sides, mode=mode)


def and_inner(x: Any) -> Any:
    """What is joined is needed by others, too."""
    inner = torch.cat([x, x[:, :, :, :2]], 3)
    return torch.cat([inner[:, :, :1], inner], 2) + inner.sum()


def twice(x: Any) -> Any:
    inner = torch.cat([x, x[:, :, :, :1]], 3)
    return torch.cat([inner, inner, inner[:, :, 1:2]], 2)


def of_few(x: Any) -> Any:
    """Columns, which are no runs, are most of it."""
    return torch.cat([x[:, :, :, :5], x[:, :, :, :6]], 3)


CALLS = [
    *(pad(mode, 2, 1, 1, 3) for mode in ("reflect", "replicate", "circular")),
    *(pad(mode, 1, 1, 1, 1, 1, 2) for mode in ("replicate", "circular")),
    *(pad("reflect", 2, 0, 0, 1), and_inner, twice, of_few),
]


class Joins(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return tuple(call(x) for call in CALLS)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_joined_again(dtype: str) -> None:
    torch.manual_seed(0)
    x = (torch.randn(2, 4, 9, 21) * 50).to(getattr(torch, dtype))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(Joins(), (x,))), "native")
    for number, (got, wanted) in enumerate(zip(run.flat([x.numpy()]), Joins()(x), strict=True)):
        if dtype.startswith("float"):
            np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-2, err_msg=str(number))
        else:
            np.testing.assert_array_equal(got, wanted.numpy(), str(number))


def test_joined_at_any_size() -> None:
    """Without positions of elements to be looked up."""
    auto, x = torch.export.Dim.AUTO, torch.randn(2, 4, 9, 21)
    exported = torch.export.export(Joins(), (x,), dynamic_shapes=({0: auto, 2: auto, 3: auto},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native", fallback="error")
    assert not [path for path in run.slow_paths if "index" in str(path)]
    for shape in ((2, 4, 9, 21), (1, 4, 6, 7), (3, 4, 33, 64)):
        x = torch.randn(shape)
        for number, (got, wanted) in enumerate(zip(run.flat([x.numpy()]), Joins()(x), strict=True)):
            np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-2, atol=1e-5, err_msg=str(number))


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (0, 3), (40, 33)])
def test_repeated_at_any_size(shape: tuple[int, ...]) -> None:
    auto = torch.export.Dim.AUTO
    repeated = Repeated()
    exported = torch.export.export(repeated, (torch.randn(5, 7),), dynamic_shapes=({0: auto, 1: auto},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native", fallback="error")
    assert not list(run.slow_paths)
    x = torch.randn(shape)
    for got, wanted in zip(run.flat([x.numpy()]), repeated(x), strict=True):
        np.testing.assert_array_equal(got, wanted.numpy())


class Repeated(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.repeat(2, 3), x.repeat(4, 1, 2), x.tile(2), x.repeat(2, 0), x.flatten().repeat(3)


class Padded(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return pad("reflect", 1, 1, 2, 2)(x)


def test_what_is_joined_again_is_made_in_its_place() -> None:
    """No memory but the result's is taken."""
    x = torch.randn(2, 4, 32, 32)
    edge = xdsl_exir.from_exported_program(torch.export.export(Padded(), (x,))).to_edge()
    text = str(edge.to("buffers"))
    assert "memref.alloc" not in text, text


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "bool"])
def test_columns_are_copied_together(dtype: str) -> None:
    """Pieces of one shape, one after the other, in one loop; others in one of their own."""

    class Columns(torch.nn.Module):
        def forward(self, x: Any, wide: Any) -> Any:
            return torch.cat([x[:, :1], x[:, 1:2], wide, x[:, 2:4], x[:, 4:5], x[:, 5:6]], 1)

    x, wide = (torch.randn(30, width).to(getattr(torch, dtype)) for width in (6, 90))
    program = xdsl_exir.from_exported_program(torch.export.export(Columns(), (x, wide)))
    loops = [op for op in program.to("planned").module.walk() if isinstance(op, GenericOp | CopyOp)]
    if not dtype.startswith("complex"):  # which have no kernels
        assert [len(op.operands) // 2 for op in loops] == [2, 1, 2]
    [got] = xdsl_exir.compile(program, "native").flat([x.numpy(), wide.numpy()])
    np.testing.assert_array_equal(got, Columns()(x, wide).numpy())
