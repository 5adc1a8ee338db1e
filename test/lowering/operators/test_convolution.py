"""Every convolution as native code against PyTorch: the calls of test/interpreter/operators, more transposed ones, dtypes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively  # noqa: E402
from interpreter.operators.test_convolution import CALLS, IMAGE, W2, B  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")

T2 = torch.randn(4, 3, 3, 2)


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in CALLS))
def test_operator(name: str) -> None:
    check_natively([(name, args, {}) for other, *args in CALLS if other == name], scale=4)


def test_transposed() -> None:
    options = [
        # stride, padding, dilation, output padding, groups
        ([1, 1], [0, 0], [1, 1], [0, 0], 1),
        ([2, 3], [1, 0], [2, 1], [1, 2], 2),
        ([3, 2], [3, 2], [1, 1], [2, 0], 1),  # more is cut away than the kernel reaches
        ([1, 2], [3, 4], [1, 1], [0, 1], 4),
    ]
    check_natively(
        [
            ("aten.convolution", [IMAGE, T2, None, stride, padding, dilation, True, extra, groups], {})
            for stride, padding, dilation, extra, groups in options
        ],
        scale=4,
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int64", "int32"])
def test_dtypes(dtype: str) -> None:
    """On whole numbers, whose products and sums every dtype holds."""
    image, straight, turned, bias = (x.round().to(getattr(torch, dtype)) for x in (IMAGE, W2, T2, B))
    check_natively(
        [
            ("aten.conv2d", [image, straight, bias, [1, 1], [1, 1]], {}),
            ("aten.conv2d", [image, straight[:4, :1], None, [1, 1], [1, 1], [1, 1], 4], {}),
            ("aten.conv_transpose2d.input", [image, turned, bias[:3]], {}),
        ][: 2 if dtype.startswith("int") else 3]  # PyTorch does not transpose those of integers
    )
