"""Rows that lie side by side natively: what PyTorch says, of any sizes and special values, without a copy of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from modules import Function

import xdsl_exir
from xdsl_exir.runtime.native import plan_program
from xdsl_exir.targets.cpu.kernels import Across, Copy

pytestmark = pytest.mark.native
F = torch.nn.functional


def program(call: Callable[..., Any], *args: torch.Tensor) -> xdsl_exir.Program:
    return xdsl_exir.from_exported_program(torch.export.export(Function(call), args))


def draw(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))).to(dtype)


def check(call: Callable[..., Any], *args: torch.Tensor, tolerance: float = 2e-6) -> None:
    run = xdsl_exir.compile(program(call, *args), "native")
    (got,) = run.flat(list(args))
    wanted = call(*args)
    np.testing.assert_allclose(np.asarray(got).astype("f8"), wanted.double().numpy(), tolerance, tolerance)


def channels_first(x: Any, weight: Any) -> Any:
    return F.layer_norm(x.permute(0, 2, 3, 1), weight.shape, weight).permute(0, 3, 1, 2)


def both_ways(x: Any) -> Any:
    return (x + x.t()).sum(-1)


def softmax_first(x: Any) -> Any:
    return x.softmax(0)


SOFTMAXES = [((2, 5, 7, 9), 1), ((3, 37, 3, 11), 1), ((40, 100), 0), ((4, 170, 24), 0), ((2, 600, 130), 1)]


@pytest.mark.parametrize(("shape", "dim"), SOFTMAXES)
def test_softmaxes(shape: tuple[int, ...], dim: int) -> None:
    x = draw(*shape)
    x[..., 1], x[..., 2], x[0, ..., 3] = -torch.inf, torch.nan, -torch.inf
    for call in (torch.softmax, torch.log_softmax):
        check(lambda x, call=call: call(x, dim), x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_softmax_of_halves(dtype: torch.dtype) -> None:
    check(lambda x: x.softmax(1), draw(3, 21, 50, dtype=dtype), tolerance=2e-2)


def test_norms() -> None:
    check(lambda x: F.batch_norm(x, None, None, training=True), draw(33, 100), tolerance=1e-5)
    check(channels_first, draw(2, 40, 6, 7), draw(40), tolerance=1e-5)


def test_products_and_sums() -> None:
    """What meets rows may be one row for all, or one number for each."""
    x = draw(65, 77)
    check(lambda x, y: x.t() @ y, x, draw(65), tolerance=1e-5)
    check(lambda x, y: (x.t() * y[:, None]).sum(-1), x, draw(77), tolerance=1e-5)
    check(lambda x: (x.t() - 1).exp().sum(-1), x, tolerance=1e-5)
    check(lambda x: x.permute(2, 0, 1).amax(-1), draw(3, 9, 40))


def test_float64_is_added_up_in_one_pass() -> None:
    """Of rows that lie one after the other or side by side; long ones go another way, what is made of sums is another dispatch."""
    x, y = draw(70, 91, dtype=torch.float64), draw(2, 2100, dtype=torch.float64)
    calls: list[tuple[Callable[..., Any], int]] = [
        (lambda x, y: x @ x[0], 1),
        (lambda x, y: x.t() @ x[:, 0], 1),
        (lambda x, y: (x * 2).mean(-1, keepdim=True) - 1, 2),
        (lambda x, y: torch.linalg.vector_norm(x.t() - 1, dim=-1), 1),
        (lambda x, y: x.var(-1), 1),
        (lambda x, y: x.exp().logsumexp(-1), 3),
        (lambda x, y: ((x * 2) - x.amax(-1, keepdim=True)).sum(-1), 2),
        (lambda x, y: (y * y).sum(-1), 1),
    ]
    for call, most in calls:
        check(call, x, y, tolerance=1e-14)
        formed = plan_program(program(call, x, y)).dispatches.kernels.values()
        assert Copy not in map(type, formed)
        assert len(formed) <= most


def test_what_rows_meet_is_made_before_them() -> None:
    """A vector that is made after a matrix keeps no product apart from that; what uses both afterwards waits for both."""

    def products(x: Any, y: Any) -> Any:
        wide, vector = x.float(), y.float()
        made = (wide.t() * vector).sum(-1)
        return made, vector * made, wide - made, (vector * made).sum() + wide.amax(-1)

    for dtype in (torch.bfloat16, torch.float16):
        x, y = draw(50, 50, dtype=dtype), draw(50, dtype=dtype)
        got = xdsl_exir.compile(program(products, x, y), "native").flat([x, y])
        for array, wanted in zip(got, products(x, y), strict=True):
            np.testing.assert_allclose(np.asarray(array), wanted.numpy(), 1e-5, 1e-5)
        formed = plan_program(program(lambda x, y: x.t() @ y, x, y)).dispatches.kernels.values()
        assert [type(kernel) for kernel in formed].count(Across) == 1
        assert Copy not in map(type, formed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_nothing_is_copied(dtype: torch.dtype) -> None:
    """Halves are cast in the kernel, too."""
    for call in (torch.softmax, torch.log_softmax):
        for dim in (0, 1):
            planned = plan_program(program(partial(call, dim=dim), draw(2, 40, 60, dtype=dtype)))
            assert [type(kernel) for kernel in planned.dispatches.kernels.values()] == [Across]


def test_rows_that_lie_otherwise_too_are_put_in_order() -> None:
    x = draw(40, 40)
    check(both_ways, x, tolerance=1e-5)
    kernels = plan_program(program(both_ways, x)).dispatches.kernels.values()
    assert Across not in map(type, kernels)
    assert Copy in map(type, kernels)


def test_a_program_says_the_kernel() -> None:
    """Dispatches that are written down are planned as they were."""
    x = draw(2, 40, 60)
    written = program(lambda x: x.softmax(1), x).to_edge().transform("form-dispatches")
    assert '"Across"' in str(written)
    (got,) = xdsl_exir.compile(written, "native").flat([x])
    np.testing.assert_allclose(got, x.softmax(1).numpy(), 2e-6, 2e-6)


def test_threads_and_neighbours_change_nothing() -> None:
    """Rows alone are, bit by bit, what they are among others that are shared out to threads."""
    x = draw(203, 3000)
    (whole,) = xdsl_exir.compile(program(softmax_first, x), "native").flat([x])
    for start, end in ((0, 30), (1000, 1100), (2990, 3000)):
        part = x[:, start:end].contiguous()
        (alone,) = xdsl_exir.compile(program(softmax_first, part), "native").flat([part])
        assert whole[:, start:end].tobytes() == alone.tobytes()


REDUCTIONS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "sum": (lambda x: x.sum(0), (40, 70)),
    "sums of the first two": (lambda x: x.sum((0, 1)), (7, 5, 70)),
    "sums of integers": (lambda x: (x * 9).int().sum(0), (40, 70)),
    "sums of float64": (lambda x: x.double().sum(1), (3, 40, 5, 9)),
    "sums of halves": (lambda x: x.bfloat16().sum(0).float(), (40, 70)),
    "sums but of one": (lambda x: x.sum((0, 2, 3)), (3, 12, 5, 9)),
    "mean": (lambda x: x.mean(1), (3, 40, 5, 9)),
    "largest": (lambda x: x.amax(0), (40, 70)),
    "largest of integers": (lambda x: (x * 9).int().amax(0), (40, 70)),
    "product": (lambda x: x.prod(0), (40, 70)),
    "softmax": (lambda x: x.softmax(1), (3, 40, 5, 9)),
    "softmax of the first": (lambda x: x.log_softmax(0), (40, 70)),
    "softmax of halves": (lambda x: x.bfloat16().softmax(1).float(), (3, 40, 5, 9)),
    "logsumexp": (lambda x: x.logsumexp(1), (3, 40, 5, 9)),
    "norm": (lambda x: F.batch_norm(x, None, None, training=True), (40, 70)),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_any_size(name: str) -> None:
    """None of its sizes is known; narrow and long ones, fewer than a vector, and many more."""
    call, shape = REDUCTIONS[name]
    sizes = dict.fromkeys(range(len(shape)), torch.export.Dim.AUTO)
    exported = torch.export.export(Function(call), (draw(*shape),), dynamic_shapes=(({**sizes},),))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native", fallback="error")
    assert not list(run.slow_paths)
    rest = shape[2:-1]
    for first, second, last in ((2, 3, 2), (9, 33, 17), (33, 5, 101), (3, 2100, 3), (2500, 2, 2)):
        x = draw(*((first, second, *rest, last) if len(shape) > 2 else (first, second)))
        (got,) = run.flat([x])
        wanted = call(x.double()).double() if x.dtype is torch.float32 and "half" not in name else call(x)
        tolerance = 2e-2 if "halves" in name else 2e-6 * max(1.0, float(wanted.abs().max()))
        np.testing.assert_allclose(np.asarray(got).astype("f8"), wanted.double().numpy(), 1e-5, tolerance)
