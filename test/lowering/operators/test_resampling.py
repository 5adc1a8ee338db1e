"""Resampling natively: a third of the calls of the interpreter's tests, and grids beyond the input."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check_natively, program_of  # noqa: E402
from interpreter.operators.test_resampling import CALLS, IMAGE, VOLUME  # noqa: E402
from xdsl.dialects.linalg.ops import GenericOp  # noqa: E402

from xdsl_exir.lowering.edge_to_linalg import EdgeToLinalg  # noqa: E402
from xdsl_exir.program import context  # noqa: E402
from xdsl_exir.transforms.aten_to_edge import AtenToEdge  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402


def is_real(call: tuple[Any, ...]) -> bool:
    return not call[1].is_complex()


def test_the_calls_of_the_interpreter():
    calls: list[Any] = [(name, args, {}) for name, *args in filter(is_real, CALLS)]
    check_natively(calls[::3], scale=4)


def test_grids_beyond_the_input():
    """As far as several reflections; a place that is no number is outside."""
    grids = {4: torch.randn(2, 5, 4, 2) * 4, 5: torch.randn(1, 3, 2, 4, 3) * 4}
    calls: list[Any] = [
        (f"aten.grid_sampler_{x.ndim - 2}d", (x.to(dtype), grids[x.ndim].to(dtype), 0, padding, align), {})
        for x in (IMAGE, VOLUME)
        for padding in (0, 1, 2)
        for align in (False, True)
        for dtype in (torch.float32, torch.float64)
    ]
    outside = torch.tensor([[[[nan, 0.0], [0.5, 3.0]]]] * 2)
    calls.append(("aten.grid_sampler_2d", (IMAGE, outside, 1, 0, False), {}))
    endless = torch.tensor([[[[[nan, 0.0, 0.5], [0.5, 3.0, inf], [-inf, inf, 0.0]]]]])
    calls += [("aten.grid_sampler_3d", (VOLUME * inf, endless, mode, 0, False), {}) for mode in (0, 1)]
    calls += [("aten.grid_sampler_2d", (IMAGE * inf, outside, mode, 0, False), {}) for mode in (0, 1, 2)]
    check_natively(calls, scale=8)


def test_whether_a_place_is_outside_is_in_tables():
    """What reads the input, for every channel, only multiplies and adds."""
    module, _ = program_of("aten.grid_sampler_2d", IMAGE, torch.randn(2, 5, 4, 2), 0, 0, False)
    for step in (DecomposeAten(), AtenToEdge(), EdgeToLinalg()):
        step.apply(context(), module)
    *_, last = [op for op in module.walk() if isinstance(op, GenericOp)]
    names = {op.name for op in last.body.walk()}
    assert "tensor.extract" in names
    assert not names & {"arith.select", "arith.cmpi", "arith.cmpf"}


def test_halves():
    images = [IMAGE.half(), IMAGE.bfloat16()]
    calls: list[Any] = [("aten.upsample_nearest2d", (x, [7, 11]), {}) for x in images]
    calls += [
        ("aten.upsample_bilinear2d", (x, [7, 11], align), {}) for x in images[:1] for align in (True, False)
    ]
    check_natively(calls, scale=4)


def test_bytes_in_fixed_point():
    images = torch.randint(
        0, 256, (2, 3, 5, 7), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    names = ("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
    sizes = [[3, 9], [11, 4], [1, 7]]
    calls: list[Any] = [
        (f"aten.{name}", (images, size, align), {})
        for name in names
        for size in sizes
        for align in (True, False)
    ]
    calls += [(f"aten.{name}.vec", (images, None, False, [0.6, 1.7]), {}) for name in names]
    calls += [("aten._upsample_lanczos2d_aa", (images, [3, 9], False), {})]
    check_natively(calls)
