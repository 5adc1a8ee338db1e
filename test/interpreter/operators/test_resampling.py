"""Resampling against PyTorch: sizes up and down, scale factors, grids, patches."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from differential import check, program_of  # noqa: E402
from xdsl.context import Context  # noqa: E402
from xdsl.dialects.builtin import TensorType, f32  # noqa: E402

from xdsl_exir.dialects.meta import MetaError  # noqa: E402
from xdsl_exir.dialects.spec import specs  # noqa: E402
from xdsl_exir.transforms.decompose_aten import DecomposeAten  # noqa: E402

torch.manual_seed(0)
SIGNAL, IMAGE, VOLUME = torch.randn(2, 3, 7), torch.randn(2, 3, 5, 6), torch.randn(1, 2, 4, 5, 3)
INPUTS = {1: SIGNAL, 2: IMAGE, 3: VOLUME}
NEAREST = [f"{name}{n}d" for name in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)]
LINEAR = ["upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"]

CALLS: list[tuple[Any, ...]] = []
for _name in (*NEAREST, *LINEAR):
    _rank = int(_name[-2])
    _x, _corners = INPUTS[_rank], ((False,), (True,)) if _name in LINEAR else ((),)
    for _align in _corners:
        for _size in ([9, 4, 1][:_rank], [2, 12, 7][-_rank:], list(_x.shape[2:])):
            CALLS.append((f"aten.{_name}", _x, _size, *_align))
            CALLS.append((f"aten.{_name}.vec", _x, _size, *_align, None))
        CALLS.append((f"aten.{_name}", _x, [10, 9, 8][:_rank], *_align, *[1.7, 2.0, 1.6][:_rank]))
        for _factors in ([2.0, 3.0, 1.0], [0.6, 1.5, 2.3]):
            CALLS.append((f"aten.{_name}.vec", _x, None, *_align, _factors[:_rank]))
        CALLS.append((f"aten.{_name}", _x.double(), [3, 8, 5][:_rank], *_align))
        if _name not in ("upsample_trilinear3d", "upsample_bicubic2d"):  # PyTorch rounds in between
            CALLS.append((f"aten.{_name}", _x.half(), [3, 8, 5][:_rank], *_align))
        CALLS.append((f"aten.{_name}", _x[:0], [3, 8, 5][:_rank], *_align))
    if _name in LINEAR:  # a dimension that keeps its size has weights of 0, too
        _special = _x.clone()
        _special.view(-1)[1], _special.view(-1)[-3] = torch.inf, torch.nan
        for _align in _corners:
            for _size in (list(_x.shape[2:]), [*_x.shape[2:-1], 11]):
                CALLS.append((f"aten.{_name}", _special, _size, *_align))
    if _name in NEAREST:
        CALLS.append((f"aten.{_name}", _x.to(torch.uint8), [3, 8, 5][:_rank]))

GRIDS = {4: torch.randn(2, 4, 3, 2), 5: torch.randn(1, 3, 2, 4, 3)}
CALLS += [
    (f"aten.grid_sampler_{x.ndim - 2}d", x, GRIDS[x.ndim], mode, padding, align)
    for x in (IMAGE, VOLUME)
    for mode in ((0, 1, 2) if x.ndim == 4 else (0, 1))
    for padding in (0, 1, 2)
    for align in (False, True)
]
CALLS += [
    ("aten._upsample_bilinear2d_aa", x, size, align)
    for x in (IMAGE, IMAGE.double())
    for size in ([4, 5], [12, 3], [20, 21])
    for align in (False, True)
]
CALLS += [("aten._upsample_bilinear2d_aa.vec", IMAGE, None, False, [0.6, 1.7])]
CALLS += [("aten._upsample_bilinear2d_aa.vec", IMAGE, [4, 9], True, None)]
for _kind in ("bicubic", "lanczos"):
    CALLS += [(f"aten._upsample_{_kind}2d_aa", IMAGE, _size, False) for _size in ([2, 3], [13, 5], [1, 1])]
    CALLS += [(f"aten._upsample_{_kind}2d_aa.vec", IMAGE, None, False, [0.6, 1.7])]
CALLS += [
    (
        "aten.affine_grid_generator",
        torch.randn(2, len(size), len(size) + 1, dtype=dtype),
        [2, 3, *size],
        align,
    )
    for dtype in (torch.float32, torch.float64)
    for size in ([4, 5], [1, 3], [2, 3, 4])
    for align in (False, True)
]
CALLS += [
    ("aten.grid_sampler", IMAGE, GRIDS[4], 0, 0, False),
    ("aten.grid_sampler", VOLUME, GRIDS[5], 0, 1, True),
    ("aten.grid_sampler_2d", IMAGE.double(), GRIDS[4].double(), 2, 2, False),
    ("aten.grid_sampler_2d", IMAGE[..., :1, :], GRIDS[4], 0, 2, True),
    ("aten.grid_sampler_2d", IMAGE[:0], GRIDS[4][:0], 0, 2, True),
]
PATCHES = [
    ([2, 3], [1, 1], [0, 0], [1, 1]),
    ([2, 2], [2, 1], [1, 2], [2, 3]),
    ([3, 2], [1, 2], [0, 1], [1, 2]),
]
CALLS += [("aten.im2col", x, *options) for x in (IMAGE, IMAGE[0], IMAGE.half()) for options in PATCHES]
CALLS += [
    ("aten.im2col", IMAGE > 0, *PATCHES[0]),
    ("aten.im2col", IMAGE[:0], *PATCHES[0]),
    ("aten.im2col", IMAGE + 1j, *PATCHES[1]),
]
CALLS += [
    ("aten.col2im", torch.ops.aten.im2col(x, *options), [5, 6], *options)
    for x in (IMAGE, IMAGE[0], IMAGE.double())
    for options in PATCHES
]
CALLS += [("aten._upsample_bilinear2d_aa", IMAGE, [1, count], True) for count in (1, 3)]  # a single corner


def test_every_operator_occurs() -> None:
    assert {name for name, spec in specs().items() if spec.family == "resampling"} == {c[0] for c in CALLS}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_calls(call: tuple[Any, ...]) -> None:
    check(*call, scale=4)


REFUSED: list[tuple[Any, ...]] = [
    ("expected 4 dimensions", "aten.upsample_nearest2d", SIGNAL, [2, 2]),
    ("must be 2 numbers", "aten.upsample_nearest2d", IMAGE, [2]),
    ("greater than zero", "aten.upsample_bilinear2d", IMAGE, [2, 0], False),
    ("either output_size or scale_factors", "aten.upsample_bicubic2d.vec", IMAGE, None, False, None),
    ("either output_size or scale_factors", "aten.upsample_bicubic2d.vec", IMAGE, [2, 2], False, [2.0, 2.0]),
    ("theta is", "aten.affine_grid_generator", torch.randn(2, 2, 2), [2, 1, 3, 4], False),
    ("size 2 in its last dimension", "aten.grid_sampler_2d", IMAGE, torch.randn(2, 4, 3, 3), 0, 0, False),
    ("different batch sizes", "aten.grid_sampler_2d", IMAGE, GRIDS[4][:1], 0, 0, False),
    ("bicubic sampling", "aten.grid_sampler", VOLUME, GRIDS[5], 2, 0, False),
    ("no block", "aten.im2col", IMAGE, [9, 2], [1, 1], [0, 0], [1, 1]),
    ("do not divide by 4 taps", "aten.col2im", torch.ones(1, 6, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
    ("8 columns, 9 blocks", "aten.col2im", torch.ones(1, 8, 8), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
]


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: call[1])
def test_refused(call: tuple[Any, ...]) -> None:
    message, *arguments = call
    with pytest.raises(MetaError, match=message):
        program_of(*arguments)


def test_taps_of_windows_are_added_up_along_elements() -> None:
    """Those of one element are not next to each other: so that vectors are of elements."""
    module, _ = program_of("aten._upsample_bilinear2d_aa", IMAGE, [3, 4], False)
    DecomposeAten().apply(Context(), module)
    along_rows = next(op for op in module.walk() if op.name == "aten.index.Tensor")
    assert along_rows.results[0].type == TensorType(f32, [2, 3, 5, 5, 4])
