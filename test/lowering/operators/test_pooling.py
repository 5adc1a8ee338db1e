"""Every pooling as native code against PyTorch: the calls of test/interpreter/operators, and more dtypes."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check_natively  # noqa: E402
from interpreter.operators.test_pooling import CALLS, IMAGE, TIES  # noqa: E402
from modules import Function  # noqa: E402

import xdsl_exir  # noqa: E402


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in CALLS))
def test_operator(name: str) -> None:
    check_natively([(name, args, {}) for other, *args in CALLS if other == name])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(dtype: str) -> None:
    image = IMAGE.to(getattr(torch, dtype))
    check_natively(
        [
            ("aten.max_pool2d_with_indices", [image, 3, 2, 1], {}),
            ("aten._adaptive_avg_pool2d", [image, [4, 3]], {}),
            ("aten._adaptive_avg_pool2d", [image, [3, 5]], {}),
            ("aten.adaptive_max_pool2d", [image, [4, 3]], {}),
        ]
    )


def test_averages_of_integers_are_rounded_towards_zero() -> None:
    check_natively(
        [("aten.avg_pool2d", [TIES, 2], {}), ("aten.avg_pool2d", [TIES, 3, 2, 1, True, False], {})]
    )


@pytest.mark.parametrize("pool", ["avg_pool2d", "max_pool2d"])
def test_windows_that_are_much_larger_than_an_image_of_any_size(pool: str) -> None:
    """An image that is padded to a window of 50,000 x 50,000 has no room in memory."""
    call = getattr(torch.nn.functional, pool)
    auto = torch.export.Dim.AUTO
    exported = torch.export.export(
        Function(lambda x: call(x, 50_000, ceil_mode=True)),
        (torch.rand(1, 3, 18, 21),),
        dynamic_shapes=(({2: auto, 3: auto},),),
    )
    run = xdsl_exir.compile(xdsl_exir.from_exported_program(exported), "native")
    for sizes in ((18, 21), (9, 70)):
        x = torch.rand(1, 3, *sizes)
        np.testing.assert_allclose(run(x), call(x, 50_000, ceil_mode=True), rtol=1e-5)
