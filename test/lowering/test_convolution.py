"""Convolutions as native code against PyTorch: dimensions, strides, padding, dilation, groups, transposed, dtypes."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_native, program_of, run_native  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402
from xdsl_exir.lowering.toolchain import ToolchainError, find_tool  # noqa: E402from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

try:
    find_tool("mlir-opt")
except ToolchainError as error:
    pytest.skip(str(error), allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")

torch.manual_seed(0)
SIGNAL, IMAGE, VOLUME = torch.randn(2, 4, 9), torch.randn(2, 4, 9, 10), torch.randn(1, 2, 5, 6, 7)
W1, W2, W3 = torch.randn(6, 4, 3), torch.randn(6, 4, 3, 3), torch.randn(6, 2, 3, 3, 3)
T2 = torch.randn(4, 3, 3, 2)
B = torch.randn(6)


def transposed(
    stride: list[int], padding: list[int], dilation: list[int], extra: list[int], groups: int = 1
) -> Any:
    bias = B if groups == 2 else None
    return "aten.convolution", IMAGE, T2, bias, stride, padding, dilation, True, extra, groups


CALLS: list[tuple[Any, ...]] = [
    ("aten.convolution", IMAGE, W2, B, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("aten.convolution", IMAGE, W2, None, [2, 3], [1, 2], [2, 1], False, [0, 0], 1),
    ("aten.convolution", IMAGE, W2, None, [2], [1], [1], False, [0], 1),
    ("aten.convolution", IMAGE, W2[:, :2], B, [2, 1], [1, 2], [1, 2], False, [0, 0], 2),
    ("aten.convolution", IMAGE, W2[:4, :1], None, [1, 2], [1, 1], [2, 1], False, [0, 0], 4),  # depthwise
    ("aten.convolution", IMAGE, torch.randn(8, 1, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 4),
    ("aten.convolution", IMAGE, torch.randn(6, 4, 1, 1), B, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("aten.convolution", IMAGE[:0], W2, B, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    transposed([1, 1], [0, 0], [1, 1], [0, 0]),
    transposed([2, 3], [1, 0], [2, 1], [1, 2], groups=2),
    transposed([1, 1], [2, 1], [1, 1], [0, 0]),
    transposed([3, 2], [3, 2], [1, 1], [2, 0]),  # more is cut away than the kernel reaches
    ("aten.conv1d", SIGNAL, W1),
    ("aten.conv1d", SIGNAL[0], W1, B, [2], [1], [2]),
    ("aten.conv2d", IMAGE, W2, B),
    ("aten.conv3d", VOLUME, W3, B, [1, 2, 1], [1, 0, 1]),
    ("aten.conv1d.padding", SIGNAL[0], torch.randn(6, 4, 4), B, [1], "same"),
    ("aten.conv2d.padding", IMAGE[0], W2[..., :2, :], B, [1, 1], "same", [2, 3]),
    ("aten.conv_transpose1d", SIGNAL[0], torch.randn(4, 3, 3), B, [2], [1], [1], 2),
    ("aten.conv_transpose2d.input", IMAGE[0], torch.randn(4, 3, 3, 3), None, [2, 2], [1, 1], [1, 1]),
    ("aten.conv_transpose3d.input", VOLUME, torch.randn(2, 3, 3, 3, 3), None, [2, 1, 2]),
]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "convolution"} == {c[0] for c in CALLS}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: tuple[Any, ...]) -> None:
    check_native(*call, scale=4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", ["aten.conv2d", "aten.conv_transpose2d.input"])
def test_dtypes(name: str, dtype: str) -> None:
    weight, bias = (W2, B) if name == "aten.conv2d" else (T2, B[:3])
    check_native(name, *(operand.to(getattr(torch, dtype)) for operand in (IMAGE, weight, bias)), scale=4)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_integers(dtype: torch.dtype) -> None:
    image, weight = torch.randint(-3, 3, (1, 2, 4, 4)), torch.randint(-3, 3, (3, 2, 2, 2))
    check_native("aten.conv2d", image.to(dtype), weight.to(dtype), None, [1, 1], [1, 1])


def test_refuses_symbolic_sizes() -> None:
    module, tensors = program_of("aten.conv1d", SIGNAL, W1, symbols={9: "s0"})
    DecomposeAten().apply(Context(), module)
    with pytest.raises(UnsupportedError, match="symbolic sizes"):
        run_native(module, tensors)
