"""Random numbers are those that PyTorch's CPU generator draws: each operator in its dtypes and sizes, after one seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import xdsl_exir  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.uint8, torch.float32)
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (7,), (15,), (16,), (17,), (3, 11), (0, 3), (1000,))
SEED = 12345678901

Draw = Callable[[Any], Any]
"""A draw for a tensor that gives its shape and dtype."""

EXACT: dict[str, tuple[Any, Draw]] = {
    "rand_like": (FLOATS, torch.rand_like),
    "rand": ((torch.complex64,), lambda x: torch.rand(x.shape, dtype=x.dtype)),
    "uniform": (FLOATS, lambda x: torch.empty_like(x).uniform_(-0.7, 0.31)),
    "bernoulli.p": ((*FLOATS, torch.int64), lambda x: torch.empty_like(x).bernoulli_(0.3)),
    "bernoulli": (FLOATS, lambda x: torch.bernoulli(torch.full_like(x, 0.3))),
    "randint": (INTEGERS, lambda x: torch.randint(3, 100, x.shape, dtype=x.dtype)),
    "randint.long": ((torch.int64,), lambda x: torch.randint(-(1 << 40), 1 << 50, x.shape)),
    "randint.word": ((torch.int64,), lambda x: torch.randint(5, 1 << 28, x.shape, dtype=x.dtype)),
    "random": ((*FLOATS, torch.int64, torch.int32, torch.uint8, torch.bool), lambda x: torch.empty_like(x).random_()),
    "dropout": ((torch.float32, torch.float64), lambda x: torch.native_dropout(x, 0.4, True)[1]),
    "rrelu": ((torch.float32, torch.float64, torch.bfloat16), lambda x: torch.rrelu(x - 0.5, 0.1, 0.4, True)),
    "rrelu_with_noise": (
        (torch.float32,),
        lambda x: torch.ops.aten.rrelu_with_noise(x - 0.5, torch.ones_like(x), 0.1, 0.4, True),
    ),
    "alpha_dropout": ((torch.float64,), lambda x: torch.alpha_dropout(x, 0.4, True)),
    "feature_alpha_dropout": (
        (torch.float64,),
        lambda x: torch.feature_alpha_dropout(x.expand(3, 2, *x.shape), 0.4, True),
    ),
    "geometric": ((torch.float32, torch.int64), lambda x: torch.empty_like(x).geometric_(0.3)),
}  # fmt: skip
CLOSE: dict[str, tuple[Any, Draw]] = {
    "randn_like": ((*FLOATS, torch.complex64), torch.randn_like),
    "normal": (FLOATS, lambda x: torch.empty_like(x).normal_(0.5, 2.0)),
    "exponential": (FLOATS, lambda x: torch.empty_like(x).exponential_(1.5)),
    "cauchy": ((torch.float32, torch.float64), lambda x: torch.empty_like(x).cauchy_(1.0, 2.0)),
    "log_normal": ((torch.float32, torch.float64), lambda x: torch.empty_like(x).log_normal_(0.5, 0.25)),
}


class Net(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(self, *inputs)


def export(function: Callable[..., Any], *inputs: Any) -> Any:
    return xdsl_exir.from_exported_program(torch.export.export(Net(function).eval(), inputs))


def cases(table: dict[str, tuple[Any, Draw]]) -> list[Any]:
    return [
        pytest.param(dtype, draw, id=f"{name} {dtype}")
        for name, (dtypes, draw) in table.items()
        for dtype in dtypes
    ]


def compare(draw: Draw, inputs: list[Any], target: str, equal: Callable[[Any, Any], None]) -> None:
    """All inputs' draws in one program, and one more after each, so that it is seen where the stream is."""

    def function(self: Any, *given: Any) -> list[Any]:
        return [result for x in given for result in (draw(x), torch.rand(1))]

    run = xdsl_exir.compile(export(function, *inputs), target)
    run.manual_seed(SEED)
    torch.manual_seed(SEED)
    wanted = [value for x in inputs for value in (draw(x), torch.rand(1))]
    for got, expected in zip(run.flat(inputs), wanted, strict=True):
        equal(
            torch.as_tensor(
                np.asarray(got).astype(np.float64) if expected.is_floating_point() else np.asarray(got)
            ),
            expected,
        )


