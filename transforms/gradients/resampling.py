"""Gradients of resampled images, by PyTorch's own operators for them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xdsl_exir.dialects.builder import Namespace, sizes
from xdsl_exir.transforms.gradients import Gradients, gradient


def back(
    aten: Namespace, name: str, grad: SSAValue, input: SSAValue, scales: Sequence[float | None], *aligned: bool
) -> SSAValue:
    before, after = sizes(aten, input), sizes(aten, grad)[2:]
    return aten.builder.call(f"aten.{name}_backward", (grad, after, before, *aligned, *scales), {})


def factors(scale_factors: Sequence[float] | None, count: int) -> Sequence[float | None]:
    return [None] * count if scale_factors is None else scale_factors


@gradient("aten.upsample_nearest2d")
def nearest2d(
    aten: Namespace, grad: SSAValue, self: SSAValue, scales_h: float | None, scales_w: float | None
) -> Gradients:
    return back(aten, "upsample_nearest2d", grad, self, (scales_h, scales_w))


@gradient("aten.upsample_nearest2d.vec")
def nearest2d_of_factors(
    aten: Namespace, grad: SSAValue, input: SSAValue, scale_factors: Sequence[float] | None
) -> Gradients:
    return back(aten, "upsample_nearest2d", grad, input, factors(scale_factors, 2))


@gradient("aten.upsample_bilinear2d")
def bilinear2d(
    aten: Namespace,
    grad: SSAValue,
    self: SSAValue,
    align_corners: bool,
    scales_h: float | None,
    scales_w: float | None,
) -> Gradients:
    return back(aten, "upsample_bilinear2d", grad, self, (scales_h, scales_w), align_corners)


@gradient("aten.upsample_bilinear2d.vec")
def bilinear2d_of_factors(
    aten: Namespace, grad: SSAValue, input: SSAValue, align_corners: bool, scale_factors: Sequence[float] | None
) -> Gradients:
    return back(aten, "upsample_bilinear2d", grad, input, factors(scale_factors, 2), align_corners)
