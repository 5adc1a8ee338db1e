"""Every reduction, scan and norm as native code against PyTorch: the calls of test/interpreter/operators, but for complex numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check_native, check_natively  # noqa: E402
from interpreter.operators.test_reduction import CASES  # noqa: E402

import xdsl_exir  # noqa: E402

# PyTorch warns where a variance has no degrees of freedom.
pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom")


def is_real(value: Any) -> bool:
    """Whether an argument holds no complex tensor."""
    if isinstance(value, list):
        return all(map(is_real, value))
    return not isinstance(value, torch.Tensor) or not value.is_complex()


@pytest.mark.parametrize("name", CASES)
def test_operator(name: str) -> None:
    check_natively([(name, *call) for call in CASES[name] if all(map(is_real, call[0]))], scale=2)


def test_short_floats_are_added_up_in_float32() -> None:
    check_native("aten.mean.dim", torch.rand(3, 3000).bfloat16(), [1])
    check_native("aten.sum", torch.full((70, 90), 0.1).half())


def test_long_sums() -> None:
    check_native("aten.sum.dim_IntList", torch.rand(3, 10000), [1], scale=10)
    check_native("aten.cumsum", torch.full((5000,), 0.1), 0)


def test_sums_of_exponentials_with_infinities() -> None:
    inf = float("inf")
    check_native("aten.logcumsumexp", torch.tensor([-inf, -inf, 1.0, 200.0, inf, inf, 3.0]), 0)
    check_native("aten.logcumsumexp", torch.tensor([-inf, float("nan"), 1.0]), 0)


def test_float64_sums_of_unknown_length() -> None:
    """Their error is that of one rounding, however many there are; of infinities they are infinite or NaN."""

    class Sums(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.sum(0), x.square().mean(0)

    example = torch.ones(8, 2, dtype=torch.float64)
    exported = torch.export.export(Sums(), (example,), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native")
    x = torch.rand(50_000, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    sums, means = run.flat([x.numpy()])
    for column, found, mean in zip(x.T.tolist(), sums, means, strict=True):
        exact, squares = math.fsum(column), math.fsum(v * v for v in column) / len(column)
        assert abs(found - exact) <= 2 * math.ulp(exact)
        assert abs(mean - squares) <= 2 * math.ulp(squares)
    infinite = torch.tensor([[math.inf, math.inf], [1.0, -math.inf]], dtype=torch.float64)
    np.testing.assert_array_equal(run.flat([infinite.numpy()])[0], [math.inf, math.nan])


def test_reductions_of_unknown_length_that_are_no_sums() -> None:
    """Of float64 only sums keep what they round off; a norm by the largest begins with 0, too. Products of halves go over one dimension after the
    other, and over none."""

    class Reductions(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            norms = [torch.linalg.vector_norm(x, ord) for ord in (math.inf, -math.inf, 0, 1, 3)]
            return *norms, x.amax((0, 1)), x.prod(), x.prod(0), (x * 0.1).half().prod(), x.bfloat16().prod()

    example = torch.ones(8, 3, dtype=torch.float64)
    auto = torch.export.Dim.AUTO
    exported = torch.export.export(Reductions(), (example,), dynamic_shapes=({0: auto, 1: auto},))
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), target="native")
    for size in ((8, 3), (2, 5)):
        x = torch.randn(size, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        for got, wanted in zip(run(x), Reductions()(x), strict=True):
            np.testing.assert_allclose(np.asarray(got).astype("f8"), wanted.double(), rtol=1e-2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_products_of_nothing(dtype: str) -> None:
    check_native("aten.prod", torch.ones(1, 0, dtype=getattr(torch, dtype)))


def test_a_reduction_of_one_number_is_computed_once() -> None:
    """A loop that reads what it writes is not repeated for each element that the result meets."""

    class Reductions(torch.nn.Module):
        def forward(self, x: Any, n: Any) -> Any:
            return [
                x - r for r in (n.prod(), n.sum(), n.count_nonzero(), torch.linalg.vector_norm(n.double()))
            ]

    inputs = torch.ones(3, 5, dtype=torch.complex128), torch.tensor(-8)
    program = xdsl_exir.from_exported_program(torch.export.export(Reductions(), inputs))
    run = xdsl_exir.compile(program, target="native", fallback="error")
    for got, wanted in zip(run.flat([x.numpy() for x in inputs]), Reductions()(*inputs), strict=True):
        np.testing.assert_array_equal(got, wanted.numpy())
