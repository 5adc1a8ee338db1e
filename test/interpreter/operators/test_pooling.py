"""Pooling against PyTorch: windows, padding, ceil_mode, NaNs, ties, adaptive sizes."""

from __future__ import annotations

from math import inf, nan
from typing import Any

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

torch.manual_seed(0)
SIGNAL, IMAGE, VOLUME = torch.randn(2, 4, 9), torch.randn(2, 4, 9, 10), torch.randn(1, 2, 5, 6, 7)
WITH_NANS = IMAGE.clone()
WITH_NANS[0, 0, 3, 3:5] = WITH_NANS[0, 1] = nan
TIES = torch.randint(-5, 5, (1, 2, 9, 10))
LOW = torch.full((1, 1, 4, 4), -inf)

LONG_ROWS = torch.randn(2, 3, 250)
LONG_ROWS[0, 2, [20, 90, 200]] = torch.tensor([nan, inf, nan])
LONG_ROWS[1, 2] = -inf
"""Of long windows, which are reduced in parts; some numbers are none."""

CALLS: list[tuple[Any, ...]] = [
    ("aten.max_pool1d", SIGNAL, 2),
    ("aten.max_pool1d", SIGNAL[0], 3, 2, 1, 1, True),
    ("aten.max_pool2d", IMAGE, 2),
    ("aten.max_pool2d", IMAGE[0], [3, 2], 2, 1),
    ("aten.max_pool2d", IMAGE[:0], 2),
    ("aten.max_pool3d", VOLUME, 2),
    ("aten.max_pool3d", VOLUME[0], [2, 3, 1], [1, 2, 1]),
    ("aten.max_pool3d_with_indices", VOLUME, [2, 3, 2], [2, 1, 1], [1, 1, 0], 1, True),
    ("aten.fractional_max_pool2d", IMAGE, [2, 3], [4, 5], torch.rand(2, 4, 2)),
    ("aten.fractional_max_pool2d", IMAGE[0].half(), [2, 2], [1, 7], torch.rand(1, 4, 2).half()),
    ("aten.fractional_max_pool2d", IMAGE.bfloat16(), [2, 2], [4, 7], torch.rand(2, 4, 2).bfloat16()),
    ("aten.fractional_max_pool2d", WITH_NANS, [3, 3], [4, 5], torch.rand(2, 4, 2)),
    ("aten.fractional_max_pool3d", VOLUME, [2, 1, 2], [2, 5, 3], torch.rand(1, 2, 3)),
    ("aten.fractional_max_pool3d", VOLUME[0].double(), [2, 2, 2], [2, 3, 4], torch.rand(1, 2, 3).double()),
    ("aten.avg_pool1d", SIGNAL, 2),
    ("aten.avg_pool1d", SIGNAL[0], 3, 2, 1, True, False),
    ("aten.adaptive_avg_pool1d", SIGNAL, [1]),
    ("aten.adaptive_avg_pool1d", SIGNAL[0], [4]),
    ("aten.adaptive_avg_pool2d", IMAGE * inf, [2, 2]),
    ("aten.adaptive_max_pool2d", IMAGE, [3, 4]),
    ("aten.adaptive_max_pool2d", IMAGE[0], [5, 10]),
    ("aten.adaptive_max_pool2d", WITH_NANS, [4, 3]),
    ("aten.adaptive_max_pool2d", IMAGE, [0, 4]),
    ("aten.adaptive_max_pool2d", IMAGE[:, :, :7], [7, 3]),
    ("aten.adaptive_max_pool1d", LONG_ROWS, [3]),
    ("aten.adaptive_max_pool1d", LONG_ROWS.round(), [5]),
    ("aten.adaptive_avg_pool1d", LONG_ROWS, [3]),
    ("aten.adaptive_avg_pool1d", LONG_ROWS[:, :2], [7]),
    ("aten.adaptive_max_pool1d", SIGNAL, [4]),
    ("aten.adaptive_max_pool1d", SIGNAL[0], [9]),
    ("aten.adaptive_max_pool3d", VOLUME, [2, 3, 4]),
    ("aten.adaptive_max_pool3d", VOLUME[0], [5, 1, 7]),
    ("aten.max_pool1d_with_indices", SIGNAL, [3], [2], [1]),
    ("aten.max_pool1d_with_indices", SIGNAL[0], [2], [], [0], [2], True),
    ("aten.max_unpool2d", *torch.ops.aten.max_pool2d_with_indices(IMAGE, [3, 2]), [9, 10]),
    ("aten.max_unpool2d", *torch.ops.aten.max_pool2d_with_indices(IMAGE[0].half(), [3, 2]), [10, 12]),
    (
        "aten.max_unpool3d",
        *torch.ops.aten.max_pool3d_with_indices(VOLUME, [2, 2, 2]),
        [5, 6, 7],
        [2, 2, 2],
        [0, 0, 0],
    ),
    ("aten.avg_pool2d", IMAGE.bfloat16(), 3, 2, 1),
    ("aten.avg_pool2d", IMAGE.half(), 3, 2, 1),
    ("aten.avg_pool2d", IMAGE.double() * inf, 3, 2, 1),
]
MAX_POOLED = [IMAGE, IMAGE[0], WITH_NANS, TIES, TIES.to(torch.uint8), LOW, IMAGE.half(), IMAGE.bfloat16()]
WINDOWS: list[tuple[Any, ...]] = [
    (3, 2, 1),
    ([2, 3], [1, 2], [1, 1], [1, 1], True),
    ([2, 2], [3, 2], [0, 1], [2, 3], True),
]
CALLS += [("aten.max_pool2d_with_indices", x, *window) for x in MAX_POOLED for window in WINDOWS]
AVERAGES: list[tuple[Any, ...]] = [
    (),
    (True,),
    (False, False),
    (True, False),
    (False, True, -3),
    (True, True, 2),
]
CALLS += [("aten.avg_pool2d", IMAGE, [3, 2], [2, 3], [1, 1], *options) for options in AVERAGES]
# Windows far longer than the input, of which nothing but the input is held.
CALLS += [
    ("aten.avg_pool2d", IMAGE, [10**4, 30], [10**4, 7], [0, 12], True, *options)
    for options in ((), (False,), (True, 7))
]
CALLS += [("aten.max_pool2d_with_indices", IMAGE, [1000, 30], [3000, 7], [0, 14], 1, True)]
CALLS += [("aten.avg_pool3d", VOLUME, [3, 2, 2], [2, 3, 1], [1, 1, 0], *options) for options in AVERAGES]
SIZES = [[1, 1], [3, 4], [9, 10], [1, 3], [12, 13], [0, 2]]
CALLS += [
    (name, IMAGE, size)
    for name in ("aten.adaptive_avg_pool2d", "aten._adaptive_avg_pool2d")
    for size in SIZES
]
CALLS += [
    (name, VOLUME, size)
    for name in ("aten.adaptive_avg_pool3d", "aten._adaptive_avg_pool3d")
    for size in ([1, 1, 1], [2, 3, 4])
]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "pooling"} == {c[0] for c in CALLS}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: tuple[Any, ...]) -> None:
    check(*call)


