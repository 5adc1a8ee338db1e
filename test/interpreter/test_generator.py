"""Random numbers are PyTorch's: after the same seed, through exported programs, in the interpreter and beside native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xdsl_exir
from xdsl_exir.dialects.dtypes import Double
from xdsl_exir.interpreter.generator import Generator

torch = pytest.importorskip("torch")

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SHAPES = ((5,), (900,), (16,), (3, 7), (2, 33), (0,), ())
CPUINFO = Path("/proc/cpuinfo")
INTEL = CPUINFO.exists() and "GenuineIntel" in CPUINFO.read_text()
"""Where PyTorch draws Bernoulli and exponential numbers by MKL."""

Draw = Callable[[Any], Any]


def like(function: Callable[..., Any], **kwargs: Any) -> Draw:
    return lambda x: function(x.shape, dtype=x.dtype, **kwargs)


EXACT: dict[str, Draw] = {
    "rand": like(torch.rand),
    "rand_like": torch.rand_like,
    "randint": lambda x: torch.randint(1000, x.shape),
    "randint low": lambda x: torch.randint(-7, 9, x.shape, dtype=torch.int32),
    "randint wide": lambda x: torch.randint(1 << 28, x.shape),
    "randint widest": lambda x: torch.randint(-(1 << 40), 1 << 50, x.shape),
    "randint_like": lambda x: torch.randint_like(x, 3, 100),
    "randperm": lambda x: torch.randperm(37),
}
DRAWN: dict[str, Draw] = {
    "bernoulli": lambda x: torch.bernoulli(torch.full_like(x, 0.3)),
    "exponential": lambda x: torch.empty_like(x).exponential_(2.0),
    "geometric": lambda x: torch.empty_like(x).geometric_(0.3),
    "dropout": lambda x: torch.nn.functional.dropout(x + 1, 0.25),
}
NORMAL: dict[str, Draw] = {"randn": like(torch.randn), "randn_like": torch.randn_like}
LAID: dict[str, Draw] = {
    "turned": lambda x: torch.randn_like(x.transpose(0, -1)),
    "turned in place": lambda x: x.clone().transpose(0, -1).normal_(3.0, 0.5),
    "with gaps": lambda x: x.clone()[..., :5].normal_(),
}
"""Normal numbers that are not in row-major order, which are drawn one after another as they lie, however many they are."""


class Twice(torch.nn.Module):
    """A draw, and another one behind it, which begins where the first ends."""

    def __init__(self, draw: Draw):
        super().__init__()
        self.draw = draw

    def forward(self, x: Any) -> Any:
        return self.draw(x), self.draw(x), torch.randint(100, (3,))


def drawn(
    draw: Draw, shape: tuple[int, ...], dtype: Any, target: str = "interpreter"
) -> tuple[list[Any], list[Any]]:
    """What we draw and what PyTorch draws."""
    module, x = Twice(draw), torch.zeros(shape, dtype=dtype)
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(torch.export.export(module, (x,))), target)
    run.manual_seed(11)
    given = x.view(torch.int16).numpy() if dtype is torch.bfloat16 else x.numpy()
    got = run.flat([x if dtype is torch.bfloat16 else given])
    torch.manual_seed(11)
    return got, [value.double().numpy() for value in module(x)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_equal(name: str, dtype: Any) -> None:
    for shape in SHAPES:
        for got, wanted in zip(*drawn(EXACT[name], shape, dtype), strict=True):
            np.testing.assert_array_equal(np.asarray(got, np.float64), wanted)


@pytest.mark.skipif(INTEL, reason="PyTorch draws these by MKL on Intel's processors")
@pytest.mark.parametrize("dtype", FLOATS[:2], ids=str)
@pytest.mark.parametrize("name", DRAWN)
def test_bernoulli(name: str, dtype: Any) -> None:
    for shape in SHAPES:
        for got, wanted in zip(*drawn(DRAWN[name], shape, dtype), strict=True):
            np.testing.assert_allclose(np.asarray(got, np.float64), wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", NORMAL)
def test_normal(name: str, dtype: Any) -> None:
    check_normal(NORMAL[name], SHAPES, dtype)


@pytest.mark.parametrize("name", LAID)
def test_normal_as_they_lie(name: str) -> None:
    check_normal(LAID[name], [(3, 7), (2, 33)], torch.float32)


def check_normal(draw: Draw, shapes: Sequence[tuple[int, ...]], dtype: Any) -> None:
    """To some units in the last place; behind them, integers show that as many numbers were drawn."""
    eps = torch.finfo(dtype).eps
    for shape in shapes:
        (*got, integers), (*wanted, expected) = drawn(draw, shape, dtype)
        for value, numbers in zip(got, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(value, np.float64), numbers, rtol=8 * eps, atol=8 * eps)
        np.testing.assert_array_equal(integers, expected)


@pytest.mark.native
@pytest.mark.usefixtures("native_tools")
def test_beside_native_code() -> None:
    def draw(x: Any) -> Any:
        return (torch.rand_like(x) * 2).exp()

    for got, wanted in zip(*drawn(draw, (3, 7), torch.float32, "native"), strict=True):
        np.testing.assert_allclose(np.asarray(got, np.float64), wanted, rtol=1e-6)


def test_seeds() -> None:
    """A seed begins anew, whatever was kept of the last pair; without one a stream begins anywhere."""
    one, float64 = Generator(3), Double
    first = one.normal((3,), float64)
    one.seed(3)
    np.testing.assert_array_equal(first, one.normal((3,), float64))
    assert not np.array_equal(Generator().integers(0, 1 << 60, (4,)), Generator().integers(0, 1 << 60, (4,)))
