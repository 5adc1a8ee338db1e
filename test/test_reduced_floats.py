"""What PyTorch's kernels round of reduced floats, and what not: the same bits, in the interpreter and natively."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from differential import to_numpy, to_torch  # noqa: E402
from modules import Function  # noqa: E402

import xdsl_exir  # noqa: E402

Call = Callable[[Any, Any], Any]

CALLS: dict[str, Call] = {
    "mul": torch.mul,
    "mul.Scalar": torch.ops.aten.mul.Scalar,
    "div": torch.true_divide,
    "div.Scalar": torch.ops.aten.div.Scalar,
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "div.Scalar_mode": lambda x, y: torch.ops.aten.div.Scalar_mode(x, y, rounding_mode="floor"),
    "floor_divide": torch.floor_divide,
    "reversed": lambda x, y: torch.mul(y, x),
}
NUMBERS = [-0.8059, -3, 1001, 2049, 1e6, 1e60, inf, nan, 0.5]
TENSORS = [
    torch.tensor(-0.8059),
    torch.tensor(0.1, dtype=torch.float64),
    torch.tensor(1001),
    torch.tensor([[999]]),
    torch.tensor(7, dtype=torch.uint8),
    torch.tensor(True),
    torch.tensor([1001, 1003, 1005]),  # of several elements, each is rounded first
]


TARGETS = pytest.mark.parametrize("target", ["interpreter", pytest.param("native", marks=pytest.mark.native)])


@TARGETS
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_factors_and_divisors_of_one_element(name: str, dtype: Any, target: str) -> None:
    """They are taken in full precision."""
    x = (torch.randn(13, 3, generator=torch.Generator().manual_seed(0)) * 300).to(dtype)
    tensors = [] if "Scalar" in name else [TENSORS]
    numbers = [] if name == "reversed" else [()]
    for others in (*tensors, *numbers):
        model = Function(lambda x, *others: [CALLS[name](x, other) for other in others or NUMBERS])
        program = xdsl_exir.from_exported_program(torch.export.export(model, (x, *others)))
        ours = xdsl_exir.compile(program, target=target).flat([to_numpy(each) for each in (x, *others)])
        made = [to_torch(each) for each in ours]
        torch.testing.assert_close(made, model(x, *others), rtol=0, atol=0, equal_nan=True)


def batch_norm(x: Any, weight: Any, running_mean: Any, running_var: Any) -> Any:
    running_mean, running_var = running_mean.clone(), running_var.clone()
    y, mean, invstd = torch.ops.aten.native_batch_norm(
        x, weight, None, running_mean, running_var, True, 0.5, 1e-5
    )
    return y, mean, invstd, running_mean, running_var


@TARGETS
@pytest.mark.parametrize("shape", [(2, 1), (3, 64, 5), (4, 100, 3, 3)], ids=str)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_statistics_of_a_batch(dtype: Any, shape: tuple[int, ...], target: str) -> None:
    """The mean and the sum of squares are rounded to bfloat16, and not to float16."""
    generator = torch.Generator().manual_seed(0)
    x = (torch.randn(shape, generator=generator) * 3 + 1).to(dtype)
    mean, variance = torch.rand(2, shape[1], generator=generator) * 4
    if shape == (2, 1):
        x, mean, variance = torch.tensor([[-8.5], [-1.765625]]), torch.zeros(1), torch.tensor([3.296875])
    inputs = [each.to(dtype) for each in (x, torch.ones(shape[1]), mean, variance)]
    program = xdsl_exir.from_exported_program(torch.export.export(Function(batch_norm), tuple(inputs)))
    made = xdsl_exir.compile(program, target=target).flat([to_numpy(each) for each in inputs])
    torch.testing.assert_close(
        [to_torch(each) for each in made], [*batch_norm(*inputs)], rtol=0, atol=0, equal_nan=True
    )