REFUSED: list[tuple[Any, ...]] = [
    ("expected 3 or 4 dimensions", "aten.max_pool2d", IMAGE[0, 0], 2),
    ("only the batch dimension may be empty", "aten.max_pool2d", IMAGE[:, :0], 2),
    ("more than half of kernel size", "aten.max_pool2d", IMAGE, 2, 2, 2),
    (r"kernel_size \[0, 0\] must be greater", "aten.max_pool2d", IMAGE, 0),
    (r"stride \[-1, -1\] must be greater", "aten.max_pool2d", IMAGE, 2, -1),
    (r"dilation \[0, 0\] must be greater", "aten.max_pool2d", IMAGE, 2, 2, 0, 0),
    ("too small", "aten.avg_pool2d", IMAGE, 11),
    ("must be one number or 2", "aten.avg_pool2d", IMAGE, [2, 2, 2]),
    ("8 windows of 4", "aten.fractional_max_pool2d", IMAGE, [4, 4], [3, 8], torch.rand(2, 4, 2)),
    ("divisor_override", "aten.avg_pool2d", IMAGE, 2, 2, 0, False, True, 0),
    ("must not be negative", "aten._adaptive_avg_pool2d", IMAGE, [2, -1]),
    ("expected 4 or 5 dimensions", "aten._adaptive_avg_pool3d", IMAGE[0], [2, 2, 2]),
    ("must be one number or 2", "aten.adaptive_max_pool2d", IMAGE, [2, 2, 2]),
    ("input and indices of shapes", "aten.max_unpool2d", IMAGE, TIES[:, :1], [18, 20]),
]


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: call[0])
def test_refused(call: tuple[Any, ...]) -> None:
    message, *arguments = call
    with pytest.raises(MetaError, match=message):
        program_of(*arguments)


def core_names(*call: Any) -> list[str]:
    module, _ = program_of(*call)
    DecomposeAten().apply(Context(), module)
    return [op.name.removeprefix("aten.") for op in module.walk() if op.name.startswith("aten.")]


def test_decompositions_are_those_of_run_decompositions() -> None:
    assert core_names("aten.adaptive_avg_pool2d", IMAGE, [1, 1]) == ["mean.dim"]
    assert core_names("aten.adaptive_avg_pool2d", IMAGE, [9, 10]) == ["_adaptive_avg_pool2d"]
    assert core_names("aten.max_pool1d", SIGNAL, 2) == [
        "unsqueeze",
        "max_pool2d_with_indices",
        "squeeze.dims",
    ]
    assert core_names("aten.avg_pool1d", SIGNAL, 2) == ["unsqueeze", "avg_pool2d", "squeeze.dims"]


def test_symbolic_sizes() -> None:
    n, s = Expr.symbol("s0"), Expr.symbol("s1")
    image = TensorMeta((n, 3, s, 10), dt.Float)

    def shape_of(ceil_mode: bool) -> Any:
        entry = SHAPES.find(find("aten.max_pool2d"))
        assert entry is not None
        options = {"kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1], "dilation": [1, 1]}
        return entry.call({"self": image, **options, "ceil_mode": ceil_mode})

    assert shape_of(False) == (n, 3, (s - 1) // 2 + 1, 5)
    batch, channels, height, width = shape_of(True)
    assert (batch, channels, width) == (n, 3, 6)
    sizes = [
        torch.nn.functional.max_pool2d(torch.zeros(1, k, 9), 3, 2, 1, ceil_mode=True).shape[1]
        for k in range(3, 9)
    ]
    assert [height.evaluate({"s1": k}) for k in range(3, 9)] == sizes
