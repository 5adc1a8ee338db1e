"""Gradients of programs that turn gradients off and on, and that write in place meanwhile, against PyTorch's autograd.

A write that autograd does not see changes numbers, and leaves the gradient of what is written as it was.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.signature import STRAIGHT

torch = pytest.importorskip("torch")


class Model(torch.nn.Module):
    """A function of a parameter and an input."""

    def __init__(self, function: Callable[[Any, Any], Any]):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(self.w, x)


def a_parameter_is_doubled(w: Any, x: Any) -> Any:
    with torch.no_grad():
        w.mul_(2)
    return (w * w * x).sum()


def a_parameter_is_normalised(w: Any, x: Any) -> Any:
    with torch.no_grad():
        w.copy_(w / w.norm())
    return (w * x).exp().sum()


def a_parameter_is_clamped(w: Any, x: Any) -> Any:
    with torch.no_grad():
        w.clamp_(max=2)
    return (w**2 * x).sum()


def a_part_is_written(w: Any, x: Any) -> Any:
    y = x * 1
    with torch.no_grad():
        y[0] = 5
    return (y * y * w).sum()


def a_view_is_written(w: Any, x: Any) -> Any:
    y = x * 1
    v = y[:2]
    with torch.no_grad():
        v.mul_(3)
    return (y * y * w).sum() + (v * v).sum()


def what_is_detached_is_written(w: Any, x: Any) -> Any:
    y = x * 1
    v = y.view(3, 1).detach().t()
    v.mul_(w)
    return (y * y * w).sum() + (v * v).sum()


def what_was_constant_stays_so(w: Any, x: Any) -> Any:
    y = torch.zeros(3)
    with torch.no_grad():
        y.copy_(w)
    y.mul_(x)
    with torch.no_grad():
        y.add_(w)
    return (y * y).sum()


def a_view_is_made(w: Any, x: Any) -> Any:
    y = x * w
    with torch.no_grad():
        v = y[:2]
    return (v * v * y[:2]).sum()


def on_while_off(w: Any, x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            z = (w * x * y).exp()
            v = z[:2]
        q, u = z * y, z[1:]
    return (q + z * w).sum() + v.sum() + (u * u).sum()


def off_while_on_while_off(w: Any, x: Any) -> Any:
    with torch.no_grad(), torch.enable_grad():
        y = w * x
        with torch.no_grad():
            z = y * 2
        a = y * z
    b = a.sin()
    return (a * b * x).sum()


def off_in_a_branch(w: Any, x: Any) -> Any:
    def first(a: Any) -> Any:
        with torch.no_grad():
            b = a * 2
        return b * a

    return torch.cond(x.sum() > 0, first, lambda a: a * 2, (x * w,)).sum()


FUNCTIONS = (
    a_parameter_is_doubled,
    a_parameter_is_normalised,
    a_parameter_is_clamped,
    a_part_is_written,
    a_view_is_written,
    what_is_detached_is_written,
    what_was_constant_stays_so,
    a_view_is_made,
    on_while_off,
    off_while_on_while_off,
    off_in_a_branch,
)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_gradients_are_autograds(function: Callable[[Any, Any], Any]) -> None:
    model, x = Model(function), torch.tensor([0.5, 1.5, -1.0])
    program = xdsl_exir.from_exported_program(torch.export.export(copy.deepcopy(model), (x,)))
    assert STRAIGHT not in str(program.to_edge())  # what it leaves behind costs nothing
    run = xdsl_exir.compile(program.grad(["w", "x"]))
    run.flat([x.numpy().copy()])
    leaf = x.clone().requires_grad_()
    found = torch.autograd.grad(model(leaf), [model.w, leaf], allow_unused=True)
    for name, want in zip(("w", "x"), found, strict=True):
        expected = np.zeros(3) if want is None else want.numpy()
        np.testing.assert_allclose(run.gradients[name], expected, rtol=1e-5, err_msg=name)
