"""Indices out of range: an error in the interpreter, natively and in C, wherever PyTorch has one; those that cannot be are not looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

from modules import Function  # noqa: E402

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402
from xdsl_exir.runtime.native import plan_program  # noqa: E402

F = torch.nn.functional
X = torch.arange(20.0).view(4, 5)
ONES = torch.ones(2, 5)
CALLS: dict[str, tuple[Callable[..., Any], list[list[int]]]] = {
    "embedding": (lambda x, i: F.embedding(i, x), [[0, 3], [0, 4], [-1, 0]]),
    "embedding_bag": (lambda x, i: F.embedding_bag(i[None], x), [[0, 3], [0, 4]]),
    "index": (lambda x, i: x[:, i], [[-5, 4], [5, 0], [-6, 0]]),
    "index by two": (lambda x, i: x[i, i.flip(0)], [[0, 3], [4, 0]]),
    "index and mask": (lambda x, i: x[:, [True, False, True, False, False]][i], [[0, -4], [4, 0]]),
    "gather": (lambda x, i: x.gather(1, i[:, None]), [[0, 4], [5, 0], [-1, 0]]),
    "index_put": (lambda x, i: x.index_put((i,), ONES), [[-4, 3], [4, 0], [-5, 0]]),
    "index_copy_": (lambda x, i: x.clone().index_copy_(0, i, ONES), [[0, 3], [4, 0]]),
    "index_add": (lambda x, i: x.index_add(0, i, ONES), [[0, 3], [4, 0]]),
    "index_select": (lambda x, i: x.index_select(0, i), [[0, 3], [4, 0], [-1, 0]]),
    "scatter": (lambda x, i: x.scatter(1, i[:, None], 2.0), [[0, 4], [5, 0], [-1, 0]]),
    "scatter_add": (lambda x, i: x.scatter_add(1, i[:, None], ONES[:, :1]), [[0, 4], [5, 0]]),
    "take": (lambda x, i: x.take(i), [[-20, 19], [20, 1]]),
    "nll_loss": (lambda x, i: F.nll_loss(x[:2], i), [[0, 4], [0, -100], [0, 5]]),
    "one_hot": (lambda x, i: F.one_hot(i, 5), [[0, 4], [0, 5]]),
    "in a branch": (
        lambda x, i: torch.cond(i[1] > 0, lambda x, i: x[i].clone(), lambda x, i: x[i * 0].clone(), (x, i)),
        [[0, 3], [9, 0], [9, 1]],
    ),
}  # fmt: skip


def program_of(function: Callable[..., Any], *args: Any, **options: Any) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(Function(function), args, **options))


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name: str, native_tools: None):
    function, calls = CALLS[name]
    program = program_of(function, X, torch.tensor(calls[0]))
    runs = [xdsl_exir.compile(program), xdsl_exir.compile(program, "native")]
    ends: set[bool] = set()
    for call in calls:
        index = torch.tensor(call)
        try:
            wanted = function(X, index)
        except (IndexError, RuntimeError):
            wanted = None
        ends.add(wanted is None)
        for run in runs:
            if wanted is None:
                with pytest.raises(ExirError, match=r"out of range for a dimension of size|Class values"):
                    run.flat([X.numpy(), index.numpy()])
            else:
                np.testing.assert_allclose(run.flat([X.numpy(), index.numpy()])[0], wanted.numpy(), rtol=1e-6)
    assert ends == {False, True}


def test_of_symbolic_sizes(native_tools: None):
    shapes = {"args": ({0: torch.export.Dim.AUTO}, None)}
    function = CALLS["embedding"][0]
    program = program_of(lambda x, i: (function(x, i), x[i]), X, torch.tensor([0, 1]), dynamic_shapes=shapes)
    run = xdsl_exir.compile(program, "native")
    for rows, index, is_right in (
        (4, [0, 3], True),
        (7, [6, 0], True),
        (7, [7, 0], False),
        (4, [-1, 0], False),
    ):
        inputs = [np.ones((rows, 5), np.float32), np.array(index)]
        if is_right:
            assert run.flat(inputs)[0].shape == (2, 5)
        else:
            with pytest.raises(ExirError, match="out of range for a dimension of size"):
                run.flat(inputs)


def test_what_cannot_be_out_of_range_is_not_looked_at():
    def within(x: Any, i: Any) -> Any:
        return (
            x[torch.arange(x.shape[0]).flip(0)],
            x[i.clamp(0, 3)],
            x[(i % 4).to(torch.int64)],
            x.gather(1, x.argmax(1, keepdim=True)),
            x.gather(1, x.sort(1)[1]),
            x[torch.tensor([2, 0])],
            x[torch.where(i > 2, 3, 0)],
        )

    def beyond(x: Any, i: Any) -> Any:
        return (
            x[i.clamp(0, 4)],
            x[(i % 5)],
            x[torch.where(i > 2, i, 0)],
            x.gather(0, x.argmax(1, keepdim=True)),
        )

    index = torch.tensor([1, 2])
    assert plan_program(program_of(within, X, index).to_edge()).checks["forward"] == []
    assert len(plan_program(program_of(beyond, X, index).to_edge()).checks["forward"]) == 4
    shapes = {"args": ({0: torch.export.Dim.AUTO},)}
    program = program_of(lambda x: x[torch.arange(x.shape[0])], X, dynamic_shapes=shapes)
    assert plan_program(program.to_edge()).checks["forward"] == []