UNITS = 16 if torch.backends.cpu.get_cpu_capability() == "DEFAULT" else 4
"""Without vectors PyTorch has angles in float64, and rounds products before it adds them; ours are what it has with AVX2."""


def same(got: Any, wanted: Any) -> None:
    if UNITS > 4 and wanted.is_floating_point():
        near(got, wanted)
    else:
        assert torch.equal(got.to(wanted.dtype), wanted)


def near(got: Any, wanted: Any) -> None:
    """Within some units in the last place of the larger numbers of the sample: PyTorch's float32 sine is absolutely so exact."""
    eps = torch.finfo(wanted.dtype).eps
    assert torch.allclose(got.to(wanted.dtype), wanted, rtol=UNITS * eps, atol=UNITS * eps)


TARGETS = ["interpreter", pytest.param("native", marks=pytest.mark.native)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("dtype", "draw"), cases(EXACT))
def test_equal_to_the_bit(dtype: Any, draw: Draw, target: str):
    compare(draw, [torch.ones(shape, dtype=dtype) for shape in SHAPES], target, same)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("dtype", "draw"), cases(CLOSE))
def test_within_units(dtype: Any, draw: Draw, target: str):
    compare(draw, [torch.ones(shape, dtype=dtype) for shape in SHAPES], target, near)


@pytest.mark.parametrize("count", [0, 1, 2, 100, 5000])
def test_permutations(count: int):
    compare(lambda x: torch.randperm(count), [torch.ones(1)], "interpreter", same)


@pytest.mark.parametrize("dtype", FLOATS[:2])
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("count", [1, 4])
def test_multinomial(dtype: Any, replacement: bool, count: int):
    weights = [torch.arange(1, 31, dtype=dtype), torch.arange(1, 61, dtype=dtype).reshape(6, 10)]
    compare(lambda x: torch.multinomial(x, count, replacement), weights, "interpreter", same)


IN_MEMORY_ORDER: dict[str, Draw] = {
    "rand_like": torch.rand_like,
    "rand_like.channels_last": lambda x: torch.rand_like(x, memory_format=torch.channels_last),
    "randint_like": lambda x: torch.randint_like(x, 1000),
    "uniform_": lambda x: torch.empty_like(x).uniform_(-0.7, 0.31),
    "uniform_ with gaps": lambda x: torch.empty_like(x)[:, ::2].uniform_(-0.7, 0.31),
    "dropout": lambda x: torch.dropout(x, 0.4, True),
    "native_dropout": lambda x: torch.mul(*torch.native_dropout(x, 0.4, True)),
    "alpha_dropout": lambda x: torch.alpha_dropout(x, 0.4, True),
    "no dropout": lambda x: torch.dropout(x, 0.4, False),
    "bernoulli": lambda x: torch.bernoulli(x * 0 + 0.5),
}


@pytest.mark.parametrize(
    ("draw", "check"),
    [
        *(pytest.param(draw, same, id=name) for name, draw in IN_MEMORY_ORDER.items()),
        pytest.param(CLOSE["exponential"][1], near, id="exponential_"),
    ],
)
def test_draws_go_through_memory(draw: Draw, check: Callable[[Any, Any], None]):
    x = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5) + 1
    for given in (x, x.permute(0, 2, 3, 1), x.to(memory_format=torch.channels_last), x.mT):
        compare(draw, [given], "interpreter", check)
    compare(lambda x: draw((x + 1).transpose(1, 3)), [x], "interpreter", check)


def test_loading_state_goes_on_with_the_stream():
    run = xdsl_exir.compile(export(lambda self, x: torch.rand_like(x), torch.ones(3)), "interpreter")
    run.manual_seed(-1)
    first = run.flat([np.ones(3, np.float32)])[0]
    run.load_state({}, strict=False)
    torch.manual_seed(-1)
    assert np.array_equal(first, torch.rand(3).numpy())
    assert np.array_equal(run.flat([np.ones(3, np.float32)])[0], torch.rand(3).numpy())


@pytest.mark.parametrize("seed", [1.5, "0", 1 << 64])
def test_what_is_no_seed(seed: Any):
    run = xdsl_exir.compile(export(lambda self, x: torch.rand_like(x), torch.ones(3)), "interpreter")
    with pytest.raises(ExirError, match="a seed is"):
        run.manual_seed(seed)
