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

    def read(loop: scf.ForOp) -> int:
        return sum(isinstance(op, tensor.ExtractOp) for op in loop.body.block.ops)

    assert (read(rows), read(elements)) == (1, 2)  # the index; what stands there, and what is added
