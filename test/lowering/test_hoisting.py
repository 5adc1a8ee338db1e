"""Loops that place elements: indices are read once for all that they place, and results are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from modules import Function
from xdsl.dialects import scf, tensor

import xdsl_exir
from xdsl_exir.runtime.native import plan_program

pytestmark = pytest.mark.native


X, INDEX = torch.arange(60.0).reshape(6, 10) / 7, torch.tensor([5, 0, 5, 2])
PLACING: dict[str, Callable[..., Any]] = {
    "index_put": lambda x, i: x.index_put((i - 6,), x[:4]),
    "index_put accumulate": lambda x, i: x.index_put((i,), x[:4], accumulate=True),
    "index_put last": lambda x, i: x.index_put((i[:2, None], i), x[:2, :4]),
    "scatter": lambda x, i: x.scatter(0, i[:, None].expand(-1, 10), x[:4] + 1),
    "scatter_add": lambda x, i: x.scatter_add(0, i[:, None].expand(-1, 10), x[:4]),
    "scatter_add last": lambda x, i: x.scatter_add(1, i.expand(6, -1), x[:, :4]),
    "scatter_add both": lambda x, i: x.scatter_add(0, i[:1, None].expand(3, 10), x[:3]),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[:, None].expand(-1, 10), x[:4], "mean"),
    "nothing": lambda x, i: x.scatter_add(0, i[:, None].expand(-1, 10)[:, :0], x[:4]),
    "embedding_bag": lambda x, i: torch.nn.functional.embedding_bag(i, x, i[1::2], mode="max"),
}


def program(name: str) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(Function(PLACING[name]), (X, INDEX)))


@pytest.mark.parametrize("name", PLACING)
def test_results(name: str) -> None:
    (got,) = xdsl_exir.compile(program(name), "native").flat([X, INDEX])
    np.testing.assert_allclose(got, PLACING[name](X, INDEX).numpy(), 1e-6)


@pytest.mark.parametrize("name", ["index_put accumulate", "scatter_add"])
def test_an_index_is_read_once_for_its_row(name: str) -> None:
    functions = plan_program(program(name)).dispatches.functions.values()
    loops = [op for function in functions for op in function.walk() if isinstance(op, scf.ForOp)]
    rows, elements = loops

    assert reads(rows) - reads(elements) == 1  # the index
    assert reads(elements) == 2  # what stands there, and what is added


def reads(loop: scf.ForOp) -> int:
    """How many elements are read in a loop and those in it."""
    return sum(isinstance(op, tensor.ExtractOp) for op in loop.walk())


def rows_of_any_width(x: torch.Tensor, i: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    where = i[:, None].expand_as(y)
    return (
        x.index_put((i,), y),
        x.index_add(0, i, y),
        x.scatter(0, where, y),
        x.scatter_reduce(0, where, y, "amax"),
    )


def test_rows_of_any_width() -> None:
    """Also of none: what a loop without turns would read is read before it where that does no harm. Nothing is put into no rows."""
    rows, width, count = torch.export.Dim("rows"), torch.export.Dim("width"), torch.export.Dim("count")
    dynamic = ({0: rows, 1: width}, {0: count}, {0: count, 1: width})
    given = X, INDEX, X[:4] + 1
    exported = torch.export.export(Function(rows_of_any_width), given, dynamic_shapes=(dynamic,))
    program = xdsl_exir.from_exported_program(exported)
    loops = [
        op
        for function in plan_program(program).dispatches.functions.values()
        for op in function.walk()
        if isinstance(op, scf.ForOp) and isinstance(op.parent_op(), scf.ForOp)
    ]
    assert len(loops) == 4 and all(reads(loop) <= 2 for loop in loops)  # noqa: PT018
    run = xdsl_exir.compile(program, "native")
    for height, width, count in (
        (6, 10, 4),
        (1, 33, 7),
        (3, 1, 2),
        (5, 0, 3),
        (4, 6, 0),
        (0, 4, 0),
        (0, 0, 0),
    ):
        x, y = torch.randn(height, width), torch.randn(count, width)
        i = torch.arange(count) * 3 % max(height, 1)
        for got, expected in zip(run.flat([x, i, y]), rows_of_any_width(x, i, y), strict=True):
            np.testing.assert_allclose(got, expected.numpy(), 1e-6, 1e-6)
    with pytest.raises(xdsl_exir.ExirError, match="out of range"):
        run.flat([torch.randn(0, 4), torch.tensor([0]), torch.randn(1, 4)])
