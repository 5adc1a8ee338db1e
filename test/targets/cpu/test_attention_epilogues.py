"""What follows an attention, whose heads are written next to each other: it is part of the last product, at every stage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from modules import Function
from torch.nn import functional as F

import xdsl_exir

AFTER: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a number": lambda y: y + 1.5,
    "clamp": lambda y: y.clamp(max=0.1),
    "a tensor of one number": lambda y: torch.minimum(y, torch.tensor(0.05)),
    "two": lambda y: F.relu(y) * 2,
    "before they are together": lambda y: F.silu(y.reshape(2, -1, 4, 32)).transpose(1, 2),
    "a tensor": lambda y: y * torch.linspace(-1, 1, 128),
}


@pytest.mark.native
@pytest.mark.parametrize("length", [50, 128])
@pytest.mark.parametrize("after", AFTER)
def test_what_follows_an_attention(after: str, length: int) -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(2, (4, 32)).transpose(1, 2) for part in x.chunk(3, dim=2))
        return AFTER[after](F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    x = torch.randn(2, length, 384)
    program = xdsl_exir.from_exported_program(torch.export.export(Function(call), (x,)))
    stages = [xdsl_exir.compile(program.to(stage)) for stage in ("dispatches", "planned")]
    for run in (xdsl_exir.compile(program, "native"), *stages):
        np.testing.assert_allclose(run(x), call(x).numpy(), 1e-4, 1e-5)
