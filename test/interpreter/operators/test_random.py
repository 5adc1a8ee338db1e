"""Random operators: types as PyTorch gives them, and the distributions they are drawn from."""

from __future__ import annotations

from math import exp, inf
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check, program_of, run  # noqa: E402

from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import ExirError  # noqa: E402

SIZE = 20_000
X = torch.full((SIZE,), 0.25)
F64, BF16, HALF, LONG, C64 = torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.complex64

Case = tuple[Any, ...]
"""Arguments of a call, then keyword arguments, then mean, variance, least and largest value."""

TABLE: dict[str, list[Case]] = {
    "rand": [
        (([SIZE],), {}, 1 / 2, 1 / 12, 0, 1),
        (([SIZE],), {"dtype": F64}, 1 / 2, 1 / 12, 0, 1),
        (([SIZE],), {"dtype": BF16}, 1 / 2, 1 / 12, 0, 0.997),
        (([SIZE],), {"dtype": HALF}, 1 / 2, 1 / 12, 0, 0.9996),
        (([SIZE],), {"dtype": C64}, (1 + 1j) / 2, 1 / 6, 0, 2),
    ],
    "rand_like": [((X,), {}, 1 / 2, 1 / 12, 0, 1), ((X,), {"dtype": F64}, 1 / 2, 1 / 12, 0, 1)],
    "randn": [
        (([SIZE],), {}, 0, 1, -9, 9),
        (([SIZE],), {"dtype": BF16}, 0, 1, -9, 9),
        (([SIZE],), {"dtype": F64}, 0, 1, -9, 9),
        (([SIZE],), {"dtype": C64}, 0, 1, 0, 9),
    ],
    "randn_like": [((X,), {}, 0, 1, -9, 9), ((X.to(HALF),), {}, 0, 1, -9, 9)],
    "randint": [((5, [SIZE]), {}, 2, 2, 0, 4), ((5, [SIZE]), {"dtype": torch.float32}, 2, 2, 0, 4)],
    "randint.low": [((-2, 3, [SIZE]), {}, 0, 2, -2, 2), ((1, 4, [SIZE]), {"dtype": torch.int8}, 2, 2 / 3, 1, 3)],
    "randint_like": [((X, 5), {}, 2, 2, 0, 4), ((X, 5), {"dtype": LONG}, 2, 2, 0, 4)],
    "randint_like.low_dtype": [((X, 1, 6), {}, 3, 2, 1, 5)],
    "randperm": [((SIZE,), {}, (SIZE - 1) / 2, (SIZE**2 - 1) / 12, 0, SIZE - 1)],
    "bernoulli": [((X,), {}, 1 / 4, 3 / 16, 0, 1), ((X.to(BF16),), {}, 1 / 4, 3 / 16, 0, 1)],
    "bernoulli.Tensor": [((X, X), {}, 1 / 4, 3 / 16, 0, 1)],
    "normal_functional": [((X, 1.0, 2.0), {}, 1, 4, -inf, inf)],
    "normal.Tensor_float": [((X, 2.0), {}, 1 / 4, 4, -inf, inf)],
    "normal.float_Tensor": [((1.0, X), {}, 1, 1 / 16, -inf, inf)],
    "normal.Tensor_Tensor": [((X, X), {}, 1 / 4, 1 / 16, -inf, inf)],
    "normal.float_float": [((1.0, 2.0, [SIZE]), {}, 1, 4, -inf, inf), ((1.0, 2.0, [SIZE]), {"dtype": BF16}, 1, 4, -inf, inf)],
    "uniform": [((X, -1.0, 3.0), {}, 1, 16 / 12, -1, 3), ((X.to(BF16),), {}, 1 / 2, 1 / 12, 0, 1),
                ((X.to(C64), -1.0, 3.0), {}, 1 + 1j, 32 / 12, 0, 0)],
    "log_normal": [((X, 0.0, 0.5), {}, exp(1 / 8), (exp(1 / 4) - 1) * exp(1 / 4), 0, inf), ((X.to(HALF), 0.0, 0.5), {}, exp(1 / 8), (exp(1 / 4) - 1) * exp(1 / 4), 0, inf)],
    "geometric": [((X, 0.25), {}, 4, 12, 1, inf), ((X.long(), 0.25), {}, 4, 12, 1, inf)],
    "random": [((X,), {}, 1 << 23, (1 << 48) / 12, 0, 1 << 24), ((X.to(torch.uint8),), {}, 127.5, (256**2 - 1) / 12, 0, 255),
               ((X.bool(),), {}, 1 / 2, 1 / 4, 0, 1), ((X.to(BF16),), {}, 128, (257**2 - 1) / 12, 0, 256)],
    "random.from": [((X, -3, 2), {}, -1, 2, -3, 1), ((X.to(torch.int8), 126, None), {}, 126.5, 1 / 4, 126, 127)],
    "random.to": [((X.long(), 5), {}, 2, 2, 0, 4)],
    "exponential": [((X, 2.0), {}, 1 / 2, 1 / 4, 0, inf), ((X.to(BF16),), {}, 1, 1, 0, inf)],
    "multinomial": [((torch.tensor([1.0, 0, 3]), SIZE, True), {}, 3 / 2, 3 / 4, 0, 2),
                    ((torch.ones(SIZE), SIZE), {}, (SIZE - 1) / 2, (SIZE**2 - 1) / 12, 0, SIZE - 1)],
    "bernoulli.p": [((X, 0.75), {}, 3 / 4, 3 / 16, 0, 1), ((X, 1.0), {}, 1, 0, 1, 1), ((X.long(), 0.5), {}, 1 / 2, 1 / 4, 0, 1)],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_draws_from_the_distribution(name: str):
    for args, kwargs, mean, variance, least, largest in TABLE[name]:
        check(f"aten.{name}", *args, **kwargs, values=False)
        module, tensors = program_of(f"aten.{name}", *args, **kwargs)
        drawn = np.asarray(run(module, tensors)[0])
        drawn = drawn.astype(np.complex128 if drawn.dtype.kind == "c" else np.float64)
        # Within five standard deviations of the mean; the variance within one part in ten.
        assert abs(drawn.mean() - mean) <= 5 * (variance / SIZE) ** 0.5
        assert abs(drawn.var() - variance) <= 0.1 * variance
        if drawn.dtype.kind != "c":
            assert least <= drawn.min() <= drawn.max() <= largest


def test_randperm_is_a_permutation():
    module, tensors = program_of("aten.randperm", 100)
    assert sorted(run(module, tensors)[0].tolist()) == list(range(100))


def test_a_seed_repeats_the_numbers():
    module, tensors = program_of("aten.randn", [10])
    assert np.array_equal(run(module, tensors)[0], run(module, tensors)[0])


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("rand", ([-1],)),
        ("randint", (0, [2])),
        ("randint.low", (3, 3, [2])),
        ("randperm", (-1,)),
        ("bernoulli.p", (X, 1.5)),
        ("randint_like", (X, 0)),
        ("exponential", (X, 0.0)),
        ("geometric", (X, 1.0)),
        ("cauchy", (X, 0.0, 0.0)),
        ("log_normal", (X, 0.0, 0.0)),
        ("uniform", (X, 2.0, 1.0)),
        ("random.from", (X, 2, 2)),
        ("normal_functional", (X, 0.0, -1.0)),
        ("multinomial", (X, SIZE + 1)),
        ("multinomial", (X, 0, True)),
    ],
)
def test_refuses(name: str, args: Any):
    with pytest.raises(ExirError):
        program_of(f"aten.{name}", *args)


def test_cauchy_has_the_quartiles_that_it_should():
    """It has no mean: a quarter each lies below -sigma, up to the median, up to sigma, and beyond."""
    check("aten.cauchy", X.to(BF16), 1.0, 2.0, values=False)
    module, tensors = program_of("aten.cauchy", X, 1.0, 2.0)
    drawn = np.asarray(run(module, tensors)[0])
    assert np.quantile(drawn, [0.25, 0.5, 0.75]) == pytest.approx([-1, 1, 3], abs=0.1)


DROPOUTS = (
    "dropout",
    "feature_dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "native_dropout",
    "native_dropout_backward",
)
"""Those that stand in `test_pointwise` and `test_normalization`: they compute, besides what they draw."""


def test_every_operator_occurs():
    family = {name for name, spec in specs().items() if spec.family == "random"}
    assert family == {f"aten.{name}" for name in [*TABLE, *DROPOUTS, "cauchy"]}
