"""Arithmetic on sizes as users write it in Python: rounded quotients, bits, floats that bound a range or that operators take; and the
guards on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from modules import Function

import xdsl_exir
from xdsl_exir.errors import ExirError

AUTO = torch.export.Dim.AUTO
SIZES = [(4, 6), (3, 9), (5, 20), (2, 11)]
"""Of the inputs; the first is the one that a program is exported with."""

WEIGHT = torch.tensor([[[0.5, -2.0]]])

CASES: dict[str, Callable[[torch.Tensor], Any]] = {
    "ceil": lambda x: x[:, : math.ceil(x.shape[1] / 4)],
    "ceil to multiple": lambda x: torch.zeros(math.ceil(x.shape[1] / 4) * 4 - x.shape[1] + 2),
    "floor": lambda x: x[:, : math.floor(x.shape[1] / 2)],
    "trunc": lambda x: x[:, : math.trunc(x.shape[1] / 2)],
    "shift": lambda x: (x[:, : x.shape[1] >> 1], torch.ones(x.shape[0] << 1)),
    "halves of an even part": lambda x: F.glu(x[:, : x.shape[1] // 2 * 2], 1),
    "range of a float": lambda x: torch.arange(0.0, x.shape[1]),
    "round": lambda x: torch.zeros(round(x.shape[1] * 0.5)),
    "abs": lambda x: torch.zeros(abs(x.shape[1] - x.shape[0] * 3) + 2),
    "bits": lambda x: (torch.zeros((x.shape[1] + 7) & ~7), torch.zeros(x.shape[1] | 1)),
    "power of two": lambda x: torch.ones(1 << (x.shape[1] % 4)),
    "range to a quotient": lambda x: torch.arange(x.shape[1] / 2),
    "range by a quotient": lambda x: torch.arange(-1.0, 1.0, 2 / x.shape[0]),
    "norm": lambda x: torch.linalg.vector_norm(x, ord=x.shape[0] / 2),
    "guard on a float": lambda x: F.scaled_dot_product_attention(
        x[None], x[None], x[None], scale=1 / x.shape[1]
    ),
    "scaled and rounded": lambda x: [
        x.new_ones(size, 2) * 3
        for size in (
            math.ceil(x.shape[1] * 0.7),
            math.floor(x.shape[1] * 1.3 - 0.5),
            round(x.shape[1] / 2) + 1,
            torch.sym_int(x.shape[1] * 0.3) + 2,
        )
    ],
    "rounded root": lambda x: x.new_ones(torch.sym_int(x.shape[1] ** 0.5) + 1) + x.sum(),
    "lowest bit": lambda x: x.new_ones(x.shape[1] & -x.shape[1], 2) * 2,
    "product and rows of parts": lambda x: (
        (x.t() @ x @ x.t()[:, : math.ceil(x.shape[0] * 0.7)]).softmax(0),
        x[x.shape[0] // 2 :] * 2,
    ),
    "numbers out": lambda x: (x + 1, x.shape[1] & 3, round(x.shape[1] * 0.7), x.shape[1] / 3),
    "bounds": lambda x: (x.clamp(min=-x.shape[1] / 30, max=x.shape[1] / 50), x.clamp(min=x.shape[0] / 9)),
    "slopes": lambda x: (
        F.leaky_relu(x, 1 / x.shape[0]),
        F.elu(x, x.shape[0] / 3),
        F.hardtanh(x, -x.shape[0] / 9, x.shape[1] / 40),
        F.softplus(x, x.shape[0] / 3, x.shape[1] * 1.5),
    ),
    "factors": lambda x: (
        torch.add(x, x, alpha=x.shape[1] / 3),
        torch.sub(x, x, alpha=x.shape[0] ** 0.5),
        torch.addcmul(x, x, x, value=-x.shape[1] / 3),
        torch.addmm(x, x, torch.ones(x.shape[1], x.shape[1]), alpha=x.shape[0] / 3),
    ),
    "fillings": lambda x: (
        torch.full((3,), x.shape[1] / 3),
        torch.full((2,), x.shape[1] / 3, dtype=torch.int64),
        x.masked_fill(x > 0, x.shape[0] / 3),
        torch.where(x > 0, x, x.shape[0] / 7),
        x.scatter(0, torch.zeros(1, x.shape[1], dtype=torch.int64), x.shape[1] / 3),
    ),
    "operands": lambda x: (
        x * (1 / torch._sym_sqrt(x.shape[1])),  # pyright: ignore[reportPrivateUsage]
        x / x.shape[1] ** 0.5,
        x.abs() ** (x.shape[0] / 3),
        (x.shape[0] / 3) ** x,
        torch.fmod(x * 9, x.shape[0] / 3),
        x.double() + abs(-x.shape[0] / 3),
        x.double() * (x.shape[0] / 3),
    ),
    "remainders of floats": lambda x: (
        x.double() * ((x.shape[0] / 3) % 1.0),
        x.double() * ((-x.shape[1] / 3) // 0.7),
        x.double() * ((-x.shape[1] / 3) % 0.7),
    ),
    "larger and smaller": lambda x: (
        x * torch.sym_max(x.shape[0] / 3, 1.25),
        x * torch.sym_min(x.shape[1] / 3, x.shape[0]),
    ),
    "weight and scaled steps": lambda x: (
        torch.lerp(x, x + 1, 1 / x.shape[0]),
        torch.linspace(0, x.shape[1] / 3, 9),
    ),
    "transforms of as many": lambda x: (
        torch.fft.irfft(torch.fft.rfft(x), n=x.shape[1]),
        torch.fft.irfft2(torch.fft.rfft2(x), s=x.shape),
    ),
    "moves of a kernel": lambda x: (
        F.conv1d(x, WEIGHT.expand(2, x.shape[0], 2), padding=x.shape[1] // 4),
        F.conv1d(x[:, None], WEIGHT, stride=x.shape[0] - 1, dilation=x.shape[1] // 6 + 1),
        F.conv2d(x[None, None], WEIGHT[..., None], stride=(2, x.shape[0] - 1), padding=(x.shape[0], 1)),
        F.conv_transpose1d(x[:, None], WEIGHT, stride=x.shape[0] - 1, padding=x.shape[1] // 8),
        F.conv_transpose1d(
            x.double()[:, None], WEIGHT.double(), stride=2, dilation=x.shape[1] // 6 + 1, output_padding=1
        ),
    ),
    "pads around": lambda x: (
        F.pad(x[None], (x.shape[1] // 2, -(x.shape[1] // 3)), mode="circular"),
        F.pad(x[None], (-(x.shape[0] // 3), x.shape[1] // 3), mode="circular"),
    ),
    "counts between": lambda x: torch.histc(x, 5, -x.shape[0] / 5, x.shape[0] / 4),
}


def assert_calls(function: Callable[..., Any], target: str) -> None:
    """Every call gives what PyTorch's exported program gives, and is refused where that refuses it."""
    example, *others = [torch.linspace(-1, 1, n * m).reshape(n, m) for n, m in SIZES]
    exported = torch.export.export(Function(function), (example,), dynamic_shapes=(({0: AUTO, 1: AUTO},),))
    expects = exported.module()
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target=target)
    for x in (example, *others):
        try:
            results = expects(x)
        except AssertionError:  # of a guard
            with pytest.raises(xdsl_exir.ExirError):
                run(x)
            continue
        leaves = torch.utils._pytree.tree_leaves
        for got, wanted in zip(leaves(run(x)), leaves(results), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)
            given, expected = np.asarray(got), np.asarray(wanted)
            assert (given.shape, given.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_equals_exported_program(name: str, target: str):
    assert_calls(CASES[name], target)


STEPS: dict[str, Callable[[torch.Tensor, int], Any]] = {
    "rows": lambda x, n: (x[::n] * 2, x[1::n]),
    "columns": lambda x, n: (x[:, :21:n].softmax(-1), x[:, ::n] @ x[:, ::n].t(), x[:, 1::n]),
    "written": lambda x, n: torch.slice_scatter(x, x[:, ::n] * 2, 1, 0, x.shape[1], n),
    "complex": lambda x, n: torch.view_as_real(torch.complex(x, x)[:, ::n] * 2),
    "places": lambda x, n: (x.narrow(1, n, 5) * 2, x[:, n] * 2, x.as_strided((3, n), (n, 1), 2) + 1),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_steps_and_places_that_are_sizes_of_another_input(name: str, target: str):
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return STEPS[name](x, y.shape[0])

    x = torch.linspace(-1, 1, 16 * 31).reshape(16, 31)
    exported = torch.export.export(
        Function(function),
        (x, torch.ones(5)),
        dynamic_shapes=(({}, {0: torch.export.Dim("n", min=2, max=7)}),),
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target=target)
    leaves = torch.utils._pytree.tree_leaves
    for n in (5, 2, 3, 7):
        for got, wanted in zip(
            leaves(run(x, torch.ones(n))), leaves(function(x, torch.ones(n))), strict=True
        ):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def export_of_two(function: Callable[..., Any]) -> Any:
    """Of [8, 31] and [n]."""
    return torch.export.export(
        Function(function),
        (torch.linspace(-1, 1, 8 * 31).reshape(8, 31), torch.ones(5)),
        dynamic_shapes=(({}, {0: torch.export.Dim("n", min=2, max=7)}),),
    )


@pytest.mark.parametrize("target", ["native", "interpreter"])
def test_a_convolution_whose_padding_is_a_size(target: str):
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return F.conv1d(x[None], torch.ones(1, 8, 2), padding=y.shape[0])

    run = xdsl_exir.compile(
        xdsl_exir.from_exported_program(export_of_two(function)), target, fallback="error"
    )
    x = torch.linspace(-1, 1, 8 * 31).reshape(8, 31)
    for n in (2, 5, 7):
        np.testing.assert_allclose(run(x, torch.ones(n)), function(x, torch.ones(n)), rtol=1e-5, atol=1e-6)


def test_a_copy_of_a_view_whose_size_divides_by_one_that_may_be_0():
    """Whether the copy is the view is asked of sizes of 1, for which this one has no value."""

    def function(x: torch.Tensor) -> Any:
        rows = x.shape[0] // 4
        columns = x.shape[1] // rows
        parts = x[:, : rows * columns].reshape(x.shape[0], rows, columns)
        copy = parts.transpose(1, 2).contiguous()
        copy.add_(1)
        return copy

    exported = torch.export.export(
        Function(function), (torch.ones(12, 10),), dynamic_shapes=(({0: AUTO, 1: AUTO},),)
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported))
    for sizes in ((12, 10), (8, 9)):
        x = torch.rand(sizes)
        np.testing.assert_array_equal(run(x), function(x))


def written_to_a_view(x: torch.Tensor) -> torch.Tensor:
    """PyTorch drops a dimension whose size the range of a symbol says to be 1: the first three, by steps of three."""
    y = x.clone()
    part = y[:100:3, 0:3:3, -4]
    y.permute(1, 0, 2)[-2:100:2] += y.flatten()[:1].clone()
    part.squeeze().sub_(2.5)
    return y


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
def test_sizes_that_a_range_decides(target: str) -> None:
    x = torch.randn(6, 3, 6)
    sizes = dict.fromkeys(range(3), AUTO)
    exported = torch.export.export(Function(written_to_a_view), (x,), dynamic_shapes=((sizes,),))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target)
    for shape in ((6, 3, 6), (10, 5, 4)):
        given = torch.randn(shape)
        np.testing.assert_array_equal(run.flat([given])[0], written_to_a_view(given).numpy())


