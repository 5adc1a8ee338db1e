"""Convolutions against PyTorch: dimensions, strides, padding, dilation, groups, transposed, unbatched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from differential import check, program_of  # noqa: E402
from xdsl.context import Context  # noqa: E402

from xdsl_exir.dialects import dtypes as dt  # noqa: E402
from xdsl_exir.dialects.expr import Expr  # noqa: E402
from xdsl_exir.dialects.meta import SHAPES, MetaError  # noqa: E402
from xdsl_exir.dialects.spec import find, specs  # noqa: E402
from xdsl_exir.dialects.tensors import TensorMeta  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")

torch.manual_seed(0)
SIGNAL, IMAGE, VOLUME = torch.randn(2, 4, 9), torch.randn(2, 4, 9, 10), torch.randn(1, 2, 5, 6, 7)
W1, W2, W3 = torch.randn(6, 4, 3), torch.randn(6, 4, 3, 3), torch.randn(6, 2, 3, 3, 3)
B = torch.randn(6)

CALLS: list[tuple[Any, ...]] = [
    ("aten.convolution", IMAGE, W2, B, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("aten.convolution", IMAGE, W2, None, [2, 3], [1, 2], [2, 1], False, [0, 0], 1),
    ("aten.convolution", IMAGE, W2, None, [2], [1], [1], False, [0], 1),
    ("aten.convolution", IMAGE, W2[:, :2], B, [2, 1], [1, 2], [1, 2], False, [0, 0], 2),
    ("aten.convolution", IMAGE, W2[:4, :1], None, [1, 2], [1, 1], [2, 1], False, [0, 0], 4),  # depthwise
    ("aten.convolution", IMAGE, torch.randn(8, 1, 3, 3), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 4),
    ("aten.convolution", IMAGE, torch.randn(6, 4, 1, 1), B, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("aten.convolution", IMAGE, torch.randn(4, 3, 3, 2), B, [2, 3], [1, 0], [2, 1], True, [1, 2], 2),
    ("aten.convolution", IMAGE, torch.randn(4, 3, 3, 2), None, [1, 1], [2, 1], [1, 1], True, [0, 0], 1),
    ("aten.convolution", IMAGE[:0], W2, B, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("aten.convolution", IMAGE[:, :0], W2[:, :0], B, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("aten.conv1d", SIGNAL, W1),
    ("aten.conv_tbc", torch.randn(5, 2, 3), torch.randn(2, 3, 4), torch.randn(4), 1),
    ("aten.conv1d", SIGNAL[0], W1, B, [2], [1], [2]),
    ("aten.conv2d", IMAGE, W2, B),
    ("aten.conv2d", IMAGE[0], W2),
    ("aten.conv3d", VOLUME, W3, B, [1, 2, 1], [1, 0, 1]),
    ("aten.conv3d", VOLUME[0], W3),
    ("aten.conv1d.padding", SIGNAL, W1, B, [2], "valid"),
    ("aten.conv1d.padding", SIGNAL[0], torch.randn(6, 4, 4), B, [1], "same"),
    ("aten.conv2d.padding", IMAGE, W2, B, [1, 1], "same"),
    ("aten.conv2d.padding", IMAGE, W2, B, [2, 1], "valid"),
    ("aten.conv3d.padding", torch.randn(2, 3, 4, 5, 6), torch.randn(6, 3, 2, 3, 2), None, [1, 1, 1], "same"),
    ("aten.conv3d.padding", torch.randn(3, 4, 5, 6), torch.randn(6, 3, 2, 3, 2), None, [1, 2, 1], "valid"),
    ("aten.conv2d.padding", IMAGE, W2[..., :2], B, [1, 1], "same"),
    ("aten.conv2d.padding", IMAGE[0], W2[..., :2, :], B, [1, 1], "same", [2, 3]),
    ("aten.conv_transpose1d", SIGNAL, torch.randn(4, 3, 3)),
    ("aten.conv_transpose1d", SIGNAL[0], torch.randn(4, 3, 3), B, [2], [1], [1], 2),
    ("aten.conv_transpose2d.input", IMAGE[0], torch.randn(4, 3, 3, 3), None, [2, 2], [1, 1], [1, 1]),
    ("aten.conv_transpose3d.input", VOLUME, torch.randn(2, 3, 3, 3, 3), None, [2, 1, 2]),
]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "convolution"} == {c[0] for c in CALLS}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: tuple[Any, ...]) -> None:
    check(*call, scale=2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(dtype: str) -> None:
    image, weight, bias = (tensor.to(getattr(torch, dtype)) for tensor in (IMAGE, W2, B))
    check("aten.conv2d", image, weight, bias, scale=4)


def test_integers() -> None:
    check("aten.conv2d", torch.randint(-3, 3, (1, 2, 4, 4)), torch.randint(-3, 3, (3, 2, 2, 2)))


REFUSED = [
    ("expected input of 4 channels", IMAGE[:, :3], W2, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("does not divide into 4 groups", IMAGE, W2[:, :1], None, [1, 1], [0, 0], [1, 1], False, [0, 0], 4),
    ("expected input of 4 dimensions", IMAGE[0], W2, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("at least three dimensions", IMAGE[0, 0], W2[0, 0], None, [1], [0], [1], False, [0], 1),
    ("bias of 6 elements", IMAGE, W2, B[:4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("greater than the padded input", IMAGE[..., :2], W2, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    (r"stride \[0, 1\] must be", IMAGE, W2, None, [0, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("negative padding", IMAGE, W2, None, [1, 1], [-1, 0], [1, 1], False, [0, 0], 1),
    ("groups", IMAGE, W2, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 0),
    ("one number or 2", IMAGE, W2, None, [1, 1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ("output_padding 1 must be smaller", IMAGE, W2[:4], None, [1, 1], [0, 0], [1, 1], True, [1, 0], 1),
    ("too small", IMAGE[..., :1], W2[:4], None, [1, 1], [2, 2], [1, 1], True, [0, 0], 1),
]


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: call[0])
def test_refused(call: tuple[Any, ...]) -> None:
    message, *arguments = call
    with pytest.raises(RuntimeError):
        torch.ops.aten.convolution(*arguments)
    with pytest.raises(MetaError, match=message):
        program_of("aten.convolution", *arguments)


def test_refused_composites() -> None:
    with pytest.raises(MetaError, match="4-dimensional weight"):
        program_of("aten.conv2d", IMAGE, W1)
    with pytest.raises(MetaError, match="takes no stride"):
        program_of("aten.conv2d.padding", IMAGE, W2, None, [2, 1], "same")
    with pytest.raises(MetaError, match="neither 'valid' nor 'same'"):
        program_of("aten.conv2d.padding", IMAGE, W2, None, [1, 1], "full")


def test_ends_in_convolution() -> None:
    module, _ = program_of("aten.conv2d.padding", IMAGE[0], W2[..., :2], None, [1, 1], "same")
    DecomposeAten().apply(Context(), module)
    names = [op.name.removeprefix("aten.") for op in module.walk() if op.name.startswith("aten.")]
    assert names == ["unsqueeze", "constant_pad_nd", "convolution", "squeeze.dims"]


def test_symbolic_sizes() -> None:
    n, s = Expr.symbol("s0"), Expr.symbol("s1")
    image = TensorMeta((n, 3, s, 224), dt.Float)
    weight = TensorMeta((8, 3, 3, 3), dt.Float)
    entry = SHAPES.find(find("aten.conv2d"))
    assert entry is not None
    arguments = {"input": image, "weight": weight, "bias": None, "groups": 1}
    shape = entry.call({**arguments, "stride": [2, 2], "padding": [1, 1], "dilation": [1, 1]})
    assert shape == (n, 8, (s - 1) // 2 + 1, 112)


def test_read_only_operands() -> None:
    """A kernel neither writes to its arguments nor needs to."""
    from xdsl_exir.interpreter.operators.convolution import convolution

    image, weight = IMAGE.numpy().copy(), W2.numpy().copy()
    image.flags.writeable = weight.flags.writeable = False
    result = convolution(image, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    assert np.isfinite(result).all()
