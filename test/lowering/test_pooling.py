"""Pooling as native code against PyTorch: windows, padding, ceil_mode, NaNs, ties, adaptive sizes."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_native, program_of, run_native  # noqa: E402

from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.errors import UnsupportedError  # noqa: E402
from xdsl_exir.lowering.toolchain import ToolchainError, find_tool  # noqa: E402

try:
    find_tool("mlir-opt")
except ToolchainError as error:
    pytest.skip(str(error), allow_module_level=True)

torch.manual_seed(0)
SIGNAL, IMAGE, VOLUME = torch.randn(2, 4, 9), torch.randn(2, 4, 9, 10), torch.randn(1, 2, 5, 6, 7)
WITH_NANS = IMAGE.clone()
WITH_NANS[0, 0, 3, 3:5] = WITH_NANS[0, 1] = nan
TIES = torch.randint(-5, 5, (1, 2, 9, 10))
LOW = torch.full((1, 1, 4, 4), -inf)

CALLS: list[tuple[Any, ...]] = [
    ("aten.max_pool1d", SIGNAL[0], 3, 2, 1, 1, True),
    ("aten.max_pool2d", IMAGE[0], [3, 2], 2, 1),
    ("aten.max_pool2d", IMAGE[:0], 2),
    ("aten.max_pool3d", VOLUME[0], [2, 3, 1], [1, 2, 1]),
    ("aten.max_pool3d_with_indices", VOLUME, [2, 3, 2], [2, 1, 1], [1, 1, 0], 1, True),
    ("aten.avg_pool1d", SIGNAL[0], 3, 2, 1, True, False),
    ("aten.avg_pool2d", TIES, 2),
    ("aten.adaptive_avg_pool1d", SIGNAL[0], [4]),
    ("aten.adaptive_avg_pool2d", IMAGE * inf, [2, 2]),
    ("aten.adaptive_avg_pool2d", IMAGE, [1, 1]),
    ("aten.adaptive_avg_pool3d", VOLUME, [2, 3, 4]),
    ("aten._adaptive_avg_pool3d", VOLUME, [5, 2, 1]),
    ("aten.adaptive_max_pool2d", IMAGE[0], [3, 5]),
    ("aten.adaptive_max_pool2d", IMAGE[0], [5, 10]),
    ("aten.adaptive_max_pool2d", WITH_NANS, [4, 3]),
    ("aten.adaptive_max_pool2d", IMAGE, [0, 4]),
]
MAX_POOLED = [
    IMAGE,
    WITH_NANS,
    TIES,
    TIES.to(torch.uint8),
    LOW,
    IMAGE.half(),
    IMAGE.bfloat16(),
    IMAGE.double(),
]
WINDOWS: list[tuple[Any, ...]] = [
    (3, 2, 1),
    ([2, 3], [1, 2], [1, 1], [1, 1], True),
    ([2, 2], [3, 2], [0, 1], [2, 3], True),
]
CALLS += [("aten.max_pool2d_with_indices", x, *WINDOWS[0]) for x in MAX_POOLED]
CALLS += [("aten.max_pool2d_with_indices", x, *window) for x in MAX_POOLED[:3] for window in WINDOWS[1:]]
AVERAGES: list[tuple[Any, ...]] = [(), (True,), (False, False), (True, False), (False, True, -3)]
CALLS += [("aten.avg_pool2d", IMAGE, [3, 2], [2, 3], [1, 1], *options) for options in AVERAGES]
CALLS += [("aten.avg_pool3d", VOLUME, [3, 2, 2], [2, 3, 1], [1, 1, 0], *AVERAGES[3])]
CALLS += [("aten.avg_pool2d", x, 3, 2, 1) for x in (IMAGE.half(), IMAGE.bfloat16(), IMAGE.double() * inf)]
SIZES = [[3, 4], [9, 10], [3, 5], [12, 13], [0, 2]]
CALLS += [("aten._adaptive_avg_pool2d", IMAGE, size) for size in SIZES]
CALLS += [("aten._adaptive_avg_pool2d", IMAGE.bfloat16(), [4, 4])]


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "pooling"} == {c[0] for c in CALLS}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: tuple[Any, ...]) -> None:
    check_native(*call)


def test_refuses_symbolic_sizes() -> None:
    module, tensors = program_of("aten._adaptive_avg_pool2d", IMAGE, [3, 5], symbols={9: "s0"})
    with pytest.raises(UnsupportedError, match="symbolic sizes"):
        run_native(module, tensors)