def of_a_diagonal(x: torch.Tensor) -> torch.Tensor:
    """Below the main diagonal of a column is one element, of two rows or more."""
    return torch.vstack([x.diagonal(-1), x.diagonal(-1)]) - x[torch.tensor([0, 0]), torch.tensor([-1, 0])]


def of_the_second_piece(x: torch.Tensor) -> torch.Tensor:
    """A guard says that it is one of a row, as the first one is: the pieces are two."""
    rows = x[:, ::3]
    _, second = rows.chunk(3, 1)
    return second + rows


def of_the_only_window(x: torch.Tensor) -> torch.Tensor:
    """A mean of each three of a row, of which a guard says that they are one."""
    row = x[:1]
    mean = F.avg_pool1d(row.reshape(1, 1, -1), 3)
    return torch.copysign(row, mean)


@pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])
@pytest.mark.parametrize(
    ("function", "shapes", "others"),
    [
        (of_a_diagonal, [(6, 1), (2, 1), (9, 1)], [(1, 1), (0, 1)]),
        (of_the_second_piece, [(2, 6), (2, 4), (2, 5)], [(2, 9), (2, 3)]),
        (of_the_only_window, [(3, 5), (2, 4), (1, 3)], [(2, 6), (2, 2)]),
    ],
    ids=["range", "guard", "guard on both sides"],
)
def test_sizes_that_are_one_where_operands_are_broadcast(
    function: Any, shapes: list[tuple[int, int]], others: list[tuple[int, int]], target: str
) -> None:
    first, *_ = (torch.randn(shape) for shape in shapes)
    exported = torch.export.export(Function(function), (first,), dynamic_shapes=(({0: AUTO, 1: AUTO},),))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target)
    for shape in shapes:
        given = torch.randn(shape)
        np.testing.assert_array_equal(run(given), function(given).numpy())
    for shape in others:
        with pytest.raises(ExirError, match="input"):
            run(torch.randn(shape))
