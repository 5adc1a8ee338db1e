"""Operators that PyTorch traces as other types than its kernels give: programs of them run as eager does."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from differential import compare, to_numpy  # noqa: E402

import xdsl_exir  # noqa: E402

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32)
BACKWARD = {
    "threshold": lambda gradient, x: torch.ops.aten.threshold_backward(gradient, x, 0.5) * 2,
    "dropout": lambda gradient, x: torch.ops.aten.native_dropout_backward(gradient, x > 0, 2.0) + x,
}


class Function(torch.nn.Module):
    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def program_of(model: Any, args: tuple[Any, ...]) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(model, args))


@pytest.mark.parametrize("name", BACKWARD)
def test_gradients_of_mixed_dtypes(name: str) -> None:
    for left, right in itertools.permutations(DTYPES, 2):
        args = tuple((torch.randn(5) * 3).to(dtype) for dtype in (left, right))
        program = program_of(Function(BACKWARD[name]), args)
        for stage in (program, program.to_edge()):
            [got] = xdsl_exir.compile(stage).flat([to_numpy(x) for x in args])
            compare(f"{name} of {left} and {right}", got, BACKWARD[name](*args))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_whose_last_offset_is_the_end(mode: str) -> None:
    bags = torch.nn.EmbeddingBag(5, 3, mode=mode, include_last_offset=True)
    args = torch.tensor([0, 1, 2, 4]), torch.tensor([0, 2, 2, 4])
    [got] = xdsl_exir.compile(program_of(bags, args)).flat([x.numpy() for x in args])
    compare(mode, got, bags(*args).detach())


@pytest.mark.parametrize("reduce", [torch.nansum, torch.nanmean])
def test_empty_lists_of_dimensions_reduce_all(reduce: Any) -> None:
    functions = (
        lambda x: reduce(x, dim=[]),
        lambda x: (reduce(x, dim=[]) * 2 + torch.ones(3), x.sum(0)),
        lambda x: reduce(x, dim=[]).add_(x.max()),
    )
    x = torch.randn(4, 3)
    for function in functions:
        want = function(x)
        got = xdsl_exir.compile(program_of(Function(function), (x,))).flat([x.numpy()])
        for ours, theirs in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
            compare("reduced", ours, theirs)
