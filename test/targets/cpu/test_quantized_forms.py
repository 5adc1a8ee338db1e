"""Programs that are quantized: weights of integers are read as such by kernels, and what is rounded to a grid is in the kernel that makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("torch.ao.quantization.fx._decomposed")  # registers the operators

import xdsl_exir  # noqa: E402
from xdsl_exir.runtime.native import plan_program  # noqa: E402
from xdsl_exir.targets.cpu.kernels import Conv2d, Matmul  # noqa: E402

pytestmark = pytest.mark.native

nn, F, Q = torch.nn, torch.nn.functional, torch.ops.quantized_decomposed
K, N = 96, 320
GRID = (-128, 127, torch.int8)


class Quantized(nn.Module):
    """A call with weights [N, K] and filters [N, 8, 3, 3] of 8 bits, their scales, and zero points."""

    def __init__(self, call: Callable[..., Any], zero_point: int = 0):
        super().__init__()
        self.call = call
        generator = torch.Generator().manual_seed(0)
        for name, shape in {"w": (N, K), "filters": (N, 8, 3, 3)}.items():
            self.register_buffer(name, torch.randint(-127, 128, shape, dtype=torch.int8, generator=generator))
        self.register_buffer("s", torch.rand(N, generator=generator) / 50 + 0.01)
        self.register_buffer("of_groups", torch.rand(N, K // 8, 1, generator=generator) / 50 + 0.01)
        self.register_buffer("along_k", torch.rand(K, generator=generator))
        self.register_buffer("z", torch.full((N,), zero_point))
        self.register_buffer("b", torch.randn(N, generator=generator))

    def forward(self, x: Any) -> Any:
        return self.call(self, x)


def per_channel(m: Any, weight: Any, zero_points: Any = None) -> Any:
    return Q.dequantize_per_channel(weight, m.s, zero_points, 0, *GRID)


def on_grid(x: Any, scale: float = 0.05, zero_point: int = 3) -> Any:
    return Q.dequantize_per_tensor(
        Q.quantize_per_tensor(x, scale, zero_point, *GRID), scale, zero_point, *GRID
    )


def on_own_grid(x: Any) -> Any:
    """As dynamic quantization does it."""
    own = Q.choose_qparams.tensor(x, -128, 127, 1e-6, torch.int8)
    return Q.dequantize_per_tensor.tensor(Q.quantize_per_tensor.tensor(x, *own, *GRID), *own, *GRID)


PRODUCTS: dict[str, Callable[..., Any]] = {
    "widened": lambda m, x: F.linear(x, m.w.to(x.dtype)) * m.s + m.b,
    "scaled": lambda m, x: F.linear(x, m.w.float() * m.s[:, None], m.b),
    "scaled by a number": lambda m, x: x @ (0.02 * m.w.float()).T,
    "per channel": lambda m, x: F.linear(x, per_channel(m, m.w), m.b),
    "per channel, with zero points": lambda m, x: F.linear(x, per_channel(m, m.w, m.z), m.b).relu(),
    "per tensor": lambda m, x: F.linear(x, Q.dequantize_per_tensor(m.w, 0.02, 0, *GRID)),
    "in groups": lambda m, x: F.linear(x, (m.w.view(N, -1, 8).float() * m.of_groups).view(N, K), m.b).relu(),
    "in groups, as torchao has them": lambda m, x: F.linear(
        x, ((m.w.reshape(N, -1, 8).float() - m.z.view(N, 1, 1).float()) * m.of_groups).reshape(N, K).float()
    ),
    "on a grid": lambda m, x: F.linear(on_grid(x), per_channel(m, m.w), m.b),
    "on its own grid": lambda m, x: F.linear(on_own_grid(x), per_channel(m, m.w), m.b),
}
OTHERS: dict[str, Callable[..., Any]] = {
    "scaled along the reduction": lambda m, x: F.linear(x, m.w.float() * m.along_k),
    "of unsigned integers": lambda m, x: F.linear(x, (m.w + 128).to(torch.uint8).float()),
    "in groups of columns": lambda m, x: (
        x[:, :40] @ (m.w.view(40, -1, K).float() * m.s[:8, None]).view(40, -1)
    ),
    "in groups, turned twice": lambda m, x: x @ (m.w.T.reshape(K, -1, 4).float() * m.s[:80, None]).view(K, N),
    "of a view of what is widened": lambda m, x: x @ m.w.float().view(K, N),
    "of integers on the left": lambda m, x: m.w.float() @ x.T,
    "of groups that are turned": lambda m, x: (
        x @ (m.w.view(-1, 8, N).float() * m.s.view(1, N)[:, None]).view(N, K).T
    ),
    "of one row of integers, and scales of many": lambda m, x: F.linear(x, m.w[:1].float() * m.s[:, None]),
    "of a weight that is computed": lambda m, x: F.linear(x, (x[0, 0] > 0) * m.w.float()),
}


def check(model: Any, x: Any) -> list[Any]:
    """Sees that native code agrees with eager, also from the stage of plans; gives the kernels of the program."""
    program = xdsl_exir.from_exported_program(torch.export.export(model, (x,)))
    with torch.no_grad():
        wanted = model(x)
    half = x.dtype is not torch.float32
    for run in (
        xdsl_exir.compile(program, "native"),
        xdsl_exir.compile(program.to("planned"), "interpreter"),
    ):
        got = torch.as_tensor(run(x))
        assert got.dtype is wanted.dtype
        torch.testing.assert_close(got, wanted, rtol=2e-2 if half else 1e-4, atol=2e-2 if half else 1e-3)
    return list(plan_program(program).dispatches.scheduled)


@pytest.mark.parametrize("rows", [1, 2, 37])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_by_integers(name: str, rows: int) -> None:
    torch.manual_seed(rows)
    kernels = check(Quantized(PRODUCTS[name]), torch.randn(rows, K))
    assert [kernel.rhs_dtype for kernel in kernels if isinstance(kernel, Matmul)] == ["i8"]


@pytest.mark.parametrize("rows", [1, 16])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_of_halves(dtype: Any, rows: int) -> None:
    """What the machine multiplies in pairs are bfloat16, which hold the integers."""
    x = torch.randn(rows, K).to(dtype)
    (kernel,) = (each for each in check(Quantized(PRODUCTS["widened"]), x) if isinstance(each, Matmul))
    assert kernel.rhs_dtype == ("bf16" if kernel.lhs_dtype else "i8")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", OTHERS)
def test_other_products(name: str, dtype: Any) -> None:
    """Also of numbers that were bfloat16, which are multiplied in pairs where the machine does that."""
    torch.manual_seed(0)
    check(Quantized(lambda m, x: OTHERS[name](m, x.float())), torch.randn(5, K).to(dtype))


def test_zero_points_that_are_not_zero() -> None:
    kernels = check(Quantized(PRODUCTS["per channel, with zero points"], 5), torch.randn(5, K))
    assert not any(kernel.rhs_dtype for kernel in kernels if isinstance(kernel, Matmul))


@pytest.mark.parametrize("groups", [1, 10])
@pytest.mark.parametrize("size", [1, 3])
def test_convolutions_by_integers(size: int, groups: int) -> None:
    torch.manual_seed(0)

    def call(m: Any, x: Any) -> Any:
        weight = per_channel(m, m.filters[..., :size, :size], m.z)
        return F.conv2d(on_grid(x), weight, m.b, groups=groups).relu()

    kernels = check(Quantized(call), torch.randn(2, 8 * groups, 14, 15))
    assert all(kernel.weight_dtype in ("i8", "f32") for kernel in kernels if isinstance(kernel, Conv2d))
    assert not xdsl_exir.compile(
        xdsl_exir.from_exported_program(
            torch.export.export(Quantized(call), (torch.randn(2, 8 * groups, 14, 15),))
        )
    ).slow_paths


def test_numbers_on_a_grid_are_those_of_pytorch() -> None:
    """Bit for bit, ties and what is beyond its ends included."""
    x = torch.cat([torch.arange(-3000, 3000) / 16, torch.tensor([1e30, -1e30, torch.inf, -torch.inf, -0.0])])
    for scale, zero_point in ((0.125, 0), (0.3, -100), (0.07, 127)):
        for dtype in (torch.float32, torch.bfloat16):

            def call(m: Any, x: Any, scale: float = scale, zero_point: int = zero_point) -> Any:
                return on_grid(x, scale, zero_point), on_own_grid(x.float()[: x.shape[0] - 5])

            model, given = Quantized(call), x.to(dtype)
            run = xdsl_exir.compile(
                xdsl_exir.from_exported_program(torch.export.export(model, (given,))), "native"
            )
            assert not run.slow_paths or all("amax" in str(path) for path in run.slow_paths)
            for got, wanted in zip(run(given), model(given), strict=True):
                assert torch.equal(torch.as_tensor(got), wanted)
                assert torch.equal(torch.as_tensor(got).signbit(), wanted.signbit())
