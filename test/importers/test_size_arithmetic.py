"""Arithmetic on sizes as users write it in Python: rounded quotients, bits, floats that bound a range; and the guards on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from modules import Function

import xdsl_exir

AUTO = torch.export.Dim.AUTO
SIZES = [(4, 6), (3, 9), (5, 20), (2, 11)]
"""Of the inputs; the first is the one that a program is exported with."""

NATIVE: dict[str, Callable[[torch.Tensor], Any]] = {
    "ceil": lambda x: x[:, : math.ceil(x.shape[1] / 4)],
    "ceil to multiple": lambda x: torch.zeros(math.ceil(x.shape[1] / 4) * 4 - x.shape[1] + 2),
    "floor": lambda x: x[:, : math.floor(x.shape[1] / 2)],
    "trunc": lambda x: x[:, : math.trunc(x.shape[1] / 2)],
    "shift": lambda x: (x[:, : x.shape[1] >> 1], torch.ones(x.shape[0] << 1)),
    "halves of an even part": lambda x: torch.nn.functional.glu(x[:, : x.shape[1] // 2 * 2], 1),
    "range of a float": lambda x: torch.arange(0.0, x.shape[1]),
}
INTERPRETED: dict[str, Callable[[torch.Tensor], Any]] = {
    "round": lambda x: torch.zeros(round(x.shape[1] * 0.5)),
    "abs": lambda x: torch.zeros(abs(x.shape[1] - x.shape[0] * 3) + 2),
    "bits": lambda x: (torch.zeros((x.shape[1] + 7) & ~7), torch.zeros(x.shape[1] | 1)),
    "power of two": lambda x: torch.ones(1 << (x.shape[1] % 4)),
    "range to a quotient": lambda x: torch.arange(x.shape[1] / 2),
    "range by a quotient": lambda x: torch.arange(-1.0, 1.0, 2 / x.shape[0]),
    "norm": lambda x: torch.linalg.vector_norm(x, ord=x.shape[0] / 2),
    "guard on a float": lambda x: torch.nn.functional.scaled_dot_product_attention(
        x[None], x[None], x[None], scale=1 / x.shape[1]
    ),
}
"""Of these native code lacks the arithmetic, or PyTorch guards their number."""


def assert_calls(function: Callable[..., Any], target: str) -> None:
    """Every call gives what PyTorch's exported program gives, and is refused where that refuses it."""
    example, *others = [torch.linspace(-1, 1, n * m).reshape(n, m) for n, m in SIZES]
    exported = torch.export.export(Function(function), (example,), dynamic_shapes=(({0: AUTO, 1: AUTO},),))
    expects = exported.module()
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target=target)
    for x in (example, *others):
        try:
            expected = expects(x)
        except AssertionError:  # of a guard
            with pytest.raises(xdsl_exir.ExirError):
                run(x)
            continue
        leaves = torch.utils._pytree.tree_leaves
        for got, wanted in zip(leaves(run(x)), leaves(expected), strict=True):
            np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-6, atol=1e-6)
            assert (got.shape, got.dtype) == (tuple(wanted.shape), wanted.numpy().dtype)


@pytest.mark.parametrize("name", [*NATIVE, *INTERPRETED])
def test_interpreter_equals_exported_program(name: str):
    assert_calls((NATIVE | INTERPRETED)[name], "interpreter")


@pytest.mark.usefixtures("native_tools")
@pytest.mark.parametrize("name", NATIVE)
def test_native_code_equals_exported_program(name: str):
    assert_calls(NATIVE[name], "native")
