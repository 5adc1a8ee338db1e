"""Sizes that are known by ranges and guards, whatever export wrote: numbers natively are those of the model at all sizes."""

from __future__ import annotations

from typing import Any

import pytest

import xdsl_exir
from xdsl_exir.errors import ExirError, InputError

torch = pytest.importorskip("torch")

AUTO = torch.export.Dim.AUTO


class Positions(torch.nn.Module):
    """A bias for each position, of the last ones of a table, as MPT has it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.register_buffer("bias", torch.randn(4, 1, 64))

    def forward(self, x: Any) -> Any:
        size = x.shape[-1]
        bias = self.bias[:, max(0, self.bias.size(1) - size) :, max(0, self.bias.size(2) - size) :]
        return torch.softmax(x + bias, -1), bias.sum()


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("target", ["interpreter", "native"])
def test_what_is_one_broadcasts(target: str) -> None:
    """A size that is 1 but where there are no elements, as which nothing is asked of it."""
    exported = torch.export.export(
        Positions().eval(), (torch.randn(2, 4, 16, 16),), dynamic_shapes=({0: AUTO, 2: AUTO, 3: AUTO},)
    )
    program = xdsl_exir.from_exported_program(exported)
    run = xdsl_exir.compile(program, target)
    for size in (16, 1, 3, 63):
        x = torch.randn(3, 4, size, size)
        for got, expected in zip(run(x), exported.module()(x), strict=True):
            torch.testing.assert_close(torch.as_tensor(got), torch.as_tensor(expected))
    with pytest.raises(InputError, match="not -max"):
        run(torch.randn(3, 4, 70, 70))
    if target == "native":
        with pytest.raises(ExirError, match="taken to be some"):
            run(torch.randn(3, 4, 0, 0))


class AtLeastTwo(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.ones(max(2, x.shape[0])) * 2


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("target", ["interpreter", "native"])
def test_what_is_more_only_at_sizes_that_were_not_traced(target: str) -> None:
    """That a size is neither 0 nor 1 is assumed to trace, and decides nothing of what the program says."""
    exported = torch.export.export(AtLeastTwo(), (torch.randn(5),), dynamic_shapes=({0: AUTO},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target)
    for size in (5, 2, 1, 0):
        torch.testing.assert_close(torch.as_tensor(run(torch.randn(size))), torch.full((max(2, size),), 2.0))
